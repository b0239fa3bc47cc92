// The time of the first pending event of a calendar, for a run that has stopped. While a run
// continues, windows need only its epoch.
//
// first_rows     each workgroup writes the earliest time of its rows to the partials of half 1,
// which are unused between calls
// first_of_all   one workgroup merges them and writes the earliest to half 0 of control
//
// import: pdes/calendar/calendar_sync.wgsl
// import: pdes/calendar/calendar_held.wgsl
// needs: event_time, reduce_group, run

// The earliest time of a row in the next bucket and in the open list.
fn first_of_row(row: u32) -> vec2<u32> {
    var first = TIME_NEVER;
    let marks = lps[control_row(0u, CONTROL_MARKS)].z;
    held_row = row;
    if marks != 0u {
        let turn = lps[control_row(0u, CONTROL_STATUS)].w & (PHASE_LIST - 1u);
        held_bucket = (turn + epochs_ahead(marks, turn)) % CALENDAR_BUCKETS;
        held_turn_page();
        while held_index < held_end {
            first = time_min(first, event_time(held_next()));
        }
    }
    held_bucket = CALENDAR_BUCKETS;
    held_turn_page();
    while held_index < held_end {
        first = time_min(first, event_time(held_next()));
    }
    return first;
}

@compute @workgroup_size(GROUP_SIZE)
fn first_rows(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    var mine = IDLE;
    if lps[control_row(0u, CONTROL_STATUS)].z != 0u {
        for (var tile = 0u; tile < TILES; tile += 1u) {
            let row = row_of(group, tile, lane);
            if row >= run.rows { break; }
            mine = merge(mine, vec4<u32>(first_of_row(row), 0u, 0u));
        }
    }
    let first = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        lps[2u * run.rows + run.groups + group] = first;
    }
    let served = row_of(group, 0u, lane);
    if served < run.rows && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}

@compute @workgroup_size(GROUP_SIZE)
fn first_of_all(@builtin(local_invocation_index) lane: u32) {
    let first = left_in_half(lane, 1u);
    if lane == 0u && lps[control_row(0u, CONTROL_STATUS)].z != 0u {
        let status = lps[control_row(0u, CONTROL_STATUS)];
        lps[control_row(0u, CONTROL_STATUS)] = vec4<u32>(first.xy, status.zw);
    }
    if loops_cut(run.rows) { fail(0u, LOOPS_CUT); }
}
