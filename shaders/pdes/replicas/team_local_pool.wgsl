// The pending events of a small run, for local teams: one pool, in which an event keeps its slot
// from `schedule` to its execution. LPs share it, so no room is idle, and more replicas are
// resident. A slot has an event, and the next slot in its LP's ordered list, in an unordered inbox,
// or in a free list: in workgroup memory (pdes/replicas/team_local_slots.wgsl), or in buffers if
// there is no room (pdes/replicas/team_local_slots_far.wgsl). In workgroup memory is always, for
// each of the TEAMS replicas of a workgroup:
//   pool_inbox   by parity of the window that reads it, the first slot of each LP's inbox
//   pool_free    the heads of two free lists. A window takes from the longer one (pool_lean: the
//                difference) and gives to the other (pool_gives), so takes and gives do not race
// Between slices: queue_events from place * POOL on are the events; links from place * (POOL +
// LISTS) on are the next slots (POOL), then the next window's inboxes (LISTS). lps row: unused (2),
// first slot, stalled windows. REPLICA_SAVED: parity, pool_free (2), pool_lean.
//
// Functions: pool_fetch, pool_keep, pool_choose, pool_window, pool_take, pool_give, pool_send,
// own_insert, own_remove, own_time, own_collect.
//
// import: pdes/engine.wgsl
// needs: Item, event_before, event_time, run, slot_event, slot_link, slot_next, slots_fetch
// needs: slots_keep

const NONE = 0xffffffffu;

// run.queue_capacity and run.queue_stride: slots of a replica, and its lists, one for each of its
// invocations.
override POOL: u32 = 64u;
override LISTS: u32 = 64u;
// Replicas of a workgroup of TEAMS * LISTS invocations.
override TEAMS: u32 = 1u;

@group(0) @binding(8) var<storage, read_write> links: array<u32>;

var<workgroup> pool_inbox: array<atomic<u32>, 2u * TEAMS * LISTS>;
var<workgroup> pool_free: array<atomic<u32>, 2u * TEAMS>;
var<workgroup> pool_lean: array<atomic<i32>, TEAMS>;
var<workgroup> pool_gives: array<atomic<u32>, 2u * TEAMS>;

var<private> pool_team: u32;

// The list of free slots that the present window gives to.
var<private> pool_given: u32;

// The index of an LP's inbox that a window of this parity reads.
fn pool_inbox_of(parity: u32, lp: u32) -> u32 {
    return (2u * pool_team + parity) * LISTS + lp;
}

// Call it in one or several invocations of a team with a run, before a barrier and then a window of
// this parity, and not during one.
fn pool_choose(parity: u32) {
    atomicStore(&pool_gives[2u * pool_team + parity], u32(atomicLoad(&pool_lean[pool_team]) > 0));
}

// Call it before each window.
fn pool_window(parity: u32) {
    pool_given = atomicLoad(&pool_gives[2u * pool_team + parity]);
}

// The list of the invocation's LP: its first slot, and the event there.
var<private> own_first: u32;
var<private> own_event: Item;
// The slot of the executing event, until another event takes it.
var<private> own_spare: u32;

// Call it in all invocations of a team, before the slice's first window and a barrier.
fn pool_fetch(team: u32, place: u32, member: u32, saved: vec4<u32>) {
    pool_team = team;
    let links_first = place * (POOL + LISTS);
    slots_fetch(team, place, member);
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

// Call it in all invocations of a team, after the slice's last window and a barrier. Returns the
// new REPLICA_SAVED.
fn pool_keep(place: u32, member: u32) -> vec4<u32> {
    let links_first = place * (POOL + LISTS);
    slots_keep(place, member);
    links[links_first + POOL + member] = atomicLoad(&pool_inbox[pool_inbox_of(run.part.parity, member)]);
    let free = 2u * pool_team;
    return vec4<u32>(
        run.part.parity, atomicLoad(&pool_free[free]), atomicLoad(&pool_free[free + 1u]), bitcast<u32>(atomicLoad(&pool_lean[pool_team]))
    );
}

// A free slot, or NONE.
fn pool_take() -> u32 {
    let spare = own_spare;
    own_spare = NONE;
    if spare != NONE { return spare; }
    let side = 1u - pool_given;
    let list = 2u * pool_team + side;
    var slot = atomicLoad(&pool_free[list]);
    // Bound: the slots, because each failed exchange means that another invocation took one. No
    // slot returns to this list during a window.
    while slot != NONE {
        let found = atomicCompareExchangeWeak(&pool_free[list], slot, slot_next(slot));
        if found.exchanged {
            atomicAdd(&pool_lean[pool_team], 2 * i32(side) - 1);
            return slot;
        }
        slot = found.old_value;
    }
    return NONE;
}

fn pool_give(slot: u32) {
    slot_link(slot, atomicExchange(&pool_free[2u * pool_team + pool_given], slot));
    atomicAdd(&pool_lean[pool_team], 1 - 2 * i32(pool_given));
}

// Sends an event to an LP, which may be this invocation's.
fn pool_send(lp: u32, slot: u32) {
    slot_link(slot, atomicExchange(&pool_inbox[pool_inbox_of(1u - run.part.parity, lp)], slot));
}

// The event in a slot; for NONE an arbitrary event, which another invocation may be writing and the
// caller discards. This needs no branch.
fn pool_event(slot: u32) -> Item {
    return slot_event(min(slot, POOL - 1u));
}

// Inserts an event into the LP's list, in order.
fn own_insert(slot: u32, event: Item) {
    if (own_first == NONE) | event_before(event, own_event) {
        slot_link(slot, own_first);
        own_first = slot;
        own_event = event;
        return;
    }
    var before = own_first;
    var after = slot_next(before);
    // Bound: events of the LP.
    while (after != NONE) & !event_before(event, pool_event(after)) {
        before = after;
        after = slot_next(before);
    }
    slot_link(before, slot);
    slot_link(slot, after);
}

// Removes the first event; its slot is then given back or reused.
fn own_remove() {
    own_spare = own_first;
    own_first = slot_next(own_first);
    own_event = pool_event(own_first);
}

// The time of the first event.
fn own_time() -> vec2<u32> {
    return select(event_time(own_event), TIME_NEVER, own_first == NONE);
}

// Moves the inbox of this invocation's LP into its list.
fn own_collect(lp: u32) {
    let inbox = pool_inbox_of(run.part.parity, lp);
    var slot = atomicLoad(&pool_inbox[inbox]);
    atomicStore(&pool_inbox[inbox], NONE);
    // Bound: events sent to the LP.
    while slot != NONE {
        let next = slot_next(slot);
        own_insert(slot, slot_event(slot));
        slot = next;
    }
}
