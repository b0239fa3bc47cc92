// Runs a script of queue operations with a team of CB_LANES invocations per queue
// (queue/cb_par.wgsl) and records the result of each. Buffers and results: queue_probe.wgsl.
//
// import: gpu/loops.wgsl
//
// needs: Item, words_item, item_words (queue/events_4.wgsl says what), queue/cb_par.wgsl

override GROUP_SIZE: u32 = 64u;

@group(0) @binding(0) var<uniform> shape: vec4<u32>;
@group(0) @binding(1) var<storage, read> kinds: array<u32>;
@group(0) @binding(2) var<storage, read> events: array<Item>;
@group(0) @binding(3) var<storage, read_write> queue_events: array<Item>;
@group(0) @binding(4) var<storage, read_write> results: array<Item>;

fn queue_capacity() -> u32 { return shape.y; }
fn queue_stride() -> u32 { return shape.z; }

// The leader's part of an operation. Returns the number of events that the team inserts, which lie
// behind those held.
fn lead(q: u32, i: u32, kind: u32) -> u32 {
    let at = q * shape.w + i;
    switch kind {
        case 0u: {
            if queue_size() >= shape.y { return 0u; }
            queue_events[queue_spare(0u)] = events[at];
            return 1u;
        }
        case 1u: {
            if queue_size() > 0u {
                results[at] = queue_first();
                queue_pop();
            }
        }
        case 2u: {
            queue_open(q, queue_close());
            if queue_size() == 1u { results[at] = queue_first(); }
            if queue_size() > 1u { results[at] = queue_second(); }
        }
        case 3u, 4u: {
            let count = item_words(events[at]).x;
            if queue_size() + count > shape.y { return 0u; }
            for (var k = 0u; k < count; k += 1u) {
                let e = select(k, count - 1u - k, i % 3u == 1u);
                let place = select(queue_spare(e), queue_place(q, e), kind == 3u);
                queue_events[place] = events[at + 1u + e];
            }
            return count;
        }
        default: {}
    }
    return 0u;
}

@compute @workgroup_size(GROUP_SIZE)
fn probe(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    cb_team_begin(lane);
    let q = id.x * CB_TEAMS + cb_team;
    let leads = cb_lane == 0u && q < shape.x;
    if leads { queue_open(q, vec2<u32>(0u, 0u)); }
    for (var i = 0u; i < shape.w; i += 1u) {
        var kind = 9u;
        var asked = 0u;
        var inserts = 0u;
        if leads {
            kind = kinds[q * shape.w + i];
            if kind == 0u { asked = 1u; }
            if kind == 4u { asked = item_words(events[q * shape.w + i]).x; }
            inserts = lead(q, i, kind);
        }
        let met = cb_team_meet(q, leads, inserts);
        for (var n = 0u; n < met.most_count; n += 1u) {
            let inserting = n < cb_count;
            var event: Item;
            if inserting { event = queue_events[queue_spare(0u)]; }
            // From the front, a second event at `queue_spare` may be overwritten.
            if CB_BACKWARD || met.most_count > 1u {
                cb_team_insert(inserting, event, met.most_held + n);
            } else {
                cb_team_insert_front(inserting, event, met.most_held + n);
            }
        }
        if leads && (kind == 0u || kind == 4u) {
            results[q * shape.w + i] = words_item(vec4<u32>(u32(inserts == asked), queue_size(), 0u, 0u));
        }
    }
    if !leads { return; }
    for (var k = 0u; k < queue_size(); k += 1u) {
        let i = select(k, queue_size() - 1u - k, q % 2u == 1u);
        results[shape.x * shape.w + q * shape.y + i] = queue_peek(i);
    }
    if loops_cut(shape.x) {
        results[q * shape.w] = words_item(vec4<u32>(1u));
    }
}
