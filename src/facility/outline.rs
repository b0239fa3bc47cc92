//! The nodes and results of a network that runs as a process model, under the same names.

use std::time::Duration;

use crate::pdes::Model as _;
use crate::statistics::{Decision, Part};
use crate::time::{Resolution, Ticks};

use super::check::{UNTIL, ticks};
use super::long::{PARTS, ends_of_batches, part_end};
use super::measures::{Measure, Measured};
use super::nodes::{Kind, Node};
use super::theory;
use super::{Facility, FacilityError, Facts, Follow, Network, Report, Share, Study, Timeline};

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

    /// The same with quantiles of times, and the distribution of numbers at stations.
    #[must_use]
    pub(crate) fn with_details(self) -> Self {
        Self(self.0.with_details())
    }

    /// Whether it has them.
    pub(crate) fn details(&self) -> bool {
        self.0.details()
    }

    /// The unit of bins of times: two to this power, in ticks.
    pub(crate) fn bin_shift(&self) -> u32 {
        self.0.params().bin_shift
    }

    /// The begin of the first batch of a long run, and the ends of all.
    pub(crate) fn batches(&self, study: &Study, batches: usize) -> Result<Vec<Ticks>, FacilityError> {
        let (until, warm_up) = self.0.times(study)?;
        ends_of_batches(warm_up, until, batches)
    }

    /// The report of a long run. `part` is what a batch adds to a measure, in units of time.
    pub(crate) fn report_of_batches(
        &self,
        study: &Study,
        batches: usize,
        runs: Runs,
        part: impl Fn(&Measured, usize) -> Part,
    ) -> Result<Report, FacilityError> {
        let (columns, _) = self.plain();
        let span = study.until - study.warm_up;
        let services = columns.iter().filter(|column| self.0.counts_services(column));
        let each = services.flat_map(|column| (0..batches).map(|batch| part(column, batch).sum));
        #[expect(clippy::cast_precision_loss, reason = "a number of batches")]
        let served = each.sum::<f64>() * span / batches as f64;
        let (rows, warnings) = self.0.rows_of_batches(columns, study, batches, part)?;
        Ok(self.0.report_of(study, runs, served, rows, warnings))
    }

    /// The ends of the parts of a run from which [`settled`](Self::settled) decides.
    pub(crate) fn parts(&self, until: f64) -> Result<Vec<Ticks>, FacilityError> {
        let end = ticks(self.resolution(), UNTIL, until)?;
        let parts = PARTS as u64;
        Ok((1..=parts).map(|part| part_end(Ticks::ZERO, end, part, parts)).collect())
    }

    /// When statistics should begin, in units, where `number` is the average number of a column in
    /// a part of runs.
    pub(crate) fn settled(
        &self,
        until: f64,
        number: impl Fn(&Measured, usize) -> f64,
    ) -> Result<f64, FacilityError> {
        let end = ticks(self.resolution(), UNTIL, until)?;
        let stations = self.0.stations();
        let series = stations.iter().map(|&node| {
            let column = self.0.measured(Some(node), None, Measure::Number);
            (0..PARTS).map(|part| number(&column, part)).collect::<Vec<_>>()
        });
        self.0.settled(&stations, &series.collect::<Vec<_>>(), until, end)
    }

    /// Where followed customers begin: nodes, classes, and the most of each.
    pub(crate) fn begins(&self, follow: Follow) -> Result<Vec<(usize, usize, u32)>, FacilityError> {
        self.0.followed_from(follow)
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

    /// The columns of measures without those of details, with their names.
    pub(crate) fn plain(&self) -> (Vec<Measured>, Vec<String>) {
        let all = self.0.columns_in(1.0).into_iter().zip(self.0.measures(false));
        all.filter(|(column, _)| !column.measure.is_detail()).unzip()
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

    /// The report of runs. `part` is what a replication adds to a measure, in units of time;
    /// `below` are the times below each bin of waits (1) or sojourns (0) of a class at a node, by
    /// group of replications; `times` are shares of time by node, number and replication.
    pub(crate) fn report(
        &self,
        study: &Study,
        shares: &[Share],
        runs: Runs,
        part: impl Fn(&Measured, usize) -> Part,
        below: impl Fn(usize, Option<usize>, usize) -> Vec<Vec<u128>>,
        times: &[Vec<Vec<f64>>],
    ) -> Result<Report, FacilityError> {
        let facility = &self.0;
        let (until, warm_up): (Ticks, Ticks) = facility.times(study)?;
        let known = theory::known(facility);
        let (mut rows, mut columns, mut served) = (Vec::new(), Vec::new(), 0.0);
        let mut warnings = facility.rounding_until(study.until);
        for mut column in self.columns(shares)? {
            if facility.unserved(&column, warm_up, until) {
                let what = facility.reported_of(&column);
                warnings
                    .push(format!("{what} is not reported: its schedule has no servers after the warm-up"));
            }
            let parts = if column.measure.quantile().is_some() { 0 } else { runs.replications as usize };
            for replication in 0..parts {
                let part = part(&column, replication);
                if facility.counts_services(&column) {
                    served += part.sum * (study.until - study.warm_up);
                }
                column.parts.push(part);
            }
            let summary = column.parts.summary(column.measure.name(), study.level)?;
            let row = facility.row(&column, &summary, facility.theory(&column, &known));
            rows.push(row);
            columns.push(column);
        }
        warnings.extend(facility.fill_quantiles(&columns, below, study.level, &mut rows));
        rows.iter_mut().zip(columns).for_each(|(row, column)| row.parts = column.parts);
        let report = facility.report_of(study, runs, served, rows, warnings);
        Ok(Report { lengths: facility.lengths(times, study.level)?, ..report })
    }
}

impl Facility {
    /// The report of a process model's runs.
    fn report_of(
        &self,
        study: &Study,
        runs: Runs,
        served: f64,
        rows: Vec<super::Row>,
        warnings: Vec<String>,
    ) -> Report {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let customers = served.round() as u64;
        Report {
            network: self.network().name.clone(),
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
            unit: self.network().unit.clone(),
            ticks_per_unit: self.resolution().ticks_per_unit(),
            stopped: runs.stopped,
            warnings,
            unsaved: None,
            rows,
            lengths: Vec::new(),
        }
    }
}
