//! The nodes and results of a network that runs as a process model, under the same names.

use std::time::Duration;

use crate::statistics::{Decision, Part};
use crate::time::{Resolution, Ticks};

use super::measures::{Measure, Measured};
use super::nodes::{Kind, Node};
use super::theory;
use super::{Facility, FacilityError, Facts, Network, Report, Share, Study, Timeline};

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

    /// The names of measures.
    pub(crate) fn measures(&self) -> Vec<String> {
        self.0.measures(false)
    }

    /// What follows from the description without a run.
    pub(crate) fn facts(&self) -> Facts {
        self.0.facts()
    }

    /// The columns of measures, and of some shares.
    pub(crate) fn columns(&self, shares: &[Share]) -> Result<Vec<Measured>, FacilityError> {
        let mut columns = self.0.columns_in(1.0);
        columns.extend(self.0.shares(shares)?);
        Ok(columns)
    }

    /// The names of the measures that have to reach the precision of a study.
    pub(crate) fn deciding(&self, study: &Study) -> Result<Vec<String>, FacilityError> {
        self.0.deciding_of(study)
    }

    /// A picture of the network.
    #[cfg(feature = "plot")]
    pub(crate) fn draw<'r>(&self, report: impl Into<Option<&'r Report>>) -> Result<String, FacilityError> {
        super::plot::network(&self.0, report)
    }

    /// A run over time, by the average number of customers of a class at a node in each part.
    pub(crate) fn timeline(
        &self,
        part: f64,
        parts: usize,
        number: impl Fn(&Measured, usize) -> f64,
    ) -> Timeline {
        let holds = |node: &Node| matches!(node.kind, Kind::Station { .. } | Kind::Fork);
        let nodes = self.nodes().iter().enumerate().filter(|(_, node)| holds(node));
        let numbers = nodes.map(|(place, node)| {
            let column = self.0.measured(Some(place), None, Measure::Number);
            (node.name.clone(), (0..parts).map(|part| number(&column, part)).collect())
        });
        let unit = self.network().unit.clone();
        Timeline { unit, part, numbers: numbers.collect(), sojourns: Vec::new() }
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
        shares: &[Share],
        runs: Runs,
        part: impl Fn(&Measured, usize) -> Part,
    ) -> Result<Report, FacilityError> {
        let facility = &self.0;
        let (until, warm_up): (Ticks, Ticks) = facility.times(study)?;
        let known = theory::known(facility);
        let (mut rows, mut served) = (Vec::new(), 0.0);
        let mut warnings = facility.rounding_until(study.until);
        for mut column in self.columns(shares)? {
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
