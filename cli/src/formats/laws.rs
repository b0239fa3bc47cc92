//! Distributions in files of JMT.

use eventhorizon::facility::{Distribution, Kept, MixturePart, Phases};

use super::xml::Element;

/// The last part of a Java name.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The text of the element `value` in it.
pub(super) fn value(element: &Element) -> Option<&str> {
    element.first("value").map(|value| value.text.trim())
}

/// Numbers of the parameter with this name, in their order, also those of its parts.
fn numbers(parameters: &Element, name: &str) -> Result<Vec<f64>, String> {
    fn collect(element: &Element, to: &mut Vec<f64>) -> Result<(), String> {
        if let Some(text) = value(element) {
            let wrong = || format!("`{text}` is not a number");
            to.push(text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wrong)?);
        }
        element.all("subParameter").try_for_each(|part| collect(part, to))
    }
    let mut all = Vec::new();
    let found = parameters.all("subParameter").find(|part| part.attribute("name") == Some(name));
    collect(found.ok_or_else(|| format!("the parameter `{name}` is missing"))?, &mut all)?;
    Ok(all)
}

/// The distribution in an element that has a class of `jmt.engine.random` and `distrPar` below it.
///
/// # Errors
/// What is not supported or not understood.
pub(super) fn law(of: &Element) -> Result<Distribution, String> {
    let law = written(of)?;
    // JSON has no infinite numbers.
    let is_finite = !serde_json::to_string(&law).is_ok_and(|text| text.contains("null"));
    is_finite.then_some(law).ok_or_else(|| "its numbers are too large: choose another unit".to_owned())
}

fn written(of: &Element) -> Result<Distribution, String> {
    let mut parts = of.all("subParameter");
    let (Some(kind), Some(parameters)) = (parts.next(), parts.next()) else {
        return Err("a distribution and its parameters are missing".to_owned());
    };
    let kind = last(kind.attribute("classPath").unwrap_or_default());
    let number = |name: &str| -> Result<f64, String> {
        numbers(parameters, name)?.first().copied().ok_or_else(|| format!("`{name}` has no value"))
    };
    let rate = |name: &str| match number(name)? {
        0.0 => Err(format!("the rate `{name}` is 0: write one above 0")),
        rate => Ok(rate),
    };
    Ok(match kind {
        "Exponential" => Distribution::Exponential(1.0 / rate("lambda")?),
        "DeterministicDistr" => Distribution::Constant(number("t")?),
        "Uniform" => Distribution::Uniform([number("min")?, number("max")?]),
        "Erlang" => {
            let (rate, stages) = (rate("alpha")?, number("r")?);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 100")]
            match (1.0..=100.0).contains(&stages) && stages.fract() == 0.0 {
                true => Distribution::Erlang { stages: stages as u32, mean: stages / rate },
                false => Distribution::Gamma { shape: stages, scale: 1.0 / rate },
            }
        }
        "GammaDistr" => Distribution::Gamma { shape: number("alpha")?, scale: number("beta")? },
        "HyperExp" => Distribution::Hyperexponential {
            probability: number("p")?,
            first: 1.0 / rate("lambda1")?,
            second: 1.0 / rate("lambda2")?,
        },
        "Pareto" => Distribution::Pareto { shape: number("alpha")?, scale: number("k")? },
        "Weibull" => Distribution::Weibull { scale: number("alpha")?, shape: number("r")? },
        "Lognormal" => {
            let (location, spread) = (number("mu")?, number("sigma")?);
            let mean = (location + spread * spread / 2.0).exp();
            Distribution::Lognormal { mean, deviation: mean * (spread * spread).exp_m1().sqrt() }
        }
        "Normal" => Distribution::Normal { mean: number("mean")?, deviation: number("standardDeviation")? },
        "CoxianDistr" => Distribution::Coxian(Kept::new(Phases {
            means: vec![1.0 / rate("lambda0")?, 1.0 / rate("lambda1")?],
            continues: vec![1.0 - number("phi0")?],
        })),
        "PhaseTypeDistr" => phases(&numbers(parameters, "alpha")?, &numbers(parameters, "T")?)?,
        other => return Err(format!("the distribution `{other}` is not supported")),
    })
}

/// A phase-type distribution: first phases by probability, and rates of changes by rows.
fn phases(first: &[f64], rates: &[f64]) -> Result<Distribution, String> {
    let count = first.len();
    if count == 0 || rates.len() != count * count {
        return Err(format!("{count} phases need {} rates, found {}", count * count, rates.len()));
    }
    let rate = |from: usize, to: usize| rates[from * count + to];
    let is_chain = (0..count).all(|from| {
        (0..count).all(|to| to == from || to == from + 1 || rate(from, to) == 0.0) && rate(from, from) < 0.0
    });
    if !is_chain {
        return Err(
            "a phase-type distribution is supported if each phase leads to the next one only".to_owned()
        );
    }
    let from = |start: usize| {
        let mut of = Phases { means: Vec::new(), continues: Vec::new() };
        for phase in start..count {
            of.means.push(-1.0 / rate(phase, phase));
            let on = if phase + 1 < count { -rate(phase, phase + 1) / rate(phase, phase) } else { 0.0 };
            if on <= 0.0 {
                break;
            }
            of.continues.push(on.min(1.0));
        }
        match of.continues.is_empty() {
            true => Distribution::Exponential(of.means[0]),
            false => Distribution::Coxian(Kept::new(of)),
        }
    };
    let starts = first.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
    let parts: Vec<_> = starts.map(|(start, &weight)| MixturePart { weight, law: from(start) }).collect();
    match &parts[..] {
        [] => Err("no phase is the first".to_owned()),
        [one] => Ok(one.law),
        _ => Ok(Distribution::Mixture(Kept::new(parts))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::xml::tree;
    use super::*;

    fn read(kind: &str, parameters: &[(&str, &str)]) -> Result<Distribution, String> {
        let parameters = parameters.iter().map(|(name, value)| {
            let entries = value.split(' ').map(|row| {
                let entries = row
                    .split(',')
                    .map(|number| format!("<subParameter><value>{number}</value></subParameter>"));
                format!("<subParameter name='vector'>{}</subParameter>", entries.collect::<String>())
            });
            match value.contains([',', ' ']) {
                true => format!("<subParameter name='{name}'>{}</subParameter>", entries.collect::<String>()),
                false => format!("<subParameter name='{name}'><value>{value}</value></subParameter>"),
            }
        });
        let text = format!(
            "<s><subParameter classPath='jmt.engine.random.{kind}'/><subParameter>{}</subParameter></s>",
            parameters.collect::<String>()
        );
        law(&tree(&text).unwrap())
    }

    #[test]
    fn every_family_has_the_moments_of_its_parameters() {
        // Name, parameters, mean and variance.
        type Family<'f> = (&'f str, &'f [(&'f str, &'f str)], [f64; 2]);
        let cases: [Family<'_>; 13] = [
            ("Exponential", &[("lambda", "0.5")], [2.0, 4.0]),
            ("DeterministicDistr", &[("t", "3")], [3.0, 0.0]),
            ("Uniform", &[("min", "1"), ("max", "4")], [2.5, 0.75]),
            ("Erlang", &[("alpha", "2"), ("r", "3")], [1.5, 0.75]),
            ("GammaDistr", &[("alpha", "2.5"), ("beta", "2")], [5.0, 10.0]),
            (
                "HyperExp",
                &[("p", "0.25"), ("lambda1", "2"), ("lambda2", "0.5")],
                [1.625, 0.5 * 0.25 + 8.0 * 0.75 - 1.625 * 1.625],
            ),
            ("Pareto", &[("alpha", "3"), ("k", "2")], [3.0, 3.0]),
            ("Weibull", &[("alpha", "2"), ("r", "1")], [2.0, 4.0]),
            ("Lognormal", &[("mu", "0"), ("sigma", "1")], [0.5_f64.exp(), (1_f64.exp() - 1.0) * 1_f64.exp()]),
            ("Normal", &[("mean", "9"), ("standardDeviation", "0.5")], [9.0, 0.25]),
            (
                "CoxianDistr",
                &[("lambda0", "1"), ("lambda1", "0.5"), ("phi0", "0.75")],
                [1.5, 2.0 + 0.25 * (4.0 + 8.0) - 2.25],
            ),
            ("PhaseTypeDistr", &[("alpha", "1,0"), ("T", "-2,2 0,-2")], [1.0, 0.5]),
            (
                "PhaseTypeDistr",
                &[("alpha", "0.5,0.5"), ("T", "-1,0 0,-2")],
                [0.75, 0.5 * 2.0 + 0.5 * 0.5 - 0.5625],
            ),
        ];
        for (kind, parameters, [mean, variance]) in cases {
            let law = read(kind, parameters).unwrap();
            assert!((law.mean() - mean).abs() < 1e-9, "{kind}: {law:?} has the mean {}", law.mean());
            assert!((law.variance() - variance).abs() < 1e-9, "{kind}: {law:?}, {}", law.variance());
        }
        assert!(read("Replayer", &[("fileName", "1")]).unwrap_err().contains("`Replayer` is not supported"));
        assert!(
            read("PhaseTypeDistr", &[("alpha", "1,0"), ("T", "-2,1 1,-2")])
                .unwrap_err()
                .contains("next one only")
        );
        assert!(read("Erlang", &[("alpha", "x"), ("r", "2")]).unwrap_err().contains("`x` is not a number"));
        assert!(read("Exponential", &[("lambda", "0")]).unwrap_err().contains("`lambda` is 0"));
        let large = read("Lognormal", &[("mu", "900"), ("sigma", "1")]).unwrap_err();
        assert!(large.contains("too large"), "{large}");
        assert!(read("Erlang", &[("r", "2")]).unwrap_err().contains("`alpha` is missing"));
    }
}
