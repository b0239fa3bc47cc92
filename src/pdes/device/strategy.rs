//! A strategy: a queue design with a synchronisation.

use crate::queue::{DefaultFor, QueueDesign};

use crate::pdes::contract::sync::Windows;

/// The choices that a run may change without changing results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Strategy {
    pub(in crate::pdes) queue: QueueDesign,
    pub(in crate::pdes) windows: Windows,
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {}", self.queue, self.windows.name)
    }
}

/// The default queue of an LP in YAWNS windows.
pub(in crate::pdes) const USUAL: QueueDesign = QueueDesign::default_for(DefaultFor::Epochs);

/// The default queue of an LP.
pub(in crate::pdes) fn usual(windows: Windows) -> QueueDesign {
    QueueDesign::default_for(windows.queue)
}
