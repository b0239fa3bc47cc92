//! Results that are unavailable, and broken contracts of results: typed errors.

use super::common::counted::{Counted, CountedOutput};
use super::common::gpu;
use super::common::models::Ring;
use super::outputs::{END, seeded};
use eventhorizon::gpu::{GpuError, LinkError, Source};
use eventhorizon::pdes::{
    Capacity, Context, CpuModel, CpuSimulation, Event, FaultKind, Model, Options, Simulation,
    SimulationError, Until,
};
use eventhorizon::time::Ticks;

#[test]
fn a_row_that_an_lp_does_not_have_is_no_result_and_no_fault() {
    let gpu = gpu();
    let mut model = Counted::new(300);
    model.params.culprit = 123;
    let mut simulation = Simulation::new(&gpu, &model, seeded(1)).unwrap();
    simulation.run(Until::time(END)).unwrap();
    let mut cpu = CpuSimulation::in_rust(&model, Options::default().seed(1)).unwrap();
    cpu.run(Until::time(END)).unwrap();
    let failures = [
        simulation.outputs(END).map(drop),
        simulation.totals(END, None).map(drop),
        cpu.outputs(END).map(drop),
        cpu.totals(END, None).map(drop),
    ];
    for failure in failures {
        let error = failure.unwrap_err();
        assert!(matches!(error, SimulationError::Output { kind: FaultKind::MemoryFull, lp: 123 }), "{error}");
        assert!(
            error.to_string().contains("LP 123") && error.to_string().contains("can continue"),
            "{error}"
        );
    }
    // The run continues.
    let end = Until::time(Ticks::new(200));
    assert_eq!(simulation.run(end).unwrap(), cpu.run(end).unwrap());
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
}

#[test]
fn loops_that_a_driver_cuts_are_no_result() {
    let model = Counted::new(70).with(
        "told.lp = lp;",
        "for (var i = 0u; i < lp * 10000u; i += 1u) { told.lp = told.lp * 31u + (i ^ data[0]); }",
    );
    let hash =
        |lp: u32| (0..lp * 10_000).fold(0_u32, |hash, i: u32| hash.wrapping_mul(31).wrapping_add(i ^ 7));
    let simulation = Simulation::new(&gpu(), &model, Options::default()).unwrap();
    match simulation.outputs(END) {
        Err(SimulationError::Output { kind: FaultKind::LoopsCut, lp }) => assert!(lp < 16, "{lp}"),
        Err(other) => panic!("{other}"),
        Ok(found) => assert!(found.rows().iter().map(|row| row.lp).eq((0..70).map(hash))),
    }
}

#[test]
fn a_model_without_results_needs_nothing_and_gives_none() {
    let model = Ring::new(10, 3);
    let simulation = Simulation::new(&gpu(), &model, Options::default()).unwrap();
    let cpu = CpuSimulation::in_rust(&model, Options::default()).unwrap();
    let failures = [
        simulation.outputs(END).map(drop),
        simulation.totals(END, None).map(drop),
        cpu.outputs(END).map(drop),
        cpu.totals(END, None).map(drop),
    ];
    for failure in failures {
        let error = failure.unwrap_err();
        assert!(matches!(&error, SimulationError::NoOutput { model } if model == "ring"), "{error}");
        assert!(error.to_string().contains("`Model::Output` is `()`"), "{error}");
    }
}

fn refused(model: &Counted) -> SimulationError {
    let error = Simulation::new(&gpu(), model, Options::default()).map(drop).unwrap_err();
    // The sequential engine names the columns, and so reports the same for results.
    let cpu = CpuSimulation::in_rust(model, Options::default()).unwrap().outputs(END).map(drop).unwrap_err();
    assert_eq!(cpu.to_string(), error.to_string());
    error
}

#[test]
fn a_contract_of_results_that_is_not_kept_is_named() {
    let model = Counted::new(10);
    for (old, new, words) in [
        ("struct Output {", "struct Outputs {", "does not declare `struct Output`"),
        (
            "fn output(",
            "fn outputs_of(",
            "does not declare `fn output(lp: u32, state: ptr<function, State>) -> Output`",
        ),
        ("fn output(lp: u32,", "fn output(lp: i32,", "must declare `fn output("),
        (
            "-> Output {\n    var told: Output;",
            "-> u32 {\n    var told: Output; if lp < 90u { return 1u; }",
            "`fn output(",
        ),
        ("    kind: u32,\n", "    kind: bool,\n", "such as a bool: make it a u32"),
    ] {
        let text = model.with(old, new);
        // Other mismatches must not be found first.
        let text = match new.contains("Outputs {") {
            true => text.with("-> Output {", "-> Outputs {").with("told: Output;", "told: Outputs;"),
            false => text,
        };
        let text = match new.contains("-> u32 {") {
            true => text.with("    return told;\n", "    return told.lp;\n"),
            false => text,
        };
        let text = match new.contains("lp: i32") {
            true => text
                .with("fn output(lp: i32,", "fn output(name: i32,")
                .with("var told: Output;", "let lp = u32(name); var told: Output;"),
            false => text,
        };
        let text = match new.contains("bool") {
            true => text.with("told.kind = kind(lp);", "told.kind = kind(lp) > 3u;"),
            false => text,
        };
        match refused(&text) {
            SimulationError::Contract { file, problem } => {
                assert!(file == "counted.wgsl" && problem.contains(words), "{file}: {problem}");
            }
            other => panic!("{words}: {other}"),
        }
    }
    for (old, new, words) in [
        (
            "    lp: u32,\n    spare: u32,\n}",
            "    lp: u32,\n    spare: vec2<u32>,\n}",
            "bytes before `spare`",
        ),
        (
            "    lp: u32,\n    spare: u32,\n}",
            "    lp: u32,\n    spare: array<u32, 5>,\n}",
            "192 bytes, and the Rust type has 176",
        ),
    ] {
        match refused(&model.with(old, new)) {
            SimulationError::Layout { file, name: "Output", problem } => {
                assert!(file == "counted.wgsl" && problem.contains(words), "{file}: {problem}");
            }
            other => panic!("{words}: {other}"),
        }
    }
    // The same number of bytes, without a column.
    for (old, new, field) in [
        ("    ticks: vec2<u32>,\n", "    ticks: vec2<f32>,\n", "ticks"),
        ("    big: vec4<u32>,\n", "    big: vec4<i32>,\n", "big"),
        ("    big: vec4<u32>,\n", "    big: array<vec2<i32>, 2>,\n", "big[0]"),
    ] {
        let text = model.with(old, new);
        let text = match field {
            "ticks" => text.with("told.ticks = ", "told.ticks = vec2<f32>(1.0); let ticks = "),
            _ => text.with("told.big = ", "let big = "),
        };
        let error = refused(&text);
        match &error {
            SimulationError::OutputField { file, field: found } => {
                assert_eq!((&**file, &**found), ("counted.wgsl", field))
            }
            other => panic!("{field}: {other}"),
        }
        assert!(error.to_string().contains(&format!("`{field}`")) && error.to_string().contains("vec4<u32>"));
    }
}

#[test]
fn an_output_that_does_something_is_refused_at_its_line() {
    let model = Counted::new(10);
    let line = |text: &str, words: &str| 1 + text.lines().position(|line| line.contains(words)).unwrap();
    for (done, name) in [
        ("schedule(lp, time_add(now(), lookahead()), vec2<u32>());", "schedule"),
        ("if lp > 3u { told.lp = draw_below(9u); }", "draw_below"),
        ("memory_set(0u, vec4<u32>());", "memory_set"),
        ("memory_full();", "memory_full"),
        ("told.lp = alias_pick(1u, 2u, 3u);", "alias_pick"),
    ] {
        let odd = model.with("told.lp = lp;", done);
        let at = line(odd.source.text(), done);
        let helper = model
            .with("told.lp = lp;", "told.lp = helper(lp);")
            .with("fn kind(", &format!("fn helper(lp: u32) -> u32 {{\n    var told: Output;\n    {done}\n    return lp;\n}}\n\nfn kind("));
        let helper_at = line(helper.source.text(), done);
        for (model, at, through) in [(odd, at, None), (helper, helper_at, Some("`helper`"))] {
            match refused(&model) {
                SimulationError::Gpu(GpuError::Link(LinkError::Forbidden {
                    file,
                    line,
                    what,
                    remedy,
                    report,
                    ..
                })) => {
                    assert_eq!((&*file, line as usize), ("counted.wgsl", at), "{what}");
                    assert!(what.starts_with(&format!("`output` may not call `{name}`")), "{what}");
                    assert!(through.is_none_or(|helper| what.contains(helper)), "{what}");
                    assert!(remedy.contains("`memory_get`") && !remedy.contains("`memory_set`"), "{remedy}");
                    assert!(report.contains(done.split(';').next().unwrap()), "{report}");
                }
                other => panic!("{done}: {other}"),
            }
        }
    }
}

#[test]
fn a_twin_that_does_something_is_a_bug() {
    struct Drawing(Counted, u32);
    impl Model for Drawing {
        type State = <Counted as Model>::State;
        type Params = <Counted as Model>::Params;
        type Payload = [u32; 2];
        type Output = CountedOutput;
        fn name(&self) -> &str {
            self.0.name()
        }
        fn source(&self) -> Source {
            self.0.source()
        }
        fn lps(&self) -> u32 {
            self.0.lps()
        }
        fn lookahead(&self) -> Ticks {
            self.0.lookahead()
        }
        fn params(&self) -> Self::Params {
            self.0.params()
        }
        fn memory_rows(&self) -> u32 {
            self.0.memory_rows()
        }
        fn capacity(&self) -> Capacity {
            self.0.capacity()
        }
    }
    impl CpuModel for Drawing {
        fn init(&self, _: u32, _: &mut Self::State, _: &mut Context<'_>) {}
        fn handle(&self, _: u32, _: &Event, _: &mut Self::State, _: &mut Context<'_>) {}
        fn output(&self, lp: u32, state: &Self::State, context: &mut Context<'_>) -> CountedOutput {
            match self.1 {
                0 => {}
                1 => drop(context.stream().draw()),
                2 => context.schedule(0, Ticks::new(900), [0; 2]),
                _ => context.memory_set(0, [1; 4]),
            }
            self.0.output(lp, state, context)
        }
    }
    CpuSimulation::in_rust(&Drawing(Counted::new(1), 0), Options::default()).unwrap().outputs(END).unwrap();
    for deed in 1..4 {
        let model = Drawing(Counted::new(1), deed);
        let seen = std::panic::catch_unwind(|| {
            CpuSimulation::in_rust(&model, Options::default()).unwrap().outputs(END).map(drop)
        });
        let text = *seen.unwrap_err().downcast::<String>().unwrap();
        assert!(
            text.contains("must not schedule, draw, or write LP memory") && text.contains("LP 0"),
            "{text}"
        );
    }
}
