//! Many random walks over a map of 30 chunks. The third model of Passerat-Palmbach et al.,
//! "Warp-Level Parallelism" (ESM 2011): where the random streams are good, every chunk ends up with
//! the same number of walkers, and the mean of their numbers is 14.5.
//!
//! ```text
//! eventhorizon mrip-walk --replications 30000
//! ```

use clap::Parser;
use eventhorizon::models::{Walk, WalkParams};

use super::mrip;
use crate::shared;

#[derive(Parser)]
#[command(about = "Random walks over 30 chunks, replications in parallel")]
pub struct Options {
    #[command(flatten)]
    common: mrip::Common,
    /// Steps per walk
    #[arg(long, default_value_t = 1000)]
    steps: u32,
}

pub fn run(options: &Options) -> shared::Outcome<()> {
    let steps = options.steps;
    // Chunks, columns and rows of the map are counted from 0.
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
