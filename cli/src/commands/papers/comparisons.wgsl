// Counts how often a queue design compares two events in PHOLD (Baudis et al., Table I: comparisons
// per executed event). One invocation serves one LP and its queue.
//
// An iteration is the paper's (section IV.A): each LP executes its first event, if that is below
// t + lookahead, where t is the first pending time of all. `window` does it, `advance` finds the
// next t. Events arrive in the next iteration.
//
//   queues   (the two words that the design keeps, the first time pending in or sent by the LP)
//   mail     2 parities x LPs x room: messages of the last iteration, and of this one
//   counts   (comparisons, events executed, a hash of them in their order,
//            1 if the driver cut a loop, a queue refused an event, or a mailbox was full)
//   clock    (t, number of the iteration)
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
@group(0) @binding(5) var<storage, read_write> counts: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> clock: array<vec4<u32>>;

// An event of a simulation (queue/events_4.wgsl), with an order that counts comparisons: its time,
// the sender and the number of the event that sent it.
alias Item = vec4<u32>;

var<private> comparisons: u32;

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

// Puts an event into a mailbox of this parity; returns whether it had room.
fn post(parity: u32, lp: u32, event: Item) -> bool {
    let slot = parity * shape.queues + lp;
    let place = atomicAdd(&sent[slot], 1u);
    if place >= shape.room { return false; }
    mail[slot * shape.room + place] = event;
    return true;
}

// The first events, as messages to random LPs.
@compute @workgroup_size(32)
fn start(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = id.x;
    if q >= shape.queues { return; }
    stream_open(vec2<u32>(1u, 0u), q, vec2<u32>(0u, 0u));
    var refused = false;
    // Bound: the events of an LP.
    for (var i = 0u; i < shape.population; i += 1u) {
        let time = draw_exponential(shape.mean);
        refused |= !post(0u, draw_below(shape.queues), Item(time, q, i));
    }
    queues[q] = vec4<u32>(0u);
    counts[q] = vec4<u32>(0u, 0u, 0u, u32(refused));
}

@compute @workgroup_size(32)
fn window(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = id.x;
    if q >= shape.queues { return; }
    let parity = clock[0].z & 1u;
    let horizon = time_add(clock[0].xy, shape.lookahead);
    var count = counts[q];
    comparisons = count.x;
    let slot = parity * shape.queues + q;
    let messages = min(atomicExchange(&sent[slot], 0u), shape.room);
    queue_open(q, queues[q].xy);
    // Bound: the messages.
    for (var i = 0u; i < messages; i += 1u) {
        if !queue_push(mail[slot * shape.room + i]) { count.w = 1u; }
    }
    var first = TIME_NEVER;
    if queue_size() > 0u {
        let event = queue_first();
        first = event_time(event);
        if time_less(first, horizon) {
            queue_pop();
            stream_open(vec2<u32>(2u, 0u), q, vec2<u32>(count.y, 0u));
            let time = time_add(first, time_add(shape.lookahead, draw_exponential(shape.mean)));
            if !post(1u - parity, draw_below(shape.queues), Item(time, q, shape.population + count.y)) {
                count.w = 1u;
            }
            count.y += 1u;
            count.z = (count.z ^ event.x ^ (event.z * 31u) ^ event.w) * 16777619u;
            first = time;
            if queue_size() > 0u { first = time_min(first, event_time(queue_first())); }
        }
    }
    queues[q] = vec4<u32>(queue_close(), first);
    let cut = loops_cut(shape.queues);
    counts[q] = vec4<u32>(comparisons, count.y, count.z, count.w | u32(cut));
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
