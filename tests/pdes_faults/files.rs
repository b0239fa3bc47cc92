//! Models and files that are refused before they run.

use eventhorizon::gpu::{GpuError, LinkError, Source};
use eventhorizon::pdes::{Capacity, Model, Simulation, SimulationError, Until};
use eventhorizon::time::Ticks;

use super::common::gpu;
use super::common::models::Ring;
use super::{HANDLE, INIT, STATE, Text, fixed, handler};

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
        Simulation::new(&gpu(), &self, fixed()).unwrap_err()
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
        let options = fixed().group_size(threads);
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

#[test]
fn what_a_models_file_lacks_is_said_of_that_file() {
    for (parts, words) in [
        ([INIT, HANDLE, ""], "`struct State`"),
        ([STATE, HANDLE, ""], "`fn init(lp: u32, state: ptr<function, State>)`"),
        ([STATE, INIT, ""], "`fn handle(lp: u32, event: Event, state: ptr<function, State>)`"),
        (
            [&format!("{STATE}struct Event {{ time: vec2<u32> }}\n"), INIT, HANDLE],
            "`struct Event`, which is a name of the engine",
        ),
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
    for file in ["shaders/pdes/window/window.wgsl", "shaders/queue/heap.wgsl", "pdes/engine.wgsl", ""] {
        let model = Text { file, ..Text::new([STATE, INIT, HANDLE].concat()) };
        let mut simulation = Simulation::new(&gpu, &model, fixed()).unwrap();
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
    // A declaration without data, a partial element, too few, and data without a declaration.
    let mut none = Text::new([STATE, INIT, HANDLE].concat());
    none.wgsl.insert_str(0, "@group(1) @binding(1) var<storage, read> data: array<u32>;\n");
    assert!(none.refused().contains("`Model::data` is empty"), "{}", none.refused());
    let wide = text.replace("data: array<u32>;", "data: array<vec4<u32>>;").replace("data[lp]", "data[lp].x");
    let refused = Odd { source: Source::new("odd.wgsl", wide), ..Odd::new() }.refused().to_string();
    assert!(refused.contains("16 bytes each") && refused.contains("40"), "{refused}");
    let whole = text.replace("data: array<u32>;", "data: array<u32, 11>;");
    let refused = Odd { source: Source::new("odd.wgsl", whole), ..Odd::new() }.refused().to_string();
    assert!(refused.contains("at least 44 bytes") && refused.contains("has 40"), "{refused}");
    // A table after a word of its own may have any length.
    let led = text
        .replace("data: array<u32>;", "data: Led;\nstruct Led { first: u32, next: array<vec2<u32>> }")
        .replace("data[lp]", "data.next[lp / 2u].x");
    let odd = Odd { source: Source::new("odd.wgsl", led), ..Odd::new() };
    Simulation::new(&gpu(), &odd, fixed()).unwrap();
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
fn hostile_files_are_refused_in_a_sentence_that_names_them() {
    let many = 16_000;
    let count = |text: &str| format!("(*state).count = {text};");
    let cases = [
        // Overflows the parser's stack.
        handler(&count(&("1u".to_owned() + &" + 1u".repeat(many)))),
        handler(&count(&format!("{}1u{}", "(".repeat(many), ")".repeat(many)))),
        handler(&("{".repeat(many) + &"}".repeat(many))),
        handler(&format!("if lp == 0u {{}}{}", " else if lp == 1u {}".repeat(many))),
        // Needs more memory than an invocation has.
        handler("var list: array<u32, 1000000>; list[lp] = 1u; (*state).count = list[event.payload.x];"),
        handler("var list: array<u32, 4294967295>; list[lp] = 1u; (*state).count = list[0];"),
        handler("(*state).count = array<u32, 100000>()[lp];"),
        Text::new([STATE, INIT, "fn big(a: array<u32, 100000>) -> u32 { return a[3]; }\n", HANDLE].concat()),
        // Recursion that never ends.
        Text::new([STATE, INIT, HANDLE, "fn again(n: u32) -> u32 { return again(n + 1u); }\n"].concat()),
        Text::new([STATE, INIT, HANDLE, "struct Own { next: Own }\n"].concat()),
        Text::new([STATE, INIT, HANDLE, "const A = B; const B = A;\n"].concat()),
        // A constant that cannot be computed.
        handler("const none = 0u; (*state).count = 1u / none;"),
        handler("(*state).count = 1u << 99u;"),
        // Functions that belong to all invocations, or to the engine.
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
        let Err(refused) = Simulation::new(&gpu(), &model, fixed()) else { panic!("it is taken: {begin}") };
        let text = refused.to_string();
        assert!(text.starts_with("my/text.wgsl:"), "{begin}: {text}");
        assert!(text.len() < 2000, "{begin}: {} bytes", text.len());
        // `unwrap` prints the same text.
        assert_eq!(format!("{refused:?}"), text);
    }
}

#[test]
fn a_model_may_have_any_name_that_the_engine_or_wgsl_has() {
    let gpu = gpu();
    let names = [
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
        "leave",
        "gather",
        "store",
        "select",
        "min",
        "f32",
        "vec4",
    ];
    let all = |declare: &dyn Fn(&str) -> String| names.map(declare).concat();
    let used = |made: &str| handler(&format!("(*state).count = {made};"));
    let whole: u32 = (0..31).sum();
    let sum = |name: &dyn Fn(usize) -> String| (0..31).map(name).collect::<Vec<_>>().join(" + ");
    let nth = |name: &str| names.iter().position(|known| *known == name).unwrap();
    for (declared, model) in [
        (
            all(&|name| format!("fn {name}(a: u32) -> u32 {{ return a + {}u; }}\n", nth(name))),
            used(&sum(&|n| format!("{}(0u)", names[n]))),
        ),
        (all(&|name| format!("const {name} = {}u;\n", nth(name))), used(&sum(&|n| names[n].to_owned()))),
        (
            names[..28].iter().map(|name| format!("struct {name} {{ {name}: u32, b: u32 }}\n")).collect(),
            used(&sum(&|n| match n {
                0..28 => format!("{0}({n}u, 1u).{0}", names[n]),
                _ => format!("{n}u"),
            })),
        ),
        // A local name hides an outer one, which is harmless.
        (
            String::new(),
            handler(&format!(
                "{} (*state).count = {};",
                all(&|name| format!("let {name} = {}u; ", nth(name))),
                sum(&|n| names[n].to_owned())
            )),
        ),
    ] {
        let model = Text { wgsl: [&*model.wgsl, &declared].concat(), ..model };
        let mut simulation = Simulation::new(&gpu, &model, fixed()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 60, "{declared}");
        assert!(simulation.states().unwrap().iter().all(|count| *count == whole), "{declared}");
    }
}
