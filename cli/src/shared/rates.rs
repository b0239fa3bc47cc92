//! Measures how fast a simulation runs, for `eventhorizon papers` and the benchmarks.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates, and estimated numbers of events"
)]

use std::time::Instant;

use eventhorizon::gpu::{GpuError, compiled};
use eventhorizon::pdes::{Model, Simulation, SimulationError, Until};

/// Events and windows of a run, in seconds of wall-clock time.
#[derive(Clone, Copy)]
pub struct Rate {
    pub events: u64,
    pub windows: u64,
    pub seconds: f64,
}

impl Rate {
    pub fn events_per_second(&self) -> f64 {
        self.events as f64 / self.seconds
    }

    pub fn microseconds_per_window(&self) -> f64 {
        1e6 * self.seconds / self.windows as f64
    }
}

/// Measures the rate of a simulation. It continues the simulation in steps that grow, until one
/// step lasts `seconds`. `first` is the position and the first step, in events or ticks; `until`
/// turns a position into an end. Returns `None` if the next step would pass `deadline`.
///
/// Only the time between the first and the last progress report counts: at its end a run waits for
/// windows that were submitted ahead and find no event. Steps before the measured one keep the
/// device busy for `seconds`, since an idle device lowers its clock. Waiting for compilations does
/// not count.
pub fn measure<M: Model>(
    simulation: &mut Simulation<M>,
    seconds: f64,
    deadline: Option<Instant>,
    first: (u64, u64),
    until: impl Fn(u64) -> Until,
) -> Result<Option<Rate>, SimulationError> {
    let begin = Instant::now();
    let (mut done, mut step) = first;
    loop {
        let start = Instant::now();
        let mut ends = None;
        simulation
            .until(until(done + step))
            .watch(|progress| {
                if progress.stop.is_none() {
                    let now = (Instant::now(), compiled(), *progress);
                    let (first, _) = ends.unwrap_or((now, now));
                    ends = Some((first, now));
                }
            })
            .run()?;
        let took = start.elapsed();
        done += step;
        let rate = ends.map(|((begin, compiled, first), (end, later, last))| Rate {
            events: last.events - first.events,
            windows: last.windows - first.windows,
            seconds: (end - begin).saturating_sub(later - compiled).as_secs_f64(),
        });
        let rate = rate.filter(|rate| rate.events > 0 && rate.seconds > 0.0);
        let warm = (start - begin).as_secs_f64() >= seconds;
        if let Some(rate) = rate.filter(|rate| warm && rate.seconds >= seconds) {
            return Ok(Some(rate));
        }
        let factor = match rate {
            // 0.05 s at each end are not measured; the rest is a reserve.
            Some(rate) => ((1.2 * seconds + 0.1) / rate.seconds).clamp(1.5, 20.0),
            None => 4.0,
        };
        if deadline.is_some_and(|deadline| Instant::now() + took.mul_f64(factor) > deadline) {
            return Ok(None);
        }
        step = (step as f64 * factor).ceil() as u64;
    }
}

/// The values of the command line, or the usual ones.
pub fn or<T: Clone>(given: &[T], usual: &[T]) -> Vec<T> {
    if given.is_empty() { usual.to_vec() } else { given.to_vec() }
}

/// The text for an error that says that a buffer is too large for the device.
pub fn too_large(error: &SimulationError) -> Option<String> {
    let (what, needed, limit) = match error {
        SimulationError::TooLarge { what, needed, limit, .. } => (*what, needed, limit),
        SimulationError::Gpu(GpuError::TooLarge { what, needed, limit }) => (what.as_str(), needed, limit),
        _ => return None,
    };
    Some(format!("{what} need {} MiB, in bindings of {} MiB", needed >> 20, limit >> 20))
}

/// [`measure`] in event-limited runs.
pub fn measure_events<M: Model>(
    simulation: &mut Simulation<M>,
    seconds: f64,
    deadline: Option<Instant>,
) -> Result<Option<Rate>, SimulationError> {
    let done = simulation.progress()?.events;
    measure(simulation, seconds, deadline, (done, 1), Until::events)
}
