// What an LP answers to what arrives, from the model, for relaxations to use without it (pdes/neighbours_relax.wgsl).
//
// Functions: answers_keep.
//
// import: pdes/model.wgsl
// import: pdes/bounds.wgsl
//
// needs: answer (the model or pdes/answer_default.wgsl)

// Keeps the answer of a row.
fn answers_keep(row: u32) {
    let name = name_of(row);
    lp_row = row;
    lp_now = TIME_ZERO;
    stream_open(run.seed, name, wide_add(lps[run.rows + row].xy, vec2<u32>(1u, 0u)));
    var state = states[row];
    let found = answer(name, &state);
    lps[answer_row(row)] = vec4<u32>(found.since, found.delay);
}
