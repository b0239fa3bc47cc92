//! Sums over numbers and times, from which the host computes statistics.

shared! {
    "facility/network/records.wgsl":
    /// A number that changes, with the area under it: the WGSL `struct Level`.
    ///
    /// It sums only each change times its *age*, the ticks from the end of the warm-up until the
    /// change, because each row that an event changes costs time. The area is the level times the
    /// age at the end, less that sum.
    #[derive(PartialEq, Eq, Default)]
    pub struct Level {
        /// Modulo 2^96, low word first.
        changes: [u32; 2],
        high: u32,
        level: u32,
    }
}

/// The largest number of 96 bits.
const MOST: u128 = (1 << 96) - 1;

impl Level {
    /// The current number.
    pub(in crate::facility) fn level(&self) -> u32 {
        self.level
    }

    /// The area under it from the end of the warm-up until an age: the number times ticks, exact
    /// below 2^96.
    pub(in crate::facility) fn area(&self, age: u64) -> u128 {
        (u128::from(self.level) * u128::from(age)).wrapping_sub(self.changes()) & MOST
    }

    /// The sum of both.
    #[must_use]
    pub(in crate::facility) fn plus(&self, other: &Self) -> Self {
        Self::of(self.changes() + other.changes(), self.level.wrapping_add(other.level))
    }

    /// Changes the number at an age.
    pub(super) fn change(&mut self, change: i32, age: u64) {
        let product = u128::from(change.unsigned_abs()) * u128::from(age);
        let product = if change < 0 { product.wrapping_neg() } else { product };
        *self = Self::of(self.changes().wrapping_add(product), self.level.wrapping_add_signed(change));
    }

    /// The level with this sum of changes times ages, modulo 2^96.
    pub(in crate::facility) fn of(changes: u128, level: u32) -> Self {
        bytemuck::cast(row(changes & MOST | u128::from(level) << 96))
    }

    fn changes(&self) -> u128 {
        number([self.changes[0], self.changes[1], self.high, 0])
    }
}

shared! {
    "facility/network/records.wgsl":
    /// Sums of observed times, in ticks: the WGSL `struct TimeSums`.
    #[derive(PartialEq, Eq, Default)]
    pub struct TimeSums {
        sum: [u32; 4],
        /// All ones if it does not fit.
        squares: [u32; 4],
        count: u64,
        unused: u64,
    }
}

impl TimeSums {
    pub(in crate::facility) fn new(sum: u128, squares: [u32; 4], count: u64) -> Self {
        Self { sum: row(sum), squares, count, unused: 0 }
    }

    /// The number of times.
    pub(in crate::facility) fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub(in crate::facility) fn sum(&self) -> u128 {
        number(self.sum)
    }

    /// The sum of their squares; `None` if it does not fit 128 bits.
    pub(in crate::facility) fn squares(&self) -> Option<u128> {
        Some(number(self.squares)).filter(|&squares| squares < u128::MAX)
    }
}

/// A row as one number, and back: low word first.
pub(super) fn number([a, b, c, d]: [u32; 4]) -> u128 {
    [d, c, b, a].into_iter().fold(0, |number, word| number << 32 | u128::from(word))
}

#[expect(clippy::cast_possible_truncation, reason = "word by word")]
pub(super) fn row(number: u128) -> [u32; 4] {
    [0, 32, 64, 96].map(|shift| (number >> shift) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The sums of changes give the same area as the sum of level times duration.
        #[test]
        fn areas_are_those_of_levels_that_last(
            changes in prop::collection::vec((0..1_u64 << 40, -3..4_i32), 0..20),
            others in prop::collection::vec((0..1_u64 << 40, -3..4_i32), 0..20),
            rest in 0..1_u64 << 62,
        ) {
            let mut together = Level::default();
            let (mut whole, mut end) = (0, 0);
            for mut changes in [changes, others] {
                changes.sort_unstable();
                let (mut level, mut area, mut at, mut held) = (Level::default(), 0, 0, 0_u32);
                end = (1 << 40) + rest;
                for (age, change) in changes {
                    area += u128::from(held) * u128::from(age - at);
                    at = age;
                    // The number stays non-negative.
                    let change = change.max(-held.cast_signed());
                    level.change(change, age);
                    held = held.strict_add_signed(change);
                    prop_assert_eq!(level.area(age), area);
                }
                area += u128::from(held) * u128::from(end - at);
                prop_assert_eq!((level.level(), level.area(end)), (held, area));
                together = together.plus(&level);
                whole += area;
            }
            prop_assert_eq!(together.area(end), whole);
        }
    }

    /// A node may send more customers along timed routes than it receives; the sum over all nodes
    /// is right.
    #[test]
    fn numbers_below_zero_are_made_up_for_by_others() {
        let (mut here, mut there) = (Level::default(), Level::default());
        here.change(-2, 5);
        there.change(3, 4);
        there.change(1 << 30, u64::MAX >> 1);
        let both = here.plus(&there);
        assert_eq!(both.level(), (1 << 30) + 1);
        let end = u64::MAX >> 1;
        assert_eq!(both.area(end), 3 * u128::from(end - 4) - 2 * u128::from(end - 5));
    }
}
