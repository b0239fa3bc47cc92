//! The engine's kernels: which files are linked for a model, a queue design and a device.

use crate::gpu::{GpuError, Program, Variant};
use crate::queue::QueueDesign;
use crate::shaders;

use super::{Model, SimulationError};

pub(super) struct Programs {
    pub(super) init: Program,
    pub(super) window: Program,
    pub(super) gather: Program,
    pub(super) digest: Program,
}

impl Programs {
    /// The kernels of `model` with a queue design, for devices with or without 64-bit integers.
    pub(super) fn link(model: &impl Model, queue: QueueDesign, int64: bool) -> Result<Self, GpuError> {
        let mul_wide = match int64 {
            true => "random/mul_wide_int64.wgsl",
            false => "random/mul_wide.wgsl",
        };
        let order = QueueDesign::event_order();
        let with_model = |kernel| {
            let sources = [
                shaders::file(kernel),
                order.clone(),
                queue.source(),
                shaders::file(mul_wide),
                model.source(),
            ];
            Program::link(&format!("{} {kernel}", model.name()), &sources)
        };
        let digest = [shaders::file("pdes/digest.wgsl"), order.clone(), queue.source()];
        Ok(Self {
            init: with_model("pdes/init.wgsl")?,
            window: with_model("pdes/window.wgsl")?,
            gather: Program::link("pdes/gather.wgsl", &[shaders::file("pdes/gather.wgsl")])?,
            digest: Program::link("pdes/digest.wgsl", &digest)?,
        })
    }

    /// Refuses buffers that the engine does not know, and such that handlers could tell each other things by.
    fn check_variables<M: Model>(&self, model: &M) -> Result<(), SimulationError> {
        for (_, variable) in self.window.module().global_variables.iter() {
            let Some(at) = variable.binding.as_ref().filter(|at| at.group != 0) else { continue };
            let name = variable.name.as_deref().unwrap_or_default();
            let read_only = naga::AddressSpace::Storage { access: naga::StorageAccess::LOAD };
            let known = match (at.group, at.binding, name) {
                (1, 0, "params") => variable.space == naga::AddressSpace::Uniform,
                (1, 1, "data") => variable.space == read_only,
                _ => false,
            };
            if !known {
                let file = model.source().name().to_owned();
                return Err(SimulationError::Variable { file, variable: name.to_owned() });
            }
        }
        Ok(())
    }

    /// Compares the model's structs with the Rust types; returns the bytes of a state.
    pub(super) fn check_layouts<M: Model>(&self, model: &M) -> Result<u32, SimulationError> {
        let layout = |name, bytes: usize| {
            let problem = match self.window.layout(name) {
                None if bytes == 0 => return Ok(0),
                None => format!("is missing, and the Rust type has {bytes} bytes: declare it"),
                Some(layout) if !layout.is_dense() => {
                    "has padding, whose bytes mean nothing: declare it as fields of u32".to_owned()
                }
                Some(layout) if layout.bytes as usize != bytes => {
                    format!("has {} bytes, and the Rust type has {bytes}: make them equal", layout.bytes)
                }
                Some(layout) => return Ok(layout.bytes),
            };
            Err(SimulationError::Layout { file: model.source().name().to_owned(), name, problem })
        };
        self.check_variables(model)?;
        layout("Params", size_of::<M::Params>())?;
        layout("State", size_of::<M::State>())
    }
}

/// The values of the `override`s.
pub(super) fn constants(queue: QueueDesign, group: u32) -> Vec<(&'static str, f64)> {
    queue.constants().iter().copied().chain([("GROUP", f64::from(group))]).collect()
}

/// Every program that a simulation of `model` may link.
#[doc(hidden)]
pub fn kernels(model: &impl Model) -> Result<Vec<Variant>, GpuError> {
    let mut kernels = Vec::new();
    for queue in QueueDesign::ALL {
        for int64 in [false, true] {
            let Programs { init, window, gather, digest } = Programs::link(model, queue, int64)?;
            kernels.extend([init, window, digest].map(|program| (program, constants(queue, 256))));
            kernels.push((gather, vec![("GROUP", 256.0)]));
        }
    }
    Ok(kernels)
}
