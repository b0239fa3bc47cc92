// Networks of service facilities with a global future event list (FEL), after Park and Fishwick: "A
// GPU-based application framework supporting fast discrete-event simulation", sections 5.2 to 5.4.
//
// A facility has servers and a queue of *tokens*: fel_queue_linked.wgsl, or fel_queue_ring.wgsl
// with a bound and with sources. Times are drawn by fel_times_exponential.wgsl, or by
// fel_times_laws.wgsl. The FEL is an unordered array with a place for each server: the
// event of the token in service. An iteration takes all events of the earliest time, in two
// dispatches, in neither of which two invocations write one place:
//   depart  steps 2 and 3 (fel_depart.wgsl): tokens that depart at the earliest time are released
//   arrive  steps 4, 5 and 2 (fel_arrive.wgsl): each facility takes the tokens released to it by
//           original time, serves or queues them, schedules its departure; the next time is reduced
//
// Two words show whether a workgroup's facilities have events, so idle groups read nothing else.
//
// provides: GROUP_SIZE
//
// bounds: no user WGSL is linked, and other host files only read the buffers. Facilities are below
// `params.facilities`, with which every invocation compares, and servers below `SERVERS`; targets
// and sources are facilities, which `FelNetwork` checked. The graph has the number of lines that
// `params` states, numbered below 2^32.

struct Params {
    seed: vec2<u32>,
    until: vec2<u32>,      // the run ends before events of that time
    facilities: u32,
    sources: u32,
    targets: u32,
    interval: u32,         // in ticks; 0 for none
    parity: u32,
    laws: u32,             // the row of `data` that the graph begins at
}

@group(0) @binding(0) var<uniform> params: Params;
// By parity two rows: clock (2), reason of the stop (STOP_), iterations in a row at that time; then
// iterations done (2).
@group(0) @binding(1) var<storage, read_write> control: array<vec4<u32>>;
// By server the FEL: when the token in service departs, in whole intervals, or TIME_NEVER. Then by
// workgroup the earliest of these. The first servers of all facilities come first, then the second.
@group(0) @binding(2) var<storage, read_write> times: array<vec2<u32>>;
// By server two rows: as in `servers`, of the token released last; then the iteration that did (2).
@group(0) @binding(3) var<storage, read_write> released: array<vec4<u32>>;
// By server: the token in service, its target or NONE for the exit, its departure, not rounded (2).
@group(0) @binding(4) var<storage, read_write> servers: array<vec4<u32>>;

const NONE = 0xffffffffu;
const KEY_FAR = 0xfffffffeu;
const KEY_NEVER = 0xffffffffu;

const STOP_NOT = 0u;
const STOP_TIME = 1u;
const STOP_EMPTY = 2u;
const STOP_STUCK = 3u;

override GROUP_SIZE: u32 = 256u;
// Facilities for each invocation.
override TILES: u32 = 1u;
// The servers of a facility; some may have fewer.
override SERVERS: u32 = 1u;

// The place of a server in `times`, `servers` and `released`.
fn slot_of(facility: u32, server: u32) -> u32 {
    return server * params.facilities + facility;
}

// The facility that an invocation serves as its n-th, and below, the workgroup of a facility.
fn facility_of(group: u32, lane: u32, tile: u32) -> u32 {
    return (group * TILES + tile) * GROUP_SIZE + lane;
}

fn group_of(facility: u32) -> u32 {
    return facility / (GROUP_SIZE * TILES);
}
