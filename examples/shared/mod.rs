//! What the example programs have in common on their command lines.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    reason = "each example uses a part of this module"
)]

use std::time::Duration;

use clap::{Args, ValueEnum};
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::statistics::{Budget, Precision, Stopping};

pub type Failure = Box<dyn std::error::Error>;

#[derive(Args)]
pub struct Where {
    /// Where to run. Default: the GPU where an adapter exists, else the CPU.
    #[arg(long)]
    backend: Option<Backend>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Backend {
    Gpu,
    Cpu,
}

impl Where {
    /// The device to run on, or none for the CPU.
    pub fn gpu(&self) -> Result<Option<Gpu>, GpuError> {
        match self.backend {
            Some(Backend::Cpu) => Ok(None),
            Some(Backend::Gpu) => Gpu::new().map(Some),
            None => match Gpu::new() {
                Err(error @ GpuError::NoAdapter { .. }) => {
                    eprintln!("notice: {error}.\nnotice: running on the CPU instead.");
                    Ok(None)
                }
                other => other.map(Some),
            },
        }
    }
}

#[derive(Args)]
pub struct Json {
    /// Writes the result as JSON to a file, or to standard output for `-` or no name.
    #[arg(long = "json", value_name = "PATH", num_args = 0..=1, default_missing_value = "-")]
    path: Option<String>,
}

impl Json {
    /// Whether standard output is taken, so that nothing else may be printed there.
    pub fn on_stdout(&self) -> bool {
        self.path.as_deref() == Some("-")
    }

    /// Writes `value`, if JSON is wanted.
    pub fn write(&self, value: &serde_json::Value) -> Result<(), Failure> {
        match self.path.as_deref() {
            None => {}
            Some("-") => println!("{value:#}"),
            Some(path) => {
                std::fs::write(path, format!("{value:#}\n")).map_err(|error| format!("{path}: {error}"))?
            }
        }
        Ok(())
    }
}

#[derive(Args)]
pub struct Runs {
    /// Replications; with --precision, the most of them
    #[arg(long, default_value_t = 1024)]
    pub replications: u32,
    /// Confidence level
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,
    /// Run until each half width is at most this share of its mean
    #[arg(long)]
    precision: Option<f64>,
}

impl Runs {
    /// When to stop, if --precision says so.
    pub fn stopping(&self) -> Option<Stopping> {
        let relative = self.precision?;
        let precision = Precision { level: self.level, ..Precision::relative(relative) };
        let budget =
            Budget { replications: Some(self.replications.into()), time: Some(Duration::from_secs(600)) };
        Some(Stopping::new(precision, budget))
    }
}
