//! Every queue design alone, against `BinaryHeap`.

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use common::{POISON, gpu};
use eventhorizon::gpu::{Buffer, Gpu, Kernel, Program, Source};
use eventhorizon::queue::QueueDesign;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

type Event = [u32; 4];
type Key = [u32; 4];

#[derive(Debug, Clone)]
enum Op {
    Push(Event),
    Pop,
    Reopen,
}

/// A total order: the WGSL, and the key that sorts alike.
struct Order {
    source: Source,
    key: fn(Event) -> Key,
}

fn orders() -> [Order; 2] {
    let backwards = "fn event_before(a: vec4<u32>, b: vec4<u32>) -> bool {
        if a.w != b.w { return a.w > b.w; }
        if a.z != b.z { return a.z > b.z; }
        if a.y != b.y { return a.y > b.y; }
        return a.x > b.x;
    }";
    [
        Order { source: QueueDesign::event_order(), key: |[x, y, z, w]| [y, x, z, w] },
        Order { source: Source::new("backwards.wgsl", backwards), key: |[x, y, z, w]| [!w, !z, !y, !x] },
    ]
}

/// What each queue returned, operation by operation, and what it held at the end.
type Outcome = Vec<(Vec<Event>, Vec<Event>)>;

fn on_gpu(
    gpu: &Gpu,
    design: QueueDesign,
    order: &Order,
    capacity: u32,
    adopted: &[Vec<Event>],
    scripts: &[Vec<Op>],
) -> Outcome {
    let length = scripts.iter().zip(adopted).map(|(s, a)| s.len() + a.len() + 1).max().unwrap_or(1);
    let (mut kinds, mut events) = (Vec::new(), Vec::new());
    for (script, adopted) in scripts.iter().zip(adopted) {
        let end = kinds.len() + length;
        kinds.push(3);
        events.push([u32::try_from(adopted.len()).unwrap(), 0, 0, 0]);
        kinds.extend(adopted.iter().map(|_| 9));
        events.extend(adopted);
        for op in script {
            let (kind, event) = match op {
                Op::Push(event) => (0, *event),
                Op::Pop => (1, [0; 4]),
                Op::Reopen => (2, [0; 4]),
            };
            kinds.push(kind);
            events.push(event);
        }
        kinds.resize(end, 2);
        events.resize(end, [0; 4]);
    }
    let source = Source::new("tests/wgsl/queue_probe.wgsl", include_str!("wgsl/queue_probe.wgsl"));
    let program = Program::link("queue probe", &[source, order.source.clone(), design.source()]).unwrap();
    let kernel = Kernel::new(gpu, &program, "probe", design.constants()).unwrap();
    let queues = u32::try_from(scripts.len()).unwrap();
    let stride = u32::try_from(design.stride(capacity)).unwrap();
    let shape = [queues, capacity, stride, u32::try_from(length).unwrap()];
    let shape = Buffer::uniform(gpu, "shape", &shape).unwrap();
    let kinds = Buffer::storage_from(gpu, "kinds", &kinds).unwrap();
    let events = Buffer::storage_from(gpu, "events", &events).unwrap();
    // A queue writes its own slots only: the poison between and behind them must survive.
    let slots = stride as usize * scripts.len();
    let poison = |count: usize| vec![[POISON; 4]; count];
    let storage = Buffer::storage_from(gpu, "queue_events", &poison(slots + 8)).unwrap();
    let results = scripts.len() * (length + capacity as usize);
    let results = Buffer::storage_from(gpu, "results", &poison(results)).unwrap();
    let bindings = kernel
        .bind(
            gpu,
            &[
                ("shape", shape.binding()),
                ("kinds", kinds.binding()),
                ("events", events.binding()),
                ("queue_events", storage.binding()),
                ("results", results.binding()),
            ],
        )
        .unwrap();
    let mut encoder = gpu.encoder("probe");
    kernel.dispatch(&mut encoder.begin_compute_pass(&Default::default()), &bindings, queues.div_ceil(32));
    gpu.submit(encoder).unwrap();
    assert_eq!(storage.read(gpu).unwrap()[slots..], poison(8), "a queue wrote beyond its storage");
    let results = results.read(gpu).unwrap();
    let (steps, rest) = results.split_at(scripts.len() * length);
    (0..scripts.len())
        .map(|q| {
            let first = q * length + 1 + adopted[q].len();
            let mut held: Vec<Event> = rest[q * capacity as usize..][..capacity as usize].to_vec();
            held.retain(|event| *event != [POISON; 4]);
            held.sort_unstable();
            (steps[first..first + scripts[q].len()].to_vec(), held)
        })
        .collect()
}

fn on_cpu(order: &Order, capacity: u32, adopted: &[Vec<Event>], scripts: &[Vec<Op>]) -> Outcome {
    let run = |(adopted, script): (&Vec<Event>, &Vec<Op>)| {
        let mut heap: BinaryHeap<Reverse<(Key, Event)>> =
            adopted.iter().map(|event| Reverse(((order.key)(*event), *event))).collect();
        let steps = script.iter().map(|op| match op {
            Op::Push(event) => {
                let fits = heap.len() < capacity as usize;
                if fits {
                    heap.push(Reverse(((order.key)(*event), *event)));
                }
                [u32::from(fits), u32::try_from(heap.len()).unwrap(), 0, 0]
            }
            Op::Pop => heap.pop().map_or([POISON; 4], |Reverse((_, event))| event),
            Op::Reopen => [POISON; 4],
        });
        let steps = steps.collect();
        let mut held: Vec<Event> = heap.into_iter().map(|Reverse((_, event))| event).collect();
        held.sort_unstable();
        (steps, held)
    };
    adopted.iter().zip(scripts).map(run).collect()
}

fn check(gpu: &Gpu, capacity: u32, adopted: &[Vec<Event>], scripts: &[Vec<Op>]) {
    for order in orders() {
        let expected = on_cpu(&order, capacity, adopted, scripts);
        for design in QueueDesign::ALL {
            let found = on_gpu(gpu, design, &order, capacity, adopted, scripts);
            for (q, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{design}, capacity {capacity}, queue {q}: {:?}", scripts[q]);
            }
        }
    }
}

/// Few distinct words, so that equal keys, equal times and ties in each word are common; and the extremes.
fn event() -> impl Strategy<Value = Event> {
    let word = prop_oneof![0u32..3, Just(u32::MAX), Just(1 << 31), any::<u32>()];
    proptest::array::uniform4(word)
        .prop_filter("the poison marks slots without an event", |e| *e != [POISON; 4])
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![5 => event().prop_map(Op::Push), 4 => Just(Op::Pop), 1 => Just(Op::Reopen)]
}

#[test]
fn random_operations_match_a_binary_heap() {
    let gpu = gpu();
    let queue = |capacity: u32| {
        (proptest::collection::vec(event(), 0..=capacity as usize), proptest::collection::vec(op(), 0..80))
    };
    let strategy = (1u32..24)
        .prop_flat_map(|capacity| (Just(capacity), proptest::collection::vec(queue(capacity), 1..70)));
    let mut runner = TestRunner::new(Config { cases: 8, failure_persistence: None, ..Config::default() });
    runner
        .run(&strategy, |(capacity, queues)| {
            let (adopted, scripts): (Vec<_>, Vec<_>) = queues.into_iter().unzip();
            check(&gpu, capacity, &adopted, &scripts);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_full_queue_refuses_and_keeps_what_it_has() {
    let gpu = gpu();
    for capacity in [1u32, 2, 3, 7, 8, 9, 31, 32, 33] {
        let mut script: Vec<Op> = (0..capacity + 3).map(|i| Op::Push([i * 7 % 5, 0, i, 1])).collect();
        script.extend(vec![Op::Pop; capacity as usize + 2]);
        script.extend((0..capacity + 1).map(|i| Op::Push([0, capacity - i.min(capacity), i, 1])));
        check(&gpu, capacity, &[vec![]], &[script]);
    }
}

#[test]
fn equal_events_all_come_out() {
    let gpu = gpu();
    let mut script = vec![Op::Push([5, 5, 5, 5]); 20];
    script.extend(vec![Op::Pop; 21]);
    check(&gpu, 20, &[vec![[5, 5, 5, 5]; 0]], &[script.clone()]);
    script.truncate(10);
    check(&gpu, 20, &[vec![[5, 5, 5, 5]; 10]], &[script]);
}

#[test]
fn ascending_and_descending_runs_wrap_around_the_buffer() {
    let gpu = gpu();
    let ascending =
        (0..200u32).flat_map(|i| [Op::Push([i, 0, 0, 1]), Op::Push([i + 3, 0, 0, 1]), Op::Pop, Op::Pop]);
    let descending = (0..200u32)
        .rev()
        .flat_map(|i| [Op::Push([i, 0, 0, 1]), Op::Reopen, Op::Push([i, 1, 0, 1]), Op::Pop, Op::Pop]);
    check(&gpu, 5, &[vec![], vec![]], &[ascending.collect(), descending.collect()]);
}

#[test]
fn names_and_designs_go_both_ways() {
    for design in QueueDesign::ALL {
        assert_eq!(design.name().parse(), Ok(design));
    }
    let error = "splay".parse::<QueueDesign>().unwrap_err();
    assert!(error.to_string().contains("splay") && error.to_string().contains("heap"), "{error}");
}
