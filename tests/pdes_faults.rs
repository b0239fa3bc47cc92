//! What breaks a rule ends a run with a typed error that says where, never with a wrong result.

mod common;

use common::models::{Mischief, Ring};
use common::{gpu, queues};
use eventhorizon::gpu::{Gpu, GpuError, LinkError, Source};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    Capacity, CpuModel, CpuSimulation, Fault, FaultKind, Model, Options, Replica, Simulation,
    SimulationError, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};

/// Too little room is a fault.
const FIXED: Options = Options {
    seed: 0,
    replica: Replica { point: 0, number: 0 },
    queue: None,
    group_size: None,
    tiles: None,
    fixed: true,
    sync: Sync::Yawns,
};

const ROOMY: Capacity = Capacity { queue: 64, mailbox: 64 };

fn fault<T>(result: Result<T, SimulationError>) -> Fault {
    match result {
        Err(SimulationError::Fault(fault)) => fault,
        Err(other) => panic!("expected a fault, got {other}"),
        Ok(_) => panic!("expected a fault, got a result"),
    }
}

fn fault_on_gpu<M: Model>(gpu: &Gpu, model: &M, options: Options) -> Fault {
    let mut simulation = match Simulation::new(gpu, model, options) {
        Ok(simulation) => simulation,
        Err(error) => return fault::<()>(Err(error)), // in the initialisation
    };
    let first = fault(simulation.run(Until::EMPTY));
    // Nothing goes on after a fault, and nothing of it can be taken for a result.
    assert_eq!(fault(simulation.run(Until::time(Ticks::new(5)))), first);
    assert_eq!(fault(simulation.states()), first);
    assert_eq!(fault(simulation.pending()), first);
    assert_eq!(fault(simulation.fingerprint()), first);
    first
}

fn fault_on_cpu<M: CpuModel>(model: &M) -> Fault {
    match CpuSimulation::new(model, 0) {
        Ok(mut simulation) => fault(simulation.run(Until::EMPTY)),
        Err(SimulationError::Fault(fault)) => fault,
        Err(other) => panic!("expected a fault, got {other}"),
    }
}

#[test]
fn broken_rules_are_found_at_the_same_place_by_both_engines() {
    let gpu = gpu();
    for (rule, kind) in [(0, FaultKind::Lookahead), (1, FaultKind::Destination), (2, FaultKind::TimeOverflow)]
    {
        for (culprit, at) in [(0, 0), (5, 0), (17, 3000), (299, 0)] {
            let model = Mischief { lps: 300, rule, culprit, at, capacity: ROOMY };
            let expected = fault_on_cpu(&model);
            assert_eq!((expected.kind, expected.window > 0), (kind, true));
            for workgroup in [8, 64] {
                let options = Options { group_size: Some(workgroup), ..FIXED };
                assert_eq!(
                    fault_on_gpu(&gpu, &model, options),
                    expected,
                    "rule {rule}, culprit {culprit}, at {at}"
                );
            }
        }
    }
}

#[test]
fn rules_hold_in_the_initialisation_too() {
    let gpu = gpu();
    for (rule, kind) in [(10, FaultKind::Destination), (12, FaultKind::TimeOverflow)] {
        let model = Mischief { lps: 300, rule, culprit: 0, at: 0, capacity: ROOMY };
        let expected = Fault { kind, lp: 0, window: 0, needed: 0 };
        assert_eq!(fault_on_cpu(&model), expected);
        assert_eq!(fault_on_gpu(&gpu, &model, FIXED), expected);
    }
}

#[test]
fn a_full_mailbox_names_the_lp_that_owns_it() {
    let gpu = gpu();
    // LP 3 gets one event from its neighbour and one from each of the 40 culprits.
    let mut model =
        Mischief { lps: 100, rule: 3, culprit: 60, at: 0, capacity: Capacity { queue: 200, mailbox: 41 } };
    let run = |model: &Mischief, queue| {
        let mut simulation = Simulation::new(&gpu, model, Options { queue: Some(queue), ..FIXED }).unwrap();
        simulation.run(Until::events(100)).map(|_| simulation.fingerprint().unwrap())
    };
    let unbounded = model;
    let mut cpu = CpuSimulation::new(&unbounded, 0).unwrap();
    cpu.run(Until::events(100)).unwrap();
    for queue in queues() {
        model.capacity.mailbox = 41;
        assert_eq!(run(&model, queue).unwrap(), cpu.fingerprint(), "exactly full is not too full");
        model.capacity.mailbox = 40;
        assert_eq!(
            fault(run(&model, queue)),
            Fault { kind: FaultKind::MailboxFull, lp: 3, window: 1, needed: 41 }
        );
    }
}

#[test]
fn a_full_queue_names_the_lp_that_owns_it() {
    let gpu = gpu();
    for queue in queues() {
        let model =
            Mischief { lps: 10, rule: 4, culprit: 9, at: 0, capacity: Capacity { queue: 6, mailbox: 4 } };
        let found = fault_on_gpu(&gpu, &model, Options { queue: Some(queue), ..FIXED });
        assert_eq!((found.kind, found.lp, found.needed), (FaultKind::QueueFull, 4, 7));
        assert!(found.window > 3, "{found}: the queue filled by one event for each window");
    }
}

#[test]
fn a_population_that_overflows_its_queue_at_the_start_is_a_fault() {
    let gpu = gpu();
    let model = Mischief { lps: 100, rule: 11, culprit: 0, at: 0, capacity: ROOMY };
    let found = fault_on_gpu(&gpu, &model, FIXED);
    assert_eq!(found, Fault { kind: FaultKind::QueueFull, lp: 2, window: 0, needed: 101 });

    let tight = Phold::new(1000, 16, 0.1, 10.0, Resolution::default())
        .unwrap()
        .with_capacity(Capacity { queue: 20, mailbox: 100 });
    for queue in queues() {
        let found = fault_on_gpu(&gpu, &tight, Options { queue: Some(queue), ..FIXED });
        assert_eq!((found.kind, found.window), (FaultKind::QueueFull, 0));
    }
}

#[test]
fn a_driver_that_cuts_loops_gives_an_error_and_no_wrong_result() {
    let gpu = gpu();
    // Sorting 1,500 events by insertion takes more iterations than llvmpipe makes; other drivers make them all.
    let model = Phold::new(2, 1500, 0.1, 10.0, Resolution::default()).unwrap();
    let end = Until::events(2000);
    let mut cpu = CpuSimulation::new(&model, 0).unwrap();
    cpu.run(end).unwrap();
    for queue in QueueDesign::ALL {
        let run = || {
            let options = Options { queue: Some(queue), ..FIXED };
            let mut simulation = Simulation::new(&gpu, &model, options)?;
            simulation.run(end)?;
            simulation.fingerprint()
        };
        match run() {
            Ok(found) => assert_eq!(found, cpu.fingerprint(), "{queue}"),
            Err(SimulationError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::LoopsCut, "{queue}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_fault_says_what_where_and_what_to_do() {
    let fault = Fault { kind: FaultKind::MailboxFull, lp: 7, window: 12, needed: 99 };
    let text = fault.to_string();
    for part in ["mailbox", "LP 7", "window 12", "99 events", "Capacity::mailbox"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(Fault { window: 0, ..fault }.to_string().contains("initialisation"));
}

/// A ring whose parts can be replaced by impossible ones.
struct Odd {
    ring: Ring,
    lookahead: Ticks,
    source: Source,
}

impl Odd {
    fn new() -> Self {
        let ring = Ring::new(10, 3);
        Self { lookahead: ring.lookahead(), source: ring.source(), ring }
    }

    fn refused(self) -> SimulationError {
        Simulation::new(&gpu(), &self, FIXED).unwrap_err()
    }
}

impl Model for Odd {
    type State = <Ring as Model>::State;
    type Params = <Ring as Model>::Params;
    type Payload = [u32; 2];
    type Output = ();
    fn name(&self) -> &str {
        "odd"
    }
    fn source(&self) -> Source {
        self.source.clone()
    }
    fn lps(&self) -> u32 {
        self.ring.lps()
    }
    fn lookahead(&self) -> Ticks {
        self.lookahead
    }
    fn params(&self) -> Self::Params {
        self.ring.params()
    }
    fn data(&self) -> &[u32] {
        self.ring.data()
    }
    fn capacity(&self) -> Capacity {
        self.ring.capacity()
    }
}

#[test]
fn impossible_models_are_refused_before_they_run() {
    let mut odd = Odd::new();
    odd.ring.next.clear();
    assert!(matches!(odd.refused(), SimulationError::NoLps));

    let mut odd = Odd::new();
    odd.ring.capacity.mailbox = 0;
    assert!(matches!(odd.refused(), SimulationError::NoCapacity { what: "mailbox" }));

    let mut odd = Odd::new();
    odd.ring.capacity.queue = 1 << 31;
    match odd.refused() {
        SimulationError::TooLarge { what: "queues", largest, limit, .. } => {
            assert!(largest > 0 && largest * 16 * 10 <= limit, "{largest}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn impossible_workgroups_are_refused() {
    for threads in [0, 3, 100, 1 << 20] {
        let options = Options { group_size: Some(threads), ..FIXED };
        let refused = Simulation::new(&gpu(), &Ring::new(10, 3), options);
        assert!(matches!(refused, Err(SimulationError::GroupSize { .. })), "{threads}: {refused:?}");
    }
}

#[test]
fn structs_that_differ_from_rust_are_refused_with_the_remedy() {
    let text = Odd::new().source.text().to_owned();
    for (wgsl, words) in [
        ("struct State {\n    visits: u32,\n    drawn: u32,\n    more: vec3<u32>,\n}", "padding"),
        ("struct State {\n    visits: u32,\n    drawn: u32,\n    more: u32,\n}", "12 bytes"),
    ] {
        let old = "struct State {\n    visits: u32,\n    drawn: u32,\n}";
        assert!(text.contains(old));
        let odd = Odd { source: Source::new("odd.wgsl", text.replace(old, wgsl)), ..Odd::new() };
        match odd.refused() {
            SimulationError::Layout { file, name: "State", problem } => {
                assert!(file == "odd.wgsl" && problem.contains(words), "{file}: {problem}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn variables_that_the_engine_does_not_bind_are_refused() {
    let text = Odd::new().source.text().to_owned();
    for (old, new, name) in [
        (
            "@group(1) @binding(1) var<storage, read> data",
            "@group(1) @binding(7) var<storage, read> data",
            "data",
        ),
        (
            "@group(1) @binding(0) var<uniform> params",
            "@group(1) @binding(0) var<storage, read> params",
            "params",
        ),
    ] {
        assert!(text.contains(old));
        let odd = Odd { source: Source::new("odd.wgsl", text.replace(old, new)), ..Odd::new() };
        match odd.refused() {
            SimulationError::Variable { file, variable } => {
                assert_eq!((&*file, &*variable), ("odd.wgsl", name))
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn state_that_would_escape_is_refused_at_its_line() {
    let handle =
        |body: &str| format!("fn handle(lp: u32, event: Event, state: ptr<function, State>) {{ {body} }}");
    let ring = Ring::new(10, 3).source().text().to_owned();
    for (more, body, word) in [
        ("var<private> memory: u32;", "memory += 1u;", "`memory`"),
        ("var<workgroup> memory: u32;", "memory += 1u;", "`memory`"),
        ("@group(2) @binding(0) var<storage, read_write> memory: array<u32>;", "memory[0] = 1u;", "`memory`"),
        ("", "atomicStore(&words[0], 1u);", "`words`"),
        ("", "(*state).count = run.total;", "`run`"),
        ("", "queue_pop();", "`queue_pop`"),
        ("", "fail(lp, 1u);", "`fail`"),
        ("", "stream_seek(3u);", "`stream_seek`"),
        ("", "workgroupBarrier();", "barrier"),
        ("override MINE: u32 = GROUP_SIZE;", "(*state).count = MINE;", "override"),
    ] {
        let text = Text::new(format!("{STATE}{INIT}{more}\n{}", handle(body))).refused();
        assert!(text.starts_with("my/text.wgsl:") && text.contains(word), "{more} {body}: {text}");
        assert!(["3:", "4:"].iter().any(|line| text["my/text.wgsl:".len()..].starts_with(line)), "{text}");
    }
    let data = ring.replace("var<storage, read> data", "var<storage, read_write> data");
    let odd = Odd { source: Source::new("odd.wgsl", data), ..Odd::new() };
    assert!(odd.refused().to_string().starts_with("odd.wgsl:10:"));
}

#[test]
fn a_fault_that_the_host_has_not_seen_is_no_result() {
    let gpu = gpu();
    let model =
        Mischief { lps: 100, rule: 3, culprit: 60, at: 0, capacity: Capacity { queue: 200, mailbox: 40 } };
    let mut simulation = Simulation::new(&gpu, &model, FIXED).unwrap();
    simulation.set_until(Until::EMPTY).unwrap();
    let mut encoder = gpu.encoder("the application's");
    simulation.record(&mut encoder, 4);
    gpu.submit(encoder).unwrap();
    let expected = Fault { kind: FaultKind::MailboxFull, lp: 3, window: 1, needed: 41 };
    assert_eq!(fault(simulation.states()), expected);
    assert_eq!(fault(simulation.pending()), expected);
    assert_eq!(fault(simulation.fingerprint()), expected);
    assert_eq!(fault(simulation.progress()), expected);
}

#[test]
fn an_error_in_a_models_wgsl_points_at_its_file_and_line() {
    let text = Odd::new().source.text().replace("(*state).visits += 1u;", "(*state).visitors += 1u;");
    let line = 1 + text.lines().position(|line| line.contains("visitors")).unwrap();
    let odd = Odd { source: Source::new("my/odd.wgsl", text), ..Odd::new() };
    match odd.refused() {
        SimulationError::Gpu(GpuError::Link(LinkError::Wgsl { file, line: found, .. })) => {
            assert_eq!((file.as_str(), found as usize), ("my/odd.wgsl", line));
        }
        other => panic!("{other}"),
    }
}

/// A model of which only the WGSL matters.
struct Text {
    file: &'static str,
    wgsl: String,
    capacity: Capacity,
    lps: u32,
}

impl Text {
    fn new(wgsl: impl Into<String>) -> Self {
        Self { file: "my/text.wgsl", wgsl: wgsl.into(), capacity: ROOMY, lps: 60 }
    }

    fn refused(&self) -> String {
        Simulation::new(&gpu(), self, FIXED).unwrap_err().to_string()
    }
}

impl Model for Text {
    type State = u32;
    type Params = ();
    type Payload = [u32; 2];
    type Output = ();
    fn name(&self) -> &str {
        "text"
    }
    fn source(&self) -> Source {
        Source::new(self.file, self.wgsl.clone())
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(1000)
    }
    fn params(&self) {}
    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

const STATE: &str = "struct State { count: u32 }\n";
const INIT: &str =
    "fn init(lp: u32, state: ptr<function, State>) { schedule(lp, vec2<u32>(1u), vec2<u32>(lp)); }\n";
const HANDLE: &str =
    "fn handle(lp: u32, event: Event, state: ptr<function, State>) { (*state).count += 1u; }\n";

#[test]
fn what_a_models_file_lacks_is_said_of_that_file() {
    for (parts, words) in [
        ([INIT, HANDLE, ""], "`struct State`"),
        ([STATE, HANDLE, ""], "`fn init(lp: u32, state: ptr<function, State>)`"),
        ([STATE, INIT, ""], "`fn handle(lp: u32, event: Event, state: ptr<function, State>)`"),
        ([&format!("{STATE}fn select(a: u32) -> u32 {{ return a; }}\n"), INIT, HANDLE], "`fn select`"),
        ([STATE, INIT, "fn handle(lp: u32, event: Event) {}"], "`fn handle(lp: u32, event: Event, state"),
        ([STATE, "fn init(lp: i32, state: ptr<function, State>) {}", HANDLE], "`fn init(lp: u32, state"),
        (
            [STATE, INIT, "fn handle(lp: u32, event: Event, state: ptr<function, u32>) {}"],
            "`fn handle(lp: u32",
        ),
    ] {
        let text = Text::new(parts.concat()).refused();
        assert!(text.starts_with("my/text.wgsl ") && text.contains(words), "{parts:?}: {text}");
    }
}

#[test]
fn a_models_file_may_have_any_name() {
    let gpu = gpu();
    for file in ["shaders/pdes/window.wgsl", "shaders/queue/heap.wgsl", "pdes/engine.wgsl", ""] {
        let model = Text { file, ..Text::new([STATE, INIT, HANDLE].concat()) };
        let mut simulation = Simulation::new(&gpu, &model, FIXED).unwrap();
        assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 60, "{file}");
        let broken = Text {
            file,
            ..Text::new([STATE, INIT, HANDLE, "\nfn oops() -> u32 { return nothing; }"].concat())
        };
        assert!(broken.refused().starts_with(&format!("{file}:5:")), "{}", broken.refused());
    }
}

#[test]
fn parameters_that_rust_does_not_have_are_refused() {
    for params in [
        "struct Params { rate: vec4<u32> }\n@group(1) @binding(0) var<uniform> params: Params;\n",
        "@group(1) @binding(0) var<uniform> params: vec4<u32>;\n",
    ] {
        let text = Text::new([params, STATE, INIT, HANDLE].concat()).refused();
        assert!(
            text.starts_with("my/text.wgsl: ") && text.contains("`Model::Params` has no bytes"),
            "{text}"
        );
    }
}

#[test]
fn data_that_do_not_go_with_their_declaration_are_refused() {
    let text = Odd::new().source.text().to_owned();
    // A declaration without data, elements that they do not fill, and data without a declaration.
    let mut none = Text::new([STATE, INIT, HANDLE].concat());
    none.wgsl.insert_str(0, "@group(1) @binding(1) var<storage, read> data: array<u32>;\n");
    assert!(none.refused().contains("`Model::data` is empty"), "{}", none.refused());
    let wide = text.replace("data: array<u32>;", "data: array<vec4<u32>>;").replace("data[lp]", "data[lp].x");
    let refused = Odd { source: Source::new("odd.wgsl", wide), ..Odd::new() }.refused().to_string();
    assert!(refused.contains("16 bytes each") && refused.contains("40"), "{refused}");
    // A table behind a word of its own is as long as it likes.
    let led = text
        .replace("data: array<u32>;", "data: Led;\nstruct Led { first: u32, next: array<vec2<u32>> }")
        .replace("data[lp]", "data.next[lp / 2u].x");
    let odd = Odd { source: Source::new("odd.wgsl", led), ..Odd::new() };
    Simulation::new(&gpu(), &odd, FIXED).unwrap();
    let none = text
        .replace("@group(1) @binding(1) var<storage, read> data: array<u32>;", "")
        .replace("data[lp]", "lp");
    let refused = Odd { source: Source::new("odd.wgsl", none), ..Odd::new() }.refused().to_string();
    assert!(refused.contains("does not declare"), "{refused}");
}

#[test]
fn what_no_buffer_can_hold_and_what_is_forgotten_is_said() {
    let text = Text::new("struct State { count: u32, up: bool }\n".to_owned() + INIT + HANDLE).refused();
    assert!(text.contains("bool") && text.contains("u32"), "{text}");
    let body = "fn handle(lp: u32, event: Event, state: ptr<function, State>) { (*state).count = histogram_bin(now(), now(), now(), 4u); }\n";
    let text = Text::new([STATE, INIT, body].concat()).refused();
    assert!(
        text.contains("my/text.wgsl:3:") && text.contains("`// import: statistics/histogram.wgsl`"),
        "{text}"
    );
    let body = "fn handle(lp: u32, event: Event, state: ptr<function, State>) { time_add(now(), now()); }\n";
    let text = Text::new([STATE, INIT, body].concat()).refused();
    assert!(text.contains("my/text.wgsl:3:"), "{text}");
}

#[test]
fn a_queue_that_is_too_full_is_the_fault_whatever_its_first_mails_would_do() {
    let gpu = gpu();
    // All send to LP 50, which has room for 60 mails and not for as many events. If it handled some of them, it would flood LP 0.
    let wgsl = [
        STATE,
        INIT,
        "fn handle(lp: u32, event: Event, state: ptr<function, State>) {
            let next = time_add(event.time, lookahead());
            if event.payload.x == 99u {
                for (var i = 0u; i < 9u; i += 1u) { schedule(0u, next, vec2<u32>(i, event.payload.y)); }
            } else {
                schedule(50u, next, vec2<u32>(99u, lp));
            }
        }",
    ];
    let model = Text { capacity: Capacity { queue: 40, mailbox: 60 }, ..Text::new(wgsl.concat()) };
    for queue in queues() {
        let found = fault_on_gpu(&gpu, &model, Options { queue: Some(queue), ..FIXED });
        assert_eq!(found, Fault { kind: FaultKind::QueueFull, lp: 50, window: 2, needed: 60 }, "{queue}");
    }
}

/// A model of [`Text`] whose handler does this. Payloads are (lp, 0).
fn handler(body: &str) -> Text {
    let handle = format!("fn handle(lp: u32, event: Event, state: ptr<function, State>) {{\n{body}\n}}\n");
    let init = INIT.replace("vec2<u32>(lp)", "vec2<u32>(lp, 0u)");
    Text::new([STATE, &init, &handle].concat())
}

#[test]
fn hostile_files_are_refused_in_a_sentence_that_names_them() {
    let many = 16_000;
    let count = |text: &str| format!("(*state).count = {text};");
    let cases = [
        // What would overflow the parser's stack.
        handler(&count(&("1u".to_owned() + &" + 1u".repeat(many)))),
        handler(&count(&format!("{}1u{}", "(".repeat(many), ")".repeat(many)))),
        handler(&("{".repeat(many) + &"}".repeat(many))),
        handler(&format!("if lp == 0u {{}}{}", " else if lp == 1u {}".repeat(many))),
        // What would take more room than an invocation has.
        handler("var list: array<u32, 1000000>; list[lp] = 1u; (*state).count = list[event.payload.x];"),
        handler("var list: array<u32, 4294967295>; list[lp] = 1u; (*state).count = list[0];"),
        handler("(*state).count = array<u32, 100000>()[lp];"),
        Text::new([STATE, INIT, "fn big(a: array<u32, 100000>) -> u32 { return a[3]; }\n", HANDLE].concat()),
        // What never ends before it runs.
        Text::new([STATE, INIT, HANDLE, "fn again(n: u32) -> u32 { return again(n + 1u); }\n"].concat()),
        Text::new([STATE, INIT, HANDLE, "struct Own { next: Own }\n"].concat()),
        Text::new([STATE, INIT, HANDLE, "const A = B; const B = A;\n"].concat()),
        // What cannot be counted out.
        handler("const none = 0u; (*state).count = 1u / none;"),
        handler("(*state).count = 1u << 99u;"),
        // What belongs to all, or to the engine.
        handler("workgroupBarrier();"),
        Text::new([STATE, INIT, HANDLE, "var<workgroup> shared_words: array<u32, 64>;\n"].concat()),
        Text::new([STATE, INIT, HANDLE, "var<private> mine: u32;\n"].concat()),
        Text::new([STATE, INIT, HANDLE, "@compute @workgroup_size(1) fn mine() {}\n"].concat()),
        Text::new(["enable subgroups;\n", STATE, INIT, HANDLE].concat()),
        Text::new(["// requires: int128\n", STATE, INIT, HANDLE].concat()),
        Text::new(["// import: ../../etc/passwd\n", STATE, INIT, HANDLE].concat()),
    ];
    for model in cases {
        let begin: String = model.wgsl.chars().take(400).collect();
        let Err(refused) = Simulation::new(&gpu(), &model, FIXED) else { panic!("it is taken: {begin}") };
        let text = refused.to_string();
        assert!(text.starts_with("my/text.wgsl:"), "{begin}: {text}");
        assert!(text.len() < 2000, "{begin}: {} bytes", text.len());
        // `unwrap` tells the same.
        assert_eq!(format!("{refused:?}"), text);
    }
}

#[test]
fn a_model_may_have_the_names_of_the_engine_or_is_told_which_it_may_not() {
    let gpu = gpu();
    let mut fine = 0;
    for name in [
        "window",
        "start",
        "digest",
        "execute",
        "schedule_all",
        "queue_pop",
        "queue_push",
        "fail",
        "run",
        "words",
        "lps",
        "State0",
        "Run",
        "Part",
        "GROUP_SIZE",
        "ROUNDS",
        "PATIENCE",
        "event_before",
        "philox4x32",
        "mul_wide",
        "main",
        "kernel",
        "control",
        "loops_cut",
        "lane",
    ] {
        for declared in [
            format!("fn {name}(a: u32) -> u32 {{ return a; }}\n"),
            format!("const {name} = 7u;\n"),
            format!("struct {name} {{ a: u32 }}\n"),
            format!("alias {name} = u32;\n"),
        ] {
            let model = Text::new([STATE, INIT, HANDLE, &declared].concat());
            match Simulation::new(&gpu, &model, FIXED) {
                Ok(mut simulation) => {
                    assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 60, "{declared}");
                    fine += 1;
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.starts_with("my/text.wgsl") && text.contains(name), "{declared}: {text}");
                }
            }
        }
        // A local name hides what is outside, and harms nobody.
        let model = handler(&format!("let {name} = lp; (*state).count = {name};"));
        let mut simulation = Simulation::new(&gpu, &model, FIXED).unwrap();
        simulation.run(Until::EMPTY).unwrap();
        assert_eq!(simulation.states().unwrap(), (0..60).collect::<Vec<u32>>(), "{name}");
    }
    assert!(fine > 0);
}

#[test]
fn a_loop_without_end_is_a_fault_where_the_driver_ends_it_and_long_ones_are_right_elsewhere() {
    // Its own device: a driver may take it away.
    let gpu = common::own_gpu().waiting(std::time::Duration::from_secs(60));
    // Where no driver ends it, an endless one would take the device for good: there it is long.
    let endless = gpu.info().device_type == wgpu::DeviceType::Cpu;
    let end = if endless { "" } else { "if i == 1000000u { break; }" };
    let looping = format!("var i = 0u; loop {{ i += 1u; (*state).count = i ^ lp; {end} }}");
    let model = handler(&looping);
    for queue in [QueueDesign::Heap, QueueDesign::Calendar, QueueDesign::CB_PAR] {
        let run = || {
            let mut simulation = Simulation::new(&gpu, &model, Options { queue: Some(queue), ..FIXED })?;
            simulation.run(Until::EMPTY)?;
            simulation.states()
        };
        match run() {
            Err(SimulationError::Fault(Fault { kind: FaultKind::LoopsCut, window: 1, .. })) => {}
            Ok(states) if !endless => assert_eq!(states[3], 1_000_000 ^ 3),
            other => panic!("{queue}: {other:?}"),
        }
    }
    if endless {
        // In the initialisation, too.
        let init = format!("fn init(lp: u32, state: ptr<function, State>) {{ {looping} }}\n");
        let model = Text::new([STATE, &init, HANDLE].concat());
        let found = fault::<()>(Simulation::new(&gpu, &model, FIXED).and_then(|mut simulation| {
            simulation.run(Until::EMPTY)?;
            Ok(())
        }));
        assert_eq!(found.kind, FaultKind::LoopsCut);
    }
}

#[test]
fn loops_that_are_too_long_for_several_lps_are_one_lps() {
    let gpu = gpu();
    // Two of them are more iterations than llvmpipe makes, which serves as many by an invocation on less than 32 cores; one is not.
    let body = "for (var i = 0u; i < 40000u; i += 1u) { (*state).count = (*state).count * 3u + (i ^ lp); }";
    let model = Text { lps: 16_000, ..handler(body) };
    let expected = |lp: u32| (0..40_000u32).fold(0u32, |count, i| count.wrapping_mul(3).wrapping_add(i ^ lp));
    for options in [Options { fixed: false, ..FIXED }, FIXED] {
        let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
        assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 16_000);
        assert!((0..).zip(simulation.states().unwrap()).step_by(99).all(|(lp, found)| found == expected(lp)));
    }
    let mut two = Simulation::new(&gpu, &model, Options { tiles: Some(2), ..FIXED }).unwrap();
    match two.run(Until::EMPTY) {
        Err(SimulationError::Fault(Fault { kind: FaultKind::LoopsCut, .. })) => {}
        other => assert_ne!(gpu.info().device_type, wgpu::DeviceType::Cpu, "{other:?}"),
    }
}

#[test]
fn what_wgsl_defines_for_bad_arithmetic_and_bad_indices_is_what_happens() {
    let gpu = gpu();
    let run = |body: &str| {
        let mut simulation = Simulation::new(&gpu, &handler(body), FIXED).unwrap();
        assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 60);
        simulation.states().unwrap()
    };
    // Payload y is 0, which no compiler knows.
    let all = |value: fn(u32) -> u32| (0..60).map(value).collect::<Vec<_>>();
    assert_eq!(run("(*state).count = lp / event.payload.y;"), all(|lp| lp));
    assert_eq!(run("(*state).count = lp % event.payload.y;"), all(|_| 0));
    assert_eq!(run("(*state).count = u32(i32(lp) / i32(event.payload.y));"), all(|lp| lp));
    let least = "let least = i32(0x80000000u + event.payload.y);";
    assert_eq!(
        run(&format!("{least} (*state).count = u32(least / (i32(event.payload.y) - 1));")),
        all(|_| 1 << 31)
    );
    assert_eq!(
        run(&format!("{least} (*state).count = u32(least % (i32(event.payload.y) - 1));")),
        all(|_| 0)
    );
    assert_eq!(run("(*state).count = lp << (event.payload.y + 33u);"), all(|lp| lp << 1));
    // Beyond an array something is read or written, within it: neither is another LP's state nor a crash.
    let list = "var list = array<u32, 4>(0u, 1u, 2u, 3u);";
    for index in ["event.payload.y + 4u", "event.payload.y - 1u", "lp * 0x01000000u + 4u"] {
        let read = run(&format!("{list} (*state).count = list[{index}];"));
        assert!(read.iter().all(|&value| value < 4), "{index}: {read:?}");
        let written = run(&format!(
            "{list} list[{index}] = 9u; (*state).count = list[0] + list[1] + list[2] + list[3];"
        ));
        assert!(written.iter().all(|&value| [6, 15, 14, 13, 12].contains(&value)), "{index}: {written:?}");
    }
    let swizzle = run(
        "var pair = vec2<u32>(7u, 8u); pair[event.payload.y + 9u] = 1u; (*state).count = pair[event.payload.y + 9u];",
    );
    assert!(swizzle.iter().all(|value| [0, 1, 7, 8].contains(value)), "{swizzle:?}");
}

#[test]
fn thousands_of_events_from_one_handler_grow_or_are_a_fault() {
    let gpu = gpu();
    // LP 7 sends 3,000 events to LP 9, and 1,000 to itself for later.
    let model = handler(
        "(*state).count += 1u;
        if lp != 7u || event.payload.y != 0u { return; }
        for (var i = 0u; i < 3000u; i += 1u) { schedule(9u, time_add(now(), vec2<u32>(1000u + i, 0u)), vec2<u32>(i, 1u)); }
        for (var i = 0u; i < 1000u; i += 1u) { schedule(7u, time_add(now(), vec2<u32>(5000u + i, 0u)), vec2<u32>(i, 1u)); }",
    );
    let grown = Options { fixed: false, ..FIXED };
    for queue in [QueueDesign::Heap, QueueDesign::Calendar] {
        let mut simulation = Simulation::new(&gpu, &model, Options { queue: Some(queue), ..grown }).unwrap();
        match simulation.run(Until::EMPTY) {
            Ok(progress) => {
                assert_eq!(progress.events, 60 + 4000, "{queue}");
                let states = simulation.states().unwrap();
                assert_eq!((states[7], states[9], states[8]), (1001, 3001, 1), "{queue}");
            }
            // 3,000 in order are more iterations than llvmpipe makes in a window.
            Err(SimulationError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::LoopsCut, "{queue}"),
            Err(other) => panic!("{queue}: {other}"),
        }
        let mut tight = Simulation::new(&gpu, &model, Options { queue: Some(queue), ..FIXED }).unwrap();
        let found = fault(tight.run(Until::EMPTY));
        assert!(
            matches!(found.kind, FaultKind::MailboxFull | FaultKind::QueueFull) && [7, 9].contains(&found.lp),
            "{queue}: {found}"
        );
    }
    // Far too many for any memory: an error, and what there was before can be read.
    let flood = handler(
        "for (var i = 0u; i < 60000u; i += 1u) { schedule(lp, time_add(now(), vec2<u32>(1u, 0u)), vec2<u32>(i)); }",
    );
    // Little memory, because a window in which such handlers find room takes minutes.
    let small = gpu.binding_at_most(1 << 24);
    let mut simulation = Simulation::new(&small, &flood, grown).unwrap();
    match simulation.run(Until::EMPTY) {
        Err(SimulationError::TooLarge { .. } | SimulationError::Fault(_)) => {}
        other => panic!("{other:?}"),
    }
}
