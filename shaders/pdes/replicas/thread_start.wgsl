// The start of replicas by threads.
//
// initial_insert   puts an event of pdes/window/start.wgsl into its replica's queue, and counts it
// settle_thread    a workgroup orders the queue of a run
//
// import: pdes/replicas/thread_queue.wgsl
// import: pdes/replicas/thread_keys.wgsl
// provides: initial_insert, keys_found
// needs: Item, REPLICA_PUT, REPLICA_SAVED, REPLICA_STATUS, STOP_NOT, event_time, replica_open
// needs: replica_row, run, shared_run

fn keys_found(key: vec4<u32>) {}

fn initial_insert(row: u32, event: Item) {
    let place = row / shared_run.total;
    let index = atomicAdd(&words[run.failures + REPLICA_PUT], 1u);
    if index >= run.queue_capacity {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, index + 1u);
        return;
    }
    keys_open(place, 0u, 0u);
    store[keys_pool + index] = event;
    keys_set(index, vec4<u32>(event_time(event), row - place * shared_run.total, index));
}

@compute @workgroup_size(GROUP_SIZE)
fn settle_thread(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    replica_open(place);
    let length = min(atomicLoad(&words[run.failures + REPLICA_PUT]), run.queue_capacity);
    keys_open(place, length, 0u);
    // Free slots. Bound: the slots of each invocation.
    for (var i = length + lane; i < run.queue_capacity + 3u; i += GROUP_SIZE) {
        keys_set(i, keys_free(i));
    }
    for (var lp = lane; lp < shared_run.total; lp += GROUP_SIZE) {
        let row = place * shared_run.total + lp;
        lps[row] = vec4<u32>(0u);
        lps[shared_run.rows + row] = vec4<u32>(0u);
    }
    if lane == 0u {
        keys_order(length);
        var first = TIME_NEVER;
        if length > 0u { first = keys_get(0u).xy; }
        lps[replica_row(place, REPLICA_STATUS)] = vec4<u32>(first, STOP_NOT, 0u);
        lps[replica_row(place, REPLICA_SAVED)] = vec4<u32>(length, 0u, 0u, 0u);
    }
    if loops_cut(shared_run.rows) { fail(place * shared_run.total, LOOPS_CUT); }
}
