//! Models of `replication` on the CPU from their WGSL.

use eventhorizon::gpu::Source;
use eventhorizon::models::{Mm1, Mmck, Pi, PiParams, Walk, WalkParams, Workshop, WorkshopParams};
use eventhorizon::replication::{
    CpuEngine, Design, Engine, Experiment, Model, Options, ReferenceModel, ReplicationError, Results,
};
use eventhorizon::statistics::FailureCause;

use super::common;
use common::references::Reference;
use common::replications::{SEED, assert_same};

/// Compares a model with its reference implementation: as machine code, and interpreted in a few
/// replications.
fn agrees<M: ReferenceModel + Copy + Sync>(model: M, params: M::Params, factor: &str, levels: [u32; 2]) {
    let reference = CpuEngine::in_rust(model, Options::default()).unwrap();
    let native = CpuEngine::new(model, Options::default()).unwrap();
    let interpreted = CpuEngine::interpreted(model, Options::default()).unwrap();
    let design = Design::default().cross(factor, levels).unwrap();
    let few = Experiment::new(Design::default(), 6, SEED);
    let many = Experiment::new(design, 300, SEED);
    for (experiment, way) in [
        (few.clone(), "few"),
        (many.clone(), "many"),
        (many.clone().with_common_random_numbers(), "common random numbers"),
        (many.with_antithetic_pairs(), "antithetic"),
    ] {
        let expected = reference.run(&params, &experiment).unwrap();
        assert_same(&native.run(&params, &experiment).unwrap(), &expected, way);
        let part = |run: Result<Results<M::Output>, ReplicationError>| run.unwrap();
        assert_same(
            &part(native.experiment(&params, &experiment).range(2..6).run()),
            &part(reference.experiment(&params, &experiment).range(2..6).run()),
            way,
        );
    }
    let expected = reference.run(&params, &few).unwrap();
    assert_same(&interpreted.run(&params, &few).unwrap(), &expected, "interpreted");
    // A bound on steps ends the same replications.
    let options = Options::default().max_steps(3);
    let bounded = CpuEngine::in_rust(model, options).unwrap().run(&params, &few).unwrap();
    let native = CpuEngine::new(model, options).unwrap();
    assert_same(&native.run(&params, &few).unwrap(), &bounded, "at most 3 steps");
}

#[test]
fn models_have_the_bits_of_their_reference_implementations() {
    agrees(Reference(Pi), PiParams { points: 3001 }, "points", [1, 999]);
    agrees(Reference(Walk), WalkParams { steps: 97 }, "steps", [1, 500]);
    agrees(Reference(Workshop), WorkshopParams { jobs: 50, operation: 1 << 20 }, "jobs", [3, 400]);
    agrees(Reference(Mm1::default()), Mm1::default().params(0.8, 1.0, 3333).unwrap(), "clients", [1, 100]);
    let mmck = Mmck::default();
    agrees(Reference(mmck), mmck.params(3.0, 1.0, 3, 7, 900).unwrap(), "arrivals", [1, 50]);
}

/// A model of its WGSL alone.
#[derive(Clone, Copy)]
struct Text(&'static str);

impl Model for Text {
    type Params = u32;
    type Output = u32;

    fn source(&self) -> Source {
        Source::new("my/replication.wgsl", self.0)
    }
}

const HEAD: &str = "struct Params { a: u32 }\nstruct State { n: u32 }\nstruct Output { n: u32 }\n\
    fn start(state: ptr<function, State>) { (*state).n = params.a; }\n";

fn text(rest: &str) -> Text {
    Text(format!("{HEAD}{rest}").leak())
}

#[test]
fn failures_are_those_of_a_device() {
    let model = text(
        "fn step(state: ptr<function, State>) -> bool {
            let drawn = draw_below(10u);
            if drawn == 0u { fail(7u); }
            if drawn == 1u { stream_purpose(40000u, 1u); }
            (*state).n += drawn;
            return (*state).n < 60u;
        }
        fn finish(state: ptr<function, State>) -> Output {
            if ((*state).n & 1u) == 1u { fail((*state).n); }
            return Output((*state).n);
        }",
    );
    let experiment = Experiment::new(Design::default(), 200, 1);
    let native = CpuEngine::new(model, Options::default()).unwrap();
    let found = native.run(&5, &experiment).unwrap();
    let mut device = Engine::new(&common::gpu(), model, Options::default()).unwrap();
    assert_same(&device.run(&5, &experiment).unwrap(), &found, "on a device");
    let causes: Vec<_> = found.observations[0].failures().map(|failure| failure.cause.clone()).collect();
    assert!(causes.contains(&FailureCause::Code(7)) && causes.contains(&FailureCause::Exhausted));
}

#[test]
fn a_loop_that_does_not_end_is_an_error() {
    let model = text(
        "fn step(state: ptr<function, State>) -> bool {
            loop { (*state).n = (*state).n * 5u + 1u; if (*state).n == 0xffffffffu && params.a == 9u { break; } }
            return false;
        }
        fn finish(state: ptr<function, State>) -> Output { return Output((*state).n); }",
    );
    let native = CpuEngine::new(model, Options::default()).unwrap();
    let error = native.run(&1, &Experiment::new(Design::default(), 2, 1)).unwrap_err();
    assert!(matches!(error, ReplicationError::LoopsCut { point: 0, .. }), "{error}");
    assert_eq!(error.kind(), eventhorizon::ErrorKind::Fault);
}
