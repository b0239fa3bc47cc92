// Path searches that take cells in bands of estimates, as search/team.wgsl does, with one
// invocation per search: for CPUs, and for many searches on small maps. Nothing is sifted: to
// insert or take a cell is to write or read 8 bytes.
//
//   open_cells   two lists of work.capacity (place, mark) per slot: the band, a ring (first in,
//                first out), and the cells beyond it. An entry is skipped if its mark is not the
//                cell's any more
//
// A step expands a cell of the band; or sorts SORTED cells beyond, if the band is empty; or counts
// or clears a few cells. If a driver cuts loops: as in search/thread.wgsl.
//
// Slot: open = (first of the band, cells in the band, cells beyond, threshold), more = (cells left
// to sort, cells counted, reached rows (first | last << 16), least estimate beyond); cursor is the
// next cell to sort or count. After a search, search/walk.wgsl uses all of `more` except the first.
//
// import: gpu/loops.wgsl
// import: search/grid.wgsl
// import: search/relax.wgsl
// needs: terrain_of
//
// bounds: as in slots.wgsl and grid.wgsl. Entries are written at places below `capacity` and read
// at the same places.

override GROUP_SIZE: u32 = 32u;

// Cells that a step sorts, or counts or clears: about as long as an expansion.
const SORTED = 8u;
const CELLS = 32u;

// States of a slot in addition to SLOT_...
const SLOT_SPLIT = 5u;      // sorts the cells beyond the band
const SLOT_COUNT = 6u;      // counts the expanded cells

@group(0) @binding(7) var<storage, read_write> open_cells: array<vec2<u32>>;

var<private> slot: Slot;
var<private> base: u32;         // of its marks
var<private> lists: u32;        // of its lists
var<private> first: u32;        // of the band
var<private> held: u32;         // cells in the band
var<private> beyond: u32;       // cells beyond it
var<private> threshold: u32;
var<private> unsorted: u32;     // cells beyond that were there when the band was empty
var<private> least: u32;
var<private> best: u32;
var<private> counted: u32;
var<private> rows: vec2<u32>;   // reached rows
var<private> full: bool;

@compute @workgroup_size(GROUP_SIZE)
fn search_by_bands(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if number >= work.slots { return; }
    slot = slots[number];
    base = number * work.cells;
    lists = number * 2u * work.capacity;
    first = slot.open.x;
    held = slot.open.y;
    beyond = slot.open.z;
    threshold = slot.open.w;
    unsorted = slot.more.x;
    least = slot.more.w;
    best = slot.best;
    counted = slot.more.y;
    rows = vec2<u32>(slot.more.z & 0xffffu, slot.more.z >> 16u);
    // Bound: work.steps.
    for (var step = 0u; step < work.steps; step += 1u) {
        if slot.status == SLOT_SEARCH {
            expand();
        } else if slot.status == SLOT_SPLIT {
            split();
        } else if slot.status == SLOT_COUNT {
            count();
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
    if slot.status == SLOT_HOLD || slot.status == SLOT_WRITE {
        slots[number] = slot;
        return;
    }
    if loops_cut(work.slots) && slot.status != SLOT_FREE { again(); }
    slot.open = vec4<u32>(first, held, beyond, threshold);
    slot.more = vec4<u32>(unsorted, counted, rows.x | (rows.y << 16u), least);
    slot.best = best;
    slots[number] = slot;
}

// Begins the slot's search.
fn begin() {
    let ends = searches[slot.search];
    slot.start = ends.x;
    slot.goal = ends.y;
    slot.epoch += work.range;
    slot.dropped = 0u;
    slot.status = SLOT_SEARCH;
    slot.cursor = 0u;
    first = 0u;
    held = 0u;
    beyond = 0u;
    unsorted = 0u;
    least = COST_NONE;
    best = COST_NONE;
    counted = 0u;
    full = false;
    if ends.x == PLACE_NONE {
        end();
        return;
    }
    rows = vec2<u32>(ends.x >> 16u);
    marks[base + cell_of(ends.x)] = slot.epoch;
    if ends.x == ends.y {
        best = 0u;
        end();
        return;
    }
    threshold = heuristic(ends.x, ends.y);
    threshold += min(work.delta, COST_NONE - threshold);
    put(vec2<u32>(ends.x, slot.epoch), 0u);
}

// Restarts the search, with new marks.
fn again() {
    atomicAdd(&control[CONTROL_CUT], 1u);
    slot.status = SLOT_CLEAR;
    slot.cursor = 0u;
}

fn clear() {
    for (var i = 0u; i < CELLS; i += 1u) {
        if slot.cursor + i < work.cells { marks[base + slot.cursor + i] = 0u; }
    }
    slot.cursor += CELLS;
    if slot.cursor >= work.cells {
        slot.epoch = 0u;
        begin();
    }
}

// Whether a path through a cell can improve the result.
fn wanted(estimate: u32) -> bool {
    return (estimate < best) | ((work.all_paths == 1u) & (estimate == best));
}

// Puts a cell in the band or beyond it.
fn put(entry: vec2<u32>, estimate: u32) {
    let near = estimate <= threshold;
    if select(beyond, held, near) >= work.capacity {
        full = true;
        return;
    }
    var place = first + held;
    if place >= work.capacity { place -= work.capacity; }
    open_cells[lists + select(work.capacity + beyond, place, near)] = entry;
    if near {
        held += 1u;
    } else {
        beyond += 1u;
        least = min(least, estimate);
    }
}

// Takes the next cell of the band and expands it.
fn expand() {
    if held == 0u {
        next_band();
        return;
    }
    let entry = open_cells[lists + first];
    held -= 1u;
    first = select(first + 1u, 0u, first + 1u == work.capacity);
    let cell = cell_of(entry.x);
    let cost = slot.epoch - entry.y;
    if marks[base + cell] != entry.y || !wanted(cost + heuristic(entry.x, slot.goal)) { return; }
    var better = cheaper(base, cell, allowed_from(cell), cost, slot.epoch);
    if better >= 0x100u {
        slot.dropped = 1u;
        better &= 0xffu;
    }
    // Bound: 8.
    while better != 0u {
        let d = countTrailingZeros(better);
        better &= better - 1u;
        let next = cell + direction_cell(d);
        let place = entry.x + direction_place(d);
        let total = cost + move_cost(d) * terrain_of(next);
        let estimate = total + heuristic(place, slot.goal);
        if !wanted(estimate) { continue; }
        marks[base + next] = slot.epoch - total;
        rows = vec2<u32>(min(rows.x, place >> 16u), max(rows.y, place >> 16u));
        if place == slot.goal {
            best = total;
        } else {
            put(vec2<u32>(place, slot.epoch - total), estimate);
        }
    }
    if full { end(); }
}

// The band is empty: sorts the cells beyond, or ends the search.
fn next_band() {
    if beyond == 0u || !wanted(least) {
        if work.count == 1u {
            slot.status = SLOT_COUNT;
            slot.cursor = rows.x * work.width;
        } else {
            end();
        }
        return;
    }
    slot.status = SLOT_SPLIT;
    slot.cursor = 0u;
    unsorted = beyond;
    beyond = 0u;
    threshold = least + min(work.delta, COST_NONE - least);
    least = COST_NONE;
}

// Sorts cells beyond the last band into the next band, or to the front of the list beyond, which
// was already read.
fn split() {
    for (var i = 0u; i < SORTED; i += 1u) {
        if slot.cursor < unsorted {
            let entry = open_cells[lists + work.capacity + slot.cursor];
            slot.cursor += 1u;
            if marks[base + cell_of(entry.x)] == entry.y {
                let estimate = slot.epoch - entry.y + heuristic(entry.x, slot.goal);
                if wanted(estimate) { put(entry, estimate); }
            }
        }
    }
    if full {
        end();
    } else if slot.cursor >= unsorted {
        slot.status = SLOT_SEARCH;
    }
}

// Counts cells of the reached rows: those that every search would have to expand.
fn count() {
    let end_cell = (rows.y + 1u) * work.width;
    for (var i = 0u; i < CELLS; i += 1u) {
        let cell = slot.cursor + i;
        if cell < end_cell {
            let mark = marks[base + cell];
            if mark > slot.epoch - work.range {
                let place = (cell % work.width) | ((cell / work.width) << 16u);
                if slot.epoch - mark + heuristic(place, slot.goal) < best { counted += 1u; }
            }
        }
    }
    slot.cursor += CELLS;
    if slot.cursor >= end_cell { end(); }
}

// Ends the search.
fn end() {
    // If loops were cut, the result is unreliable.
    if loops_cut(work.slots) {
        again();
        return;
    }
    var record: Record;
    record.cost = best;
    record.expanded = counted;
    slot.status = SLOT_FREE;
    if full {
        record.status = RECORD_FULL;
    } else if best != COST_NONE {
        record.status = RECORD_FOUND;
        if work.all_paths == 1u { slot.status = SLOT_HOLD; }
    } else {
        record.status = select(RECORD_NONE, RECORD_RANGE, slot.dropped == 1u);
    }
    records[slot.search] = record;
    atomicAdd(&control[CONTROL_ENDED], 1u);
    if slot.status == SLOT_HOLD {
        slot.cursor = slot.goal;
        slot.more.y = 0u;
        atomicAdd(&control[CONTROL_HOLD], 1u);
    }
}
