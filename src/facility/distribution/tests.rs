//! Tests of the table of distributions, and of what is drawn.

use indexmap::IndexMap;

use super::*;
use crate::time::Ticks;

/// A distribution as kernels read it, with its table at the beginning of the data.
fn read(law: &Distribution) -> (usize, Law, Vec<u32>) {
    let scale = TimeScale::new(Resolution::default(), None);
    let (kind, words) = Law::of(&law.words(scale).unwrap());
    let table = law.table(scale).unwrap_or_default();
    (kind, words, table.as_flattened().to_vec())
}

fn draws(law: &Distribution, count: u64) -> Vec<f64> {
    let (kind, words, data) = read(law);
    let time = |index| (KINDS[kind].time)(&mut Stream::new(5, 1, index), &words, &data);
    (0..count).map(|index| Resolution::default().units(time(index))).collect()
}

/// Distributions with other parameters than the examples.
fn others() -> Vec<Distribution> {
    use Distribution as D;
    let shifted = |by, law| D::Shifted { by, law: Kept::new(law) };
    let cut = |low, high, law| D::Truncated { low, high, law: Kept::new(law) };
    let part = |weight, law| MixturePart { weight, law };
    vec![
        D::Gamma { shape: 0.4, scale: 3.0 },
        D::Gamma { shape: 400.0, scale: 0.01 },
        D::Beta { alpha: 0.5, beta: 0.5, low: 0.0, high: 9.0 },
        D::Beta { alpha: 40.0, beta: 2.0, low: 1.0, high: 2.0 },
        D::Pareto { shape: 1.5, scale: 1.0 },
        D::LogLogistic { shape: 1.5, scale: 1.0 },
        D::Coxian(Kept::new(Phases { means: vec![0.1, 5.0, 1.0], continues: vec![1.0, 0.3] })),
        D::Empirical(Kept::new(Samples::of(vec![5.0, 1.0, 1.0, 2.0, 9.0], true))),
        shifted(1.5, D::Lognormal { mean: 2.0, deviation: 3.0 }),
        cut(2.0, None, D::Weibull { scale: 2.0, shape: 1.5 }),
        cut(0.5, Some(3.0), D::Normal { mean: 2.0, deviation: 1.0 }),
        cut(1.0, Some(2.5), D::Uniform([0.0, 4.0])),
        cut(0.0, Some(6.0), shifted(1.0, D::Gamma { shape: 2.0, scale: 1.0 })),
        D::Mixture(Kept::new(vec![
            part(1.0, D::Normal { mean: 0.5, deviation: 0.5 }),
            part(2.0, D::Erlang { stages: 3, mean: 2.0 }),
            part(1.0, D::Triangular([1.0, 2.0, 4.0])),
            part(0.5, D::Hyperexponential { probability: 0.2, first: 9.0, second: 0.5 }),
        ])),
    ]
}

#[test]
fn draws_have_their_distribution_functions() {
    let count = 5000_u32;
    // Exceeded once in a million samples.
    let bound = 2.7 / f64::from(count).sqrt();
    let tick = 1.5 / f64::from(Resolution::default().ticks_per_unit());
    for law in Distribution::examples().chain(others()) {
        let mut all = draws(&law, count.into());
        all.sort_unstable_by(f64::total_cmp);
        let mut distance = 0.0_f64;
        for (index, &x) in all.iter().enumerate() {
            // Times are rounded to ticks, and several draws may be equal.
            let lower = index as f64 / f64::from(count) - law.probabilities(x + tick)[0];
            let upper = law.probabilities(x - tick)[0] - (index + 1) as f64 / f64::from(count);
            distance = distance.max(lower).max(upper);
        }
        assert!(distance < bound, "{law:?}: {distance}, and {bound} is the bound");
    }
}

#[test]
fn phases_of_very_different_lengths_have_their_tails() {
    for short in [1.0, 1e-4, 1e-9, 1e-16] {
        let (long, continues) = (3.0, 0.7);
        let law =
            Distribution::Coxian(Kept::new(Phases { means: vec![short, long], continues: vec![continues] }));
        let tails = law.tails();
        for x in [0.3 * short, 2.0 * short, 0.5, 3.0, 20.0] {
            let [first, second] = [short, long].map(|mean: f64| (-x / mean).exp());
            let both = (long * second - short * first) / (long - short);
            let expected = (1.0 - continues) * first + continues * both;
            let [lower, upper] = tails(x);
            assert!((upper / expected - 1.0).abs() < 1e-8, "{short}, {x}: {upper}, {expected}");
            assert!((lower - (1.0 - expected)).abs() < 1e-9, "{short}, {x}: {lower}");
        }
    }
    let far = Distribution::Coxian(Kept::new(Phases { means: vec![1e-10, 1e9], continues: vec![0.7] }));
    assert!(far.words_at(Resolution::default()).unwrap_err().contains("leave out the short one"));
}

#[test]
fn tables_are_exact_at_every_probability() {
    let tick = 2.0 / f64::from(Resolution::default().ticks_per_unit());
    let curves = Distribution::examples().chain(others()).filter(|law| {
        law.table(TimeScale::new(Resolution::default(), None)).is_some_and(|table| table.len() == 2049)
    });
    let mut count = 0;
    for law in curves {
        count += 1;
        let (_, words, data) = read(&law);
        let rows = data.as_chunks().0;
        let mut last = Ticks::ZERO;
        for step in 0..4000_u64 {
            let word = u32::try_from((step * ((1 << 32) / 4000)).min(u32::MAX.into())).unwrap();
            let time = time_of_table(1 << 31, word, words.number, rows);
            assert!(time >= last && time >= words.c, "{law:?}: {word:#x}");
            last = time;
            let p = (f64::from(word) + 0.5) / 2f64.powi(32);
            let x = Resolution::default().units(time);
            let [low, high] = [x - tick, x + tick].map(|x| law.probabilities(x)[0]);
            let error = (low - p).max(p - high);
            assert!(error < 2e-6, "{law:?}: {error} at {p}");
        }
    }
    assert!(count >= 10, "{count} curves");
}

#[test]
fn errors_of_data_name_file_and_line() {
    let folder = std::env::temp_dir().join(format!("eventhorizon-data-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let read = |name: &str, text: &str, law: &str| {
        std::fs::write(folder.join(name), text).unwrap();
        let found = in_folder(&folder, || toml::from_str::<IndexMap<String, Distribution>>(law));
        found.map(|read| read["law"]).map_err(|error| error.to_string())
    };
    let times = "law = { empirical = \"times.csv\" }";
    let of = |values: &[f64], interpolated| {
        Ok(Distribution::Empirical(Kept::new(Samples::of(values.to_vec(), interpolated))))
    };
    assert_eq!(read("times.csv", "3\n1\n2.5\n", times), of(&[1.0, 2.5, 3.0], false));
    assert_eq!(read("times.csv", "minutes\n3\n1\n", times), of(&[1.0, 3.0], false));
    let column = "law = { empirical = { file = \"all.csv\", column = \"b\", interpolated = true } }";
    assert_eq!(read("all.csv", "a,b\n9,1\n8,2\n", column), of(&[1.0, 2.0], true));
    for (text, law, why) in [
        ("1\n2\nx\n", times, "times.csv, line 3: expected a number, found \"x\""),
        ("a,b\n1,2\n", times, "times.csv: it has the columns `a`, `b`; name one with `column`"),
        ("", times, "times.csv: it has no numbers"),
        (
            "1,2\n",
            &times.replace("\"times.csv\"", "{ file = \"times.csv\", column = \"c\" }"),
            "has no names",
        ),
        ("1\n", &times.replace("times.csv", "none.csv"), "none.csv: "),
    ] {
        let error = read("times.csv", text, law).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let error = toml::from_str::<IndexMap<String, Distribution>>(times).unwrap_err().to_string();
    assert!(error.contains("a text in memory names no files"), "{error}");
}

#[test]
fn rows_lie_where_their_numbers_say_and_have_the_words_that_they_draw() {
    for (place, kind) in KINDS.iter().enumerate() {
        assert_eq!((kind.number as usize, kind.example.kind()), (place, kind.number));
        let (found, law, data) = read(&kind.example);
        assert_eq!(found, place);
        let mut stream = Stream::new(1, 2, 3);
        assert!((kind.time)(&mut stream, &law, &data) >= (kind.least)(&law));
        if !kind.wgsl.starts_with("draw_") {
            let mut other = Stream::new(1, 2, 3);
            other.seek(kind.draws);
            assert_eq!(stream.draw(), other.draw(), "{:?}", kind.example);
        }
    }
}

#[test]
fn the_guide_shows_each_kind() {
    let guide = include_str!("../../../docs/guide-networks.md");
    for law in Distribution::examples() {
        let shown = guide.split('`').any(|code| {
            let read = toml::from_str::<IndexMap<String, Distribution>>(&format!("law = {code}"));
            read.is_ok_and(|read| read.values().eq([&law]))
        });
        assert!(shown, "{law:?}");
    }
}

#[test]
fn descriptions_name_each_kind_and_an_unknown_name_lists_them() {
    let error = toml::from_str::<IndexMap<String, Distribution>>("law = { gauss = 1 }");
    let error = error.unwrap_err().to_string();
    for law in Distribution::examples() {
        let value = toml::Value::try_from(law).unwrap();
        let name = value.as_table().unwrap().keys().next().unwrap();
        assert!(error.contains(&format!("`{name}`")), "{error}");
        assert_eq!(value.try_into::<Distribution>().unwrap(), law);
    }
}

#[test]
fn means_and_variances_are_those_of_the_variates() {
    let resolution = Resolution::default();
    let cut = [[1.0, 1.0], [1.0, 3.0]].map(|[mean, deviation]| Distribution::Normal { mean, deviation });
    for law in Distribution::examples().chain(cut) {
        let (kind, drawn, data) = read(&law);
        let n = 200_000_u32;
        let (mut sum, mut squares) = (0.0, 0.0);
        for index in 0..n {
            let time = (KINDS[kind].time)(&mut Stream::new(5, 1, index.into()), &drawn, &data);
            let value = resolution.units(time);
            sum += value;
            squares += value * value;
        }
        let mean = sum / f64::from(n);
        let variance = squares / f64::from(n) - mean * mean;
        assert!((mean / law.mean() - 1.0).abs() < 0.01, "{law:?}: {mean} {}", law.mean());
        let expected = law.variance();
        assert!((variance - expected).abs() <= 0.03 * expected + 1e-9, "{law:?}: {variance} {expected}");
    }
}

#[test]
fn laws_that_cannot_be_drawn_are_refused() {
    for law in [
        Distribution::Constant(0.0),
        Distribution::Exponential(-1.0),
        Distribution::Exponential(f64::NAN),
        Distribution::Uniform([2.0, 1.0]),
        Distribution::Erlang { stages: 0, mean: 1.0 },
        Distribution::Hyperexponential { probability: 1.5, first: 1.0, second: 1.0 },
        Distribution::Triangular([3.0, 2.0, 5.0]),
        Distribution::Normal { mean: 1.0, deviation: -1.0 },
        Distribution::Lognormal { mean: 0.0, deviation: 1.0 },
        Distribution::Weibull { scale: 1.0, shape: 0.1 },
        Distribution::Constant(1e300),
        Distribution::Exponential(1e-5),
        Distribution::Constant(1.4e-6),
        Distribution::Erlang { stages: 100, mean: 0.01 },
        Distribution::Uniform([1.0, 1.0001]),
        Distribution::Gamma { shape: 0.01, scale: 1.0 },
        Distribution::Gamma { shape: 2.0, scale: 0.0 },
        Distribution::Beta { alpha: 1.0, beta: 1.0, low: 2.0, high: 1.0 },
        Distribution::Pareto { shape: 1.0, scale: 1.0 },
        Distribution::LogLogistic { shape: 0.9, scale: 1.0 },
        Distribution::Coxian(Kept::new(Phases { means: vec![1.0], continues: vec![0.5] })),
        Distribution::Discrete(Kept::new(Weighted { values: vec![1.0, 2.0], weights: vec![1.0] })),
        Distribution::Discrete(Kept::new(Weighted { values: vec![1.0, 2.0], weights: vec![-1.0, 2.0] })),
        Distribution::Empirical(Kept::new(Samples::of(vec![], false))),
        Distribution::Empirical(Kept::new(Samples::of(vec![1.0], true))),
        Distribution::Empirical(Kept::new(Samples::of(vec![-1.0, 3.0], false))),
        Distribution::Mixture(Kept::new(vec![])),
        Distribution::Mixture(Kept::new(vec![MixturePart {
            weight: -1.0,
            law: Distribution::Exponential(3.0),
        }])),
        Distribution::Discrete(Kept::new(Weighted { values: vec![1.0, 2.0], weights: vec![0.0, 0.0] })),
        Distribution::Shifted { by: -1.0, law: Kept::new(Distribution::Exponential(3.0)) },
        Distribution::Truncated { low: 90.0, high: None, law: Kept::new(Distribution::Exponential(3.0)) },
        Distribution::Truncated { low: 2.0, high: Some(1.0), law: Kept::new(Distribution::Exponential(3.0)) },
    ] {
        assert!(law.words(TimeScale::new(Resolution::default(), None)).is_err(), "{law:?}");
    }
}

#[test]
fn truncated_parts_of_truncated_parts_are_drawn_like_one() {
    let cut = |law| Distribution::Truncated { low: 1.0, high: Some(9.0), law: Kept::new(law) };
    let once = cut(Distribution::Exponential(3.0));
    let often = (0..40).fold(once, |law, _| cut(law));
    assert!(often.words(TimeScale::new(Resolution::default(), None)).is_ok());
    for x in [0.5, 1.0, 2.0, 5.0, 9.0] {
        let [[a, b], [c, d]] = [once, often].map(|law| law.probabilities(x));
        assert!((a - c).abs() < 1e-9 && (b - d).abs() < 1e-9, "{x}: {a} {b} {c} {d}");
    }
}
