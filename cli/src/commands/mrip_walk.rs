//! Many random walks over a map of 30 chunks: the third model of Passerat-Palmbach et al.,
//! "Warp-Level Parallelism" (ESM 2011). With good random streams every chunk ends with the same
//! number of walkers, and the mean chunk number is 14.5.
//!
//! ```text
//! eventhorizon mrip-walk --replications 30000
//! ```

use clap::Parser;
use eventhorizon::models::{Walk, WalkParams};

use super::mrip;
use crate::shared;

#[derive(Parser)]
#[command(about = "Replicate random walks over 30 chunks of a map")]
pub struct Options {
    #[command(flatten)]
    common: mrip::Common,
    /// Set the number of steps per walk
    #[arg(long, default_value_t = 1000)]
    steps: u32,
}

pub fn run(options: &Options) -> shared::Outcome<()> {
    let steps = options.steps;
    // Chunks, columns and rows of the map are numbered from 0.
    let columns = [
        ("chunk", Some(14.5)),
        ("x", Some(29.5)),
        ("y", Some(24.5)),
        ("explored", None),
        ("most_visits", None),
    ];
    let reported = options.common.run(Walk, &WalkParams { steps }, &columns, ("steps", steps))?;
    options.common.print_report(&reported, &columns)
}
