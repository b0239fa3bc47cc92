// What a walk through the interval tree does with matches, second version: it writes those of the page.
//
// offsets  where the matches of each update begin in the output (two words); one more than there are updates
// pairs    the page: (subscription, update) ids from place params.window of the output on, params.room of them

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/boxes.wgsl

@group(0) @binding(6) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> pairs: array<vec2<u32>>;

fn wanted(q: u32) -> bool {
    let page_end = add(params.window, vec2(params.room, 0u));
    return !at_most(offsets[q + 1u], params.window) && !at_most(page_end, offsets[q]);
}

fn put(q: u32, hit: u32, leaf: u32) {
    let slot = subtract(add(offsets[q], vec2(hit, 0u)), params.window);
    if slot.y == 0u && slot.x < params.room {
        pairs[slot.x] = vec2(subscription_id(leaf), update_id(q));
    }
}
