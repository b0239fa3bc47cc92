//! Meanings of fields, and sums of times, in small models.

use super::*;
use crate::gpu::Source;
use crate::shaders;

fn linked(text: &str) -> Program {
    let engine = "fn now() -> vec2<u32> { return vec2<u32>(1u, 0u); }\n\
                  fn schedule(lp: u32, time: vec2<u32>, payload: vec2<u32>) { }\n";
    let files = [
        shaders::file("random/distributions.wgsl"),
        shaders::file("random/mul_wide.wgsl"),
        Source::library("shaders/engine.wgsl", engine),
        Source::new("mine.wgsl", text.to_owned()),
    ];
    Program::link("t", &files).unwrap_or_else(|error| panic!("{error}"))
}

fn model(body: &str) -> Program {
    linked(&format!(
        "struct Params {{ mean: vec2<u32>, odds: u32, count: u32, short: u32, other: u32 }}\n\
         var<private> params: Params;\n{body}"
    ))
}

/// Fields with their meanings, in the order of the calls.
fn used(body: &str) -> Vec<(String, FieldUnit)> {
    model(body).field_uses().into_iter().map(|used| (used.field, used.unit)).collect()
}

#[test]
fn fields_are_what_the_calls_say() {
    use FieldUnit::{Number, Probability, Time};
    let name = |field: &str, unit| (field.to_owned(), unit);
    for (body, expected) in [
        ("fn f() { let a = draw_exponential(params.mean); }", vec![name("mean", Time)]),
        ("fn f() { let p = params; let a = draw_exponential(p.mean); }", vec![name("mean", Time)]),
        ("fn f() { var m = params.mean; let a = time_less(m, now()); }", vec![name("mean", Time)]),
        (
            "fn g(m: vec2<u32>) { let a = draw_exponential(m); } fn f() { g(params.mean); }",
            vec![name("mean", Time)],
        ),
        ("fn f() -> bool { return draw_bernoulli(params.odds); }", vec![name("odds", Probability)]),
        (
            "fn f() { let a = draw_hyperexponential(params.odds, params.mean, vec2<u32>(params.short, 0u)); }",
            vec![name("odds", Probability), name("mean", Time), name("short", Time)],
        ),
        ("fn f(lp: u32) -> bool { return lp < params.count; }", vec![name("count", Number)]),
        ("fn f() -> u32 { return draw_below(params.count + 1u); }", vec![name("count", Number)]),
        // Unknown: a part of a time, stored in a state, in a pair, in arithmetic of the library.
        ("fn f() -> bool { return now().x < params.short; }", vec![]),
        ("fn f(state: ptr<function, u32>) { *state = params.short; }", vec![]),
        ("fn f() -> vec2<u32> { return vec2<u32>(params.short, 1u); }", vec![]),
        ("fn f() -> vec2<u32> { return add_word(now(), params.short); }", vec![]),
        ("fn f() -> vec2<u32> { return draw_exponential(vec2<u32>(9u, 0u)); }", vec![]),
        // Also unknown if a word of a time reaches it through variables, functions and structs.
        ("fn f() -> bool { var t = now().x; return t < params.short; }", vec![]),
        ("fn low() -> u32 { return now().x; } fn f() -> bool { return low() < params.short; }", vec![]),
        ("fn f() -> bool { return min(params.short, now().x) == 3u; }", vec![]),
        ("fn f(b: bool) -> bool { return select(params.short, now().x, b) == 3u; }", vec![]),
        ("fn f() -> bool { return (now().x >> 4u) + 1u < params.short; }", vec![]),
        (
            "fn less(a: u32, b: u32) -> bool { return a < b; } fn f() -> bool { return less(params.short, \
            now().x); }",
            vec![],
        ),
        (
            "var<private> last: u32; fn g() { last = now().x; } fn f() -> bool { return last < params.short; }",
            vec![],
        ),
        (
            "struct S { last: u32 } fn g(s: ptr<function, S>) { *s = S(now().x); } fn f(s: ptr<function, S>) \
            -> bool { return (*s).last < params.short; }",
            vec![],
        ),
        (
            "fn put(p: ptr<function, u32>) { *p = now().x; } fn f() -> bool { var t = 0u; put(&t); return \
            t < params.short; }",
            vec![],
        ),
        (
            "fn less(p: ptr<function, u32>) -> bool { return *p < now().x; } fn f() -> bool { var t = \
            params.short; return less(&t); }",
            vec![],
        ),
        ("fn f() -> u32 { return params.short; }", vec![]),
        ("fn f() -> bool { return params.short < params.other; }", vec![]),
        (
            "struct S { last: u32, busy: u32 } fn f(s: ptr<function, S>) -> bool { (*s).last = now().x; let \
            free = params.count - 1u; return (*s).busy < free; }",
            vec![name("count", Number)],
        ),
    ] {
        assert_eq!(used(body), expected, "{body}");
    }
    let program = model("\nfn f() -> bool { return draw_bernoulli(params.odds); }");
    let [used] = &program.field_uses()[..] else { panic!("one") };
    assert_eq!((&*used.call, &*used.place), ("draw_bernoulli", "mine.wgsl:4"));
}

#[test]
fn sums_of_times_are_found() {
    for (body, words) in [
        ("fn f() { schedule(1u, now() + params.mean, vec2<u32>()); }", "`now()`"),
        ("fn f() -> vec2<u32> { let t = now(); return vec2<u32>(5u, 0u) + t; }", "`now()`"),
        (
            "fn f() -> vec2<u32> { return draw_exponential(params.mean) - params.mean; }",
            "`draw_exponential()`",
        ),
        ("fn f(t: vec2<u32>) { schedule(1u, t + params.mean, vec2<u32>()); }", "for `schedule`"),
        ("fn f(t: vec2<u32>) -> bool { let s = t + params.mean; return time_less(t, s); }", "the time `t`"),
    ] {
        let found = model(body).time_sums();
        assert!(found.iter().any(|(_, what)| what.contains(words)), "{body}: {found:?}");
    }
    for body in [
        "fn f() { schedule(1u, time_add(now(), params.mean), vec2<u32>()); }",
        "fn f() -> u32 { return now().x + 5u; }",
        "fn f(at: vec2<u32>) -> vec2<u32> { return at + vec2<u32>(1u, 1u); }",
        "fn f() -> u32 { return draw_below(3u) + draw_below(4u); }",
        "fn f() -> u32 { return exponential_short(draw_word(1u, 9u), 5u + params.short); }",
    ] {
        assert!(model(body).time_sums().is_empty(), "{body}");
    }
}
