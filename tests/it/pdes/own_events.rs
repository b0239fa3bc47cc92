//! Events that an LP sends itself, the budget of a window, events of 32 bytes, LP memory.

use super::common::{each_queue, few, gpu, queues};
use super::same;
use eventhorizon::gpu::{Gpu, Source};
use eventhorizon::pdes::{
    Capacity, Context, CpuModel, CpuSimulation, Event, Fault, FaultKind, Model, Options, Simulation,
    SimulationError, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Ticks;
use proptest::prelude::*;

/// `tests/wgsl/busy.wgsl`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    pub(crate) lps: u32,
    pub(crate) lookahead: Ticks,
    pub(crate) room: u32,
    pub(crate) params: BusyParams,
    pub(crate) capacity: Capacity,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct BusyParams {
    pub(crate) rows: u32,
    rule: u32,
    culprit: u32,
    pub(crate) children: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Seen {
    seen: u32,
    order: u32,
}

impl Busy {
    pub(crate) fn new(lps: u32) -> Self {
        Self {
            lps,
            lookahead: Ticks::new(100),
            room: 4,
            params: BusyParams { rows: 4, rule: 0, culprit: 0, children: 2 },
            capacity: Capacity { queue: 200, mailbox: 60 },
        }
    }

    pub(crate) fn with_children(lps: u32, children: u32) -> Self {
        let busy = Self::new(lps);
        Self { params: BusyParams { children, ..busy.params }, ..busy }
    }

    pub(crate) fn breaking(self, rule: u32, culprit: u32) -> Self {
        Self { params: BusyParams { rule, culprit, ..self.params }, ..self }
    }
}

impl Model for Busy {
    type State = Seen;
    type Params = BusyParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "busy"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/busy.wgsl", include_str!("../../wgsl/busy.wgsl"))
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        self.lookahead
    }
    fn params(&self) -> BusyParams {
        self.params
    }
    fn memory_rows(&self) -> u32 {
        self.room
    }
    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

fn after(time: Ticks, ticks: u64) -> Ticks {
    time.saturating_add(Ticks::new(ticks))
}

impl CpuModel for Busy {
    fn init(&self, lp: u32, _: &mut Seen, context: &mut Context<'_>) {
        for i in 0..self.params.rows {
            let [x, y, z, w] = context.memory_get(i);
            context.memory_set(i, [x + lp, y + i, z + 1, w]);
        }
        let time = Ticks::new(context.stream().below(50).into());
        context.schedule(lp, time, [6, lp]);
        if self.params.rule == 5 && lp == self.params.culprit {
            context.memory_set(self.params.rows, [1; 4]);
        }
        if self.params.rule == 7 && lp == self.params.culprit {
            (0..300).for_each(|number| context.schedule(lp, Ticks::new(60), [0, number]));
            context.schedule(lp, Ticks::new(60), [8, 0]);
        }
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut Seen, context: &mut Context<'_>) {
        let [level, tag] = event.payload;
        let low = |time: Ticks| time.to_words()[0];
        state.seen += 1;
        state.order = (state.order ^ tag).wrapping_mul(0x9e37_79b1).wrapping_add(level);
        if self.params.rows > 0 {
            let place = context.stream().below(self.params.rows);
            let row = context.memory_get(place);
            context.memory_set(place, [row[1], row[0].wrapping_add(1), low(event.time), level]);
            state.order = state.order.wrapping_add(row[0]);
        }
        if self.params.rule == 6 {
            return context.schedule(
                lp,
                after(event.time, u64::from(lp != self.params.culprit)),
                event.payload,
            );
        }
        if self.params.rule == 7 {
            if level == 8 {
                context.schedule(lp, event.time, event.payload);
            }
            return;
        }
        if lp == self.params.culprit && level <= 3 {
            match self.params.rule {
                1 => return context.schedule(lp, event.time, event.payload),
                2 => context.schedule(
                    lp,
                    Ticks::from_words([low(event.time).wrapping_sub(1), 0]),
                    event.payload,
                ),
                3 => {
                    context.schedule(lp, context.now(), [level, 7]);
                    context.schedule(lp, context.now(), [level, 8]);
                }
                4 => {
                    let beyond = context.memory_rows();
                    state.order = state.order.wrapping_add(context.memory_get(beyond)[0]);
                }
                _ => {}
            }
        }
        if level == 0 {
            return;
        }
        for _ in 0..context.stream().below(self.params.children + 1) {
            // Like WGSL's `select`, which evaluates both.
            let delay = context.stream().below(400);
            let delay = if context.stream().bernoulli(1 << 31) { delay } else { 0 };
            let payload = [level - 1, context.stream().below(4)];
            context.schedule(lp, after(context.now(), delay.into()), payload);
        }
        if context.stream().below(3) == 0 {
            let to = context.stream().below(self.lps);
            context.schedule(to, event.time.saturating_add(self.lookahead), [level - 1, lp]);
        }
    }
}

fn fault<T: std::fmt::Debug>(result: Result<T, SimulationError>) -> Fault {
    match result {
        Err(SimulationError::Fault(fault)) => fault,
        other => panic!("expected a fault, got {other:?}"),
    }
}

fn faults(gpu: &Gpu, model: &Busy, queue: QueueDesign) -> [Fault; 2] {
    let options = Options::default().queue(queue).fixed(true);
    let run = |simulation: Result<Simulation<Busy>, _>| simulation?.run(Until::EMPTY);
    let on_cpu = |simulation: Result<CpuSimulation<'_, Busy>, _>| simulation?.run(Until::EMPTY);
    [
        fault(run(Simulation::new(gpu, model, options))),
        fault(on_cpu(CpuSimulation::in_rust(model, Options::default()))),
    ]
}

#[test]
fn events_for_the_lp_itself_run_in_order_in_their_window() {
    let gpu = gpu();
    for (queue, lps) in each_queue(&[300, 65, 64, 63, 1]) {
        for &(group_size, tiles) in few(1, &[(8, 3), (64, 1)]) {
            let (queue, group_size, tiles) = (Some(queue), Some(group_size), Some(tiles));
            let options =
                Options::default().seed(lps.into()).queue(queue).group_size(group_size).tiles(tiles);
            let ends = [Until::time(Ticks::new(77)), Until::events(600), Until::EMPTY];
            same(&gpu, &Busy::new(lps), options, &ends);
        }
    }
}

#[test]
fn lps_that_send_each_other_nothing_need_no_lookahead() {
    let gpu = gpu();
    // With one LP, events for a random LP are its own.
    let model = Busy { lookahead: Ticks::NEVER, ..Busy::new(1) };
    let fault = fault(CpuSimulation::in_rust(&model, Options::default().seed(1)).unwrap().run(Until::EMPTY));
    assert_eq!(fault.kind, FaultKind::TimeOverflow, "a lookahead without end is no delay");
    // Only children, and many of them.
    let text = include_str!("../../wgsl/busy.wgsl").replace("if draw_below(3u) == 0u", "if false");
    let alone = Alone { busy: Busy { lookahead: Ticks::NEVER, ..Busy::new(100) }, text };
    let mut simulation = Simulation::new(&gpu, &alone, Options::default()).unwrap();
    let end = simulation.run(Until::EMPTY).unwrap();
    assert!(end.events > 300 && end.windows <= 4, "{end:?}");
}

/// A `Busy` with other WGSL.
struct Alone {
    busy: Busy,
    text: String,
}

impl Model for Alone {
    type State = Seen;
    type Params = BusyParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "alone"
    }
    fn source(&self) -> Source {
        Source::new("alone.wgsl", self.text.clone())
    }
    fn lps(&self) -> u32 {
        self.busy.lps
    }
    fn lookahead(&self) -> Ticks {
        self.busy.lookahead
    }
    fn params(&self) -> BusyParams {
        self.busy.params
    }
    fn memory_rows(&self) -> u32 {
        self.busy.room
    }
    fn capacity(&self) -> Capacity {
        self.busy.capacity
    }
}

#[test]
fn what_a_budget_leaves_over_runs_in_the_next_windows() {
    let gpu = gpu();
    // Each event sends two own events for a while: at least 2^9 within a lookahead of 100,000
    // ticks.
    let mut model = Busy::new(40);
    model.params.children = 4;
    model.lookahead = Ticks::new(100_000);
    model.capacity.queue = 3000;
    for queue in [QueueDesign::Heap, QueueDesign::Heap4] {
        for end in [Until::events(300), Until::EMPTY] {
            let options = Options::default().seed(5).queue(queue);
            same(&gpu, &model, options, &[Until::time(Ticks::new(40)), end]);
        }
    }
    let mut cpu = CpuSimulation::in_rust(&model, Options::default().seed(5)).unwrap();
    cpu.run(Until::EMPTY).unwrap();
    assert!(cpu.states().iter().any(|state| state.seen > 2 * 256), "no LP used up its budget twice");
}

#[test]
fn time_that_does_not_advance_is_a_fault_that_names_the_lp() {
    let gpu = gpu();
    let mut model = Busy::new(70).breaking(1, 66);
    model.capacity = Capacity { queue: 500, mailbox: 100 };
    let [on_gpu, on_cpu] = faults(&gpu, &model, QueueDesign::Heap);
    assert_eq!(on_gpu, on_cpu);
    assert_eq!((on_gpu.kind, on_gpu.lp), (FaultKind::Stuck, 66));
    assert!(on_gpu.window > 4096, "{on_gpu}");
    // Also if other LPs are behind it, and time advances for them.
    let model = Busy { lookahead: Ticks::NEVER, ..Busy::new(3).breaking(6, 1) };
    let found = faults(&gpu, &model, QueueDesign::Heap);
    assert_eq!((found[0].kind, found[0].lp, found[0]), (FaultKind::Stuck, 1, found[1]));
    assert!(on_gpu.to_string().contains("million") && on_gpu.to_string().contains("LP 66"), "{on_gpu}");
    // And from the first window on if its budget is below the events of an LP at that time.
    let mut model = Busy::new(70).breaking(7, 66);
    model.capacity = Capacity { queue: 500, mailbox: 100 };
    let found = faults(&gpu, &model, QueueDesign::Heap);
    assert_eq!((found[0].kind, found[0].lp, found[0]), (FaultKind::Stuck, 66, found[1]));
}

#[test]
fn rules_for_own_events_and_memory_are_checked_in_both_engines() {
    let gpu = gpu();
    for (rule, kind, window) in
        [(2, FaultKind::Past, 1), (4, FaultKind::MemoryFull, 1), (5, FaultKind::MemoryFull, 0)]
    {
        for culprit in [0, 64, 99] {
            for &queue in few(1, &[QueueDesign::Heap4, QueueDesign::Heap]) {
                let model = Busy::new(100).breaking(rule, culprit);
                let [on_gpu, on_cpu] = faults(&gpu, &model, queue);
                assert_eq!(on_gpu, on_cpu, "rule {rule}");
                assert_eq!((on_gpu.kind, on_gpu.lp), (kind, culprit));
                assert!(on_gpu.window >= window);
            }
        }
    }
    for queue in queues() {
        let mut model = Busy::new(10).breaking(3, 7); // each event sends two: the queue fills
        model.capacity.queue = 90;
        let options = Options::default().queue(queue).fixed(true);
        let found = fault(Simulation::new(&gpu, &model, options).unwrap().run(Until::EMPTY));
        assert_eq!((found.kind, found.lp, found.needed), (FaultKind::QueueFull, 7, 91), "{queue}");
    }
}

#[test]
fn memory_is_cut_over_bindings_and_its_room_does_not_show() {
    let gpu = gpu();
    let mut model = Busy::new(300);
    let options = Options::default().seed(3).group_size(8);
    let narrow = same(&gpu, &model, options, &[Until::EMPTY]);
    model.room = 60;
    assert_eq!(same(&gpu, &model, options, &[Until::EMPTY]), narrow);
    // 64 KiB hold the memory of 68 LPs, the queues of 20 and the mailboxes of 204, if the adapter
    // has enough bindings.
    model.capacity.mailbox = 20;
    for lps in [8, 60, 300] {
        let mut model = Busy { lps, ..model };
        if gpu.limits().max_storage_buffers_per_shader_stage < 31 {
            model.capacity.mailbox = 13;
        }
        same(&gpu.binding_at_most(1 << 16), &model, options, &[Until::time(Ticks::new(150)), Until::EMPTY]);
    }
    model.room = 5000;
    match Simulation::new(&gpu.binding_at_most(1 << 16), &model, options) {
        Err(SimulationError::TooLarge { what, largest, .. }) => {
            assert_eq!((what, largest), ("LP memory", 512))
        }
        other => panic!("{other:?}"),
    }
    // LP memory is part of the fingerprint.
    let mut other = CpuSimulation::in_rust(&model, Options::default().seed(3)).unwrap();
    other.run(Until::EMPTY).unwrap();
    assert_eq!(other.fingerprint(), narrow);
    assert!(other.memory().iter().any(|row| row[2] > 1));
}

/// `tests/wgsl/wide.wgsl`
pub(crate) struct Wide {
    pub(crate) lps: u32,
    pub(crate) capacity: Capacity,
}

impl Wide {
    pub(crate) fn new(lps: u32) -> Self {
        Self { lps, capacity: Capacity { queue: 100, mailbox: 60 } }
    }
}

impl Model for Wide {
    type State = Seen;
    type Params = ();
    type Payload = [u32; 6];
    type Output = ();

    fn name(&self) -> &str {
        "wide"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/wide.wgsl", include_str!("../../wgsl/wide.wgsl"))
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(10)
    }
    fn params(&self) {}
    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

impl CpuModel for Wide {
    fn init(&self, lp: u32, _: &mut Seen, context: &mut Context<'_, [u32; 6]>) {
        for i in 0..6 {
            let mut payload = [9, lp, 1, 1, 1, 1];
            payload[i as usize] ^= context.stream().below(4);
            context.schedule((lp + i) % self.lps, Ticks::new(5), payload);
        }
    }

    fn handle(
        &self,
        lp: u32,
        event: &Event<[u32; 6]>,
        state: &mut Seen,
        context: &mut Context<'_, [u32; 6]>,
    ) {
        state.seen += 1;
        for word in event.payload {
            state.order = (state.order ^ word).wrapping_mul(0x9e37_79b1).wrapping_add(1);
        }
        if state.seen > 40 {
            return;
        }
        let mut payload = event.payload;
        let place = context.stream().below(6) as usize;
        payload[place] = context.stream().below(3);
        let coarse = 10 * (1 + context.stream().below(3));
        let to = context.stream().below(self.lps);
        context.schedule(to, after(event.time, coarse.into()), payload);
        if payload[5] == 2 {
            let [_, a, b, c, d, e] = payload;
            context.schedule(lp, context.now(), [e, d, c, b, a, 0]);
        }
    }
}

#[test]
fn events_of_32_bytes_are_ordered_by_all_their_words() {
    let gpu = gpu();
    for (queue, lps) in each_queue(&[6, 64, 129, 1]) {
        let options = Options::default().seed(8).queue(queue);
        let ends = [Until::time(Ticks::new(6)), Until::events(500), Until::EMPTY];
        same(&gpu, &Wide::new(lps), options, &ends);
    }
    let options = Options::default().group_size(8);
    let small = gpu.binding_at_most(1 << 16);
    if gpu.limits().max_storage_buffers_per_shader_stage >= 31 {
        same(&small, &Wide::new(100), options, &[Until::EMPTY]);
    }
}

#[test]
fn random_models_with_events_of_their_own_agree() {
    let gpu = gpu();
    let strategy = (
        1u32..100,
        1u64..500,
        0u32..4,
        0..QueueDesign::PRODUCTION.len(),
        any::<u64>(),
        (0u32..8, 1u32..4),
        0u64..500,
    );
    let mut runner = super::common::random_cases(4);
    runner
        .run(&strategy, |(lps, lookahead, children, queue, seed, (group, tiles), cut)| {
            let mut model = Busy::new(lps);
            model.lookahead = Ticks::new(lookahead);
            model.params.children = children;
            model.capacity = Capacity { queue: 2000, mailbox: 400 };
            let queue = Some(QueueDesign::PRODUCTION[queue]);
            let options = Options::default().seed(seed).queue(queue).group_size(1 << group).tiles(tiles);
            same(&gpu, &model, options, &[Until::time(Ticks::new(cut)), Until::events(cut), Until::EMPTY]);
            Ok(())
        })
        .unwrap();
}
