// Load balancing: which range holds the first candidate of each tile of TILE candidates.
//
// places  where each range begins among all candidates (64 bits), params.extra of them and then the total
// firsts  for tile t the last range that begins at or before candidate params.window + t TILE; one more than there are tiles
//
// One thread per tile.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/tile.wgsl

@group(0) @binding(3) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> firsts: array<u32>;

@compute @workgroup_size(SIZE)
fn find_firsts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let t = number(group, groups) * SIZE + lane;
    if t < params.end {
        let wanted = add(params.window, tile_start(t));
        // The first range begins at 0. At most 32 rounds.
        var first = 0u;
        var last = params.extra - 1u;
        while first < last {
            let middle = last - (last - first) / 2u;
            if at_most(places[middle], wanted) {
                first = middle;
            } else {
                last = middle - 1u;
            }
        }
        firsts[t] = first;
    }
}
