//! A queueing network as data instead of a program: patients see a nurse, and one in four sees a
//! doctor afterwards.
//!
//! Prints a table of every measure with its confidence interval, next to the exact value if it is
//! known, and then one number of that table.
//!
//! ```text
//! cargo run --release --example queueing_network
//! ```
//!
//! `eventhorizon network FILE` runs the same text from a file; `docs/guide-networks.md` documents
//! the format.

use eventhorizon::facility::{Measure, Network, Study};

const CLINIC: &str = r#"
name = "a small clinic"

[source.patients]
interarrival = { exponential = 10.0 }  # minutes
to = "nurse"

[station.nurse]
service = { exponential = 6.0 }
to = [{ node = "doctor", probability = 0.25 }, { node = "home", probability = 0.75 }]

[station.doctor]
service = { exponential = 15.0 }
to = "home"

[sink.home]
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clinic = Network::from_toml(CLINIC)?.compile()?;
    // 64 replications of 10,000 minutes; the first 1,000 are the warm-up.
    let study = Study::new(64, 10_000.0, 1_000.0);
    let report = clinic.study(&study).run()?;
    println!("{report}");

    let busy = report.row("doctor", Some("customer"), Measure::Utilisation).ok_or("no such row")?;
    println!("the doctor is busy {:.1} % of the time", 100.0 * busy.mean.ok_or("nothing was observed")?);
    Ok(())
}
