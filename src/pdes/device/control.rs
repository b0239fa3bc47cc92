//! The layout of `words` and `lps`, and the state of a run between calls.

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
    /// Rows of a half of the control block in `lps`. Between calls half 0 is valid, because windows
    /// are recorded in pairs.
    pub(in crate::pdes) const CONTROL_ROWS: usize;
}
shared! {
    "pdes/calendar/calendar.wgsl":
    /// A bit in the last word of the second row of control, for calendars.
    pub(in crate::pdes) const SERVED: u32 as PHASE_SERVED;
}

/// The state of a run between calls.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdes) struct Control {
    pub(in crate::pdes) windows: u64,
    pub(in crate::pdes) events: u64,
    /// The time before which all events are executed, and the consecutive windows that began there.
    pub(in crate::pdes) now: Ticks,
    pub(in crate::pdes) rounds: u32,
}

/// The control block of a running simulation at some window: half 0.
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
