//! Networks with a global future event list (Park and Fishwick): results and errors. `network.rs`
//! describes networks, `simulation.rs` runs them on a device; `reference.rs` is the reference
//! implementation.

mod network;
mod reference;
mod simulation;

pub use network::{FelFacility, FelNetwork};
pub use reference::{FelReference, FelReleased};
pub use simulation::{FelRun, FelSimulation, kernels};

use crate::ErrorKind;
use crate::gpu::GpuError;
use crate::random::mix;
use crate::text::debug_is_display;
use crate::time::Ticks;

/// Why a network was not built, or its run stopped.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FelError {
    /// The device failed, or refused a buffer or a kernel. The run is lost.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// An invalid setting. Nothing was built.
    #[error("{what}: {remedy}")]
    Setting {
        /// The setting and its value.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Time does not advance: services are zero again and again, drawn so or rounded to this
    /// interval. The run cannot continue.
    #[error(
        "time does not advance at tick {time}: with intervals of {interval} ticks, services take no time again and again; choose a shorter interval, or longer services"
    )]
    Stuck {
        /// The time, in ticks.
        time: u64,
        /// The interval, in ticks.
        interval: u32,
    },
}

debug_is_display!(FelError);

impl FelError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            Self::Setting { .. } => ErrorKind::Usage,
            Self::Stuck { .. } => ErrorKind::Fault,
        }
    }
}

fn refuse<T>(what: String, remedy: &'static str) -> Result<T, FelError> {
    Err(FelError::Setting { what, remedy })
}

/// The whole interval nearest to `service` after `now`, the later of two; `now` is a whole
/// interval.
fn rounded(now: u64, service: u64, interval: u32) -> u64 {
    match u64::from(interval) {
        0 => now + service,
        interval => now + (2 * service + interval) / (2 * interval) * interval,
    }
}

/// The output of one facility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FelRow {
    /// Services begun; for a source, tokens on their way into the network.
    pub began: u64,
    /// Time of service of all servers, up to the end of the run.
    pub busy: Ticks,
    /// Total waiting time of tokens whose services have begun.
    pub waited: Ticks,
    /// When the next token departs, in whole intervals; `None` if none is in service.
    pub departs: Option<Ticks>,
    /// Tokens in service.
    pub serving: u32,
    /// Tokens dropped because the queue was full.
    pub dropped: u64,
    /// Its servers; 0 for a source.
    pub servers: u32,
}

impl FelRow {
    /// The share of arrived tokens that were dropped; tokens that wait are not counted.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn loss(&self) -> f64 {
        self.dropped as f64 / ((self.began + self.dropped) as f64).max(1.0)
    }

    /// The mean waiting time in ticks, of tokens whose services have begun.
    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    pub fn mean_wait(&self) -> f64 {
        self.waited.get() as f64 / (self.began as f64).max(1.0)
    }
}

/// The output of a run: the paper's summary statistics (section 5.3.2, `PrintResult`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FelResults {
    /// The end of the run.
    pub time: Ticks,
    /// By facility.
    pub facilities: Vec<FelRow>,
}

impl FelResults {
    /// Services that have ended, and tokens from sources: the events executed.
    pub fn served(&self) -> u64 {
        self.facilities.iter().map(|row| row.began - u64::from(row.serving)).sum()
    }

    /// The share of time for which a server serves, averaged over all servers.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn utilisation(&self) -> f64 {
        let served = || self.facilities.iter().filter(|row| row.servers > 0);
        let busy: f64 = served().map(|row| row.busy.get() as f64).sum();
        let servers: u64 = served().map(|row| u64::from(row.servers)).sum();
        busy / (self.time.get() as f64 * servers as f64)
    }

    /// A commutative sum over the facilities' rows: equal on every device.
    pub fn fingerprint(&self) -> u64 {
        /// "felf"
        const KIND: u32 = 0x6665_6c66;
        let row = |(facility, row): (u32, &FelRow)| {
            let FelRow { began, busy, waited, departs, serving, dropped, .. } = *row;
            let wide =
                [Ticks::new(began), busy, waited, departs.unwrap_or(Ticks::NEVER), Ticks::new(dropped)];
            let words = wide.map(Ticks::to_words).into_iter().flatten();
            mix(KIND, [facility, serving].into_iter().chain(words))
        };
        (0..).zip(&self.facilities).map(row).fold(0, u64::wrapping_add)
    }
}

/// The row of a facility, from sums in which services are counted in full when they begin, and the
/// departures of its servers.
fn row_of(
    [began, busy, waited, dropped]: [u64; 4],
    departures: impl Iterator<Item = Ticks> + Clone,
    servers: u32,
    now: Ticks,
) -> FelRow {
    let departures = departures.filter(|&departs| departs != Ticks::NEVER);
    let ahead: u64 = departures.clone().map(|departs| departs.get().saturating_sub(now.get())).sum();
    FelRow {
        began,
        busy: Ticks::new(busy.saturating_sub(ahead)),
        waited: Ticks::new(waited),
        departs: departures.clone().min(),
        serving: u32::try_from(departures.count()).expect("at most 64"),
        dropped,
        servers,
    }
}

fn interval_word(interval: Ticks) -> Result<u32, FelError> {
    match u32::try_from(interval.get()) {
        Ok(interval) if interval <= 1 << 31 => Ok(interval),
        _ => refuse(format!("an interval of {} ticks", interval.get()), "choose at most 2^31"),
    }
}
