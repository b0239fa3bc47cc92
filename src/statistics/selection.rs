//! Which of several systems is the best: a fully sequential procedure.

use std::ops::Range;

use super::error::Result;
use super::summary::check_level;
use super::{AnalysisError, Experiment, Observations, Pairing};

/// Finds the system with the largest (or smallest) mean among the points of a design: the procedure
/// KN of Kim and Nelson, "A fully sequential procedure for indifference-zone selection in
/// simulation", ACM TOMACS 11(3), 2001, with c = 1.
///
/// The guarantee: with the probability `level` at least the selected system is the best, if the
/// best one is better than all others by the `indifference` or more; otherwise one that is worse by
/// less than that may be selected, with no harm that counts. It holds for normal observations,
/// which replications of long runs are nearly, of any variances, independent or under common random
/// numbers, which make it faster where they help.
///
/// All systems begin with a first stage, from which the variances of their differences are
/// estimated. Then each observation more is looked at in turn, and a system ends when it is behind
/// another one by so much that, at its level, it cannot be the best. How far that is shrinks with
/// the number of observations, to nothing at the latest when the variances say.
///
/// ```
/// use eventhorizon::statistics::{Column, Design, Experiment, Observations, Pairing, Selection, Values};
/// use eventhorizon::random::Stream;
///
/// // Instead of an engine: the mean of 48 uniform words, and the level of the factor.
/// let run = |experiment: &Experiment, replications: std::ops::Range<u32>| {
///     let points = (0..experiment.design.len()).map(|point| {
///         let level = experiment.design.point(point).real("level", 0.0);
///         let values = replications.clone().map(|replication| {
///             let mut stream = Stream::of_replication(experiment.seed, u32::try_from(point).unwrap(), replication);
///             level + (0..48).map(|_| f64::from(stream.draw()) / 2_f64.powi(32)).sum::<f64>() / 48.0
///         });
///         let column = Column { name: "y".into(), values: Values::F64(values.collect()) };
///         Observations::new(replications.len(), vec![column], [], Pairing::Independent)
///     });
///     points.collect::<Result<Vec<_>, _>>()
/// };
/// let design = Design::default().cross("level", [1.0, 1.05, 0.9])?;
/// let selected = Selection::new(0.02, 0.95).run(&Experiment::new(design, 0, 42), "y", run)?;
/// assert_eq!(selected.best, Some(1));
/// # Ok::<(), eventhorizon::statistics::AnalysisError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selection {
    /// The smallest difference of means that matters, in the unit of the column.
    pub indifference: f64,
    /// The probability of a correct selection, above 1 over the number of systems.
    pub level: f64,
    /// Observations of the first stage, at least 10: replications, or antithetic pairs. More of
    /// them estimate the variances better, so that later bounds are narrower.
    pub first_stage: u64,
    /// Whether the best system is that with the smallest mean.
    pub smallest: bool,
    /// Replications of a system at the most; none for no bound.
    pub replications: Option<u64>,
}

/// What [`Selection::run`] found.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The system; none where the replications were used up before.
    pub best: Option<usize>,
    /// The systems that may be the best: this one, or those among which it was not decided.
    pub survivors: Vec<usize>,
    /// By system: after how many observations it ended, if it did.
    pub eliminated: Vec<Option<u64>>,
    /// By system. Those that ended have fewer than the others, and some more than they needed:
    /// replications are made in rounds. A round makes the points that are left, numbered anew, so
    /// without common random numbers the observations are those of no single run of the design:
    /// independent all the same.
    pub observations: Vec<Observations>,
}

/// What is known after some observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Screening {
    /// The system, if it is decided.
    pub best: Option<usize>,
    /// The systems that may be the best.
    pub survivors: Vec<usize>,
    /// By system: after how many observations it ended, if it did.
    pub eliminated: Vec<Option<u64>>,
    /// Observations of each survivor with which it is decided at the latest: N + 1 in the paper.
    pub at_most: u64,
}

impl Selection {
    /// The largest mean, from a first stage of 20 observations on, and as many as it takes.
    pub fn new(indifference: f64, level: f64) -> Self {
        Self { indifference, level, first_stage: 20, smallest: false, replications: None }
    }

    /// The smallest mean.
    #[must_use]
    pub fn smallest(self) -> Self {
        Self { smallest: true, ..self }
    }

    /// Whether the settings can be met for so many systems.
    ///
    /// # Errors
    /// [`AnalysisError::Setting`] and [`AnalysisError::Level`].
    #[expect(clippy::cast_precision_loss, reason = "a number of systems")]
    pub fn check(&self, systems: usize) -> Result<()> {
        check_level(self.level)?;
        let setting = |what, value: String, remedy| Err(AnalysisError::Setting { what, value, remedy });
        if systems < 2 {
            let remedy = "compare at least 2";
            return setting("the number of systems to select from", systems.to_string(), remedy);
        }
        if self.level <= 1.0 / systems as f64 {
            let remedy = "choose one above 1 over the number of systems: less is a guess";
            return setting("the level of the selection", self.level.to_string(), remedy);
        }
        if !(self.indifference > 0.0 && self.indifference.is_finite()) {
            let remedy = "choose the smallest difference that matters, above 0";
            return setting("the indifference zone", self.indifference.to_string(), remedy);
        }
        if self.first_stage < 10 {
            let remedy = "choose at least 10, so that the variances are known to speak of";
            return setting("the first stage", self.first_stage.to_string(), remedy);
        }
        Ok(())
    }

    /// Looks at the observations of all systems, in their order. Of a system that has ended, those
    /// are enough that it had by then; the others have equally many.
    ///
    /// # Errors
    /// As [`check`](Self::check); [`AnalysisError::Mismatch`] where systems lack observations or
    /// differ in how they were drawn, [`AnalysisError::Failed`] where replications failed: the
    /// guarantee knows nothing of systems whose observations are missing for reasons of their own.
    #[expect(clippy::cast_precision_loss, reason = "numbers of observations")]
    pub fn screen(&self, systems: &[Observations], column: &str) -> Result<Screening> {
        self.check(systems.len())?;
        for (point, system) in systems.iter().enumerate() {
            let failed = system.failures().len() as u64;
            if failed > 0 {
                return Err(AnalysisError::Failed { point, failed });
            }
            super::observations::same_pairing(&systems[0], system)?;
        }
        let sign = if self.smallest { -1.0 } else { 1.0 };
        let values = systems.iter().map(|system| system.independent(column)).collect::<Result<Vec<_>>>()?;
        let (k, first) = (systems.len(), self.first_stage);
        let given = |r: u64, system: usize| {
            usize::try_from(r).ok().and_then(|r| values[system].get(r)).map(|value| sign * value)
        };
        let lacking = |system: usize, needed: u64| AnalysisError::Mismatch {
            what: "number of observations",
            left: format!("{needed} needed"),
            right: format!("{} of point {system}", values[system].len()),
        };
        // The paper's h^2 = 2 eta (n - 1), with eta for c = 1.
        let degrees = (first - 1) as f64;
        let share = 2.0 * (1.0 - self.level) / (k - 1) as f64;
        let h2 = (share.powf(-2.0 / degrees) - 1.0) * degrees;
        // By pair, a row for each system: how many observations it takes at the most, as a real
        // number.
        let mut needed = vec![0.0; k * k];
        for system in 0..k {
            if (values[system].len() as u64) < first {
                return Err(lacking(system, first));
            }
            for other in 0..system {
                let differences: Vec<f64> =
                    values[system].iter().zip(&values[other]).map(|(a, b)| a - b).collect();
                let first = usize::try_from(first).expect("so many were counted");
                let moments = super::summary::compensated(&differences[..first]);
                let variance = moments.variance.expect("a first stage has several observations");
                let observations = h2 * variance / (self.indifference * self.indifference);
                needed[system * k + other] = observations;
                needed[other * k + system] = observations;
            }
        }
        let at_most = needed.iter().copied().fold(0.0, f64::max);
        if at_most > 1e15 {
            return Err(AnalysisError::Setting {
                what: "the indifference zone",
                value: self.indifference.to_string(),
                remedy: "choose a larger one: with these variances more than 1e15 observations might be needed",
            });
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1e15")]
        let at_most = (at_most as u64 + 1).max(first);
        let mut sums: Vec<f64> =
            (0..k).map(|system| (0..first).filter_map(|r| given(r, system)).sum()).collect();
        let mut survivors: Vec<usize> = (0..k).collect();
        let mut eliminated = vec![None; k];
        let made = |survivors: &[usize]| survivors.iter().map(|&system| values[system].len() as u64).min();
        let mut r = first;
        loop {
            // The sums differ by what the means differ by, r times.
            let worse = |system: usize, other: usize| {
                let slack = (needed[system * k + other] - r as f64).max(0.0) * self.indifference / 2.0;
                other != system && sums[system] < sums[other] - slack
            };
            let (ended, left): (Vec<_>, Vec<_>) =
                survivors.iter().partition(|&&system| survivors.iter().any(|&other| worse(system, other)));
            for system in ended {
                eliminated[system] = Some(r);
            }
            survivors = left;
            if survivors.len() == 1 || r >= at_most {
                // Of equal ones the first.
                let best = survivors
                    .iter()
                    .copied()
                    .reduce(|best, next| if sums[next] > sums[best] { next } else { best });
                return Ok(Screening { best, survivors, eliminated, at_most });
            }
            if made(&survivors).is_none_or(|made| made <= r) {
                let most = survivors.iter().map(|&system| values[system].len()).max();
                // They are as many of all of them, or the rest would be passed over in silence.
                if let Some(&system) =
                    survivors.iter().find(|&&system| most.is_some_and(|most| values[system].len() < most))
                {
                    return Err(lacking(system, most.unwrap_or(0) as u64));
                }
                return Ok(Screening { best: None, survivors, eliminated, at_most });
            }
            for &system in &survivors {
                sums[system] += given(r, system).expect("so many were counted");
            }
            r += 1;
        }
    }

    /// Has `run` make replications of the systems that may be the best until one of them is
    /// selected: `run(experiment, replications)` is to make these replications of all points of the
    /// experiment that it is given, which are fewer and fewer of those of `experiment`. With the
    /// engines of [`replication`](crate::replication) and [`pdes`](crate::pdes) that is
    /// a run of a `range`. Of `experiment` the number of replications does not count.
    ///
    /// Rounds grow by half of what there is, so at most a third of a system's observations is made
    /// for nothing. Their sizes depend on the observations alone, so the same seed selects the same
    /// system after the same observations on every device.
    ///
    /// # Errors
    /// As [`screen`](Self::screen), and those of `run`.
    pub fn run<E: From<AnalysisError>>(
        &self,
        experiment: &Experiment,
        column: &str,
        mut run: impl FnMut(&Experiment, Range<u32>) -> std::result::Result<Vec<Observations>, E>,
    ) -> std::result::Result<Selected, E> {
        let systems = experiment.design.len();
        self.check(systems)?;
        let members = match experiment.pairing {
            Pairing::Independent => 1,
            Pairing::Antithetic => 2,
        };
        let most = self.replications.unwrap_or(u64::MAX).min(u64::from(u32::MAX)) / members;
        let (mut made, mut goal) = (0_u64, self.first_stage);
        let mut survivors: Vec<usize> = (0..systems).collect();
        let mut observations: Vec<Observations> = Vec::new();
        loop {
            if goal > most {
                return Err(AnalysisError::Setting {
                    what: "the most replications of a selection",
                    value: (most * members).to_string(),
                    remedy: "allow for the first stage at least, and for antithetic pairs twice that",
                }
                .into());
            }
            let range =
                [made, goal].map(|count| u32::try_from(count * members).expect("no more than the most"));
            let some = Experiment {
                design: experiment.design.only(&survivors),
                replications: range[1] - range[0],
                ..experiment.clone()
            };
            let new = run(&some, range[0]..range[1])?;
            if new.len() != survivors.len() {
                return Err(AnalysisError::Points { points: survivors.len(), given: new.len() }.into());
            }
            if observations.is_empty() {
                observations = new;
            } else {
                for (&system, new) in survivors.iter().zip(new) {
                    observations[system].append(new)?;
                }
            }
            made = goal;
            let screening = self.screen(&observations, column)?;
            if screening.best.is_some() || made == most {
                let Screening { best, survivors, eliminated, .. } = screening;
                return Ok(Selected { best, survivors, eliminated, observations });
            }
            survivors = screening.survivors;
            goal = (made + (made / 2).max(1)).min(screening.at_most).min(most);
        }
    }
}
