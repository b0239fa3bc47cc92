//! Runs a network that the network form does not: as a process model.

use std::io::{Write as _, stdout};

use eventhorizon::facility::{Network, Share, Study};
use eventhorizon::pdes::Mapping;
use eventhorizon::process::{NetworkForm, NetworkProcess};

use super::{Args, Form, REPLICATIONS, write};
use crate::shared::{self, Outcome, only};

/// Refuses options of the network form.
fn options(args: &Args) -> Outcome<()> {
    let given = [
        ("--batches", args.batches.is_some()),
        ("--quantiles", args.quantiles),
        ("--find-warm-up", args.find_warm_up),
        ("--interval", args.interval.is_some()),
        ("--room", args.room.is_some()),
        ("--mapping", args.mapping != Mapping::Auto),
        ("--trace", args.trace.is_some()),
        ("--checkpoint", args.saves.autosave().is_some()),
        ("--resume", args.saves.resume.is_some()),
        ("--show ir and --show wgsl", matches!(args.show, Some(Form::Ir | Form::Wgsl))),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(shared::usage(format!(
            "{option} is not there for this network, which runs as a process model: leave it out. \
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
    let process = process.and_then(|process| process.with_shares(&args.share));
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
    let results = process.compiled().study(&plan).backend(place.backend()).watch(watch).run();
    bar.finish_and_clear();
    let results = results.map_err(|error| process.explained(error))?;
    let mut report = process.report(&study, &results)?;
    let mut known = process.measures();
    known.extend(args.share.iter().map(Share::to_string));
    only::check(&args.only, &known)?;
    write(args, &NetworkForm::Process(Box::new(process)), &study, &mut report, &place, 0)
}
