//! Quantiles of times, and of numbers over time: of process models, and of networks in both forms.

use std::ops::ControlFlow;
use std::time::Duration;

use eventhorizon::Backend;
use eventhorizon::facility::{Measure, Report, Study as NetworkStudy};
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{Autosave, EngineOptions, Mapping};
use eventhorizon::process::{NetworkProcess, ProcessModel, SavedStudy, Study, StudyResults};

use super::networks::{network, plan};
use super::{compiled, mean, run};

/// An M/M/1 with a load of one half. `speeds` needs a process model.
fn queue(speeds: &str) -> String {
    format!(
        r#"
name = "queue"
source.in = {{ interarrival = {{ exponential = 2 }}, to = "desk" }}
station.desk = {{ service = {{ exponential = 1 }}, {speeds} to = "out" }}
sink.out = {{}}
"#
    )
}

/// Two classes, patience and a delay.
const PATIENT: &str = r#"
name = "patient"
classes = ["one", "two"]
source.a = { interarrival = { exponential = 3 }, class = "one", to = "desk" }
source.b = { interarrival = { exponential = 4 }, class = "two", to = "desk" }
delay.look = { time = { uniform = [1, 5] }, to = "out" }
sink.out = {}
[station.desk]
service = { exponential = 1.2 }
patience = { exponential = 4 }
to = "look"
"#;

fn process(text: &str) -> NetworkProcess {
    NetworkProcess::new(&network(text)).unwrap().with_details().unwrap()
}

fn made(process: &NetworkProcess, study: &NetworkStudy, backend: Backend<'_>) -> StudyResults {
    process.compiled().study(&process.study(study).unwrap()).backend(backend).run().unwrap()
}

fn of(report: &Report, measure: Measure) -> &eventhorizon::facility::Row {
    report.rows.iter().find(|row| row.node == "desk" && row.measure == measure).unwrap()
}

#[test]
fn quantiles_of_a_queue_agree_with_theory() {
    let study = plan(32, 10_000.0, 500.0).details(true);
    let process = process(&queue("speeds = [1],"));
    let report = process.report(&study, &made(&process, &study, Backend::Cpu)).unwrap();
    // Waits are above t with the probability e^(-t / 2) / 2, sojourns with e^(-t / 2).
    let sojourn = |percent: u8| -2.0 * (1.0 - f64::from(percent) / 100.0).ln();
    for (measure, expected) in [50, 90, 95, 99]
        .map(|percent| (Measure::SojournQuantile(percent), sojourn(percent)))
        .into_iter()
        .chain(
            [90, 95, 99].map(|percent| (Measure::WaitQuantile(percent), sojourn(percent) - 2.0 * 2_f64.ln())),
        )
    {
        let row = of(&report, measure);
        let (lower, upper) = (row.lower.unwrap(), row.upper.unwrap());
        // A bin is at most 1/16 as wide as its times, within which they are not evenly spread.
        let inside = lower * 0.99 <= expected && expected <= upper * 1.01;
        assert!(inside, "{measure}: {expected}, {row:?}");
        assert!(row.half_width.unwrap() < 0.1 * expected, "{row:?}");
        assert!(row.resolution.is_some_and(|width| width <= expected / 16.0), "{row:?}");
    }
    // n customers are there with the probability 2^-(n + 1).
    let empty = of(&report, Measure::Empty);
    assert!(empty.lower.unwrap() < 0.5 && empty.upper.unwrap() > 0.5, "{empty:?}");
    let number = |percent| of(&report, Measure::NumberQuantile(percent)).mean.unwrap();
    assert!((number(90) - 3.0).abs() < 0.1 && (number(95) - 4.0).abs() < 0.1, "{report}");
    assert!((number(99) - 6.0).abs() < 0.5, "{report}");
    let most = of(&report, Measure::NumberMax).mean.unwrap();
    assert!((8.0..20.0).contains(&most), "{most}");
    for length in &report.lengths[..6] {
        let expected = 0.5_f64.powi(i32::try_from(length.customers).unwrap() + 1);
        assert!((length.mean - expected).abs() < length.half_width.unwrap(), "{expected}: {length:?}");
    }
    assert!(report.lengths.iter().all(|length| length.node == "desk"));
}

#[test]
fn both_forms_report_the_same_rows() {
    for text in [&queue(""), PATIENT] {
        let study = plan(40, 2000.0, 100.0).details(true);
        let facility = network(text).compile().unwrap();
        let one = facility.study(&study).backend(Backend::Cpu).run().unwrap();
        let process = process(text);
        assert_eq!(process.measures(), facility.measures(true));
        let two = process.report(&study, &made(&process, &study, Backend::Cpu)).unwrap();
        assert_eq!(one.names(), two.names());
        for (one, two) in one.rows.iter().zip(&two.rows) {
            let (Some(a), Some(b)) = (one.mean, two.mean) else { panic!("{one:?} {two:?}") };
            let half = |row: &eventhorizon::facility::Row| row.half().unwrap_or(0.0);
            let allowed = 1.5 * half(one).hypot(half(two)) + one.resolution.unwrap_or(1e-9);
            assert!((a - b).abs() <= allowed, "{one:?} {two:?}");
        }
        let nodes = |report: &Report| report.lengths.iter().map(|of| of.node.clone()).collect::<Vec<_>>();
        let [first, second] = [nodes(&one), nodes(&two)].map(|mut nodes| {
            nodes.dedup();
            nodes
        });
        assert_eq!(first, second);
    }
}

#[test]
fn devices_leave_the_same_bits() {
    let gpu = Gpu::new().expect("an adapter: set up Vulkan, or install lavapipe");
    let study = plan(40, 60.0, 5.0).details(true);
    let process = process(PATIENT);
    let [cpu, device] = [Backend::Cpu, Backend::Gpu(&gpu)].map(|backend| made(&process, &study, backend));
    assert_eq!(cpu.fingerprint, device.fingerprint);
    let rows = |results: &StudyResults| process.report(&study, results).unwrap();
    assert_eq!(rows(&cpu).rows, rows(&device).rows);
    assert_eq!(rows(&cpu).lengths, rows(&device).lengths);
    // The general engine does not return histograms.
    let options = EngineOptions::default().mapping(Mapping::Grid);
    let plan = process.study(&study).unwrap();
    let run = process.compiled().study(&plan).backend(Backend::Gpu(&gpu));
    assert!(run.options(options).run().unwrap_err().to_string().contains("grid"));
}

#[test]
fn saved_studies_keep_their_histograms() {
    let process = process(PATIENT);
    let study = plan(70, 60.0, 5.0).details(true);
    let place = std::env::temp_dir().join(format!("eventhorizon-quantiles-{}", std::process::id()));
    let plan = |study: &NetworkStudy| process.study(study).unwrap();
    let report = |results: &StudyResults, study: &NetworkStudy| process.report(study, results).unwrap();
    let stop = |runs: usize, _: u64| match runs {
        // The first part has 32 replications.
        0..40 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let planned = plan(&study);
    let first = process.compiled().study(&planned).save(Autosave::new(&place, Duration::ZERO));
    let some = first.watch(stop).run().unwrap();
    assert!((1..70).contains(&some.replications));
    let saved = SavedStudy::load(&place).unwrap();
    std::fs::remove_file(&place).unwrap();
    let resumed = process.compiled().study(&plan(&study)).resume(&saved).run().unwrap();
    let whole = made(&process, &study, Backend::Cpu);
    assert_eq!(report(&resumed, &study).rows, report(&whole, &study).rows);
    // Fewer replications than were saved: their histograms cannot be separated.
    let fewer = study.replications(10);
    let found = process.compiled().study(&plan(&fewer)).resume(&saved).run().unwrap();
    let found = report(&found, &fewer);
    assert!(found.warnings.iter().any(|warning| warning.contains("more replications")), "{found}");
    assert_eq!(of(&found, Measure::SojournQuantile(90)).mean, None);
    // A study without quantiles does not resume it.
    let other = NetworkProcess::new(&network(PATIENT)).unwrap();
    let refused = other.compiled().study(&plan(&study)).resume(&saved).run();
    assert!(refused.is_err());
    assert!(other.study(&study).is_err() && process.study(&study.details(false)).is_err());
}

/// Visitors come at 10, 20, ... and stay for 3; their numbers and times are known.
const KNOWN: &str = r#"
[tally]
stay = { histogram = 0.5 }
[variable]
inside = { value = 0, level = true, histogram = true }
[entity.visitor]
every = { constant = 10 }
do = [
  { set = "inside", to = "inside + 20" },
  { delay = 3 },
  { set = "inside", to = "inside - 20" },
  { tally = "stay" },
  { tally = "size", value = "0 - 7" },
]
"#;

#[test]
fn known_times_have_known_quantiles() {
    let results = run(KNOWN, &Study::new(5, 100.0, 0.0));
    let observations = &results.observations[0];
    // 9 visitors: 27 of 100 units.
    assert!((mean(observations, "zero(inside)") - 0.73).abs() < 1e-9);
    let values = [90, 95, 99].map(|percent| mean(observations, &format!("quantile_{percent}(inside)")));
    assert_eq!((values, mean(observations, "largest(inside)")), ([20.0; 3], 20.0));
    let report = results.report(0.95).unwrap();
    let value = |name: &str| report.rows.iter().find(|row| row.name == name).unwrap().mean.unwrap();
    for percent in [50, 90, 95, 99] {
        assert!((value(&format!("quantile_{percent}(stay)")) - 3.0).abs() < 0.5);
    }
    assert_eq!(compiled(KNOWN).quantiles().len(), 4);
    // All tallies and levels.
    let mut model = ProcessModel::from_toml(&KNOWN.replace(", histogram = true", "")).unwrap();
    model.quantiles = true;
    let all = model.compile().unwrap();
    assert_eq!(all.quantiles().len(), 8);
    let report = all.study(&Study::new(5, 100.0, 0.0)).run().unwrap().report(0.95).unwrap();
    let value = |name: &str| report.rows.iter().find(|row| row.name == name).unwrap().mean.unwrap();
    assert_eq!(value("largest(inside)"), 20.0);
    assert!((value("quantile_95(stay)") - 3.0).abs() < 0.5);
    // Integers are in a bin each, and those below 0 in none.
    for (size, expected) in [("0 - 7", None), ("5", Some(5.0))] {
        let text = KNOWN.replace(", histogram = true", "").replace("0 - 7", size);
        let mut model = ProcessModel::from_toml(&text).unwrap();
        model.quantiles = true;
        let all = model.compile().unwrap();
        let results = all.study(&Study::new(5, 100.0, 0.0)).run().unwrap();
        let report = results.report(0.95).unwrap();
        for percent in [50, 99] {
            let name = format!("quantile_{percent}(size)");
            assert_eq!(report.rows.iter().find(|row| row.name == name).unwrap().mean, expected);
        }
        let warned = results.warnings().iter().any(|warning| warning.contains("observations below 0"));
        assert_eq!(warned, expected.is_none());
    }
}

/// Each third waits for 6 and the others for 0; a level is below 0.
const AT_ZERO: &str = r#"
[tally]
wait = { histogram = 1 }
same = { histogram = 1 }
[variable]
low = { value = -5, level = true, histogram = true }
[entity.visitor]
every = 1
do = [
  { tally = "wait", value = "time(number % 3 / 2 * 6)" },
  { tally = "same", value = "time(1) * 3 / 10" },
]
"#;

#[test]
fn quantiles_of_values_at_zero_are_zero_and_stay_within_the_observations() {
    let results = run(AT_ZERO, &Study::new(12, 100.0, 0.0));
    let report = results.report(0.95).unwrap();
    let row = |name: &str| report.rows.iter().find(|row| row.name == name).unwrap();
    let (none, most) = (row("quantile_50(wait)"), row("quantile_99(wait)"));
    assert_eq!((none.mean, none.half_width, none.lower), (Some(0.0), Some(0.0), Some(0.0)));
    assert!(none.relative_half_width.is_none(), "{none:?}");
    // A bin is the largest power of two of ticks up to 1.
    assert!(none.resolution.is_some_and(|width| (0.5..=1.0).contains(&width)), "{none:?}");
    assert!(most.mean.is_some_and(|mean| (5.0..=6.0).contains(&mean)), "{most:?}");
    assert!(most.upper.unwrap() <= 6.0, "{most:?}");
    // One value is known exactly.
    let same = row("quantile_90(same)");
    assert!((same.mean.unwrap() - 0.3).abs() < 1e-9 && same.resolution.is_none(), "{same:?}");
    let text = report.to_string();
    assert!(text.contains("resolution") && text.contains("to 0.") && !text.contains("NaN"), "{text}");
    let mut csv = Vec::new();
    report.to_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.lines().next().unwrap().ends_with(",lower,upper,resolution"), "{csv}");
    let warnings = results.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("`low` was below 0")), "{warnings:?}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn numbers_above_thirty_have_quantiles() {
    // 100 customers, of whom at most 40 are served at the same time.
    let text = r#"
name = "many"
station.desk = { servers = 40, service = { exponential = 1 }, population = 100, speeds = [1], to = "desk" }
"#;
    let study = NetworkStudy::new(4, 20.0, 1.0).details(true);
    let process = process(text);
    let in_process = process.report(&study, &made(&process, &study, Backend::Cpu)).unwrap();
    let facility = network(&text.replace("speeds = [1], ", "")).compile().unwrap();
    let gpu = Gpu::new().expect("an adapter: set up Vulkan, or install lavapipe");
    for report in [
        in_process,
        facility.study(&study).backend(Backend::Cpu).run().unwrap(),
        facility.study(&study).backend(Backend::Gpu(&gpu)).run().unwrap(),
    ] {
        // All are always there: in the bin of 96 to 103.
        for measure in [Measure::NumberQuantile(90), Measure::NumberQuantile(99), Measure::NumberMax] {
            let row = of(&report, measure);
            assert_eq!((row.mean, row.resolution), (Some(103.0), Some(8.0)));
        }
        let lengths: Vec<_> = report.lengths.iter().filter(|length| length.mean > 0.0).collect();
        let found: Vec<_> = lengths.iter().map(|of| (of.customers, of.most, of.or_more, of.mean)).collect();
        assert_eq!(found, [(96, Some(103), false, 1.0)]);
    }
}

#[test]
fn histograms_that_cannot_be_are_refused() {
    for (from, to, says) in [
        ("histogram = 0.5", "histogram = 0", "at least a tick"),
        ("histogram = 0.5", "histogram = \"inside\"", "numbers and parameters only"),
        ("level = true, ", "", "level = true"),
    ] {
        let error = ProcessModel::from_toml(&KNOWN.replace(from, to)).and_then(|model| model.compile());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
