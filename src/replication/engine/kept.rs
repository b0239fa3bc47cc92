//! Device memory that lasts from run to run.

use std::fmt;

use super::Engine;
use crate::gpu::{Buffer, GpuError};
use crate::random;
use crate::replication::batch::Given;
use crate::replication::work::Work;
use crate::replication::{Batch, Model, ReplicationError, Shape};

/// Device memory of the last run, for the next one: making it takes longer than a small run.
pub(super) struct Kept<M: Model> {
    given: Option<Given<M::Params>>,
    /// What its buffer of points holds.
    points: Vec<M::Params>,
    pub(super) batch: Option<Batch<M::Output>>,
}

impl<M: Model> Default for Kept<M> {
    fn default() -> Self {
        Self { given: None, points: Vec::new(), batch: None }
    }
}

impl<M: Model> fmt::Debug for Kept<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.batch.as_ref().map_or(0, Batch::bytes);
        f.debug_struct("Kept").field("bytes", &bytes).finish_non_exhaustive()
    }
}

/// So much memory is kept at the most. More takes a run long enough for the making not to count.
pub(super) const KEPT_BYTES: u64 = 64 << 20;

impl<M: Model> Engine<M> {
    /// The points on the device: in the buffer of the last run, if they fit.
    pub(super) fn given(&mut self, points: &[M::Params]) -> Result<Given<M::Params>, GpuError> {
        let bytes = |points| bytemuck::cast_slice::<M::Params, u8>(points);
        let kept = &mut self.kept;
        let given = match kept.given.take().filter(|_| kept.points.len() == points.len()) {
            None => self.give(points)?,
            Some(given) => {
                if bytes(&kept.points) != bytes(points) {
                    given.points.write(&self.gpu, 0, points)?;
                }
                given
            }
        };
        (self.kept.given, self.kept.points) = (Some(given.clone()), points.to_vec());
        Ok(given)
    }

    /// Points in a buffer of their own.
    pub(super) fn give(&mut self, points: &[M::Params]) -> Result<Given<M::Params>, GpuError> {
        if self.schema.tabled && self.chords.is_none() {
            let chords = random::exponential_chords();
            self.chords = Some(Buffer::storage_from(&self.gpu, "replications: chords", chords)?);
        }
        let points = Buffer::storage_from(&self.gpu, "replications: points", points)?;
        Ok(Given { points, chords: self.chords.clone() })
    }

    /// A batch in the memory of the last one, if that suits it.
    pub(super) fn lend(
        &mut self,
        shape: Shape,
        given: &Given<M::Params>,
        work: Work,
    ) -> Result<Batch<M::Output>, ReplicationError> {
        match self.kept.batch.take().filter(|batch| batch.suits(work.jobs())) {
            None => self.make(shape, given, work),
            Some(mut batch) => {
                let kernel = self.known(shape)?.kernel.clone();
                batch.begin(&self.gpu, &kernel, shape, given, work)?;
                Ok(batch)
            }
        }
    }
}
