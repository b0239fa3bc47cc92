//! Selection of the best of several systems with a fixed number of replications.

use std::ops::Range;

use statrs::function::erf::erfc;

use super::error::Result;
use super::{AnalysisError, Observations};

/// Selects the system with the largest (or smallest) mean with a fixed budget of replications:
/// optimal computing budget allocation, OCBA (Chen, Lin, Yücesan and Chick, Discrete Event Dynamic
/// Systems 10, 2000). Systems close to the best one, and noisy ones, get most replications.
///
/// There is no guarantee of a level: the shares of the budget maximise, for large budgets, an
/// approximation of the probability that the best system is selected, for independent normal
/// observations. [`Allocated::probability`] is that approximation. Where a level has to be
/// guaranteed, take [`Selection`](super::Selection), whose number of replications is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Replications of all systems together.
    pub budget: u64,
    /// Replications of each system before any is compared, at least 5.
    pub first_stage: u64,
    /// Whether the best system has the smallest mean.
    pub smallest: bool,
}

/// The result of [`Allocation::run`].
#[derive(Debug, Clone)]
pub struct Allocated {
    /// The system with the best estimate.
    pub best: usize,
    /// A lower bound, by Bonferroni's inequality, of the probability that no other system is
    /// better, from the estimated means and variances taken as independent: an estimate, not a
    /// guarantee.
    pub probability: f64,
    /// By system. They have different numbers of replications.
    pub observations: Vec<Observations>,
}

/// Rounds in which the budget after the first stage is spent.
const ROUNDS: u64 = 16;

/// The smallest squared difference of means, as a share of the variances: equal means would get the
/// whole budget.
const LEAST: f64 = 1e-6;

impl Allocation {
    /// Selects the largest mean, with a first stage of 10 replications.
    pub fn new(budget: u64) -> Self {
        Self { budget, first_stage: 10, smallest: false }
    }

    /// Selects the smallest mean.
    #[must_use]
    pub fn smallest(self) -> Self {
        Self { smallest: true, ..self }
    }

    /// Calls `run` for replications of some of `systems` systems until the budget is spent:
    /// `run(points, replications)` makes the same replications of each of these points. Sizes of
    /// rounds depend only on observations, so the result is the same on every device.
    ///
    /// # Errors
    /// [`AnalysisError::Setting`]; [`AnalysisError::Failed`] if replications failed; those of
    /// `run`.
    pub fn run<E: From<AnalysisError>>(
        &self,
        systems: usize,
        column: &str,
        mut run: impl FnMut(&[usize], Range<u32>) -> std::result::Result<Vec<Observations>, E>,
    ) -> std::result::Result<Allocated, E> {
        self.check(systems)?;
        let number = |count: u64| u32::try_from(count).expect("at most the budget, which was checked");
        let all: Vec<usize> = (0..systems).collect();
        let mut observations = run(&all, 0..number(self.first_stage))?;
        let mut spent = self.first_stage * systems as u64;
        let round = ((self.budget - spent) / ROUNDS).max(systems as u64);
        loop {
            let seen = self.seen(&observations, column)?;
            let best = best(&seen);
            if spent >= self.budget {
                return Ok(Allocated { best, probability: probability(&seen, best), observations });
            }
            let more = round.min(self.budget - spent);
            for (system, more) in shares(&seen, best, more).into_iter().enumerate().filter(|of| of.1 > 0) {
                let first = observations[system].replications() as u64;
                let made = run(&[system], number(first)..number(first + more))?;
                for made in made {
                    observations[system].append(made)?;
                }
            }
            spent += more;
        }
    }

    fn check(&self, systems: usize) -> Result<()> {
        let setting =
            |what, value: u64, remedy| Err(AnalysisError::Setting { what, value: value.to_string(), remedy });
        if systems < 2 {
            return setting("the number of systems to select from", systems as u64, "compare at least 2");
        }
        if self.first_stage < 5 {
            let remedy = "choose at least 5, so that the variances can be estimated";
            return setting("the first stage", self.first_stage, remedy);
        }
        if self.first_stage.saturating_mul(systems as u64) > self.budget || self.budget > u32::MAX.into() {
            let what = "the budget of replications";
            let value = format!(
                "{}, and the first stage of {systems} points takes {}",
                self.budget, self.first_stage
            );
            let remedy = "allow that of each point, and at most 4294967295";
            return Err(AnalysisError::Setting { what, value, remedy });
        }
        Ok(())
    }

    /// By system: count, mean (larger is better) and variance.
    fn seen(&self, observations: &[Observations], column: &str) -> Result<Vec<Seen>> {
        let sign = if self.smallest { -1.0 } else { 1.0 };
        let of = |(point, observed): (usize, &Observations)| {
            let summary = observed.summary(column, 0.95)?;
            match (summary.failed, summary.mean.zip(summary.variance)) {
                (0, Some((mean, variance))) => {
                    #[expect(clippy::cast_precision_loss, reason = "a count")]
                    let count = summary.observations as f64;
                    Ok(Seen { count, mean: sign * mean, variance })
                }
                (0, None) => Err(AnalysisError::Rare { name: column.to_owned(), point }),
                (failed, _) => Err(AnalysisError::Failed { point, failed }),
            }
        };
        observations.iter().enumerate().map(of).collect()
    }
}

/// What is known of a system.
#[derive(Clone, Copy)]
struct Seen {
    count: f64,
    mean: f64,
    variance: f64,
}

/// The first of the systems with the largest mean.
fn best(seen: &[Seen]) -> usize {
    (1..seen.len()).fold(0, |best, next| if seen[next].mean > seen[best].mean { next } else { best })
}

fn probability(seen: &[Seen], best: usize) -> f64 {
    let wrong = seen.iter().enumerate().filter(|(system, _)| *system != best).map(|(_, other)| {
        let variance = other.variance / other.count + seen[best].variance / seen[best].count;
        let behind = seen[best].mean - other.mean;
        match variance > 0.0 {
            true => erfc(behind / (2.0 * variance).sqrt()) / 2.0,
            false => 0.0,
        }
    });
    (1.0 - wrong.sum::<f64>()).max(0.0)
}

/// Divides `more` replications, so that all counts come close to the optimal ratios.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of a budget, rounded down"
)]
fn shares(seen: &[Seen], best: usize, more: u64) -> Vec<u64> {
    // Proportional to the squared ratio of deviation and distance; of the best one, from the
    // others.
    let mut ratios: Vec<f64> = seen
        .iter()
        .map(|of| {
            let least = LEAST * (of.variance + seen[best].variance);
            let distance = (seen[best].mean - of.mean).powi(2).max(least);
            if distance > 0.0 { of.variance / distance } else { 0.0 }
        })
        .collect();
    let others =
        ratios.iter().zip(seen).enumerate().filter(|(system, of)| *system != best && of.1.variance > 0.0);
    let sum: f64 = others.map(|(_, (ratio, of))| ratio * ratio / of.variance).sum();
    ratios[best] = (seen[best].variance * sum).sqrt();
    let total = seen.iter().map(|of| of.count).sum::<f64>() + more as f64;
    let all: f64 = ratios.iter().sum();
    if all <= 0.0 {
        ratios.fill(1.0);
    }
    let all: f64 = ratios.iter().sum();
    let lacking: Vec<f64> =
        ratios.iter().zip(seen).map(|(ratio, of)| (total * ratio / all - of.count).max(0.0)).collect();
    let lacks: f64 = lacking.iter().sum();
    let mut shares: Vec<u64> = lacking.iter().map(|lack| (more as f64 * lack / lacks) as u64).collect();
    // The rest of the division goes to the one that lacks most.
    let most =
        (1..shares.len()).fold(0, |most, next| if lacking[next] > lacking[most] { next } else { most });
    shares[most] += more - shares.iter().sum::<u64>().min(more);
    shares
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Pairing, Values};
    use super::*;
    use crate::random::Stream;

    /// Systems with these means, and the mean of 12 uniform words as noise.
    fn systems(
        means: &[f64],
        seed: u64,
    ) -> impl FnMut(&[usize], Range<u32>) -> std::result::Result<Vec<Observations>, AnalysisError> {
        move |points, replications| {
            let of = |&point: &usize| {
                let values = replications.clone().map(|replication| {
                    let mut stream = Stream::new(seed, u32::try_from(point).unwrap(), replication.into());
                    let noise = (0..12).map(|_| f64::from(stream.draw()) / 2_f64.powi(32) - 0.5).sum::<f64>();
                    means[point] + noise
                });
                let column = Column { name: "y".to_owned(), values: Values::F64(values.collect()) };
                Observations::new(replications.len(), vec![column], [], Pairing::Independent)
            };
            points.iter().map(of).collect()
        }
    }

    #[test]
    fn close_systems_get_most_replications_and_the_budget_is_kept() {
        let means = [0.0, 0.5, 0.7, -3.0, -2.0];
        let found = Allocation::new(2000).run(means.len(), "y", systems(&means, 3)).unwrap();
        let made: Vec<usize> = found.observations.iter().map(Observations::replications).collect();
        assert_eq!((found.best, made.iter().sum::<usize>()), (2, 2000));
        assert!(made[1] > 600 && made[2] > 600 && made[3] < 60 && made[0] < made[1], "{made:?}");
        assert!(found.probability > 0.9, "{}", found.probability);
        let least = Allocation::new(200).smallest().run(means.len(), "y", systems(&means, 3)).unwrap();
        assert_eq!(least.best, 3);
    }

    #[test]
    fn it_selects_right_more_often_than_equal_shares() {
        let means = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0];
        let right = |budget: u64, first_stage: u64| {
            let select = |seed| {
                let allocation = Allocation { first_stage, ..Allocation::new(budget) };
                allocation.run(means.len(), "y", systems(&means, seed)).unwrap().best == 7
            };
            (0..200).filter(|&seed| select(seed)).count()
        };
        // With a first stage of the whole budget, all systems have equal shares.
        let (optimal, equal) = (right(320, 10), right(320, 40));
        assert!(optimal > equal && optimal > 185, "{optimal} and {equal} of 200");
    }

    #[test]
    fn measures_that_few_replications_observe_are_refused() {
        let rare = |points: &[usize], replications: Range<u32>| {
            let of = |&point: &usize| {
                let counts: Vec<u32> =
                    replications.clone().map(|r| u32::from(point == 0 || r == 3)).collect();
                let column =
                    |name: &str, values| Column { name: name.to_owned(), values: Values::U32(values) };
                let columns = vec![column("sum", counts.clone()), column("count", counts)];
                let mut made = Observations::new(replications.len(), columns, [], Pairing::Independent)?;
                made.pool("mean", &["sum", "count"], |means| means[0] / means[1])?;
                Ok(made)
            };
            points.iter().map(of).collect::<Result<Vec<_>>>()
        };
        let error = Allocation::new(200).run(2, "mean", rare).unwrap_err().to_string();
        assert!(error.starts_with("`mean` was observed in too few replications of point 1"), "{error}");
        let systems = rare(&[0, 1], 0..20).unwrap();
        let error = super::super::Selection::new(0.1, 0.95).screen(&systems, "mean").unwrap_err();
        assert!(matches!(error, AnalysisError::Rare { point: 1, .. }), "{error}");
    }

    #[test]
    fn systems_without_noise_and_too_small_budgets_are_no_trouble() {
        let constant = |points: &[usize], replications: Range<u32>| {
            let of = |&point: &usize| {
                let values = Values::U32(vec![u32::try_from(point).unwrap(); replications.len()]);
                let column = Column { name: "y".to_owned(), values };
                Observations::new(replications.len(), vec![column], [], Pairing::Independent)
            };
            points.iter().map(of).collect::<Result<Vec<_>>>()
        };
        let found = Allocation::new(100).run(3, "y", constant).unwrap();
        assert_eq!((found.best, found.probability), (2, 1.0));
        assert!(Allocation::new(29).run(3, "y", constant).is_err());
        assert!(Allocation::new(29).run(1, "y", constant).is_err());
    }
}
