//! Runs on both engines and in every mapping.

use eventhorizon::Backend;
use eventhorizon::facility::{
    Delay, Discipline, Distribution, Facility, Fork, Link, Measure, Network, Report, Route, Source, Station,
    Study,
};
use eventhorizon::pdes::{
    CpuEngine, CpuSimulation, Engine, EngineOptions, Mapping, Model, Options, Simulation, Sync, Until,
};
use eventhorizon::random::Stream;
use eventhorizon::statistics::{Budget, Decision, Design, Experiment, Point, Precision, Stopping};
use eventhorizon::time::Ticks;

use super::common::{few, gpu, is_long};
use super::{shipped, shipped_one};

/// One run of a network with both of its synchronisation methods, compared with the sequential
/// engine in everything that a user can see.
#[track_caller]
pub(crate) fn same(facility: &Facility, until: Ticks, what: &str) {
    let mut cpu = CpuSimulation::in_rust(facility, Options::default().seed(7)).unwrap();
    let expected = cpu.run(Until::time(until)).unwrap_or_else(|error| panic!("{what}: {error}"));
    for sync in [Sync::Horizon, Sync::Yawns] {
        let options = Options::default().seed(7).sync(sync);
        let mut simulation = Simulation::new(&gpu(), facility, options).unwrap();
        let found = simulation.run(Until::time(until)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((found.events, found.now), (expected.events, expected.now), "{what}, {sync}");
        assert!(simulation.states().unwrap() == cpu.states(), "{what}, {sync}: states");
        assert!(simulation.pending().unwrap() == cpu.pending(), "{what}, {sync}: pending events");
        assert!(simulation.memory().unwrap() == cpu.memory(), "{what}, {sync}: LP memory");
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{what}, {sync}");
        let outputs = simulation.outputs(until).unwrap();
        assert!(outputs == cpu.outputs(until).unwrap(), "{what}, {sync}: outputs");
    }
}

/// One in three of the networks in the repository; in long tests, all.
fn one_in_three(first: usize) -> Vec<(String, Network)> {
    let (first, step) = if is_long() { (0, 1) } else { (first, 3) };
    shipped().into_iter().skip(first).step_by(step).collect()
}

/// Short enough for some hundred events.
fn short(network: &Network) -> (Facility, Ticks) {
    let facility = network.compile().unwrap();
    let resolution = facility.resolution();
    let until = network.until.unwrap() / 100.0;
    let (warm_up, until) = (resolution.ticks(until / 4.0).unwrap(), resolution.ticks(until).unwrap());
    (facility.with_warm_up(warm_up), until)
}

#[test]
fn one_run_on_the_whole_device_has_the_bits_of_the_sequential_engine() {
    for (name, network) in one_in_three(0) {
        let (facility, until) = short(&network);
        same(&facility, until, &name);
    }
}

#[test]
fn each_kind_of_distribution_has_the_bits_of_the_sequential_engine() {
    let mut network = Network::new("distributions").sink("out");
    for (number, law) in Distribution::examples().enumerate() {
        let node = format!("delay {number}");
        network = network
            .source(&format!("source {number}"), Source::new(law, &node[..]))
            .delay(&node, Delay::new(law, "out"));
    }
    let facility = network.compile().unwrap();
    let until = facility.resolution().ticks(200.0).unwrap();
    same(&facility, until, "all kinds");
}

/// Every mapping, against the sequential engine.
#[track_caller]
pub(crate) fn mapped(facility: &Facility, until: Ticks, mappings: &[Mapping], what: &str) {
    let model = facility.clone();
    let build = move |_: &Point<'_>| Ok::<_, std::convert::Infallible>(model.clone());
    let experiment = Experiment::new(Design::default(), 9, 11);
    // More rows than exist.
    let [first, rows] = [3, facility.memory_rows()];
    let engine =
        CpuEngine::in_rust(build.clone(), EngineOptions::default().outputs(true).memory([first, rows]));
    let expected = engine.run(&experiment, Until::time(until)).unwrap();
    for &mapping in mappings {
        let memory = [first, rows];
        let options = EngineOptions::default().mapping(mapping).outputs(true).memory(memory);
        let found = Engine::new(&gpu(), build.clone(), options)
            .unwrap()
            .run(&experiment, Until::time(until))
            .unwrap();
        assert_eq!(found.mapping, mapping);
        assert_eq!(found.fingerprint, expected.fingerprint, "{what}, {mapping}");
        for (found, expected) in found.runs[0].iter().zip(&expected.runs[0]) {
            let [found, expected] = [found, expected].map(|run| run.as_ref().unwrap());
            assert!(found.outputs == expected.outputs, "{what}, {mapping}: outputs");
            assert!(found.memory == expected.memory, "{what}, {mapping}: memory");
        }
    }
}

#[test]
fn replications_by_threads_have_the_bits_of_the_sequential_engine() {
    for (name, network) in one_in_three(1) {
        let (facility, until) = short(&network);
        mapped(&facility, until, &[Mapping::Thread], &name);
    }
}

#[test]
fn replications_by_teams_have_the_bits_of_the_sequential_engine() {
    for &name in few(2, &["emergency", "central_server", "processor"]) {
        let network = shipped_one(name);
        let (facility, until) = short(&network);
        mapped(&facility, until, &[Mapping::Team], name);
    }
}

/// A random network with all kinds of nodes, disciplines, distributions, classes and routes. One in
/// three uses only features of the smaller interpreter, and one in four has a lookahead: all its
/// routes take time, and no message is immediate.
pub(crate) fn chance(number: u64) -> Network {
    let (plain, ahead) = (number % 3 == 1, number % 4 == 3);
    let mut stream = Stream::new(2024, 0, number);
    let classes = ["a", "b", "c", "d"];
    let count = 1 + stream.below(4) as usize;
    let classes = &classes[..count];
    let stations = 1 + stream.below(4);
    let mut law = {
        let mut stream = Stream::new(2024, 1, number);
        move |mean: f64| match stream.below(9) {
            0 => Distribution::Constant(mean),
            1 => Distribution::Exponential(mean),
            2 => Distribution::Uniform([0.5 * mean, 1.5 * mean]),
            3 => Distribution::Erlang { stages: 1 + stream.below(5), mean },
            4 => Distribution::Hyperexponential { probability: 0.75, first: 0.4 * mean, second: 2.8 * mean },
            5 => Distribution::Triangular([0.2 * mean, mean, 1.8 * mean]),
            6 => Distribution::Normal { mean, deviation: 0.4 * mean },
            7 => Distribution::Lognormal { mean, deviation: mean },
            _ => Distribution::Weibull { scale: mean, shape: 1.2 },
        }
    };
    let nodes: Vec<String> = (0..stations).map(|station| format!("s{station}")).collect();
    // Routes to all nodes except those that block; half of the routes take time.
    let travel = if ahead { Distribution::Uniform([0.5, 2.0]) } else { law(2.0) };
    let away = |link: Link, takes: bool| if takes { link.taking(travel) } else { link };
    let mut route = {
        let (mut stream, nodes) = (Stream::new(2024, 2, number), nodes.clone());
        let classes = classes.to_vec();
        move || -> Route {
            let takes = stream.below(2) == 0;
            let other = &nodes[stream.below(stations) as usize];
            let class = classes[stream.below(count as u32) as usize];
            match stream.below(6) {
                4 => Route::from([away(Link::to("crossing").with(0.7), takes), Link::to("out")]),
                0 => Route::in_turn(&["out", other, "pause", "out"]),
                1 => Route::from([Link::to("out"), away(Link::to(other).with(0.4).becoming(class), takes)]),
                2 => Route::from([
                    Link::to("out").with(0.5),
                    away(Link::to("pause").with(0.25), takes),
                    Link::to(other),
                    Link::to(other).of(class).with(0.3),
                    Link::to("out").of(class),
                ]),
                _ => Route::from([away(Link::to("out"), takes)]),
            }
        }
    };
    let mut network =
        Network::new("chance").with_classes(classes).sink("out").delay("pause", Delay::new(law(3.0), "out"));
    let extra = Source::new(Distribution::Exponential(10.0), "pause");
    let extra = if plain { extra } else { extra.with_rates(&[(7.0, 0.5), (3.0, 0.0), (5.0, 1.0)]) };
    network = network.source("extra", extra);
    if ahead {
        network = network.with_travel(travel);
    }
    let shorter =
        |nodes: &[&str]| if plain || ahead { Route::in_turn(nodes) } else { Route::shortest(nodes) };
    // Blocking stations exchange immediate messages, so there is no lookahead.
    let full = |station: Station| match (ahead, plain) {
        (true, _) => station,
        (_, true) => station.with_capacity(2),
        _ => station.with_capacity(2).blocking(),
    };
    // Nodes that choose a shorter line, and nodes that block.
    network = network
        .source(
            "shoppers",
            Source::new(Distribution::Exponential(4.0), shorter(&["till", "pause", "counter"])),
        )
        .source("walkers", Source::new(Distribution::Exponential(20.0), "crossing"))
        .router("crossing", shorter(&["till", "counter"]))
        .station("till", {
            let till = Station::new(law(3.0), "packing");
            if plain { till.with_servers(2) } else { till.with_schedule(&[(6.0, 2), (2.0, 0), (4.0, 1)]) }
        })
        .station("counter", Station::new(law(3.0), [Link::to("packing").with(0.8), Link::to("out")]))
        .station("packing", full(Station::new(law(2.0), [Link::to("gate").with(0.75), Link::to("out")])))
        .station("gate", {
            let gate = full(Station::new(law(2.0), "out")).with_capacity(1 + stream.below(2));
            if ahead { gate.with_capacity(9) } else { gate }
        });
    for (number, class) in classes.iter().enumerate() {
        let to = Route::from([
            Link::to(&nodes[0]),
            away(Link::to(&nodes[nodes.len() - 1]).with(0.5), number == 1),
        ]);
        let source = Source::new(law(4.0), to).of(class).in_batches(1 + stream.below(3));
        network = network.source(&format!("in{number}"), source);
    }
    // Each node starts with customers, so that every node has events.
    for (number, node) in nodes.iter().enumerate() {
        let disciplines = [
            Discipline::Fifo,
            Discipline::Lifo,
            Discipline::Random,
            Discipline::Priority,
            Discipline::Preemptive,
            Discipline::Sharing,
            Discipline::Polling,
        ];
        let picked = disciplines[(stream.below(7)) as usize];
        let changes = !matches!(picked, Discipline::Preemptive | Discipline::Sharing);
        let discipline = if plain && !changes { Discipline::Polling } else { picked };
        let changes = changes && !plain;
        let servers = if discipline == Discipline::Polling { 1 } else { 1 + stream.below(3) };
        let mut station = Station::new(law(2.0 * f64::from(servers)), route())
            .with_servers(servers)
            .with_discipline(discipline)
            .with_service_of(classes[0], law(1.0))
            .with_population(stream.below(4) + u32::from(number > 0));
        if stream.below(3) == 0 {
            let capacity = servers + stream.below(6);
            station.population = station.population.min(capacity);
            station = station.with_capacity(capacity);
        }
        if !matches!(discipline, Discipline::Random | Discipline::Sharing) && stream.below(2) == 0 {
            station = station.with_patience(law(4.0));
        }
        if stream.below(3) == 0 {
            // No customer starts at a node with balking, where it might leave at once.
            station = station.with_population(0).with_balking(&[0.0, 0.2, 0.5, 0.9]);
            let visitors = Source::new(Distribution::Exponential(9.0), &**node);
            network = network.source(&format!("visitors {number}"), visitors);
        }
        if changes && stream.below(2) == 0 {
            station = station.with_breakdowns(law(9.0), law(2.0));
        }
        network = network.station(node, station);
    }
    if number.is_multiple_of(2) && !plain { parted(network, number, law, route()) } else { network }
}

/// The same with forks, one in another, some of whose tasks return to be split again.
fn parted(network: Network, number: u64, mut law: impl FnMut(f64) -> Distribution, to: Route) -> Network {
    let mut stream = Stream::new(2024, 3, number);
    let class = network.classes[stream.below(network.classes.len() as u32) as usize].clone();
    let disciplines = [
        Discipline::Fifo,
        Discipline::Lifo,
        Discipline::Random,
        Discipline::Priority,
        Discipline::Preemptive,
        Discipline::Sharing,
    ];
    let mut bench = Station::new(law(2.0), [Link::to("inner").with(0.2), Link::to("parts")])
        .with_discipline(disciplines[stream.below(6) as usize])
        .with_servers(1 + stream.below(3));
    if stream.below(2) == 0 {
        bench = bench.with_discipline(Discipline::Fifo).with_breakdowns(law(9.0), law(2.0));
    }
    network
        .source("orders", Source::new(law(8.0), "parts").in_batches(1 + stream.below(2)))
        .fork(
            "parts",
            Fork::new([Link::to("bench").taking(law(0.5)), Link::to("inner").becoming(&class)], to),
        )
        .fork("inner", Fork::new(["shelf", "shelf", "narrow"], Route::in_turn(&["parts", "shop"])))
        .station("bench", bench)
        .delay("shelf", Delay::new(law(1.0), "hatch"))
        .station("hatch", Station::new(law(0.4), "inner").with_capacity(2).blocking())
        .delay(
            "narrow",
            Delay::new(law(1.0), [Link::to("inner").with(0.9).taking(law(0.3)), Link::to("narrow")]),
        )
        .station("shop", Station::new(law(1.0), "parts").with_discipline(Discipline::Polling))
}

/// Runs a random network on both engines; `until` is in units of time.
fn by_chance(number: u64, until: f64, mappings: &[Mapping]) {
    let network = chance(number);
    let facility = network.compile_unstable().unwrap_or_else(|error| panic!("{number}: {error}"));
    let ticks = |units: f64| facility.resolution().ticks(units).unwrap();
    let details = if number.is_multiple_of(2) { facility.clone().with_details() } else { facility.clone() };
    let warm = details.with_room(512).with_warm_up(ticks(until / 3.0));
    let what = format!("network {number}");
    assert_eq!(facility.source().name().contains("plain"), number % 3 == 1, "{what}");
    assert_eq!(facility.lookahead() > Ticks::ZERO, number % 4 == 3, "{what}");
    if mappings.is_empty() {
        same(&warm, ticks(until), &what);
    }
    mapped(&warm, ticks(until), mappings, &what);
    // Little's law and the flow from node to node, with and without a warm-up.
    for warm_up in [0.0, until / 3.0] {
        facility.study(&Study::new(3, until, warm_up)).run().unwrap();
    }
}

#[test]
fn networks_by_chance_have_the_bits_of_the_sequential_engine() {
    for number in 0..if is_long() { 12 } else { 3 } {
        by_chance(number, 40.0, &[Mapping::Thread]);
    }
    for number in 12..if is_long() { 16 } else { 13 } {
        by_chance(number, 40.0, &[]);
    }
    by_chance(16, 40.0, &[Mapping::Team]);
}

#[test]
#[ignore = "long: hundreds of random networks"]
fn many_networks_by_chance_have_the_bits_of_the_sequential_engine() {
    for number in 100..300 {
        by_chance(number, 60.0, if number % 4 == 0 { &[] } else { &[Mapping::Thread] });
    }
}

/// The parts of a report that do not depend on the backend.
pub(crate) fn reported(report: &Report) -> String {
    let Report { rows, customers, events, fingerprint, replications, stopped, .. } = report;
    format!("{rows:?} {customers} {events} {fingerprint} {replications} {stopped:?}")
}

#[test]
fn a_study_tells_the_same_wherever_it_runs_and_in_however_many_parts() {
    let gpu = gpu();
    let facility = shipped_one("clinic").compile().unwrap();
    let study = Study::new(70, 800.0, 100.0);
    let mut watched = (0, 0);
    let cpu = facility.study(&study).watch(|runs, events| watched = (runs, events)).run().unwrap();
    assert_eq!(watched, (70, cpu.events), "progress is reported");
    let options = EngineOptions::default().mapping(Mapping::Thread);
    let found = facility.study(&study).backend(Backend::Gpu(&gpu)).options(options).run().unwrap();
    assert_eq!(reported(&found), reported(&cpu));
    assert_eq!((found.engine, cpu.engine), ("gpu", "cpu"));

    // Until the precision is reached.
    let precision = Precision::relative(0.2);
    let budget = Budget { replications: Some(2000), ..Budget::default() };
    let study = study.stopping(Stopping::new(precision, budget));
    let report = facility.study(&study).run().unwrap();
    assert_eq!(report.stopped, Some(Decision::Reached));
    assert!(report.replications >= 30);
    for row in report.rows.iter().filter(|row| matches!(row.measure, Measure::Number | Measure::Sojourn)) {
        assert!(row.half_width.unwrap() <= 0.2 * row.mean.unwrap(), "{row:?}");
    }
    assert_eq!(
        reported(&facility.study(&study).backend(Backend::Gpu(&gpu)).options(options).run().unwrap()),
        reported(&report)
    );
}

#[test]
fn room_for_those_who_wait_is_made_as_it_is_needed_and_shows_in_nothing() {
    let gpu = gpu();
    let network = Network::new("busy")
        .source("in", Source::new(Distribution::Exponential(1.0), "server").in_batches(10))
        .station("server", Station::new(Distribution::Exponential(0.09), "out"))
        .sink("out");
    let facility = network.compile().unwrap();
    let study = Study::new(3, 300.0, 30.0);
    let expected = facility.clone().with_room(4096).study(&study).run().unwrap();
    let options = EngineOptions::default().mapping(Mapping::Thread);
    for backend in [Backend::Cpu, Backend::Gpu(&gpu)] {
        let found =
            facility.clone().with_room(1).study(&study).backend(backend).options(options).run().unwrap();
        assert_eq!(reported(&found), reported(&expected));
    }
}

#[test]
fn who_came_first_is_served_first_however_many_wait() {
    // One customer arrives each unit of time, and each service takes three: 200 wait at the end,
    // and capacities grew while some were on their way.
    let of = |discipline| {
        let server = Station::new(Distribution::Constant(3.0), "out").with_discipline(discipline);
        let network = Network::new("flooded")
            .source("in", Source::new(Distribution::Constant(1.0), "server"))
            .station("server", server)
            .sink("out");
        network.compile_unstable().unwrap()
    };
    let facility = of(Discipline::Fifo);
    let until = facility.resolution().ticks(301.0).unwrap();
    same(&facility.clone().with_room(256), until, "first come first served");
    mapped(
        &facility.clone().with_room(256),
        until,
        &[Mapping::Thread, Mapping::Team],
        "first come first served",
    );
    let row = |facility: &Facility, measure| {
        let report = facility.clone().with_room(1).study(&Study::new(2, 301.0, 0.0)).run().unwrap();
        report.row("server", Some("customer"), measure).unwrap().mean.unwrap()
    };
    // Customer i (from 0 on) arrives at 1 + i, and is served from 1 + 3 i on: it waits 2 i. 100
    // customers are served.
    assert_eq!(row(&facility, Measure::Wait), 99.0);
    let deviation = (4.0 * (100.0 * 100.0 - 1.0) / 12.0_f64).sqrt();
    assert!((row(&facility, Measure::WaitDeviation) / deviation - 1.0).abs() < 0.01);
    assert!(row(&of(Discipline::Lifo), Measure::Wait) < 10.0, "this test can tell");
}

#[test]
fn a_report_is_a_table_csv_and_json() {
    let facility = shipped_one("mmck").compile().unwrap();
    let report = facility.study(&Study::new(8, 50.0, 5.0)).run().unwrap();
    let table = report.to_string();
    assert!(table.contains("garage") && table.contains("utilisation") && table.contains("theory"), "{table}");
    let mut csv = Vec::new();
    report.to_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), report.rows.len() + 1);
    assert_eq!(
        csv.lines().next(),
        Some("node,class,measure,mean,half_width,theory,observations,lower,upper,resolution,up_to")
    );
    let json = serde_json::to_value(&report).unwrap();
    for key in [
        "model",
        "engine",
        "mapping",
        "adapter",
        "seconds",
        "customers",
        "events",
        "fingerprint",
        "ticks_per_unit",
        "results",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
    assert_eq!(json["stopped"], serde_json::json!([]));
    // All classes have one name in the table, CSV and JSON.
    assert!(report.row("(network)", None, Measure::Number).is_some());
    assert!(table.contains("(network)  all ") && csv.contains("\n(network),all,"), "{table}{csv}");
    let all = |row: &serde_json::Value| row["node"] == "(network)" && row["class"] == "all";
    assert!(json["results"].as_array().unwrap().iter().any(all), "{json}");
    let row = &json["results"][0];
    let keys: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
    for key in ["node", "class", "measure", "mean", "half_width", "lower", "upper", "theory", "resolution"] {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
    assert!(report.row("garage", Some("customer"), Measure::Loss).is_some());
    assert!(report.row("garage", None, Measure::Loss).is_none(), "there is one class");
}
