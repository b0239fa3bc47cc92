//! Studies that are saved and resumed.

use std::path::PathBuf;
use std::time::Duration;

use eventhorizon::pdes::{Autosave, CheckpointError};
use pyo3::FromPyObject;

/// The interval of saves: far longer than one takes, and no more than is lost gladly.
const EVERY: Duration = Duration::from_secs(60);

/// The files of a run: where it is saved, and the saved study that it resumes.
#[derive(FromPyObject)]
pub(crate) struct Saves(Option<PathBuf>, Option<PathBuf>);

impl Saves {
    /// Where the study is saved.
    pub(crate) fn place(&self) -> Option<Autosave<'_>> {
        self.0.as_ref().map(|path| Autosave::new(path, EVERY))
    }

    /// Whether a study is saved or resumed.
    pub(crate) fn is_used(&self) -> bool {
        self.0.is_some() || self.1.is_some()
    }

    /// The saved study, if one is resumed.
    pub(crate) fn resumed<S>(
        &self,
        load: impl FnOnce(PathBuf) -> Result<S, CheckpointError>,
    ) -> Result<Option<S>, CheckpointError> {
        self.1.clone().map(load).transpose()
    }
}
