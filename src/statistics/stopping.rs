//! Stopping rules: a precision, or a budget.

use super::error::Result;
use super::summary::check_level;
use super::{AnalysisError, Pairing, Summary};
use std::ops::Range;
use std::time::Duration;

/// Default bounds of a run to a precision ([`Stopping::relative`]).
const MOST_EVENTS: u64 = 10_000_000_000;
const MOST_REPLICATIONS: u64 = 1 << 22;

/// How narrow the interval of a mean has to be: its half width is at most the larger of `relative`
/// times the mean's magnitude and `absolute`.
///
/// The bound is relative to the *estimated* mean. For an error of at most g relative to the *true*
/// mean, use g / (1 + g) (Law, Simulation Modeling and Analysis, 5th ed., section 9.4.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Bound on the half width relative to the mean, such as 0.01.
    pub relative: f64,
    /// Bound in the unit of the column, for means near 0; 0 for none.
    pub absolute: f64,
    /// Confidence level of the interval.
    pub level: f64,
}

impl Precision {
    /// A relative half width of at most `bound` at the level 0.95.
    pub fn relative(bound: f64) -> Self {
        Self { relative: bound, absolute: 0.0, level: 0.95 }
    }

    /// The largest half width for a mean.
    fn target(&self, mean: f64) -> f64 {
        (self.relative * mean.abs()).max(self.absolute)
    }
}

/// The most that a run may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Total replications per point, failed ones included; `None` for no bound.
    pub replications: Option<u64>,
    /// Total events of all points, if replications have events; `None` for no bound. Unlike a time
    /// it ends the same experiment at the same replication on every machine. The
    /// [minimum](Stopping::minimum) always runs.
    pub events: Option<u64>,
    /// Wall time, above 0; `None` for no bound. The [minimum](Stopping::minimum) of replications
    /// always runs, because fewer give no useful interval: a run always has results.
    pub time: Option<Duration>,
}

/// The cost of a run so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Executed events.
    pub events: u64,
    /// Wall time.
    pub time: Duration,
}

impl From<Duration> for Spent {
    /// Without events.
    fn from(time: Duration) -> Self {
        Self { events: 0, time }
    }
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Run this many more replications (at least 1; an even number for antithetic pairs), then
    /// evaluate again.
    Continue(u64),
    /// Every mean has the precision.
    Reached,
    /// The budget of replications is used up, and the precision is not reached.
    ReplicationsSpent,
    /// The budget of events is used up, and the precision is not reached.
    EventsSpent,
    /// The budget of time is used up, and the precision is not reached.
    TimeSpent,
    /// Replications were run and all of them failed: more of them will not help.
    AllFailed,
    /// The watcher of the run stopped it.
    Stopped,
}

impl Decision {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continue(_) => "continue",
            Self::Reached => "reached",
            Self::ReplicationsSpent => "replications_spent",
            Self::EventsSpent => "events_spent",
            Self::TimeSpent => "time_spent",
            Self::AllFailed => "all_failed",
            Self::Stopped => "stopped",
        }
    }
}

/// The sequential procedure: from results so far to the number of further replications.
///
/// [`Stopping::next`] is a pure function. If the interval of n observations has the half width h
/// and t is the target, about n (h / t)^2 are needed, since the half width falls with the square
/// root of n. The procedure requests the difference: at least a tenth of the present number, so
/// that it does not approach the goal in ever smaller steps; and at most as many as make ten times
/// the present number, because few observations estimate their variance badly.
///
/// An interval that stopped its own run covers the true mean a little less often than its level
/// says: the run stops when the estimated variance happens to be small. The effect is large for
/// runs that may stop after a few replications and fades as n grows (Law, section 9.4.1; Chow and
/// Robbins, Ann. Math. Statist. 36, 1965), hence the minimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// The required precision.
    pub precision: Precision,
    /// The bound on costs.
    pub budget: Budget,
    /// Replications before the first evaluation, at least 10; more for skewed results. 30 is
    /// customary.
    pub minimum: u64,
}

impl Stopping {
    /// Stops at a precision, or when the budget ends, but not before 30 replications.
    pub fn new(precision: Precision, budget: Budget) -> Self {
        Self { precision, budget, minimum: 30 }
    }

    /// Stops at a relative half width of all means, or after `most` replications of each point. The
    /// default bounds are 2^22 replications of each point and 10^10 events: counts, so that results
    /// do not depend on the speed of the machine.
    pub fn relative(bound: f64, level: f64, most: Option<u32>) -> Self {
        let precision = Precision { level, ..Precision::relative(bound) };
        let budget = match most {
            Some(most) => Budget { replications: Some(most.into()), ..Budget::default() },
            None => Budget { replications: Some(MOST_REPLICATIONS), events: Some(MOST_EVENTS), time: None },
        };
        Self::new(precision, budget)
    }

    /// Checks whether the settings can be met.
    pub fn check(&self) -> Result<()> {
        let Precision { relative, absolute, level } = self.precision;
        check_level(level)?;
        let setting = |what, value: String, remedy| Err(AnalysisError::Setting { what, value, remedy });
        let bound = |value: f64| value >= 0.0 && value.is_finite();
        if !bound(relative) || !bound(absolute) || relative.max(absolute) == 0.0 {
            let value = format!("{relative} relative, {absolute} absolute");
            return setting("the precision", value, "choose a positive bound, such as 0.01 relative");
        }
        if self.minimum < 10 {
            let remedy = "choose at least 10, so that the run does not stop by accident";
            return setting("the minimum of replications", self.minimum.to_string(), remedy);
        }
        if self.budget.time == Some(Duration::ZERO) {
            return setting(
                "the budget of time",
                "0 s".into(),
                "choose a positive time, or none for no bound",
            );
        }
        if let Some(most) = self.budget.replications.filter(|&most| most < self.minimum) {
            let remedy = "choose at least the minimum of replications";
            let value = format!("{most}, and the minimum {}", self.minimum);
            return setting("the budget of replications", value, remedy);
        }
        Ok(())
    }

    /// Refuses a range of replications: such a run begins with replication 0.
    pub(crate) fn without_range(range: Option<&Range<u32>>) -> Result<()> {
        let Some(range) = range else { return Ok(()) };
        let remedy = "leave the range out: such a run begins with replication 0";
        let value = format!("{range:?}");
        Err(AnalysisError::Setting { what: "the range of a run to a precision", value, remedy })
    }

    /// What to do next, from the summaries at `precision.level` of the columns that matter (of one
    /// point; all of the same replications), and the cost so far. Before the first replication pass
    /// an empty list. With antithetic `pairing` it requests whole pairs.
    pub fn next(&self, pairing: Pairing, summaries: &[Summary], spent: impl Into<Spent>) -> Decision {
        let spent = spent.into();
        let run = summaries.iter().map(|s| s.replications).max().unwrap_or(0);
        if run < self.minimum {
            return self.within_budget(self.minimum - run, run, pairing, spent);
        }
        if summaries.iter().all(|s| s.observations == 0) {
            return Decision::AllFailed;
        }
        let needed = summaries.iter().map(|s| self.needed(s)).fold(0.0, f64::max);
        if needed == 0.0 {
            return Decision::Reached;
        }
        self.within_budget(growth(needed, run), run, pairing, spent)
    }

    /// Total replications that the column needs, or 0 if it has the precision.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    fn needed(&self, summary: &Summary) -> f64 {
        let Some((mean, interval)) = summary.mean.zip(summary.interval) else { return f64::INFINITY };
        let target = self.precision.target(mean);
        if interval.half_width <= target {
            return 0.0;
        }
        // In replications, not observations: pairs and failures grow in proportion.
        summary.replications as f64 * (interval.half_width / target).powi(2)
    }

    fn within_budget(&self, mut more: u64, run: u64, pairing: Pairing, spent: Spent) -> Decision {
        let Spent { events, time: elapsed } = spent;
        if let Some(most) = self.budget.events.filter(|_| run >= self.minimum) {
            // What the remaining events allow, at the average per replication so far.
            let left = u128::from(most.saturating_sub(events)) * u128::from(run) / u128::from(events.max(1));
            more = more.min(u64::try_from(left).unwrap_or(u64::MAX));
            if more == 0 {
                return Decision::EventsSpent;
            }
        }
        // Time does not limit the first replications.
        if let Some(time) = self.budget.time.filter(|_| run > 0) {
            if elapsed >= time {
                return Decision::TimeSpent;
            }
            if !elapsed.is_zero() {
                // What the remaining time allows at the present pace, at least one.
                #[allow(
                    clippy::cast_precision_loss,
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "an estimate"
                )]
                let fits = (run as f64 * (time - elapsed).div_duration_f64(elapsed)) as u64;
                more = more.min(fits.max(1));
            }
        }
        let left = self.budget.replications.map_or(u64::MAX, |most| most.saturating_sub(run));
        if pairing == Pairing::Antithetic {
            more = more.saturating_add(more % 2).min(left - left % 2);
        }
        match more.min(left) {
            0 => Decision::ReplicationsSpent,
            more => Decision::Continue(more),
        }
    }
}

/// How many more than `run` to request if `needed` in all would suffice.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded up, and bounded"
)]
fn growth(needed: f64, run: u64) -> u64 {
    let run_f = run as f64;
    (needed - run_f).clamp(0.1 * run_f, 9.0 * run_f).ceil() as u64
}
