//! Many replications of an M/M/1 queue: idle time, time in queue and time in system, with
//! confidence intervals and values of theory. The second model of Passerat-Palmbach et al.,
//! "Warp-Level Parallelism" (ESM 2011).
//!
//! ```text
//! eventhorizon mrip-mm1 --replications 32768
//! eventhorizon mrip-mm1 --precision 0.01 --json result.json
//! ```
//!
//! Theory is exact for this model: the mean over the first clients of a system that starts empty.
//! The printed time is that of a whole run with readback and statistics. The first run, which
//! compiles the kernels, is not timed.

use std::process::ExitCode;

use clap::Parser;
use eventhorizon::models::Mm1;
use eventhorizon::replication::Model as _;
use eventhorizon::statistics::theory;

use super::mrip;
use crate::shared;

#[derive(Parser)]
#[command(about = "Replicate an M/M/1 queue and compare its means with theory")]
pub struct Options {
    #[command(flatten)]
    common: mrip::Common,
    /// Set the number of clients per replication
    #[arg(long, default_value_t = 10_000)]
    clients: u32,
    /// Set the number of arrivals per unit of time
    #[arg(long, default_value_t = 0.8, allow_negative_numbers = true)]
    arrival_rate: f64,
    /// Set the number of services per unit of time
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    service_rate: f64,
}

/// Runs the command as a program of its own.
pub fn main() -> ExitCode {
    shared::main(run)
}

pub fn run(options: &Options) -> shared::Outcome<()> {
    let (clients, model) = (options.clients, Mm1::default());
    let queue = theory::Mm1::new(options.arrival_rate, options.service_rate)?;
    let params = model.params(options.arrival_rate, options.service_rate, clients)?;
    // Invalid parameters are refused before theory uses them.
    model.check(&params).map_err(shared::usage)?;
    // The server is also idle from time 0 until the first client arrives.
    let idle = 1.0 / options.arrival_rate + queue.idle_time_until(clients.saturating_sub(1));
    let columns = [
        ("idle_time", Some(idle / f64::from(clients))),
        ("time_in_queue", Some(queue.time_in_queue_of_first(clients))),
        ("time_in_system", Some(queue.time_in_system_of_first(clients))),
    ];
    let reported = options.common.run(model, &params, &columns, ("clients", clients))?;
    options.common.print_report(&reported, &columns)
}
