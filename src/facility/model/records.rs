//! The reference implementation of `shaders/facility/network/records.wgsl`: counters in LP memory.

use std::collections::BTreeSet;

use super::level::{Level, TimeSums, number, row};
use super::{
    BLOCK, CLASSES, Customer, FacilityState, INTERRUPTED, NetworkContext, OTHERS, SERVERS, SINCE, TRAVELLERS,
    halves, since, times,
};
use crate::facility::{ClassOutput, Facility, FacilityOutput, MAX_CLASSES};
use crate::statistics::quantiles::{self, BIN_ROWS, BINS, LENGTHS, length_bin};
use crate::time::Ticks;

shared! {
    "facility/network/records.wgsl":
    // Rows of a class's block, and its further rows; the WGSL describes their contents.
    const PRESENT: u32;
    const AGES: u32;
    const BUSY: u32;
    const SOJOURN: u32;
    const WAIT: u32;
    const LOSSES: u32;
    const BALKS: u32;
    const APART: u32;
    const TRIPS: u32;
    pub(super) const CAME_BEFORE: u32;
}

/// Words of a histogram with `limits` limits of shares.
pub(in crate::facility) fn histogram_words(limits: u32) -> usize {
    4 * (BIN_ROWS + limits.div_ceil(4)) as usize
}

/// The customers of a class at a node, in an LP's memory: of a run whose statistics begin at time
/// zero.
pub(in crate::facility) fn present_of(memory: &[[u32; 4]], class: usize) -> Level {
    bytemuck::cast(memory[(block_of(super::word(class)) + PRESENT) as usize])
}

/// The histogram of sojourn times of a class, in an LP's memory whose details begin at row
/// `details`.
pub(in crate::facility) fn sojourns_of(memory: &[[u32; 4]], details: u32, class: usize) -> &[u32] {
    let first = details + super::word(LENGTHS) / 2 + 2 * super::word(class) * BIN_ROWS;
    memory[first as usize..][..BIN_ROWS as usize].as_flattened()
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodeRecord {
    pub(super) arrivals: u32,
    pub(super) served: u32,
    pub(super) lost: u32,
    pub(super) reneged: u32,
    pub(super) balked: u32,
    pub(super) joined: u32,
    pub(super) begun: u32,
    pub(super) ended: u32,
    pub(super) present: i32,
    pub(super) busy: i32,
    /// Whether the service of `next` begins.
    pub(super) fresh: bool,
    /// Servers that `next` took, if it is not the arriving customer.
    pub(super) taken: i32,
    /// The class of the preempted customer.
    pub(super) interrupted: Option<u32>,
    /// Change of the level in row SERVERS.
    pub(super) kept: i32,
    /// Whether customers spend time at the node.
    pub(super) visited: bool,
}

shared! {
    "facility/network/records.wgsl":
    // Kinds of notes on followed customers.
    const CAME: u32;
    pub(in crate::facility) const BEGAN: u32;
    pub(in crate::facility) const LEFT: u32;
    pub(in crate::facility) const LOST: u32;
    pub(in crate::facility) const BALKED: u32;
    pub(in crate::facility) const RENEGED: u32;
}

pub(super) fn node_record_of(deed: NodeRecord) -> u32 {
    match deed {
        NodeRecord { served: 1.., .. } => LEFT,
        NodeRecord { lost: 1.., .. } => LOST,
        NodeRecord { balked: 1.., .. } => BALKED,
        NodeRecord { reneged: 1.., .. } => RENEGED,
        NodeRecord { present: 1.., .. } => CAME,
        _ => 0,
    }
}

/// The first row of the block of a class, which is also the line of that number. Lines of one
/// station are in the order of their numbers.
pub(super) fn block_of(number: u32) -> u32 {
    BLOCK * (1 + number)
}

impl Facility {
    /// Records what happened to a customer, and to `next`, whose service begins or continues.
    pub(super) fn record(
        &self,
        who: Customer,
        next: Customer,
        deed: NodeRecord,
        context: &mut NetworkContext<'_>,
    ) {
        let (now, warm_up) = (context.now(), self.params.warm_up);
        let (age, came) = (since(now, warm_up), since(who.arrived, warm_up));
        let counts = now >= warm_up;
        let arrivals = if counts { deed.arrivals } else { 0 };
        let (at, others) = (block_of(who.class), self.others_of(who.class));
        let mut level = |row: u32, change: i32| {
            if change != 0 {
                let mut level: Level = bytemuck::cast(context.memory_get(row));
                level.change(change, age.get());
                context.memory_set(row, bytemuck::cast(level));
            }
        };
        level(at + PRESENT, deed.present);
        level(at + BUSY, deed.busy);
        level(block_of(next.class) + BUSY, deed.taken);
        if let Some(class) = deed.interrupted {
            level(block_of(class) + BUSY, -1);
        }
        level(TRAVELLERS, deed.begun.cast_signed() - deed.ended.cast_signed());
        level(SERVERS, deed.kept);
        if deed.present != 0 || arrivals > 0 {
            let came = match deed.present {
                1.. => came.get(),
                0 => 0,
                _ => came.get().wrapping_neg(),
            };
            add(at + AGES, [came, arrivals.into()], context);
        }
        if counts {
            let served = deed.served > 0;
            if served {
                let stay = if deed.visited { since(now, who.arrived) } else { Ticks::ZERO };
                self.observed(who.class, 0, stay, deed.served, context);
            }
            if deed.fresh {
                self.observed(next.class, 1, since(now, next.arrived), 1, context);
            }
            // Most stays begin and end after the warm-up, and with a service.
            let apart = match served {
                true => since(warm_up, who.arrived).get(),
                false => since(age, came).get().wrapping_neg(),
            };
            let apart = if deed.present < 0 { apart } else { 0 };
            for (row, more) in [
                (LOSSES, [deed.lost, deed.reneged].map(u64::from)),
                (BALKS, [deed.balked, deed.joined].map(u64::from)),
                (APART, [apart, 0]),
                (TRIPS, [deed.begun, deed.ended].map(u64::from)),
            ] {
                if more != [0, 0] {
                    add(others + row, more, context);
                }
            }
            if self.params.details != 0 {
                if served && deed.visited {
                    self.count(who.class, 0, since(now, who.arrived), context);
                }
                if deed.fresh {
                    self.count(next.class, 1, since(now, next.arrived), context);
                }
            }
        }
        if self.params.trace != 0 && deed.visited {
            self.note(who, node_record_of(deed), who.class, context);
            if deed.fresh {
                self.note(next, BEGAN, next.class, context);
            }
        }
    }

    /// Changes the levels of servers that are down and of interrupted customers: numbers before and
    /// after.
    pub(super) fn change_down(&self, before: [u32; 2], after: [u32; 2], context: &mut NetworkContext<'_>) {
        let age = since(context.now(), self.params.warm_up);
        for (row, (before, after)) in [SERVERS, INTERRUPTED].into_iter().zip(before.into_iter().zip(after)) {
            if after != before {
                let mut level: Level = bytemuck::cast(context.memory_get(row));
                level.change(after.wrapping_sub(before).cast_signed(), age.get());
                context.memory_set(row, bytemuck::cast(level));
            }
        }
    }

    /// The first further row of a class.
    pub(super) fn others_of(&self, class: u32) -> u32 {
        BLOCK * (1 + self.params.classes) + OTHERS * class
    }

    /// Adds a time to the sojourns (0) or waits (1) of a class, and `count` to their count.
    fn observed(&self, class: u32, which: u32, time: Ticks, count: u32, context: &mut NetworkContext<'_>) {
        let at = block_of(class) + [SOJOURN, WAIT][which as usize];
        let [a, b, c, counted] = context.memory_get(at);
        let [a, b, c, _] = row(number([a, b, c, 0]) + u128::from(time.get()));
        let (counted, full) = counted.overflowing_add(count);
        context.memory_set(at, [a, b, c, counted]);
        if time > Ticks::ZERO {
            let square = u128::from(time.get()) * u128::from(time.get());
            let squares = number(context.memory_get(at + 1)).saturating_add(square);
            context.memory_set(at + 1, row(squares));
        }
        if full {
            add(self.others_of(class) + APART, [0, 1 << (32 * which)], context);
        }
    }

    /// Counts a time in the histogram of sojourns (0) or waits (1).
    fn count(&self, class: u32, which: u32, time: Ticks, context: &mut NetworkContext<'_>) {
        let place = self.place_of(time);
        let at = self.bins_of(class, which) + place / 4;
        let mut row = context.memory_get(at);
        row[place as usize % 4] += 1;
        context.memory_set(at, row);
    }

    /// The tag of customer `number` (from 0) of a sequence whose first tag is `first`; 0 if not
    /// followed.
    pub(super) fn tag_at(&self, first: u32, number: u32) -> u32 {
        let place = number / self.params.every;
        if number.is_multiple_of(self.params.every) && place < self.params.most { first + place } else { 0 }
    }

    /// The tag stored in the time of entry into the network; 0 without tracing.
    pub(super) fn tag_of(&self, entered: Ticks) -> u32 {
        let [low, _] = entered.to_words();
        if self.params.trace == 0 { 0 } else { low & 0xffff }
    }

    /// The time of entry without the tag.
    pub(super) fn time_of(&self, entered: Ticks) -> Ticks {
        if self.params.trace == 0 { entered } else { Ticks::new(entered.get() >> 16) }
    }

    pub(super) fn note(&self, who: Customer, what: u32, class: u32, context: &mut NetworkContext<'_>) {
        let tag = self.tag_of(who.entered);
        if what == 0 || tag == 0 {
            return;
        }
        let notes = context.memory_get(self.params.trace)[0] + 1;
        if notes >= self.params.trace_rows {
            context.memory_full();
            return;
        }
        context.memory_set(self.params.trace, [notes, 0, 0, 0]);
        let [low, high] = context.now().to_words();
        let note = [tag | what << 16 | class << 24, low, high, who.arrived.to_words()[0]];
        context.memory_set(self.params.trace + notes, note);
    }

    fn later(&self, time: Ticks) -> Ticks {
        time.max(self.params.warm_up)
    }

    fn bins_of(&self, class: u32, which: u32) -> u32 {
        self.params.details + super::word(LENGTHS) / 2 + (2 * class + which) * self.histogram_rows()
    }

    fn histogram_rows(&self) -> u32 {
        BIN_ROWS + self.params.limits[1].div_ceil(4)
    }

    /// Rows of details.
    pub(super) fn detail_rows(&self) -> u32 {
        super::word(LENGTHS) / 2 + self.params.classes * 2 * self.histogram_rows()
    }

    /// The rows of histograms in an LP's memory, as first row and count: by class sojourns, then
    /// waits.
    pub(in crate::facility) fn rows_of_histograms(&self) -> [u32; 2] {
        match self.params.details {
            0 => [0, 0],
            _ => [self.bins_of(0, 0), 2 * self.params.classes * self.histogram_rows()],
        }
    }

    /// The same with details that count times up to each of these limits.
    pub(in crate::facility) fn with_limits(mut self, limits: impl IntoIterator<Item = Ticks>) -> Self {
        let limits: BTreeSet<Ticks> = limits.into_iter().collect();
        let row = |limit: &Ticks| {
            let [low, high] = limit.to_words();
            [low, high, self.bin_of(*limit), 0]
        };
        let rows: Vec<[u32; 4]> = limits.iter().map(row).collect();
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        self.params.limits = [self.data.len() / 4, rows.len()].map(super::word);
        self.data.extend(rows.as_flattened());
        self.laid_out(true)
    }

    /// The rows of limits: a time (2), its bin, zero.
    pub(in crate::facility) fn limits(&self) -> &[[u32; 4]] {
        let [first, count] = self.params.limits.map(|number| number as usize);
        &self.data.as_chunks().0[first..][..count]
    }

    /// The place of a time in a histogram.
    pub(in crate::facility) fn place_of(&self, value: Ticks) -> u32 {
        let bin = self.bin_of(value);
        let not_below = |limit: &[u32; 4]| Ticks::from_words([limit[0], limit[1]]) >= value;
        match (0..).zip(self.limits()).find(|(_, limit)| not_below(limit)) {
            Some((number, limit)) if limit[2] == bin => BINS + number,
            _ => bin,
        }
    }

    /// The bin of a time.
    pub(in crate::facility) fn bin_of(&self, value: Ticks) -> u32 {
        quantiles::bin_of(value.get(), self.params.bin_shift)
    }

    fn lasted(&self, context: &mut NetworkContext<'_>) -> u64 {
        let [last, _] = halves(context.memory_get(SINCE));
        since(context.now(), self.later(last)).get()
    }

    /// Adds the time since the last change to the time with this number of customers.
    pub(super) fn were_here(&self, customers: u32, context: &mut NetworkContext<'_>) {
        if self.params.details == 0 {
            return;
        }
        let place = length_bin(customers);
        let row = self.params.details + super::word(place / 2);
        let mut spans = halves(context.memory_get(row));
        spans[place % 2] = Ticks::new(spans[place % 2].get().wrapping_add(self.lasted(context)));
        context.memory_set(row, times(spans[0], spans[1]));
        context.memory_set(SINCE, times(context.now(), Ticks::ZERO));
    }

    fn class_output(&self, class: u32, context: &mut NetworkContext<'_>) -> ClassOutput {
        let (at, others) = (block_of(class), self.others_of(class));
        let mut counts = |row| halves(context.memory_get(row)).map(Ticks::get);
        let [[came, arrivals], [lost, reneged], [balked, joined], [apart, high], [begun, ended]] =
            [at + AGES, others + LOSSES, others + BALKS, others + APART, others + TRIPS].map(&mut counts);
        let [present, busy] = [PRESENT, BUSY].map(|row| bytemuck::cast(context.memory_get(at + row)));
        let [sojourn, wait] = [(SOJOURN, high << 32), (WAIT, high >> 32 << 32)].map(|(row, high)| {
            let sum = number(context.memory_get(at + row));
            let count = high | (sum >> 96) as u64;
            TimeSums::new(sum & (u128::MAX >> 32), context.memory_get(at + row + 1), count)
        });
        ClassOutput {
            sojourn,
            wait,
            present,
            busy,
            arrivals,
            lost,
            reneged,
            balked,
            came,
            apart,
            joined,
            begun,
            ended,
            unused: 0,
        }
    }

    pub(super) fn reported(&self, state: &FacilityState, context: &mut NetworkContext<'_>) -> FacilityOutput {
        let mut output = FacilityOutput::default();
        let classes = self.params.classes;
        for (class, reported) in (0..classes).zip(&mut output.classes) {
            *reported = self.class_output(class, context);
        }
        [output.trips, output.servers, output.interrupted] =
            [TRAVELLERS, SERVERS, INTERRUPTED].map(|row| bytemuck::cast(context.memory_get(row)));
        if self.params.details == 0 {
            return output;
        }
        let present = length_bin(state.busy + state.waiting);
        for (place, span) in output.lengths.iter_mut().enumerate() {
            let row = context.memory_get(self.params.details + super::word(place / 2));
            *span = halves(row)[place % 2].get();
            if place == present {
                *span = span.wrapping_add(self.lasted(context));
            }
        }
        const { assert!(MAX_CLASSES == CLASSES as usize) };
        output
    }
}

/// Adds to both numbers of a row, modulo 2^64.
fn add(row: u32, more: [u64; 2], context: &mut NetworkContext<'_>) {
    let [first, second] = halves(context.memory_get(row)).map(Ticks::get);
    let sums = [first.wrapping_add(more[0]), second.wrapping_add(more[1])].map(Ticks::new);
    context.memory_set(row, times(sums[0], sums[1]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facility::{Distribution, Network, Source, Station};
    use crate::statistics::quantiles::bin_edges;

    #[test]
    fn bins_hold_the_times_between_their_edges() {
        let network = Network::new("n")
            .source("in", Source::new(Distribution::Exponential(2.0), "s"))
            .station("s", Station::new(Distribution::Exponential(1.0), "out"))
            .sink("out");
        let mut facility = network.compile().unwrap().with_details();
        for shift in [0, 1, 14, 31] {
            facility.params.bin_shift = shift;
            for bin in 0..BINS - 1 {
                let [from, to] = bin_edges(bin, shift);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
                let [from, to] = [from as u64, to as u64];
                assert_eq!(facility.bin_of(Ticks::new(from)), bin);
                assert_eq!(facility.bin_of(Ticks::new(to - 1)), bin);
                assert_eq!(facility.bin_of(Ticks::new(to)), bin + 1);
            }
            assert_eq!(facility.bin_of(Ticks::NEVER), BINS - 1);
        }
    }

    #[test]
    fn places_count_times_up_to_limits_exactly() {
        let network = Network::new("n")
            .source("in", Source::new(Distribution::Exponential(2.0), "s"))
            .station("s", Station::new(Distribution::Exponential(1.0), "out"))
            .sink("out");
        let limits = [0, 1, 3, 17, 70, 71, 72, 1000, 1 << 40].map(Ticks::new);
        let values: Vec<u64> = (0..1500).chain([1 << 39, 1 << 40, (1 << 40) + 1, 1 << 50]).collect();
        for shift in [0, 2, 31] {
            let mut facility = network.compile().unwrap();
            facility.params.bin_shift = shift;
            let facility = facility.with_limits(limits);
            for (number, limit) in (0..).zip(limits) {
                let bin = facility.bin_of(limit);
                let is_below = |place: u32| place < bin || (BINS..=BINS + number).contains(&place);
                let below = values.iter().filter(|value| is_below(facility.place_of(Ticks::new(**value))));
                let exact = values.iter().filter(|value| **value <= limit.get());
                assert_eq!(below.count(), exact.count(), "{shift}: {limit}");
            }
        }
    }
}
