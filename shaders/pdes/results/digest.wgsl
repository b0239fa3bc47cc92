// The fingerprint of final states and pending events, added to that of the executed events (one
// invocation per LP). pdes/results/digest_memory.wgsl covers LP memory. Runs between calls, when
// half 0 is valid.
//
//   state_rows   the states as run.state_words words per LP, whatever struct the model declares
//   digests      one 64-bit sum per workgroup, over its LPs
//
// import: pdes/engine.wgsl
// import: pdes/results/fingerprint.wgsl
// import: gpu/reduce.wgsl
// provides: Reduced, merge
// needs: held_more, held_next, held_open, run, run_begin

@group(0) @binding(6) var<storage, read> state_rows: array<u32>;
@group(0) @binding(33) var<storage, read_write> digests: array<vec2<u32>>;

alias Reduced = vec2<u32>;

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return wide_add(a, b);
}

fn digest_lp(row: u32) -> vec2<u32> {
    let name = name_of(row);
    var sum = lps[run.rows + row].zw;
    var state = mix_word(mix_start(DIGEST_STATE), name);
    // Bounds: the words of a state, then the LP's pending events.
    for (var i = 0u; i < run.state_words; i += 1u) {
        state = mix_word(state, state_rows[row * run.state_words + i]);
    }
    sum = wide_add(sum, mix_end(state));
    let pending = digest_begin(DIGEST_PENDING, name);
    held_open(row);
    while held_more() {
        sum = wide_add(sum, digest_event(pending, held_next()));
    }
    return sum;
}

@compute @workgroup_size(GROUP_SIZE)
fn digest(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    run_begin();
    let group = group_number(id);
    var mine = vec2<u32>(0u);
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let row = row_of(group, tile, lane);
        if row >= run.rows { break; }
        mine = wide_add(mine, digest_lp(row));
    }
    let sum = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        digests[group] = sum;
    }
    let served = row_of(group, 0u, lane);
    if served < run.rows && loops_cut(run.rows) { atomicMax(&words[DIGEST_CUT], 1u + served); }
}
