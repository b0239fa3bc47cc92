//! What lies where in `words` and `lps`, and where a run is between calls.

use crate::time::Ticks;

shared! {
    "pdes/engine.wgsl":
    // Words of `words`.
    pub(in crate::pdes) const FAILURE: usize;
    pub(in crate::pdes) const QUEUE_NEEDED: usize;
    pub(in crate::pdes) const MAIL_NEEDED: usize;
    pub(in crate::pdes) const DIGEST_CUT: usize;
    pub(in crate::pdes) const OUTBOX_NEEDED: usize;
    pub(in crate::pdes) const COUNTS: usize;
    /// Rows of a half of control in `lps`: between calls, half 0 is the one that counts, because
    /// windows are recorded in pairs.
    pub(in crate::pdes) const CONTROL_ROWS: usize;
}
shared! {
    "pdes/calendar/calendar.wgsl":
    /// In the last word of the second row of control, for calendars.
    pub(in crate::pdes) const SERVED: u32 as PHASE_SERVED;
}

/// Where a run is between calls.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdes) struct Control {
    pub(in crate::pdes) windows: u64,
    pub(in crate::pdes) events: u64,
    /// The time up to which all is done, and the windows in a row that began there.
    pub(in crate::pdes) now: Ticks,
    pub(in crate::pdes) rounds: u32,
}

/// The control of a run that has not stopped, at some window: half 0.
pub(in crate::pdes) fn control_at(
    windows: u64,
    events: u64,
    (now, rounds): (Ticks, u32),
    base: Ticks,
) -> [[u32; 4]; CONTROL_ROWS] {
    let row = |a: Ticks, b: Ticks| {
        let ([a, b], [c, d]) = (a.to_words(), b.to_words());
        [a, b, c, d]
    };
    [
        row(Ticks::new(windows), Ticks::new(events)),
        row(now, Ticks::from_words([0, rounds])),
        row(base, Ticks::NEVER),
        [0; 4],
        [0; 4],
    ]
}
