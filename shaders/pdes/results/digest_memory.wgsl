// The fingerprint of LP memory: each invocation reads some of the rows of a part. Zero rows add
// nothing, so the result is independent of the number of rows.
//
//   memory    run.memory_rows rows of 4 words for each of the run.part.queue_rows LPs from row
//             run.part.memory_first on
//   digests   from run.part.first_group on: one 64-bit sum per workgroup
//
// import: pdes/engine.wgsl
// import: pdes/results/fingerprint.wgsl
// import: gpu/reduce.wgsl
// provides: Reduced, merge
// needs: run

// Rows of memory that an invocation reads at most.
const SPAN = 64u;

@group(0) @binding(7) var<storage, read> memory: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> digests: array<vec2<u32>>;

alias Reduced = vec2<u32>;

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return wide_add(a, b);
}

@compute @workgroup_size(GROUP_SIZE)
fn digest_memory(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let places = run.part.queue_rows * run.memory_rows;
    var mine = vec2<u32>(0u);
    for (var i = 0u; i < SPAN; i += 1u) {
        let place = (id.x * SPAN + i) * GROUP_SIZE + lane;
        if place >= places { break; }
        let held = memory[place];
        if all(held == vec4<u32>(0u)) { continue; }
        var lanes = digest_begin(DIGEST_MEMORY, name_of(run.part.memory_first + place / run.memory_rows));
        lanes = mix_word(lanes, place % run.memory_rows);
        lanes = mix_word(mix_word(mix_word(mix_word(lanes, held.x), held.y), held.z), held.w);
        mine = wide_add(mine, mix_end(lanes));
    }
    let sum = reduce_group(lane, mine);
    if lane == 0u {
        digests[run.part.first_group + id.x] = sum;
    }
}
