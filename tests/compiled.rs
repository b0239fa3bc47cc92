//! Compiled networks give the rows of the interpreter, bit for bit, for each replication: as
//! machine code of the CPU and on an adapter. Studies on the CPU use them.

#[path = "common/long.rs"]
mod long;
#[path = "common/random_networks.rs"]
mod random_networks;

use std::ops::ControlFlow;
use std::path::PathBuf;

use eventhorizon::facility::{
    CompiledError, CompiledNetwork, DeviceNetwork, Distribution, Facility, Form, NativeNetwork, Network,
    Report, Share, Source, Station, Study,
};
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{CpuSimulation, EngineOptions, Mapping, Model as _, Options, Replica, Until};
use eventhorizon::time::Ticks;
use eventhorizon::{Backend, OnDemand};
use rayon::prelude::*;

use long::is_long;
use random_networks::Features;

const SEED: u64 = 20_261_128;
const REPLICATIONS: u32 = 8;

/// The networks that ship, by file name.
fn shipped() -> Vec<(String, Network)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/networks");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, Network::from_toml(&std::fs::read_to_string(&path).unwrap()).unwrap())
    };
    let mut found: Vec<_> = files.map(read).collect();
    // Process models run the others.
    found.retain(|(_, network)| !network.compile().is_err_and(|error| error.needs_process()));
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// The words of the interpreter's rows of a replication, and of its histograms.
fn interpreted(facility: &Facility, number: u32, [warm_up, until]: [Ticks; 2]) -> [Vec<u32>; 2] {
    let model = facility.clone().with_warm_up(warm_up).with_room(1 << 14);
    let options = Options::default().seed(SEED).replica(Replica { point: 0, number });
    let mut simulation = CpuSimulation::new(&model, options).unwrap();
    simulation.run(Until::time(until)).unwrap();
    let rows = bytemuck::cast_slice(simulation.outputs(until).unwrap().rows()).to_vec();
    let details = model.params().details as usize;
    // Of 96 bins of numbers of customers; then, for each class, two histograms of 464 bins.
    let histograms = |memory: &[[u32; 4]]| {
        memory[details + 48..][..facility.network().classes.len() * 232].as_flattened().to_vec()
    };
    let memory = simulation.memory().chunks_exact(model.memory_rows() as usize);
    [rows, if details > 0 { memory.flat_map(histograms).collect() } else { Vec::new() }]
}

/// Compares all rows of a network with those of the interpreter.
fn compare(name: &str, facility: &Facility, times: [Ticks; 2], gpu: Option<&Gpu>) {
    let network = CompiledNetwork::new(facility).unwrap_or_else(|error| panic!("{name}: {error}"));
    let expected = expected(facility, times);
    let native = NativeNetwork::new(&network).unwrap_or_else(|error| panic!("{name}: {error}"));
    let made = native.run_recorded(SEED, 0..REPLICATIONS, times);
    let made = made.unwrap_or_else(|error| panic!("{name}: {error}"));
    let of = |rows: &[_]| bytemuck::cast_slice::<_, u32>(rows).to_vec();
    let found: Vec<_> = made.iter().map(|made| of(&made.rows)).collect();
    let [expected, histograms]: [Vec<_>; 2] =
        [0, 1].map(|which| expected.iter().map(|words| words[which].clone()).collect());
    same(name, facility, "native", &found, &expected);
    for (made, expected) in made.iter().zip(&histograms) {
        assert!(made.histograms.as_flattened() == expected, "{name}: histograms differ");
    }
    let Some(gpu) = gpu else { return };
    let forms = match (network.has_kernel(), SWITCHED.contains(&name)) {
        (true, true) => &[Form::Uniform, Form::Switch][..],
        (true, false) => &[Form::Uniform],
        (false, _) => &[Form::Switch],
    };
    for &form in forms {
        on_device(name, facility, (times, &expected), (gpu, form));
    }
}

/// The rows and the histograms of the interpreter, by replication.
fn expected(facility: &Facility, times: [Ticks; 2]) -> Vec<[Vec<u32>; 2]> {
    (0..REPLICATIONS).map(|number| interpreted(facility, number, times)).collect()
}

/// Compares the rows of a form on the adapter.
fn on_device(
    name: &str,
    facility: &Facility,
    (times, expected): ([Ticks; 2], &[Vec<u32>]),
    (gpu, form): (&Gpu, Form),
) {
    let network = CompiledNetwork::new(facility).unwrap_or_else(|error| panic!("{name}: {error}"));
    let device = DeviceNetwork::with_form(gpu, &network, form);
    let mut device = device.unwrap_or_else(|error| panic!("{name}: {error}"));
    let rows = pollster::block_on(device.run(SEED, 0..REPLICATIONS, times));
    let rows = rows.unwrap_or_else(|error| panic!("{name}, {form:?}: {error}"));
    let found: Vec<_> = rows.iter().map(|rows| bytemuck::cast_slice::<_, u32>(rows).to_vec()).collect();
    same(name, facility, &format!("{form:?}"), &found, expected);
}

/// The networks that also run on the adapter with code for each node: lavapipe compiles others for
/// long.
const SWITCHED: [&str; 2] = ["central_server", "mm1"];

/// Panics with the first words that differ.
fn same(name: &str, facility: &Facility, place: &str, found: &[Vec<u32>], expected: &[Vec<u32>]) {
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        let words = expected.len() / facility.nodes().count();
        let differ = |node: usize| found[node * words..][..words] != expected[node * words..][..words];
        let nodes: Vec<_> = facility.nodes().enumerate().filter(|(node, _)| differ(*node)).collect();
        if let Some((node, first)) = nodes.first() {
            let both =
                (0..words).map(|word| (word, found[node * words + word], expected[node * words + word]));
            let wrong: Vec<_> = both.filter(|(_, found, expected)| found != expected).collect();
            panic!(
                "{name}, {place}, replication {number}: `{first}` differs in (word, found, expected) {wrong:?}"
            );
        }
    }
    assert_eq!(found.len(), expected.len(), "{name}, {place}");
}

/// The times of runs: a fraction of those in the file, unless sweeps are long.
fn times(network: &Network, facility: &Facility) -> [Ticks; 2] {
    let share = if is_long() { 1.0 } else { 0.02 };
    [network.warm_up, network.until].map(|units| facility.resolution().ticks(units.unwrap() * share).unwrap())
}

fn adapter() -> Gpu {
    Gpu::new().expect("these tests need an adapter: Mesa's lavapipe will do")
}

#[test]
fn shipped_networks_have_the_rows_of_the_interpreter() {
    let gpu = adapter();
    for (number, (name, network)) in shipped().into_iter().enumerate() {
        let facility = network.compile().unwrap();
        let times = times(&network, &facility);
        let on_device = is_long() || number % 3 == 0 && !CPU_ALONE.contains(&&*name);
        compare(&name, &facility, times, on_device.then_some(&gpu));
        compare(&name, &facility.with_details(), times, None);
    }
}

/// Of the shipped networks, short tests run one in three on the adapter, and never these: they have
/// no uniform form, and lavapipe compiles the other one for long.
const CPU_ALONE: [&str; 2] = ["processor", "web_farm"];

/// Compares a description whose runs last 60 time units.
fn described(name: &str, text: &str, gpu: Option<&Gpu>) {
    let network = Network::from_toml(&format!("name = \"{name}\"\n{text}")).unwrap();
    let facility = network.compile_unstable().unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    lasting_60(name, &facility, gpu);
}

/// Compares runs of 60 time units, and runs of 30 with distributions.
fn lasting_60(name: &str, facility: &Facility, gpu: Option<&Gpu>) {
    let units = |units| facility.resolution().ticks(units).unwrap();
    let [middle, half, end] = [12.5, 30.0, 60.0].map(units);
    compare(name, &facility.clone().with_details(), [Ticks::ZERO, half], None);
    compare(name, facility, [middle, end], gpu);
}

/// A delay with each kind of distribution, between sources that have it, too.
#[test]
fn each_kind_of_distribution_has_the_times_of_the_interpreter() {
    let gpu = adapter();
    let all: Vec<_> = Distribution::examples().collect();
    for (group, laws) in all.chunks(5).enumerate() {
        let mut network = Network::new("distributions").sink("out");
        for (number, &law) in laws.iter().enumerate() {
            let station = format!("station {number}");
            network = network
                .source(&format!("source {number}"), Source::new(law, &*station))
                .station(&station, Station::new(law, "out").with_servers(3).with_patience(laws[0]));
        }
        let facility = network.compile_unstable().unwrap();
        let [middle, end] = [12.5, 60.0].map(|units| facility.resolution().ticks(units).unwrap());
        compare(
            &format!("distributions {group}"),
            &facility,
            [middle, end],
            (group == 1 || is_long()).then_some(&gpu),
        );
    }
}

/// Times of few ticks, so that most ticks have several events.
#[test]
fn events_of_one_time_have_the_order_of_the_interpreter() {
    let head = "ticks_per_unit = 500\n";
    let gpu = adapter();
    let fixed = "[source.a]\ninterarrival = { constant = 1.0 }\nto = [{ node = \"s\", probability = 0.5 }, \"r\"]\n\
        [source.b]\ninterarrival = { constant = 0.5 }\nbatch = 3\nto = { cyclic = [\"s\", \"r\", \"t\"] }\n\
        [router.r]\nto = [{ node = \"s\", probability = 0.3 }, { node = \"t\", probability = 0.3 }, \"o\"]\n\
        [station.s]\nservers = 3\ncapacity = 7\nservice = { constant = 1.0 }\nto = [{ node = \"t\", probability = 0.7 }, \"r\"]\n\
        [station.t]\nservers = 2\nservice = { constant = 0.5 }\nto = [{ node = \"d\", probability = 0.5 }, \"o\"]\n\
        [delay.d]\ntime = { constant = 1.5 }\nto = [{ node = \"t\", probability = 0.2 }, \"o\"]\n[sink.o]\n";
    described("fixed", &format!("{head}{}", fixed.replace("cyclic", "in_turn")), is_long().then_some(&gpu));
    let closed = "[delay.think]\ntime = { constant = 2.0 }\npopulation = 9\nto = \"s\"\n\
        [station.s]\nservers = 2\nservice = { uniform = [0.0, 1.0] }\npopulation = 4\nto = [{ node = \"think\", probability = 0.6 }, \"q\"]\n\
        [station.q]\ndiscipline = \"lifo\"\nservice = { constant = 0.5 }\nto = [{ node = \"s\", probability = 0.5 }, \"think\"]\n";
    described("closed", &format!("{head}{closed}"), is_long().then_some(&gpu));
}

/// Tasks of one class keep their fork when two services end at one time; servers that a next node
/// releases are free before blocked customers come in.
#[test]
fn found_by_random_networks() {
    let tasks = "ticks_per_unit = 4000\n[source.a]\ninterarrival = { exponential = 0.5 }\nto = \"f\"\n\
        [fork.f]\ntasks = [\"t\", \"t\", \"u\"]\nto = \"o\"\n\
        [station.t]\nservers = 3\nservice = { constant = 0.6 }\nto = \"f\"\n\
        [station.u]\nservice = { constant = 1.4 }\nto = \"f\"\n[sink.o]\n";
    described("tasks", tasks, None);
    let mut released =
        "ticks_per_unit = 4\nclasses = [\"a\", \"b\", \"c\"]\n[sink.o]\n[station.s]\nservers = 4\n\
        service = { constant = 1.5 }\nto = \"t\"\n[station.t]\ndiscipline = \"lifo\"\nservers = 3\ncapacity = 5\n\
        when_full = \"block\"\nservice = { constant = 1.75 }\nto = [\"u\", { node = \"s\", probability = 0.375 }]\n\
        [station.u]\nservice = { constant = 1.5 }\ncapacity = 3\nwhen_full = \"block\"\n\
        to = [\"o\", { node = \"s\", probability = 0.375, becomes = \"c\" }]\n"
            .to_owned();
    for (class, every) in [("b", 1.25), ("c", 2.25), ("a", 1.25)] {
        released += &format!(
            "[source.{class}]\nclass = {class:?}\ninterarrival = {{ constant = {every} }}\nto = \"s\"\n"
        );
    }
    described("released", &released, None);
}

/// More customers than a ring and a heap have at first.
#[test]
fn rings_and_heaps_grow() {
    let text = "[source.a]\ninterarrival = { exponential = 0.01 }\nto = [{ node = \"s\", probability = 0.5 }, \"d\"]\n\
        [station.s]\nservice = { exponential = 0.05 }\nto = \"d\"\n[delay.d]\ntime = { exponential = 3.0 }\nto = \"o\"\n[sink.o]\n";
    described("growing", text, Some(&adapter()));
}

#[test]
fn states_in_private_memory_have_the_rows_of_the_interpreter() {
    let gpu = adapter();
    for (name, network) in shipped().into_iter().filter(|(name, _)| SWITCHED.contains(&&**name)) {
        let facility = network.compile().unwrap();
        let times = times(&network, &facility);
        let rows: Vec<_> = expected(&facility, times).into_iter().map(|[rows, _]| rows).collect();
        on_device(&name, &facility, (times, &rows), (&gpu, Form::Private));
    }
}

/// More slots of next times than a printed tournament has, and a state that does not fit workgroup
/// memory eight times.
#[test]
fn many_stations_are_in_a_loop() {
    let mut text =
        "name = \"many\"\n[source.a]\ninterarrival = { exponential = 1.0 }\nto = \"s0\"\n[sink.o]\n"
            .to_owned();
    for number in 0..130 {
        let to = if number == 129 { "o".to_owned() } else { format!("s{}", number + 1) };
        text += &format!("[station.s{number}]\nservice = {{ exponential = 0.5 }}\nto = {to:?}\n");
    }
    let facility = Network::from_toml(&text).unwrap().compile_unstable().unwrap();
    let times = [20.0, 100.0].map(|units| facility.resolution().ticks(units).unwrap());
    let rows: Vec<_> = expected(&facility, times).into_iter().map(|[rows, _]| rows).collect();
    on_device("many", &facility, (times, &rows), (&adapter(), Form::Uniform));
}

/// A time that an event may be ahead is a bound of the compiled form, and an error.
#[test]
fn times_beyond_the_bounds_are_refused() {
    let text = "name = \"long\"\nticks_per_unit = 1000000000\n[source.a]\ninterarrival = { constant = 2.0 }\nto = \"s\"\n\
        [station.s]\nservice = { exponential = 4.0 }\nto = \"o\"\n[sink.o]\n";
    let facility = Network::from_toml(text).unwrap().compile_unstable().unwrap();
    let native = NativeNetwork::new(&CompiledNetwork::new(&facility).unwrap()).unwrap();
    let until = facility.resolution().ticks(1000.0).unwrap();
    let refused = native.run(1, 0..1, [Ticks::ZERO, until]);
    assert!(matches!(refused, Err(CompiledError::Fault { replication: 0, .. })), "{:?}", refused.map(|_| ()));
}

/// Arrivals, breakdowns and pieces of schedules may be far ahead, customers may not.
#[test]
fn rare_events_are_covered() {
    let text = "name = \"rare\"\nticks_per_unit = 1000000\n[source.a]\ninterarrival = { exponential = 5000.0 }\nto = \"s\"\n\
        rates = [{ lasts = 30000.0, factor = 0.5 }, { lasts = 1.0, factor = 1.0 }]\n\
        [source.b]\ninterarrival = { exponential = 150.0 }\nto = \"s\"\n\
        [station.s]\nservice = { exponential = 50.0 }\nbreakdown = { up = { exponential = 9000.0 }, down = { constant = 20.0 } }\n\
        to = \"t\"\n[station.t]\nservice = { constant = 9.0 }\nto = \"o\"\n\
        schedule = [{ lasts = 5000.0, servers = 1 }, { lasts = 2500.0, servers = 2 }]\n[sink.o]\n";
    let facility = Network::from_toml(text).unwrap().compile().unwrap();
    let times = [500.0, 100_000.0].map(|units| facility.resolution().ticks(units).unwrap());
    compare("rare", &facility, times, None);
}

/// Compares studies of a network: machine code of the CPU, the network's own kernel on the adapter
/// if it has one, and the interpreter there.
fn studied(text: &str, study: &Study, mappings: &[Mapping]) {
    let gpu = adapter();
    let facility = Network::from_toml(text).unwrap().compile_unstable().unwrap();
    // One bound is the least time, one below a unit of the histograms.
    let bounds =
        ["wait(s) <= 0", "wait(s) <= 0.001", "wait(s, a) <= 0.5", "sojourn(s) <= 0.5", "sojourn(o) <= 2"];
    let shares = bounds.map(|bound| bound.parse::<Share>().unwrap());
    let shares = if study.details { &shares[..] } else { &[] };
    let run = |backend: Backend<'_>, mapping| {
        let options = EngineOptions::default().mapping(mapping);
        facility.study(study).shares(shares).backend(backend).options(options).run().unwrap()
    };
    let cpu = run(Backend::Cpu, Mapping::Auto);
    let same = |place: &str, other: &Report| {
        assert_eq!(cpu.rows, other.rows, "{place}");
        assert_eq!(cpu.lengths, other.lengths, "{place}");
        assert_eq!(
            (cpu.customers, cpu.events, cpu.fingerprint, cpu.replications),
            (other.customers, other.events, other.fingerprint, other.replications),
            "{place}"
        );
    };
    for &mapping in mappings {
        same(&mapping.to_string(), &run(Backend::Gpu(&gpu), mapping));
    }
    // From the CPU to the device after any number of replications.
    for after in [0, 1, 17, study.replications - 1, study.replications] {
        let device = OnDemand::from(gpu.clone()).handing_over_after(after);
        let found = run(Backend::Auto(&device), Mapping::Auto);
        assert_eq!(found.engine, if after < study.replications { "gpu" } else { "cpu" }, "{after}");
        same(&format!("the device after {after}"), &found);
    }
}

/// A thread opens the device while the CPU has the first replications.
#[test]
fn a_study_opens_its_device_in_a_thread() {
    let open = || {
        let gpu = Gpu::new()?;
        // It is never destroyed: drivers may deadlock then if other threads end.
        std::mem::forget(gpu.clone());
        Ok(gpu)
    };
    let (_, network) = shipped().into_iter().find(|(name, _)| name == "mm1").unwrap();
    let facility = network.compile().unwrap();
    let study = Study::new(40, 200.0, 0.0);
    let cpu = facility.study(&study).run().unwrap();
    let device = OnDemand::by(open).handing_over_after(16);
    let found = facility.study(&study).backend(Backend::Auto(&device)).run().unwrap();
    assert_eq!((found.engine, cpu.engine), ("gpu", "cpu"));
    assert_eq!((found.rows, found.fingerprint), (cpu.rows, cpu.fingerprint));
}

#[test]
fn studies_report_what_the_interpreter_reports() {
    let text = "name = \"shared\"\nclasses = [\"a\", \"b\"]\n[source.a]\nclass = \"a\"\ninterarrival = { exponential = 1.0 }\nto = \"s\"\n\
        [source.b]\nclass = \"b\"\ninterarrival = { exponential = 2.0 }\nto = \"s\"\n\
        [station.s]\ndiscipline = \"priority\"\npatience = { exponential = 5.0 }\nservice = { exponential = 0.5 }\nto = \"o\"\n[sink.o]\n";
    studied(text, &Study::new(40, 120.0, 20.0).details(true), &[Mapping::Auto]);
    // The interpreter takes llvmpipe long to compile.
    let mappings = [Mapping::Auto, Mapping::Thread];
    studied(text, &Study::new(40, 120.0, 20.0), &mappings[..if is_long() { 2 } else { 1 }]);
}

/// A study whose few waiting customers fit the compiled form, but not those of some replications.
#[test]
fn studies_with_full_lines_report_the_line() {
    let gpu = adapter();
    let text = "name = \"narrow\"\n[source.a]\ninterarrival = { exponential = 1.0 }\nto = \"s\"\n\
        [station.s]\nservice = { exponential = 0.9 }\nto = \"o\"\n[sink.o]\n";
    let facility = Network::from_toml(text).unwrap().compile().unwrap();
    let study = Study::new(40, 400.0, 0.0).room(8);
    let [cpu, device] = [Backend::Cpu, Backend::Gpu(&gpu)]
        .map(|backend| facility.study(&study).backend(backend).run().unwrap_err().to_string());
    assert!(cpu.contains('8') && cpu.contains("`s`"), "{cpu}");
    assert_eq!(cpu, device);
}

/// A watcher stops a study on the adapter before its first replications are complete.
#[test]
fn a_watcher_stops_a_study_on_an_adapter() {
    let gpu = adapter();
    let (_, network) = shipped().into_iter().find(|(name, _)| name == "mm1").unwrap();
    let facility = network.compile().unwrap();
    let study = Study::new(64, 1e5, 0.0);
    let mut reports = 0;
    let watch = |done: usize, _| {
        reports += 1;
        assert_eq!(done, 0);
        ControlFlow::Break(())
    };
    let stopped = facility.study(&study).backend(Backend::Gpu(&gpu)).watch(watch).run();
    assert!(stopped.is_err(), "{stopped:?}");
    assert_eq!(reports, 1);
}

/// Replications with customers that stay too long are made by the interpreter, and others are not.
#[test]
fn studies_with_faults_report_what_the_interpreter_reports() {
    let text = "name = \"far\"\nticks_per_unit = 1000000\n[source.a]\ninterarrival = { exponential = 400.0 }\nto = \"s\"\n\
        [station.s]\nservice = { hyperexponential = { probability = 0.99, first = 100.0, second = 4000.0 } }\nto = \"o\"\n[sink.o]\n";
    studied(text, &Study::new(40, 20_000.0, 500.0), &[Mapping::Auto]);
    let facility = Network::from_toml(text).unwrap().compile().unwrap();
    let native = NativeNetwork::new(&CompiledNetwork::new(&facility).unwrap()).unwrap();
    let times = [500.0, 20_000.0].map(|units| facility.resolution().ticks(units).unwrap());
    let faults = (0..40).filter(|&number| native.run(1, number..number + 1, times).is_err()).count();
    assert!((1..40).contains(&faults), "{faults} of 40");
}

/// Random networks with features mixed. Of a long sweep, one in a hundred also runs on the
/// adapter, if it has a uniform form.
#[test]
fn random_networks_have_the_rows_of_the_interpreter() {
    let gpu = adapter();
    let number = if is_long() { 2000 } else { 20 };
    let check = |case, gpu: Option<&Gpu>| {
        let mut features = Features::new();
        let (text, facility) = random_networks::network(case, &mut features);
        let gpu = gpu.filter(|_| CompiledNetwork::new(&facility).is_ok_and(|network| network.has_kernel()));
        lasting_60(&format!("random {case}:\n{text}\n"), &facility, gpu);
        (features, gpu.is_some())
    };
    let features = (0..number).into_par_iter().map(|case| check(case, None).0);
    let features = features.reduce(Features::new, |mut all, more| {
        more.into_iter().for_each(|(feature, count)| *all.entry(feature).or_default() += count);
        all
    });
    println!("{number} networks: {features:?}");
    let on_device = (0..number).step_by(100).filter(|&case| is_long() && check(case, Some(&gpu)).1).count();
    println!("{on_device} of {number} networks on the adapter, too");
    assert!(
        !is_long()
            || on_device >= 5
                && features.len() == random_networks::KINDS
                && features.values().all(|&count| count >= 20)
    );
}
