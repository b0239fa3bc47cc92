//! Networks that run as process models, in designs, with shares and profiles.

use eventhorizon::Backend;
use eventhorizon::facility::{FacilityDesign, Measure, Network, NetworkDescription, PointRun, Share, Study};
use eventhorizon::pdes::EngineOptions;
use eventhorizon::process::{NetworkForm, NetworkProcess};
use eventhorizon::statistics::{Allocation, Intervals};

use crate::networks::network;

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
    assert!(averages("wait(desk)").is_empty() && averages("throughput(desk)").is_empty());
    // The first replication alone.
    let course = process.course(&study, 100).unwrap();
    assert_eq!((course.part, course.numbers.len()), (4.0, 1));
    let (name, values) = &course.numbers[0];
    let first = report.row("desk", Some("customer"), Measure::Number).unwrap().values().next().unwrap();
    assert!(name == "desk" && (values.iter().sum::<f64>() / 100.0 - first).abs() < 1e-9);
}
