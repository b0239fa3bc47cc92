//! Validates the file of a run.

use crate::time::Ticks;

use super::Checkpoint;
use super::file::{Sections, number, word};
use super::identity::Skew;
use super::sections::{EXECUTED, HELD, MEMORY, NAME, NUMBERS, Numbers, PENDING, STATES};
use crate::pdes::contract::checkpoint_error::CheckpointError;
use crate::pdes::contract::error::MAX_LPS;

/// The limit of windows and events in a run.
const MOST: u64 = 1 << 62;

impl Checkpoint {
    /// A checkpoint from a file, if the file is one of a run.
    pub(super) fn of(file: Sections) -> Result<Self, CheckpointError> {
        let wrong = |what| Err(CheckpointError::Inconsistent { what });
        let numbers: Numbers = file.numbers(NUMBERS)?;
        if std::str::from_utf8(file.section(NAME)).is_err() {
            return wrong("the model's name is not UTF-8");
        }
        let Numbers { lps, state_bytes, payload_words, memory_rows, .. } = numbers;
        if lps == 0 || lps > MAX_LPS.into() || ![2, 6].contains(&payload_words) {
            return wrong("its number of LPs or its payload is invalid");
        }
        let narrow = |number: u64| u32::try_from(number).is_ok();
        // A resumed run continues these counts.
        let counts = [numbers.windows, numbers.events];
        if !numbers.replica.into_iter().all(narrow)
            || !narrow(memory_rows)
            || counts.iter().any(|&count| count >= MOST)
            || numbers.lp_skew[0] > Skew::Further as u64
        {
            return wrong("a number is out of range");
        }
        let each = [
            (STATES, Some(state_bytes)),
            (MEMORY, memory_rows.checked_mul(16)),
            (EXECUTED, Some(8)),
            (HELD, Some(4)),
        ];
        for (section, row) in each {
            if row.and_then(|row| row.checked_mul(lps)) != Some(file.section(section).len() as u64) {
                return wrong("it has rows for more or fewer LPs than the model has");
            }
        }
        let executed = file.section(EXECUTED).chunks_exact(8).map(number).try_fold(0_u64, u64::checked_add);
        if executed != Some(numbers.events) {
            return wrong("its LPs have executed more or fewer events than the run");
        }
        let event_bytes = 8 + 4 * usize::try_from(payload_words).expect("2 or 6");
        let held = file.section(HELD).chunks_exact(4).map(word);
        let total = held.clone().try_fold(0, |sum: u64, count| sum.checked_add(count.into()));
        if total.and_then(|total| total.checked_mul(event_bytes as u64))
            != Some(file.section(PENDING).len() as u64)
        {
            return wrong("its LPs hold more or fewer events than the file has");
        }
        let mut events = file.section(PENDING).chunks_exact(event_bytes);
        let mut now = Ticks::NEVER;
        for count in held {
            let mut last = None;
            for event in events.by_ref().take(count as usize) {
                let time = number(event);
                if time == Ticks::NEVER.get() || time < numbers.done {
                    return wrong("an event is pending at a past or invalid time");
                }
                if last.is_some_and(|last| later(last, event)) {
                    return wrong("its events are not in order");
                }
                now = now.min(Ticks::new(time));
                last = Some(event);
            }
        }
        Ok(Self { file, numbers, now })
    }
}

/// Whether an event is later than another.
fn later(event: &[u8], other: &[u8]) -> bool {
    let [words, others] = [event, other].map(|event| event[8..].chunks_exact(4).map(word));
    number(event).cmp(&number(other)).then_with(|| words.cmp(others)).is_gt()
}
