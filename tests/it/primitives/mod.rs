//! The `primitives` module on a real adapter, against sequential Rust.

#![allow(clippy::cast_possible_truncation, reason = "the truncated bits are meant")]

mod keys;
mod sorts;

use crate::common;
use common::{POISON, gpu};
use eventhorizon::gpu::{Buffer, Gpu, Plan};
use eventhorizon::primitives::{
    Compact, Count, PrimitiveError, RadixSort, Reduce, Scan, ScanKind, SortKey, Status, Tuning,
};
use proptest::prelude::*;
use sorts::check_sort;

/// Each configuration: with and without subgroups, with and without run-time checks.
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

fn run(gpu: &Gpu, task: &Plan) {
    let mut encoder = gpu.encoder("test");
    task.record(&mut encoder);
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

#[test]
fn compaction_keeps_what_is_flagged_in_order_at_every_length() {
    let mut random = Random(4);
    for (way, gpu) in ways() {
        let compact = Compact::new(&gpu, 70_001).unwrap();
        for len in lengths() {
            for one_in in [1, 2, 100, u64::MAX] {
                let flags: Vec<u32> = (0..len)
                    .map(|_| if random.next().is_multiple_of(one_in) { random.next() as u32 | 4 } else { 0 })
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

/// The last step of a compaction reads the count again, after the number kept was written.
#[test]
fn a_compaction_keeps_its_count_apart() {
    let gpu = gpu();
    let compact = Compact::new(&gpu, 100).unwrap();
    let status = Status::new(&gpu).unwrap();
    let words = Buffer::storage_from(&gpu, "count and kept", &[100u32, POISON]).unwrap();
    let count = Count::device(&words, 0, &status).unwrap();
    let flags = Buffer::storage_from(&gpu, "flags", &[1u32; 100]).unwrap();
    let output = Buffer::<u32>::storage(&gpu, "output", 100).unwrap();
    let error = compact.bind_indices(&gpu, &count, &flags, &output, (&words, 0)).unwrap_err();
    assert!(matches!(error, PrimitiveError::CountOverwritten { index: 0 }), "{error}");
    // Another word of the same buffer is valid.
    run(&gpu, &compact.bind_indices(&gpu, &count, &flags, &output, (&words, 1)).unwrap());
    assert_eq!(words.read(&gpu).unwrap(), [100, 100]);
    assert_eq!(output.read(&gpu).unwrap(), (0..100).collect::<Vec<u32>>());
    status.check(&gpu).unwrap();
}

#[test]
fn results_do_not_depend_on_the_tuning() {
    let mut random = Random(7);
    // In workgroups of 32, 274 shares: more than their spine takes in one step.
    let len = 140_000;
    let words = random.words(len);
    for (way, gpu) in ways().into_iter().take(2) {
        let count = Count::host(&gpu, len as u64).unwrap();
        let input = Buffer::storage_from(&gpu, "input", &words).unwrap();
        for workgroups in [1, 3, 300] {
            for group_size in [32, 128, 256] {
                let what = format!("{workgroups} workgroups of {group_size}, {way}");
                let tuning = Tuning { group_size, items: 16, workgroups };
                let output = Buffer::storage_from(&gpu, "output", &vec![POISON; len]).unwrap();
                let scan = Scan::with_tuning(&gpu, len as u64, tuning).unwrap();
                let task = scan.bind(&gpu, ScanKind::Inclusive, &count, &input, &output, None).unwrap();
                run(&gpu, &task);
                let (sums, _) = scan_of(&words, ScanKind::Inclusive);
                let sums: Vec<u32> = sums.iter().map(|&sum| sum as u32).collect();
                assert!(output.read(&gpu).unwrap() == sums, "{what}");
                let reduce = Reduce::<u32>::max(&gpu, len as u64).unwrap().with_tuning(&gpu, tuning).unwrap();
                run(&gpu, &reduce.bind(&gpu, &count, &input, &output, 5).unwrap());
                let found = pollster::block_on(output.read_range(&gpu, 5, 1)).unwrap();
                assert_eq!(found[0], *words.iter().max().unwrap(), "{what}");
                let mut made = 0;
                for items in [8, 13, 18] {
                    let tuning = Tuning { group_size, items, workgroups };
                    // The device determines which of them exist.
                    match RadixSort::<u32>::with_tuning(&gpu, len as u64, tuning) {
                        Ok(sort) => check_sort(&gpu, &sort, &words[..10_000], 0..32, &what),
                        Err(error) => {
                            assert!(matches!(error, PrimitiveError::Tuning { .. }), "{error}");
                            continue;
                        }
                    }
                    made += 1;
                }
                assert!(made > 0, "{what}");
            }
        }
    }
}

/// llvmpipe silently ends the loops of an invocation after 65,535 iterations in total.
#[test]
fn few_workgroups_serve_many_tiles() {
    let len = 120_000;
    let words = Random(11).words(len);
    for (way, gpu) in ways().into_iter().take(2) {
        let items = Tuning::sort::<u32>(&gpu).items;
        let tuning = Tuning { group_size: 32, items, workgroups: 1 };
        let sort = RadixSort::<u32>::with_tuning(&gpu, len as u64, tuning).unwrap();
        check_sort(&gpu, &sort, &words, 0..8, way);
    }
}

#[test]
fn a_length_beyond_65535_workgroups_of_256_is_like_any_other() {
    let gpu = gpu();
    let len = 65_535 * 256 + 4097;
    let words: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let count = Count::host(&gpu, len as u64).unwrap();
    let input = Buffer::storage_from(&gpu, "input", &words).unwrap();
    let output = Buffer::storage_from(&gpu, "output", &vec![POISON; len]).unwrap();
    let total = Buffer::<u64>::storage(&gpu, "total", 1).unwrap();
    let scan = Scan::new(&gpu, len as u64).unwrap();
    run(&gpu, &scan.bind(&gpu, ScanKind::Exclusive, &count, &input, &output, Some((&total, 0))).unwrap());
    let (sums, sum) = scan_of(&words, ScanKind::Exclusive);
    assert!(sum > u64::from(u32::MAX));
    assert_eq!(total.read(&gpu).unwrap(), [sum]);
    assert!(output.read(&gpu).unwrap().iter().zip(&sums).all(|(&found, &sum)| found == sum as u32));
    let reduce = Reduce::<u32>::min(&gpu, len as u64).unwrap();
    run(&gpu, &reduce.bind(&gpu, &count, &input, &output, 0).unwrap());
    let found = pollster::block_on(output.read_range(&gpu, 0, 1)).unwrap();
    assert_eq!(found[0], *words.iter().min().unwrap());
}

#[test]
fn counts_are_read_on_the_device_when_the_task_runs() {
    let mut random = Random(8);
    for (way, gpu) in ways() {
        let max = 9000;
        let words = random.words(max);
        let status = Status::new(&gpu).unwrap();
        let word = Buffer::storage_from(&gpu, "count", &[POISON, 0, POISON]).unwrap();
        let count = Count::device(&word, 1, &status).unwrap();
        let input = Buffer::storage_from(&gpu, "input", &words).unwrap();
        let output = Buffer::<u32>::storage(&gpu, "output", max as u64).unwrap();
        let least = Buffer::<u32>::storage(&gpu, "least", 1).unwrap();
        let indices = Buffer::<u32>::storage(&gpu, "indices", max as u64).unwrap();
        let keys = Buffer::<u32>::storage(&gpu, "keys", max as u64).unwrap();
        let scan = Scan::new(&gpu, max as u64).unwrap();
        let scan = scan.bind(&gpu, ScanKind::Exclusive, &count, &input, &output, None).unwrap();
        let min = Reduce::<u32>::min(&gpu, max as u64).unwrap();
        let min = min.bind(&gpu, &count, &input, &least, 0).unwrap();
        let sort = RadixSort::<u32>::new(&gpu, max as u64).unwrap();
        let sort = sort.bind(&gpu, &count, &keys, &indices, 0..32).unwrap();
        for len in [0, 1, 4097, max] {
            word.write(&gpu, 1, &[len as u32]).unwrap();
            output.write(&gpu, 0, &vec![POISON; max]).unwrap();
            keys.write(&gpu, 0, &words).unwrap();
            for task in [&scan, &min, &sort] {
                run(&gpu, task);
            }
            let (sums, _) = scan_of(&words[..len], ScanKind::Exclusive);
            let mut expected: Vec<u32> = sums.iter().map(|&sum| sum as u32).collect();
            expected.resize(max, POISON);
            assert!(output.read(&gpu).unwrap() == expected, "{len} words, {way}");
            assert_eq!(least.read(&gpu).unwrap()[0], *words[..len].iter().min().unwrap_or(&u32::MAX));
            let mut expected = words.clone();
            expected[..len].sort_unstable();
            assert!(keys.read(&gpu).unwrap() == expected, "{len} keys, {way}");
            status.check(&gpu).unwrap();
        }
    }
}

#[test]
fn a_count_beyond_the_maximum_is_an_error_and_changes_nothing() {
    for (way, gpu) in ways() {
        let words: Vec<u32> = (0..5001).rev().collect();
        let status = Status::new(&gpu).unwrap();
        let word = Buffer::storage_from(&gpu, "count", &[5001]).unwrap();
        let count = Count::device(&word, 0, &status).unwrap();
        let keys = Buffer::storage_from(&gpu, "keys", &words).unwrap();
        let output = Buffer::storage_from(&gpu, "output", &vec![POISON; 5001]).unwrap();
        let total = Buffer::storage_from(&gpu, "total", &[u64::MAX]).unwrap();
        let sort = RadixSort::<u32>::new(&gpu, 5000).unwrap();
        let scan = Scan::new(&gpu, 4000).unwrap();
        run(&gpu, &sort.bind_keys(&gpu, &count, &keys, 0..32).unwrap());
        run(&gpu, &scan.bind(&gpu, ScanKind::Exclusive, &count, &keys, &output, Some((&total, 0))).unwrap());
        assert_eq!(keys.read(&gpu).unwrap(), words, "{way}");
        assert_eq!(output.read(&gpu).unwrap(), [POISON; 5001], "{way}");
        assert_eq!(total.read(&gpu).unwrap(), [0], "{way}");
        // The first failure stays, and its message contains the remedy.
        let error = status.check(&gpu).unwrap_err();
        assert!(matches!(error, PrimitiveError::CountTooLarge { count: 5001, max: 5000 }), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_anything_runs() {
    let gpu = gpu();
    let scan = Scan::new(&gpu, 100).unwrap();
    let short = Buffer::<u32>::storage(&gpu, "short", 49).unwrap();
    let long = Buffer::<u32>::storage(&gpu, "long", 200).unwrap();
    let fifty = Count::host(&gpu, 50).unwrap();
    let error = scan.bind(&gpu, ScanKind::Exclusive, &fifty, &short, &long, None).unwrap_err();
    assert!(matches!(error, PrimitiveError::TooShort { what: "input", needed: 50, len: 49 }), "{error}");
    let error = scan.bind(&gpu, ScanKind::Exclusive, &fifty, &long, &short, None).unwrap_err();
    assert!(matches!(error, PrimitiveError::TooShort { what: "output", .. }), "{error}");
    let many = Count::host(&gpu, 101).unwrap();
    let error = scan.bind(&gpu, ScanKind::Exclusive, &many, &long, &long, None).unwrap_err();
    assert!(matches!(error, PrimitiveError::CountBeyondMaximum { count: 101, max: 100 }), "{error}");
    // A count on the device can become the maximum, so the buffers must hold it.
    let status = Status::new(&gpu).unwrap();
    let device = Count::device(&long, 7, &status).unwrap();
    let error = scan.bind(&gpu, ScanKind::Exclusive, &device, &short, &long, None).unwrap_err();
    assert!(matches!(error, PrimitiveError::TooShort { what: "input", needed: 100, .. }), "{error}");
    let error = Count::device(&short, 49, &status).unwrap_err();
    assert!(matches!(error, PrimitiveError::TooShort { what: "count", needed: 50, len: 49 }), "{error}");
    let error = Scan::new(&gpu, 1 << 31).unwrap_err();
    assert!(matches!(error, PrimitiveError::TooLong { .. }), "{error}");
    let sort = RadixSort::<u32>::new(&gpu, 300).unwrap();
    for arrays in [0, 65_536] {
        let error = sort.arrays(&gpu, arrays).unwrap_err();
        assert!(matches!(error, PrimitiveError::Arrays { limit: 65_535, .. }), "{error}");
    }
    let error = sort.arrays(&gpu, 5).unwrap().bind_keys(&gpu, &fifty, &long, 0..32).unwrap_err();
    assert!(matches!(error, PrimitiveError::TooShort { what: "keys", needed: 250, len: 200 }), "{error}");
    let error = sort.arrays(&gpu, 7).unwrap().bind_keys(&gpu, &fifty, &long, 0..32).unwrap_err();
    assert!(matches!(error, PrimitiveError::CountBeyondMaximum { count: 50, max: 42 }), "{error}");
    let tuning = Tuning { group_size: 100, ..Tuning::sweep(&gpu) };
    let error = Scan::with_tuning(&gpu, 100, tuning).unwrap_err();
    assert!(matches!(error, PrimitiveError::Tuning { .. }), "{error}");
}

#[test]
fn signed_and_floating_reductions_follow_the_order_of_their_type() {
    let mut random = Random(9);
    for (way, gpu) in ways() {
        let words = random.words(5000);
        let mut special =
            [f32::NEG_INFINITY, -0.0, 0.0, 1e-45, -1e-45, f32::INFINITY].map(f32::to_bits).to_vec();
        special.extend(&words);
        for words in [&words[..1], &words[..], &special[..], &special[1..5], &[]] {
            let count = Count::host(&gpu, words.len() as u64).unwrap();
            let signed: Vec<i32> = words.iter().map(|&word| word as i32).collect();
            let input = Buffer::storage_from(&gpu, "input", &signed).unwrap();
            let output = Buffer::storage_from(&gpu, "output", &[7i32; 2]).unwrap();
            run(
                &gpu,
                &Reduce::<i32>::min(&gpu, 6000).unwrap().bind(&gpu, &count, &input, &output, 0).unwrap(),
            );
            run(
                &gpu,
                &Reduce::<i32>::max(&gpu, 6000).unwrap().bind(&gpu, &count, &input, &output, 1).unwrap(),
            );
            let least = signed.iter().copied().min().unwrap_or(i32::MAX);
            let greatest = signed.iter().copied().max().unwrap_or(i32::MIN);
            assert_eq!(output.read(&gpu).unwrap(), [least, greatest], "{way}");

            let floats: Vec<f32> = words.iter().map(|&word| f32::from_bits(word)).collect();
            let input = Buffer::storage_from(&gpu, "input", &floats).unwrap();
            let output = Buffer::storage_from(&gpu, "output", &[7f32; 2]).unwrap();
            run(
                &gpu,
                &Reduce::<f32>::min(&gpu, 6000).unwrap().bind(&gpu, &count, &input, &output, 0).unwrap(),
            );
            run(
                &gpu,
                &Reduce::<f32>::max(&gpu, 6000).unwrap().bind(&gpu, &count, &input, &output, 1).unwrap(),
            );
            let least = floats.iter().copied().min_by(f32::total_cmp);
            let greatest = floats.iter().copied().max_by(f32::total_cmp);
            let expected =
                [least.map_or(0x7fff_ffff, f32::to_bits), greatest.map_or(0xffff_ffff, f32::to_bits)];
            assert_eq!(output.read(&gpu).unwrap().map_bits(), expected, "{way}");
        }
    }
}

trait MapBits {
    fn map_bits(&self) -> Vec<u32>;
}

impl MapBits for Vec<f32> {
    fn map_bits(&self) -> Vec<u32> {
        self.iter().map(|value| value.to_bits()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn scans_and_sorts_hold_for_any_words(
        words in proptest::collection::vec(prop_oneof![any::<u32>(), 0u32..4, Just(u32::MAX)], 0..6000),
        first in 0u32..31, width in 1u32..32, subgroups: bool,
    ) {
        let gpu = match subgroups {
            true => gpu(),
            false => gpu().without(wgpu::Features::SUBGROUP),
        };
        let sort = RadixSort::<u32>::new(&gpu, 6000).unwrap();
        check_sort(&gpu, &sort, &words, first..(first + width).min(32), "any words");
        let count = Count::host(&gpu, words.len() as u64).unwrap();
        let input = Buffer::storage_from(&gpu, "input", &words).unwrap();
        let output = Buffer::storage_from(&gpu, "output", &vec![u64::MAX; words.len()]).unwrap();
        let scan = Scan::new(&gpu, 6000).unwrap();
        run(&gpu, &scan.bind_wide(&gpu, ScanKind::Exclusive, &count, &input, &output, None).unwrap());
        prop_assert_eq!(output.read(&gpu).unwrap(), scan_of(&words, ScanKind::Exclusive).0);
    }
}
