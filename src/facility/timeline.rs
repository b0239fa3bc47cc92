//! One run over time, and the distributions of its times: for plots.

use serde::Serialize;

use crate::pdes::Model as _;
use crate::statistics::quantiles::bin_edges;

use super::model::sojourns_of;
use super::nodes::Kind;
use super::sums::real;
use super::{Facility, FacilityError, Study};

/// One replication over time, in the network's unit of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// The unit.
    pub unit: String,
    /// The length of each part of the run.
    pub part: f64,
    /// The average number of customers in each part, for each station, delay and fork.
    pub numbers: Vec<(String, Vec<f64>)>,
    /// The sojourn times of customers that left after the warm-up, for each of these and each sink;
    /// empty if none left.
    pub sojourns: Vec<Times>,
}

/// A histogram of times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Times {
    /// The node.
    pub node: String,
    /// Lower edge, upper edge and count; empty bins are omitted. The last of all bins has no upper
    /// end, and gets the width of the one before.
    pub bins: Vec<(f64, f64, u64)>,
}

impl Times {
    /// The total count.
    pub fn count(&self) -> u64 {
        self.bins.iter().map(|bin| bin.2).sum()
    }
}

impl Facility {
    /// Runs the first replication of a study on the host. Returns the average numbers of customers
    /// in `parts` parts of equal length, and the histograms of sojourn times, without the parts
    /// that overlap the warm-up.
    ///
    /// # Errors
    /// As [`Facility::study`]; [`FacilityError::Setting`] for no parts, or more parts than ticks.
    pub fn course(&self, study: &Study, parts: usize) -> Result<Timeline, FacilityError> {
        let (until, warm_up) = self.times(study)?;
        if parts == 0 || parts as u64 > until.get() {
            let (node, what) = (self.network.name.clone(), "the number of parts of a run");
            let remedy = "choose at least one, and no more than there are ticks".to_owned();
            return Err(FacilityError::Setting { node, what, value: parts.to_string(), remedy });
        }
        let mut facility = self.for_study(&Study { details: true, ..*study }, warm_up);
        let mut nodes = facility.stations();
        nodes.extend((0..self.nodes.len()).filter(|&node| self.nodes[node].kind == Kind::Fork));
        let sinks = (0..self.nodes.len()).filter(|&node| self.nodes[node].kind == Kind::Sink);
        let tallied: Vec<usize> = nodes.iter().copied().chain(sinks).collect();
        // The first part after the warm-up, and the bins before it and at the end.
        let first = (u128::from(warm_up.get()) * parts as u128).div_ceil(u128::from(until.get())) as usize;
        let mut counts = [vec![Vec::new(); tallied.len()], vec![Vec::new(); tallied.len()]];
        let (params, classes) = (facility.params(), self.network.classes.len());
        let numbers = facility.parts(study.seed, 0, until, parts, &nodes, |part, memory| {
            let which = if part + 1 == first { 0 } else { 1 };
            if part + 1 != first && part + 1 != parts {
                return;
            }
            let rows = memory.len() / self.nodes.len();
            for (&node, counts) in tallied.iter().zip(&mut counts[which]) {
                let memory = &memory[node * rows..][..rows];
                let mut sum: Vec<u64> = Vec::new();
                for class in 0..classes {
                    let bins = sojourns_of(memory, params.details, class);
                    sum.resize(bins.len(), 0);
                    sum.iter_mut().zip(bins).for_each(|(sum, &count)| *sum += u64::from(count));
                }
                *counts = sum;
            }
        })?;
        let [before, after] = counts;
        let units = |ticks: f64| ticks / f64::from(self.resolution.ticks_per_unit());
        let times = tallied.iter().zip(before.iter().zip(&after)).map(|(&node, (before, after))| {
            let bins = after.iter().zip(0_u32..).map(|(&count, bin)| {
                let [from, to] = bin_edges(bin, params.bin_shift).map(units);
                (from, to, count - before.get(bin as usize).copied().unwrap_or(0))
            });
            Times { node: self.nodes[node].name.clone(), bins: bins.filter(|bin| bin.2 > 0).collect() }
        });
        let names = nodes.iter().map(|&node| self.nodes[node].name.clone());
        Ok(Timeline {
            unit: self.network.unit.clone(),
            part: units(real(until.get().into())) / real(parts as u128),
            numbers: names.zip(numbers).collect(),
            sojourns: times.filter(|times| times.count() > 0).collect(),
        })
    }
}
