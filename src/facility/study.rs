//! Runs a network and evaluates it: every measure with its interval, next to theory.

use std::iter;
use std::ops::ControlFlow;
use std::slice;

use bytemuck::{Zeroable as _, cast_slice};
use rayon::prelude::*;
use web_time::Instant;

use crate::gpu::Verdict;
use crate::pdes::{CpuSimulation, FaultKind, Options, Replica, SimulationError, Until};
use crate::random::mix;
use crate::statistics::quantiles::{length_range, length_resolution};
use crate::statistics::{
    AnalysisError, Column, Decision, Design, Experiment, Observations, Pairing, Part, Pooled, Spent, Summary,
    Values, check_level,
};
use crate::time::{Ticks, TimeError};

use super::check::{UNTIL, observed};
use super::makers::Makers;
use super::measures::Measured;
use super::nodes::{Kind, shrink};
use super::quantiles::Histograms;
use super::report::WHOLE;
use super::runner::{Replication, Replications};
use super::saved::{Numbers, no_shares, source};
use super::scale::LONGEST;
use super::sums::Observed;
use super::theory;
use super::{
    ClassOutput, Facility, FacilityError, FacilityOutput, Length, Report, Row, SavedStudy, Study, StudyRun,
};

/// Bytes of results stored at once; they bound the number of replications on a device.
const PART: usize = if cfg!(target_arch = "wasm32") { 128 << 20 } else { 512 << 20 };

/// Factor by which the room for waiting customers grows.
pub(super) const MORE: u32 = 4;

/// What a study keeps of a replication.
struct Kept {
    /// By measure that has parts.
    parts: Vec<Part>,
    customers: u64,
    events: u64,
    fingerprint: u64,
}

impl Facility {
    /// Describes replications of the network, whose report has every measure with its interval.
    ///
    /// The engine is exact: times are whole ticks, of which the network says how many there are in
    /// a unit. On every run it is checked, in integers, that no customer was lost
    /// on the way from node to node, and that Little's law holds: the times that customers were at
    /// a node add up to the area under their number.
    ///
    /// Most networks become machine code or a kernel of their own. The others run in an
    /// interpreter, with the same results; the log has the reason.
    pub fn study<'r>(&'r self, study: &'r Study) -> StudyRun<'r> {
        StudyRun::new(self, study)
    }

    /// End and warm-up of a valid study.
    pub(super) fn times(&self, study: &Study) -> Result<(Ticks, Ticks), FacilityError> {
        let (end, begin) = observed(self.resolution, study.until, study.warm_up)?;
        self.check_end(study.until, end)?;
        check_level(study.level)?;
        Ok((end, begin))
    }

    /// Makes the replications of a run.
    pub(super) async fn replicate<V: Verdict, W: FnMut(usize, u64) -> V>(
        &self,
        run: StudyRun<'_, W>,
    ) -> Result<Report, FacilityError> {
        let StudyRun { study, shares, backend: place, options, autosave: keep, first, mut watch, .. } = run;
        let begun = Instant::now();
        let (until, warm_up) = self.times(study)?;
        let experiment = Experiment::new(Design::default(), study.replications, study.seed);
        match &study.stopping {
            None => experiment.check()?,
            Some(stopping) => stopping.check()?,
        }
        if !shares.is_empty() && (keep.from.is_some() || keep.to.is_some()) {
            return Err(FacilityError::Setting {
                node: self.network.name.clone(),
                what: "a study with shares of times",
                value: "saved or resumed".to_owned(),
                remedy: "run it from its start to its end".to_owned(),
            });
        }
        let mut facility = self.for_study(study, warm_up);
        let mut columns = facility.columns();
        if !shares.is_empty() {
            facility = facility.with_shares(shares)?;
            columns.extend(facility.shares(shares)?);
        }
        // By node, by number of customers.
        let mut lengths = no_shares(study.details, facility.nodes.len());
        let mut histograms = Histograms::new(&facility, study.details);
        let mut now = Numbers {
            seed: study.seed,
            source: source(&facility),
            until: until.get(),
            warm_up: warm_up.get(),
            details: study.details.into(),
            ..Numbers::zeroed()
        };
        if let Some(saved) = keep.from {
            saved.check(&facility, study, [until, warm_up], 0)?;
            saved.restore(&mut columns, &mut lengths, &mut histograms)?;
            now = saved.numbers();
        }
        let mut makers = Makers::new(place, options, &facility, study.room);
        let row_bytes = size_of::<FacilityOutput>() + 16 * facility.rows_of_histograms()[1] as usize;
        let most = u32::try_from(PART / (row_bytes * facility.nodes.len())).unwrap_or(u32::MAX).max(1);
        let own = |saved: &SavedStudy| saved.check(&facility, study, [until, warm_up], 0);
        let mut saving = SavedStudy::plan(keep, most, place.is_cpu(), own)?;
        let whole = |number: u64| u32::try_from(number).expect("at most the requested number");
        let mut done = whole(now.done).max(first);
        let stopped = 'parts: loop {
            let more = match &study.stopping {
                None if done >= study.replications => break None,
                None => study.replications - done,
                // The number decided before the study was saved.
                Some(_) if now.end > now.done => whole(now.end - now.done),
                Some(stopping) => {
                    let deciding = columns.iter().filter(|column| {
                        column.measure.decides() && !facility.unserved(column, warm_up, until)
                    });
                    let summaries: Vec<_> = match done {
                        0 => Vec::new(),
                        _ => deciding
                            .map(|column| summary(column, stopping.precision.level))
                            .collect::<Result<_, _>>()?,
                    };
                    let spent = Spent { events: now.events, time: begun.elapsed() };
                    match stopping.next(Pairing::Independent, &summaries, spent) {
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
            now.end = end.into();
            while done < end {
                let range = done..end.min(done.saturating_add(saving.part()));
                let began = Instant::now();
                let mut flow = ControlFlow::Continue(());
                let watched = |runs: usize, executed: u64| {
                    flow = watch(done as usize + runs, now.events.saturating_add(executed)).flow();
                    flow
                };
                let made = match makers.run(&facility, &experiment, range.clone(), until, watched).await {
                    Err(SimulationError::Stopped) if done > first => break 'parts Some(Decision::Stopped),
                    made => made?,
                };
                if facility.full(&made, range.start, study.room)? {
                    // Stops without rerunning these replications.
                    match (flow, done) {
                        (ControlFlow::Break(()), done) if done == first => {
                            return Err(SimulationError::Stopped.into());
                        }
                        (ControlFlow::Break(()), _) => break 'parts Some(Decision::Stopped),
                        (ControlFlow::Continue(()), _) => {}
                    }
                    let room = facility.room().max(1).saturating_mul(MORE);
                    facility = facility.with_room(room.min(study.room));
                    makers.clear();
                    continue;
                }
                let runs: Vec<_> = made.runs.iter().flatten().collect();
                let kept = runs.par_iter().zip(range.clone()).map(|(ran, replication)| {
                    let rows = ran.rows();
                    facility.verify(rows, replication, until)?;
                    facility.deadlock(rows, study.seed, replication, until)?;
                    let seen = Observed::new(rows, None, warm_up, [warm_up, until]);
                    Ok(Kept {
                        parts: columns
                            .iter()
                            .filter(pooled)
                            .map(|column| match column.measure.is_share() {
                                true => facility.share_part(column, ran.memory()),
                                false => facility.part(column, &seen),
                            })
                            .collect(),
                        customers: served(&facility, rows),
                        events: events(&facility, rows),
                        fingerprint: fingerprint(&facility, replication, ran),
                    })
                });
                let kept: Vec<Result<Kept, FacilityError>> = kept.collect();
                for (ran, kept) in runs.iter().zip(kept) {
                    let Kept { parts, customers, events, fingerprint } = kept?;
                    for (column, part) in columns.iter_mut().filter(|column| pooled(&&**column)).zip(parts) {
                        column.parts.push(part);
                    }
                    if study.details {
                        histograms.add(ran.memory());
                    }
                    for (node, reported) in ran.rows().iter().enumerate() {
                        #[expect(clippy::cast_precision_loss, reason = "a share")]
                        let span = (until.get() - warm_up.get()) as f64;
                        #[expect(clippy::cast_precision_loss, reason = "a share")]
                        let share =
                            |(values, &ticks): (&mut Vec<f64>, &u64)| values.push(ticks as f64 / span);
                        if let Some(values) = lengths.get_mut(node) {
                            values.iter_mut().zip(&reported.lengths).for_each(share);
                        }
                    }
                    now.customers = now.customers.wrapping_add(customers);
                    now.events = now.events.wrapping_add(events);
                    now.fingerprint = now.fingerprint.wrapping_add(fingerprint);
                }
                // Fewer replications if they were stopped.
                done += u32::try_from(made.runs.len()).expect("a part of the range");
                now.done = done.into();
                if flow.is_break() || watch(done as usize, now.events).flow().is_break() {
                    break 'parts Some(Decision::Stopped);
                }
                saving.took(began.elapsed());
                if saving.due() {
                    let make = || {
                        let saved = SavedStudy::of_replications(self, now, &columns, &lengths, &histograms);
                        saved.map(SavedStudy::into_file)
                    };
                    saving.save(make)?;
                }
            }
        };
        let make = || {
            let saved = SavedStudy::of_replications(self, now, &columns, &lengths, &histograms);
            saved.map(SavedStudy::into_file)
        };
        let written = saving.last(make)?;
        let mut warnings = self.rounding_until(study.until);
        for column in columns.iter().filter(|column| facility.unserved(column, warm_up, until)) {
            let what = facility.reported_of(column);
            warnings.push(format!("{what} is not reported: its schedule has no servers after the warm-up"));
        }
        for column in columns.iter_mut().filter(|column| column.measure.is_of_lengths()) {
            // (Not known if there were more than are counted.)
            if column.parts.observed() < column.parts.len() {
                column.parts.forget();
            }
        }
        let known = theory::known(&facility);
        let rows = columns.iter().map(|column| {
            Ok(facility.row(column, &summary(column, study.level)?, facility.theory(column, &known)))
        });
        let mut rows = rows.collect::<Result<Vec<_>, FacilityError>>()?;
        let below = |node, class, which| histograms.below(node, class, which);
        warnings.extend(facility.fill_quantiles(&columns, below, study.level, &mut rows));
        rows.iter_mut().zip(columns).for_each(|(row, column)| row.parts = column.parts);
        let (engine, adapter, mapping) = makers.names();
        Ok(Report {
            network: self.network.name.clone(),
            engine,
            mapping,
            adapter,
            rows,
            seconds: begun.elapsed().as_secs_f64(),
            customers: now.customers,
            events: now.events,
            fingerprint: now.fingerprint,
            replications: done - first,
            until: study.until,
            warm_up: study.warm_up,
            level: study.level,
            unit: self.network.unit.clone(),
            ticks_per_unit: self.resolution.ticks_per_unit(),
            stopped,
            warnings,
            unsaved: written.err().map(|error| error.to_string()),
            lengths: facility.lengths(&lengths, study.level)?,
        })
    }

    /// The names of the measures that studies report, as columns of
    /// [`Report::observations`](super::Report::observations); with `details`, also those of
    /// [`Study::details`].
    pub fn measures(&self, details: bool) -> Vec<String> {
        match details {
            true => self.clone().with_details().measures(false),
            false => self.named(&self.columns()),
        }
    }

    /// The names of columns.
    pub(super) fn named(&self, columns: &[Measured]) -> Vec<String> {
        super::report::names(columns.iter().map(|column| {
            let node = column.node.map_or(WHOLE, |node| self.nodes[node].name.as_str());
            let class = column.class.map(|class| self.network.classes[class].as_str());
            (node, class, column.measure, column.up_to)
        }))
    }

    /// The names of the measures that have to reach a precision.
    pub(super) fn deciding_of(&self, study: &Study) -> Result<Vec<String>, FacilityError> {
        let (until, warm_up) = self.times(study)?;
        let columns = self.columns();
        let names = self.named(&columns);
        let deciding = names.into_iter().zip(&columns);
        let deciding =
            deciding.filter(|(_, column)| column.measure.decides() && !self.unserved(column, warm_up, until));
        Ok(deciding.map(|(name, _)| name).collect())
    }

    /// The model of a study's runs.
    pub(super) fn for_study(&self, study: &Study, warm_up: Ticks) -> Self {
        let facility = self.clone().with_warm_up(warm_up).with_room(self.room().min(study.room));
        if study.details { facility.with_details() } else { facility }
    }

    /// Checks that runs end before any clock does. Times of the description that exceed every run
    /// are later than [`LONGEST`], and forks mark tasks by a bit of each time.
    pub(super) fn check_end(&self, units: f64, until: Ticks) -> Result<(), FacilityError> {
        if until.get() > LONGEST {
            let horizon = self.resolution.units(Ticks::new(LONGEST));
            let source = TimeError::BeyondHorizon { units, horizon };
            return Err(FacilityError::Time { what: UNTIL, source });
        }
        let shared = |node: &&super::nodes::Node| {
            matches!(node.kind, Kind::Station { discipline: super::Discipline::Sharing, .. })
        };
        if let Some(node) = self.nodes.iter().find(shared)
            && until.get() >> MOST_SHARED != 0
        {
            return Err(FacilityError::Setting {
                node: node.name.clone(),
                what: "the end of runs with shared servers",
                value: units.to_string(),
                remedy: format!(
                    "the clock of shares counts up to 2^{MOST_SHARED} ticks; choose fewer ticks per unit"
                ),
            });
        }
        Ok(())
    }

    /// The row of a column.
    pub(super) fn row(&self, column: &Measured, summary: &Summary, theory: Option<f64>) -> Row {
        Row {
            node: column.node.map_or(WHOLE, |node| &self.nodes[node].name).to_owned(),
            class: column.class.map(|class| self.network.classes[class].clone()),
            measure: column.measure,
            up_to: column.up_to,
            mean: summary.mean,
            half_width: summary.interval.map(|interval| interval.half_width),
            lower: summary.interval.map(|interval| interval.lower),
            upper: summary.interval.map(|interval| interval.upper),
            theory,
            observations: summary.observations,
            resolution: summary.mean.filter(|_| column.measure.is_of_lengths()).and_then(length_resolution),
            parts: Pooled::new(column.parts.estimator()),
        }
    }

    /// The distribution of the number of customers at each station, from shares of time by node,
    /// number and replication.
    pub(super) fn lengths(&self, shares: &[Vec<Vec<f64>>], level: f64) -> Result<Vec<Length>, FacilityError> {
        let mut lengths = Vec::new();
        for (node, shares) in self.nodes.iter().zip(shares) {
            if !matches!(node.kind, Kind::Station { .. }) {
                continue;
            }
            let most = shares.iter().rposition(|values| values.iter().any(|&share| share > 0.0)).unwrap_or(0);
            for (bin, values) in shares.iter().enumerate().take(most + 1) {
                let (customers, most) = length_range(bin);
                let values = Column { name: "share".to_owned(), values: Values::F64(values.clone()) };
                let observations =
                    Observations::new(values.values.len(), vec![values], [], Pairing::Independent)?;
                let summary = observations.summary("share", level)?;
                lengths.push(Length {
                    node: node.name.clone(),
                    customers,
                    most,
                    or_more: most.is_none(),
                    mean: summary.mean.unwrap_or(f64::NAN),
                    half_width: summary.interval.map(|interval| interval.half_width),
                });
            }
        }
        Ok(lengths)
    }

    /// Checks whether stations wait for each other for ever: all servers are held by customers that
    /// wait for room at another of them, and no customer leaves the line there. Outputs only count
    /// waiting servers, so a possible cycle is rerun by the sequential engine.
    pub(super) fn deadlock(
        &self,
        rows: &[FacilityOutput],
        seed: u64,
        replication: u32,
        until: Ticks,
    ) -> Result<(), FacilityError> {
        let mut stuck: Vec<bool> = self
            .nodes
            .iter()
            .zip(rows)
            .map(|(node, row)| {
                let waiting = row.servers.level();
                matches!(node.kind, Kind::Station { servers: Some(servers), .. } if node.holds(&self.nodes) && waiting >= servers)
            })
            .collect();
        let may = |stuck: &[bool], node: usize| {
            let routes =
                self.nodes[node].pairs.iter().filter(|pair| pair.comes).flat_map(|pair| &pair.routes);
            routes.into_iter().any(|route| self.nodes[route.node].blocks && stuck[route.node])
        };
        shrink(&mut stuck, may);
        if !stuck.contains(&true) {
            return Ok(());
        }
        let mut simulation = CpuSimulation::in_rust(
            self,
            Options::default().seed(seed).replica(Replica { point: 0, number: replication }),
        )?;
        simulation.run(Until::time(until))?;
        let waits = self.waits_for(simulation.memory());
        // A customer whose patience ends leaves room there, which breaks the cycle.
        let impatient = self.impatient(simulation.memory());
        for ((stuck, node), impatient) in stuck.iter_mut().zip(&self.nodes).zip(impatient) {
            *stuck &= !(node.blocks && impatient);
        }
        shrink(&mut stuck, |stuck, node| {
            waits.iter().filter(|wait| wait.0 == node).all(|wait| stuck[wait.1])
        });
        if !stuck.contains(&true) {
            return Ok(());
        }
        let names = self.nodes.iter().zip(&stuck).filter(|(_, stuck)| **stuck);
        let names: Vec<_> = names.map(|(node, _)| format!("`{}`", node.name)).collect();
        Err(FacilityError::Deadlock { nodes: names.join(", "), replication })
    }

    /// Whether a run had too little room for waiting customers, and may have more. Any other fault
    /// is an error.
    fn full(&self, made: &Replications, first: u32, room: u32) -> Result<bool, FacilityError> {
        let mut full = false;
        for (replication, run) in (first..).zip(&made.runs) {
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

    /// Checks that no customer was lost between nodes, and Little's law.
    pub(super) fn verify(
        &self,
        rows: &[FacilityOutput],
        replication: u32,
        until: Ticks,
    ) -> Result<(), FacilityError> {
        let (mut sent, mut came) = (0_u64, 0_u64);
        let age = until.get() - self.params_warm_up().get();
        for (node, row) in self.nodes.iter().zip(rows) {
            for (number, (class, reported)) in self.network.classes.iter().zip(&row.classes).enumerate() {
                // Also at forks, where customers wait only for their tasks.
                if matches!(node.kind, Kind::Station { .. } | Kind::Fork) {
                    little(reported, age).map_err(|(times, area)| FacilityError::Little {
                        node: node.name.clone(),
                        class: class.clone(),
                        replication,
                        times,
                        area,
                    })?;
                }
                // A travelling customer has been sent, and has not arrived.
                came = came.wrapping_add(reported.begun).wrapping_sub(reported.ended);
                match node.kind {
                    Kind::Source { .. } => sent = sent.wrapping_add(reported.served()),
                    Kind::Sink => came = came.wrapping_add(reported.arrivals),
                    Kind::Fork => {
                        let tasks = node.pairs[number].tasks.len() as u64;
                        sent = sent
                            .wrapping_add(reported.served())
                            .wrapping_add(tasks.wrapping_mul(reported.arrivals));
                        came = came.wrapping_add(reported.arrivals).wrapping_add(reported.joined);
                    }
                    Kind::Router | Kind::Station { .. } => {
                        sent = sent.wrapping_add(reported.served());
                        came = came.wrapping_add(reported.arrivals);
                    }
                }
            }
            if self.params_warm_up() == Ticks::ZERO {
                sent += node.pairs.iter().map(|pair| u64::from(pair.population)).sum::<u64>();
            }
        }
        if sent == came { Ok(()) } else { Err(FacilityError::Flow { replication, sent, came }) }
    }
}

/// Services that ended.
pub(super) fn served(facility: &Facility, rows: &[FacilityOutput]) -> u64 {
    let stations = facility.nodes.iter().zip(rows);
    let stations = stations.filter(|(node, _)| matches!(node.kind, Kind::Station { .. }));
    stations.flat_map(|(_, row)| &row.classes).map(ClassOutput::served).sum()
}

/// Arrivals at nodes, and departures from sources and stations, served or not.
fn events(facility: &Facility, rows: &[FacilityOutput]) -> u64 {
    let of = |(node, row): (&super::nodes::Node, &FacilityOutput)| {
        let departs = matches!(node.kind, Kind::Source { .. } | Kind::Station { .. });
        let of = |class: &ClassOutput| {
            let served = if departs { class.served() } else { 0 };
            class.arrivals.wrapping_add(class.joined).wrapping_add(served).wrapping_add(class.reneged)
        };
        row.classes.iter().map(of).fold(0, u64::wrapping_add)
    };
    facility.nodes.iter().zip(rows).map(of).fold(0, u64::wrapping_add)
}

/// The words of a row with this number of classes.
fn words(row: &FacilityOutput, classes: usize) -> impl Iterator<Item = u32> {
    let levels = [&row.trips, &row.servers, &row.interrupted].map(slice::from_ref).map(cast_slice);
    let parts: [&[u32]; 2] = [cast_slice(&row.classes[..classes]), cast_slice(&row.lengths)];
    parts.into_iter().chain(levels).flatten().copied()
}

/// A hash of all sums of a replication, and of its histograms.
fn fingerprint(facility: &Facility, replication: u32, ran: &Replication) -> u64 {
    let classes = facility.network.classes.len();
    let words = ran
        .rows()
        .iter()
        .flat_map(|row| words(row, classes))
        .chain(ran.memory().as_flattened().iter().copied());
    mix(KIND, iter::once(replication).chain(words))
}

/// The clock of shared servers has 47 bits of ticks, and 16 bits of fractions.
const MOST_SHARED: u32 = 47;

/// Separates fingerprints of this module from those of others: "faci".
const KIND: u32 = 0x6661_6369;

/// Checks Little's law for the customers of a class at a station: the times after the warm-up of
/// customers that left, plus the ages of those present, equal the area under their number, modulo
/// 2^64. Otherwise returns both.
fn little(reported: &ClassOutput, age: u64) -> Result<(), (u64, u128)> {
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^64, as said")]
    let word = |sum: u128| sum as u64;
    let area = reported.present.area(age);
    let present = u128::from(reported.present.level()) * u128::from(age);
    let ages = word(present).wrapping_sub(reported.came);
    let times = word(reported.sojourn.sum()).wrapping_sub(reported.apart).wrapping_add(ages);
    // Bounds: ages are at most the time of observation, numbers are not negative, and customers in
    // service are at most those present.
    let possible = u128::from(reported.came) <= present
        && reported.present.level() <= u32::MAX / 2
        && reported.busy.level() <= reported.present.level();
    if word(area) == times && possible { Ok(()) } else { Err((times, area)) }
}

/// Whether a column has parts of each replication.
fn pooled(column: &&Measured) -> bool {
    column.measure.quantile().is_none()
}

fn summary(column: &Measured, level: f64) -> Result<Summary, AnalysisError> {
    column.parts.summary(column.measure.name(), level)
}
