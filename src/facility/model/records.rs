//! The twin of `shaders/facility/network/records.wgsl`: what is counted, in LP memory.

use super::{
    CLASSES, Customer, FacilityState, Here, RECORD_ROWS, RECORDS, SERVERS, TRIP_COUNTS, halves, since, times,
};
use crate::facility::{ClassOutput, Facility, FacilityOutput, MAX_CLASSES, Quantile};
use crate::statistics::{Tally, TimeAverage};
use crate::time::Ticks;

/// What a histogram's quantiles are told of, in percent.
pub const QUANTILES: [u32; 4] = [50, 90, 95, 99];

/// Numbers of customers whose time is told; the last is that of more.
pub const LENGTHS: usize = 32;

const BINS: u32 = 464;
/// What is longer is here, too.
pub(in crate::facility) const LAST_BIN: u32 = BINS - 1;
const BIN_ROWS: u32 = BINS / 4;

/// Rows of details for so many classes.
pub(super) fn detail_rows(classes: u32) -> u32 {
    super::word(LENGTHS) / 2 + classes * 2 * BIN_ROWS
}

/// The customers of a class who are there, in an LP's memory: of a run whose statistics begin at time zero.
pub(in crate::facility) fn present_of(memory: &[[u32; 4]], class: usize) -> TimeAverage {
    let at = record_of(super::word(class)) as usize + 8;
    let rows: [[u32; 4]; 3] = [memory[at], memory[at + 1], memory[at + 2]];
    bytemuck::cast(rows)
}

/// The customers of a class in each bin of their sojourn times, in an LP's memory with details that begin at a row.
pub(in crate::facility) fn sojourns_of(memory: &[[u32; 4]], details: u32, class: usize) -> &[u32] {
    let first = details + super::word(LENGTHS) / 2 + 2 * super::word(class) * BIN_ROWS;
    memory[first as usize..][..BIN_ROWS as usize].as_flattened()
}

/// The times that a bin holds: from the first to before the second, in ticks.
pub(in crate::facility) fn bin_edges(bin: u32, shift: u32) -> [f64; 2] {
    let edge = |bin: u32| match bin {
        0..16 => f64::from(bin),
        _ => f64::from(16 + bin % 16) * f64::from(bin / 16 - 1).exp2(),
    };
    [bin, bin + 1].map(|bin| edge(bin) * f64::from(shift).exp2())
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Deed {
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
}

/// What is noted of a customer who is followed.
const CAME: u32 = 1;
/// To be served.
pub(in crate::facility) const BEGAN: u32 = 2;
pub(in crate::facility) const LEFT: u32 = 3;
pub(in crate::facility) const LOST: u32 = 4;
pub(in crate::facility) const BALKED: u32 = 5;
pub(in crate::facility) const RENEGED: u32 = 6;

pub(super) fn deed_of(deed: Deed) -> u32 {
    match deed {
        Deed { served: 1.., .. } => LEFT,
        Deed { lost: 1.., .. } => LOST,
        Deed { balked: 1.., .. } => BALKED,
        Deed { reneged: 1.., .. } => RENEGED,
        Deed { present: 1.., .. } => CAME,
        _ => 0,
    }
}

pub(super) fn record_of(class: u32) -> u32 {
    RECORDS + class * RECORD_ROWS
}

fn rows<const N: usize>(at: u32, context: &mut Here<'_>) -> [[u32; 4]; N] {
    let mut row = at..;
    [(); N].map(|()| context.memory_get(row.next().unwrap_or(at)))
}

fn set_rows(at: u32, rows: &[[u32; 4]], context: &mut Here<'_>) {
    for (row, words) in (at..).zip(rows) {
        context.memory_set(row, *words);
    }
}

impl Facility {
    pub(super) fn record(&self, who: Customer, deed: Deed, context: &mut Here<'_>) {
        let at = record_of(who.class);
        let now = context.now();
        if deed.present != 0 {
            let [came, stayed] = halves(context.memory_get(at + 16)).map(Ticks::get);
            let (till, since) = (self.later(now).get(), self.later(who.arrived).get());
            let ages = if deed.present > 0 {
                [came.wrapping_add(till), stayed]
            } else {
                [came.wrapping_sub(since), stayed.wrapping_add(till.wrapping_sub(since))]
            };
            context.memory_set(at + 16, times(Ticks::new(ages[0]), Ticks::new(ages[1])));
        }
        if now < self.params.warm_up {
            return;
        }
        let counts = [
            (at + 14, [deed.arrivals, deed.served]),
            (at + 15, [deed.lost, deed.reneged]),
            (at + 17, [deed.balked, deed.joined]),
            (self.params.trips + TRIP_COUNTS + who.class, [deed.begun, deed.ended]),
        ];
        for (row, more) in counts {
            if more != [0, 0] {
                let [first, second] = halves(context.memory_get(row)).map(Ticks::get);
                let sum = |count: u64, more: u32| Ticks::new(count.wrapping_add(more.into()));
                context.memory_set(row, times(sum(first, more[0]), sum(second, more[1])));
            }
        }
    }

    /// The tag of the customer of a number, from 0 on, of those of whom the first has tag `first`.
    pub(super) fn tag_at(&self, first: u32, number: u32) -> u32 {
        let place = number / self.params.every;
        if number.is_multiple_of(self.params.every) && place < self.params.most { first + place } else { 0 }
    }

    /// The tag in the place of the time when somebody entered the network.
    pub(super) fn tag_of(&self, entered: Ticks) -> u32 {
        let [low, _] = entered.to_words();
        if self.params.trace == 0 { 0 } else { low & 0xffff }
    }

    /// And the time.
    pub(super) fn time_of(&self, entered: Ticks) -> Ticks {
        if self.params.trace == 0 { entered } else { Ticks::new(entered.get() >> 16) }
    }

    pub(super) fn note(&self, who: Customer, what: u32, class: u32, context: &mut Here<'_>) {
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

    fn tally_of(&self, at: u32, context: &mut Here<'_>) -> Tally {
        let mut rows = rows::<4>(at, context);
        let [low, high] = self.params.warm_up.to_words();
        [rows[3][2], rows[3][3]] = [low, high];
        bytemuck::cast(rows)
    }

    /// Counts a sojourn (0) or a wait (1) of a class.
    pub(super) fn tally(&self, class: u32, which: u32, value: Ticks, context: &mut Here<'_>) {
        let at = record_of(class) + 4 * which;
        let mut tally = self.tally_of(at, context);
        tally.add(context.now(), value.get());
        let rows: [[u32; 4]; 4] = bytemuck::cast(tally);
        set_rows(at, &rows, context);
        if self.params.details != 0 && context.now() >= self.params.warm_up {
            let bin = self.bin_of(value);
            let place = self.bins_of(class, which) + bin / 4;
            let mut row = context.memory_get(place);
            row[bin as usize % 4] += 1;
            context.memory_set(place, row);
        }
    }

    fn bins_of(&self, class: u32, which: u32) -> u32 {
        self.params.details + super::word(LENGTHS) / 2 + (2 * class + which) * BIN_ROWS
    }

    fn bin_of(&self, value: Ticks) -> u32 {
        let units = u32::try_from(value.get() >> self.params.bin_shift).unwrap_or(u32::MAX);
        if units < 16 {
            return units;
        }
        let leading = units.ilog2();
        (leading - 3) * 16 + (units >> (leading - 4) & 15)
    }

    fn level_of(&self, at: u32, context: &mut Here<'_>) -> TimeAverage {
        let mut rows = rows::<3>(at, context);
        let [low, high] = self.params.warm_up.to_words();
        [rows[1][0], rows[1][1]] = [low, high];
        bytemuck::cast(rows)
    }

    pub(super) fn level(&self, at: u32, change: i32, context: &mut Here<'_>) {
        let mut level = self.level_of(at, context);
        level.add(context.now(), change);
        let rows: [[u32; 4]; 3] = bytemuck::cast(level);
        set_rows(at, &rows, context);
    }

    fn lasted(&self, state: &FacilityState, context: &Here<'_>) -> u64 {
        since(context.now(), self.later(state.since)).get()
    }

    /// There were so many customers until now.
    pub(super) fn were_here(&self, customers: u32, state: &mut FacilityState, context: &mut Here<'_>) {
        if self.params.details == 0 {
            return;
        }
        let place = (customers as usize).min(LENGTHS - 1);
        let row = self.params.details + super::word(place / 2);
        let mut spans = halves(context.memory_get(row));
        spans[place % 2] = Ticks::new(spans[place % 2].get().wrapping_add(self.lasted(state, context)));
        context.memory_set(row, times(spans[0], spans[1]));
        state.since = context.now();
    }

    fn class_output(&self, class: u32, context: &mut Here<'_>) -> ClassOutput {
        let at = record_of(class);
        let now = context.now();
        let mut counts = |row| halves(context.memory_get(row)).map(Ticks::get);
        let [[arrivals, served], [lost, reneged], [came, stayed], [balked, joined]] =
            [14, 15, 16, 17].map(|row| counts(at + row));
        let trips = self.params.trips;
        let [begun, ended] = if trips == 0 { [0; 2] } else { counts(trips + TRIP_COUNTS + class) };
        ClassOutput {
            sojourn: self.tally_of(at, context),
            wait: self.tally_of(at + 4, context),
            present: self.level_of(at + 8, context).at(now),
            busy: self.level_of(at + 11, context).at(now),
            arrivals,
            served,
            lost,
            reneged,
            balked,
            came,
            stayed,
            joined,
            begun,
            ended,
        }
    }

    /// Quantiles of the classes in a range, of sojourns (0) or waits (1).
    fn quantiles(&self, classes: std::ops::Range<u32>, which: u32, context: &mut Here<'_>) -> [Quantile; 4] {
        let mut told = [Quantile::default(); 4];
        let counted: u32 =
            classes.clone().map(|class| context.memory_get(record_of(class) + 4 * which + 3)[0]).sum();
        if counted == 0 {
            return told;
        }
        let ranks =
            QUANTILES.map(|percent| counted / 100 * percent + (counted % 100 * percent).div_ceil(100));
        let (mut below, mut part) = (0, 0);
        for bin in 0..BINS {
            let mut in_bin =
                |class| context.memory_get(self.bins_of(class, which) + bin / 4)[bin as usize % 4];
            let count: u32 = classes.clone().map(&mut in_bin).sum();
            while part < 4 && ranks[part] <= below + count {
                told[part] = Quantile { bin, rank: ranks[part] - below, count };
                part += 1;
            }
            below += count;
        }
        told
    }

    pub(super) fn told(&self, state: &FacilityState, context: &mut Here<'_>) -> FacilityOutput {
        let mut output = FacilityOutput::default();
        let classes = self.params.classes;
        for (class, told) in (0..classes).zip(&mut output.classes) {
            *told = self.class_output(class, context);
        }
        let mut until_now = |at| self.level_of(at, context).at(context.now());
        output.servers = until_now(SERVERS);
        if self.params.trips != 0 {
            [output.begun, output.ended] = [0, 3].map(|row| until_now(self.params.trips + row));
        }
        if self.params.details == 0 {
            return output;
        }
        let present = (state.busy + state.waiting) as usize;
        for (place, span) in output.lengths.iter_mut().enumerate() {
            let row = context.memory_get(self.params.details + super::word(place / 2));
            *span = halves(row)[place % 2].get();
            if place == present.min(LENGTHS - 1) {
                *span = span.wrapping_add(self.lasted(state, context));
            }
        }
        for which in 0..2 {
            let mut tell = |class: usize, classes| {
                let told = &mut output.quantiles[class];
                let told = if which == 0 { &mut told.sojourn } else { &mut told.wait };
                *told = self.quantiles(classes, which, context);
            };
            for class in 0..classes {
                tell(class as usize, class..class + 1);
            }
            if classes > 1 {
                tell(MAX_CLASSES, 0..classes);
            }
        }
        const { assert!(MAX_CLASSES == CLASSES as usize) };
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facility::{Distribution, Network, Source, Station};

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
}
