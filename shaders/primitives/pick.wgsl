// The last step of a compaction: every workgroup writes the kept elements of its share, from its
// place on. `pick_indices` writes their indices, `pick_values` their values.
//
// input     flags, four to a vector
// partials  one 64-bit number per workgroup: kept elements before its share
// output    the kept elements, in their order
// values    of `pick_values`: the elements
//
// One invocation serves 16 elements of a tile at a time. Acc is one word.
// import: primitives/params.wgsl
// needs: Acc, GROUP_SIZE, Place, block_scan, lane_of
//
// bounds: as in params.wgsl. Picked elements go below the number of flags that `upsweep` counted,
// in the same dispatches of a plan. Loops count to VECTORS and the tiles of a share.

@group(0) @binding(3) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> partials: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> output: array<u32>;
@group(0) @binding(6) var<storage, read> values: array<u32>;

// For each vector of the tile, the place in the output of its first kept element.
override ROWS: u32 = VECTORS * GROUP_SIZE;
var<workgroup> rows: array<Acc, ROWS>;

// The index in the input of the invocation's vector `i` of a tile.
fn vector_of(tile: u32, i: u32, lane: u32) -> u32 {
    return tile * (GROUP_SIZE * VECTORS) + i * GROUP_SIZE + lane;
}

// The kept elements of the invocation's vectors, as zeros and ones; sets `rows`. `carry` is the
// number kept before the tile, afterwards before the next one.
fn find_places(at: Place, tile: u32, n: u32, carry: ptr<function, u32>) -> array<vec4<u32>, VECTORS> {
    let lane = lane_of(at);
    var keeps: array<vec4<u32>, VECTORS>;
    for (var i = 0u; i < VECTORS; i++) {
        let vector = vector_of(tile, i, lane);
        var keep = vec4(0u);
        if vector * 4u < n {
            let place = vector * 4u + vec4(0u, 1u, 2u, 3u);
            keep = select(vec4(0u), vec4(1u), (input[vector] != vec4(0u)) & (place < vec4(n)));
        }
        keeps[i] = keep;
        rows[i * GROUP_SIZE + lane] = keep.x + keep.y + keep.z + keep.w;
    }
    workgroupBarrier();
    var mine: array<u32, VECTORS>;
    var sum = 0u;
    for (var i = 0u; i < VECTORS; i++) {
        mine[i] = sum;
        sum += rows[lane * VECTORS + i];
    }
    let scanned = block_scan(at, sum);
    for (var i = 0u; i < VECTORS; i++) {
        rows[lane * VECTORS + i] = *carry + scanned.before + mine[i];
    }
    *carry += scanned.all;
    workgroupBarrier();
    return keeps;
}

// The places of the four elements of the invocation's vector `i`, if they are kept.
fn places(i: u32, lane: u32, keep: vec4<u32>) -> vec4<u32> {
    let first = rows[i * GROUP_SIZE + lane];
    return first + vec4(0u, keep.x, keep.x + keep.y, keep.x + keep.y + keep.z);
}

@compute @workgroup_size(GROUP_SIZE)
fn pick_indices(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, at: Place
) {
    let n = length();
    let lane = lane_of(at);
    let tiles = share(n, GROUP_SIZE * VECTORS * 4u, group.x, groups.x);
    var carry = partials[group.x].x;
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let keeps = find_places(at, tile, n, &carry);
        for (var i = 0u; i < VECTORS; i++) {
            let element = vector_of(tile, i, lane) * 4u;
            let keep = keeps[i];
            let to = places(i, lane, keep);
            if keep.x != 0u { output[to.x] = element; }
            if keep.y != 0u { output[to.y] = element + 1u; }
            if keep.z != 0u { output[to.z] = element + 2u; }
            if keep.w != 0u { output[to.w] = element + 3u; }
        }
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn pick_values(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, at: Place
) {
    let n = length();
    let lane = lane_of(at);
    let tiles = share(n, GROUP_SIZE * VECTORS * 4u, group.x, groups.x);
    var carry = partials[group.x].x;
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let keeps = find_places(at, tile, n, &carry);
        for (var i = 0u; i < VECTORS; i++) {
            let element = vector_of(tile, i, lane) * 4u;
            let keep = keeps[i];
            let to = places(i, lane, keep);
            if keep.x != 0u { output[to.x] = values[element]; }
            if keep.y != 0u { output[to.y] = values[element + 1u]; }
            if keep.z != 0u { output[to.z] = values[element + 2u]; }
            if keep.w != 0u { output[to.w] = values[element + 3u]; }
        }
    }
}
