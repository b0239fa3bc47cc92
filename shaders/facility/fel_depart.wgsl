// Steps 2 and 3 of an iteration (facility/event_list.wgsl): the clock moves to the earliest time,
// and the tokens that depart then are released.
//
// import: facility/event_list.wgsl
// import: time/ticks.wgsl
//
// bounds: indices as in event_list.wgsl; a target is a facility or NONE. Loops count to
// tiles and servers.

// A buffer is atomic in the kernel that writes it from several invocations, and plain in the one
// that reads it: keys here, and hits in fel_arrive.wgsl.
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> hits: array<atomic<u32>>;

// A run stops as stuck after this many iterations at one time.
const PATIENCE = 16384u;

@compute @workgroup_size(GROUP_SIZE)
fn depart(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let parity = params.parity;
    let id = group.y * groups.x + group.x;
    // All loads come before the first use, so that they overlap.
    let before = control[2u * parity];
    let done = control[2u * parity + 1u].xy;
    let key = keys[parity];
    let first = times[SERVERS * params.facilities + min(id, group_of(params.facilities - 1u))];
    let now = time_add(before.xy, vec2<u32>(key, 0u));
    let again = select(0u, before.w + 1u, key == 0u);
    let iteration = wide_add(done, vec2<u32>(1u, 0u));
    var stop = STOP_NOT;
    if key == KEY_NEVER {
        stop = STOP_EMPTY;
    } else if !time_less(now, params.until) {
        stop = STOP_TIME;
    } else if again >= PATIENCE {
        stop = STOP_STUCK;
    }
    if id == 0u && lane == 0u {
        let next = 2u * (1u - parity);
        if stop == STOP_NOT {
            control[next] = vec4<u32>(now, STOP_NOT, again);
            control[next + 1u] = vec4<u32>(iteration, 0u, 0u);
            keys[1u - parity] = KEY_NEVER;
        } else {
            control[next] = vec4<u32>(before.xy, stop, before.w);
            control[next + 1u] = vec4<u32>(done, 0u, 0u);
            keys[1u - parity] = key;
        }
    }
    if stop != STOP_NOT || any(first != now) { return; }
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let facility = facility_of(id, lane, tile);
        if facility >= params.facilities { return; }
        for (var server = 0u; server < SERVERS; server += 1u) {
            let slot = slot_of(facility, server);
            if any(times[slot] != now) { continue; }
            let served = servers[slot];
            // A token that leaves the network has no destination.
            if served.y == NONE { continue; }
            released[2u * slot] = served;
            released[2u * slot + 1u] = vec4<u32>(iteration, 0u, 0u);
            atomicStore(&hits[served.y], iteration.x);
            atomicStore(&hits[params.facilities + group_of(served.y)], iteration.x);
        }
    }
}
