// The first step of a radix sort's pass: the counts of each digit in each workgroup's share.
//
// keys    the keys in their current order: one array, or several with starts params.array_length
//         apart
// counts  laid out as `counts_start` documents; digits.wgsl fills the rows of chunks and arrays
//
// One invocation serves ITEMS keys of a tile; a workgroup serves a contiguous run of an array's
// tiles (`part_tiles`).
// import: primitives/params.wgsl
// needs: GROUP_SIZE, ITEMS, ITEMS_MOST, Key, Place, digit_of, lane_of
//
// bounds: as in params.wgsl. A digit is masked to 8 bits at most (`Params::digit_mask`), and rows
// of `counts` are those of digits.wgsl. Loops count to ITEMS, 256 digits and the tiles of a share.

@group(0) @binding(3) var<storage, read> keys: array<Key>;
@group(0) @binding(4) var<storage, read_write> counts: array<u32>;

var<workgroup> bins: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(GROUP_SIZE)
fn histogram(@builtin(workgroup_id) group: vec3<u32>, at: Place) {
    let n = length();
    let lane = lane_of(at);
    if group.x == 0u && lane == 0u {
        report_length();
    }
    for (var digit = lane; digit < DIGITS; digit += GROUP_SIZE) {
        atomicStore(&bins[digit], 0u);
    }
    workgroupBarrier();
    let tile_size = GROUP_SIZE * ITEMS;
    let start = array_start(group.x);
    let tiles = part_tiles(n, tile_size, group.x);
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * tile_size + lane;
        // All loads first, so that they overlap.
        var mine: array<Key, ITEMS_MOST>;
        for (var i = 0u; i < ITEMS; i++) {
            if first + i * GROUP_SIZE < n {
                mine[i] = keys[start + first + i * GROUP_SIZE];
            }
        }
        for (var i = 0u; i < ITEMS; i++) {
            if first + i * GROUP_SIZE < n {
                atomicAdd(&bins[digit_of(mine[i])], 1u);
            }
        }
    }
    workgroupBarrier();
    let row = counts_start(group.x / params.groups) + DIGITS * (group.x % params.groups);
    for (var digit = lane; digit < DIGITS; digit += GROUP_SIZE) {
        counts[row + digit] = atomicLoad(&bins[digit]);
    }
}
