// Candidates from ranges: a range is neighbours in one side's order that may match a box of the
// other side. All candidates are numbered, so every invocation has the same work for any range
// lengths.
//
// subscriptions, updates  ordered boxes (order.wgsl), or entries of a grid (grid_entries.wgsl)
// places  start of each range among all candidates (64 bits), and then their total
// begins  start of each range in the other side's order; first the subscriptions', then the
//         updates'
// firsts  the range of each tile's first candidate (firsts.wgsl)
//
// A task (tasks.wgsl) is a tile of TILE candidates; there may be more tasks than needed. If a tile
// has few ranges, their starts are in workgroup memory. Kernels: count_matches and write_matches
// test the candidates of a sweep or, with HOMES, of a grid; write_all writes candidates that all
// match, those of a sweep in one dimension.
//
// provides: Sought, goes_before
//
// bounds: as in matching/common.wgsl. `places` is the exclusive prefix sum of `lengths`, so the
// range of a candidate below the total holds it, and `begins` plus its number in the range is below
// the result of a search in the other side. No candidate from the total on is read: kernels compare
// with the total, or with the page, which ends there. `firsts` is one longer than the room for
// tiles; searches beyond the total find the last range. Staged starts are below STAGED.

// import: gpu/search.wgsl
// import: matching/boxes.wgsl
// import: matching/grid.wgsl
// import: matching/tasks.wgsl

// Whether candidates share a cell of a grid.
override HOMES: bool = false;

const STAGED = 1024u;

@group(0) @binding(3) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> begins: array<u32>;
@group(0) @binding(5) var<storage, read> firsts: array<u32>;

// Starts of the ranges after the tile's first, counted from the tile's first candidate.
var<workgroup> starts: array<u32, STAGED>;

struct Tile {
    // Low word of its first candidate's number: differences within a tile and a range fit a word.
    start: u32,
    range: u32,
    // The number of ranges that follow within the tile.
    span: u32,
}

fn open_tile(tile: u32, start: u32, lane: u32) -> Tile {
    let opened = Tile(start, firsts[tile], firsts[tile + 1u] - firsts[tile]);
    if opened.span <= STAGED {
        for (var i = lane; i < opened.span; i += GROUP_SIZE) {
            starts[i] = places[opened.range + 1u + i].x - start;
        }
    }
    workgroupBarrier();
    return opened;
}

fn start_of(tile: Tile, i: u32) -> u32 {
    if tile.span <= STAGED {
        return starts[i];
    }
    return places[tile.range + 1u + i].x - tile.start;
}

struct Sought {
    tile: Tile,
    candidate: u32,
}

fn goes_before(i: u32, sought: Sought) -> bool {
    return start_of(sought.tile, i) <= sought.candidate;
}

// The places of the subscription and the update of the tile's candidate `p`, each in its side's
// order.
fn candidate(tile: Tile, p: u32) -> vec2<u32> {
    let range = tile.range + search(0u, tile.span, Sought(tile, p));
    let other = begins[range] + (tile.start + p - places[range].x);
    if range < params.subscriptions {
        return vec2(range, other);
    }
    return vec2(other, range - params.subscriptions);
}

// Whether this cell holds the lower corner of the entries' intersection. Two regions may share many
// cells, and only that one reports them. Cell numbers rise with bounds, so it is the greater of the
// two home cells.
fn at_home(s: u32, u: u32) -> bool {
    let home = 2u * DIMS + 1u;
    let s_home = subscriptions[home * params.subscriptions + s];
    let u_home = updates[home * params.updates + u];
    let cell = subscriptions[(home + 1u) * params.subscriptions + s];
    for (var d = 0u; d < DIMS; d++) {
        if max(cell_in(s_home, d), cell_in(u_home, d)) != cell_in(cell, d) {
            return false;
        }
    }
    return true;
}

// The invocation's candidates that match: bit k for item k.
fn test_candidates(tile: Tile, count: u32, lane: u32) -> u32 {
    var hits = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        let p = k * GROUP_SIZE + lane;
        if p < count {
            let pair = candidate(tile, p);
            if overlaps(subscription(pair.x), update(pair.y)) {
                if !HOMES || at_home(pair.x, pair.y) {
                    hits |= 1u << k;
                }
            }
        }
    }
    return hits;
}

// The number of candidates of a tile: fewer in the last one, 0 behind it.
fn candidates_of(task: u32) -> u32 {
    let all = places[params.ranges];
    if !wide_less(tile_start(task), all) {
        return 0u;
    }
    let left = wide_subtract(all, tile_start(task));
    return select(min(left.x, TILE), TILE, left.y > 0u);
}

@compute @workgroup_size(GROUP_SIZE)
fn count_matches(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    if task >= params.end {
        return;
    }
    let tile = open_tile(task, tile_start(task).x, lane);
    keep_count(task, lane, countOneBits(test_candidates(tile, candidates_of(task), lane)));
}

@compute @workgroup_size(GROUP_SIZE)
fn write_matches(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    if task >= params.end {
        return;
    }
    if !in_page(task) {
        return;
    }
    let tile = open_tile(task, tile_start(task).x, lane);
    let hits = test_candidates(tile, candidates_of(task), lane);
    open_places(task, lane, countOneBits(hits));
    for (var k = 0u; k < ITEMS; k++) {
        if ((hits >> k) & 1u) == 1u {
            let pair = candidate(tile, k * GROUP_SIZE + lane);
            put(subscription_id(pair.x), update_id(pair.y));
        }
    }
}

// Here a task is a tile of the page; the tiles of `firsts` begin at the page's first place.
@compute @workgroup_size(GROUP_SIZE)
fn write_all(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
             @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    if task >= params.end {
        return;
    }
    let tile = open_tile(task, params.page_first.x + task * TILE, lane);
    for (var k = 0u; k < ITEMS; k++) {
        let p = k * GROUP_SIZE + lane;
        let slot = task * TILE + p;
        if slot < page_len() {
            let found = candidate(tile, p);
            pairs[slot] = vec2(subscription_id(found.x), update_id(found.y));
        }
    }
}
