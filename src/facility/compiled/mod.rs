//! Networks as kernels of their own. `lower.rs` makes the form between (`ir.rs`), `print.rs` its
//! text, `native.rs` and `run.rs` run it with `shaders/facility/compiled/` on the CPU and on
//! devices, and `rows.rs` makes the interpreter's rows of its sums, bit for bit.
//! `notes/compiled-networks.md` has the design.
//!
//! Studies use it (`facility/runner.rs`). It is hidden otherwise.

mod ir;
mod lower;
mod native;
mod print;
mod rows;
mod run;
mod show;
mod uniform;

use super::{ClassOutput, Facility, FacilityOutput};
use crate::ErrorKind;
use crate::gpu::{GpuError, Source};

pub use native::NativeNetwork;
pub use rows::Recorded;
pub use run::{DeviceNetwork, Form};

/// A network as WGSL of its own, with the rows that the text reads.
#[derive(Debug, Clone)]
pub struct CompiledNetwork {
    ir: ir::Ir,
    source: Source,
}

/// Why a network, or a replication of it, is left to the interpreter.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CompiledError {
    /// A feature of the network.
    #[error("the compiled form does not cover {what}; use the interpreter")]
    NotCovered {
        /// The feature, with its node.
        what: String,
    },
    /// A replication with times or events beyond the bounds of the compiled form.
    #[error("replication {replication} exceeds the compiled form (faults {faults:#x}); use the interpreter")]
    Fault {
        /// Its number.
        replication: u32,
        /// The faults of `shaders/facility/compiled/`, as bits.
        faults: u32,
    },
    /// An error of the device, or of the linker.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

crate::text::debug_is_display!(CompiledError);

impl CompiledError {
    /// What kind of error this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotCovered { .. } => ErrorKind::Model,
            Self::Fault { .. } => ErrorKind::Fault,
            Self::Gpu(error) => error.kind(),
        }
    }
}

impl CompiledNetwork {
    /// Compiles a network.
    ///
    /// # Errors
    /// [`CompiledError::NotCovered`].
    pub fn new(facility: &Facility) -> Result<Self, CompiledError> {
        let ir = lower::lower(facility).map_err(|what| CompiledError::NotCovered { what })?;
        Ok(Self { source: print::wgsl(&ir), ir })
    }

    /// The form between the network and its text: a line for each node and each class there. The
    /// network is that of [`CompiledNetwork::new`].
    pub fn listing(&self, facility: &Facility) -> String {
        show::Listing { ir: &self.ir, facility }.to_string()
    }

    /// The text, without the library's files.
    pub fn wgsl(&self) -> &str {
        self.source.text()
    }

    /// The customers that sources sent after the warm-up.
    pub fn entered(&self, rows: &[FacilityOutput]) -> u64 {
        let sources = self.ir.nodes.iter().zip(rows);
        let sources = sources.filter(|(node, _)| matches!(node.kind, ir::Kind::Source { .. }));
        sources.flat_map(|(_, row)| &row.classes).map(ClassOutput::served).sum()
    }
}
