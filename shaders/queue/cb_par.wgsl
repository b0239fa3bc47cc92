// Priority queue: circular buffer with parallel insertion, CB-PAR (Baudis et al., section III.A,
// Figure 3). A team of CB_LANES neighbouring invocations serves one queue; a workgroup has CB_TEAMS
// teams. Memory and meta words: queue/circular.wgsl. A single invocation serves a queue with the
// functions of queue/cb_seq.wgsl.
// An insertion visits the events from the back in chunks of one place for each lane. A lane moves
// the event before its place there, if the new one comes before that; or puts the new one there, if
// this is its place. All lanes read before any writes. In the last chunk, the last place does not
// receive the event before it. From the front (CB_BACKWARD is false), all this is mirrored, and the
// events before the new one move towards the front.
//
// The leader of a team, its first lane, opens the queue, reads and drops its first event, and puts
// events at `queue_spare`. To insert them, all teams of the workgroup meet (cb_team_meet). Barriers
// need uniform control flow, so all teams continue to the most events and chunks of any.
//
// Functions: cb_team_begin, cb_team_most, cb_team_meet, cb_team_insert, cb_team_insert_front; all
// invocations of the workgroup call them, in uniform control flow.
//
// import: queue/cb_seq.wgsl
// needs: GROUP_SIZE, Item, event_before, queue_capacity, queue_events

// The lanes of a team: a power of two, which divides GROUP_SIZE if teams serve queues.
override CB_LANES: u32 = 32u;
// Not zero if a workgroup is smaller than a team: then there are no teams.
override CB_TEAMS: u32 = (GROUP_SIZE + CB_LANES - 1u) / CB_LANES;

var<private> cb_lane: u32;   // this invocation's number in its team; the leader's is 0
var<private> cb_team: u32;   // its team's number in the workgroup
var<private> cb_count: u32;  // the events that its team inserts

// The leaders' words.
var<workgroup> cb_words: array<vec4<u32>, CB_TEAMS>;
// The maxima, during the vote and after it.
var<workgroup> cb_votes: array<atomic<u32>, 2>;
var<workgroup> cb_said: vec2<u32>;

// Call it before anything else; `lane` is the invocation's number in the workgroup.
fn cb_team_begin(lane: u32) {
    cb_lane = lane % CB_LANES;
    cb_team = lane / CB_LANES;
}

// The maximum of each of two numbers over all leaders of the workgroup: uniform.
fn cb_team_most(mine: vec2<u32>) -> vec2<u32> {
    let first = cb_lane == 0u && cb_team == 0u;
    if CB_TEAMS == 1u {
        if first { cb_said = mine; }
    } else {
        if cb_lane == 0u {
            atomicMax(&cb_votes[0], mine.x);
            atomicMax(&cb_votes[1], mine.y);
        }
        workgroupBarrier();
        if first {
            cb_said = vec2<u32>(atomicLoad(&cb_votes[0]), atomicLoad(&cb_votes[1]));
            atomicStore(&cb_votes[0], 0u);
            atomicStore(&cb_votes[1], 0u);
        }
    }
    // Barriers on both sides of this read allow the next vote.
    return workgroupUniformLoad(&cb_said);
}

// Over all teams of the workgroup, so uniform: the most events that a team inserts, the most events
// held by a team that inserts any, and whether a team has an open queue.
struct CbMeeting {
    most_count: u32,
    most_held: u32,
    any_open: bool,
}

// Ends a phase in which leaders used their queues alone. A leader passes whether its queue `owner`
// is open and how many events to insert, no more than fit. Afterwards all lanes of the team have
// the queue open, know the number (cb_count), and see the leaders' writes.
fn cb_team_meet(owner: u32, open: bool, count: u32) -> CbMeeting {
    // All have read the last meeting's words, and the leaders' writes precede the teams'.
    workgroupBarrier();
    storageBarrier();
    var vote = vec2<u32>(0u);
    if cb_lane == 0u && open {
        vote = vec2<u32>(count, 1u + select(0u, queue_length, count > 0u));
    }
    if cb_lane == 0u { cb_words[cb_team] = vec4<u32>(queue_length, queue_front, vote.x, 0u); }
    let most = cb_team_most(vote);
    let words = cb_words[cb_team];
    queue_open(owner, words.xy);
    cb_count = words.z;
    return CbMeeting(most.x, max(most.y, 1u) - 1u, most.y > 0u);
}

// Adds an event to the queue of each team that is `inserting`, which must have room; all lanes of a
// team pass the same event. `most_held` is uniform and at least the events held by such a team.
fn cb_team_insert(inserting: bool, event: Item, most_held: u32) {
    let chunks = most_held / CB_LANES + 1u;
    var goes_on = inserting;
    // Bound: the chunks for `most_held` events and the place behind them.
    for (var chunk = 0u; chunk < chunks; chunk += 1u) {
        // Places count from behind the last event.
        let place = chunk * CB_LANES + cb_lane;
        let offset = queue_length - place;
        let next = (chunk + 1u) * CB_LANES;
        let here = goes_on & (place <= queue_length);
        let more = goes_on & (next <= queue_length);
        // All reads are issued before anything waits.
        var before: Item;
        var present: Item;
        var last: Item;
        if here && offset > 0u { before = queue_events[cb_slot(offset - 1u)]; }
        if here && place > 0u { present = queue_events[cb_slot(offset)]; }
        if more { last = queue_events[cb_slot(queue_length - next)]; }
        let moves = here & (offset > 0u) & event_before(event, before);
        let lands = here & !moves & ((place == 0u) | event_before(event, present));
        // Whether the chunk's last place receives the event before it. Each lane finds it with one
        // common read.
        goes_on = more & event_before(event, last);
        storageBarrier();
        if moves { queue_events[cb_slot(offset)] = before; }
        if lands { queue_events[cb_slot(offset)] = event; }
        // The next chunk reads nothing that this one writes.
        if chunk + 1u < chunks {
            if cb_team_most(vec2<u32>(u32(goes_on), 0u)).x == 0u { break; }
        }
    }
    queue_length += u32(inserting);
    storageBarrier();
}

// The same from the front. It writes the slot before the front, which may be one of `queue_spare`.
fn cb_team_insert_front(inserting: bool, event: Item, most_held: u32) {
    let chunks = most_held / CB_LANES + 1u;
    let held = queue_length;
    if inserting {
        queue_front = select(queue_front, queue_capacity(), queue_front == 0u) - 1u;
        queue_length += 1u;
    }
    var goes_on = inserting;
    // Bound: the chunks for `most_held` events and the place behind them.
    for (var chunk = 0u; chunk < chunks; chunk += 1u) {
        // The event before this place, if there is one, has the number `place`, and the one behind
        // it `place + 1`.
        let place = chunk * CB_LANES + cb_lane;
        let next = (chunk + 1u) * CB_LANES;
        let here = goes_on & (place <= held);
        let more = goes_on & (next <= held);
        var after: Item;
        var present: Item;
        var last: Item;
        if here && place < held { after = queue_events[cb_slot(place + 1u)]; }
        if here && place > 0u { present = queue_events[cb_slot(place)]; }
        if more { last = queue_events[cb_slot(next)]; }
        let moves = here & (place < held) & event_before(after, event);
        let lands = here & !moves & ((place == 0u) | event_before(present, event));
        goes_on = more & event_before(last, event);
        storageBarrier();
        if moves { queue_events[cb_slot(place)] = after; }
        if lands { queue_events[cb_slot(place)] = event; }
        if chunk + 1u < chunks {
            if cb_team_most(vec2<u32>(u32(goes_on), 0u)).x == 0u { break; }
        }
    }
    storageBarrier();
}
