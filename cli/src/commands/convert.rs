//! Writes a network in another form: TOML, JSON, or a diagram as text.
//!
//! ```text
//! eventhorizon convert model.jsimg --out model.toml
//! eventhorizon convert examples/networks/clinic.toml --to mermaid
//! eventhorizon convert examples/networks/clinic.toml --to dot | dot -Tsvg -o clinic.svg
//! ```

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use eventhorizon::facility::Network;
use eventhorizon::process::NetworkForm;
use indexmap::IndexMap;
use serde::Serialize;

use crate::formats::{diagram, toml_text};
use crate::shared::points::Points;
use crate::shared::{self, FileUse, Outcome};

#[derive(Parser)]
#[command(about = "Write a network in another form: TOML, JSON, DOT or Mermaid")]
pub struct Args {
    /// Read the network from this file: TOML, JSON, or a model of JMT (.jsimg, .jsimw, .jsim,
    /// .jmva). `-` is standard input
    file: PathBuf,
    #[command(flatten)]
    points: Points,
    /// Set the form
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Toml)]
    to: Form,
    /// Write to this file; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// A description for `network`
    Toml,
    /// The same as JSON
    Json,
    /// A diagram in the language of Graphviz
    Dot,
    /// A flowchart of Mermaid, which Markdown can contain
    Mermaid,
}

/// A description: a network with formulas of columns.
#[derive(Serialize)]
struct Written<'d> {
    #[serde(flatten)]
    network: &'d Network,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    columns: IndexMap<&'d str, &'d str>,
}

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[
        (FileUse::Reads, "the description", Some(&*args.file)),
        (FileUse::Writes, "--out", Some(&*args.out)),
    ])?;
    let description = args.points.network(&args.file)?;
    let design = shared::in_file(&args.file, description.design())?;
    if design.len() > 1 {
        return Err(shared::usage(format!(
            "{}: it describes {} networks; set each number to one value by --set",
            args.file.display(),
            design.len()
        )));
    }
    let network = shared::in_file(&args.file, description.network(&design, 0))?;
    shared::in_file(&args.file, NetworkForm::new(&network, &[], true))?;
    let text = match args.to {
        Form::Toml => toml_text::of_network(&network, description.columns())?,
        Form::Json => {
            let columns = description.columns().iter().map(|(name, formula)| (&**name, &**formula));
            let written = Written { network: &network, columns: columns.collect() };
            serde_json::to_string_pretty(&written)? + "\n"
        }
        Form::Dot => diagram::dot(&network),
        Form::Mermaid => diagram::mermaid(&network),
    };
    shared::write(&args.out, text.as_bytes())
}
