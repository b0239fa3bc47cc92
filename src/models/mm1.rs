//! M/M/1: one server, exponential times between arrivals and of service.

use bytemuck::{Pod, Zeroable};

use super::mean_ticks;
use crate::gpu::Source;
use crate::replication::{AnalysisError, Model, Observations};
use crate::time::{Resolution, TimeError};

/// The largest mean in ticks: `MM1_LONGEST_MEAN`.
const LONGEST_MEAN: u32 = 1 << 25;

/// Clients arrive at a single server with exponential times between them, wait in order, and have
/// exponential service times.
///
/// Columns `idle_ticks`, `queue_ticks` and `system_ticks` are sums over the clients. Derived from
/// them, as means per client in units of time: `idle_time` (of the server before a client),
/// `time_in_queue`, `time_in_system`. The server is free at time 0, when the first interarrival
/// time begins.
///
/// Team mapping: Lindley's recursion as a max-plus prefix scan. WGSL:
/// `shaders/models/mm1.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mm1 {
    /// The length of a tick. The default suits means up to 32 units.
    pub resolution: Resolution,
}

/// Factors of [`Mm1`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Mm1Params {
    /// Mean time between arrivals in ticks, at most 2^25.
    pub mean_interarrival: u32,
    /// Mean service time in ticks, at most 2^25.
    pub mean_service: u32,
    /// Clients per replication, 1 to 2^30.
    pub clients: u32,
}

/// Columns of [`Mm1`]: sums over the clients, in ticks.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Mm1Output {
    /// Time that the server idles before the last client.
    pub idle_ticks: u64,
    /// Time between arrival and start of service.
    pub queue_ticks: u64,
    /// Time between arrival and end of service.
    pub system_ticks: u64,
}

impl Mm1 {
    /// Parameters from rates per unit of time.
    ///
    /// # Errors
    /// [`TimeError`] if a rate is not a positive number.
    pub fn params(&self, arrival_rate: f64, service_rate: f64, clients: u32) -> Result<Mm1Params, TimeError> {
        let mean_interarrival = mean_ticks(self.resolution, arrival_rate)?;
        let mean_service = mean_ticks(self.resolution, service_rate)?;
        Ok(Mm1Params { mean_interarrival, mean_service, clients })
    }
}

impl Model for Mm1 {
    type Params = Mm1Params;
    type Output = Mm1Output;

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/mm1.wgsl")
    }

    fn team_source(&self) -> Option<Source> {
        Some(crate::wgsl!("../../shaders/models/mm1_team.wgsl"))
    }

    fn check(&self, params: &Mm1Params) -> Result<(), String> {
        let Mm1Params { mean_interarrival, mean_service, clients } = *params;
        for (what, mean) in [("mean_interarrival", mean_interarrival), ("mean_service", mean_service)] {
            if mean > LONGEST_MEAN {
                return Err(format!(
                    "{what} is {mean} ticks, more than {LONGEST_MEAN}; choose a resolution with fewer ticks per unit"
                ));
            }
        }
        if !(1..=1 << 30).contains(&clients) {
            return Err(format!("clients is {clients}; choose 1 to 1073741824 (2^30)"));
        }
        Ok(())
    }

    fn derive(&self, params: &Mm1Params, observations: &mut Observations) -> Result<(), AnalysisError> {
        let scale = 1.0 / (f64::from(params.clients) * f64::from(self.resolution.ticks_per_unit()));
        observations.derive("idle_time", &["idle_ticks"], |sum| sum[0] * scale)?;
        observations.derive("time_in_queue", &["queue_ticks"], |sum| sum[0] * scale)?;
        observations.derive("time_in_system", &["system_ticks"], |sum| sum[0] * scale)?;
        observations.hide(&["idle_ticks", "queue_ticks", "system_ticks"])
    }
}
