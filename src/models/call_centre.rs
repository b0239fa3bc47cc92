//! Erlang-A: several servers, and customers whose patience ends.

use super::{MOST_ROOM, ModelError, mean_time, mean_units};
use crate::gpu::Source;
use crate::pdes::{Capacity, Model, Totals};
use crate::statistics::{Tally, TimeAverage};
use crate::time::{Resolution, Ticks};
use std::borrow::Cow;

/// Call centres, each M/M/c+M or Erlang-A: calls arrive at exponential intervals and are answered
/// in order, for exponential times, by a number of agents. A waiting call hangs up after an
/// exponential time of patience.
///
/// Every LP is an independent call centre, so a run has as many independent observations as LPs.
/// The steady state is [`theory::ErlangA`](crate::statistics::theory::ErlangA). WGSL:
/// `shaders/models/call_centre.wgsl`, which shows a waiting line in LP memory that customers leave
/// from the middle.
///
/// ```
/// use eventhorizon::models::CallCentre;
/// use eventhorizon::pdes::{CpuSimulation, Options, Until};
/// use eventhorizon::time::Resolution;
///
/// let minutes = Resolution::default();
/// // 4 call centres of 5 agents: 4 calls a minute, which take a minute each; patience lasts 2 minutes. At most 64 in the line.
/// let model = CallCentre::new(4, 5, 4.0, 1.0, 0.5, 64, minutes)?;
/// let mut simulation = CpuSimulation::new(&model, Options::default().seed(1))?;
/// simulation.run(Until::time(minutes.ticks(100.0)?))?;
/// let answered: u64 = simulation.states().iter().map(|state| state.served.count()).sum();
/// assert!((1200..1700).contains(&answered));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallCentre {
    centres: u32,
    room: u32,
    params: CallCentreParams,
    capacity: Capacity,
    resolution: Resolution,
}

/// The WGSL `struct Params` of [`CallCentre`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct CallCentreParams {
    /// Mean time between calls.
    pub mean_interarrival: Ticks,
    /// Mean service time.
    pub mean_service: Ticks,
    /// Mean time that a call waits before it hangs up.
    pub mean_patience: Ticks,
    /// End of the warm-up, when statistics begin.
    pub warm_up: Ticks,
    /// Agents.
    pub servers: u32,
    /// Zero.
    pub unused: u32,
}

/// The WGSL `struct State` of [`CallCentre`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct CallCentreState {
    /// Waiting times of answered calls, recorded at the answer: zero with a free agent.
    pub served: Tally,
    /// Waiting times of abandoned calls, recorded when they hang up.
    pub abandoned: Tally,
    /// Number of waiting calls.
    pub waiting: TimeAverage,
    /// Busy agents.
    pub busy: u32,
    /// The ticket at the head of the line.
    pub head: u32,
    /// The ticket of the next call that waits.
    pub tail: u32,
    /// Zero.
    pub unused: u32,
}

/// The WGSL `struct Output` of [`CallCentre`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct CallCentreOutput {
    /// Waiting times of answered calls.
    pub served: Tally,
    /// Waiting times of abandoned calls.
    pub abandoned: Tally,
    /// Number of waiting calls, up to now.
    pub waiting: TimeAverage,
}

impl CallCentre {
    /// `centres` call centres of `servers` agents each. Rates are per unit of time, the service
    /// rate for one agent, the abandonment rate for one waiting call. `room` bounds the waiting
    /// line, including abandoned calls that have not been skipped yet; a run with too little room
    /// ends with a [`Fault`](crate::pdes::Fault).
    ///
    /// # Errors
    /// [`ModelError`], naming the value.
    pub fn new(
        centres: u32,
        servers: u32,
        arrival_rate: f64,
        service_rate: f64,
        abandonment_rate: f64,
        room: u32,
        resolution: Resolution,
    ) -> Result<Self, ModelError> {
        if servers == 0 {
            return Err(ModelError::setting("number of servers", servers, "choose at least 1"));
        }
        if !room.is_power_of_two() || room > MOST_ROOM {
            let remedy = "choose a power of two, at most 1048576 (2^20): 64, say";
            return Err(ModelError::setting("room", room, remedy));
        }
        let params = CallCentreParams {
            mean_interarrival: mean_time("arrival rate", arrival_rate, resolution)?,
            mean_service: mean_time("service rate", service_rate, resolution)?,
            mean_patience: mean_time("abandonment rate", abandonment_rate, resolution)?,
            warm_up: Ticks::ZERO,
            servers,
            unused: 0,
        };
        // The next arrival, a completion for each agent, and the ends of patience of calls that
        // waited, answered or not. If all calls had to wait, the number of the latter would be that
        // of M/M/infinity: a Poisson variable.
        let patience = Capacity::poisson(arrival_rate / abandonment_rate, 0.0);
        let queue = patience.queue.saturating_add(servers).saturating_add(1);
        Ok(Self { centres, room, params, capacity: Capacity { queue, mailbox: 1 }, resolution })
    }

    /// The same model with statistics that begin at `warm_up`.
    #[must_use]
    pub fn with_warm_up(mut self, warm_up: Ticks) -> Self {
        self.params.warm_up = warm_up;
        self
    }

    /// The same model with other capacities.
    #[must_use]
    pub fn with_capacity(self, capacity: Capacity) -> Self {
        Self { capacity, ..self }
    }
}

impl Model for CallCentre {
    type State = CallCentreState;
    type Params = CallCentreParams;
    type Payload = [u32; 2];
    type Output = CallCentreOutput;

    fn name(&self) -> &str {
        "call centre"
    }

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/call_centre.wgsl")
    }

    fn lps(&self) -> u32 {
        self.centres
    }

    fn lookahead(&self) -> Ticks {
        Ticks::NEVER
    }

    fn params(&self) -> CallCentreParams {
        self.params
    }

    fn memory_rows(&self) -> u32 {
        self.room
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// Over all call centres: `wait`, the mean waiting time of answered calls, in units of time;
    /// `abandoned`, the share of abandoned calls among abandoned and answered ones; `waiting`, the
    /// average number of waiting calls in a call centre.
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let (served, abandoned) = (totals.tally("served"), totals.tally("abandoned"));
        let [answered, lost] =
            [&served, &abandoned].map(|tally| tally.map_or(f64::NAN, |tally| tally.count() as f64));
        let waiting = totals.time_average("waiting").and_then(|waiting| waiting.mean());
        vec![
            ("wait".into(), mean_units(self.resolution, served.as_ref())),
            ("abandoned".into(), lost / (answered + lost)),
            ("waiting".into(), waiting.unwrap_or(f64::NAN)),
        ]
    }
}
