//! When runs end, their progress, and the events pending then.

use crate::time::Ticks;

use super::event::Event;

/// Events that are pending, each with the LP that holds it.
pub type Pending<P = [u32; 2]> = Vec<(u32, Event<P>)>;

/// The end of a run: whichever of the two limits comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// The stop time: events at this time and later stay pending.
    pub time: Ticks,
    /// The run ends after the first window in which the number of executed events, counted from the
    /// start of the simulation, reaches this.
    pub events: u64,
}

impl Until {
    /// Runs until no event is pending.
    pub const EMPTY: Self = Self { time: Ticks::NEVER, events: u64::MAX };

    /// Runs until `time`: executes exactly the events with smaller timestamps.
    pub const fn time(time: Ticks) -> Self {
        Self { time, ..Self::EMPTY }
    }

    /// Runs until the first window that ends with at least `events` executed events.
    pub const fn events(events: u64) -> Self {
        Self { events, ..Self::EMPTY }
    }

    /// Why a run has ended, if the first pending event is at `now` and `events` events were
    /// executed; `None` if it has not.
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

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// At the end of a run, the time of the first pending event, or [`Ticks::NEVER`] if none is
    /// pending. While it runs, the start of the last window.
    pub now: Ticks,
    /// Events executed since the simulation began. While it runs, the events of the last window may
    /// be missing.
    pub events: u64,
    /// Windows since the simulation began. Their number depends on where runs ended and on the
    /// synchronisation ([`Sync`](crate::pdes::Sync)); nothing else does. With
    /// [`Sync::Neighbours`](crate::pdes::Sync::Neighbours) it also depends on which LPs share a
    /// workgroup or a binding, because bounds travel further within one. In a team
    /// ([`Mapping::Team`](crate::pdes::Mapping::Team)), event-horizon windows also depend on time.
    pub windows: u64,
    /// Why the run ended; `None` while it runs.
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
    /// The watcher stopped it after a window. It can be read, and a later run continues from there.
    Watcher,
}
