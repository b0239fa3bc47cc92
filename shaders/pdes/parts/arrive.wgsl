// Puts events from LPs of other parts (pdes/parts/outbox.wgsl) into the mailboxes that the next
// window reads.
//
//   arrivals   their number, then an LP and the words of an event for each
//
// The dispatch has the parity of the window before and fills the same mailboxes. An invocation
// serves one arrival or several.
//
// import: pdes/engine.wgsl
// needs: EVENT_WORDS, mail_slot, run, store_put, store_split, words_event

@group(0) @binding(33) var<storage, read> arrivals: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn arrive(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let count = arrivals[0];
    let stride = groups.x * GROUP_SIZE;
    // Bound: the host launches an invocation for each arrival, or for each few.
    for (var i = id.x; i < count; i += stride) {
        let first = 1u + i * (1u + EVENT_WORDS);
        let row = row_at(arrivals[first]);
        if row >= run.rows {
            // No part of this run sent it.
            fail(0u, DESTINATION);
            continue;
        }
        var event: array<u32, EVENT_WORDS>;
        for (var word = 0u; word < EVENT_WORDS; word += 1u) {
            event[word] = arrivals[first + 1u + word];
        }
        let index = atomicAdd(&words[mail_count(1u - run.part.parity, row)], 1u);
        if index >= run.mail_capacity {
            fail_room(row, MAILBOX_FULL, MAIL_NEEDED, index + 1u);
            continue;
        }
        let at = store_split(row);
        store_put(at.x, mail_slot(row, at.y, index), words_event(event));
    }
    if id.x < count && loops_cut(run.rows) { fail(0u, LOOPS_CUT); }
}
