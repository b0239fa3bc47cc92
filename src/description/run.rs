//! Running a described model on a device or on the CPU.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Instant;

use super::described::DescribedModel;
use super::error::{DescriptionError, invalid};
use super::points::Points;
use super::written;
use crate::Backend;
use crate::gpu::{Verdict, Word};
use crate::pdes::{self, AnyEngine, CORES, EngineOptions, Outputs, Payload, Until};
use crate::queue::QueueDesign;
use crate::replication;
use crate::statistics::{
    AnalysisError, Decision, Design, Experiment, Observations, Partial, Point, Report, Selected, Selection,
    Stopping,
};

/// Replications of a model without processes, if the file sets no number. Models of processes have
/// 1.
const REPLICATIONS: u32 = 1024;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunProgress {
    /// Runs that ended, of all points.
    pub runs: u64,
    /// Events that were executed; 0 in models without processes.
    pub events: u64,
    /// Points that are still run: fewer than those of the design while the best is selected.
    pub points: usize,
}

/// When the replications of a run end.
enum Goal {
    All,
    Precise(Stopping),
    Best(Selection, String),
}

/// A run of a described model, with a watcher `W`. Nothing happens before [`Run::run`].
#[must_use = "a run starts with `run`"]
pub struct Run<'m, W = fn(&RunProgress)> {
    model: &'m DescribedModel,
    backend: Backend<'m>,
    seed: u64,
    replications: Option<u32>,
    mapping: String,
    queue: Option<QueueDesign>,
    group_size: Option<u32>,
    goal: Goal,
    watch: W,
}

impl<W> std::fmt::Debug for Run<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("seed", &self.seed)
            .field("mapping", &self.mapping)
            .finish_non_exhaustive()
    }
}

/// The results of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Results {
    /// The points, in the numbers of the file.
    pub design: Design,
    /// The observations of each point: a value of each measure for each replication.
    pub observations: Vec<Observations>,
    /// Why the replications of each point ended, for a run to a precision.
    pub decisions: Vec<Decision>,
    /// The point that was selected, for a run that selects the best.
    pub selected: Option<Selected>,
    /// The sum of the fingerprints of all replications.
    pub fingerprint: u64,
    /// How replications were mapped to the device; `cores` on the CPU.
    pub mapping: String,
    /// Wall-clock time, compilation included.
    pub seconds: f64,
    /// What a stopped selection does not have, as a sentence.
    pub missing: Option<String>,
}

impl Results {
    /// The table of all measures and points, with intervals at a confidence level.
    ///
    /// # Errors
    /// [`DescriptionError::Analysis`] if the level is not between 0 and 1.
    pub fn report(&self, level: f64) -> Result<Report, DescriptionError> {
        let mut report = Report::default();
        for (point, observations) in self.observations.iter().enumerate() {
            report.add(&self.design, point, observations, level, |_| None)?;
        }
        Ok(report)
    }
}

/// What a run leaves.
struct Ended {
    observations: Vec<Observations>,
    decisions: Vec<Decision>,
    selected: Option<Selected>,
    fingerprint: u64,
    mapping: String,
    /// The points of a stopped selection, and what it does not have.
    stopped: Option<(Design, String)>,
}

impl Ended {
    /// Without a selection.
    fn new(
        observations: Vec<Observations>,
        decisions: Vec<Decision>,
        fingerprint: u64,
        mapping: String,
    ) -> Self {
        Self { observations, decisions, selected: None, fingerprint, mapping, stopped: None }
    }
}

/// Why points ended that have fewer replications than were requested; nothing if none has.
fn stopped(made: &[Observations], experiment: &Experiment) -> Vec<Decision> {
    let is_short = made.iter().any(|made| made.replications() < experiment.replications as usize);
    if is_short { vec![Decision::Stopped; made.len()] } else { Vec::new() }
}

/// A selection of the best point between rounds.
struct Selecting<'d> {
    /// With the numbers of the file, and those that the model gets.
    designs: [&'d Design; 2],
    partial: Partial,
    fingerprint: u64,
    runs: u64,
}

impl<'d> Selecting<'d> {
    fn new(points: &'d Points) -> Self {
        let partial = Partial::new(points.design.len());
        Self { designs: [&points.shown, &points.design], partial, fingerprint: 0, runs: 0 }
    }

    /// Adds a round of some of the points.
    fn add(&mut self, some: &Design, made: &[Observations], fingerprint: u64) -> Result<(), AnalysisError> {
        let numbers = self.designs[1].numbers_of(some);
        numbers.into_iter().zip(made).try_for_each(|(point, made)| self.partial.add(point, made.clone()))?;
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint);
        Ok(())
    }

    /// The selected point, or what there is if the watcher stopped it.
    fn ended(
        self,
        found: Result<Selected, DescriptionError>,
        mapping: String,
    ) -> Result<Ended, DescriptionError> {
        match found {
            Ok(found) => {
                let ended = Ended::new(found.observations.clone(), Vec::new(), self.fingerprint, mapping);
                Ok(Ended { selected: Some(found), ..ended })
            }
            Err(DescriptionError::Stopped) => {
                let stopped = self.partial.stopped(self.designs[0], Some("the best point"));
                let stopped = stopped.ok_or(DescriptionError::Stopped)?;
                let decisions = vec![Decision::Stopped; stopped.points.len()];
                let ended = Ended::new(stopped.observations, decisions, self.fingerprint, mapping);
                Ok(Ended { stopped: Some((stopped.design, stopped.missing)), ..ended })
            }
            Err(error) => Err(error),
        }
    }
}

impl DescribedModel {
    /// A run with the seed and the replications of the file, on a device (`&Gpu`) or another
    /// [`Backend`]. On the CPU the WGSL is translated to machine code. Results are the
    /// same bits.
    pub fn on<'m>(&'m self, backend: impl Into<Backend<'m>>) -> Run<'m> {
        Run::new(self, backend.into())
    }
}

impl<'m> Run<'m> {
    fn new(model: &'m DescribedModel, backend: Backend<'m>) -> Self {
        Self {
            model,
            backend,
            seed: model.seed(),
            replications: model.replications(),
            mapping: "auto".to_owned(),
            queue: None,
            group_size: None,
            goal: Goal::All,
            watch: |_| {},
        }
    }
}

impl<'m, W, V: Verdict> Run<'m, W>
where
    W: FnMut(&RunProgress) -> V + Send,
{
    /// The seed of the random streams. Default: that of the file.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The number of replications of each point; with [`Run::best`] the largest number. Default:
    /// that
    /// of the file; else 1 for models of processes and 1,024 for others, and 1,024 to select the
    /// best.
    pub fn replications(self, replications: u32) -> Self {
        Self { replications: Some(replications), ..self }
    }

    /// How replications are mapped to the device: `grid`, `team`, `thread` or `auto` for processes;
    /// `thread`, `warp` or `auto` for others. It changes the speed only.
    pub fn mapping(self, mapping: &str) -> Self {
        Self { mapping: mapping.to_owned(), ..self }
    }

    /// The priority queue of models of processes. It changes the speed only.
    pub fn queue(self, queue: QueueDesign) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// Invocations of a workgroup. It changes the speed only.
    pub fn group_size(self, group_size: u32) -> Self {
        Self { group_size: Some(group_size), ..self }
    }

    /// Runs replications of each point until all measures are as precise as `stopping` requires.
    pub fn precision(self, stopping: Stopping) -> Self {
        Self { goal: Goal::Precise(stopping), ..self }
    }

    /// Selects the point with the largest mean of a measure (the smallest, if `selection` says so).
    /// Points that are clearly worse get no more replications.
    pub fn best(self, selection: Selection, measure: &str) -> Self {
        Self { goal: Goal::Best(selection, measure.to_owned()), ..self }
    }

    /// Calls `watch` some 30 times a second. A [`ControlFlow::Break`](std::ops::ControlFlow) ends
    /// the run early, with the replications that all points have.
    pub fn watch<X, U: Verdict>(self, watch: X) -> Run<'m, X>
    where
        X: FnMut(&RunProgress) -> U + Send,
    {
        let Self { model, backend, seed, replications, mapping, queue, group_size, goal, .. } = self;
        Run { model, backend, seed, replications, mapping, queue, group_size, goal, watch }
    }

    /// Runs and waits.
    ///
    /// # Errors
    /// [`DescriptionError::Invalid`] for a parameter or measure that does not fit the WGSL, and for
    /// a
    /// setting; [`DescriptionError::Stopped`] if the watcher ended the run before it had a result;
    /// others from the engines.
    pub fn run(mut self) -> Result<Results, DescriptionError> {
        let words = self.model.words;
        if let Goal::Precise(_) | Goal::Best(..) = &self.goal {
            self.check_measures()?;
        }
        let points = self.model.points()?;
        let begun = Instant::now();
        let ended = match words {
            None => self.replicate(&points)?,
            Some(2) => self.simulate::<[u32; 2]>(&points)?,
            Some(_) => self.simulate::<[u32; 6]>(&points)?,
        };
        let seconds = begun.elapsed().as_secs_f64();
        let Ended { observations, decisions, selected, fingerprint, mapping, stopped } = ended;
        let (design, missing) = match stopped {
            Some((design, missing)) => (design, Some(missing)),
            None => (points.shown, None),
        };
        Ok(Results { design, observations, decisions, selected, fingerprint, mapping, seconds, missing })
    }

    /// The results of each process in the first replication of the first point.
    ///
    /// # Errors
    /// As [`Run::run`], and [`DescriptionError::Invalid`] if the file has no `[processes]` or the
    /// replication fails.
    pub fn outputs(self) -> Result<Outputs<Word>, DescriptionError> {
        match self.model.words {
            None => Err(invalid(format!(
                "{}: results of each process need [processes]",
                self.model.written.path.display()
            ))),
            Some(2) => self.first_outputs::<[u32; 2]>(),
            Some(_) => self.first_outputs::<[u32; 6]>(),
        }
    }

    fn check_measures(&self) -> Result<(), DescriptionError> {
        let (names, path) = (self.model.measures(), self.model.written.path.display());
        match &self.goal {
            _ if names.is_empty() => Err(invalid(format!(
                "{path} has no measures: a run to a precision, or for the best point, needs one in [measures]"
            ))),
            Goal::Best(_, measure) if !names.contains(&measure.as_str()) => {
                let meant = crate::text::closest(measure, names.iter().copied());
                let meant = meant.map_or_else(String::new, |meant| format!(". Did you mean `{meant}`?"));
                let known = names.join(", ");
                Err(invalid(format!("{measure} is not a measure: [measures] of {path} has {known}{meant}")))
            }
            _ => Ok(()),
        }
    }

    fn experiment(&self, design: &Design, otherwise: u32) -> Result<Experiment, DescriptionError> {
        let replications = self.replications.unwrap_or(otherwise);
        if replications == 0 {
            let path = self.model.written.path.display();
            return Err(invalid(format!("{path}: replications is 0: choose at least 1")));
        }
        Ok(Experiment::new(design.clone(), replications, self.seed))
    }

    fn pdes_options(&self) -> Result<EngineOptions, DescriptionError> {
        let mapping = self.mapping.parse::<pdes::Mapping>().map_err(|error| invalid(error.to_string()))?;
        Ok(EngineOptions::default().mapping(mapping).queue(self.queue).group_size(self.group_size))
    }

    fn simulate<P: Payload>(&mut self, points: &Points) -> Result<Ended, DescriptionError> {
        let written = &self.model.written;
        let placed = |error| written.placed(error);
        let until = Until::time(written.until()?);
        let options = self.pdes_options()?;
        let otherwise = if matches!(self.goal, Goal::All) { 1 } else { REPLICATIONS };
        let experiment = self.experiment(&points.design, otherwise)?;
        let models = (0..points.design.len()).map(|point| written.process_model::<P>(points.bytes(point)));
        let models = models.collect::<Result<Vec<_>, _>>()?;
        // A selection passes designs of the points that are left, numbered from 0.
        let left = Rc::new(RefCell::new((0..models.len()).collect::<Vec<_>>()));
        let of_point = {
            let left = Rc::clone(&left);
            move |point: &Point<'_>| left.borrow()[point.number()]
        };
        let build = move |point: &Point<'_>| Ok::<_, String>(models[of_point(point)].clone());
        let mut engine = AnyEngine::new(self.backend, build, options);
        let (watch, mut points_left) = (&mut self.watch, points.design.len());
        let report = &mut |runs: usize, events: u64| {
            watch(&RunProgress { runs: runs as u64, events, points: points_left }).flow()
        };
        match &self.goal {
            Goal::All => {
                let all = 0..experiment.replications;
                let results = engine.run(&experiment, all, until, report).map_err(placed)?;
                let decisions = stopped(&results.observations, &experiment);
                Ok(Ended::new(results.observations, decisions, results.fingerprint, engine.mapping()))
            }
            Goal::Precise(stopping) => {
                let precise = (stopping, &*written.measures.names());
                let run = engine.run_precisely(&experiment, precise, until, report).map_err(placed)?;
                Ok(Ended::new(run.observations, run.decisions, run.fingerprint, engine.mapping()))
            }
            Goal::Best(selection, measure) => {
                let mut selecting = Selecting::new(points);
                let found = selection.run(&experiment, measure, |some, range| {
                    points_left = some.design.len();
                    let progress = RunProgress { runs: selecting.runs, events: 0, points: points_left };
                    if watch(&progress).flow().is_break() {
                        return Err(DescriptionError::Stopped);
                    }
                    *left.borrow_mut() = points.design.numbers_of(&some.design);
                    selecting.runs += u64::from(range.end - range.start) * points_left as u64;
                    let unwatched = &mut |_, _| ControlFlow::Continue(());
                    let run = engine.run(some, range, until, unwatched).map_err(placed)?;
                    selecting.add(&some.design, &run.observations, run.fingerprint)?;
                    Ok(run.observations)
                });
                selecting.ended(found, engine.mapping())
            }
        }
    }

    fn first_outputs<P: Payload>(self) -> Result<Outputs<Word>, DescriptionError> {
        let written = &self.model.written;
        let points = self.model.points()?;
        let until = Until::time(written.until()?);
        let placed = |error| written.placed(error);
        let options = self.pdes_options()?.outputs(true);
        let experiment = self.experiment(&points.design, 1)?;
        let model = written.process_model::<P>(points.bytes(0))?;
        let mut experiment = experiment;
        experiment.design = Design::default();
        let mut engine = AnyEngine::new(self.backend, move |_| Ok::<_, String>(model.clone()), options);
        let unwatched = &mut |_, _| ControlFlow::Continue(());
        let mut results = engine.run(&experiment, 0..1, until, unwatched).map_err(placed)?;
        match results.runs.swap_remove(0).swap_remove(0) {
            Ok(run) => Ok(run.outputs.expect("the options ask for outputs")),
            Err(fault) => Err(invalid(format!("the first run failed: {}", written::in_words(fault)))),
        }
    }

    fn replicate(&mut self, points: &Points) -> Result<Ended, DescriptionError> {
        use replication::Mapping;
        let written = &self.model.written;
        let mapping = match self.mapping.as_str() {
            "auto" => Mapping::Auto,
            "thread" => Mapping::Thread,
            "warp" => Mapping::Warp,
            other => {
                return Err(invalid(format!("the mapping {other}: replications take thread, warp or auto")));
            }
        };
        let experiment = self.experiment(&points.design, REPLICATIONS)?;
        let model = written.replication_model(points.constants.clone());
        let options = replication::Options::default().mapping(mapping).group_size(self.group_size);
        let mut engine = replication::AnyEngine::new(self.backend, model, options)?;
        let params = &Word::default();
        let (watch, all) = (&mut self.watch, points.design.len());
        let report = |runs: u64| watch(&RunProgress { runs, events: 0, points: all }).flow();
        let ended = match &self.goal {
            Goal::All => {
                let results = engine.run(params, &experiment, 0..experiment.replications, report)?;
                let decisions = stopped(&results.observations, &experiment);
                Ended::new(results.observations, decisions, results.fingerprint, String::new())
            }
            Goal::Precise(stopping) => {
                let precise = (stopping, &*written.measures.names());
                let run = engine.run_precisely(params, &experiment, precise, report)?;
                Ended::new(run.observations, run.decisions, run.fingerprint, String::new())
            }
            Goal::Best(selection, measure) => {
                let mut selecting = Selecting::new(points);
                let found = selection.run(&experiment, measure, |some, range| {
                    let points = some.design.len();
                    let progress = RunProgress { runs: selecting.runs, events: 0, points };
                    if watch(&progress).flow().is_break() {
                        return Err(DescriptionError::Stopped);
                    }
                    selecting.runs += u64::from(range.end - range.start) * points as u64;
                    let results = engine.run(params, some, range, |_| ControlFlow::Continue(()))?;
                    selecting.add(&some.design, &results.observations, results.fingerprint)?;
                    Ok(results.observations)
                });
                selecting.ended(found, String::new())?
            }
        };
        let chosen = |engine: &replication::Engine<_>| {
            engine.chosen().map_or(mapping, |chosen| chosen.mapping).to_string()
        };
        let mapping = engine.device().map_or_else(|| CORES.to_owned(), chosen);
        Ok(Ended { mapping, ..ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::Description;

    #[test]
    fn a_stopped_selection_has_the_rounds_that_ended() {
        for (name, change) in [("counter", "service=0.5,0.25,0.4"), ("epidemic", "infection=0.3,0.6,0.5")] {
            let path = format!("{}/examples/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let mut description = Description::read(path).unwrap();
            description.set(change).unwrap();
            if name == "epidemic" {
                description.set("contact=0.6").unwrap();
                description.until(4.0).unwrap();
            }
            let model = description.compile().unwrap();
            let measure = model.measures()[0].to_owned();
            let stopped = |most: u64| {
                let selection = Selection { replications: Some(400), ..Selection::new(1e-3, 0.95) };
                let watch = move |progress: &RunProgress| match progress.runs < most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                };
                model.on(Backend::Cpu).best(selection, &measure).watch(watch).run()
            };
            let found = stopped(1).unwrap();
            assert!(found.selected.is_none());
            assert_eq!(found.decisions, [Decision::Stopped; 3]);
            let made = found.observations.iter().map(Observations::replications).collect::<Vec<_>>();
            assert_eq!((found.design.len(), made), (3, vec![20; 3]), "{name}");
            assert!(found.missing.unwrap().ends_with("no result of the best point"));
            assert!(matches!(stopped(0), Err(DescriptionError::Stopped)));
        }
    }
}
