// The start of replicas by local teams.
//
// initial_insert   puts an event of pdes/window/start.wgsl into its replica's pool, in front of its
// LP's list
// settle_local     a workgroup orders the lists of a run and finds the first event
//
//   words   until then, after the failures and REPLICA_WORDS of all replicas, for each row of
//           shared_run.rows: 1 + the first slot of its LP, or 0
//
// import: pdes/replicas/team_local_pool.wgsl
// import: gpu/reduce.wgsl
// provides: Reduced, initial_insert, merge
// needs: Item, REPLICA_PUT, REPLICA_SAVED, REPLICA_STATUS, REPLICA_WORDS, STOP_NOT, event_before
// needs: event_time, replica_open, replica_row, run, shared_run

alias Reduced = vec2<u32>;

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return time_min(a, b);
}

// The head of a row's list until it is ordered.
fn begin_list(row: u32) -> u32 {
    return shared_run.failures + shared_run.groups * REPLICA_WORDS + row;
}

fn initial_insert(row: u32, event: Item) {
    let place = row / shared_run.total;
    let index = atomicAdd(&words[run.failures + REPLICA_PUT], 1u);
    if index >= shared_run.queue_capacity {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, index + 1u);
        return;
    }
    queue_events[place * shared_run.queue_capacity + index] = event;
    links[place * (shared_run.queue_capacity + shared_run.queue_stride) + index] = atomicExchange(&words[begin_list(row)], index + 1u);
}

@compute @workgroup_size(GROUP_SIZE)
fn settle_local(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    replica_open(place);
    let events = place * shared_run.queue_capacity;
    let next = place * (shared_run.queue_capacity + shared_run.queue_stride);
    var least = TIME_NEVER;
    for (var lp = lane; lp < shared_run.queue_stride; lp += GROUP_SIZE) {
        links[next + shared_run.queue_capacity + lp] = NONE;
        if lp >= shared_run.total { continue; }
        let row = place * shared_run.total + lp;
        var slot = atomicLoad(&words[begin_list(row)]);
        var head = NONE;
        // Bound: events of the LP, each inserted among those before it.
        while slot != 0u {
            let own = slot - 1u;
            slot = links[next + own];
            let event = queue_events[events + own];
            var before = NONE;
            var after = head;
            while after != NONE && !event_before(event, queue_events[events + after]) {
                before = after;
                after = links[next + after];
            }
            links[next + own] = after;
            if before == NONE { head = own; } else { links[next + before] = own; }
        }
        var first = TIME_NEVER;
        if head != NONE { first = event_time(queue_events[events + head]); }
        lps[row] = vec4<u32>(0u, 0u, head, 0u);
        lps[shared_run.rows + row] = vec4<u32>(0u);
        least = time_min(least, first);
    }
    // The free slots alternate between the two lists.
    let count = min(atomicLoad(&words[run.failures + REPLICA_PUT]), shared_run.queue_capacity);
    for (var i = count + lane; i < shared_run.queue_capacity; i += GROUP_SIZE) {
        links[next + i] = select(NONE, i + 2u, i + 2u < shared_run.queue_capacity);
    }
    let first = reduce_group(lane, least);
    if lane == 0u {
        let free = vec2<u32>(select(NONE, count, count < shared_run.queue_capacity), select(NONE, count + 1u, count + 1u < shared_run.queue_capacity));
        // A run that continues keeps the number of windows that began at this time.
        let status = replica_row(place, REPLICA_STATUS);
        let rounds = select(0u, lps[status].w, all(lps[status].xy == first));
        lps[status] = vec4<u32>(first, STOP_NOT, rounds);
        lps[replica_row(place, REPLICA_SAVED)] = vec4<u32>(0u, free, (shared_run.queue_capacity - count) & 1u);
    }
    if loops_cut(shared_run.rows) { fail(place * shared_run.total, LOOPS_CUT); }
}
