//! The models of a design's points, checked, and the choices for an experiment.

use std::sync::Arc;

use crate::queue::QueueDesign;
use crate::statistics::{Design, Point};

use super::mapping::Mapping;
use super::memory::Room;
use super::results;
#[cfg(doc)]
use super::{Engine, Ran};
use crate::pdes::contract::capacity::{Capacity, mean_for, room_for};
use crate::pdes::contract::error::SimulationError;
use crate::pdes::contract::limits::check_lps;
use crate::pdes::contract::model::Model;
use crate::pdes::contract::output::Columns;
use crate::pdes::contract::sync::Sync;
use crate::pdes::contract::until::Until;
use crate::pdes::device::check;
use crate::pdes::device::declared::Declared;
use crate::pdes::device::recipes::{Choice, Recipes};

/// Choices that change how fast an experiment runs, and what of its results is told; no result depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineOptions {
    /// How runs are mapped to invocations.
    pub mapping: Mapping,
    /// The queues of LPs, where runs are mapped to teams or to the grid; `None` takes one by the model's capacities.
    pub queue: Option<QueueDesign>,
    /// How windows find their ends, where runs are mapped to teams or to the grid ([`Mapping::Thread`] has none). Teams know [`Sync::Yawns`]; and [`Sync::Horizon`] in runs of models with a lookahead
    /// whose pending events fit workgroup memory, which end by a time and have no chosen queue or fixed capacities.
    pub sync: Sync,
    /// Invocations per workgroup, a power of two within the device's limits; `None` takes a good one.
    pub group_size: Option<u32>,
    /// Whether capacities stay what the model says. Otherwise a run that finds too little room is made again with more. (Those of a thread are the run's, in one
    /// queue: with fixed capacities [`Mapping::Auto`] takes teams, or the grid. Teams have for all points what the one with the largest capacities has.)
    pub fixed: bool,
    /// Whether the results of each LP of each run are told ([`Ran::outputs`]), in the place of their totals, and of the sums and measures among the observations.
    /// That is for whoever looks at LPs one by one, and takes the host's memory for all of them: an experiment may be made in parts
    /// ([`Engine::run_range`]).
    pub outputs: bool,
}

pub(super) type Build<M> =
    Box<dyn Fn(&Point<'_>) -> Result<M, Box<dyn std::error::Error + Send + std::marker::Sync>>>;

/// The models of a design's points, checked.
pub(super) struct Prepared<M> {
    pub(super) models: Vec<M>,
    /// None for a model without results.
    pub(super) columns: Option<Arc<Columns>>,
    pub(super) room: Room,
}

impl<M: Model> Prepared<M> {
    pub(super) fn new(design: &Design, build: &Build<M>) -> Result<Self, SimulationError> {
        let models = (0..design.len()).map(|point| {
            build(&design.point(point)).map_err(|error| SimulationError::Point {
                place: design.place(point),
                reason: error.to_string(),
            })
        });
        let models: Vec<M> = models.collect::<Result<_, _>>()?;
        let first = &models[0];
        for model in &models {
            check_lps(model)?;
            for (differ, what) in [
                (model.lps() != first.lps(), "numbers of LPs"),
                (model.source() != first.source(), "WGSL files"),
                (model.data() != first.data(), "data"),
                (model.memory_rows() != first.memory_rows(), "rows of LP memory"),
                (model.params_bytes().len() != first.params_bytes().len(), "bytes of parameters"),
            ] {
                if differ {
                    return Err(SimulationError::Points { what });
                }
            }
            for (what, size) in [("queue", model.capacity().queue), ("mailbox", model.capacity().mailbox)] {
                if size == 0 {
                    return Err(SimulationError::NoCapacity { what });
                }
            }
        }
        let most =
            |of: fn(&Capacity) -> u32| models.iter().map(|model| of(&model.capacity())).max().unwrap_or(1);
        let capacity =
            Capacity { queue: most(|capacity| capacity.queue), mailbox: most(|capacity| capacity.mailbox) };
        Ok(Self {
            columns: check::columns(first)?,
            room: Room { capacity, events: events(&models), state_bytes: 0 },
            models,
        })
    }

    /// Refuses runs whose results nobody could ask for, before they are made (which might take for ever).
    pub(super) fn check_end(&self, until: Until) -> Result<(), SimulationError> {
        match self.columns {
            Some(_) => results::at(until).map(|_| ()),
            None => Ok(()),
        }
    }
}

/// The events that a run of any of these models may hold: by the room of its queues, and what it says where that is less.
pub(super) fn events<M: Model>(models: &[M]) -> u32 {
    let by_queues = |model: &M| room_for(f64::from(model.lps()) * mean_for(model.capacity().queue));
    let held = |model: &M| by_queues(model).min(model.events_held().unwrap_or(u32::MAX)).max(model.lps());
    models.iter().map(held).max().unwrap_or(1).saturating_add(4)
}

/// Refuses a model whose file does not keep the contract of [`Model`]. Returns the bytes of a state.
pub(super) fn check_contract<M: Model>(model: &M) -> Result<u32, SimulationError> {
    let recipes =
        |declared| Recipes::new::<M::Payload>(model.name(), &model.source(), Choice::plain(declared));
    let declared = check::declared(model, &recipes(Declared::default()).start)?;
    check::check(&recipes(declared), model, declared)
}
