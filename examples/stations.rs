#![cfg_attr(rustfmt, rustfmt_skip)] // one line for each fact
//! A user's own model: customers walk between stations. The behaviour is in `stations.wgsl`.
//!
//! Shows everything that a model needs in addition to its WGSL file. Prints the adapter, and the
//! share of time for which the stations were busy, next to the exact value.
//!
//! ```text
//! cargo run --release --example stations
//! ```

use eventhorizon::gpu::{Gpu, Source};
use eventhorizon::pdes::{Capacity, Model, Options, Simulation, Until};
use eventhorizon::statistics::TimeAverage;
use eventhorizon::statistics::theory::ClosedNetwork;
use eventhorizon::time::{Resolution, Ticks};

pub(crate) struct Stations {
    pub(crate) stations: u32,
    pub(crate) minutes: Resolution,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Params {
    mean_service: Ticks,
    warm_up: Ticks,
    customers: u32,
    reserved: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Station {
    busy: TimeAverage,
    here: u32,
    served: u32,
    reserved: u64,
}

impl Model for Stations {
    type State = Station;
    type Params = Params;
    type Payload = [u32; 2];
    type Output = Station;
    fn name(&self) -> &str { "stations" }
    fn source(&self) -> Source { eventhorizon::wgsl!("stations.wgsl") }
    fn lps(&self) -> u32 { self.stations }
    fn lookahead(&self) -> Ticks { self.minutes.ticks(5.0).unwrap() }
    fn params(&self) -> Params {
        let [mean_service, warm_up] = [3.0, 120.0].map(|minutes| self.minutes.ticks(minutes).unwrap());
        Params { mean_service, warm_up, customers: 4, reserved: 0 }
    }
    fn capacity(&self) -> Capacity { Capacity::poisson(8.0, 5.0) }
}

/// The share of the day for which the stations are busy: from the model, and from theory.
pub(crate) fn busy(gpu: &Gpu, model: &Stations) -> Result<[f64; 2], Box<dyn std::error::Error>> {
    let day = model.minutes.ticks(24.0 * 60.0)?;
    let mut simulation = Simulation::new(gpu, model, Options::default().seed(1))?;
    let end = simulation.run(Until::time(day))?; // events, windows, reason of the end
    log::info!("{} events in {} windows", end.events, end.windows);
    let totals = simulation.totals(day, None)?;                     // sums over all stations, exact
    let busy = totals.time_average("busy").and_then(|busy| busy.mean()).ok_or("no average")?;
    let stations = f64::from(model.stations); // each customer visits one of this many
    let theory = ClosedNetwork::new(&[(model.stations, 3.0)], 5.0 * stations, 4 * model.stations)?;
    Ok([busy, theory.utilisation(0).ok_or("no such station")?])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new()?;
    println!("{gpu}");
    let [busy, theory] = busy(&gpu, &Stations { stations: 10_000, minutes: Resolution::default() })?;
    println!("stations were busy {:.2} % of the day; theory says {:.2} %", 100.0 * busy, 100.0 * theory);
    Ok(())
}
