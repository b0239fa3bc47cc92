//! Models that run on the CPU from their WGSL have the bits of their reference implementations and
//! of a device.

mod described;
mod faults;
mod models;
mod networks;
mod replications;

use crate::common;
use eventhorizon::gpu::Source;
use eventhorizon::pdes::{Capacity, CpuModel, CpuSimulation, Model, Options, Outputs, Totals, Until};
use eventhorizon::time::{Resolution, Ticks};

fn ticks(units: f64) -> Ticks {
    Resolution::default().ticks(units).unwrap()
}

/// What a user can see of a run after each end.
struct Seen<M: Model> {
    events: u64,
    windows: u64,
    states: Vec<M::State>,
    memory: Vec<[u32; 4]>,
    fingerprint: String,
    results: Option<(Outputs<M::Output>, Totals)>,
}

fn see<M: Model>(mut simulation: CpuSimulation<'_, M>, ends: &[Ticks]) -> Vec<Seen<M>> {
    let see = |end: &Ticks| {
        let progress = simulation.run(Until::time(*end)).unwrap();
        let has_results = size_of::<M::Output>() > 0;
        Seen {
            events: progress.events,
            windows: progress.windows,
            states: simulation.states().to_vec(),
            memory: simulation.memory().to_vec(),
            fingerprint: simulation.fingerprint().to_string(),
            results: has_results
                .then(|| (simulation.outputs(*end).unwrap(), simulation.totals(*end, None).unwrap())),
        }
    };
    ends.iter().map(see).collect()
}

/// Compares a model's WGSL with its reference implementation: as machine code up to each end, and
/// interpreted up to the first.
fn agrees<M>(model: &M, ends: &[Ticks])
where
    M: CpuModel<State: PartialEq, Output: PartialEq>,
{
    let options = Options::default().seed(17);
    let expected = see(CpuSimulation::in_rust(model, options).unwrap(), ends);
    assert!(expected[0].events > 0, "{} executes nothing", model.name());
    let compiled = see(CpuSimulation::new(model, options).unwrap(), ends);
    let interpreted = see(CpuSimulation::interpreted(model, options).unwrap(), &ends[..1]);
    for (way, found) in [("compiled", compiled), ("interpreted", interpreted)] {
        for (found, expected) in found.iter().zip(&expected) {
            let what = format!("{}, {way}", model.name());
            assert_eq!(found.events, expected.events, "{what}");
            assert_eq!(found.windows, expected.windows, "{what}");
            assert!(found.states == expected.states, "{what}: states differ");
            assert!(found.memory == expected.memory, "{what}: LP memory differs");
            assert_eq!(found.fingerprint, expected.fingerprint, "{what}");
            assert!(found.results == expected.results, "{what}: results differ");
        }
    }
}

/// A model whose WGSL alone matters. Its state is a word.
struct Text {
    wgsl: String,
    lps: u32,
    memory_rows: u32,
    lookahead: Ticks,
}

impl Text {
    /// `handler` is the body of `handle`; LPs begin with an event at tick 1 with the payload (lp, 0).
    fn new(handler: &str) -> Self {
        let wgsl = format!(
            "struct State {{ count: u32 }}\n\
             fn init(lp: u32, state: ptr<function, State>) {{ schedule(lp, vec2<u32>(1u, 0u), vec2<u32>(lp, 0u)); }}\n\
             fn handle(lp: u32, event: Event, state: ptr<function, State>) {{\n{handler}\n}}\n"
        );
        Self { wgsl, lps: 3, memory_rows: 0, lookahead: Ticks::new(10) }
    }
}

impl Model for Text {
    type State = u32;
    type Params = ();
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "text"
    }
    fn source(&self) -> Source {
        Source::new("my/text.wgsl", self.wgsl.clone())
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        self.lookahead
    }
    fn params(&self) {}
    fn memory_rows(&self) -> u32 {
        self.memory_rows
    }
    fn capacity(&self) -> Capacity {
        Capacity { queue: 64, mailbox: 64 }
    }
}
