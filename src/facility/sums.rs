//! Observations of a run of a network: sums over the outputs of its nodes, from which measures are
//! computed.

use std::ops::{Add, Sub};

use crate::statistics::Part;
use crate::time::Ticks;

use super::{ClassOutput, FacilityOutput, Level, TimeSums};

#[expect(clippy::cast_precision_loss, reason = "rounded at the very end")]
pub(super) fn real(sum: u128) -> f64 {
    sum as f64
}

/// The observations of a run, or of an interval of it.
pub(super) struct Observed<'r> {
    /// The output of each node at the end.
    pub(super) rows: &'r [FacilityOutput],
    /// The output at the beginning of the interval, if that is not the end of the warm-up.
    pub(super) before: Option<&'r [FacilityOutput]>,
    /// When statistics begin.
    warm_up: Ticks,
    pub(super) from: Ticks,
    pub(super) to: Ticks,
    /// Ticks from `from` to `to`.
    pub(super) span: f64,
}

impl<'r> Observed<'r> {
    pub(super) fn new(
        rows: &'r [FacilityOutput],
        before: Option<&'r [FacilityOutput]>,
        warm_up: Ticks,
        [from, to]: [Ticks; 2],
    ) -> Self {
        Self { rows, before, warm_up, from, to, span: real(u128::from(to.get() - from.get())) }
    }

    /// The value at the end less the value at the beginning. `value_of` computes one from
    /// outputs and the time since the warm-up.
    fn difference<T: Sub<Output = T>>(&self, value_of: impl Fn(&[FacilityOutput], u64) -> T) -> T {
        let age = |time: Ticks| time.get() - self.warm_up.get();
        let now = value_of(self.rows, age(self.to));
        match self.before {
            Some(before) => now - value_of(before, age(self.from)),
            None => now,
        }
    }

    pub(super) fn sum(&self, node: usize, class: Option<usize>) -> Sum {
        self.difference(|rows, age| Sum::of(&rows[node].classes, class, age))
    }

    pub(super) fn servers(&self, node: usize) -> u128 {
        self.difference(|rows, age| Area(rows[node].servers.area(age))).0
    }

    /// The area under the number of customers whose service waits for a repair.
    pub(super) fn interrupted(&self, node: usize) -> u128 {
        self.difference(|rows, age| Area(rows[node].interrupted.area(age))).0
    }

    /// The area under the number of travelling customers.
    pub(super) fn travelling(&self) -> u128 {
        let all =
            |rows: &[FacilityOutput]| rows.iter().fold(Level::default(), |sum, row| sum.plus(&row.trips));
        self.difference(|rows, age| Area(all(rows).area(age))).0
    }

    /// Ticks with numbers of customers of a bin.
    pub(super) fn length(&self, node: usize, bin: usize) -> u64 {
        let before = self.before.map_or(0, |before| before[node].lengths[bin]);
        self.rows[node].lengths[bin].saturating_sub(before)
    }
}

/// An area under a level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Area(pub(super) u128);

// It only grows in a valid run; in a manipulated file it may not.
impl Sub for Area {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        Self(self.0.saturating_sub(before.0))
    }
}

/// Observed times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) count: u64,
    pub(super) sum: u128,
    /// `None` if it does not fit.
    squares: Option<u128>,
}

impl Default for Times {
    fn default() -> Self {
        TimeSums::default().into()
    }
}

impl From<TimeSums> for Times {
    fn from(sums: TimeSums) -> Self {
        Self { count: sums.count(), sum: sums.sum(), squares: sums.squares() }
    }
}

impl Add for Times {
    type Output = Self;
    fn add(self, more: Self) -> Self {
        Self {
            count: self.count.saturating_add(more.count),
            sum: self.sum.saturating_add(more.sum),
            squares: self.squares.zip(more.squares).and_then(|(sum, more)| sum.checked_add(more)),
        }
    }
}

impl Times {
    /// The part that they add to a mean, in ticks.
    pub(super) fn mean(&self) -> Part {
        Part::ratio(real(self.sum), real(self.count.into()))
    }

    /// The part that they add to a deviation, in ticks.
    pub(super) fn moments(&self) -> Part {
        let (sum, count) = (real(self.sum), real(self.count.into()));
        if self.count == 0 {
            return Part { count, sum, squares: 0.0 };
        }
        let Some(squares) = self.squares else { return Part { count, sum, squares: f64::NAN } };
        // n times the sum of squares less the square of the sum, exactly if it fits.
        let spread = squares.checked_mul(self.count.into()).zip(self.sum.checked_mul(self.sum));
        let spread = spread.map_or_else(
            || real(squares) * count - sum * sum,
            |(squares, sum)| real(squares.saturating_sub(sum)),
        );
        Part { count, sum, squares: spread.max(0.0) / count }
    }
}

// Counts only grow in a valid run; in a manipulated file they may not.
impl Sub for Times {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        Self {
            count: self.count.saturating_sub(before.count),
            sum: self.sum.saturating_sub(before.sum),
            squares: self.squares.zip(before.squares).map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

/// Sums over some classes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) sojourn: Times,
    pub(super) wait: Times,
    pub(super) present: Area,
    pub(super) busy: Area,
    pub(super) arrivals: u64,
    pub(super) served: u64,
    pub(super) lost: u64,
    pub(super) reneged: u64,
    pub(super) balked: u64,
}

impl Sum {
    fn of(classes: &[ClassOutput], class: Option<usize>, age: u64) -> Self {
        let mut sum = Self::default();
        for (_, reported) in
            classes.iter().enumerate().filter(|(number, _)| class.is_none_or(|class| class == *number))
        {
            sum.sojourn = sum.sojourn + reported.sojourn.into();
            sum.wait = sum.wait + reported.wait.into();
            sum.present.0 += reported.present.area(age);
            sum.busy.0 += reported.busy.area(age);
            sum.arrivals += reported.arrivals;
            sum.served += reported.served();
            sum.lost += reported.lost;
            sum.reneged += reported.reneged;
            sum.balked += reported.balked;
        }
        sum
    }
}

impl Sub for Sum {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        Self {
            sojourn: self.sojourn - before.sojourn,
            wait: self.wait - before.wait,
            present: self.present - before.present,
            busy: self.busy - before.busy,
            arrivals: self.arrivals.saturating_sub(before.arrivals),
            served: self.served.saturating_sub(before.served),
            lost: self.lost.saturating_sub(before.lost),
            reneged: self.reneged.saturating_sub(before.reneged),
            balked: self.balked.saturating_sub(before.balked),
        }
    }
}
