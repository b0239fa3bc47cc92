//! M/M/1 with preemptive-resume priorities.

use super::{MOST_ROOM, ModelError, mean_time, mean_units};
use crate::gpu::Source;
use crate::pdes::{Capacity, Line, Model, Totals};
use crate::statistics::Tally;
use crate::time::{Resolution, Ticks};
use std::borrow::Cow;

/// `CLASSES`
const CLASSES: u32 = 3;

/// Stations with one server and up to three classes of customers, M/M/1 with preemptive-resume
/// priorities: class 0 has priority over class 1, and class 1 over class 2. An arriving customer
/// preempts the service of a lower class, which continues later where it stopped.
///
/// Every LP is an independent station. The steady state is
/// [`theory::Priorities`](crate::statistics::theory::Priorities). WGSL:
/// `shaders/models/priorities.wgsl`, which shows how to cancel an event: pending events are never
/// removed; the completion of a preempted service still occurs, with a number that differs from the
/// present service's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Priorities {
    stations: u32,
    params: PrioritiesParams,
    capacity: Capacity,
    resolution: Resolution,
}

/// A class in `PrioritiesParams`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PriorityClass {
    /// Mean time between arrivals; [`Ticks::NEVER`] for a class without customers.
    pub mean_interarrival: Ticks,
    /// Mean service time.
    pub mean_service: Ticks,
}

/// The WGSL `struct Params` of [`Priorities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PrioritiesParams {
    /// By priority.
    pub classes: [PriorityClass; 3],
    /// End of the warm-up, when statistics begin.
    pub warm_up: Ticks,
    /// Room for customers of each class in a station, including the one in service.
    pub room: u32,
    /// Zero.
    pub unused: u32,
}

/// The WGSL `struct State` of [`Priorities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PrioritiesState {
    /// By class, the time in the system, recorded at departure.
    pub system: [Tally; 3],
    /// When the present service ends, if it is not preempted.
    pub completes: Ticks,
    /// Its number.
    pub service: u32,
    /// The class in service; 3 if the server is free.
    pub serving: u32,
    /// The lines, including customers in service.
    pub lines: [Line; 3],
    /// Zero.
    pub unused: [u32; 2],
}

/// The WGSL `struct Output` of [`Priorities`]: times in the system of customers that left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PrioritiesOutput {
    /// Of class 0, the highest priority.
    pub class_0: Tally,
    /// Of class 1.
    pub class_1: Tally,
    /// Of class 2.
    pub class_2: Tally,
}

impl Priorities {
    /// `stations` stations, with the (arrival rate, service rate) of one to three classes, highest
    /// priority first. Rates are per unit of time. `room` bounds the customers of each class in a
    /// station; a run with too little room ends with a [`Fault`](crate::pdes::Fault).
    ///
    /// # Errors
    /// [`ModelError`], naming the value.
    pub fn new(
        stations: u32,
        classes: &[(f64, f64)],
        room: u32,
        resolution: Resolution,
    ) -> Result<Self, ModelError> {
        if !(1..=CLASSES as usize).contains(&classes.len()) {
            return Err(ModelError::setting("number of classes", classes.len(), "choose 1 to 3"));
        }
        if !(1..=MOST_ROOM).contains(&room) {
            return Err(ModelError::setting("room", room, "choose 1 to 1048576 (2^20) customers per class"));
        }
        let nobody = PriorityClass { mean_interarrival: Ticks::NEVER, mean_service: Ticks::ZERO };
        let mut params = PrioritiesParams { classes: [nobody; 3], warm_up: Ticks::ZERO, room, unused: 0 };
        for (class, &(arrival_rate, service_rate)) in params.classes.iter_mut().zip(classes) {
            class.mean_interarrival = mean_time("arrival rate", arrival_rate, resolution)?;
            class.mean_service = mean_time("service rate", service_rate, resolution)?;
        }
        // The next arrivals, the present completion, and those of preempted services, each pending
        // for an exponential time. If each higher arrival preempted a service of the slowest class,
        // their number would be that of M/M/infinity: a Poisson variable.
        let higher: f64 = classes[..classes.len() - 1].iter().map(|class| class.0).sum();
        let slowest = classes.iter().map(|class| class.1).fold(f64::INFINITY, f64::min);
        let queue = Capacity::poisson(higher / slowest, 0.0).queue.saturating_add(CLASSES + 1);
        Ok(Self { stations, params, capacity: Capacity { queue, mailbox: 1 }, resolution })
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

impl Model for Priorities {
    type State = PrioritiesState;
    type Params = PrioritiesParams;
    type Payload = [u32; 2];
    type Output = PrioritiesOutput;

    fn name(&self) -> &str {
        "priorities"
    }

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/priorities.wgsl")
    }

    fn lps(&self) -> u32 {
        self.stations
    }

    fn lookahead(&self) -> Ticks {
        Ticks::NEVER
    }

    fn params(&self) -> PrioritiesParams {
        self.params
    }

    fn memory_rows(&self) -> u32 {
        self.params.room * CLASSES
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// `system_0`, `system_1` and `system_2`: the mean time in the system of customers that left,
    /// in units of time, for each class with customers.
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let classes = [("class_0", "system_0"), ("class_1", "system_1"), ("class_2", "system_2")];
        let some = self
            .params
            .classes
            .iter()
            .zip(classes)
            .filter(|(class, _)| class.mean_interarrival != Ticks::NEVER);
        let mean = |column| mean_units(self.resolution, totals.tally(column).as_ref());
        some.map(|(_, (column, name))| (name.into(), mean(column))).collect()
    }
}
