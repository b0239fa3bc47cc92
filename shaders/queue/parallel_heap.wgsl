// The parallel heap (Baudis et al., sections II.D and III.C, after He et al.; Deo and Prasad 1992):
// one heap of all events, with NODE ordered items in each node. A cycle inserts and deletes up to
// NODE items. This file is the memory shared by its kernels. Zeroed memory is an empty heap.
//
// A block is always full: NONE, the last item of the order, fills it. NONE may be a real item, too:
// counts define how many are real, and equal items are interchangeable. So each merge is of NODE
// items with NODE. No item of a node is after an item of its children, once no sink is in flight to
// the node or its ancestors. All nodes but the last are full, counting items in flight to them.
//
// A cycle is three dispatches for any number of levels: `gather`, `even_levels`, `odd_levels`. So
// cycles overlap in a pipeline over the levels, as in He et al.: work descends two levels in each
// cycle, none overtakes another, and the root is right when a cycle ends. He et al. also overlap
// with the application; dispatches of one queue do not. GROUP_SIZE invocations serve a node. An
// item's place in a merge is its own plus that in the other list, by binary search. All is read
// before anything is written, so merges work in place.
//
// import: queue/events_4.wgsl
//
// bounds: no user WGSL is linked. User code reaches `batch`, `inserts` and `deletes`, of other
// types than the heap's own buffers, and no foreign dispatch comes between those of a plan. Blocks
// are slots up to that of the last level, and nodes in use: below the number of nodes in the
// buffer. Places are below NODE, and of a merge below 2 NODE. Divisors are constants above 0.

// Items of a node: a power of two, a multiple of GROUP_SIZE, at most MOST * GROUP_SIZE.
override NODE: u32 = 1024u;
// At least 64.
override GROUP_SIZE: u32 = 256u;

const NONE = Item(0xffffffffu);

struct Params {
    // Items that the heap may hold.
    capacity: u32,
    // At least 2.
    levels: u32,
    // 1 in the first cycle of a batch, which checks that all of it can be done.
    first: u32,
    // The lengths of `inserts` and `deletes`.
    insert_most: u32,
    delete_most: u32,
    // New items of the batch that are inserted before the first cycle that deletes.
    insert_early: u32,
    // The start of this cycle's items in `inserts` and `deletes`, and how many it may delete.
    insert_first: u32,
    delete_first: u32,
    delete_room: u32,
}

struct HeapBatch {
    to_insert: u32,
    to_delete: u32,
    deleted: u32,
}

struct Insertion {
    node: u32,      // the node to which it goes
    count: u32,     // real items; 0 without an insertion
}

struct Heap {
    held: u32,      // real items, with those in flight
    ready: u32,     // nodes used at some time: their blocks have been written
    leaving: u32,   // items that the present cycle deletes
}

struct Failure {
    kind: u32,      // FAILURE_*, or 0
    found: u32,     // items requested, or to be held
    limit: u32,
}

const FAILURE_FULL = 1u;
const FAILURE_INSERTS = 2u;
const FAILURE_DELETES = 3u;

// The parameters of one cycle.
@group(0) @binding(0) var<uniform> params: Params;
// Ordered blocks of NODE items: the present cycle's batch; for each level but the root's, the two
// insertions in flight to it; the nodes, level by level. Node n has the children 2 n + 1 and
// 2 n + 2.
@group(0) @binding(1) var<storage, read_write> items: array<Item>;
// By block: the insertion in it; unused for the batch.
@group(0) @binding(2) var<storage, read_write> insertions: array<Insertion>;
@group(0) @binding(3) var<storage, read_write> heap: Heap;

// Blocks before those of the nodes. Block 0 is the batch.
fn slots() -> u32 {
    return 2u * params.levels - 1u;
}

// The block of the first insertion in flight to a level above 0; that of the second follows.
fn slot_of(level: u32) -> u32 {
    return 2u * level - 1u;
}

// The start of a node's items.
fn node_start(node: u32) -> u32 {
    return (slots() + node) * NODE;
}
