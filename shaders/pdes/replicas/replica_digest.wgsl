// The fingerprints of replicas: a workgroup for each, whatever the mapping of its run.
//
//   digests   by place, a 64-bit sum
//
// import: pdes/results/digest.wgsl
// needs: held_apart, replica_open, run, shared_run

@group(0) @binding(7) var<storage, read> memory: array<vec4<u32>>;

// The digest of a row of LP memory; a zero row adds nothing.
fn digest_memory_row(name: u32, index: u32, held: vec4<u32>) -> vec2<u32> {
    if all(held == vec4<u32>(0u)) { return vec2<u32>(0u); }
    var lanes = mix_word(digest_begin(DIGEST_MEMORY, name), index);
    lanes = mix_word(mix_word(mix_word(mix_word(lanes, held.x), held.y), held.z), held.w);
    return mix_end(lanes);
}

@compute @workgroup_size(GROUP_SIZE)
fn digest_replica(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    replica_open(place);
    let first = place * shared_run.total;
    var mine = held_apart(place, lane);
    // Bounds: the LPs, and rows of LP memory, of each invocation.
    for (var lp = lane; lp < shared_run.total; lp += GROUP_SIZE) {
        mine = wide_add(mine, digest_lp(first + lp));
    }
    let rows = shared_run.total * run.memory_rows;
    for (var i = lane; i < rows; i += GROUP_SIZE) {
        let index = i % run.memory_rows;
        mine = wide_add(mine, digest_memory_row(i / run.memory_rows, index, memory[first * run.memory_rows + i]));
    }
    let sum = reduce_group(lane, mine);
    if lane == 0u { digests[place] = sum; }
    if loops_cut(shared_run.rows) { atomicMax(&words[DIGEST_CUT], 1u + first + min(lane, shared_run.total - 1u)); }
}
