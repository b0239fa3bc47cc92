//! Saving of runs on ranks: each rank sends its contents to the first, which writes the file.

use std::path::Path;

use super::simulation::agreed;
use super::{HybridError, Transport};
use crate::pdes::checkpoint::{self, Contents, Identity};
use crate::pdes::{Checkpoint, CheckpointError, Model, SimulationError};

/// The contents of all ranks, by rank, on the first one; nothing on the others.
pub(super) fn gathered(
    transport: &mut dyn Transport,
    own: Result<Contents, HybridError>,
) -> Result<Option<Vec<Contents>>, HybridError> {
    let own = agreed(transport, own)?;
    if transport.rank() > 0 {
        transport.send(0, own.digest.to_le_bytes().to_vec())?;
        own.sections.into_iter().try_for_each(|section| transport.send(0, section))?;
        return Ok(None);
    }
    let mut parts = vec![own];
    for rank in 1..transport.ranks() {
        let garbled = |_| HybridError::Garbled { rank, reason: "expected a number of 8 bytes".to_owned() };
        let digest = transport.receive(rank)?.try_into().map_err(garbled)?;
        let mut part = Contents { digest: u64::from_le_bytes(digest), ..Contents::default() };
        for section in &mut part.sections {
            *section = transport.receive(rank)?;
        }
        parts.push(part);
    }
    Ok(Some(parts))
}

/// Reports to all ranks whether the first one can write the file.
pub(super) fn writable(
    transport: &mut dyn Transport,
    found: Result<(), CheckpointError>,
) -> Result<(), HybridError> {
    agreed(transport, found.map_err(|error| SimulationError::from(error).into()))
}

/// Writes the first rank's checkpoint, and reports to all whether that succeeded: the inner error
/// is a failed write.
pub(super) fn written(
    transport: &mut dyn Transport,
    made: Result<Option<Checkpoint>, HybridError>,
    path: &Path,
) -> Result<Result<(), HybridError>, HybridError> {
    let saved = match agreed(transport, made)? {
        Some(made) => made.save(path).map_err(|error| SimulationError::from(error).into()),
        None => Ok(()),
    };
    let [written, ..] = transport.least([saved.is_ok().into(), 0, 0])?;
    Ok(if saved.is_ok() && written == 0 { Err(HybridError::Unsaved) } else { saved })
}

/// The reason why this rank could not write a file.
pub(super) fn reason(error: &HybridError) -> Option<&CheckpointError> {
    match error {
        HybridError::Simulation(error) => checkpoint::reason(error),
        _ => None,
    }
}

/// Whether a watcher has stopped the run on any rank.
pub(super) fn stopped(transport: &mut dyn Transport, here: bool) -> Result<bool, HybridError> {
    let [goes, ..] = transport.least([(!here).into(), 0, 0])?;
    Ok(goes == 0)
}

/// Checks that all ranks resume the same run, and that it is of this model.
pub(super) fn known<M: Model>(
    transport: &mut dyn Transport,
    model: &M,
    checkpoint: &Checkpoint,
) -> Result<(), HybridError> {
    super::devices::equal(transport, &[("the checkpoint", checkpoint.sum())])?;
    let known = checkpoint.check(&Identity::of(model)).map_err(SimulationError::from);
    agreed(transport, known.map_err(HybridError::from))
}
