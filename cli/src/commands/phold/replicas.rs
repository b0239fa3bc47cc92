//! Many runs at once, each with its own random streams: `--replicas`.

use std::convert::Infallible;

use eventhorizon::OwnedBackend;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{AnyEngine, CpuEngine, Engine, EngineOptions, Mapping, Options, Results, Until};
use eventhorizon::statistics::{Design, Experiment, Point};
use eventhorizon::time::{Resolution, Ticks};
use serde_json::json;

use super::{Args, Setting};
use crate::shared::{self, Outcome, Stopwatch};

pub(crate) fn run(
    args: &Args,
    setting: Setting,
    place: &OwnedBackend,
    model: Phold,
    options: Options,
    until: Until,
    replicas: u32,
) -> Outcome<()> {
    // One point, with the same model for all runs.
    let experiment = Experiment::new(Design::default(), replicas, options.seed);
    let build = move |_: &Point<'_>| Ok::<_, Infallible>(model);
    let bar = shared::bar(replicas.into(), "{wide_bar} {pos} of {len} runs, {msg}")?;
    let watch = |ended: usize, events: u64| {
        bar.set_position(ended as u64);
        bar.set_message(format!("{events} events"));
        shared::watch()
    };
    let on_cpu = || -> Outcome<_> {
        let stopwatch = Stopwatch::start();
        let results = CpuEngine::new(build, EngineOptions::default())
            .experiment(&experiment, until)
            .watch(watch)
            .run()?;
        Ok((results, stopwatch.parts()))
    };
    let Options { queue, group_size, sync, .. } = options;
    let options_of_engine =
        EngineOptions::default().mapping(args.mapping).queue(queue).sync(sync).group_size(group_size);
    let (results, time, gpu) = match place {
        OwnedBackend::Gpu(gpu) => {
            let mut engine = Engine::new(gpu, build, options_of_engine)?;
            // This compiles the kernels and is not timed.
            let few = match args.mapping {
                Mapping::Grid => 1,
                _ => replicas,
            };
            let before = Stopwatch::start();
            engine.experiment(&experiment, Until::time(Ticks::ZERO)).range(0..few).run()?;
            let [_, compiled] = before.parts();
            let stopwatch = Stopwatch::start();
            let results = engine.experiment(&experiment, until).watch(watch).run()?;
            let [running, compiling] = stopwatch.parts();
            (results, [running, compiled + compiling], Some(gpu))
        }
        place => {
            let mut engine = AnyEngine::new(place.backend(), build, options_of_engine);
            let stopwatch = Stopwatch::start();
            let results = engine.run(&experiment, 0..replicas, until, &mut { watch })?;
            let time = stopwatch.parts();
            // Asking for the device opens it.
            (results, time, if engine.used_device() { place.backend().gpu() } else { None })
        }
    };
    let [seconds, compiling] = time.map(|time| time.as_secs_f64());
    bar.finish_and_clear();
    let adapter =
        gpu.map_or_else(|| "CPU, sequential, a run on every core".into(), |gpu| gpu.info().name.clone());
    let mapping = gpu.map_or_else(|| "none".into(), |_| results.mapping.to_string());
    let events = events(&results);
    let rate = events as f64 / seconds;
    let fingerprints: Vec<Option<String>> =
        results.runs[0].iter().map(|run| run.as_ref().ok().map(|run| run.fingerprint.to_string())).collect();
    let failed: Vec<_> = (0..)
        .zip(&results.runs[0])
        .filter_map(|(number, run)| Some((number, run.as_ref().err()?)))
        .collect::<Vec<(u32, _)>>();
    let mut table = vec![
        ("adapter", adapter.clone()),
        ("mapping", mapping.clone()),
        ("runs", results.runs[0].len().to_string()),
        ("LPs x events", format!("{} x {}", setting.lps, setting.population)),
        ("sends to", setting.neighbours.map_or("all".to_owned(), |number| format!("{number} on a ring"))),
        ("rate, lookahead", format!("{}, {}", setting.rate, setting.lookahead)),
        ("events", events.to_string()),
        ("seconds", format!("{seconds:.6}")),
        ("compiling, seconds", format!("{compiling:.6}")),
        ("events per second", format!("{rate:.4e}")),
        ("fingerprint of run 0", fingerprints[0].clone().unwrap_or_else(|| "none: it failed".into())),
        ("fingerprint of all", format!("{:016x}", results.fingerprint)),
    ];
    if let Some((number, fault)) = failed.first() {
        table.push(("failed", format!("{} runs. Run {number}: {fault}", failed.len())));
    }
    table.extend(place.choice().map(|choice| ("ran on", choice)));
    let mut ok = true;
    if shared::interrupted() {
        table.push(("stopped early", format!("{replicas} runs were requested")));
    } else if args.verify {
        let (cpu, [seconds, _]) = on_cpu()?;
        ok = same(&results, &cpu);
        let verdict = if ok { "equal" } else { "DIFFERENT" };
        table.push((
            "CPU engine",
            format!("{verdict}: {} events, fingerprint {:016x}", self::events(&cpu), cpu.fingerprint),
        ));
        table.push((
            "CPU events per second",
            format!("{:.4e}", self::events(&cpu) as f64 / seconds.as_secs_f64()),
        ));
    }
    let shown = if args.json.on_stdout() { Ok(()) } else { super::show(&table) };
    let written = args.json.write(&json!({
        "model": "phold",
        "engine": shared::engine(gpu.is_some()),
        "adapter": adapter,
        "mapping": mapping,
        "replicas": results.runs[0].len(),
        "lps": setting.lps,
        "population": setting.population,
        "neighbours": setting.neighbours,
        "rate": setting.rate,
        "lookahead": setting.lookahead,
        "seed": options.seed,
        "until": (until.time != Ticks::NEVER).then(|| Resolution::default().units(until.time)),
        "events": events,
        "failed": failed.len(),
        "seconds": seconds,
        "compiling": compiling,
        "event_rate": rate,
        "fingerprint": format!("{:016x}", results.fingerprint),
        "fingerprints": fingerprints,
    }));
    shared::all([shown, written, super::verdict(ok)])
}

/// The events of all runs that did not fail.
fn events(results: &Results) -> u64 {
    results.runs[0].iter().flatten().map(|run| run.progress.events).sum()
}

/// Whether all runs are equal. The fingerprint of all includes the fingerprint or the fault of
/// each.
fn same(left: &Results, right: &Results) -> bool {
    left.fingerprint == right.fingerprint
        && left.runs[0].iter().zip(&right.runs[0]).all(|runs| match runs {
            (Ok(left), Ok(right)) => {
                let of =
                    |progress: eventhorizon::pdes::Progress| (progress.events, progress.now, progress.stop);
                of(left.progress) == of(right.progress)
            }
            (Err(left), Err(right)) => (left.kind, left.lp) == (right.kind, right.lp),
            _ => false,
        })
}
