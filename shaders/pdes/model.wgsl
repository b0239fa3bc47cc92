// What a model may use: events, draws, LP memory, schedule. The model provides State, init and
// handle.
//
// import: random/philox.wgsl
// import: random/stream.wgsl
// import: random/distributions.wgsl
// import: pdes/engine.wgsl
// provides: Answer, lp_count, lp_now, now, states_get, stream_named
// needs: State, run

// States and their accessors. For states of 16-byte or 8-byte words, the linker writes these lines
// (src/gpu/words.rs).
@group(0) @binding(6) var<storage, read_write> states: array<State>;
fn states_get(row: u32) -> State { return states[row]; }
fn states_set(row: u32, value: State) { states[row] = value; }
@group(0) @binding(7) var<storage, read_write> memory: array<vec4<u32>>;

// A model's bound for arrivals (pdes/bounds/answers.wgsl): whatever arrives at a time, the LP sends
// nothing to others because of it before max(that time, since) + delay.
struct Answer {
    since: vec2<u32>,
    delay: vec2<u32>,
}

var<private> lp_row: u32;        // the LP whose `init` or `handle` runs
var<private> lp_now: vec2<u32>;  // the time of its present event
// Failures of the present event, a bit for each kind. Recording them takes no branch, because
// compilers inline functions and a model calls many of them.
var<private> lp_wrong: u32;

// Reports these failures. Call it after each function of the model, except in speculative
// execution, in which nothing fails.
fn record_failure() {
    if lp_wrong != 0u {
        fail(lp_row, firstTrailingBit(lp_wrong));
        // This invocation serves other LPs, too.
        lp_wrong = 0u;
    }
}

// The time of the present event in ticks; TIME_ZERO in `init`.
fn now() -> vec2<u32> {
    return lp_now;
}

// The number of 4-word rows in each LP's memory. Rows 0 .. memory_rows() - 1 are zero at first.
fn memory_rows() -> u32 {
    return run.memory_rows;
}

fn memory_place(index: u32) -> u32 {
    return (lp_row - run.part.memory_first) * run.memory_rows + index;
}

// The following draws of this event are for a purpose. The model chooses the number, say the third
// service of this LP. Each (purpose, number) is a substream of the LP with 2^32 draws, whichever
// event draws from it. stream_main() returns to the event's own stream.
fn stream_purpose(purpose: u32, number: u32) {
    stream_enter(SUBSTREAM, vec3<u32>(stream_home.x, number, purpose));
}

// Separates substreams of a name from those of a purpose.
const SUBSTREAM_NAMED = 0x40000000u;

// Opens the substream of (name, number), with 2^18 draws: what is drawn, and how often it was drawn
// before. It is independent of the LP. A number that wraps after 2^32 events continues with new
// substreams. stream_main() returns to the event's own.
fn stream_named(name: vec2<u32>, number: u32) {
    stream_enter(SUBSTREAM | SUBSTREAM_NAMED | ((stream_home.z & 0x3fffu) << 16u), vec3<u32>(name, number));
}

// The number of this run among runs that differ in their random streams: pdes::Replica.
fn replica() -> u32 {
    return run.replica;
}

// The number of LPs. Destinations are 0 .. lp_count() - 1.
fn lp_count() -> u32 {
    return run.total;
}

// The lookahead in ticks: the least time from an event to an event that it schedules for another
// LP.
fn lookahead() -> vec2<u32> {
    return run.lookahead;
}
