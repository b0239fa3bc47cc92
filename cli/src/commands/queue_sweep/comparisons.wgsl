// Counts how often a queue design compares two events in PHOLD (Baudis et al., Table I: comparisons
// per executed event). One invocation serves one queue.
//
// As in PHOLD, windows follow each other, and each event that leaves a queue sends one that arrives
// in the next window, after the lookahead and an exponential delay. Unlike in PHOLD, it arrives at
// the same queue, which then always has PHOLD's mean number of events. A horizon follows the last
// one by a lookahead, as in PHOLD with an event pending at every time.
//
//   queues   (the two words that the design keeps, the horizon of the last window)
//   mail     queues x capacity: messages of the last window
//   counts   (comparisons, events executed, a hash of them in their order,
//            1 if the driver cut a loop or a queue refused an event)
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
    capacity: u32,      // the events of a queue: in it, or sent to it
    stride: u32,
    reserved: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> queue_events: array<Item>;
@group(0) @binding(2) var<storage, read_write> queues: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> mail: array<Item>;
@group(0) @binding(4) var<storage, read_write> sent: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<vec4<u32>>;

// An event of a simulation (queue/events_4.wgsl), with an order that counts comparisons.
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

// The first events, as messages to their queues.
@compute @workgroup_size(32)
fn start(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = id.x;
    if q >= shape.queues { return; }
    stream_open(vec2<u32>(1u, 0u), q, vec2<u32>(0u, 0u));
    for (var i = 0u; i < shape.capacity; i += 1u) {
        mail[q * shape.capacity + i] = Item(draw_exponential(shape.mean), q, i);
    }
    sent[q] = shape.capacity;
    queues[q] = vec4<u32>(0u);
    counts[q] = vec4<u32>(0u);
}

@compute @workgroup_size(32)
fn window(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = id.x;
    if q >= shape.queues { return; }
    let kept = queues[q];
    let horizon = time_add(kept.zw, shape.lookahead);
    var count = counts[q];
    comparisons = count.x;
    let first = q * shape.capacity;
    queue_open(q, kept.xy);
    // Bound: the messages.
    for (var i = 0u; i < sent[q]; i += 1u) {
        if !queue_push(mail[first + i]) { count.w = 1u; }
    }
    stream_open(vec2<u32>(2u, 0u), q, vec2<u32>(count.y, 0u));
    var executed = 0u;
    // Bound: the events held.
    while queue_size() > 0u && executed < shape.capacity {
        let event = queue_first();
        if !time_less(event_time(event), horizon) { break; }
        queue_pop();
        let delay = time_add(shape.lookahead, draw_exponential(shape.mean));
        mail[first + executed] = Item(time_add(event_time(event), delay), event.zw);
        count.z = (count.z ^ event.x ^ event.w) * 16777619u;
        executed += 1u;
    }
    sent[q] = executed;
    queues[q] = vec4<u32>(queue_close(), horizon);
    let cut = loops_cut(shape.queues);
    counts[q] = vec4<u32>(comparisons, count.y + executed, count.z, count.w | u32(cut));
}
