// The second and the third dispatch of a cycle of the parallel heap: one workgroup merges what is under way to one level.
// parallel_heap.wgsl says what they do, and what they read and write.
//
// import: queue/parallel_heap.wgsl
// import: gpu/search.wgsl
// provides: Sought, goes_before
//
// bounds: as in parallel_heap.wgsl. The children of a node are both in use or neither, and are
// looked at only if they are. `insertions` and `sinks` are those of levels on which such nodes are.
// Loops count to NODE.

@group(0) @binding(4) var<storage, read_write> sinks: array<u32>;
@group(0) @binding(5) var<storage, read_write> deletes: array<Item>;

// Items of each list that an invocation has at the most.
const MOST = 4u;

// What an invocation merges, and the places in the merged list: alternately from one list and the other.
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

// How many of the block at `start` come before the item.
fn count_before(start: u32, sought: Sought) -> u32 {
    return search(start, start + NODE, sought) - start;
}

// Reads the blocks at `a` and `b` and finds the places of their items in the merged list: a permutation of those below 2 * NODE, because the
// items of `a` come before equal ones of `b`. When it returns, both blocks may be written. To be called by all invocations.
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

// Merges the blocks at `a` and `b`: the smaller half to `low`, the larger one to `high`. These may be `a` and `b`, in any order.
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

var<workgroup> told: vec4<u32>;

// The words of invocation 0, for all, so that they agree on the way that they take.
fn tell(lane: u32, words: vec4<u32>) -> vec4<u32> {
    if lane == 0u {
        told = words;
    }
    return workgroupUniformLoad(&told);
}

// Merges batch and root: what leaves the heap, the root, and what the root has no room for.
fn pass_root(lane: u32) {
    let root = node_start(0u);
    let counts = tell(lane, vec4<u32>(heap.leaving, insertions[1].count, insertions[2].count, 0u));
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

// Does the insertion in block `slot`, which has come to `level`, and passes on to the next level what goes further.
fn pass_insertion(level: u32, slot: u32, lane: u32) {
    let insertion = tell(lane, vec4<u32>(insertions[slot].node, insertions[slot].count, 0u, 0u));
    if insertion.y == 0u { return; }
    let further = firstLeadingBit(insertion.x + 1u) - level;
    let node = node_start(((insertion.x + 1u) >> further) - 1u);
    let carried = slot * NODE;
    // The node has room for all that arrives: what is carried on from there is nothing.
    merge(node, carried, node, select(carried + 2u * NODE, carried, further == 0u), lane);
    if lane == 0u {
        insertions[slot].count = 0u;
        if further > 0u {
            insertions[slot + 2u] = Insertion(insertion.x, insertion.y);
        }
    }
}

// Merges a node of `level` with its children, and says which of them may have to sink.
fn sink(level: u32, node: u32, lane: u32) {
    let left = 2u * node + 1u;
    // (whether there is something to do, which child goes on, which one keeps the larger half)
    var ways = vec4<u32>(0u);
    if lane == 0u && left < heap.ready {
        let a = node_start(left);
        let b = node_start(left + 1u);
        let last = items[node_start(node) + NODE - 1u];
        if event_before(items[a], last) || event_before(items[b], last) {
            // Its own children lie after its last item and still will. If one has free places, it is the right one, or the right one is
            // empty, and neither has children: the right one must keep the larger half then, and does, having NONE.
            let greater = u32(!event_before(items[b + NODE - 1u], items[a + NODE - 1u]));
            ways = vec4<u32>(1u, left + 1u - greater, left + greater, 0u);
        }
    }
    ways = tell(lane, ways);
    if ways.x == 0u { return; }
    let on = node_start(ways.y);
    merge(node_start(left), node_start(left + 1u), on, node_start(ways.z), lane);
    merge(node_start(node), on, node_start(node), on, lane);
    if lane == 0u {
        sinks[level + 1u] = ways.y + 1u;
    }
}

// Does all that is under way to a level above 0. Insertions come first: what went on from a node together is there together.
fn pass_level(level: u32, lane: u32) {
    pass_insertion(level, slot_of(level), lane);
    pass_insertion(level, slot_of(level) + 1u, lane);
    let node = tell(lane, vec4<u32>(sinks[level])).x;
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
