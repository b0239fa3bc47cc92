//! What the commands `mrip-*` share: options, the run and its report.

use std::io::{Write as _, stdout};
use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use eventhorizon::OwnedBackend;
use eventhorizon::replication::{
    AnyEngine, Decision, Design, Experiment, Mapping, Model, Observations, Options,
};
use serde_json::json;

use crate::shared::{self, Json, Outcome, Runs, Stopwatch, Where, bar};

#[derive(Clone, Copy, ValueEnum)]
pub enum MappingName {
    Thread,
    Warp,
    Team,
    Auto,
}

#[derive(Args)]
pub struct Common {
    #[command(flatten)]
    pub runs: Runs,
    /// Map replications to the device by this method. Changes the speed only
    #[arg(long, value_enum, default_value = "auto")]
    pub mapping: MappingName,
    /// Set the seed of the random streams
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub json: Json,
}

/// A result column, with the value of theory if there is one.
pub type Column<'a> = (&'a str, Option<f64>);

/// The results of a run, and where it ran.
pub struct MripReport {
    backend: String,
    adapter: String,
    mapping: String,
    /// Where the replications ran and why, if that was chosen.
    choice: Option<String>,
    /// The amount of work in one replication and its unit.
    work: (&'static str, u32),
    seconds: f64,
    /// The same without compilations.
    running: f64,
    fingerprint: u64,
    observations: Observations,
    decision: Option<Decision>,
}

/// The default number of replications.
const REPLICATIONS: u32 = 1024;

impl Common {
    /// Runs the replications of one parameter point. `work` is the work of one replication, from
    /// which the rate is computed.
    pub fn run<M: Model + Copy + Send + Sync + 'static>(
        &self,
        model: M,
        params: &M::Params,
        columns: &[Column<'_>],
        work: (&'static str, u32),
    ) -> Outcome<MripReport> {
        shared::check_files(&[self.json.file()])?;
        let stopping = self.runs.stopping()?;
        let experiment = Experiment::new(Design::default(), self.runs.replications(REPLICATIONS), self.seed);
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let bar = bar(self.runs.replications(REPLICATIONS).into(), "{wide_bar} {pos} of {len} replications")?;
        let watch = |ended| {
            bar.set_position(ended);
            shared::watch()
        };
        let mapping = match self.mapping {
            MappingName::Thread => Mapping::Thread,
            MappingName::Warp => Mapping::Warp,
            MappingName::Team => Mapping::Team,
            MappingName::Auto => Mapping::Auto,
        };
        let place = self.place.study()?;
        let mut engine = AnyEngine::new(place.backend(), model, Options::default().mapping(mapping))?;
        let mut run = |watch: &mut dyn FnMut(u64) -> ControlFlow<()>| -> Outcome<_> {
            let stopwatch = Stopwatch::start();
            let (fingerprint, mut observations, decision) = match &stopping {
                None => {
                    let results = engine.run(params, &experiment, 0..experiment.replications, watch)?;
                    (results.fingerprint, results.observations, None)
                }
                Some(stopping) => {
                    let run = engine.run_precisely(params, &experiment, (stopping, &names), watch)?;
                    (run.fingerprint, run.observations, Some(run.decisions[0]))
                }
            };
            let [running, compiling] = stopwatch.parts();
            Ok((
                [(running + compiling).as_secs_f64(), running.as_secs_f64()],
                fingerprint,
                observations.remove(0),
                decision,
            ))
        };
        let mut timed = run(&mut { watch })?;
        bar.finish_and_clear();
        if matches!(place, OwnedBackend::Gpu(_)) && timed.0[0] < 1.0 && !shared::interrupted() {
            // The first run compiled the kernels, tried the mappings and tuned the length of
            // slices. Only a second run is timed.
            timed = run(&mut |_| ControlFlow::Continue(()))?;
        }
        let ([seconds, running], fingerprint, observations, decision) = timed;
        let (backend, adapter, mapping) = match (engine.device(), place.adapter()) {
            (Some(engine), Some(adapter)) => {
                let mapping = engine.chosen().map_or(mapping, |chosen| chosen.mapping);
                ("gpu", adapter.to_owned(), mapping.to_string())
            }
            _ => ("cpu", "CPU, all cores".to_owned(), "cpu".to_owned()),
        };
        Ok(MripReport {
            backend: backend.to_owned(),
            adapter,
            mapping,
            choice: place.choice(),
            work,
            seconds,
            running,
            fingerprint,
            observations,
            decision,
        })
    }

    /// Prints the results.
    pub fn print_report(&self, reported: &MripReport, columns: &[Column<'_>]) -> Outcome<()> {
        let (unit, each) = reported.work;
        let replications = reported.observations.replications();
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        let rate = replications as f64 * f64::from(each) / reported.running;
        let mut outputs = Vec::new();
        if !self.json.on_stdout() {
            writeln!(stdout(), "{} ({}), mapping {}", reported.adapter, reported.backend, reported.mapping)?;
            writeln!(
                stdout(),
                "{} of {each} {unit}: {:.4} s, {rate:.3e} {unit}/s",
                shared::count(replications, "replication"),
                reported.seconds
            )?;
            if let Some(choice) = &reported.choice {
                writeln!(stdout(), "ran on {choice}")?;
            }
            writeln!(stdout(), "{:18}{:>14}{:>14}{:>14}", "", "mean", "half width", "theory")?;
        }
        for (name, theory) in columns {
            let summary = reported.observations.summary(name, self.runs.level)?;
            let half_width = summary.interval.map(|interval| interval.half_width);
            if !self.json.on_stdout() {
                let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.6}"));
                let (mean, half, theory) = (number(summary.mean), number(half_width), number(*theory));
                writeln!(stdout(), "{name:18}{mean:>14}{half:>14}{theory:>14}")?;
            }
            outputs.push(json!({
                "measure": name, "mean": summary.mean, "half_width": half_width, "theory": theory,
            }));
        }
        let failed = reported.observations.failures().len();
        let mut object = json!({
            "engine": reported.backend,
            "seed": self.seed,
            "adapter": reported.adapter,
            "mapping": reported.mapping,
            "replications": replications,
            "failed": failed,
            "seconds": reported.seconds,
            "fingerprint": format!("{:016x}", reported.fingerprint),
            "stopped": reported.decision.iter().map(|decision| decision.name()).collect::<Vec<_>>(),
            "results": outputs,
        });
        object[unit] = each.into();
        object[format!("{unit}_per_second")] = rate.into();
        let written = self.json.write(&object);
        if self.json.on_stdout() {
            return written;
        }
        writeln!(stdout(), "fingerprint {:016x}", reported.fingerprint)?;
        if shared::interrupted() {
            writeln!(
                stdout(),
                "stopped early, after {replications} of {} replications",
                self.runs.replications(REPLICATIONS)
            )?;
        }
        if let Some(decision) = reported.decision {
            writeln!(stdout(), "stopped: {decision:?}")?;
        }
        for failure in reported.observations.failures().take(10) {
            writeln!(stdout(), "replication {} failed: {}", failure.replication, failure.cause)?;
        }
        if failed > 10 {
            writeln!(stdout(), "and {} more", failed - 10)?;
        }
        written
    }
}
