//! Memory of a run: that of the last run, if it fits.

use super::Engine;
use crate::gpu::{Buffer, GpuError};
use crate::random;
use crate::replication::batch::BatchInputs;
use crate::replication::work::Work;
use crate::replication::{Batch, Model, ReplicationError, Shape};

impl<M: Model> Engine<M> {
    /// The points on the device: in the buffer of the last run, if they fit.
    pub(super) fn given(&mut self, points: &[M::Params]) -> Result<BatchInputs<M::Params>, GpuError> {
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

    /// Points in a new buffer.
    pub(super) fn give(&mut self, points: &[M::Params]) -> Result<BatchInputs<M::Params>, GpuError> {
        if self.schema.tabled && self.chords.is_none() {
            let chords = random::exponential_chords();
            self.chords = Some(Buffer::storage_from(&self.gpu, "replications: chords", chords)?);
        }
        let points = Buffer::storage_from(&self.gpu, "replications: points", points)?;
        Ok(BatchInputs { points, chords: self.chords.clone() })
    }

    /// A batch in the memory of the last one, if that suits it.
    pub(super) fn lend(
        &mut self,
        shape: Shape,
        given: &BatchInputs<M::Params>,
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
