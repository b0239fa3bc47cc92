//! A first run: 1,000 replications of an M/M/1 queue that starts empty, on the GPU, or on the CPU
//! if there is no GPU. The results have the same bits on both.
//!
//! Prints the mean time in the queue and in the system of the first 10,000 customers, each with its
//! 95 % confidence interval, next to the exact value.
//!
//! ```text
//! cargo run --release --example first_queue
//! ```
//!
//! `cargo run --release --example mrip_mm1 -- --help` lists the options.

use eventhorizon::gpu::Gpu;
use eventhorizon::models::Mm1;
use eventhorizon::replication::{CpuEngine, Design, Engine, Experiment, Options};
use eventhorizon::statistics::theory;

const ARRIVAL_RATE: f64 = 0.8;
const SERVICE_RATE: f64 = 1.0;
const CUSTOMERS: u32 = 10_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Mm1::default();
    let params = model.params(ARRIVAL_RATE, SERVICE_RATE, CUSTOMERS)?;
    // One parameter point, 1,000 replications of it, and the seed of their random streams.
    let experiment = Experiment::new(Design::default(), 1000, 1);
    let results = match Gpu::new() {
        Ok(gpu) => Engine::new(&gpu, model, Options::default())?.run(&params, &experiment)?,
        Err(error) => {
            println!("{error}. Running on the CPU.");
            CpuEngine::new(model, Options::default())?.run(&params, &experiment)?
        }
    };
    let observations = &results.observations[0];

    let queue = theory::Mm1::new(ARRIVAL_RATE, SERVICE_RATE)?;
    for (name, expected) in [
        ("time_in_queue", queue.time_in_queue_of_first(CUSTOMERS)),
        ("time_in_system", queue.time_in_system_of_first(CUSTOMERS)),
    ] {
        let summary = observations.summary(name, 0.95)?;
        let mean = summary.mean.ok_or("nothing was observed")?;
        let half_width = summary.interval.ok_or("one replication has no interval")?.half_width;
        println!("{name:14} {mean:.4} ± {half_width:.4}, theory {expected:.4}");
    }
    Ok(())
}
