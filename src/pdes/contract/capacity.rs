//! The capacity of pending event sets and mailboxes.

use statrs::distribution::{DiscreteCDF, Poisson};

/// Capacities for events, per LP. An event takes 16 bytes, or 32 with a payload of 6 words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// The maximum number of events that an LP holds at once.
    pub queue: u32,
    /// The maximum number of events sent to an LP in one window. There are two mailboxes per LP.
    pub mailbox: u32,
}

impl Capacity {
    /// The probability, per LP and window, that a run with [`Capacity::poisson`] overflows: 10⁻¹⁸.
    ///
    /// A run of a million LPs over a million windows then fails with a probability of about 10⁻⁶,
    /// and reports it.
    pub(crate) const TAIL: f64 = 1e-18;

    /// Capacities for loads that spread over LPs independently: a Poisson distribution bounds them.
    ///
    /// `held` is the mean number of events that an LP holds, `sent` the mean number sent to one in
    /// a window. Each capacity is the smallest number that a Poisson variable of that mean exceeds
    /// with a probability below 10⁻¹⁸: a run of a million LPs over a million windows then overflows
    /// with a probability of about 10⁻⁶, and reports it.
    pub fn poisson(held: f64, sent: f64) -> Self {
        Self { queue: bound(held, Self::TAIL), mailbox: bound(sent, Self::TAIL) }
    }
}

/// The mean load for which [`Capacity::poisson`] returns this queue capacity, or one just below.
pub(in crate::pdes) fn mean_for(room: u32) -> f64 {
    let (mut low, mut high) = (0.0, f64::from(room));
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        *(if bound(middle, Capacity::TAIL) <= room { &mut low } else { &mut high }) = middle;
    }
    low
}

/// The capacity that a Poisson number of events with this mean exceeds once in a million times.
pub(in crate::pdes) fn room_for(mean: f64) -> u32 {
    bound(mean, 1e-6)
}

/// The smallest n with P(X > n) < tail for X ~ Poisson(mean).
fn bound(mean: f64, tail: f64) -> u32 {
    if !mean.is_finite() {
        return u32::MAX; // too large for any device, which reports it
    }
    // statrs has no Poisson distribution with mean zero; room for one event is needed anyway.
    let Ok(poisson) = Poisson::new(mean.max(1e-300)) else { return u32::MAX };
    let exceeds = |n: u32| poisson.sf(u64::from(n)) >= tail;
    let (mut low, mut high) = (0, 1);
    while exceeds(high) {
        low = high;
        let Some(next) = high.checked_mul(2) else { return u32::MAX };
        high = next;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if exceeds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X > n) as a sum of terms, smallest first: an independent computation of the same number.
    fn tail_by_terms(mean: f64, n: u32) -> f64 {
        let mut term = (0..=n).fold((-mean).exp(), |term, i| term * mean / f64::from(i + 1));
        let mut terms = Vec::new();
        for i in n + 2..n + 400 {
            terms.push(term);
            term *= mean / f64::from(i);
        }
        terms.iter().rev().sum()
    }

    #[test]
    fn bounds_are_the_smallest_that_keep_the_tail() {
        for mean in [0.001, 0.1, 1.0, 4.0, 16.0, 100.0] {
            let n = bound(mean, Capacity::TAIL);
            assert!(tail_by_terms(mean, n) < Capacity::TAIL, "mean {mean}: {n} is too small");
            assert!(n == 1 || tail_by_terms(mean, n - 1) >= Capacity::TAIL, "mean {mean}: {n} is too large");
        }
    }

    #[test]
    fn nothing_sent_still_leaves_room_for_one() {
        assert_eq!(bound(0.0, Capacity::TAIL), 1);
    }

    #[test]
    fn means_that_are_no_numbers_fit_nowhere() {
        for mean in [f64::NAN, f64::INFINITY] {
            let capacity = Capacity::poisson(mean, mean);
            assert_eq!(capacity, Capacity { queue: u32::MAX, mailbox: u32::MAX });
        }
    }
}
