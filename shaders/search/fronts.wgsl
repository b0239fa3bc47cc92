// Distances from some cells to all, by wavefronts: delta-stepping (Meyer and Sanders, 2003) by the whole device, for many sources at once.
//
// A *row* is one set of sources: it has a mark for each cell, which is FARTHEST less the cost of the cheapest path so far from one of them, and 0 where there is none. So the
// better of two paths is the greater mark. An *entry* is row * work.cells + cell. Marks only rise, to what the map alone defines, in whatever order entries are expanded.
//
//   work     the shape, a uniform (search/slots.wgsl): cells, slots (rows), capacity (rows * cells), steps (entries of a dispatch), delta
//   marks    a word for each entry
//   flags    for each entry in which lists it lies: bits 0 and 1 those of the band, bit 2 those beyond
//   lists    four lists of work.capacity entries: two of the band by turns, and two of what is beyond it by turns. No entry lies in a list twice, so none is too short
//   control  FRONT_... below
//   targets  for `front_gather`: the cells that distances are wanted to
//   table    for `front_gather`: work.searches distances for each row, from row work.drain on; all ones where there is no way
//
// A pass is a dispatch of `front_pass`, one invocation for every entry of a slice of the present list, and of `front_decide`, which says what the next one does. An entry is
// taken off its list (its bit of `flags`) in the pass in which it is expanded, while others may put it in the other list of the band: nobody relies on the order in
// which two invocations see two words.
//
// A submission has a number of passes, and a budget of work, because a pass may have one entry or work.steps of them: where wavefronts come out of a
// narrow part into a wide one, the budget ends what the passes of one submission do. The host fills it again.
//
// import: search/slots.wgsl
// needs: front_move, front_moves
//
// bounds: no WGSL of a user's is linked. Entries are the host's, or row and cell of another entry's
// row and an allowed move: below `capacity`, the length of `row_marks` and `flags` and a quarter of
// that of `lists`. No list is longer: what lies in one is flagged for it, and the other kind goes
// to a list that was empty, from one in which it lies once. `front_gather` compares with what it
// makes, and targets are cells. Loops count to 8 or 64.

override GROUP_SIZE: u32 = 64u;

const FARTHEST = 0xffffffffu;

const FRONT_MODE = 0u;          // FRONT_EXPAND, FRONT_SORT or FRONT_OVER
const FRONT_LENGTH = 1u;        // of the present list
const FRONT_CURSOR = 2u;        // its first entry that was not yet seen
const FRONT_NEXT = 3u;          // length of the next list of the band
const FRONT_BEYOND = 4u;        // length of the list that is beyond the band
const FRONT_LEAST = 5u;         // the least cost in it, or less
const FRONT_END = 6u;           // costs below this are in the band
const FRONT_BEGIN = 7u;         // and such below this were, when what is beyond was put there
const FRONT_BAND = 8u;          // which of the lists of the band is the present one, 0 or 1
const FRONT_FAR = 9u;           // which of the other two is being filled: what is sorted lies in the other one
const FRONT_LOST = 10u;         // 1: a cost beyond 32 bits was passed over
const FRONT_PASSES = 11u;       // how many there were, for those who want to know
const FRONT_BUDGET = 12u;       // work that is left to this submission: at 0 its passes do nothing

// Entries of a pass that are as much work as what a pass of none takes. A guess.
const SHARE = 256u;

const FRONT_EXPAND = 0u;
const FRONT_SORT = 1u;
const FRONT_OVER = 2u;

const FLAG_FAR = 4u;

@group(0) @binding(2) var<storage, read_write> lists: array<u32>;
@group(0) @binding(3) var<storage, read_write> flags: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> row_marks: array<atomic<u32>>;
@group(0) @binding(7) var<storage> targets: array<u32>;
@group(0) @binding(9) var<storage, read_write> table: array<u32>;

// The sources are in the first list: they are marked.
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
        // (cell, cost of the move), or the cell itself where it is not allowed
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

// An entry of those beyond goes into the band, stays, or was in an earlier band since and is done with.
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

// What the next pass does: one invocation.
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
        // All costs are below FARTHEST. What lies beyond was put there when the least of it was the end of the band or more.
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
