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
    pub(in crate::pdes) const ARRIVED_MARKS: usize;
    pub(in crate::pdes) const COUNTS: usize;
    /// Rows of a half of the control block in `lps`. Between calls half 0 is valid, because windows
    /// are recorded in pairs.
    pub(in crate::pdes) const CONTROL_ROWS: usize;
}
shared! {
    "pdes/calendar/calendar.wgsl":
    /// A bit in the last word of the second row of control, for calendars.
    pub(in crate::pdes) const SERVED: u32 as PHASE_SERVED;
    const LIST: u32 as PHASE_LIST;
}

/// Rows of a half of the control block that a part with a calendar reports.
pub(in crate::pdes) const REPORTED_ROWS: usize = 4;

/// The earliest time that may be pending in a calendar after a window: that of an epoch with
/// events, or of the lists. `rows` is what the window left in the control block, `partials` its
/// reductions. Exact if the run has stopped.
pub(in crate::pdes) fn calendar_first(
    rows: &[u32],
    partials: &[u32],
    buckets: u32,
    epoch_length: Ticks,
) -> Ticks {
    let time = |at: usize| Ticks::from_words([rows[at], rows[at + 1]]);
    let stopped = rows[6] != 0;
    if stopped {
        return time(4);
    }
    let (base, turn) = (time(8), rows[7] & (LIST - 1));
    let (mut far, mut marks) = (time(10), rows[14]);
    for partial in partials.chunks_exact(4) {
        far = far.min(Ticks::from_words([partial[0], partial[1]]));
        marks |= partial[3];
    }
    if marks == 0 {
        return far;
    }
    let ahead = if turn == 0 { marks } else { marks >> turn | marks << (buckets - turn) }.trailing_zeros();
    let span = epoch_length.get().saturating_mul(ahead.into());
    far.min(base.saturating_add(Ticks::new(span)))
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
