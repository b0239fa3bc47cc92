// Distances from some cells to all, by wavefronts: delta-stepping (Meyer and Sanders, 2003) by the
// whole device, for many sources at once.
//
// A *row* is a set of sources with a mark for each cell: FARTHEST less the cost of the cheapest
// path so far, or 0. An *entry* is row * work.cells + cell. Marks only rise, to values that the map
// alone defines, in any order of expansion.
//
// A pass is a dispatch of `front_pass`, one invocation per entry of a slice of the current list,
// and of `front_decide`, which chooses the next pass. Expanding an entry clears its bit of `flags`,
// while others may put it in the other list: no invocation relies on the order of two words.
//
// A submission has a number of passes and, because a pass has between one and work.steps entries, a
// budget of work, which the host refills.
//
// import: search/slots.wgsl
// needs: front_move, front_moves
//
// bounds: no user WGSL is linked. Entries are the host's, or row and cell of another entry's row
// and an allowed move: below `capacity`, the length of `row_marks` and `flags` and a quarter of
// that of `lists`. No list is longer: an entry in a list is flagged for it, and unsorted entries go
// to a list that was empty, from one that holds each once. `front_gather` compares with the size of
// its output, and targets are cells. Loops count to 8 or 64.

override GROUP_SIZE: u32 = 64u;

const FARTHEST = 0xffffffffu;

const FRONT_MODE = 0u;          // FRONT_EXPAND, FRONT_SORT or FRONT_OVER
const FRONT_LENGTH = 1u;        // of the current list
const FRONT_CURSOR = 2u;        // its first unread entry
const FRONT_NEXT = 3u;          // length of the next list of the band
const FRONT_BEYOND = 4u;        // length of the list beyond the band
const FRONT_LEAST = 5u;         // a lower bound of the costs in it
const FRONT_END = 6u;           // costs below this are in the band
const FRONT_BEGIN = 7u;         // the same when the list beyond was filled
const FRONT_BAND = 8u;          // the current list of the band, 0 or 1
const FRONT_FAR = 9u; // the list beyond that is being filled; the other one is being sorted
const FRONT_LOST = 10u;         // 1: a cost beyond 32 bits was skipped
const FRONT_PASSES = 11u;       // the number of passes, for statistics
const FRONT_BUDGET = 12u;       // work left to this submission: at 0 its passes do nothing

// Entries that cost as much as an empty pass. An estimate.
const SHARE = 256u;

const FRONT_EXPAND = 0u;
const FRONT_SORT = 1u;
const FRONT_OVER = 2u;

const FLAG_FAR = 4u;
// Two alternating lists of the band and two of the entries beyond, work.capacity entries each. No
// entry is in a list twice, so none overflows.
@group(0) @binding(2) var<storage, read_write> lists: array<u32>;
// The lists that an entry is in: bits 0 and 1 those of the band, bit 2 those beyond.
@group(0) @binding(3) var<storage, read_write> flags: array<atomic<u32>>;
// A word for each entry.
@group(0) @binding(6) var<storage, read_write> row_marks: array<atomic<u32>>;
// For `front_gather`: the cells to which distances are requested.
@group(0) @binding(7) var<storage> targets: array<u32>;
// For `front_gather`: work.searches distances for each row, from row work.drain on; FARTHEST if
// there is no path.
@group(0) @binding(9) var<storage, read_write> table: array<u32>;

// Marks the sources, which are in the first list.
@compute @workgroup_size(GROUP_SIZE)
fn front_begin(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if index < atomicLoad(&control[FRONT_LENGTH]) { atomicStore(&row_marks[lists[index]], FARTHEST); }
}

@compute @workgroup_size(GROUP_SIZE)
fn front_pass(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    let mode = atomicLoad(&control[FRONT_MODE]);
    let cursor = atomicLoad(&control[FRONT_CURSOR]);
    let rest = atomicLoad(&control[FRONT_LENGTH]) - cursor;
    let band = atomicLoad(&control[FRONT_BAND]);
    let far = atomicLoad(&control[FRONT_FAR]);
    let end = atomicLoad(&control[FRONT_END]);
    let budget = atomicLoad(&control[FRONT_BUDGET]);
    if number >= min(rest, work.steps) || mode == FRONT_OVER || budget == 0u { return; }
    if mode == FRONT_EXPAND {
        expand(lists[band * work.capacity + cursor + number], band, far, end);
    } else {
        sort(lists[(3u - far) * work.capacity + cursor + number], band, far, end);
    }
}

fn expand(entry: u32, band: u32, far: u32, end: u32) {
    atomicAnd(&flags[entry], ~(1u << band));
    let cell = entry % work.cells;
    let row = entry - cell;
    let cost = FARTHEST - atomicLoad(&row_marks[entry]);
    let moves = front_moves(cell);
    // Bound: 64.
    for (var i = 0u; i < moves; i += 1u) {
        // (cell, cost of the move), or the cell itself if the move is not allowed.
        let next = front_move(cell, i);
        if next.x == cell { continue; }
        if next.y >= FARTHEST - cost {
            atomicStore(&control[FRONT_LOST], 1u);
            continue;
        }
        let total = cost + next.y;
        let mark = FARTHEST - total;
        let other = row + next.x;
        if atomicMax(&row_marks[other], mark) >= mark { continue; }
        if total < end {
            let bit = 2u >> band;
            if (atomicOr(&flags[other], bit) & bit) == 0u {
                lists[(1u - band) * work.capacity + atomicAdd(&control[FRONT_NEXT], 1u)] = other;
            }
        } else {
            atomicMin(&control[FRONT_LEAST], total);
            if (atomicOr(&flags[other], FLAG_FAR) & FLAG_FAR) == 0u {
                lists[(2u + far) * work.capacity + atomicAdd(&control[FRONT_BEYOND], 1u)] = other;
            }
        }
    }
}

// Moves an entry into the band or keeps it beyond. An entry expanded in an earlier band is dropped.
fn sort(entry: u32, band: u32, far: u32, end: u32) {
    let cost = FARTHEST - atomicLoad(&row_marks[entry]);
    if cost >= end {
        atomicMin(&control[FRONT_LEAST], cost);
        lists[(2u + far) * work.capacity + atomicAdd(&control[FRONT_BEYOND], 1u)] = entry;
        return;
    }
    atomicAnd(&flags[entry], ~FLAG_FAR);
    if cost >= atomicLoad(&control[FRONT_BEGIN]) {
        lists[(1u - band) * work.capacity + atomicAdd(&control[FRONT_NEXT], 1u)] = entry;
    }
}

// Chooses the next pass. One invocation.
@compute @workgroup_size(1)
fn front_decide() {
    let budget = atomicLoad(&control[FRONT_BUDGET]);
    if atomicLoad(&control[FRONT_MODE]) == FRONT_OVER || budget == 0u { return; }
    atomicAdd(&control[FRONT_PASSES], 1u);
    let cursor = atomicLoad(&control[FRONT_CURSOR]);
    let length = atomicLoad(&control[FRONT_LENGTH]);
    atomicStore(&control[FRONT_BUDGET], budget - min(budget, 1u + min(length - cursor, work.steps) / SHARE));
    if length - cursor > work.steps {
        atomicStore(&control[FRONT_CURSOR], cursor + work.steps);
        return;
    }
    atomicStore(&control[FRONT_CURSOR], 0u);
    let next = atomicLoad(&control[FRONT_NEXT]);
    let beyond = atomicLoad(&control[FRONT_BEYOND]);
    if next > 0u {
        atomicStore(&control[FRONT_MODE], FRONT_EXPAND);
        atomicStore(&control[FRONT_BAND], 1u - atomicLoad(&control[FRONT_BAND]));
        atomicStore(&control[FRONT_LENGTH], next);
        atomicStore(&control[FRONT_NEXT], 0u);
    } else if beyond > 0u {
        let least = atomicLoad(&control[FRONT_LEAST]);
        atomicStore(&control[FRONT_MODE], FRONT_SORT);
        atomicStore(&control[FRONT_BEGIN], atomicLoad(&control[FRONT_END]));
        // All costs are below FARTHEST. Entries beyond cost at least the end of the band that put
        // them there.
        atomicStore(&control[FRONT_END], least + min(max(work.delta, 1u), FARTHEST - least));
        atomicStore(&control[FRONT_FAR], 1u - atomicLoad(&control[FRONT_FAR]));
        atomicStore(&control[FRONT_LENGTH], beyond);
        atomicStore(&control[FRONT_BEYOND], 0u);
        atomicStore(&control[FRONT_LEAST], FARTHEST);
    } else {
        atomicStore(&control[FRONT_MODE], FRONT_OVER);
        atomicStore(&control[FRONT_LENGTH], 0u);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn front_gather(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if index >= work.slots * work.searches { return; }
    let row = index / work.searches;
    let mark = atomicLoad(&row_marks[row * work.cells + targets[index % work.searches]]);
    table[work.drain * work.searches + index] = select(FARTHEST - mark, FARTHEST, mark == 0u);
}
