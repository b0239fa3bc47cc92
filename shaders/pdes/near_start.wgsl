// The start of replicas by near teams.
//
// begin_put     (for pdes/start.wgsl) puts an event anywhere into the pool of its replica, and notes which LP it is for
// settle_near   a workgroup makes lists of them, and finds the first event
//
//   links   until then, in the place of pool_free, the LP of each event
//
// import: pdes/near_pool.wgsl
// import: gpu/reduce.wgsl
//
// needs: run (pdes/run_of_replica.wgsl)

alias Reduced = vec2<u32>;

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return time_min(a, b);
}

fn begin_put(row: u32, event: Item) {
    let place = row / given.total;
    let index = atomicAdd(&words[run.failures + REPLICA_PUT], 1u);
    if index >= POOL {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, index + 1u);
        return;
    }
    queue_events[place * POOL + index] = event;
    links[place * (2u * POOL + LISTS) + POOL + index] = row - place * given.total;
}

@compute @workgroup_size(GROUP_SIZE)
fn settle_near(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    replica_open(place);
    let events = place * POOL;
    let next = place * (2u * POOL + LISTS);
    let free = next + POOL;
    let inboxes = free + POOL;
    let count = min(atomicLoad(&words[run.failures + REPLICA_PUT]), POOL);
    var least = TIME_NEVER;
    for (var lp = lane; lp < LISTS; lp += GROUP_SIZE) {
        var head = NONE;
        // Bound: the events at the start. Each goes before the first that is later: what was found first lies further down.
        for (var i = 0u; i < count; i += 1u) {
            if links[free + i] != lp { continue; }
            let event = queue_events[events + i];
            var before = NONE;
            var after = head;
            while after != NONE && !event_before(event, queue_events[events + after]) {
                before = after;
                after = links[next + after];
            }
            links[next + i] = after;
            if before == NONE { head = i; } else { links[next + before] = i; }
        }
        links[inboxes + lp] = NONE;
        if lp < given.total {
            let row = place * given.total + lp;
            var first = TIME_NEVER;
            if head != NONE { first = event_time(queue_events[events + head]); }
            lps[row] = vec4<u32>(first, head, 0u);
            lps[given.rows + row] = vec4<u32>(0u);
            least = time_min(least, first);
        }
    }
    storageBarrier();
    for (var i = lane; i < POOL - count; i += GROUP_SIZE) {
        links[free + i] = count + i;
    }
    let first = reduce_group(lane, least);
    if lane == 0u {
        lps[replica_row(place, REPLICA_STATUS)] = vec4<u32>(first, STOP_NOT, 0u);
        lps[replica_row(place, REPLICA_SAVED)] = vec4<u32>(0u, 0u, POOL - count, 0u);
    }
    if loops_cut(given.rows) { fail(place * given.total, LOOPS_CUT); }
}
