//! A broken rule ends a run with a typed error that names the place, never with a wrong result.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod rules;

use common::gpu;
use eventhorizon::gpu::{Gpu, Source};
use eventhorizon::pdes::{
    Capacity, CpuModel, CpuSimulation, Fault, Model, Options, Simulation, SimulationError, Sync, Until,
};
use eventhorizon::time::Ticks;

/// Too little capacity is a fault.
fn fixed() -> Options {
    Options::default().fixed(true).sync(Sync::Yawns)
}

const ROOMY: Capacity = Capacity { queue: 64, mailbox: 64 };

fn fault<T>(result: Result<T, SimulationError>) -> Fault {
    match result {
        Err(SimulationError::Fault(fault)) => fault,
        Err(other) => panic!("expected a fault, got {other}"),
        Ok(_) => panic!("expected a fault, got a result"),
    }
}

fn fault_on_gpu<M: Model>(gpu: &Gpu, model: &M, options: Options) -> Fault {
    let mut simulation = match Simulation::new(gpu, model, options) {
        Ok(simulation) => simulation,
        Err(error) => return fault::<()>(Err(error)), // in the initialisation
    };
    let first = fault(simulation.run(Until::EMPTY));
    // Nothing continues after a fault, and no partial result is returned.
    assert_eq!(fault(simulation.run(Until::time(Ticks::new(5)))), first);
    assert_eq!(fault(simulation.states()), first);
    assert_eq!(fault(simulation.pending()), first);
    assert_eq!(fault(simulation.fingerprint()), first);
    first
}

fn fault_on_cpu<M: CpuModel>(model: &M) -> Fault {
    match CpuSimulation::in_rust(model, Options::default()) {
        Ok(mut simulation) => fault(simulation.run(Until::EMPTY)),
        Err(SimulationError::Fault(fault)) => fault,
        Err(other) => panic!("expected a fault, got {other}"),
    }
}

/// A model whose WGSL alone matters.
struct Text {
    file: &'static str,
    wgsl: String,
    capacity: Capacity,
    lps: u32,
}

impl Text {
    fn new(wgsl: impl Into<String>) -> Self {
        Self { file: "my/text.wgsl", wgsl: wgsl.into(), capacity: ROOMY, lps: 60 }
    }

    fn refused(&self) -> String {
        Simulation::new(&gpu(), self, fixed()).unwrap_err().to_string()
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
        Source::new(self.file, self.wgsl.clone())
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(1000)
    }
    fn params(&self) {}
    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

const STATE: &str = "struct State { count: u32 }\n";
const INIT: &str =
    "fn init(lp: u32, state: ptr<function, State>) { schedule(lp, vec2<u32>(1u), vec2<u32>(lp)); }\n";
const HANDLE: &str =
    "fn handle(lp: u32, event: Event, state: ptr<function, State>) { (*state).count += 1u; }\n";

/// A model of [`Text`] with this handler. Payloads are (lp, 0).
fn handler(body: &str) -> Text {
    let handle = format!("fn handle(lp: u32, event: Event, state: ptr<function, State>) {{\n{body}\n}}\n");
    let init = INIT.replace("vec2<u32>(lp)", "vec2<u32>(lp, 0u)");
    Text::new([STATE, &init, &handle].concat())
}
