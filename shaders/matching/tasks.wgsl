// What the kernels that test candidates share: what a dispatch is told, and where matches go.
//
// A task is what one workgroup tests. The counting kernel of an algorithm leaves how many matches each task has. The
// writing kernel finds the same matches in the same order and puts each at its place in the output, as far as it lies in
// the page.
//
// lengths  matches of each task
// offsets  where the matches of each task begin in the output (64 bits); one more than there are tasks
// pairs    the page: (subscription, update) ids from place params.page_first of the output on
//
// Functions: task_number; keep_count for counting; in_page, page_len, open_places and put for writing.
//
// provides: Reduced, merge, params
//
// bounds: as in matching/common.wgsl. `offsets` is one longer than there are tasks (or updates, in
// the tree). `put` compares with the page.

// import: gpu/reduce.wgsl
// import: gpu/wide.wgsl
// import: matching/common.wgsl

struct TaskParams {
    // Boxes of each side: the length of its columns.
    subscriptions: u32,
    updates: u32,
    // The tasks of this dispatch: from `first` up to, not including, `end`.
    first: u32,
    end: u32,
    // The ranges that hold the candidates.
    ranges: u32,
    unused: u32,
    // The places in the output that the page has: from the first up to, not including, the end. Fewer than 2^32.
    page_first: vec2<u32>,
    page_end: vec2<u32>,
}

@group(0) @binding(0) var<uniform> params: TaskParams;
@group(0) @binding(6) var<storage, read_write> lengths: array<u32>;
@group(0) @binding(7) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> pairs: array<vec2<u32>>;

var<workgroup> sums: array<u32, GROUP_SIZE>;

// Where the invocation's next match goes, counted from the page's start: beyond the page also if it lies before it.
var<private> next_place: vec2<u32>;

alias Reduced = u32;

fn merge(a: u32, b: u32) -> u32 {
    return a + b;
}

// The task of a workgroup: none of this dispatch from params.end on.
fn task_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return params.first + group_number(group, groups);
}

// Takes in how many matches the invocation has. By all invocations of a workgroup.
fn keep_count(task: u32, lane: u32, hits: u32) {
    let all = reduce_group(lane, hits);
    if lane == 0u {
        lengths[task] = all;
    }
}

// Whether a match of this task, or of whatever else has places of its own, lies in the page.
fn in_page(task: u32) -> bool {
    return wide_less(params.page_first, offsets[task + 1u]) && wide_less(offsets[task], params.page_end)
        && any(offsets[task] != offsets[task + 1u]);
}

fn page_len() -> u32 {
    return params.page_end.x - params.page_first.x;
}

// Takes in how many matches the invocation has and is about to `put`. By all invocations of a workgroup.
fn open_places(task: u32, lane: u32, hits: u32) {
    let place = wide_add(offsets[task], vec2(sum_before(lane, hits), 0u));
    next_place = wide_subtract(place, params.page_first);
}

// Writes the invocation's next match.
fn put(subscription: u32, update: u32) {
    if next_place.y == 0u && next_place.x < page_len() {
        pairs[next_place.x] = vec2(subscription, update);
    }
    next_place = wide_add(next_place, vec2(1u, 0u));
}

// The sum over the invocations before this one. GROUP_SIZE is a power of two: 8 rounds. By all invocations of a workgroup.
fn sum_before(lane: u32, value: u32) -> u32 {
    sums[lane] = value;
    workgroupBarrier();
    for (var step = 1u; step < GROUP_SIZE; step *= 2u) {
        var before = 0u;
        if lane >= step {
            before = sums[lane - step];
        }
        workgroupBarrier();
        sums[lane] += before;
        workgroupBarrier();
    }
    return sums[lane] - value;
}
