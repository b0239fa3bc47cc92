//! The table of synchronisations: a row is everything that the host knows about one.

use crate::queue::DefaultFor;

use crate::pdes::contract::sync::{Sync, UnknownSync};

/// A row of the table. All code that depends on the synchronisation reads its fields.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pdes) struct SyncRow {
    pub(in crate::pdes) sync: Sync,
    /// The name on a command line.
    pub(in crate::pdes) name: &'static str,
    /// The dispatches before a window executes. `None` if windows are epochs: the file of the
    /// pending event set finds their ends (`pdes/window/yawns.wgsl`,
    /// `pdes/calendar/calendar_sync.wgsl`). Calendars support only these.
    pub(in crate::pdes) look: Option<Speculation>,
    /// Rows in `lps` for each LP.
    pub(in crate::pdes) found_rows: u64,
    /// The kind of windows for which it chooses a default queue design.
    pub(in crate::pdes) queue: DefaultFor,
    /// Whether windows execute many events, and more LPs are served at once.
    pub(in crate::pdes) is_busy: bool,
    /// Whether it needs a lookahead of at least a tick and a model that declares senders.
    pub(in crate::pdes) needs_senders: bool,
    /// Whether a run may be split over devices.
    pub(in crate::pdes) serves_parts: bool,
    /// Whether teams of replicas with queues in buffers support it.
    pub(in crate::pdes) serves_teams: bool,
    /// Whether teams of replicas in workgroup memory support it; if it is speculative, only with a
    /// lookahead.
    pub(in crate::pdes) serves_local_teams: bool,
}

/// The dispatches before a window executes.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pdes) struct Speculation {
    /// The file of the first dispatch.
    pub(in crate::pdes) file: &'static str,
    pub(in crate::pdes) overrides: &'static [(&'static str, u32)],
    /// The file of answers stored for relaxations.
    pub(in crate::pdes) answers: &'static str,
    /// The relaxations between the first dispatch and the window.
    pub(in crate::pdes) relax: Option<Relax>,
    /// Files that define how far the window reaches, linked with the kernel that executes it.
    pub(in crate::pdes) reach: &'static [&'static str],
}

/// The relaxation, dispatched several times between the two.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pdes) struct Relax {
    pub(in crate::pdes) file: &'static str,
    /// The default for a model's `answer`.
    pub(in crate::pdes) answer: &'static str,
    /// The default for a model's `next_to` and `next_gap`.
    pub(in crate::pdes) next: &'static str,
}

/// How far windows reach: a [`Sync`] other than `Auto`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Windows(&'static SyncRow);

/// All rows.
pub(in crate::pdes) const TABLE: [Windows; 3] = [Windows::YAWNS, Windows::HORIZON, Windows::NEIGHBOURS];

const LOOK: Speculation = Speculation {
    file: "pdes/horizon/horizon_look.wgsl",
    overrides: &[],
    answers: "pdes/bounds/answers_none.wgsl",
    relax: None,
    reach: &["pdes/horizon/horizon.wgsl", "pdes/horizon/reach_for_all.wgsl"],
};

impl Windows {
    pub(in crate::pdes) const YAWNS: Self = Self(&SyncRow {
        sync: Sync::Yawns,
        name: "yawns",
        look: None,
        found_rows: 0,
        queue: DefaultFor::Epochs,
        is_busy: false,
        needs_senders: false,
        serves_parts: true,
        serves_teams: true,
        serves_local_teams: true,
    });
    pub(in crate::pdes) const HORIZON: Self = Self(&SyncRow {
        sync: Sync::Horizon,
        name: "horizon",
        look: Some(LOOK),
        found_rows: 1,
        queue: DefaultFor::Wide,
        is_busy: false,
        needs_senders: false,
        serves_parts: true,
        serves_teams: false,
        serves_local_teams: true,
    });
    pub(in crate::pdes) const NEIGHBOURS: Self = Self(&SyncRow {
        sync: Sync::Neighbours,
        name: "neighbours",
        look: Some(Speculation {
            overrides: &[("LOOK_FAR", 1)],
            answers: "pdes/bounds/answers.wgsl",
            relax: Some(Relax {
                file: "pdes/bounds/neighbours_relax.wgsl",
                answer: "pdes/bounds/answer_default.wgsl",
                next: "pdes/bounds/next_default.wgsl",
            }),
            reach: &["pdes/horizon/horizon.wgsl", "pdes/bounds/neighbours.wgsl"],
            ..LOOK
        }),
        found_rows: 5,
        queue: DefaultFor::Wide,
        is_busy: true,
        needs_senders: true,
        serves_parts: false,
        serves_teams: false,
        serves_local_teams: false,
    });

    /// The chosen windows; `None` for [`Sync::Auto`].
    pub(in crate::pdes) fn chosen(sync: Sync) -> Option<Self> {
        TABLE.into_iter().find(|windows| windows.sync == sync)
    }

    /// Whether a dispatch before the window finds how far it reaches. The others are epochs.
    pub(in crate::pdes) fn is_speculative(self) -> bool {
        self.look.is_some()
    }
}

impl std::ops::Deref for Windows {
    type Target = SyncRow;

    fn deref(&self) -> &SyncRow {
        self.0
    }
}

impl std::fmt::Debug for Windows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Sync {
    /// The name on a command line.
    pub fn name(self) -> &'static str {
        Windows::chosen(self).map_or("auto", |windows| windows.name)
    }
}

impl std::fmt::Display for Sync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Sync {
    type Err = UnknownSync;

    fn from_str(name: &str) -> Result<Self, UnknownSync> {
        Self::ALL.into_iter().find(|sync| sync.name() == name).ok_or_else(|| UnknownSync(name.to_owned()))
    }
}
