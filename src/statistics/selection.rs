//! Selection of the best of several systems, by a fully sequential procedure.

use std::ops::Range;

use super::error::Result;
use super::summary::check_level;
use super::{AnalysisError, Experiment, Observations, Pairing};

/// Selects the system with the largest (or smallest) mean among the points of a design: the
/// procedure KN of Kim and Nelson, "A fully sequential procedure for indifference-zone selection in
/// simulation", ACM TOMACS 11(3), 2001, with c = 1.
///
/// Guarantee: with at least the probability `level`, the selected system is the best, if the best
/// is better than all others by at least the `indifference`. Otherwise a system may be selected
/// that is worse by less than that. The guarantee holds for normal observations, which replications
/// of long runs approximate, with any variances, independent or with common random numbers, which
/// can make it faster.
///
/// All systems begin with a first stage, which estimates the variances of their differences. Then
/// observations are compared one by one, and a system is eliminated when it is so far behind
/// another one that, at the level, it cannot be the best. This distance shrinks with the number of
/// observations, and reaches zero at a number given by the variances.
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
    /// them estimate the variances better, so later bounds are narrower.
    pub first_stage: u64,
    /// Whether the best system has the smallest mean.
    pub smallest: bool,
    /// Most replications of a system; `None` for no bound.
    pub replications: Option<u64>,
}

/// The result of [`Selection::run`].
#[derive(Debug, Clone)]
pub struct Selected {
    /// The selected system; `None` if the replications were used up before.
    pub best: Option<usize>,
    /// The systems that may be the best: the selected one, or all undecided ones.
    pub survivors: Vec<usize>,
    /// By system: the number of observations after which it was eliminated, if it was.
    pub eliminated: Vec<Option<u64>>,
    /// By system. Eliminated systems have fewer observations, and some systems more than they
    /// needed, because replications run in rounds.
    ///
    /// A round runs the remaining points, renumbered. So without common random numbers the
    /// observations differ from those of a single run of the design; they are still independent.
    pub observations: Vec<Observations>,
}

/// The state after some observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Screening {
    /// The system, if it is decided.
    pub best: Option<usize>,
    /// The systems that may be the best.
    pub survivors: Vec<usize>,
    /// By system: the number of observations after which it was eliminated, if it was.
    pub eliminated: Vec<Option<u64>>,
    /// Observations of each survivor after which the decision is certain: N + 1 in the paper.
    pub at_most: u64,
}

impl Selection {
    /// Selects the largest mean, with a first stage of 20 observations, and no bound on
    /// replications.
    pub fn new(indifference: f64, level: f64) -> Self {
        Self { indifference, level, first_stage: 20, smallest: false, replications: None }
    }

    /// Selects the smallest mean.
    #[must_use]
    pub fn smallest(self) -> Self {
        Self { smallest: true, ..self }
    }

    /// Checks the settings for this number of systems.
    ///
    /// # Errors
    /// [`AnalysisError::Setting`] and [`AnalysisError::Level`].
    #[expect(clippy::cast_precision_loss, reason = "a number of systems")]
    fn check(&self, systems: usize) -> Result<()> {
        check_level(self.level)?;
        let setting = |what, value: String, remedy| Err(AnalysisError::Setting { what, value, remedy });
        if systems < 2 {
            let remedy = "compare at least 2";
            return setting("the number of systems to select from", systems.to_string(), remedy);
        }
        if self.level <= 1.0 / systems as f64 {
            let remedy = "choose one above 1 over the number of systems, the level of a guess";
            return setting("the level of the selection", self.level.to_string(), remedy);
        }
        if !(self.indifference > 0.0 && self.indifference.is_finite()) {
            let remedy = "choose the smallest difference that matters, above 0";
            return setting("the indifference zone", self.indifference.to_string(), remedy);
        }
        if self.first_stage < 10 {
            let remedy = "choose at least 10, so that the variances can be estimated";
            return setting("the first stage", self.first_stage.to_string(), remedy);
        }
        Ok(())
    }

    /// Evaluates the observations of all systems, in their order. An eliminated system needs only
    /// the observations up to its elimination; the others have equally many.
    ///
    /// # Errors
    /// [`AnalysisError::Setting`], [`AnalysisError::Level`]; [`AnalysisError::Mismatch`] if systems
    /// lack observations or were drawn differently; [`AnalysisError::Failed`] if replications
    /// failed, because the guarantee does not cover missing observations; [`AnalysisError::Rare`].
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
        // By pair, a row for each system: the most observations it can take, as a real number.
        let mut needed = vec![0.0; k * k];
        for system in 0..k {
            if values[system].is_empty() && systems[system].replications() > 1 {
                return Err(AnalysisError::Rare { name: column.to_owned(), point: system });
            }
            if (values[system].len() as u64) < first {
                return Err(lacking(system, first));
            }
            for other in 0..system {
                let differences: Vec<f64> =
                    values[system].iter().zip(&values[other]).map(|(a, b)| a - b).collect();
                let first = usize::try_from(first).expect("counted above");
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
                remedy: "choose a larger one; with these variances more than 1e15 observations might be needed",
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
            // The difference of the sums is r times that of the means.
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
                // The first of equal ones.
                let best = survivors
                    .iter()
                    .copied()
                    .reduce(|best, next| if sums[next] > sums[best] { next } else { best });
                return Ok(Screening { best, survivors, eliminated, at_most });
            }
            if made(&survivors).is_none_or(|made| made <= r) {
                let most = survivors.iter().map(|&system| values[system].len()).max();
                // All have equally many, otherwise the rest would be skipped silently.
                if let Some(&system) =
                    survivors.iter().find(|&&system| most.is_some_and(|most| values[system].len() < most))
                {
                    return Err(lacking(system, most.unwrap_or(0) as u64));
                }
                return Ok(Screening { best: None, survivors, eliminated, at_most });
            }
            for &system in &survivors {
                sums[system] += given(r, system).expect("counted above");
            }
            r += 1;
        }
    }

    /// Calls `run` for replications of the systems that may be the best, until one is selected:
    /// `run(experiment, replications)` runs these replications of all points of the experiment
    /// passed to it, a shrinking subset of those of `experiment`. With the engines of
    /// [`replication`](crate::replication) and [`pdes`](crate::pdes) it is a run of a `range`. The
    /// number of replications in `experiment` is ignored.
    ///
    /// Rounds grow by half of the present number, so at most a third of a system's observations is
    /// wasted. Their sizes depend only on the observations, so the same seed selects the same
    /// system after the same observations on every device.
    ///
    /// # Errors
    /// As [`screen`](Self::screen), and errors of `run`.
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
                    remedy: "allow at least the first stage (20 by default), and twice that for antithetic pairs",
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
