//! The parallel heap against `BinaryHeap`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use eventhorizon::gpu::{Buffer, Gpu};
use eventhorizon::queue::{HeapBatch, HeapItem, ParallelHeap, ParallelHeapError};
use proptest::prelude::*;

use super::common::{POISON, gpu};

const POISONED: HeapItem = [POISON; 4];

/// Sorts like an item.
fn key([x, y, z, w]: HeapItem) -> HeapItem {
    [y, x, z, w]
}

/// A heap on the device, and its expected contents.
struct ReferenceHeap {
    gpu: Gpu,
    heap: ParallelHeap,
    expected: BinaryHeap<Reverse<HeapItem>>,
    what: String,
}

impl ReferenceHeap {
    fn new(gpu: &Gpu, capacity: u32, node: u32, what: &str) -> Self {
        let heap = ParallelHeap::with_node(gpu, capacity, node).unwrap();
        assert_eq!((heap.capacity(), heap.node()), (capacity, node));
        let what = format!("{what}, nodes of {node}, capacity {capacity}");
        Self { gpu: gpu.clone(), heap, expected: BinaryHeap::new(), what }
    }

    fn len(&self) -> u32 {
        u32::try_from(self.expected.len()).unwrap()
    }

    /// Whether the heap must accept a batch, by the rules of [`ParallelHeap::bind`].
    fn fits(&self, insert: u32, delete: u32) -> bool {
        let node = self.heap.node();
        let early = (insert.div_ceil(node).max(1) - 1) * node;
        let after = self.len() + insert - insert.min(delete).min(node);
        after.max(self.len() + early) <= self.heap.capacity()
    }

    /// Runs some batches in one submission, and compares the items that each deletes. Only the last
    /// may not fit.
    fn batches(&mut self, batches: &[(Vec<HeapItem>, u32)]) {
        let mut encoder = self.gpu.encoder("test");
        let mut buffers = Vec::new();
        for (items, delete) in batches {
            let to_insert = u32::try_from(items.len()).unwrap();
            let batch = HeapBatch { to_insert, to_delete: *delete, deleted: POISON };
            let batch = Buffer::storage_from(&self.gpu, "batch", &[batch]).unwrap();
            let inserts = Buffer::storage_from(&self.gpu, "inserts", items).unwrap();
            let poison = vec![POISONED; *delete as usize];
            let deletes = Buffer::storage_from(&self.gpu, "deletes", &poison).unwrap();
            self.heap.bind(&self.gpu, &batch, &inserts, &deletes).unwrap().record(&mut encoder);
            buffers.push((batch, deletes));
        }
        self.gpu.submit(encoder).unwrap();
        for (number, ((items, delete), (batch, deletes))) in batches.iter().zip(buffers).enumerate() {
            let what = format!("{}, batch {number}", self.what);
            let insert = u32::try_from(items.len()).unwrap();
            let mut expected = Vec::new();
            if self.fits(insert, *delete) {
                self.expected.extend(items.iter().map(|&item| Reverse(key(item))));
                let smallest = std::iter::from_fn(|| self.expected.pop());
                expected.extend(smallest.take(*delete as usize).map(|Reverse(found)| key(found)));
            } else {
                assert_eq!(number + 1, batches.len(), "{what} does not fit");
            }
            let deleted = batch.read(&self.gpu).unwrap()[0].deleted;
            assert_eq!(deleted as usize, expected.len(), "{what}");
            expected.resize(*delete as usize, POISONED);
            assert!(
                deletes.read(&self.gpu).unwrap() == expected,
                "{what}: not the smallest, or not in order"
            );
        }
        assert_eq!(self.heap.len(&self.gpu).unwrap(), self.len(), "{}", self.what);
    }

    fn batch(&mut self, items: impl IntoIterator<Item = HeapItem>, delete: u32) {
        self.batches(&[(items.into_iter().collect(), delete)]);
    }

    /// Deletes all items.
    fn drain(&mut self) {
        self.heap.check(&self.gpu).unwrap_or_else(|error| panic!("{}: {error}", self.what));
        self.batch([], self.len() + 3);
        assert!(self.heap.is_empty(&self.gpu).unwrap());
    }
}

/// Pseudo-random numbers.
struct Random(u32);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }

    /// Times with many duplicates.
    fn items(&mut self, count: u32) -> Vec<HeapItem> {
        (0..count).map(|_| [self.below(1000), self.below(2), self.below(5), self.below(1 << 20)]).collect()
    }
}

/// Device and items per node.
fn ways() -> [(Gpu, u32); 4] {
    [(gpu(), 64), (gpu().checked(), 64), (gpu(), 256), (gpu(), 1024)]
}

#[test]
fn sizes_around_nodes_come_out_in_order() {
    for (gpu, node) in ways() {
        let mut random = Random(1);
        for count in [0, 1, node - 1, node, node + 1, 2 * node, 3 * node - 1, 3 * node + 1, 7 * node + 5] {
            let mut reference = ReferenceHeap::new(&gpu, 10 * node, node, &format!("{count} items"));
            reference.batch(random.items(count), 0);
            reference.drain();
            // They leave an empty heap.
            reference.batch(random.items(count), 1);
            reference.drain();
        }
    }
}

#[test]
fn every_order_of_input_comes_out_in_order() {
    type Input = (&'static str, fn(u32) -> HeapItem);
    for (gpu, node) in ways() {
        let count = 9 * node + 7;
        let inputs: [Input; 6] = [
            ("ascending", |i| [i, 0, 0, 0]),
            ("descending", |i| [u32::MAX - i, 7, 0, 0]),
            ("equal", |_| [5, 5, 5, 5]),
            // Free slots hold these items.
            ("the last of the order", |_| [u32::MAX; 4]),
            ("zeros, and the last of the order", |i| [[0; 4], [u32::MAX; 4]][(i * 7 % 13 % 2) as usize]),
            ("few times", |i| [0, i * 7 % 3, 1, i % 5]),
        ];
        for (name, item) in inputs {
            let mut reference = ReferenceHeap::new(&gpu, count, node, name);
            reference.batch((0..count).map(item), 0);
            reference.batch([], node / 2);
            reference.batch((0..node / 2).map(item), node);
            reference.drain();
        }
    }
}

#[test]
fn cycles_that_keep_the_size_overlap_over_the_levels() {
    for (gpu, node) in ways() {
        let mut random = Random(2);
        let held = 40 * node + 3;
        let mut reference = ReferenceHeap::new(&gpu, held, node, "cycles");
        reference.batch(random.items(held), 0);
        // The capacity is exact: each cycle must delete as many items as it inserts.
        let cycles: Vec<_> = (0..30).map(|_| (random.items(node), node)).collect();
        reference.batches(&cycles);
        reference.drain();
    }
}

#[test]
fn a_heap_that_grows_and_shrinks_takes_back_what_is_under_way() {
    for (gpu, node) in ways() {
        let mut random = Random(3);
        let mut reference = ReferenceHeap::new(&gpu, 40 * node, node, "growing and shrinking");
        reference.batch(random.items(20 * node), 0);
        for mostly_deleted in [1, 3, 2, 3] {
            let cycles: Vec<_> = (0..24)
                .map(|_| {
                    let (more, less) = (random.below(node + 1), random.below(node / 3 + 1));
                    let (insert, delete) =
                        if random.below(4) < mostly_deleted { (less, more) } else { (more, less) };
                    // Late items move down to the leaves, early ones stay.
                    let late = random.below(2);
                    let items = random.items(insert).into_iter().map(|[x, y, z, w]| [x, y + late, z, w]);
                    (items.collect(), delete)
                })
                .collect();
            reference.batches(&cycles);
        }
        reference.drain();
    }
}

#[test]
fn inserting_and_deleting_by_turns_at_every_fill() {
    for (gpu, node) in ways().into_iter().take(2) {
        let mut random = Random(4);
        let mut reference = ReferenceHeap::new(&gpu, 12 * node, node, "interleaved");
        let mut held = 0;
        while held + node <= 12 * node {
            // Inserts a few and at once deletes fewer: items that have just been inserted are
            // deleted.
            let some = 1 + random.below(node);
            let back = random.below(some.min(held + some) + 1);
            reference.batches(&[
                (random.items(some), 0),
                (Vec::new(), back),
                (random.items(back), 0),
                (Vec::new(), back / 2),
            ]);
            held = reference.len();
        }
        reference.drain();
    }
}

#[test]
fn batches_of_several_nodes_insert_before_they_delete() {
    for (gpu, node) in ways() {
        let mut random = Random(5);
        let mut reference = ReferenceHeap::new(&gpu, 10 * node, node, "long batches");
        for (insert, delete) in [
            (3 * node + 1, 2 * node),
            (node - 1, 3 * node),
            (5 * node, 5 * node),
            (2 * node, 0),
            (1, 9 * node),
        ] {
            reference.batch(random.items(insert), delete);
        }
        reference.drain();
    }
}

#[test]
fn an_empty_heap_has_nothing_to_delete() {
    for (gpu, node) in ways() {
        let mut reference = ReferenceHeap::new(&gpu, 5 * node, node, "empty");
        assert!(reference.heap.is_empty(&gpu).unwrap());
        reference.batch([], 0);
        reference.batch([], 1);
        reference.batch([], 3 * node);
        reference.batch([[3, 0, 0, 0]], 5);
        reference.batch([], 1);
    }
}

#[test]
fn a_full_heap_refuses_one_more_and_loses_nothing() {
    for (gpu, node) in ways() {
        let mut random = Random(6);
        for capacity in [0, node - 1, node, node + 1, 5 * node + 1] {
            let mut reference = ReferenceHeap::new(&gpu, capacity, node, "full");
            reference.batch(random.items(capacity), 0);
            let refused = |reference: &ReferenceHeap, more: u32| {
                let error = reference.heap.check(&gpu).unwrap_err();
                let needed = capacity + more;
                assert!(
                    matches!(error, ParallelHeapError::Full { needed: n, capacity: c } if (n, c) == (needed, capacity)),
                    "{error}"
                );
                assert!(error.to_string().contains("Delete items first"), "{error}");
                reference.heap.check(&gpu).unwrap();
            };
            reference.batch(random.items(1), 0);
            refused(&reference, 1);
            // No part of a long batch is executed either.
            reference.batch(random.items(3 * node), 1);
            refused(&reference, 3 * node - 1);
            // Until the failure was reported, later batches do nothing.
            reference.batch(random.items(2), 1);
            assert_eq!(reference.heap.exchange(&gpu, &[], 0).unwrap_err().to_string(), {
                let (needed, capacity) = (capacity + 1, capacity);
                ParallelHeapError::Full { needed, capacity }.to_string()
            });
            // A batch that deletes what it inserts fits.
            reference.batch(random.items(capacity.min(node)), capacity.min(node));
            reference.drain();
        }
    }
}

#[test]
fn counts_beyond_the_buffers_are_errors() {
    let gpu = gpu();
    let heap = ParallelHeap::with_node(&gpu, 500, 64).unwrap();
    heap.exchange(&gpu, &[[1, 0, 0, 0], [2, 0, 0, 0]], 0).unwrap();
    let inserts = Buffer::storage_from(&gpu, "inserts", &[[3, 0, 0, 0]; 70]).unwrap();
    let deletes = Buffer::storage_from(&gpu, "deletes", &[POISONED; 5]).unwrap();
    let batch = Buffer::storage(&gpu, "batch", 1).unwrap();
    let plan = heap.bind(&gpu, &batch, &inserts, &deletes).unwrap();
    let run = |to_insert, to_delete| {
        batch.write(&gpu, 0, &[HeapBatch { to_insert, to_delete, deleted: POISON }]).unwrap();
        plan.submit(&gpu).unwrap();
        assert_eq!(batch.read(&gpu).unwrap()[0].deleted, 0);
        assert_eq!(deletes.read(&gpu).unwrap(), [POISONED; 5]);
        assert_eq!(heap.len(&gpu).unwrap(), 2);
        heap.check(&gpu).unwrap_err()
    };
    for count in [71, u32::MAX] {
        let error = run(count, 1);
        assert!(matches!(error, ParallelHeapError::Inserts { count: c, limit: 70 } if c == count), "{error}");
    }
    for count in [6, u32::MAX] {
        let error = run(1, count);
        assert!(matches!(error, ParallelHeapError::Deletes { count: c, limit: 5 } if c == count), "{error}");
    }
    // The same plan with counts that fit and are below the capacity.
    batch.write(&gpu, 0, &[HeapBatch { to_insert: 1, to_delete: 2, deleted: POISON }]).unwrap();
    plan.submit(&gpu).unwrap();
    assert_eq!(batch.read(&gpu).unwrap()[0].deleted, 2);
    let first = [[1, 0, 0, 0], [2, 0, 0, 0]];
    assert_eq!(deletes.read(&gpu).unwrap(), [&first[..], &[POISONED; 3]].concat());
    assert_eq!(heap.exchange(&gpu, &[], 9).unwrap(), [[3, 0, 0, 0]]);
}

#[test]
fn one_buffer_serves_for_both_sides() {
    let gpu = gpu();
    let heap = ParallelHeap::with_node(&gpu, 1000, 64).unwrap();
    let items: Vec<HeapItem> = (0..150u32).rev().map(|i| [i, 0, 0, 0]).collect();
    let buffer = Buffer::storage_from(&gpu, "both", &items).unwrap();
    let batch = HeapBatch { to_insert: 150, to_delete: 100, deleted: 0 };
    let batch = Buffer::storage_from(&gpu, "batch", &[batch]).unwrap();
    heap.bind(&gpu, &batch, &buffer, &buffer).unwrap().submit(&gpu).unwrap();
    let expected = (0..100).chain((0..50).rev()).map(|i| [i, 0, 0, 0]);
    assert_eq!(buffer.read(&gpu).unwrap(), expected.collect::<Vec<_>>());
    let rest: Vec<HeapItem> = (100..150).map(|i| [i, 0, 0, 0]).collect();
    assert_eq!(heap.exchange(&gpu, &[], 100).unwrap(), rest);
}

#[test]
fn nodes_that_no_kernel_is_made_for_are_refused() {
    for node in [0, 1, 32, 63, 65, 96, 1023, 2048, u32::MAX] {
        let error = ParallelHeap::with_node(&gpu(), 100, node).unwrap_err();
        assert!(matches!(error, ParallelHeapError::Node { node: n } if n == node), "{error}");
        assert!(error.to_string().contains("from 64 to 1024"), "{error}");
    }
}

#[test]
fn a_heap_beyond_the_binding_is_refused() {
    let gpu = gpu().binding_at_most(1 << 20);
    let error = ParallelHeap::new(&gpu, 1 << 16).unwrap_err();
    assert!(error.to_string().contains("heap items"), "{error}");
    // With its other buffers.
    ParallelHeap::new(&gpu, 1 << 15).unwrap();
}

#[test]
fn random_batches_match_a_binary_heap() {
    let gpu = gpu();
    // Few distinct words, so that ties in each word are common; and the extremes.
    let items = |seed: u32, count: u32| {
        let mut random = Random(seed);
        let mut word = || match random.below(6) {
            0 => u32::MAX,
            1 => 1 << 31,
            2 => random.below(1 << 24),
            _ => random.below(3),
        };
        (0..count).map(move |_| std::array::from_fn(|_| word())).collect::<Vec<HeapItem>>()
    };
    // Seed, items to insert, items to delete.
    let batch = |node: u32| {
        let count = || prop_oneof![3 => 0..=node, 1 => 0..=3 * node, 1 => Just(node)];
        (any::<u32>(), count(), count())
    };
    let strategy = prop_oneof![Just(64u32), Just(128)]
        .prop_flat_map(move |node| (Just(node), 0..20 * node, proptest::collection::vec(batch(node), 1..40)));
    let mut runner = super::common::random_cases(12);
    runner
        .run(&strategy, |(node, capacity, batches)| {
            let mut reference = ReferenceHeap::new(&gpu, capacity, node, "random");
            for (seed, insert, delete) in batches {
                let fits = reference.fits(insert, delete);
                reference.batch(items(seed, insert), delete);
                assert_eq!(reference.heap.check(&gpu).is_ok(), fits);
            }
            reference.drain();
            Ok(())
        })
        .unwrap();
}
