//! The comparison of priority queues of Baudis et al. (section IV.B) on the default adapter: event
//! rates of PHOLD for each queue design, as in their Figures 6 to 8, and the rows of their Table I
//! that depend on the algorithm only.
//!
//! ```text
//! eventhorizon sweep
//! eventhorizon sweep --figure 7 --queue heap,cb-seq,auto
//! eventhorizon sweep --small                    # a minute, on a processor too
//! ```
//!
//! | figure | LPs | rate | varied | lines |
//! | --- | --- | --- | --- | --- |
//! | 6 | 1,024 | 0.001 | events per LP, invocations per workgroup | a panel per design |
//! | 7 | 1,024 | 0.1, 0.001, 0.00001 | events per LP | a line per design, a panel per rate |
//! | 8 | 32,768 | 0.1, 0.001, 0.00001 | events per LP | a line per design, a panel per rate |
//! | table | 32,768 | 0.1 | the 128 events per LP of Table I | |
//!
//! The lookahead is 10 units of time everywhere. The paper's Figure 6 varies the threads of a
//! block, which in its CB-PAR share one queue. Here the invocations of a workgroup vary; the paper
//! reports no substantial difference for the other designs. The invocations that share a queue of
//! CB-PAR are part of its name (`--queue cb-par-8`).
//!
//! *Comparisons per executed event* of Table I depend on the algorithm. They are counted by giving
//! each design an order of events that counts (`queue_sweep/comparisons.wgsl`). The event rate is
//! measured like all others. The other rows belong to the CUDA program and its chip: one kernel
//! here receives, executes and sends, so there is no time of enqueuing alone, and the remaining
//! rows come from NVIDIA's profiler.
//!
//! **Checks.** All designs first run a cell's model to the same time, and so does the sequential
//! CPU engine if the budget allows it. If a fingerprint differs, the exit code is 1.
//!
//! **Output**, in the folder `--out`: `cells.csv`, a row for each cell and design, with a reason if
//! it was not measured; a PNG for each figure; `best.md`, the best design for each cell.

mod comparisons;
mod report;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::Parser;
use clap::builder::PossibleValuesParser;
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    CpuSimulation, Fault, FaultKind, Fingerprint, Options, Simulation, SimulationError, Stop, Until,
};
use eventhorizon::queue::{QueueDesign, UnknownQueue};
use eventhorizon::time::{Resolution, Ticks};
use report::{best_of, draw_figure, line, record};

use crate::shared::rates::{Rate, measure_events, too_large};
use crate::shared::{self, Outcome};

/// The lookahead of all cells, in units of time.
const LOOKAHEAD: f64 = 10.0;

const SEED: u64 = 42;

/// The approximate number of events, and the largest number of windows, of the checked run.
const CHECKED_EVENTS: f64 = 100_000.0;
const CHECKED_WINDOWS: f64 = 1000.0;

/// With more events at the start, the CPU engine is skipped: it could not be stopped in time.
const CPU_EVENTS: u64 = 1 << 22;

/// A figure or table of the paper: a grid of cells, and how it is drawn.
struct Figure {
    /// The name on the command line.
    name: &'static str,
    /// The title, without the number of LPs, which is smaller with --small.
    title: &'static str,
    lps: u32,
    rates: &'static [f64],
    /// Events per LP.
    populations: &'static [u32],
    /// `None` is the library's choice.
    group_sizes: &'static [Option<u32>],
    panels: Panels,
}

enum Panels {
    /// A panel for each rate, with a curve for each design.
    Rates,
    /// A panel for each design, with a curve for each workgroup size.
    Designs,
    /// A table with comparisons, without a picture.
    Table,
}

const RATES: [f64; 3] = [0.1, 0.001, 0.00001];

static FIGURES: [Figure; 4] = [
    Figure {
        name: "6",
        title: "Figure 6: PHOLD by workgroup size, rate 0.001",
        lps: 1024,
        rates: &[0.001],
        populations: &[4, 16, 64, 256, 1024, 4096, 16384],
        group_sizes: &[Some(32), Some(64), Some(128), Some(256)],
        panels: Panels::Designs,
    },
    Figure {
        name: "7",
        title: "Figure 7: PHOLD by queue design",
        lps: 1024,
        rates: &RATES,
        populations: &[4, 16, 64, 256, 1024, 4096, 16384],
        group_sizes: &[None],
        panels: Panels::Rates,
    },
    Figure {
        name: "8",
        title: "Figure 8: PHOLD by queue design",
        lps: 32768,
        rates: &RATES,
        // The paper's largest run has 6.7 * 10^7 events on all LPs.
        populations: &[4, 16, 64, 256, 1024, 2048],
        group_sizes: &[None],
        panels: Panels::Rates,
    },
    Figure {
        name: "table",
        title: "Table I",
        lps: 32768,
        rates: &[0.1],
        populations: &[128],
        group_sizes: &[None],
        panels: Panels::Table,
    },
];

/// Comparisons and event rates of the paper's Table I, on a GeForce GTX 1060.
const TABLE_1: [(&str, f64, f64); 5] = [
    ("heap", 12.77, 2.04e7),
    ("cb-seq", 63.94, 2.61e7),
    ("splay", 26.35, 1.49e7),
    ("cb-seq-sp", 97.36, 1.85e7),
    ("cb-par-32", 129.30, 2.76e7),
];

/// Compare the queue designs on the default adapter, as Baudis et al. did
#[derive(Parser)]
pub struct Args {
    /// Compare this queue design, or `auto` for the library's choice. Default: all designs
    #[arg(long, value_delimiter = ',')]
    queue: Vec<Queue>,
    /// Reproduce this figure of the paper, or `table` for its Table I. Default: all
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(FIGURES.iter().map(|figure| figure.name)))]
    figure: Vec<String>,
    /// Set the events per LP, instead of each figure's own
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    population: Vec<u32>,
    /// Set the seconds to measure for each cell and design; as long a run before it keeps the
    /// device busy [default: 0.3, with --small 0.02]
    #[arg(long, value_parser = shared::seconds)]
    seconds: Option<f64>,
    /// Set the largest time in seconds for a cell and design, and again for the CPU engine
    #[arg(long, value_parser = shared::seconds, default_value_t = 10.0)]
    budget: f64,
    /// Write the results into this folder
    #[arg(long, default_value = "queue-sweep")]
    out: PathBuf,
    /// Use few LPs and few events for a quick test; its numbers do not apply to large runs
    #[arg(long)]
    small: bool,
}

/// A design, or the library's choice.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Queue(Option<QueueDesign>);

impl FromStr for Queue {
    type Err = UnknownQueue;

    fn from_str(name: &str) -> Result<Self, UnknownQueue> {
        match name {
            "auto" => Ok(Self(None)),
            _ => Ok(Self(Some(name.parse()?))),
        }
    }
}

impl std::fmt::Display for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.map_or("auto", QueueDesign::name))
    }
}

type Key = (u32, u64, u32);
type Series = (u32, u64, Option<u32>, Queue);

/// The parameters of a run. In it all designs have the same fingerprint.
#[derive(Clone, Copy)]
struct Cell {
    figure: &'static Figure,
    lps: u32,
    rate: f64,
    population: u32,
    group_size: Option<u32>,
}

impl Cell {
    fn model(&self) -> Outcome<Phold> {
        Ok(Phold::new(self.lps, self.population, self.rate, LOOKAHEAD, Resolution::default())?)
    }

    /// The end of the checked run. It has at least three windows, so that sent events are executed
    /// too.
    fn end(&self) -> Outcome<Ticks> {
        let events = f64::from(self.lps) * f64::from(self.population);
        // A cycle is the mean time from an event to the one that it sends.
        let cycle = LOOKAHEAD + 1.0 / self.rate;
        let window = LOOKAHEAD + cycle / events;
        let units = (CHECKED_EVENTS / events * cycle).min(CHECKED_WINDOWS * window).max(3.0 * LOOKAHEAD);
        Ok(Resolution::default().ticks(units)?)
    }

    /// The parameters that determine the fingerprint.
    fn key(&self) -> Key {
        (self.lps, self.rate.to_bits(), self.population)
    }

    /// Cells of a design that differ only in their events per LP.
    fn series(&self, queue: Queue) -> Series {
        (self.lps, self.rate.to_bits(), self.group_size, queue)
    }

    fn group(&self) -> String {
        self.group_size.map_or("auto".into(), |size| size.to_string())
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lps, rate, population, .. } = self;
        write!(f, "{lps} LPs, rate {rate}, {population} events per LP, workgroups {}", self.group())
    }
}

/// The results of a design in a cell.
struct Row {
    cell: Cell,
    queue: Queue,
    /// The name, with the choice of `auto`.
    name: String,
    rate: Option<Rate>,
    fingerprint: Option<Fingerprint>,
    note: String,
}

/// A fingerprint that all designs must have, and the engine or design that found it.
struct Expected {
    fingerprint: Fingerprint,
    by: String,
}

struct Sweep {
    gpu: Gpu,
    seconds: f64,
    budget: Duration,
    expected: HashMap<Key, Expected>,
    /// Why a cell was not compared with the CPU engine.
    unchecked: HashMap<Key, &'static str>,
    /// The number of events per LP at which the checked run alone exceeded the budget.
    heavy: HashMap<Series, u32>,
}

pub fn run(args: &Args) -> Outcome<()> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    std::fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    let all = QueueDesign::ALL.map(|design| Queue(Some(design)));
    let queues = if args.queue.is_empty() { all.to_vec() } else { args.queue.clone() };
    let asked =
        |figure: &&Figure| args.figure.is_empty() || args.figure.iter().any(|name| name == figure.name);
    let figures: Vec<&'static Figure> = FIGURES.iter().filter(asked).collect();
    let cells: Vec<Cell> = figures.iter().flat_map(|figure| cells(figure, args)).collect();
    let path = args.out.join("cells.csv");
    let mut csv = csv::Writer::from_path(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    csv.write_record([
        "figure",
        "lps",
        "events_per_lp",
        "rate",
        "lookahead",
        "group_size",
        "design",
        "events_per_second",
        "us_per_window",
        "events",
        "windows",
        "seconds",
        "fingerprint",
        "adapter",
        "note",
    ])?;
    let bar = shared::bar((cells.len() * queues.len()) as u64, "{bar:30} {pos}/{len}, {eta} left: {msg}")?;
    bar.suspend(|| {
        writeln!(
            stdout(),
            "{:>5} {:>7} {:>8} {:>7} {:>6} {:>18} {:>11} {:>11}  note",
            "fig",
            "LPs",
            "rate",
            "events",
            "group",
            "queue",
            "events/s",
            "us/window"
        )
    })?;
    let mut sweep = Sweep {
        gpu,
        seconds: args.seconds.unwrap_or(if args.small { 0.02 } else { 0.3 }),
        budget: Duration::from_secs_f64(args.budget),
        expected: HashMap::new(),
        unchecked: HashMap::new(),
        heavy: HashMap::new(),
    };
    let mut rows = Vec::new();
    'cells: for cell in &cells {
        bar.set_message("CPU engine");
        sweep.ask_cpu(cell)?;
        for &queue in &queues {
            if shared::interrupted() {
                break 'cells;
            }
            bar.set_message(queue.to_string());
            let row = sweep.row(cell, queue).map_err(|error| format!("{cell}, {queue}: {error}"))?;
            bar.suspend(|| writeln!(stdout(), "{}", line(&row)))?;
            csv.write_record(record(&row, &sweep.gpu))?;
            csv.flush()?;
            rows.push(row);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let mut best = format!("# The best queue design in each cell\n\n{}\n", sweep.gpu);
    for figure in figures {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.cell.figure.name == figure.name).collect();
        best.push_str(&best_of(figure, &rows)?);
        match figure.panels {
            Panels::Table => best.push_str(&sweep.table(&rows, args.small)?),
            _ => draw_figure(figure, &rows, &sweep.gpu, &args.out)?,
        }
    }
    shared::write(&args.out.join("best.md"), best.as_bytes())?;
    let missing = rows.iter().filter(|row| row.rate.is_none()).count();
    writeln!(
        stdout(),
        "{} cells and designs; {missing} not measured. See {}.",
        rows.len(),
        args.out.display()
    )?;
    Ok(())
}

/// The cells of a figure. Small ones have a 32nd of the LPs, and few events.
fn cells(figure: &'static Figure, args: &Args) -> Vec<Cell> {
    let lps = if args.small { figure.lps / 32 } else { figure.lps };
    let populations: &[u32] = match (args.population.as_slice(), args.small, &figure.panels) {
        ([], true, Panels::Rates | Panels::Designs) => &[4, 16, 64],
        ([], ..) => figure.populations,
        (given, ..) => given,
    };
    let group_sizes =
        if args.small { &figure.group_sizes[..figure.group_sizes.len().min(2)] } else { figure.group_sizes };
    let mut cells = Vec::new();
    for &rate in figure.rates {
        for &group_size in group_sizes {
            cells.extend(populations.iter().map(|&population| Cell {
                figure,
                lps,
                rate,
                population,
                group_size,
            }));
        }
    }
    cells
}

impl Sweep {
    /// Runs the CPU engine for the expected fingerprint, if the budget allows it. Runs before all
    /// measurements of the cell, so that the device is not idle between a check and its
    /// measurement.
    fn ask_cpu(&mut self, cell: &Cell) -> Outcome<()> {
        let key = cell.key();
        if self.expected.contains_key(&key) || self.unchecked.contains_key(&key) {
            return Ok(());
        }
        let model = cell.model()?;
        if u64::from(cell.lps) * u64::from(cell.population) > CPU_EVENTS {
            self.unchecked.insert(key, "too many events for the CPU engine");
            return Ok(());
        }
        let deadline = Instant::now() + self.budget;
        let end = Until::time(cell.end()?);
        let mut cpu = CpuSimulation::new(&model, Options::default().seed(SEED))?;
        let mut progress = cpu.run(Until { events: 0, ..end })?;
        // In pieces, because the engine cannot be stopped within a run.
        while progress.stop != Some(Stop::Time) {
            if Instant::now() > deadline {
                self.unchecked.insert(key, "the CPU engine takes longer than the budget");
                return Ok(());
            }
            progress = cpu.run(Until { events: progress.events + 10_000, ..end })?;
        }
        self.expected.insert(key, Expected { fingerprint: cpu.fingerprint(), by: "the CPU engine".into() });
        Ok(())
    }

    /// Checks and measures a design in a cell. Limits of the device become a note, wrong results an
    /// error.
    fn row(&mut self, cell: &Cell, queue: Queue) -> Outcome<Row> {
        let mut row = Row {
            cell: *cell,
            queue,
            name: queue.to_string(),
            rate: None,
            fingerprint: None,
            note: String::new(),
        };
        let heavy = self.heavy.get(&cell.series(queue)).filter(|&&population| population < cell.population);
        if let Some(population) = heavy {
            row.note = format!(
                "not tried: the checked run with {population} events per LP took more than the budget"
            );
            return Ok(row);
        }
        if let Err(error) = self.fill(&mut row) {
            match error.downcast_ref().and_then(limit) {
                Some(note) => row.note = note,
                None => return Err(error),
            }
            if row.note == LOST {
                self.gpu = Gpu::new()?;
            }
        }
        Ok(row)
    }

    fn fill(&mut self, row: &mut Row) -> Outcome<()> {
        let cell = row.cell;
        let deadline = Instant::now() + self.budget;
        let (model, end) = (cell.model()?, cell.end()?);
        // PHOLD's capacities are known, and snapshots would disturb short measurements. With fixed
        // capacities `auto` would consider fewer designs.
        let options = Options::default()
            .seed(SEED)
            .queue(row.queue.0)
            .group_size(cell.group_size)
            .fixed(row.queue.0.is_some());
        let mut simulation = Simulation::new(&self.gpu, &model, options)?;
        if row.queue.0.is_none() {
            row.name = format!("auto ({})", simulation.queue());
        }
        let begin = Instant::now();
        simulation.run(Until::time(end))?;
        // The compilation of kernels is included here, but does not grow with cells.
        if begin.elapsed() > self.budget {
            self.heavy.insert(cell.series(row.queue), cell.population);
        }
        let fingerprint = simulation.fingerprint()?;
        row.fingerprint = Some(fingerprint);
        let expected =
            self.expected.entry(cell.key()).or_insert_with(|| Expected { fingerprint, by: row.name.clone() });
        if expected.fingerprint != fingerprint {
            return Err(format!(
                "fingerprints of the same run differ: {} has {fingerprint}, and {} has {}. Please report this",
                row.name, expected.by, expected.fingerprint
            )
            .into());
        }
        let unchecked = self.unchecked.get(&cell.key());
        row.note =
            unchecked.map_or_else(String::new, |why| format!("designs compared with each other only: {why}"));
        if Instant::now() > deadline {
            row.note = format!(
                "not measured: the runs before the measurement took more than the budget of {} s",
                self.budget.as_secs_f64()
            );
            return Ok(());
        }
        row.rate = measure_events(&mut simulation, self.seconds, Some(deadline))?;
        if row.rate.is_none() {
            row.note = format!(
                "not measured: it would take more than the budget of {} s",
                self.budget.as_secs_f64()
            );
        }
        Ok(())
    }

    /// Formats the algorithmic rows of Table I as Markdown.
    fn table(&self, rows: &[&Row], small: bool) -> Outcome<String> {
        // Averages over this many queues are exact to a thousandth.
        let queues = if small { 128 } else { 1024 };
        let mut text = format!(
            "Comparisons per executed event, counted in {queues} queues over 16 windows; and event rates:\n\n\
             | events per LP | design | comparisons | the paper's | events/s | the paper's (GTX 1060) |\n\
             | ---: | --- | ---: | ---: | ---: | ---: |\n"
        );
        // The first design for each number of events per LP, and the events it executed.
        let mut first: HashMap<u32, (&str, [u64; 2])> = HashMap::new();
        for row in rows {
            // The calendar has no queue in which comparisons could be counted.
            let Some(design) = row.queue.0.filter(|design| design.source().is_some()) else { continue };
            let population = row.cell.population;
            let time = |units| Resolution::default().ticks(units);
            let times = [time(1.0 / row.cell.rate)?, time(LOOKAHEAD)?];
            // In the counting kernel one invocation serves a queue.
            let counted = (design.lanes() == 1)
                .then(|| comparisons::count(&self.gpu, design, queues, population, times))
                .transpose()?;
            let comparisons = match counted {
                None => "–".into(),
                Some(None) => "the driver ended a loop early".into(),
                Some(Some(counted)) => {
                    let (name, executed) = first.entry(population).or_insert((&row.name, counted.executed));
                    if *executed != counted.executed {
                        return Err(format!(
                            "{name} and {} executed different events. Please report this",
                            row.name
                        )
                        .into());
                    }
                    format!("{:.2}", counted.per_event)
                }
            };
            let paper = TABLE_1.iter().find(|(name, ..)| *name == row.name && population == 128);
            let rate = row.rate.map_or(row.note.clone(), |rate| format!("{:.3e}", rate.events_per_second()));
            let [paper_comparisons, paper_rate] = match paper {
                Some((_, comparisons, rate)) => [comparisons.to_string(), format!("{rate:.2e}")],
                None => ["–".into(), "–".into()],
            };
            writeln!(
                text,
                "| {population} | {} | {comparisons} | {paper_comparisons} | {rate} | {paper_rate} |",
                row.name
            )?;
        }
        Ok(text + "\n")
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
