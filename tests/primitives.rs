//! The `primitives` room on a real adapter, against sequential Rust.

#![allow(clippy::cast_possible_truncation, reason = "the truncated bits are meant")]

mod common;

use common::{POISON, gpu};
use eventhorizon::gpu::{Buffer, Gpu};
use eventhorizon::primitives::{
    Compact, Count, PrimitiveError, RadixSort, Reduce, Scan, ScanKind, SortKey, Status, Task, keys,
};
use proptest::prelude::*;

/// Each way to run: subgroups or not, run-time checks or not.
fn ways() -> Vec<(&'static str, Gpu)> {
    let gpu = gpu();
    let baseline = gpu.without(wgpu::Features::SUBGROUP);
    vec![
        ("default", gpu.clone()),
        ("baseline", baseline.clone()),
        ("default, checked", gpu.checked()),
        ("baseline, checked", baseline.checked()),
    ]
}

fn run(gpu: &Gpu, task: &Task) {
    let mut encoder = gpu.encoder("test");
    task.encode(&mut encoder);
    gpu.submit(encoder).unwrap();
}

/// A generator for test data: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn words(&mut self, len: usize) -> Vec<u32> {
        (0..len).map(|_| (self.next() >> 32) as u32).collect()
    }
}

/// Lengths around the boundaries of vectors, workgroups and tiles of every kernel.
fn lengths() -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, 3, 4, 5, 31, 33, 63, 64, 65, 255, 256, 257, 1023, 1025];
    for tile in [2048, 4096] {
        lengths.extend([tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1]);
    }
    lengths.push(70_001);
    lengths
}

fn scan_of(words: &[u32], kind: ScanKind) -> (Vec<u64>, u64) {
    let mut sum = 0;
    let sums = words
        .iter()
        .map(|&word| {
            let before = sum;
            sum += u64::from(word);
            if kind == ScanKind::Inclusive { sum } else { before }
        })
        .collect();
    (sums, sum)
}

#[test]
fn reductions_equal_the_sequential_ones_at_every_length() {
    let mut random = Random(1);
    for (way, gpu) in ways() {
        let max = 70_001;
        let min = Reduce::<u32>::min(&gpu, max).unwrap();
        let greatest = Reduce::<u32>::max(&gpu, max).unwrap();
        let sum = Reduce::<u32>::sum(&gpu, max).unwrap();
        let wide = Reduce::<u32, u64>::sum_wide(&gpu, max).unwrap();
        for len in lengths() {
            let words = random.words(len);
            let count = Count::host(&gpu, len as u64).unwrap();
            let input = Buffer::storage_from(&gpu, "input", &words).unwrap();
            let output = Buffer::storage_from(&gpu, "output", &[POISON; 5]).unwrap();
            let total = Buffer::storage_from(&gpu, "total", &[u64::MAX; 2]).unwrap();
            run(&gpu, &min.bind(&gpu, &count, &input, &output, 1).unwrap());
            run(&gpu, &greatest.bind(&gpu, &count, &input, &output, 2).unwrap());
            run(&gpu, &sum.bind(&gpu, &count, &input, &output, 3).unwrap());
            run(&gpu, &wide.bind(&gpu, &count, &input, &total, 1).unwrap());
            let expected: u64 = words.iter().map(|&word| u64::from(word)).sum();
            assert_eq!(
                output.read(&gpu).unwrap(),
                [
                    POISON,
                    words.iter().copied().min().unwrap_or(u32::MAX),
                    words.iter().copied().max().unwrap_or(0),
                    expected as u32,
                    POISON
                ],
                "{len} words, {way}"
            );
            assert_eq!(total.read(&gpu).unwrap(), [u64::MAX, expected], "{len} words, {way}");
        }
    }
}

#[test]
fn scans_equal_the_sequential_ones_at_every_length() {
    let mut random = Random(2);
    for (way, gpu) in ways() {
        let scan = Scan::new(&gpu, 70_001).unwrap();
        for len in lengths() {
            let words = random.words(len);
            let count = Count::host(&gpu, len as u64).unwrap();
            let input = Buffer::storage_from(&gpu, "input", &words).unwrap();
            for kind in [ScanKind::Exclusive, ScanKind::Inclusive] {
                let (sums, sum) = scan_of(&words, kind);
                let total = Buffer::storage_from(&gpu, "total", &[u64::MAX; 3]).unwrap();
                let narrow = Buffer::storage_from(&gpu, "output", &vec![POISON; len + 3]).unwrap();
                run(&gpu, &scan.bind(&gpu, kind, &count, &input, &narrow, Some((&total, 1))).unwrap());
                let mut expected: Vec<u32> = sums.iter().map(|&sum| sum as u32).collect();
                expected.extend([POISON; 3]);
                assert_eq!(narrow.read(&gpu).unwrap(), expected, "{kind:?} of {len} words, {way}");
                assert_eq!(total.read(&gpu).unwrap(), [u64::MAX, sum, u64::MAX]);
                let wide = Buffer::storage_from(&gpu, "output", &vec![u64::MAX; len + 3]).unwrap();
                run(&gpu, &scan.bind_wide(&gpu, kind, &count, &input, &wide, None).unwrap());
                let mut expected = sums;
                expected.extend([u64::MAX; 3]);
                assert_eq!(wide.read(&gpu).unwrap(), expected, "wide {kind:?} of {len} words, {way}");
            }
        }
    }
}

/// Sorts pairs of `keys` and their indices on the device by `bits`, and compares with a stable sort.
fn check_sort<K: SortKey + Ord + std::fmt::Debug + Into<u64>>(
    gpu: &Gpu,
    sort: &RadixSort<K>,
    keys: &[K],
    bits: std::ops::Range<u32>,
    what: &str,
) {
    let count = Count::host(gpu, keys.len() as u64).unwrap();
    let indices: Vec<u32> = (0..).take(keys.len()).collect();
    let mut padded = indices.clone();
    padded.extend([POISON; 3]);
    let on_device = Buffer::storage_from(gpu, "keys", keys).unwrap();
    let values = Buffer::storage_from(gpu, "values", &padded).unwrap();
    run(gpu, &sort.bind(gpu, &count, &on_device, &values, bits.clone()).unwrap());
    let part = |index: u32| {
        let key: u64 = keys[index as usize].into();
        (key >> bits.start) & (u64::MAX >> (64 - bits.len()))
    };
    let mut expected = indices;
    expected.sort_by_key(|&index| part(index));
    let sorted: Vec<K> = expected.iter().map(|&index| keys[index as usize]).collect();
    expected.extend([POISON; 3]);
    assert!(values.read(gpu).unwrap() == expected, "values of {} keys by {bits:?}: {what}", keys.len());
    assert!(on_device.read(gpu).unwrap() == sorted, "{} keys by {bits:?}: {what}", keys.len());

    let on_device = Buffer::storage_from(gpu, "keys", keys).unwrap();
    run(gpu, &sort.bind_keys(gpu, &count, &on_device, bits.clone()).unwrap());
    assert!(on_device.read(gpu).unwrap() == sorted, "{} keys alone by {bits:?}: {what}", keys.len());
}

#[test]
fn sorts_are_stable_and_right_at_every_length() {
    let mut random = Random(3);
    for (way, gpu) in ways() {
        let narrow = RadixSort::<u32>::new(&gpu, 70_001).unwrap();
        let wide = RadixSort::<u64>::new(&gpu, 70_001).unwrap();
        for len in lengths() {
            let keys = random.words(len);
            check_sort(&gpu, &narrow, &keys, 0..32, way);
            let keys: Vec<u64> = (0..len).map(|_| random.next()).collect();
            check_sort(&gpu, &wide, &keys, 0..64, way);
        }
    }
}

#[test]
fn compaction_keeps_what_is_flagged_in_order_at_every_length() {
    let mut random = Random(4);
    for (way, gpu) in ways() {
        let compact = Compact::new(&gpu, 70_001).unwrap();
        for len in lengths() {
            for one_in in [1, 2, 100, u64::MAX] {
                let flags: Vec<u32> = (0..len)
                    .map(|_| if random.next() % one_in == 0 { random.next() as u32 | 4 } else { 0 })
                    .collect();
                let values = random.words(len);
                let count = Count::host(&gpu, len as u64).unwrap();
                let flagged = Buffer::storage_from(&gpu, "flags", &flags).unwrap();
                let source = Buffer::storage_from(&gpu, "values", &values).unwrap();
                let kept = Buffer::storage_from(&gpu, "kept", &[POISON; 4]).unwrap();
                let poison = vec![POISON; len];
                let indices = Buffer::storage_from(&gpu, "indices", &poison).unwrap();
                run(&gpu, &compact.bind_indices(&gpu, &count, &flagged, &indices, (&kept, 1)).unwrap());
                let picked = Buffer::storage_from(&gpu, "picked", &poison).unwrap();
                let task = compact.bind_values(&gpu, &count, &flagged, &source, &picked, (&kept, 2));
                run(&gpu, &task.unwrap());
                let places = (0..len).filter(|&i| flags[i] != 0);
                let mut expected: Vec<u32> = places.clone().map(|i| i as u32).collect();
                let number = expected.len();
                expected.resize(len, POISON);
                let mut expected_values: Vec<u32> = places.map(|i| values[i]).collect();
                expected_values.resize(len, POISON);
                let what = format!("{number} of {len}, {way}");
                assert_eq!(
                    kept.read(&gpu).unwrap(),
                    [POISON, number as u32, number as u32, POISON],
                    "{what}"
                );
                assert!(indices.read(&gpu).unwrap() == expected, "indices of {what}");
                assert!(picked.read(&gpu).unwrap() == expected_values, "values of {what}");
            }
        }
    }
}
