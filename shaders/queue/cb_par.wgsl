// Priority queue: circular buffer with parallel insertion, CB-PAR (Baudis et al., section III.A, Figure 3).
// A team of CB_LANES neighbouring invocations serves one queue; a workgroup has CB_TEAMS teams.
//
// Memory, and what is kept of a queue: queue/circular.wgsl. As long as one invocation is enough, for a start or a digest, say, it serves a
// queue with the functions of queue/cb_seq.wgsl.
//
// An insertion goes through the events from the back in chunks of one place for each lane. A lane moves the event before its place
// there, if the new one comes before that; or puts the new one there, if its place is the one; or does nothing. All
// lanes have read before any writes. The last chunk is the one whose last place does not get the event before it.
//
// The first lane of a team, its leader, does alone what needs one only: it opens the queue, looks at its first event and drops it, and puts
// events at `queue_spare`. When events are to be inserted, all teams of the workgroup *meet* (cb_team_meet): the other lanes learn what the
// leaders know. Barriers are in uniform control flow, so a team whose events are in their places goes on with the others: to
// the most events that one has, and for each to the most chunks. A barrier for the lanes of a subgroup would be enough where a team lies in
// one, but WGSL has none; where a workgroup is a subgroup or two, its own cost little more.
//
// Functions, besides those of queue/cb_seq.wgsl: cb_team_begin, cb_team_most, cb_team_meet, cb_team_insert. All invocations of the workgroup call
// them, in uniform control flow.
//
// import: queue/cb_seq.wgsl
// needs: GROUP_SIZE, Item, event_before, queue_events

// The lanes of a team: a power of two, which divides GROUP_SIZE where teams serve queues.
override CB_LANES: u32 = 32u;
// Not zero where a workgroup is smaller than a team, which is where there are none.
override CB_TEAMS: u32 = (GROUP_SIZE + CB_LANES - 1u) / CB_LANES;

var<private> cb_lane: u32;   // this invocation's number in its team; the leader's is 0
var<private> cb_team: u32;   // its team's number in the workgroup
var<private> cb_count: u32;  // the events that its team is to insert

// What the leaders said.
var<workgroup> cb_words: array<vec4<u32>, CB_TEAMS>;
// The largest numbers, as they are found and as they were found.
var<workgroup> cb_votes: array<atomic<u32>, 2>;
var<workgroup> cb_said: vec2<u32>;

// Before anything else; `lane` is the invocation's number in the workgroup.
fn cb_team_begin(lane: u32) {
    cb_lane = lane % CB_LANES;
    cb_team = lane / CB_LANES;
}

// The largest of each of two numbers that the leaders say, of all teams of the workgroup: uniform.
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
    // Ends with barriers on both sides, so that votes may be given again.
    return workgroupUniformLoad(&cb_said);
}

// Of all teams of the workgroup, and so uniform: the most events that one is to insert, the most that one holds which is to insert any, and
// whether one has its queue open.
struct CbMeeting {
    most_count: u32,
    most_held: u32,
    any_open: bool,
}

// What is to be done, after leaders have had their queues to themselves. A leader says whether it has its queue, `owner`, open and how many
// events are to be inserted there, no more than there is room for. Then all lanes of the team have it open, know the number (cb_count), and see what
// leaders wrote.
fn cb_team_meet(owner: u32, open: bool, count: u32) -> CbMeeting {
    // What was said at the last meeting has been heard, and what leaders do in their queues comes before what teams do.
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

// Adds an event to the queue of each team that is `inserting`, which must have room for it; all its lanes say the same event. `most_held` is
// uniform, and at least what such a team holds.
fn cb_team_insert(inserting: bool, event: Item, most_held: u32) {
    let chunks = most_held / CB_LANES + 1u;
    var goes_on = inserting;
    // Bound: as many chunks as hold `most_held` events, and the place behind them.
    for (var chunk = 0u; chunk < chunks; chunk += 1u) {
        // Places are counted from behind the last event.
        let place = chunk * CB_LANES + cb_lane;
        let offset = queue_length - place;
        let next = (chunk + 1u) * CB_LANES;
        let here = goes_on & (place <= queue_length);
        let more = goes_on & (next <= queue_length);
        // What is read is asked for before anything waits.
        var before: Item;
        var present: Item;
        var last: Item;
        if here && offset > 0u { before = queue_events[cb_slot(offset - 1u)]; }
        if here && place > 0u { present = queue_events[cb_slot(offset)]; }
        if more { last = queue_events[cb_slot(queue_length - next)]; }
        let moves = here & (offset > 0u) & event_before(event, before);
        let lands = here & !moves & ((place == 0u) | event_before(event, present));
        // Whether the chunk's last place gets the event before it, which each lane finds out by itself: it is one read for all.
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
