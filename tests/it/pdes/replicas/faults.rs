//! Runs among many that break a rule, and experiments that are refused.

use super::*;

#[test]
fn one_run_of_thousands_fails_alone() {
    for (case, (from, at)) in [(0, 0), (3, 0), (2, 12_345)].into_iter().enumerate() {
        // A grid of thousands of runs takes long.
        let (ways, count, culprit) =
            if case == 1 { (&MAPPINGS[..], 200, 37) } else { (&MAPPINGS[..2], 1100, 1037) };
        let build = move |_: &Point<'_>| OddOneOut::new(7).breaking(culprit, from, at);
        let number = culprit as usize;
        let ways: Vec<_> = ways.iter().copied().map(mapped).collect();
        let results = agree_on(&gpu(), &runs(count), END, &ways, build);
        assert_eq!(failed(&results), 1);
        let fault = results.runs[0][number].as_ref().unwrap_err();
        assert!(fault.kind == FaultKind::Lookahead && fault.lp >= from, "{fault}");
        let listed: Vec<_> = results.observations[0].failures().map(|failure| failure.replication).collect();
        assert_eq!(listed, [u64::from(culprit)]);
        // With YAWNS windows it is found in the same one.
        let ways = mapped(Mapping::Team).queue(QueueDesign::Heap);
        let build = move |point: &Point<'_>| Ok::<_, SimulationError>(build(point));
        let found = Engine::new(&gpu(), build, ways).unwrap().run(&runs(count), END).unwrap();
        assert_eq!(found.runs[0][number].as_ref().unwrap_err(), fault);
        // The other runs equal those without a broken rule.
        let sound = agree_on(&gpu(), &runs(count), END, &[], |_| OddOneOut::new(7));
        for (run, (found, sound)) in results.runs[0].iter().zip(&sound.runs[0]).enumerate() {
            assert!(
                run == number || found.as_ref().unwrap().fingerprint == sound.as_ref().unwrap().fingerprint
            );
        }
    }
}

/// The columns are known from the runs of other points; a point without observations has its own
/// decision.
#[test]
fn a_point_of_which_all_runs_fail_has_the_columns_of_the_others() {
    let build = |point: &Point<'_>| {
        let odd = OddOneOut::new(7);
        let wrong = point.whole("wrong", 0).unwrap_or(0) == 1;
        Ok::<_, SimulationError>(if wrong { odd.breaking_always() } else { odd })
    };
    let design = Design::default().cross("wrong", [0, 1]).unwrap();
    let experiment = Experiment::new(design, 5, 42);
    let stopping =
        Stopping::new(Precision::relative(0.5), Budget { replications: Some(60), ..Budget::default() });
    let names = |point: &Observations| point.shown().map(|column| column.name.clone()).collect::<Vec<_>>();
    let cpu = CpuEngine::in_rust(build, EngineOptions::default());
    let expected = cpu.experiment(&experiment, END).precision(&stopping, &["number"]).run().unwrap();
    assert_eq!(expected.decisions, [Decision::Reached, Decision::AllFailed]);
    assert_eq!(names(&expected.observations[0]), names(&expected.observations[1]));
    let mut engine = Engine::new(&gpu(), build, mapped(Mapping::Thread)).unwrap();
    let found = engine.experiment(&experiment, END).precision(&stopping, &["number"]).run().unwrap();
    assert_eq!((found.fingerprint, found.decisions), (expected.fingerprint, expected.decisions));
    assert_eq!(known(&found.observations), known(&expected.observations));
    // Alone, such a point has no columns; with other points before or after it, it has theirs.
    let only = |wrong: i64| {
        let design = Design::default().cross("wrong", [wrong]).unwrap();
        cpu.run(&Experiment::new(design, 5, 42), END).unwrap().observations.remove(0)
    };
    for (mut first, second, failures) in [(only(0), only(1), 5..10), (only(1), only(0), 0..5)] {
        first.append(second).unwrap();
        assert_eq!(names(&first), names(&expected.observations[0]));
        assert!(first.failures().map(|failure| failure.replication).eq(failures));
    }
}

/// An event-horizon window is wide if `earliest` reports no sends. Of two LPs that break a rule in
/// it, the one that does so first is reported in every mapping.
#[test]
fn the_first_fault_is_told_however_wide_windows_are() {
    let results = agree(&runs(2), Until::time(Ticks::new(5000)), |_| TwoAtFault);
    let faults = results.runs[0].iter().map(|run| run.as_ref().unwrap_err());
    assert!(faults.clone().all(|fault| (fault.kind, fault.lp) == (FaultKind::Past, 5)), "{faults:?}");
}

#[test]
fn an_output_that_fails_ends_the_experiment() {
    let build = |_: &Point<'_>| {
        let mut model = Counted::new(300);
        model.params.culprit = 123;
        Ok::<_, SimulationError>(model)
    };
    let end = Until::time(Ticks::new(100));
    let mut failures = vec![CpuEngine::in_rust(build, EngineOptions::default()).run(&runs(3), end).map(drop)];
    for mapping in MAPPINGS {
        failures.push(Engine::new(&gpu(), build, mapped(mapping)).unwrap().run(&runs(3), end).map(drop));
    }
    for failure in failures {
        let error = failure.unwrap_err();
        assert!(matches!(error, SimulationError::Output { kind: FaultKind::MemoryFull, lp: 123 }), "{error}");
    }
}

#[test]
fn every_broken_rule_is_told_alike() {
    for rule in [0, 1, 2, 10, 12] {
        for &(culprit, at) in few(1, &[(17, 3000), (5, 0)]) {
            let capacity = Capacity { queue: 64, mailbox: 64 };
            let results = agree(&runs(2), Until::time(Ticks::new(50_000)), move |_| Mischief {
                lps: 30,
                rule,
                culprit,
                at,
                capacity,
            });
            assert_eq!(failed(&results), 2, "rule {rule}");
        }
    }
    for (rule, kind) in [(2, FaultKind::Past), (4, FaultKind::MemoryFull), (5, FaultKind::MemoryFull)] {
        for &culprit in few(1, &[19, 0]) {
            let results = agree(&runs(5), Until::EMPTY, move |_| Busy::new(30).breaking(rule, culprit));
            let faults: Vec<_> = results.runs[0].iter().filter_map(|run| run.as_ref().err()).collect();
            assert!(!faults.is_empty(), "rule {rule}");
            assert!(
                faults.iter().all(|fault| (fault.kind, fault.lp) == (kind, culprit)),
                "rule {rule}: {faults:?}"
            );
        }
    }
    // A token that moves around the ring at one time for ever.
    let ways = [Mapping::Team, Mapping::Thread].map(mapped);
    let results = agree_on(&gpu(), &runs(2), Until::EMPTY, &ways, |_| Ring {
        step: 0,
        stride: 11,
        ..Ring::new(12, u32::MAX)
    });
    assert!(
        results.runs[0].iter().all(|run| run.as_ref().is_err_and(|fault| fault.kind == FaultKind::Cycle))
    );
}

/// The first fault is that of the first window; events beyond a budget are in the next one.
#[test]
fn a_fault_in_what_a_budget_leaves_over_is_not_the_first() {
    let late = Late { lookahead: Ticks::new(1000), events: 200 };
    let results = agree(&runs(2), Until::EMPTY, move |_| late);
    assert!(results.runs[0].iter().all(|run| run.as_ref().is_err_and(|fault| fault.lp == 5)));
}

/// Also if LPs send each other nothing, so that the whole run is one epoch.
#[test]
fn a_fault_ends_a_run_that_would_go_on_for_ever() {
    let horizon = mapped(Mapping::Team).sync(Synchronise::Horizon);
    for options in MAPPINGS.map(mapped).into_iter().chain([horizon]) {
        let build =
            |_: &Point<'_>| Ok::<_, SimulationError>(Late { lookahead: Ticks::NEVER, events: u32::MAX });
        let mut engine = Engine::new(&gpu(), build, options).unwrap();
        let results = engine
            .experiment(&runs(2), Until::EMPTY)
            .watch(|_, events| assert!(events < 1 << 22, "{options:?}: it never ends"))
            .run()
            .unwrap();
        assert!(results.runs[0].iter().all(|run| run.as_ref().is_err_and(|fault| fault.lp == 5)));
    }
}

/// The error with which all engines for `options` refuse an experiment.
#[track_caller]
fn refused<M: Model>(
    experiment: &Experiment,
    until: Until,
    options: EngineOptions,
    build: impl Fn(&Point<'_>) -> Result<M, String> + Copy + 'static,
) -> SimulationError {
    Engine::new(&gpu(), build, options).and_then(|mut engine| engine.run(experiment, until)).unwrap_err()
}

#[test]
fn what_cannot_be_run_is_refused_with_its_reason() {
    let end = until(10.0);
    let two = Experiment::new(Design::default().cross("x", [3, 4]).unwrap(), 2, 1);
    let fine = |_: &Point<'_>| Ok(phold(10, 2, 0.1, 10.0));
    for mapping in MAPPINGS {
        let options = mapped(mapping);
        let x = |point: &Point<'_>| point.whole("x", 0).unwrap();
        let error = refused(&two, end, options, move |point| Ok(phold(x(point), 2, 0.1, 10.0)));
        assert!(matches!(error, SimulationError::Points { what: "numbers of LPs" }), "{error}");
        let error = refused(&two, end, options, move |point| {
            let model = phold(10, 2, 0.1, 10.0);
            Ok(if x(point) == 3 { model } else { model.with_neighbours(4).unwrap() })
        });
        assert!(matches!(error, SimulationError::Points { what: "WGSL files" }), "{error}");
        let error = refused(&two, end, options, move |point| Ok(epidemic(30, x(point), 0.5)));
        assert!(matches!(error, SimulationError::Points { what: "data" }), "{error}");
        let error = refused(&two, end, options, move |point| {
            CallCentre::new(3, 2, 1.0, 1.0, 1.0, 1 << x(point), units()).map_err(|error| error.to_string())
        });
        assert!(matches!(error, SimulationError::Points { what: "rows of LP memory" }), "{error}");
        let error = refused(&two, end, options, move |point| match x(point) {
            3 => Ok(phold(10, 2, 0.1, 10.0)),
            _ => Err("no such thing".to_owned()),
        });
        assert_eq!(error.to_string(), "point 1: no such thing");
        let error = refused(&two.clone().with_antithetic_pairs(), end, options, fine);
        assert!(matches!(error, SimulationError::Antithetic), "{error}");
        let error = refused(&runs(0), end, options, fine);
        assert!(matches!(error, SimulationError::Analysis(AnalysisError::Setting { .. })), "{error}");
        for group_size in [0, 48, 1 << 20] {
            let options = options.group_size(group_size);
            let error = refused(&two, end, options, fine);
            assert!(
                matches!(error, SimulationError::GroupSize { group_size: found, .. } if found == group_size),
                "{error}"
            );
        }
        let error = refused(&two, end, options, |_| {
            Ok(phold(10, 2, 0.1, 10.0).with_capacity(Capacity { queue: 0, mailbox: 1 }))
        });
        assert!(matches!(error, SimulationError::NoCapacity { what: "queue" }), "{error}");
        let error = refused(&runs(1), end, options, |_| Ok(phold(0, 2, 0.1, 10.0)));
        assert!(matches!(error, SimulationError::NoLps), "{error}");
        // Call centres never end: the refusal must not take as long.
        for end in [Until::EMPTY, Until::events(u64::MAX)] {
            let centre = |_: &Point<'_>| {
                CallCentre::new(2, 2, 1.0, 1.0, 1.0, 32, units()).map_err(|error| error.to_string())
            };
            let error = refused(&runs(1), end, options, centre);
            let thread = mapping == Mapping::Thread && end.events != Until::EMPTY.events;
            assert!(thread || matches!(error, SimulationError::NoEnd), "{error}");
            let error = CpuEngine::new(centre, EngineOptions::default()).run(&runs(1), end).unwrap_err();
            assert!(matches!(error, SimulationError::NoEnd), "{error}");
        }
    }
    let error = refused(&two, Until::events(10), mapped(Mapping::Thread), fine);
    assert!(matches!(error, SimulationError::ThreadEvents), "{error}");
    for queue in [QueueDesign::Calendar, QueueDesign::CB_PAR] {
        let error = refused(&two, end, mapped(Mapping::Team).queue(queue), fine);
        assert!(matches!(error, SimulationError::TeamQueue), "{error}");
    }
    // Windows that teams do not support: per-LP bounds, and event-horizon windows without a
    // lookahead, with another queue, or in an event-limited run.
    let windows = |sync, queue| mapped(Mapping::Team).sync(sync).queue(queue);
    let none = |_: &Point<'_>| Ok(phold(10, 2, 0.1, 0.0));
    for (error, chosen) in [
        (refused(&two, end, windows(Synchronise::Neighbours, None), fine), Synchronise::Neighbours),
        (refused(&two, end, windows(Synchronise::Horizon, None), none), Synchronise::Horizon),
        (
            refused(&two, end, windows(Synchronise::Horizon, Some(QueueDesign::Heap)), fine),
            Synchronise::Horizon,
        ),
        (refused(&two, Until::events(9), windows(Synchronise::Horizon, None), fine), Synchronise::Horizon),
    ] {
        assert!(matches!(error, SimulationError::TeamSync { sync } if sync == chosen), "{error}");
    }
    // More than the adapter binds for a single run.
    let small = gpu().binding_at_most(1 << 12);
    for mapping in [Mapping::Team, Mapping::Thread] {
        let large = |_: &Point<'_>| Ok::<_, String>(phold(500, 8, 0.1, 10.0));
        let error = Engine::new(&small, large, mapped(mapping)).unwrap().run(&runs(2), end).unwrap_err();
        assert!(matches!(error, SimulationError::ReplicaTooLarge { lps: 500, .. }), "{error}");
    }
    // A numbering that ends.
    let design = Design::default().cross("x", 0..100).unwrap();
    let error = refused(&Experiment::new(design, u32::MAX, 1), end, mapped(Mapping::Team), fine);
    assert!(matches!(error, SimulationError::Analysis(AnalysisError::TooMany { .. })), "{error}");
}
