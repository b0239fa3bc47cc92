// The first step of reduce, scan and compact: every workgroup combines its share of the elements.
//
// input     elements, four to a vector; those from the count on are not used
// partials  one Acc per workgroup: its share combined
//
// One thread serves 16 elements of a tile at a time; a workgroup serves a contiguous run of tiles (`share`).
// import: primitives/count.wgsl

@group(0) @binding(3) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> partials: array<Acc>;

fn unit_at(word: u32, index: u32, n: u32) -> Acc {
    if index < n {
        return unit(lift(word));
    }
    return IDENTITY;
}

@compute @workgroup_size(GROUP_SIZE)
fn upsweep(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, at: Place
) {
    let n = length();
    let lane = lane_of(at);
    if group.x == 0u && lane == 0u {
        report_length();
    }
    let tile_size = GROUP_SIZE * VECTORS * 4u;
    let tiles = share(n, tile_size, group.x, groups.x);
    var sum = IDENTITY;
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * (GROUP_SIZE * VECTORS) + lane;
        if (tile + 1u) * tile_size <= n {
            var words: array<vec4<u32>, VECTORS>;
            for (var i = 0u; i < VECTORS; i++) {
                words[i] = input[first + i * GROUP_SIZE];
            }
            for (var i = 0u; i < VECTORS; i++) {
                let pair = combine(unit(lift(words[i].x)), unit(lift(words[i].y)));
                sum = combine(sum, combine(pair, combine(unit(lift(words[i].z)), unit(lift(words[i].w)))));
            }
        } else {
            for (var i = 0u; i < VECTORS; i++) {
                let vector = first + i * GROUP_SIZE;
                if vector * 4u < n {
                    let words = input[vector];
                    sum = combine(sum, unit_at(words.x, vector * 4u, n));
                    sum = combine(sum, unit_at(words.y, vector * 4u + 1u, n));
                    sum = combine(sum, unit_at(words.z, vector * 4u + 2u, n));
                    sum = combine(sum, unit_at(words.w, vector * 4u + 3u, n));
                }
            }
        }
    }
    let total = block_scan(at, sum).all;
    if lane == 0u {
        partials[group.x] = total;
    }
}
