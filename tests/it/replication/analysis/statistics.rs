use super::{assert_close, sample};
use eventhorizon::gpu::{Program, Source};
use eventhorizon::replication::columns;
use eventhorizon::statistics::{
    AnalysisError, Column, Failure, FailureCause, Observations, Pairing, Values, compare,
};
use proptest::prelude::*;

fn column(name: &str, values: Values) -> Column {
    Column { name: name.into(), values }
}

fn failure(replication: u64, code: u32) -> Failure {
    Failure { replication, cause: FailureCause::Code(code) }
}

/// NIST Statistical Reference Datasets, univariate: NumAcc1 to NumAcc4, whose means and deviations
/// are exact by construction.
#[test]
fn certified_means_and_deviations() {
    let one = sample(Values::U32(vec![10_000_001, 10_000_003, 10_000_002])).summary("x", 0.95).unwrap();
    assert_eq!((one.mean, one.variance), (Some(10_000_002.0), Some(1.0)));
    for (offset, digits) in [(1.0, 14), (1_000_000.0, 9), (10_000_000.0, 8)] {
        // f64 keeps this number of digits of the inputs.
        let values = (0..1001).map(|i| offset + if i == 0 { 0.2 } else { [0.3, 0.1][i % 2] });
        let summary = sample(Values::F64(values.collect())).summary("x", 0.95).unwrap();
        assert_close(summary.mean.unwrap(), offset + 0.2, 15);
        assert_close(summary.variance.unwrap().sqrt(), 0.1, digits);
    }
}

#[test]
fn a_small_sample_by_hand() {
    let summary = sample(Values::I32(vec![-3, 4, 5, -2])).summary("x", 0.95).unwrap();
    assert_eq!(summary.mean, Some(1.0));
    // 16 + 9 + 16 + 9 over 3.
    assert_eq!(summary.variance, Some(50.0 / 3.0));
    let interval = summary.interval.unwrap();
    assert_close(interval.half_width, 3.182_446_305_283_71 * (50.0_f64 / 3.0 / 4.0).sqrt(), 9);
    assert_eq!((interval.lower, interval.upper), (1.0 - interval.half_width, 1.0 + interval.half_width));
    assert_eq!((summary.min, summary.max), (Some(-3.0), Some(5.0)));
    assert_close(summary.relative_half_width().unwrap(), interval.half_width, 15);
    assert!(interval.contains(interval.lower) && !interval.contains(interval.lower - 1e-9));
}

/// 64-bit counts with sums and squares beyond 64 and 128 bits.
#[test]
fn huge_counts_are_summed_exactly() {
    let top = u64::MAX;
    let summary = sample(Values::U64(vec![top, top, top - 3, top - 1])).summary("x", 0.95).unwrap();
    // Deviations from the mean top - 1: 1, 1, -2, 0.
    assert_eq!(summary.variance, Some(2.0));
    assert_eq!(summary.mean, Some(top as f64));
    let wide = sample(Values::U64([0, top].repeat(1000))).summary("x", 0.95).unwrap();
    let half = top as f64 / 2.0;
    assert_close(wide.mean.unwrap(), half, 15);
    assert_close(wide.variance.unwrap(), half * half * 2000.0 / 1999.0, 14);
}

/// R: quantile(c(2, 4, 4, 5, 7, 9), c(0, .1, .25, .5, .9, 1)), type 7.
#[test]
fn quantiles_are_those_of_r() {
    let point = sample(Values::U32(vec![9, 4, 2, 7, 4, 5]));
    let quantiles = point.quantiles("x", &[0.0, 0.1, 0.25, 0.5, 0.9, 1.0]).unwrap().unwrap();
    for (got, expected) in quantiles.iter().zip([2.0, 3.0, 4.0, 4.5, 8.0, 9.0]) {
        assert_close(*got, expected, 15);
    }
    assert_eq!(sample(Values::F32(vec![1.5])).quantiles("x", &[0.3]).unwrap(), Some(vec![1.5]));
    assert_eq!(sample(Values::F32(vec![])).quantiles("x", &[0.3]).unwrap(), None);
    for probability in [-0.1, 1.1, f64::NAN] {
        let error = point.quantiles("x", &[probability]).unwrap_err();
        assert!(matches!(error, AnalysisError::Probability { .. }), "{error}");
    }
}

#[test]
fn without_two_observations_there_is_no_interval() {
    let none = sample(Values::U32(vec![])).summary("x", 0.95).unwrap();
    assert_eq!((none.observations, none.mean, none.variance, none.interval), (0, None, None, None));
    assert_eq!((none.min, none.relative_half_width()), (None, None));
    let one = sample(Values::F32(vec![2.5])).summary("x", 0.95).unwrap();
    assert_eq!((one.observations, one.mean, one.variance), (1, Some(2.5), None));
    assert_eq!((one.interval, one.relative_half_width()), (None, None));
    assert_eq!((one.min, one.max), (Some(2.5), Some(2.5)));
}

#[test]
fn relative_width_of_a_mean_of_zero() {
    let spread = sample(Values::I32(vec![-1, 1])).summary("x", 0.95).unwrap();
    assert_eq!(spread.relative_half_width(), None);
    let constant = sample(Values::I32(vec![0, 0])).summary("x", 0.95).unwrap();
    assert_eq!(constant.relative_half_width(), Some(0.0));
}

#[test]
fn failed_replications_are_listed_and_never_averaged_in() {
    let columns = vec![
        column("n", Values::U32(vec![1, 99, 3, 1000])),
        column("f", Values::F32(vec![1.0, 2.0, 3.0, f32::NAN])),
    ];
    let point = Observations::new(4, columns, [failure(1, 7)], Pairing::Independent).unwrap();
    let summary = point.summary("n", 0.95).unwrap();
    assert_eq!((summary.replications, summary.failed, summary.observations), (4, 2, 2));
    // A replication with one unusable value is excluded from every column.
    assert_eq!((summary.mean, summary.max), (Some(2.0), Some(3.0)));
    let failures: Vec<_> = point.failures().collect();
    let not_a_number = Failure { replication: 3, cause: FailureCause::NotANumber("f".into()) };
    assert_eq!(failures, [failure(1, 7), not_a_number]);
    assert_eq!(point.quantiles("n", &[1.0]).unwrap(), Some(vec![3.0]));
}

#[test]
fn antithetic_pairs_are_one_observation() {
    // Pairs (1, 3), (5, 6), (9, 4 failed).
    let values = column("x", Values::U32(vec![1, 3, 5, 6, 9, 4]));
    let point = Observations::new(6, vec![values], [failure(5, 1)], Pairing::Antithetic).unwrap();
    let summary = point.summary("x", 0.95).unwrap();
    assert_eq!((summary.replications, summary.failed, summary.observations), (6, 1, 2));
    // Pair means 2 and 5.5.
    assert_eq!((summary.mean, summary.variance), (Some(3.75), Some(6.125)));
    assert_eq!((summary.min, summary.max), (Some(1.0), Some(6.0)));
    let odd = Observations::new(3, vec![], [], Pairing::Antithetic).unwrap_err();
    assert!(matches!(odd, AnalysisError::Odd { replications: 3 }));
}

#[test]
fn outputs_are_read_by_the_layout_of_the_struct() {
    let text = "struct Output { count: u32, @align(8) total: vec2<u32>, drift: i32, share: f32 }";
    let layout = Program::link("t", &[Source::new("o.wgsl", text)]).unwrap().layout("Output").unwrap();
    let words = |n: u32, drift: i32, share: f32| {
        [n, 0xDEAD, n + 1, 2, drift as u32, share.to_bits()].map(u32::to_le_bytes).concat()
    };
    let bytes = [words(1, -5, 0.5), words(4_000_000_000, 6, -2.25)].concat();
    let read = columns(&layout, &bytes, 2).unwrap();
    let expected = [
        column("count", Values::U32(vec![1, 4_000_000_000])),
        column("total", Values::U64(vec![2 << 32 | 2, 2 << 32 | 4_000_000_001])),
        column("drift", Values::I32(vec![-5, 6])),
        column("share", Values::F32(vec![0.5, -2.25])),
    ];
    assert_eq!(read, expected);
    let short = columns(&layout, &bytes[1..], 2);
    assert!(matches!(short, Err(AnalysisError::OutputBytes { got: 47, replications: 2, stride: 24 })));
    // Structs and arrays inside give a column for each number.
    let text = "struct Sum { total: vec4<u32>, n: vec2<u32>, more: vec2<u32> } struct Output { sum: Sum, bins: array<u32, 4> }";
    let layout = Program::link("t", &[Source::new("o.wgsl", text)]).unwrap().layout("Output").unwrap();
    let bytes: Vec<u8> = (1..=12_u32).flat_map(u32::to_le_bytes).collect();
    let read = columns(&layout, &bytes, 1).unwrap();
    assert_eq!(read[0], column("sum.total", Values::U128(vec![4 << 96 | 3 << 64 | 2 << 32 | 1])));
    assert_eq!(read[1], column("sum.n", Values::U64(vec![6 << 32 | 5])));
    assert_eq!(read[6], column("bins[3]", Values::U32(vec![12])));
    // Sums of 128-bit values are those of f64.
    let of = |n| Values::U128(vec![n; 2]);
    let summary = sample(of(1 << 100)).summary("x", 0.95).unwrap();
    assert_eq!((summary.mean, summary.variance), (Some(2f64.powi(100)), Some(0.0)));
    let text = "struct Output { place: vec3<f32> }";
    let layout = Program::link("t", &[Source::new("o.wgsl", text)]).unwrap().layout("Output").unwrap();
    let other = columns(&layout, &[0; 16], 1);
    assert!(matches!(other, Err(AnalysisError::OutputField { field }) if field == "place"));
}

#[test]
fn derived_columns_see_the_same_replications() {
    let columns =
        vec![column("idle", Values::U64(vec![1, 0, 3])), column("time", Values::U64(vec![2, 0, 4]))];
    let mut point = Observations::new(3, columns, [failure(1, 1)], Pairing::Independent).unwrap();
    // 0 / 0 of the failed replication is never computed.
    point.derive("share", &["idle", "time"], |row| row[0] / row[1]).unwrap();
    let summary = point.summary("share", 0.95).unwrap();
    assert_eq!((summary.failed, summary.observations, summary.mean), (1, 2, Some(0.625)));
    point.derive("inverse", &["idle"], |row| 1.0 / (row[0] - 1.0)).unwrap();
    assert_eq!(point.summary("idle", 0.95).unwrap().failed, 2);
    let again = point.derive("share", &["idle"], |row| row[0]).unwrap_err();
    assert!(matches!(again, AnalysisError::RepeatedColumn { .. }));
    let unknown = point.derive("y", &["tim"], |row| row[0]).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no result column `tim`; the columns are: idle, time, share, inverse"
    );
}

#[test]
fn pooled_columns_are_functions_of_means() {
    let columns = vec![
        column("sum", Values::U64(vec![10, 0, 3, 20, 7])),
        column("count", Values::U64(vec![2, 0, 1, 5, 2])),
    ];
    let mut point = Observations::new(5, columns, [], Pairing::Independent).unwrap();
    point.pool("mean", &["sum", "count"], |means| means[0] / means[1]).unwrap();
    // Zero over zero is no failure, and adds nothing.
    let summary = point.summary("mean", 0.95).unwrap();
    assert_eq!((summary.failed, summary.observations, summary.mean), (0, 5, Some(4.0)));
    assert_eq!((summary.min, summary.max), (Some(3.0), Some(5.0)));
    assert_eq!(point.quantiles("mean", &[0.5]).unwrap(), Some(vec![3.75]));
    // The jackknife of a ratio: 4, and its values without each replication.
    let without = [30.0 / 8.0, 4.0, 37.0 / 9.0, 20.0 / 5.0, 33.0 / 8.0];
    let pseudo = without.map(|value| 20.0 - 4.0 * value);
    let expected = sample(Values::F64(pseudo.to_vec())).summary("x", 0.95).unwrap();
    assert_close(summary.interval.unwrap().half_width, expected.interval.unwrap().half_width, 12);
    // A ratio is selected together with its columns.
    let selected = point.select(&["mean"]).unwrap();
    assert_eq!(selected.shown().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["mean"]);
    assert_eq!(selected.summary("mean", 0.95).unwrap(), summary);
    // The difference of two points; with more replications, that of all.
    let mut other = point.clone();
    let difference = compare(&point, &other, "mean", 0.95).unwrap();
    assert_eq!((difference.mean, difference.interval.unwrap().half_width), (Some(0.0), 0.0));
    other.append(point).unwrap();
    let both = other.summary("mean", 0.95).unwrap();
    assert_eq!((both.observations, both.mean), (10, Some(4.0)));
    // Pairs are omitted together.
    let columns =
        vec![column("sum", Values::U32(vec![1, 3, 6, 2])), column("count", Values::U32(vec![1, 1, 2, 2]))];
    let mut pairs = Observations::new(4, columns, [], Pairing::Antithetic).unwrap();
    pairs.pool("mean", &["sum", "count"], |means| means[0] / means[1]).unwrap();
    let summary = pairs.summary("mean", 0.95).unwrap();
    assert_eq!(
        (summary.observations, summary.mean, summary.interval.unwrap().half_width),
        (2, Some(2.0), 0.0)
    );
    assert!(pairs.pool("mean", &["sum"], |means| means[0]).is_err());
}

#[test]
fn appended_replications_follow() {
    let part = |values: &[u32], failures: &[Failure]| {
        let columns = vec![column("x", Values::U32(values.to_vec()))];
        Observations::new(values.len(), columns, failures.to_vec(), Pairing::Independent).unwrap()
    };
    let mut point = part(&[1, 2], &[]);
    point.append(part(&[3, 100], &[failure(1, 9)])).unwrap();
    assert_eq!(point.failures().collect::<Vec<_>>(), [failure(3, 9)]);
    let whole = part(&[1, 2, 3, 100], &[failure(3, 9)]);
    assert_eq!(point.summary("x", 0.9).unwrap(), whole.summary("x", 0.9).unwrap());
    let other = sample(Values::I32(vec![1]));
    let error = point.append(other).unwrap_err();
    assert!(matches!(error, AnalysisError::Mismatch { what: "columns", .. }), "{error}");
}

/// Sums of a simulation are integers as long as all of them fit; that must not decide whether a
/// precision can be reached.
#[test]
fn integers_and_reals_go_together_as_if_they_had_been_made_together() {
    let large = 1_u64 << 53;
    let part = |values: Values| {
        let columns = vec![column("x", values)];
        Observations::new(columns[0].values.len(), columns, [], Pairing::Independent).unwrap()
    };
    let integers = || part(Values::U64(vec![1, large + 1]));
    let reals = || part(Values::F64(vec![2e20]));
    let whole = Values::F64(vec![1.0, large as f64, 2e20]);
    let mut point = integers();
    point.append(reals()).unwrap();
    assert_eq!(point.column("x").unwrap().values, whole);
    point.append(integers()).unwrap();
    assert_eq!(point.column("x").unwrap().values.get(4), large as f64);
    let mut point = integers();
    point.append(integers()).unwrap();
    assert_eq!(point.column("x").unwrap().values, Values::U64(vec![1, large + 1, 1, large + 1]));
    assert!(point.append(part(Values::U32(vec![1]))).is_err());
}

#[test]
fn impossible_observations_are_refused() {
    let x = || column("x", Values::U32(vec![1, 2]));
    let new = |columns, failures: Vec<Failure>| Observations::new(2, columns, failures, Pairing::Independent);
    let length = new(vec![column("x", Values::U32(vec![1]))], vec![]).unwrap_err();
    assert!(matches!(length, AnalysisError::ColumnLength { got: 1, expected: 2, .. }));
    assert!(matches!(new(vec![x(), x()], vec![]), Err(AnalysisError::RepeatedColumn { .. })));
    let index = new(vec![x()], vec![failure(2, 1)]).unwrap_err();
    assert!(matches!(index, AnalysisError::FailureIndex { replication: 2, replications: 2 }));
    for level in [0.0, 1.0, -1.0, f64::NAN] {
        let error = sample(Values::U32(vec![1, 2])).summary("x", level).unwrap_err();
        assert!(matches!(error, AnalysisError::Level { .. }));
    }
}

#[test]
fn points_are_compared_replication_by_replication() {
    let point = |values: &[u32], failures: Vec<Failure>| {
        let columns = vec![column("x", Values::U32(values.to_vec()))];
        Observations::new(values.len(), columns, failures, Pairing::Independent).unwrap()
    };
    // Different levels, similar differences: 1, 2, 3.
    let left = point(&[10, 2000, 300_000, 5], vec![failure(3, 1)]);
    let right = point(&[11, 2002, 300_003, 7], vec![]);
    let difference = compare(&left, &right, "x", 0.95).unwrap();
    assert_eq!((difference.replications, difference.failed, difference.observations), (4, 1, 3));
    assert_eq!((difference.mean, difference.variance), (Some(2.0), Some(1.0)));
    assert_eq!((difference.min, difference.max), (Some(1.0), Some(3.0)));
    assert_close(difference.interval.unwrap().half_width, 4.302_652_729_749_46 / 3_f64.sqrt(), 9);
    let back = compare(&right, &left, "x", 0.95).unwrap();
    assert_eq!(back.mean, Some(-2.0));
    let short = compare(&left, &point(&[1], vec![]), "x", 0.95).unwrap_err();
    assert!(matches!(short, AnalysisError::Mismatch { what: "number of replications", .. }));
}

proptest! {
    #[test]
    fn integer_columns_do_not_depend_on_the_order(
        (values, shuffled) in prop::collection::vec(any::<u64>(), 2..60)
            .prop_flat_map(|values| (Just(values.clone()), Just(values).prop_shuffle()))
    ) {
        let summary = |values| sample(Values::U64(values)).summary("x", 0.95).unwrap();
        // Bit for bit: every field of the summary.
        prop_assert_eq!(summary(values), summary(shuffled));
    }

    #[test]
    fn mean_and_quantiles_lie_between_the_extremes(values in prop::collection::vec(-1e9_f32..1e9, 1..80), p in 0.0..=1.0) {
        let point = sample(Values::F32(values));
        let summary = point.summary("x", 0.95).unwrap();
        let range = summary.min.unwrap()..=summary.max.unwrap();
        prop_assert!(range.contains(&summary.mean.unwrap()));
        prop_assert!(range.contains(&point.quantiles("x", &[p]).unwrap().unwrap()[0]));
    }

    #[test]
    fn shifts_move_the_mean_and_leave_the_variance(values in prop::collection::vec(-1_000_000_i32..1_000_000, 2..80), by in -1_000_000_i32..1_000_000) {
        let before = sample(Values::I32(values.clone())).summary("x", 0.95).unwrap();
        let after = sample(Values::I32(values.iter().map(|x| x + by).collect())).summary("x", 0.95).unwrap();
        prop_assert_eq!(before.variance, after.variance);
        prop_assert!((after.mean.unwrap() - before.mean.unwrap() - f64::from(by)).abs() < 1e-9);
    }

    #[test]
    fn factors_scale_mean_and_deviation(values in prop::collection::vec(0_u32..1_000_000, 2..80), by in 1_u32..4000) {
        let before = sample(Values::U32(values.clone())).summary("x", 0.95).unwrap();
        let after = sample(Values::U32(values.iter().map(|x| x * by).collect())).summary("x", 0.95).unwrap();
        assert_close(after.mean.unwrap(), before.mean.unwrap() * f64::from(by), 14);
        assert_close(after.interval.unwrap().half_width, before.interval.unwrap().half_width * f64::from(by), 14);
    }

    #[test]
    fn both_kinds_of_sums_agree(values in prop::collection::vec(any::<i32>(), 2..80)) {
        let integers = sample(Values::I32(values.clone())).summary("x", 0.95).unwrap();
        let floats = sample(Values::F64(values.iter().map(|&x| x.into()).collect())).summary("x", 0.95).unwrap();
        prop_assert!((integers.mean.unwrap() - floats.mean.unwrap()).abs() <= 1e-6);
        assert_close(floats.variance.unwrap(), integers.variance.unwrap(), 12);
    }

    #[test]
    fn quantiles_rise(values in prop::collection::vec(-1e3_f64..1e3, 1..40), mut ps in prop::collection::vec(0.0..=1.0, 2..9)) {
        ps.sort_unstable_by(f64::total_cmp);
        let quantiles = sample(Values::F64(values)).quantiles("x", &ps).unwrap().unwrap();
        prop_assert!(quantiles.is_sorted(), "{quantiles:?}");
    }
}
