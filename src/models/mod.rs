//! Models that ship with the library, each with its WGSL. They use only the public API.
//!
//! Models of [`pdes`](crate::pdes), for logical processes:
//!
//! | model | what it is | what its WGSL shows |
//! | --- | --- | --- |
//! | [`Phold`] | the standard benchmark | the minimum of a model |
//! | [`CallCentre`] | M/M/c with customers whose patience ends (Erlang-A) | a waiting line in LP memory that customers leave from the middle |
//! | [`Priorities`] | M/M/1 with preemptive-resume priorities | cancelled events; a line for each class |
//! | [`Epidemic`] | SIR on a graph | a graph in `data`, payloads of 6 words |
//! | [`Torus`] | a closed network of queues | a lookahead from travel times; levels over time |
//! | [`FifoTorus`] | the same without travel times | wide windows with hardly any lookahead: `earliest`, `answer`, `next_to`, `next_gap`, `sender` |
//!
//! [`Mm1`], [`Mmck`], [`Pi`], [`Walk`] and [`Workshop`] are models of
//! [`replication`](crate::replication).

mod call_centre;
mod epidemic;
mod fifo_torus;
mod mm1;
mod mmck;
mod phold;
mod pi;
mod priorities;
mod torus;
mod walk;
mod workshop;

pub use call_centre::CallCentre;
pub use epidemic::Epidemic;
pub use fifo_torus::FifoTorus;
pub use mm1::{Mm1, Mm1Params};
pub use mmck::{Mmck, MmckParams};
pub use phold::{Phold, PholdError};
pub use pi::{Pi, PiParams};
pub use priorities::Priorities;
pub use torus::Torus;
pub use walk::{Walk, WalkParams};
pub use workshop::{Workshop, WorkshopParams};

use crate::ErrorKind;
use crate::pdes::{Number, Total, Totals};
use crate::statistics::Tally;
use crate::text::number;
use crate::time::{Resolution, Ticks, TimeError};

/// The mean of an exponential time in ticks, from a rate.
fn mean_ticks(resolution: Resolution, rate: f64) -> Result<u32, TimeError> {
    let ticks = resolution.ticks(1.0 / rate)?.get();
    // If it does not fit, `Model::check` refuses it and names the largest mean.
    Ok(u32::try_from(ticks).unwrap_or(u32::MAX))
}

/// The mean of a tally of spans of time, in units; NaN without observations.
fn mean_units(resolution: Resolution, tally: Option<&Tally>) -> f64 {
    tally.and_then(Tally::mean).map_or(f64::NAN, |mean| mean / f64::from(resolution.ticks_per_unit()))
}

/// The sum of a column over all LPs.
fn sum(totals: &Totals, column: &str) -> f64 {
    totals.column(column).and_then(Total::sum).map_or(f64::NAN, Number::to_f64)
}

/// The most rows of a line in LP memory.
const MOST_ROOM: u32 = 1 << 20;

/// Why a model was refused.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A rate that is not a positive number.
    #[error("the {what} is {}: choose a positive number (events per unit of time)", number(*rate))]
    Rate {
        /// Which.
        what: &'static str,
        /// The rate.
        rate: f64,
    },
    /// A time, or the mean time of a rate, that 64 bits of ticks cannot represent.
    #[error("the {what} gives an invalid time: {source}")]
    Time {
        /// Which.
        what: &'static str,
        /// Why not.
        source: TimeError,
    },
    /// A time, or the mean time of a rate, that is less than a tick.
    #[error(
        "the {what} is {}, a time of less than a tick; choose a resolution with more ticks per unit",
        number(*value)
    )]
    TooShort {
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Another setting.
    #[error("the {what} is {value}: {remedy}")]
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        value: String,
        /// What to do.
        remedy: &'static str,
    },
}

crate::text::debug_is_display!(ModelError);

impl ModelError {
    /// [`ErrorKind::Model`].
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Model
    }

    fn setting(what: &'static str, value: impl ToString, remedy: &'static str) -> Self {
        Self::Setting { what, value: value.to_string(), remedy }
    }
}

/// The mean of an exponential time with a rate.
fn mean_time(what: &'static str, rate: f64, resolution: Resolution) -> Result<Ticks, ModelError> {
    if !(rate.is_finite() && rate > 0.0) {
        return Err(ModelError::Rate { what, rate });
    }
    match resolution.ticks(1.0 / rate) {
        Ok(Ticks::ZERO) => Err(ModelError::TooShort { what, value: rate }),
        Ok(mean) => Ok(mean),
        Err(source) => Err(ModelError::Time { what, source }),
    }
}

/// A time that is at least a tick.
fn span(what: &'static str, units: f64, resolution: Resolution) -> Result<Ticks, ModelError> {
    match resolution.ticks(units) {
        Ok(Ticks::ZERO) => Err(ModelError::TooShort { what, value: units }),
        Ok(time) => Ok(time),
        Err(source) => Err(ModelError::Time { what, source }),
    }
}
