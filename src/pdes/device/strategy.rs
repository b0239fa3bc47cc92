//! A strategy: a queue design with a synchronisation, and whether a team executes them.

use crate::queue::{DefaultFor, QueueDesign};

use crate::pdes::contract::sync::Windows;

/// The choices that a run may change without changing results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Strategy {
    pub(in crate::pdes) queue: QueueDesign,
    pub(in crate::pdes) windows: Windows,
    /// Whether one workgroup executes the run, many windows in a dispatch. Pending events are in a
    /// pool then, and `queue` is the design without the team.
    pub(in crate::pdes) is_team: bool,
}

impl Strategy {
    /// The whole device, with the default queue.
    pub(in crate::pdes) fn usual(windows: Windows) -> Self {
        Self { queue: usual(windows), windows, is_team: false }
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_team {
            true => write!(f, "a team with {}", self.windows.name),
            false => write!(f, "{} with {}", self.queue, self.windows.name),
        }
    }
}

/// The default queue of an LP in YAWNS windows.
pub(in crate::pdes) const USUAL: QueueDesign = QueueDesign::default_for(DefaultFor::Epochs);

/// The default queue of an LP.
pub(in crate::pdes) fn usual(windows: Windows) -> QueueDesign {
    QueueDesign::default_for(windows.queue)
}
