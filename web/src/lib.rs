//! What the page `www/` runs in its workers: simulations on the browser's GPU, each panel's own.
//!
//! A panel is an object that JavaScript makes and calls: `open` makes it, another function takes it
//! a step further and says how far it is. Nothing blocks; the sequential engine, which does, runs
//! in a worker of its own.

#![cfg(target_arch = "wasm32")]

mod draw;
mod maze;
mod regions;
mod replications;
mod torus;

pub use maze::Maze;
pub use regions::Moving;
pub use replications::Replications;
pub use torus::{Settings, Torus, sequential};

use eventhorizon::gpu::Gpu;
use wasm_bindgen::prelude::*;

/// Lets the console say where a panic was: to be called first.
#[wasm_bindgen]
pub fn prepare() {
    console_error_panic_hook::set_once();
}

/// An adapter in words, or an error that says what to do where there is none.
#[wasm_bindgen]
pub async fn adapter() -> Result<String, JsError> {
    Ok(Gpu::open().await.map_err(reported)?.to_string())
}

/// What JavaScript hears of an error: its sentence.
fn reported(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}
