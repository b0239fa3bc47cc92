//! The models of `pdes` in the library: the GPU gives the bits of the sequential engine, and both
//! agree with theory.

#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers in tests")]

mod call_centre;
mod epidemic;
mod experiments;
mod fifo_torus;
mod priorities;
mod torus;

use crate::common;
use common::references::Reference;
use common::{few, gpu, is_long};
use eventhorizon::models::ModelError;
use eventhorizon::pdes::{
    CpuModel, CpuSimulation, Fault, FaultKind, Options, Simulation, SimulationError, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};

fn ticks(units: f64) -> Ticks {
    Resolution::default().ticks(units).unwrap()
}

fn until(units: f64) -> Until {
    Until::time(ticks(units))
}

/// Runs both engines to each end in turn and compares everything that a user can see. Returns the
/// states at the end.
fn same<M>(model: &M, options: Options, ends: &[Until]) -> Vec<M::State>
where
    M: CpuModel<State: PartialEq, Output: PartialEq>,
{
    let mut options = options;
    if options.sync == Sync::Auto {
        options.sync = Sync::Yawns;
    }
    let mut cpu = CpuSimulation::in_rust(model, options).unwrap();
    let mut simulation = Simulation::new(&gpu(), model, options).unwrap();
    for &end in ends {
        let mut expected = cpu.run(end).unwrap();
        let found = simulation.run(end).unwrap();
        if options.sync.is_wide() == Some(true) {
            expected.windows = found.windows;
        }
        assert_eq!(found, expected, "{options:?}");
        assert!(simulation.states().unwrap() == cpu.states(), "states differ: {options:?}");
        assert!(simulation.pending().unwrap() == cpu.pending(), "pending events differ: {options:?}");
        assert!(simulation.memory().unwrap() == cpu.memory(), "LP memory differs: {options:?}");
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{options:?}");
        if end.time != Ticks::NEVER {
            let outputs = simulation.outputs(end.time).unwrap();
            assert!(outputs == cpu.outputs(end.time).unwrap(), "outputs differ: {options:?}");
            let totals = simulation.totals(end.time, None).unwrap();
            assert_eq!(totals, cpu.totals(end.time, None).unwrap(), "{options:?}");
        }
    }
    // From its WGSL on the CPU.
    let mut native = CpuSimulation::new(model, options).unwrap();
    ends.iter().for_each(|&end| assert!(native.run(end).is_ok()));
    assert_eq!(native.fingerprint(), cpu.fingerprint(), "{options:?}");
    cpu.states().to_vec()
}

/// [`same`] with every queue design, with workgroups of several sizes, and with runs in two parts.
fn same_in_all_ways<M>(model: &M, middle: f64, end: f64)
where
    M: CpuModel<State: PartialEq, Output: PartialEq>,
{
    let options = Options::default().seed(17);
    let whole = same(model, options, &[until(end)]);
    let shapes = [(1, 1), (8, 2), (64, 1), (32, 1), (16, 1), (64, 2), (8, 1), (64, 2), (32, 2)];
    for (&queue, (group_size, tiles)) in
        few(2, &QueueDesign::PRODUCTION).iter().zip(shapes.into_iter().cycle())
    {
        let options = options.queue(queue).group_size(group_size).tiles(tiles);
        assert!(same(model, options, &[until(middle), until(end)]) == whole, "{options:?}");
    }
    for sync in wide(false) {
        for queue in [QueueDesign::Heap4, QueueDesign::Heap].into_iter().take(if is_long() { 2 } else { 1 }) {
            let options = options.queue(queue).sync(sync);
            assert!(same(model, options, &[until(middle), until(end)]) == whole, "{options:?}");
        }
    }
}

/// The methods with windows wider than epochs that need the senders of each LP, or do not.
fn wide(senders: bool) -> impl Iterator<Item = Sync> + Clone {
    Sync::ALL.into_iter().filter(move |sync| sync.is_wide() == Some(true) && sync.needs_senders() == senders)
}

/// [`same`] with per-LP bounds, in some queue designs and workgroups, and with the event horizon.
fn neighbours_in_all_ways<M>(model: &M, middle: f64, end: f64)
where
    M: CpuModel<State: PartialEq, Output: PartialEq>,
{
    let bounds = [(QueueDesign::Heap, 1, 1), (QueueDesign::Heap4, 8, 2), (QueueDesign::Heap, 64, 2)];
    let all = |sync| bounds.map(|shape| (shape, sync)).to_vec();
    let bounds: Vec<_> = if is_long() {
        wide(true).flat_map(all).collect()
    } else {
        bounds.into_iter().zip(wide(true).cycle()).collect()
    };
    let horizon = wide(false).map(|sync| ((QueueDesign::Heap4, 64, 1), sync));
    for ((queue, group_size, tiles), sync) in bounds.into_iter().chain(horizon) {
        let (group_size, tiles) = (Some(group_size), Some(tiles));
        let options = Options::default().seed(17).queue(queue).group_size(group_size).tiles(tiles).sync(sync);
        same(model, options, &[until(middle), until(end)]);
    }
}

/// The fault with which both engines end a run.
fn fault<M: CpuModel>(model: &M, end: Until) -> Fault {
    let only = |error| match error {
        SimulationError::Fault(fault) => fault,
        other => panic!("expected a fault, got {other}"),
    };
    let expected =
        only(CpuSimulation::in_rust(model, Options::default().seed(1)).unwrap().run(end).unwrap_err());
    let options = Options::default().seed(1).fixed(true);
    let found = only(Simulation::new(&gpu(), model, options).unwrap().run(end).unwrap_err());
    assert_eq!(found, expected);
    found
}

/// A mean as the ratio of two sums over independent observations, with its standard error (of the
/// linearised ratio): for example time waited over customers, with different numbers of customers.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    fn of(observations: impl Iterator<Item = (f64, f64)>) -> Self {
        let observations: Vec<_> = observations.collect();
        let n = observations.len() as f64;
        assert!(n >= 16.0, "too few to know how they spread");
        let (top, bottom) = observations.iter().fold((0.0, 0.0), |sum, o| (sum.0 + o.0, sum.1 + o.1));
        let mean = top / bottom;
        let squares: f64 = observations.iter().map(|o| (o.0 - mean * o.1).powi(2)).sum();
        Self { mean, error: (squares * n / (n - 1.0)).sqrt() / bottom }
    }

    /// How many standard errors a value is away.
    fn away(self, value: f64) -> f64 {
        (self.mean - value).abs() / self.error
    }

    /// Within four standard errors of theory, and so precise that an error of theory by 3 % would
    /// show.
    #[track_caller]
    fn assert_is(self, what: &str, expected: f64) {
        println!(
            "{what}: {:.6} +- {:.6}, expected {expected:.6}: {:.2} standard errors",
            self.mean,
            self.error,
            self.away(expected)
        );
        assert!(self.away(expected) < 4.0, "{what}: {self:?} is not {expected}");
        for off in [0.97, 1.03] {
            assert!(
                self.away(off * expected) > 4.0,
                "{what}: {self:?} would not tell {expected} from {off} of it"
            );
        }
    }
}

#[test]
fn estimates_are_ratios_with_the_error_of_their_mean() {
    // Equal numbers of customers: the mean of the quotients, with its usual standard error.
    let estimate = Estimate::of((0..20).map(|i| (f64::from(i), 2.0)));
    assert!((estimate.mean - 4.75).abs() < 1e-12);
    let deviation = (f64::from(20 * 20 * 20 - 20) / 12.0 / 19.0).sqrt() / 2.0;
    assert!((estimate.error - deviation / 20.0_f64.sqrt()).abs() < 1e-12, "{estimate:?} {deviation}");
}

/// Each refused setting is named with its value.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ModelError>, message: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn settings_that_are_refused_are_named() {
    use eventhorizon::models::{CallCentre, Epidemic, FifoTorus, Priorities, Torus};
    let units = Resolution::default();
    refused(CallCentre::new(1, 0, 1.0, 1.0, 1.0, 8, units), "the number of servers is 0: choose");
    refused(CallCentre::new(1, 1, 1.0, 1.0, 1.0, 100, units), "the room is 100: choose a power of two");
    refused(CallCentre::new(1, 1, -1.0, 1.0, 1.0, 8, units), "the arrival rate is -1: choose");
    refused(CallCentre::new(1, 1, 1.0, f64::NAN, 1.0, 8, units), "the service rate is NaN: choose");
    refused(CallCentre::new(1, 1, 1.0, 1.0, 0.0, 8, units), "the abandonment rate is 0: choose");
    refused(
        CallCentre::new(1, 1, 1e9, 1.0, 1.0, 8, units),
        "the arrival rate is 1000000000, a time of less than",
    );
    refused(CallCentre::new(1, 1, 1e-19, 1.0, 1.0, 8, units), "the arrival rate gives an invalid time");
    refused(Priorities::new(1, &[], 8, units), "the number of classes is 0: choose 1 to 3");
    refused(Priorities::new(1, &[(1.0, 1.0); 4], 8, units), "the number of classes is 4: choose 1 to 3");
    refused(Priorities::new(1, &[(1.0, 1.0)], 0, units), "the room is 0: choose");
    refused(Priorities::new(1, &[(1.0, 0.0)], 8, units), "the service rate is 0: choose");
    refused(Epidemic::new(3, &[(0, 1)], 0, 1.0, 1.0, 1.0, units), "the number of index cases is 0: choose");
    refused(Epidemic::new(3, &[(0, 1)], 4, 1.0, 1.0, 1.0, units), "the number of index cases is 4: choose");
    refused(Epidemic::new(3, &[(0, 3)], 1, 1.0, 1.0, 1.0, units), "the edge is 0 to 3: connect");
    refused(Epidemic::new(3, &[(1, 1)], 1, 1.0, 1.0, 1.0, units), "the edge is 1 to 1: connect");
    refused(
        Epidemic::new(3, &[(0, 1)], 1, 0.0, 1.0, 1.0, units),
        "the latent time is 0, a time of less than",
    );
    refused(
        Epidemic::new(3, &[(0, 1); 20_000], 1, 1.0, 1.0, 1.0, units),
        "the number of neighbours is 20000:",
    );
    refused(Torus::new(0, 3, 1, 1.0, 0.1, units), "the size is 0 x 3: choose");
    refused(Torus::new(1 << 16, 1 << 16, 1, 1.0, 0.1, units), "the size is 65536 x 65536: choose");
    refused(Torus::new(2, 3, 0, 1.0, 0.1, units), "the number of customers is 0: choose");
    refused(Torus::new(2, 3, 1, 1.0, 1e-9, units), "the travel time is 0.000000001, a time of less than");
    refused(Torus::new(2, 3, 1, 1.0, -1.0, units), "the travel time gives an invalid time");
    refused(FifoTorus::new(3, 0, 1, 1.0, units), "the size is 3 x 0: choose");
    refused(FifoTorus::new(1 << 16, 1 << 16, 1, 1.0, units), "the size is 65536 x 65536: choose");
    refused(FifoTorus::new(2, 3, 0, 1.0, units), "the number of customers is 0: choose");
    refused(FifoTorus::new(2, 3, 1, 0.0, units), "the service rate is 0: choose");
}

#[test]
fn a_line_that_is_full_ends_the_run() {
    use eventhorizon::models::{CallCentre, Priorities};
    let units = Resolution::default();
    // Hardly any caller is patient for less than a thousand service times, and twice as many arrive
    // as are served.
    let centre = CallCentre::new(3, 2, 4.0, 1.0, 0.001, 16, units).unwrap();
    assert_eq!(fault(&Reference(centre), until(100.0)).kind, FaultKind::MemoryFull);
    let station = Priorities::new(3, &[(0.2, 1.0), (2.0, 1.0)], 16, units).unwrap();
    assert_eq!(fault(&Reference(station), until(100.0)).kind, FaultKind::MemoryFull);
}

#[path = "../../../examples/stations.rs"]
#[allow(dead_code, reason = "its `main`")]
mod stations;

#[test]
fn the_example_agrees_with_theory() {
    let model = stations::Stations { stations: 300, minutes: Resolution::default() };
    let [busy, theory] = stations::busy(&gpu(), &model).unwrap();
    // 300 stations for a day: a standard error of some 0.2 %, seen over seeds.
    assert!((busy - theory).abs() < 0.01, "{busy}, and theory says {theory}");
    assert!((theory - 0.735).abs() < 0.002);
}

/// The lines of some code, without comments and the lines around it.
fn lines(code: &str) -> Vec<String> {
    let bare = |line: &str| {
        line.split("//").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    code.lines().map(bare).filter(|line| !line.is_empty()).collect()
}

#[test]
fn what_the_readme_and_the_guide_quote_is_code_that_is_run() {
    let shaders = ["call_centre", "priorities", "epidemic", "torus"]
        .map(|name| std::fs::read_to_string(format!("shaders/models/{name}.wgsl")).unwrap());
    let run = ["examples/stations.wgsl", "examples/stations.rs", "tests/it/pdes/mod.rs"]
        .map(|file| std::fs::read_to_string(file).unwrap());
    // The guide's model and its Rust are a separate test: the first block of each language.
    let cases = [
        ("README.md", "wgsl", 0, &run[..]),
        ("README.md", "rust,ignore", 0, &run[..]),
        ("docs/guide-pdes.md", "wgsl", 1, &shaders[..]),
    ];
    for (file, language, first, sources) in cases {
        let text = std::fs::read_to_string(file).unwrap();
        let blocks: Vec<_> = text
            .split(&format!("```{language}\n"))
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap())
            .collect();
        assert!(blocks.len() > first, "{file}: no {language}");
        for block in &blocks[first..] {
            let quoted = lines(block);
            let found =
                sources.iter().any(|source| lines(source).windows(quoted.len()).any(|part| part == quoted));
            assert!(found, "{file}: this is nowhere\n{block}");
        }
    }
}
