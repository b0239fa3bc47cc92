//! Sorts against those of the standard library.

use super::*;

/// Sorts pairs of `keys` and their indices on the device by `bits`, and compares with a stable
/// sort.
pub(super) fn check_sort<K: SortKey + Ord + std::fmt::Debug + Into<u64>>(
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
    for (way, gpu) in ways().into_iter().chain([("in turns", gpu().taken_for_hardware())]) {
        let narrow = RadixSort::<u32>::new(&gpu, 10_001).unwrap();
        let wide = RadixSort::<u64>::new(&gpu, 10_001).unwrap();
        let tile = |Tuning { group_size, items, .. }| (group_size * items) as usize;
        let tiles = [tile(Tuning::sort::<u32>(&gpu)), tile(Tuning::sort::<u64>(&gpu))];
        let around = |tile: usize| [tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1];
        for len in [0, 1, 2, 3, 31, 64, 65, 10_001].into_iter().chain(tiles.into_iter().flat_map(around)) {
            let keys = random.words(len);
            check_sort(&gpu, &narrow, &keys, 0..32, way);
            let keys: Vec<u64> = (0..len).map(|_| random.next()).collect();
            check_sort(&gpu, &wide, &keys, 0..64, way);
        }
    }
}

/// Counts of digits are summed by chunks of shares: 16 chunks of at most 16, 32, 48 and 64 shares;
/// from 1,025 shares on 33 chunks of 32 and more.
#[test]
fn sorts_are_right_for_any_number_of_shares() {
    let mut random = Random(17);
    for (way, gpu) in ways().into_iter().take(2) {
        let tuning = Tuning { group_size: 32, ..Tuning::sort::<u32>(&gpu) };
        let tile = tuning.group_size * tuning.items;
        let most = 2 * 1025 * tile;
        let sort = RadixSort::<u32>::with_tuning(&gpu, most.into(), tuning).unwrap();
        for shares in [15, 16, 17, 33, 256, 257, 1024, 1025] {
            let words = random.words((shares * tile - 1) as usize);
            check_sort(&gpu, &sort, &words, 3..19, &format!("{shares} shares, {way}"));
        }
        for (arrays, shares) in [(2, 33), (5, 58), (2, 1025)] {
            let sort = sort.arrays(&gpu, arrays).unwrap();
            let words = random.words((shares * tile - 5) as usize);
            check_arrays(&gpu, &sort, arrays, &words, &format!("{arrays} arrays of {shares} shares, {way}"));
        }
    }
}

#[test]
fn arrays_are_sorted_at_once_and_apart() {
    let mut random = Random(12);
    let max = 12_000;
    for (way, gpu) in ways().into_iter().take(2) {
        let narrow = RadixSort::<u32>::new(&gpu, max).unwrap();
        let wide = RadixSort::<u64>::new(&gpu, max).unwrap();
        for (arrays, len) in [(1, 3000), (2, 0), (2, 1), (2, 6000), (5, 2049), (20, 65), (300, 40)] {
            let what = format!("{arrays} arrays of {len}, {way}");
            check_arrays(&gpu, &narrow.arrays(&gpu, arrays).unwrap(), arrays, &random.words(len), &what);
            let keys: Vec<u64> = (0..len).map(|_| random.next()).collect();
            check_arrays(&gpu, &wide.arrays(&gpu, arrays).unwrap(), arrays, &keys, &what);
        }

        // With a count on the device the arrays keep the positions for the maximum.
        let (arrays, room, len) = (3, 3000, 2900);
        let sort = RadixSort::<u32>::new(&gpu, 9001).unwrap().arrays(&gpu, 3).unwrap();
        let status = Status::new(&gpu).unwrap();
        let word = Buffer::storage_from(&gpu, "count", &[len as u32]).unwrap();
        let count = Count::device(&word, 0, &status).unwrap();
        let words = random.words(arrays * room);
        let keys = Buffer::storage_from(&gpu, "keys", &words).unwrap();
        run(&gpu, &sort.bind_keys(&gpu, &count, &keys, 0..32).unwrap());
        let mut expected = words;
        expected.chunks_mut(room).for_each(|array| array[..len].sort_unstable());
        assert!(keys.read(&gpu).unwrap() == expected, "{way}");
        status.check(&gpu).unwrap();
    }
}

/// Sorts `arrays` arrays of pairs at once: `keys`, in each array rotated by a different number.
fn check_arrays<K: SortKey + Ord + std::fmt::Debug>(
    gpu: &Gpu,
    sort: &RadixSort<K>,
    arrays: u32,
    keys: &[K],
    what: &str,
) {
    let len = keys.len();
    let mut all = Vec::new();
    for array in 0..arrays as usize {
        all.extend(keys.iter().cycle().skip(37 * array).take(len));
    }
    let indices: Vec<u32> = (0..).take(all.len()).collect();
    let mut expected = indices.clone();
    if len > 0 {
        expected.chunks_mut(len).for_each(|array| array.sort_by_key(|&index| all[index as usize]));
    }
    let sorted: Vec<K> = expected.iter().map(|&index| all[index as usize]).collect();
    let count = Count::host(gpu, len as u64).unwrap();
    let on_device = Buffer::storage_from(gpu, "keys", &all).unwrap();
    let values = Buffer::storage_from(gpu, "values", &indices).unwrap();
    run(gpu, &sort.bind(gpu, &count, &on_device, &values, 0..K::BITS).unwrap());
    assert!(on_device.read(gpu).unwrap() == sorted, "keys of {what}");
    assert!(values.read(gpu).unwrap() == expected, "values of {what}");
}

#[test]
fn sorts_are_right_for_all_kinds_of_keys() {
    let mut random = Random(5);
    for (way, gpu) in ways().into_iter().take(2) {
        let len = 30_000;
        let sort = RadixSort::<u32>::new(&gpu, len as u64).unwrap();
        let words = random.words(len);
        let mut sorted = words.clone();
        sorted.sort_unstable();
        let reversed: Vec<u32> = sorted.iter().rev().copied().collect();
        let few: Vec<u32> = words.iter().map(|word| (word % 3) << 13).collect();
        let extremes: Vec<u32> = words.iter().map(|word| if word % 2 == 0 { 0 } else { u32::MAX }).collect();
        for (kind, keys) in [
            ("random", words.clone()),
            ("sorted", sorted),
            ("reversed", reversed),
            ("equal", vec![0x1234_5678; len]),
            ("greatest", vec![u32::MAX; len]),
            ("few distinct", few),
            ("extreme", extremes),
        ] {
            check_sort(&gpu, &sort, &keys, 0..32, &format!("{kind}, {way}"));
        }
    }
}

#[test]
fn sorts_take_any_range_of_bits() {
    let mut random = Random(6);
    for (way, gpu) in ways().into_iter().take(2) {
        let narrow = RadixSort::<u32>::new(&gpu, 3000).unwrap();
        let wide = RadixSort::<u64>::new(&gpu, 3000).unwrap();
        let words = random.words(3000);
        let longs: Vec<u64> = (0..3000).map(|_| random.next()).collect();
        for bits in [0..1, 31..32, 0..16, 16..32, 3..20, 8..32, 0..32] {
            check_sort(&gpu, &narrow, &words, bits, way);
        }
        for bits in [0..1, 63..64, 0..32, 32..64, 20..45, 31..33, 0..40, 0..64] {
            check_sort(&gpu, &wide, &longs, bits, way);
        }
        let keys = Buffer::<u32>::storage(&gpu, "keys", 3000).unwrap();
        let count = Count::host(&gpu, 3000).unwrap();
        for bits in [5..5, 0..33] {
            let error = narrow.bind_keys(&gpu, &count, &keys, bits).unwrap_err();
            assert!(matches!(error, PrimitiveError::Bits { width: 32, .. }), "{error}");
        }
    }
}
