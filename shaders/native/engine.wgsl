// One event of one LP on the CPU: what the sequential engine calls of a model that it runs from its
// WGSL (src/pdes/sequential/native.rs). All effects of a call are in its state, in LP memory and in
// two lists. If a list is too short, the host undoes the call and repeats it with a longer one.
//
// run              seed, lookahead, total, replica and memory_rows as on a device; all others are 0
// memory           run.memory_rows rows of 4 words: those of the LP
// native_sent      the events that the call schedules
// native_replaced  the rows of LP memory that it replaces, in order
//
// The functions native_init, native_handle and native_output (native/output.wgsl) are the host's.
//
// import: pdes/model.wgsl
// import: pdes/run.wgsl
// provides: memory_full, memory_get, memory_set, schedule
// needs: Event, Payload, State, handle, init

struct NativeSent {
    event: Event,
    lp: u32,
    unused: u32,
}

struct NativeReplaced {
    row: vec4<u32>,
    index: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(1) var<storage, read_write> native_sent: array<NativeSent>;
@group(0) @binding(5) var<storage, read_write> native_replaced: array<NativeReplaced>;

// How many the present call needs room for.
var<private> native_sent_count: u32;
var<private> native_replaced_count: u32;

// The result of a call after which the host reads the two counts and lp_wrong; else the result is
// native_sent_count.
const NATIVE_TROUBLE = 0xffffffffu;

// Begins a call for an LP at a time. `number` counts the LP's events, and keys its stream.
fn native_open(lp: u32, number: vec2<u32>, time: vec2<u32>) {
    native_sent_count = 0u;
    native_replaced_count = 0u;
    lp_wrong = 0u;
    lp_now = time;
    stream_open(run.seed, lp, number);
}

// Ends a call. Returns its result.
fn native_close() -> u32 {
    let short = (native_sent_count > arrayLength(&native_sent))
        | (native_replaced_count > arrayLength(&native_replaced));
    return select(native_sent_count, NATIVE_TROUBLE, short | (lp_wrong != 0u));
}

fn native_init(lp: u32, state: ptr<function, State>) -> u32 {
    native_open(lp, vec2<u32>(0u), TIME_ZERO);
    init(lp, state);
    return native_close();
}

fn native_handle(lp: u32, low: u32, high: u32, event: Event, state: ptr<function, State>) -> u32 {
    native_open(lp, vec2<u32>(low, high), event.time);
    handle(lp, event, state);
    return native_close();
}

// The host checks the LP and the time.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    if native_sent_count < arrayLength(&native_sent) {
        native_sent[native_sent_count] = NativeSent(Event(time, payload), lp, 0u);
    }
    native_sent_count += 1u;
}

// A row of the LP's memory. A row beyond the memory ends the run with a failure, and is zero.
fn memory_get(index: u32) -> vec4<u32> {
    if index >= run.memory_rows {
        memory_full();
        return vec4<u32>(0u);
    }
    return memory[index];
}

// Changes a row of the LP's memory. A row beyond the memory ends the run with a failure.
fn memory_set(index: u32, row: vec4<u32>) {
    if index >= run.memory_rows {
        memory_full();
        return;
    }
    if native_replaced_count < arrayLength(&native_replaced) {
        native_replaced[native_replaced_count] = NativeReplaced(memory[index], index, 0u, 0u, 0u);
        memory[index] = row;
    }
    native_replaced_count += 1u;
}

// Ends the run with the failure that the LP's memory is full.
fn memory_full() {
    lp_wrong |= 1u << MEMORY_FULL;
}
