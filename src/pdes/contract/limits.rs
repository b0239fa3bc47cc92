//! What every engine refuses.

use crate::time::Ticks;

use super::error::{MAX_LPS, SimulationError};
use super::model::Model;

/// Refuses a model without LPs, and one with more than can be numbered.
pub(in crate::pdes) fn check_lps<M: Model>(model: &M) -> Result<(), SimulationError> {
    match model.lps() {
        0 => Err(SimulationError::NoLps),
        lps if lps > MAX_LPS => Err(SimulationError::TooManyLps { lps, max: MAX_LPS }),
        _ => Ok(()),
    }
}

/// Refuses results for no time, and for a time before that up to which a run went.
pub(in crate::pdes) fn check_time(at: Ticks, done: Ticks) -> Result<(), SimulationError> {
    match at == Ticks::NEVER || at < done {
        true => Err(SimulationError::ResultTime { at, done }),
        false => Ok(()),
    }
}
