//! Runs a network that the network form does not: as a process model.

use std::io::{Write as _, stdout};

use eventhorizon::facility::{FacilityError, Follow, Network, Share, Study};
use eventhorizon::pdes::Mapping;
use eventhorizon::process::{NetworkForm, NetworkProcess, SavedStudy};

use super::{Args, Form, PILOTS, REPLICATIONS, trace, write};
use crate::shared::{self, Outcome, only};

/// Refuses options of the network form.
fn options(args: &Args) -> Outcome<()> {
    let given = [
        ("--interval", args.interval.is_some()),
        ("--room", args.room.is_some()),
        ("--checkpoint with --batches", args.batches.is_some() && args.saves.autosave().is_some()),
        ("--resume with --batches", args.batches.is_some() && args.saves.resume.is_some()),
        ("--mapping", args.mapping != Mapping::Auto),
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
    let process = process.and_then(|process| process.with_shares(&args.shares()));
    let process = match args.quantiles {
        true => process.and_then(NetworkProcess::with_details),
        false => process,
    };
    let process = shared::in_file(&args.file, process)?;
    if args.show.is_some() {
        return Ok(writeln!(stdout(), "{}", process.text())?);
    }
    let until = shared::end_of_runs(network.until, None)?;
    args.profile.check(until)?;
    // What is found replaces it.
    let written_before = written.warm_up.filter(|&written| !args.find_warm_up || written < until);
    let warm_up = shared::warm_up(until, args.warm_up, written_before);
    let warm_up = match args.find_warm_up {
        // Another seed, so that the warm-up does not depend on the runs that it is used for.
        true => process.settles(!args.seed, until, PILOTS)?,
        false => warm_up,
    };
    let study = Study::new(args.runs.replications(REPLICATIONS), until, warm_up)
        .seed(args.seed)
        .details(args.quantiles)
        .level(args.runs.level)
        .stopping(args.runs.stopping()?);
    let place = args.place.study()?;
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = |runs: usize, events: u64| {
        bar.set_message(format!("{runs} replications, {events} events"));
        shared::watch()
    };
    let plan = process.study(&study)?;
    // Traces take a run of their own. It comes first, so that an invalid request fails before other
    // work is done.
    let follow = args.trace.map(|most| Follow { every: args.trace_every, most });
    let visits = match follow.map(|follow| process.trace(&study, follow).map_err(FacilityError::from)) {
        Some(Err(refused @ FacilityError::Setting { .. })) => return Err(refused.into()),
        visits => visits,
    };
    let saved = args.saves.resume.as_ref().map(SavedStudy::load).transpose()?;
    let report = match args.batches {
        Some(batches) => process.long_run(&study, batches, |progress| {
            bar.set_message(format!("{} events", progress.events));
            shared::watch()
        }),
        None => {
            let run = process.compiled().study(&plan).backend(place.backend()).resume(saved.as_ref());
            let results = run.save(args.saves.autosave()).watch(watch).run();
            let results = results.map_err(|error| process.explained(error));
            results.and_then(|results| process.report(&study, &results))
        }
    };
    bar.finish_and_clear();
    let mut report = report?;
    let mut known = process.measures();
    known.extend(args.share.iter().map(Share::to_string));
    only::check(&args.only, &known)?;
    let form = NetworkForm::Process(Box::new(process));
    shared::all([
        write(args, &form, &study, &mut report, &place, saved.as_ref().map_or(0, SavedStudy::events)),
        visits.map_or(Ok(()), |visits| trace(args, visits)),
    ])
}
