//! The engine on the device.
//!
//! A slice is one submission with its readback. A small run reuses the memory of the one before
//! (`CachedBatch`). A large run of short replications goes in parts: the host evaluates one part
//! while the device runs the next. Between slices a replication has the same form in every mapping,
//! so a run may change its mapping.

mod cached_batch;
mod choice;
mod memory;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::{ControlFlow, Range};
use std::time::Duration;

use self::cached_batch::{CachedBatch, KEPT_BYTES};
use super::batch::{BatchInputs, ResultCollector, SliceProgress, check_steps};
use super::options::MOST_STEPS;
use super::results::{CollectedResults, in_rounds, points};
use super::work::Work;
use super::{
    Batch, ChoiceReason, Experiment, Mapping, MappingChoice, Model, Options, ReplicationError, Results,
    Schema, Shape,
};
use crate::gpu::{Buffer, Gpu, Kernel, Pace};

/// Runs replications of a [`Model`] on a device.
#[derive(Debug)]
pub struct Engine<M: Model> {
    gpu: Gpu,
    model: M,
    schema: Schema,
    options: Options,
    trusted: bool,
    known: HashMap<Shape, ShapeCost>,
    /// The choice of [`Mapping::Auto`], by the binary logarithm of the number of replications.
    fastest: HashMap<u32, MappingChoice>,
    /// The mapping of the last run.
    chosen: Option<MappingChoice>,
    /// Created by the first run of a model that draws with the table.
    chords: Option<Buffer<[u32; 2]>>,
    kept: CachedBatch<M>,
}

/// Knowledge about a shape that has been used.
#[derive(Debug)]
struct ShapeCost {
    /// The device's own, so that a run need not look it up by its text.
    kernel: Kernel,
    /// Completed replications of the last batch, and the steps per slice that suited it.
    pace: Option<(u32, Pace)>,
    /// Average time of a replication of that batch, if known.
    each: Option<Duration>,
}

/// Many short replications run in parts of this size: the host evaluates one part while the device
/// runs the next. 2^18 invocations fill a device with 132 cores of 2,048 each.
const PART: u32 = 1 << 18;

/// Longer runs go in one piece: at the end of each part, the last replications leave most of the
/// device idle.
const SHORT: Duration = Duration::from_millis(100);

/// From this many replications on, one invocation each fills large devices, so there is no trial.
const MANY: u32 = 1 << 15;

/// How often a run may repeat the trial.
const LOOKS: u32 = 2;

/// The class of numbers of replications with one fastest mapping.
fn size(jobs: u32) -> u32 {
    jobs.max(1).ilog2()
}

impl<M: Model> Engine<M> {
    /// Links the model and checks its structs against the contract.
    ///
    /// # Errors
    /// [`ReplicationError`] if the WGSL does not link or breaks the contract.
    pub fn new(gpu: &Gpu, model: M, options: Options) -> Result<Self, ReplicationError> {
        let schema = Schema::of(&model)?;
        Ok(Self {
            gpu: gpu.clone(),
            model,
            schema,
            options,
            trusted: false,
            known: HashMap::new(),
            fastest: HashMap::new(),
            chosen: None,
            chords: None,
            kept: CachedBatch::default(),
        })
    }

    /// Omits run-time checks in the model's WGSL.
    ///
    /// # Safety
    /// Whatever its parameters are, the model's WGSL must index within its arrays, every loop must
    /// end, and no divisor may be zero.
    #[must_use]
    #[doc(hidden)]
    pub unsafe fn trusted(self) -> Self {
        Self { trusted: true, ..self }
    }

    /// The same model with other options: kernels and memory stay, and [`Mapping::Auto`] chooses
    /// again.
    #[must_use]
    #[doc(hidden)]
    pub fn with_options(self, options: Options) -> Self {
        // What was chosen may be a team, whose steps are others.
        Self { options, fastest: HashMap::new(), ..self }
    }

    /// Runs these replications of each point. `None` if `watch` stopped it before any replication
    /// of all points had ended. A run without `watch` is one round.
    pub(super) async fn replicate(
        &mut self,
        params: &M::Params,
        experiment: &Experiment,
        replications: Range<u32>,
        watch: Option<impl FnMut(u64) -> ControlFlow<()>>,
    ) -> Result<Option<Results<M::Output>>, ReplicationError> {
        let Some(mut watch) = watch else {
            let goes_on = &mut |_| ControlFlow::Continue(());
            return self.make_range(params, experiment, replications, goes_on).await;
        };
        let points = experiment.design.len() as u64;
        // Checks the whole range before the first round.
        crate::replication::results::points(&self.model, &self.schema, params, experiment, &replications)?;
        let (start, mut stopped) = (replications.start, false);
        in_rounds(replications, experiment, MANY, async |round: Range<u32>| {
            if stopped {
                return Ok(None);
            }
            let before = u64::from(round.start - start) * points;
            let reported = &mut |ended| {
                let flow = watch(before + ended);
                stopped |= flow.is_break();
                flow
            };
            self.make_range(params, experiment, round, reported).await
        })
        .await
    }

    /// `None` if `watch` stopped it.
    async fn make_range(
        &mut self,
        params: &M::Params,
        experiment: &Experiment,
        replications: Range<u32>,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Results<M::Output>>, ReplicationError> {
        check_steps(MOST_STEPS, self.options.max_steps)?;
        let points = points(&self.model, &self.schema, params, experiment, &replications)?;
        let number = experiment.design.len();
        let work = Work::new(experiment, &replications, number, self.options.max_steps);
        let given = self.given(&points)?;
        let mut chosen = self.choose(&given, work).await?;
        let mut looks = LOOKS;
        let mut gathering = ResultCollector::new(CollectedResults::new(&self.schema, number, replications));
        let mut done = 0;
        while let Some(rest) = work.after(done) {
            // The mapping of this batch.
            let mut serves = chosen.clone();
            let mut shape = self.sized(serves.mapping, work.jobs());
            let mut batch = self.lend(shape, &given, rest.at_most(self.part(shape, work.jobs())))?;
            loop {
                let expected = serves.speed().filter(|_| looks > 0);
                let mut pace = self.pace(shape, batch.len());
                let watch = &mut |ended| watch(u64::from(done) + ended);
                let went = batch.finish(&self.gpu, &mut pace, expected, &mut gathering, watch).await?;
                self.learn(shape, batch.len(), pace);
                match went {
                    SliceProgress::ReplicationEnd(took) => {
                        if let Some(known) = self.known.get_mut(&shape) {
                            known.each = Some(took / batch.len().max(1));
                        }
                        break;
                    }
                    SliceProgress::Stopped => return Ok(None),
                    SliceProgress::Slow => {
                        looks -= 1;
                        chosen = self.try_mappings(&given, work, ChoiceReason::Again).await?;
                        // Steps of a team differ from other steps, so a batch that starts with a
                        // team also ends with it, and vice versa.
                        let team = |chosen: &MappingChoice| chosen.mapping == Mapping::Team;
                        if team(&serves) == team(&chosen) {
                            serves = chosen.clone();
                            shape = self.sized(serves.mapping, work.jobs());
                            let kernel = self.known(shape)?.kernel.clone();
                            batch.serve(&self.gpu, &kernel, shape, &given)?;
                        } else {
                            looks = 0;
                        }
                    }
                }
            }
            done += batch.len();
            self.chosen = Some(serves);
            self.kept.batch = Some(batch);
        }
        let gathered = gathering.done(&self.gpu).await?;
        // The memory of the last batch has served all batches of this run; it is cached unless it
        // is too large.
        self.kept.batch = self.kept.batch.take().filter(|batch| batch.bytes() <= KEPT_BYTES);
        Results::new(&self.model, &self.schema, &points, experiment, gathered).map(Some)
    }

    /// The most replications of a batch.
    fn part(&self, shape: Shape, jobs: u32) -> u32 {
        let each = self.known.get(&shape).and_then(|known| known.each);
        match jobs / 2 >= PART && each.is_some_and(|each| each.saturating_mul(jobs) <= SHORT) {
            true => PART,
            false => u32::MAX,
        }
    }

    /// The first replications of an experiment, as many as fit the device's memory together, for an
    /// application that drives them itself.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn batch(
        &mut self,
        params: &M::Params,
        experiment: &Experiment,
    ) -> Result<Batch<M::Output>, ReplicationError> {
        let replications = 0..experiment.replications;
        check_steps(MOST_STEPS, self.options.max_steps)?;
        let points = points(&self.model, &self.schema, params, experiment, &replications)?;
        let work = Work::new(experiment, &replications, experiment.design.len(), self.options.max_steps);
        let given = self.give(&points)?;
        let shape = self.shape(work.jobs());
        self.make(shape, &given, work)
    }

    /// The mapping of the last run (at its end, if it changed), and why. `None` before the first
    /// run.
    pub fn chosen(&self) -> Option<&MappingChoice> {
        self.chosen.as_ref()
    }

    /// The mapping and the workgroup size for this many replications. [`Mapping::Auto`] is one
    /// invocation each, until a run of a similar number, below 32,768, has tried the others.
    #[doc(hidden)]
    pub fn shape(&self, jobs: u32) -> Shape {
        let mapping = match self.options.mapping {
            Mapping::Auto => self.fastest.get(&size(jobs)).map_or(Mapping::Thread, |chosen| chosen.mapping),
            chosen => chosen,
        };
        self.sized(mapping, jobs)
    }

    fn sized(&self, mapping: Mapping, jobs: u32) -> Shape {
        let usual = Shape::usual(&self.gpu, mapping, jobs, self.schema.tabled);
        Shape { group_size: self.options.group_size.unwrap_or(usual.group_size), ..usual }
    }

    fn make(
        &mut self,
        shape: Shape,
        given: &BatchInputs<M::Params>,
        work: Work,
    ) -> Result<Batch<M::Output>, ReplicationError> {
        let kernel = self.known(shape)?.kernel.clone();
        Batch::new(&self.gpu, &kernel, shape, &self.schema, given, work)
    }

    fn known(&mut self, shape: Shape) -> Result<&ShapeCost, ReplicationError> {
        Ok(match self.known.entry(shape) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let kernel = shape.kernel(&self.gpu, &self.model, self.trusted)?;
                place.insert(ShapeCost { kernel, pace: None, each: None })
            }
        })
    }

    /// Compiles the kernel of many replications.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn compile(&mut self) -> Result<(), ReplicationError> {
        let shape = self.shape(MANY);
        self.known(shape).map(|_| ())
    }

    fn learn(&mut self, shape: Shape, jobs: u32, pace: Pace) {
        if let Some(known) = self.known.get_mut(&shape) {
            known.pace = Some((jobs, pace));
        }
    }

    /// Starts with the slices of the last batch of this shape. If that was smaller, a step may take
    /// proportionally longer now.
    fn pace(&self, shape: Shape, jobs: u32) -> Pace {
        match self.known.get(&shape).and_then(|known| known.pace.as_ref()) {
            Some((known, pace)) => pace.clone().slower(jobs.div_ceil((*known).max(1))),
            None => Pace::new(self.options.max_steps),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::PART;
    use crate::gpu::{Gpu, STAGING_BYTES};
    use crate::models::Mm1;
    use crate::replication::{CpuEngine, Design, Engine, Experiment, Mapping, Model, Options};

    /// Parts end within a point and contain ends of points, and replications fail in several of
    /// them. One piece would exceed a piece of staging memory.
    #[test]
    fn many_short_replications_go_in_parts_and_keep_their_bits() {
        // 4 steps are 32 clients, so 33 are too many.
        let design = Design::default().cross("clients", [2, 33, 3]).unwrap();
        let each = 350_123;
        let params = Mm1::default().params(0.8, 1.0, 1).unwrap();
        let experiment = Experiment::new(design, each, 5);
        let options = Options::default().mapping(Mapping::Thread).max_steps(4);
        let cpu = CpuEngine::new(Mm1::default(), options).unwrap();
        let expected = cpu.run(&params, &experiment).unwrap();
        assert!(3 * u64::from(each) * (8 + size_of::<<Mm1 as Model>::Output>() as u64) > STAGING_BYTES);
        let gpu = Gpu::for_test();
        let mut engine = Engine::new(&gpu, Mm1::default(), options).unwrap();
        let shape = engine.shape(3 * each);
        engine.known(shape).unwrap();
        for (took, part) in [(Some(Duration::MAX), u32::MAX), (Some(Duration::ZERO), PART)] {
            assert_eq!(engine.part(shape, 3 * each), u32::MAX, "nothing is known");
            engine.known.get_mut(&shape).unwrap().each = took;
            assert_eq!(engine.part(shape, 3 * each), part);
            assert_eq!(engine.part(shape, 2 * PART - 1), u32::MAX);
            let results = engine.run(&params, &experiment).unwrap();
            assert_eq!(results.fingerprint, expected.fingerprint, "{took:?}");
            assert!(results.outputs == expected.outputs, "{took:?}");
            for (point, (seen, known)) in results.observations.iter().zip(&expected.observations).enumerate()
            {
                assert_eq!(seen.columns(), known.columns(), "{took:?}, point {point}");
                let failures = seen.failures().count();
                assert_eq!(failures, if point == 1 { each as usize } else { 0 }, "{took:?}, point {point}");
            }
            // The next run starts with the knowledge of the last one.
            let learnt = engine.known.get_mut(&shape).unwrap().each.take();
            assert!(learnt.is_some() && learnt != took, "{took:?}");
        }
    }
}
