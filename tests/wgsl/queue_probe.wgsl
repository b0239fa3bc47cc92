// Runs a script of queue operations (one thread per queue) and writes down what each returned.
//
//   shape     (queues, capacity, stride, operations per queue)
//   scripts   queues x operations: 0 push, 1 pop, 2 close and open again, 3 adopt the `x` events that follow at
//             `queue_place`, in `kinds`; the event in `events`
//   results   queues x operations: the event that pop removed, (accepted, size, 0, 0) of push, else untouched

@group(0) @binding(0) var<uniform> shape: vec4<u32>;
@group(0) @binding(1) var<storage, read> kinds: array<u32>;
@group(0) @binding(2) var<storage, read> events: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> queue_events: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> results: array<vec4<u32>>;

fn queue_capacity() -> u32 { return shape.y; }
fn queue_stride() -> u32 { return shape.z; }

@compute @workgroup_size(32)
fn probe(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = id.x;
    if q >= shape.x { return; }
    queue_open(q, vec2<u32>(0u, 0u));
    for (var i = 0u; i < shape.w; i += 1u) {
        let at = q * shape.w + i;
        switch kinds[at] {
            case 0u: {
                let accepted = queue_push(events[at]);
                results[at] = vec4<u32>(select(0u, 1u, accepted), queue_size(), 0u, 0u);
            }
            case 1u: {
                if queue_size() > 0u {
                    results[at] = queue_first();
                    queue_pop();
                }
            }
            case 2u: {
                queue_open(q, queue_close());
            }
            default: {
                // The events after this operation, which the host marked as no operation.
                for (var e = 0u; e < events[at].x; e += 1u) {
                    queue_events[queue_place(q, e)] = events[at + 1u + e];
                }
                queue_adopt(events[at].x);
                i += events[at].x;
            }
        }
    }
    // What is left, by peeking: the host sorts it.
    for (var i = 0u; i < queue_size(); i += 1u) {
        results[shape.x * shape.w + q * shape.y + i] = queue_peek(i);
    }
}
