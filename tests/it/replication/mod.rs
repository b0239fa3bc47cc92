//! Replications on the device against their Rust reference implementations, and the guarantees of
//! the engine.

mod analysis;
mod contract;
mod precision;
mod purposes;

use std::ops::ControlFlow;
use std::time::Duration;

use crate::common;
use common::references::Reference;
use common::replications::{SCALAR, SEED, assert_same, experiment, gpus};
use common::{POISON, gpu};
use eventhorizon::gpu::{Gpu, Source};
use eventhorizon::models::{Mm1, Mm1Params, Mmck, Pi, PiParams, Walk, WalkParams, Workshop, WorkshopParams};
use eventhorizon::replication::{
    AnalysisError, Budget, ChoiceReason, CpuEngine, Decision, Design, Engine, Experiment, FailureCause,
    MAX_STEPS, Mapping, Model, Observations, Options, Precision, ReferenceModel, ReplicationError, Results,
    Stopping,
};
use eventhorizon::statistics::theory;

fn mm1() -> (Mm1, Mm1Params) {
    (Mm1::default(), Mm1::default().params(0.8, 1.0, 333).unwrap())
}

/// Checks each mapping on each adapter, around every workgroup boundary, checked and trusted.
fn agrees<M: ReferenceModel + Copy + Sync>(model: M, params: M::Params, mappings: &[Mapping]) {
    let cpu = CpuEngine::in_rust(model, Options::default()).unwrap();
    for (gpu, adapter) in gpus() {
        for &mapping in mappings {
            // SAFETY: the library's models index arrays by constants or below a constant, their
            // loops have bounds, and `draw_below` divides by n only if n is above 0.
            let trusted =
                unsafe { Engine::new(&gpu, model, Options::default().mapping(mapping)).unwrap().trusted() };
            let checked = Engine::new(&gpu, model, Options::default().mapping(mapping)).unwrap();
            for (mut engine, checks) in [(trusted, "trusted"), (checked, "checked")] {
                for replications in [1, 2, 31, 32, 33, 63, 64, 65, 129] {
                    let what = format!("{mapping}, {adapter}, {checks}, {replications} replications");
                    let experiment = experiment(replications);
                    let seen = engine.run(&params, &experiment).unwrap();
                    assert_same(&seen, &cpu.run(&params, &experiment).unwrap(), &what);
                }
            }
        }
    }
}

#[test]
fn pi_is_its_twin() {
    agrees(Reference(Pi), PiParams { points: 101 }, &SCALAR);
}

#[test]
fn mm1_is_its_twin() {
    let (model, params) = mm1();
    agrees(Reference(model), params, &[Mapping::Thread, Mapping::Warp, Mapping::Team, Mapping::Auto]);
}

#[test]
fn the_walk_is_its_twin() {
    agrees(Reference(Walk), WalkParams { steps: 97 }, &SCALAR);
}

#[test]
fn mmck_is_its_twin() {
    let model = Mmck::default();
    agrees(Reference(model), model.params(3.0, 1.0, 3, 7, 200).unwrap(), &SCALAR);
}

#[test]
fn the_workshop_is_its_twin() {
    agrees(Reference(Workshop), WorkshopParams { jobs: 50, operation: 1 << 20 }, &SCALAR);
}

#[test]
fn mmck_agrees_at_the_ends_of_its_parameters() {
    let model = Mmck::default();
    let cpu = CpuEngine::in_rust(Reference(model), Options::default()).unwrap();
    let mut engine = Engine::new(&gpu(), model, Options::default().mapping(Mapping::Thread)).unwrap();
    // One server and no waiting room, all servers and all places at overload, a system where no
    // customer waits, places for a single server.
    for (arrivals, servers, room) in [(2.0, 1, 1), (20.0, 8, 32), (0.5, 8, 8), (1.5, 1, 25)] {
        let params = model.params(arrivals, 1.0, servers, room, 500).unwrap();
        let what = format!("{servers} servers, room {room}");
        let seen = engine.run(&params, &experiment(40)).unwrap();
        assert_same(&seen, &cpu.run(&params, &experiment(40)).unwrap(), &what);
    }
}

#[test]
fn the_engine_tells_the_mapping_that_ran() {
    let (model, params) = mm1();
    for mapping in [Mapping::Thread, Mapping::Warp, Mapping::Team] {
        let mut engine = Engine::new(&gpu(), model, Options::default().mapping(mapping)).unwrap();
        assert_eq!(engine.chosen(), None);
        engine.run(&params, &experiment(3)).unwrap();
        let chosen = engine.chosen().unwrap();
        assert_eq!((chosen.mapping, chosen.why, chosen.speeds.len()), (mapping, ChoiceReason::Asked, 0));
        assert_eq!(chosen.to_string(), format!("mapping {mapping}, as requested"));
    }
    let software = gpu().info().device_type == wgpu::DeviceType::Cpu;
    let why = if software { ChoiceReason::Software } else { ChoiceReason::Fastest };
    let tried = |bounded: bool| {
        let options = if bounded { Options::default().max_steps(1000) } else { Options::default() };
        let mut engine = Engine::new(&gpu(), model, options).unwrap();
        engine.run(&params, &experiment(40)).unwrap();
        let chosen = engine.chosen().unwrap().clone();
        assert_eq!((chosen.mapping, chosen.why), (engine.shape(40).mapping, why), "{chosen}");
        // The choice is cached.
        engine.run(&params, &experiment(41)).unwrap();
        assert_eq!(engine.chosen(), Some(&chosen));
        chosen.speeds.iter().map(|(mapping, _)| *mapping).collect::<Vec<_>>()
    };
    // On a software adapter only teams are tried, and with a bound on the steps no teams.
    let mut expected = vec![Mapping::Thread, Mapping::Warp, Mapping::Team];
    expected.retain(|mapping| !software || *mapping != Mapping::Warp);
    assert_eq!(tried(false), expected);
    assert_eq!(tried(true), if software { vec![] } else { vec![Mapping::Thread, Mapping::Warp] });
    let mut many = Engine::new(&gpu(), Pi, Options::default()).unwrap();
    many.run(&PiParams { points: 2 }, &experiment(1 << 15)).unwrap();
    let chosen = many.chosen().unwrap();
    assert_eq!((chosen.mapping, chosen.why), (Mapping::Thread, ChoiceReason::Many));
}

#[test]
fn any_workgroup_size_gives_the_same_bits() {
    let (model, params) = mm1();
    let expected = CpuEngine::in_rust(Reference(model), Options::default())
        .unwrap()
        .run(&params, &experiment(70))
        .unwrap();
    for (gpu, adapter) in gpus() {
        for mapping in [Mapping::Thread, Mapping::Warp, Mapping::Team] {
            for size in [1, 7, 32, 256] {
                let mut engine =
                    Engine::new(&gpu, model, Options::default().mapping(mapping).group_size(size)).unwrap();
                let seen = engine.run(&params, &experiment(70)).unwrap();
                assert_same(&seen, &expected, &format!("{mapping}, {adapter}, workgroups of {size}"));
            }
        }
        let error = Engine::new(&gpu, model, Options::default().group_size(257))
            .unwrap()
            .run(&params, &experiment(1))
            .unwrap_err();
        assert!(matches!(error, ReplicationError::GroupSize { group_size: 257, .. }), "{error}");
    }
}

/// One client, an odd and an even last pair, and clients around the numbers that a team serves in a
/// round and in a step.
#[test]
fn mm1_agrees_for_any_number_of_clients() {
    let (model, params) = mm1();
    let cpu = CpuEngine::in_rust(Reference(model), Options::default()).unwrap();
    for (gpu, adapter) in gpus() {
        for mapping in [Mapping::Thread, Mapping::Team] {
            let mut engine =
                Engine::new(&gpu, model, Options::default().mapping(mapping).group_size(32)).unwrap();
            for clients in [1, 2, 3, 4, 5, 127, 128, 129, 130, 131, 2047, 2048, 2049, 5000] {
                let params = Mm1Params { clients, ..params };
                let seen = engine.run(&params, &experiment(3)).unwrap();
                let what = format!("{mapping}, {adapter}, {clients} clients");
                assert_same(&seen, &cpu.run(&params, &experiment(3)).unwrap(), &what);
            }
        }
    }
}

/// The work exceeds a word, and then the total wait exceeds 2^62 ticks: a failure, not a wrong sum.
#[test]
fn mm1_agrees_beyond_32_bits_and_fails_beyond_62() {
    let model = Mm1::default();
    let cpu = CpuEngine::in_rust(Reference(model), Options::default()).unwrap();
    let heavy = Mm1Params { mean_interarrival: 1 << 20, mean_service: 1 << 25, clients: 4000 };
    // The server is busy about half of the time: the backlog varies.
    let balanced = Mm1Params { mean_interarrival: 1 << 25, mean_service: 1 << 25, clients: 20_000 };
    let endless = Mm1Params { mean_interarrival: 0, mean_service: 1 << 25, clients: 600_000 };
    for mapping in [Mapping::Thread, Mapping::Team] {
        let mut engine = Engine::new(&gpu(), model, Options::default().mapping(mapping)).unwrap();
        for params in [heavy, balanced, endless] {
            let seen = engine.run(&params, &experiment(5)).unwrap();
            let expected = cpu.run(&params, &experiment(5)).unwrap();
            assert_same(&seen, &expected, &format!("{mapping}, {params:?}"));
            let failed: Vec<_> = seen.observations[0].failures().map(|failure| failure.cause).collect();
            match params == endless {
                true => assert_eq!(failed, vec![FailureCause::Code(1); 5]),
                false => assert_eq!(failed, []),
            }
            assert!(params == endless || params == balanced || seen.outputs[0].queue_ticks > 1 << 36);
        }
    }
}

#[test]
fn slices_of_any_length_give_the_same_bits() {
    let (model, params) = mm1();
    let expected = CpuEngine::in_rust(Reference(model), Options::default())
        .unwrap()
        .run(&params, &experiment(70))
        .unwrap();
    for (gpu, adapter) in gpus() {
        for (mapping, steps) in
            [(Mapping::Thread, &[1, 2, 30][..]), (Mapping::Warp, &[3]), (Mapping::Team, &[1])]
        {
            let mut engine =
                Engine::new(&gpu, model, Options::default().mapping(mapping).group_size(32)).unwrap();
            for &steps in steps {
                let mut batch = engine.batch(&params, &experiment(70)).unwrap();
                // No result may depend on the previous contents of a buffer.
                batch.results().write(&gpu, 0, &vec![bytemuck::cast([POISON; 6]); 70]).unwrap();
                batch.outcomes().write(&gpu, 0, &[[POISON; 2]; 70]).unwrap();
                batch.set_steps(&gpu, steps).unwrap();
                batch.reset().submit(&gpu).unwrap();
                let mut slices = 0;
                while slices == 0 || batch.running().read(&gpu).unwrap() != [0, 0] {
                    batch.slice().submit(&gpu).unwrap();
                    slices += 1;
                    assert!(slices <= 333, "it never ends");
                }
                let what = format!("{mapping}, {adapter}, {steps} steps per slice");
                assert!(slices > 1 || mapping == Mapping::Team, "{what}: it was one slice");
                assert_eq!(batch.outcomes().read(&gpu).unwrap(), vec![[2, 0]; 70], "{what}");
                assert_eq!(batch.results().read(&gpu).unwrap(), expected.outputs, "{what}");
            }
        }
    }
    // A step of a team of 32 is 2048 clients.
    let params = Mm1Params { clients: 10_001, ..params };
    let expected = CpuEngine::in_rust(Reference(model), Options::default())
        .unwrap()
        .run(&params, &experiment(2))
        .unwrap();
    let mut engine =
        Engine::new(&gpu(), model, Options::default().mapping(Mapping::Team).group_size(32)).unwrap();
    assert_same(&engine.run(&params, &experiment(2)).unwrap(), &expected, "steps of a team");
}

/// A run gets the device memory of the one before, with any contents: other points, more
/// replications, or failed ones.
#[test]
fn runs_in_the_memory_of_others_give_the_same_bits() {
    let (model, params) = mm1();
    // With at most 5 steps, which are 40 clients, 41 are too many.
    let runs = [
        (vec![333], 200, MAX_STEPS),
        (vec![100, 50], 90, MAX_STEPS),
        (vec![41, 7], 90, 5),
        (vec![7, 41], 90, 5),
        (vec![333, 20], 64, MAX_STEPS),
        (vec![20], 33, MAX_STEPS),
        (vec![20], 1200, MAX_STEPS),
        (vec![20], 1200, MAX_STEPS),
    ];
    for mapping in [Mapping::Thread, Mapping::Warp, Mapping::Team, Mapping::Auto] {
        let mut engine = Engine::new(&gpu(), model, Options::default().mapping(mapping)).unwrap();
        for (number, (clients, replications, steps)) in runs.iter().enumerate() {
            // A step of a team has a different size.
            let steps = if mapping == Mapping::Team { MAX_STEPS } else { *steps };
            let design = Design::default().cross("clients", clients.clone()).unwrap();
            let experiment = Experiment { design, ..experiment(*replications) };
            let options = Options::default().mapping(mapping).max_steps(steps);
            let cpu = CpuEngine::in_rust(Reference(model), options).unwrap();
            engine = engine.with_options(options);
            let seen = engine.run(&params, &experiment).unwrap();
            let expected = cpu.run(&params, &experiment).unwrap();
            assert_same(&seen, &expected, &format!("{mapping}, run {number}"));
        }
    }
}

/// A bound that some points reach exactly and others miss by one: for walks with `steps` steps, and
/// for clients served in eights.
#[test]
fn a_bound_on_steps_fails_the_same_replications_everywhere() {
    fn bounded<M: ReferenceModel + Copy + Sync>(model: M, params: M::Params, factor: &str, ends: [u32; 4]) {
        let design = Design::default().cross(factor, ends).unwrap();
        let experiment = Experiment::new(design, 5, SEED);
        let expected = CpuEngine::in_rust(model, Options::default().max_steps(20))
            .unwrap()
            .run(&params, &experiment)
            .unwrap();
        let failed: Vec<_> = expected.observations.iter().map(|seen| seen.failures().len()).collect();
        assert_eq!(failed, [0, 0, 5, 5], "{factor}");
        for (gpu, adapter) in gpus() {
            for mapping in [Mapping::Thread, Mapping::Warp, Mapping::Auto] {
                let mut engine =
                    Engine::new(&gpu, model, Options::default().mapping(mapping).max_steps(20)).unwrap();
                let seen = engine.run(&params, &experiment).unwrap();
                assert_same(&seen, &expected, &format!("{factor}, {mapping}, {adapter}"));
            }
        }
    }
    let (model, params) = mm1();
    bounded(Reference(model), params, "clients", [159, 160, 161, 162]);
    bounded(Reference(Pi), PiParams { points: 1 }, "points", [39, 40, 41, 42]);
    bounded(Reference(Walk), WalkParams { steps: 1 }, "steps", [19, 20, 21, 40]);
    let mmck = Mmck::default();
    bounded(Reference(mmck), mmck.params(3.0, 1.0, 3, 7, 1).unwrap(), "arrivals", [19, 20, 21, 40]);
    bounded(Reference(Workshop), WorkshopParams { jobs: 1, operation: 1 << 10 }, "jobs", [19, 20, 21, 40]);
    // A team of 32 serves 1,024 clients in a step.
    let options = Options::default().mapping(Mapping::Team).group_size(32);
    let mut team = Engine::new(&gpu(), model, options).unwrap();
    let params = Mm1Params { clients: 1025, ..params };
    let whole = team.run(&params, &experiment(3)).unwrap();
    assert_eq!(whole.observations[0].failures().len(), 0);
    let mut team = team.with_options(options.max_steps(1));
    let cut = team.run(&params, &experiment(3)).unwrap();
    assert!(cut.observations[0].failures().all(|failure| failure.cause == FailureCause::Endless));
    assert_eq!(cut.observations[0].failures().len(), 3);
    let params = Mm1Params { clients: 1024, ..params };
    assert_eq!(team.run(&params, &experiment(3)).unwrap().observations[0].failures().len(), 0);
}

#[test]
fn more_replications_never_change_the_earlier_ones() {
    let (model, params) = mm1();
    let design = Design::default().cross("clients", [100_u32, 101]).unwrap();
    let experiment = Experiment::new(design, 90, SEED);
    let mut engine = Engine::new(&gpu(), model, Options::default()).unwrap();
    let all = engine.run(&params, &experiment).unwrap();
    let early = engine.experiment(&params, &experiment).range(0..37).run().unwrap();
    let late = engine.experiment(&params, &experiment).range(37..90).run().unwrap();
    assert_eq!(all.fingerprint, early.fingerprint.wrapping_add(late.fingerprint));
    for point in 0..2 {
        let joined: Vec<_> = early.outputs[point * 37..][..37]
            .iter()
            .chain(&late.outputs[point * 53..][..53])
            .copied()
            .collect();
        assert_eq!(all.outputs[point * 90..][..90], joined);
        let mut appended = early.observations[point].clone();
        appended.append(late.observations[point].clone()).unwrap();
        assert_eq!(appended.columns(), all.observations[point].columns());
    }
}

/// From some thousand replications on, all cores of the host sort them.
#[test]
fn many_replications_are_sorted_as_few_are() {
    let (model, mut params) = mm1();
    params.clients = 2;
    let engine = CpuEngine::in_rust(Reference(model), Options::default()).unwrap();
    let all = engine.run(&params, &experiment(40_001)).unwrap();
    let mut parts: Option<(u64, Observations)> = None;
    for first in (0..40_001).step_by(5000) {
        let end = 40_001.min(first + 5000);
        let mut part = engine.experiment(&params, &experiment(40_001)).range(first..end).run().unwrap();
        let seen = part.observations.remove(0);
        match &mut parts {
            None => parts = Some((part.fingerprint, seen)),
            Some((sum, before)) => {
                *sum = sum.wrapping_add(part.fingerprint);
                before.append(seen).unwrap();
            }
        }
    }
    let (sum, seen) = parts.unwrap();
    assert_eq!(all.fingerprint, sum);
    assert_eq!(all.observations[0].columns(), seen.columns());
}

#[test]
fn points_draw_their_own_numbers_or_common_ones_and_pairs_are_antithetic() {
    let (model, params) = mm1();
    let cpu = CpuEngine::in_rust(Reference(model), Options::default()).unwrap();
    // Two equal points: only their numbers differ.
    let design = Design::default().cross("clients", [300_u32, 300]).unwrap();
    let own = Experiment::new(design, 400, SEED);
    let common = own.clone().with_common_random_numbers();
    let pairs = own.clone().with_antithetic_pairs();
    let mut engine = Engine::new(&gpu(), model, Options::default()).unwrap();
    let mut results = Vec::new();
    for experiment in [own, common, pairs] {
        let seen = engine.run(&params, &experiment).unwrap();
        assert_same(&seen, &cpu.run(&params, &experiment).unwrap(), &format!("{experiment:?}"));
        results.push(seen);
    }
    let [own, common, pairs] = results.try_into().unwrap();
    assert!(own.outputs[..400].iter().zip(&own.outputs[400..]).all(|(a, b)| a != b));
    assert_eq!(common.outputs[..400], common.outputs[400..]);
    assert_eq!(common.outputs[..400], own.outputs[..400], "the first point is its own");
    // The correlation of antithetic exponentials is 1 - pi^2 / 6 = -0.645: the service of a pair
    // has 0.36 times the variance of independent ones.
    let service = |output: &<Mm1 as Model>::Output| (output.system_ticks - output.queue_ticks) as f64;
    let spread = |results: &Results<<Mm1 as Model>::Output>| {
        let sums: Vec<f64> =
            results.outputs[..400].chunks(2).map(|pair| service(&pair[0]) + service(&pair[1])).collect();
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>()
    };
    assert!(spread(&pairs) < spread(&own) / 2.0, "{} {}", spread(&pairs), spread(&own));
    assert_eq!(pairs.outputs[0], own.outputs[0]);
    let odd = Experiment { replications: 41, ..experiment(41) }.with_antithetic_pairs();
    assert!(engine.run(&params, &odd).is_err());
    assert!(engine.experiment(&params, &experiment(40).with_antithetic_pairs()).range(1..3).run().is_err());
}

#[test]
fn parameters_are_checked_before_anything_runs() {
    let (model, params) = mm1();
    let mut engine = Engine::new(&gpu(), model, Options::default()).unwrap();
    let mut refused = |params: Mm1Params| match engine.run(&params, &experiment(3)) {
        Err(ReplicationError::Point { point: 0, reason }) => reason,
        other => panic!("{other:?}"),
    };
    assert!(refused(Mm1Params { clients: 0, ..params }).contains("clients is 0"));
    assert!(
        refused(Mm1Params { mean_service: (1 << 25) + 1, ..params }).contains("mean_service is 33554433")
    );
    let design = Design::default().cross("clients", [5_u32, 0]).unwrap();
    let error = engine.run(&params, &Experiment::new(design, 3, 1)).unwrap_err();
    assert!(matches!(error, ReplicationError::Point { point: 1, .. }), "{error}");
    let many = Design::default().cross("clients", 1..70_000_u32).unwrap();
    let error = engine.run(&params, &Experiment::new(many, 70_000, 1)).unwrap_err();
    let ReplicationError::Analysis(AnalysisError::TooMany { points: 69_999, replications: 70_000 }) = error
    else {
        panic!("{error}");
    };
    let error = Engine::new(&gpu(), Pi, Options::default().mapping(Mapping::Team))
        .unwrap()
        .run(&PiParams { points: 9 }, &experiment(1));
    assert!(matches!(error, Err(ReplicationError::NoTeam { .. })));
}

#[test]
fn more_workgroups_than_one_dimension_holds() {
    let (model, params) = mm1();
    let params = Mm1Params { clients: 3, ..params };
    let expected = CpuEngine::in_rust(Reference(model), Options::default())
        .unwrap()
        .run(&params, &experiment(70_001))
        .unwrap();
    for (gpu, adapter) in gpus() {
        for (mapping, size) in [(Mapping::Thread, 1), (Mapping::Warp, 8), (Mapping::Team, 8)] {
            let mut engine =
                Engine::new(&gpu, model, Options::default().mapping(mapping).group_size(size)).unwrap();
            let seen = engine.run(&params, &experiment(70_001)).unwrap();
            assert_same(&seen, &expected, &format!("{mapping}, {adapter}"));
        }
    }
}

/// The adapter with a device whose buffers hold at most `bytes` bytes.
fn small_gpu(bytes: u64) -> Gpu {
    let own = gpu();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters
        .into_iter()
        .find(|adapter| adapter.get_info() == *own.info())
        .expect("the same adapter again");
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: bytes,
        ..wgpu::Limits::default().or_worse_values_from(&adapter.limits())
    };
    let descriptor = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    Gpu::from_device(device, queue)
}

/// A replication larger than a buffer is an error, not an empty run without an end.
#[test]
fn a_replication_larger_than_a_buffer_is_refused() {
    struct Wide;
    impl Model for Wide {
        type Params = u32;
        type Output = [u64; 256];
        fn source(&self) -> Source {
            let text = "struct Params { one: u32, } struct State { next: u32, }
                struct Output { counts: array<vec2<u32>, 256>, }
                fn start(state: ptr<function, State>) {}
                fn step(state: ptr<function, State>) -> bool { return false; }
                fn finish(state: ptr<function, State>) -> Output { return Output(); }";
            Source::new("wide.wgsl", text)
        }
    }
    let mut engine =
        Engine::new(&small_gpu(1 << 10), Wide, Options::default().mapping(Mapping::Thread)).unwrap();
    let error = engine.run(&1, &experiment(2)).unwrap_err();
    assert!(matches!(error, ReplicationError::TooLarge { bytes: 2048, limit: 1024 }), "{error}");
}

/// More replications than one binding holds run in batches.
#[test]
fn what_does_not_fit_the_device_runs_in_parts() {
    let small = small_gpu(1 << 14);
    let (model, params) = mm1();
    let params = Mm1Params { clients: 9, ..params };
    let design = Design::default().cross("clients", [9_u32, 12, 3]).unwrap();
    let experiment = Experiment::new(design, 499, SEED);
    let expected =
        CpuEngine::in_rust(Reference(model), Options::default()).unwrap().run(&params, &experiment).unwrap();
    for mapping in [Mapping::Thread, Mapping::Team] {
        let mut engine = Engine::new(&small, model, Options::default().mapping(mapping)).unwrap();
        assert!(engine.batch(&params, &experiment).unwrap().len() < 499);
        assert_same(&engine.run(&params, &experiment).unwrap(), &expected, "in parts");
    }
}

#[test]
fn what_could_never_end_or_gives_nothing_is_refused() {
    let (model, params) = mm1();
    let mut engine = Engine::new(&gpu(), model, Options::default()).unwrap();
    let cpu = CpuEngine::in_rust(Reference(model), Options::default()).unwrap();
    let setting = |error: ReplicationError, what: &str, value: &str| {
        let ReplicationError::Analysis(AnalysisError::Setting { .. }) = &error else { panic!("{error:?}") };
        let text = error.to_string();
        assert!(text.starts_with(&format!("{what} is {value}; ")), "{text}");
    };
    let stopping =
        |relative, time| Stopping::new(Precision::relative(relative), Budget { time, ..Budget::default() });
    let columns = "the list of columns that decide when a run ends";
    for (stopping, names, what, value) in [
        (stopping(0.1, None), &[][..], columns, "empty"),
        (stopping(0.1, Some(Duration::ZERO)), &["idle_time"], "the budget of time", "0 s"),
        (stopping(f64::NAN, None), &["idle_time"], "the precision", "NaN relative, 0 absolute"),
        (stopping(-0.1, None), &["idle_time"], "the precision", "-0.1 relative, 0 absolute"),
    ] {
        setting(
            engine.experiment(&params, &experiment(1)).precision(&stopping, names).run().unwrap_err(),
            what,
            value,
        );
        setting(
            cpu.experiment(&params, &experiment(1)).precision(&stopping, names).run().unwrap_err(),
            what,
            value,
        );
    }
    let replications = "the number of replications per point";
    setting(engine.run(&params, &experiment(0)).unwrap_err(), replications, "0");
    setting(engine.batch(&params, &experiment(0)).unwrap_err(), replications, "0");
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake that is looked for")]
    for range in [4..4, 4..2] {
        setting(
            engine.experiment(&params, &experiment(9)).range(range.clone()).run().unwrap_err(),
            replications,
            "0",
        );
        setting(cpu.experiment(&params, &experiment(9)).range(range).run().unwrap_err(), replications, "0");
    }
    let steps = "the number of steps of a slice";
    let mut batch = engine.batch(&params, &experiment(1)).unwrap();
    setting(batch.set_steps(&gpu(), 0).unwrap_err(), steps, "0");
    let most = "the most steps of a replication";
    let options = Options::default().max_steps(0);
    let cpu = CpuEngine::in_rust(Reference(model), options).unwrap();
    setting(cpu.run(&params, &experiment(1)).unwrap_err(), most, "0");
    let mut endless = engine.with_options(options);
    setting(endless.run(&params, &experiment(1)).unwrap_err(), most, "0");
    setting(endless.batch(&params, &experiment(1)).unwrap_err(), most, "0");
}

/// The chunk in which a walk ends is uniform: chi-square over 30 chunks, at a level of 1 in 10,000.
#[test]
fn walks_end_in_every_chunk_alike() {
    use statrs::distribution::{ChiSquared, ContinuousCDF};
    let mut engine = Engine::new(&gpu(), Walk, Options::default()).unwrap();
    let results = engine.run(&WalkParams { steps: 100 }, &experiment(6000)).unwrap();
    let mut walkers = [0_u32; 30];
    for output in &results.outputs {
        walkers[output.chunk as usize] += 1;
    }
    let chi: f64 = walkers.iter().map(|&n| (f64::from(n) - 200.0).powi(2) / 200.0).sum();
    let p = 1.0 - ChiSquared::new(29.0).unwrap().cdf(chi);
    assert!((1e-4..1.0 - 1e-4).contains(&p), "chi-square {chi}, p {p}: {walkers:?}");
}
