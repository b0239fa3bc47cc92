//! A closed network of FIFO stations on a torus.

use super::torus::check_torus;
use super::{ModelError, mean_time, sum};
use crate::gpu::Source;
use crate::pdes::{Capacity, Model, Totals};
use crate::time::{Resolution, Ticks};
use std::borrow::Cow;

/// Blocks have at most 32 x 32 stations.
const MOST_SHIFT: u32 = 5;

/// A closed network of FIFO stations on a torus, without travel times: a station in each of rows ×
/// columns places serves customers one by one in the order of their arrival, each for an
/// exponential time plus a tick, and sends each to one of its four neighbours at random.
///
/// Every LP is a station, and every visit one event: a station sends an arriving customer on at
/// once, for the time at which it will leave. The lookahead is only one tick;
/// [`Sync::Horizon`](crate::pdes::Sync::Horizon) and
/// [`Sync::Neighbours`](crate::pdes::Sync::Neighbours) find larger bounds. The steady state is
/// [`theory::ClosedNetwork`](crate::statistics::theory::ClosedNetwork). WGSL:
/// `shaders/models/fifo_torus.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FifoTorus {
    params: FifoTorusParams,
    capacity: Capacity,
    resolution: Resolution,
}

/// The WGSL `struct Params` of [`FifoTorus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FifoTorusParams {
    /// Mean service time, less a tick.
    pub mean_service: Ticks,
    /// Rows.
    pub rows: u32,
    /// Stations in a row.
    pub columns: u32,
    /// Customers in the whole network.
    pub customers: u32,
    /// Stations are numbered by square blocks, so that neighbours have similar numbers: the
    /// logarithm to base 2 of the side of a block.
    pub block_shift: u32,
}

/// The WGSL `struct State` of [`FifoTorus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FifoTorusState {
    /// When all customers that have arrived will have left.
    pub free: Ticks,
    /// Total service time of customers that have arrived.
    pub busy: Ticks,
    /// Their total waiting time.
    pub waited: Ticks,
    /// Their number.
    pub served: u64,
}

/// The WGSL `struct Output` of [`FifoTorus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FifoTorusOutput {
    /// Time spent serving.
    pub busy: Ticks,
    /// Total waiting time of customers that have arrived.
    pub waited: Ticks,
    /// Their number.
    pub served: u64,
    /// Zero.
    pub unused: u64,
}

impl FifoTorus {
    /// `rows` × `columns` stations and `customers` customers, spread evenly at first. The service
    /// rate is that of a station, per unit of time.
    ///
    /// # Errors
    /// [`ModelError`], naming the value.
    pub fn new(
        rows: u32,
        columns: u32,
        customers: u32,
        service_rate: f64,
        resolution: Resolution,
    ) -> Result<Self, ModelError> {
        check_torus(rows, columns, customers)?;
        let mean_service = mean_time("service rate", service_rate, resolution)?;
        let block_shift = (rows | columns).trailing_zeros().min(MOST_SHIFT);
        let params = FifoTorusParams { mean_service, rows, columns, customers, block_shift };
        // In the long run, with many stations, a station has at least n customers with the
        // probability utilisation^n. All of them may be pending events here; this capacity is
        // exceeded with probability 10^-9.
        let stations = f64::from(rows * columns);
        let load = f64::from(customers) / (f64::from(customers) + stations - 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "more than 0, and bounded"
        )]
        let queue = (1e-9f64.ln() / load.ln()).min(f64::from(customers)) as u32;
        let capacity = Capacity { queue: queue.saturating_add(2), mailbox: 8 };
        Ok(Self { params, capacity, resolution })
    }

    /// Sets the capacities.
    #[must_use]
    pub fn with_capacity(self, capacity: Capacity) -> Self {
        Self { capacity, ..self }
    }
}

impl Model for FifoTorus {
    type State = FifoTorusState;
    type Params = FifoTorusParams;
    type Payload = [u32; 2];
    type Output = FifoTorusOutput;

    fn name(&self) -> &str {
        "fifo torus"
    }

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/fifo_torus.wgsl")
    }

    fn lps(&self) -> u32 {
        self.params.rows * self.params.columns
    }

    fn lookahead(&self) -> Ticks {
        Ticks::new(1)
    }

    fn params(&self) -> FifoTorusParams {
        self.params
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// One for each customer.
    fn events_held(&self) -> Option<u32> {
        Some(self.params.customers)
    }

    /// Averages per station: `utilisation`, the share of time for which it serves; `wait`, the wait
    /// of customers that have arrived, in units of time; `throughput`, the arrivals per unit of
    /// time.
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let [busy, waited, served] = ["busy", "waited", "served"].map(|column| sum(totals, column));
        let (unit, stations) = (f64::from(self.resolution.ticks_per_unit()), f64::from(self.lps()));
        let span = stations * self.resolution.units(totals.at());
        vec![
            ("utilisation".into(), busy / unit / span),
            ("wait".into(), waited / unit / served),
            ("throughput".into(), served / span),
        ]
    }
}
