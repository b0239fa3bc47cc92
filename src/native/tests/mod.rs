//! Both engines against what WGSL states, each other and a device.

mod compare;
mod device;
mod large;
mod programs;
mod semantics;

use super::Engine;

/// The engines of this build.
fn engines() -> Vec<Engine> {
    let machine = cfg!(all(feature = "native", not(target_arch = "wasm32"))).then_some(Engine::Machine);
    machine.into_iter().chain([Engine::Interpreter]).collect()
}
