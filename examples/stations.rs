#![cfg_attr(rustfmt, rustfmt_skip)] // one line for each fact
//! A user's own model: customers who walk between stations. The behaviour is in `stations.wgsl`.
//!
//! Shows: all that a model needs besides its WGSL file.

use eventhorizon::gpu::{Gpu, Source};
use eventhorizon::pdes::{Capacity, Model, Options, Simulation, Until};
use eventhorizon::time::{Resolution, Ticks};

struct Stations {
    minutes: Resolution,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Params {
    mean_service: Ticks,
    customers: u32,
    reserved: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct State {
    free: Ticks,
    busy: Ticks,
    served: u64,
}

impl Model for Stations {
    type State = State;
    type Params = Params;
    type Payload = [u32; 2];
    type Output = ();
    fn name(&self) -> &str { "stations" }
    fn source(&self) -> Source { eventhorizon::wgsl!("stations.wgsl") }
    fn lps(&self) -> u32 { 10_000 }
    fn lookahead(&self) -> Ticks { self.minutes.ticks(5.0).unwrap() }
    fn params(&self) -> Params {
        Params { mean_service: self.minutes.ticks(3.0).unwrap(), customers: 4, reserved: 0 }
    }
    fn capacity(&self) -> Capacity { Capacity::poisson(4.0, 4.0) }
}

#[allow(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Stations { minutes: Resolution::default() };
    let day = model.minutes.ticks(24.0 * 60.0)?;
    let mut simulation = Simulation::new(&Gpu::new()?, &model, Options { seed: 1, ..Options::default() })?;
    let end = simulation.run(Until::time(day))?;
    let states = simulation.states()?;
    let busy: f64 = states.iter().map(|s| model.minutes.units(s.busy)).sum();
    let share = busy / f64::from(model.lps()) / model.minutes.units(day);
    println!("{} customers served in {} windows; stations were busy {:.1} % of the day", end.events, end.windows, 100.0 * share);
    Ok(())
}
