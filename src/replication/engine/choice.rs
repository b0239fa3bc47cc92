//! What [`Mapping::Auto`] chooses.

use super::{Engine, MANY};
use crate::gpu::GpuError;
use crate::replication::batch::Given;
use crate::replication::engine::MAX_STEPS;
use crate::replication::trial::{SLICES, Trial};
use crate::replication::work::Work;
use crate::replication::{Chosen, Mapping, Model, ReplicationError, Why};

impl<M: Model> Engine<M> {
    /// The mapping for a run.
    pub(super) async fn choose(
        &mut self,
        given: &Given<M::Params>,
        work: Work,
    ) -> Result<Chosen, ReplicationError> {
        let without_trial = |mapping, why| Ok(Chosen { mapping, why, speeds: Vec::new() });
        match (self.mapping, self.fastest.get(&size(work.jobs()))) {
            (Mapping::Auto, _) if work.jobs() >= MANY => without_trial(Mapping::Thread, Why::Many),
            (Mapping::Auto, Some(known)) => Ok(known.clone()),
            (Mapping::Auto, None) => self.try_mappings(given, work, Why::Fastest).await,
            (asked, _) => without_trial(asked, Why::Asked),
        }
    }

    /// Finds the fastest mapping for about as many replications: slices of all of them in turn, so that whatever else the machine does meets all alike.
    pub(super) async fn try_mappings(
        &mut self,
        given: &Given<M::Params>,
        work: Work,
        why: Why,
    ) -> Result<Chosen, ReplicationError> {
        let jobs = work.jobs();
        let software = self.gpu.on_processor();
        let mut candidates = vec![Mapping::Thread];
        if !software {
            candidates.push(Mapping::Warp);
        }
        // With a bound of its own a cooperative run could fail other replications, and a trial must not change results.
        if self.model.team_source().is_some() && self.max_steps == MAX_STEPS {
            candidates.push(Mapping::Cooperative);
        }
        let mut chosen = Chosen { mapping: Mapping::Thread, why, speeds: Vec::new() };
        if software {
            chosen.why = Why::Software;
        }
        if candidates.len() > 1 {
            let mut trials = Vec::new();
            for mapping in candidates {
                let shape = self.sized(mapping, jobs);
                let batch = match self.make(shape, given, work) {
                    // There is room for one at a time, perhaps: a trial must not end a run.
                    Err(ReplicationError::Gpu(GpuError::OutOfMemory { .. })) => break,
                    made => made?,
                };
                let pace = self.pace(shape, batch.len());
                trials.push((shape, Trial::new(batch, pace)));
            }
            for _ in 0..SLICES {
                for (_, trial) in &mut trials {
                    trial.slice(&self.gpu).await?;
                }
                if trials.iter().all(|(_, trial)| trial.seen()) {
                    break;
                }
            }
            for (shape, trial) in trials {
                chosen.speeds.push((shape.mapping, trial.speed()));
                self.learn(shape, trial.jobs(), trial.pace);
            }
            chosen.mapping = fastest(&chosen.speeds, software);
        }
        log::info!("replications of {}: {chosen}", self.model.source().name());
        self.fastest.insert(size(jobs), chosen.clone());
        Ok(chosen)
    }
}

/// Numbers of replications for which one mapping is the fastest: about as many.
pub(super) fn size(jobs: u32) -> u32 {
    jobs.max(1).ilog2()
}

/// The mapping of the highest speed. A processor that plays a device runs the invocations of a workgroup one after the other or in the lanes of its
/// vectors, so that a team has nothing but its barriers to show for itself: it has to be twice as fast.
fn fastest(speeds: &[(Mapping, f64)], software: bool) -> Mapping {
    let weight = |mapping| if software && mapping != Mapping::Thread { 0.5 } else { 1.0 };
    let better = |best: (Mapping, f64), &(mapping, speed): &(Mapping, f64)| {
        let speed = speed * weight(mapping);
        if speed > best.1 { (mapping, speed) } else { best }
    };
    speeds.iter().fold((Mapping::Thread, 0.0), better).0
}

#[cfg(test)]
mod tests {
    use super::{fastest, size};
    use crate::gpu::Gpu;
    use crate::models::{Mm1, Workshop, WorkshopParams};
    use crate::replication::{Chosen, CpuEngine, Design, Engine, Experiment, Mapping, Why};

    #[test]
    fn teams_of_a_processor_have_to_be_much_faster() {
        let speeds =
            |warp, team| vec![(Mapping::Thread, 2.0), (Mapping::Warp, warp), (Mapping::Cooperative, team)];
        assert_eq!(fastest(&speeds(1.0, 1.0), false), Mapping::Thread);
        assert_eq!(fastest(&speeds(2.1, 1.0), false), Mapping::Warp);
        assert_eq!(fastest(&speeds(2.1, 2.2), false), Mapping::Cooperative);
        assert_eq!(fastest(&speeds(2.1, 3.9), true), Mapping::Thread);
        assert_eq!(fastest(&speeds(2.1, 4.1), true), Mapping::Cooperative);
        assert_eq!(fastest(&[], true), Mapping::Thread);
    }

    /// A team serves many clients in a step: found without a bound, it would let replications through that a bound is to fail.
    #[test]
    fn a_bound_forgets_what_was_found_without_one() {
        let model = Mm1::default();
        let params = model.params(0.8, 1.0, 41).unwrap();
        let experiment = Experiment::new(Design::default(), 9, 5);
        let mut engine = Engine::new(&Gpu::for_test(), model).unwrap();
        let found = Chosen { mapping: Mapping::Cooperative, why: Why::Fastest, speeds: Vec::new() };
        engine.fastest.insert(size(9), found);
        let mut engine = engine.with_max_steps(5);
        let seen = engine.run(&params, &experiment).unwrap();
        assert_eq!(seen.observations[0].failures().len(), 9);
        assert_ne!(engine.chosen().map(|chosen| chosen.mapping), Some(Mapping::Cooperative));
    }

    /// Whatever the trial said, a run that is slower looks again, goes on with another mapping where it stands, and gives the same bits.
    #[test]
    fn a_run_changes_its_mapping_on_the_way_and_keeps_its_bits() {
        let params = WorkshopParams { jobs: 3000, operation: 1000 };
        let experiment = Experiment::new(Design::default(), 40, 5);
        let expected = CpuEngine::new(Workshop).unwrap().run(&params, &experiment).unwrap();
        for mapping in [Mapping::Warp, Mapping::Thread] {
            let mut engine = Engine::new(&Gpu::new().unwrap(), Workshop).unwrap();
            // Faster than anything is.
            let promised = Chosen { mapping, why: Why::Fastest, speeds: vec![(mapping, f64::INFINITY)] };
            engine.fastest.insert(size(40), promised.clone());
            let results = engine.run(&params, &experiment).unwrap();
            assert_eq!(results.fingerprint, expected.fingerprint, "{mapping}");
            let chosen = engine.chosen().unwrap();
            assert!(matches!(chosen.why, Why::Again | Why::Software), "{chosen}");
            // What was found is what later runs begin with.
            assert_eq!(engine.shape(40).mapping, chosen.mapping);
        }
    }
}
