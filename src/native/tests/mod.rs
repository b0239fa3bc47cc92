//! Both engines against what WGSL states, each other and a device.

pub(crate) mod compare;
mod large;
pub(crate) mod programs;
mod semantics;

use super::Engine;

/// The engines of this build.
pub(crate) fn engines() -> Vec<Engine> {
    let machine = cfg!(all(feature = "native", not(target_arch = "wasm32"))).then_some(Engine::Machine);
    machine.into_iter().chain([Engine::Interpreter]).collect()
}
