//! Replications until a precision is reached.

use std::ops::Range;

use web_time::Instant;

use super::{AnalysisError, Decision, Observations, Pairing, Spent, Stopping, Summary};

/// The result of a run until a precision is reached.
#[derive(Debug, Clone)]
pub struct Sequential {
    /// By point; all points have the same replications, so that they can be compared.
    pub observations: Vec<Observations>,
    /// By point: why the run ended for it. Never [`Decision::Continue`].
    pub decisions: Vec<Decision>,
    /// The sum of the fingerprints of all rounds.
    pub fingerprint: u64,
}

/// More replications of all points.
pub(crate) struct Round {
    pub(crate) observations: Vec<Observations>,
    pub(crate) fingerprint: u64,
    /// Executed events, or replications if those have no events.
    pub(crate) events: u64,
}

impl Sequential {
    /// Evaluates `stopping` for each point, and calls `run` for as many replications of all points
    /// as the neediest one requires. If `run` makes fewer, or none, it was stopped.
    pub(crate) async fn run<E: From<AnalysisError>>(
        stopping: &Stopping,
        pairing: Pairing,
        columns: &[&str],
        mut run: impl AsyncFnMut(Range<u32>) -> Result<Option<Round>, E>,
    ) -> Result<Self, E> {
        stopping.check()?;
        if columns.is_empty() {
            // Without columns, the run would never end.
            return Err(AnalysisError::Setting {
                what: "the list of columns that decide when a run ends",
                value: "empty".into(),
                remedy: "name at least one result column",
            }
            .into());
        }
        let begun = Instant::now();
        let mut observations: Vec<Observations> = Vec::new();
        let (mut done, mut fingerprint, mut events) = (0_u32, 0_u64, 0_u64);
        loop {
            let spent = Spent { events, time: begun.elapsed() };
            let mut decisions = Vec::new();
            for point in &observations {
                // Its columns are only known from replications that did not fail.
                if u64::from(done) >= stopping.minimum && point.all_failed() {
                    decisions.push(Decision::AllFailed);
                    continue;
                }
                let summaries = columns.iter().map(|name| point.summary(name, stopping.precision.level));
                let summaries = summaries.collect::<Result<Vec<Summary>, _>>()?;
                decisions.push(stopping.next(pairing, &summaries, spent));
            }
            if observations.is_empty() {
                decisions.push(stopping.next(pairing, &[], spent));
            }
            let more = decisions.iter().filter_map(|decision| match decision {
                Decision::Continue(more) => Some(*more),
                _ => None,
            });
            let Some(more) = more.max() else { return Ok(Self { observations, decisions, fingerprint }) };
            // An even number stays even, for antithetic pairs.
            let more = u32::try_from(more).unwrap_or(u32::MAX).min((u32::MAX - done) & !1);
            if more == 0 {
                return Err(AnalysisError::TooMany { points: observations.len(), replications: done }.into());
            }
            let Some(Round { observations: new, fingerprint: sum, events: executed }) =
                run(done..done + more).await?
            else {
                let decisions = vec![Decision::Stopped; observations.len()];
                return Ok(Self { observations, decisions, fingerprint });
            };
            let made = new.first().map_or(0, Observations::replications);
            fingerprint = fingerprint.wrapping_add(sum);
            events = events.saturating_add(executed);
            if observations.is_empty() {
                observations = new;
            } else {
                for (known, new) in observations.iter_mut().zip(new) {
                    known.append(new)?;
                }
            }
            if (made as u64) < u64::from(more) {
                let decisions = vec![Decision::Stopped; observations.len()];
                return Ok(Self { observations, decisions, fingerprint });
            }
            done += more;
        }
    }
}
