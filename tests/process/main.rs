//! Process models: printed programs link, run without a fault, agree with theory, and do what an
//! interpreter of their statements does that was written apart.

mod compare;
mod generator;
mod interpreter;
mod models;
mod reduce;

use std::sync::Arc;

use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{CpuSimulation, NativeModel, Options, Simulation, Until};
use eventhorizon::process::program::{HEADER, Program, Size};
use eventhorizon::process::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small, lower};
use eventhorizon::time::Ticks;

use compare::{Case, Trouble, compare};
use eventhorizon::process::ir::ProcessModel;
use models::{models, queue};

/// The header, the output rows and the events of a run.
fn run<S: Sized3>(gpu: &Gpu, printed: &Arc<Printed>, until: f64) -> ([u32; 4], Vec<[u32; 4]>, u64) {
    let run = ProcessRun::<S>::new(Arc::clone(printed), &[], Ticks::ZERO, 512).unwrap();
    let native = NativeModel::new(&run).unwrap_or_else(|error| panic!("{}: {error}", printed.program.name));
    let mut on_cpu = CpuSimulation::new(&native, Options::default().seed(7)).unwrap();
    let until = Until::time(printed.program.resolution.ticks(until).unwrap());
    let mut simulation = Simulation::new(gpu, &run, Options::default().seed(7)).unwrap();
    let events = simulation.run(until).unwrap().events;
    on_cpu.run(until).unwrap();
    assert_eq!(simulation.fingerprint().unwrap(), on_cpu.fingerprint(), "{}", printed.program.name);
    let state = simulation.states().unwrap()[0];
    let rows = simulation.outputs(until.time).unwrap();
    (state.rows()[0], rows.rows()[0].rows().to_vec(), events)
}

fn run_any(gpu: &Gpu, program: Program, until: f64) -> ([u32; 4], Vec<[u32; 4]>, u64) {
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
    let gpu = Gpu::new().unwrap();
    for model in models() {
        let program = lower(&model).unwrap_or_else(|error| panic!("{}: {error}", model.name));
        let (header, _, events) = run_any(&gpu, program, 300.0);
        println!("{}: {events} events, header {header:?}", model.name);
        assert_eq!(header[HEADER.fault as usize], 0, "{}", model.name);
        assert!(events > 30, "{}: {events}", model.name);
    }
}

#[test]
fn a_queue_waits_as_theory_says() {
    let program = lower(&queue()).unwrap();
    let (_, rows, events) = run_any(&Gpu::new().unwrap(), program.clone(), 20_000.0);
    // M/M/1 with utilisation 1/2: the mean wait is 0.5 services, the mean stay 1.
    let ((wait, count), (stay, _)) = (mean(&program, &rows, "wait"), mean(&program, &rows, "stay"));
    println!("{events} events, {count} customers, wait {wait}, stay {stay}");
    assert!(count > 19_000, "{count}");
    assert!((wait - 0.5).abs() < 0.05 && (stay - 1.0).abs() < 0.06, "{wait} {stay}");
}

/// A reduced model that fails, and how.
fn report(number: u64, case: &Case, what: &str) -> String {
    let mut last = what.to_owned();
    let mut fails = |model: &ProcessModel| {
        let point = model.parameters.values().map(|of| of.values[0]).collect();
        match compare(&Case { model: model.clone(), point, ..case.clone() }) {
            Err(Trouble::Differs(what)) => {
                last = what;
                true
            }
            _ => false,
        }
    };
    let model = reduce::reduce(&case.model, &mut fails);
    format!("random model {number}, reduced: {last}\n{:#?}\n{:?}", model, Case { model: ProcessModel::default(), ..case.clone() })
}

#[test]
fn programs_do_what_their_statements_say() {
    let from: u64 = std::env::var("ORACLE_FROM").map_or(0, |v| v.parse().unwrap());
    let count: u64 = std::env::var("ORACLE_COUNT").map_or(60, |v| v.parse().unwrap());
    let mut refused = std::collections::BTreeMap::<String, u32>::new();
    let mut faults = std::collections::BTreeMap::<String, u32>::new();
    let (mut compared, mut events, mut times, mut full, mut failed) = (0, 0, 0, 0, 0);
    for number in from..from + count {
        let case = generator::case(number);
        let found = std::panic::catch_unwind(|| compare(&case));
        match found {
            Ok(Ok(seen)) => {
                compared += 1;
                events += seen.events;
                times += seen.times;
                full += u32::from(seen.full);
                *faults.entry(format!("{:?}", seen.fault)).or_default() += 1;
            }
            Ok(Err(Trouble::Refused(why))) => {
                let why = why.split_once(": ").map_or(&*why, |(_, why)| why);
                let why: String = why.chars().map(|c| if c.is_numeric() { '#' } else { c }).collect();
                if std::env::var_os("ORACLE_REFUSED").is_some() { println!("{number}: {why}"); }
                *refused.entry(why).or_default() += 1;
            }
            Ok(Err(Trouble::Differs(what))) => {
                failed += 1;
                println!("{number}: {what}");
                if failed <= std::env::var("ORACLE_REDUCE").map_or(0, |v| v.parse().unwrap()) {
                    println!("{}", report(number, &case, &what));
                }
            }
            Err(_) => { failed += 1; println!("{number}: panics") },
        }
    }
    println!("{compared} compared, {events} events, {times} times, {full} full, {faults:?}\nrefused: {refused:#?}");
    assert_eq!(failed, 0);
}

#[test]
fn the_ten_models_do_what_their_statements_say() {
    for model in models() {
        let case = Case { model, point: Vec::new(), seed: 7, warm_up: 10.0, until: 300.0, room: 512, most_events: u64::MAX };
        let seen = compare(&case).unwrap_or_else(|trouble| panic!("{}: {trouble:?}", case.model.name));
        println!("{}: {seen:?}", case.model.name);
        assert!(seen.events > 30 && seen.fault.is_none(), "{}: {seen:?}", case.model.name);
    }
}
