//! The simulations that the page `www/` runs in its workers, one for each panel: on the browser's
//! GPU, and those of models without WebGPU too.
//!
//! JavaScript creates and calls one object for each panel: `open` creates it, and another function
//! runs a step and returns its progress. Nothing blocks except the sequential engine, which runs in
//! a worker of its own.

#![cfg(target_arch = "wasm32")]

mod draw;
mod maze;
mod on_cpu;
mod playground;
mod regions;
mod replications;
mod torus;

pub use maze::Maze;
pub use on_cpu::CpuTorus;
pub use playground::{Playground, check};
pub use regions::Moving;
pub use replications::Replications;
pub use torus::{Checked, Settings, Torus, sequential};

use eventhorizon::gpu::Gpu;
use wasm_bindgen::prelude::*;

/// Makes the console print where a panic was. Must be called first.
#[wasm_bindgen]
pub fn prepare() {
    console_error_panic_hook::set_once();
}

/// Describes the adapter, or returns an error that says what to do without one.
#[wasm_bindgen]
pub async fn adapter() -> Result<String, JsError> {
    Ok(Gpu::open().await.map_err(reported)?.to_string())
}

/// The text of an error for JavaScript.
fn reported(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}
