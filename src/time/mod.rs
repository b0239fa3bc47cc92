//! Simulation time in whole ticks.
//!
//! Events are ordered by 64-bit integers, never by floating-point numbers: WGSL has no 64-bit
//! float, 32 bits are too few for a long run, and integers give the same order on every device. A
//! [`Resolution`] converts between ticks and the model's own unit (seconds, minutes, clock cycles).
//! Its counterpart in WGSL is `shaders/time/ticks.wgsl`.
//!
//! ```
//! use eventhorizon::time::{Resolution, Ticks};
//!
//! let minutes = Resolution::default(); // 2^20 ticks per minute, if the model counts in minutes
//! let service = minutes.ticks(2.5)?;
//! let closing = minutes.ticks(480.0)?;
//! assert_eq!(closing.checked_add(service).map(|t| minutes.units(t)), Some(482.5));
//! assert!(closing < Ticks::NEVER);
//! # Ok::<(), eventhorizon::time::TimeError>(())
//! ```

mod choice;

use std::fmt;

use crate::ErrorKind;
use crate::text::number;

/// A point or a span of simulation time, in ticks.
///
/// All values but [`Ticks::NEVER`] are finite times. In memory it is a `u64`; kernels read it as a
/// `vec2<u32>` of low and high word.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    bytemuck::Pod,
    bytemuck::Zeroable,
    serde::Serialize,
    serde::Deserialize,
)]
#[repr(transparent)]
#[serde(transparent)]
pub struct Ticks(u64);

impl Ticks {
    /// The start of every run, and the empty span.
    pub const ZERO: Self = Self(0);

    /// Later than every event: the time of an event that does not happen, and the result of an
    /// overflow.
    pub const NEVER: Self = Self(u64::MAX);

    /// `ticks` ticks; `u64::MAX` is [`Ticks::NEVER`].
    pub const fn new(ticks: u64) -> Self {
        Self(ticks)
    }

    /// The number of ticks.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The two words that a kernel reads: low, high.
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a word are cut on purpose")]
    pub const fn to_words(self) -> [u32; 2] {
        [self.0 as u32, (self.0 >> 32) as u32]
    }

    /// The time from the low and high word that a kernel wrote.
    pub const fn from_words([low, high]: [u32; 2]) -> Self {
        Self((high as u64) << 32 | low as u64)
    }

    /// The sum, or `None` if it is not a finite time.
    pub const fn checked_add(self, span: Self) -> Option<Self> {
        match self.saturating_add(span) {
            Self::NEVER => None,
            sum => Some(sum),
        }
    }

    /// The sum, or [`Ticks::NEVER`] if it is not a finite time. WGSL: `time_add`.
    pub const fn saturating_add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl fmt::Display for Ticks {
    /// The number of ticks, or `never`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NEVER => f.pad("never"),
            Self(ticks) => fmt::Display::fmt(&ticks, f),
        }
    }
}

/// How many ticks make one of the model's units of time.
///
/// The default, 2^20, resolves a millionth of a unit and reaches 2^44 units (half a million years,
/// in seconds). Powers of two represent binary fractions exactly. [`Resolution::for_times`] chooses
/// a resolution that represents given decimals exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resolution {
    ticks_per_unit: u32,
}

impl Default for Resolution {
    fn default() -> Self {
        Self { ticks_per_unit: 1 << 20 }
    }
}

impl Resolution {
    /// `ticks_per_unit` ticks per unit, at least 1.
    ///
    /// # Errors
    /// [`TimeError::NoTicks`] for 0.
    pub const fn new(ticks_per_unit: u32) -> Result<Self, TimeError> {
        match ticks_per_unit {
            0 => Err(TimeError::NoTicks),
            _ => Ok(Self { ticks_per_unit }),
        }
    }

    /// The ticks per unit.
    pub const fn ticks_per_unit(self) -> u32 {
        self.ticks_per_unit
    }

    /// The time of `units` units, rounded to the nearest tick (halves away from zero). Never
    /// [`Ticks::NEVER`].
    ///
    /// The product of `units` and the resolution is an `f64`: beyond 2^53 ticks it is not exact to
    /// the tick.
    ///
    /// # Errors
    /// [`TimeError::NotFinite`], [`TimeError::Negative`], and [`TimeError::BeyondHorizon`] from
    /// [`horizon`](Self::horizon) on.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in 0..2^64")]
    pub fn ticks(self, units: f64) -> Result<Ticks, TimeError> {
        if !units.is_finite() {
            return Err(TimeError::NotFinite { units });
        }
        if units < 0.0 {
            return Err(TimeError::Negative { units });
        }
        let ticks = (units * f64::from(self.ticks_per_unit)).round();
        if ticks >= TWO_TO_64 {
            return Err(TimeError::BeyondHorizon { units, horizon: self.horizon() });
        }
        // Below 2^64 the largest f64 is 2^64 - 2048, so this is never NEVER.
        Ok(Ticks(ticks as u64))
    }

    /// `ticks` in units, rounded to an `f64`; infinite for [`Ticks::NEVER`].
    ///
    /// [`ticks`](Self::ticks) converts it back into the same time up to 2^51 ticks, and up to 2^53
    /// if the ticks per unit are a power of two.
    #[expect(clippy::cast_precision_loss, reason = "documented")]
    pub fn units(self, ticks: Ticks) -> f64 {
        match ticks {
            Ticks::NEVER => f64::INFINITY,
            Ticks(ticks) => ticks as f64 / f64::from(self.ticks_per_unit),
        }
    }

    /// The first time, in units, that does not fit 64 bits of ticks.
    pub fn horizon(self) -> f64 {
        TWO_TO_64 / f64::from(self.ticks_per_unit)
    }
}

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// Why a number of units is not a time. Nothing has been simulated yet: correct the number and call
/// again.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// The number is NaN or infinite.
    #[error("the time {} is not a finite number; for an event that never happens use Ticks::NEVER", number(*units))]
    NotFinite {
        /// The number, in units.
        units: f64,
    },
    /// The number is below zero.
    #[error("the time {} is negative; runs start at 0, so shift the model's clock", number(*units))]
    Negative {
        /// The number, in units.
        units: f64,
    },
    /// The number does not fit 64 bits of ticks.
    #[error("the time {} does not fit 64 bits of ticks (the first such time is {horizon}); choose fewer ticks per unit", number(*units))]
    BeyondHorizon {
        /// The number, in units.
        units: f64,
        /// The first time that is too late, in units.
        horizon: f64,
    },
    /// A resolution of zero ticks per unit.
    #[error("a unit of time needs at least 1 tick, not 0; the default is 1048576 (2^20)")]
    NoTicks,
}

crate::text::debug_is_display!(TimeError);

impl TimeError {
    /// [`ErrorKind::Usage`].
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}
