//! The contract between a replication model and the engine, and how replications fail.

use super::common::gpu;
use super::common::replications::{SCALAR, SEED, assert_same, experiment, gpus};
use eventhorizon::gpu::{GpuError, LinkError, Source};
use eventhorizon::random::Stream;
use eventhorizon::replication::{
    CpuEngine, Engine, Fail, FailureCause, Model, Options, ReferenceModel, ReplicationError,
};

/// A user's model, with replications that end in every possible way.
#[derive(Clone, Copy)]
struct Fragile;

const FRAGILE: &str = "
struct Params { lives: u32, }
struct State { left: u32, kind: u32, }
struct Output { sum: f32, debt: i32, }
fn start(state: ptr<function, State>) {
    (*state).left = params.lives;
    (*state).kind = draw_below(6u);
    if (*state).kind == 5u { stream_seek(0xfffffffeu); }
}
fn step(state: ptr<function, State>) -> bool {
    (*state).left -= 1u;
    if (*state).kind == 5u { _ = draw(); }
    if (*state).kind == 1u && (*state).left == 1u { fail(7u); fail(8u); }
    // The stream ended five steps before: later steps do not count, wherever slices end.
    if (*state).kind == 5u && (*state).left == 3u { fail(6u); }
    return (*state).left > 0u || (*state).kind == 2u;
}
fn finish(state: ptr<function, State>) -> Output {
    if (*state).kind == 3u { fail(9u); }
    return Output(0.5, -3);
}
";

impl Model for Fragile {
    type Params = u32;
    type Output = [u32; 2];

    fn source(&self) -> Source {
        Source::new("tests/fragile.wgsl", FRAGILE)
    }
}

impl ReferenceModel for Fragile {
    type State = [u32; 2];

    fn start(&self, lives: &u32, stream: &mut Stream) -> Result<[u32; 2], Fail> {
        let kind = stream.below(6);
        if kind == 5 {
            stream.seek(0xffff_fffe);
        }
        Ok([*lives, kind])
    }

    fn step(&self, _: &u32, [left, kind]: &mut [u32; 2], stream: &mut Stream) -> Result<bool, Fail> {
        *left = left.wrapping_sub(1);
        if *kind == 5 {
            stream.draw();
        }
        match (*kind, *left) {
            (1, 1) => Err(Fail(7)),
            (5, 3) => Err(Fail(6)),
            _ => Ok(*left > 0 || *kind == 2),
        }
    }

    fn finish(&self, _: &u32, &[_, kind]: &[u32; 2]) -> Result<[u32; 2], Fail> {
        match kind {
            3 => Err(Fail(9)),
            _ => Ok([0.5_f32.to_bits(), (-3_i32).cast_unsigned()]),
        }
    }
}

#[test]
fn failures_are_reported_with_their_index_and_never_averaged_in() {
    let cpu = CpuEngine::in_rust(Fragile, Options::default().max_steps(200)).unwrap();
    let expected = cpu.run(&10, &experiment(100)).unwrap();
    let failures: Vec<_> = expected.observations[0].failures().collect();
    for cause in
        [FailureCause::Code(7), FailureCause::Code(9), FailureCause::Endless, FailureCause::Exhausted]
    {
        assert!(failures.iter().any(|failure| failure.cause == cause), "{cause:?}");
    }
    assert!(failures.iter().all(|failure| failure.cause != FailureCause::Code(6)));
    for (gpu, adapter) in gpus() {
        for mapping in SCALAR {
            let mut engine =
                Engine::new(&gpu, Fragile, Options::default().mapping(mapping).max_steps(200)).unwrap();
            let seen = engine.run(&10, &experiment(100)).unwrap();
            assert_same(&seen, &expected, &format!("{mapping}, {adapter}"));
            let summary = seen.observations[0].summary("debt", 0.95).unwrap();
            assert_eq!(summary.failed, failures.len() as u64);
            assert_eq!(summary.mean, Some(-3.0));
            assert_eq!(seen.observations[0].summary("sum", 0.95).unwrap().mean, Some(0.5));
        }
    }
}

#[test]
fn what_breaks_the_contract_is_named() {
    struct Broken(String);
    impl Model for Broken {
        type Params = u32;
        type Output = [u32; 2];
        fn source(&self) -> Source {
            Source::new("mine/model.wgsl", self.0.clone())
        }
    }
    let engine = |from: &str, to: &str| {
        assert!(FRAGILE.contains(from), "{from}");
        Engine::new(&gpu(), Broken(FRAGILE.replace(from, to)), Options::default()).map(|_| ())
    };
    engine("lives", "lives").unwrap();
    let padded =
        engine("left: u32, kind: u32,", "left: u32, kind: u32, pair: vec2<u32>, last: u32,").unwrap_err();
    assert!(
        matches!(&padded, ReplicationError::Padding { name: "State", place, .. } if place == "4 bytes after `last`"),
        "{padded}"
    );
    let padded = engine("struct Params { lives: u32, }", "struct Params { lives: u32, rate: vec2<u32>, }")
        .unwrap_err();
    assert!(
        matches!(&padded, ReplicationError::Padding { name: "Params", place, .. } if place == "4 bytes before `rate`"),
        "{padded}"
    );
    let sized =
        engine("struct Params { lives: u32, }", "struct Params { lives: u32, deaths: u32, }").unwrap_err();
    assert!(matches!(&sized, ReplicationError::Size { name: "Params", wgsl: 8, rust: 4, .. }), "{sized}");
    for (from, to, what) in [
        ("fn finish", "fn finished", "fn finish("),
        ("fn start", "fn begin", "fn start("),
        ("fn step", "fn go", "fn step("),
        ("struct Params", "struct Factors", "struct Params"),
    ] {
        let missing = engine(from, to).unwrap_err();
        let text = missing.to_string();
        assert!(text.contains("mine/model.wgsl") && text.contains(what), "{text}");
        assert!(matches!(missing, ReplicationError::Contract { .. }), "{missing}");
    }
    let wrong = engine("_ = draw();", "_ = drawn();").unwrap_err();
    let ReplicationError::Gpu(GpuError::Link(LinkError::Wgsl { file, line, .. })) = &wrong else {
        panic!("{wrong}")
    };
    assert_eq!((file.as_str(), *line), ("mine/model.wgsl", 12), "{wrong}");
    let column = Engine::new(
        &gpu(),
        Broken(FRAGILE.replace("sum: f32, debt: i32,", "pair: vec2<f32>,").replace("0.5, -3", "vec2<f32>()")),
        Options::default(),
    );
    let error = column.unwrap().run(&3, &experiment(2)).unwrap_err();
    assert!(error.to_string().contains("pair"), "{error}");
}

/// Data of a replication outside its state would depend on where slices end, or on its neighbours.
#[test]
fn state_beside_the_state_is_refused() {
    #[derive(Clone)]
    struct Sly {
        text: String,
        team: Option<&'static str>,
    }
    impl Model for Sly {
        type Params = u32;
        type Output = [u32; 2];
        fn source(&self) -> Source {
            Source::new("mine/model.wgsl", self.text.clone())
        }
        fn team_source(&self) -> Option<Source> {
            Some(Source::new("mine/team.wgsl", self.team?))
        }
    }
    let refused = |model: Sly, file: &str, line: u32, words: &str| {
        let error = Engine::new(&gpu(), model, Options::default()).map(|_| ()).expect_err(words);
        let ReplicationError::Gpu(GpuError::Link(LinkError::Forbidden { file: at, line: on, what, .. })) =
            &error
        else {
            panic!("{error}")
        };
        assert_eq!((at.as_str(), *on), (file, line), "{error}");
        assert!(what.contains(words), "{error}");
    };
    let step = "    (*state).left -= 1u;";
    for (declared, done, line, words) in [
        ("var<private> mine: u32;", "mine += 1u;", 1, "`mine` is a module-scope variable"),
        ("var<workgroup> ours: u32;", "ours += 1u;", 1, "`ours` is a module-scope variable"),
        ("", "params.lives = 3u;", 11, "`params` may only be read"),
        ("", "job_outcomes[0].x = 2u;", 11, "`job_outcomes` is a variable of the engine"),
        ("", "stream_complement();", 11, "`stream_complement` is a function of the engine"),
        ("", "workgroupBarrier();", 11, "a barrier is not allowed"),
    ] {
        assert!(FRAGILE.contains(step) && FRAGILE.starts_with('\n'));
        let text = format!("{declared}{}", FRAGILE.replace(step, &format!("{done}{step}")));
        refused(Sly { text, team: None }, "mine/model.wgsl", line, words);
    }
    let text = FRAGILE.to_owned();
    const PARTS: &str = "const TEAM_NEUTRAL = vec4<u32>();
fn team_combine(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> { return a + b; }
";
    for (team, line, words) in [
        (
            concat!(
                "var<workgroup> ours: u32; fn team_step(state: ptr<function, State>) -> bool {",
                "ours = team_lane; return false; }"
            ),
            1,
            "`ours` is a module-scope variable",
        ),
        (
            "fn team_step(state: ptr<function, State>) -> bool { team_lane = 0u; return false; }",
            1,
            "`team_lane` may only be read",
        ),
        (
            "fn team_step(state: ptr<function, State>) -> bool { return GROUP_SIZE > 3u; }",
            1,
            "`GROUP_SIZE` is an `override` of the engine",
        ),
    ] {
        let team: &'static str = format!("{team}\n{PARTS}").leak();
        refused(Sly { text: text.clone(), team: Some(team) }, "mine/team.wgsl", line, words);
    }
    let team = "fn team_step(state: ptr<function, State>) -> bool {
        return team_agree(team_lane + team_size() + team_sum(vec2<u32>(params.lives, 0u)).x) == 1u; }";
    let team: &'static str = format!("{team}\n{PARTS}").leak();
    Engine::new(&gpu(), Sly { text, team: Some(team) }, Options::default()).unwrap();
}

/// A driver may end loops early (llvmpipe does after 65,535 iterations): slices become shorter, and
/// a step that is too long is an error, not a wrong result.
#[test]
fn loops_that_a_driver_cuts_are_run_again_or_an_error() {
    #[derive(Clone, Copy)]
    struct Counter;
    const COUNTER: &str = "
    struct Params { steps: u32, loops: u32, }
    struct State { next: u32, sum: u32, }
    struct Output { sum: u32, }
    fn start(state: ptr<function, State>) { *state = State(); }
    fn step(state: ptr<function, State>) -> bool {
        for (var i = 0u; i < params.loops; i++) { (*state).sum += draw() & 1u; }
        (*state).next += 1u;
        return (*state).next < params.steps;
    }
    fn finish(state: ptr<function, State>) -> Output { return Output((*state).sum); }";
    impl Model for Counter {
        type Params = [u32; 2];
        type Output = u32;
        fn source(&self) -> Source {
            Source::new("counter.wgsl", COUNTER)
        }
    }
    let expected = |steps: u32, loops: u32| {
        let mut stream = Stream::new(SEED, 0, 0);
        (0..steps * loops).map(|_| stream.draw() & 1).sum::<u32>()
    };
    for mapping in SCALAR {
        let mut engine =
            Engine::new(&gpu(), Counter, Options::default().mapping(mapping).group_size(64)).unwrap();
        let results = engine.run(&[60, 5000], &experiment(20)).unwrap();
        assert_eq!(results.outputs[0], expected(60, 5000), "{mapping}");
        let sums = &results.outputs;
        assert!(sums.iter().all(|sum| (148_000..152_000).contains(sum)), "{mapping}: {sums:?}");
        match engine.run(&[2, 70_000], &experiment(1)) {
            Ok(results) => assert_eq!(results.outputs[0], expected(2, 70_000), "{mapping}"),
            Err(error) => assert!(matches!(error, ReplicationError::Cut), "{mapping}: {error}"),
        }
    }
}
