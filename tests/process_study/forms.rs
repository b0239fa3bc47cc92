//! Networks that run as process models, in designs, with shares and profiles.

use std::ops::ControlFlow;

use eventhorizon::Backend;
use eventhorizon::facility::{FacilityDesign, Measure, Network, NetworkDescription, PointRun, Share, Study};
use eventhorizon::pdes::EngineOptions;
use eventhorizon::process::{NetworkForm, NetworkProcess};
use eventhorizon::statistics::{Allocation, Decision, Intervals, Selection};

use crate::networks::{network, translated};

/// An M/M/1 with a load of one half, as a process model.
const QUEUE: &str = r#"
name = "queue"
until = 400
source.in = { interarrival = { exponential = 2 }, to = "desk" }
station.desk = { service = { exponential = 1 }, speeds = [1], to = "out" }
sink.out = {}
"#;

fn form(network: &Network, shares: &[Share]) -> NetworkForm {
    let form = NetworkForm::new(network, shares, false).unwrap();
    assert!(matches!(form, NetworkForm::Process(_)));
    form
}

#[test]
fn points_have_the_replications_of_runs_alone() {
    let mut description = NetworkDescription::from_toml(QUEUE).unwrap();
    description.set("station.desk.service.exponential=1,0.7,0.5").unwrap();
    let networks = description.networks().unwrap();
    let forms: Vec<_> = networks.iter().map(|network| form(network, &[])).collect();
    let design = FacilityDesign::new(description.design().unwrap(), forms);
    let study = Study::new(12, 400.0, 40.0).seed(3);
    let results = design.study(&study).run().unwrap();
    assert_eq!(results.observations.len(), 3);
    let mut fingerprint = 0_u64;
    for (point, form) in design.facilities().iter().enumerate() {
        let run =
            PointRun { shares: &[], backend: Backend::Cpu, options: EngineOptions::default(), first: 0 };
        let alone = form.run(&study, run, &mut |_, _| std::ops::ControlFlow::Continue(())).unwrap();
        assert_eq!(alone.observations().unwrap().columns(), results.observations[point].columns());
        fingerprint = fingerprint.wrapping_add(alone.fingerprint);
    }
    assert_eq!(fingerprint, results.fingerprint);
    let mean =
        |point: usize| results.observations[point].summary("number(desk)", 0.95).unwrap().mean.unwrap();
    assert!(mean(0) > mean(1) && mean(1) > mean(2));
    // To a precision, and the best with a budget.
    let precise = Study::new(1, 400.0, 40.0).stopping(eventhorizon::statistics::Stopping::relative(
        0.2,
        0.95,
        Some(400),
    ));
    let found = design.study(&precise).run().unwrap();
    assert_eq!(found.decisions.len(), 3);
    let best = design.study(&study).allocate(&Allocation::new(120).smallest(), "number(desk)").unwrap();
    assert_eq!(best.allocated.unwrap().best, 2);
}

#[test]
fn shares_of_a_process_model_agree_with_theory() {
    let shares: Vec<Share> = ["wait(desk) <= 0", "wait(desk) <= 1.5", "sojourn(desk) <= 2"]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    let form = form(&network(QUEUE), &shares);
    let study = Study::new(60, 4000.0, 400.0).level(0.9999);
    let run =
        PointRun { shares: &shares, backend: Backend::Cpu, options: EngineOptions::default(), first: 0 };
    let report = form.run(&study, run, &mut |_, _| std::ops::ControlFlow::Continue(())).unwrap();
    let expected = [0.5, 1.0 - 0.5 * (-0.75_f64).exp(), 1.0 - (-1.0_f64).exp()];
    let rows =
        report.rows.iter().filter(|row| matches!(row.measure, Measure::WaitShare | Measure::SojournShare));
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 3);
    for (row, expected) in rows.iter().zip(expected) {
        assert!(row.lower.unwrap() <= expected && expected <= row.upper.unwrap(), "{expected}: {row:?}");
        assert!(row.half_width.unwrap() < 0.05, "{row:?}");
    }
    // Others than those that were compiled.
    let other = PointRun { shares: &[], ..run };
    assert!(form.run(&study, other, &mut |_, _| std::ops::ControlFlow::Continue(())).is_err());
    let unknown: Share = "wait(counter) <= 1".parse().unwrap();
    assert!(NetworkForm::new(&network(QUEUE), &[unknown], false).is_err());
}

#[test]
fn shares_of_both_forms_count_a_constant_time_exactly() {
    let text = r#"
name = "constant"
source.in = { interarrival = { constant = 5 }, to = "desk" }
station.desk = { service = { constant = 3 }, to = "look" }
delay.look = { time = { uniform = [0, 4] }, to = "out" }
sink.out = {}
"#;
    let of = |share: &str| share.parse::<Share>().unwrap();
    let shares =
        ["sojourn(desk) <= 3", "sojourn(desk) <= 2.999", "wait(desk) <= 0", "sojourn(look) <= 1"].map(of);
    let study = Study::new(8, 2000.0, 0.0).details(true).level(0.9999);
    let facility = network(text).compile().unwrap();
    let report = facility.study(&study).shares(&shares).run().unwrap();
    let process = NetworkProcess::new(&network(text)).unwrap().with_shares(&shares).unwrap();
    let plan = study.details(false);
    let results =
        process.compiled().study(&process.study(&plan).unwrap()).backend(Backend::Cpu).run().unwrap();
    for report in [&report, &process.report(&plan, &results).unwrap()] {
        let found = report.rows.iter().filter(|row| row.up_to.is_some()).map(|row| row.mean.unwrap());
        let found: Vec<f64> = found.collect();
        assert_eq!(found[..3], [1.0, 0.0, 1.0]);
        assert!((found[3] - 0.25).abs() < 0.05, "{found:?}");
    }
    // Quantiles are those of a study without shares.
    let alone = facility.study(&study).run().unwrap();
    let quantile = |report: &eventhorizon::facility::Report, percent| {
        report.row("desk", Some("customer"), Measure::SojournQuantile(percent)).unwrap().mean
    };
    assert_eq!(
        [50, 99].map(|percent| quantile(&report, percent)),
        [50, 99].map(|percent| quantile(&alone, percent))
    );
}

/// Three stations of an M/M/1, in a form.
fn points(is_process: bool) -> FacilityDesign<NetworkForm> {
    let text = if is_process { QUEUE.to_owned() } else { QUEUE.replace("speeds = [1], ", "") };
    let mut description = NetworkDescription::from_toml(&text).unwrap();
    description.set("station.desk.service.exponential=1,0.7,0.5").unwrap();
    let networks = description.networks().unwrap();
    let forms = networks.iter().map(|network| NetworkForm::new(network, &[], false).unwrap());
    FacilityDesign::new(description.design().unwrap(), forms.collect())
}

#[test]
fn a_stopped_design_has_the_points_that_ended() {
    for is_process in [false, true] {
        let design = points(is_process);
        let study = Study::new(12, 400.0, 40.0).seed(3);
        let stop_at = |most: usize| {
            move |runs: usize, _: u64| {
                if runs >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        };
        let whole = design.study(&study).run().unwrap();
        // In the first round of two replications of each point.
        let found = design.study(&study).watch(stop_at(2)).run().unwrap();
        assert_eq!((found.design.len(), &*found.decisions), (1, &[Decision::Stopped][..]));
        assert_eq!(found.observations[0].replications(), 2);
        let name = "number(desk)";
        let [of, all] =
            [&found, &whole].map(|results| results.observations[0].column(name).unwrap().values.get(1));
        assert_eq!(of, all);
        let missing = found.warnings.iter().find(|warning| warning.contains("stopped")).unwrap();
        assert!(
            missing.contains("2 of 3 points") && missing.contains("0.7") && missing.contains("0.5"),
            "{missing}"
        );
        assert_eq!(found.report(0.95).unwrap().rows.len(), whole.report(0.95).unwrap().rows.len() / 3);
        // Later, all points have the rounds that ended.
        let found = design.study(&study).watch(stop_at(9)).run().unwrap();
        assert_eq!(found.observations.iter().map(|made| made.replications()).collect::<Vec<_>>(), [2; 3]);
        assert_eq!(found.decisions, [Decision::Stopped; 3]);
        // A selection has no best point, but all replications.
        let found =
            design.study(&study).watch(stop_at(40)).allocate(&Allocation::new(120).smallest(), name).unwrap();
        assert!(found.allocated.is_none() && found.design.len() == 3);
        assert!(
            found.warnings.iter().any(|warning| warning.contains("the best point")),
            "{:?}",
            found.warnings
        );
        let made: usize = found.observations.iter().map(|made| made.replications()).sum();
        assert!((40..120).contains(&made), "{made}");
        let selection = Selection { replications: Some(400), ..Selection::new(0.001, 0.95) }.smallest();
        let found = design.study(&study).watch(stop_at(90)).select(&selection, name).unwrap();
        assert!(found.selected.is_none() && found.observations.iter().all(|made| made.replications() >= 20));
    }
}

#[test]
fn values_of_replications_are_those_of_the_report() {
    let report = translated(&network(QUEUE), &Study::new(6, 400.0, 40.0)).unwrap();
    let observations = report.observations().unwrap();
    let mut compared = 0;
    for (name, row) in report.names().iter().zip(&report.rows) {
        let column = &observations.column(name).unwrap().values;
        for (replication, value) in row.values().enumerate() {
            assert!((column.get(replication) - value).abs() < 1e-9 * value.abs().max(1.0), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 60);
}

#[test]
fn a_profile_and_a_course_have_the_averages_of_the_report() {
    let text = QUEUE.replace(
        "speeds = [1]",
        "speeds = [1], schedule = [{ lasts = 30, servers = 1 }, { lasts = 10, servers = 2 }]",
    );
    let process = NetworkProcess::new(&network(&text)).unwrap();
    let study = Study::new(6, 400.0, 0.0);
    let results =
        process.compiled().study(&process.study(&study).unwrap()).backend(Backend::Cpu).run().unwrap();
    let report = process.report(&study, &results).unwrap();
    let profile = process.profile(&study, Intervals::new(10.0), |name| name != "wait(desk)").unwrap();
    let mean = |measure| report.row("desk", Some("customer"), measure).unwrap().mean.unwrap();
    let averages = |name: &str| -> Vec<f64> { profile.of(name).map(|row| row.mean.unwrap()).collect() };
    for (name, measure) in [("number(desk)", Measure::Number), ("queue(desk)", Measure::Queue)] {
        let all = averages(name);
        assert_eq!(all.len(), 40);
        assert!((all.iter().sum::<f64>() / 40.0 - mean(measure)).abs() < 1e-9, "{name}");
    }
    // Of the servers of the interval: one, one, one, two.
    let used = averages("utilisation(desk)");
    let servers = (0..40).map(|interval| if interval % 4 == 3 { 2.0 } else { 1.0 });
    let busy: f64 = used.iter().zip(servers).map(|(used, servers)| used * servers).sum();
    assert!((busy / 50.0 - mean(Measure::Utilisation)).abs() < 1e-9);
    assert!(averages("wait(desk)").is_empty());
    let served: f64 = averages("throughput(desk)").iter().sum::<f64>() / 40.0;
    assert!((served - mean(Measure::Throughput)).abs() < 1e-9);
    // Of one replication, times are those of its customers.
    let one = Study::new(1, 400.0, 0.0);
    let results =
        process.compiled().study(&process.study(&one).unwrap()).backend(Backend::Cpu).run().unwrap();
    let report = process.report(&one, &results).unwrap();
    let profile = process.profile(&one, Intervals::new(10.0), |_| true).unwrap();
    let (mut sum, mut count) = (0.0, 0.0);
    for (stay, rate) in profile.of("sojourn(desk)").zip(profile.of("throughput(desk)")) {
        assert_eq!(stay.mean.is_some(), rate.mean.unwrap() > 0.0);
        sum += stay.mean.unwrap_or(0.0) * rate.mean.unwrap() * 10.0;
        count += rate.mean.unwrap() * 10.0;
    }
    let all = report.row("desk", Some("customer"), Measure::Sojourn).unwrap().mean.unwrap();
    assert!((sum / count - all).abs() < 1e-9 && count > 100.0, "{sum} {count} {all}");
    let plan = process.study(&one).unwrap();
    let tallies = process.compiled().profile(&plan, 0, Intervals::new(10.0), 0.95, |_| true).unwrap();
    let tallied = "sojourn_desk__customer";
    for (one, other) in tallies.of(tallied).zip(profile.of("sojourn(desk)")) {
        assert_eq!(one.mean.is_some(), other.mean.is_some());
        assert!((one.mean.unwrap_or(0.0) - other.mean.unwrap_or(0.0)).abs() < 1e-9);
    }
    assert_eq!((tallies.of(tallied).count(), tallies.of(&format!("largest({tallied})")).count()), (40, 0));
    // The first replication alone.
    let course = process.course(&study, 100).unwrap();
    assert_eq!((course.part, course.numbers.len()), (4.0, 1));
    let (name, values) = &course.numbers[0];
    let first = report.row("desk", Some("customer"), Measure::Number).unwrap().values().next().unwrap();
    assert!(name == "desk" && (values.iter().sum::<f64>() / 100.0 - first).abs() < 1e-9);
}

#[test]
fn points_of_a_design_are_in_one_form() {
    let plain = network(&QUEUE.replace("speeds = [1], ", ""));
    let alone = NetworkForm::of_points(std::slice::from_ref(&plain), &[], false).unwrap();
    assert!(matches!(alone[0], NetworkForm::Network(_)));
    let forms = NetworkForm::of_points(&[plain.clone(), network(QUEUE)], &[], false).unwrap();
    assert!(forms.iter().all(|form| matches!(form, NetworkForm::Process(_))));
    // A speed of 1 changes nothing, and random numbers are common.
    let points = eventhorizon::statistics::Design::default().cross("point", [1_i64, 2]).unwrap();
    let results = FacilityDesign::new(points, forms).study(&Study::new(8, 400.0, 40.0)).run().unwrap();
    let report = results.report(0.95).unwrap();
    let compared = report.rows.iter().filter(|row| row.difference.is_some());
    let difference = |row: &eventhorizon::statistics::Row| row.difference.unwrap().abs();
    let most = compared.map(|row| difference(row) / row.mean.unwrap().abs().max(1.0)).fold(0.0, f64::max);
    assert!(most < 1e-4, "{most}");
    assert!(report.rows.iter().any(|row| row.difference.is_some()));
    // An error names its point.
    let unstable = network(&QUEUE.replace("exponential = 2", "exponential = 0.5"));
    assert_eq!(NetworkForm::of_points(&[plain, unstable], &[], false).unwrap_err().0, 1);
}
