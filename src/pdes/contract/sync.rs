//! Synchronisation: how far windows reach.

/// The method by which a simulation on the GPU finds how far its LPs may advance at once. Results
/// do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sync {
    /// Begins with [`Sync::Yawns`]; with [`Sync::Horizon`] if there is no lookahead, or if
    /// `events_held` and the capacities say that YAWNS windows hold few of the events. Long runs
    /// measure whether another method is faster, and switch to it.
    #[default]
    Auto,
    /// YAWNS windows: up to the lookahead after the first pending event, within an epoch (Baudis et
    /// al., section IV.A). One dispatch a window. Without a lookahead, a window is a round at one
    /// time.
    Yawns,
    /// Event-horizon windows (Steinman's breathing time buckets): up to the earliest time at which
    /// any LP sends an event to another LP, which speculative execution of every LP finds. Two
    /// dispatches a window. A window holds more events the longer delays are beyond the lookahead.
    Horizon,
    /// Per-LP bounds (after Chandy, Misra and Bryant, as a fixpoint): each LP advances up to the
    /// earliest time at which an event may arrive there, which relaxation computes from the
    /// possible messages of its senders. For models that declare the senders of each LP and have a
    /// lookahead of at least one tick: [`Model`](crate::pdes::Model#neighbours).
    Neighbours,
}

impl Sync {
    /// All methods.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Yawns, Self::Horizon, Self::Neighbours];
}

/// A name that no synchronisation has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown synchronisation '{0}': expected one of {names}", names = Sync::ALL.map(Sync::name).join(", "))]
pub struct UnknownSync(pub String);

crate::text::debug_is_display!(UnknownSync);
