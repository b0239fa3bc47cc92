// A* searches with one invocation each, for many searches on small maps (Baudis et al., sections
// II.C.2 and IV.A, who take eight cells at a time).
//
// `queue_events` is the open list of each slot, any queue for one invocation (search/items.wgsl).
//
// A step expands a cell, or skips one that has a cheaper path by now, or clears a few marks. A cell
// is inserted with every cheaper path and expanded once, because the heuristic is consistent. A
// user's heuristic is checked at every insertion: the estimate may not be below that of the cell
// before. So the estimates of taken cells never fall.
//
// Slot: open = (state of the queue (2), level, below), more = (expanded, the expanded place and its
// cost (2), -), later walk.wgsl's; cursor = the next part of its moves, or the next mark to clear.
// If a driver cuts loops (gpu/loops.wgsl), a list holds arbitrary values: that search restarts, and
// the host makes fewer steps.
//
// import: gpu/loops.wgsl
// import: search/slots.wgsl
// import: search/items.wgsl
// needs: GUESSED, IN_PARTS, cell_of, heuristic, look, looked, marks, next_part, queue_close
// needs: queue_first, queue_open, queue_pop, queue_push, queue_size
//
// bounds: as in slots.wgsl. A queue returns only items that were put in, in whatever order: see the
// queue's file.

override GROUP_SIZE: u32 = 32u;

// Marks that a step clears: about as long as an expansion.
const CLEARED = 64u;

var<private> slot: Slot;
var<private> number: u32;
var<private> base: u32;         // of its marks
var<private> level: u32;        // the estimate of the cell expanded last
var<private> below: u32;        // cells expanded with a lesser estimate
var<private> expanded: u32;
var<private> full: bool;
var<private> broken: vec2<u32>; // the arc on which the heuristic is inconsistent, or PLACE_NONE

@compute @workgroup_size(GROUP_SIZE)
fn search_by_threads(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    number = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if number >= work.slots { return; }
    slot = slots[number];
    base = number * work.cells;
    goal = slot.goal;
    level = slot.open.z;
    below = slot.open.w;
    expanded = slot.more.x;
    broken = vec2<u32>(PLACE_NONE);
    queue_open(number, slot.open.xy);
    // Bound: work.steps.
    for (var step = 0u; step < work.steps; step += 1u) {
        if slot.status == SLOT_SEARCH {
            expand();
        } else if slot.status == SLOT_CLEAR {
            clear();
        } else if slot.status == SLOT_FREE {
            let search = take_search();
            if search >= work.searches { break; }
            slot.search = search;
            if epoch_ends(slot.epoch) {
                slot.status = SLOT_CLEAR;
                slot.cursor = 0u;
            } else {
                begin();
            }
        } else {
            break;
        }
    }
    let kept = queue_close();
    if loops_cut(work.slots) && slot.status != SLOT_FREE && slot.status != SLOT_HOLD { again(); }
    slot.open = vec4<u32>(kept, level, below);
    slot.more.x = expanded;
    slots[number] = slot;
}

// Begins the slot's search.
fn begin() {
    let ends = searches[slot.search];
    slot.start = ends.x;
    slot.goal = ends.y;
    slot.epoch += work.range;
    slot.best = COST_NONE;
    slot.dropped = 0u;
    slot.cursor = 0u;
    slot.status = SLOT_SEARCH;
    goal = ends.y;
    level = 0u;
    below = 0u;
    expanded = 0u;
    full = false;
    queue_open(number, vec2<u32>(0u));
    if ends.x != PLACE_NONE {
        let guess = heuristic(ends.x, goal);
        if GUESSED && heuristic(goal, goal) != 0u {
            broken = vec2<u32>(goal);
            end();
        } else if !GUESSED || guess != COST_NONE {
            marks[base + cell_of(ends.x)] = slot.epoch;
            full = !queue_push(Item(guess, ends.x));
        }
    }
}

// Restarts the search, with new marks.
fn again() {
    atomicAdd(&control[CONTROL_CUT], 1u);
    slot.status = SLOT_CLEAR;
    slot.cursor = 0u;
}

fn clear() {
    for (var i = 0u; i < CLEARED; i += 4u) {
        let cell = slot.cursor + i;
        if cell < work.cells { marks[base + cell] = 0u; }
        if cell + 1u < work.cells { marks[base + cell + 1u] = 0u; }
        if cell + 2u < work.cells { marks[base + cell + 2u] = 0u; }
        if cell + 3u < work.cells { marks[base + cell + 3u] = 0u; }
    }
    slot.cursor += CLEARED;
    if slot.cursor >= work.cells {
        slot.epoch = 0u;
        begin();
    }
}

// Takes the next cell from the open list and reads its neighbours, or the next part of them.
fn expand() {
    var at = slot.more.yz;
    if !IN_PARTS || slot.cursor == 0u {
        if queue_size() == 0u {
            end();
            return;
        }
        let item = queue_first();
        if item.x > slot.best {
            end();
            return;
        }
        queue_pop();
        at = vec2<u32>(item.y, item.x - heuristic(item.y, goal));
        let mark = marks[base + cell_of(at.x)];
        if mark != slot.epoch - at.y {
            // It has a cheaper path by now. A lesser mark means that the heuristic returned another
            // estimate.
            if GUESSED && mark < slot.epoch - at.y {
                broken = at.xx;
                end();
            }
            return;
        }
        if item.x > level {
            level = item.x;
            below = expanded;
        }
        if at.x == goal {
            slot.best = at.y;
            if work.all_paths == 0u { end(); }
            return;
        }
        expanded += 1u;
    }
    var better = look(base, at.x, at.y, slot.epoch, slot.cursor);
    if better >= 0x100u {
        slot.dropped = 1u;
        better &= 0xffu;
    }
    // Bound: 8. Bits are taken in order, so that lockstep invocations are busy while they have
    // neighbours.
    while better != 0u {
        let d = countTrailingZeros(better);
        better &= better - 1u;
        let next = looked(at.x, at.y, slot.cursor, d);
        let guess = heuristic(next.y, goal);
        if GUESSED {
            if guess >= COST_NONE - next.z {
                // There is no path from there, or its cost exceeds 32 bits.
                if guess != COST_NONE && marks[base + next.x] <= slot.epoch - work.range { slot.dropped = 1u; }
                continue;
            }
            // Estimates of taken cells never fall.
            if next.z + guess < level {
                broken = vec2<u32>(at.x, next.y);
                break;
            }
        }
        marks[base + next.x] = slot.epoch - next.z;
        if !queue_push(Item(next.z + guess, next.y)) { full = true; }
    }
    if IN_PARTS {
        slot.cursor = next_part(at.x, slot.cursor);
        slot.more.y = at.x;
        slot.more.z = at.y;
    }
    if full || broken.x != PLACE_NONE { end(); }
}

// Ends the search.
fn end() {
    // If loops were cut, the result is unreliable.
    if loops_cut(work.slots) {
        again();
        return;
    }
    var record: Record;
    record.cost = slot.best;
    record.expanded = expanded;
    slot.status = SLOT_FREE;
    if broken.x != PLACE_NONE {
        record.status = RECORD_BROKEN;
        record.cost = broken.x;
        record.expanded = broken.y;
        broken = vec2<u32>(PLACE_NONE);
    } else if full {
        record.status = RECORD_FULL;
    } else if slot.best != COST_NONE {
        record.status = RECORD_FOUND;
        record.expanded = below;
        if work.all_paths == 1u { slot.status = SLOT_HOLD; }
    } else {
        record.status = select(RECORD_NONE, RECORD_RANGE, slot.dropped == 1u);
    }
    records[slot.search] = record;
    atomicAdd(&control[CONTROL_ENDED], 1u);
    if slot.status == SLOT_HOLD {
        slot.cursor = slot.goal;
        slot.more.y = 0u;
        slot.more.w = 0u;
        atomicAdd(&control[CONTROL_HOLD], 1u);
    }
}
