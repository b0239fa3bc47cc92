//! Choices between ways to do the same work: by what they are expected to cost, or by timing them.
//!
//! Candidates take slices of real work in turn, so that whatever else the machine does meets all of
//! them alike. The choice changes how fast results come, and never the results.

use std::fmt::{self, Display, Write as _};

/// The number of the candidate that is expected to cost the least; of equal ones the first. The
/// candidates are named for the log.
pub(crate) fn cheapest(what: &str, candidates: &[(&str, f64)]) -> usize {
    let mut best = 0;
    for (number, (_, cost)) in candidates.iter().enumerate() {
        if *cost < candidates[best].1 {
            best = number;
        }
    }
    log::debug!("{what}: {}, of expected costs {candidates:?}", candidates[best].0);
    best
}

/// In which order candidates take their turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// One after the other, round by round: A B C A B C.
    Rounds,
    /// There and back: A B B A. What gets faster or slower by itself, as the clock of a device that was
    /// idle, is the same for two candidates.
    Mirrored,
}

/// What the samples of a candidate come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Score {
    /// The median of their rates: a few slices that other work disturbs do not count.
    Median,
    /// The work of all of them by the time of all.
    Total,
}

/// How long candidates are timed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Samples of each that are enough.
    pub(crate) samples: usize,
    /// Rounds at the most, whether all have that many or not.
    pub(crate) rounds: usize,
}

/// Times candidates on real work, and says which one is the fastest.
#[derive(Debug)]
pub(crate) struct Tuner<C> {
    candidates: Vec<Candidate<C>>,
    order: Order,
    score: Score,
    budget: Budget,
    /// Turns that were taken.
    turns: usize,
}

#[derive(Debug)]
struct Candidate<C> {
    what: C,
    /// Its rate counts this many times: less than 1 for one that has to be clearly faster.
    weight: f64,
    /// Work and seconds.
    samples: Vec<(f64, f64)>,
}

impl<C: Copy + Display> Tuner<C> {
    /// Of candidates and what their rates are weighed with. The first one stays unless another one is
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

    /// The number of the candidate whose turn it is; none when the trial is over.
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

    /// Takes in a turn: the work that was done and the seconds that it took, or none where that says
    /// nothing of the candidate.
    pub(crate) fn record(&mut self, sample: Option<(f64, f64)>) {
        if let Some(number) = self.next() {
            self.turns += 1;
            self.candidates[number].samples.extend(sample);
        }
    }

    /// Turns that were taken.
    pub(crate) fn turns(&self) -> usize {
        self.turns
    }

    /// The work of each candidate in a second; 0 where nothing is known.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (C, f64)> {
        self.candidates.iter().map(|candidate| (candidate.what, candidate.rate(self.score)))
    }

    /// The number of the fastest candidate, of equal ones the first; none where there are none.
    pub(crate) fn best(&self) -> Option<usize> {
        let weighed = |number: usize| {
            let candidate = &self.candidates[number];
            candidate.rate(self.score) * candidate.weight
        };
        (0..self.candidates.len())
            .reduce(|best, number| if weighed(number) > weighed(best) { number } else { best })
    }

    /// Logs what was chosen, and the rates in this unit.
    pub(crate) fn log(&self, what: &dyn Display, unit: &str) {
        log::info!("{what}: {}", Decision { tuner: self, unit });
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

/// The line of a decision in the log.
struct Decision<'t, C> {
    tuner: &'t Tuner<C>,
    unit: &'t str,
}

impl<C: Copy + Display> Display for Decision<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(best) = self.tuner.best() else { return f.write_str("no candidate") };
        write!(f, "{}; {} per second:", self.tuner.candidates[best].what, self.unit)?;
        for (number, (what, rate)) in self.tuner.rates().enumerate() {
            if number > 0 {
                f.write_char(',')?;
            }
            write!(f, " {what} {rate:.3e}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONCE: Budget = Budget { samples: 1, rounds: 1 };

    /// Runs a trial: `took` says how many seconds a turn of a candidate takes for a unit of work, none
    /// where that says nothing. Returns the turns, and the fastest.
    fn decided(
        mut tuner: Tuner<&str>,
        mut took: impl FnMut(usize, usize) -> Option<f64>,
    ) -> (Vec<usize>, Option<usize>) {
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

    /// Milliseconds of five slices. The third candidate takes half as long, but for one slice that other
    /// work delays: by the mean it would be the slowest.
    #[test]
    fn rounds_go_on_until_all_were_seen_and_the_median_decides() {
        let recorded =
            [[31.0, 30.2, 30.1, 30.4, 30.3], [29.9, 29.5, 29.4, 29.6, 29.5], [15.1, 410.0, 15.3, 15.2, 15.2]];
        let budget = Budget { samples: 5, rounds: 18 };
        let (turns, best) =
            decided(rounds(&[1.0; 3], budget), |number, turn| Some(recorded[number][turn / 3]));
        assert_eq!(turns, [0, 1, 2].repeat(5));
        assert_eq!(best, Some(2));
    }

    #[test]
    fn turns_that_say_nothing_are_taken_again_up_to_the_budget() {
        let budget = Budget { samples: 2, rounds: 4 };
        // The second says something from its third turn on, or never.
        let (turns, best) = decided(rounds(&[1.0, 1.0], budget), |number, turn| {
            (number == 0 || turn > 4).then_some(1.0 - 0.1 * number as f64)
        });
        assert_eq!((turns.len(), best), (8, Some(1)));
        let (turns, best) = decided(rounds(&[1.0, 1.0], budget), |number, _| (number == 0).then_some(1.0));
        assert_eq!((turns.len(), best), (8, Some(0)));
        let (turns, best) = decided(rounds(&[1.0, 1.0], budget), |_, _| None);
        assert_eq!((turns.len(), best), (8, Some(0)));
    }

    #[test]
    fn equal_rates_keep_the_first_and_weights_count() {
        assert_eq!(decided(rounds(&[1.0, 1.0], ONCE), |_, _| Some(0.5)).1, Some(0));
        let faster = |times: f64| move |number: usize, _| Some(if number == 1 { 1.0 / times } else { 1.0 });
        assert_eq!(decided(rounds(&[1.0, 0.5], ONCE), faster(1.9)).1, Some(0));
        assert_eq!(decided(rounds(&[1.0, 0.5], ONCE), faster(2.1)).1, Some(1));
    }

    /// Each slice is faster than the one before by 2 %, more than the candidates differ.
    #[test]
    fn mirrored_turns_cancel_a_drift() {
        for (rival, expected) in [(0.99, Some(0)), (1.01, Some(1))] {
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
        assert_eq!(decided(rounds(&[], ONCE), |_, _| Some(1.0)), (vec![], None));
    }

    #[test]
    fn a_decision_is_one_line() {
        let mut tuner = mirrored();
        for rate in [1e6, 3e6, 3e6, 1e6] {
            tuner.record(Some((rate, 1.0)));
        }
        let line = Decision { tuner: &tuner, unit: "events" }.to_string();
        assert_eq!(line, "b; events per second: a 1.000e6, b 3.000e6");
    }
}
