//! A growing number of replications of M/M/1, compared with theory.

use eventhorizon::gpu::Gpu;
use eventhorizon::models::{Mm1, Mm1Params};
use eventhorizon::replication::{CpuEngine, Design, Engine, Experiment, Observations, Options};
use eventhorizon::statistics::theory;
use wasm_bindgen::prelude::*;

use crate::reported;

const SEED: u64 = 1;

/// The mean time in queue of the first clients of an M/M/1 queue that starts empty.
#[wasm_bindgen]
pub struct Replications {
    engine: Runs,
    params: Mm1Params,
    theory: f64,
    observations: Option<Observations>,
    fingerprint: u64,
    done: u32,
}

enum Runs {
    Gpu(Box<Engine<Mm1>>),
    Cpu(CpuEngine<Mm1>),
}

/// The estimate from all replications so far.
#[wasm_bindgen(getter_with_clone)]
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The number of replications so far.
    pub done: u32,
    /// Their mean.
    pub mean: f64,
    /// The half width of the interval at the level 0.95.
    pub half_width: f64,
    /// The value of theory.
    pub theory: f64,
    /// The new observations.
    pub values: Vec<f64>,
    /// The fingerprint of all replications.
    pub fingerprint: String,
}

#[wasm_bindgen]
impl Replications {
    /// Each replication has `clients` clients. The load is below 1. They run on the GPU, or on the
    /// CPU.
    pub async fn open(load: f64, clients: u32, on_cpu: bool) -> Result<Replications, JsError> {
        let model = Mm1::default();
        let params = model.params(load, 1.0, clients).map_err(reported)?;
        let theory = theory::Mm1::new(load, 1.0).map_err(reported)?.time_in_queue_of_first(clients);
        let engine = if on_cpu {
            Runs::Cpu(CpuEngine::new(model, Options::default()).map_err(reported)?)
        } else {
            let gpu = Gpu::open().await.map_err(reported)?;
            Runs::Gpu(Engine::new(&gpu, model, Options::default()).map_err(reported)?.into())
        };
        Ok(Self { engine, params, theory, observations: None, fingerprint: 0, done: 0 })
    }

    /// Makes `count` more replications.
    pub async fn more(&mut self, count: u32) -> Result<Estimate, JsError> {
        let end = self.done.saturating_add(count);
        let experiment = Experiment::new(Design::default(), end, SEED);
        let range = self.done..end;
        let results = match &mut self.engine {
            Runs::Gpu(engine) => engine.experiment(&self.params, &experiment).range(range).run_async().await,
            Runs::Cpu(engine) => engine.experiment(&self.params, &experiment).range(range).run(),
        };
        let results = results.map_err(reported)?;
        self.done = end;
        self.fingerprint = self.fingerprint.wrapping_add(results.fingerprint);
        let new =
            results.observations.into_iter().next().ok_or_else(|| reported("an experiment has a point"))?;
        let column = new.column("time_in_queue").map_err(reported)?;
        let values = (0..column.values.len()).map(|replication| column.values.get(replication)).collect();
        match &mut self.observations {
            None => self.observations = Some(new),
            Some(all) => all.append(new).map_err(reported)?,
        }
        let Some(all) = &self.observations else { unreachable!("it was set") };
        let summary = all.summary("time_in_queue", 0.95).map_err(reported)?;
        Ok(Estimate {
            done: self.done,
            mean: summary.mean.unwrap_or(f64::NAN),
            half_width: summary.interval.map_or(f64::NAN, |interval| interval.half_width),
            theory: self.theory,
            values,
            fingerprint: format!("{:016x}", self.fingerprint),
        })
    }
}
