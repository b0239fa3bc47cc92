//! What lies where in `words` and `lps`, and where a run is between calls.

use crate::time::Ticks;

/// Words of `words` in `shaders/pdes/engine.wgsl`.
pub(in crate::pdes) const FAILURE: usize = 0;
pub(in crate::pdes) const QUEUE_NEEDED: usize = 2;
pub(in crate::pdes) const MAIL_NEEDED: usize = 3;
pub(in crate::pdes) const DIGEST_CUT: usize = 4;
pub(in crate::pdes) const OUTBOX_NEEDED: usize = 5;
pub(in crate::pdes) const COUNTS: usize = 16;

/// Rows of a half of control in `lps`: between calls, half 0 is the one that counts, because windows are recorded in pairs.
pub(in crate::pdes) const CONTROL_ROWS: usize = 5;
/// In the last word of its second row, for calendars (`shaders/pdes/calendar/calendar.wgsl`).
pub(in crate::pdes) const SERVED: u32 = 0x200;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shaders;

    #[test]
    fn words_lie_where_the_kernels_say() {
        let words = [
            ("FAILURE", FAILURE),
            ("QUEUE_NEEDED", QUEUE_NEEDED),
            ("MAIL_NEEDED", MAIL_NEEDED),
            ("DIGEST_CUT", DIGEST_CUT),
            ("OUTBOX_NEEDED", OUTBOX_NEEDED),
            ("COUNTS", COUNTS),
            ("CONTROL_ROWS", CONTROL_ROWS),
        ];
        for (name, value) in words {
            assert_eq!(
                shaders::constant("pdes/engine.wgsl", name).map(|value| value as usize),
                Some(value),
                "{name}"
            );
        }
    }
}
