// Counts what a queue design does in PHOLD (Baudis et al., Table I and Figure 9), for each executed
// event: comparisons of two events, reads and writes of queue slots, and 32-byte sectors touched.
// One invocation serves one LP and its queue; counts_team.wgsl has teams.
//
// An iteration is the paper's (section IV.A): each LP executes its first event, if that is below
// t + lookahead, where t is the first pending time of all. `window` does it, `advance` finds the
// next t. Events arrive in the next iteration.
//
//   queues   (the two words that the design keeps, the first time pending in or sent by the LP)
//   mail     2 parities x LPs x room: messages of the last iteration, and of this one
//   counts   for each LP, as COMPARISONS and so on name them
//   clock    (t, number of the iteration)
//   touches  for each sector of queue_events: the iteration that last read it, and that wrote it
//
// Before it is compiled, the host replaces each read of `queue_events` by `touch_read`, and each
// write by `touch_write` (counts.rs), which call `touch`.
//
// import: gpu/loops.wgsl
// import: random/distributions.wgsl
// import: random/mul_wide.wgsl
//
// needs: a queue

struct Shape {
    mean: vec2<u32>,
    lookahead: vec2<u32>,
    queues: u32,
    population: u32,
    capacity: u32,
    stride: u32,
    room: u32,
    reserved: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> queue_events: array<Item>;
@group(0) @binding(2) var<storage, read_write> queues: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> mail: array<Item>;
@group(0) @binding(4) var<storage, read_write> sent: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> clock: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> touches: array<atomic<u32>>;

// An event of a simulation (queue/events_4.wgsl), with an order that counts comparisons: its time,
// the sender and the number of the event that sent it.
alias Item = vec4<u32>;

// The counts of an LP.
const COUNTS = 8u;
const COMPARISONS = 0u;
const EXECUTED = 1u;
const HASH = 2u;        // of the executed events in their order
const FAILED = 3u;      // not 0 if the driver cut a loop, a queue refused an event, or a mailbox was full
const READS = 4u;
const WRITES = 5u;
const SECTORS_READ = 6u;    // each once in an iteration
const SECTORS_WRITTEN = 7u;

var<private> comparisons: u32;
// Reads, writes, sectors read, sectors written.
var<private> touched: vec4<u32>;

// Counts an access to a slot. Two slots of 16 bytes are a sector.
fn touch(slot: u32, writes: bool) {
    let stamp = clock[0].z + 1u;
    let is_first = atomicExchange(&touches[(slot & ~1u) | u32(writes)], stamp) != stamp;
    let once = vec2<u32>(1u, u32(is_first));
    touched += select(vec4<u32>(once.x, 0u, once.y, 0u), vec4<u32>(0u, once.x, 0u, once.y), writes);
}

// The reads of a chunk's last event in CB-PAR, which the host makes calls of `touch_last`.
var<private> lasts: u32;

// Adds this invocation's numbers to those of an LP.
fn add_counts(lp: u32) {
    let first = COUNTS * lp;
    atomicAdd(&counts[first + COMPARISONS], comparisons);
    atomicAdd(&counts[first + READS], touched.x);
    atomicAdd(&counts[first + WRITES], touched.y);
    atomicAdd(&counts[first + SECTORS_READ], touched.z);
    atomicAdd(&counts[first + SECTORS_WRITTEN], touched.w);
}

fn fail(lp: u32) {
    atomicStore(&counts[COUNTS * lp + FAILED], 1u);
}

fn event_before(a: Item, b: Item) -> bool {
    comparisons += 1u;
    if a.y != b.y { return a.y < b.y; }
    if a.x != b.x { return a.x < b.x; }
    if a.z != b.z { return a.z < b.z; }
    return a.w < b.w;
}

fn event_time(event: Item) -> vec2<u32> { return event.xy; }
fn item_words(item: Item) -> vec4<u32> { return item; }
fn words_item(words: vec4<u32>) -> Item { return words; }

fn queue_capacity() -> u32 { return shape.capacity; }
fn queue_stride() -> u32 { return shape.stride; }

// Puts an event into the mailbox of an LP; reports one that is full.
fn post(parity: u32, lp: u32, event: Item) {
    let slot = parity * shape.queues + lp;
    let place = atomicAdd(&sent[slot], 1u);
    if place >= shape.room {
        fail(lp);
    } else {
        mail[slot * shape.room + place] = event;
    }
}

// The first events, as messages to random LPs.
@compute @workgroup_size(32)
fn start(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = id.x;
    if q >= shape.queues { return; }
    stream_open(vec2<u32>(1u, 0u), q, vec2<u32>(0u, 0u));
    // Bound: the events of an LP.
    for (var i = 0u; i < shape.population; i += 1u) {
        let time = draw_exponential(shape.mean);
        post(0u, draw_below(shape.queues), Item(time, q, i));
    }
    queues[q] = vec4<u32>(0u);
}

// The messages of an LP, which this takes.
fn take_messages(q: u32) -> u32 {
    let slot = (clock[0].z & 1u) * shape.queues + q;
    return min(atomicExchange(&sent[slot], 0u), shape.room);
}

fn message(q: u32, number: u32) -> Item {
    return mail[((clock[0].z & 1u) * shape.queues + q) * shape.room + number];
}

// Executes the first event of the open queue, if it may be, and closes the queue.
fn serve(q: u32) {
    let horizon = time_add(clock[0].xy, shape.lookahead);
    var first = TIME_NEVER;
    if queue_size() > 0u {
        let event = queue_first();
        first = event_time(event);
        if time_less(first, horizon) {
            queue_pop();
            let executed = atomicAdd(&counts[COUNTS * q + EXECUTED], 1u);
            stream_open(vec2<u32>(2u, 0u), q, vec2<u32>(executed, 0u));
            let time = time_add(first, time_add(shape.lookahead, draw_exponential(shape.mean)));
            post(1u - (clock[0].z & 1u), draw_below(shape.queues), Item(time, q, shape.population + executed));
            let hash = atomicLoad(&counts[COUNTS * q + HASH]);
            atomicStore(&counts[COUNTS * q + HASH], (hash ^ event.x ^ (event.z * 31u) ^ event.w) * 16777619u);
            first = time;
            if queue_size() > 0u { first = time_min(first, event_time(queue_first())); }
        }
    }
    queues[q] = vec4<u32>(queue_close(), first);
}

@compute @workgroup_size(32)
fn window(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = id.x;
    if q >= shape.queues { return; }
    let messages = take_messages(q);
    queue_open(q, queues[q].xy);
    // Bound: the messages.
    for (var i = 0u; i < messages; i += 1u) {
        if !queue_push(message(q, i)) { fail(q); }
    }
    serve(q);
    add_counts(q);
    if loops_cut(shape.queues) { fail(q); }
}

var<workgroup> firsts: array<vec2<u32>, 64>;

// Finds the first pending time of all; one workgroup.
@compute @workgroup_size(64)
fn advance(@builtin(local_invocation_index) lane: u32) {
    var first = TIME_NEVER;
    // Bound: the LPs.
    for (var q = lane; q < shape.queues; q += 64u) { first = time_min(first, queues[q].zw); }
    firsts[lane] = first;
    workgroupBarrier();
    if lane == 0u {
        // Bound: the lanes.
        for (var other = 1u; other < 64u; other += 1u) { first = time_min(first, firsts[other]); }
        clock[0] = vec4<u32>(first, clock[0].z + 1u, 0u);
    }
}
