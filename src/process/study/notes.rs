//! Notes that entities take in the first replication.

use super::super::compiled::CompiledProcess;
use super::super::error::ProcessError;
use super::super::ir::ProcessModel;
use super::super::model::{Large, Medium, Small};
use super::super::program::Size;
use super::course::{Course, Note};
use super::plan::Study;

/// Room for notes at first, and at most.
const ROWS: u32 = 1 << 12;
const MOST_ROWS: u32 = 1 << 24;

impl CompiledProcess {
    /// The same model, with room for this number of notes.
    pub(super) fn noting(&self, notes: u32) -> Result<Self, ProcessError> {
        ProcessModel { notes, ..self.model().clone() }.compile()
    }

    /// What `of` makes of the notes of the first replication of a study at a point, in their order,
    /// up to a time.
    pub(in crate::process) fn notes<T>(
        &self,
        study: &Study,
        point: usize,
        of: impl Fn(Vec<Note<'_>>) -> T,
    ) -> Result<T, ProcessError> {
        let [_, until] = self.times(study)?;
        let mut rows = ROWS;
        loop {
            let noting = self.noting(rows)?;
            let found = match noting.program().size {
                Size::Small => Course::<Small>::new(&noting, study, point, until)?.all_notes(&of)?,
                Size::Medium => Course::<Medium>::new(&noting, study, point, until)?.all_notes(&of)?,
                Size::Large => Course::<Large>::new(&noting, study, point, until)?.all_notes(&of)?,
            };
            match found {
                Ok(found) => return Ok(found),
                Err(needed) if needed < MOST_ROWS => rows = needed.next_power_of_two(),
                Err(count) => {
                    let (what, most) = ("notes", MOST_ROWS as usize);
                    return Err(ProcessError::TooMany { what, count: count as usize, most });
                }
            }
        }
    }
}
