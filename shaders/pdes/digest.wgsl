// The fingerprint of final states and pending events (one thread per LP), added to that of the executed events.
//
//   state_rows   the states as words, run.state_words per LP, whatever struct the model made of them
//   digests      one 64-bit sum per workgroup, over its LPs
//
// import: pdes/engine.wgsl
// import: pdes/fingerprint.wgsl
//
// needs: a queue

override GROUP: u32 = 64u;   // threads of a workgroup

@group(0) @binding(7) var<storage, read> state_rows: array<u32>;
@group(0) @binding(8) var<storage, read_write> digests: array<vec2<u32>>;

var<workgroup> digest_rows: array<vec2<u32>, GROUP>;

fn digest_lp(lp: u32) -> vec2<u32> {
    var sum = lps[run.lps + lp].zw;
    var state = digest_start(DIGEST_STATE, lp);
    // Bounds: the words of a state, then what the queue and the mailbox hold.
    for (var i = 0u; i < run.state_words; i += 1u) {
        state = digest_word(state, state_rows[lp * run.state_words + i]);
    }
    sum = digest_add(sum, digest_end(state));
    queue_open(lp, lps[lp].zw);
    for (var i = 0u; i < queue_size(); i += 1u) {
        sum = digest_add(sum, digest_event(DIGEST_PENDING, lp, queue_peek(i)));
    }
    let mailbox = mail_half() * run.lps + lp;
    let mails = min(atomicLoad(&mail_counts[mailbox]), run.mail_capacity);
    for (var i = 0u; i < mails; i += 1u) {
        sum = digest_add(sum, digest_event(DIGEST_PENDING, lp, mail_events[mailbox * run.mail_capacity + i]));
    }
    return sum;
}

@compute @workgroup_size(GROUP)
fn digest(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let lp = group * GROUP + lane;
    var mine = vec2<u32>(0u);
    if lp < run.lps {
        mine = digest_lp(lp);
    }
    digest_rows[lane] = mine;
    workgroupBarrier();
    if lane == 0u && group < run.groups {
        var sum = vec2<u32>(0u);
        for (var i = 0u; i < GROUP; i += 1u) {
            sum = digest_add(sum, digest_rows[i]);
        }
        digests[group] = sum;
    }
    if loops_cut(run.lps) { atomicMax(&control[DIGEST_CUT], 1u + min(lp, run.lps - 1u)); }
}
