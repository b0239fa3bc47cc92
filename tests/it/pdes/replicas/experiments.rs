//! Parts of an experiment: points, streams, pieces, a precision, and progress reports.

use super::*;

#[test]
fn the_results_of_each_lp_are_those_that_totals_are_of() {
    let build = |_: &Point<'_>| {
        Ok::<_, std::convert::Infallible>(CallCentre::new(5, 3, 4.0, 1.0, 0.5, 64, units()).unwrap())
    };
    let (experiment, end) = (runs(70), until(20.0));
    let totals = CpuEngine::new(build, EngineOptions::default()).run(&experiment, end).unwrap();
    let expected = CpuEngine::new(build, EngineOptions::default().outputs(true).memory([2, 3]))
        .run(&experiment, end)
        .unwrap();
    let rows = |results: &Results<_>| -> Vec<Vec<_>> {
        let rows = |ran: &RunResult<_>| ran.outputs.as_ref().unwrap().rows().to_vec();
        results.runs[0].iter().map(|run| rows(run.as_ref().unwrap())).collect()
    };
    for (reported, total) in expected.runs[0].iter().zip(&totals.runs[0]) {
        let (reported, total) = (reported.as_ref().unwrap(), total.as_ref().unwrap());
        assert!(reported.totals.is_none() && total.outputs.is_none());
        assert_eq!(&reported.outputs.as_ref().unwrap().totals(None).unwrap(), total.totals.as_ref().unwrap());
        assert_eq!(reported.fingerprint, total.fingerprint);
    }
    // The rows of each LP from the third on, for the run that equals the one without replicas.
    let memory = |results: &Results<_>| -> Vec<Vec<_>> {
        results.runs[0].iter().map(|run| run.as_ref().unwrap().memory.clone()).collect()
    };
    let model = CallCentre::new(5, 3, 4.0, 1.0, 0.5, 64, units()).unwrap();
    let mut alone = CpuSimulation::new(&model, Options::default().seed(experiment.seed)).unwrap();
    alone.run(end).unwrap();
    let each = alone.memory().chunks_exact(model.memory_rows() as usize);
    assert_eq!(memory(&expected)[0], each.map(|rows| &rows[2..5]).collect::<Vec<_>>().concat());
    assert!(memory(&expected)[0].iter().flatten().any(|&word| word != 0), "LP memory was used");
    let names: Vec<_> =
        expected.observations[0].columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["events"], "what else there is to observe, the caller knows");
    for &mapping in few(2, &MAPPINGS) {
        let options = mapped(mapping).outputs(true).memory([2, 3]);
        let found = Engine::new(&gpu(), build, options).unwrap().run(&experiment, end).unwrap();
        assert!(rows(&found) == rows(&expected), "{mapping}");
        assert!(memory(&found) == memory(&expected), "{mapping}");
        assert_eq!(found.fingerprint, totals.fingerprint, "{mapping}");
    }
}

#[test]
fn points_differ_in_parameters_and_in_lookahead() {
    for lookaheads in [[2.0, 10.0], [0.0, 10.0]] {
        let design =
            Design::default().cross("rate", [0.05, 0.4]).unwrap().cross("lookahead", lookaheads).unwrap();
        for common in [false, true] {
            let experiment = Experiment { common, ..Experiment::new(design.clone(), 6, 3) };
            let build = |point: &Point<'_>| {
                Reference(phold(33, 3, point.real("rate", 1.0), point.real("lookahead", 1.0)))
            };
            agree(&experiment, until(60.0), build);
        }
    }
}

/// The fingerprint of each run, by point.
fn fingerprints<O>(results: &Results<O>) -> Vec<Vec<u64>> {
    let of = |runs: &Vec<Result<RunResult<O>, _>>| {
        runs.iter().map(|run| run.as_ref().unwrap().fingerprint.0).collect()
    };
    results.runs.iter().map(of).collect()
}

#[test]
fn common_random_numbers_are_common() {
    // A factor without an effect.
    let design = Design::default().cross("idle", [1, 2, 3]).unwrap();
    let experiment = Experiment::new(design, 8, 7);
    let build = |_: &Point<'_>| Reference(phold(20, 3, 0.1, 10.0));
    let common = fingerprints(&agree(&experiment.clone().with_common_random_numbers(), until(60.0), build));
    assert_eq!(common[0], common[1]);
    assert_eq!(common[0], common[2]);
    let apart = fingerprints(&agree(&experiment, until(60.0), build));
    let mut all = [&common[..1], &apart[1..]].concat().concat();
    assert_eq!(apart[0], common[0], "a point's streams do not depend on the others");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 24, "every run has streams of its own");
}

#[test]
fn a_run_alone_has_the_bits_that_it_has_among_others() {
    let model = OddOneOut::new(9);
    let design = Design::default().cross("idle", [1, 2]).unwrap();
    for common in [false, true] {
        let experiment = Experiment { common, ..Experiment::new(design.clone(), 5, 11) };
        let results = agree(&experiment, END, |_| OddOneOut::new(9));
        for (point, number) in [(0, 0), (0, 4), (1, 0), (1, 3)] {
            let replica = Replica { point: if common { 0 } else { point }, number };
            let ran = results.runs[point as usize][number as usize].as_ref().unwrap();
            let mut cpu =
                CpuSimulation::in_rust(&model, Options::default().seed(11).replica(replica)).unwrap();
            let alone = cpu.run(END).unwrap();
            assert_eq!((alone.events, alone.now), (ran.progress.events, ran.progress.now));
            assert_eq!(cpu.fingerprint(), ran.fingerprint);
            assert_eq!(cpu.totals(END.time, None).unwrap(), *ran.totals.as_ref().unwrap());
            let options = Options::default().seed(11).replica(replica);
            let mut simulation = Simulation::new(&gpu(), &model, options).unwrap();
            assert_eq!(simulation.run(END).unwrap().events, ran.progress.events);
            assert_eq!(simulation.fingerprint().unwrap(), ran.fingerprint);
            assert_eq!(simulation.totals(END.time, None).unwrap(), *ran.totals.as_ref().unwrap());
        }
    }
}

#[test]
fn the_first_run_is_the_run_that_nobody_counts() {
    let model = phold(30, 3, 0.1, 10.0);
    let results = agree(&runs(2), until(60.0), move |_| Reference(model));
    let mut cpu = CpuSimulation::new(&model, Options::default().seed(42)).unwrap();
    cpu.run(until(60.0)).unwrap();
    assert_eq!(results.runs[0][0].as_ref().unwrap().fingerprint, cpu.fingerprint());
    assert_ne!(results.runs[0][1].as_ref().unwrap().fingerprint, cpu.fingerprint());
}

#[test]
fn pieces_of_an_experiment_are_the_whole() {
    let design = Design::default().cross("servers", [2, 3]).unwrap();
    let experiment = Experiment::new(design, 20, 9);
    let build = |point: &Point<'_>| {
        CallCentre::new(5, point.whole("servers", 1).unwrap(), 3.0, 1.0, 0.5, 32, units())
    };
    let whole = CpuEngine::new(build, EngineOptions::default()).run(&experiment, until(20.0)).unwrap();
    for &mapping in few(2, &MAPPINGS) {
        let mut engine = Engine::new(&gpu(), build, mapped(mapping)).unwrap();
        let mut pieces = [0..1, 1..13, 13..20]
            .map(|range| engine.experiment(&experiment, until(20.0)).range(range).run().unwrap())
            .into_iter();
        let mut all = pieces.next().unwrap();
        for piece in pieces {
            all.fingerprint = all.fingerprint.wrapping_add(piece.fingerprint);
            for (all, piece) in all.observations.iter_mut().zip(piece.observations) {
                all.append(piece).unwrap();
            }
            for (all, piece) in all.runs.iter_mut().zip(piece.runs) {
                all.extend(piece);
            }
        }
        assert_eq!(known(&all.observations), known(&whole.observations), "{mapping}");
        assert_eq!(fingerprints(&all), fingerprints(&whole), "{mapping}");
        assert_eq!(all.fingerprint, whole.fingerprint, "{mapping}");
    }
}

#[test]
fn a_precision_is_reached_by_the_same_runs_on_both_engines_and_watched() {
    let experiment = Experiment::new(Design::default().cross("servers", [3, 4]).unwrap(), 1, 3);
    let build = |point: &Point<'_>| {
        CallCentre::new(3, point.whole("servers", 1).unwrap(), 3.0, 1.0, 0.5, 32, units())
    };
    let budget = Budget { replications: Some(400), ..Budget::default() };
    let stopping = Stopping::new(Precision::relative(0.08), budget);
    let end = until(30.0);
    let expected = CpuEngine::new(build, EngineOptions::default())
        .experiment(&experiment, end)
        .precision(&stopping, &["wait"])
        .run()
        .unwrap();
    assert!(
        expected.decisions.iter().all(|decision| *decision == Decision::Reached),
        "{:?}",
        expected.decisions
    );
    let count = expected.observations[0].replications();
    assert!((31..400).contains(&count), "{count}: it would be no test");
    let mut engine = Engine::new(&gpu(), build, mapped(Mapping::Thread)).unwrap();
    let (mut last, mut calls) = ((0, 0), 0);
    let found = engine
        .experiment(&experiment, end)
        .precision(&stopping, &["wait"])
        .watch(|ended, events| {
            assert!(ended >= last.0 && events >= last.1);
            last = (ended, events);
            calls += 1;
        })
        .run()
        .unwrap();
    assert_eq!(known(&found.observations), known(&expected.observations));
    assert_eq!((found.fingerprint, found.decisions), (expected.fingerprint, expected.decisions));
    let events = found.observations.iter().map(|point| {
        let events = &point.column("events").unwrap().values;
        (0..count).map(|run| events.get(run)).sum::<f64>()
    });
    assert_eq!(last, (2 * count, events.sum::<f64>() as u64));
    assert!(calls >= 2);

    let mut reported = (0, 0);
    let whole = Experiment { replications: 8, ..experiment };
    for &mapping in few(2, &MAPPINGS) {
        let mut engine = Engine::new(&gpu(), build, mapped(mapping)).unwrap();
        let results =
            engine.experiment(&whole, end).watch(|ended, events| reported = (ended, events)).run().unwrap();
        let ran: u64 = results.runs.iter().flatten().flatten().map(|run| run.progress.events).sum();
        // Runs that were repeated with more capacity count twice.
        assert!(reported.0 == 16 && reported.1 >= ran, "{mapping}: {reported:?}, {ran}");
    }
}

#[test]
fn a_model_may_know_the_number_of_its_run() {
    let results = agree(&runs(9), END, |_| OddOneOut::new(5));
    let numbers = &results.observations[0].column("number").unwrap().values;
    assert!((0..9).all(|run| numbers.get(run) == run as f64));
    let sums = &results.observations[0].column("replica").unwrap().values;
    assert!((0..9).all(|run| sums.get(run) == 5.0 * run as f64));
}
