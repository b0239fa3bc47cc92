//! Every queue design alone, against `BinaryHeap`.

mod parallel_heap;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::common;
use common::{POISON, gpu};
use eventhorizon::gpu::{Buffer, Gpu, Kernel, Program, Source};
use eventhorizon::queue::{Lanes, QueueDesign};
use eventhorizon::wgsl;
use proptest::prelude::*;

/// The words of an event; if events have 4, the others are zero.
type Event = [u32; 8];

#[derive(Debug, Clone)]
enum Op {
    Push(Event),
    Pop,
    Reopen,
    /// Events that are written at `queue_spare` and inserted all at once.
    Take(Vec<Event>),
}

/// A total order: the WGSL, the words of an event, and a key with the same order.
struct Order {
    source: Source,
    words: usize,
    key: fn(Event) -> Event,
}

fn orders() -> [Order; 3] {
    let backwards = "alias Item = vec4<u32>;
    fn event_before(a: Item, b: Item) -> bool {
        if a.w != b.w { return a.w > b.w; }
        if a.z != b.z { return a.z > b.z; }
        if a.y != b.y { return a.y > b.y; }
        return a.x > b.x;
    }
    fn item_words(item: Item) -> vec4<u32> { return item; }
    fn words_item(words: vec4<u32>) -> Item { return words; }";
    let forwards = |[x, y, rest @ ..]: Event| {
        let mut key = [y, x, 0, 0, 0, 0, 0, 0];
        key[2..].copy_from_slice(&rest);
        key
    };
    [
        Order { source: QueueDesign::events(), words: 4, key: forwards },
        Order { source: QueueDesign::wide_events(), words: 8, key: forwards },
        Order {
            source: Source::new("backwards.wgsl", backwards),
            words: 4,
            key: |[x, y, z, w, ..]| [!w, !z, !y, !x, 0, 0, 0, 0],
        },
    ]
}

/// The events that each queue returned for each operation, and the events it held at the end.
type Outcome = Vec<(Vec<Event>, Vec<Event>)>;

const POISONED: Event = [POISON; 8];

fn on_gpu(
    gpu: &Gpu,
    design: QueueDesign,
    order: &Order,
    capacity: u32,
    adopted: &[Vec<Event>],
    scripts: &[Vec<Op>],
) -> Outcome {
    let count = |events: &[Event]| {
        let mut words = [0; 8];
        words[0] = u32::try_from(events.len()).unwrap();
        words
    };
    // The rows of each script: kind and event. Further events of an operation follow it, marked as
    // no operation.
    let rows = scripts.iter().zip(adopted).map(|(script, adopted)| {
        let taking = |kind, events: &[Event]| {
            std::iter::once((kind, count(events))).chain(events.iter().map(|event| (9, *event))).collect()
        };
        let mut rows: Vec<(u32, Event)> = taking(3, adopted);
        for op in script {
            match op {
                Op::Push(event) => rows.push((0, *event)),
                Op::Pop => rows.push((1, [0; 8])),
                Op::Reopen => rows.push((2, [0; 8])),
                Op::Take(events) => rows.extend::<Vec<_>>(taking(4, events)),
            }
        }
        rows
    });
    let mut rows: Vec<_> = rows.collect();
    let length = rows.iter().map(Vec::len).max().unwrap_or(1);
    rows.iter_mut().for_each(|rows| rows.resize(length, (9, [0; 8])));
    let cut = |event: &Event| event[..order.words].to_vec();
    let kinds: Vec<u32> = rows.iter().flatten().map(|row| row.0).collect();
    let events: Vec<u32> = rows.iter().flatten().flat_map(|row| cut(&row.1)).collect();

    let lanes = design.lanes();
    let (source, served, mut constants) = match lanes {
        1 => (wgsl!("../../wgsl/queue_probe.wgsl"), 32, vec![]),
        // Two teams in a workgroup: both run each other's loops, which llvmpipe limits in number.
        _ => (wgsl!("../../wgsl/queue_team_probe.wgsl"), 2, vec![("GROUP_SIZE", f64::from(2 * lanes))]),
    };
    constants.extend(design.constants());
    let sources = [source, order.source.clone(), design.source().unwrap()];
    let program = Program::link("queue probe", &sources).unwrap();
    let kernel = Kernel::new(gpu, &program, "probe", &constants).unwrap();
    let queues = u32::try_from(scripts.len()).unwrap();
    let stride = u32::try_from(design.stride(capacity)).unwrap();
    let shape = [queues, capacity, stride, u32::try_from(length).unwrap()];
    let shape = Buffer::uniform(gpu, "shape", &shape).unwrap();
    let kinds = Buffer::storage_from(gpu, "kinds", &kinds).unwrap();
    let events = Buffer::storage_from(gpu, "events", &events).unwrap();
    // A queue writes only its own slots: the pattern between and after them must remain.
    let slots = usize::try_from(design.slots(queues, capacity)).unwrap() * order.words;
    let poison = |count: usize| vec![POISON; count];
    let storage = Buffer::storage_from(gpu, "queue_events", &poison(slots + 32)).unwrap();
    let results = scripts.len() * (length + capacity as usize) * order.words;
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
    kernel.dispatch(&mut encoder.begin_compute_pass(&Default::default()), &bindings, queues.div_ceil(served));
    gpu.submit(encoder).unwrap();
    assert_eq!(storage.read(gpu).unwrap()[slots..], poison(32), "a queue wrote beyond its storage");
    let results = results.read(gpu).unwrap();
    let results: Vec<Event> = results
        .chunks(order.words)
        .map(|words| match words.iter().all(|word| *word == POISON) {
            true => POISONED,
            false => std::array::from_fn(|word| words.get(word).copied().unwrap_or(0)),
        })
        .collect();
    let (steps, rest) = results.split_at(scripts.len() * length);
    (0..scripts.len())
        .map(|q| {
            assert_eq!(
                steps[q * length],
                POISONED,
                "{design}: the driver cut a loop; make the script shorter"
            );
            let steps = steps[q * length..][..length].iter().zip(&rows[q]).skip(1);
            let steps = steps.filter(|(_, row)| row.0 != 9).map(|(step, _)| *step).collect();
            let mut held: Vec<Event> = rest[q * capacity as usize..][..capacity as usize].to_vec();
            held.retain(|event| *event != POISONED);
            held.sort_unstable();
            (steps, held)
        })
        .collect()
}

fn on_cpu(
    design: QueueDesign,
    order: &Order,
    capacity: u32,
    adopted: &[Vec<Event>],
    scripts: &[Vec<Op>],
) -> Outcome {
    let cut = |event: &Event| -> Event {
        std::array::from_fn(|word| if word < order.words { event[word] } else { 0 })
    };
    let keyed = |event: &Event| Reverse(((order.key)(cut(event)), cut(event)));
    let run = |(adopted, script): (&Vec<Event>, &Vec<Op>)| {
        let mut heap: BinaryHeap<Reverse<(Event, Event)>> = adopted.iter().map(keyed).collect();
        let steps = script.iter().map(|op| {
            let more = match op {
                Op::Pop => return heap.pop().map_or(POISONED, |Reverse((_, event))| event),
                // A splay tree keeps its first event there.
                Op::Reopen => {
                    let place = usize::from(design != QueueDesign::Splay).min(heap.len().saturating_sub(1));
                    let sorted = heap.clone().into_sorted_vec();
                    return sorted.iter().rev().nth(place).map_or(POISONED, |held| held.0.1);
                }
                Op::Push(event) => std::slice::from_ref(event),
                Op::Take(events) => events,
            };
            let fits = heap.len() + more.len() <= capacity as usize;
            if fits {
                heap.extend(more.iter().map(keyed));
            }
            [u32::from(fits), u32::try_from(heap.len()).unwrap(), 0, 0, 0, 0, 0, 0]
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
        let alone = QueueDesign::ALL.into_iter().filter(|design| design.serves_one_invocation());
        for design in alone.chain(Lanes::ALL.map(QueueDesign::CbPar)).chain([QueueDesign::CB_PAR_FRONT]) {
            let expected = on_cpu(design, &order, capacity, adopted, scripts);
            let found = on_gpu(gpu, design, &order, capacity, adopted, scripts);
            for (q, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{design}, capacity {capacity}, queue {q}: {:?}", scripts[q]);
            }
        }
    }
}

/// Few distinct words, so that equal keys, equal times and ties in each word are common; and the
/// extremes.
fn event() -> impl Strategy<Value = Event> {
    let word = prop_oneof![0u32..3, Just(u32::MAX), Just(1 << 31), any::<u32>()];
    proptest::array::uniform8(word)
        .prop_filter("the poison marks slots without an event", |e| e[..4] != [POISON; 4])
}

fn op() -> impl Strategy<Value = Op> {
    let events = proptest::collection::vec(event(), 0..5);
    prop_oneof![
        5 => event().prop_map(Op::Push),
        4 => Just(Op::Pop),
        1 => Just(Op::Reopen),
        2 => events.prop_map(Op::Take),
    ]
}

fn event_of([x, y, z, w]: [u32; 4]) -> Event {
    [x, y, z, w, 0, 0, 0, 0]
}

#[test]
fn random_operations_match_a_binary_heap() {
    let gpu = gpu();
    let queue = |capacity: u32| {
        (proptest::collection::vec(event(), 0..=capacity as usize), proptest::collection::vec(op(), 0..80))
    };
    let strategy = (1u32..24)
        .prop_flat_map(|capacity| (Just(capacity), proptest::collection::vec(queue(capacity), 1..70)));
    let mut runner = common::random_cases(4);
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
        let mut script: Vec<Op> =
            (0..capacity + 3).map(|i| Op::Push(event_of([i * 7 % 5, 0, i, 1]))).collect();
        script.extend(vec![Op::Pop; capacity as usize + 2]);
        script.extend((0..capacity + 1).map(|i| Op::Push(event_of([0, capacity - i.min(capacity), i, 1]))));
        check(&gpu, capacity, &[vec![]], &[script]);
    }
}

#[test]
fn equal_events_all_come_out() {
    let gpu = gpu();
    let mut script = vec![Op::Push(event_of([5, 5, 5, 5])); 20];
    script.extend(vec![Op::Pop; 21]);
    check(&gpu, 20, &[vec![]], &[script.clone()]);
    script.truncate(10);
    check(&gpu, 20, &[vec![event_of([5, 5, 5, 5]); 10]], &[script]);
}

#[test]
fn ascending_and_descending_runs_wrap_around_the_buffer() {
    let gpu = gpu();
    let ascending = (0..200u32).flat_map(|i| {
        [Op::Push(event_of([i, 0, 0, 1])), Op::Push(event_of([i + 3, 0, 0, 1])), Op::Pop, Op::Pop]
    });
    let descending = (0..200u32).rev().flat_map(|i| {
        [Op::Push(event_of([i, 0, 0, 1])), Op::Reopen, Op::Push(event_of([i, 1, 0, 1])), Op::Pop, Op::Pop]
    });
    // Inserts exactly as many as fit, at every position of the front.
    let taking = (0..40u32).flat_map(|i| {
        let all = (0..5).map(|e| event_of([i + e * 7 % 5, 0, e, 1])).collect();
        [
            Op::Take(all),
            Op::Take(vec![event_of([0; 4])]),
            Op::Pop,
            Op::Pop,
            Op::Pop,
            Op::Pop,
            Op::Pop,
            Op::Push(event_of([i, 0, 0, 2])),
            Op::Pop,
        ]
    });
    check(&gpu, 5, &[vec![], vec![], vec![]], &[ascending.collect(), descending.collect(), taking.collect()]);
}

#[test]
fn queues_that_stay_long() {
    let gpu = gpu();
    // Filled, then random pushes and pops: near, far and equal events.
    let script = |seed: u32| {
        let mut word = seed;
        let mut draw = move |below: u32| {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (word >> 8) % below
        };
        let mut now = 0;
        let mut script = Vec::new();
        for i in 0..250 {
            let time = now + [1, 10, 1000][draw(3) as usize] * draw(20);
            match draw(if i < 60 { 2 } else { 5 }) {
                0 | 1 => script.push(Op::Push(event_of([time, 0, draw(3), i / 8]))),
                2 if i % 8 == 0 => script
                    .push(Op::Take((0..draw(20)).map(|e| event_of([time + e * 7 % 5, 0, e, 1])).collect())),
                _ => script.push(Op::Pop),
            }
            now += draw(3);
        }
        script.extend(vec![Op::Pop; 30]);
        script
    };
    let adopted = |count: u32| (0..count).map(|i| event_of([i * 37 % 50, 0, i % 3, 0])).collect();
    let queues = 0..30;
    let (adopted, scripts): (Vec<_>, Vec<_>) = queues.map(|q| (adopted(2 * q), script(q))).unzip();
    check(&gpu, 60, &adopted, &scripts);
}

#[test]
fn names_and_designs_go_both_ways() {
    let teams = Lanes::ALL.map(QueueDesign::CbPar);
    for design in QueueDesign::ALL.into_iter().chain(teams).chain([QueueDesign::CB_PAR_FRONT]) {
        assert_eq!(design.name().parse(), Ok(design));
    }
    assert_eq!("cb-par".parse(), Ok(QueueDesign::CB_PAR));
    let error = "ladder".parse::<QueueDesign>().unwrap_err();
    assert!(error.to_string().contains("ladder"), "{error}");
    assert!(QueueDesign::ALL.iter().all(|design| error.to_string().contains(design.name())), "{error}");
    let error = "heap-interleaved".parse::<QueueDesign>().unwrap_err();
    assert_eq!(error.to_string(), "queue design `heap-interleaved` was removed: use `heap`");
}
