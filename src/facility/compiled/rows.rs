//! The rows of sums that the interpreter reports, from what a compiled replication leaves:
//! notes/compiled-networks.md derives them.

use super::ir::{Ir, Kind};
use crate::facility::{ClassOutput, FacilityOutput, Level, TimeSums};

shared! {
    "facility/compiled/state.wgsl":
    pub(super) const NETWORK_CONTROL: usize;
    pub(super) const PAIR_WORDS: usize;
    pub(super) const VISIT_WORDS: usize;
    const PAIR_SOJOURN: usize;
    const PAIR_WAIT: usize;
    const PAIR_LOST: usize;
    const PAIR_RENEGED: usize;
    const PAIR_BALKED: usize;
    const PAIR_BEGUN: usize;
    const PAIR_ENDED: usize;
    const PAIR_TRIPS: usize;
    const PAIR_OUT: usize;
    const PAIR_INTERRUPTED: usize;
}

/// Counts and sums of ages at a visit of all customers.
struct Visit {
    customers: u32,
    served: u32,
    ages: u64,
    ages_served: u64,
    /// The parts of all ages after the warm-up.
    ages_measured: u64,
}

impl Visit {
    fn of(words: &[u32]) -> Self {
        let [ages, ages_served, ages_measured] =
            [2, 4, 6].map(|at| u64::from(words[at]) | u64::from(words[at + 1]) << 32);
        Self { customers: words[0], served: words[1], ages, ages_served, ages_measured }
    }
}

/// A number of several words, low word first.
fn joined(words: &[u32]) -> u128 {
    words.iter().rev().fold(0, |sum, &word| sum << 32 | u128::from(word))
}

impl Ir {
    /// The number of words of the network's state.
    pub(super) fn words(&self) -> usize {
        self.pairs() + PAIR_WORDS * self.places()
    }

    /// Words of a customer in a ring.
    pub(super) fn ring_words(&self) -> usize {
        match (self.is_impatient || self.blocks, self.classes) {
            (true, _) => 4,
            (false, 1) => 2,
            (false, _) => 3,
        }
    }

    /// Words of a replication's results.
    pub(super) fn result_words(&self) -> usize {
        2 * VISIT_WORDS * self.places()
    }

    /// Classes at nodes.
    fn places(&self) -> usize {
        self.classes as usize * self.nodes.len()
    }

    /// The first word of the rows of classes at nodes.
    pub(super) fn pairs(&self) -> usize {
        4 * self.slots.len() + self.heaps as usize + 3 * self.rings.len()
    }

    /// The outputs of nodes, from the state and the results of a replication that ended `measured`
    /// ticks after its warm-up.
    pub(super) fn outputs(&self, state: &[u32], results: &[u32], measured: u64) -> Vec<FacilityOutput> {
        let classes = self.classes as usize;
        let (first, last) = results.split_at(VISIT_WORDS * self.places());
        let output = |(number, node): (usize, &super::ir::Node)| {
            let mut output = FacilityOutput::default();
            let own = &state[self.pairs() + PAIR_WORDS * number * classes..];
            let level = |at: usize| Level::of(joined(&own[at..at + 3]), own[at + 3]);
            output.trips = level(PAIR_TRIPS);
            output.servers = level(PAIR_OUT);
            output.interrupted = level(PAIR_INTERRUPTED);
            for class in 0..classes {
                let place = number * classes + class;
                let sums = &state[self.pairs() + PAIR_WORDS * place..][..PAIR_WORDS];
                let [first, last] =
                    [first, last].map(|visit| Visit::of(&visit[VISIT_WORDS * place..][..VISIT_WORDS]));
                output.classes[class] = class_output(&node.kind, sums, &first, &last, measured);
            }
            output
        };
        self.nodes.iter().enumerate().map(output).collect()
    }
}

fn class_output(kind: &Kind, sums: &[u32], first: &Visit, last: &Visit, measured: u64) -> ClassOutput {
    let served = u64::from(sums[0]);
    let times = |at: usize, count| {
        let words = &sums[at..at + 5];
        TimeSums::new(joined(&words[..2]), [words[2], words[3], words[4], 0], count)
    };
    let count = |at: usize| u64::from(sums[at]);
    let output = ClassOutput {
        sojourn: times(PAIR_SOJOURN, served),
        begun: count(PAIR_BEGUN),
        ended: count(PAIR_ENDED),
        ..ClassOutput::default()
    };
    match kind {
        Kind::Source { .. } => output,
        Kind::Router | Kind::Sink => ClassOutput { arrivals: served, ..output },
        Kind::Station { .. } => {
            let [lost, reneged, balked] = [PAIR_LOST, PAIR_RENEGED, PAIR_BALKED].map(count);
            let [stay, waited, gave_up] =
                [PAIR_SOJOURN, PAIR_WAIT, PAIR_RENEGED + 1].map(|at| joined(&sums[at..at + 2]));
            let since = |customers: u32| u128::from(customers) * u128::from(measured);
            let present = since(last.customers)
                .wrapping_sub(last.ages.into())
                .wrapping_add(first.ages.into())
                .wrapping_sub(stay)
                .wrapping_sub(gave_up);
            let busy = since(last.served)
                .wrapping_sub(last.ages_served.into())
                .wrapping_add(first.ages_served.into())
                .wrapping_add(waited)
                .wrapping_sub(stay);
            let began = (served + u64::from(last.served)).wrapping_sub(first.served.into());
            let changed = u64::from(last.customers).wrapping_sub(first.customers.into());
            let apart = first.ages.wrapping_sub(last.ages).wrapping_add(last.ages_measured);
            ClassOutput {
                wait: times(PAIR_WAIT, began),
                present: Level::of(present, last.customers),
                busy: Level::of(busy, last.served),
                arrivals: (served + lost + reneged + balked).wrapping_add(changed),
                lost,
                reneged,
                balked,
                came: u64::from(last.customers).wrapping_mul(measured).wrapping_sub(last.ages_measured),
                #[expect(clippy::cast_possible_truncation, reason = "modulo 2^64")]
                apart: apart.wrapping_sub(gave_up as u64),
                ..output
            }
        }
    }
}
