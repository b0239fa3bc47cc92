//! The choice of [`Mapping::Auto`].

use super::{Engine, MANY, size};
use crate::gpu::GpuError;
use crate::gpu::tune::{Budget, Order, Score, Tuner};
use crate::replication::batch::BatchInputs;
use crate::replication::options::MAX_STEPS;
use crate::replication::trial::Trial;
use crate::replication::work::Work;
use crate::replication::{ChoiceReason, Mapping, MappingChoice, Model, ReplicationError};

impl<M: Model> Engine<M> {
    /// The mapping for a run.
    pub(super) async fn choose(
        &mut self,
        given: &BatchInputs<M::Params>,
        work: Work,
    ) -> Result<MappingChoice, ReplicationError> {
        let without_trial = |mapping, why| Ok(MappingChoice { mapping, why, speeds: Vec::new() });
        match (self.options.mapping, self.fastest.get(&size(work.jobs()))) {
            (Mapping::Auto, _) if work.jobs() >= MANY => without_trial(Mapping::Thread, ChoiceReason::Many),
            (Mapping::Auto, Some(known)) => Ok(known.clone()),
            (Mapping::Auto, None) => self.try_mappings(given, work, ChoiceReason::Fastest).await,
            (asked, _) => without_trial(asked, ChoiceReason::Asked),
        }
    }

    /// Finds the fastest mapping for this number of replications: runs slices of all mappings
    /// interleaved, so that other load of the machine affects all of them.
    pub(super) async fn try_mappings(
        &mut self,
        given: &BatchInputs<M::Params>,
        work: Work,
        why: ChoiceReason,
    ) -> Result<MappingChoice, ReplicationError> {
        let jobs = work.jobs();
        let software = self.gpu.is_software();
        let mut candidates = vec![Mapping::Thread];
        if !software {
            candidates.push(Mapping::Warp);
        }
        // With its own bound the run of a team could fail other replications, and a trial must not
        // change results.
        if self.model.team_source().is_some() && self.options.max_steps == MAX_STEPS {
            candidates.push(Mapping::Team);
        }
        let mut chosen = MappingChoice { mapping: Mapping::Thread, why, speeds: Vec::new() };
        if software {
            chosen.why = ChoiceReason::Software;
        }
        if candidates.len() > 1 {
            let mut trials = Vec::new();
            for mapping in candidates {
                let shape = self.sized(mapping, jobs);
                let batch = match self.make(shape, given, work) {
                    // There may be room for one at a time; a trial must not end a run.
                    Err(ReplicationError::Gpu(GpuError::OutOfMemory { .. })) => break,
                    made => made?,
                };
                let pace = self.pace(shape, batch.len());
                trials.push((shape, Trial::new(batch, pace)));
            }
            let mut tuner = tuner(trials.iter().map(|(shape, _)| shape.mapping), software);
            while let Some(turn) = tuner.next() {
                let speed = trials[turn].1.slice(&self.gpu).await?;
                tuner.record(speed.map(|speed| (speed, 1.0)));
            }
            chosen.speeds = tuner.rates().collect();
            chosen.mapping = tuner.best().unwrap_or(chosen.mapping);
            let what = format!("replication mapping of {}", self.model.source().name());
            tuner.log(&what, "draws of a replication");
            for (shape, trial) in trials {
                self.learn(shape, trial.jobs(), trial.pace);
            }
        }
        self.fastest.insert(size(jobs), chosen.clone());
        Ok(chosen)
    }
}

/// A trial takes the median of this many slices, so that other load of the machine hardly matters.
/// It ends after at most [`SLICES`].
const LOOKS: usize = 5;

/// [`Pace`](crate::gpu::Pace) grows by a factor of at most 8, so 11 slices reach any number of
/// steps.
const SLICES: usize = 18;

/// A trial of mappings. A software adapter runs the invocations of a workgroup one after the other
/// or in vector lanes, and a team adds barriers, so another mapping has to be twice as fast there.
fn tuner(mappings: impl Iterator<Item = Mapping>, software: bool) -> Tuner<Mapping> {
    let weight = |mapping| if software && mapping != Mapping::Thread { 0.5 } else { 1.0 };
    let budget = Budget { samples: LOOKS, rounds: SLICES };
    Tuner::new(mappings.map(|mapping| (mapping, weight(mapping))), Order::Rounds, Score::Median, budget)
}

#[cfg(test)]
mod tests {
    use super::super::size;
    use super::{LOOKS, tuner};
    use crate::gpu::Gpu;
    use crate::models::{Mm1, Workshop, WorkshopParams};
    use crate::replication::{
        ChoiceReason, CpuEngine, Design, Engine, Experiment, Mapping, MappingChoice, Options,
    };

    #[test]
    fn teams_of_a_processor_have_to_be_much_faster() {
        let mappings = [Mapping::Thread, Mapping::Warp, Mapping::Team];
        let fastest = |warp, team, software| {
            let mut tuner = tuner(mappings.into_iter(), software);
            let mut turns = 0;
            while let Some(turn) = tuner.next() {
                tuner.record(Some(([2.0, warp, team][turn], 1.0)));
                turns += 1;
            }
            assert_eq!(turns, 3 * LOOKS);
            tuner.best().unwrap()
        };
        assert_eq!(fastest(1.0, 1.0, false), Mapping::Thread);
        assert_eq!(fastest(2.1, 1.0, false), Mapping::Warp);
        assert_eq!(fastest(2.1, 2.2, false), Mapping::Team);
        assert_eq!(fastest(2.1, 3.9, true), Mapping::Thread);
        assert_eq!(fastest(2.1, 4.1, true), Mapping::Team);
    }

    /// A team step serves many clients: chosen without a bound, it would pass replications that a
    /// bound makes fail.
    #[test]
    fn a_bound_forgets_what_was_found_without_one() {
        let model = Mm1::default();
        let params = model.params(0.8, 1.0, 41).unwrap();
        let experiment = Experiment::new(Design::default(), 9, 5);
        let mut engine = Engine::new(&Gpu::for_test(), model, Options::default()).unwrap();
        let found = MappingChoice { mapping: Mapping::Team, why: ChoiceReason::Fastest, speeds: Vec::new() };
        engine.fastest.insert(size(9), found);
        let mut engine = engine.with_options(Options::default().max_steps(5));
        let seen = engine.run(&params, &experiment).unwrap();
        assert_eq!(seen.observations[0].failures().len(), 9);
        assert_ne!(engine.chosen().map(|chosen| chosen.mapping), Some(Mapping::Team));
    }

    /// A run that is slower than its trial repeats the trial, continues with another mapping, and
    /// gives the same bits.
    #[test]
    fn a_run_changes_its_mapping_on_the_way_and_keeps_its_bits() {
        let params = WorkshopParams { jobs: 3000, operation: 1000 };
        let experiment = Experiment::new(Design::default(), 40, 5);
        let expected =
            CpuEngine::new(Workshop, Options::default()).unwrap().run(&params, &experiment).unwrap();
        for mapping in [Mapping::Warp, Mapping::Thread] {
            let mut engine = Engine::new(&Gpu::new().unwrap(), Workshop, Options::default()).unwrap();
            // Faster than any real mapping.
            let promised =
                MappingChoice { mapping, why: ChoiceReason::Fastest, speeds: vec![(mapping, f64::INFINITY)] };
            engine.fastest.insert(size(40), promised.clone());
            let results = engine.run(&params, &experiment).unwrap();
            assert_eq!(results.fingerprint, expected.fingerprint, "{mapping}");
            let chosen = engine.chosen().unwrap();
            assert!(matches!(chosen.why, ChoiceReason::Again | ChoiceReason::Software), "{chosen}");
            // Later runs begin with the new choice.
            assert_eq!(engine.shape(40).mapping, chosen.mapping);
        }
    }
}
