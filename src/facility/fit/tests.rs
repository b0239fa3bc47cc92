//! Fits of draws from known distributions.

use super::*;

fn draws(law: &Distribution, count: u64) -> Vec<f64> {
    let resolution = Resolution::default();
    let words = law.words_at(resolution).unwrap();
    let table = law.table_at(resolution).unwrap_or_default();
    let (kind, drawn) = Law::of(&words);
    let time = |index| (KINDS[kind].time)(&mut Stream::new(3, 1, index), &drawn, table.as_flattened());
    (0..count).map(|index| resolution.units(time(index)).max(1e-7)).collect()
}

/// The numbers of a distribution.
fn numbers(law: &Distribution) -> Vec<f64> {
    fn of(value: &serde_json::Value, to: &mut Vec<f64>) {
        match value {
            serde_json::Value::Object(pairs) => pairs.values().for_each(|value| of(value, to)),
            serde_json::Value::Array(list) => list.iter().for_each(|value| of(value, to)),
            other => to.extend(other.as_f64()),
        }
    }
    let mut found = Vec::new();
    of(&serde_json::to_value(law).unwrap(), &mut found);
    found
}

#[test]
fn each_family_is_found_again_in_ten_thousand_draws() {
    use Distribution as D;
    // With the largest error of a parameter: four standard errors or more.
    for (law, family, bound) in [
        (D::Exponential(4.0), "exponential", 0.05),
        (D::Uniform([1.0, 3.0]), "uniform", 0.002),
        (D::Gamma { shape: 2.5, scale: 0.8 }, "gamma", 0.08),
        (D::Gamma { shape: 0.6, scale: 30.0 }, "gamma", 0.08),
        (D::Erlang { stages: 4, mean: 7.0 }, "erlang", 0.03),
        (D::Hyperexponential { probability: 0.75, first: 1.0, second: 9.0 }, "hyperexponential", 0.12),
        (D::Normal { mean: 9.0, deviation: 1.5 }, "normal", 0.04),
        (D::Lognormal { mean: 2.0, deviation: 1.5 }, "lognormal", 0.08),
        (D::Weibull { scale: 200.0, shape: 1.8 }, "weibull", 0.04),
        (D::LogLogistic { shape: 3.0, scale: 2.0 }, "loglogistic", 0.05),
        (D::Pareto { shape: 2.5, scale: 1.5 }, "pareto", 0.05),
        (D::Beta { alpha: 2.0, beta: 5.0, low: 0.0, high: 1.0 }, "beta", 0.08),
    ] {
        let times = draws(&law, 10_000);
        let fits = fit(&times, Options::default().bootstrap(0)).unwrap();
        let found = fits.iter().find(|fit| fit.family == family).unwrap_or_else(|| panic!("{law:?}"));
        // Families that contain it may be as likely, with a parameter more.
        assert!(found.aic() <= fits[0].aic() + 2.0, "{law:?}: {fits:?}");
        for (found, known) in numbers(&found.law).into_iter().zip(numbers(&law)) {
            assert!((found - known).abs() <= bound * known, "{law:?}: {found} for {known}");
        }
        // Exceeded in one of 500 samples of a known distribution, and less often of a fitted one.
        assert!(found.anderson_darling < 5.0, "{law:?}: {}", found.anderson_darling);
    }
}

#[test]
fn p_values_are_small_for_another_family_alone() {
    let times = draws(&Distribution::Gamma { shape: 3.0, scale: 2.0 }, 400);
    let fits = fit(&times, Options::default().bootstrap(200)).unwrap();
    let of = |family| fits.iter().find(|fit| fit.family == family).unwrap().p_value.unwrap();
    assert!(of("gamma") > 0.05, "{}", of("gamma"));
    assert!(of("exponential") < 0.01 && of("uniform") < 0.01, "{fits:?}");
    // The same seed gives the same samples.
    assert_eq!(fits, fit(&times, Options::default().bootstrap(200)).unwrap());
}

#[test]
fn rounded_times_keep_the_family_that_begins_at_the_shortest() {
    let mut times = draws(&Distribution::Pareto { shape: 3.0, scale: 1.5 }, 2000);
    times.iter_mut().for_each(|time| *time = (*time * 100.0).round() / 100.0);
    let fits = fit(&times, Options::default().bootstrap(0)).unwrap();
    assert_eq!(fits[0].family, "pareto", "{fits:?}");
    assert!(fits[0].anderson_darling.is_finite());
}

#[test]
fn p_values_of_small_shapes_are_those_of_the_family() {
    let shape = 0.1;
    let large = draws(&Distribution::Gamma { shape: 1.0 + shape, scale: 1.0 }, 500);
    let mut stream = Stream::new(9, 1, 0);
    let mut uniform = || (f64::from(stream.draw()) + 0.5) / 2_f64.powi(32);
    // In floating point, where small times differ.
    let own: Vec<f64> = large.into_iter().map(|time| time * uniform().powf(1.0 / shape)).collect();
    let other: Vec<f64> = (0..500).map(|_| (-uniform().ln()).powi(5)).collect();
    let [own, other] = [own, other].map(|times| {
        let fits = fit(&times, Options::default().bootstrap(100)).unwrap();
        fits.into_iter().find(|fit| fit.family == "gamma").unwrap().p_value.unwrap()
    });
    assert!(own > 0.05 && other < 0.05, "{own} {other}");
}

#[test]
fn printed_distributions_are_read_again() {
    let times = draws(&Distribution::Weibull { scale: 2e-3, shape: 1.5 }, 300);
    for fit in fit(&times, Options::default().bootstrap(0)).unwrap() {
        let text = format!("law = {}", fit.toml());
        let read: indexmap::IndexMap<String, Distribution> =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for (read, known) in numbers(&read["law"]).into_iter().zip(numbers(&fit.law)) {
            assert!((read - known).abs() <= 1e-5 * known.abs(), "{text}");
        }
    }
}

#[test]
fn printed_distributions_keep_the_spread_of_times() {
    let times: Vec<f64> = (0..100).map(|i| 1e6 + f64::from(i) / 100.0).collect();
    let fits = fit(&times, Options::default().bootstrap(0)).unwrap();
    let text = |family| fits.iter().find(|fit| fit.family == family).unwrap().toml();
    assert_eq!(text("uniform"), "{ uniform = [999999.99, 1000001] }");
    assert!(text("normal").contains("mean = 1000000.495"), "{}", text("normal"));
}

#[test]
fn what_is_no_sample_is_refused() {
    let reason = |times: &[f64]| fit(times, Options::default()).unwrap_err().to_string();
    assert!(reason(&[1.0; 3]).contains("at least 10"));
    assert!(reason(&[2.0; 20]).contains("{ constant = 2 }"));
    let mut times = vec![1.0; 20];
    times[4] = 0.0;
    assert!(reason(&times).contains("value 5 is 0"));
    assert!(column("a\n1\nx\n", None).unwrap_err().to_string().contains("line 3"));
}
