//! M/M/c/K: several servers, and limited room.

use bytemuck::{Pod, Zeroable};

use super::mean_ticks;
use crate::gpu::Source;
use crate::replication::{AnalysisError, Model, Observations};
use crate::time::{Resolution, TimeError};

/// `MMCK_MOST_SERVERS`
const MOST_SERVERS: u32 = 8;
/// `MMCK_MOST_WAITING`
const MOST_WAITING: u32 = 24;

/// Clients arrive at several servers with exponential times between them. One that finds the room
/// full is turned away; the others wait in order for the first free server and have exponential
/// service times.
///
/// Columns `turned_away`, `let_in` (clients) and `queue_ticks` (total wait). Derived from them:
/// `blocking`, the share of arrivals that is turned away, and `time_in_queue`, the total wait per
/// arrival in units of time (those turned away count with 0).
///
/// WGSL: `shaders/models/mmck.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mmck {
    /// The length of a tick. The default suits means up to 128 units.
    pub resolution: Resolution,
}

/// Factors of [`Mmck`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct MmckParams {
    /// Mean time between arrivals in ticks, at most 2^27.
    pub mean_interarrival: u32,
    /// Mean service time in ticks, at most 2^27.
    pub mean_service: u32,
    /// Servers, 1 to 8.
    pub servers: u32,
    /// Clients in queue and service together, from `servers` to `servers` + 24.
    pub room: u32,
    /// Arrivals per replication, at least 1.
    pub arrivals: u32,
}

/// Columns of [`Mmck`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct MmckOutput {
    /// Clients that found the room full.
    pub turned_away: u32,
    /// Clients that were let in.
    pub let_in: u32,
    /// Their total time between arrival and start of service, in ticks.
    pub queue_ticks: u64,
}

impl Mmck {
    /// Parameters from rates per unit of time, the service rate for one server.
    ///
    /// # Errors
    /// [`TimeError`] if a rate is not a positive number.
    pub fn params(
        &self,
        arrival_rate: f64,
        service_rate: f64,
        servers: u32,
        room: u32,
        arrivals: u32,
    ) -> Result<MmckParams, TimeError> {
        let mean_interarrival = mean_ticks(self.resolution, arrival_rate)?;
        let mean_service = mean_ticks(self.resolution, service_rate)?;
        Ok(MmckParams { mean_interarrival, mean_service, servers, room, arrivals })
    }
}

impl Model for Mmck {
    type Params = MmckParams;
    type Output = MmckOutput;

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/mmck.wgsl")
    }

    fn check(&self, params: &MmckParams) -> Result<(), String> {
        let MmckParams { mean_interarrival, mean_service, servers, room, arrivals } = *params;
        let longest = 1 << 27;
        for (what, mean) in [("mean_interarrival", mean_interarrival), ("mean_service", mean_service)] {
            if mean > longest {
                return Err(format!(
                    "{what} is {mean} ticks, more than {longest}; choose a resolution with fewer ticks per unit"
                ));
            }
        }
        if !(1..=MOST_SERVERS).contains(&servers) {
            return Err(format!("servers is {servers}; choose 1 to {MOST_SERVERS}"));
        }
        if !(servers..=servers + MOST_WAITING).contains(&room) {
            return Err(format!("room is {room}; choose {servers} to {}", servers + MOST_WAITING));
        }
        match arrivals {
            0 => Err("arrivals is 0; choose at least 1".into()),
            _ => Ok(()),
        }
    }

    fn derive(&self, params: &MmckParams, observations: &mut Observations) -> Result<(), AnalysisError> {
        let arrivals = f64::from(params.arrivals);
        let ticks = f64::from(self.resolution.ticks_per_unit());
        observations.derive("blocking", &["turned_away"], |away| away[0] / arrivals)?;
        observations.derive("time_in_queue", &["queue_ticks"], |sum| sum[0] / (arrivals * ticks))?;
        observations.hide(&["queue_ticks"])
    }
}
