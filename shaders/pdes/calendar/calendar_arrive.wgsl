// Puts events from LPs of other parts (pdes/parts/outbox.wgsl) into a calendar, before the next
// window reads it. pdes/parts/arrive.wgsl does so for mailboxes, with the same arrivals.
//
// The dispatch has the parity of the window before: the next one reads the other half of control.
// An invocation serves one arrival or several.
//
// import: pdes/calendar/calendar_send.wgsl
// needs: EVENT_WORDS, run, words_event

@group(0) @binding(33) var<storage, read> arrivals: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn arrive(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let count = arrivals[0];
    let stride = groups.x * GROUP_SIZE;
    let phase = lps[control_row(1u - run.part.parity, CONTROL_STATUS)].w;
    calendar_base = lps[control_row(1u - run.part.parity, CONTROL_EPOCH)].xy;
    calendar_turn = phase & (PHASE_LIST - 1u);
    calendar_list = u32((phase & PHASE_LIST) != 0u);
    calendar_far = TIME_NEVER;
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
        calendar_send(row, words_event(event));
    }
    calendar_sent();
    // Most bits are there already, and a read waits for no other invocation.
    if (calendar_marks & ~atomicLoad(&words[ARRIVED_MARKS])) != 0u {
        atomicOr(&words[ARRIVED_MARKS], calendar_marks);
    }
    if any(calendar_far != TIME_NEVER) {
        let epochs = epoch_split(time_since(calendar_far, calendar_base)).epochs;
        atomicMax(&words[ARRIVED_LISTED], select(~epochs.x, 1u, (epochs.y != 0u) | (epochs.x == 0xffffffffu)));
    }
    if id.x < count && loops_cut(run.rows) { fail(0u, LOOPS_CUT); }
}
