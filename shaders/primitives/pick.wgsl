// The last step of a compaction: every workgroup writes what its share keeps, from its place on.
//
// input     flags, four to a vector
// partials  one 64-bit number per workgroup: how many elements are kept before its share
// output    the kept elements, in their order
//
// One thread serves 16 elements of a tile at a time.
// import: primitives/count.wgsl

@group(0) @binding(3) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> partials: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> output: array<u32>;

var<workgroup> rows: array<Acc, VECTORS * GROUP_SIZE>;

@compute @workgroup_size(GROUP_SIZE)
fn pick(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, at: Place
) {
    let n = length();
    let lane = lane_of(at);
    let tiles = share(n, GROUP_SIZE * VECTORS * 4u, group.x, groups.x);
    var carry = partials[group.x].x;
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * (GROUP_SIZE * VECTORS) + lane;
        var keeps: array<vec4<u32>, VECTORS>;
        for (var i = 0u; i < VECTORS; i++) {
            let vector = first + i * GROUP_SIZE;
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
            rows[lane * VECTORS + i] = carry + scanned.before + mine[i];
        }
        carry += scanned.all;
        workgroupBarrier();
        for (var i = 0u; i < VECTORS; i++) {
            let element = (first + i * GROUP_SIZE) * 4u;
            var to = rows[i * GROUP_SIZE + lane];
            let keep = keeps[i];
            if keep.x != 0u {
                output[to] = picked(element);
            }
            to += keep.x;
            if keep.y != 0u {
                output[to] = picked(element + 1u);
            }
            to += keep.y;
            if keep.z != 0u {
                output[to] = picked(element + 2u);
            }
            to += keep.z;
            if keep.w != 0u {
                output[to] = picked(element + 3u);
            }
        }
    }
}
