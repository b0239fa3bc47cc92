//! The case study of Chapuis, Eidenbenz, Santhi and Park (section 3): people who plan their days,
//! and the traffic that results.
//!
//! Shows: entities of several kinds, handlers in WGSL and with the library's algorithms on the GPU,
//! their Rust reference implementations, ranks. Agents plan four activities with a genetic
//! algorithm, travel to the first one and plan again. District controllers count cars. Every half
//! hour the main controller computes the shortest paths between all pairs of vertices, on roads
//! that get slower as more cars use them. All numbers are integers, so the fingerprint does not
//! depend on the number of ranks or on where handlers run.
//!
//! ```text
//! eventhorizon activity --picture town.png
//! eventhorizon activity --agents 4096 --vertices 1024 --placement gpu
//! eventhorizon activity --agents 65536 --placement gpu --devices 4
//! cargo build --release -p eventhorizon-cli --features mpi
//! mpirun -n 4 target/release/eventhorizon activity --agents 32000 --vertices 1024
//! ```

mod plan;
mod town;

use std::io::{Write as _, stdout};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::hybrid::{
    Context, Digest, Entity, Handle, HandlerUsage, Handlers, HybridError, Options, Overlap, Placement,
    Simulation, Transport, in_process,
};
use eventhorizon::pdes::{Fingerprint, Progress};
use eventhorizon::time::Ticks;
use plan::{Answer, Call, Planner};
use plotters::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use town::{Routes, Town};

use crate::shared::{self, FileUse, Outcome, figure};

/// A tick is a second. No event is sent less than a minute ahead.
const LOOKAHEAD: u64 = 60;
const HALF_HOUR: u64 = 1800;
const HOUR: u64 = 3600;
/// The start of a run after time zero, so that activities may have ended before it.
const MORNING: u64 = 48 * HOUR;

#[derive(Parser)]
#[command(about = "Simulate people who plan their days, and print the traffic they cause")]
pub struct Args {
    /// Set the number of people
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    agents: u32,
    /// Set the number of vertices of the road network
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(2..=8192))]
    vertices: u32,
    /// Set the number of hours to simulate
    #[arg(long, default_value_t = 48, value_parser = clap::value_parser!(u64).range(1..=1000))]
    hours: u64,
    /// Set the number of traffic controllers, one for each district
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    districts: u32,
    /// Set the number of generations of the genetic algorithm
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=200))]
    generations: u32,
    /// Set the seed of the town and the random streams
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Run handlers on the GPU, on the CPU, or where they take less time. Changes the speed only
    #[arg(long, value_enum, default_value_t = HandlerBackend::Auto)]
    placement: HandlerBackend,
    /// Set the number of devices that share the calls of a window, in proportion to their speed.
    /// They are taken from the best adapters in turn. Changes the speed only
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    devices: u32,
    /// Send calls to their handlers in groups of this number while other events are executed.
    /// Default: all calls of a window together. Changes the speed only
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    overlap: Option<u32>,
    /// Set the number of groups that are answered at once, with --overlap
    #[arg(long, default_value_t = 2, requires = "overlap", value_parser = clap::value_parser!(u16).range(1..=256))]
    streams: u16,
    /// Set the number of ranks, each a thread of this process with its own worker threads. Under
    /// mpirun, the number of its processes is used. Changes the speed only
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    ranks: u32,
    /// Set the number of threads of each rank, at most 1024. Default: one for each core
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Draw the town in the half hours of the lightest, the median and the heaviest traffic, as PNG
    #[arg(long)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    json: shared::Json,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum HandlerBackend {
    Auto,
    Gpu,
    Cpu,
}

/// Messages between entities. At the same time, reports are received before the half-hour event
/// that sums them up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Message {
    /// To a controller: an agent departs.
    Trip { agent: u32, ends: [u32; 2] },
    /// To an agent: the travel time in seconds.
    Way(u64),
    /// To an agent: it has arrived, or starts.
    Plan,
    /// To the main controller: the cars of a district for each road.
    Report(Vec<u32>),
    /// To a controller: send a report.
    Count,
    /// To the main controller: half an hour has passed.
    Traffic,
    /// To controllers: travel times of the roads in seconds, and distances.
    News { weights: Vec<u32>, distances: Vec<u32> },
}

struct Agent {
    home: u32,
    work: u32,
    at: u32,
    /// When each activity last ended.
    last: [u64; 4],
    /// The next activity, its duration in minutes, and when the trip to it began.
    next: (usize, u64, u64),
    done: u32,
    /// The controller of its district, and the vertices of the town.
    district: u32,
    vertices: u32,
    planner: Handle<Planner>,
    generations: u32,
}

struct District {
    town: Arc<Town>,
    weights: Vec<u32>,
    distances: Vec<u32>,
    cars: Vec<u32>,
    trips: u64,
}

struct Main {
    districts: u32,
    town: Arc<Town>,
    cars: Vec<u32>,
    /// Cars on all roads for each half hour.
    history: Vec<Vec<u32>>,
    routes: Handle<Routes>,
}

enum Person {
    Main(Main),
    District(District),
    Agent(Agent),
}

impl Entity for Person {
    type Message = Message;

    fn start(&mut self, context: &mut Context<Self>) {
        let begin = match self {
            // The first road data arrives before any agent departs.
            Self::Main(_) => return context.send(context.name(), Ticks::new(MORNING), Message::Traffic),
            Self::District(_) => (MORNING + HALF_HOUR - LOOKAHEAD, Message::Count),
            Self::Agent(agent) => {
                let stream = context.stream();
                agent.last = [240, 60, 900, 600].map(|most| MORNING - 60 * u64::from(stream.below(most)));
                (MORNING + 2 * LOOKAHEAD + u64::from(stream.below(3600)), Message::Plan)
            }
        };
        context.send(context.name(), Ticks::new(begin.0), begin.1);
    }

    fn receive(&mut self, message: Message, context: &mut Context<Self>) {
        match self {
            Self::Main(main) => main.receive(message, context),
            Self::District(district) => district.receive(message, context),
            Self::Agent(agent) => agent.receive(message, context),
        }
    }

    fn state(&self, digest: &mut Digest) {
        match self {
            Self::Main(main) => digest.put(&(&main.cars, &main.history)),
            Self::District(district) => digest.put(&(&district.cars, district.trips, &district.weights)),
            Self::Agent(agent) => digest.put(&(agent.at, agent.last, agent.next, agent.done)),
        }
    }
}

impl Main {
    fn receive(&mut self, message: Message, context: &mut Context<Person>) {
        let now = context.now().get();
        match message {
            Message::Report(cars) => self.cars.iter_mut().zip(&cars).for_each(|(sum, cars)| *sum += cars),
            _ => {
                context.send(context.name(), Ticks::new(now + HALF_HOUR), Message::Traffic);
                let weights = self.town.weights(&self.cars);
                self.history.push(std::mem::replace(&mut self.cars, vec![0; weights.len()]));
                let (districts, reported) = (self.districts, weights.clone());
                context.call(self.routes, weights, move |_, distances, context| {
                    for district in 1..=districts {
                        let news = Message::News { weights: reported.clone(), distances: distances.clone() };
                        context.send(district, Ticks::new(now + LOOKAHEAD), news);
                    }
                });
            }
        }
    }
}

impl District {
    fn receive(&mut self, message: Message, context: &mut Context<Person>) {
        let now = context.now().get();
        match message {
            Message::Trip { agent, ends } => {
                let path = self.town.path(ends, &self.weights, &self.distances);
                let seconds = path.iter().map(|&road| u64::from(self.weights[road])).sum();
                path.iter().for_each(|&road| self.cars[road] += 1);
                self.trips += 1;
                context.send(agent, Ticks::new(now + LOOKAHEAD), Message::Way(seconds));
            }
            Message::News { weights, distances } => (self.weights, self.distances) = (weights, distances),
            _ => {
                let cars = std::mem::replace(&mut self.cars, vec![0; self.weights.len()]);
                context.send(0, Ticks::new(now + LOOKAHEAD), Message::Report(cars));
                context.send(context.name(), Ticks::new(now + HALF_HOUR), Message::Count);
            }
        }
    }
}

impl Agent {
    fn receive(&mut self, message: Message, context: &mut Context<Person>) {
        let now = context.now().get();
        match message {
            Message::Way(seconds) => {
                let (activity, minutes, since) = self.next;
                // The agent was already travelling while the controller computed the route.
                let end = (since + seconds).max(now) + 60 * minutes;
                self.last[activity] = end;
                self.done += 1;
                context.send(context.name(), Ticks::new(end), Message::Plan);
            }
            _ => {
                let minutes =
                    |last: &u64| u32::try_from((now.saturating_sub(*last) / 60).min(2880)).unwrap_or(2880);
                let elapsed = std::array::from_fn(|activity| minutes(&self.last[activity]));
                let call = Call { elapsed, seed: context.stream().draw(), generations: self.generations };
                context.call(self.planner, call, |person, [plan], context| {
                    let Person::Agent(agent) = person else { unreachable!("only agents call the planner") };
                    agent.sets_out(plan, context);
                });
            }
        }
    }

    fn sets_out(&mut self, plan: Answer, context: &mut Context<Person>) {
        let now = context.now().get();
        let activity = plan.activity as usize;
        let place = match activity {
            plan::SLEEP => self.home,
            plan::WORK => self.work,
            _ => context.stream().below(self.vertices),
        };
        let ends = [self.at, place];
        self.at = place;
        self.next = (activity, plan.minutes.into(), now);
        let name = context.name();
        let trip = Message::Trip { agent: name, ends };
        context.send(self.district, Ticks::new(now + LOOKAHEAD), trip);
    }
}

/// The results of a rank.
struct RankReport {
    rank: u32,
    ranks: u32,
    progress: Progress,
    fingerprint: Fingerprint,
    seconds: f64,
    used: Vec<HandlerUsage>,
    /// Filled on the rank of the main controller.
    history: Vec<Vec<u32>>,
    trips: u64,
}

/// Refuses distances that exceed the host's memory. Every district stores them and receives new
/// ones while it stores the old; between ranks they also travel as bytes, at most 5 for each number
/// on each side.
fn check_room(args: &Args) -> Outcome<()> {
    const MOST: u64 = 1 << 38;
    let pairs = u64::from(args.vertices).pow(2);
    let districts = u64::from(args.districts);
    let on_the_way = if args.ranks > 1 { 10 * districts } else { 0 };
    let bytes = pairs * (4 * (2 * districts + 2) + on_the_way);
    let fits = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    match bytes <= MOST && usize::try_from(bytes).is_ok_and(fits) {
        true => Ok(()),
        false => Err(shared::usage(format!(
            "the distances between {} vertices, for {districts} districts, need {bytes} bytes, which exceeds the host's memory: choose \
             a smaller --vertices or --districts",
            args.vertices
        ))),
    }
}

/// A town that was simulated.
pub(crate) struct Simulated {
    pub(crate) town: Arc<Town>,
    pub(crate) events: u64,
    pub(crate) seconds: f64,
    pub(crate) fingerprint: Fingerprint,
    /// Cars on all roads for each half hour.
    pub(crate) history: Vec<Vec<u32>>,
    ran: Vec<RankReport>,
}

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[(FileUse::WritesFile, "--picture", args.picture.as_deref()), args.json.file()])?;
    let Simulated { town, history, ran, .. } = simulate(args, shared::mpi_rank())?;
    if ran[0].rank != 0 {
        return Ok(()); // only the first rank prints
    }
    let trips: u64 = ran.iter().map(|ran| ran.trips).sum();
    let drawn = match &args.picture {
        Some(path) if !history.is_empty() => draw(path, &town, &history),
        _ => Ok(()),
    };
    shared::all([print_results(args, &ran[0], &ran, &town, trips), drawn])
}

/// Simulates a town on the ranks and devices of the options, or as one rank of several processes.
pub(crate) fn simulate(args: &Args, process: Option<Box<dyn Transport>>) -> Outcome<Simulated> {
    check_room(args)?;
    let open = || (0..args.devices).map(Gpu::nth).collect::<Result<Vec<_>, _>>();
    let devices = match args.placement {
        HandlerBackend::Cpu => Vec::new(),
        HandlerBackend::Gpu => open()?,
        HandlerBackend::Auto => match open() {
            Err(GpuError::NoAdapter { .. }) => Vec::new(),
            other => other?,
        },
    };
    let town = Arc::new(Town::new(args.vertices, args.agents, args.seed));
    let bar = shared::bar(1000, "{wide_bar} {percent}% {msg}")?;
    let print_report = |progress: &Progress| {
        let seconds = progress.now.get().saturating_sub(MORNING).min(args.hours * HOUR);
        bar.set_position(1000 * seconds / (args.hours * HOUR));
        bar.set_message(format!("{} events", progress.events));
        shared::watch()
    };
    let ran = match args.ranks {
        1 => vec![on_rank(args, &town, &devices, process, print_report)],
        ranks => {
            shared::check_threads(format!("{ranks} ranks in one process"), ranks as usize)?;
            in_process(ranks, |rank| on_rank(args, &town, &devices, Some(Box::new(rank)), print_report))
        }
    };
    bar.finish_and_clear();
    let mut ran: Vec<_> = ran.into_iter().collect::<Result<_, _>>()?;
    for other in &ran {
        shared::same(&other.fingerprint, &ran[0].fingerprint, "fingerprints of two ranks")?;
    }
    let mut histories = ran.iter_mut().map(|ran| std::mem::take(&mut ran.history));
    let history = histories.find(|history| !history.is_empty()).unwrap_or_default();
    drop(histories);
    let RankReport { progress, seconds, fingerprint, .. } = ran[0];
    Ok(Simulated { town, events: progress.events, seconds, fingerprint, history, ran })
}

fn on_rank(
    args: &Args,
    town: &Arc<Town>,
    devices: &[Gpu],
    transport: Option<Box<dyn Transport>>,
    print_report: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RankReport, HybridError> {
    let placement = match args.placement {
        HandlerBackend::Auto => Placement::Auto,
        HandlerBackend::Gpu => Placement::Gpu,
        HandlerBackend::Cpu => Placement::Cpu,
    };
    let mut handlers = Handlers::new(devices.iter().cloned(), placement);
    let planner = handlers.add(plan::planner(devices)?);
    let routes = handlers.add(Routes(Arc::clone(town)));
    let (districts, roads) = (args.districts, town.roads.len());
    let make = |name: u32| match name {
        0 => Person::Main(Main {
            districts,
            town: Arc::clone(town),
            cars: vec![0; roads],
            history: Vec::new(),
            routes,
        }),
        _ if name <= districts => Person::District(District {
            town: Arc::clone(town),
            weights: vec![0; roads],
            distances: Vec::new(),
            cars: vec![0; roads],
            trips: 0,
        }),
        _ => {
            let mut stream = eventhorizon::random::Stream::new(args.seed, name, u64::MAX);
            let [home, work] = [(); 2].map(|()| stream.below(args.vertices));
            Person::Agent(Agent {
                home,
                work,
                at: home,
                last: [0; 4],
                next: (0, 0, 0),
                done: 0,
                district: 1 + name % districts,
                vertices: args.vertices,
                planner,
                generations: args.generations,
            })
        }
    };
    let overlap = args.overlap.map_or(Overlap::Off, |calls| Overlap::Streams {
        streams: args.streams.into(),
        calls: calls as usize,
    });
    let options = Options::default()
        .seed(args.seed)
        .threads(args.threads.map(usize::from))
        .handlers(handlers)
        .overlap(overlap);
    let entities = 1 + districts + args.agents;
    let lookahead = Ticks::new(LOOKAHEAD);
    let mut simulation = match transport {
        None => Simulation::new(entities, lookahead, make, options)?,
        Some(transport) => Simulation::on(transport, entities, lookahead, make, options)?,
    };
    let begun = Instant::now();
    let progress = simulation.until(Ticks::new(MORNING + args.hours * HOUR)).watch(print_report).run()?;
    let seconds = begun.elapsed().as_secs_f64();
    let fingerprint = simulation.fingerprint()?;
    let (mut history, mut trips) = (Vec::new(), 0);
    for (_, person) in simulation.entities() {
        match person {
            Person::Main(main) => history.clone_from(&main.history),
            Person::District(district) => trips += district.trips,
            Person::Agent(_) => {}
        }
    }
    let (rank, ranks, used) =
        (simulation.transport().rank(), simulation.transport().ranks(), simulation.used());
    Ok(RankReport { rank, ranks, progress, fingerprint, seconds, used, history, trips })
}

fn print_results(
    args: &Args,
    first: &RankReport,
    ran: &[RankReport],
    town: &Town,
    trips: u64,
) -> Outcome<()> {
    let rate = first.progress.events as f64 / first.seconds;
    // Of several processes, this one counts its own trips and calls.
    let others = first.ranks as usize > ran.len();
    let mut table = vec![
        ("agents, vertices, roads", format!("{}, {}, {}", args.agents, args.vertices, town.roads.len())),
        ("ranks", first.ranks.to_string()),
        ("events", first.progress.events.to_string()),
        (if others { "trips (first rank)" } else { "trips" }, trips.to_string()),
        ("seconds", format!("{:.3}", first.seconds)),
        ("events per second", format!("{rate:.4e}")),
        ("fingerprint", first.fingerprint.to_string()),
    ];
    for number in 0..first.used.len() {
        let sum = |place: fn(&HandlerUsage) -> (u64, f64)| {
            let each = ran.iter().map(|ran| place(&ran.used[number]));
            each.fold((0, 0.0), |sum, (calls, seconds)| (sum.0 + calls, sum.1 + seconds))
        };
        let (on_gpu, on_cpu) = (sum(|used| used.gpu), sum(|used| used.cpu));
        let name = if number == 0 { "calls of planning" } else { "calls of all pairs" };
        let reported = format!(
            "{} on the GPU in {:.3} s, {} on the CPU in {:.3} s",
            on_gpu.0, on_gpu.1, on_cpu.0, on_cpu.1
        );
        table.push((name, reported));
        if args.devices > 1 {
            let of = |device: usize| -> u64 {
                ran.iter().filter_map(|ran| ran.used[number].devices.get(device)).sum()
            };
            let calls: Vec<_> = (0..args.devices as usize).map(|device| of(device).to_string()).collect();
            table.push(("    on each device", calls.join(", ")));
        }
    }
    let json = json!({
        "model": "activity",
        "agents": args.agents,
        "vertices": args.vertices,
        "hours": args.hours,
        "ranks": first.ranks,
        "devices": args.devices,
        "seed": args.seed,
        "events": first.progress.events,
        "windows": first.progress.windows,
        "trips": (!others).then_some(trips),
        "seconds": first.seconds,
        "event_rate": rate,
        "fingerprint": first.fingerprint.to_string(),
    });
    if !args.json.on_stdout() {
        for (name, value) in table {
            writeln!(stdout(), "{name:<26}{value}")?;
        }
    }
    args.json.write(&json)
}

/// Figure 5: the town at the lightest, the median and the heaviest traffic.
pub(crate) fn draw(path: &Path, town: &Town, history: &[Vec<u32>]) -> Outcome<()> {
    const SIDE: u32 = 700;
    const HEAD: u32 = 40;
    const FOOT: u32 = 40;
    let mut order: Vec<_> = (1..history.len()).collect();
    order.sort_by_key(|&half| history[half].iter().map(|&cars| u64::from(cars)).sum::<u64>());
    let chosen: Vec<_> = [0, order.len() / 2, order.len().saturating_sub(1)]
        .iter()
        .filter_map(|&place| order.get(place))
        .collect();
    let size = (3 * SIDE, HEAD + SIDE + FOOT);
    let mut pixels = vec![0; (3 * size.0 * size.1) as usize];
    let root = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
    root.fill(&WHITE)?;
    let pen = figure::Pen::new()?;
    // From an empty road to one with twice the cars that it is made for.
    let colour = |heat: f64| HSLColor(0.33 * (1.0 - heat), 0.9, 0.42);
    let (left, line) = ((3 * SIDE).cast_signed() / 2 - 120, (HEAD + SIDE + FOOT / 2).cast_signed());
    for step in 0..240 {
        let bar = [(left + step, line - 8), (left + step, line + 8)];
        root.draw(&PathElement::new(bar, colour(f64::from(step) / 240.0).stroke_width(1)))?;
    }
    pen.write(&root, "no cars", 19.0, (left - 12, line), 1.0, false)?;
    pen.write(&root, "twice the capacity of the road, or more", 19.0, (left + 252, line), 0.0, false)?;
    let extent = town.places.iter().flatten().max().copied().unwrap_or(1).max(1);
    let names = ["lightest", "median", "heaviest"];
    for ((area, &&half), name) in root.split_evenly((1, 3)).iter().zip(&chosen).zip(names) {
        let minutes = 30 * half;
        let title = format!("{name} traffic: {:02}:{:02} hours after the start", minutes / 60, minutes % 60);
        pen.write(area, &title, 21.0, (SIDE.cast_signed() / 2, HEAD.cast_signed() / 2), 0.5, false)?;
        let pixel = |vertex: u32| {
            let at = town.places[vertex as usize].map(|at| 20 + at * (SIDE - 40) / extent);
            (at[0].cast_signed(), (HEAD + at[1]).cast_signed())
        };
        for (road, &cars) in town.roads.iter().zip(&history[half]) {
            let heat = (f64::from(cars) / f64::from(road.capacity)).min(2.0) / 2.0;
            let width = if heat > 0.5 { 4 } else { 2 };
            area.draw(&PathElement::new(road.ends.map(pixel), colour(heat).stroke_width(width)))?;
        }
        shared::print_report(&format!("{}: half hour {half} of {}", path.display(), history.len() - 1));
    }
    root.present()?;
    drop(root);
    shared::write_png(path, size, png::ColorType::Rgb, &pixels)
}
