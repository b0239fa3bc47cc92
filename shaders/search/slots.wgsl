// What the kernels of path search share, whatever is searched: the list of searches, and what is kept of a search between dispatches.
//
// What is searched is a *space*: the cells of a map (search/grid.wgsl) or the vertices of a graph (search/graph.wgsl). The kernels name its cells by a
// word, their *place*.
//
// A *slot* is room for one search at a time: a word for each cell of the space (`marks`), an open list, and a `Slot`. Slots take searches from
// the list by a counter, one after the other, so that there may be many more searches than room. No slot waits for another.
//
//   work       the shape of everything, a uniform
//   searches   (start, goal) of each search, as places; start is PLACE_NONE where one of them is blocked, and then there is no path
//   records    what came of each search
//   slots      one for each slot
//   control    CONTROL_... below
//
// What `marks` holds of a cell is epoch - (cost so far from the start), for costs below work.range; each search of a slot has an epoch
// that is work.range more than the last one's. So the better of two costs is the greater mark, and marks of earlier searches and cells that were never
// reached are less than any of this search: nothing is cleared between searches, until the epoch reaches 32 bits. Costs from work.range
// on are passed over; a search that ends without a path has failed if that happened on the way to a cell that it had not reached.
//
// Functions that a space has for all kernels:
//
//   cell_of(place)           which mark of a slot a place has: below work.cells
//   heuristic(place, goal)   the least that a path between two places can cost
//
// bounds: for all files of the folder but fronts and all pairs. No WGSL of a user's is linked,
// unless the kernel is checked, and a user reaches none of the buffers. Slots are compared with
// `slots`, for which `slots`, `marks` and the open lists were made, and searches with `searches`,
// the length of `searches` and `records`. `count` and `clear` compare with `cells`. Loops count to
// `steps`, 8, CELLS or `directions`. Shifts are by less than 32. Divisors are `width`, `directions`
// and constants, all above 0.

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
    steps: u32,         // of a dispatch, at the most
    all_paths: u32,     // 1: a search goes on until all cells of all cheapest paths are known, and its slot waits for walk.wgsl
    count: u32,         // 1: the cells that were expanded are counted (team; thread does so by the way)
    delta: u32,         // a team takes estimates that are at most so much above the least together
    path_room: u32,     // cells for paths
    drain: u32,         // number of the readback of paths that comes next
}

struct Record {
    status: u32,        // RECORD_...
    cost: u32,
    expanded: u32,      // cells with cost + heuristic below the cost of the path; where there is none, cells that can be reached
    path_cells: u32,    // cells of the path, and the first one in `paths`, if it lies in the readback `drain`
    path_first: u32,
    drain: u32,
}

const RECORD_FOUND = 1u;
const RECORD_NONE = 2u;
const RECORD_FULL = 3u;         // the open list was
const RECORD_RANGE = 4u;        // costs were beyond the range
const RECORD_BROKEN = 5u;       // the heuristic is not consistent: on the arc from `cost` to `expanded`

struct Slot {
    status: u32,        // SLOT_...
    search: u32,        // its number in the list
    start: u32,         // places
    goal: u32,
    epoch: u32,
    best: u32,          // cost of the best path so far, or COST_NONE
    dropped: u32,       // 1: a cost beyond the range was passed over, of a cell not reached before
    cursor: u32,        // how far the slot's work that has a length of its own has come (marks cleared, items of a list)
    open: vec4<u32>,    // the mapping's own: of the open list
    more: vec4<u32>,
}

const SLOT_FREE = 0u;
const SLOT_CLEAR = 1u;      // marks are being cleared, for the search that it has
const SLOT_SEARCH = 2u;
const SLOT_HOLD = 3u;       // the search is over, and its path wanted
const SLOT_WRITE = 4u;      // the path is being written
const SLOT_OWN = 5u;        // and further: the mapping's own

const CONTROL_NEXT = 0u;    // the next search of the list
const CONTROL_ENDED = 1u;   // searches that are over
const CONTROL_CUT = 2u;     // slots whose loops the driver cut
const CONTROL_HOLD = 3u;    // slots whose paths are wanted
const CONTROL_PATHS = 4u;   // cells that were asked for in `paths`
const CONTROL_FULL = 5u;    // paths that found no room there
const CONTROL_WRITING = 6u; // paths that have room and are not yet written

const COST_NONE = 0xffffffffu;
const PLACE_NONE = 0xffffffffu;

@group(0) @binding(0) var<uniform> work: SearchWork;
@group(0) @binding(2) var<storage> searches: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> records: array<Record>;
@group(0) @binding(4) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(5) var<storage, read_write> control: array<atomic<u32>>;

// The number of the next search of the list, if there is one.
fn take_search() -> u32 {
    if atomicLoad(&control[CONTROL_NEXT]) >= work.searches { return work.searches; }
    return min(atomicAdd(&control[CONTROL_NEXT], 1u), work.searches);
}

// Whether the epoch of the next search of a slot goes beyond 32 bits: then its marks are to be cleared, and the epoch is 0.
fn epoch_ends(epoch: u32) -> bool {
    return epoch > 0xffffffffu - work.range;
}
