//! PHOLD, a benchmark model, on the GPU or on the CPU: prints its event rate and fingerprint, as
//! `eventhorizon phold` does.
//!
//! ```text
//! cargo run --release --example phold -- --lps 1024 --until 200 --verify
//! ```

fn main() -> std::process::ExitCode {
    eventhorizon_cli::commands::phold::main()
}
