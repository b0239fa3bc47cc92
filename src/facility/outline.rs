//! The nodes and results of a network that runs as a process model, under the same names.

use std::time::Duration;

use crate::statistics::{Decision, Part};
use crate::time::{Resolution, Ticks};

use super::measures::Measured;
use super::nodes::Node;
use super::theory;
use super::{Facility, FacilityError, Network, Report, Study};

/// A checked network without the tables of the interpreter.
#[derive(Debug, Clone)]
pub(crate) struct Outline(Facility);

/// What the runs of a process model leave besides the values of measures.
pub(crate) struct Runs {
    /// `cpu` or `gpu`.
    pub(crate) engine: &'static str,
    pub(crate) mapping: String,
    pub(crate) adapter: String,
    pub(crate) time: Duration,
    pub(crate) events: u64,
    pub(crate) fingerprint: u64,
    pub(crate) replications: u32,
    pub(crate) stopped: Option<Decision>,
}

impl Outline {
    /// Checks a network.
    pub(crate) fn new(network: &Network, allow_unstable: bool) -> Result<Self, FacilityError> {
        Facility::without_tables(network, allow_unstable).map(Self)
    }

    pub(crate) fn network(&self) -> &Network {
        self.0.network()
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    pub(crate) fn resolution(&self) -> Resolution {
        self.0.resolution()
    }

    /// The average number of servers that a schedule gives a station in a study.
    pub(crate) fn scheduled(&self, node: &Node, study: &Study) -> Result<f64, FacilityError> {
        let (until, warm_up) = self.0.times(study)?;
        Ok(self.0.servers_between(node, warm_up, until))
    }

    /// The report of runs. `part` is what a replication adds to a measure, in units of time.
    pub(crate) fn report(
        &self,
        study: &Study,
        runs: Runs,
        part: impl Fn(&Measured, usize) -> Part,
    ) -> Result<Report, FacilityError> {
        let facility = &self.0;
        let (until, warm_up): (Ticks, Ticks) = facility.times(study)?;
        let known = theory::known(facility);
        let (mut rows, mut served) = (Vec::new(), 0.0);
        let mut warnings = facility.rounding_until(study.until);
        for mut column in facility.columns_in(1.0) {
            if facility.unserved(&column, warm_up, until) {
                let what = facility.reported_of(&column);
                warnings
                    .push(format!("{what} is not reported: its schedule has no servers after the warm-up"));
            }
            for replication in 0..runs.replications as usize {
                let part = part(&column, replication);
                if facility.counts_services(&column) {
                    served += part.sum * (study.until - study.warm_up);
                }
                column.parts.push(part);
            }
            let summary = column.parts.summary(column.measure.name(), study.level)?;
            let row = facility.row(&column, &summary, facility.theory(&column, &known));
            rows.push(super::Row { parts: column.parts, ..row });
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let customers = served.round() as u64;
        Ok(Report {
            network: facility.network().name.clone(),
            engine: runs.engine,
            mapping: runs.mapping,
            adapter: runs.adapter,
            seconds: runs.time.as_secs_f64(),
            customers,
            events: runs.events,
            fingerprint: runs.fingerprint,
            replications: runs.replications,
            until: study.until,
            warm_up: study.warm_up,
            level: study.level,
            unit: facility.network().unit.clone(),
            ticks_per_unit: facility.resolution().ticks_per_unit(),
            stopped: runs.stopped,
            warnings,
            unsaved: None,
            rows,
            lengths: Vec::new(),
        })
    }
}
