//! An engine of replications that runs wherever results are expected first.

use std::ops::{ControlFlow, Range};

use web_time::Instant;

use super::results::some;
use super::{
    CpuEngine, Engine, Experiment, Mapping, Model, Options, Pairing, ReplicationError, Results, Sequential,
    Stopping,
};
use crate::backend::{Backend, Chooser, Kind, Place};
use crate::gpu::Gpu;

/// The same experiments as [`Engine`] and [`CpuEngine`], on the device, the CPU, or first on the
/// CPU and then on a device that a thread opens meanwhile: see [`Backend`]. Results are the same
/// bits.
#[derive(Debug)]
pub struct AnyEngine<'g, M: Model> {
    chooser: Chooser<'g>,
    model: M,
    options: Options,
    cpu: Option<CpuEngine<M>>,
    device: Option<Engine<M>>,
}

impl<'g, M: Model + Clone + Send + Sync + 'static> AnyEngine<'g, M> {
    /// Creates an engine for a model. A mapping is a way to use a device.
    ///
    /// # Errors
    /// As [`CpuEngine::new`] and [`Engine::new`].
    pub fn new(backend: Backend<'g>, model: M, options: Options) -> Result<Self, ReplicationError> {
        let backend = backend.for_wgsl().on_device_if(options.mapping != Mapping::Auto);
        let (cpu, device) = match backend.is_device() {
            true => (None, backend.gpu().map(|gpu| Engine::new(gpu, model.clone(), options)).transpose()?),
            false => (Some(CpuEngine::new(model.clone(), options)?), None),
        };
        let compiled = model.clone();
        let chooser = Chooser::new(backend, Kind::Replications).compiling(move |gpu: &Gpu| {
            // What fails here fails again with the replications.
            if let Ok(mut engine) = Engine::new(gpu, compiled.clone(), options) {
                let _ = engine.compile();
            }
        });
        Ok(Self { chooser, model, options, cpu, device })
    }

    /// The device's engine, if it made replications.
    pub fn device(&self) -> Option<&Engine<M>> {
        self.device.as_ref()
    }

    /// Makes some replications of each point. `watch` gets the number of those that ended, of all
    /// points; if it stops them, the results are those of the first replications.
    ///
    /// # Errors
    /// As [`Engine::run`], and [`ReplicationError::Stopped`] where `watch` stops it before a
    /// replication of each point has ended.
    pub fn run(
        &mut self,
        params: &M::Params,
        experiment: &Experiment,
        range: Range<u32>,
        mut watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Results<M::Output>, ReplicationError> {
        let width = experiment.design.len();
        let mut all: Option<Results<M::Output>> = None;
        let (mut next, mut stopped) = (range.start, false);
        while next < range.end && !stopped {
            let (place, count) = self.chooser.next(range.end - next, width);
            // Antithetic pairs stay together.
            let even = u32::from(experiment.pairing == Pairing::Antithetic) * (count % 2);
            let part = next..next.saturating_add(count + even).min(range.end);
            let (begun, before) = (Instant::now(), u64::from(next - range.start) * width as u64);
            let watched = |ended: u64| {
                let flow = watch(before + ended);
                stopped |= flow.is_break();
                flow
            };
            let made = match place {
                Place::Host => {
                    let cpu = match &mut self.cpu {
                        Some(cpu) => cpu,
                        none => none.insert(CpuEngine::new(self.model.clone(), self.options)?),
                    };
                    cpu.replicate(params, experiment, part, Some(watched))?
                }
                Place::Device(gpu) => {
                    let engine = match &mut self.device {
                        Some(engine) => engine,
                        none => none.insert(Engine::new(gpu, self.model.clone(), self.options)?),
                    };
                    pollster::block_on(engine.replicate(params, experiment, part, Some(watched)))?
                }
            };
            let Some(made) = made else { break };
            let replications = made.observations[0].replications();
            self.chooser.took(place, replications * width, begun.elapsed());
            next += u32::try_from(replications).expect("a part of the range");
            match &mut all {
                None => all = Some(made),
                Some(all) => all.append(made)?,
            }
        }
        all.ok_or(ReplicationError::Stopped)
    }

    /// The same with as many replications as the columns need to be as precise as `stopping`
    /// requires.
    ///
    /// # Errors
    /// As [`AnyEngine::run`].
    pub fn run_precisely(
        &mut self,
        params: &M::Params,
        experiment: &Experiment,
        (stopping, columns): (&Stopping, &[&str]),
        mut watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Sequential, ReplicationError> {
        let points = experiment.design.len() as u64;
        // Nothing in it waits.
        pollster::block_on(Sequential::run(
            stopping,
            experiment.pairing,
            columns,
            async |range: Range<u32>| {
                let (first, before) = (range.start, u64::from(range.start) * points);
                match self.run(params, experiment, range, |ended| watch(before + ended)) {
                    Err(ReplicationError::Stopped) => some::<M::Output>(None, first),
                    made => some(Some(made?), first),
                }
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OnDemand;
    use crate::models::Mm1;
    use crate::replication::Design;

    #[test]
    fn replications_move_to_the_device_after_any_number_and_stay_the_same() {
        let gpu = Gpu::for_test();
        let params = Mm1::default().params(0.8, 1.0, 30).unwrap();
        let design = Design::default().cross("clients", [30, 40, 50]).unwrap();
        let options = Options::default();
        let cpu = CpuEngine::new(Mm1::default(), options).unwrap();
        for experiment in [
            Experiment::new(design.clone(), 50, 3),
            Experiment::new(design.clone(), 50, 3).with_antithetic_pairs(),
        ] {
            let expected = cpu.run(&params, &experiment).unwrap();
            for after in [0, 1, 3, 20, 149, 150] {
                let device = OnDemand::from(gpu.clone()).handing_over_after(after);
                let mut engine = AnyEngine::new(Backend::Auto(&device), Mm1::default(), options).unwrap();
                let watch = |_| ControlFlow::Continue(());
                let found = engine.run(&params, &experiment, 0..50, watch).unwrap();
                assert_eq!(engine.device().is_some(), after < 147, "whole replications move: {after}");
                assert_eq!(found.fingerprint, expected.fingerprint, "{after}");
                assert_eq!(
                    format!("{:?}", found.observations),
                    format!("{:?}", expected.observations),
                    "{after}"
                );
                assert_eq!(
                    bytemuck::cast_slice::<_, u8>(&found.outputs),
                    bytemuck::cast_slice::<_, u8>(&expected.outputs),
                    "{after}"
                );
            }
        }
    }
}
