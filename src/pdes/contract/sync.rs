//! How far windows go.

/// How a simulation on the GPU finds how far its LPs may go at once. Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sync {
    /// One of the others: [`Sync::Horizon`] first where there is no lookahead, else
    /// [`Sync::Yawns`]. In runs that last, it measures whether the other is faster, and changes to
    /// it.
    #[default]
    Auto,
    /// To the lookahead after the first pending event, within a cell of time (Baudis et al.,
    /// section IV.A): one dispatch a window. Without a lookahead, a window is a round at one time.
    Yawns,
    /// To the event horizon: the earliest time at which any LP sends an event to another one, which
    /// a dry run of every LP finds (Steinman's breathing time buckets). Two dispatches a window,
    /// which holds more events the longer delays are beyond the lookahead.
    Horizon,
    /// To a horizon of each LP's own: the earliest time at which anything may arrive there, by what
    /// those who may send to it could send, which relaxations find (Chandy, Misra and Bryant's
    /// bounds, as a fixpoint). For models that say who may send to whom, and have a lookahead of at
    /// least one tick: [`Model`](crate::pdes::Model#neighbours).
    Neighbours,
}

impl Sync {
    /// Every one of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Yawns, Self::Horizon, Self::Neighbours];
}

/// No way to synchronise has this name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no way to synchronise: there are {names}", names = Sync::ALL.map(Sync::name).join(", "))]
pub struct UnknownSync(pub String);

crate::text::debug_is_display!(UnknownSync);
