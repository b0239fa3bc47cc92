//! The playground: a network in TOML, run in more and more replications.

use eventhorizon::Backend;
use eventhorizon::facility::{Facility, Network, Study, plot};
use eventhorizon::gpu::Gpu;
use wasm_bindgen::prelude::*;

use crate::reported;

/// A network, and where it runs.
#[wasm_bindgen]
pub struct Playground {
    facility: Facility,
    /// `None` for the sequential engine.
    gpu: Option<Gpu>,
    seed: u32,
    until: f64,
    warm_up: f64,
}

/// Compiles a description, with the end of its replications and of their warm-up.
fn compiled(toml: &str) -> Result<(Facility, f64, f64), JsError> {
    let network = Network::from_toml(toml).map_err(reported)?;
    let remedy = "the description has no `until`; write how long a replication runs, such as `until = 10000`";
    let until = network.until.ok_or_else(|| reported(remedy))?;
    let warm_up = network.warm_up.unwrap_or(until / 10.0);
    Ok((network.compile().map_err(reported)?, until, warm_up))
}

/// Checks a description. The error is that of a run.
#[wasm_bindgen]
pub fn check(toml: &str) -> Result<(), JsError> {
    compiled(toml).map(|_| ())
}

#[wasm_bindgen]
impl Playground {
    /// Reads a description. Its replications run on the GPU, or on the CPU.
    pub async fn open(toml: String, seed: u32, on_cpu: bool) -> Result<Playground, JsError> {
        let (facility, until, warm_up) = compiled(&toml)?;
        let gpu = if on_cpu { None } else { Some(Gpu::open().await.map_err(reported)?) };
        Ok(Self { facility, gpu, seed, until, warm_up })
    }

    /// The report of that many replications as JSON, with a drawing of the network in `picture`.
    pub async fn run(&self, replications: u32) -> Result<String, JsError> {
        let study = Study::new(replications, self.until, self.warm_up).seed(self.seed.into());
        let backend = self.gpu.as_ref().map_or(Backend::Cpu, Backend::Gpu);
        let report = self.facility.study(&study).backend(backend).run_async().await.map_err(reported)?;
        let picture = plot::network(&self.facility, &report).map_err(reported)?;
        let mut value = serde_json::to_value(&report).map_err(reported)?;
        value["picture"] = picture.into();
        Ok(value.to_string())
    }
}
