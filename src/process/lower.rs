//! Compiles statements into steps.
//!
//! `names` resolves names, `expression` finds kinds, `statements` makes steps, `held` finds what is
//! held where, `constants` fills `Params`; `lowering` gives out words and rows; `bounds` refuses
//! what would be too deep.

mod bounds;
mod constants;
mod expression;
mod held;
mod lowering;
mod names;
mod schedules;
mod scopes;
mod sources;
mod statements;
mod tallies;
mod tidy;
mod times;
mod waits;
pub(super) mod walk;

#[cfg(test)]
mod tests;

use super::error::ProcessError;
use super::ir::{Place, ProcessModel};
use super::program::{EntityLayout, Histogram, MOST_ENTITIES, Program, Size, StepId};
pub(super) use held::{Amount, held_at};
use lowering::{CREATED, Lowering, WHO, number};

/// Most types of entities: the first word of an entity has 8 bits for it.
const MOST_TYPES: usize = 255;

/// Most rows of `Params`: WebGPU has 64 KiB for a uniform buffer.
const MOST_PARAM_ROWS: u32 = 4096;

/// Most rows of histograms: half a MiB of each replication, and a loop that software adapters end.
const MOST_HISTOGRAM_ROWS: u32 = 1 << 15;

/// Checks the model and compiles it.
///
/// # Errors
/// [`ProcessError`], with the line.
pub fn lower(model: &ProcessModel) -> Result<Program, ProcessError> {
    bounds::check(model)?;
    names::check(model)?;
    let expanded = schedules::expanded(model)?;
    let model = &*expanded;
    if model.entities.len() > MOST_TYPES {
        let (count, most) = (model.entities.len(), MOST_TYPES);
        return Err(ProcessError::TooMany { what: "entities", count, most });
    }
    if model.entities.values().all(|entity| entity.sources.is_empty()) {
        return Err(ProcessError::Unsupported {
            place: Place::default(),
            what: "a model that no entity enters".to_owned(),
            remedy: "give an entity a source: `every`, `rates`, `times` or `at_start`",
        });
    }
    let mut lowering = Lowering::new(model, times::resolution(model)?);
    lowering.declare()?;
    let entries = lowering.entities()?;
    tallies::all_observed(model, &lowering.sums)?;
    let program = lowering.finish(entries)?;
    bounds::entries(model)?;
    Ok(program)
}

impl Lowering<'_> {
    /// Gives rows to histograms from this one on. Returns the row behind them.
    fn histograms(&mut self, mut next: u32) -> u32 {
        for histogram in self.sums.values_mut().filter_map(|sum| sum.histogram.as_mut()) {
            let (Histogram::Observations { row, .. } | Histogram::Times { row }) = histogram;
            *row = next;
            next += histogram.rows();
        }
        next
    }

    fn finish(mut self, entries: Vec<Vec<StepId>>) -> Result<Program, ProcessError> {
        let fault_row = self.rows(1).max(2);
        // Histograms and notes are never in the state.
        let has = !self.noted.is_empty() || self.sums.values().any(|sum| sum.histogram.is_some());
        let first = if has { (fault_row + 1).max(Size::Large.state_rows()) } else { fault_row + 1 };
        let behind = self.histograms(first);
        if behind - first > MOST_HISTOGRAM_ROWS {
            let (count, most) = ((behind - first) as usize, MOST_HISTOGRAM_ROWS as usize);
            return Err(ProcessError::TooManyRows { what: "rows of histograms", count, most });
        }
        let notes = if self.noted.is_empty() { 0 } else { 1 + self.model.notes };
        let global_rows = behind + notes;
        let sums = self.sums.values().flat_map(|sum| sum.row..sum.row + sum.kind.rows());
        // Words of variables are read where their averages end.
        let words = 0..self.next_word.div_ceil(4).max(2);
        let output_rows: Vec<u32> = words
            .chain([fault_row])
            .chain(self.resources.iter().flat_map(|of| [Some(of.row), of.offered]).flatten())
            .chain(self.lines.iter().map(|line| line.row))
            .chain(self.containers.iter().flat_map(|container| [container.row, container.row + 1]))
            .chain(sums)
            .collect();
        let fits = |size: &Size| number(output_rows.len()) <= size.output_rows();
        let size = Size::ALL.into_iter().find(|size| fits(size) && self.hot <= size.state_rows());
        let Some(size) = size.or(Some(Size::Large).filter(fits)) else {
            let (count, most) = (output_rows.len(), Size::Large.output_rows() as usize);
            return Err(ProcessError::TooManyRows { what: "rows of results", count, most });
        };
        // Words that count units come behind the time of entry.
        let words = self.words.iter().copied().max().unwrap_or(0).max(CREATED + 2);
        let mut program = Program {
            name: self.model.name.clone(),
            resolution: self.resolution,
            size,
            global_rows,
            entity: EntityLayout {
                stride: EntityLayout::stride_of(words),
                words,
                who: WHO,
                created: Some(CREATED),
            },
            steps: self.steps.into_iter().map(|step| step.expect("each reserved step is made")).collect(),
            processes: self.processes,
            sources: self.sources,
            draws: self.draws.into_values().collect(),
            laws: Vec::new(),
            lines: self.lines,
            resources: self.resources,
            containers: self.containers,
            stores: self.stores,
            signals: self.signals,
            conditions: self.conditions,
            sums: self.sums.into_values().collect(),
            costs: self.costs,
            variables: self.variables,
            param_rows: self.constants.rows(),
            constants: self.constants.constants,
            data: self.data,
            output_rows,
            parameters: self.model.parameters.keys().cloned().collect(),
            fault_row,
            histograms: first..behind,
            noted: self.noted.into_iter().collect(),
            notes: behind..global_rows,
        };
        program.laws = self.constants.laws;
        if program.param_rows > MOST_PARAM_ROWS {
            let (count, most) = (program.param_rows as usize, MOST_PARAM_ROWS as usize);
            return Err(ProcessError::TooManyRows { what: "rows of constants", count, most });
        }
        tidy::watches(&mut program);
        tidy::count_held(&mut program, &entries)?;
        tidy::tidy(&mut program, &entries)?;
        // A first set of values finds what is out of range.
        let point: Vec<f64> = self.model.parameters.values().map(|of| of.values[0]).collect();
        program.params(&point, crate::time::Ticks::ZERO, MOST_ENTITIES)?;
        program.costs_at(&point)?;
        Ok(program)
    }
}
