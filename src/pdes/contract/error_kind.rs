//! Which kind of error each error of the module is.

use crate::ErrorKind;

use super::checkpoint_error::CheckpointError;
use super::error::SimulationError;

impl SimulationError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            Self::Analysis(error) => error.kind(),
            Self::ReplicaTooLarge { .. } | Self::TooLarge { .. } => ErrorKind::Device,
            Self::Write(_) => ErrorKind::Io,
            Self::Checkpoint(error) => error.kind(),
            Self::Cycle { .. } | Self::Fault(_) | Self::Output { .. } => ErrorKind::Fault,
            Self::NoLps
            | Self::TooManyLps { .. }
            | Self::Point { .. }
            | Self::Points { .. }
            | Self::NoCapacity { .. }
            | Self::Contract { .. }
            | Self::Layout { .. }
            | Self::Variable { .. }
            | Self::Data { .. }
            | Self::OutputField { .. }
            | Self::TooManyClasses { .. }
            | Self::SumOverflow { .. } => ErrorKind::Model,
            Self::Stopped
            | Self::HostMemory { .. }
            | Self::Calendar
            | Self::Senders { .. }
            | Self::Parts { .. }
            | Self::Antithetic
            | Self::ThreadEvents
            | Self::NoMapping { .. }
            | Self::TeamQueue
            | Self::TeamSync { .. }
            | Self::NoEnd
            | Self::GroupSize { .. }
            | Self::ResultTime { .. }
            | Self::NoOutput { .. }
            | Self::NoReference { .. }
            | Self::NoColumn { .. }
            | Self::Classes { .. }
            | Self::NoSum { .. } => ErrorKind::Usage,
        }
    }
}

impl CheckpointError {
    /// What kind of error it is: [`ErrorKind::Io`] where the file cannot be read or written, or is
    /// damaged, and [`ErrorKind::Usage`] where another file or another model should be given.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. }
            | Self::Write { .. }
            | Self::NoCheckpoint
            | Self::Version { .. }
            | Self::Length { .. }
            | Self::Checksum
            | Self::Inconsistent { .. } => ErrorKind::Io,
            Self::Place { .. }
            | Self::Taken { .. }
            | Self::Ahead { .. }
            | Self::Kind { .. }
            | Self::Foreign { .. }
            | Self::Study { .. }
            | Self::Skew
            | Self::Part => ErrorKind::Usage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::GpuError;
    use crate::hybrid::HybridError;
    use crate::pdes::{Fault, FaultKind};

    #[test]
    fn an_error_within_another_has_its_own_kind() {
        let fault = Fault { kind: FaultKind::Past, lp: 0, window: 1, needed: 0 };
        let lost = || GpuError::Lost { reason: String::new() };
        for (error, kind) in [
            (SimulationError::NoLps, ErrorKind::Model),
            (SimulationError::Antithetic, ErrorKind::Usage),
            (fault.into(), ErrorKind::Fault),
            (lost().into(), ErrorKind::Device),
            (CheckpointError::Checksum.into(), ErrorKind::Io),
            (CheckpointError::Skew.into(), ErrorKind::Usage),
        ] {
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(HybridError::from(error).kind(), kind);
        }
        assert_eq!(HybridError::Gone { rank: 1 }.kind(), ErrorKind::Io);
    }
}
