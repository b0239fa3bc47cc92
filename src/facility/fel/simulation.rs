//! Park and Fishwick's method on a device. `shaders/facility/event_list.wgsl` describes it.

use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;

use web_time::Instant;

use super::{FelError, FelNetwork, FelResults, interval_word, row_of};
use crate::facility::model::library_with_laws;
use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, Recipe, Submission, Verdict};
use crate::shaders;
use crate::time::Ticks;

shared! {
    "facility/event_list.wgsl":
    #[derive(PartialEq, Eq)]
    struct Params {
        seed: u64,
        until: Ticks,
        facilities: u32,
        sources: u32,
        targets: u32,
        interval: u32,
        parity: u32,
        laws: u32,
    }
}

shared! {
    "facility/event_list.wgsl":
    const NONE: u32;
    const STOP_NOT: u32;
    const STOP_STUCK: u32;
}

/// A network on the GPU with a global future event list: Park and Fishwick's method.
/// `shaders/facility/event_list.wgsl` describes it.
///
/// The steps of the paper (section 5.4) are two kernels: `depart` has steps 2 and 3 (`NextEvent`,
/// `Release`), `arrive` has steps 4 and 5 (`Request`, `ScheduleServer`, `Schedule`) and the
/// reduction of step 2 (`NextEventTime`). [`FelReference`](super::FelReference) has them as
/// functions.
///
/// An iteration executes all events of the earliest time. With an interval, departures are rounded
/// to whole intervals, so an iteration has many events. Tokens that arrive together are ordered by
/// their original times (section 5.2.1); ties have a random order that depends on the seed. Results
/// then deviate from those of the network, and the deviation grows with the interval (Figure 20).
/// Without an interval they are exact, and an iteration has few events.
///
/// ```
/// use eventhorizon::facility::{FelNetwork, FelSimulation, FelReference};
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
/// // The same on the CPU, one event after the other.
/// let mut reference = FelReference::new(&network, seed, interval)?;
/// reference.run(end)?;
/// assert_eq!(results, reference.results());
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
    /// By facility, its servers; 0 for a source.
    servers: Vec<u32>,
    /// Whether its queues are rings.
    is_bounded: bool,
    pair: Plan,
    pace: Pace,
    /// The time that the run has reached.
    time: Ticks,
}

/// Facilities per invocation: more for larger networks, at most 8, so that iterations have fewer
/// workgroups; 1 on software adapters.
fn tiles(gpu: &Gpu, facilities: u32) -> u32 {
    match gpu.is_software() {
        true => 1,
        false => (facilities >> 17).next_power_of_two().min(8),
    }
}

impl FelSimulation {
    /// A network at time zero, on a device. `interval` is in ticks; zero means no rounding.
    ///
    /// # Errors
    /// [`FelError::Setting`] for an interval beyond 2^31 ticks, and errors of the device.
    pub fn new(gpu: &Gpu, network: &FelNetwork, seed: u64, interval: Ticks) -> Result<Self, FelError> {
        let interval = interval_word(interval)?;
        let count = network.len();
        let facilities = u32::try_from(count).expect("at most 2^28");
        let width = |lists: &[Vec<u32>]| lists.iter().map(Vec::len).max().unwrap_or(0);
        let (sources, targets) = (width(&network.sources), width(&network.targets));
        // Indices into the graph are words, and it is one binding, with the distributions.
        let fixed = if network.places.is_some() { 5 } else { 3 };
        let words = network.laws.len() as u64 + (sources + targets + fixed) as u64 * u64::from(facilities);
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
        let mut graph = vec![NONE; (sources + targets + fixed) * count];
        for (lists, first) in [(&network.sources, 0), (&network.targets, sources)] {
            for (facility, list) in lists.iter().enumerate() {
                for (line, &other) in list.iter().enumerate() {
                    graph[(first + line) * count + facility] = other;
                }
            }
        }
        for facility in 0..count {
            let of = |which: usize| (sources + targets + which) * count + facility;
            graph[of(0)] = u32::try_from(network.targets[facility].len()).expect("checked");
            graph[of(1)] = network.times[facility];
            graph[of(2)] = network.servers[facility];
        }
        // The tokens in queues, facility by facility.
        let (mut rows, mut tokens, mut minted) = (Vec::with_capacity(3 * count), Vec::new(), 0);
        for (facility, &held) in network.tokens.iter().enumerate() {
            let first = u32::try_from(tokens.len()).expect("at most 2^28");
            let Some(places) = &network.places else {
                let row = if held == 0 { [NONE, NONE, 0, 0] } else { [first, first + held - 1, 0, 0] };
                rows.extend([row, [0; 4]]);
                tokens
                    .extend((1..=held).map(|next| [if next == held { NONE } else { first + next }, 0, 0, 0]));
                continue;
            };
            rows.extend([[0, held, 0, 0], [0; 4], [0; 4]]);
            let of = |which: usize| (sources + targets + which) * count + facility;
            (graph[of(3)], graph[of(4)]) = (first, places[facility]);
            // At first the queue has the tokens of servers too.
            let room =
                if network.is_source(facility) { 0 } else { places[facility] + network.servers[facility] };
            let waiting = (minted..).take(held as usize).map(|token| [token, 0, 0, 0]);
            tokens.extend(waiting.chain(std::iter::repeat([0; 4])).take(room as usize));
            minted += held;
        }
        let sources = u32::try_from(sources).expect("checked");
        let targets = u32::try_from(targets).expect("checked");
        let mut data = network.laws.clone();
        data.resize(data.len().next_multiple_of(4), 0);
        let laws = u32::try_from(data.len() / 4).expect("checked");
        data.append(&mut graph);
        data.resize(data.len().next_multiple_of(4), 0);
        let params =
            Params { seed, until: Ticks::ZERO, facilities, sources, targets, interval, parity: 0, laws };
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
        let most = network.most_servers();
        let slots = all * u64::from(most);
        let times = Buffer::storage(gpu, "event list: times", slots + u64::from(groups))?;
        let hits = Buffer::<u32>::storage(gpu, "event list: hits", all + u64::from(groups))?;
        let servers = Buffer::<[u32; 4]>::storage(gpu, "event list: servers", slots)?;
        let released = Buffer::<[u32; 4]>::storage(gpu, "event list: released", 2 * slots)?;
        let graph = Buffer::storage_from(gpu, "event list: distributions and graph", &data)?;
        rows.append(&mut tokens);
        let rows = Buffer::storage_from(gpu, "event list: rows", &rows)?;
        let int64 = gpu.has(wgpu::Features::SHADER_INT64);
        let is_bounded = network.places.is_some();
        let files = Files { int64, is_bounded, has_laws: !network.laws.is_empty() };
        let sizes = [size, tiles, most];
        let [begin, depart, arrive] = recipes(files, sizes).map(|recipe| kernel(gpu, &recipe));
        let bound = |uniform: usize| {
            [
                ("params", uniforms[uniform].binding()),
                ("control", control.binding()),
                ("times", times.binding()),
                ("released", released.binding()),
                ("servers", servers.binding()),
                ("keys", keys.binding()),
                ("graph", graph.binding()),
                ("data", graph.binding()),
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
        let servers = (0..count).map(|facility| network.servers_of(facility)).collect();
        let gpu = gpu.clone();
        Ok(Self { gpu, params, uniforms, control, times, rows, servers, is_bounded, pair, pace, time })
    }

    /// Executes all events before `until`. Returns the time it reached.
    ///
    /// # Errors
    /// [`FelError::Stuck`], and errors of the device.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(&mut self, until: Ticks) -> Result<Ticks, FelError> {
        self.until(until).run()
    }

    /// Describes a run of all events before `until`.
    pub fn until(&mut self, until: Ticks) -> FelRun<'_> {
        FelRun { simulation: self, until, watch: |_| {} }
    }

    async fn advance(
        &mut self,
        until: Ticks,
        mut watch: impl FnMut(Ticks) -> ControlFlow<()>,
    ) -> Result<Ticks, FelError> {
        let gpu = &self.gpu;
        // Times are sums of ticks that must not wrap.
        self.params.until = until.min(Ticks::new(u64::MAX >> 2)).max(self.time);
        for (parity, uniform) in (0..).zip(&self.uniforms) {
            uniform.write(gpu, 0, &[Params { parity, ..self.params }])?;
        }
        // Two submissions in flight: the device executes one while the host records the other.
        // Iterations beyond the end do nothing.
        let mut flying: VecDeque<(Download, Submission)> = VecDeque::new();
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
            // A run that its watcher ends has reached the events of this time.
            self.time = if [STOP_NOT, STOP_STUCK].contains(&stop) { now } else { self.params.until };
            ended |= watch(now).is_break();
            (last, before) = (Instant::now(), Some(done));
        }
        if stuck {
            return Err(FelError::Stuck { time: self.time.get(), interval: self.params.interval });
        }
        Ok(self.time)
    }

    /// The results up to the end of the last run.
    ///
    /// # Errors
    /// Errors of the device.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn results(&self) -> Result<FelResults, FelError> {
        pollster::block_on(self.results_async())
    }

    /// The same as [`FelSimulation::results`], without blocking.
    ///
    /// # Errors
    /// Errors of the device.
    pub async fn results_async(&self) -> Result<FelResults, FelError> {
        let count = u64::from(self.params.facilities);
        let each = if self.is_bounded { 3 } else { 2 };
        let rows = self.rows.read_range(&self.gpu, 0, each * count).await?;
        let most = self.servers.iter().copied().max().unwrap_or(0).max(1);
        let times = self.times.read_range(&self.gpu, 0, u64::from(most) * count).await?;
        // A run that was dropped while it waited has advanced further than `self.time`.
        let [[low, high, ..], ..] = self.control.read_async(&self.gpu).await?[..] else {
            unreachable!("it has four rows")
        };
        let time = self.time.max(Ticks::from_words([low, high]));
        let wide = |low, high| Ticks::from_words([low, high]).get();
        let facility = |((place, row), &servers): ((usize, &[[u32; 4]]), &u32)| {
            let [[.., began, began_high], [busy, busy_high, waited, waited_high]] = [row[0], row[1]];
            let [dropped, dropped_high, ..] = row.get(2).copied().unwrap_or_default();
            let sums =
                [[began, began_high], [busy, busy_high], [waited, waited_high], [dropped, dropped_high]];
            let departures = times.iter().skip(place).step_by(self.servers.len()).copied();
            row_of(sums.map(|[low, high]| wide(low, high)), departures, servers, time)
        };
        let rows = rows.chunks_exact(if self.is_bounded { 3 } else { 2 }).enumerate();
        Ok(FelResults { time, facilities: rows.zip(&self.servers).map(facility).collect() })
    }
}

/// A run of the events before a time, which [`run`](Self::run) or [`run_async`](Self::run_async)
/// starts: made by [`FelSimulation::until`].
///
/// ```
/// use eventhorizon::facility::{FelNetwork, FelSimulation};
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::time::Ticks;
///
/// let network = FelNetwork::torus(8, 8, 64, Ticks::new(1000))?;
/// let mut simulation = FelSimulation::new(&Gpu::new()?, &network, 42, Ticks::new(100))?;
/// let mut submissions = 0;
/// let end = simulation.until(Ticks::new(10_000)).watch(|_| submissions += 1).run()?;
/// assert!(end == Ticks::new(10_000) && submissions > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run starts with `run` or `run_async`"]
pub struct FelRun<'r, W = fn(Ticks)> {
    simulation: &'r mut FelSimulation,
    until: Ticks,
    watch: W,
}

impl<'r, W> FelRun<'r, W> {
    /// Calls `watch` after each submission with the time that the run has reached. Where it returns
    /// [`ControlFlow::Break`], the run ends with the iteration that it has come to, and another one
    /// can continue from there.
    pub fn watch<V: Verdict, F: FnMut(Ticks) -> V>(self, watch: F) -> FelRun<'r, F> {
        FelRun { simulation: self.simulation, until: self.until, watch }
    }
}

impl<V: Verdict, W: FnMut(Ticks) -> V> FelRun<'_, W> {
    /// Executes the events. Returns the time that the run has reached.
    ///
    /// # Errors
    /// [`FelError::Stuck`], and where the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Ticks, FelError> {
        pollster::block_on(self.run_async())
    }

    /// [`FelRun::run`] without blocking.
    ///
    /// # Errors
    /// As [`FelRun::run`].
    pub async fn run_async(self) -> Result<Ticks, FelError> {
        let Self { simulation, until, mut watch } = self;
        simulation.advance(until, |time| watch(time).flow()).await
    }
}

impl<W> fmt::Debug for FelRun<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FelRun").field("until", &self.until).finish_non_exhaustive()
    }
}

/// What selects the files of the kernels.
#[derive(Clone, Copy)]
struct Files {
    int64: bool,
    /// Whether queues have a bound.
    is_bounded: bool,
    /// Whether there are times that are not exponential.
    has_laws: bool,
}

/// The kernels for the workgroup size, the facilities of an invocation, and the servers of a
/// facility.
fn recipes(
    Files { int64, is_bounded, has_laws }: Files,
    [group_size, tiles, servers]: [u32; 3],
) -> [Recipe; 3] {
    let product = if int64 { "random/mul_wide_int64.wgsl" } else { "random/mul_wide.wgsl" };
    let queue = if is_bounded { "facility/fel_queue_ring.wgsl" } else { "facility/fel_queue_linked.wgsl" };
    let times = match has_laws {
        true => library_with_laws(&shaders::file("facility/fel_times_laws.wgsl")),
        false => shaders::file("facility/fel_times_exponential.wgsl"),
    };
    let recipe = |entry, files: &[&'static str]| {
        let files = files.iter().map(|file| shaders::file(file));
        let files: Vec<_> = files.chain((entry != "depart").then(|| times.clone())).collect();
        let sizes = [
            ("GROUP_SIZE", f64::from(group_size)),
            ("TILES", f64::from(tiles)),
            ("SERVERS", f64::from(servers)),
        ];
        Recipe::new(format!("event list: {entry}"), entry, files).with(sizes)
    };
    [
        recipe("begin", &["facility/fel_arrive.wgsl", queue, product]),
        recipe("depart", &["facility/fel_depart.wgsl"]),
        recipe("arrive", &["facility/fel_arrive.wgsl", queue, product]),
    ]
}

fn kernel(gpu: &Gpu, recipe: &Recipe) -> Result<Kernel, GpuError> {
    // SAFETY: see `// bounds:` of shaders/facility/event_list.wgsl and of the files it imports.
    unsafe { recipe.trusted(gpu) }
}

/// Every kernel that the module may build.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    let files = |int64, is_bounded, has_laws| Files { int64, is_bounded, has_laws };
    let shapes = [
        (files(false, false, false), [256, 1, 1]),
        (files(true, false, false), [256, 8, 1]),
        (files(true, true, false), [256, 1, 3]),
        (files(false, true, true), [256, 1, 2]),
    ];
    shapes.into_iter().flat_map(|(files, sizes)| recipes(files, sizes)).collect()
}
