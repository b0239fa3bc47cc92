// The second and third dispatch of a cycle of the parallel heap (parallel_heap.wgsl): one workgroup
// for each even, then for each odd level merges what is in flight to it and passes the rest to the
// next level. It reads and writes only the nodes and insertions of its level and the next one, so
// no two workgroups of a dispatch share any.
//
// The root merges root and batch: the smallest items are deleted (`deletes`), the next are the new
// root, and the rest goes to the insertions of level 1. An insertion is merged with the node on the
// way to its free place; the node keeps the smaller half, the larger one moves on. A sink: of a
// node's two children, the one with the greater last item keeps the larger half of both; the
// smaller half is merged with the node, which keeps the smallest NODE items of all three. The rest
// is the other child, which may have to sink.
//
// import: queue/parallel_heap.wgsl
// import: gpu/search.wgsl
// provides: Sought, goes_before
//
// bounds: as in parallel_heap.wgsl. The children of a node are both in use or neither, and are read
// only if they are. `insertions` and `sinks` are those of levels on which such nodes are. Loops
// count to NODE.

// By level: 1 + the node whose items may have to sink, or 0.
@group(0) @binding(4) var<storage, read_write> sinks: array<u32>;
// The destination of the smallest items, in order.
@group(0) @binding(5) var<storage, read_write> deletes: array<Item>;

// Items of each list for each invocation at most.
const MOST = 4u;

// An invocation's items of a merge, alternately from one list and the other, and their places.
alias Items = array<Item, 2u * MOST>;
alias Places = array<u32, 2u * MOST>;

struct Sought {
    item: Item,
    after_equals: bool,
}

fn goes_before(at: u32, sought: Sought) -> bool {
    if sought.after_equals {
        return !event_before(sought.item, items[at]);
    }
    return event_before(items[at], sought.item);
}

// The number of items of the block at `start` that come before the item.
fn count_before(start: u32, sought: Sought) -> u32 {
    return search(start, start + NODE, sought) - start;
}

// Reads the blocks at `a` and `b` and finds the places of their items in the merged list: a
// permutation below 2 * NODE, because items of `a` come before equal ones of `b`. Afterwards both
// blocks may be written. Call it in all invocations.
fn rank(a: u32, b: u32, lane: u32, mine: ptr<function, Items>, places: ptr<function, Places>) {
    for (var i = 0u; i < NODE / GROUP_SIZE; i += 1u) {
        let place = i * GROUP_SIZE + lane;
        let x = items[a + place];
        let y = items[b + place];
        (*mine)[2u * i] = x;
        (*mine)[2u * i + 1u] = y;
        (*places)[2u * i] = place + count_before(b, Sought(x, false));
        (*places)[2u * i + 1u] = place + count_before(a, Sought(y, true));
    }
    storageBarrier();
}

// Merges the blocks at `a` and `b`: the smaller half to `low`, the larger one to `high`. These may
// be `a` and `b`, in any order.
fn merge(a: u32, b: u32, low: u32, high: u32, lane: u32) {
    var mine: Items;
    var places: Places;
    rank(a, b, lane, &mine, &places);
    for (var i = 0u; i < 2u * (NODE / GROUP_SIZE); i += 1u) {
        let place = places[i];
        items[select(high + place - NODE, low + place, place < NODE)] = mine[i];
    }
    storageBarrier();
}

var<workgroup> broadcast_words: vec4<u32>;

// Broadcasts the words of invocation 0, so that all take the same branch.
fn broadcast(lane: u32, words: vec4<u32>) -> vec4<u32> {
    if lane == 0u {
        broadcast_words = words;
    }
    return workgroupUniformLoad(&broadcast_words);
}

// Merges batch and root into deleted items, the new root, and the rest.
fn pass_root(lane: u32) {
    let root = node_start(0u);
    let counts = broadcast(lane, vec4<u32>(heap.leaving, insertions[1].count, insertions[2].count, 0u));
    let leaving = counts.x;
    var mine: Items;
    var places: Places;
    rank(root, 0u, lane, &mine, &places);
    for (var i = 0u; i < 2u * (NODE / GROUP_SIZE); i += 1u) {
        let place = places[i];
        if place < leaving {
            deletes[params.delete_first + place] = mine[i];
        } else if place < leaving + NODE {
            items[root + place - leaving] = mine[i];
        } else {
            let over = place - leaving - NODE;
            if over < counts.y {
                items[NODE + over] = mine[i];
            } else if over < counts.y + counts.z {
                items[2u * NODE + over - counts.y] = mine[i];
            }
        }
    }
    for (var i = lane; i < NODE; i += GROUP_SIZE) {
        if i >= counts.y && counts.y > 0u {
            items[NODE + i] = NONE;
        }
        if i >= counts.z && counts.z > 0u {
            items[2u * NODE + i] = NONE;
        }
    }
    storageBarrier();
}

// Executes the insertion in block `slot` at `level`, and passes the larger half to the next level.
fn pass_insertion(level: u32, slot: u32, lane: u32) {
    let insertion = broadcast(lane, vec4<u32>(insertions[slot].node, insertions[slot].count, 0u, 0u));
    if insertion.y == 0u { return; }
    let further = firstLeadingBit(insertion.x + 1u) - level;
    let node = node_start(((insertion.x + 1u) >> further) - 1u);
    let carried = slot * NODE;
    // The node has room for all arriving items, so nothing moves on from there.
    merge(node, carried, node, select(carried + 2u * NODE, carried, further == 0u), lane);
    if lane == 0u {
        insertions[slot].count = 0u;
        if further > 0u {
            insertions[slot + 2u] = Insertion(insertion.x, insertion.y);
        }
    }
}

// Merges a node of `level` with its children, and records which of them may have to sink.
fn sink(level: u32, node: u32, lane: u32) {
    let left = 2u * node + 1u;
    // (whether there is work, the child that may sink, the child that keeps the larger half)
    var ways = vec4<u32>(0u);
    if lane == 0u && left < heap.ready {
        let a = node_start(left);
        let b = node_start(left + 1u);
        let last = items[node_start(node) + NODE - 1u];
        if event_before(items[a], last) || event_before(items[b], last) {
            // The child with the greater last item keeps that item, so its own children stay after
            // it. If a child has free places, it is the right one or the right one is empty, and
            // neither has children; the right one then keeps the larger half, because it has NONE.
            let greater = u32(!event_before(items[b + NODE - 1u], items[a + NODE - 1u]));
            ways = vec4<u32>(1u, left + 1u - greater, left + greater, 0u);
        }
    }
    ways = broadcast(lane, ways);
    if ways.x == 0u { return; }
    let on = node_start(ways.y);
    merge(node_start(left), node_start(left + 1u), on, node_start(ways.z), lane);
    merge(node_start(node), on, node_start(node), on, lane);
    if lane == 0u {
        sinks[level + 1u] = ways.y + 1u;
    }
}

// Executes all work in flight to a level above 0. Insertions come first: items that left a node
// together arrive together.
fn pass_level(level: u32, lane: u32) {
    pass_insertion(level, slot_of(level), lane);
    pass_insertion(level, slot_of(level) + 1u, lane);
    let node = broadcast(lane, vec4<u32>(sinks[level])).x;
    if node == 0u { return; }
    if lane == 0u {
        sinks[level] = 0u;
    }
    sink(level, node - 1u, lane);
}

@compute @workgroup_size(GROUP_SIZE)
fn even_levels(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if group.x == 0u {
        pass_root(lane);
        sink(0u, 0u, lane);
    } else {
        pass_level(2u * group.x, lane);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn odd_levels(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    pass_level(2u * group.x + 1u, lane);
}
