// Closed networks of service facilities by a global future event list (FEL), as Park and Fishwick simulate them: "A GPU-based application framework supporting
// fast discrete-event simulation", sections 5.2 to 5.4.
//
// A facility has one server and a queue without bounds; *tokens* go round for ever. The FEL is an array without order. One token of each facility is in
// service and has an event, so the FEL has a place for each facility, and those that wait have no event. An iteration takes all
// events of the earliest time, and is two dispatches, so that neither has two invocations that write in one place:
//
//   depart   steps 2 and 3 (fel_depart.wgsl): the earliest time is known; whoever departs at that time is released, and says where to
//   arrive   steps 4, 5 and 2 (fel_arrive.wgsl): each facility looks at the facilities that send to it (section 5.2.2), takes those that they released, by
//            their original times, serves or queues them, schedules the next departure; and the earliest time of the next iteration is reduced
//
//   params     this iteration's half, by turns (parity)
//   graph      of so many rows, each with a word for every facility: `sources` of those that send to it, or NONE; `targets` to which it sends with equal
//              probability; how many these are; mean time of service in ticks
//   control    by parity two rows: clock (2), how it stopped (STOP_), iterations in a row at that time; and the iterations done (2)
//   keys       by parity: the earliest time, as ticks since the clock; FAR for so many or more, NEVER for none
//   times      by facility: the FEL, when the token in service departs, in whole intervals; TIME_NEVER where there is none. Then by workgroup the earliest
//              of these
//   servers    by facility: the token in service, where it will go, when it departs, not rounded (2)
//   released   by facility two: as servers, of the token that was released last; and by which iteration (2)
//   hits       by facility: the low word of the iteration that released a token to it last. Then by workgroup, the same
//   rows       by facility two: first and last token in the queue, services begun (2); then time of service (2) and time waited (2) of all of these.
//              Then by token: the next one in its queue, nothing, when it arrived at its facility (2)
//
// What a workgroup's facilities have to do with an iteration is seen from two words, so that those without an event do not look at each.
//
// provides: GROUP_SIZE
//
// bounds: no WGSL of a user's is linked, and no buffer leaves the host's file but by a read.
// Facilities are below `params.facilities`, with which every invocation compares; targets and
// sources are facilities, which `FelNetwork::new` checked. `graph` has the lines that `params`
// gives, numbered below 2^32. A token is in one queue, in one service, or under way from one
// facility to another.

struct Params {
    seed: vec2<u32>,
    until: vec2<u32>,      // the run ends before events of that time
    facilities: u32,
    sources: u32,
    targets: u32,
    interval: u32,         // in ticks; 0 for none
    parity: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> control: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> times: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> released: array<vec4<u32>>;
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

// The facility that an invocation serves as its n-th, and the workgroup that serves one.
fn facility_of(group: u32, lane: u32, tile: u32) -> u32 {
    return (group * TILES + tile) * GROUP_SIZE + lane;
}

fn group_of(facility: u32) -> u32 {
    return facility / (GROUP_SIZE * TILES);
}
