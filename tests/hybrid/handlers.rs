//! Handlers: the device and the Rust twin give one fingerprint.

use eventhorizon::gpu::{Buffer, Gpu};
use eventhorizon::hybrid::{
    Context, Digest, Entity, Handle, Handlers, HybridError, Options, Placement, Simulation, WgslHandler,
};
use eventhorizon::time::Ticks;

use super::common::gpu;
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
    let words = table();
    let buffer = Buffer::storage_from(gpu, "table", &words).unwrap();
    let twin = move |call: &Walk| {
        let (mut at, mut sum) = (call.start, 0_u32);
        for _ in 0..call.steps {
            at = at.wrapping_mul(5).wrapping_add(1) % TABLE;
            sum = sum.wrapping_add(words[at as usize]);
        }
        Walked { sum, last: at }
    };
    let source = eventhorizon::wgsl!("../wgsl/hybrid_batched.wgsl");
    WgslHandler::batched(Some(gpu), "walks", source, twin).unwrap().bind("table", &buffer)
}

fn teams(gpu: &Gpu) -> WgslHandler<u32, u32, 3> {
    let twin = |&base: &u32| {
        std::array::from_fn(|group| (0..32).map(|lane| (base + lane) * (group as u32 + 1)).sum())
    };
    WgslHandler::multithreaded(Some(gpu), "teams", eventhorizon::wgsl!("../wgsl/hybrid_team.wgsl"), 32, twin)
        .unwrap()
}

/// Calls both handlers, then one of them again with its answer.
struct Caller {
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
        // It is executed after the answers, although it is for the present time.
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

#[test]
fn the_device_and_the_twin_have_one_fingerprint_on_all_ranks() {
    let gpu = gpu();
    let run = |ranks, threads, placement| {
        let make = |transport: Option<_>| {
            let mut handlers = Handlers::new(Some(gpu.clone()), placement);
            let (walks, teams) = (handlers.add(walks(&gpu)), handlers.add(teams(&gpu)));
            let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
            let options = Options { seed: 4, threads: Some(threads), handlers, ..Options::default() };
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
fn answers_come_before_the_next_event_and_what_ran_where_is_told() {
    let gpu = gpu();
    let mut handlers = Handlers::new(Some(gpu.clone()), Placement::Gpu);
    let (walks, teams) = (handlers.add(walks(&gpu)), handlers.add(teams(&gpu)));
    let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
    let options = Options { handlers, threads: Some(1), ..Options::default() };
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
    use eventhorizon::hybrid::Handler;
    let gpu = gpu();
    let (walks, teams) = (walks(&gpu), teams(&gpu));
    for count in [1, 2, 63, 64, 65, 128, 1000] {
        let calls: Vec<_> = (0..count).map(|i| Walk { start: i, steps: i % 40 }).collect();
        let told = walks.on_gpu(&gpu, &calls).unwrap();
        let expected: Vec<_> = calls.iter().map(|call| walks.on_cpu(call)).collect();
        assert_eq!(bytemuck::cast_slice::<_, u32>(&told), bytemuck::cast_slice::<_, u32>(&expected));
        let calls: Vec<_> = (0..count).collect();
        let expected: Vec<_> = calls.iter().map(|call| teams.on_cpu(call)).collect();
        assert_eq!(teams.on_gpu(&gpu, &calls).unwrap(), expected);
    }
}

#[test]
fn wgsl_and_rust_types_that_differ_are_refused() {
    let gpu = gpu();
    let source = || eventhorizon::wgsl!("../wgsl/hybrid_batched.wgsl");
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
    // A buffer that is left out is found when it is called, and ends the run.
    let unbound =
        WgslHandler::<Walk, Walked>::batched(Some(&gpu), "unbound", source(), |_| Walked { sum: 0, last: 0 });
    let mut handlers = Handlers::new(Some(gpu.clone()), Placement::Gpu);
    let (walks, teams) = (handlers.add(unbound.unwrap()), handlers.add(teams(&gpu)));
    let make = |_| Caller { walks, teams, sum: 0, log: Vec::new() };
    let options = Options { handlers, ..Options::default() };
    let mut simulation = Simulation::new(2, Ticks::new(10), make, options).unwrap();
    let error = simulation.run(Ticks::new(100)).unwrap_err();
    assert!(matches!(&error, HybridError::Gpu(_)) && error.to_string().contains("`table`"), "{error}");
}
