//! Runs a network that the network form does not: as a process model.

use std::io::{Write as _, stdout};

use eventhorizon::facility::{Network, Study};
use eventhorizon::process::NetworkProcess;
use eventhorizon::statistics::Design;

use super::{Args, Form, REPLICATIONS, as_json, print_report};
use crate::shared::{self, Outcome, each, only};

/// Refuses options of the network form.
fn options(args: &Args) -> Outcome<()> {
    let given = [
        ("--batches", args.batches.is_some()),
        ("--quantiles", args.quantiles),
        ("--share", !args.share.is_empty()),
        ("--profile", args.profile.profile.is_some()),
        ("--find-warm-up", args.find_warm_up),
        ("--interval", args.interval.is_some()),
        ("--plot", args.plot.is_some()),
        ("--report", args.report.is_some()),
        ("--trace", args.trace.is_some()),
        ("--checkpoint", args.saves.autosave().is_some()),
        ("--resume", args.saves.resume.is_some()),
        ("--show ir and --show wgsl", matches!(args.show, Some(Form::Ir | Form::Wgsl))),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(shared::usage(format!(
            "{option} is not there for this network, which runs as a process model. \
             --show process prints that model; `eventhorizon process` has options of its own"
        ))),
    }
}

/// Runs `network`, which has the times of runs; `written` is the description.
pub(super) fn run(args: &Args, network: &Network, written: &Network) -> Outcome<()> {
    options(args)?;
    let process = match args.allow_unstable {
        true => NetworkProcess::new_unstable(network),
        false => NetworkProcess::new(network),
    };
    let process = shared::in_file(&args.file, process)?;
    if args.show.is_some() {
        return Ok(writeln!(stdout(), "{}", process.text())?);
    }
    let until = shared::end_of_runs(network.until, None)?;
    let warm_up = shared::warm_up(until, args.warm_up, written.warm_up);
    let study = Study::new(args.runs.replications(REPLICATIONS), until, warm_up)
        .seed(args.seed)
        .level(args.runs.level)
        .stopping(args.runs.stopping()?);
    let place = args.place.study()?;
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = |runs: usize, events: u64| {
        bar.set_message(format!("{runs} replications, {events} events"));
        shared::watch()
    };
    let plan = process.study(&study)?;
    let results = process.compiled().study(&plan).backend(place.backend()).watch(watch).run()?;
    bar.finish_and_clear();
    let mut report = process.report(&study, &results)?;
    let names = report.names();
    only::check(&args.only, &names)?;
    let mut names = names.into_iter();
    report.rows.retain(|_| only::shows(&args.only, &names.next().expect("a name for each row")));
    let csv = |path: &std::path::PathBuf| {
        let mut csv = Vec::new();
        report.to_csv(&mut csv)?;
        shared::write(path, &csv)
    };
    shared::all([
        if args.on_stdout() { Ok(()) } else { print_report(&report, study.stopping.as_ref(), 0) },
        args.csv.as_ref().map_or(Ok(()), csv),
        args.each
            .as_ref()
            .map_or(Ok(()), |path| each::write(path, &Design::default(), &[report.observations()?])),
        as_json(args, &report),
    ])
}
