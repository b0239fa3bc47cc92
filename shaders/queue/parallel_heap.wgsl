// The parallel heap (Baudis et al., sections II.D and III.C, after He et al.; Deo and Prasad 1992): one heap of all events, each
// node of which holds NODE items in order. It takes in and gives out up to NODE items at a time. This file is what its two
// kernels share: what lies in memory.
//
// params       of one cycle
// batch        how much to insert and delete, the caller's; `gather` adds up how much was deleted
// inserts      the caller's new items, in any order
// deletes      where the smallest items go, in order
// items        blocks of NODE items in order each: the batch of the cycle under way; two for each level but that of the root, the
//              insertions under way to it; the nodes, level by level. Node n has the children 2 n + 1 and 2 n + 2
// insertions   by block: what an insertion carries. (That of the batch is not used.)
// sinks        by level: 1 + the node whose items may have to sink, or 0
// heap         how much the heap holds
// failure      zeros, or the first fault. From then on no cycle inserts or deletes anything
//
// All that is zero is an empty heap.
//
// A block is always full: what is missing at its end is NONE, the last item of the order. It may be a real item, too: how many
// items are real, the counts say, and which of the equal ones are does not matter. So a merge is always one of NODE items with NODE,
// whatever the nodes hold. No item of a node is after one of its children's, once no sink is under way to the node or to one of its
// ancestors. The heap is as short as it can be: all of its nodes but the last are full, if what is under way to a node counts
// as there.
//
// A cycle is three dispatches, however many levels there are:
//
// 1. `gather`, one workgroup. Reads `batch`, `inserts`, `heap`. It orders the new items. If more is to be deleted than inserted, it
//    takes as many items as the root will lack from the end of the heap, with the new ones: from insertions under way to
//    the last two nodes (writes their blocks, `insertions`), and from these nodes. Writes the block of the batch, `heap`, `failure`,
//    `batch`, the insertions of level 1, and nodes that are used for the first time.
// 2. `even_levels`, one workgroup for each even level. That of the root merges root and batch: the smallest items are deleted
//    (writes `deletes`), the next are the new root, the rest goes to the blocks of the insertions of level 1. Then each workgroup does
//    what is under way to its level, and passes it on to the next one. *Insertion*: merged with the node on the way to where
//    there is room; the node keeps the smaller half, the larger one is carried on, until it is there. *Sink*: of the node's
//    two children, the one with the greater last item keeps the larger half of both. The smaller half is merged with the node, which
//    keeps the smallest NODE items of all three; what is left is the other child, which may have to sink. A level's
//    workgroup reads and writes the nodes and insertions of its level and the next one: no two of them share any.
// 3. `odd_levels`, the same for the odd levels.
//
// So cycles overlap (a pipeline over the levels, as in He et al.): work goes down two levels with each cycle, none overtakes
// another, and the root is right for the next cycle when this one ends. The other overlap of He et al., with what the application does
// with the items, is left out: dispatches of one queue run one after the other.
//
// GROUP_SIZE invocations serve a node, NODE / GROUP_SIZE items of each of the two lists each. An item's place in a merge is its own plus
// that in the other list, by binary search; all is read before anything is written, so merges work in place.
//
// import: queue/events_4.wgsl
//
// bounds: no WGSL of a user's is linked. A user reaches `batch`, `inserts` and `deletes`, of other
// types than the heap's own buffers, and no dispatch of another's comes between those of a plan.
// Blocks are slots up to that of the last level, and nodes in use: below the number of nodes in the
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
    // 1 in the first cycle of a batch, which says whether all of it can be done.
    first: u32,
    // The lengths of `inserts` and `deletes`.
    insert_most: u32,
    delete_most: u32,
    // Of a batch: the new items that are inserted before anything is deleted, but for those of one cycle.
    insert_early: u32,
    // Where this cycle's items begin in `inserts` and `deletes`, and how many it may delete.
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
    node: u32,      // where it goes
    count: u32,     // real items; 0 where there is no insertion
}

struct Heap {
    held: u32,      // real items, those under way among them
    ready: u32,     // nodes that were used at some time: all blocks before have been written
    leaving: u32,   // items that the cycle under way deletes
}

struct Failure {
    kind: u32,      // FAILURE_*, or 0
    found: u32,     // items asked for, or to be held
    limit: u32,
}

const FAILURE_FULL = 1u;
const FAILURE_INSERTS = 2u;
const FAILURE_DELETES = 3u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> items: array<Item>;
@group(0) @binding(2) var<storage, read_write> insertions: array<Insertion>;
@group(0) @binding(3) var<storage, read_write> heap: Heap;

// Blocks before those of the nodes. Block 0 is the batch.
fn slots() -> u32 {
    return 2u * params.levels - 1u;
}

// The block of the first insertion under way to a level above 0; that of the second follows.
fn slot_of(level: u32) -> u32 {
    return 2u * level - 1u;
}

// Where the items of a node lie.
fn node_start(node: u32) -> u32 {
    return (slots() + node) * NODE;
}
