//! The run of the first panel where there is no WebGPU: the model runs on the CPU, and
//! JavaScript shows the picture.

use eventhorizon::models::{self, Phold};
use eventhorizon::pdes::{
    Checkpoint, CpuSimulation, Fingerprint, Model, Options, Progress, SimulationError, Until,
};
use eventhorizon::time::{Resolution, Ticks};
use wasm_bindgen::prelude::*;
use web_time::Instant;

use crate::reported;
use crate::torus::{Checked, Frame, Settings, next_step};

/// A run that is saved between steps, because an engine borrows its model.
struct Saved<M: Model> {
    model: M,
    saved: Checkpoint,
    fingerprint: Fingerprint,
}

impl<M: Model> Saved<M> {
    fn new(model: M, seed: u64) -> Result<Self, SimulationError> {
        let run = CpuSimulation::new(&model, Options::default().seed(seed))?;
        let (saved, fingerprint) = (run.checkpoint()?, run.fingerprint());
        drop(run);
        Ok(Self { model, saved, fingerprint })
    }

    /// Runs, and returns the colours of the LPs.
    fn step(
        &mut self,
        until: Ticks,
        colour: impl Fn(&M::State) -> [u8; 4],
    ) -> Result<(Progress, Vec<u8>), SimulationError> {
        let mut run = CpuSimulation::resume(&self.model, &self.saved)?;
        let progress = run.run(Until::time(until))?;
        let picture = run.states().iter().flat_map(colour).collect();
        (self.saved, self.fingerprint) = (run.checkpoint()?, run.fingerprint());
        Ok((progress, picture))
    }
}

enum Run {
    Network(Saved<models::Torus>),
    Phold(Saved<Phold>),
}

impl Run {
    fn new(settings: &Settings) -> Result<Self, JsError> {
        let seed = settings.seed.into();
        Ok(match &*settings.model {
            "phold" => Self::Phold(Saved::new(settings.phold()?, seed).map_err(reported)?),
            _ => Self::Network(Saved::new(settings.network()?, seed).map_err(reported)?),
        })
    }
}

/// A run on the CPU that is drawn while it continues.
#[wasm_bindgen]
pub struct CpuTorus {
    settings: Settings,
    run: Run,
    until: Ticks,
    step: u64,
    picture: Vec<u8>,
}

#[wasm_bindgen]
impl CpuTorus {
    /// Starts a run.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: Settings) -> Result<CpuTorus, JsError> {
        let (run, step) = (Run::new(&settings)?, settings.window());
        Ok(Self { settings, run, until: Ticks::ZERO, step, picture: Vec::new() })
    }

    /// Starts again with other settings.
    pub fn restart(&mut self, settings: Settings) -> Result<(), JsError> {
        *self = Self::new(settings)?;
        Ok(())
    }

    /// Runs for some milliseconds, and draws.
    pub fn frame(&mut self) -> Result<Frame, JsError> {
        let begun = Instant::now();
        self.until = self.until.saturating_add(Ticks::new(self.step));
        let until = self.until;
        let scale = self.settings.scale();
        let stepped = match &mut self.run {
            Run::Network(run) => run.step(until, |state| level(state.number.level() as f32 / scale)),
            Run::Phold(run) => {
                let [now, _] = until.to_words();
                run.step(until, |state| age(now.wrapping_sub(state.last) as f32 / scale))
            }
        };
        let progress;
        (progress, self.picture) = stepped.map_err(reported)?;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        // A short step costs little here, other than on a GPU.
        self.step = next_step(self.step, took, 1);
        let time = Resolution::default().units(until);
        let (queue, sync) = ("event list".to_owned(), "no WebGPU: on the CPU".to_owned());
        let (events, windows) = (progress.events as f64, progress.windows as f64);
        Ok(Frame { events, time, windows, took, queue, sync })
    }

    /// The LPs after the last step, row by row: red, green, blue, opacity.
    #[must_use]
    pub fn picture(&self) -> Vec<u8> {
        self.picture.clone()
    }

    /// The run in its current state.
    #[must_use]
    pub fn checked(&self) -> Checked {
        let fingerprint = match &self.run {
            Run::Network(run) => run.fingerprint,
            Run::Phold(run) => run.fingerprint,
        };
        Checked { fingerprint: fingerprint.to_string(), until: self.until.get() }
    }
}

// The colours of `draw.wgsl`.

fn level(level: f32) -> [u8; 4] {
    let (low, middle, high) = ([0.07, 0.10, 0.25], [0.10, 0.55, 0.55], [0.99, 0.86, 0.25]);
    let twice = 2.0 * level.min(1.0);
    let (from, to, share) = if twice < 1.0 { (low, middle, twice) } else { (middle, high, twice - 1.0) };
    bytes(std::array::from_fn(|i| from[i] + (to[i] - from[i]) * share))
}

fn age(age: f32) -> [u8; 4] {
    let light = (-age).exp();
    bytes([0.05 + 0.9 * light, 0.09 + 0.6 * light * light, 0.2 + 0.3 * light])
}

fn bytes(colour: [f32; 3]) -> [u8; 4] {
    let [red, green, blue] = colour.map(|part: f32| (255.0 * part) as u8);
    [red, green, blue, 255]
}
