//! A closed network of queues on a torus.

use super::{ModelError, mean_time, span, sum};
use crate::gpu::Source;
use crate::pdes::{Capacity, Model, Totals};
use crate::statistics::TimeAverage;
use crate::time::{Resolution, Ticks};
use std::borrow::Cow;

/// A closed network of queues on a torus: a station in each of rows × columns places, and customers
/// that circulate for ever. A station serves them one by one for an exponential time, in the order
/// of their arrival, and sends each to one of its four neighbours at random. The travel time is the
/// lookahead.
///
/// Every LP is a station. The steady state is
/// [`theory::ClosedNetwork`](crate::statistics::theory::ClosedNetwork), exactly, whatever the
/// travel time. WGSL: `shaders/models/torus.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Torus {
    rows: u32,
    travel: Ticks,
    params: TorusParams,
    capacity: Capacity,
    resolution: Resolution,
}

/// The WGSL `struct Params` of [`Torus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct TorusParams {
    /// Mean service time.
    pub mean_service: Ticks,
    /// End of the warm-up, when statistics begin.
    pub warm_up: Ticks,
    /// Stations in a row.
    pub columns: u32,
    /// Customers in the whole network.
    pub customers: u32,
}

/// The WGSL `struct State` of [`Torus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct TorusState {
    /// Customers in the station.
    pub number: TimeAverage,
    /// 1 while it serves, 0 while it is empty.
    pub busy: TimeAverage,
    /// Customers served since the warm-up.
    pub served: u64,
    /// Zero.
    pub unused: u64,
}

/// The WGSL `struct Output` of [`Torus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct TorusOutput {
    /// Customers in the station, up to now.
    pub number: TimeAverage,
    /// 1 while it serves, 0 while it is empty, up to now: the average is the utilisation.
    pub busy: TimeAverage,
    /// Customers served since the warm-up.
    pub served: u64,
    /// Zero.
    pub unused: u64,
}

/// Refuses an invalid size, and a torus without customers.
pub(super) fn check_torus(rows: u32, columns: u32, customers: u32) -> Result<(), ModelError> {
    if rows == 0 || columns == 0 || rows.checked_mul(columns).is_none() {
        let size = format!("{rows} x {columns}");
        return Err(ModelError::setting("size", size, "choose at least 1 x 1, and fewer than 2^32 stations"));
    }
    if customers == 0 {
        return Err(ModelError::setting("number of customers", customers, "choose at least 1"));
    }
    Ok(())
}

impl Torus {
    /// `rows` × `columns` stations and `customers` customers, spread evenly at first. The service
    /// rate is that of a station, per unit of time, and `travel` is in units of time.
    ///
    /// # Errors
    /// [`ModelError`], naming the value.
    pub fn new(
        rows: u32,
        columns: u32,
        customers: u32,
        service_rate: f64,
        travel: f64,
        resolution: Resolution,
    ) -> Result<Self, ModelError> {
        check_torus(rows, columns, customers)?;
        let mean_service = mean_time("service rate", service_rate, resolution)?;
        let travel = span("travel time", travel, resolution)?;
        let params = TorusParams { mean_service, warm_up: Ticks::ZERO, columns, customers };
        // A completion, and travelling customers. Each of the four neighbours sends at most service
        // rate / 4 customers per unit of time, so those of a travel time, or of a window, which is
        // not longer, are at most a Poisson variable with this mean.
        let sent = resolution.units(travel) * service_rate;
        let Capacity { queue, mailbox } = Capacity::poisson(sent, sent);
        let capacity = Capacity { queue: queue.saturating_add(1), mailbox };
        Ok(Self { rows, travel, params, capacity, resolution })
    }

    /// Sets the end of the warm-up.
    #[must_use]
    pub fn with_warm_up(mut self, warm_up: Ticks) -> Self {
        self.params.warm_up = warm_up;
        self
    }

    /// Sets the capacities.
    #[must_use]
    pub fn with_capacity(self, capacity: Capacity) -> Self {
        Self { capacity, ..self }
    }
}

impl Model for Torus {
    type State = TorusState;
    type Params = TorusParams;
    type Payload = [u32; 2];
    type Output = TorusOutput;

    fn name(&self) -> &str {
        "torus"
    }

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/torus.wgsl")
    }

    fn lps(&self) -> u32 {
        self.rows * self.params.columns
    }

    fn lookahead(&self) -> Ticks {
        self.travel
    }

    fn params(&self) -> TorusParams {
        self.params
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// Averages per station since the warm-up: `utilisation`, the share of time for which it
    /// serves; `number`, the customers in it; `throughput`, the customers served per unit of time.
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let average =
            |column| totals.time_average(column).and_then(|average| average.mean()).unwrap_or(f64::NAN);
        let span = Ticks::new(totals.at().get().saturating_sub(self.params.warm_up.get()));
        let throughput = sum(totals, "served") / (f64::from(self.lps()) * self.resolution.units(span));
        vec![
            ("utilisation".into(), average("busy")),
            ("number".into(), average("number")),
            ("throughput".into(), throughput),
        ]
    }
}
