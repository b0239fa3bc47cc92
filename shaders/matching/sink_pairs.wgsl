// Where matches go, second version: pairs are written to their place, as far as it lies in the page.
//
// offsets  where the matches of each task begin in the output (two words, low and high); one more than there are tasks
// pairs    the page: (subscription, update) ids from place params.window of the output on

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

@group(0) @binding(6) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> pairs: array<vec2<u32>>;

// Where the thread's next match goes, counted from the page's start: beyond the page also if it lies before it.
var<private> next: vec2<u32>;

fn wanted(task: u32) -> bool {
    let page_end = add(params.window, vec2(params.room, 0u));
    return !at_most(offsets[task + 1u], params.window) && !at_most(page_end, offsets[task])
        && any(offsets[task] != offsets[task + 1u]);
}

fn begin(task: u32, lane: u32, hits: u32) -> bool {
    let before = sum_before(lane, hits);
    next = subtract(add(offsets[task], vec2(before, 0u)), params.window);
    return true;
}

fn put(subscription: u32, update: u32) {
    if next.y == 0u && next.x < params.room {
        pairs[next.x] = vec2(subscription, update);
    }
    next = add(next, vec2(1u, 0u));
}
