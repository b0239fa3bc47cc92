//! Results of a network as a scalar file of OMNeT++ (`.sca`, version 3 of its format).
//!
//! Each replication is a run, because the analysis tool of OMNeT++ averages over runs. A node is a
//! module; a scalar is a measure, with the class in its name if there are several.

use std::fmt::Write as _;

use eventhorizon::facility::{Measure, Report, Row};

/// A word of the format, with quotation marks if it needs them.
fn word(text: &str) -> String {
    let is_plain = |character: char| {
        !character.is_whitespace() && !character.is_control() && !matches!(character, '"' | '\\')
    };
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => {
            let escape = |character: char| match character {
                '"' => "\\\"".to_owned(),
                '\\' => "\\\\".to_owned(),
                '\n' => "\\n".to_owned(),
                '\t' => "\\t".to_owned(),
                other => other.to_string(),
            };
            format!("\"{}\"", text.chars().map(escape).collect::<String>())
        }
    }
}

/// The module of a node: names of modules have no dots, which separate levels.
fn module(network: &str, node: &str) -> String {
    let level = |name: &str| name.replace('.', "_");
    match node {
        "(network)" => level(network),
        _ => format!("{}.{}", level(network), level(node)),
    }
}

/// The values of all replications. `seed` is that of the study.
pub fn of_report(report: &Report, seed: u64) -> String {
    use Measure::{Sojourn, SojournDeviation, Wait, WaitDeviation};
    let rows: Vec<(&Row, Vec<f64>)> = report
        .rows
        .iter()
        .map(|row| (row, row.values().collect()))
        .filter(|(_, values): &(_, Vec<f64>)| !values.is_empty())
        .collect();
    let runs = rows.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let mut text = "version 3\n".to_owned();
    for run in 0..runs {
        let attributes = [
            ("configname", "eventhorizon".to_owned()),
            ("experiment", report.network.clone()),
            ("measurement", String::new()),
            ("network", report.network.clone()),
            ("replication", format!("#{run}")),
            ("repetition", run.to_string()),
            ("runnumber", run.to_string()),
            ("seedset", seed.to_string()),
            ("fingerprint", format!("{:016x}", report.fingerprint)),
        ];
        let id = format!("{}-{seed}-{run}-{:016x}", report.network, report.fingerprint);
        let _ = writeln!(text, "run {}", word(&id));
        for (name, value) in attributes {
            let _ = writeln!(text, "attr {name} {}", word(&value));
        }
        let _ = writeln!(text, "config sim-time-limit {}", report.until);
        let _ = writeln!(text, "config warmup-period {}\n", report.warm_up);
        for (row, values) in &rows {
            // Nothing was observed where a value is missing.
            let Some(value) = values.get(run).filter(|value| value.is_finite()) else { continue };
            let name = match &row.class {
                Some(class) => format!("{}({class})", row.label()),
                None => row.label(),
            };
            let _ = writeln!(
                text,
                "scalar {} {} {value}",
                word(&module(&report.network, &row.node)),
                word(&name)
            );
            if matches!(row.measure, Wait | WaitDeviation | Sojourn | SojournDeviation) {
                let _ = writeln!(text, "attr unit {}", word(&report.unit));
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use eventhorizon::facility::{Network, Share, Study};

    use super::*;

    #[test]
    fn words_have_quotation_marks_where_they_need_them() {
        let cases =
            [("wait", "wait"), ("Queue 1", "\"Queue 1\""), ("", "\"\""), ("a\"b\\", "\"a\\\"b\\\\\"")];
        for (text, expected) in cases {
            assert_eq!(word(text), expected);
        }
        assert_eq!(module("M/M/1", "Queue 1.2"), "M/M/1.Queue 1_2");
        assert_eq!(module("a.b", "(network)"), "a_b");
    }

    #[test]
    fn shares_have_their_bounds() {
        let text = "name = \"q\"\nsource.in = { interarrival = { exponential = 1 }, to = \"d\" }\n\
            station.d = { service = { exponential = 0.5 }, to = \"out\" }\nsink.out = {}\n";
        let facility = Network::from_toml(text).unwrap().compile().unwrap();
        let shares = ["wait(d) <= 1", "wait(d) <= 5"].map(|share| share.parse::<Share>().unwrap());
        let report = facility.study(&Study::new(2, 20.0, 1.0)).shares(&shares).run().unwrap();
        let text = of_report(&report, 1);
        for bound in [1, 5] {
            let scalar = format!("scalar q.d \"share(wait <= {bound})\" ");
            assert_eq!(text.matches(&scalar).count(), 2, "{text}");
        }
    }
}
