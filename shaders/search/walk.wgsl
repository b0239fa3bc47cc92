// The paths of finished searches: from the goal back to the start, one invocation per slot.
//
//   marks   as the search left them
//   paths   the places of paths, each contiguous from start to goal, in the order of allocation
//
// The predecessor on the path is the first cell, in an order of the space, whose cost plus that of
// the move is the cell's cost. All cells that a cheapest path could have are marked with their
// costs, so the path does not depend on the search's order.
//
// A path is walked twice: to count its cells, and, after they are allocated, to write them. A
// dispatch is at most work.steps moves of each slot.
//
// Slot: cursor = the current place, more = (-, cells so far, the first in `paths`, the next part of
// the moves to `cursor`).
//
// import: gpu/loops.wgsl
// import: search/slots.wgsl
// provides: marks
// needs: place_before
//
// bounds: as in slots.wgsl. `paths` is written from `path_first` on: `path_cells` words, which were
// compared with `path_room`, counted down as they were counted up.

override GROUP_SIZE: u32 = 32u;

@group(0) @binding(6) var<storage> marks: array<u32>;
@group(0) @binding(7) var<storage, read_write> paths: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn walk(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if number >= work.slots { return; }
    var slot = slots[number];
    if slot.status != SLOT_HOLD && slot.status != SLOT_WRITE { return; }
    let before = slot;
    let base = number * work.cells;
    // Bound: work.steps.
    for (var step = 0u; step < work.steps; step += 1u) {
        if slot.status == SLOT_WRITE { paths[slot.more.z + slot.more.y] = slot.cursor; }
        if slot.cursor != slot.start {
            let found = place_before(base, slot.cursor, slot.more.w);
            slot.more.w = found.y;
            if found.y != 0u { continue; }
            slot.cursor = found.x;
            slot.more.y = select(slot.more.y + 1u, slot.more.y - 1u, slot.status == SLOT_WRITE);
            continue;
        }
        if slot.status == SLOT_WRITE {
            if loops_cut(work.slots) { break; }
            atomicSub(&control[CONTROL_HOLD], 1u);
            atomicSub(&control[CONTROL_WRITING], 1u);
            slot.status = SLOT_FREE;
            break;
        }
        // All cells are counted.
        let cells = slot.more.y + 1u;
        if loops_cut(work.slots) { break; }
        // The load comes first, so that the sum fits 32 bits however often a path does not fit.
        var first = atomicLoad(&control[CONTROL_PATHS]);
        if first < work.path_room { first = atomicAdd(&control[CONTROL_PATHS], cells); }
        if first >= work.path_room || cells > work.path_room - first {
            atomicAdd(&control[CONTROL_FULL], 1u);
            slot.cursor = slot.goal;
            slot.more.y = 0u;
            break;
        }
        records[slot.search].path_cells = cells;
        records[slot.search].path_first = first;
        records[slot.search].drain = work.drain;
        atomicAdd(&control[CONTROL_WRITING], 1u);
        slot.status = SLOT_WRITE;
        slot.more.z = first;
        slot.more.y = cells - 1u;
        slot.cursor = slot.goal;
    }
    // Only the last of these moves is unreliable, but it is simpler to repeat them all.
    if loops_cut(work.slots) {
        atomicAdd(&control[CONTROL_CUT], 1u);
        if slot.status == SLOT_WRITE && before.status == SLOT_HOLD { atomicSub(&control[CONTROL_WRITING], 1u); }
        slot = before;
    }
    slots[number] = slot;
}
