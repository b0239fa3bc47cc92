//! Stations of networks that run as process models: speeds, batches, splits, shared servers, lines
//! in random order, and the work that is left; against theory, exact chains and by hand.

use eventhorizon::Backend;
use eventhorizon::facility::{Discipline, Measure, Study};
use eventhorizon::gpu::Gpu;
use eventhorizon::process::NetworkProcess;

use crate::networks::{agrees, network, plan, reported, row, translated, unreliable, waiting_of_erlang_a};

/// A station with exponential services of the mean 1.
fn desk(gap: f64, settings: &str) -> String {
    format!(
        r#"
name = "desk"
source.in = {{ interarrival = {{ exponential = {gap} }}, to = "desk" }}
sink.out = {{}}
[station.desk]
service = {{ exponential = 1 }}
to = "out"
{settings}
"#
    )
}

/// Stationary probabilities of a chain with these rates from each state.
pub(super) fn stationary(rates: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let fastest = rates.iter().map(|all| all.iter().map(|rate| rate.1).sum::<f64>()).fold(0.0, f64::max);
    let mut now = vec![1.0 / rates.len() as f64; rates.len()];
    for _ in 0..20_000 {
        let mut next = now.clone();
        for (from, all) in rates.iter().enumerate() {
            for (to, rate) in all {
                let flow = now[from] * rate / (1.01 * fastest);
                next[from] -= flow;
                next[*to] += flow;
            }
        }
        now = next;
    }
    now
}

#[test]
fn speeds_make_one_server_two_or_slower() {
    // As fast as M/M/2 with 1.5 arrivals in a service.
    let report = reported(&desk(1.0 / 1.5, "speeds = [1, 2]"), &plan(60, 3000.0, 300.0));
    agrees(&report, ("desk", None, Measure::Number), 1.5 / (1.0 - 0.75 * 0.75));
    // A fixed speed is a shorter service.
    let report = reported(&desk(1.0, "speeds = [2]\ndiscipline = \"lifo\""), &plan(60, 3000.0, 300.0));
    agrees(&report, ("desk", None, Measure::Number), 1.0);
    agrees(&report, ("desk", None, Measure::Utilisation), 0.5);
    // It stops for breakdowns.
    let text = desk(
        5.0 / 3.0,
        "speeds = [1]\nbreakdown = { up = { exponential = 10 }, down = { exponential = 2 } }",
    );
    let report = reported(&text, &plan(100, 4000.0, 400.0));
    agrees(&report, ("desk", None, Measure::Number), unreliable(0.6, 1.0, 0.1, 0.5));
    agrees(&report, ("desk", None, Measure::Busy), 0.6);
}

/// Arrivals at 2, 4, 6 with services of 3: alone at speed 1, two at speed 2 in all.
#[test]
fn a_speed_changes_within_a_service_by_hand() {
    let text = desk(1.0, "speeds = [1, 2]")
        .replace("exponential = 1 }, to = \"desk\"", "constant = 2 }, to = \"desk\"");
    let text = text.replace("service = { exponential = 1 }", "service = { constant = 3 }");
    // The first from 2 at speed 1 to 4, then the last unit at speed 2 until 4.5; the second from 4.5
    // to 6 at speed 1, then 1.5 at speed 2 until 6.75; the third from 6.75.
    let report = reported(&text, &Study::new(2, 7.0, 0.0));
    let mean = |measure| row(&report, "desk", None, measure).mean.unwrap();
    assert!((mean(Measure::Sojourn) - (2.5 + 2.75) / 2.0).abs() < 1e-6, "{report}");
    assert!((mean(Measure::Wait) - (0.0 + 0.5 + 0.75) / 3.0).abs() < 1e-6, "{report}");
}

#[test]
fn shared_servers_serve_as_theory_says() {
    // Only means matter: M/G/1 with a load of 0.7, five classes.
    let mut text =
        String::from("name = \"five\"\nclasses = [\"a\", \"b\", \"c\", \"d\", \"e\"]\nsink.out = {}\n");
    for class in ["a", "b", "c", "d", "e"] {
        text += &format!(
            "source.in_{class} = {{ interarrival = {{ exponential = 5 }}, class = \"{class}\", to = \"desk\" }}\n"
        );
    }
    text += r#"
[station.desk]
discipline = "sharing"
service = { hyperexponential = { probability = 0.5, first = 0.2, second = 1.2 } }
service_of.e = { constant = 0.7 }
to = "out"
"#;
    let report = reported(&text, &plan(60, 4000.0, 400.0));
    agrees(&report, ("desk", None, Measure::Number), 0.7 / 0.3);
    agrees(&report, ("desk", Some("e"), Measure::Sojourn), 0.7 / 0.3);
    agrees(&report, ("desk", None, Measure::Utilisation), 0.7);
    // Breakdowns: for exponential times the order of service does not change the number.
    let breaks =
        "discipline = \"sharing\"\nbreakdown = { up = { exponential = 10 }, down = { exponential = 2 } }";
    let report = reported(
        &desk(
            5.0 / 3.0,
            &format!(
                "{breaks}\nshift = \"finish\"\ninterrupted = \"resume\"\n[region.all]\nnodes = [\"desk\"]\ncapacity = 1000"
            ),
        ),
        &plan(100, 4000.0, 400.0),
    );
    agrees(&report, ("desk", None, Measure::Number), unreliable(0.6, 1.0, 0.1, 0.5));
    agrees(&report, ("desk", None, Measure::Down), 2.0 / 12.0);
    agrees(&report, ("desk", None, Measure::Busy), 0.6);
}

/// Arrivals at 2 and 4 with work of 3, one server until 5 and two from there.
#[test]
fn shared_servers_follow_a_schedule_by_hand() {
    let text = desk(
        1.0,
        "discipline = \"sharing\"\nschedule = [{ lasts = 5, servers = 1 }, { lasts = 7, servers = 2 }]",
    );
    let text = text.replace("exponential = 1 }, to = \"desk\"", "constant = 2 }, to = \"desk\"");
    let text = text.replace("service = { exponential = 1 }", "service = { constant = 3 }");
    // The first has 1 left at 4, 0.5 at 5, and ends at 5.5.
    let report = reported(&text, &Study::new(2, 5.75, 0.0));
    let sojourn = row(&report, "desk", None, Measure::Sojourn).mean.unwrap();
    assert!((sojourn - 3.5).abs() < 1e-6, "{report}");
    let used = row(&report, "desk", None, Measure::Utilisation).mean.unwrap();
    // One server in use from 2 to 5, two until 5.5, one until 5.75; of one until 5, and then two.
    assert!((used - (3.0 + 1.0 + 0.25) / (5.0 + 1.5)).abs() < 1e-6, "{report}");
}

#[test]
fn lines_in_random_order_lose_patience_and_break_down() {
    let patient = "discipline = \"random\"\npatience = { exponential = 2 }";
    let report = reported(&desk(1.0, patient), &plan(60, 3000.0, 300.0));
    // The order of the line does not change the number.
    let waiting = waiting_of_erlang_a();
    agrees(&report, ("desk", None, Measure::Queue), waiting);
    agrees(&report, ("desk", None, Measure::Reneged), 0.5 * waiting);
    // The second moment of waits is that of first come, first served times 2 / (2 - load).
    let one = |discipline: &str| {
        let text = desk(
            2.0,
            &format!(
                "discipline = \"{discipline}\"\ninterrupted = \"repeat\"\nbreakdown = {{ up = {{ constant = 1e7 }}, down = {{ constant = 1 }} }}"
            ),
        );
        reported(&text, &plan(60, 20_000.0, 1000.0))
    };
    let [fifo, random] = ["fifo", "random"].map(one);
    let second = |report| {
        let [mean, deviation] = [Measure::Wait, Measure::WaitDeviation]
            .map(|measure| row(report, "desk", None, measure).mean.unwrap());
        mean * mean + deviation * deviation
    };
    agrees(&random, ("desk", None, Measure::Wait), 1.0);
    let ratio = second(&random) / second(&fifo);
    assert!((ratio - 2.0 / (2.0 - 0.5)).abs() < 0.08, "{ratio}");
}

#[test]
fn batches_agree_with_their_chain() {
    // Arrivals at the rate 1.5, services of the mean 1, of `least` to 3 customers.
    for least in [1, 2, 3] {
        let (most, room, rate) = (3, 120, 1.5);
        // States: idle with 0 to least - 1, then busy with 0 to room - 1 in line.
        let busy = |line: usize| least + line;
        let begin = |line: usize| if line >= least { busy(line - line.min(most)) } else { line };
        let mut rates = Vec::new();
        for line in 0..least {
            rates.push(vec![(begin(line + 1), rate)]);
        }
        for line in 0..room {
            let mut all = vec![(begin(line), 1.0)];
            if line + 1 < room {
                all.push((busy(line + 1), rate));
            }
            rates.push(all);
        }
        let found = stationary(&rates);
        let line: f64 = found
            .iter()
            .enumerate()
            .map(|(state, p)| p * (if state < least { state } else { state - least }) as f64)
            .sum();
        let serves: f64 = found[least..].iter().sum();
        let text = desk(1.0 / rate, &format!("batch = {{ least = {least}, most = {most} }}"));
        let report = reported(&text, &plan(60, 3000.0, 300.0));
        agrees(&report, ("desk", None, Measure::Queue), line);
        agrees(&report, ("desk", None, Measure::Wait), line / rate);
        agrees(&report, ("desk", None, Measure::Utilisation), serves);
        agrees(&report, ("out", None, Measure::Throughput), rate);
    }
}

#[test]
fn batches_and_splits_by_hand() {
    // Arrivals at 1, 2, 3 …; boxes of 4 from 4 on, each filled in 2, taken apart into 3 in 1.
    let text = r#"
name = "boxes"
source.in = { interarrival = { constant = 1 }, to = "pack" }
station.pack = { service = { constant = 2 }, batch = { most = 4, joins = true }, to = "open" }
station.open = { service = { constant = 1 }, splits = 3, to = "out" }
sink.out = {}
"#;
    let report = reported(text, &Study::new(2, 40.5, 0.5));
    let mean = |node, measure| row(&report, node, None, measure).mean.unwrap();
    let close =
        |value: f64, expected: f64| assert!((value - expected).abs() < 1e-6, "{value} {expected}\n{report}");
    // Boxes begin at 4, 8 … 40; those until 36 are filled, and open at 7, 11 … 39.
    close(mean("pack", Measure::Throughput) * 40.0, 36.0);
    close(mean("open", Measure::Throughput) * 40.0, 9.0);
    close(mean("out", Measure::Throughput) * 40.0, 27.0);
    close(mean("pack", Measure::Wait), 1.5);
    close(mean("pack", Measure::Utilisation) * 40.0, 9.0 * 2.0 + 0.5);
    close(mean("(network)", Measure::Number), mean("pack", Measure::Number) + mean("open", Measure::Number));
}

#[test]
fn the_least_work_does_not_depend_on_the_order_of_service() {
    let text = r#"
name = "least"
classes = ["a", "b"]
source.in_a = { interarrival = { exponential = 2 }, class = "a", to = { least_work = ["one", "two"] } }
source.in_b = { interarrival = { exponential = 2 }, class = "b", to = { least_work = ["one", "two"] } }
station.one = { service = { exponential = 1.5 }, to = "out" }
station.two = { service = { exponential = 1.5 }, to = "out" }
sink.out = {}
"#;
    let used = |discipline: Discipline| {
        let mut network = network(text);
        network.stations.values_mut().for_each(|station| station.discipline = discipline);
        let report = translated(&network, &Study::new(4, 1000.0, 0.0)).unwrap();
        ["one", "two"].map(|node| row(&report, node, None, Measure::Utilisation).mean.unwrap())
    };
    // The same customers go to the same stations, whose work is the same.
    let fifo = used(Discipline::Fifo);
    for discipline in [Discipline::Lifo, Discipline::Priority, Discipline::Random, Discipline::Polling] {
        let other = used(discipline);
        assert!(
            (0..2).all(|node| (fifo[node] - other[node]).abs() < 1e-9),
            "{discipline:?}: {other:?} {fifo:?}"
        );
    }
    let shared = used(Discipline::Sharing);
    assert!((0..2).all(|node| (fifo[node] - shared[node]).abs() < 1e-3), "{shared:?} {fifo:?}");
}

#[test]
fn the_shortest_of_all_lines_at_random_is_the_shortest() {
    let text = |to: &str| {
        format!(
            r#"
name = "shortest"
source.in = {{ interarrival = {{ exponential = 0.4 }}, to = {to} }}
station.one = {{ service = {{ exponential = 1 }}, to = "out" }}
station.two = {{ service = {{ exponential = 1 }}, to = "out" }}
station.three = {{ service = {{ exponential = 1 }}, to = "out" }}
sink.out = {{}}
"#
        )
    };
    let study = plan(40, 3000.0, 300.0);
    let all = reported(&text(r#"{ shortest = ["one", "two", "three"], of = 3 }"#), &study);
    let shortest = network(&text(r#"{ shortest = ["one", "two", "three"] }"#));
    let shortest = shortest.compile().unwrap().study(&study).backend(Backend::Cpu).run().unwrap();
    let sojourn = |report| row(report, "out", None, Measure::Sojourn).clone();
    let (one, two) = (sojourn(&all), sojourn(&shortest));
    let allowed = one.half_width.unwrap().hypot(two.half_width.unwrap());
    assert!((one.mean.unwrap() - two.mean.unwrap()).abs() < allowed, "{one:?} {two:?}");
    // All are alike, unlike with a fixed order of equal lines.
    agrees(&all, ("three", None, Measure::Utilisation), 2.5 / 3.0);
}

/// On the device: the same bits.
#[test]
fn stations_do_the_same_on_a_device() {
    let gpu = Gpu::new().unwrap();
    let breaks = "breakdown = { up = { exponential = 8 }, down = { exponential = 1 } }";
    let all = [
        "discipline = \"random\"\nservers = 2\npatience = { exponential = 3 }".to_owned(),
        format!("discipline = \"sharing\"\nservers = 2\n{breaks}"),
        format!("speeds = [1, 1.5, 2.25]\n{breaks}"),
        "batch = { least = 2, most = 5, joins = true }\nsplits = 3".to_owned(),
    ];
    for settings in all {
        let process = NetworkProcess::new_unstable(&network(&desk(1.25, &settings))).unwrap();
        let study = Study::new(4, 40.0, 4.0);
        let plan = process.study(&study).unwrap();
        let run = |backend| process.compiled().study(&plan).backend(backend).run().unwrap();
        let (cpu, device) = (run(Backend::Cpu), run(Backend::Gpu(&gpu)));
        assert_eq!(cpu.fingerprint, device.fingerprint, "{settings}");
        assert_eq!(cpu.observations[0].columns(), device.observations[0].columns(), "{settings}");
        assert!(cpu.events > 200, "{settings}: {}", cpu.events);
    }
}

/// Two groups in service, who of the classes 0 and 1 each serves, and the line in order of arrival.
type Skilled = ([Option<usize>; 2], Vec<usize>);

/// Group 0 serves class 0, group 1 both, a quarter faster: the N-model, with six places and
/// patience, as the chain of all orders of the line.
#[test]
fn groups_with_skills_agree_with_their_chain() {
    const PLACES: usize = 6;
    let (arrivals, services, patience) = ([1.0, 0.625], [1.0 / 1.2, 1.0 / 0.9], 1.0 / 3.0);
    let (speeds, serves) = ([1.0, 1.25], [[true, false], [true, true]]);
    let mut states: Vec<Skilled> = vec![([None; 2], Vec::new())];
    let mut rates: Vec<Vec<(usize, f64)>> = Vec::new();
    while rates.len() < states.len() {
        let (busy, line) = states[rates.len()].clone();
        let mut next: Vec<(Skilled, f64)> = Vec::new();
        for class in 0..2 {
            let free = (0..2).find(|&group| busy[group].is_none() && serves[group][class]);
            let (mut busy, mut line) = (busy, line.clone());
            match free {
                _ if busy.iter().flatten().count() + line.len() == PLACES => continue,
                Some(group) => busy[group] = Some(class),
                None => line.push(class),
            }
            next.push(((busy, line), arrivals[class]));
        }
        for group in 0..2 {
            let Some(class) = busy[group] else { continue };
            let (mut busy, mut line) = (busy, line.clone());
            let first = line.iter().position(|&class| serves[group][class]);
            busy[group] = first.map(|place| line.remove(place));
            next.push(((busy, line), services[class] * speeds[group]));
        }
        for place in 0..line.len() {
            let mut line = line.clone();
            line.remove(place);
            next.push(((busy, line), patience));
        }
        let place_of = |(state, rate): (Skilled, f64)| {
            let known = states.iter().position(|known| *known == state);
            let place = known.unwrap_or(states.len());
            states.extend(known.is_none().then_some(state));
            (place, rate)
        };
        rates.push(next.into_iter().map(place_of).collect());
    }
    let shares = stationary(&rates);
    let mean =
        |of: &dyn Fn(&Skilled) -> f64| -> f64 { states.iter().zip(&shares).map(|(s, p)| p * of(s)).sum() };
    let count = |all: &mut dyn Iterator<Item = usize>, class| all.filter(|of| *of == class).count() as f64;
    let waiting = |class| mean(&|(_, line)| count(&mut line.iter().copied(), class));
    let served = |class| mean(&|(busy, _)| count(&mut busy.iter().flatten().copied(), class));
    let full = mean(&|(busy, line)| f64::from(busy.iter().flatten().count() + line.len() == PLACES));
    let report = reported(
        r#"
name = "N"
classes = ["a", "b"]
source.a = { interarrival = { exponential = 1 }, class = "a", to = "desk" }
source.b = { interarrival = { exponential = 1.6 }, class = "b", to = "desk" }
sink.out = {}
[station.desk]
groups.one = { servers = 1, serves = ["a"] }
groups.both = { servers = 1, serves = ["a", "b"], speed = 1.25 }
service = { exponential = 1.2 }
service_of.b = { exponential = 0.9 }
patience = { exponential = 3 }
capacity = 6
to = "out"
"#,
        &plan(40, 20_000.0, 200.0),
    );
    for (class, name) in ["a", "b"].into_iter().enumerate() {
        agrees(&report, ("desk", Some(name), Measure::Queue), waiting(class));
        agrees(&report, ("desk", Some(name), Measure::Utilisation), served(class) / 2.0);
        agrees(&report, ("desk", Some(name), Measure::Loss), full);
        agrees(&report, ("desk", Some(name), Measure::Reneged), patience * waiting(class) / arrivals[class]);
    }
}

/// Out of order from 10 to 18, and off shift from 15 to 20: back for the customer at 20.5.
#[test]
fn servers_whose_shift_ends_during_an_outage_are_back_after_it() {
    let text = r#"
name = "n"
source.in = { times = [20.5], to = "desk" }
sink.out = {}
[station.desk]
service = { constant = 1 }
schedule = [{ lasts = 15, servers = 1 }, { lasts = 5, servers = 0 }]
shift = "preempt"
breakdown = { up = { constant = 10 }, down = { constant = 8 } }
to = "out"
"#;
    let report = reported(text, &Study::new(2, 25.0, 0.0));
    let mean = |measure| row(&report, "desk", None, measure).mean.unwrap();
    assert_eq!((mean(Measure::Wait), mean(Measure::Sojourn)), (0.0, 1.0), "{report}");
}

/// M/M/1/5 whose customers come through a router: 32 of 63 find no room at twice the load.
#[test]
fn customers_that_are_lost_behind_a_router_are_counted() {
    let text = r#"
name = "n"
source.in = { interarrival = { exponential = 0.5 }, to = "door" }
router.door = { to = "desk" }
station.desk = { service = { exponential = 1 }, capacity = 5, when_full = "block", to = "out" }
sink.out = {}
"#;
    let study = plan(24, 2000.0, 100.0);
    let process = NetworkProcess::new(&network(text)).unwrap();
    let results = process.compiled().study(&process.study(&study).unwrap()).run().unwrap();
    agrees(&process.report(&study, &results).unwrap(), ("desk", None, Measure::Loss), 32.0 / 63.0);
}

#[test]
fn groups_that_alone_serve_a_class_have_to_be_enough() {
    let text = |gap: f64| {
        format!(
            r#"
name = "n"
classes = ["a", "b"]
source.a = {{ interarrival = {{ exponential = {gap} }}, class = "a", to = "desk" }}
source.b = {{ interarrival = {{ exponential = 10 }}, class = "b", to = "desk" }}
sink.out = {{}}
[station.desk]
service = {{ exponential = 1 }}
to = "out"
groups.first = {{ servers = 1, serves = ["a"] }}
groups.second = {{ servers = 2, serves = ["b"] }}
"#
        )
    };
    let refused = NetworkProcess::new(&network(&text(0.8))).unwrap_err().to_string();
    assert!(refused.starts_with("`desk` has to serve 1.250 times"), "{refused}");
    assert!(NetworkProcess::new(&network(&text(1.1))).is_ok());
    let shared = text(0.8).replace("serves = [\"b\"]", "serves = [\"a\", \"b\"]");
    assert!(NetworkProcess::new(&network(&shared)).is_ok());
}

#[test]
fn runs_of_process_models_have_fewer_ticks() {
    let text = desk(0.3333333333, "speeds = [1]").replace("exponential = 0.3", "constant = 0.3");
    let text = format!("until = 100000\n{}", text.replace("exponential = 1", "exponential = 0.1"));
    NetworkProcess::new(&network(&text)).unwrap();
}
