//! Monte Carlo pi in many replications, with a confidence interval: the first model of
//! Passerat-Palmbach et al., "Warp-Level Parallelism" (ESM 2011).
//!
//! ```text
//! eventhorizon mrip-pi --replications 4096
//! ```

use clap::Parser;
use eventhorizon::models::{Pi, PiParams};

use super::mrip;
use crate::shared;

#[derive(Parser)]
#[command(about = "Replicate a Monte Carlo estimate of pi")]
pub struct Options {
    #[command(flatten)]
    common: mrip::Common,
    /// Set the number of points per replication
    #[arg(long, default_value_t = 100_000)]
    points: u32,
}

pub fn run(options: &Options) -> shared::Outcome<()> {
    let points = options.points;
    let columns = [("pi", Some(std::f64::consts::PI))];
    let reported = options.common.run(Pi, &PiParams { points }, &columns, ("points", points))?;
    options.common.print_report(&reported, &columns)
}
