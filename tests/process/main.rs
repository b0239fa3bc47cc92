//! Process models: programs link, run without a fault, agree with theory, and do what an
//! interpreter of their statements does that was written apart (`interpreter/`).

#![allow(unreachable_pub, reason = "no other program uses this one")]

mod cases;
mod compare;
mod generator;
mod interpreter;
#[path = "../common/long.rs"]
mod long;
mod models;
mod reduce;
mod scopes;
mod slices;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eventhorizon::facility::Distribution;
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{CpuSimulation, Mapping, Options, Simulation, Until};
use eventhorizon::process::program::{HEADER, Program, Size};
use eventhorizon::process::{Large, Medium, Printed, ProcessModel, ProcessRun, Rows, Sized3, Small, lower};
use eventhorizon::time::Ticks;

use compare::{Case, Trouble, compare, compare_device, compare_mappings};
use long::is_long;
use models::{models, queue};

/// The header, the output rows and the events of a run on the CPU, which is that on the adapter, if
/// one is given.
fn run<S: Sized3>(gpu: Option<&Gpu>, printed: &Arc<Printed>, until: f64) -> ([u32; 4], Vec<[u32; 4]>, u64) {
    let name = &printed.program.name;
    let run = ProcessRun::<S>::new(Arc::clone(printed), &[], Ticks::ZERO, 512).unwrap();
    let mut on_cpu = CpuSimulation::new(&run, Options::default().seed(7))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let until = Until::time(printed.program.resolution.ticks(until).unwrap());
    let events = on_cpu.run(until).unwrap().events;
    let rows = on_cpu.outputs(until.time).unwrap().rows()[0].rows().to_vec();
    if let Some(gpu) = gpu {
        let mut simulation = Simulation::new(gpu, &run, Options::default().seed(7)).unwrap();
        assert_eq!(simulation.run(until).unwrap().events, events, "{name}");
        assert_eq!(simulation.fingerprint().unwrap(), on_cpu.fingerprint(), "{name}");
        assert_eq!(simulation.outputs(until.time).unwrap().rows()[0].rows(), rows, "{name}");
    }
    (on_cpu.states()[0].rows()[0], rows, events)
}

fn run_any(gpu: Option<&Gpu>, program: Program, until: f64) -> ([u32; 4], Vec<[u32; 4]>, u64) {
    let printed = Arc::new(Printed::new(program));
    match printed.program.size {
        Size::Small => run::<Small>(gpu, &printed, until),
        Size::Medium => run::<Medium>(gpu, &printed, until),
        Size::Large => run::<Large>(gpu, &printed, until),
    }
}

/// The mean of a tally of times, in units, and its count.
fn mean(program: &Program, rows: &[[u32; 4]], name: &str) -> (f64, u32) {
    let sum = program.sums.iter().find(|sum| sum.name == name).unwrap();
    let place = program.output_rows.iter().position(|row| *row == sum.row).unwrap();
    let [low, middle, high, count] = rows[place].map(f64::from);
    let total = low + middle * 2_f64.powi(32) + high * 2_f64.powi(64);
    let mean = total / count / f64::from(program.resolution.ticks_per_unit());
    (mean, rows[place][3])
}

#[test]
fn programs_of_all_statements_run() {
    all_run(models());
}

/// All on the CPU, and one in four on the adapter, which takes long to compile them.
fn all_run(models: Vec<ProcessModel>) {
    let gpu = Gpu::new().unwrap();
    for (number, model) in models.into_iter().enumerate() {
        let program = lower(&model).unwrap_or_else(|error| panic!("{}: {error}", model.name));
        let (header, _, events) = run_any((number % 4 == 0 || is_long()).then_some(&gpu), program, 300.0);
        println!("{}: {events} events, header {header:?}", model.name);
        assert_eq!(header[HEADER.fault as usize], 0, "{}", model.name);
        assert!(events > 30, "{}: {events}", model.name);
    }
}

#[test]
fn a_queue_waits_as_theory_says() {
    let program = lower(&queue()).unwrap();
    let (_, rows, events) = run_any(Some(&Gpu::new().unwrap()), program.clone(), 20_000.0);
    // M/M/1 with utilisation 1/2: the mean wait is 0.5 services, the mean stay 1.
    let ((wait, count), (stay, _)) = (mean(&program, &rows, "wait"), mean(&program, &rows, "stay"));
    println!("{events} events, {count} customers, wait {wait}, stay {stay}");
    assert!(count > 19_000, "{count}");
    assert!((wait - 0.5).abs() < 0.05 && (stay - 1.0).abs() < 0.06, "{wait} {stay}");
}

#[test]
fn each_kind_of_distribution_has_its_mean_on_an_adapter_and_on_the_cpu() {
    let gpu = Gpu::new().unwrap();
    // Each is a program to compile; all are in a network of `it`.
    for law in Distribution::examples().step_by(if is_long() { 1 } else { 8 }) {
        let written = serde_json::to_string(&law).unwrap();
        let model = format!(
            "{{ \"name\": \"law\", \"until\": 9, \"entity\": {{ \"job\": {{ \"every\": 1,
                \"do\": [{{ \"delay\": {written} }}, {{ \"tally\": \"stay\" }}] }} }} }}"
        );
        let model = ProcessModel::from_json(&model).unwrap_or_else(|error| panic!("{written}: {error}"));
        let program = lower(&model).unwrap_or_else(|error| panic!("{written}: {error}"));
        let (_, rows, _) = run_any(Some(&gpu), program.clone(), 3000.0);
        let (mean, count) = mean(&program, &rows, "stay");
        assert!(count > 2900, "{written}: {count}");
        let bound = 4.0 * (law.variance() / f64::from(count)).sqrt() + 1e-4;
        assert!((mean - law.mean()).abs() < bound, "{written}: {mean}, {}", law.mean());
    }
}

#[test]
fn programs_of_all_statements_do_what_these_say() {
    for model in models().into_iter().chain(scopes::models()) {
        let (seeds, until, most_events) = (vec![7], 300.0, u64::MAX);
        let case = Case { model, point: Vec::new(), seeds, warm_up: 10.0, until, room: 512, most_events };
        let seen = compare(&case).unwrap_or_else(|trouble| panic!("{}: {trouble:?}", case.model.name));
        println!("{}: {seen:?}", case.model.name);
        assert!(seen.events > 30 && seen.fault.is_none(), "{}: {seen:?}", case.model.name);
    }
}

/// Numbers of random models: `usual`, or `long` with `EVENTHORIZON_LONG`. Its value may be the first
/// one, or a range: `200..300`.
fn numbers(usual: u64, long: u64) -> std::ops::Range<u64> {
    let Ok(value) = std::env::var("EVENTHORIZON_LONG") else { return 0..usual };
    let (first, end) = value.split_once("..").unwrap_or((&value, ""));
    let first = first.parse().unwrap_or(0);
    first..end.parse().unwrap_or(first + long)
}

/// What happens in some of the random models: see `interpreter::World::did`.
const HAPPENS: [&str; 68] = [
    "any: condition",
    "batch",
    "behind Delay",
    "behind Join",
    "behind Member",
    "count",
    "delay",
    "do",
    "end",
    "gave up batch",
    "gave up condition",
    "gave up getters",
    "gave up items",
    "gave up putters",
    "gave up resource",
    "gave up signal",
    "gave up takers",
    "get",
    "give",
    "go",
    "granted condition",
    "granted getters",
    "granted items",
    "granted putters",
    "granted resource",
    "granted signal",
    "granted takers",
    "held",
    "if",
    "interrupt",
    "interrupted Delay",
    "interrupted batch",
    "interrupted condition",
    "interrupted getters",
    "interrupted holders",
    "interrupted items",
    "interrupted resource",
    "interrupted signal",
    "interrupted takers",
    "join",
    "preempted: lose",
    "preempted: repeat",
    "preempted: restart",
    "preempted: resume",
    "put",
    "release",
    "repeat",
    "resize",
    "seize",
    "select",
    "select: InTurn",
    "select: MostFree",
    "select: Random",
    "select: Shortest",
    "send",
    "separated",
    "set",
    "shift",
    "spawn",
    "take",
    "tally",
    "then",
    "use",
    "wait",
    "wait_any",
    "wait_until",
    "went inside",
    "while",
];

#[test]
fn programs_of_random_statements_do_what_these_say() {
    let (mut faults, mut did) = (BTreeMap::new(), BTreeSet::new());
    let (mut compared, mut refused, mut events, mut full) = (0, 0, 0, 0);
    let mut failures = String::new();
    for number in numbers(97, 10_000) {
        let case = generator::case(number);
        match compare(&case) {
            Ok(seen) => {
                compared += 1;
                events += seen.events;
                full += u32::from(seen.full);
                did.extend(seen.did);
                *faults.entry(format!("{:?}", seen.fault)).or_insert(0) += 1;
            }
            Err(Trouble::Refused(why)) => {
                println!("{number} is refused: {why}");
                refused += 1;
            }
            Err(Trouble::Differs(what)) => {
                println!("{number} differs: {what}");
                match failures.is_empty() {
                    true => failures = smallest(number, &case, &what),
                    false => failures += &format!("{number}: {what}\n"),
                }
            }
        }
    }
    println!("{compared} compared, {refused} refused, {events} events, {full} full; faults: {faults:?}");
    assert!(failures.is_empty(), "{failures}");
    let missing: Vec<_> = HAPPENS.iter().filter(|what| !did.contains(**what)).collect();
    assert!(missing.is_empty(), "in no random model: {missing:?}");
    assert!(compared > 3 * refused && events > 20 * compared && faults.len() > 2);
}

/// What fails, with a small model that fails alike.
fn smallest(number: u64, case: &Case, what: &str) -> String {
    let links = |what: &str| !what.contains("does not link");
    let (mut last, is_linked) = (what.to_owned(), links(what));
    let mut fails = |model: &ProcessModel| {
        let point = model.parameters.values().map(|of| of.values[0]).collect();
        match compare(&Case { model: model.clone(), point, ..case.clone() }) {
            Err(Trouble::Differs(what)) if links(&what) == is_linked => {
                last = what;
                true
            }
            Ok(_) | Err(_) => false,
        }
    };
    let model = reduce::reduce(&case.model, &mut fails);
    let Case { seeds, warm_up, until, room, .. } = case;
    format!(
        "{number}: {what}\nreduced: {last}\n{model:#?}\nseeds {seeds:?}, warm-up {warm_up}, until {until}, room {room}\n"
    )
}

#[test]
fn programs_do_the_same_without_the_general_engine() {
    for model in models() {
        let (seeds, until, most_events) = (vec![7, 8], 300.0, u64::MAX);
        let case = Case { model, point: Vec::new(), seeds, warm_up: 10.0, until, room: 512, most_events };
        let events = slices::compare_native(&case).unwrap_or_else(|trouble| panic!("{trouble:?}"));
        assert!(events > 60, "{}: {events}", case.model.name);
    }
    let mut events = 0;
    for number in numbers(30, 10_000) {
        match slices::compare_native(&generator::case(number)) {
            Ok(executed) => events += executed,
            Err(Trouble::Refused(_)) => {}
            Err(Trouble::Differs(what)) => panic!("{number}: {what}"),
        }
    }
    println!("{events} events");
    assert!(events > 1_000, "{events}");
}

#[test]
fn descriptions_do_the_same_without_the_general_engine() {
    let mut count = 0;
    for file in std::fs::read_dir("examples/processes").unwrap() {
        let mut model = ProcessModel::read(&file.unwrap().path()).unwrap();
        model.parameters.values_mut().for_each(|of| of.values.truncate(1));
        let point = model.parameters.values().map(|of| of.values[0]).collect();
        let (until, warm_up) = (model.until.unwrap() / 10.0, model.warm_up.unwrap_or(0.0) / 10.0);
        let (seeds, most_events) = (vec![1, 2], u64::MAX);
        let case = Case { model, point, seeds, warm_up, until, room: 4096, most_events };
        let events = slices::compare_native(&case).unwrap_or_else(|trouble| panic!("{trouble:?}"));
        assert!(events > 30, "{}: {events}", case.model.name);
        count += 1;
    }
    assert!(count > 9, "{count}");
}

#[test]
fn programs_do_the_same_on_a_device_without_the_general_engine() {
    let gpu = Gpu::new().unwrap();
    let all = models();
    let some = numbers(2, all.len() as u64).end as usize;
    for model in all.into_iter().take(some) {
        let (seeds, until, most_events) = ((0..20).collect(), 60.0, u64::MAX);
        let case = Case { model, point: Vec::new(), seeds, warm_up: 10.0, until, room: 40, most_events };
        let events = slices::compare_on_device(&gpu, &case).unwrap_or_else(|trouble| panic!("{trouble:?}"));
        println!("{}: {events} events", case.model.name);
        assert!(events > 60, "{}: {events}", case.model.name);
    }
}

#[test]
fn programs_of_random_statements_do_the_same_on_a_device() {
    let gpu = Gpu::new().unwrap();
    let mut events = 0;
    for number in numbers(1, 60) {
        let case = Case { until: 40.0, ..generator::small(number) };
        match compare_device(&gpu, &case, 3) {
            Ok(executed) => events += executed,
            Err(Trouble::Refused(_)) => {}
            Err(Trouble::Differs(what)) => panic!("{number}: {what}"),
        }
    }
    println!("{events} events");
    assert!(events > 30, "{events}");
}

#[test]
fn programs_of_random_statements_do_the_same_in_each_mapping() {
    let gpu = Gpu::new().unwrap();
    let (mut compared, mut events) = (0, 0);
    for number in numbers(1, 200) {
        let case = Case { until: 20.0, ..generator::small(number) };
        let mappings = [Mapping::Thread, Mapping::Team];
        match compare_mappings(&gpu, &case, &mappings[..if is_long() { 2 } else { 1 }]) {
            Ok(executed) => {
                compared += 1;
                events += executed;
            }
            Err(Trouble::Refused(_)) => {}
            Err(Trouble::Differs(what)) => panic!("{number}: {what}"),
        }
    }
    println!("{compared} compared, {events} events");
    assert!(events > 30, "{events}");
}
