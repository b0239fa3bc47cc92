//! The WGSL of the modules `time`, `random` and `statistics`, function by function, against the
//! host: the same bits.

mod host;
mod statistics;
mod time;

use crate::common;
use common::{POISON, gpu};
use eventhorizon::gpu::{Buffer, Gpu, Kernel, Program, Source};
use eventhorizon::random::{
    AliasTable, Stream, exponential_chords, exponential_short, exponential_tabled, exponential_unit,
    log2_unit, normal_unit, philox4x32,
};
use eventhorizon::time::Ticks;

/// As in `wgsl/random_probe.wgsl`.
const DRAWS: usize = 10;
const SEED: u64 = 0x89ab_cdef_0123_4567;

/// Words with products, sums and logarithms at an edge, and random ones.
fn words(count: usize) -> Vec<u32> {
    let mut stream = Stream::new(1, 2, 3);
    let edges = (0..32).flat_map(|n| [(1u32 << n) - 1, 1 << n, (1 << n) + 1, !(1 << n)]);
    edges.chain(std::iter::repeat_with(|| stream.draw())).take(count).collect()
}

/// Every pair of some words.
fn pairs() -> Vec<[u32; 2]> {
    let words = words(160);
    words.iter().flat_map(|&a| words.iter().map(move |&b| [a, b])).collect()
}

/// The library's two multiplications: `mul_wide` is a choice between two files.
fn products(gpu: &Gpu) -> Vec<Source> {
    let baseline = eventhorizon::wgsl!("../../../shaders/random/mul_wide.wgsl");
    let int64 = eventhorizon::wgsl!("../../../shaders/random/mul_wide_int64.wgsl");
    match gpu.has(wgpu::Features::SHADER_INT64) {
        true => vec![baseline, int64],
        false => vec![baseline],
    }
}

/// [`check_in`] `wgsl/random_probe.wgsl`.
fn check<const IN: usize, const OUT: usize>(
    entry: &str,
    cases: &[[u32; IN]],
    expected: impl Fn(usize, &[u32; IN]) -> [u32; OUT],
) {
    check_in(&eventhorizon::wgsl!("../../wgsl/random_probe.wgsl"), entry, cases, expected);
}

/// Runs kernel `entry` of `probe` on `cases` with each `mul_wide`, checked and trusted, and
/// compares the output words of each case with `expected`.
fn check_in<const IN: usize, const OUT: usize>(
    probe: &Source,
    entry: &str,
    cases: &[[u32; IN]],
    expected: impl Fn(usize, &[u32; IN]) -> [u32; OUT],
) {
    let gpu = gpu();
    let input = Buffer::storage_from(&gpu, "input", cases.as_flattened()).unwrap();
    let chords = Buffer::storage_from(&gpu, "chords", exponential_chords()).unwrap();
    let count = Buffer::uniform(&gpu, "cases", &[u32::try_from(cases.len()).unwrap(), 0, 0, 0]).unwrap();
    for product in products(&gpu) {
        let product_name = product.name().to_owned();
        let program = Program::link(probe.name(), &[probe.clone(), product]).unwrap();
        let checked = Kernel::new(&gpu, &program, entry, &[]).unwrap();
        // SAFETY: `input` and `output` hold the `cases` that the probes keep to, `output` has room
        // for every case, their loops are bounded by constants, and `draw_below` divides by n only
        // if n is above 0.
        let trusted = unsafe { Kernel::trusted(&gpu, &program, entry, &[]) }.unwrap();
        for (kernel, checks) in [(checked, "checked"), (trusted, "trusted")] {
            // One extra case shows that nothing is written beyond the cases.
            let output =
                Buffer::storage_from(&gpu, "output", &vec![POISON; (cases.len() + 1) * OUT]).unwrap();
            let bindings = kernel
                .bind(
                    &gpu,
                    &[
                        ("cases", count.binding()),
                        ("input", input.binding()),
                        ("output", output.binding()),
                        ("exponential_given", chords.binding()),
                    ],
                )
                .unwrap();
            let mut encoder = gpu.encoder(entry);
            let workgroups = u32::try_from(cases.len().div_ceil(64)).unwrap();
            kernel.dispatch(&mut encoder.begin_compute_pass(&Default::default()), &bindings, workgroups);
            gpu.submit(encoder).unwrap();
            let output = output.read(&gpu).unwrap();
            let (results, beyond) = output.split_at(cases.len() * OUT);
            for ((number, case), result) in cases.iter().enumerate().zip(results.chunks(OUT)) {
                let expected = expected(number, case);
                assert_eq!(result, expected, "{entry}, {checks}, {product_name}: case {number}, {case:x?}");
            }
            assert_eq!(beyond, [POISON; OUT], "{entry}, {checks}, {product_name}");
        }
    }
}

fn halves(value: u64) -> [u32; 2] {
    Ticks::new(value).to_words()
}

#[test]
fn mul_wide_is_the_whole_product() {
    check("probe_mul_wide", &pairs(), |_, &[a, b]| halves(u64::from(a) * u64::from(b)));
}

#[test]
fn times_add_and_compare_as_on_the_host() {
    let words = [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX];
    let times: Vec<_> = words.iter().flat_map(|&low| words.iter().map(move |&high| [low, high])).collect();
    let cases: Vec<_> = times.iter().flat_map(|a| times.iter().map(|b| [a[0], a[1], b[0], b[1]])).collect();
    check("probe_time", &cases, |_, &[a_low, a_high, b_low, b_high]| {
        let (a, b) = (Ticks::from_words([a_low, a_high]), Ticks::from_words([b_low, b_high]));
        let ([sum_low, sum_high], [least_low, least_high]) =
            (a.saturating_add(b).to_words(), a.min(b).to_words());
        [sum_low, sum_high, least_low, least_high, u32::from(a < b)]
    });
}

#[test]
fn philox_gives_the_known_answers_and_the_hosts() {
    let vectors = include_str!("../../data/random123_kat_vectors.txt");
    let known = vectors.lines().filter_map(|line| line.strip_prefix("philox4x32 10 ")).map(|hex| {
        let mut words = hex.split_whitespace().map(|word| u32::from_str_radix(word, 16).unwrap());
        [0; 10].map(|_| words.next().unwrap())
    });
    let known: Vec<_> = known.collect();
    assert_eq!(known.len(), 3);
    let mut cases: Vec<[u32; 6]> = known.iter().map(|k| [k[0], k[1], k[2], k[3], k[4], k[5]]).collect();
    cases.extend(words(3000).as_chunks().0);
    check("probe_philox", &cases, |number, &[a, b, c, d, key_low, key_high]| match known.get(number) {
        Some(known) => [known[6], known[7], known[8], known[9]],
        None => philox4x32([a, b, c, d], [key_low, key_high]),
    });
}

#[test]
fn streams_draw_the_same_words_from_any_position() {
    let names = words(5 * 40);
    let starts = [0, 1, 2, 3, 4, 5, 6, 7, 1000, 0x8000_0001, u32::MAX - 12, u32::MAX - 3, u32::MAX];
    let cases: Vec<_> = names
        .as_chunks()
        .0
        .iter()
        .flat_map(|&[a, b, c, d, e]| starts.map(move |start| [a, b, c, d, e, start]))
        .collect();
    check("probe_stream", &cases, |_, &[seed_low, seed_high, owner, index_low, index_high, start]| {
        let join = |low, high| Ticks::from_words([low, high]).get();
        let mut stream = Stream::new(join(seed_low, seed_high), owner, join(index_low, index_high));
        stream.seek(start);
        let mut expected = [0; DRAWS + 1];
        expected[..DRAWS].fill_with(|| stream.draw());
        expected[DRAWS] = stream.position();
        expected
    });
}

#[test]
fn whole_blocks_and_complements_are_the_hosts() {
    let starts = [0, 1, 2, 3, 4, 5, 1000, 0x8000_0001, u32::MAX - 4, u32::MAX - 3, u32::MAX - 2, u32::MAX];
    check("probe_block", &starts.map(|start| [start]), |number, &[start]| {
        let mut stream = Stream::new(SEED, u32::try_from(number).unwrap(), 0).complement();
        stream.seek(start);
        let [a, b, c, d] = stream.draw_block();
        let (position, word) = (stream.position(), stream.draw());
        let [first, second, third, fourth] = stream.block(0);
        [a, b, c, d, position, word, first, second, third, fourth]
    });
}

#[test]
fn substreams_are_the_hosts_and_leave_the_stream_where_it_was() {
    let starts = [0, 1, 2, 3, 4, 1000, u32::MAX];
    let names = [[0, 0], [0, 1], [1, 0], [7, 8], [0x7fff, 5], [u32::MAX, u32::MAX - 1]];
    let firsts = [0, 1, 0x3_ffff, u32::MAX - 3];
    let cases: Vec<_> = starts
        .iter()
        .flat_map(|&start| names.map(|name| (start, name)))
        .flat_map(|(start, [purpose, number])| firsts.map(|first| [start, purpose, number, first]))
        .flat_map(|[a, b, c, d]| [0, 1].map(|complement| [a, b, c, d, complement]))
        .collect();
    check("probe_purpose", &cases, |case, &[start, purpose, number, first, complement]| {
        let stream = Stream::new(SEED, u32::try_from(case).unwrap(), 1);
        let mut stream = if complement == 1 { stream.complement() } else { stream };
        stream.seek(start);
        stream.purpose(purpose, number);
        stream.seek(first);
        let mut expected = [0; DRAWS + 4];
        expected[..DRAWS].fill_with(|| stream.draw());
        stream.purpose(purpose, number.wrapping_add(1));
        expected[DRAWS..DRAWS + 2].fill_with(|| stream.draw());
        stream.main();
        expected[DRAWS + 2] = stream.position();
        expected[DRAWS + 3] = stream.draw();
        expected
    });
}

#[test]
fn short_exponentials_are_the_hosts() {
    let means = [0, 1, 2, 3, 1000, 1 << 20, (1 << 20) + 1, 83_886_080, (1 << 27) - 1, 1 << 27];
    let cases: Vec<_> = words(2000).iter().flat_map(|&word| means.map(|mean| [word, mean])).collect();
    check("probe_exponential_short", &cases, |_, &[word, mean]| [exponential_short(word, mean)]);
}

#[test]
fn exponentials_by_the_table_are_the_hosts() {
    // Both ends of each chord, without and with leading zeros; and the last words.
    let ends = (0..1024u32).flat_map(|i| [!(i << 21), !((i + 1) << 21) + 1].map(|word| [word, word >> 7]));
    let all: Vec<u32> = words(2000).into_iter().chain(ends.flatten()).chain([0, 1, 2, u32::MAX]).collect();
    let means = [0, 1, 1000, 1 << 20, (1 << 25) + 1, (1 << 27) - 1];
    let cases: Vec<_> = all.iter().flat_map(|&word| means.map(|mean| [word, mean])).collect();
    check("probe_exponential_tabled", &cases, |_, &[word, mean]| [exponential_tabled(word, mean)]);
}

#[test]
fn below_draws_and_rejects_as_on_the_host() {
    let cases: Vec<_> = words(2000).into_iter().chain([3 << 30; 200]).map(|n| [n]).collect();
    check("probe_below", &cases, |number, &[n]| {
        let mut stream = Stream::new(SEED, u32::try_from(number).unwrap(), 0);
        let mut expected = [0; DRAWS + 1];
        expected[..DRAWS].fill_with(|| stream.below(n));
        expected[DRAWS] = stream.position();
        expected
    });
}

#[test]
fn words_between_two_are_the_hosts() {
    let cases: Vec<_> = pairs().into_iter().chain([[0, u32::MAX], [1, u32::MAX], [7, 7]]).collect();
    check("probe_word", &cases, |number, &[low, high]| drawn_words(number, |stream| stream.word(low, high)));
}

#[test]
fn the_unit_exponential_is_the_hosts() {
    let ends = (0..30_000).flat_map(|distance| [distance, u32::MAX - distance]);
    let strided = (0..200_000).map(|i| i * 21_474);
    let cases: Vec<_> = words(50_000).into_iter().chain(ends).chain(strided).map(|word| [word]).collect();
    check("probe_exponential_unit", &cases, |_, &[word]| halves(exponential_unit(word)));
}

#[test]
fn exponential_variates_and_their_overflow_are_the_hosts() {
    let never = halves(u64::MAX);
    let cases: Vec<_> = pairs().into_iter().chain([never]).collect();
    check("probe_exponential", &cases, |number, &mean| {
        let mut stream = Stream::new(SEED, u32::try_from(number).unwrap(), 0);
        let variates = [0; DRAWS].map(|_| stream.exponential(Ticks::from_words(mean)).to_words());
        let mut expected = [0; 2 * DRAWS];
        expected.copy_from_slice(variates.as_flattened());
        expected
    });
}

/// DRAWS words of stream (SEED, `number`, 0), then its position: the output of the probes of word
/// variates.
fn drawn_words(number: usize, mut draw: impl FnMut(&mut Stream) -> u32) -> [u32; DRAWS + 1] {
    let mut stream = Stream::new(SEED, u32::try_from(number).unwrap(), 0);
    let mut expected = [0; DRAWS + 1];
    expected[..DRAWS].fill_with(|| draw(&mut stream));
    expected[DRAWS] = stream.position();
    expected
}

/// The same for variates of two words.
fn drawn_ticks(number: usize, mut draw: impl FnMut(&mut Stream) -> Ticks) -> [u32; 2 * DRAWS + 1] {
    let mut stream = Stream::new(SEED, u32::try_from(number).unwrap(), 0);
    let mut expected = [0; 2 * DRAWS + 1];
    for pair in expected.as_chunks_mut().0 {
        *pair = draw(&mut stream).to_words();
    }
    expected[2 * DRAWS] = stream.position();
    expected
}

/// Times at the edges of both words, and `count` others of all magnitudes.
fn times(count: u64) -> Vec<[u32; 2]> {
    let edges = [0, 1, 2, u64::from(u32::MAX), 1 << 32, (1 << 32) + 1, 1 << 63, u64::MAX - 1, u64::MAX];
    let others = (0..count).map(|number| {
        let mut stream = Stream::new(5, 6, number);
        (u64::from(stream.draw()) << 32 | u64::from(stream.draw())) >> stream.below(64)
    });
    edges.into_iter().chain(others).map(halves).collect()
}

#[test]
fn bernoulli_trials_are_the_hosts() {
    let cases: Vec<_> = words(2000).into_iter().map(|p| [p]).collect();
    check("probe_bernoulli", &cases, |number, &[p]| {
        drawn_words(number, |stream| u32::from(stream.bernoulli(p)))
    });
}

#[test]
fn uniform_times_are_the_hosts() {
    let times = times(40);
    let cases: Vec<_> = times.iter().flat_map(|a| times.iter().map(|b| [a[0], a[1], b[0], b[1]])).collect();
    check("probe_uniform", &cases, |number, &[low, low_high, high, high_high]| {
        let (low, high) = (Ticks::from_words([low, low_high]), Ticks::from_words([high, high_high]));
        drawn_ticks(number, |stream| stream.uniform(low, high))
    });
}

#[test]
fn hyperexponential_variates_are_the_hosts() {
    let means = times(8);
    let cases: Vec<_> = [0, 1, 1 << 31, u32::MAX - 1, u32::MAX]
        .iter()
        .flat_map(|&p| means.iter().zip(means.iter().rev()).map(move |(a, b)| [p, a[0], a[1], b[0], b[1]]))
        .collect();
    check("probe_hyperexponential", &cases, |number, &[p, a, a_high, b, b_high]| {
        let (first, second) = (Ticks::from_words([a, a_high]), Ticks::from_words([b, b_high]));
        drawn_ticks(number, |stream| stream.hyperexponential(p, first, second))
    });
}

#[test]
fn erlang_variates_and_their_overflow_are_the_hosts() {
    let means = times(200);
    let cases: Vec<_> = [0, 1, 2, 3, 16, 100, 2048, 2049, u32::MAX]
        .iter()
        .flat_map(|&stages| means.iter().map(move |mean| [stages, mean[0], mean[1]]))
        .collect();
    check("probe_erlang", &cases, |number, &[stages, mean, mean_high]| {
        drawn_ticks(number, |stream| stream.erlang(stages, Ticks::from_words([mean, mean_high])))
    });
}

#[test]
fn geometric_variates_and_their_overflow_are_the_hosts() {
    let cases: Vec<_> = times(5000);
    check("probe_geometric", &cases, |number, &scale| {
        drawn_words(number, |stream| stream.geometric(Ticks::from_words(scale).get()))
    });
}

#[test]
fn triangular_times_are_the_hosts() {
    let times = times(12);
    let pairs = times.iter().flat_map(|a| times.iter().map(move |b| [*a, *b]));
    let cases: Vec<_> =
        pairs.flat_map(|[a, b]| times.iter().map(move |c| [a[0], a[1], b[0], b[1], c[0], c[1]])).collect();
    check("probe_triangular", &cases, |number, &[low, low_high, mode, mode_high, high, high_high]| {
        let times = [[low, low_high], [mode, mode_high], [high, high_high]].map(Ticks::from_words);
        drawn_ticks(number, |stream| stream.triangular(times[0], times[1], times[2]))
    });
}

#[test]
fn poisson_variates_are_the_hosts() {
    let small = times(300).into_iter().map(|[low, high]| [low, high % 257]);
    let cases: Vec<_> = small.chain([[0, 256], [1, 256], [0, 257], [0, u32::MAX], [0, 0], [1, 0]]).collect();
    check("probe_poisson", &cases, |number, &mean| {
        drawn_words(number, |stream| stream.poisson(Ticks::from_words(mean).get()))
    });
}

#[test]
fn numbers_of_an_alias_table_are_the_hosts() {
    for weights in [vec![1.0], vec![0.0, 3.0], (0..3000).map(|k| f64::from(k % 17)).collect()] {
        let table = AliasTable::new(&weights).unwrap();
        check("probe_alias", table.words().as_chunks::<2>().0, |number, _| {
            drawn_words(number, |stream| stream.alias(&table))
        });
    }
}

#[test]
fn the_unit_normal_is_the_hosts() {
    let near =
        (0..20_000).flat_map(|distance| [distance, u32::MAX - distance, (1 << 31) - 10_000 + distance]);
    let strided = (0..200_000).map(|i| i * 21_474);
    let cases: Vec<_> = words(50_000).into_iter().chain(near).chain(strided).map(|word| [word]).collect();
    check("probe_normal_unit", &cases, |_, &[word]| [normal_unit(word).cast_unsigned()]);
}

#[test]
fn normal_times_and_their_limits_are_the_hosts() {
    let times = times(40);
    let cases: Vec<_> = times.iter().flat_map(|a| times.iter().map(|b| [a[0], a[1], b[0], b[1]])).collect();
    check("probe_normal", &cases, |number, &[mean, mean_high, deviation, deviation_high]| {
        let (mean, deviation) =
            (Ticks::from_words([mean, mean_high]), Ticks::from_words([deviation, deviation_high]));
        drawn_ticks(number, |stream| stream.normal(mean, deviation))
    });
}

#[test]
fn lognormal_times_and_their_limits_are_the_hosts() {
    let medians = times(100);
    // From no spread, over all shifts by bits and by words, to one that exceeds the range on both
    // sides.
    let spreads = [0, 1, 1 << 20, 1 << 26, 1 << 28, 3 << 28, 11 << 28, u32::MAX];
    let cases: Vec<_> =
        medians.iter().flat_map(|&[low, high]| spreads.map(|spread| [low, high, spread])).collect();
    check("probe_lognormal", &cases, |number, &[median, median_high, spread]| {
        drawn_ticks(number, |stream| stream.lognormal(Ticks::from_words([median, median_high]), spread))
    });
}

#[test]
fn weibull_times_and_their_limits_are_the_hosts() {
    let scales = times(100);
    let powers = [0, 1, 1 << 20, 1 << 29, 1 << 30, 3 << 30, 0xf000_0000, 0xf000_0001, u32::MAX];
    let cases: Vec<_> =
        scales.iter().flat_map(|&[low, high]| powers.map(|power| [low, high, power])).collect();
    check("probe_weibull", &cases, |number, &[scale, scale_high, power]| {
        drawn_ticks(number, |stream| stream.weibull(Ticks::from_words([scale, scale_high]), power))
    });
}

#[test]
fn logarithms_of_both_words_are_the_hosts() {
    let cases: Vec<_> = pairs().into_iter().chain(times(5000)).collect();
    check("probe_log2_unit", &cases, |_, &e| [log2_unit(Ticks::from_words(e).get()).cast_unsigned()]);
}
