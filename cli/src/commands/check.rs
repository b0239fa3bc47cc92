//! Reads a description, compiles it, and prints what was understood, without a run.
//!
//! ```text
//! eventhorizon check examples/networks/clinic.toml
//! eventhorizon check examples/processes/emergency.toml
//! eventhorizon check examples/models/epidemic.toml
//! eventhorizon init network - | eventhorizon check -
//! ```

use std::io::{Write as _, stdout};
use std::path::PathBuf;

use clap::Parser;
use eventhorizon::description::Description;
use eventhorizon::facility::{ClassFacts, Facts, NodeFacts};
use eventhorizon::process::{NetworkForm, ProcessModel};
use serde_json::json;

use super::run;
use crate::shared::points::{self, Kind, Points};
use crate::shared::{self, FileUse, Outcome};

#[derive(Parser)]
#[command(about = "Compile a network, a process model or a WGSL model, and print what was understood")]
pub struct Args {
    /// Read the description from this file; `-` is standard input
    file: PathBuf,
    #[command(flatten)]
    points: Points,
    #[command(flatten)]
    json: shared::Json,
}

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[(FileUse::Reads, "the description", Some(&*args.file)), args.json.file()])?;
    let text = points::text(&args.file)?;
    match points::kind(&args.file, &text)? {
        Kind::Network => network(args, &text),
        Kind::Process => process(args, &args.points.process_of(&args.file, &text)?),
        Kind::Model => model(args),
    }
}

fn network(args: &Args, text: &str) -> Outcome<()> {
    let description = args.points.network_of(&args.file, text)?;
    let design = shared::in_file(&args.file, description.design())?;
    let networks = shared::in_file(&args.file, description.networks())?;
    let mut all = Vec::new();
    for (point, network) in networks.iter().enumerate() {
        // An unstable network is understood, and its load says what is wrong.
        let (form, unstable) = match NetworkForm::new(network, &[], false) {
            Ok(form) => (form, None),
            Err(error) => match NetworkForm::new(network, &[], true) {
                Ok(form) => (form, Some(error.to_string())),
                Err(_) => return shared::in_file(&args.file, Err(error)),
            },
        };
        let mut facts = form.facts();
        facts.warnings.extend(unstable);
        if let NetworkForm::Process(_) = form {
            facts.warnings.push("it runs as a process model, slower than other networks".to_owned());
        }
        all.push((design.describe(point), form.resolution().ticks_per_unit(), facts));
    }
    let first = &networks[0];
    let object = json!({
        "kind": "network",
        "model": first.name,
        "unit": first.unit,
        "until": first.until,
        "warm_up": first.warm_up,
        "classes": first.classes,
        "points": all.iter().map(|(point, ticks, facts)| {
            json!({ "point": point, "ticks_per_unit": ticks, "facts": facts })
        }).collect::<Vec<_>>(),
    });
    if args.json.on_stdout() {
        return args.json.write(&object);
    }
    for (point, ticks, facts) in &all {
        let at = if point.is_empty() { String::new() } else { format!(" at {point}") };
        writeln!(
            stdout(),
            "{}{at}: a network of {} and {} ({}, {ticks} ticks), {}",
            first.name,
            shared::count(facts.nodes.len(), "node"),
            classes(first.classes.len()),
            first.unit,
            first.until.map_or_else(|| "without an end of runs".to_owned(), |until| format!("until {until}")),
        )?;
        show(facts)?;
    }
    args.json.write(&object)
}

fn classes(count: usize) -> String {
    if count == 1 { "1 class".to_owned() } else { format!("{count} classes") }
}

fn show(facts: &Facts) -> Outcome<()> {
    let head = ["node", "kind", "class", "arrivals", "servers", "load", "routes"].map(str::to_owned);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
    let of_node = |node: &NodeFacts| {
        let words = [node.kind].into_iter().chain(node.details.iter().map(|detail| &**detail));
        let kind = words.collect::<Vec<_>>().join(", ");
        let row = |(place, class): (usize, &ClassFacts)| {
            let first = |text: String| if place == 0 { text } else { String::new() };
            let waiting = match class.population {
                0 => class.rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.5}")),
                population => format!("{population} at the begin"),
            };
            [
                first(node.name.clone()),
                first(kind.clone()),
                class.class.clone(),
                waiting,
                first(number(node.servers)),
                first(number(node.load)),
                class.routes.join(", "),
            ]
        };
        node.classes.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    let mut table = vec![head];
    table.extend(facts.nodes.iter().flat_map(of_node));
    let widths: Vec<usize> =
        (0..7).map(|column| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    for row in &table {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            3..=5 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        writeln!(stdout(), "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    match facts.theory.is_empty() {
        true => writeln!(stdout(), "theory: no measure has a known formula")?,
        false => writeln!(stdout(), "theory, in the steady state:")?,
    }
    for (name, value) in &facts.theory {
        writeln!(stdout(), "  {name} = {value:.6}")?;
    }
    for warning in &facts.warnings {
        writeln!(stdout(), "warning: {warning}")?;
    }
    Ok(())
}

fn process(args: &Args, model: &ProcessModel) -> Outcome<()> {
    let compiled = model.compile().map_err(|error| error.in_file(&args.file))?;
    let design = compiled.design();
    let points: Vec<String> = (0..design.len()).map(|point| design.describe(point)).collect();
    let object = json!({
        "kind": "process",
        "model": model.name,
        "unit": model.unit,
        "until": model.until,
        "warm_up": model.warm_up,
        "ticks_per_unit": compiled.resolution().ticks_per_unit(),
        "entities": model.entities.keys().collect::<Vec<_>>(),
        "resources": model.resources.keys().collect::<Vec<_>>(),
        "parameters": model.parameters.iter().map(|(name, of)| (name.clone(), json!(of.values))).collect::<serde_json::Map<_, _>>(),
        "measures": compiled.measures(),
        "points": points,
    });
    if args.json.on_stdout() {
        return args.json.write(&object);
    }
    writeln!(
        stdout(),
        "{}: a process model ({}{} ticks), {}",
        model.name,
        if model.unit.is_empty() { String::new() } else { format!("{}, ", model.unit) },
        compiled.resolution().ticks_per_unit(),
        model.until.map_or_else(|| "without an end of runs".to_owned(), |until| format!("until {until}")),
    )?;
    let line = |what: &str, names: Vec<String>| -> Outcome<()> {
        match names.is_empty() {
            true => Ok(()),
            false => Ok(writeln!(stdout(), "{what:<11} {}", names.join(", "))?),
        }
    };
    let keys = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>();
    let entities = model.entities.iter().map(|(name, entity)| {
        format!(
            "{name} ({}, {})",
            shared::count(entity.sources.len(), "source"),
            shared::count(entity.statements.len(), "statement")
        )
    });
    line("entities", entities.collect())?;
    line("resources", keys(model.resources.keys().collect()))?;
    line("containers", keys(model.containers.keys().collect()))?;
    line("stores", keys(model.stores.keys().collect()))?;
    line("variables", keys(model.variables.keys().collect()))?;
    let parameters = model.parameters.iter().map(|(name, of)| {
        let values: Vec<_> = of.values.iter().map(f64::to_string).collect();
        format!("{name}={}", values.join(","))
    });
    line("parameters", parameters.collect())?;
    line("measures", compiled.measures())?;
    if points.len() > 1 {
        line("points", points)?;
    }
    args.json.write(&object)
}

fn model(args: &Args) -> Outcome<()> {
    if shared::on_stdout(Some(&args.file)) {
        return Err(shared::usage("a model has a WGSL file beside its TOML file: name the TOML file"));
    }
    let mut description = Description::read(&args.file)?;
    for change in &args.points.set {
        description.set(change)?;
    }
    let model = description.compile()?;
    let design = model.design()?;
    let points: Vec<String> = (0..design.len()).map(|point| design.describe(point)).collect();
    let object = json!({
        "kind": "model",
        "model": model.name(),
        "processes": model.has_processes(),
        "ticks_per_unit": model.resolution().ticks_per_unit(),
        "measures": model.measures(),
        "points": points,
        "warnings": model.warnings(),
    });
    if args.json.on_stdout() {
        return args.json.write(&object);
    }
    writeln!(
        stdout(),
        "{}: a model of {} in WGSL ({} ticks)",
        model.name(),
        if model.has_processes() { "logical processes" } else { "replications" },
        model.resolution().ticks_per_unit()
    )?;
    run::describe(&model)?;
    if points.len() > 1 {
        writeln!(stdout(), "points\n  {}", points.join("\n  "))?;
    }
    for warning in model.warnings() {
        writeln!(stdout(), "warning: {warning}")?;
    }
    args.json.write(&object)
}
