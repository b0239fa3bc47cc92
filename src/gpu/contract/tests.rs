//! Refusals of user files, with their places.

use super::*;

const ENGINE_FILE: &str = "// requires: subgroups
override GROUP: u32 = 64u;
const LIMIT = 7u;
struct Event { time: u32 }
@group(0) @binding(0) var<storage, read_write> control: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> memory: array<u32>;
var<workgroup> shared_word: u32;
fn schedule(time: u32) { atomicAdd(&control[0], time); }
fn fail(kind: u32) { atomicMin(&control[1], kind); }
@compute @workgroup_size(GROUP) fn window() {
    shared_word = handle(Event(memory[0]));
    schedule(workgroupUniformLoad(&shared_word));
    fail(1u);
}
";

const ALLOWED: Allowed<'static> =
    Allowed { functions: &["schedule"], variables: &["params", "data"], written: &[] };

fn check(text: &str) -> Result<(), LinkError> {
    let files = [
        Source::library("shaders/engine.wgsl", ENGINE_FILE),
        Source::new("mine/model.wgsl", text.to_owned()),
    ];
    let program = Program::link("t", &files).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program.check_user(&ALLOWED)
}

#[test]
fn innocent_files_pass() {
    let text = "
            struct Params { mean: u32 }
            override OWN: u32 = 3u;
            const TWICE = 2u * LIMIT;
            @group(1) @binding(0) var<uniform> params: Params;
            @group(1) @binding(1) var<storage, read> data: array<u32>;
            fn helper(x: ptr<function, u32>) { *x += data[arrayLength(&data) - 1u]; }
            fn handle(event: Event) -> u32 {
                var sum = params.mean + OWN;
                for (var i = 0u; i < TWICE; i++) { helper(&sum); if sum > 3u { schedule(sum); } }
                var list: array<u32, 4>;
                for (var i = 0u; i < 4u; i++) { for (var k = 0u; k < i; k++) { list[k] += sum; } }
                while sum > 9u { sum /= 2u; }
                for (var i = 0u; i < 4u; i++) { if list[i] == sum { return i; } }
                switch sum { case 1u: { schedule(1u); } default: { sum = min(sum, LIMIT); } }
                return sum + event.time;
            }";
    check(text).unwrap();
}

#[test]
fn each_refusal_names_the_place_and_what_is_allowed() {
    // The declaration, the body of `handle`, the line of the error, and the name in its
    // message.
    let cases = [
        ("var<private> mine: u32;", "mine = 1u;", 1, "`mine` is a module-scope variable"),
        ("var<workgroup> mine: u32;", "mine = 1u;", 1, "`mine` is a module-scope variable"),
        ("@group(2) @binding(0) var<uniform> more: vec4<u32>;", "", 1, "`more` is a module-scope variable"),
        ("var<private> data: u32;", "", 1, "`data` is not a buffer"),
        ("@group(1) @binding(0) var<storage, read_write> data: array<u32>;", "", 1, "can be written"),
        ("", "memory[0] = 1u;", 3, "`memory` is a variable of the engine"),
        ("", "let x = memory[1];", 3, "`memory` is a variable of the engine"),
        ("", "let n = arrayLength(&memory);", 3, "`memory` is a variable of the engine"),
        ("", "if event.time > 2u { for (;;) { fail(2u); break; } }", 3, "`fail` is a function of the engine"),
        ("", "switch event.time { case 1u: { fail(2u); } default: {} }", 3, "`fail` is a function"),
        ("", "loop { break; continuing { fail(1u); } }", 3, "`fail` is a function"),
        ("", "workgroupBarrier();", 3, "a barrier is not allowed"),
        ("", "storageBarrier();", 3, "a barrier is not allowed"),
        ("", "let x = workgroupUniformLoad(&shared_word);", 3, "a `workgroupUniformLoad`"),
        ("", "let x = subgroupAdd(1u);", 3, "a subgroup operation"),
        ("", "let x = subgroupBallot(true);", 3, "a subgroup operation"),
        ("", "let x = subgroupShuffle(1u, 0u);", 3, "a subgroup operation"),
        ("", "let x = subgroupBroadcastFirst(1u);", 3, "a subgroup operation"),
        ("", "atomicAdd(&control[0], 1u);", 3, "an atomic operation"),
        ("", "let x = atomicLoad(&control[0]);", 3, "`control` is a variable of the engine"),
        ("", "let x = GROUP;", 3, "`GROUP` is an `override` of the engine"),
        ("override OWN: u32 = GROUP + 1u;", "let x = OWN;", 1, "`GROUP` is an `override` of the engine"),
        ("@compute @workgroup_size(1) fn mine() { schedule(1u); }", "", 1, "`mine` is an entry point"),
        ("fn deep() { fail(3u); }", "deep();", 1, "`fail` is a function of the engine"),
        (
            "",
            "var i = 0u; loop { if i == 9u { break; } continuing { i = 1u; } }",
            3,
            "this loop changes nothing",
        ),
        (
            "",
            "if event.time > 1u { for (var i = 0u; i < 9u; i++) { var k = i; k += 1u; } }",
            3,
            "this loop changes",
        ),
    ];
    for (declared, done, at, words) in cases {
        let text = format!("{declared}\nfn handle(event: Event) -> u32 {{\n    {done}\n    return 0u;\n}}\n");
        let error = check(&text).expect_err(&text);
        let LinkError::Forbidden { file, line, column, what, remedy, report } = &error else {
            panic!("{error}")
        };
        assert_eq!((file.as_str(), *line), ("mine/model.wgsl", at), "{error}");
        assert!(*column >= 1 && what.contains(words), "{error}");
        assert!(remedy.contains("`params`, `data`") && remedy.contains("`schedule`"), "{error}");
        // The marked line is the user's.
        let source = if at == 1 { declared } else { done };
        assert!(report.contains(source) && report.contains('^'), "{error}");
        assert!(
            error.to_string().starts_with(&format!("mine/model.wgsl:{line}:{column}: {what}")),
            "{error}"
        );
    }
}

/// An engine variable that user code may read.
#[test]
fn what_may_be_read_is_not_written() {
    let check = |done: &str, allowed: &Allowed<'_>| {
        let engine = "struct Point { x: u32, y: array<u32, 4> }\nvar<private> place: Point;\n";
        let user = format!(
            "fn helper(p: ptr<private, Point>) {{ (*p).x = 1u; }}\nfn handle(x: Point) -> u32 {{\n{done}\nreturn x.x;\n}}\n"
        );
        let files = [Source::library("shaders/engine.wgsl", engine), Source::new("model.wgsl", user)];
        let program = Program::link("t", &files).unwrap_or_else(|error| panic!("{error}"));
        program.check_user(allowed)
    };
    let read = Allowed { functions: &[], variables: &["place"], written: &[] };
    let written = Allowed { written: &["place"], ..read };
    check("return place.x + place.y[place.x];", &read).unwrap_or_else(|e| panic!("{e}"));
    for done in ["place.x = 3u;", "place.y[x.x] += 1u;", "if x.x > 1u { place = x; }", "helper(&place);"] {
        let error = check(done, &read).expect_err(done);
        let LinkError::Forbidden { file, line, what, .. } = &error else { panic!("{error}") };
        assert_eq!((file.as_str(), *line), ("model.wgsl", 3), "{error}");
        assert!(what.starts_with("`place` may only be read"), "{error}");
        check(done, &written).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn calls_are_followed_from_a_function() {
    let check = |more: &str, done: &str| {
        let text = format!(
            "fn handle(event: Event) -> u32 {{ schedule(1u); return 0u; }}\n{more}\nfn output(x: u32) -> u32 {{\n    {done}\n    return x;\n}}\n"
        );
        let files = [
            Source::library("shaders/engine.wgsl", ENGINE_FILE),
            Source::new("mine/model.wgsl", text.clone()),
        ];
        let program = Program::link("t", &files).unwrap_or_else(|error| panic!("{error}\n{text}"));
        program.check_calls("output", &["fail"], "It only looks")
    };
    check("fn helper() { fail(1u); }", "helper(); if x > 1u { fail(2u); }").unwrap();
    let cases = [
        ("", "schedule(x);", 4, "`output` may not call `schedule`"),
        ("", "if x > 2u { for (;;) { schedule(2u); break; } }", 4, "`output` may not call `schedule`"),
        ("", "switch x { case 1u: { schedule(2u); } default: {} }", 4, "`output` may not call `schedule`"),
        ("", "loop { break; continuing { schedule(1u); } }", 4, "`output` may not call `schedule`"),
        (
            "fn deep() { schedule(1u); } fn helper() { deep(); }",
            "helper();",
            2,
            "`output` may not call `schedule`, and calls `deep`, which does",
        ),
        ("", "_ = handle(Event(1u));", 1, "`output` may not call `schedule`, and calls `handle`"),
    ];
    for (more, done, at, words) in cases {
        let error = check(more, done).expect_err(done);
        let LinkError::Forbidden { file, line, what, remedy, .. } = &error else { panic!("{error}") };
        assert_eq!((file.as_str(), *line), ("mine/model.wgsl", at), "{error}");
        assert!(what.starts_with(words) && remedy.starts_with("It only looks; "), "{error}");
        assert!(remedy.ends_with("for it: `fail`"), "{error}");
    }
}

#[test]
fn what_may_be_written_holds_no_atomics() {
    let link = |ty: &str| {
        let text = format!("@group(0) @binding(0) var<storage, read_write> data: array<{ty}>;");
        Program::link("t", &[Source::new("m.wgsl", text)]).unwrap()
    };
    let allowed = Allowed { written: &["data"], ..ALLOWED };
    link("u32").check_user(&allowed).unwrap();
    let error = link("atomic<u32>").check_user(&allowed).unwrap_err();
    assert!(error.to_string().contains("`data` holds atomics"), "{error}");
}

#[test]
fn files_that_are_not_the_users_are_left_alone() {
    let model = "fn handle(event: Event) -> u32 { return GROUP; }";
    let check = |model| {
        let files = [Source::library("shaders/engine.wgsl", ENGINE_FILE), model];
        Program::link("t", &files).unwrap().check_user(&ALLOWED)
    };
    check(Source::library("shaders/model.wgsl", model)).unwrap();
    check(Source::new("shaders/model.wgsl", model)).unwrap_err();
}
