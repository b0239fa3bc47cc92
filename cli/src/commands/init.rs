//! Writes a starting file: a small network, process model or model in WGSL that runs, with
//! comments.
//!
//! ```text
//! eventhorizon init network                  # writes network.toml
//! eventhorizon init process clinic.toml
//! eventhorizon init model                    # writes model.toml and model.wgsl
//! eventhorizon init network - | eventhorizon network -
//! ```

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _, stdout};
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

use crate::shared::{self, Outcome, usage};

#[derive(Parser)]
#[command(about = "Write a starting file of a network, a process model or a model in WGSL")]
pub struct Args {
    /// What the file describes
    kind: Kind,
    /// The file, which must not exist; `-` is standard output. Default: the kind with `.toml`
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// A queueing network: sources, stations and routes
    Network,
    /// A process model: what entities do, step by step
    Process,
    /// A model in WGSL, with a TOML file of its parameters
    Model,
}

const NETWORK: &str = include_str!("init/network.toml");
const PROCESS: &str = include_str!("init/process.toml");
const MODEL: &str = include_str!("init/model.toml");
const WGSL: &str = include_str!("init/model.wgsl");

/// The name of the WGSL file in [`MODEL`].
const WGSL_NAME: &str = "model.wgsl";

pub fn run(args: &Args) -> Outcome<()> {
    let (text, name) = match args.kind {
        Kind::Network => (NETWORK, "network.toml"),
        Kind::Process => (PROCESS, "process.toml"),
        Kind::Model => (MODEL, "model.toml"),
    };
    let file = args.file.clone().unwrap_or_else(|| PathBuf::from(name));
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        let file = file.display();
        return Err(usage(format!("{file}: `init` writes TOML: name a file that ends in .toml")));
    }
    let Kind::Model = args.kind else {
        if shared::on_stdout(Some(&file)) {
            return Ok(write!(stdout(), "{text}")?);
        }
        create(&[(&file, text)])?;
        return report(&[&file]);
    };
    let wgsl = file.with_extension("wgsl");
    if shared::on_stdout(Some(&file)) || wgsl == file {
        return Err(usage("a model has a TOML file and a WGSL file beside it: name the TOML file"));
    }
    let named = wgsl.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = text.replace(WGSL_NAME, &named);
    create(&[(&file, &text), (&wgsl, WGSL)])?;
    report(&[&file, &wgsl])
}

/// Creates files that do not exist: all or none.
fn create(files: &[(&Path, &str)]) -> Outcome<()> {
    if let Some((file, _)) = files.iter().find(|(file, _)| file.exists()) {
        return Err(exists(file));
    }
    for (file, text) in files {
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::AlreadyExists => exists(file),
            _ => format!("{}: {error}", file.display()).into(),
        };
        let mut made = OpenOptions::new().write(true).create_new(true).open(file).map_err(failed)?;
        made.write_all(text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

fn exists(file: &Path) -> shared::Failure {
    usage(format!("{}: the file exists, and is not overwritten: name another", file.display()))
}

fn report(files: &[&Path]) -> Outcome<()> {
    for file in files {
        writeln!(stdout(), "wrote {}", file.display())?;
    }
    Ok(())
}
