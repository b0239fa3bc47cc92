//! The rows of sums that the interpreter reports, from what a compiled replication leaves:
//! notes/compiled-networks.md derives them.

use super::ir::{Details, Ir, Kind, Node, Service};
use crate::facility::model::histogram_words;
use crate::facility::{ClassOutput, FacilityOutput, Level, TimeSums};
use crate::statistics::quantiles::{LENGTHS, length_bin};
use crate::time::Ticks;

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
    const PAIR_RESUMED: usize;
    const PAIR_JOINED: usize;
}

/// The results of a replication.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The outputs of nodes.
    pub rows: Vec<FacilityOutput>,
    /// With details, by node and class: rows of sojourns and of waits.
    pub histograms: Vec<[u32; 4]>,
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
        self.pairs() + PAIR_WORDS * self.places() + self.extra as usize + 2 * self.slots.len()
    }

    /// Words of a customer in a ring.
    pub(super) fn ring_words(&self) -> usize {
        match (self.is_impatient || self.blocks, self.classes) {
            _ if self.preempts => 5,
            (true, _) => 4,
            (false, 1) => 2,
            (false, _) => 3,
        }
    }

    /// Words of a replication's results.
    pub(super) fn result_words(&self) -> usize {
        let details = self.details.map_or(0, |Details { limits, .. }| {
            2 * histogram_words(limits) * self.places() + 2 * LENGTHS * self.nodes.len()
        });
        2 * VISIT_WORDS * self.places() + details
    }

    /// With details, the histograms of sojourns and of waits of each class at each node. `rows` are
    /// the outputs of the same results.
    pub(super) fn histograms(&self, results: &[u32], rows: &[FacilityOutput]) -> Vec<[u32; 4]> {
        let Some(Details { limits, zero, .. }) = self.details else { return Vec::new() };
        let histogram = histogram_words(limits);
        let words = 2 * histogram * self.places();
        let mut bins = results[2 * VISIT_WORDS * self.places()..][..words].to_vec();
        let classes = rows.iter().flat_map(|row| &row.classes[..self.classes as usize]);
        for (histograms, class) in bins.chunks_exact_mut(2 * histogram).zip(classes) {
            // A wait of 0 was not counted.
            let waits = &mut histograms[histogram..];
            let longer: u32 = waits.iter().fold(0, |sum, count| sum.wrapping_add(*count));
            #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32, as counts are")]
            let all = class.wait.count() as u32;
            let zeros = &mut waits[zero as usize];
            *zeros = zeros.wrapping_add(all.wrapping_sub(longer));
        }
        bins.as_chunks().0.to_vec()
    }

    /// Classes at nodes.
    fn places(&self) -> usize {
        self.classes as usize * self.nodes.len()
    }

    /// The first word of the rows of classes at nodes.
    pub(super) fn pairs(&self) -> usize {
        4 * self.slots.len() + self.heaps as usize + 3 * self.rings.len()
    }

    /// Whether a ring of `size` customers, or a node that shares its servers among them, is full in
    /// a replication's state.
    pub(super) fn has_full_ring(&self, state: &[u32], size: u32) -> bool {
        // Customers, and with patience places in use.
        let heaps = 4 * self.slots.len();
        let (first, rings) = (heaps + self.heaps as usize, self.rings.len());
        let used = |ring: usize| state[first + ring].max(state[first + 2 * rings + ring]);
        let is_full = |node: &Node| match node.kind {
            Kind::Station { service: Service::Shared { heap, .. }, .. } => {
                state[heaps + heap as usize] >= size
            }
            _ => false,
        };
        (0..rings).any(|ring| used(ring) >= size) || self.nodes.iter().any(is_full)
    }

    /// The outputs of nodes, from the state and the results of a replication that ended `measured`
    /// ticks after its warm-up.
    pub(super) fn outputs(&self, state: &[u32], results: &[u32], measured: u64) -> Vec<FacilityOutput> {
        let classes = self.classes as usize;
        let (first, last) = results.split_at(VISIT_WORDS * self.places());
        let output = |(number, node): (usize, &Node)| {
            let mut output = FacilityOutput::default();
            let own = &state[self.pairs() + PAIR_WORDS * number * classes..];
            let level = |at: usize| Level::of(joined(&own[at..at + 3]), own[at + 3]);
            output.trips = level(PAIR_TRIPS);
            output.servers = level(PAIR_OUT);
            if !node.preempts() {
                output.interrupted = level(PAIR_INTERRUPTED);
            }
            for class in 0..classes {
                let place = number * classes + class;
                let sums = &state[self.pairs() + PAIR_WORDS * place..][..PAIR_WORDS];
                let [first, last] =
                    [first, last].map(|visit| Visit::of(&visit[VISIT_WORDS * place..][..VISIT_WORDS]));
                output.classes[class] = class_output(node, sums, &first, &last, measured);
            }
            if self.details.is_some() {
                let customers = output.classes.iter().map(|class| class.present.level()).sum::<u32>();
                match node.kind {
                    Kind::Station { .. } => {
                        let first = results.len() - 2 * LENGTHS * (self.nodes.len() - number);
                        let words = results[first..][..2 * LENGTHS].as_chunks::<2>().0;
                        output.lengths = std::array::from_fn(|length| Ticks::from_words(words[length]).get());
                    }
                    // Only the number at the end is known.
                    _ => output.lengths[length_bin(customers)] = measured,
                }
            }
            output
        };
        self.nodes.iter().enumerate().map(output).collect()
    }
}

impl Node {
    fn preempts(&self) -> bool {
        matches!(self.kind, Kind::Station { service: Service::Preemptive { .. }, .. })
    }
}

fn class_output(node: &Node, sums: &[u32], first: &Visit, last: &Visit, measured: u64) -> ClassOutput {
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
    let is_fork = match node.kind {
        Kind::Source { .. } => return output,
        Kind::Router | Kind::Sink => return ClassOutput { arrivals: served, ..output },
        Kind::Fork { .. } => true,
        Kind::Station { .. } => false,
    };
    let [lost, joined_tasks] = match is_fork {
        true => [0, count(PAIR_JOINED)],
        false => [count(PAIR_LOST), 0],
    };
    let [reneged, balked] = [PAIR_RENEGED, PAIR_BALKED].map(count);
    let [stay, waited, gave_up] =
        [PAIR_SOJOURN, PAIR_WAIT, PAIR_RENEGED + 1].map(|at| joined(&sums[at..at + 2]));
    let since = |customers: u32| u128::from(customers) * u128::from(measured);
    let present = since(last.customers)
        .wrapping_sub(last.ages.into())
        .wrapping_add(first.ages.into())
        .wrapping_sub(stay)
        .wrapping_sub(gave_up);
    // Those in service have begun it, interrupted ones too.
    let busy = since(last.served)
        .wrapping_sub(last.ages_served.into())
        .wrapping_add(first.ages_served.into())
        .wrapping_add(waited)
        .wrapping_sub(stay);
    let (busy, in_service) = match node.preempts() {
        true => (
            busy.wrapping_add(joined(&sums[PAIR_RESUMED..PAIR_RESUMED + 3])),
            last.served.wrapping_add(sums[PAIR_RESUMED + 3]),
        ),
        false => (busy, last.served),
    };
    let (busy, began) = match is_fork {
        true => (Level::default(), 0),
        false => {
            (Level::of(busy, in_service), (served + u64::from(last.served)).wrapping_sub(first.served.into()))
        }
    };
    let changed = u64::from(last.customers).wrapping_sub(first.customers.into());
    let apart = first.ages.wrapping_sub(last.ages).wrapping_add(last.ages_measured);
    ClassOutput {
        wait: times(PAIR_WAIT, began),
        present: Level::of(present, last.customers),
        busy,
        arrivals: (served + lost + reneged + balked).wrapping_add(changed),
        lost,
        reneged,
        balked,
        joined: joined_tasks,
        came: u64::from(last.customers).wrapping_mul(measured).wrapping_sub(last.ages_measured),
        #[expect(clippy::cast_possible_truncation, reason = "modulo 2^64")]
        apart: apart.wrapping_sub(gave_up as u64),
        ..output
    }
}
