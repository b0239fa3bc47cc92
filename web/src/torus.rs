//! Simulations of `pdes` that are drawn while they run: a network of queues on a torus, or PHOLD.

use std::mem::size_of;

use eventhorizon::gpu::Gpu;
use eventhorizon::models::{self, Phold};
use eventhorizon::pdes::{CpuSimulation, Model, Options, Progress, Simulation, SimulationError, Until};
use eventhorizon::time::{Resolution, Ticks};
use wasm_bindgen::prelude::*;
use web_sys::OffscreenCanvas;
use web_time::Instant;

use crate::draw::{Canvas, Look};
use crate::reported;

/// The model, its parameters, and the options of the run.
#[wasm_bindgen(getter_with_clone)]
#[derive(Debug, Clone)]
pub struct Settings {
    /// `network` or `phold`.
    pub model: String,
    /// LPs in a row of the square.
    pub side: u32,
    /// Customers of a station, or events of an LP, on average.
    pub load: u32,
    /// Services, or events, per unit of time.
    pub rate: f64,
    /// The least time from an LP to another, in units of time.
    pub lookahead: f64,
    /// The name of a queue design, or empty for the library's choice.
    pub queue: String,
    /// The name of a synchronisation method.
    pub sync: String,
    /// The seed of the random streams.
    pub seed: u32,
}

#[wasm_bindgen]
impl Settings {
    /// The settings at the start of the page.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        let (model, queue, sync) = ("network".to_owned(), String::new(), "auto".to_owned());
        Self { model, side: 64, load: 2, rate: 1.0, lookahead: 0.5, queue, sync, seed: 42 }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl Settings {
    pub(crate) fn network(&self) -> Result<models::Torus, JsError> {
        let customers = self.load.saturating_mul(self.side).saturating_mul(self.side);
        models::Torus::new(self.side, self.side, customers, self.rate, self.lookahead, Resolution::default())
            .map_err(reported)
    }

    pub(crate) fn phold(&self) -> Result<Phold, JsError> {
        let lps = self.side.saturating_mul(self.side);
        Phold::new(lps, self.load, self.rate, self.lookahead, Resolution::default()).map_err(reported)
    }

    /// The least time that a window covers, in ticks.
    pub(crate) fn window(&self) -> u64 {
        Resolution::default().ticks(self.lookahead).map_or(1, Ticks::get).clamp(1, 1 << 40)
    }

    /// The queue length that is drawn brightest, or the ticks after which an event is drawn dark.
    pub(crate) fn scale(&self) -> f32 {
        match &*self.model {
            "phold" => (Resolution::default().ticks_per_unit() as f64 / self.rate) as f32 * 0.5,
            _ => 4.0 * self.load as f32,
        }
    }

    fn options(&self) -> Result<Options, JsError> {
        let queue = match &*self.queue {
            "" => None,
            name => Some(name.parse().map_err(reported)?),
        };
        let sync = self.sync.parse().map_err(reported)?;
        Ok(Options::default().seed(self.seed.into()).queue(queue).sync(sync))
    }
}

enum Run {
    Network(Simulation<models::Torus>),
    Phold(Simulation<Phold>),
}

/// Runs the same expression for either model.
macro_rules! either {
    ($run:expr, $simulation:ident => $what:expr) => {
        match $run {
            Run::Network($simulation) => $what,
            Run::Phold($simulation) => $what,
        }
    };
}

/// A run that is drawn while it continues.
#[wasm_bindgen]
pub struct Torus {
    gpu: Gpu,
    canvas: Canvas,
    settings: Settings,
    run: Run,
    until: Ticks,
    step: u64,
    events: u64,
}

/// The progress of a run.
#[wasm_bindgen(getter_with_clone)]
#[derive(Debug, Clone)]
pub struct Frame {
    /// Events so far.
    pub events: f64,
    /// The simulated time, in units.
    pub time: f64,
    /// Windows so far.
    pub windows: f64,
    /// The time of the last step in milliseconds.
    pub took: f64,
    /// The queue design in use.
    pub queue: String,
    /// The synchronisation in use.
    pub sync: String,
}

/// Milliseconds that a step should take.
const STEP: f64 = 30.0;

/// The ticks of the next step, after one that took `took` milliseconds.
pub(crate) fn next_step(step: u64, took: f64, least: u64) -> u64 {
    let factor = (STEP / took.max(0.1)).clamp(0.5, 2.0);
    ((step as f64 * factor) as u64).clamp(least, 1 << 40)
}

#[wasm_bindgen]
impl Torus {
    /// Starts a run that is drawn on the canvas.
    pub async fn open(canvas: OffscreenCanvas, settings: Settings) -> Result<Torus, JsError> {
        let gpu = Gpu::open().await.map_err(reported)?;
        let canvas = Canvas::new(&gpu, canvas).map_err(reported)?;
        let run = start(&gpu, &settings).await?;
        let step = settings.window();
        Ok(Self { gpu, canvas, settings, run, until: Ticks::ZERO, step, events: 0 })
    }

    /// Starts again with other settings.
    pub async fn restart(&mut self, settings: Settings) -> Result<(), JsError> {
        self.run = start(&self.gpu, &settings).await?;
        (self.until, self.step, self.events) = (Ticks::ZERO, settings.window(), 0);
        self.settings = settings;
        Ok(())
    }

    /// Runs for some milliseconds, and draws.
    pub async fn frame(&mut self) -> Result<Frame, JsError> {
        let begun = Instant::now();
        self.until = self.until.saturating_add(Ticks::new(self.step));
        let until = Until::time(self.until);
        let progress = either!(&mut self.run, run => run.until(until).run_async().await).map_err(reported)?;
        self.events = progress.events;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        // Less than a window costs as much as one.
        self.step = next_step(self.step, took, self.settings.window());
        self.draw().map_err(reported)?;
        Ok(self.reported(&progress, took))
    }

    fn draw(&self) -> Result<(), eventhorizon::gpu::GpuError> {
        let [now, _] = self.until.to_words();
        let (side, scale) = (self.settings.side, self.settings.scale());
        let (states, look) = match &self.run {
            Run::Network(run) => {
                // The level of the time average at the start of a state.
                let (stride, word) = ((size_of::<<models::Torus as Model>::State>() / 4) as u32, 8);
                let look = Look { side, stride, word, is_time: 0, now, scale, unused: [0; 2] };
                (run.states_buffer(), look)
            }
            Run::Phold(run) => {
                let (stride, word) = ((size_of::<<Phold as Model>::State>() / 4) as u32, 1);
                (run.states_buffer(), Look { side, stride, word, is_time: 1, now, scale, unused: [0; 2] })
            }
        };
        self.canvas.draw(&self.gpu, states, look)
    }

    fn reported(&self, progress: &Progress, took: f64) -> Frame {
        let (queue, sync) = either!(&self.run, run => (run.queue().to_string(), run.sync().to_string()));
        let (events, windows) = (progress.events as f64, progress.windows as f64);
        let time = Resolution::default().units(self.until);
        Frame { events, time, windows, took, queue, sync }
    }

    /// The run in its current state, to be compared with the sequential engine; of a long run, its
    /// first events, which are run again.
    pub async fn checked(&self) -> Result<Checked, JsError> {
        let again;
        let run = if self.events < CHECKED {
            &self.run
        } else {
            let mut run = start(&self.gpu, &self.settings).await?;
            let end = first_events(self.until);
            either!(&mut run, run => run.until(end).run_async().await).map_err(reported)?;
            again = run;
            &again
        };
        let fingerprint = either!(run, run => run.fingerprint_async().await).map_err(reported)?;
        Ok(Checked { fingerprint: fingerprint.to_string(), until: self.until.get() })
    }
}

/// The most events that the sequential engine repeats: it has one core here.
const CHECKED: u64 = 200_000;

/// An end of the run, or of its first events.
fn first_events(until: Ticks) -> Until {
    Until { events: CHECKED, ..Until::time(until) }
}

/// The state of a run.
#[wasm_bindgen(getter_with_clone)]
#[derive(Debug, Clone)]
pub struct Checked {
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its end, in ticks.
    pub until: u64,
}

async fn start(gpu: &Gpu, settings: &Settings) -> Result<Run, JsError> {
    let options = settings.options()?;
    Ok(match &*settings.model {
        "phold" => {
            Run::Phold(Simulation::new_async(gpu, &settings.phold()?, options).await.map_err(reported)?)
        }
        _ => Run::Network(Simulation::new_async(gpu, &settings.network()?, options).await.map_err(reported)?),
    })
}

/// The fingerprint of the same run up to `until` (in ticks), or of its first events, on the
/// sequential engine. Blocks, and calls `watch` with the number of executed events.
#[wasm_bindgen]
pub fn sequential(settings: &Settings, until: u64, watch: &js_sys::Function) -> Result<String, JsError> {
    fn run<M: Model>(
        model: &M,
        seed: u64,
        until: u64,
        watch: &js_sys::Function,
    ) -> Result<String, SimulationError> {
        let mut simulation = CpuSimulation::new(model, Options::default().seed(seed))?;
        let progress = simulation
            .until(first_events(Ticks::new(until)))
            .watch(|progress| {
                let _ = watch.call1(&JsValue::NULL, &JsValue::from_f64(progress.events as f64));
            })
            .run()?;
        let _ = progress;
        Ok(simulation.fingerprint().to_string())
    }
    let seed = settings.seed.into();
    match &*settings.model {
        "phold" => run(&settings.phold()?, seed, until, watch).map_err(reported),
        _ => run(&settings.network()?, seed, until, watch).map_err(reported),
    }
}
