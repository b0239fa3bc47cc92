//! Replications of an M/M/1 queue: prints means, confidence intervals and exact values, as
//! `eventhorizon mrip-mm1` does.
//!
//! ```text
//! cargo run --release --example mrip_mm1 -- --replications 32768
//! ```

fn main() -> std::process::ExitCode {
    eventhorizon_cli::commands::mrip_mm1::main()
}
