// The pending events of a small run in workgroup memory, for replicas by near teams (pdes/replicas/team_local.wgsl): one pool, in which an event keeps its slot from the moment it
// is scheduled until it is executed. LPs have no room of their own, so none of it lies idle.
//
// A workgroup serves TEAMS replicas; each has its own part of all that follows.
//
//   pool_events   an event for each slot
//   pool_next     the slot that follows it: in the list of its LP, which is in order, or in the inbox that it was sent to, which is not; or among the slots that are free
//   pool_inbox    by parity of the window that finds it, the first slot of each LP's inbox
//   pool_free     the first slots of two lists of those that are free. A window takes from the one that was longer and gives to the other, so that no invocation takes what
//                 another one gives meanwhile, and both stay about as long
//   pool_lean     by how many slots the first of them is longer
//   pool_gives    by parity of the window in its slice, the list that it gives to
//
// How many replicas a processor serves at once depends on how little of that memory each takes.
//
// Between slices, of the replica in a place:
//
//   queue_events   from place * POOL on: pool_events
//   links          from place * (POOL + LISTS) on: pool_next (POOL), the inboxes of the next window (LISTS)
//   lps            a row's first four words: unused (2), the slot of the first event in its list, windows in a row in which the LP stood (stall_count in pdes/window/execute.wgsl). Of a
//                  replica REPLICA_SAVED: parity, pool_free (2), pool_lean
//
// Functions: pool_fetch, pool_keep, pool_choose, pool_window, pool_take, pool_give, pool_send, own_insert, own_remove, own_time, own_collect.
//
// import: pdes/engine.wgsl
// needs: Item, event_before, event_time, run

const NONE = 0xffffffffu;

// What run.queue_capacity and run.queue_stride say: slots of a replica, and its lists, of which each of its invocations in a slice has one.
override POOL: u32 = 64u;
override LISTS: u32 = 64u;
// Replicas of a workgroup of TEAMS * LISTS invocations.
override TEAMS: u32 = 1u;

@group(0) @binding(8) var<storage, read_write> links: array<u32>;

var<workgroup> pool_events: array<Item, TEAMS * POOL>;
var<workgroup> pool_next: array<u32, TEAMS * POOL>;
var<workgroup> pool_inbox: array<atomic<u32>, 2u * TEAMS * LISTS>;
var<workgroup> pool_free: array<atomic<u32>, 2u * TEAMS>;
var<workgroup> pool_lean: array<atomic<i32>, TEAMS>;
var<workgroup> pool_gives: array<atomic<u32>, 2u * TEAMS>;

// Which of them it is, and where its slots begin.
var<private> pool_team: u32;
var<private> pool_first: u32;

// The list of free slots that the present window gives to.
var<private> pool_given: u32;

// Where the inbox of an LP lies, that a window of this parity finds.
fn pool_inbox_of(parity: u32, lp: u32) -> u32 {
    return (2u * pool_team + parity) * LISTS + lp;
}

// To be called by one invocation of a team that has a run, or by several, before a barrier and then a window of this parity, and not while one of this parity goes on.
fn pool_choose(parity: u32) {
    atomicStore(&pool_gives[2u * pool_team + parity], u32(atomicLoad(&pool_lean[pool_team]) > 0));
}

// Before each window.
fn pool_window(parity: u32) {
    pool_given = atomicLoad(&pool_gives[2u * pool_team + parity]);
}

// The list of the invocation's LP: its first slot, and the event there.
var<private> own_first: u32;
var<private> own_event: Item;
// The slot of the event that is executed, until another event takes it.
var<private> own_spare: u32;

// To be called by all invocations of a team, before the slice's first window and a barrier.
fn pool_fetch(team: u32, place: u32, member: u32, saved: vec4<u32>) {
    pool_team = team;
    pool_first = team * POOL;
    let links_first = place * (POOL + LISTS);
    // Bound: so many slots for each invocation.
    for (var i = member; i < POOL; i += LISTS) {
        pool_events[pool_first + i] = queue_events[place * POOL + i];
        pool_next[pool_first + i] = links[links_first + i];
    }
    let parity = saved.x & 1u;
    atomicStore(&pool_inbox[pool_inbox_of(parity, member)], links[links_first + POOL + member]);
    atomicStore(&pool_inbox[pool_inbox_of(1u - parity, member)], NONE);
    if member == 0u {
        atomicStore(&pool_free[2u * team], saved.y);
        atomicStore(&pool_free[2u * team + 1u], saved.z);
        atomicStore(&pool_lean[team], bitcast<i32>(saved.w));
        pool_choose(0u);
    }
}

// To be called by all invocations of a team, after the slice's last window and a barrier. Returns what REPLICA_SAVED is to be.
fn pool_keep(place: u32, member: u32) -> vec4<u32> {
    let links_first = place * (POOL + LISTS);
    for (var i = member; i < POOL; i += LISTS) {
        queue_events[place * POOL + i] = pool_events[pool_first + i];
        links[links_first + i] = pool_next[pool_first + i];
    }
    links[links_first + POOL + member] = atomicLoad(&pool_inbox[pool_inbox_of(run.part.parity, member)]);
    let free = 2u * pool_team;
    return vec4<u32>(
        run.part.parity, atomicLoad(&pool_free[free]), atomicLoad(&pool_free[free + 1u]), bitcast<u32>(atomicLoad(&pool_lean[pool_team]))
    );
}

// A slot for an event; NONE where there is none.
fn pool_take() -> u32 {
    let spare = own_spare;
    own_spare = NONE;
    if spare != NONE { return spare; }
    let side = 1u - pool_given;
    let list = 2u * pool_team + side;
    var slot = atomicLoad(&pool_free[list]);
    // Bound: slots, because each time that another invocation was faster, there is one less.
    while slot != NONE {
        let found = atomicCompareExchangeWeak(&pool_free[list], slot, pool_next[pool_first + slot]);
        if found.exchanged {
            atomicAdd(&pool_lean[pool_team], 2 * i32(side) - 1);
            return slot;
        }
        slot = found.old_value;
    }
    return NONE;
}

fn pool_give(slot: u32) {
    pool_next[pool_first + slot] = atomicExchange(&pool_free[2u * pool_team + pool_given], slot);
    atomicAdd(&pool_lean[pool_team], 1 - 2 * i32(pool_given));
}

// Sends an event to the LP of an invocation, which may be this one's.
fn pool_send(lp: u32, slot: u32) {
    pool_next[pool_first + slot] = atomicExchange(&pool_inbox[pool_inbox_of(1u - run.part.parity, lp)], slot);
}

// The event in a slot. Where there is none, what is in some slot, which another invocation may be writing: to be thrown away. So it is asked for without a branch.
fn pool_event(slot: u32) -> Item {
    return pool_events[pool_first + min(slot, POOL - 1u)];
}

// Puts an event where it belongs in the list.
fn own_insert(slot: u32, event: Item) {
    if (own_first == NONE) | event_before(event, own_event) {
        pool_next[pool_first + slot] = own_first;
        own_first = slot;
        own_event = event;
        return;
    }
    var before = own_first;
    var after = pool_next[pool_first + before];
    // Bound: events of the LP.
    while (after != NONE) & !event_before(event, pool_event(after)) {
        before = after;
        after = pool_next[pool_first + before];
    }
    pool_next[pool_first + before] = slot;
    pool_next[pool_first + slot] = after;
}

// Takes the first event out; its slot is to be given back or taken again.
fn own_remove() {
    own_spare = own_first;
    own_first = pool_next[pool_first + own_first];
    own_event = pool_event(own_first);
}

// The time of its first event.
fn own_time() -> vec2<u32> {
    return select(event_time(own_event), TIME_NEVER, own_first == NONE);
}

// Takes in what was sent to the LP of this invocation.
fn own_collect(lp: u32) {
    let inbox = pool_inbox_of(run.part.parity, lp);
    var slot = atomicLoad(&pool_inbox[inbox]);
    atomicStore(&pool_inbox[inbox], NONE);
    // Bound: events sent to the LP.
    while slot != NONE {
        let next = pool_next[pool_first + slot];
        own_insert(slot, pool_events[pool_first + slot]);
        slot = next;
    }
}
