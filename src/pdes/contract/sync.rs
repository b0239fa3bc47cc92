//! Synchronisation: how far windows reach. The table of methods: a row is everything that the host
//! knows about one.

use crate::queue::DefaultFor;

/// The method by which a simulation on the GPU finds how far its LPs may advance at once. Results
/// do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Sync(Option<Windows>);

/// How far windows reach: a [`Sync`] other than `Auto`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::pdes) struct Windows(&'static SyncRow);

/// A row of the table. All code that depends on the synchronisation reads its fields.
#[derive(PartialEq, Eq, Hash)]
pub(in crate::pdes) struct SyncRow {
    /// The name on a command line.
    pub(in crate::pdes) name: &'static str,
    /// Where windows end, for help texts.
    pub(in crate::pdes) reach: &'static str,
    /// The dispatches before a window executes. `None` if the file of the pending event set finds
    /// the ends of windows (`pdes/window/yawns.wgsl`, `pdes/calendar/calendar_sync.wgsl`).
    pub(in crate::pdes) look: Option<Speculation>,
    /// Rows in `lps` for each LP.
    pub(in crate::pdes) found_rows: u64,
    /// The kind of windows for which it chooses a default queue design.
    pub(in crate::pdes) queue: DefaultFor,
    /// Whether an LP executes at most one event in a window. Otherwise the bound depends on the
    /// number of LPs ([`budget`](super::bounds::budget)).
    pub(in crate::pdes) is_single: bool,
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
#[derive(PartialEq, Eq, Hash)]
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
#[derive(PartialEq, Eq, Hash)]
pub(in crate::pdes) struct Relax {
    pub(in crate::pdes) file: &'static str,
    /// The default for a model's `answer`.
    pub(in crate::pdes) answer: &'static str,
    /// The default for a model's `next_to` and `next_gap`.
    pub(in crate::pdes) next: &'static str,
}

const LOOK: Speculation = Speculation {
    file: "pdes/horizon/horizon_look.wgsl",
    overrides: &[],
    answers: "pdes/bounds/answers_none.wgsl",
    relax: None,
    reach: &["pdes/horizon/horizon.wgsl", "pdes/horizon/reach_for_all.wgsl"],
};

#[expect(non_upper_case_globals, reason = "they are used as variants of an enum are")]
impl Sync {
    /// Begins with [`Sync::Yawns`]; with [`Sync::Horizon`] if there is no lookahead, or if
    /// `events_held` and the capacities say that YAWNS windows hold few of the events. Long runs
    /// measure whether another method is faster, and switch to it.
    pub const Auto: Self = Self(None);

    /// YAWNS windows: up to the lookahead after the first pending event, within an epoch (Baudis et
    /// al., section IV.A). One dispatch a window. Without a lookahead, a window is a round at one
    /// time.
    pub const Yawns: Self = Self(Some(Windows(&SyncRow {
        name: "yawns",
        reach: "the lookahead",
        look: None,
        found_rows: 0,
        queue: DefaultFor::Epochs,
        is_single: false,
        is_busy: false,
        needs_senders: false,
        serves_parts: true,
        serves_teams: true,
        serves_local_teams: true,
    })));

    /// Event-horizon windows (Steinman's breathing time buckets): up to the earliest time at which
    /// any LP sends an event to another LP, which speculative execution of every LP finds. Two
    /// dispatches a window. A window holds more events the longer delays are beyond the lookahead.
    pub const Horizon: Self = Self(Some(Windows(&SyncRow {
        name: "horizon",
        reach: "the first event sent to another LP",
        look: Some(LOOK),
        found_rows: 1,
        queue: DefaultFor::Wide,
        is_single: false,
        is_busy: false,
        needs_senders: false,
        serves_parts: true,
        serves_teams: false,
        serves_local_teams: true,
    })));

    /// Per-LP bounds (after Chandy, Misra and Bryant, as a fixpoint): each LP advances up to the
    /// earliest time at which an event may arrive there, which relaxation computes from the
    /// possible messages of its senders. For models that declare the senders of each LP and have a
    /// lookahead of at least one tick: [`Model`](crate::pdes::Model#neighbours).
    pub const Neighbours: Self = Self(Some(Windows(&SyncRow {
        name: "neighbours",
        reach: "a bound for each LP",
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
        is_single: false,
        is_busy: true,
        needs_senders: true,
        serves_parts: false,
        serves_teams: false,
        serves_local_teams: false,
    })));

    /// The iteration of Baudis et al. (section IV.A), for comparisons with their results: each LP
    /// executes its first event, if that is less than a lookahead after the first pending event of
    /// all. `one-event` on a command line. For one device, queues other than the calendar, and
    /// models with a lookahead of at least one tick; `Auto` does not choose it.
    ///
    /// Event-limited runs end with one of its windows, so after other events than with windows of
    /// epochs.
    pub const OneEvent: Self = Self(Some(Windows(&SyncRow {
        name: "one-event",
        reach: "the lookahead, of one event for each LP",
        look: None,
        found_rows: 0,
        queue: DefaultFor::Epochs,
        is_single: true,
        is_busy: false,
        needs_senders: false,
        serves_parts: false,
        serves_teams: false,
        serves_local_teams: false,
    })));

    /// All methods among which a run may choose.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Yawns, Self::Horizon, Self::Neighbours];

    /// The name on a command line.
    pub const fn name(self) -> &'static str {
        match self.0 {
            Some(windows) => windows.0.name,
            None => "auto",
        }
    }

    /// Whether windows may be wider than epochs, whose number the sequential engine counts, too.
    /// `None` for [`Sync::Auto`].
    pub const fn is_wide(self) -> Option<bool> {
        match self.0 {
            Some(windows) => Some(!windows.are_epochs()),
            None => None,
        }
    }

    /// Whether a model must declare the senders of each LP and have a lookahead.
    pub const fn needs_senders(self) -> bool {
        matches!(self.0, Some(Windows(SyncRow { needs_senders: true, .. })))
    }

    /// Whether a run over several devices supports it.
    pub const fn serves_parts(self) -> bool {
        !matches!(self.0, Some(Windows(SyncRow { serves_parts: false, .. })))
    }

    /// Names and reach of those with a property, for help texts: "yawns (windows to the lookahead),
    /// auto (chosen by measuring)".
    pub fn help(has: impl Fn(Self) -> bool) -> String {
        let named = |sync: Self| match sync.0 {
            Some(windows) => format!("{} (windows to {})", windows.name, windows.reach),
            None => "auto (chosen by measuring)".to_owned(),
        };
        Self::ALL.into_iter().filter(|&sync| has(sync)).map(named).collect::<Vec<_>>().join(", ")
    }

    /// The chosen windows; `None` for [`Sync::Auto`].
    pub(in crate::pdes) const fn windows(self) -> Option<Windows> {
        self.0
    }
}

impl Windows {
    /// The default: windows of epochs.
    pub(in crate::pdes) const EPOCHS: Self = Sync::Yawns.0.unwrap();
    /// The default of wider windows.
    pub(in crate::pdes) const WIDE: Self = Sync::Horizon.0.unwrap();

    /// All rows among which a run may choose.
    pub(in crate::pdes) fn all() -> impl Iterator<Item = Self> {
        Sync::ALL.into_iter().filter_map(Sync::windows)
    }

    /// Whether a dispatch before the window finds how far it reaches.
    pub(in crate::pdes) const fn is_speculative(self) -> bool {
        self.0.look.is_some()
    }

    /// Whether windows are epochs, or parts of one, as a calendar needs.
    pub(in crate::pdes) const fn are_epochs(self) -> bool {
        self.0.look.is_none() && !self.0.is_single
    }
}

impl From<Windows> for Sync {
    fn from(windows: Windows) -> Self {
        Self(Some(windows))
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

impl std::fmt::Display for Sync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

crate::text::debug_is_display!(Sync);

impl std::str::FromStr for Sync {
    type Err = UnknownSync;

    fn from_str(name: &str) -> Result<Self, UnknownSync> {
        let mut all = Self::ALL.into_iter().chain([Self::OneEvent]);
        all.find(|sync| sync.name() == name).ok_or_else(|| UnknownSync(name.to_owned()))
    }
}

/// A name that no synchronisation has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown synchronisation '{0}': expected one of {names}", names = Sync::ALL.map(Sync::name).join(", "))]
pub struct UnknownSync(pub String);

crate::text::debug_is_display!(UnknownSync);
