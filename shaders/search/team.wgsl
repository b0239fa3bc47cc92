// Path searches with a workgroup each: for large maps, and for fewer searches than the device has
// invocations. A* that expands all cells with an estimate (cost so far and heuristic) up to
// work.delta above the least one together, label-correcting within such a band like delta-stepping
// (Meyer and Sanders). It is optimal: it ends when no cell with a lesser estimate is left.
//
// `open_cells` has three lists of work.capacity (place, mark) per slot: two alternating ones of the
// band, and the cells beyond. An entry is skipped unless its mark is still the cell's. `marks` only
// rise, by atomicMax, so each entry is expanded at most once.
//
// A *pass* is a part of a list (an invocation per entry and direction), of sorting the cells
// beyond, of clearing or of counting. The leader then chooses the next pass. A dispatch is up to
// work.steps passes of every slot.
// Slot: open = (list of the band, its length, length of the list beyond, threshold), more = (length
// of the next list, cells counted, reached rows (first | last << 16), least estimate beyond), later
// walk.wgsl's; cursor is the next entry, cell or mark.
//
// import: gpu/loops.wgsl
// import: search/grid.wgsl
// needs: terrain_of
//
// bounds: as in slots.wgsl and grid.wgsl. Entries are written below `capacity`, and a list that
// overflowed is never read (`next_list`; lengths are stored between dispatches). Every entry below
// a list's length was written by the pass before.

override GROUP_SIZE: u32 = 64u;

// Cells that an invocation clears or counts in a pass.
const CELLS = 8u;

// States of a slot in addition to SLOT_...
const SLOT_SPLIT = 5u;      // sorts the cells beyond the band
const SLOT_COUNT = 6u;      // counts the expanded cells
const SLOT_IDLE = 7u;       // there are no more searches

@group(0) @binding(6) var<storage, read_write> marks: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> open_cells: array<vec2<u32>>;

// The slot at the beginning of the pass.
var<workgroup> team_slot: Slot;
var<workgroup> team_status: u32;
// Changed by all invocations in a pass. Lengths include entries that did not fit: a list that
// overflowed is recognised, in later dispatches as well (lists_full).
var<workgroup> team_next: atomic<u32>;      // length of the next list of the band
var<workgroup> team_far: atomic<u32>;       // length of the list beyond
var<workgroup> team_least: atomic<u32>;     // the least estimate in it
var<workgroup> team_best: atomic<u32>;
var<workgroup> team_dropped: atomic<u32>;
var<workgroup> team_counted: atomic<u32>;
var<workgroup> team_top: atomic<u32>;       // the reached rows
var<workgroup> team_bottom: atomic<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn search_by_teams(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = group.y * groups.x + group.x;
    if number >= work.slots { return; }
    let base = number * work.cells;
    let lists = number * 3u * work.capacity;
    if lane == 0u {
        team_slot = slots[number];
        team_status = team_slot.status;
        atomicStore(&team_next, team_slot.more.x);
        atomicStore(&team_far, team_slot.open.z);
        atomicStore(&team_least, team_slot.more.w);
        atomicStore(&team_best, team_slot.best);
        atomicStore(&team_dropped, team_slot.dropped);
        atomicStore(&team_counted, team_slot.more.y);
        atomicStore(&team_top, team_slot.more.z & 0xffffu);
        atomicStore(&team_bottom, team_slot.more.z >> 16u);
    }
    // Bound: work.steps.
    for (var step = 0u; step < work.steps; step += 1u) {
        let status = workgroupUniformLoad(&team_status);
        if status == SLOT_IDLE || status == SLOT_HOLD || status == SLOT_WRITE { break; }
        if status == SLOT_SEARCH {
            expand(base, lists, lane);
        } else if status == SLOT_SPLIT {
            split(base, lists, lane);
        } else if status == SLOT_COUNT {
            count(base, lane);
        } else if status == SLOT_CLEAR {
            clear(base, lane);
        }
        storageBarrier();
        workgroupBarrier();
        if lane == 0u { decide(base, lists); }
        storageBarrier();
    }
    workgroupBarrier();
    if lane == 0u {
        if loops_cut(work.slots) && team_slot.status != SLOT_IDLE && team_slot.status != SLOT_HOLD && team_slot.status != SLOT_FREE { again(); }
        if team_slot.status == SLOT_IDLE { team_slot.status = SLOT_FREE; }
        team_slot.more.x = atomicLoad(&team_next);
        team_slot.open.z = atomicLoad(&team_far);
        team_slot.more.w = atomicLoad(&team_least);
        team_slot.best = atomicLoad(&team_best);
        team_slot.dropped = atomicLoad(&team_dropped);
        if team_slot.status != SLOT_HOLD && team_slot.status != SLOT_WRITE {
            team_slot.more.y = atomicLoad(&team_counted);
            team_slot.more.z = atomicLoad(&team_top) | (atomicLoad(&team_bottom) << 16u);
        }
        slots[number] = team_slot;
    }
}

// Whether a path through a cell can improve the result.
fn wanted(estimate: u32) -> bool {
    let best = atomicLoad(&team_best);
    return (estimate < best) | ((work.all_paths == 1u) & (estimate == best));
}

// Puts a cell in one of the three lists (2 is the one beyond), if there is room.
fn put(lists: u32, list: u32, index: u32, entry: vec2<u32>) {
    if index < work.capacity {
        open_cells[lists + list * work.capacity + index] = entry;
    }
}

// Whether an entry did not fit.
fn lists_full() -> bool {
    return atomicLoad(&team_next) > work.capacity || atomicLoad(&team_far) > work.capacity;
}

// Puts a cell in the band's next list or the list beyond.
fn sort_in(lists: u32, entry: vec2<u32>, estimate: u32) {
    if estimate <= team_slot.open.w {
        put(lists, 1u - team_slot.open.x, atomicAdd(&team_next, 1u), entry);
    } else {
        put(lists, 2u, atomicAdd(&team_far, 1u), entry);
        atomicMin(&team_least, estimate);
    }
}

// Expands a part of the band's list.
fn expand(base: u32, lists: u32, lane: u32) {
    let index = team_slot.cursor + lane / work.directions;
    if index >= team_slot.open.y || lane / work.directions >= GROUP_SIZE / work.directions { return; }
    let entry = open_cells[lists + team_slot.open.x * work.capacity + index];
    let cell = cell_of(entry.x);
    let d = lane % work.directions;
    let moves = allowed_from(cell);
    let cost = team_slot.epoch - entry.y;
    if atomicLoad(&marks[base + cell]) != entry.y { return; }
    if ((moves >> d) & 1u) == 0u || !wanted(cost + heuristic(entry.x, team_slot.goal)) { return; }
    let next = cell + direction_cell(d);
    let place = entry.x + direction_place(d);
    let total = cost + move_cost(d) * terrain_of(next);
    if total >= work.range {
        if atomicLoad(&marks[base + next]) <= team_slot.epoch - work.range { atomicStore(&team_dropped, 1u); }
        return;
    }
    let estimate = total + heuristic(place, team_slot.goal);
    if !wanted(estimate) { return; }
    let mark = team_slot.epoch - total;
    if atomicMax(&marks[base + next], mark) >= mark { return; }
    if work.count == 1u {
        atomicMin(&team_top, place >> 16u);
        atomicMax(&team_bottom, place >> 16u);
    }
    if place == team_slot.goal {
        atomicMin(&team_best, total);
    } else {
        sort_in(lists, vec2<u32>(place, mark), estimate);
    }
}

// Sorts a part of the cells beyond the last band into the next band, or to the front of the list
// beyond, which was already read.
fn split(base: u32, lists: u32, lane: u32) {
    let index = team_slot.cursor + lane;
    var entry = vec2<u32>(0u);
    var estimate = COST_NONE;
    if index < team_slot.open.y {
        entry = open_cells[lists + 2u * work.capacity + index];
        if atomicLoad(&marks[base + cell_of(entry.x)]) == entry.y {
            estimate = team_slot.epoch - entry.y + heuristic(entry.x, team_slot.goal);
        }
    }
    storageBarrier();
    workgroupBarrier();
    if estimate != COST_NONE && wanted(estimate) { sort_in(lists, entry, estimate); }
}

// Counts a part of the cells of the reached rows: those that every search would have to expand.
fn count(base: u32, lane: u32) {
    var counted = 0u;
    let end = count_end();
    let best = atomicLoad(&team_best);
    for (var i = 0u; i < CELLS; i += 1u) {
        let cell = team_slot.cursor + i * GROUP_SIZE + lane;
        if cell < end {
            let mark = atomicLoad(&marks[base + cell]);
            if mark > team_slot.epoch - work.range {
                let place = (cell % work.width) | ((cell / work.width) << 16u);
                if team_slot.epoch - mark + heuristic(place, team_slot.goal) < best { counted += 1u; }
            }
        }
    }
    if counted > 0u { atomicAdd(&team_counted, counted); }
}

fn count_end() -> u32 {
    return (atomicLoad(&team_bottom) + 1u) * work.width;
}

fn clear(base: u32, lane: u32) {
    for (var i = 0u; i < CELLS; i += 1u) {
        let cell = team_slot.cursor + i * GROUP_SIZE + lane;
        if cell < work.cells { atomicStore(&marks[base + cell], 0u); }
    }
}

// The leader chooses the next pass.
fn decide(base: u32, lists: u32) {
    switch team_slot.status {
        case SLOT_FREE: { take(base, lists); }
        case SLOT_CLEAR: {
            team_slot.cursor += GROUP_SIZE * CELLS;
            if team_slot.cursor >= work.cells {
                team_slot.epoch = 0u;
                begin(base, lists);
            }
        }
        case SLOT_SEARCH: {
            team_slot.cursor += GROUP_SIZE / work.directions;
            if team_slot.cursor >= team_slot.open.y { next_list(); }
        }
        case SLOT_SPLIT: {
            team_slot.cursor += GROUP_SIZE;
            if team_slot.cursor >= team_slot.open.y { next_list(); }
        }
        case SLOT_COUNT: {
            team_slot.cursor += GROUP_SIZE * CELLS;
            if team_slot.cursor >= count_end() { end(); }
        }
        default: {}
    }
    team_status = team_slot.status;
}

// The band's next list, or the next band.
fn next_list() {
    team_slot.cursor = 0u;
    if lists_full() {
        end();
        return;
    }
    let length = atomicLoad(&team_next);
    if length > 0u {
        team_slot.status = SLOT_SEARCH;
        team_slot.open.x = 1u - team_slot.open.x;
        team_slot.open.y = length;
        atomicStore(&team_next, 0u);
        return;
    }
    let beyond = atomicLoad(&team_far);
    let least = atomicLoad(&team_least);
    if beyond == 0u || !wanted(least) {
        if work.count == 1u {
            team_slot.status = SLOT_COUNT;
            team_slot.cursor = atomicLoad(&team_top) * work.width;
            atomicStore(&team_counted, 0u);
        } else {
            end();
        }
        return;
    }
    team_slot.status = SLOT_SPLIT;
    team_slot.open.y = beyond;
    // The threshold does not wrap: estimates are far below 2^32.
    team_slot.open.w = least + min(work.delta, 0xffffffffu - least);
    atomicStore(&team_far, 0u);
    atomicStore(&team_least, COST_NONE);
}

fn take(base: u32, lists: u32) {
    let search = take_search();
    if search >= work.searches {
        team_slot.status = SLOT_IDLE;
        return;
    }
    team_slot.search = search;
    if epoch_ends(team_slot.epoch) {
        team_slot.status = SLOT_CLEAR;
        team_slot.cursor = 0u;
    } else {
        begin(base, lists);
    }
}

// Begins the slot's search.
fn begin(base: u32, lists: u32) {
    let ends = searches[team_slot.search];
    team_slot.start = ends.x;
    team_slot.goal = ends.y;
    team_slot.epoch += work.range;
    team_slot.cursor = 0u;
    team_slot.status = SLOT_SEARCH;
    atomicStore(&team_next, 0u);
    atomicStore(&team_far, 0u);
    atomicStore(&team_least, COST_NONE);
    atomicStore(&team_best, COST_NONE);
    atomicStore(&team_dropped, 0u);
    atomicStore(&team_counted, 0u);
    team_slot.open = vec4<u32>(0u);
    if ends.x == PLACE_NONE {
        end();
        return;
    }
    atomicStore(&marks[base + cell_of(ends.x)], team_slot.epoch);
    atomicStore(&team_top, ends.x >> 16u);
    atomicStore(&team_bottom, ends.x >> 16u);
    if ends.x == ends.y {
        atomicStore(&team_best, 0u);
        end();
        return;
    }
    let estimate = heuristic(ends.x, ends.y);
    team_slot.open = vec4<u32>(0u, 1u, 0u, estimate + min(work.delta, 0xffffffffu - estimate));
    put(lists, 0u, 0u, vec2<u32>(ends.x, team_slot.epoch));
}

// Restarts the search, with new marks.
fn again() {
    atomicAdd(&control[CONTROL_CUT], 1u);
    team_slot.status = SLOT_CLEAR;
    team_slot.cursor = 0u;
}

// Ends the search.
fn end() {
    // If loops were cut, the result is unreliable.
    if loops_cut(work.slots) {
        again();
        return;
    }
    var record: Record;
    record.cost = atomicLoad(&team_best);
    record.expanded = atomicLoad(&team_counted);
    team_slot.status = SLOT_FREE;
    if lists_full() {
        record.status = RECORD_FULL;
    } else if record.cost != COST_NONE {
        record.status = RECORD_FOUND;
        if work.all_paths == 1u { team_slot.status = SLOT_HOLD; }
    } else {
        record.status = select(RECORD_NONE, RECORD_RANGE, atomicLoad(&team_dropped) == 1u);
    }
    records[team_slot.search] = record;
    atomicAdd(&control[CONTROL_ENDED], 1u);
    if team_slot.status == SLOT_HOLD {
        team_slot.cursor = team_slot.goal;
        team_slot.more.y = 0u;
        atomicAdd(&control[CONTROL_HOLD], 1u);
    } else {
        // Saves a pass.
        team_slot.cursor = 0u;
    }
}
