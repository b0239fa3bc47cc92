//! `shaders/statistics/`: function by function on any bytes, and in models of both engines.

use bytemuck::{Pod, Zeroable};
use eventhorizon::gpu::Source;
use eventhorizon::pdes::{
    Capacity, Context, CpuModel, CpuSimulation, Event, Model, Options, Simulation, Until,
};
use eventhorizon::random::Stream;
use eventhorizon::replication::{self, CpuEngine, Engine, Fail, Mapping, ReferenceModel};
use eventhorizon::statistics::{Histogram, PooledAverage, Tally, TimeAverage, histogram_bin};
use eventhorizon::time::Ticks;

use super::common::gpu;
use super::common::replications::{assert_same, experiment};

fn check<const IN: usize, const OUT: usize>(
    entry: &str,
    cases: &[[u32; IN]],
    expected: impl Fn(usize, &[u32; IN]) -> [u32; OUT],
) {
    super::check_in(&eventhorizon::wgsl!("../../wgsl/statistics_probe.wgsl"), entry, cases, expected);
}

/// Two words: zero, at an edge, or random of all magnitudes; often equal or close to earlier ones.
fn pick(stream: &mut Stream, before: &mut Vec<u64>) -> [u32; 2] {
    let random = (u64::from(stream.draw()) << 32 | u64::from(stream.draw())) >> stream.below(64);
    let value = match stream.below(6) {
        0 => 0,
        1 => u64::MAX - u64::from(stream.below(3)),
        2 => (1_u64 << stream.below(64)).wrapping_sub(u64::from(stream.below(3))),
        3 if !before.is_empty() => {
            let old = before[stream.below(u32::try_from(before.len()).unwrap()) as usize];
            old.wrapping_add(u64::from(stream.below(3))).wrapping_sub(1)
        }
        _ => random,
    };
    before.push(value);
    super::halves(value)
}

/// Cases of an even number of words.
fn cases<const IN: usize>(count: u64) -> Vec<[u32; IN]> {
    let case = |number| {
        let (mut stream, mut before) = (Stream::new(11, 12, number), Vec::new());
        let mut words = [0; IN];
        for pair in words.as_chunks_mut().0 {
            *pair = pick(&mut stream, &mut before);
        }
        words
    };
    (0..count).map(case).collect()
}

#[test]
fn tallies_take_in_what_the_hosts_do() {
    let mut cases: Vec<[u32; 20]> = cases(20_000);
    // Most tallies of a model are not full, and have started.
    for case in cases.iter_mut().step_by(2) {
        case[6..8].fill(0); // squares far from the end
        case[14..16].fill(0); // since
    }
    for case in cases.iter_mut().step_by(3) {
        case[12..14].fill(0); // count
    }
    let (mut full, mut early, mut first) = (0, 0, 0);
    let reference = |words: &[u32; 20]| {
        let mut tally: Tally = bytemuck::cast(<[u32; 16]>::try_from(&words[..16]).unwrap());
        let [time, value] = [16, 18].map(|at| Ticks::from_words([words[at], words[at + 1]]));
        let before = tally;
        tally.add(time, value.get());
        (before, tally, time)
    };
    for (before, after, _) in cases.iter().map(reference) {
        full += u32::from(before.squares().is_some() && after.squares().is_none());
        early += u32::from(before == after);
        first += u32::from(before.count() == 0 && after.count() == 1);
    }
    assert!(full > 100 && early > 100 && first > 100, "{full} {early} {first}");
    check("probe_tally", &cases, |_, words| {
        let (_, tally, time) = reference(words);
        bytemuck::cast::<_, [u32; 32]>([tally, Tally::since(time)])
    });
}

#[test]
fn time_averages_change_as_the_hosts_do() {
    let mut cases: Vec<[u32; 16]> = cases(20_000);
    // Most averages of a model are not at the end of the range, and time advances.
    for case in cases.iter_mut().step_by(2) {
        case[2..4].fill(0);
        let time = Ticks::from_words([case[12], case[13]]);
        let changed = Ticks::from_words([case[6], case[7]]);
        [case[6], case[7]] = time.min(changed).to_words();
        [case[12], case[13]] = time.max(changed).to_words();
    }
    for (number, case) in cases.iter_mut().enumerate().step_by(4) {
        case[15] = [1, u32::MAX, 0, 2][number / 4 % 4]; // changes by 1, -1, 0, 2
    }
    let reference = |words: &[u32; 16]| {
        let average: TimeAverage = bytemuck::cast(<[u32; 12]>::try_from(&words[..12]).unwrap());
        let time = Ticks::from_words([words[12], words[13]]);
        let (mut set, mut add) = (average, average);
        set.set(time, words[14]);
        add.add(time, words[15].cast_signed());
        (average, [set, add, average.at(time), TimeAverage::since(time, words[14])])
    };
    let (mut grown, mut wrong_set, mut wrong_add, mut begun) = (0, 0, 0, 0);
    for (before, [set, add, ..]) in cases.iter().map(reference) {
        grown += u32::from(before.span() > 0 && set.span() > before.span());
        begun += u32::from(before.span() == 0 && set.span() > 0);
        wrong_set += u32::from(before.area().is_some() && set.area().is_none());
        wrong_add += u32::from(set.area().is_some() && add.area().is_none());
    }
    let seen = [grown, begun, wrong_set, wrong_add];
    assert!(seen.iter().all(|&seen| seen > 100), "{seen:?}");
    check("probe_time_average", &cases, |_, words| bytemuck::cast::<_, [u32; 48]>(reference(words).1));
}

#[test]
fn histograms_have_the_hosts_bins() {
    // Six words, followed by the number of bins.
    let cases = cases::<6>(60_000);
    let cases: Vec<[u32; 7]> = (0..)
        .zip(cases)
        .map(|(number, [value, value_high, low, low_high, width, width_high])| {
            let mut stream = Stream::new(13, 14, number);
            let bins = match stream.below(4) {
                0 => stream.below(5),
                1 => stream.draw() >> stream.below(32),
                2 => u32::MAX - stream.below(3),
                _ => 3 + stream.below(100),
            };
            // Half of the time, widths for which the values spread over about this number of bins
            // above `low`.
            let (value, low) = (Ticks::from_words([value, value_high]), Ticks::from_words([low, low_high]));
            let even = value.get().wrapping_sub(low.get()) / (1 + u64::from(stream.below(bins.max(1))));
            let given = Ticks::from_words([width, width_high]).get();
            let width = if number % 2 == 0 { even.wrapping_add(u64::from(stream.below(2))) } else { given };
            let ([a, b], [c, d], [e, f]) = (value.to_words(), low.to_words(), super::halves(width));
            [a, b, c, d, e, f, bins]
        })
        .collect();
    let reference = |words: &[u32; 7]| {
        let [value, low, width] = [0, 2, 4].map(|at| Ticks::from_words([words[at], words[at + 1]]).get());
        histogram_bin(value, low, width, words[6])
    };
    let inner = cases.iter().filter(|case| reference(case) > 0 && reference(case) + 1 < case[6]).count();
    assert!(inner > 5000, "{inner}");
    check("probe_histogram", &cases, |_, words| [reference(words)]);
}

/// `tests/wgsl/watched.wgsl`
struct Watched;

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct WatchedState {
    travel: Tally,
    load: TimeAverage,
    bins: [u32; 8],
}

impl Watched {
    fn send(now: Ticks, context: &mut Context<'_>) {
        let travel = context.stream().exponential(Ticks::new(100));
        let travel = context.lookahead().saturating_add(travel);
        let lps = context.lp_count();
        let destination = context.stream().below(lps);
        context.schedule(destination, now.saturating_add(travel), now.to_words());
    }
}

impl Model for Watched {
    type State = WatchedState;
    type Params = ();
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "watched"
    }
    fn source(&self) -> Source {
        eventhorizon::wgsl!("../../wgsl/watched.wgsl")
    }
    fn lps(&self) -> u32 {
        100
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(10)
    }
    fn params(&self) {}
    fn capacity(&self) -> Capacity {
        Capacity { queue: 40, mailbox: 40 }
    }
}

impl CpuModel for Watched {
    fn init(&self, lp: u32, state: &mut WatchedState, context: &mut Context<'_>) {
        state.travel = Tally::since(Ticks::new(500));
        state.load = TimeAverage::since(Ticks::new(500), lp % 3);
        Self::send(Ticks::ZERO, context);
    }
    fn handle(&self, _: u32, event: &Event, state: &mut WatchedState, context: &mut Context<'_>) {
        let travel = event.time.get() - Ticks::from_words(event.payload).get();
        state.travel.add(event.time, travel);
        match state.load.level() {
            20.. => state.load.set(event.time, 0),
            _ => state.load.add(event.time, 3),
        }
        state.load = state.load.at(event.time);
        state.bins[histogram_bin(travel, 20, 40, 8) as usize] += 1;
        Self::send(event.time, context);
    }
}

#[test]
fn logical_processes_keep_what_the_sequential_engine_keeps() {
    let end = Until::time(Ticks::new(20_000));
    let mut reference = CpuSimulation::in_rust(&Watched, Options::default().seed(42)).unwrap();
    let progress = reference.run(end).unwrap();
    let gpu = gpu();
    let mut simulation = Simulation::new(&gpu, &Watched, Options::default().seed(42)).unwrap();
    assert_eq!(simulation.run(end).unwrap(), progress);
    let states = simulation.states().unwrap();
    assert_eq!(states, reference.states());
    assert_eq!(simulation.fingerprint().unwrap(), reference.fingerprint());

    // In the model, travel takes the lookahead and an exponential time of mean 100, rounded down.
    let mut travel = Tally::default();
    states.iter().for_each(|state| travel.merge(&state.travel));
    let deviation = travel.variance().unwrap().sqrt();
    assert!(travel.count() > 15_000 && travel.count() < progress.events, "{}", travel.count());
    assert!((travel.mean().unwrap() - 109.5).abs() < 3.0 && (deviation - 100.0).abs() < 4.0);
    assert!(travel.minimum().unwrap() >= 10 && travel.maximum().unwrap() > 600);
    let mut bins = Histogram::new(20, 40, 8).unwrap();
    states.iter().for_each(|state| bins.add_counts(&state.bins).unwrap());
    assert_eq!(bins.total(), progress.events);
    assert!((bins.quantile(0.5).unwrap().unwrap() - 79.0).abs() < 5.0, "{bins}");
    let load: PooledAverage = states.iter().map(|state| &state.load).collect();
    assert!(load.span() > 100 * 18_000 && load.minimum() == Some(0) && load.maximum() == Some(22));
    let mean = load.mean().unwrap();
    assert!((8.0..13.0).contains(&mean), "{mean}");
}

/// `tests/wgsl/counter.wgsl`
#[derive(Clone, Copy)]
struct Counter;

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct CounterParams {
    mean: u64,
    warm_up: u64,
    clients: u32,
    spare: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct CounterOutput {
    count: u64,
    sum: u64,
    squares: u64,
    minimum: u64,
    maximum: u64,
    area: u64,
    changed: u64,
    busiest: u32,
    bins: [u32; 4],
    spare: u32,
}

#[derive(Default)]
struct CounterState {
    wait: Tally,
    busy: TimeAverage,
    bins: [u32; 4],
    arrival: Ticks,
    free: Ticks,
    served: u32,
}

impl replication::Model for Counter {
    type Params = CounterParams;
    type Output = CounterOutput;

    fn source(&self) -> Source {
        eventhorizon::wgsl!("../../wgsl/counter.wgsl")
    }
}

impl ReferenceModel for Counter {
    type State = CounterState;

    fn start(&self, params: &CounterParams, _: &mut Stream) -> Result<CounterState, Fail> {
        let warm_up = Ticks::new(params.warm_up);
        let (wait, busy) = (Tally::since(warm_up), TimeAverage::since(warm_up, 0));
        Ok(CounterState { wait, busy, ..CounterState::default() })
    }

    fn step(
        &self,
        params: &CounterParams,
        state: &mut CounterState,
        stream: &mut Stream,
    ) -> Result<bool, Fail> {
        let mean = Ticks::new(params.mean);
        state.arrival = state.arrival.saturating_add(stream.exponential(mean));
        let begin = state.arrival.max(state.free);
        let wait = begin.get() - state.arrival.get();
        state.busy.add(begin, 1);
        state.free = begin.saturating_add(stream.exponential(mean));
        state.busy.set(state.free, 0);
        state.wait.add(begin, wait);
        state.bins[histogram_bin(wait, 100, 900, 4) as usize] += 1;
        state.served += 1;
        Ok(state.served < params.clients)
    }

    fn finish(&self, _: &CounterParams, state: &CounterState) -> Result<CounterOutput, Fail> {
        let end = state.free.saturating_add(Ticks::new(1000));
        let busy = state.busy.at(end);
        let low = |wide: Option<u128>| u64::try_from(wide.unwrap()).unwrap();
        Ok(CounterOutput {
            count: state.wait.count(),
            sum: low(Some(state.wait.sum())),
            squares: low(state.wait.squares()),
            minimum: state.wait.minimum().unwrap(),
            maximum: state.wait.maximum().unwrap(),
            area: low(busy.area()),
            changed: end.get(),
            busiest: busy.maximum().unwrap(),
            bins: state.bins,
            spare: 0,
        })
    }
}

#[test]
fn replications_keep_what_their_twins_keep() {
    let params = CounterParams { mean: 1000, warm_up: 20_000, clients: 200, spare: 0 };
    let expected = CpuEngine::in_rust(Counter, replication::Options::default())
        .unwrap()
        .run(&params, &experiment(100))
        .unwrap();
    for output in &expected.outputs {
        assert!(output.count < 200 && output.bins.iter().sum::<u32>() == 200 && output.busiest == 1);
    }
    for mapping in [Mapping::Thread, Mapping::Warp] {
        let mut engine =
            Engine::new(&gpu(), Counter, replication::Options::default().mapping(mapping)).unwrap();
        let seen = engine.run(&params, &experiment(100)).unwrap();
        assert_same(&seen, &expected, &mapping.to_string());
    }
}
