// Shared by the kernels that test candidates: the parameters of a dispatch, and the output of
// matches.
//
// A task is the work of one workgroup. An algorithm's counting kernel stores the number of matches
// of each task. Its writing kernel finds the same matches in the same order and writes those that
// lie in the page to their places.
//
// lengths  matches of each task
// offsets  start of each task's matches in the output (64 bits), and then the total
// pairs    the page: (subscription, update) ids from place params.page_first of the output on
//
// Functions: task_number; keep_count for counting; in_page, page_len, open_places and put for
// writing.
//
// provides: Reduced, merge, params
//
// bounds: as in matching/common.wgsl. `offsets` has one entry more than there are tasks (or
// updates, in the tree). `put` compares with the page.

// import: gpu/reduce.wgsl
// import: gpu/wide.wgsl
// import: matching/common.wgsl

struct TaskParams {
    // Boxes of each side: the length of its columns.
    subscriptions: u32,
    updates: u32,
    // The tasks of this dispatch: from `first` to before `end`.
    first: u32,
    end: u32,
    // The ranges that hold the candidates.
    ranges: u32,
    unused: u32,
    // The page's places in the output, from the first to before the end. Fewer than 2^32.
    page_first: vec2<u32>,
    page_end: vec2<u32>,
}

@group(0) @binding(0) var<uniform> params: TaskParams;
@group(0) @binding(6) var<storage, read_write> lengths: array<u32>;
@group(0) @binding(7) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> pairs: array<vec2<u32>>;

var<workgroup> sums: array<u32, GROUP_SIZE>;

// The place of the invocation's next match, from the page's start; matches before the page wrap
// around to places beyond it.
var<private> next_place: vec2<u32>;

alias Reduced = u32;

fn merge(a: u32, b: u32) -> u32 {
    return a + b;
}

// The task of a workgroup; params.end or more if it has none in this dispatch.
fn task_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return params.first + group_number(group, groups);
}

// Stores the sum of the invocations' matches. All invocations of a workgroup call it.
fn keep_count(task: u32, lane: u32, hits: u32) {
    let all = reduce_group(lane, hits);
    if lane == 0u {
        lengths[task] = all;
    }
}

// Whether a match of this task, or of another owner of places, lies in the page.
fn in_page(task: u32) -> bool {
    return wide_less(params.page_first, offsets[task + 1u]) && wide_less(offsets[task], params.page_end)
        && any(offsets[task] != offsets[task + 1u]);
}

fn page_len() -> u32 {
    return params.page_end.x - params.page_first.x;
}

// Reads the number of matches that the invocation will `put`. All invocations of a workgroup call
// it.
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

// The sum over earlier invocations, in 8 rounds: GROUP_SIZE is a power of two. All invocations of a
// workgroup call it.
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
