//! Many runs of a model at once: every mapping gives the bits of the sequential engine.

mod experiments;
mod faults;
mod odd;

use eventhorizon::gpu::Gpu;
use eventhorizon::models::{CallCentre, Epidemic, FifoTorus, Phold, Priorities, Torus};
use eventhorizon::pdes::{
    Capacity, CpuEngine, CpuModel, CpuSimulation, Engine, EngineOptions, FaultKind, Mapping, Model, Options,
    Replica, Results, RunResult, Simulation, SimulationError, Sync as Synchronise, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::statistics::{
    AnalysisError, Budget, Decision, Design, Experiment, FailureCause, Observations, Point, Precision,
    Stopping,
};
use eventhorizon::time::{Resolution, Ticks};
use proptest::prelude::*;

use super::common::counted::Counted;
use super::common::models::{Mischief, Ring};
use super::common::references::Reference;
use super::common::{few, is_long, queues};
use super::own_events::{Busy, Wide};
use super::{gpu, until};
use odd::{Late, OddOneOut, Scribe, TwoAtFault};

/// The mappings except auto.
const MAPPINGS: [Mapping; 3] = [Mapping::Team, Mapping::Thread, Mapping::Grid];
const TINY: Capacity = Capacity { queue: 1, mailbox: 1 };
/// The time when tokens of `OddOneOut` have moved some ten times.
const END: Until = Until::time(Ticks::new(20_000));

fn mapped(mapping: Mapping) -> EngineOptions {
    EngineOptions::default().mapping(mapping)
}

/// One point with this number of runs.
fn runs(replications: u32) -> Experiment {
    Experiment::new(Design::default(), replications, 42)
}

fn units() -> Resolution {
    Resolution::default()
}

/// The observations of a point, as text with all digits. (A NaN is equal to itself there.)
fn known(observations: &[Observations]) -> Vec<String> {
    let text =
        |point: &Observations| format!("{:?} {:?}", point.columns(), point.failures().collect::<Vec<_>>());
    observations.iter().map(text).collect()
}

/// Checks that two engines found the same in every run. The number of windows is no result: it
/// depends on [`Sync`](eventhorizon::pdes::Sync) and budgets.
#[track_caller]
fn assert_same<O: bytemuck::Pod>(found: &Results<O>, expected: &Results<O>, what: &str) {
    assert_eq!(found.runs.len(), expected.runs.len(), "{what}");
    for (point, (found, expected)) in found.runs.iter().zip(&expected.runs).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (number, runs) in found.iter().zip(expected).enumerate() {
            match runs {
                (Ok(found), Ok(expected)) => {
                    let of = |ran: &RunResult<O>| (ran.progress.events, ran.progress.now, ran.progress.stop);
                    assert_eq!(of(found), of(expected), "{what}: point {point}, run {number}");
                    assert_eq!(
                        found.fingerprint, expected.fingerprint,
                        "{what}: point {point}, run {number}"
                    );
                    assert_eq!(found.totals, expected.totals, "{what}: point {point}, run {number}");
                }
                (Err(found), Err(expected)) => {
                    let [found, expected] = [found, expected].map(|fault| (fault.kind, fault.lp));
                    assert_eq!(found, expected, "{what}: point {point}, run {number}");
                }
                (found, expected) => panic!("{what}: point {point}, run {number}: {found:?}, {expected:?}"),
            }
        }
    }
    assert_eq!(known(&found.observations), known(&expected.observations), "{what}");
    assert_eq!(found.fingerprint, expected.fingerprint, "{what}");
}

/// Runs an experiment by teams and threads (in long tests, in every mapping) and on the sequential
/// engine, whose results it returns; for teams with both kinds of windows, if possible.
#[track_caller]
fn agree<M>(
    experiment: &Experiment,
    until: Until,
    build: impl Fn(&Point<'_>) -> M + Copy + 'static,
) -> Results<M::Output>
where
    M: CpuModel<Output: Send> + Sync,
{
    agree_on(&gpu(), experiment, until, few(2, &MAPPINGS.map(mapped)), build)
}

#[track_caller]
fn agree_on<M>(
    gpu: &Gpu,
    experiment: &Experiment,
    until: Until,
    ways: &[EngineOptions],
    build: impl Fn(&Point<'_>) -> M + Copy + 'static,
) -> Results<M::Output>
where
    M: CpuModel<Output: Send> + Sync,
{
    let build = move |point: &Point<'_>| Ok::<_, std::convert::Infallible>(build(point));
    let expected = CpuEngine::in_rust(build, EngineOptions::default()).run(experiment, until).unwrap();
    let check = |options: EngineOptions, found: &Results<M::Output>| {
        assert_same(found, &expected, &format!("{options:?}"));
        assert!(options.mapping == Mapping::Auto || found.mapping == options.mapping);
    };
    for &options in ways {
        if options.mapping != Mapping::Team || options.sync != Synchronise::Auto {
            check(options, &Engine::new(gpu, build, options).unwrap().run(experiment, until).unwrap());
            continue;
        }
        for sync in [Synchronise::Yawns, Synchronise::Horizon] {
            let options = options.sync(sync);
            match Engine::new(gpu, build, options).unwrap().run(experiment, until) {
                Ok(found) => check(options, &found),
                Err(SimulationError::TeamSync { sync: Synchronise::Horizon }) => {
                    let models = (0..experiment.design.len())
                        .map(|point| build(&experiment.design.point(point)).unwrap());
                    let small = |model: &M| {
                        model.lookahead() > Ticks::ZERO && model.lps() * model.capacity().queue <= 500
                    };
                    let chosen = options.queue.is_some() || options.fixed || until.events != u64::MAX;
                    assert!(chosen || !models.into_iter().all(|model| small(&model)), "{options:?}");
                }
                Err(error) => panic!("{options:?}: {error}"),
            }
        }
    }
    expected
}

/// The number of failed runs.
fn failed<O>(results: &Results<O>) -> usize {
    results.runs.iter().flatten().filter(|run| run.is_err()).count()
}

fn phold(lps: u32, population: u32, rate: f64, lookahead: f64) -> Phold {
    Phold::new(lps, population, rate, lookahead, units()).unwrap()
}

#[test]
fn every_mapping_gives_the_bits_of_the_cpu() {
    for &lps in few(4, &[31, 32, 33, 1, 2, 70]) {
        let ways = [Mapping::Team, Mapping::Thread, Mapping::Grid, Mapping::Auto].map(mapped);
        agree_on(&gpu(), &runs(9), until(100.0), &ways, move |_| Reference(phold(lps, 4, 0.1, 10.0)));
    }
}

#[test]
fn phold_with_any_lookahead_and_on_a_ring() {
    for (rate, lookahead, end) in
        [(0.1, 0.0, 60.0), (2.0, 0.001, 3.0), (0.001, 10.0, 3000.0), (1.0, 100.0, 250.0)]
    {
        agree(&runs(7), until(end), move |_| Reference(phold(40, 3, rate, lookahead)));
    }
    for lookahead in [0.0, 5.0] {
        agree(&runs(5), until(90.0), move |_| {
            Reference(phold(37, 2, 0.1, lookahead).with_neighbours(6).unwrap())
        });
    }
    // Delays of zero ticks, and rounds at one time.
    agree(&runs(5), until(4e-5), |_| Reference(phold(20, 3, 1e6, 0.0)));
}

#[test]
fn call_centres() {
    let build = |_: &Point<'_>| Reference(CallCentre::new(13, 3, 4.0, 1.0, 0.5, 32, units()).unwrap());
    let results = agree(&runs(9), until(40.0), build);
    let waited = results.observations[0].summary("wait", 0.95).unwrap().mean.unwrap();
    assert!((0.05..0.6).contains(&waited), "{waited}");
    // A full line ends its run. Patience is short, and twice as many customers arrive as are
    // served.
    let crowded = |_: &Point<'_>| Reference(CallCentre::new(3, 2, 3.0, 1.0, 0.001, 16, units()).unwrap());
    let results = agree_on(&gpu(), &runs(60), until(12.0), &[mapped(Mapping::Team)], crowded);
    assert!((10..50).contains(&failed(&results)), "{}", failed(&results));
    let faults = results.runs[0].iter().filter_map(|run| run.as_ref().err());
    assert!(faults.clone().all(|fault| fault.kind == FaultKind::MemoryFull));
    assert!(faults.clone().any(|fault| fault.lp != 0));
    let listed: Vec<_> = results.observations[0].failures().collect();
    assert_eq!(listed.len(), failed(&results));
    for (fault, failure) in faults.zip(listed) {
        assert_eq!(failure.cause, FailureCause::Fault { kind: fault.kind.to_string(), lp: fault.lp });
    }
}

#[test]
fn priorities() {
    agree(&runs(9), until(150.0), |_| {
        Reference(Priorities::new(11, &[(0.3, 1.5), (0.2, 0.8), (0.1, 1.0)], 20, units()).unwrap())
    });
    // Classes without customers have no measure instead of a NaN.
    let results = agree_on(&gpu(), &runs(4), until(60.0), &[mapped(Mapping::Thread)], |_| {
        Reference(Priorities::new(9, &[(0.3, 1.5)], 20, units()).unwrap())
    });
    assert!(results.observations[0].column("system_0").is_ok() && failed(&results) == 0);
    assert!(results.observations[0].column("system_1").is_err());
    assert_eq!(results.observations[0].failures().len(), 0);
}

fn epidemic(people: u32, hub: u32, contact_rate: f64) -> Epidemic {
    let edges = Epidemic::random_edges(people, people * 2, hub, 99);
    Epidemic::new(people, &edges, 2, 0.5, contact_rate, 1.0, units()).unwrap()
}

#[test]
fn epidemics() {
    agree(&runs(9), until(6.0), |_| Reference(epidemic(90, 30, 0.6)));
    let design = Design::default().cross("contact", [0.3, 0.9]).unwrap();
    let experiment = Experiment::new(design, 12, 5).with_common_random_numbers();
    let results =
        agree(&experiment, until(500.0), |point| Reference(epidemic(60, 20, point.real("contact", 0.0))));
    // Each person's illness is the same at both points, so all who are infected at the lower rate
    // are infected at the higher one.
    let [low, high] =
        [0, 1].map(|point| results.observations[point].column("attack_rate").unwrap().values.clone());
    assert!((0..12).all(|run| low.get(run) <= high.get(run)));
    assert!((0..12).any(|run| low.get(run) < high.get(run)));
}

#[test]
fn networks_of_queues() {
    let torus = |_: &Point<'_>| Torus::new(5, 6, 70, 1.0, 0.01, units()).unwrap();
    agree(&runs(6), until(8.0), move |point| {
        Reference(torus(point).with_warm_up(units().ticks(2.0).unwrap()))
    });
    if is_long() {
        agree(&runs(6), until(40.0), |_| Reference(Torus::new(1, 9, 20, 1.0, 0.5, units()).unwrap()));
    }
    // YAWNS windows span one tick here: they suit only little work.
    agree(&runs(6), until(1.5), |_| Reference(FifoTorus::new(6, 4, 40, 1.0, units()).unwrap()));
    let results = agree_on(&gpu(), &runs(40), until(60.0), &[mapped(Mapping::Thread)], |_| {
        Reference(FifoTorus::new(3, 4, 24, 1.0, units()).unwrap())
    });
    let busy = results.observations[0].summary("utilisation", 0.95).unwrap().mean.unwrap();
    // The formula is for the long run; these start with two customers at each station.
    assert!((busy - 24.0 / 35.0).abs() < 0.05, "{busy}");
}

#[test]
fn events_of_their_own_payloads_of_6_words_and_lp_memory() {
    for end in [Until::time(Ticks::new(77)), Until::EMPTY] {
        agree(&runs(3), end, |_| Busy::new(33));
        agree(&runs(3), end, |_| Busy { lookahead: Ticks::ZERO, ..Busy::new(33) });
        agree(&runs(3), end, |_| Wide::new(20));
    }
    // LP memory of many rows, and of zero rows in a model that declares it.
    agree(&runs(3), Until::EMPTY, |_| Busy { room: 60, ..Busy::new(12) });
    // Each event sends others for a while, more than a window's budget.
    agree(&runs(3), Until::EMPTY, |_| Busy {
        lookahead: Ticks::new(100_000),
        capacity: Capacity { queue: 3000, mailbox: 60 },
        ..Busy::with_children(6, 4)
    });
    // The same without a lookahead: budgets are of rounds.
    agree(&runs(3), Until::EMPTY, |_| Busy {
        lookahead: Ticks::ZERO,
        capacity: Capacity { queue: 3000, mailbox: 60 },
        ..Busy::with_children(6, 4)
    });
    // A token moves around the ring at one time.
    agree(&runs(3), Until::EMPTY, |_| Ring { step: 0, stride: 11, ..Ring::new(40, 60) });
    agree(&runs(3), Until::time(Ticks::new(3)), |_| Ring { step: 0, stride: 11, ..Ring::new(40, 60) });
}

#[test]
fn runs_that_end_by_a_number_of_events() {
    for events in [0, 1, 100, 101, 900] {
        let ways = [Mapping::Team, Mapping::Grid, Mapping::Auto].map(mapped);
        agree_on(&gpu(), &runs(5), Until::events(events), &ways, |_| Reference(phold(50, 4, 0.1, 10.0)));
        agree_on(&gpu(), &runs(5), Until::events(events), &ways, |_| Busy::new(33));
    }
}

#[test]
fn workgroups_queues_and_kernels_without_optional_features() {
    let gpu = gpu();
    let team = mapped(Mapping::Team);
    let mut ways = Vec::new();
    let served_by_one = queues().filter(|queue| queue.lanes() == 1);
    for (queue, group_size) in served_by_one.zip([1, 8, 128, 64, 256, 32, 16].into_iter().cycle()) {
        ways.push(team.group_size(group_size).queue(queue));
    }
    for group_size in [1, 8, 64] {
        ways.push(mapped(Mapping::Thread).group_size(group_size));
    }
    agree_on(&gpu, &runs(11), Until::EMPTY, &ways, |_| Busy::new(33));
    let ways = [Mapping::Team, Mapping::Thread].map(mapped);
    for gpu in [gpu.without(wgpu::Features::all()), gpu.checked()] {
        agree_on(&gpu, &runs(5), until(50.0), &ways, |_| Reference(phold(70, 4, 0.1, 10.0)));
    }
}

#[test]
fn threads_that_are_spread_over_more_and_fewer_workgroups() {
    // On hardware, trials find the number of runs that share a workgroup, if runs are long.
    let gpu = gpu().taken_for_hardware();
    for (replications, end) in [(1, 100.0), (33, 100.0), (97, 2000.0), (2100, 40.0)] {
        agree_on(&gpu, &runs(replications), until(end), &[mapped(Mapping::Thread)], |_| {
            Reference(phold(5, 3, 0.1, 10.0))
        });
    }
    // A second experiment of about this size starts with the result of the first.
    let build = |_: &Point<'_>| Ok::<_, std::convert::Infallible>(phold(5, 3, 0.1, 10.0));
    let expected = CpuEngine::new(build, EngineOptions::default()).run(&runs(97), until(2000.0)).unwrap();
    let mut engine = Engine::new(&gpu, build, mapped(Mapping::Thread)).unwrap();
    for round in 0..2 {
        let found = engine.run(&runs(97), until(2000.0)).unwrap();
        assert_same(&found, &expected, &format!("round {round}"));
    }
}

#[test]
fn threads_whose_first_keys_are_near() {
    // Workgroup memory holds 21 keys of each run, or none if it is too small.
    let gpu = gpu().taken_for_hardware();
    let ways = [1, 32, 64, 256].map(|size| mapped(Mapping::Thread).group_size(size));
    for (lps, population, lookahead) in [(40, 4, 10.0), (1, 3, 10.0), (12, 4, 0.0)] {
        agree_on(&gpu, &runs(7), until(60.0), &ways, move |_| {
            Reference(phold(lps, population, 0.1, lookahead))
        });
    }
    // With one tick per unit of time, most events of an LP are simultaneous. Heaps of few keys, of
    // keys in workgroup memory only, and of all unrolled levels plus one.
    let ticks = Resolution::new(1).unwrap();
    for (lps, population) in [(1, 2), (3, 4), (2, 11), (2, 60)] {
        agree_on(&gpu, &runs(7), Until::time(Ticks::new(150)), &ways[1..3], move |_| {
            Reference(Phold::new(lps, population, 2.0, 3.0, ticks).unwrap())
        });
        // Also without a lookahead: some events wait until the round ends.
        agree_on(&gpu, &runs(7), Until::time(Ticks::new(60)), &ways[1..3], move |_| {
            Reference(Phold::new(lps, population, 1.0, 0.0, ticks).unwrap())
        });
    }
}

#[test]
fn local_teams_that_share_a_workgroup() {
    let ways = [8, 64, 32].map(|size| mapped(Mapping::Team).group_size(size));
    let ways = few(2, &ways);
    for &lps in few(2, &[3, 16, 1, 5]) {
        // Windows full and nearly empty; and times beyond 32 bits, at which the teams of a
        // workgroup arrive interleaved.
        for (rate, end) in [(0.1, 60.0), (0.001, 3000.0), (0.000_001, 2e6)] {
            agree_on(&gpu(), &runs(11), until(end), ways, move |_| Reference(phold(lps, 4, rate, 10.0)));
        }
    }
}

/// More events than fit workgroup memory: they stay in buffers. (Teams with queues have no windows
/// to the event horizon.)
#[test]
fn local_teams_whose_events_are_in_buffers() {
    let gpu = gpu().taken_for_hardware();
    let ways = [Synchronise::Yawns, Synchronise::Horizon].map(|sync| mapped(Mapping::Team).sync(sync));
    for (lps, population, rate, end) in [(600, 6, 0.1, 35.0), (400, 8, 0.000_1, 2000.0)] {
        agree_on(&gpu, &runs(3), until(end), &ways, move |_| Reference(phold(lps, population, rate, 10.0)));
    }
}

#[test]
fn teams_try_windows_to_the_event_horizon_where_windows_are_nearly_empty() {
    let gpu = gpu().taken_for_hardware();
    let build =
        |point: &Point<'_>| Ok::<_, std::convert::Infallible>(phold(16, 4, point.real("rate", 1.0), 10.0));
    let design = Design::default().cross("rate", [0.000_01, 0.001, 0.000_1]).unwrap();
    let experiment = Experiment::new(design, 40, 1);
    // Runs of one point end long before the others; and a second experiment starts with the results
    // of the first.
    for end in [until(1e6), until(2e5)] {
        let expected = CpuEngine::new(build, EngineOptions::default()).run(&experiment, end).unwrap();
        let mut engine = Engine::new(&gpu, build, mapped(Mapping::Team)).unwrap();
        for round in 0..2 {
            assert_same(&engine.run(&experiment, end).unwrap(), &expected, &format!("round {round}"));
        }
    }
}

#[test]
fn windows_to_the_event_horizon_among_equal_and_far_times() {
    let ways = [4, 32].map(|size| mapped(Mapping::Team).group_size(size).sync(Synchronise::Horizon));
    // One tick per unit of time: most events are simultaneous. And lookaheads of a tick with delays
    // of 2^40 and more, which no word holds exactly.
    let ticks = |mean: f64, lookahead: f64, lps, population| {
        Phold::new(lps, population, 1.0 / mean, lookahead, Resolution::new(1).unwrap()).unwrap()
    };
    for &(lps, population) in few(3, &[(1, 3), (7, 4), (33, 2), (2, 2), (32, 1)]) {
        for &(mean, lookahead) in few(3, &[(0.5, 1.0), (1e15, 1e6), (3.0, 40.0), (3.0, 1.0), (1e12, 1.0)]) {
            let end = Until::time(Ticks::new((30.0 * (mean + lookahead)) as u64));
            agree_on(&gpu(), &runs(7), end, &ways, move |_| {
                Reference(ticks(mean, lookahead, lps, population))
            });
        }
    }
}

/// Event-horizon windows store 16 rows that an event wrote, and follow at most a window's budget of
/// events of an LP at one time. YAWNS windows execute the rest.
#[test]
fn events_that_no_window_to_the_horizon_can_follow() {
    for (rows, again) in [(12, 0), (16, 3), (17, 0), (40, 1), (5, 200)] {
        agree(&runs(6), Until::time(Ticks::new(60_000)), move |_| Scribe { rows, again });
    }
}

#[test]
fn models_without_a_lookahead_are_for_threads_unless_capacities_are_fixed() {
    // With fewer runs, trials include teams.
    let found = |options| {
        let build = |_: &Point<'_>| Ok::<_, std::convert::Infallible>(phold(5, 3, 0.1, 0.0));
        Engine::new(&gpu().taken_for_hardware(), build, options)
            .unwrap()
            .run(&runs(1030), until(20.0))
            .unwrap()
            .mapping
    };
    assert_eq!(found(mapped(Mapping::Auto)), Mapping::Thread);
    assert_eq!(found(mapped(Mapping::Auto).fixed(true)), Mapping::Team);
}

#[test]
fn batches_and_slices_do_not_show() {
    // 16 KiB bind a few runs at once.
    let small = gpu().binding_at_most(1 << 14);
    let ways = [Mapping::Team, Mapping::Thread].map(mapped);
    agree_on(&small, &runs(40), until(70.0), &ways, |_| Reference(phold(20, 3, 0.1, 10.0)));
    agree_on(&small, &runs(40), until(20.0), &ways, |_| {
        Reference(CallCentre::new(5, 3, 4.0, 1.0, 0.5, 32, units()).unwrap())
    });
    // Long runs of few LPs: some thousand windows, and more events.
    agree_on(&gpu(), &runs(4), until(30_000.0), &ways, |_| Reference(phold(3, 2, 0.1, 10.0)));
}

#[test]
fn runs_that_begin_with_room_for_one_event_are_those_with_room_for_all() {
    let ways = [Mapping::Team, Mapping::Thread].map(mapped);
    let gpu = gpu();
    agree_on(&gpu, &runs(9), until(60.0), &ways, |_| Reference(phold(50, 9, 0.1, 10.0).with_capacity(TINY)));
    agree_on(&gpu, &runs(9), until(30.0), &ways, |_| Reference(phold(20, 9, 0.1, 0.0).with_capacity(TINY)));
    agree_on(&gpu, &runs(9), Until::EMPTY, &ways, |_| Busy { capacity: TINY, ..Busy::new(33) });
    if is_long() {
        agree_on(&gpu, &runs(9), Until::EMPTY, &ways, |_| Wide { capacity: TINY, ..Wide::new(20) });
        let build = |_: &Point<'_>| Reference(epidemic(60, 20, 0.6).with_capacity(TINY));
        agree_on(&gpu, &runs(9), until(8.0), &ways, build);
    }
    // The results of trials are cached: a larger experiment starts with them.
    let build = |_: &Point<'_>| Ok::<_, SimulationError>(phold(50, 9, 0.1, 10.0).with_capacity(TINY));
    let expected = CpuEngine::new(build, EngineOptions::default()).run(&runs(20), until(60.0)).unwrap();
    for options in ways {
        let mut engine = Engine::new(&gpu, build, options).unwrap();
        engine.run(&runs(3), until(60.0)).unwrap();
        assert_same(&engine.run(&runs(20), until(60.0)).unwrap(), &expected, "again");
    }
}

#[test]
fn where_capacities_are_fixed_too_little_room_is_a_fault_of_each_run() {
    let gpu = gpu();
    // Some of the runs have enough capacity.
    let tight = |_: &Point<'_>| {
        Ok::<_, SimulationError>(phold(40, 4, 0.1, 10.0).with_capacity(Capacity { queue: 11, mailbox: 8 }))
    };
    let options = |mapping| mapped(mapping).fixed(true).queue(QueueDesign::Heap);
    let team = Engine::new(&gpu, tight, options(Mapping::Team)).unwrap().run(&runs(60), until(60.0)).unwrap();
    let grid = Engine::new(&gpu, tight, options(Mapping::Grid)).unwrap().run(&runs(60), until(60.0)).unwrap();
    assert_same(&team, &grid, "team and grid");
    assert!((5..55).contains(&failed(&team)), "{}", failed(&team));
    for run in &team.runs[0] {
        assert!(
            run.as_ref().err().is_none_or(|fault| fault.needed > 8
                && [FaultKind::QueueFull, FaultKind::MailboxFull].contains(&fault.kind))
        );
    }
    for kind in [FaultKind::QueueFull, FaultKind::MailboxFull] {
        assert!(
            team.runs[0].iter().any(|run| run.as_ref().is_err_and(|fault| fault.kind == kind)),
            "{kind:?}"
        );
    }
    // And those runs equal the runs with full capacity.
    let roomy = |_: &Point<'_>| Ok::<_, SimulationError>(phold(40, 4, 0.1, 10.0));
    let expected = CpuEngine::new(roomy, EngineOptions::default()).run(&runs(60), until(60.0)).unwrap();
    for (found, expected) in team.runs[0].iter().zip(&expected.runs[0]) {
        if let Ok(found) = found {
            assert_eq!(found.fingerprint, expected.as_ref().unwrap().fingerprint);
        }
    }
    // Threads have one queue for all events of a run, and no mailbox.
    let tiny = |_: &Point<'_>| Ok::<_, SimulationError>(phold(40, 9, 0.1, 10.0).with_capacity(TINY));
    let results =
        Engine::new(&gpu, tiny, options(Mapping::Thread)).unwrap().run(&runs(20), until(60.0)).unwrap();
    assert!(
        results.runs[0].iter().all(|run| run.as_ref().is_err_and(|fault| fault.kind == FaultKind::QueueFull))
    );
    assert_eq!(results.observations[0].failures().len(), 20);
}

#[test]
fn random_experiments_agree() {
    let strategy = (
        (1u32..80, 1u32..6, 1u32..40),
        (0.02f64..2.0, 0.02f64..2.0),
        prop_oneof![Just(0.0), 0.001f64..20.0],
        prop_oneof![Just(0.0), 0.001f64..20.0],
        (any::<u64>(), any::<bool>(), any::<bool>()),
        0u32..8,
    );
    let mut runner = super::common::random_cases(4);
    runner
        .run(
            &strategy,
            |((lps, population, replications), (slow, fast), first, second, (seed, common, tiny), group)| {
                let design = Design::default().cross("rate", [slow, fast]).unwrap();
                let design = design.cross("lookahead", [first, second]).unwrap();
                let experiment = Experiment { common, ..Experiment::new(design, replications, seed) };
                let ways =
                    [Mapping::Team, Mapping::Thread].map(|mapping| mapped(mapping).group_size(1 << group));
                let build = move |point: &Point<'_>| {
                    let model = phold(lps, population, point.real("rate", 1.0), point.real("lookahead", 1.0));
                    Reference(if tiny { model.with_capacity(TINY) } else { model })
                };
                agree_on(&gpu(), &experiment, until(3.0 / slow.max(0.3)), &ways, build);
                Ok(())
            },
        )
        .unwrap();
}
