//! Checks shared by all engines.

use crate::time::Ticks;

use super::error::{MAX_LPS, SimulationError};
use super::model::Model;

/// Refuses a model without LPs, or with more LPs than can be numbered.
pub(in crate::pdes) fn check_lps<M: Model>(model: &M) -> Result<(), SimulationError> {
    match model.lps() {
        0 => Err(SimulationError::NoLps),
        lps if lps > MAX_LPS => Err(SimulationError::TooManyLps { lps, max: MAX_LPS }),
        _ => Ok(()),
    }
}

/// Refuses results for [`Ticks::NEVER`], or for a time before `done`, which the run has reached.
pub(in crate::pdes) fn check_time(at: Ticks, done: Ticks) -> Result<(), SimulationError> {
    match at == Ticks::NEVER || at < done {
        true => Err(SimulationError::ResultTime { at, done }),
        false => Ok(()),
    }
}
