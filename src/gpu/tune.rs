//! Chooses between ways to do the same work, by expected cost or by measured time.
//!
//! Candidates process interleaved slices of real work, so that other load on the machine affects
//! all of them alike. The choice changes how fast results arrive, never the results.

use std::fmt::Display;

/// The number of the candidate with the lowest expected cost, the first of equal ones. Names are
/// for the log.
pub(crate) fn cheapest(what: &str, candidates: &[(&str, f64)]) -> usize {
    let mut best = 0;
    for (number, (_, cost)) in candidates.iter().enumerate() {
        if *cost < candidates[best].1 {
            best = number;
        }
    }
    log::debug!("{}", decision(&what, candidates[best].0, "expected costs", candidates));
    best
}

/// The order in which candidates run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// One after the other, round by round: A B C A B C.
    Rounds,
    /// There and back: A B B A. A steady drift, such as the clock of a device that was idle,
    /// affects two candidates equally.
    Mirrored,
}

/// How the samples of a candidate are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Score {
    /// The median of their rates, so that a few disturbed slices do not count.
    Median,
    /// The total work divided by the total time.
    Total,
}

/// How long the trial lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Sufficient samples of each candidate.
    pub(crate) samples: usize,
    /// Maximum number of rounds, even if samples are missing.
    pub(crate) rounds: usize,
}

impl Budget {
    /// One run of each candidate.
    pub(crate) const ONCE: Self = Self { samples: 1, rounds: 1 };
}

/// Times candidates on real work, and selects the fastest.
#[derive(Debug)]
pub(crate) struct Tuner<C> {
    candidates: Vec<Candidate<C>>,
    order: Order,
    score: Score,
    budget: Budget,
    /// The number of runs so far.
    turns: usize,
}

#[derive(Debug)]
struct Candidate<C> {
    what: C,
    /// Factor of its rate: less than 1 for a candidate that must be clearly faster.
    weight: f64,
    /// Work and seconds.
    samples: Vec<(f64, f64)>,
}

impl<C: Copy + Display> Tuner<C> {
    /// From candidates and the weights of their rates. The first one wins unless another one is
    /// faster.
    pub(crate) fn new(
        candidates: impl IntoIterator<Item = (C, f64)>,
        order: Order,
        score: Score,
        budget: Budget,
    ) -> Self {
        let candidate = |(what, weight)| Candidate { what, weight, samples: Vec::new() };
        let candidates = candidates.into_iter().map(candidate).collect();
        Self { candidates, order, score, budget, turns: 0 }
    }

    /// The number of the next candidate; `None` when the trial is over.
    pub(crate) fn next(&self) -> Option<usize> {
        let count = self.candidates.len();
        let round = match self.order {
            Order::Rounds => count,
            Order::Mirrored => 2 * count,
        };
        let place = self.turns.checked_rem(round)?;
        if place == 0 && self.turns > 0 {
            let enough = |candidate: &Candidate<C>| candidate.samples.len() >= self.budget.samples;
            if self.candidates.iter().all(enough) || self.turns / round >= self.budget.rounds {
                return None;
            }
        }
        Some(if place < count { place } else { round - 1 - place })
    }

    /// Records a run: its work and seconds, or `None` if they do not describe the candidate.
    pub(crate) fn record(&mut self, sample: Option<(f64, f64)>) {
        if let Some(number) = self.next() {
            self.turns += 1;
            self.candidates[number].samples.extend(sample);
        }
    }

    /// The number of runs so far.
    pub(crate) fn turns(&self) -> usize {
        self.turns
    }

    /// Each candidate's work per second; 0 if unknown.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (C, f64)> {
        self.candidates.iter().map(|candidate| (candidate.what, candidate.rate(self.score)))
    }

    /// The fastest candidate, the first of equal ones; `None` without candidates.
    pub(crate) fn best(&self) -> Option<C> {
        let weighed = |candidate: &Candidate<C>| candidate.rate(self.score) * candidate.weight;
        let faster = |best, next| if weighed(next) > weighed(best) { next } else { best };
        self.candidates.iter().reduce(faster).map(|best| best.what)
    }

    /// Logs the fastest candidate as `what`, and all rates in this unit.
    pub(crate) fn log(&self, what: &dyn Display, unit: &str) {
        if let Some(best) = self.best() {
            let (measure, rates) = (format!("{unit} per second"), self.rates().collect::<Vec<_>>());
            log::info!("{}", decision(what, best, &measure, &rates));
        }
    }
}

impl<C> Candidate<C> {
    fn rate(&self, score: Score) -> f64 {
        match score {
            Score::Median => {
                let mut rates: Vec<f64> = self.samples.iter().map(|(work, seconds)| work / seconds).collect();
                rates.sort_unstable_by(f64::total_cmp);
                rates.get(rates.len() / 2).copied().unwrap_or(0.0)
            }
            Score::Total if self.samples.is_empty() => 0.0,
            Score::Total => {
                let sum = |of: fn(&(f64, f64)) -> f64| self.samples.iter().map(of).sum::<f64>();
                sum(|sample| sample.0) / sum(|sample| sample.1)
            }
        }
    }
}

/// The log line of a decision: "replica mapping: b; events per second: a 1.000e6, b 3.000e6".
fn decision<C: Display>(what: &dyn Display, best: C, measure: &str, values: &[(C, f64)]) -> String {
    let values: Vec<_> = values.iter().map(|(name, value)| format!("{name} {value:.3e}")).collect();
    format!("{what}: {best}; {measure}: {}", values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a trial. `took` returns the seconds that a run of a candidate takes for a unit of work,
    /// or `None`. Returns the runs and the fastest candidate.
    fn decided(
        mut tuner: Tuner<&str>,
        mut took: impl FnMut(usize, usize) -> Option<f64>,
    ) -> (Vec<usize>, Option<&str>) {
        let mut turns = Vec::new();
        while let Some(number) = tuner.next() {
            let seconds = took(number, turns.len());
            turns.push(number);
            tuner.record(seconds.map(|seconds| (1.0, seconds)));
        }
        (turns, tuner.best())
    }

    fn rounds(weights: &[f64], budget: Budget) -> Tuner<&'static str> {
        let named = ["a", "b", "c"].into_iter().zip(weights.iter().copied());
        Tuner::new(named, Order::Rounds, Score::Median, budget)
    }

    fn mirrored() -> Tuner<&'static str> {
        let budget = Budget { samples: 2, rounds: usize::MAX };
        Tuner::new([("a", 1.0), ("b", 1.0)], Order::Mirrored, Score::Total, budget)
    }

    #[test]
    fn the_least_cost_is_chosen_and_of_equal_ones_the_first() {
        assert_eq!(cheapest("test", &[("a", 2.0), ("b", 1.0), ("c", 1.0)]), 1);
        assert_eq!(cheapest("test", &[("a", 1.0), ("b", 1.0)]), 0);
    }

    /// Milliseconds of five slices. The third candidate takes half as long, except for one delayed
    /// slice: by the mean it would be the slowest.
    #[test]
    fn rounds_go_on_until_all_were_seen_and_the_median_decides() {
        let recorded =
            [[31.0, 30.2, 30.1, 30.4, 30.3], [29.9, 29.5, 29.4, 29.6, 29.5], [15.1, 410.0, 15.3, 15.2, 15.2]];
        let budget = Budget { samples: 5, rounds: 18 };
        let (turns, best) =
            decided(rounds(&[1.0; 3], budget), |number, turn| Some(recorded[number][turn / 3]));
        assert_eq!(turns, [0, 1, 2].repeat(5));
        assert_eq!(best, Some("c"));
    }

    #[test]
    fn turns_that_say_nothing_are_taken_again_up_to_the_budget() {
        let budget = Budget { samples: 2, rounds: 4 };
        // The second candidate has samples from its third run on, or never.
        let (turns, best) = decided(rounds(&[1.0, 1.0], budget), |number, turn| {
            (number == 0 || turn > 4).then_some(1.0 - 0.1 * number as f64)
        });
        assert_eq!((turns.len(), best), (8, Some("b")));
        let (turns, best) = decided(rounds(&[1.0, 1.0], budget), |number, _| (number == 0).then_some(1.0));
        assert_eq!((turns.len(), best), (8, Some("a")));
        let (turns, best) = decided(rounds(&[1.0, 1.0], budget), |_, _| None);
        assert_eq!((turns.len(), best), (8, Some("a")));
    }

    #[test]
    fn equal_rates_keep_the_first_and_weights_count() {
        assert_eq!(decided(rounds(&[1.0, 1.0], Budget::ONCE), |_, _| Some(0.5)).1, Some("a"));
        let faster = |times: f64| move |number: usize, _| Some(if number == 1 { 1.0 / times } else { 1.0 });
        assert_eq!(decided(rounds(&[1.0, 0.5], Budget::ONCE), faster(1.9)).1, Some("a"));
        assert_eq!(decided(rounds(&[1.0, 0.5], Budget::ONCE), faster(2.1)).1, Some("b"));
    }

    /// Each slice is 2 % faster than the one before, more than the candidates differ.
    #[test]
    fn mirrored_turns_cancel_a_drift() {
        for (rival, expected) in [(0.99, Some("a")), (1.01, Some("b"))] {
            let seconds = |number: usize, turn: usize| {
                let rate = if number == 1 { rival } else { 1.0 };
                Some(1.0 / (rate * (1.0 + 0.02 * turn as f64)))
            };
            let (turns, best) = decided(mirrored(), seconds);
            assert_eq!((turns, best), (vec![0, 1, 1, 0], expected));
        }
    }

    #[test]
    fn without_candidates_nothing_is_timed() {
        assert_eq!(decided(rounds(&[], Budget::ONCE), |_, _| Some(1.0)), (vec![], None));
    }

    #[test]
    fn a_decision_is_one_line() {
        let mut tuner = mirrored();
        for rate in [1e6, 3e6, 3e6, 1e6] {
            tuner.record(Some((rate, 1.0)));
        }
        let rates: Vec<_> = tuner.rates().collect();
        let line = decision(&"test", tuner.best().unwrap(), "events per second", &rates);
        assert_eq!(line, "test: b; events per second: a 1.000e6, b 3.000e6");
    }
}
