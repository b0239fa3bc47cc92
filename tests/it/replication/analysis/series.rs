use super::assert_close;
use eventhorizon::random::Stream;
use eventhorizon::statistics::{AnalysisError, batch_means, mser5};

/// Noise of variance 1/12, uniform.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut stream = Stream::new(seed, 0, 0);
    move || f64::from(stream.draw()) / 2_f64.powi(32) - 0.5
}

#[test]
fn mser5_cuts_a_step_where_it_is() {
    for step in [0, 5, 10, 40] {
        let series: Vec<f64> =
            (0..100).map(|i| if i < step { 100.0 } else { f64::from(u8::from(i % 2 == 0)) }).collect();
        assert_eq!(mser5(&series).unwrap(), step as usize);
    }
    // An incomplete group of five is ignored.
    let mut series = vec![1.0; 54];
    series[53] = 1e9;
    assert_eq!(mser5(&series).unwrap(), 0);
}

#[test]
fn mser5_cuts_an_exponential_transient_where_it_meets_the_noise() {
    for seed in 0..20 {
        let mut noise = noise(seed);
        let series: Vec<f64> = (0..2000).map(|t| 10.0 * (-f64::from(t) / 50.0).exp() + noise()).collect();
        let cut = mser5(&series).unwrap();
        // The transient is 0.67 at 135 and 0.003 at 400.
        assert!((135..400).contains(&cut), "{cut}");
    }
}

#[test]
fn a_series_that_does_not_settle_is_refused() {
    let ramp: Vec<f64> = (0..500).map(f64::from).collect();
    assert!(matches!(mser5(&ramp), Err(AnalysisError::NotSettled { observations: 500, .. })));
    assert!(matches!(mser5(&[1.0; 49]), Err(AnalysisError::ShortSeries { needed: 50, got: 49, .. })));
    let mut series = vec![0.0; 60];
    series[17] = f64::NAN;
    assert!(matches!(mser5(&series), Err(AnalysisError::SeriesValue { index: 17, .. })));
    assert!(matches!(batch_means(&series, 10, 0.95), Err(AnalysisError::SeriesValue { index: 17, .. })));
}

#[test]
fn batch_means_by_hand() {
    // One value is omitted, then batches of two with means 1, 2, 1, 2, 1, 2, 1, 2.
    let mut series = vec![1000.0];
    for _ in 0..4 {
        series.extend([0.0, 2.0, 2.0, 2.0]);
    }
    let batches = batch_means(&series, 8, 0.95).unwrap();
    assert_eq!((batches.batches, batches.batch_size, batches.left_out), (8, 2, 1));
    assert_eq!(batches.mean, 1.5);
    // Variance 8 / 4 / 7, and Student's t with 7 degrees of freedom.
    assert_close(batches.interval.half_width, 2.364_624_251_592_79 * (2.0_f64 / 7.0 / 8.0).sqrt(), 9);
    // 1 - 7 / (2 * 2): batches that alternate.
    assert_eq!(batches.lag1, -0.75);
    assert!(!batches.correlated);
}

#[test]
fn batches_that_are_too_short_are_suspected() {
    let mut noise = noise(9);
    let mut value = 0.0;
    // Correlation time about 100.
    let series: Vec<f64> = (0..20_000)
        .map(|_| {
            value = 0.99 * value + noise();
            value
        })
        .collect();
    let short = batch_means(&series[..1000], 30, 0.95).unwrap();
    assert!(short.correlated && short.lag1 > 0.5, "{short:?}");
    let long = batch_means(&series, 10, 0.95).unwrap();
    assert!(!long.correlated, "{long:?}");
    let constant = batch_means(&[2.0; 100], 10, 0.95).unwrap();
    assert_eq!((constant.lag1, constant.interval.half_width), (0.0, 0.0));
    assert!(matches!(batch_means(&series, 7, 0.95), Err(AnalysisError::Setting { .. })));
    assert!(matches!(batch_means(&series[..9], 10, 0.95), Err(AnalysisError::ShortSeries { .. })));
    assert!(matches!(batch_means(&series, 10, 1.0), Err(AnalysisError::Level { .. })));
}
