//! When studies are saved, and in which parts their replications run until then.

use std::path::Path;

use web_time::{Duration, Instant};

use super::autosave::Autosave;
use super::file::Sections;
use crate::pdes::contract::checkpoint_error::CheckpointError;

/// When a study is saved, and how many replications run until then or until the next progress
/// report.
pub(crate) struct SavePlan<'a> {
    to: Option<Autosave<'a>>,
    saved: Instant,
    /// Whether the last save failed.
    failing: bool,
    /// The interval between the ends of two parts.
    pace: Duration,
    /// Replications of the next part.
    part: u32,
    most: u32,
}

/// Replications of the first part, on a device and on the host: few enough for any interval, and
/// enough to fill it.
const FIRST: u32 = 1024;
const FIRST_ON_HOST: u32 = 32;

/// Interval of progress reports on the host; a device reports on its own.
const REPORT_EVERY: Duration = Duration::from_millis(200);

impl<'a> SavePlan<'a> {
    /// `own` checks that a file that is there already may be overwritten.
    pub(crate) fn new(
        to: Option<Autosave<'a>>,
        most: u32,
        on_host: bool,
        own: impl FnOnce(&Path) -> Result<(), CheckpointError>,
    ) -> Result<Self, CheckpointError> {
        if let Some(autosave) = to {
            autosave.claim(own)?;
        }
        let (report_every, first) =
            if on_host { (REPORT_EVERY, FIRST_ON_HOST) } else { (Duration::MAX, FIRST) };
        let pace = to.map_or(report_every, |autosave| autosave.every.min(report_every));
        let part = if pace < Duration::MAX { most.min(first) } else { most };
        Ok(Self { to, saved: Instant::now(), failing: false, pace, part, most })
    }

    /// Replications of the next part.
    pub(crate) fn part(&self) -> u32 {
        self.part
    }

    /// Adapts the next part to the time of the last one, so that parts take at most half an
    /// interval.
    pub(crate) fn took(&mut self, time: Duration) {
        if time > self.pace / 2 {
            self.part = (self.part / 2).max(1);
        } else if time < self.pace / 4 {
            self.part = self.part.saturating_mul(2).min(self.most);
        }
    }

    /// Whether a save is due.
    pub(crate) fn due(&self) -> bool {
        self.to.is_some_and(|autosave| self.saved.elapsed() >= autosave.every)
    }

    /// Saves the present state of a study. If the file cannot be written, the next attempt is made
    /// when the next save is due.
    pub(crate) fn save<E>(&mut self, make: impl FnOnce() -> Result<Sections, E>) -> Result<(), E> {
        if let (Some(autosave), Err(error)) = (self.to, self.last(make)?) {
            if !self.failing {
                (autosave.failed)(&error);
            }
            self.failing = true;
        } else {
            self.failing = false;
        }
        Ok(())
    }

    /// Saves a study at its end. The inner error means that the file could not be written.
    pub(crate) fn last<E>(
        &mut self,
        make: impl FnOnce() -> Result<Sections, E>,
    ) -> Result<Result<(), CheckpointError>, E> {
        let Some(autosave) = self.to else { return Ok(Ok(())) };
        let written = make()?.save(autosave.path);
        self.saved = Instant::now();
        Ok(written)
    }
}
