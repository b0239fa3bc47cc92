// Runs a script of queue operations (one thread per queue) and records the result of each.
//
//   shape     (queues, capacity, stride, operations per queue)
//   scripts   queues x operations. `kinds`: 0 push, 1 pop, 2 close, open again and read the second
//             or only event, 3 and 4 take the number of events that follow (marked 9), 3 at
//             `queue_place` as the first operation, 4 at `queue_spare`. `events`: the event, or the
//             number
//   results   queues x operations: the popped event, the one that 2 read, (accepted, size, 0, 0)
//             for push and 4, (1, 1, 1, 1) for the first operation if the driver cut a loop, else
//             unchanged
//
// import: gpu/loops.wgsl
//
// needs: Item, words_item, item_words (queue/events_4.wgsl says what), a queue

@group(0) @binding(0) var<uniform> shape: vec4<u32>;
@group(0) @binding(1) var<storage, read> kinds: array<u32>;
@group(0) @binding(2) var<storage, read> events: array<Item>;
@group(0) @binding(3) var<storage, read_write> queue_events: array<Item>;
@group(0) @binding(4) var<storage, read_write> results: array<Item>;

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
                results[at] = words_item(vec4<u32>(select(0u, 1u, accepted), queue_size(), 0u, 0u));
            }
            case 1u, 2u: {
                if kinds[at] == 2u { queue_open(q, queue_close()); }
                if queue_size() > 0u {
                    // One loop: llvmpipe limits the iterations of all loops, including those in
                    // branches not taken.
                    let first = queue_first();
                    if kinds[at] == 1u {
                        results[at] = first;
                        queue_pop();
                    } else if queue_size() > 1u {
                        results[at] = queue_second();
                    } else if QUEUE_GLANCES {
                        results[at] = queue_glance(q);
                    } else {
                        results[at] = first;
                    }
                }
            }
            case 3u, 4u: {
                let count = item_words(events[at]).x;
                let fits = queue_size() + count <= shape.y;
                if fits {
                    for (var k = 0u; k < count; k += 1u) {
                        let e = select(k, count - 1u - k, i % 3u == 1u);
                        let place = select(queue_spare(e), queue_place(q, e), kinds[at] == 3u);
                        queue_events[place] = events[at + 1u + e];
                    }
                    queue_take(count);
                }
                if kinds[at] == 4u {
                    results[at] = words_item(vec4<u32>(select(0u, 1u, fits), queue_size(), 0u, 0u));
                }
            }
            default: {}
        }
    }
    // The remaining events, by peeking from either end: the host sorts them.
    for (var k = 0u; k < queue_size(); k += 1u) {
        let i = select(k, queue_size() - 1u - k, q % 2u == 1u);
        results[shape.x * shape.w + q * shape.y + i] = queue_peek(i);
    }
    if loops_cut(shape.x) {
        results[q * shape.w] = words_item(vec4<u32>(1u));
    }
}
