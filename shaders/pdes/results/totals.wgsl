// Totals of results: sum, minimum and maximum of a column over rows, in integers, so that order and
// size of workgroups do not matter. A workgroup serves a task: a column and a chunk of rows of one
// class. The host adds up the tasks.
//
//   work      a dispatch serves tasks work.first .. work.first + work.tasks - 1; task t is column t
//             % work.columns and chunk t / work.columns
//   results   work.words words for each row: a struct Output each
//   columns   by column: first word in a row, kind (below), guard: a row counts only if the
//             `guarded` words from word `guard` on are not all zero; 0 words are no guard
//   chunks    by chunk: its first place, and its number of rows
//   order     by place: the row. If work.ordered is 0, places are rows
//   partials  by task of the dispatch
//   classes   by row: its word work.class_word (written by `classify`)
//
// import: gpu/reduce.wgsl
// import: gpu/wide.wgsl
// provides: GROUP_SIZE, Reduced, merge

struct Work {
    // Unused, always zero: see `struct Run` in pdes/engine.wgsl.
    unread: u32,
    first: u32,
    tasks: u32,
    columns: u32,
    words: u32,
    rows: u32,
    ordered: u32,
    class_word: u32,
}

struct Selected {
    word: u32,
    kind: u32,
    guard: u32,
    guarded: u32,
}

// The result of a task. Values are compared and summed as unsigned 128-bit numbers (`key`). The sum
// has 160 bits and does not overflow, because there are fewer than 2^32 rows.
struct Partial {
    sum: vec4<u32>,
    minimum: vec4<u32>,
    maximum: vec4<u32>,
    // The highest word of the sum.
    carry: u32,
    // Rows that were read, which the host compares with the chunk, and the number that counted.
    seen: u32,
    counted: u32,
    unused: u32,
}

// Kinds of columns.
const UNSIGNED_1 = 0u;
const UNSIGNED_2 = 1u;
const UNSIGNED_4 = 2u;
const SIGNED = 3u;
const REAL = 4u;

override GROUP_SIZE: u32 = 64u;

@group(0) @binding(0) var<uniform> work: Work;
@group(0) @binding(1) var<storage, read> results: array<u32>;
@group(0) @binding(2) var<storage, read> columns: array<Selected>;
@group(0) @binding(3) var<storage, read> chunks: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> order: array<u32>;
@group(0) @binding(5) var<storage, read_write> partials: array<Partial>;
@group(0) @binding(6) var<storage, read_write> classes: array<u32>;

alias Reduced = Partial;

fn nothing() -> Partial {
    var none = Partial();
    none.minimum = vec4<u32>(0xffffffffu);
    return none;
}

fn merge(a: Reduced, b: Reduced) -> Reduced {
    var both: Partial;
    let low = wide_add(a.sum.xy, b.sum.xy);
    let high = wide_add(a.sum.zw, b.sum.zw);
    let carried = wide_add(high, vec2<u32>(u32(wide_less(low, a.sum.xy)), 0u));
    both.sum = vec4<u32>(low, carried);
    both.carry = a.carry + b.carry + u32(wide_less(high, a.sum.zw)) + u32(wide_less(carried, high));
    both.minimum = select(a.minimum, b.minimum, less_128(b.minimum, a.minimum));
    both.maximum = select(a.maximum, b.maximum, less_128(a.maximum, b.maximum));
    both.seen = a.seen + b.seen;
    both.counted = a.counted + b.counted;
    return both;
}

fn less_128(a: vec4<u32>, b: vec4<u32>) -> bool {
    return wide_less(a.zw, b.zw) | (all(a.zw == b.zw) & wide_less(a.xy, b.xy));
}

// The value at a word as an unsigned number of the same order. Signed values are offset by 2^31.
// f32 keep the order of `f32::total_cmp`; their sum means nothing.
fn key(at: u32, kind: u32) -> vec4<u32> {
    let word = results[at];
    switch kind {
        case UNSIGNED_2: { return vec4<u32>(word, results[at + 1u], 0u, 0u); }
        case UNSIGNED_4: { return vec4<u32>(word, results[at + 1u], results[at + 2u], results[at + 3u]); }
        case SIGNED: { return vec4<u32>(word ^ 0x80000000u, 0u, 0u, 0u); }
        case REAL: { return vec4<u32>(select(word ^ 0x80000000u, ~word, word >= 0x80000000u), 0u, 0u, 0u); }
        default: { return vec4<u32>(word, 0u, 0u, 0u); }
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn totals(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) count: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = id.y * count.x + id.x;
    // The grid may have more workgroups than tasks: these repeat the last task and write nothing.
    let task = work.first + min(number, work.tasks - 1u);
    let column = columns[task % work.columns];
    let chunk = chunks[task / work.columns];
    var mine = nothing();
    // Bound: a chunk has at most 1,024 rows (CHUNK in src/pdes/device/results.rs).
    for (var i = lane; i < chunk.y; i += GROUP_SIZE) {
        var row = chunk.x + i;
        if work.ordered != 0u { row = order[row]; }
        let first = row * work.words;
        var guarding = 0u;
        for (var g = 0u; g < min(column.guarded, 4u); g += 1u) {
            guarding |= results[first + column.guard + g];
        }
        var one = nothing();
        if column.guarded == 0u || guarding != 0u {
            let value = key(first + column.word, column.kind);
            one = Partial(value, value, value, 0u, 0u, 1u, 0u);
        }
        one.seen = 1u;
        mine = merge(mine, one);
    }
    let found = reduce_group(lane, mine);
    if lane == 0u && number < work.tasks {
        partials[number] = found;
    }
}

// Writes the classes only; the host orders the rows by them.
@compute @workgroup_size(GROUP_SIZE)
fn classify(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) count: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = (id.y * count.x + id.x) * GROUP_SIZE + lane;
    if row < work.rows {
        classes[row] = results[row * work.words + work.class_word];
    }
}
