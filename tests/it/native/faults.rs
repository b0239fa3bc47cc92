//! Faults, and calls that need more room, of models that run on the CPU from their WGSL.

use eventhorizon::hybrid::{self, HybridError, Lp};
use eventhorizon::pdes::{
    CpuSimulation, Fault, FaultKind, Options, Simulation, SimulationError, Sync, Until,
};
use eventhorizon::time::Ticks;

use super::{Text, common};

fn fault(model: &Text, machine: bool) -> Fault {
    let options = Options::default().seed(1);
    let simulation =
        if machine { CpuSimulation::new(model, options) } else { CpuSimulation::interpreted(model, options) };
    match simulation.and_then(|mut simulation| simulation.run(Until::EMPTY)).unwrap_err() {
        SimulationError::Fault(fault) => fault,
        other => panic!("expected a fault, got {other}"),
    }
}

#[test]
fn faults_are_those_of_a_device() {
    let rows = |handler: &str| Text { memory_rows: 2, ..Text::new(handler) };
    for (model, kind) in [
        (
            Text::new("if lp == 1u { schedule(99u, vec2<u32>(100u, 0u), event.payload); }"),
            FaultKind::Destination,
        ),
        (Text::new("if lp == 1u { schedule(0u, vec2<u32>(5u, 0u), event.payload); }"), FaultKind::Lookahead),
        (Text::new("if lp > 0u { schedule(lp, vec2<u32>(0u, 0u), event.payload); }"), FaultKind::Past),
        (Text::new("schedule(lp, TIME_NEVER, event.payload);"), FaultKind::TimeOverflow),
        (Text::new("schedule(lp, now(), event.payload);"), FaultKind::Stuck),
        (rows("if lp == 2u { _ = memory_get(2u); }"), FaultKind::MemoryFull),
        (rows("memory_set(0u, vec4<u32>(1u)); memory_set(7u, vec4<u32>(1u));"), FaultKind::MemoryFull),
    ] {
        let found = fault(&model, true);
        assert_eq!((found, found.kind), (fault(&model, kind == FaultKind::Stuck), kind));
        let options = Options::default().seed(1).fixed(true).sync(Sync::Yawns);
        let on_device = Simulation::new(&common::gpu(), &model, options).unwrap().run(Until::EMPTY);
        assert!(matches!(on_device, Err(SimulationError::Fault(fault)) if fault == found), "{on_device:?}");
    }
}

#[test]
fn the_host_engine_reports_faults_and_what_it_refuses() {
    let model = || Text { memory_rows: 2, ..Text::new("if lp == 2u { _ = memory_get(2u); }") };
    let expected = fault(&model(), true);
    let mut simulation = Lp::simulation(model(), None, hybrid::Options::default().seed(1)).unwrap();
    let HybridError::Fault(found) = simulation.run(Ticks::NEVER).unwrap_err() else { panic!("a fault") };
    assert_eq!((found.entity, found.kind.to_string()), (expected.lp, expected.kind.to_string()));
    let refused = Lp::simulation(Text::new("(*state).none = 1u;"), None, hybrid::Options::default());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("my/text.wgsl:4"), "{message}");
}

#[test]
fn a_loop_that_does_not_end_is_a_fault() {
    let model = Text::new(
        "var i = lp; loop { i = i * 5u + 1u; (*state).count += i; if i == 3u && lp == 77u { break; } }",
    );
    assert_eq!(fault(&model, true), Fault { kind: FaultKind::LoopsCut, lp: 0, window: 1, needed: 0 });
}

/// An event schedules more events, and replaces more rows, than a call has room for at first. What
/// the first attempt wrote must not be seen by the second.
#[test]
fn calls_that_need_more_room_are_repeated_from_their_beginning() {
    let handler = "
        if event.payload.y == 1u { (*state).count += event.payload.x; return; }
        (*state).count = (*state).count * 3u + draw_below(1000u);
        for (var i = 0u; i < 300u; i++) {
            let row = memory_get(i % 250u);
            memory_set(i % 250u, row * 2u + vec4<u32>(i, (*state).count, row.x, 1u));
        }
        for (var i = 0u; i < 500u; i++) {
            let drawn = draw_below(1000u);
            schedule((lp + i) % lp_count(), vec2<u32>(event.time.x + 10u + drawn, 0u), vec2<u32>(drawn + memory_get(0u).x % 7u, 1u));
        }
        if event.time.x < 40000u { schedule(lp, vec2<u32>(event.time.x + 20000u, 0u), event.payload); }";
    let model = Text { memory_rows: 250, ..Text::new(handler) };
    let options = Options::default().seed(1).sync(Sync::Yawns);
    let mut device = Simulation::new(&common::gpu(), &model, options).unwrap();
    let expected = device.run(Until::EMPTY).unwrap();
    for simulation in [CpuSimulation::new(&model, options), CpuSimulation::interpreted(&model, options)] {
        let mut simulation = simulation.unwrap();
        let found = simulation.run(Until::EMPTY).unwrap();
        assert_eq!((found.events, found.now), (expected.events, expected.now));
        assert!(simulation.states() == device.states().unwrap());
        assert!(simulation.memory() == device.memory().unwrap());
        assert_eq!(simulation.fingerprint(), device.fingerprint().unwrap());
    }
}

#[test]
fn an_initialisation_may_schedule_a_whole_population() {
    let mut model = Text::new("(*state).count += 1u;");
    model.wgsl = model.wgsl.replace(
        "schedule(lp, vec2<u32>(1u, 0u), vec2<u32>(lp, 0u));",
        "if lp == 0u { for (var i = 0u; i < 10000u; i++) { schedule(i % 3u, vec2<u32>(i, 0u), vec2<u32>(i, 0u)); } }",
    );
    let mut simulation = CpuSimulation::new(&model, Options::default().seed(1)).unwrap();
    assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 10_000);
    assert_eq!(simulation.states(), [3334, 3333, 3333]);
}

#[test]
fn what_the_contract_refuses_is_refused_with_its_line() {
    for (handler, words) in [
        ("workgroupBarrier();", "my/text.wgsl:4"),
        ("fail(0u, 1u);", "my/text.wgsl:4"),
        ("(*state).none = 1u;", "my/text.wgsl:4"),
    ] {
        let model = Text::new(handler);
        let refused = CpuSimulation::new(&model, Options::default()).unwrap_err().to_string();
        let on_device = Simulation::new(&common::gpu(), &model, Options::default()).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
        assert_eq!(refused, on_device);
    }
    let mut model = Text::new("(*state).count = 1u;");
    model.lps = 0;
    assert!(matches!(CpuSimulation::new(&model, Options::default().seed(1)), Err(SimulationError::NoLps)));
    let mut other = Text::new("(*state).count = 1u;");
    other.wgsl = other.wgsl.replace("count: u32", "count: u32, more: u32");
    let refused = CpuSimulation::new(&other, Options::default()).unwrap_err();
    assert!(matches!(refused, SimulationError::Layout { name: "State", .. }), "{refused}");
    assert_eq!(Ticks::new(10), other.lookahead);
}
