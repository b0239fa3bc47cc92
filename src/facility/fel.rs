//! Closed networks by a global future event list, as Park and Fishwick simulate them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use bytemuck::{Pod, Zeroable};
use web_time::Instant;

use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, Recipe, Verdict};
use crate::random::{Stream, mix};
use crate::shaders;
use crate::time::Ticks;

use super::check::{Kind, Node};
use super::{Discipline, Distribution, Facility};

/// Why a network was not made, or did not run on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FelError {
    /// The device failed, or refused a buffer or a kernel. The run is lost.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A value that no network has. Nothing was made.
    #[error("{what}: {remedy}")]
    Setting {
        /// Which, and its value.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Time does not advance: with this interval, services are rounded to nothing again and again. The run cannot go on.
    #[error(
        "time stands still at tick {time}: with intervals of {interval} ticks, services last no interval again and again; choose a shorter one"
    )]
    Stuck {
        /// Where, in ticks.
        time: u64,
        /// The interval, in ticks.
        interval: u32,
    },
}

fn refuse<T>(what: String, remedy: &'static str) -> Result<T, FelError> {
    Err(FelError::Setting { what, remedy })
}

/// A closed network of service facilities (Park and Fishwick, section 5.3): each has one server and a queue, first come first served, serves tokens for
/// exponential times, and sends each to one of some facilities, all with the same probability, in no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FelNetwork {
    /// Mean times of service, less a tick.
    means: Vec<u32>,
    /// By facility, those that it sends to.
    targets: Vec<Vec<u32>>,
    /// By facility, those that send to it, each once.
    sources: Vec<Vec<u32>>,
    /// Tokens at each at first.
    tokens: Vec<u32>,
}

impl FelNetwork {
    /// Facilities that send to one may be no more: an invocation looks at all of them.
    pub const MOST_SOURCES: usize = 64;

    /// The longest mean time of service, in ticks: a service must fit a word.
    pub const MOST_MEAN: Ticks = Ticks::new(1 << 27);

    /// For each facility its mean time of service, the facilities that it sends to, and the tokens that it has at first. A service lasts a tick longer than
    /// an exponential time of that mean, rounded down. A facility that is among the targets twice is twice as probable.
    ///
    /// # Errors
    /// [`FelError::Setting`], naming the facility and the value.
    pub fn new(facilities: impl IntoIterator<Item = (Ticks, Vec<u32>, u32)>) -> Result<Self, FelError> {
        let (mut means, mut targets, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
        for (mean, to, held) in facilities {
            if mean > Self::MOST_MEAN {
                return refuse(
                    format!("facility {} serves for {} ticks on average", means.len(), mean.get()),
                    "choose at most 2^27, by a resolution with fewer ticks per unit",
                );
            }
            means.push(u32::try_from(mean.get()).expect("at most 2^27"));
            targets.push(to);
            tokens.push(held);
        }
        let count = means.len();
        if count == 0 || count > 1 << 28 {
            return refuse(format!("a network of {count} facilities"), "choose from 1 to 2^28");
        }
        let in_all: u64 = tokens.iter().map(|&held| u64::from(held)).sum();
        if in_all == 0 || in_all > 1 << 28 {
            return refuse(format!("a network with {in_all} tokens"), "choose from 1 to 2^28");
        }
        let mut sources = vec![Vec::new(); count];
        for (facility, to) in (0..).zip(&targets) {
            if to.is_empty() || to.len() > 1 << 16 {
                return refuse(
                    format!("facility {facility} sends to {} facilities", to.len()),
                    "tokens never leave a closed network: name from 1 to 65,536 targets",
                );
            }
            for &target in to {
                let Some(sources) = sources.get_mut(target as usize) else {
                    return refuse(
                        format!("facility {facility} sends to facility {target} of {count}"),
                        "facilities are numbered from 0",
                    );
                };
                if sources.last() != Some(&facility) {
                    sources.push(facility);
                }
            }
        }
        if let Some(facility) = sources.iter().position(|sources| sources.len() > Self::MOST_SOURCES) {
            return refuse(
                format!("{} facilities send to facility {facility}", sources[facility].len()),
                "the event list takes at most 64: describe the network to the conservative engine",
            );
        }
        Ok(Self { means, targets, sources, tokens })
    }

    /// The paper's model (section 6): a torus of facilities, each of which sends to its four neighbours, all with the same mean time of service.
    /// Tokens are spread evenly at first.
    ///
    /// # Errors
    /// [`FelError::Setting`], naming the value.
    pub fn torus(rows: u32, columns: u32, tokens: u32, mean: Ticks) -> Result<Self, FelError> {
        let count = u64::from(rows) * u64::from(columns);
        if count == 0 || count > 1 << 28 {
            return refuse(format!("a torus of {rows} x {columns} facilities"), "choose from 1 to 2^28");
        }
        let count = rows * columns;
        let facility = |facility: u32| {
            let (row, column) = (facility / columns, facility % columns);
            let at = |row: u32, column: u32| row % rows * columns + column % columns;
            let targets = vec![
                at(row, column + 1),
                at(row, column + columns - 1),
                at(row + 1, column),
                at(row + rows - 1, column),
            ];
            (mean, targets, tokens / count + u32::from(facility < tokens % count))
        };
        Self::new((0..count).map(facility))
    }

    /// The network that a description is, if it is a closed one of stations with one server each, first come first served, without bounds and patience, one class
    /// of customers, exponential services, and ways whose probabilities are multiples of 1/n for an n up to 64.
    ///
    /// # Errors
    /// [`FelError::Setting`], with the node and what the event list does not know of.
    pub fn of(facility: &Facility) -> Result<Self, FelError> {
        const REMEDY: &str = "the event list takes stations of one server each, first come first served, with exponential services, for one class of customers: run it without an interval";
        let node = |node: &Node| {
            let lacks = |what: &str| refuse(format!("`{}` {what}", node.name), REMEDY);
            let fifo = Kind::Station { servers: Some(1), capacity: None, discipline: Discipline::Fifo };
            let [pair] = &node.pairs[..] else { return lacks("serves several classes") };
            if node.kind != fifo {
                return lacks("is no such station");
            }
            if pair.patience.is_some() || node.in_turn {
                return lacks("has customers who lose patience, or go on in turn");
            }
            let Some(Distribution::Exponential(mean)) = pair.service else {
                return lacks("has services that are not exponential");
            };
            let times = |n: u32| pair.ways.iter().map(move |way| way.probability * f64::from(n));
            let whole = |n: &u32| {
                times(*n).all(|times| times > 0.5 && (times - times.round()).abs() < 1e-9 * f64::from(*n))
            };
            let Some(n) = (1..=64).find(whole) else {
                return lacks("has ways whose probabilities are no multiples of 1/64 or a larger part");
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64")]
            let often = times(n).map(|times| times.round() as usize);
            let targets =
                pair.ways.iter().zip(often).flat_map(|(way, often)| {
                    std::iter::repeat_n(u32::try_from(way.node).expect("an LP"), often)
                });
            let Ok(mean) = facility.resolution.ticks(mean) else { return lacks("has services of no length") };
            Ok((Ticks::new(mean.get().saturating_sub(1)), targets.collect(), pair.population))
        };
        Self::new(facility.nodes.iter().map(node).collect::<Result<Vec<_>, _>>()?)
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// No network is empty.
    pub fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    /// Draws the service with a number (from 1 on) at a facility: for how long, and where the token goes then. The same in the engine of `pdes` for an LP's
    /// event of that number.
    fn draw(&self, seed: u64, facility: u32, number: u64) -> (u64, u32) {
        let mut stream = Stream::new(seed, facility, number);
        let service = stream.exponential(Ticks::new(self.means[facility as usize].into())).get() + 1;
        let targets = &self.targets[facility as usize];
        let target = stream.below(u32::try_from(targets.len()).expect("checked"));
        (service, targets[target as usize])
    }
}

/// A time in whole intervals: the nearest one, and the later of two, `service` after `now`, which is one.
fn rounded(now: u64, service: u64, interval: u32) -> u64 {
    match u64::from(interval) {
        0 => now + service,
        interval => now + (2 * service + interval) / (2 * interval) * interval,
    }
}

/// What a facility did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FelRow {
    /// Services begun.
    pub began: u64,
    /// Time of service, up to the end of the run.
    pub busy: Ticks,
    /// Time that those waited whose services have begun, in all.
    pub waited: Ticks,
    /// When the token in service departs, in whole intervals, if there is one.
    pub departs: Option<Ticks>,
}

/// What a run gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FelResults {
    /// Up to when.
    pub time: Ticks,
    /// By facility.
    pub facilities: Vec<FelRow>,
}

impl FelResults {
    /// Services that have ended: the events executed.
    pub fn served(&self) -> u64 {
        self.facilities.iter().map(|row| row.began - u64::from(row.departs.is_some())).sum()
    }

    /// The share of time for which a facility serves, on average over all.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn utilisation(&self) -> f64 {
        let busy: f64 = self.facilities.iter().map(|row| row.busy.get() as f64).sum();
        busy / (self.time.get() as f64 * self.facilities.len() as f64)
    }

    /// A commutative sum over the facilities' rows: equal on every device.
    pub fn fingerprint(&self) -> u64 {
        /// "felf"
        const KIND: u32 = 0x6665_6c66;
        let row = |(facility, row): (u32, &FelRow)| {
            let FelRow { began, busy, waited, departs } = *row;
            let words =
                [Ticks::new(began), busy, waited, departs.unwrap_or(Ticks::NEVER)].map(Ticks::to_words);
            mix(KIND, [facility].into_iter().chain(words.into_iter().flatten()))
        };
        (0..).zip(&self.facilities).map(row).fold(0, u64::wrapping_add)
    }
}

/// Time of service up to `now`, of what was counted when services began.
fn busy_until(busy: u64, departs: Option<Ticks>, now: Ticks) -> Ticks {
    let ahead = departs.map_or(0, |departs| departs.get().saturating_sub(now.get()));
    Ticks::new(busy.saturating_sub(ahead))
}

/// The WGSL `struct Params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Params {
    seed: u64,
    until: Ticks,
    facilities: u32,
    sources: u32,
    targets: u32,
    interval: u32,
    parity: u32,
    unused: u32,
}

const NONE: u32 = u32::MAX;
const STOP_NOT: u32 = 0;
const STOP_STUCK: u32 = 3;

/// A closed network on the GPU by a global future event list: Park and Fishwick's method. `shaders/facility/event_list.wgsl` says how it works.
///
/// An iteration executes all events of the earliest time. With an interval, departures are rounded to whole intervals, so that an iteration has many
/// events, and tokens that arrive together are taken by their original times (section 5.2.1); tokens of the same original time in a random order that
/// depends on the seed. Results are then not those of the network: how far they are off grows with the interval (Figure 20). Without an
/// interval they are exact, and an iteration has few events.
///
/// ```
/// use eventhorizon::facility::{FelNetwork, FelSimulation, FelTwin};
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::time::Resolution;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let units = Resolution::new(1000)?;
/// let network = FelNetwork::torus(8, 8, 64, units.ticks(10.0)?)?;
/// let (seed, interval, end) = (42, units.ticks(1.0)?, units.ticks(100.0)?);
///
/// let mut simulation = FelSimulation::new(&Gpu::new()?, &network, seed, interval)?;
/// simulation.run(end)?;
/// let results = simulation.results()?;
/// assert!((0.3..0.6).contains(&results.utilisation()));
///
/// // The same on the processor, one event after the other.
/// let mut twin = FelTwin::new(&network, seed, interval)?;
/// twin.run(end)?;
/// assert_eq!(results, twin.results());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FelSimulation {
    gpu: Gpu,
    params: Params,
    uniforms: [Buffer<Params>; 2],
    control: Buffer<[u32; 4]>,
    times: Buffer<Ticks>,
    rows: Buffer<[u32; 4]>,
    pair: Plan,
    pace: Pace,
    /// Up to when it has come.
    time: Ticks,
}

/// Facilities that an invocation looks at. (`torus` on an H200, intervals of a tenth of a service, 10⁶ events per second with 1, 2, 4 and 8: 256² facilities
/// 87, 84, 77, 65; 512² 213, 274, 253, 216; 1,024² 271, 372, 454, 461; 2,048² 329, 472, 632, 743.)
fn tiles(gpu: &Gpu, facilities: u32) -> u32 {
    match gpu.info().device_type {
        wgpu::DeviceType::Cpu => 1,
        _ => (facilities >> 17).next_power_of_two().min(8),
    }
}

impl FelSimulation {
    /// A network at time zero, on a device. `interval` is in ticks, and zero for none.
    ///
    /// # Errors
    /// [`FelError::Setting`] for an interval beyond 2^31 ticks, and where the device fails.
    pub fn new(gpu: &Gpu, network: &FelNetwork, seed: u64, interval: Ticks) -> Result<Self, FelError> {
        let interval = interval_word(interval)?;
        let count = network.len();
        let facilities = u32::try_from(count).expect("at most 2^28");
        let width = |lists: &[Vec<u32>]| lists.iter().map(Vec::len).max().unwrap_or(0);
        let (sources, targets) = (width(&network.sources), width(&network.targets));
        // Numbers in the graph are words, and it is one binding.
        let words = (sources + targets + 2) as u64 * u64::from(facilities);
        if 4 * words > gpu.max_buffer_bytes() || words > u64::from(u32::MAX) {
            return Err(GpuError::TooLarge {
                what:
                    "the graph of the event list, with as many lines as any facility has sources and targets"
                        .to_owned(),
                needed: 4 * words,
                limit: gpu.max_buffer_bytes(),
            }
            .into());
        }
        let mut graph = vec![NONE; (sources + targets + 2) * count];
        for (lists, first) in [(&network.sources, 0), (&network.targets, sources)] {
            for (facility, list) in lists.iter().enumerate() {
                for (line, &other) in list.iter().enumerate() {
                    graph[(first + line) * count + facility] = other;
                }
            }
        }
        for facility in 0..count {
            let last = (sources + targets) * count + facility;
            graph[last] = u32::try_from(network.targets[facility].len()).expect("checked");
            graph[last + count] = network.means[facility];
        }
        // Tokens in queues, facility by facility.
        let (mut rows, mut tokens) = (Vec::with_capacity(2 * count), Vec::new());
        for &held in &network.tokens {
            let first = u32::try_from(tokens.len()).expect("at most 2^28");
            let row = if held == 0 { [NONE, NONE, 0, 0] } else { [first, first + held - 1, 0, 0] };
            rows.extend([row, [0; 4]]);
            tokens.extend((1..=held).map(|next| [if next == held { NONE } else { first + next }, 0, 0, 0]));
        }
        let sources = u32::try_from(sources).expect("checked");
        let targets = u32::try_from(targets).expect("checked");
        let params =
            Params { seed, until: Ticks::ZERO, facilities, sources, targets, interval, parity: 0, unused: 0 };
        let uniforms = [
            Buffer::uniform(gpu, "event list: params", &params)?,
            Buffer::uniform(gpu, "event list: params", &Params { parity: 1, ..params })?,
        ];
        let tiles = tiles(gpu, facilities);
        let size = gpu.limits().max_compute_invocations_per_workgroup.min(256);
        let groups = facilities.div_ceil(size * tiles);
        let all = count as u64;
        let control = Buffer::storage(gpu, "event list: control", 4)?;
        let keys = Buffer::storage_from(gpu, "event list: keys", &[u32::MAX; 2])?;
        let times = Buffer::storage(gpu, "event list: times", all + u64::from(groups))?;
        let hits = Buffer::<u32>::storage(gpu, "event list: hits", all + u64::from(groups))?;
        let servers = Buffer::<[u32; 4]>::storage(gpu, "event list: servers", all)?;
        let released = Buffer::<[u32; 4]>::storage(gpu, "event list: released", 2 * all)?;
        let graph = Buffer::storage_from(gpu, "event list: graph", &graph)?;
        rows.append(&mut tokens);
        let rows = Buffer::storage_from(gpu, "event list: rows", &rows)?;
        let int64 = gpu.has(wgpu::Features::SHADER_INT64);
        let [begin, depart, arrive] = recipes(int64, size, tiles).map(|recipe| kernel(gpu, &recipe));
        let bound = |uniform: usize| {
            [
                ("params", uniforms[uniform].binding()),
                ("control", control.binding()),
                ("times", times.binding()),
                ("released", released.binding()),
                ("servers", servers.binding()),
                ("keys", keys.binding()),
                ("graph", graph.binding()),
                ("rows", rows.binding()),
                ("hits", hits.binding()),
            ]
        };
        let mut start = Plan::new("event list: start");
        start.dispatch(gpu, &begin?, groups, &bound(0))?;
        start.submit(gpu)?;
        let mut pair = Plan::new("event list: two iterations");
        let (depart, arrive) = (depart?, arrive?);
        for parity in 0..2 {
            for kernel in [&depart, &arrive] {
                pair.dispatch(gpu, kernel, groups, &bound(parity))?;
            }
        }
        let pace = Pace::new(1 << 14);
        let time = Ticks::ZERO;
        Ok(Self { gpu: gpu.clone(), params, uniforms, control, times, rows, pair, pace, time })
    }

    /// Executes all events before `until`. Returns up to when it has come.
    ///
    /// # Errors
    /// [`FelError::Stuck`], and where the device fails.
    pub fn run(&mut self, until: Ticks) -> Result<Ticks, FelError> {
        self.run_watched(until, |_| {})
    }

    /// The same, and tells after each submission up to what time it has come. Where `watch` answers [`ControlFlow::Break`](std::ops::ControlFlow), the run ends
    /// with the iteration that it has come to, and can go on from there.
    ///
    /// # Errors
    /// As [`FelSimulation::run`].
    pub fn run_watched<V: Verdict>(
        &mut self,
        until: Ticks,
        watch: impl FnMut(Ticks) -> V,
    ) -> Result<Ticks, FelError> {
        pollster::block_on(self.run_async(until, watch))
    }

    /// The same where nothing may block.
    ///
    /// # Errors
    /// As [`FelSimulation::run`].
    pub async fn run_async<V: Verdict>(
        &mut self,
        until: Ticks,
        mut watch: impl FnMut(Ticks) -> V,
    ) -> Result<Ticks, FelError> {
        let gpu = &self.gpu;
        // Times are sums of ticks that must not wrap.
        self.params.until = until.min(Ticks::new(u64::MAX >> 2)).max(self.time);
        for (parity, uniform) in (0..).zip(&self.uniforms) {
            uniform.write(gpu, 0, &[Params { parity, ..self.params }])?;
        }
        // Two submissions at a time: the device works on one while the host records the other. Iterations beyond the end do nothing.
        let mut flying: VecDeque<(Download, wgpu::SubmissionIndex)> = VecDeque::new();
        let (mut last, mut before) = (Instant::now(), None);
        let (mut ended, mut stuck) = (false, false);
        loop {
            while flying.len() < 2 && !ended {
                let mut encoder = gpu.encoder("event list");
                self.pair.record_times(&mut encoder, self.pace.units());
                let download = Download::new(gpu, "event list: control", 32)?;
                download.record(&mut encoder, self.control.raw(), 0);
                flying.push_back((download, gpu.submit(encoder)?));
            }
            let Some((download, submission)) = flying.pop_front() else { break };
            let words = download.finish(gpu, submission).await?;
            let [[low, high, stop, _], [done, done_high, ..]]: [[u32; 4]; 2] =
                bytemuck::pod_read_unaligned(&words);
            let now = Ticks::from_words([low, high]);
            let done = Ticks::from_words([done, done_high]).get();
            match (stop, before) {
                (STOP_NOT, Some(before)) => {
                    let pairs = u32::try_from((done - before) / 2).unwrap_or(u32::MAX);
                    self.pace.record(pairs, last.elapsed());
                }
                (STOP_NOT, None) => {}
                _ => (ended, stuck) = (true, stop == STOP_STUCK),
            }
            // A run whose watcher ends it has come to the events of this time.
            self.time = if [STOP_NOT, STOP_STUCK].contains(&stop) { now } else { self.params.until };
            ended |= watch(now).flow().is_break();
            (last, before) = (Instant::now(), Some(done));
        }
        if stuck {
            return Err(FelError::Stuck { time: self.time.get(), interval: self.params.interval });
        }
        Ok(self.time)
    }

    /// What the run gave, up to the end of the last one.
    ///
    /// # Errors
    /// Where the device fails.
    pub fn results(&self) -> Result<FelResults, FelError> {
        let count = u64::from(self.params.facilities);
        let rows = pollster::block_on(self.rows.read_range(&self.gpu, 0, 2 * count))?;
        let times = pollster::block_on(self.times.read_range(&self.gpu, 0, count))?;
        let time = self.time;
        let facility = |(row, &departs): (&[[u32; 4]], &Ticks)| {
            let wide = |low, high| Ticks::from_words([low, high]);
            let [[.., began, began_high], [busy, busy_high, waited, waited_high]] = [row[0], row[1]];
            let departs = Some(departs).filter(|&departs| departs != Ticks::NEVER);
            FelRow {
                began: wide(began, began_high).get(),
                busy: busy_until(wide(busy, busy_high).get(), departs, time),
                waited: wide(waited, waited_high),
                departs,
            }
        };
        Ok(FelResults { time, facilities: rows.chunks_exact(2).zip(&times).map(facility).collect() })
    }
}

fn interval_word(interval: Ticks) -> Result<u32, FelError> {
    match u32::try_from(interval.get()) {
        Ok(interval) if interval <= 1 << 31 => Ok(interval),
        _ => refuse(format!("an interval of {} ticks", interval.get()), "choose at most 2^31"),
    }
}

fn recipes(int64: bool, group_size: u32, tiles: u32) -> [Recipe; 3] {
    let product = if int64 { "random/mul_wide_int64.wgsl" } else { "random/mul_wide.wgsl" };
    let recipe = |entry, files: &[&'static str]| {
        let files: Vec<_> = files.iter().map(|file| shaders::file(file)).collect();
        let sizes = [("GROUP_SIZE", f64::from(group_size)), ("TILES", f64::from(tiles))];
        Recipe::new(format!("event list: {entry}"), entry, files).with(sizes)
    };
    [
        recipe("begin", &["facility/fel_arrive.wgsl", product]),
        recipe("depart", &["facility/fel_depart.wgsl"]),
        recipe("arrive", &["facility/fel_arrive.wgsl", product]),
    ]
}

fn kernel(gpu: &Gpu, recipe: &Recipe) -> Result<Kernel, GpuError> {
    // SAFETY: the kernels hold no WGSL of a user's, and no buffer leaves this file but by a read. So:
    //
    // * Facilities are below `params.facilities`, which all invocations check, and workgroups are those of facilities; targets and sources are facilities, which `FelNetwork::new` checked, and
    //   sources that are none are passed over.
    // * `graph` has the lines that `params` says, numbered below 2^32, and `draw_below` gives a line below the number of targets, which is above 0.
    // * A token is in one queue, in one service, or under way from one facility to another: `next.token` is one of a source that released it. It is NONE only
    //   where no source is left, which the count of arrivals in the same dispatch excludes: sources differ, so the order has no equals.
    // * Loops count to tiles, sources, arrivals; those of `distributions.wgsl` have constants as bounds. Divisors: the interval where it is above 0, and in
    //   `draw_below` what is above 0.
    unsafe { recipe.trusted(gpu) }
}

/// Every kernel that the module may build.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    [(false, 1), (true, 8)].into_iter().flat_map(|(int64, tiles)| recipes(int64, 256, tiles)).collect()
}

/// What [`FelSimulation`] means: the same network on the processor, by a binary heap of departures.
#[derive(Debug)]
pub struct FelTwin<'a> {
    network: &'a FelNetwork,
    seed: u64,
    interval: u32,
    until: Ticks,
    /// The time of the last iteration, and how many came one after the other at that time.
    last: (u64, u32),
    rows: Vec<Row>,
    departures: BinaryHeap<Reverse<(u64, u32)>>,
}

/// A facility.
#[derive(Debug, Clone, Default)]
struct Row {
    /// Tokens that wait, and since when.
    queue: VecDeque<(u32, u64)>,
    service: Option<Service>,
    began: u64,
    /// Of all services that have begun.
    busy: u64,
    waited: u64,
}

#[derive(Debug, Clone, Copy)]
struct Service {
    token: u32,
    target: u32,
    /// When it ends, as drawn, and in whole intervals.
    original: u64,
    departs: u64,
}

impl<'a> FelTwin<'a> {
    /// The network at time zero.
    ///
    /// # Errors
    /// [`FelError::Setting`] for an interval beyond 2^31 ticks.
    pub fn new(network: &'a FelNetwork, seed: u64, interval: Ticks) -> Result<Self, FelError> {
        let mut tokens = 0..;
        let rows = network.tokens.iter().map(|&held| {
            let queue = (&mut tokens).take(held as usize).map(|token| (token, 0)).collect();
            Row { queue, ..Row::default() }
        });
        let rows = rows.collect();
        let interval = interval_word(interval)?;
        let mut twin = Self {
            network,
            seed,
            interval,
            until: Ticks::ZERO,
            rows,
            departures: BinaryHeap::new(),
            last: (0, 0),
        };
        for facility in 0..u32::try_from(network.len()).expect("at most 2^28") {
            twin.serve_next(facility, 0);
        }
        Ok(twin)
    }

    /// Executes all events before `until`. Returns up to when it has come.
    ///
    /// # Errors
    /// [`FelError::Stuck`].
    pub fn run(&mut self, until: Ticks) -> Result<Ticks, FelError> {
        self.until = until.min(Ticks::new(u64::MAX >> 2)).max(self.until);
        while let Some(&Reverse((now, _))) = self.departures.peek() {
            if now >= self.until.get() {
                break;
            }
            let again = if now == self.last.0 { self.last.1 + 1 } else { 0 };
            if again >= PATIENCE {
                self.until = Ticks::new(now);
                return Err(FelError::Stuck { time: now, interval: self.interval });
            }
            self.last = (now, again);
            self.iterate(now);
        }
        Ok(self.until)
    }

    /// Executes the events of a time.
    fn iterate(&mut self, now: u64) {
        let mut departed = Vec::new();
        while let Some(&Reverse((time, facility))) = self.departures.peek()
            && time == now
        {
            self.departures.pop();
            departed.push(facility);
        }
        // By facility, who arrives: in order of original time, hash, source.
        let mut arrivals: BTreeMap<u32, Vec<(u64, u64, u32, u32)>> = BTreeMap::new();
        for &source in &departed {
            let Service { token, target, original, .. } =
                self.rows[source as usize].service.take().expect("it departs");
            let [seed, time] = [self.seed, original].map(|wide| Ticks::new(wide).to_words());
            let tie = mix(KIND_TIE, [seed[0], seed[1], time[0], time[1], token]);
            arrivals.entry(target).or_default().push((original, tie, source, token));
        }
        for facility in departed {
            self.serve_next(facility, now);
        }
        for (facility, mut arriving) in arrivals {
            arriving.sort_unstable();
            for (_, _, _, token) in arriving {
                self.rows[facility as usize].queue.push_back((token, now));
                if self.rows[facility as usize].service.is_none() {
                    self.serve_next(facility, now);
                }
            }
        }
    }

    /// Serves the first of those that wait, if there is one.
    fn serve_next(&mut self, facility: u32, now: u64) {
        let row = &mut self.rows[facility as usize];
        let Some((token, arrived)) = row.queue.pop_front() else { return };
        row.began += 1;
        let (service, target) = self.network.draw(self.seed, facility, row.began);
        let departs = rounded(now, service, self.interval);
        row.waited += now - arrived;
        row.busy += departs - now;
        row.service = Some(Service { token, target, original: now + service, departs });
        self.departures.push(Reverse((departs, facility)));
    }

    /// What the run gave, up to the end of the last one.
    pub fn results(&self) -> FelResults {
        let facility = |row: &Row| {
            let departs = row.service.map(|service| Ticks::new(service.departs));
            let busy = busy_until(row.busy, departs, self.until);
            FelRow { began: row.began, busy, waited: Ticks::new(row.waited), departs }
        };
        FelResults { time: self.until, facilities: self.rows.iter().map(facility).collect() }
    }
}

/// Iterations at one time after which a run is taken for one that stands still: the same in `shaders/facility/fel_depart.wgsl`.
const PATIENCE: u32 = 1 << 14;

/// What tells the order of tokens that arrive at one time from other hashes: "felt".
const KIND_TIE: u32 = 0x6665_6c74;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Program, assert_same_layout};

    #[test]
    fn structs_lie_as_in_wgsl() {
        let program = Program::link("t", &[shaders::file("facility/event_list.wgsl")]).unwrap();
        assert_same_layout!(
            program,
            Params { seed, until, facilities, sources, targets, interval, parity, unused }
        );
    }
}
