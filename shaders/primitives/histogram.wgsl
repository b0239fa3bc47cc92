// The first step of a radix sort's pass: how often each digit occurs in each workgroup's share.
//
// keys    the keys in their present order: one array, or several one after the other, task.array_length from the beginning of one
//         to that of the next
// counts  counts[digit * task.options + workgroup], per array; then 256 words for digits.wgsl
//
// One thread serves ITEMS keys of a tile; a workgroup serves a contiguous run of an array's tiles (`share`). task.options
// workgroups serve an array.
// import: primitives/count.wgsl

const DIGITS = 256u;

@group(0) @binding(3) var<storage, read> keys: array<Key>;
@group(0) @binding(4) var<storage, read_write> counts: array<u32>;

var<workgroup> bins: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(GROUP_SIZE)
fn histogram(
    @builtin(workgroup_id) group: vec3<u32>, at: Place
) {
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
    let array_index = group.x / task.options;
    let part = group.x % task.options;
    let start = array_index * task.array_length;
    let tiles = share(n, tile_size, part, task.options);
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * tile_size + lane;
        // All loads first, so that they wait together.
        var mine: array<Key, ITEMS>;
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
    for (var digit = lane; digit < DIGITS; digit += GROUP_SIZE) {
        counts[array_index * DIGITS * (task.options + 1u) + digit * task.options + part] = atomicLoad(&bins[digit]);
    }
}
