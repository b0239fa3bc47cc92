//! Times of a description in ticks, and the words of a distribution.

use crate::facility::error::no_time;
use crate::facility::scale::TimeScale;
use crate::text::number;
use crate::time::{Resolution, Ticks};

/// The parameters of a distribution as kernels read them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Law {
    pub(crate) number: u32,
    pub(crate) a: Ticks,
    pub(crate) b: Ticks,
    pub(crate) c: Ticks,
}

impl Law {
    /// The index of its kind in [`KINDS`], and its parameters.
    pub(crate) fn of(words: &[u32]) -> (usize, Self) {
        let time = |at: usize| Ticks::from_words([words[at], words[at + 1]]);
        (words[0] as usize, Self { number: words[1], a: time(2), b: time(4), c: time(6) })
    }
}

/// Least mean of drawn times, in ticks: times are rounded down to whole ticks, so the mean is off
/// by half a tick, a thousandth of this.
pub(super) const LEAST_MEAN: u64 = 500;

/// What gives a time enough ticks: a unit has at most as many as 32 bits count.
pub(super) fn finer(units: f64) -> &'static str {
    match units * f64::from(u32::MAX) >= LEAST_MEAN as f64 {
        true => "more ticks per unit",
        false => "a smaller unit of time",
    }
}

/// A positive time in whole ticks, if that is accurate enough; otherwise the reason why not.
pub(in crate::facility) fn whole(units: f64, scale: TimeScale) -> Result<Ticks, String> {
    scale.never(units).map_or_else(|| reached(units, scale.resolution), Ok)
}

/// The same for a time that runs reach.
fn reached(units: f64, resolution: Resolution) -> Result<Ticks, String> {
    match resolution.ticks(units).map_err(|error| no_time(&error))? {
        Ticks::ZERO => {
            let (shown, finer) = (number(units), finer(units));
            Err(format!("{shown} is less than a tick; choose a longer time, or {finer}"))
        }
        ticks if (resolution.units(ticks) / units - 1.0).abs() > 1e-3 => Err(format!(
            "{units} would be {ticks} in whole ticks, which is more than a thousandth off; choose {}",
            finer(units)
        )),
        ticks => Ok(ticks),
    }
}

/// Converts times of a description into ticks and checks them.
pub(super) struct Coder {
    pub(super) scale: TimeScale,
}

impl Coder {
    /// Calls a row's closure; it exists to fix the type of the closure's argument.
    pub(super) fn law(&self, law: impl FnOnce(&Self) -> Result<Law, String>) -> Result<Law, String> {
        law(self)
    }

    /// Calls a row's check, for the same reason.
    pub(super) fn checked(&self, check: impl FnOnce(&Self) -> Result<(), String>) -> Result<(), String> {
        check(self)
    }

    /// Any time.
    pub(super) fn time(&self, units: f64) -> Result<Ticks, String> {
        self.scale.resolution.ticks(units).map_err(|error| no_time(&error))
    }

    /// A positive time.
    pub(super) fn positive(&self, units: f64) -> Result<Ticks, String> {
        reached(units, self.scale.resolution)
    }

    /// The mean of drawn times.
    pub(super) fn drawn(&self, units: f64) -> Result<Ticks, String> {
        match self.positive(units)? {
            ticks if ticks.get() < LEAST_MEAN => Err(format!(
                "{units} is a mean of {} ticks, and times are rounded down to whole ticks; \
                 choose {}, so that the mean is {LEAST_MEAN} ticks or more",
                ticks.get(),
                finer(units)
            )),
            ticks => Ok(ticks),
        }
    }
}
