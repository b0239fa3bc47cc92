// Load balancing: the range that holds the first candidate of each tile of TILE candidates.
//
// places  start of each range among all candidates (64 bits), and then their total; the first is 0
// firsts  for tile t, the last range that begins at or before candidate params.candidate + t TILE
//
// One invocation per tile.
//
// provides: Sought, goes_before, params
//
// bounds: as in matching/common.wgsl. `places` has one entry more than there are ranges. `firsts`
// has room for all tiles of the page, with which an invocation's number is compared.

// import: gpu/search.wgsl
// import: gpu/wide.wgsl
// import: matching/common.wgsl

struct FirstsParams {
    // The first candidate of the first tile.
    candidate: vec2<u32>,
    tiles: u32,
    ranges: u32,
}

@group(0) @binding(0) var<uniform> params: FirstsParams;
@group(0) @binding(1) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> firsts: array<u32>;

alias Sought = vec2<u32>;

fn goes_before(range: u32, sought: Sought) -> bool {
    return !wide_less(sought, places[range]);
}

@compute @workgroup_size(GROUP_SIZE)
fn find_firsts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let t = group_number(group, groups) * GROUP_SIZE + lane;
    if t < params.tiles {
        firsts[t] = search(1u, params.ranges, wide_add(params.candidate, tile_start(t))) - 1u;
    }
}
