//! Models described by files: a TOML file with parameters and measures, and a WGSL file.
//!
//! A [`Description`] needs no Rust types: it knows `State`, `Params` and `Output` from the WGSL.
//! The program's command `run` is a thin layer above this module.
//!
//! ```no_run
//! use eventhorizon::description::Description;
//! use eventhorizon::gpu::Gpu;
//!
//! let mut description = Description::read("examples/models/epidemic.toml")?;
//! description.set("infection=0.1,0.2")?; // two points of a design
//! let model = description.compile()?;
//! let results = model.on(&Gpu::new()?).replications(100).run()?;
//! println!("{}", results.report(0.95)?);
//! for (point, observations) in results.observations.iter().enumerate() {
//!     println!("{}: {:?}", results.design.describe(point), observations.column("attack_rate")?.values);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From texts in memory: [`Description::from_texts`]. The [guide](crate::guide::program)
//! describes the format.

mod described;
mod error;
mod files;
mod formula;
mod model;
mod parameter;
mod points;
#[cfg(not(target_arch = "wasm32"))]
mod run;
mod written;

pub use described::{DescribedModel, Description};
pub use error::DescriptionError;
#[cfg(not(target_arch = "wasm32"))]
pub use run::{Results, Run, RunProgress};
