// Runs process models without the general engine: an invocation makes a replication, a slice of
// its events at a time. Events, draws and the fingerprint are those of `pdes` with one LP, whose
// rows lie in process_memory. Within a slice the state is a local variable.
//
// The rows of a replication lie where process_place says: side by side on a device
// (process/run/many.wgsl), one after the other on the CPU (process/run/one.wgsl).
//
// import: gpu/loops.wgsl
// import: gpu/wide.wgsl
// import: pdes/payload_2.wgsl
// import: pdes/results/fingerprint.wgsl
// import: process/run/pending.wgsl
// import: random/stream.wgsl
// import: time/ticks.wgsl
// provides: PROCESS_PENDING, memory_full, memory_get, memory_set, now, process_given, process_slot
// provides: process_trouble, stream_named
// needs: ENTITIES, STATE_ROWS, STRIDE, State (print::wgsl)
// needs: execute, loaded_state, machine, open_event, open_run, params_open, process_place
// needs: store_results, store_state
//
// bounds: rows are those of the program and of entities below its room, which `spawn` checks. Loops
// count to values that do not change, or take an event of the slice.

struct ProcessGiven {
    // Never read and always zero, because of Mesa's lavapipe: see `struct Run` in
    // shaders/pdes/engine.wgsl.
    unread: vec2<u32>,
    until: vec2<u32>,
    jobs: u32,    // replications of the batch
    events: u32,  // of a slice
    rows: u32,    // that a slice hashes
    pending: u32, // room for pending events
}

@group(0) @binding(0) var<uniform> process_given: ProcessGiven;
// By replication: the key of its streams, its point, 0.
@group(0) @binding(1) var<storage, read> process_jobs: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> process_saved: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> process_memory: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> process_results: array<vec4<u32>>;
// Replications that are not done, and events of this slice.
@group(0) @binding(6) var<storage, read_write> process_running: array<atomic<u32>>;

// Rows of the saved state: (status, trouble, events, pending events); (fingerprint (2), items that
// are in it, whether nothing was pending at the end); then the state.
const SAVED_STATE = 2u;

const PROCESS_FRESH = 0u;
const PROCESS_ACTIVE = 1u;
const PROCESS_ENDED = 2u; // its fingerprint is not complete
const PROCESS_DONE = 3u;

// Trouble, as bits: too little room for entities or for pending events, or a driver ended a loop.
const PROCESS_FULL = 1u;
const PROCESS_PENDING = 2u;
const PROCESS_CUT = 4u;

// SUBSTREAM | SUBSTREAM_NAMED of pdes/model.wgsl. (A run has fewer than 2^32 events.)
const PROCESS_NAMED = 0xc0000000u;

var<private> process_slot: u32; // of the batch
var<private> process_now: vec2<u32>;
var<private> process_trouble: u32;

fn now() -> vec2<u32> {
    return process_now;
}

fn stream_named(name: vec2<u32>, number: u32) {
    stream_enter(PROCESS_NAMED, vec3<u32>(name, number));
}

fn memory_get(index: u32) -> vec4<u32> {
    return process_memory[process_place(index)];
}

fn memory_set(index: u32, row: vec4<u32>) {
    process_memory[process_place(index)] = row;
}

fn memory_full() {
    process_trouble |= PROCESS_FULL;
}

fn saved_get(index: u32) -> vec4<u32> {
    return process_saved[process_place(index)];
}

fn saved_set(index: u32, row: vec4<u32>) {
    process_saved[process_place(index)] = row;
}

fn result_set(index: u32, row: vec4<u32>) {
    process_results[process_place(index)] = row;
}

// Adds some items to the fingerprint of a run that ended: the state, rows of memory, pending
// events. Returns how many are in it then, or ALL_HASHED.
const ALL_HASHED = 0xffffffffu;

fn hash_items(first: u32, fresh: u32, hash: ptr<function, vec2<u32>>) -> u32 {
    let rows = ENTITIES + fresh * STRIDE;
    let items = rows + pending_held + 1u;
    let end = min(items, first + process_given.rows);
    // Bound: process_given.rows.
    for (var item = first; item < end; item += 1u) {
        var lanes = digest_begin(select(DIGEST_MEMORY, DIGEST_PENDING, item > rows), 0u);
        var row = vec4<u32>(0u);
        if item == 0u {
            lanes = digest_begin(DIGEST_STATE, 0u);
            for (var i = 0u; i < STATE_ROWS - 1u; i += 1u) { lanes = mix_item(lanes, saved_get(SAVED_STATE + i)); }
            row = saved_get(SAVED_STATE + STATE_ROWS - 1u);
        } else if item > rows {
            row = pending_get(item - rows);
        } else {
            lanes = mix_word(lanes, item - 1u);
            row = memory_get(item - 1u);
            // Unused rows have no hash.
            if all(row == vec4<u32>(0u)) { continue; }
        }
        *hash = wide_add(*hash, mix_end(mix_item(lanes, row)));
    }
    return select(end, ALL_HASHED, end == items);
}

// Runs a slice of the replication in a slot of the batch.
fn process_slice(slot: u32) {
    process_slot = slot;
    let saved = saved_get(0u);
    if saved.x == PROCESS_DONE { return; }
    let kept = saved_get(1u);
    let job = process_jobs[slot];
    params_open(job.z);
    stream_open(job.xy, 0u, TIME_ZERO);
    process_trouble = 0u;
    var status = saved.x;
    var events = saved.z;
    var hash = kept.xy;
    var hashed = kept.z;
    var empty = kept.w;
    // Zeros before the first slice.
    var state = loaded_state();
    pending_open(saved.w, status == PROCESS_FRESH);
    let begun = digest_begin(DIGEST_EXECUTED, 0u);
    // Bound: process_given.events, and one to begin. (Compilers copy `execute` to each call.)
    for (var left = process_given.events; status <= PROCESS_ACTIVE && process_trouble == 0u; left -= 1u) {
        let begins = status == PROCESS_FRESH;
        var first = vec4<u32>(0u);
        if !begins {
            first = pending_first();
            if !time_less(first.xy, process_given.until) {
                status = PROCESS_ENDED;
                empty = u32(pending_held == 0u);
                break;
            }
            if left == 0u { break; }
            events += 1u;
            hash = wide_add(hash, digest_event(begun, first));
            pending_take();
        }
        status = PROCESS_ACTIVE;
        process_now = first.xy;
        var m = machine(0u);
        var executes = true;
        if begins {
            open_run(&state, &m);
        } else {
            executes = open_event(item_event(first), &state, &m);
        }
        if executes { execute(&state, &m); }
    }
    store_state(&state);
    if status == PROCESS_ENDED {
        hashed = hash_items(hashed, state.r0.y, &hash);
        if hashed == ALL_HASHED {
            store_results(&state);
            status = PROCESS_DONE;
        }
    }
    if loops_cut(process_given.jobs) { process_trouble |= PROCESS_CUT; }
    status = select(status, PROCESS_DONE, process_trouble != 0u);
    saved_set(0u, vec4<u32>(status, process_trouble, events, pending_held));
    saved_set(1u, vec4<u32>(hash, hashed, empty));
    atomicAdd(&process_running[0], u32(status != PROCESS_DONE));
    atomicAdd(&process_running[1], events - saved.z);
}

override GROUP_SIZE: u32 = 32u;

@compute @workgroup_size(GROUP_SIZE)
fn process_kernel(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let slot = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if slot < process_given.jobs { process_slice(slot); }
}
