// Shared by the kernels of path search: the list of searches, and a search's state between
// dispatches.
//
// A *space* is what is searched: the cells of a map (search/grid.wgsl) or the vertices of a graph
// (search/graph.wgsl). Kernels name a cell by a word, its *place*. A space provides
// `cell_of(place)`, the mark of a place, below work.cells, and `heuristic(place, goal)`, a lower
// bound of the cost of a path.
//
// A *slot* has room for one search: a mark for each cell of the space, an open list, and a `Slot`.
// Slots take searches from the list by a counter and never wait for each other.
//
// The mark of a cell is epoch - (cost so far from the start), for costs below work.range, by which
// the epoch grows with each search of a slot. So the better cost is the greater mark, and marks of
// earlier searches and unreached cells are less: they are cleared only when the epoch reaches 32
// bits. Greater costs are skipped; a pathless search fails if that hid an unreached cell.
//
// bounds: for all files of the folder except fronts and all pairs. No user WGSL is linked, unless
// the kernel is checked, and users have no access to the buffers. Slots are compared with `slots`,
// for which `slots`, `marks` and the open lists were made, and searches with `searches`, the length
// of `searches` and `records`. `count` and `clear` compare with `cells`. Loops count to `steps`, 8,
// CELLS or `directions`. Shifts are by less than 32. Divisors are `width`, `directions` and
// constants, all above 0.

struct SearchWork {
    width: u32,         // of a map, in cells
    height: u32,
    cells: u32,         // marks of a slot
    straight: u32,      // costs of moves over terrain 1
    diagonal: u32,
    far: u32,           // the heuristic: far * (greater distance) + near * (lesser distance)
    near: u32,
    directions: u32,    // 4 or 8
    range: u32,
    searches: u32,      // length of the list
    slots: u32,
    capacity: u32,      // items that an open list holds
    stride: u32,        // slots of one queue (thread)
    steps: u32,         // of a dispatch, at most
    // 1: a search continues until all cells of all cheapest paths are known; its slot waits for
    // walk.wgsl.
    all_paths: u32,
    count: u32,         // 1: expanded cells are counted (team; thread always counts)
    delta: u32,         // a team expands estimates up to this much above the least one together
    path_room: u32,     // cells for paths
    drain: u32,         // number of the next readback of paths
}

struct Record {
    status: u32,        // RECORD_...
    cost: u32,
    // Cells with cost + heuristic below the cost of the path; without a path, reachable cells.
    expanded: u32,
    // Cells of the path, and the first one in `paths`, if it is in the readback `drain`.
    path_cells: u32,
    path_first: u32,
    drain: u32,
}

const RECORD_FOUND = 1u;
const RECORD_NONE = 2u;
const RECORD_FULL = 3u;         // the open list was full
const RECORD_RANGE = 4u;        // costs were beyond the range
const RECORD_BROKEN = 5u; // the heuristic is inconsistent on the arc from `cost` to `expanded`

struct Slot {
    status: u32,        // SLOT_...
    search: u32,        // its number in the list
    start: u32,         // places
    goal: u32,
    epoch: u32,
    best: u32,          // cost of the best path so far, or COST_NONE
    dropped: u32,       // 1: a cost beyond the range was skipped, of an unreached cell
    cursor: u32,        // progress of clearing, sorting or counting
    open: vec4<u32>,    // the mapping's own, about the open list
    more: vec4<u32>,
}

const SLOT_FREE = 0u;
const SLOT_CLEAR = 1u;      // marks are being cleared for its next search
const SLOT_SEARCH = 2u;
const SLOT_HOLD = 3u;       // the search is over and its path is requested
const SLOT_WRITE = 4u;      // the path is being written
const SLOT_OWN = 5u;        // from here on: the mapping's own

const CONTROL_NEXT = 0u;    // the next search of the list
const CONTROL_ENDED = 1u;   // finished searches
const CONTROL_CUT = 2u;     // slots in which the driver cut loops
const CONTROL_HOLD = 3u;    // slots with requested paths
const CONTROL_PATHS = 4u;   // cells reserved in `paths`
const CONTROL_FULL = 5u;    // paths that did not fit there
const CONTROL_WRITING = 6u; // paths that have room and are not yet written

const COST_NONE = 0xffffffffu;
const PLACE_NONE = 0xffffffffu;

@group(0) @binding(0) var<uniform> work: SearchWork;
@group(0) @binding(2) var<storage> searches: array<vec2<u32>>;
// (start, goal) of each search, as places. If one of them is blocked, start is PLACE_NONE and there
// is no path.
@group(0) @binding(3) var<storage, read_write> records: array<Record>;
@group(0) @binding(4) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(5) var<storage, read_write> control: array<atomic<u32>>;

// The number of the next search in the list; work.searches if there is no more.
fn take_search() -> u32 {
    if atomicLoad(&control[CONTROL_NEXT]) >= work.searches { return work.searches; }
    return min(atomicAdd(&control[CONTROL_NEXT], 1u), work.searches);
}

// Whether the next epoch exceeds 32 bits: then marks are cleared and the epoch restarts at 0.
fn epoch_ends(epoch: u32) -> bool {
    return epoch > 0xffffffffu - work.range;
}
