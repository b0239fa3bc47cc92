//! PHOLD by queue design (Baudis et al., sections IV.A and IV.B.1): Figures 6 to 8 and Table I.
//!
//! Runs are the paper's: each iteration executes at most one event of each LP, its first one below
//! t + lookahead (`Sync::OneEvent`). Beside them is one line of this library's own windows.
//!
//! Each point is checked first: all designs execute a shorter run to the same time, and so does the
//! sequential CPU engine if the budget allows it. Their fingerprints must be equal.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use eventhorizon::gpu::GpuError;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    Capacity, CpuSimulation, Fault, FaultKind, Fingerprint, Model as _, Options, Simulation, SimulationError,
    Stop, Sync, Until,
};
use eventhorizon::queue::{Lanes, QueueDesign, Traverse};
use eventhorizon::time::{Resolution, Ticks};

use super::counts;
use super::study::{Study, over, thousands};
use crate::shared::rates::{Rate, measure, too_large};
use crate::shared::{Outcome, same};

/// The lookahead of all runs, in units of time (IV.B.1).
const LOOKAHEAD: f64 = 10.0;

const SEED: u64 = 42;

/// The approximate number of events, and the largest number of epochs, of the checked run.
const CHECKED_EVENTS: f64 = 100_000.0;
const CHECKED_EPOCHS: f64 = 1000.0;

/// With more events at the start, the CPU engine is skipped: it could not be stopped in time.
const CPU_EVENTS: u64 = 1 << 22;

/// A line of the figures: its name there, the designs of which the faster one counts, and the
/// windows.
struct Way {
    name: &'static str,
    designs: &'static [Option<QueueDesign>],
    sync: Sync,
}

const fn paper(name: &'static str, designs: &'static [Option<QueueDesign>]) -> Way {
    Way { name, designs, sync: Sync::OneEvent }
}

const CB_SEQ: Way = paper(
    "CB-SEQ",
    &[Some(QueueDesign::CbSeq(Traverse::BackToFront)), Some(QueueDesign::CbSeq(Traverse::FrontToBack))],
);

/// The designs of Figures 7 and 8, and the library with its own choice of a queue and its windows.
const WAYS: [Way; 6] = [
    CB_SEQ,
    paper("CB-SEQ-SP", &[Some(QueueDesign::CbSeqSp)]),
    paper("CB-PAR", &[Some(QueueDesign::CB_PAR), Some(QueueDesign::CB_PAR_FRONT)]),
    paper("Heaps", &[Some(QueueDesign::Heap)]),
    paper("Splays", &[Some(QueueDesign::Splay)]),
    Way { name: "this library (its own windows)", designs: &[None], sync: Sync::Yawns },
];

/// A column of Table I, on a GeForce GTX 1060.
struct Stated {
    name: &'static str,
    /// For each executed event: comparisons, and transactions of the memory.
    comparisons: f64,
    transactions: f64,
    events_per_second: f64,
}

const fn stated(name: &'static str, comparisons: f64, transactions: f64, events_per_second: f64) -> Stated {
    Stated { name, comparisons, transactions, events_per_second }
}

const TABLE_1: [Stated; 5] = [
    stated("CB-SEQ", 63.94, 48.83, 2.61e7),
    stated("CB-SEQ-SP", 97.36, 89.72, 1.85e7),
    stated("CB-PAR", 129.30, 55.92, 2.76e7),
    stated("Heaps", 12.77, 66.16, 2.04e7),
    stated("Splays", 26.35, 86.27, 1.49e7),
];

/// The events per LP of Table I.
const POPULATION_1: u32 = 128;

/// The paper's numbers for a line, if its table has them.
fn in_table_1(name: &str) -> Option<&'static Stated> {
    TABLE_1.iter().find(|column| column.name == name)
}

const RATES: [f64; 3] = [0.1, 0.001, 0.00001];

pub(super) fn figure_6(study: &mut Study<'_>) -> Outcome<()> {
    const NAMES: [&str; 6] =
        ["2 threads", "4 threads", "8 threads", "16 threads", "32 threads", "64 threads"];
    let (lps, rate) = (study.size(1024, 32), 0.001);
    let lanes: &[Lanes] = if study.args.small { &Lanes::ALL[3..] } else { &Lanes::ALL };
    study.note(&format!("{} LPs, lookahead 10", thousands(lps.into())));
    let mut runs = Runs::new(study);
    for &population in populations(study, &[4, 16, 64, 256, 1024, 4096, 16384]) {
        for (lanes, name) in lanes.iter().zip(&NAMES[NAMES.len() - lanes.len()..]) {
            if !study.goes_on() {
                return Ok(());
            }
            if study.has("", name, population.into()) {
                continue;
            }
            let cell = Cell { lps, rate, population };
            let design = Some(QueueDesign::CbPar(*lanes));
            let found = runs.measure(study, cell, design, Sync::OneEvent)?;
            report(study, ["", name], population, found, None)?;
        }
    }
    Ok(())
}

pub(super) fn figure_7(study: &mut Study<'_>) -> Outcome<()> {
    let lps = study.size(1024, 32);
    rates(study, lps, &[4, 16, 64, 256, 1024, 4096, 16384])
}

pub(super) fn figure_8(study: &mut Study<'_>) -> Outcome<()> {
    let lps = study.size(32768, 256);
    // The paper's largest run has 6.7 * 10^7 events on all LPs.
    rates(study, lps, &[4, 16, 64, 128, 256, 1024, 2048])
}

/// The events per LP of a figure.
fn populations<'a>(study: &Study<'_>, full: &'a [u32]) -> &'a [u32] {
    study.size(full, &full[..3])
}

fn rates(study: &mut Study<'_>, lps: u32, full: &[u32]) -> Outcome<()> {
    study.note(&format!("{} LPs, lookahead 10", thousands(lps.into())));
    let mut runs = Runs::new(study);
    for rate in RATES {
        for &population in populations(study, full) {
            for way in &WAYS {
                if !study.goes_on() {
                    return Ok(());
                }
                let panel = format!("rate {rate}");
                if study.has(&panel, way.name, population.into()) {
                    continue;
                }
                let cell = Cell { lps, rate, population };
                let found = runs.best(study, cell, way)?;
                let is_stated = lps == 32768 && rate == 0.1 && population == POPULATION_1;
                let stated =
                    in_table_1(way.name).filter(|_| is_stated).map(|column| column.events_per_second);
                report(study, [&panel, way.name], population, found, stated)?;
            }
        }
    }
    Ok(())
}

/// The times of a rate: the mean delay, and the lookahead.
fn times(rate: f64) -> Outcome<[Ticks; 2]> {
    let time = |units| Resolution::default().ticks(units);
    Ok([time(1.0 / rate)?, time(LOOKAHEAD)?])
}

/// Counts in the designs of a line; `write` writes the numbers of one. A name in the CSV is the
/// design's where a line has several.
fn counted(
    study: &mut Study<'_>,
    queues: u32,
    population: u32,
    mut write: impl FnMut(&mut Study<'_>, &Way, QueueDesign, Option<counts::Counts>) -> Outcome<()>,
) -> Outcome<()> {
    let mut hashes = None;
    for way in &WAYS {
        for design in way.designs.iter().copied().flatten() {
            if !study.goes_on() {
                return Ok(());
            }
            let counts = counts::count(&study.gpu()?, design, queues, population, times(0.1)?)?;
            if let Some(counts) = counts {
                // All designs execute the same events in the same order.
                same(&counts.executed, hashes.get_or_insert(counts.executed), design)?;
            }
            write(study, way, design, counts)?;
        }
    }
    Ok(())
}

const CUT: &str = "the driver ended a loop early";

pub(super) fn figure_9(study: &mut Study<'_>) -> Outcome<()> {
    const PANELS: [&str; 2] = ["32-byte sectors per event", "bytes read and written per event"];
    let queues = study.size(1024, 64);
    study.note(&format!("{queues} LPs, rate 0.1, lookahead 10; queue slots only"));
    for &population in study.size(&[4, 16, 64, POPULATION_1, 256, 512, 1024][..], &[4, 16, 64, POPULATION_1])
    {
        counted(study, queues, population, |study, way, design, counts| {
            let stated = in_table_1(way.name).filter(|_| population == POPULATION_1);
            // The paper has one line for both directions.
            let stated =
                stated.filter(|_| !design.name().ends_with("-front")).map(|column| column.transactions);
            let x = f64::from(population);
            let Some(counts) = counts else { return study.missing(PANELS[0], design.name(), x, CUT) };
            study.row([PANELS[0], design.name()], x, Some(counts.sectors), stated, "")?;
            study.point(PANELS[1], design.name(), x, counts.bytes)
        })?;
    }
    Ok(())
}

pub(super) fn table_1(study: &mut Study<'_>) -> Outcome<()> {
    let cell = Cell { lps: study.size(32768, 256), rate: 0.1, population: POPULATION_1 };
    let queues = study.size(1024, 128);
    let mut column = 0;
    counted(study, queues, cell.population, |study, way, design, counts| {
        column += 1;
        let stated = in_table_1(way.name);
        let panels = [
            (
                "comparisons per event",
                counts.map(|counts| counts.comparisons),
                stated.map(|column| column.comparisons),
            ),
            (
                "32-byte sectors per event",
                counts.map(|counts| counts.sectors),
                stated.map(|column| column.transactions),
            ),
        ];
        for (panel, found, stated) in panels {
            let note = if found.is_none() { CUT } else { "" };
            study.row([panel, design.name()], f64::from(column), found, stated, note)?;
        }
        Ok(())
    })?;
    let mut runs = Runs::new(study);
    for (column, way) in (1_u32..).zip(&WAYS) {
        if !study.goes_on() {
            return Ok(());
        }
        let stated = in_table_1(way.name).map(|column| column.events_per_second);
        let found = runs.best(study, cell, way)?;
        report(study, ["events per second", way.name], column, found, stated)?;
    }
    Ok(())
}

/// A rate with a remark, or why it was not measured.
type Found = Result<(Rate, String), String>;

fn report(
    study: &mut Study<'_>,
    [panel, line]: [&str; 2],
    x: u32,
    found: Found,
    stated: Option<f64>,
) -> Outcome<()> {
    match found {
        Ok((rate, note)) => study.row([panel, line], x.into(), Some(rate.events_per_second()), stated, &note),
        Err(why) => study.missing(panel, line, x.into(), &why),
    }
}

/// The parameters of a run. With them all designs have the same fingerprint.
#[derive(Clone, Copy)]
struct Cell {
    lps: u32,
    rate: f64,
    population: u32,
}

impl Cell {
    fn model(&self, sync: Sync) -> Outcome<Phold> {
        let model = Phold::new(self.lps, self.population, self.rate, LOOKAHEAD, Resolution::default())?;
        let Capacity { queue, mailbox } = model.capacity();
        // An LP that executes one event at a time holds more; growth would disturb measurements.
        let queue = if sync == Sync::OneEvent { 2 * queue } else { queue };
        Ok(model.with_capacity(Capacity { queue, mailbox }))
    }

    /// The end of the checked run. It has at least three epochs, so that sent events are executed
    /// too.
    fn end(&self) -> Outcome<Ticks> {
        let events = f64::from(self.lps) * f64::from(self.population);
        // A cycle is the mean time from an event to the one that it sends.
        let cycle = LOOKAHEAD + 1.0 / self.rate;
        let window = LOOKAHEAD + cycle / events;
        let units = (CHECKED_EVENTS / events * cycle).min(CHECKED_EPOCHS * window).max(3.0 * LOOKAHEAD);
        Ok(Resolution::default().ticks(units)?)
    }

    fn key(&self) -> (u32, u64, u32) {
        (self.lps, self.rate.to_bits(), self.population)
    }
}

/// What the runs of a figure know of each other.
struct Runs {
    seconds: f64,
    budget: Duration,
    /// The fingerprint of each cell; `None` if the CPU engine takes too long and no design has run.
    expected: HashMap<(u32, u64, u32), Option<Fingerprint>>,
    /// By LPs, rate and design: the events per LP whose checked run exceeded the budget.
    heavy: HashMap<(u32, u64, Option<QueueDesign>), u32>,
}

impl Runs {
    fn new(study: &Study<'_>) -> Self {
        let budget = Duration::from_secs_f64(study.args.budget);
        Self { seconds: study.args.seconds(), budget, expected: HashMap::new(), heavy: HashMap::new() }
    }

    /// The rate of the faster design of a line.
    fn best(&mut self, study: &mut Study<'_>, cell: Cell, way: &Way) -> Outcome<Found> {
        let mut best: Option<Found> = None;
        for &design in way.designs {
            let found = self.measure(study, cell, design, way.sync)?;
            let rate = |found: &Found| found.as_ref().map_or(0.0, |(rate, _)| rate.events_per_second());
            if best.as_ref().is_none_or(|best| rate(&found) > rate(best)) {
                best = Some(found);
            }
        }
        Ok(best.expect("a line has a design"))
    }

    /// Checks and measures a design. Limits of the device become a note, wrong results an error.
    fn measure(
        &mut self,
        study: &mut Study<'_>,
        cell: Cell,
        design: Option<QueueDesign>,
        sync: Sync,
    ) -> Outcome<Found> {
        let heavy = (cell.lps, cell.rate.to_bits(), design);
        if let Some(less) = self.heavy.get(&heavy).filter(|&&less| less < cell.population) {
            let what = format!("the checked run with {less} events per LP");
            return Ok(Err(over(&what, self.budget.as_secs_f64())));
        }
        match self.run(study, cell, design, sync) {
            Ok(found) => Ok(found),
            Err(error) => match error.downcast_ref().and_then(limit) {
                Some(note) => {
                    if note == LOST {
                        study.reopen()?;
                    }
                    Ok(Err(note))
                }
                None => Err(error),
            },
        }
    }

    fn run(
        &mut self,
        study: &Study<'_>,
        cell: Cell,
        design: Option<QueueDesign>,
        sync: Sync,
    ) -> Outcome<Found> {
        self.ask_cpu(cell)?;
        let deadline = Instant::now() + self.budget;
        let (model, end) = (cell.model(sync)?, cell.end()?);
        let options = Options::default().seed(SEED).queue(design).sync(sync);
        let mut simulation = Simulation::new(&study.gpu()?, &model, options)?;
        let begin = Instant::now();
        simulation.run(Until::time(end))?;
        if begin.elapsed() > self.budget {
            self.heavy.insert((cell.lps, cell.rate.to_bits(), design), cell.population);
        }
        let fingerprint = simulation.fingerprint()?;
        let expected = self.expected.entry(cell.key()).or_default().get_or_insert(fingerprint);
        same(&fingerprint, expected, format!("fingerprints of PHOLD, {}", simulation.queue()))?;
        let too_long = || Err(over("the point", self.budget.as_secs_f64()));
        if Instant::now() > deadline {
            return Ok(too_long());
        }
        // By time: in runs that an event limit ends, windows of a kind end where others do not.
        let step = Resolution::default().ticks(LOOKAHEAD)?.get();
        let until = |time| Until::time(Ticks::new(time));
        let rate = measure(&mut simulation, self.seconds, Some(deadline), (end.get(), step), until)?;
        let note = simulation.queue().to_string();
        Ok(rate.map_or_else(too_long, |rate| Ok((rate, note))))
    }

    /// Runs the CPU engine for the fingerprint of a cell, if the budget allows it.
    fn ask_cpu(&mut self, cell: Cell) -> Outcome<()> {
        if self.expected.contains_key(&cell.key()) {
            return Ok(());
        }
        let mut found = None;
        if u64::from(cell.lps) * u64::from(cell.population) <= CPU_EVENTS {
            let (model, deadline) = (cell.model(Sync::Yawns)?, Instant::now() + self.budget);
            let end = Until::time(cell.end()?);
            let mut cpu = CpuSimulation::new(&model, Options::default().seed(SEED))?;
            let mut progress = cpu.run(Until { events: 0, ..end })?;
            // In pieces, because the engine cannot be stopped within a run.
            while progress.stop != Some(Stop::Time) && Instant::now() < deadline {
                progress = cpu.run(Until { events: progress.events + 10_000, ..end })?;
            }
            found = (progress.stop == Some(Stop::Time)).then(|| cpu.fingerprint());
        }
        self.expected.insert(cell.key(), found);
        Ok(())
    }
}

const LOST: &str = "the device was lost: a window took too long for its driver";

/// The note for an error that reports a limit of the device, or `None` for other errors.
fn limit(error: &SimulationError) -> Option<String> {
    let note = match error {
        SimulationError::GroupSize { max, .. } => format!("the device has workgroups of at most {max}"),
        SimulationError::Gpu(GpuError::OutOfMemory { .. }) => "the device has not enough memory".into(),
        SimulationError::Gpu(GpuError::Lost { .. } | GpuError::Timeout { .. }) => LOST.into(),
        SimulationError::Fault(Fault { kind: FaultKind::LoopsCut, .. }) => {
            "the driver ended a loop early: too much for it in one dispatch".into()
        }
        other => format!("does not fit the device: {}", too_large(other)?),
    };
    Some(note)
}
