// A* searches, one invocation for each (Baudis et al., sections II.C.2 and IV.A, but that theirs takes eight cells at a time): for many
// searches on small maps.
//
//   marks         work.cells words for each slot (search/slots.wgsl)
//   queue_events  the open list of each slot, a queue of any design whose queues one invocation serves (search/items.wgsl)
//
// A dispatch is so many steps of every slot; a step expands a cell, or finds that one had a cheaper path since it was put in the
// list, or clears a few marks. A cell is put in the list whenever a cheaper path to it is found, and expanded once, because the heuristic is
// consistent. Where it is a user's, that is looked at for every cell that is put in the list: its estimate may not be below that of the cell before it. So the
// estimates of the cells that are taken never fall, and a cell that was expanded is not reached again by a cheaper path.
//
// Slot: open = (what the queue keeps (2), level, below), more = (expanded, of search/walk.wgsl or the place that is expanded and its cost (2), -); cursor = the part
// of its moves that comes next, or the next mark to clear.
//
// A driver that cuts loops (gpu/loops.wgsl) leaves rubbish in a list: that search is begun again, and the host makes fewer steps.
//
// import: gpu/loops.wgsl
// import: search/slots.wgsl
// import: search/items.wgsl
// needs: GUESSED, IN_PARTS, cell_of, heuristic, look, looked, marks, next_part, queue_close
// needs: queue_first, queue_open, queue_pop, queue_push, queue_size
//
// bounds: as in slots.wgsl. What a queue gives back is an item that was put in, whatever its order:
// see the file of the queue.

override GROUP_SIZE: u32 = 32u;

// Marks that a step clears: it takes about as long as another.
const CLEARED = 64u;

var<private> slot: Slot;
var<private> number: u32;
var<private> base: u32;         // of its marks
var<private> level: u32;        // the estimate of the cell expanded last
var<private> below: u32;        // cells expanded with a lesser one
var<private> expanded: u32;
var<private> full: bool;
var<private> broken: vec2<u32>; // the arc on which the heuristic is not consistent, or PLACE_NONE

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

// Begins the search that the slot has.
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

// The search has to begin again, with marks of its own.
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

// Takes the next cell from the open list, and looks at its neighbours, or at the next of them.
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
            // It had a cheaper path since it was put there. A dearer one it cannot have: then the estimate was another one.
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
    // Bound: 8. Those that run in lockstep are all busy as long as they have a neighbour left, in whatever direction.
    while better != 0u {
        let d = countTrailingZeros(better);
        better &= better - 1u;
        let next = looked(at.x, at.y, slot.cursor, d);
        let guess = heuristic(next.y, goal);
        if GUESSED {
            if guess >= COST_NONE - next.z {
                // There is no way from there, or a path over it costs more than 32 bits hold.
                if guess != COST_NONE && marks[base + next.x] <= slot.epoch - work.range { slot.dropped = 1u; }
                continue;
            }
            // Of the cells that are taken, none has a lesser estimate than the one before.
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

// The search is over.
fn end() {
    // In loops that were cut nothing is known.
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
