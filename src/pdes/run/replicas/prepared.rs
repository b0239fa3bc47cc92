//! The validated models of a design's points.

use std::sync::Arc;

use crate::statistics::{Design, Point};

use super::memory::BatchNeeds;
use super::results;
use crate::pdes::contract::capacity::Capacity;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::contract::limits::check_lps;
use crate::pdes::contract::model::Model;
use crate::pdes::contract::output::Columns;
use crate::pdes::contract::until::Until;
use crate::pdes::device::check;
use crate::pdes::device::declared::Declared;
use crate::pdes::device::pool::events_of;
use crate::pdes::device::recipes::{Choice, Recipes};

pub(super) type Build<M> =
    Box<dyn Fn(&Point<'_>) -> Result<M, Box<dyn std::error::Error + Send + std::marker::Sync>>>;

/// The validated models of a design's points.
pub(super) struct Prepared<M> {
    pub(super) models: Vec<M>,
    /// `None` for a model without results.
    pub(super) columns: Option<Arc<Columns>>,
    pub(super) room: BatchNeeds,
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
            room: BatchNeeds { capacity, events: events(&models), state_bytes: 0 },
            models,
        })
    }

    /// Refuses runs without a time for their results before they start (they might never end).
    pub(super) fn check_end(&self, until: Until) -> Result<(), SimulationError> {
        match self.columns {
            Some(_) => results::at(until).map(|_| ()),
            None => Ok(()),
        }
    }
}

/// The capacity for the events of a run of any of these models.
pub(super) fn events<M: Model>(models: &[M]) -> u32 {
    models.iter().map(events_of).max().unwrap_or(1)
}

/// Refuses a model with a file that violates the contract of [`Model`]. Returns the bytes of a
/// state.
pub(super) fn check_contract<M: Model>(model: &M) -> Result<u32, SimulationError> {
    let recipes =
        |declared| Recipes::new::<M::Payload>(model.name(), &model.source(), Choice::plain(declared));
    let declared = check::declared(model, &recipes(Declared::default()).start)?;
    check::check(&recipes(declared), model, declared)
}
