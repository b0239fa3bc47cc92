//! Windows with per-LP bounds (after Chandy-Misra-Bryant).

use super::common::references::Reference;
use super::common::{few, gpu, is_long, queues};
use super::{phold, same, until};
use eventhorizon::gpu::{GpuError, LinkError, Source};
use eventhorizon::models::{FifoTorus, Phold, Torus};
use eventhorizon::pdes::{
    Capacity, Context, CpuModel, CpuSimulation, Event, FaultKind, Model, Options, Simulation,
    SimulationError, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use proptest::prelude::*;

pub(super) fn by_neighbours() -> Options {
    Options::default().seed(6).sync(Sync::Neighbours)
}

const TINY: Capacity = Capacity { queue: 1, mailbox: 1 };

fn fifo(rows: u32, columns: u32, customers: u32) -> FifoTorus {
    FifoTorus::new(rows, columns, customers, 1.0, Resolution::default()).unwrap()
}

fn torus(rows: u32, columns: u32, customers: u32, travel: f64) -> Torus {
    Torus::new(rows, columns, customers, 1.0, travel, Resolution::default()).unwrap()
}

fn ring(lps: u32, population: u32, rate: f64, lookahead: f64, neighbours: u32) -> Phold {
    let model = Phold::new(lps, population, rate, lookahead, Resolution::default()).unwrap();
    model.with_neighbours(neighbours).unwrap()
}

/// `tests/wgsl/relay.wgsl`, with `earliest` `tests/wgsl/relay_earliest.wgsl` too, and with `next`
/// `tests/wgsl/relay_next.wgsl`.
#[derive(Debug, Clone, Copy)]
struct Relay {
    lps: u32,
    lookahead: Ticks,
    earliest: bool,
    next: bool,
    /// Whether the time of a hop is in LP memory.
    memory: bool,
    params: RelayParams,
    /// Replaces the text of the files after the part that is the same in all models.
    more: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct RelayParams {
    step: Ticks,
    hops: u32,
    stride: u32,
    rule: u32,
    culprit: u32,
    awaited: u32,
    unused: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Visits {
    visits: u32,
    order: u32,
}

impl Relay {
    fn new(lps: u32, stride: u32, hops: u32) -> Self {
        let step = Ticks::new(10);
        let params = RelayParams { step, hops, stride, rule: 0, culprit: 0, awaited: 0, unused: 0 };
        Self { lps, lookahead: step, earliest: false, next: false, memory: false, params, more: None }
    }

    /// The number of LPs among which tokens move.
    fn ring(&self) -> u32 {
        self.lps - if self.params.rule == 4 { 2 } else { 0 }
    }

    fn breaking(self, rule: u32, culprit: u32) -> Self {
        let params = RelayParams { rule, culprit, ..self.params };
        Self { earliest: rule == 3, next: rule == 5, params, ..self }
    }
}

impl Model for Relay {
    type State = Visits;
    type Params = RelayParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "relay"
    }
    fn source(&self) -> Source {
        let relay = include_str!("../../wgsl/relay.wgsl");
        let earliest = if self.earliest { include_str!("../../wgsl/relay_earliest.wgsl") } else { "" };
        let next = if self.next { include_str!("../../wgsl/relay_next.wgsl") } else { "" };
        match self.more {
            None => Source::new("tests/wgsl/relay.wgsl", [relay, earliest, next].concat()),
            Some(more) => {
                let (same, _) = relay.split_once("// The LP after the culprit").unwrap();
                Source::new("my/relay.wgsl", [same, more].concat())
            }
        }
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        self.lookahead
    }
    fn params(&self) -> RelayParams {
        self.params
    }
    fn memory_rows(&self) -> u32 {
        self.memory.into()
    }
}

impl CpuModel for Relay {
    fn init(&self, lp: u32, _: &mut Visits, context: &mut Context<'_>) {
        if lp >= self.ring() {
            if lp == self.ring() {
                context.schedule(lp, Ticks::new(1 << 50), [0, lp]);
            }
            return;
        }
        if self.params.awaited > 0 && lp == self.params.culprit {
            context.schedule(lp, Ticks::new(self.params.awaited.into()), [0, lp]);
        }
        if lp.is_multiple_of(self.params.stride) {
            context.schedule(lp, Ticks::new(u64::from(lp % 7)), [self.params.hops, lp]);
        }
    }
    fn handle(&self, lp: u32, event: &Event, state: &mut Visits, context: &mut Context<'_>) {
        let [hops, token] = event.payload;
        state.visits += 1;
        state.order = (state.order ^ token).wrapping_mul(0x9e37_79b1).wrapping_add(event.time.to_words()[0]);
        if hops > 0 {
            let (mut least, mut spread) = (self.params.step.get(), 1000);
            if self.memory {
                (least, spread) = (least + u64::from(context.memory_get(0)[0]), 20_000);
            }
            let delay = Ticks::new(least + u64::from(context.stream().below(spread)));
            let time = event.time.saturating_add(delay);
            if self.memory {
                let more = context.stream().below(20_000);
                let row = context.memory_get(0).map(|word| word + more);
                context.memory_set(0, row);
            }
            context.schedule((lp + 1) % self.ring(), time, [hops - 1, token]);
        }
    }
}

#[test]
fn every_queue_gives_the_bits_of_the_cpu() {
    let gpu = gpu();
    for (i, queue) in queues().enumerate() {
        let group_size = Some([64, 1, 8, 32][i % 4]);
        let options = by_neighbours().queue(queue).group_size(group_size).tiles(1 + i as u32 % 3);
        same(&gpu, &Reference(fifo(12, 20, 500)), options, &[until(3.3), until(9.0)]);
        if i % 2 == 0 {
            same(&gpu, &Reference(ring(150, 4, 0.01, 10.0, 4)), options, &[until(120.0), until(400.0)]);
        } else {
            same(&gpu, &Reference(torus(9, 11, 150, 0.05)), options, &[until(2.5), until(7.0)]);
        }
    }
}

#[test]
fn tori_of_all_shapes() {
    let gpu = gpu();
    // One station, rows, sizes that are multiples of blocks and others; few customers and many.
    for (rows, columns, customers) in [
        (1, 1, 5),
        (1, 2, 1),
        (1, 70, 30),
        (70, 1, 300),
        (2, 2, 9),
        (4, 12, 7),
        (24, 8, 900),
        (13, 17, 100),
        (32, 64, 300),
        (33, 31, 3000),
    ] {
        same(&gpu, &Reference(fifo(rows, columns, customers)), by_neighbours(), &[until(1.7), until(6.0)]);
    }
    for (rows, columns, customers, travel) in [(1, 1, 5, 0.3), (2, 2, 3, 5.0), (20, 15, 40, 0.01)] {
        same(
            &gpu,
            &Reference(torus(rows, columns, customers, travel)),
            by_neighbours(),
            &[until(1.7), until(9.0)],
        );
    }
}

#[test]
fn sizes_around_workgroups_and_many_senders() {
    let gpu = gpu();
    // Relaxations use as many invocations per workgroup as the device allows, up to 256.
    let shapes = [
        (3, 64, 1, 2),
        (255, 64, 1, 8),
        (1025, 64, 1, 30),
        (256, 32, 3, 10),
        (257, 8, 1, 2),
        (1023, 64, 2, 4),
        (1024, 256, 1, 6),
        (2500, 2, 1, 12),
        (3000, 1, 2, 2),
    ];
    for &(lps, group_size, tiles, neighbours) in few(5, &shapes) {
        let options = by_neighbours().group_size(group_size).tiles(tiles);
        same(&gpu, &Reference(ring(lps, 2, 0.01, 3.0, neighbours)), options, &[until(60.0), until(150.0)]);
    }
}

#[test]
fn growth_from_room_for_one_event() {
    let gpu = gpu();
    for queue in [QueueDesign::Heap, QueueDesign::Heap4] {
        let options = by_neighbours().queue(queue);
        let ends = [until(0.0), until(2.0), Until::events(3000), until(9.0)];
        if queue == QueueDesign::Heap || is_long() {
            same(&gpu, &Reference(fifo(9, 8, 700).with_capacity(TINY)), options, &ends);
        }
        if queue == QueueDesign::Heap4 || is_long() {
            let model = Reference(ring(130, 5, 0.02, 5.0, 2).with_capacity(TINY));
            same(&gpu, &model, options, &[until(40.0), until(200.0)]);
        }
    }
}

/// Dispatches of relaxations serve the rows of one binding each, which need not fill whole
/// workgroups.
#[test]
fn several_bindings() {
    let gpu = gpu();
    if gpu.limits().max_storage_buffers_per_shader_stage < 31 {
        return;
    }
    let small = gpu.binding_at_most(1 << 16);
    // Four rows too: mailboxes are interleaved in groups of eight, which no binding splits.
    for &group_size in few(1, &[4, 8, 64]) {
        let options = by_neighbours().group_size(group_size);
        let stations = fifo(13, 29, 2300).with_capacity(Capacity { queue: 38, mailbox: 40 });
        same(&small, &Reference(stations), options, &[until(2.0), until(6.0)]);
        same(&small, &Reference(ring(380, 6, 0.01, 10.0, 4)), options, &[until(60.0), until(300.0)]);
    }
}

#[test]
fn runs_end_at_times_and_by_events_in_turn() {
    let gpu = gpu();
    let ends = [
        until(20.0),
        Until::events(1500),
        until(90.0),
        until(90.0),
        Until::events(2500),
        Until::events(2501),
        until(300.0),
    ];
    same(&gpu, &Reference(ring(140, 5, 0.01, 3.0, 4)), by_neighbours(), &ends);
    let ends = [Until::events(200), until(2.0), Until::events(1000), until(9.0)];
    same(&gpu, &Reference(torus(8, 9, 100, 0.02)), by_neighbours(), &ends);
    same(&gpu, &Relay::new(60, 4, 40), by_neighbours(), &[Until::events(100), Until::EMPTY]);
}

/// Stations that may be their own neighbours, in runs in which speculative execution (which
/// continues until an event for another LP) and `earliest` alternate.
#[test]
fn who_sends_to_itself_next_says_nothing_of_others() {
    let gpu = gpu();
    let service = Resolution::default().ticks(1.0).unwrap();
    for (columns, customers, seed) in [(7, 5, 1), (7, 5, 2), (2, 1, 3), (7, 9, 4), (70, 40, 5)] {
        let model = fifo(1, columns, customers);
        let mut cpu = CpuSimulation::new(&model, Options::default().seed(seed)).unwrap();
        let mut simulation = Simulation::new(&gpu, &model, by_neighbours().seed(seed)).unwrap();
        let mut done = cpu.run(Until::events(3)).unwrap();
        for turn in 0..24 {
            let end = match turn % 2 {
                0 => Until::events(done.events + 3),
                _ => Until::time(done.now.saturating_add(service)),
            };
            done = cpu.run(end).unwrap();
            assert_eq!(simulation.run(end).unwrap().events, done.events, "{columns} stations, turn {turn}");
            assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
        }
    }
}

/// LPs with more events before the horizon than a window's budget, in event-limited runs.
#[test]
fn budgets_in_runs_that_end_by_events() {
    let gpu = gpu();
    for sync in [Sync::Horizon, Sync::Neighbours] {
        for events in [700, 769, 770, 1025, 1100] {
            let options = by_neighbours().sync(sync);
            same(&gpu, &Reference(fifo(1, 2, 600)), options, &[Until::events(events)]);
        }
    }
}

/// Bounds that travel farther than the relaxations of one window.
#[test]
fn bounds_that_travel_far() {
    let gpu = gpu();
    for &(lps, stride) in few(2, &[(3000, 1000), (2000, 40), (3000, 3000), (700, 699)]) {
        let model = Relay { earliest: stride == 40, ..Relay::new(lps, stride, 60) };
        same(&gpu, &model, by_neighbours(), &[Until::time(Ticks::new(9000)), Until::EMPTY]);
    }
    // An LP with an own event, before which a token arrives from so far away that the relaxations
    // of the first windows do not reach it: from an LP of its workgroup, and of another one.
    for &(culprit, awaited) in few(1, &[(700, 500_000), (400, 300_000)]) {
        let relay = Relay::new(1200, 1200, culprit + 50);
        let model = Relay { params: RelayParams { culprit, awaited, ..relay.params }, ..relay };
        same(&gpu, &model, by_neighbours(), &[Until::EMPTY]);
    }
    // LP memory determines the bounds of an LP; speculative execution works on a copy of it.
    let model = Relay { memory: true, ..Relay::new(90, 1, 200) };
    same(&gpu, &model, by_neighbours(), &[Until::time(Ticks::new(9000)), Until::EMPTY]);
    // One customer on a long ring.
    same(&gpu, &Reference(fifo(1, 2500, 1)), by_neighbours(), &[until(30.0)]);
}

/// If relaxations do not finish in a window, it executes all events that the missing ones could not
/// forbid.
#[test]
fn relaxations_need_not_come_to_their_end() {
    let gpu = gpu();
    // Few customers: bounds cross the rows of many workgroups.
    let model = fifo(64, 96, 200);
    let windows = [Sync::Horizon, Sync::Neighbours].map(|sync| {
        let mut simulation = Simulation::new(&gpu, &model, by_neighbours().sync(sync)).unwrap();
        simulation.run(until(4.0)).unwrap().windows
    });
    assert!(windows[1] * 3 < windows[0], "{windows:?} windows to the horizon of all, and of each");
    let ends = [until(0.2), until(0.21), Until::events(60), Until::events(61), until(1.0), until(2.0)];
    same(&gpu, &Reference(model), by_neighbours(), &ends);
    // With this many customers, windows have one more relaxation (FEW in src/pdes/device/plans.rs).
    same(&gpu, &Reference(fifo(192, 192, 12_000)), by_neighbours(), &[until(0.6)]);
}

/// `sender` may read LP memory of the LP that it is called for, which is wrong here.
#[test]
fn what_names_senders_reads_the_memory_of_its_lp() {
    const SENDERS: &str = "fn sender_count(lp: u32) -> u32 { return 1u; }
        fn sender(lp: u32, index: u32) -> u32 {
            return (lp + lp_count() - 1u + memory_get(select(0u, 9u, lp == 7u)).x * 0u) % lp_count();
        }\n";
    let model = Relay { memory: true, more: Some(SENDERS), ..Relay::new(10, 1, 5) };
    let mut simulation = Simulation::new(&gpu(), &model, by_neighbours()).unwrap();
    match simulation.run(Until::EMPTY) {
        Err(SimulationError::Fault(fault)) => assert_eq!((fault.kind, fault.lp), (FaultKind::MemoryFull, 7)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_goes_on_with_other_queues() {
    let gpu = gpu();
    let model = fifo(10, 12, 200);
    let mut cpu = CpuSimulation::new(&model, by_neighbours()).unwrap();
    let mut simulation = Simulation::new(&gpu, &model, by_neighbours()).unwrap();
    assert_eq!(simulation.sync(), Sync::Neighbours);
    for (i, queue) in queues().enumerate() {
        simulation.set_queue(queue).unwrap();
        assert_eq!(simulation.sync(), Sync::Neighbours);
        let end = until(2.0 * (i + 1) as f64);
        assert_eq!(simulation.run(end).unwrap().events, cpu.run(end).unwrap().events);
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{queue}");
    }
    assert!(matches!(simulation.set_queue(QueueDesign::Calendar), Err(SimulationError::Calendar)));
    assert_eq!(simulation.sync(), Sync::Neighbours);
    let calendar = by_neighbours().queue(QueueDesign::Calendar);
    assert!(matches!(Simulation::new(&gpu, &model, calendar), Err(SimulationError::Calendar)));
}

#[test]
fn windows_go_as_far_whatever_a_tick_is() {
    let gpu = gpu();
    // Mean services of 16, 2^20 and 2^50 ticks: bounds of 31 bits must choose their unit.
    for (ticks, service_rate) in [(1 << 4, 1.0), (1 << 20, 1.0), (1 << 31, 1.0 / f64::from(1 << 19))] {
        let resolution = Resolution::new(ticks).unwrap();
        let model = FifoTorus::new(32, 32, 1024, service_rate, resolution).unwrap();
        let end = Until::time(resolution.ticks(8.0 / service_rate).unwrap());
        let mut cpu = CpuSimulation::new(&model, Options::default().seed(6)).unwrap();
        let events = cpu.run(end).unwrap().events;
        let mut simulation = Simulation::new(&gpu, &model, by_neighbours()).unwrap();
        let done = simulation.run(end).unwrap();
        assert_eq!((done.events, simulation.fingerprint().unwrap()), (events, cpu.fingerprint()));
        // Some 290 events at these stations, and 40 before the horizon of all LPs.
        assert!(done.windows * 200 < events, "{ticks} ticks: {events} events in {} windows", done.windows);
    }
}

/// The units of bounds change now and then. Stored bounds of LPs that were idle meanwhile are
/// converted.
#[test]
fn runs_as_long_as_many_bounds_reach() {
    let gpu = gpu();
    let resolution = Resolution::new(1 << 31).unwrap();
    let service_rate = 1.0 / f64::from(1 << 19);
    for customers in [3, 30] {
        let model = FifoTorus::new(3, 4, customers, service_rate, resolution).unwrap();
        let ends = [30.0, 600.0].map(|end| Until::time(resolution.ticks(end / service_rate).unwrap()));
        same(&gpu, &Reference(model), by_neighbours(), &ends);
    }
}

#[test]
fn an_lp_far_ahead_does_not_hold_up_the_others() {
    let gpu = gpu();
    let windows = |model: Relay, ends: &[Until]| {
        let mut simulation = Simulation::new(&gpu, &model, by_neighbours()).unwrap();
        let mut cpu = CpuSimulation::in_rust(&model, Options::default().seed(6)).unwrap();
        let mut windows = 0;
        for &end in ends {
            assert_eq!(simulation.run(end).unwrap().events, cpu.run(end).unwrap().events);
            assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{model:?}");
            windows = simulation.progress().unwrap().windows;
        }
        windows
    };
    let ring = Relay::new(200, 7, 300);
    let both = Relay { lps: 202, ..ring.breaking(4, 0) };
    // Many short runs, and one to the end, which identify that event.
    let short: Vec<_> = (1..8).map(|end| Until::time(Ticks::new(end * 10_000))).collect();
    for ends in [&short[..], &[Until::EMPTY]] {
        let alone = windows(ring, ends);
        let together = windows(both, ends);
        assert!(together <= alone + 4, "{together} windows, and {alone} without it");
    }
}

#[test]
fn broken_promises_are_found() {
    let gpu = gpu();
    let found = |model: Relay, sync, group_size| {
        let options = by_neighbours().sync(sync).group_size(group_size);
        let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
        match simulation.run(Until::EMPTY) {
            Err(SimulationError::Fault(fault)) => (fault.kind, fault.lp),
            other => panic!("{model:?} with {sync}: {other:?}"),
        }
    };
    for &(lps, stride, culprit) in few(1, &[(300, 3, 299), (40, 1, 7), (300, 5, 150)]) {
        let relay = Relay::new(lps, stride, 300);
        // An undeclared sender: the report names the sender.
        for rule in [1, 5] {
            let broken = relay.breaking(rule, culprit);
            assert_eq!(found(broken, Sync::Neighbours, 64), (FaultKind::Promise, culprit), "rule {rule}");
        }
    }
    // An event arrives earlier than its bound: LPs after the culprit have continued, and the first
    // one that receives a late event reports it.
    for &(lps, stride, culprit) in few(1, &[(300, 1, 299), (40, 1, 7)]) {
        let relay = Relay::new(lps, stride, 300).breaking(2, culprit);
        let first = found(relay, Sync::Neighbours, 64);
        assert_eq!((first.0, first.1 != culprit), (FaultKind::Promise, true));
        assert_eq!(found(relay, Sync::Neighbours, 8), first, "the size of workgroups does not show");
    }
    for sync in [Sync::Horizon, Sync::Neighbours] {
        // There is one token, and the culprit holds it for a while.
        let relay = Relay::new(50, 50, 300);
        assert_eq!(found(relay.breaking(3, 20), sync, 64), (FaultKind::Promise, 20));
    }
    // No fault is found if no rule is broken.
    for &(earliest, next) in few(1, &[(true, true), (true, false), (false, true)]) {
        let model = Relay { earliest, next, ..Relay::new(40, 1, 300) };
        same(&gpu, &model, by_neighbours(), &[Until::time(Ticks::new(700)), Until::EMPTY]);
    }
}

#[test]
fn models_that_do_not_say_enough_are_refused() {
    let gpu = gpu();
    let refused = |model: Phold| match Simulation::new(&gpu, &model, by_neighbours()) {
        Err(error @ SimulationError::Senders { sync: Sync::Neighbours, .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(refused(phold(10, 2, 0.1)).contains("`fn sender_count(lp: u32) -> u32`"));
    assert!(refused(ring(10, 2, 0.1, 0.0, 2)).contains("a lookahead of at least 1 tick"));
    // Auto does not use per-LP bounds.
    for model in [phold(10, 2, 0.1), ring(10, 2, 0.1, 0.0, 2)] {
        Simulation::new(&gpu, &model, by_neighbours().sync(Sync::Auto)).unwrap();
    }
}

#[test]
fn what_tells_of_events_sends_none() {
    let gpu = gpu();
    const COUNT: &str = "fn sender_count(lp: u32) -> u32 { return 1u; }\n";
    const SENDER: &str =
        "fn sender(lp: u32, index: u32) -> u32 { return (lp + lp_count() - 1u) % lp_count(); }\n";
    let send = "schedule(lp, TIME_ZERO, vec2<u32>(0u));";
    let cases = [
        ("sender_count", format!("fn sender_count(lp: u32) -> u32 {{ {send} return 1u; }}\n{SENDER}")),
        ("sender", format!("{COUNT}fn sender(lp: u32, index: u32) -> u32 {{ {send} return lp; }}\n")),
        (
            "answer",
            format!(
                "{COUNT}{SENDER}fn answer(lp: u32, state: ptr<function, State>) -> Answer {{ {send} return Answer(); }}\n"
            ),
        ),
        (
            "earliest",
            format!(
                "{COUNT}{SENDER}fn earliest(lp: u32, event: Event, state: ptr<function, State>) -> vec2<u32> {{ {send} return event.time; }}\n"
            ),
        ),
    ];
    let reported = |to: &str, gap: &str| {
        format!(
            "{COUNT}{SENDER}fn next_to(lp: u32, state: ptr<function, State>) -> u32 {{ {to} return lp; }}\n\
             fn next_gap(lp: u32, state: ptr<function, State>) -> vec2<u32> {{ {gap} return TIME_ZERO; }}\n"
        )
    };
    let cases = cases.into_iter().chain([("next_to", reported(send, "")), ("next_gap", reported("", send))]);
    let first =
        include_str!("../../wgsl/relay.wgsl").split("// The LP after").next().unwrap().lines().count();
    for (name, text) in cases {
        let line = first + text.lines().position(|line| line.contains(send)).unwrap() + 1;
        let model = Relay { more: Some(text.leak()), ..Relay::new(10, 1, 5) };
        match Simulation::new(&gpu, &model, by_neighbours()) {
            Err(SimulationError::Gpu(GpuError::Link(LinkError::Forbidden {
                file,
                line: found,
                what,
                ..
            }))) => {
                assert_eq!((&*file, found as usize), ("my/relay.wgsl", line), "{what}");
                assert_eq!(what, format!("`{name}` may not call `schedule`"));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn random_models_agree() {
    let gpu = gpu();
    let queues: Vec<_> = queues().collect();
    let strategy = (
        (3u32..400, 1u32..30),
        1u32..8,
        (0.003f64..0.5, 0.001f64..20.0),
        any::<u64>(),
        0..queues.len(),
        (0u32..8, 1u32..4),
        0u64..2000,
        any::<bool>(),
    );
    let mut runner = super::common::random_cases(3);
    runner
        .run(&strategy, |((lps, near), population, times, seed, queue, (group, tiles), events, fifos)| {
            let options = by_neighbours().seed(seed).queue(queues[queue]).group_size(1 << group).tiles(tiles);
            if fifos {
                let model = fifo(near, lps.div_ceil(near), population * lps / 2);
                same(&gpu, &Reference(model), options, &[until(0.7), until(3.0), until(4.0)]);
            } else {
                let (rate, lookahead) = times;
                let model = ring(lps, population, rate, lookahead, 2 * near.min((lps - 1) / 2));
                let ends = [until(0.7 / rate), Until::events(events), until(2.0 / rate + lookahead)];
                same(&gpu, &Reference(model), options, &ends);
            }
            Ok(())
        })
        .unwrap();
}
