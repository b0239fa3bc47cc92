//! Fits distributions to measured times by maximum likelihood, and prints lines of TOML to paste.
//!
//! ```text
//! eventhorizon fit times.csv
//! eventhorizon fit visits.csv --column service --plot service.svg
//! ```

use std::io::{Write as _, stdout};
use std::path::PathBuf;

use clap::Parser;
use eventhorizon::facility::fit::{self, Fit};
use eventhorizon::facility::plot;

use crate::shared::{self, FileUse, Outcome};

#[derive(Parser)]
#[command(about = "Fit distributions to measured times in a CSV file")]
pub struct Args {
    /// Read the times from this CSV file: one column, or several with names in the first line
    file: PathBuf,
    /// Fit this column
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// Fit these families only: names of the table, separated by commas
    #[arg(long, value_name = "FAMILIES", value_delimiter = ',')]
    only: Vec<String>,
    /// Set the number of samples that p-values are estimated from; 0 prints no p-values
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(..=100_000))]
    bootstrap: u32,
    /// Set the seed of these samples
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw the quantiles of the best distribution against those of the data, as SVG, to this file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    json: shared::Json,
}

/// The largest size of a file in bytes.
const MOST_TEXT: u64 = 256 << 20;

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[
        (FileUse::Reads, "the data", Some(&*args.file)),
        args.json.file(),
        (FileUse::WritesFile, "--plot", args.plot.as_deref()),
    ])?;
    let text = shared::read_text(&args.file, MOST_TEXT)?;
    let times = shared::in_file(&args.file, fit::column(&text, args.column.as_deref()))?;
    let options = fit::Options::default().bootstrap(args.bootstrap).seed(args.seed);
    let mut fits = shared::in_file(&args.file, fit::fit(&times, options))?;
    if let Some(unknown) = args.only.iter().find(|name| !fit::families().any(|known| known == **name)) {
        let known: Vec<_> = fit::families().collect();
        return Err(shared::usage(format!(
            "--only: `{unknown}` is no family; choose of {}",
            known.join(", ")
        )));
    }
    let is_wanted = |family: &str| args.only.is_empty() || args.only.iter().any(|name| name == family);
    fits.retain(|fit| is_wanted(fit.family));
    let is_left_out = |family: &&str| is_wanted(family) && !fits.iter().any(|fit| fit.family == *family);
    let left_out: Vec<&str> = fit::families().filter(is_left_out).collect();
    let Some(best) = fits.first() else {
        return Err(shared::usage(match args.only.is_empty() {
            true => format!(
                "{}: no family can be fitted, because sums of the times are too small or too large. \
                 Write them in another unit",
                args.file.display()
            ),
            false => "no family of --only can have these times; leave --only out".to_owned(),
        }));
    };
    if !args.json.on_stdout() {
        print(args, &times, &fits, &left_out)?;
    }
    if let Some(path) = &args.plot {
        shared::write(path, plot::quantiles(best, &times)?.as_bytes())?;
    }
    args.json.write(&json(&fits, &left_out, times.len()))
}

fn print(args: &Args, times: &[f64], fits: &[Fit], left_out: &[&str]) -> Outcome<()> {
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let deviation = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count).sqrt();
    writeln!(
        stdout(),
        "{}: {} times, mean {}, standard deviation {}",
        args.file.display(),
        times.len(),
        shared::six_places(mean),
        shared::six_places(deviation)
    )?;
    writeln!(stdout(), "\n{:<18}{:>16}{:>16}{:>12}{:>9}", "family", "log-likelihood", "AIC", "A²", "p")?;
    for fit in fits {
        let p = fit.p_value.map_or_else(|| "-".to_owned(), |p| format!("{p:.3}"));
        let (likelihood, aic) = (fit.log_likelihood, fit.aic());
        writeln!(
            stdout(),
            "{:<18} {likelihood:>15.2} {aic:>15.2} {:>11.3} {p:>8}",
            fit.family,
            fit.anderson_darling
        )?;
    }
    if !left_out.is_empty() {
        writeln!(
            stdout(),
            "\nNot fitted, because these times are outside of the family or the bounds of its numbers: {}.",
            left_out.join(", ")
        )?;
    }
    writeln!(
        stdout(),
        "\nThe smallest AIC is the best. A small p-value, as below 0.05, says that the times do not"
    )?;
    writeln!(
        stdout(),
        "follow the family; with thousands of times, hardly any family passes for measured data.\n"
    )?;
    for fit in fits {
        writeln!(stdout(), "service = {}", fit.toml())?;
    }
    Ok(())
}

fn json(fits: &[Fit], left_out: &[&str], times: usize) -> serde_json::Value {
    let fits = fits.iter().map(|fit| {
        serde_json::json!({
            "family": fit.family,
            "law": fit.law,
            "toml": fit.toml(),
            "log_likelihood": fit.log_likelihood,
            "aic": fit.aic(),
            "anderson_darling": fit.anderson_darling,
            "p_value": fit.p_value,
        })
    });
    serde_json::json!({ "times": times, "fits": fits.collect::<Vec<_>>(), "not_fitted": left_out })
}
