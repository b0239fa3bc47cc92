//! The playground: a network or a process model in TOML, run in more and more replications.

use eventhorizon::Backend;
use eventhorizon::facility::{Facility, Follow, Network, Visit, plot};
use eventhorizon::gpu::Gpu;
use eventhorizon::process::{CompiledProcess, NetworkProcess, ProcessModel};
use eventhorizon::{facility, process};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::reported;

/// Events of the run that is shown in motion: a minute or two of it.
const SHOWN_EVENTS: f64 = 1200.0;
/// Most of its customers that one source sends.
const SHOWN_CUSTOMERS: u32 = 1000;
/// Parts of a replication of a process model that is drawn over time.
const PARTS: u32 = 200;
/// The confidence level of intervals.
const LEVEL: f64 = 0.95;

/// A description, and where it runs.
#[wasm_bindgen]
pub struct Playground {
    model: Model,
    /// `None` for the CPU.
    gpu: Option<Gpu>,
    seed: u64,
}

/// A compiled description, with the end of its replications and of their warm-up.
enum Model {
    Network(Box<Facility>, [f64; 2]),
    /// A network that runs as a process model.
    Translated(Box<NetworkProcess>, [f64; 2]),
    Process(Box<CompiledProcess>, [f64; 2]),
}

impl Model {
    fn new(toml: &str) -> Result<Self, JsError> {
        let remedy =
            "the description has no `until`; write how long a replication runs, such as `until = 10000`";
        if is_process(toml) {
            let mut model = ProcessModel::from_toml(toml).map_err(reported)?;
            let until = model.until.ok_or_else(|| reported(remedy))?;
            let warm_up = *model.warm_up.get_or_insert(until / 10.0);
            return Ok(Self::Process(Box::new(model.compile().map_err(reported)?), [until, warm_up]));
        }
        let network = Network::from_toml(toml).map_err(reported)?;
        let until = network.until.ok_or_else(|| reported(remedy))?;
        let times = [until, network.warm_up.unwrap_or(until / 10.0)];
        match network.compile() {
            Err(error) if error.needs_process() => {
                Ok(Self::Translated(Box::new(NetworkProcess::new(&network).map_err(reported)?), times))
            }
            facility => Ok(Self::Network(Box::new(facility.map_err(reported)?), times)),
        }
    }
}

/// Whether a description is of a process model, which has entities. It need not be valid.
fn is_process(toml: &str) -> bool {
    toml.lines().any(|line| {
        let line = line.trim_start().trim_start_matches('[').trim_start();
        line.strip_prefix("entity").is_some_and(|rest| rest.trim_start().starts_with(['.', ']', '=']))
    })
}

/// Checks a description. The error is that of a run.
#[wasm_bindgen]
pub fn check(toml: &str) -> Result<(), JsError> {
    Model::new(toml).map(|_| ())
}

#[wasm_bindgen]
impl Playground {
    /// Reads a description. Its replications run on the GPU, or on the CPU.
    pub async fn open(toml: String, seed: u32, on_cpu: bool) -> Result<Playground, JsError> {
        let model = Model::new(&toml)?;
        let gpu = if on_cpu { None } else { Some(Gpu::open().await.map_err(reported)?) };
        Ok(Self { model, gpu, seed: seed.into() })
    }

    /// The report of that many replications as JSON. That of a network has a drawing of it in
    /// `picture`.
    pub async fn run(&self, replications: u32) -> Result<String, JsError> {
        let backend = self.gpu.as_ref().map_or(Backend::Cpu, Backend::Gpu);
        let value = match &self.model {
            Model::Network(facility, [until, warm_up]) => {
                let study = facility::Study::new(replications, *until, *warm_up).seed(self.seed);
                let report = facility.study(&study).backend(backend).run_async().await.map_err(reported)?;
                let mut value = serde_json::to_value(&report).map_err(reported)?;
                value["kind"] = "network".into();
                // A large network has results and no picture.
                value["picture"] = plot::network(facility, &report).ok().into();
                value
            }
            Model::Translated(network, [until, warm_up]) => {
                let study = facility::Study::new(replications, *until, *warm_up).seed(self.seed);
                let plan = network.study(&study).map_err(reported)?;
                let run = network.compiled().study(&plan).backend(backend).run_async();
                let report = network.report(&study, &run.await.map_err(reported)?).map_err(reported)?;
                let mut value = serde_json::to_value(&report).map_err(reported)?;
                value["kind"] = "network".into();
                value
            }
            Model::Process(compiled, [until, warm_up]) => {
                let study = process::Study::new(replications, *until, *warm_up).seed(self.seed);
                let results = compiled.study(&study).backend(backend).run_async().await.map_err(reported)?;
                let report = results.report(LEVEL).map_err(reported)?;
                let adapter = self.gpu.as_ref().map_or("the CPU", |gpu| &gpu.info().name);
                json!({
                    "kind": "process",
                    "model": compiled.model().name,
                    "unit": compiled.model().unit,
                    "replications": results.replications,
                    "events": results.events,
                    "seconds": results.seconds,
                    "adapter": adapter,
                    "fingerprint": format!("{:016x}", results.fingerprint),
                    "warnings": results.warnings(),
                    "results": report.rows.iter().map(row).collect::<Vec<_>>(),
                })
            }
        };
        Ok(value.to_string())
    }

    /// The begin of the first replication, to be shown over time, as JSON: of a network its
    /// customers and where they go in its picture, of a process model the averages
    /// of its parts. `rate` is the number of events in a unit of time. `null` if there is nothing to
    /// show.
    pub async fn course(&self, rate: f64) -> Result<String, JsError> {
        let value = match &self.model {
            Model::Network(facility, [until, _]) => {
                let end = if rate > 0.0 { until.min(SHOWN_EVENTS / rate) } else { *until };
                let study = facility::Study::new(1, end, 0.0).seed(self.seed);
                let visits = facility.trace(&study, Follow::first(SHOWN_CUSTOMERS)).run_async().await;
                match (plot::places(facility), visits) {
                    (Ok(places), Ok(visits)) => json!({
                        "end": end,
                        "unit": facility.network().unit,
                        "visits": moves(&places, &visits),
                        "places": places,
                    }),
                    _ => Value::Null,
                }
            }
            Model::Translated(..) => Value::Null,
            Model::Process(compiled, [until, warm_up]) => {
                let study = process::Study::new(1, *until, *warm_up).seed(self.seed);
                json!({ "timeline": compiled.timeline(&study, 0, PARTS).map_err(reported)? })
            }
        };
        Ok(value.to_string())
    }
}

/// A row of a process model's results, in the form of those of networks.
fn row(row: &eventhorizon::statistics::Row) -> Value {
    let factors = row.factors.iter().map(|(name, value)| format!("{name} = {value}"));
    let half = row.half_width;
    json!({
        "node": factors.collect::<Vec<_>>().join(", "),
        "measure": row.name,
        "mean": row.mean,
        "half_width": half,
        "lower": row.lower.or_else(|| row.mean.zip(half).map(|(mean, half)| mean - half)),
        "upper": row.upper.or_else(|| row.mean.zip(half).map(|(mean, half)| mean + half)),
        "theory": row.theory,
    })
}

/// Visits as lists: the customer, its class, the node, arrival, begin of service, departure,
/// outcome, and the node where the customer began.
fn moves(places: &plot::Places, visits: &[Visit]) -> Vec<Value> {
    let node = |name: &str| places.nodes.iter().position(|node| node.name == name);
    let list = |visit: &Visit| {
        let Visit { customer, class, arrived, began, left, outcome, .. } = visit;
        json!([customer, class, node(&visit.node), arrived, began, left, outcome, node(&visit.from)])
    };
    visits.iter().map(list).collect()
}
