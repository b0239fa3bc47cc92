//! Handlers: the device and the Rust reference implementation give one fingerprint.

use eventhorizon::gpu::{Buffer, Gpu};
use eventhorizon::hybrid::{
    Context, Digest, Entity, Fault, FaultKind, Handle, Handler, Handlers, HybridError, Options, Placement,
    Simulation, WgslHandler,
};
use eventhorizon::time::Ticks;

use super::common::gpu;
use super::devices::own_device;
use super::on_ranks;

#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Walk {
    start: u32,
    steps: u32,
}

#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Walked {
    sum: u32,
    last: u32,
}

const TABLE: u32 = 101;

fn table() -> Vec<u32> {
    (0..TABLE).map(|i| i * i + 7).collect()
}

fn walks(gpu: &Gpu) -> WgslHandler<Walk, Walked> {
    let buffer = Buffer::storage_from(gpu, "table", &table()).unwrap();
    walks_on(std::slice::from_ref(gpu)).bind("table", &buffer)
}

fn walks_on(devices: &[Gpu]) -> WgslHandler<Walk, Walked> {
    let words = table();
    let reference = move |call: &Walk| {
        let (mut at, mut sum) = (call.start, 0_u32);
        for _ in 0..call.steps {
            at = at.wrapping_mul(5).wrapping_add(1) % TABLE;
            sum = sum.wrapping_add(words[at as usize]);
        }
        Walked { sum, last: at }
    };
    let source = eventhorizon::wgsl!("../../wgsl/hybrid_batched.wgsl");
    WgslHandler::batched(devices, "walks", source, reference).unwrap()
}

fn teams(gpu: &Gpu) -> WgslHandler<u32, u32, 3> {
    let reference = |&base: &u32| {
        std::array::from_fn(|group| (0..32).map(|lane| (base + lane) * (group as u32 + 1)).sum())
    };
    WgslHandler::multithreaded(
        Some(gpu),
        "teams",
        eventhorizon::wgsl!("../../wgsl/hybrid_team.wgsl"),
        32,
        reference,
    )
    .unwrap()
}

/// Calls both handlers, then one of them again with its answer.
pub(super) struct Caller {
    walks: Handle<WgslHandler<Walk, Walked>>,
    teams: Handle<WgslHandler<u32, u32, 3>>,
    sum: u32,
    log: Vec<(u64, u32)>,
}

impl Entity for Caller {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        let time = context.stream().below(40);
        context.send(context.name(), Ticks::new(time.into()), 1);
    }

    fn receive(&mut self, message: u32, context: &mut Context<Self>) {
        let (now, name) = (context.now().get(), context.name());
        self.log.push((now, message));
        if message == 0 {
            return;
        }
        // It is executed after the answers, although it is for the current time.
        context.send(name, context.now(), 0);
        let call = Walk { start: name, steps: context.stream().below(30) };
        let walks = self.walks;
        context.call(walks, call, move |caller, [first], context| {
            caller.log.push((context.now().get(), first.sum));
            let call = Walk { start: first.last, steps: context.stream().below(5) };
            context.call(walks, call, |caller, [second], context| {
                caller.sum = caller.sum.wrapping_mul(31).wrapping_add(second.sum);
                let entities = context.entities();
                let to = context.stream().below(entities);
                context.send(to, Ticks::new(context.now().get() + 10), second.sum | 1);
            });
        });
        context.call(self.teams, message % 1000, |caller, answers, _| {
            caller.sum =
                answers.iter().fold(caller.sum, |sum, answer| sum.wrapping_mul(7).wrapping_add(*answer));
        });
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&(self.sum, &self.log));
    }
}

/// The handlers of callers, and the function that makes a caller.
pub(super) fn callers(gpu: &Gpu, placement: Placement) -> (Handlers, impl Fn(u32) -> Caller + use<>) {
    let mut handlers = Handlers::new(Some(gpu.clone()), placement);
    let (walks, teams) = (handlers.add(walks(gpu)), handlers.add(teams(gpu)));
    (handlers, move |_| Caller { walks, teams, sum: 0, log: Vec::new() })
}

#[test]
fn the_device_and_the_twin_have_one_fingerprint_on_all_ranks() {
    let gpu = gpu();
    let run = |ranks, threads, placement| {
        let make = |transport: Option<_>| {
            let (handlers, make) = callers(&gpu, placement);
            let options = Options::default().seed(4).threads(threads).handlers(handlers);
            match transport {
                None => Simulation::new(200, Ticks::new(10), make, options),
                Some(transport) => Simulation::on(transport, 200, Ticks::new(10), make, options),
            }
        };
        on_ranks(ranks, make, &[Ticks::new(33), Ticks::new(120)])
    };
    let expected = run(1, 1, Placement::Cpu);
    assert!(expected[1].0 > 1000);
    for (ranks, threads, placement) in [
        (1, 1, Placement::Gpu),
        (1, 2, Placement::Auto),
        (2, 1, Placement::Gpu),
        (3, 2, Placement::Cpu),
        (4, 1, Placement::Gpu),
    ] {
        assert_eq!(run(ranks, threads, placement), expected, "{ranks} x {threads}, {placement:?}");
    }
}

#[test]
fn several_devices_share_the_calls() {
    let devices = [0, 1, 2].map(own_device);
    let first = &devices[0];
    let run = |devices: &[Gpu], placement| {
        let mut walks = walks_on(devices);
        for gpu in devices {
            walks = walks.bind_on(gpu, "table", &Buffer::storage_from(gpu, "table", &table()).unwrap());
        }
        let mut handlers = Handlers::new(devices.iter().cloned(), placement);
        // A handler for a single device runs there.
        let (walks, teams) = (handlers.add(walks), handlers.add(teams(first)));
        let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
        let options = Options::default().seed(4).threads(1).handlers(handlers);
        let mut simulation = Simulation::new(200, Ticks::new(10), make, options).unwrap();
        simulation.run(Ticks::new(120)).unwrap();
        (simulation.fingerprint().unwrap(), simulation.used())
    };
    let (expected, _) = run(&[], Placement::Cpu);
    for count in 1..=devices.len() {
        let (fingerprint, used) = run(&devices[..count], Placement::Gpu);
        assert_eq!(fingerprint, expected, "{count} devices");
        for used in used {
            assert_eq!(used.devices.iter().sum::<u64>(), used.gpu.0, "{used:?}");
            assert!(used.devices.len() == count && used.devices.iter().all(|&calls| calls > 0), "{used:?}");
        }
        assert_eq!(run(&devices[..count], Placement::Auto).0, expected, "{count} devices or the cores");
    }
}

#[test]
fn what_is_bound_on_one_device_of_several_alone_is_named_at_the_first_call() {
    let devices = [0, 1].map(own_device);
    let table = Buffer::storage_from(&devices[0], "table", &table()).unwrap();
    let handler = walks_on(&devices).bind("table", &table);
    let mut handlers = Handlers::new(devices.iter().cloned(), Placement::Gpu);
    let (walks, teams) = (handlers.add(handler), handlers.add(teams(&devices[0])));
    let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
    let options = Options::default().threads(1).handlers(handlers);
    let mut simulation = Simulation::new(1, Ticks::new(10), make, options).unwrap();
    let error = simulation.run(Ticks::new(100)).unwrap_err().to_string();
    assert!(error.contains("`table`") && error.contains("bind_on"), "{error}");
}

#[test]
fn a_device_of_several_that_is_lost_ends_the_run() {
    let devices = [0, 1].map(own_device);
    let handler = walks_on(&devices);
    let table = devices.each_ref().map(|gpu| Buffer::storage_from(gpu, "table", &table()).unwrap());
    let handler = handler.bind_on(&devices[0], "table", &table[0]).bind_on(&devices[1], "table", &table[1]);
    let mut handlers = Handlers::new(devices.iter().cloned(), Placement::Gpu);
    let (walks, teams) = (handlers.add(handler), handlers.add(teams(&devices[0])));
    let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
    let options = Options::default().seed(4).threads(1).handlers(handlers);
    let mut simulation = Simulation::new(200, Ticks::new(10), make, options).unwrap();
    devices[1].device().destroy();
    let error = simulation.run(Ticks::new(1 << 40)).unwrap_err();
    assert!(matches!(error, HybridError::Gpu(_)), "{error}");
    assert!(matches!(simulation.run(Ticks::new(1 << 40)), Err(HybridError::Over)));
}

#[test]
fn answers_come_before_the_next_event_and_what_ran_where_is_told() {
    let gpu = gpu();
    let mut handlers = Handlers::new(Some(gpu.clone()), Placement::Gpu);
    let (walks, teams) = (handlers.add(walks(&gpu)), handlers.add(teams(&gpu)));
    let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
    let options = Options::default().handlers(handlers).threads(1);
    let mut simulation = Simulation::new(1, Ticks::new(10), make, options).unwrap();
    simulation.run(Ticks::new(100)).unwrap();
    let log = &simulation.entity(0).unwrap().log;
    assert!(log.len() >= 6 && log.len().is_multiple_of(3));
    for event in log.chunks(3) {
        assert!(event.iter().all(|(time, _)| *time == event[0].0) && event[2].1 == 0, "{log:?}");
    }
    let used = simulation.used();
    let events = log.len() as u64 / 3;
    assert_eq!((used[0].gpu.0, used[0].cpu.0), (2 * events, 0));
    assert_eq!((used[1].name.as_str(), used[1].gpu.0), ("teams", events));
}

#[test]
fn batches_of_every_size_around_a_workgroup() {
    let gpu = gpu();
    let (walks, teams) = (walks(&gpu), teams(&gpu));
    for count in [1, 2, 63, 64, 65, 128, 1000] {
        let calls: Vec<_> = (0..count).map(|i| Walk { start: i, steps: i % 40 }).collect();
        let reported = walks.on_gpu(&gpu, &calls).unwrap();
        let expected: Vec<_> = calls.iter().map(|call| walks.on_cpu(call)).collect();
        assert_eq!(bytemuck::cast_slice::<_, u32>(&reported), bytemuck::cast_slice::<_, u32>(&expected));
        let calls: Vec<_> = (0..count).collect();
        let expected: Vec<_> = calls.iter().map(|call| teams.on_cpu(call)).collect();
        assert_eq!(teams.on_gpu(&gpu, &calls).unwrap(), expected);
    }
}

#[test]
fn wgsl_and_rust_types_that_differ_are_refused() {
    let gpu = gpu();
    let source = || eventhorizon::wgsl!("../../wgsl/hybrid_batched.wgsl");
    let wrong =
        WgslHandler::<u32, Walked>::batched(Some(&gpu), "short", source(), |_| Walked { sum: 0, last: 0 });
    let error = wrong.unwrap_err();
    assert!(
        matches!(&error, HybridError::Handler { handler, what } if handler == "short" && what.contains("`struct Call` has 8 bytes")),
        "{error}"
    );
    let none = eventhorizon::gpu::Source::new(
        "mine.wgsl",
        "struct Call { a: u32 }\nfn handle(call: Call) -> u32 { return 1u; }",
    );
    let error = WgslHandler::<u32, u32>::batched(Some(&gpu), "none", none, |_| 0).unwrap_err();
    assert!(error.to_string().contains("Answer"), "{error}");
    // A missing buffer is found when the handler is called, and ends the run.
    let unbound =
        WgslHandler::<Walk, Walked>::batched(Some(&gpu), "unbound", source(), |_| Walked { sum: 0, last: 0 });
    let mut handlers = Handlers::new(Some(gpu.clone()), Placement::Gpu);
    let (walks, teams) = (handlers.add(unbound.unwrap()), handlers.add(teams(&gpu)));
    let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
    let options = Options::default().handlers(handlers);
    let mut simulation = Simulation::new(2, Ticks::new(10), make, options).unwrap();
    let error = simulation.run(Ticks::new(100)).unwrap_err();
    assert!(matches!(&error, HybridError::Gpu(_)) && error.to_string().contains("`table`"), "{error}");
}

/// A handler with loops that the driver may end.
struct Doubling {
    cut: bool,
}

impl Handler for Doubling {
    type Call = u32;
    type Answer = u32;

    fn name(&self) -> &str {
        "doubling"
    }

    fn on_cpu(&self, call: &u32) -> u32 {
        call.wrapping_mul(2)
    }

    fn on_gpu(&self, _: &Gpu, calls: &[u32]) -> Result<Vec<u32>, HybridError> {
        match self.cut {
            true => Err(HybridError::Cut { handler: self.name().to_owned() }),
            false => Ok(calls.iter().map(|call| self.on_cpu(call)).collect()),
        }
    }
}

/// Calls the handler once for each message, or again with each answer.
struct Chain {
    doubling: Handle<Doubling>,
    without_end: bool,
    answers: u32,
    /// When its processes continued.
    seen: Vec<(u32, u64)>,
}

impl Chain {
    fn next(&mut self, call: u32, context: &mut Context<Self>) {
        let doubling = self.doubling;
        context.call(doubling, call, |chain, answer, context| {
            chain.answers += 1;
            if chain.without_end {
                chain.next(answer, context);
            }
        });
    }
}

impl Entity for Chain {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        for time in 1..20 {
            context.send(context.name(), Ticks::new(time * 10), 3);
        }
    }

    fn receive(&mut self, message: u32, context: &mut Context<Self>) {
        self.next(message, context);
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&(self.answers, &self.seen));
    }
}

fn chain(
    gpu: Option<Gpu>,
    placement: Placement,
    cut: bool,
    without_end: bool,
) -> Result<Simulation<Chain>, HybridError> {
    let mut handlers = Handlers::new(gpu, placement);
    let doubling = handlers.add(Doubling { cut });
    let make = |_| Chain { doubling, without_end, answers: 0, seen: Vec::new() };
    let options = Options::default().handlers(handlers).threads(1);
    Simulation::new(1, Ticks::new(5), make, options)
}

#[test]
fn a_handler_without_a_device_runs_on_its_twin() {
    let gpu = gpu();
    for placement in [Placement::Gpu, Placement::Auto] {
        let mut handlers = Handlers::new(Some(gpu.clone()), placement);
        let (walks, teams) = (handlers.add(walks_on(&[])), handlers.add(teams(&gpu)));
        let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
        let options = Options::default().handlers(handlers).threads(1);
        let mut simulation = Simulation::new(2, Ticks::new(10), make, options).unwrap();
        simulation.run(Ticks::new(100)).unwrap();
        let used = simulation.used();
        assert!(used[0].gpu.0 == 0 && used[0].cpu.0 > 0 && used[1].gpu.0 > 0, "{used:?}");
    }
}

#[test]
fn what_the_driver_cuts_runs_on_the_cores_where_it_may() {
    let gpu = gpu();
    let mut simulation = chain(Some(gpu.clone()), Placement::Auto, true, false).unwrap();
    simulation.run(Ticks::new(1000)).unwrap();
    assert_eq!(simulation.entity(0).unwrap().answers, 19);
    let used = &simulation.used()[0];
    assert_eq!((used.gpu.0, used.cpu.0), (0, 19));
    let error = chain(Some(gpu), Placement::Gpu, true, false).unwrap().run(Ticks::new(1000)).unwrap_err();
    assert!(matches!(error, HybridError::Cut { .. }), "{error}");
}

#[test]
fn calls_without_end_are_a_fault() {
    let error = chain(None, Placement::Cpu, false, true).unwrap().run(Ticks::new(1000)).unwrap_err();
    let HybridError::Fault(fault) = error else { panic!("{error}") };
    let kind = FaultKind::Stuck { events: (1 << 20) + 1 };
    assert_eq!(fault, Fault { entity: 0, time: Ticks::new(10), kind });
}

/// One event makes two calls, whose answers start a process each.
struct Twins(Chain);

impl Entity for Twins {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        context.send(context.name(), Ticks::new(10), 0);
        context.send(context.name(), Ticks::new(22), 0);
    }

    fn receive(&mut self, _: u32, context: &mut Context<Self>) {
        for span in [4, 1, 2] {
            context.call(self.0.doubling, span, |_, answer, context| {
                context.spawn(async move |process| {
                    process.wait(Ticks::new(answer.into())).await;
                    process.with(|twins: &mut Self, context| {
                        twins.0.seen.push((answer, context.now().get()));
                    });
                });
            });
        }
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&self.0.seen);
    }
}

#[test]
fn processes_that_answers_begin_are_different_ones() {
    let mut handlers = Handlers::new(None, Placement::Cpu);
    let doubling = handlers.add(Doubling { cut: false });
    let make = |_| Twins(Chain { doubling, without_end: false, answers: 0, seen: Vec::new() });
    let options = Options::default().handlers(handlers).threads(1);
    let mut simulation = Simulation::new(1, Ticks::new(5), make, options).unwrap();
    simulation.run(Ticks::new(100)).unwrap();
    let expected = [10, 22].map(|at| [2, 4, 8].map(|span| (span, at + u64::from(span)))).concat();
    assert_eq!(simulation.entity(0).unwrap().0.seen, expected);
}
