//! The measures of a network, from the values of its process model.

use std::collections::HashMap;
use std::time::Duration;

use crate::facility::measures::Measured;
use crate::facility::nodes::Kind;
use crate::facility::outline::{Outline, Runs};
use crate::facility::{FacilityError, Measure, Study};
use crate::statistics::Part;
use crate::statistics::quantiles::LENGTHS;

use super::super::ir::Tally;
use super::super::study::{StudyResults, share_of_bin};
use super::paced::shares;
use super::write::Names;

/// The values of all replications by name.
pub(super) struct Values<'r> {
    outline: &'r Outline,
    names: &'r Names,
    columns: HashMap<&'r str, &'r [f64]>,
    /// The observed time, in units.
    span: f64,
    /// The average number of servers by node.
    servers: Vec<f64>,
}

impl<'r> Values<'r> {
    /// `columns` have a value for each replication, or for each interval of one.
    pub(super) fn new(
        outline: &'r Outline,
        names: &'r Names,
        study: &Study,
        columns: HashMap<&'r str, &'r [f64]>,
    ) -> Result<Self, FacilityError> {
        let servers = outline.nodes().iter().map(|node| match node.kind {
            Kind::Station { servers: Some(servers), .. } if node.calendar.is_empty() => {
                Ok(f64::from(servers))
            }
            Kind::Station { servers: Some(_), .. } => {
                let servers = outline.scheduled(node, study)?;
                Ok(if servers > 0.0 { servers } else { f64::NAN })
            }
            _ => Ok(f64::NAN),
        });
        Ok(Self {
            outline,
            names,
            columns,
            span: study.until - study.warm_up,
            servers: servers.collect::<Result<_, FacilityError>>()?,
        })
    }

    /// A value in a replication; zero for what the model does not have.
    fn value(&self, name: &str, replication: usize) -> f64 {
        self.columns.get(name).map_or(0.0, |values| values[replication])
    }

    /// What a replication adds to a measure.
    pub(super) fn part(&self, column: &Measured, replication: usize) -> Part {
        use Measure::*;
        let level = |name: &str| self.value(&format!("average({name})"), replication);
        let Some(node) = column.node else {
            let name = if column.measure == Travelling { "travelling" } else { "inside" };
            return Part::value(level(name));
        };
        let here = &self.outline.nodes()[node];
        let classes = (0..here.pairs.len()).filter(|&class| here.pairs[class].comes);
        let classes = classes.filter(|class| column.class.is_none_or(|only| only == *class));
        let classes: Vec<usize> = classes.collect();
        // The sum over classes.
        let sum = |of: &dyn Fn(usize) -> f64| classes.iter().map(|&class| of(class)).sum::<f64>();
        let levels = |what: &str| sum(&|class| level(&self.names.pair(what, node, class)));
        let counts = |what: &str| sum(&|class| self.value(&self.names.pair(what, node, class), replication));
        let tallied = |what: &str, part: &str| {
            sum(&|class| self.value(&format!("{}{part}", self.names.pair(what, node, class)), replication))
        };
        let of_node = |what: &str| level(&self.names.of(what, node));
        let present = |of: &str| {
            let name = format!("{of}({})", self.names.of("present", node));
            Part::value(self.value(&name, replication))
        };
        let mean = |what: &str| Part::ratio(tallied(what, ", above"), tallied(what, ", below"));
        let deviation = |what: &str| {
            let (sum, count) = (tallied(what, ", above"), tallied(what, ", below"));
            let squares = self.squares(&classes, what, node, replication);
            let squares = if count > 0.0 { (squares - sum * sum / count).max(0.0) } else { 0.0 };
            Part { count, sum, squares }
        };
        let within = |what: &str| {
            let bound = column.up_to.unwrap_or(0.0).to_string();
            let found = |class: usize| {
                let share = Tally::share(&self.names.pair(what, node, class), &bound);
                self.value(&format!("{share}, above"), replication)
            };
            Part::ratio(sum(&found), tallied(what, ", below"))
        };
        let share = |part: &str| Part::ratio(counts(part), counts("arrived"));
        let (servers, batched) = (self.servers[node], here.beyond.batch.is_some());
        match column.measure {
            Throughput => Part::value(
                match here.kind {
                    _ if column.class.is_some() && column.class == here.made() => {
                        self.value(&self.names.pair("made", node, column.class.unwrap_or(0)), replication)
                    }
                    Kind::Source { .. } => counts("sent"),
                    Kind::Router => counts("passed"),
                    _ => tallied("sojourn", ", below"),
                } / self.span,
            ),
            Utilisation if shares(here) => Part::value(of_node("used") / servers),
            Utilisation if batched => Part::value(levels("leads") / servers),
            Utilisation => Part::value(levels("busy") / servers),
            Number => Part::value(levels("number")),
            Queue => Part::value(levels("number") - levels("busy")),
            Wait => mean("wait"),
            WaitDeviation => deviation("wait"),
            Sojourn => mean("sojourn"),
            SojournDeviation => deviation("sojourn"),
            WaitShare => within("wait"),
            SojournShare => within("sojourn"),
            Loss => share("lost"),
            Reneged => share("reneged"),
            Balked => share("balked"),
            Blocked => Part::value(of_node("blocked") / servers),
            Down => Part::value(of_node("down")),
            Busy if shares(here) => Part::value((of_node("used") - of_node("interrupted")) / servers),
            Busy if batched => {
                Part::value((levels("leads") - of_node("interrupted") - of_node("blocked")) / servers)
            }
            Busy => Part::value((levels("busy") - of_node("interrupted") - of_node("blocked")) / servers),
            Tasks => Part::value(of_node("tasks")),
            Empty => present("zero"),
            NumberQuantile(percent) => present(&format!("quantile_{percent}")),
            NumberMax => present("largest"),
            // Others belong to the network form.
            _ => Part::value(f64::NAN),
        }
    }

    /// Shares of time by node, number of customers and replication; none without details.
    pub(super) fn times(&self) -> Vec<Vec<Vec<f64>>> {
        let share = |node: usize, bin: usize| {
            let name = share_of_bin(&self.names.of("present", node), bin);
            self.columns.get(name.as_str()).map_or_else(Vec::new, |values| values.to_vec())
        };
        let nodes = if self.outline.details() { 0..self.outline.nodes().len() } else { 0..0 };
        nodes.map(|node| (0..LENGTHS).map(|bin| share(node, bin)).collect()).collect()
    }

    /// The sum of squares of the observations of some classes.
    fn squares(&self, classes: &[usize], what: &str, node: usize, replication: usize) -> f64 {
        let of = |&class: &usize| {
            let name = format!("deviation({}), squares", self.names.pair(what, node, class));
            self.value(&name, replication)
        };
        classes.iter().map(of).sum()
    }
}

/// What the report says of the runs.
pub(super) fn runs(results: &StudyResults) -> Runs {
    let adapter = results.adapter.clone();
    Runs {
        engine: if adapter.is_some() { "gpu" } else { "cpu" },
        mapping: format!("process model, {}", results.mapping),
        adapter: adapter.unwrap_or_else(|| "processor, all cores".to_owned()),
        time: Duration::try_from_secs_f64(results.seconds).unwrap_or_default(),
        events: results.events,
        fingerprint: results.fingerprint,
        replications: u32::try_from(results.replications).unwrap_or(u32::MAX),
        stopped: results.decisions.first().copied(),
    }
}
