//! Where runs end, how far they came, and what is pending then.

use crate::time::Ticks;

use super::event::Event;

/// Events that are pending, each with the LP that holds it.
pub type Pending<P = [u32; 2]> = Vec<(u32, Event<P>)>;

/// Where a run ends: at whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// Events at this time and later are left pending.
    pub time: Ticks,
    /// The run ends after the first window in which so many events, counted from the start of the
    /// simulation, were executed.
    pub events: u64,
}

impl Until {
    /// Until no event is pending.
    pub const EMPTY: Self = Self { time: Ticks::NEVER, events: u64::MAX };

    /// Until `time`: exactly the events with smaller timestamps are executed.
    pub const fn time(time: Ticks) -> Self {
        Self { time, ..Self::EMPTY }
    }

    /// Until the first window that ends with at least `events` events executed.
    pub const fn events(events: u64) -> Self {
        Self { events, ..Self::EMPTY }
    }

    /// Whether a run is at its end when the first pending event is at `now` and `events` were
    /// executed.
    pub(in crate::pdes) fn reached(self, now: Ticks, events: u64) -> Option<Stop> {
        if now == Ticks::NEVER {
            Some(Stop::Empty)
        } else if now >= self.time {
            Some(Stop::Time)
        } else if events >= self.events {
            Some(Stop::Events)
        } else {
            None
        }
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// At the end of a run, the time of the first pending event, or [`Ticks::NEVER`] where none is
    /// pending. While it runs, the start of the last window.
    pub now: Ticks,
    /// Events executed since the simulation began. While it runs, those of the last window may be
    /// missing.
    pub events: u64,
    /// Windows since the simulation began. They depend on where runs were cut, and on how far
    /// windows go ([`Sync`](crate::pdes::Sync)); all else does not. With
    /// [`Sync::Neighbours`](crate::pdes::Sync::Neighbours) they also depend on which LPs share a
    /// workgroup or a binding: how far bounds have come does.
    pub windows: u64,
    /// Why the run ended; `None` while it goes on.
    pub stop: Option<Stop>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// The time of [`Until::time`] was reached.
    Time,
    /// The number of events of [`Until::events`] was reached.
    Events,
    /// No event is pending.
    Empty,
    /// The watcher stopped it, after some window. It can be read, and a later run goes on from
    /// there.
    Watcher,
}
