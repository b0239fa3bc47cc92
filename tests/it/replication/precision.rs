//! Runs until a precision or a budget, and the coverage of intervals.

use super::*;

#[test]
fn a_run_until_a_precision_is_the_run_of_as_many() {
    let (model, params) = mm1();
    let stopping =
        Stopping::new(Precision::relative(0.05), Budget { replications: Some(5000), ..Budget::default() });
    let columns = ["time_in_queue", "idle_time"];
    let mut engine = Engine::new(&gpu(), model, Options::default()).unwrap();
    let run = engine.experiment(&params, &experiment(1)).precision(&stopping, &columns).run().unwrap();
    assert_eq!(run.decisions, [Decision::Reached]);
    let replications = u32::try_from(run.observations[0].replications()).unwrap();
    assert!((31..5000).contains(&replications), "{replications}");
    for column in columns {
        assert!(run.observations[0].summary(column, 0.95).unwrap().relative_half_width().unwrap() <= 0.05);
    }
    let whole = CpuEngine::in_rust(Reference(model), Options::default())
        .unwrap()
        .run(&params, &experiment(replications))
        .unwrap();
    assert_eq!(run.fingerprint, whole.fingerprint);
    assert_eq!(run.observations[0].columns(), whole.observations[0].columns());
    let budget = Budget { replications: Some(41), ..Budget::default() };
    let stopping = Stopping::new(Precision::relative(1e-6), budget);
    let pairs = experiment(1).with_antithetic_pairs();
    let run = engine.experiment(&params, &pairs).precision(&stopping, &columns).run().unwrap();
    assert_eq!((run.observations[0].replications(), run.decisions), (40, vec![Decision::ReplicationsSpent]));
}

#[test]
fn a_run_that_is_stopped_has_the_results_of_its_first_replications() {
    let (model, params) = mm1();
    let mut engine = Engine::new(&gpu(), model, Options::default().mapping(Mapping::Thread)).unwrap();
    let cpu = CpuEngine::in_rust(Reference(model), Options::default()).unwrap();
    let design = Design::default().cross("clients", [50_u32, 90, 3]).unwrap();
    let wide = Experiment::new(design, 60_000, SEED).with_antithetic_pairs();
    let after = |most: u64| {
        move |ended: u64| if ended > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    // At once, later, and never.
    assert!(matches!(
        engine.experiment(&params, &wide).watch(|_| ControlFlow::Break(())).run(),
        Err(ReplicationError::Stopped)
    ));
    for (seen, what) in [
        (engine.experiment(&params, &wide).watch(after(40_000)).run().unwrap(), "device"),
        (cpu.experiment(&params, &wide).watch(after(40)).run().unwrap(), "host"),
    ] {
        let made = u32::try_from(seen.observations[0].replications()).unwrap();
        assert!(made > 0 && made < 60_000 && made.is_multiple_of(2), "{what}: {made}");
        assert_same(&seen, &cpu.experiment(&params, &wide).range(0..made).run().unwrap(), what);
    }
    let some = Experiment { replications: 20_000, ..wide.clone() };
    let mut last = 0;
    let seen = engine
        .experiment(&params, &some)
        .watch(|ended| {
            assert!(ended >= last);
            last = ended;
        })
        .run();
    assert_same(&seen.unwrap(), &cpu.run(&params, &some).unwrap(), "watched");
    assert_eq!(last, 60_000);

    let stopping =
        Stopping::new(Precision::relative(1e-9), Budget { replications: Some(1 << 20), ..Budget::default() });
    let columns = ["time_in_queue"];
    let run = engine
        .experiment(&params, &experiment(1))
        .precision(&stopping, &columns)
        .watch(after(100))
        .run()
        .unwrap();
    let alone = cpu
        .experiment(&params, &experiment(1))
        .precision(&stopping, &columns)
        .watch(after(100))
        .run()
        .unwrap();
    for run in [run, alone] {
        let made = u32::try_from(run.observations[0].replications()).unwrap();
        assert_eq!(run.decisions, [Decision::Stopped]);
        let whole = cpu.run(&params, &experiment(made)).unwrap();
        assert_eq!(run.fingerprint, whole.fingerprint, "{made}");
    }
    // More than the host's memory holds.
    let all = Experiment { replications: u32::MAX - 1, ..experiment(1) };
    let refused = cpu.run(&params, &all).unwrap_err().to_string();
    assert!(refused.contains("4294967294 replications") && refused.contains("bytes"), "{refused}");
}

#[test]
fn a_run_with_hardly_any_time_still_has_results() {
    let (model, params) = mm1();
    let budget = Budget { time: Some(Duration::from_nanos(1)), ..Budget::default() };
    let stopping = Stopping::new(Precision::relative(1e-9), budget);
    let run = CpuEngine::in_rust(Reference(model), Options::default())
        .unwrap()
        .experiment(&params, &experiment(1))
        .precision(&stopping, &["idle_time"])
        .run()
        .unwrap();
    assert_eq!(run.decisions, [Decision::TimeSpent]);
    assert_eq!(run.observations[0].replications(), 30);
}

/// Over 200 independent experiments, how often the 95 % interval holds the true expectation.
fn coverage<M: Model + Copy>(model: M, params: M::Params, replications: u32, truths: &[(&str, f64)]) {
    let mut engine = Engine::new(&gpu(), model, Options::default()).unwrap();
    let mut held = vec![0; truths.len()];
    for seed in 0..200 {
        let results = engine.run(&params, &Experiment::new(Design::default(), replications, seed)).unwrap();
        for (held, (column, truth)) in held.iter_mut().zip(truths) {
            let summary = results.observations[0].summary(column, 0.95).unwrap();
            *held += u32::from(summary.interval.unwrap().contains(*truth));
        }
    }
    for (held, (column, _)) in held.iter().zip(truths) {
        assert!((182..=196).contains(held), "{column}: {held} of 200 intervals hold the true value");
    }
}

#[test]
fn intervals_of_mm1_cover_the_theory() {
    let model = Mm1::default();
    let (clients, theory) = (1000, theory::Mm1::new(0.8, 1.0).unwrap());
    let truths = [
        // The first client's interarrival time is idle too.
        ("idle_time", (1.0 / 0.8 + theory.idle_time_until(clients - 1)) / f64::from(clients)),
        ("time_in_queue", theory.time_in_queue_of_first(clients)),
        ("time_in_system", theory.time_in_system_of_first(clients)),
    ];
    coverage(model, model.params(0.8, 1.0, clients).unwrap(), 60, &truths);
}

#[test]
fn intervals_of_mmck_cover_the_theory() {
    let model = Mmck::default();
    let (arrivals, theory) = (500, theory::Mmck::new(3.0, 1.0, 3, 7).unwrap());
    let truths = [
        ("blocking", theory.blocking_of_first(arrivals)),
        ("time_in_queue", theory.time_in_queue_per_arrival_of_first(arrivals)),
    ];
    coverage(model, model.params(3.0, 1.0, 3, 7, arrivals).unwrap(), 40, &truths);
}
