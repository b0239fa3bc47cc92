//! Runs of a network, and what came out: every measure with its interval, beside what theory says.

use std::fmt;
use std::io;
use std::ops::{ControlFlow, Range};

use serde::Serialize;
use web_time::Instant;

use crate::gpu::{Gpu, Verdict};
use crate::pdes::{CpuEngine, Engine, EngineOptions, FaultKind, Results, SimulationError, Until};
use crate::random::mix;
use crate::statistics::{
    AnalysisError, Column, Decision, Design, Experiment, Observations, Pairing, Stopping, Summary, Tally,
    Values, check_level,
};
use crate::time::Ticks;

use super::check::Kind;
use super::model::MOST_ROOM;
use super::theory;
use super::{ClassOutput, Facility, FacilityError, FacilityOutput};

/// What is run of a network. Times are in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    /// Names the random streams.
    pub seed: u64,
    /// Independent replications; where `stopping` is said, it says how many.
    pub replications: u32,
    /// The end of each.
    pub until: f64,
    /// Where statistics begin.
    pub warm_up: f64,
    /// The confidence level of intervals.
    pub level: f64,
    /// When there are enough replications: when all utilisations, numbers of customers and sojourn times are as precise as it says.
    pub stopping: Option<Stopping>,
    /// The most that may wait at a station, at most 65,536.
    pub room: u32,
}

impl Study {
    /// So many replications until a time, whose statistics begin at another, with intervals at the level 0.95.
    pub fn new(replications: u32, until: f64, warm_up: f64) -> Self {
        Self { seed: 1, replications, until, warm_up, level: 0.95, stopping: None, room: MOST_ROOM }
    }
}

/// Where a network is run. The results are the same bits.
#[derive(Debug, Clone, Copy)]
pub enum Place<'g> {
    /// On the host, one replication on every core.
    Cpu,
    /// On a device. (Of the options, [`EngineOptions::outputs`] is the library's business.)
    Gpu(&'g Gpu, EngineOptions),
}

/// What is measured of a class of customers at a node. Times are in the network's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Measure {
    /// Customers served in a unit of time; of a source, sent; of a sink, arrived.
    Throughput,
    /// The share of its servers that is busy (with this class), on average.
    Utilisation,
    /// Customers who are there, on average.
    Number,
    /// Customers who wait, on average.
    Queue,
    /// Mean time from arrival to the beginning of service.
    Wait,
    /// Its standard deviation.
    WaitDeviation,
    /// Mean time from arrival to departure, of those who are served; at a sink, from where they entered the network.
    Sojourn,
    /// Its standard deviation.
    SojournDeviation,
    /// The share of those who arrive that finds no room.
    Loss,
    /// The share of those who arrive whose patience ends.
    Reneged,
}

impl Measure {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Utilisation => "utilisation",
            Self::Number => "number",
            Self::Queue => "queue",
            Self::Wait => "wait",
            Self::WaitDeviation => "wait_deviation",
            Self::Sojourn => "sojourn",
            Self::SojournDeviation => "sojourn_deviation",
            Self::Loss => "loss",
            Self::Reneged => "reneged",
        }
    }

    /// Whether it has to be precise, where a precision is asked for.
    fn decides(self) -> bool {
        matches!(self, Self::Utilisation | Self::Number | Self::Sojourn)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A measure of a class of customers at a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The node; `(network)` for all of them together.
    pub node: String,
    /// The class; none for all together.
    pub class: Option<String>,
    /// What was measured.
    pub measure: Measure,
    /// The mean over the replications; none where there was nothing to observe in any.
    pub mean: Option<f64>,
    /// Half the width of its confidence interval.
    pub half_width: Option<f64>,
    /// What theory says, where it is exact.
    pub theory: Option<f64>,
    /// Replications in which there was something to observe.
    pub observations: u64,
}

/// What the runs of a network gave. [`Display`](fmt::Display) is the table for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The network's name.
    pub network: String,
    /// `cpu` or `gpu`.
    pub engine: &'static str,
    /// How replications were mapped to the device; `processor` for none.
    pub mapping: String,
    /// The device.
    pub adapter: String,
    /// Wall-clock time.
    pub seconds: f64,
    /// Services that ended after the warm-up, in all replications.
    pub customers: u64,
    /// Events of all replications.
    pub events: u64,
    /// 64 bits that two machines can compare: a commutative sum over the fingerprints of the replications.
    #[serde(serialize_with = "hexadecimal")]
    pub fingerprint: u64,
    /// Replications.
    pub replications: u32,
    /// The end of each, in the network's unit.
    pub until: f64,
    /// Where statistics begin.
    pub warm_up: f64,
    /// The confidence level.
    pub level: f64,
    /// The network's unit of time.
    pub unit: String,
    /// Why no more replications were made, where a precision was asked for.
    #[serde(serialize_with = "decision")]
    pub stopped: Option<Decision>,
    /// Every measure.
    pub results: Vec<Row>,
}

fn hexadecimal<S: serde::Serializer>(fingerprint: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{fingerprint:016x}"))
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn decision<S: serde::Serializer>(decision: &Option<Decision>, serializer: S) -> Result<S::Ok, S::Error> {
    match decision {
        Some(decision) => serializer.collect_str(&format_args!("{decision:?}")),
        None => serializer.serialize_none(),
    }
}

/// A column of results: a measure of a class (or of all) at a node (or in the whole network), with a value for each replication.
struct Measured {
    node: Option<usize>,
    class: Option<usize>,
    measure: Measure,
    values: Vec<f64>,
}

/// Bytes of results that are kept at once.
const PART: usize = 128 << 20;

/// Replications after which a run on the host tells how far it is.
const CPU_PART: u32 = 32;

/// A run's model has room for so many times more that wait, where it had too little.
const MORE: u32 = 4;

/// Where replications are made, with room for those who wait.
enum Maker<'g> {
    Cpu(Box<CpuEngine<Facility>>),
    Gpu(&'g Gpu, Box<Engine<Facility>>),
}

impl<'g> Maker<'g> {
    fn new(place: Place<'g>, facility: &Facility) -> Self {
        let model = facility.clone();
        let build = move |_: &crate::statistics::Point<'_>| Ok::<_, FacilityError>(model.clone());
        match place {
            Place::Cpu => Self::Cpu(Box::new(CpuEngine::new(build).with_outputs())),
            Place::Gpu(gpu, options) => {
                let options = EngineOptions { outputs: true, ..options };
                Self::Gpu(gpu, Box::new(Engine::new(gpu, build, options)))
            }
        }
    }

    async fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Until,
        watch: impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<Results<FacilityOutput>, SimulationError> {
        match self {
            Self::Cpu(engine) => engine.run_range(experiment, range, until),
            Self::Gpu(_, engine) => engine.run_async(experiment, range, until, watch).await,
        }
    }
}

impl Facility {
    /// Makes replications of the network, and tells every measure with its interval. `watch` is told how many have ended, and how many events were executed;
    /// where it answers [`ControlFlow::Break`], the report is of those that have ended.
    ///
    /// The engine is exact: times are whole ticks, of which the network says how many there are in a unit. On every run it is checked, in integers, that nobody was
    /// lost on the way from node to node, and that Little's law holds: the times that customers were at a node add up to the area under their number.
    ///
    /// # Errors
    /// [`FacilityError`], with the node.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn study<V: Verdict>(
        &self,
        study: &Study,
        place: Place<'_>,
        watch: impl FnMut(usize, u64) -> V,
    ) -> Result<Report, FacilityError> {
        pollster::block_on(self.study_async(study, place, watch))
    }

    /// [`Facility::study`] without blocking, but for [`Place::Cpu`].
    ///
    /// # Errors
    /// As [`Facility::study`].
    pub async fn study_async<V: Verdict>(
        &self,
        study: &Study,
        place: Place<'_>,
        mut watch: impl FnMut(usize, u64) -> V,
    ) -> Result<Report, FacilityError> {
        let begun = Instant::now();
        let time =
            |what, units| self.resolution.ticks(units).map_err(|source| FacilityError::Time { what, source });
        let (until, warm_up) = (time("end of runs", study.until)?, time("warm-up", study.warm_up)?);
        if until <= warm_up {
            return Err(FacilityError::WarmUp { until: study.until, warm_up: study.warm_up });
        }
        check_level(study.level)?;
        let experiment = Experiment::new(Design::default(), study.replications, study.seed);
        match &study.stopping {
            None => experiment.check()?,
            Some(stopping) => stopping.check()?,
        }
        let mut facility = self.clone().with_warm_up(warm_up).with_room(self.room().min(study.room));
        let mut maker = Maker::new(place, &facility);
        let mut columns = facility.columns();
        let row_bytes = size_of::<FacilityOutput>() * facility.nodes.len();
        let most = u32::try_from(PART / row_bytes).unwrap_or(u32::MAX).max(1);
        let most = if matches!(place, Place::Cpu) { most.min(CPU_PART) } else { most };
        let (mut done, mut customers, mut events, mut fingerprint) = (0_u32, 0_u64, 0_u64, 0_u64);
        let mut mapping = None;
        let stopped = 'parts: loop {
            let more = match &study.stopping {
                None if done > 0 => break None,
                None => study.replications,
                Some(stopping) => {
                    let deciding = columns.iter().filter(|column| column.measure.decides());
                    let summaries: Vec<_> = match done {
                        0 => Vec::new(),
                        _ => deciding
                            .map(|column| summary(column, stopping.precision.level))
                            .collect::<Result<_, _>>()?,
                    };
                    match stopping.next(Pairing::Independent, &summaries, begun.elapsed()) {
                        Decision::Continue(more) => {
                            u32::try_from(more).unwrap_or(u32::MAX).min(u32::MAX - done)
                        }
                        decision => break Some(decision),
                    }
                }
            };
            if more == 0 {
                return Err(AnalysisError::TooMany { points: 1, replications: done }.into());
            }
            let end = done + more;
            while done < end {
                let range = done..end.min(done.saturating_add(most));
                let mut flow = ControlFlow::Continue(());
                let watched = |runs: usize, executed: u64| {
                    flow = watch(done as usize + runs, events.saturating_add(executed)).flow();
                    flow
                };
                let results = match maker.run(&experiment, range.clone(), Until::time(until), watched).await {
                    Err(SimulationError::Stopped) if done > 0 => break 'parts Some(Decision::Stopped),
                    results => results?,
                };
                if facility.full(&results, range.start, study.room)? {
                    let room = facility.room().max(1).saturating_mul(MORE);
                    facility = facility.with_room(room.min(study.room));
                    maker = Maker::new(place, &facility);
                    continue;
                }
                for (replication, ran) in range.clone().zip(results.runs.iter().flatten().flatten()) {
                    let rows = ran.outputs.as_ref().map_or(&[][..], |outputs| outputs.rows());
                    facility.verify(rows, replication, until)?;
                    for column in &mut columns {
                        let value = facility.value(column, rows, until);
                        column.values.push(value);
                    }
                    let stations = facility.nodes.iter().zip(rows);
                    let stations = stations.filter(|(node, _)| matches!(node.kind, Kind::Station { .. }));
                    let served = stations.flat_map(|(_, row)| &row.classes).map(|class| class.served);
                    customers = customers.wrapping_add(served.sum());
                    events += ran.progress.events;
                    let [low, high] = Ticks::new(ran.fingerprint.0).to_words();
                    fingerprint = fingerprint.wrapping_add(mix(KIND, [replication, low, high]));
                }
                mapping = Some(results.mapping);
                // Of fewer replications, if they were stopped.
                done += u32::try_from(results.runs[0].len()).expect("a part of the range");
                if flow.is_break() || watch(done as usize, events).flow().is_break() {
                    break 'parts Some(Decision::Stopped);
                }
            }
        };
        let known = theory::known(&facility);
        let results = columns.iter().map(|column| {
            let summary = summary(column, study.level)?;
            Ok(Row {
                node: column.node.map_or("(network)", |node| &facility.nodes[node].name).to_owned(),
                class: column.class.map(|class| facility.network.classes[class].clone()),
                measure: column.measure,
                mean: summary.mean,
                half_width: summary.interval.map(|interval| interval.half_width),
                theory: facility.theory(column, &known),
                observations: summary.observations,
            })
        });
        let (engine, adapter, mapping) = match &maker {
            Maker::Cpu(_) => ("cpu", "processor, all cores".to_owned(), "processor".to_owned()),
            Maker::Gpu(gpu, _) => (
                "gpu",
                gpu.info().name.clone(),
                mapping.map_or_else(String::new, |mapping| mapping.to_string()),
            ),
        };
        Ok(Report {
            network: self.network.name.clone(),
            engine,
            mapping,
            adapter,
            results: results.collect::<Result<_, FacilityError>>()?,
            seconds: begun.elapsed().as_secs_f64(),
            customers,
            events,
            fingerprint,
            replications: done,
            until: study.until,
            warm_up: study.warm_up,
            level: study.level,
            unit: self.network.unit.clone(),
            stopped,
        })
    }

    /// Whether a run found too little room for those who wait, and may have more. Any other fault is an error.
    fn full(&self, results: &Results<FacilityOutput>, first: u32, room: u32) -> Result<bool, FacilityError> {
        let mut full = false;
        for (replication, run) in (first..).zip(results.runs.iter().flatten()) {
            let Err(fault) = run else { continue };
            let node = self.nodes[fault.lp as usize].name.clone();
            if fault.kind != FaultKind::MemoryFull {
                return Err(FacilityError::Fault { node, replication, fault: *fault });
            }
            if self.room() >= room.min(self.most_waiting()) {
                return Err(FacilityError::LineFull { node, room: self.room(), replication });
            }
            full = true;
        }
        Ok(full)
    }

    /// What is measured.
    fn columns(&self) -> Vec<Measured> {
        use Measure::*;
        let mut columns = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let mut measures = match node.kind {
                Kind::Source { .. } => vec![Throughput],
                Kind::Sink => vec![Throughput, Sojourn, SojournDeviation],
                Kind::Station { servers: None, .. } => vec![Throughput, Number, Sojourn],
                Kind::Station { .. } => vec![
                    Throughput,
                    Utilisation,
                    Number,
                    Queue,
                    Wait,
                    WaitDeviation,
                    Sojourn,
                    SojournDeviation,
                ],
            };
            if matches!(node.kind, Kind::Station { capacity: Some(_), .. }) {
                measures.push(Loss);
            }
            if node.pairs.iter().any(|pair| pair.patience.is_some()) {
                measures.push(Reneged);
            }
            let come: Vec<_> = (0..node.pairs.len()).filter(|&class| node.pairs[class].comes).collect();
            let all = (come.len() > 1).then_some(None);
            for class in all.into_iter().chain(come.into_iter().map(Some)) {
                let column = |&measure| Measured { node: Some(number), class, measure, values: Vec::new() };
                columns.extend(measures.iter().map(column));
            }
        }
        columns.push(Measured { node: None, class: None, measure: Number, values: Vec::new() });
        columns
    }

    /// What a column is in a run; NaN where there was nothing to observe.
    fn value(&self, column: &Measured, rows: &[FacilityOutput], until: Ticks) -> f64 {
        let span = self.resolution.units(Ticks::new(until.get() - self.params_warm_up().get()));
        let ticks = f64::from(self.resolution.ticks_per_unit());
        let Some(number) = column.node else {
            let sums = rows.iter().map(|row| Sum::of(&row.classes, None).present);
            return real(sums.sum()) / ticks / span;
        };
        let sum = Sum::of(&rows[number].classes, column.class);
        let mean = |tally: &Tally| tally.mean().map_or(f64::NAN, |mean| mean / ticks);
        let deviation = |tally: &Tally| tally.variance().map_or(f64::NAN, |variance| variance.sqrt() / ticks);
        let share = |part: u64| {
            if sum.arrivals == 0 { f64::NAN } else { real(part.into()) / real(sum.arrivals.into()) }
        };
        match column.measure {
            Measure::Throughput => real(sum.served.into()) / span,
            Measure::Utilisation => {
                let servers = match self.nodes[number].kind {
                    Kind::Station { servers: Some(servers), .. } => f64::from(servers),
                    _ => f64::NAN,
                };
                real(sum.busy) / ticks / span / servers
            }
            Measure::Number => real(sum.present) / ticks / span,
            Measure::Queue => real(sum.present - sum.busy) / ticks / span,
            Measure::Wait => mean(&sum.wait),
            Measure::WaitDeviation => deviation(&sum.wait),
            Measure::Sojourn => mean(&sum.sojourn),
            Measure::SojournDeviation => deviation(&sum.sojourn),
            Measure::Loss => share(sum.lost),
            Measure::Reneged => share(sum.reneged),
        }
    }

    fn theory(&self, column: &Measured, known: &theory::Known) -> Option<f64> {
        let Some(node) = column.node else {
            let stations = self.nodes.iter().enumerate();
            let stations = stations.filter(|(_, node)| matches!(node.kind, Kind::Station { .. }));
            return stations.map(|(node, _)| known.get(&(node, None, Measure::Number)).copied()).sum();
        };
        let alone = self.nodes[node].pairs.iter().filter(|pair| pair.comes).count() == 1;
        let of = |class| known.get(&(node, class, column.measure)).copied();
        of(column.class).or_else(|| of(None).filter(|_| alone))
    }

    /// That nobody was lost between nodes, and Little's law.
    fn verify(&self, rows: &[FacilityOutput], replication: u32, until: Ticks) -> Result<(), FacilityError> {
        let (mut sent, mut came) = (0_u64, 0_u64);
        for (node, row) in self.nodes.iter().zip(rows) {
            for (class, told) in self.network.classes.iter().zip(&row.classes) {
                match node.kind {
                    Kind::Source { .. } => sent += told.served,
                    Kind::Sink => came += told.arrivals,
                    Kind::Station { .. } => {
                        sent += told.served;
                        came += told.arrivals;
                        little(told, until).map_err(|(times, area)| FacilityError::Little {
                            node: node.name.clone(),
                            class: class.clone(),
                            replication,
                            times,
                            area,
                        })?;
                    }
                }
            }
            if self.params_warm_up() == Ticks::ZERO {
                sent += node.pairs.iter().map(|pair| u64::from(pair.population)).sum::<u64>();
            }
        }
        if sent == came { Ok(()) } else { Err(FacilityError::Flow { replication, sent, came }) }
    }

    fn params_warm_up(&self) -> Ticks {
        use crate::pdes::Model as _;
        self.params().warm_up
    }
}

/// What tells fingerprints of this module from those of others: "faci".
const KIND: u32 = 0x6661_6369;

/// Little's law for the customers of a class at a station: the times that those who left were there, and the ages of those present, are the area under their
/// number, modulo 2^64. Else both of them.
fn little(told: &ClassOutput, until: Ticks) -> Result<(), (u64, u128)> {
    let present = u64::from(told.present.level());
    let ages = present.wrapping_mul(until.get()).wrapping_sub(told.came);
    let times = told.stayed.wrapping_add(ages);
    match told.present.area() {
        #[expect(clippy::cast_possible_truncation, reason = "modulo 2^64, as said")]
        Some(area) if area as u64 == times => Ok(()),
        area => Err((times, area.unwrap_or(u128::MAX))),
    }
}

#[expect(clippy::cast_precision_loss, reason = "rounded at the very end")]
fn real(sum: u128) -> f64 {
    sum as f64
}

/// What some classes did together.
#[derive(Default)]
struct Sum {
    sojourn: Tally,
    wait: Tally,
    present: u128,
    busy: u128,
    arrivals: u64,
    served: u64,
    lost: u64,
    reneged: u64,
}

impl Sum {
    fn of(classes: &[ClassOutput], class: Option<usize>) -> Self {
        let mut sum = Self::default();
        for (_, told) in
            classes.iter().enumerate().filter(|(number, _)| class.is_none_or(|class| class == *number))
        {
            sum.sojourn.merge(&told.sojourn);
            sum.wait.merge(&told.wait);
            sum.present += told.present.area().unwrap_or(0);
            sum.busy += told.busy.area().unwrap_or(0);
            sum.arrivals += told.arrivals;
            sum.served += told.served;
            sum.lost += told.lost;
            sum.reneged += told.reneged;
        }
        sum
    }
}

fn summary(column: &Measured, level: f64) -> Result<Summary, AnalysisError> {
    // A replication with nothing to observe has no part in this column, and in the others it has.
    let values =
        Column { name: column.measure.name().to_owned(), values: Values::F64(column.values.clone()) };
    let observations = Observations::new(column.values.len(), vec![values], [], Pairing::Independent)?;
    observations.summary(column.measure.name(), level)
}

impl Report {
    /// The rows as CSV: `node`, `class` (empty for all), `measure`, `mean`, `half_width`, `theory`, `observations`.
    ///
    /// # Errors
    /// [`FacilityError::Write`].
    pub fn to_csv(&self, file: impl io::Write) -> Result<(), FacilityError> {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(["node", "class", "measure", "mean", "half_width", "theory", "observations"])?;
        for row in &self.results {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            writer.write_record([
                &row.node,
                row.class.as_deref().unwrap_or_default(),
                row.measure.name(),
                &number(row.mean),
                &number(row.half_width),
                &number(row.theory),
                &row.observations.to_string(),
            ])?;
        }
        writer.flush().map_err(csv::Error::from)?;
        Ok(())
    }

    /// A measure of a class (or of all) at a node.
    pub fn row(&self, node: &str, class: Option<&str>, measure: Measure) -> Option<&Row> {
        let found = |row: &&Row| row.node == node && row.class.as_deref() == class && row.measure == measure;
        self.results.iter().find(found)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = |of: fn(&Row) -> &str, least: usize| {
            self.results.iter().map(|row| of(row).chars().count()).max().unwrap_or(0).max(least)
        };
        let node = widest(|row| &row.node, 4);
        let class = widest(|row| row.class.as_deref().unwrap_or("all"), 5);
        writeln!(
            f,
            "{}: {} replications until {} with a warm-up until {} ({}), intervals at {}",
            self.network, self.replications, self.until, self.warm_up, self.unit, self.level
        )?;
        writeln!(
            f,
            "{:node$}  {:class$}  {:17}  {:>12}  {:>12}  {:>12}",
            "node", "class", "measure", "mean", "±", "theory"
        )?;
        let mut last = None;
        for row in &self.results {
            let number =
                |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.6}"));
            let here = (row.node.as_str(), row.class.as_deref());
            let (first, second) = match last == Some(here) {
                true => ("", ""),
                false => (here.0, here.1.unwrap_or("all")),
            };
            last = Some(here);
            writeln!(
                f,
                "{first:node$}  {second:class$}  {:17}  {:>12}  {:>12}  {:>12}",
                row.measure,
                number(row.mean),
                number(row.half_width),
                number(row.theory)
            )?;
        }
        Ok(())
    }
}
