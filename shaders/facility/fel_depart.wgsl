// Steps 2 and 3 of an iteration (facility/event_list.wgsl): the clock goes to the earliest time, and whoever departs then is released.
//
// import: facility/event_list.wgsl
// import: time/ticks.wgsl

// One dispatch reads and writes them plainly, the other one as atomics.
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;

// Iterations at one time after which the run is taken for one that stands still.
const PATIENCE = 16384u;

@compute @workgroup_size(GROUP_SIZE)
fn depart(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let parity = params.parity;
    let before = control[parity];
    let key = keys[parity];
    let now = time_add(before.xy, vec2<u32>(key, 0u));
    let again = select(0u, before.w + 1u, key == 0u);
    var stop = STOP_NOT;
    if key == KEY_NEVER {
        stop = STOP_EMPTY;
    } else if !time_less(now, params.until) {
        stop = STOP_TIME;
    } else if again >= PATIENCE {
        stop = STOP_STUCK;
    }
    let id = group.y * groups.x + group.x;
    if id == 0u && lane == 0u {
        if stop == STOP_NOT {
            control[1u - parity] = vec4<u32>(now, STOP_NOT, again);
            keys[1u - parity] = KEY_NEVER;
        } else {
            control[1u - parity] = vec4<u32>(before.xy, stop, before.w);
            keys[1u - parity] = key;
        }
    }
    if stop != STOP_NOT { return; }
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let facility = facility_of(id, lane, tile);
        if facility >= params.facilities { return; }
        var target_ = NONE;
        if all(times[facility] == now) {
            let served = servers[facility];
            servers[params.facilities + facility] = served;
            target_ = served.y;
        }
        released[facility] = target_;
    }
}
