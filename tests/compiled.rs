//! Compiled networks give the rows of the interpreter, bit for bit, for each replication: as
//! machine code of the CPU and on an adapter. Studies on the CPU use them.

use std::path::PathBuf;

use eventhorizon::Backend;
use eventhorizon::facility::{
    CompiledError, CompiledNetwork, DeviceNetwork, Distribution, Facility, Form, NativeNetwork, Network,
    Source, Station, Study,
};
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{CpuSimulation, EngineOptions, Mapping, Model as _, Options, Replica, Until};
use eventhorizon::random::Stream;
use eventhorizon::time::Ticks;

const SEED: u64 = 20_261_128;
const REPLICATIONS: u32 = 8;

/// Whether sweeps have their full length.
fn long() -> bool {
    std::env::var_os("EVENTHORIZON_LONG").is_some()
}

/// The networks that ship, by file name.
fn shipped() -> Vec<(String, Network)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/networks");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, Network::from_toml(&std::fs::read_to_string(&path).unwrap()).unwrap())
    };
    let mut found: Vec<_> = files.map(read).collect();
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
    // Of 32 numbers of customers; then, for each class, two histograms of 464 bins.
    let histograms = |memory: &[[u32; 4]]| {
        memory[details + 16..][..facility.network().classes.len() * 232].as_flattened().to_vec()
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
    let forms = if SWITCHED.contains(&name) { &[Form::Uniform, Form::Switch][..] } else { &[Form::Uniform] };
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
    let share = if long() { 1.0 } else { 0.02 };
    [network.warm_up, network.until].map(|units| facility.resolution().ticks(units.unwrap() * share).unwrap())
}

fn adapter() -> Gpu {
    Gpu::new().expect("these tests need an adapter: Mesa's lavapipe will do")
}

#[test]
fn shipped_networks_have_the_rows_of_the_interpreter() {
    let gpu = adapter();
    for (name, network) in shipped() {
        let facility = network.compile().unwrap();
        let on_device = long() || !CPU_ALONE.contains(&&*name);
        let times = times(&network, &facility);
        compare(&name, &facility, times, on_device.then_some(&gpu));
        compare(&name, &facility.with_details(), times, None);
    }
}

/// The shipped networks that short tests do not run on the adapter: two have no uniform form, and
/// lavapipe compiles the other one for long; of two whose customers give up, lavapipe has other sums
/// than an H200 and the CPU (notes/compiled-networks.md).
const CPU_ALONE: [&str; 4] = ["call_centre", "emergency", "processor", "web_farm"];

/// Compares a description whose runs last 60 time units.
fn described(name: &str, text: &str, gpu: Option<&Gpu>) {
    let network = Network::from_toml(&format!("name = \"{name}\"\n{text}")).unwrap();
    let facility = network.compile_unstable().unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let units = |units| facility.resolution().ticks(units).unwrap();
    let [middle, half, end] = [12.5, 30.0, 60.0].map(units);
    compare(name, &facility, [middle, end], gpu);
    compare(name, &facility.with_details(), [Ticks::ZERO, half], None);
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
            (group % 2 == 1).then_some(&gpu),
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
    described("fixed", &format!("{head}{}", fixed.replace("cyclic", "in_turn")), long().then_some(&gpu));
    let closed = "[delay.think]\ntime = { constant = 2.0 }\npopulation = 9\nto = \"s\"\n\
        [station.s]\nservers = 2\nservice = { uniform = [0.0, 1.0] }\npopulation = 4\nto = [{ node = \"think\", probability = 0.6 }, \"q\"]\n\
        [station.q]\ndiscipline = \"lifo\"\nservice = { constant = 0.5 }\nto = [{ node = \"s\", probability = 0.5 }, \"think\"]\n";
    described("closed", &format!("{head}{closed}"), long().then_some(&gpu));
}

/// More customers than a ring and a heap have at first.
#[test]
fn rings_and_heaps_grow() {
    let text = "[source.a]\ninterarrival = { exponential = 0.01 }\nto = [{ node = \"s\", probability = 0.5 }, \"d\"]\n\
        [station.s]\nservice = { exponential = 0.05 }\nto = \"d\"\n[delay.d]\ntime = { exponential = 3.0 }\nto = \"o\"\n[sink.o]\n";
    described("growing", text, Some(&adapter()));
}

/// More slots of next times than a printed tournament has, and more words than workgroup memory.
#[test]
fn many_stations_are_in_a_loop_and_in_private_memory() {
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

/// Compares studies of a network on the CPU, where it is compiled, and on the adapter, where it is
/// interpreted.
fn studied(text: &str, study: &Study) {
    let gpu = adapter();
    let facility = Network::from_toml(text).unwrap().compile_unstable().unwrap();
    let options = EngineOptions::default().mapping(Mapping::Thread);
    let [cpu, device] = [Backend::Cpu, Backend::Gpu(&gpu)]
        .map(|backend| facility.study(study).backend(backend).options(options).run().unwrap());
    assert_eq!(cpu.rows, device.rows);
    assert_eq!(cpu.lengths, device.lengths);
    assert_eq!(
        (cpu.customers, cpu.events, cpu.fingerprint, cpu.replications),
        (device.customers, device.events, device.fingerprint, device.replications)
    );
}

#[test]
fn studies_on_the_cpu_report_what_the_interpreter_reports() {
    let text = "name = \"shared\"\nclasses = [\"a\", \"b\"]\n[source.a]\nclass = \"a\"\ninterarrival = { exponential = 1.0 }\nto = \"s\"\n\
        [source.b]\nclass = \"b\"\ninterarrival = { exponential = 2.0 }\nto = \"s\"\n\
        [station.s]\ndiscipline = \"priority\"\npatience = { exponential = 5.0 }\nservice = { exponential = 0.5 }\nto = \"o\"\n[sink.o]\n";
    studied(text, &Study::new(40, 120.0, 20.0).details(true));
}

/// Replications with an event too far ahead are made by the interpreter, and others are not.
#[test]
fn studies_with_faults_report_what_the_interpreter_reports() {
    let text = "name = \"far\"\nticks_per_unit = 1000000\n[source.a]\ninterarrival = { exponential = 400.0 }\nto = \"s\"\n\
        [station.s]\nservice = { exponential = 100.0 }\nto = \"o\"\n[sink.o]\n";
    studied(text, &Study::new(40, 20_000.0, 500.0));
    let facility = Network::from_toml(text).unwrap().compile().unwrap();
    let native = NativeNetwork::new(&CompiledNetwork::new(&facility).unwrap()).unwrap();
    let times = [500.0, 20_000.0].map(|units| facility.resolution().ticks(units).unwrap());
    let faults = (0..40).filter(|&number| native.run(1, number..number + 1, times).is_err()).count();
    assert!((1..40).contains(&faults), "{faults} of 40");
}

/// Random networks of all covered features.
#[test]
fn random_networks_have_the_rows_of_the_interpreter() {
    let gpu = adapter();
    let number = if long() { 2000 } else { 24 };
    for case in 0..number {
        let text = random_network(case);
        described(&format!("random {case}"), &text, long().then_some(&gpu));
    }
}

/// Makes a description of random numbers.
struct Maker {
    stream: Stream,
    classes: u32,
    nodes: Vec<String>,
    /// Stations that block, by number.
    blocking: Vec<bool>,
    travels: bool,
    forks: bool,
}

impl Maker {
    fn below(&mut self, number: u32) -> u32 {
        self.stream.below(number)
    }

    /// One of `number` times.
    fn one_in(&mut self, number: u32) -> bool {
        self.below(number) == 0
    }

    fn law(&mut self, scale: f64) -> String {
        let mean = scale * f64::from(self.below(8) + 2) / 4.0;
        match self.below(10) {
            0 | 1 => format!("{{ constant = {mean} }}"),
            2 | 3 => format!("{{ exponential = {mean} }}"),
            4 => format!("{{ uniform = [{}, {}] }}", mean / 2.0, mean * 2.0),
            5 => format!("{{ erlang = {{ stages = {}, mean = {} }} }}", self.below(3) + 1, mean * 3.0),
            6 => {
                let (first, second) = (mean, 2.0 * mean);
                format!(
                    "{{ hyperexponential = {{ probability = 0.6, first = {first}, second = {second} }} }}"
                )
            }
            7 => format!("{{ lognormal = {{ mean = {}, deviation = {mean} }} }}", 2.0 * mean),
            8 => format!("{{ normal = {{ mean = {mean}, deviation = {} }} }}", mean / 2.0),
            _ => format!("{{ triangular = [{}, {mean}, {}] }}", mean / 2.0, 2.0 * mean),
        }
    }

    /// A route, with a travel time now and then.
    fn link(&mut self, number: usize, probability: f64) -> String {
        let blocks = self.blocking.get(number) == Some(&true);
        let travel = match self.travels && !blocks && self.one_in(3) {
            true => format!(", travel = {}", self.law(0.5)),
            false => String::new(),
        };
        format!("{{ node = {:?}, probability = {probability}{travel} }}", self.nodes[number])
    }

    /// Routes to a node, now and then to another one, and out.
    fn to(&mut self, number: usize) -> String {
        let first = self.link(number, 0.4);
        match self.below(4) {
            0 => {
                let other = self.below(u32::try_from(self.nodes.len()).unwrap());
                format!("[{first}, {}, \"o\"]", self.link(other as usize, 0.3))
            }
            1 if self.classes > 1 => {
                let out = "{ node = \"o\", probability = 0.4 }";
                format!("[{first}, {out}, {{ node = \"s0\", becomes = \"b\" }}]")
            }
            2 if self.blocking.get(number) != Some(&true) => {
                format!("{{ in_turn = [{:?}, \"o\", \"d\"] }}", self.nodes[number])
            }
            _ => format!("[{first}, \"o\"]"),
        }
    }

    fn source(&mut self, class: &str) -> String {
        let first = if class == "a" || self.one_in(3) { "r" } else { "s0" };
        let law = self.law(1.0);
        let mut text =
            format!("[source.in_{class}]\nclass = {class:?}\ninterarrival = {law}\nto = {first:?}\n");
        if self.one_in(4) {
            text += &format!("batch = {}\n", self.below(4) + 1);
        }
        if law.starts_with("{ exponential") && self.one_in(2) {
            text += "rates = [{ lasts = 4.0, factor = 0.5 }, { lasts = 2.0, factor = 1.0 }]\n";
        }
        text
    }

    fn station(&mut self, number: usize) -> String {
        let to = self.to(number + 1);
        self.station_to(&format!("s{number}"), self.blocking[number], false, &to)
    }

    /// A station; if it has tasks of a fork, none of them is lost.
    fn station_to(&mut self, name: &str, blocks: bool, has_tasks: bool, to: &str) -> String {
        // Servers that keep blocked customers do not break down, nor are they shared.
        let holds = self.nodes.iter().zip(&self.blocking).any(|(node, &blocks)| blocks && to.contains(node));
        // Lines in random order do not block.
        let disciplines = ["fifo", "fifo", "lifo", "priority", "polling", "random", "preemptive", "sharing"];
        let most = if blocks {
            5
        } else if holds {
            6
        } else {
            8
        };
        let discipline = disciplines[self.below(most) as usize];
        // One server polls.
        let polls = discipline == "polling";
        let interrupts = discipline == "preemptive" || discipline == "sharing";
        let servers = match discipline {
            "polling" => 1,
            "preemptive" => [1, 1, 2, 3, 4][self.below(5) as usize],
            _ => [1, 1, 2, 3, 6][self.below(5) as usize],
        };
        let law = self.law(0.8);
        let mut text = format!("[station.{name}]\ndiscipline = {discipline:?}\nservice = {law}\nto = {to}\n");
        let scheduled = !polls && !interrupts && self.one_in(4);
        if scheduled {
            let pieces = [(3.0, 2), (2.5, 0), (1.0, 3)]
                .map(|(lasts, servers)| format!("{{ lasts = {lasts:?}, servers = {servers} }}"));
            text += &format!("schedule = [{}]\n", pieces.join(", "));
        } else {
            text += &format!("servers = {servers}\n");
        }
        if blocks || !has_tasks && self.one_in(3) {
            text += &format!("capacity = {}\n", if scheduled { 3 } else { servers } + self.below(4));
        }
        if blocks {
            text += "when_full = \"block\"\n";
        }
        if !holds && !interrupts && self.one_in(4) {
            let (up, down) = (self.law(6.0), self.law(1.0));
            text += &format!("breakdown = {{ up = {up}, down = {down} }}\n");
        }
        if discipline != "random" && discipline != "sharing" && !blocks && !has_tasks && self.one_in(3) {
            text += &format!("patience = {}\n", self.law(0.7));
        }
        if !blocks && !has_tasks && self.one_in(4) {
            text += "balking = [0, 0.2, 0.3, 0.5]\n";
        }
        text
    }

    /// A fork with two stations for its tasks.
    fn fork(&mut self) -> String {
        let tasks = ["[\"t0\", \"t1\"]", "[\"t0\", \"t0\", \"t1\"]"][self.below(2) as usize];
        let to = ["\"o\"", "[{ node = \"d\", probability = 0.3 }, \"o\"]"][self.below(2) as usize];
        let mut text = format!("[fork.f]\ntasks = {tasks}\nto = {to}\n");
        text += &self.station_to("t0", false, true, "[{ node = \"t1\", probability = 0.3 }, \"f\"]");
        text += &self.station_to("t1", false, true, "\"f\"");
        text
    }
}

/// A description made of a stream of random numbers.
fn random_network(case: u32) -> String {
    let mut maker = Maker {
        stream: Stream::new(7, case, 0),
        classes: 0,
        nodes: Vec::new(),
        blocking: Vec::new(),
        travels: false,
        forks: false,
    };
    maker.classes = maker.below(3) + 1;
    maker.travels = maker.one_in(3);
    maker.forks = maker.one_in(3);
    let names = &["a", "b", "c"][..maker.classes as usize];
    let ticks = [2000, 4000, 100_000][maker.below(3) as usize];
    let mut text = format!("ticks_per_unit = {ticks}\nclasses = {names:?}\n");
    let stations = maker.below(4) as usize + 1;
    maker.nodes = (0..stations).map(|station| format!("s{station}")).collect();
    maker.nodes.extend(["d".to_owned(), "o".to_owned()]);
    if maker.forks {
        maker.nodes.push("f".to_owned());
    }
    // (A router does not lead to a station that blocks.)
    maker.blocking = (0..stations).map(|station| station > 0 && maker.one_in(3)).collect();
    text.extend(names.iter().map(|class| maker.source(class)));
    text.extend((0..stations).map(|station| maker.station(station)));
    let (law, mut to) = (maker.law(1.5), maker.to(0));
    if maker.forks {
        to = "[{ node = \"f\", probability = 0.3 }, { node = \"s0\", probability = 0.3 }, \"o\"]".to_owned();
    }
    let population =
        if maker.one_in(2) { format!("population = {}\n", maker.below(9)) } else { String::new() };
    text += &format!("[delay.d]\ntime = {law}\n{population}to = {to}\n");
    if maker.forks {
        text += &maker.fork();
    }
    let routes = match maker.below(3) {
        0 if maker.blocking.get(1) == Some(&false) => "{ shortest = [\"s0\", \"s1\", \"d\"] }".to_owned(),
        0 => "{ shortest = [\"s0\", \"d\"] }".to_owned(),
        _ => format!("[{}, {}, \"o\"]", maker.link(0, 0.5), maker.link(stations, 0.2)),
    };
    text + &format!("[router.r]\nto = {routes}\n[sink.o]\n")
}
