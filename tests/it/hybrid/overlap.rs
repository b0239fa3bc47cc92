//! Algorithm 2: calls in streams, while entities execute other events.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use eventhorizon::ErrorKind;
use eventhorizon::gpu::Gpu;
use eventhorizon::hybrid::{
    Context, Digest, Entity, Fault, FaultKind, Handle, Handler, Handlers, HybridError, Options, Overlap,
    Placement, Simulation,
};
use eventhorizon::time::Ticks;
use rayon::prelude::*;

use super::common::gpu;
use super::handlers::{Caller, callers};
use super::on_ranks;

fn streams(streams: usize, calls: usize) -> Overlap {
    Overlap::Streams { streams, calls }
}

#[test]
fn overlap_changes_no_result() {
    let gpu = gpu();
    let run = |ranks, threads, placement, overlap| {
        let make = |transport: Option<_>| {
            let (handlers, make) = callers(&gpu, placement);
            let options = Options::default().seed(4).threads(threads).handlers(handlers).overlap(overlap);
            match transport {
                None => Simulation::<Caller>::new(200, Ticks::new(10), make, options),
                Some(transport) => Simulation::on(transport, 200, Ticks::new(10), make, options),
            }
        };
        on_ranks(ranks, make, &[Ticks::new(33), Ticks::new(120)])
    };
    let expected = run(1, 1, Placement::Cpu, Overlap::Off);
    assert!(expected[1].0 > 1000);
    for (ranks, threads, placement, overlap) in [
        (1, 1, Placement::Cpu, streams(1, 1)),
        (1, 1, Placement::Gpu, streams(3, 16)),
        (1, 3, Placement::Auto, streams(2, 7)),
        (1, 2, Placement::Gpu, streams(1, 10_000)),
        (2, 1, Placement::Gpu, streams(2, 20)),
        (3, 2, Placement::Cpu, streams(4, 5)),
    ] {
        assert_eq!(run(ranks, threads, placement, overlap), expected, "{ranks} x {threads}, {overlap:?}");
    }
}

#[test]
fn simulations_in_a_pool_do_not_wait_for_each_other() {
    // As many as the pool has threads: each waits for a stream, which answers on the same pool.
    let run = |overlap| {
        let (handlers, make) = callers(&gpu(), Placement::Cpu);
        let options = Options::default().seed(4).handlers(handlers).overlap(overlap);
        let mut simulation = Simulation::<Caller>::new(50, Ticks::new(10), make, options).unwrap();
        simulation.run(Ticks::new(60)).unwrap();
        simulation.fingerprint().unwrap()
    };
    let expected = run(Overlap::Off);
    let many = 2 * rayon::current_num_threads();
    let found: Vec<_> = (0..many).into_par_iter().map(|_| run(streams(1, 16))).collect();
    assert_eq!(found, vec![expected; many]);
}

/// A handler whose answer to call 0 waits until the host has executed an event of another entity.
struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Handler for Latch {
    type Call = u32;
    type Answer = bool;

    fn name(&self) -> &str {
        "latch"
    }

    fn has_gpu(&self) -> bool {
        false
    }

    /// Whether the event came first. The limit turns a failure into an answer.
    fn on_cpu(&self, _: &u32) -> bool {
        let (passed, changed) = &*self.0;
        let passed = passed.lock().unwrap();
        let limit = Duration::from_secs(60);
        *changed.wait_timeout_while(passed, limit, |passed| !*passed).unwrap().0
    }

    fn on_gpu(&self, _: &Gpu, _: &[u32]) -> Result<Vec<bool>, HybridError> {
        unreachable!("it has no device")
    }
}

struct Overlapped {
    latch: Handle<Latch>,
    passed: Arc<(Mutex<bool>, Condvar)>,
    came_first: Option<bool>,
}

impl Entity for Overlapped {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        // The entity with the smaller name is executed first.
        context.send(context.name(), Ticks::new(5), 0);
    }

    fn receive(&mut self, _: u32, context: &mut Context<Self>) {
        if context.name() == 0 {
            context.call(self.latch, 0, |entity, came_first, _| entity.came_first = Some(came_first));
        } else {
            *self.passed.0.lock().unwrap() = true;
            self.passed.1.notify_all();
        }
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&self.came_first);
    }
}

#[test]
fn the_host_executes_events_while_a_call_is_answered() {
    let passed = Arc::new((Mutex::new(false), Condvar::new()));
    let mut handlers = Handlers::new(None, Placement::Cpu);
    let latch = handlers.add(Latch(Arc::clone(&passed)));
    let make = |_| Overlapped { latch, passed: Arc::clone(&passed), came_first: None };
    let options = Options::default().threads(1).handlers(handlers).overlap(streams(1, 1));
    let mut simulation = Simulation::new(2, Ticks::new(10), make, options).unwrap();
    // Without overlap, or with one event after the other, the call would wait for its limit.
    simulation.run(Ticks::new(20)).unwrap();
    assert_eq!(simulation.entity(0).unwrap().came_first, Some(true));
}

/// Groups that are being answered at once, and the sizes of all.
#[derive(Default)]
struct Seen {
    now: usize,
    most: usize,
    groups: Vec<usize>,
}

/// A handler that "runs on a device" and counts its groups.
struct Groups(Arc<Mutex<Seen>>, Arc<AtomicUsize>);

impl Handler for Groups {
    type Call = u32;
    type Answer = u32;

    fn name(&self) -> &str {
        "groups"
    }

    fn on_cpu(&self, call: &u32) -> u32 {
        call + 1
    }

    fn on_gpu(&self, _: &Gpu, calls: &[u32]) -> Result<Vec<u32>, HybridError> {
        {
            let mut seen = self.0.lock().unwrap();
            seen.now += 1;
            seen.most = seen.most.max(seen.now);
            seen.groups.push(calls.len());
        }
        let fails = self.1.load(Ordering::Relaxed);
        let answers = calls.iter().map(|call| call + 1).collect();
        self.0.lock().unwrap().now -= 1;
        match calls.iter().find(|&&call| call as usize >= fails) {
            Some(call) => {
                Err(HybridError::Handler { handler: "groups".to_owned(), what: format!("call {call}") })
            }
            None => Ok(answers),
        }
    }
}

struct Asks(Handle<Groups>, u32);

impl Entity for Asks {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        context.send(context.name(), Ticks::new(1), 0);
    }

    fn receive(&mut self, _: u32, context: &mut Context<Self>) {
        context.call(self.0, context.name(), |asks, answer, _| asks.1 += answer);
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&self.1);
    }
}

fn asks(overlap: Overlap, fails: usize) -> (Result<Simulation<Asks>, HybridError>, Arc<Mutex<Seen>>) {
    let seen = Arc::default();
    let mut handlers = Handlers::new(Some(gpu()), Placement::Gpu);
    let groups = handlers.add(Groups(Arc::clone(&seen), Arc::new(AtomicUsize::new(fails))));
    let options = Options::default().threads(1).handlers(handlers).overlap(overlap);
    (Simulation::new(50, Ticks::new(10), |_| Asks(groups, 0), options), seen)
}

#[test]
fn groups_have_the_given_number_of_calls_and_the_last_the_rest() {
    let (simulation, seen) = asks(streams(2, 8), usize::MAX);
    let mut simulation = simulation.unwrap();
    simulation.run(Ticks::new(5)).unwrap();
    let mut groups = seen.lock().unwrap().groups.clone();
    groups.sort_unstable();
    assert_eq!(groups, [2, 8, 8, 8, 8, 8, 8]);
    assert!(seen.lock().unwrap().most <= 2);
    assert_eq!(simulation.used()[0].gpu.0, 50);
    assert!(simulation.entities().all(|(name, asks)| asks.1 == name + 1));
    // Without overlap there is one group.
    let (simulation, seen) = asks(Overlap::Off, usize::MAX);
    simulation.unwrap().run(Ticks::new(5)).unwrap();
    assert_eq!(seen.lock().unwrap().groups, [50]);
}

#[test]
fn a_group_that_fails_ends_the_run_and_the_first_decides() {
    for overlap in [streams(1, 8), streams(4, 8), Overlap::Off] {
        let (simulation, _) = asks(overlap, 20);
        let mut simulation = simulation.unwrap();
        let error = simulation.run(Ticks::new(5)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model);
        assert!(error.to_string().contains("call 20"), "{error}");
        assert!(matches!(simulation.run(Ticks::new(9)), Err(HybridError::Over)));
    }
}

#[test]
fn streams_that_are_invalid_are_refused() {
    for overlap in [streams(0, 1), streams(257, 1), streams(1, 0)] {
        let error = asks(overlap, usize::MAX).0.err().unwrap();
        assert!(matches!(error, HybridError::Streams { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
}

/// Panics in the answer.
struct Falls(Handle<Groups>);

impl Entity for Falls {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        context.send(context.name(), Ticks::new(1), 0);
    }

    fn receive(&mut self, _: u32, context: &mut Context<Self>) {
        context.call(self.0, 0, |_, _, context| {
            assert!(context.name() != 3 && context.name() != 7, "fell");
        });
    }

    fn state(&self, _: &mut Digest) {}
}

#[test]
fn faults_in_answers_are_those_of_a_run_without_overlap() {
    for overlap in [streams(2, 1), streams(2, 3), Overlap::Off] {
        let mut handlers = Handlers::new(Some(gpu()), Placement::Gpu);
        let groups = handlers.add(Groups(Arc::default(), Arc::new(AtomicUsize::new(usize::MAX))));
        let options = Options::default().threads(2).handlers(handlers).overlap(overlap);
        let mut simulation = Simulation::new(10, Ticks::new(10), |_| Falls(groups), options).unwrap();
        let kind = FaultKind::Panic { message: "fell".to_owned() };
        match simulation.run(Ticks::new(5)).unwrap_err() {
            HybridError::Fault(fault) => assert_eq!(fault, Fault { entity: 3, time: Ticks::new(1), kind }),
            other => panic!("{other}"),
        }
    }
}
