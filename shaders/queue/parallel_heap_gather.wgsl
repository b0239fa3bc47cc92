// The first dispatch of a cycle of the parallel heap (parallel_heap.wgsl): gathers what is merged
// with the root, in one workgroup. It orders the batch's new items in workgroup memory, by a
// bitonic sort. If more is deleted than inserted, it takes as many items as the root will lack from
// the end of the heap: from insertions in flight to the last two nodes, and from these nodes.
//
// It reads `batch`, `inserts` and `heap`, and writes the batch's block, the blocks from which it
// takes items, `insertions` of these and of level 1, `heap`, `failure`, `batch.deleted`, and nodes
// used for the first time.
//
// import: queue/parallel_heap.wgsl
//
// bounds: as in parallel_heap.wgsl. `inserts` is read below `batch.to_insert`, and `deletes`
// written below `batch.to_delete`, unless the first cycle found one beyond its buffer: then
// `failure` records it, and no cycle inserts or deletes. `gather` refuses what is beyond the
// capacity, so targets of insertions are nodes of the buffer. `fetch` moves no more than `held`,
// the items of a node and those in flight to it. Loops count to NODE, slots or levels; the search
// halves.

// How much to insert and delete, set by the caller; `gather` adds up the deleted items.
@group(0) @binding(4) var<storage, read_write> batch: HeapBatch;
// The caller's new items, in any order.
@group(0) @binding(5) var<storage, read> inserts: array<Item>;
// Zeros, or the first fault: from then on no cycle inserts or deletes anything.
@group(0) @binding(6) var<storage, read_write> failure: Failure;

var<workgroup> pool: array<Item, NODE>;

// An earlier fault, or one of this batch. The first cycle finds it, so that all of a batch is done
// or nothing.
fn find_fault() -> Failure {
    if failure.kind != 0u { return failure; }
    if params.first != 0u {
        if batch.to_insert > params.insert_most {
            return Failure(FAILURE_INSERTS, batch.to_insert, params.insert_most);
        }
        if batch.to_delete > params.delete_most {
            return Failure(FAILURE_DELETES, batch.to_delete, params.delete_most);
        }
        // The heap is longest before the first cycle that deletes, or after it.
        let gone = min(min(batch.to_delete, NODE), batch.to_insert);
        let longest = heap.held + max(min(batch.to_insert, params.insert_early), batch.to_insert - gone);
        if longest > params.capacity {
            return Failure(FAILURE_FULL, longest, params.capacity);
        }
    }
    return Failure(0u, 0u, 0u);
}

// Moves the `count` items from `first` on to the batch, from its place `to` on.
fn move_items(first: u32, count: u32, to: u32, lane: u32) {
    for (var i = lane; i < count; i += GROUP_SIZE) {
        pool[to + i] = items[first + i];
        items[first + i] = NONE;
    }
}

// Moves `count` of a node's `held` items to the batch, from its place `to` on: first those in
// flight to the node, then its last ones. Invocation number `slot` receives the remaining count of
// the insertion in that block.
fn fetch(node: u32, held: u32, count: u32, to: u32, lane: u32, mine: ptr<function, u32>) {
    var left = count;
    var there = held;
    // At most 47 blocks: there are at most 2^28 items and at least 64 in a node.
    for (var slot = 1u; slot < slots(); slot += 1u) {
        let insertion = insertions[slot];
        if insertion.count > 0u && insertion.node == node {
            let moved = min(left, insertion.count);
            move_items(slot * NODE + insertion.count - moved, moved, to + count - left, lane);
            if lane == slot {
                *mine = insertion.count - moved;
            }
            left -= moved;
            there -= insertion.count;
        }
    }
    move_items(node_start(node) + there - left, left, to + count - left, lane);
}

// Orders `pool`. At most 10 * 11 / 2 steps, of 2 pairs for each invocation.
fn sort(lane: u32) {
    for (var run = 2u; run <= NODE; run *= 2u) {
        for (var step = run / 2u; step > 0u; step /= 2u) {
            workgroupBarrier();
            for (var pair = lane; pair < NODE / 2u; pair += GROUP_SIZE) {
                let low = 2u * pair - (pair & (step - 1u));
                let high = low + step;
                let ascending = (low & run) == 0u;
                let a = pool[low];
                let b = pool[high];
                if event_before(b, a) == ascending {
                    pool[low] = b;
                    pool[high] = a;
                }
            }
        }
    }
    workgroupBarrier();
}

@compute @workgroup_size(GROUP_SIZE)
fn gather(@builtin(local_invocation_index) lane: u32) {
    let fault = find_fault();
    let held = heap.held;
    let ready = heap.ready;
    var inserted = 0u;
    var leaving = 0u;
    if fault.kind == 0u {
        inserted = min(batch.to_insert - min(batch.to_insert, params.insert_first), NODE);
        leaving = min(batch.to_delete - min(batch.to_delete, params.delete_first), params.delete_room);
        leaving = min(leaving, held + inserted);
    }
    let after = held + inserted - leaving;

    // The items that the root will lack, as far as other nodes have them.
    let fetched = min(leaving - min(leaving, inserted), held - min(held, NODE));
    var mine = 0u;
    if lane < slots() {
        mine = insertions[lane].count;
    }
    if fetched > 0u {
        let last = (held - 1u) / NODE;
        let there = held - last * NODE;
        let count = min(fetched, there);
        fetch(last, there, count, inserted, lane, &mine);
        if fetched > count {
            fetch(last - 1u, NODE, fetched - count, inserted + count, lane, &mine);
        }
    }
    for (var i = lane; i < NODE; i += GROUP_SIZE) {
        if i < inserted {
            pool[i] = inserts[params.insert_first + i];
        } else if i >= inserted + fetched {
            pool[i] = NONE;
        }
    }

    // Nodes come into use in pairs, because a node has two children or none: at most 3, with the
    // root.
    let used = max(ready, max((after + NODE - 1u) / NODE, 1u) | 1u);
    for (var i = lane; i < (used - ready) * NODE; i += GROUP_SIZE) {
        items[node_start(ready) + i] = NONE;
    }

    // Items for which the root has no room go behind the last item, to at most two nodes.
    let end = max(held, NODE);
    let surplus = max(after, end) - end;
    let near = min(surplus, NODE - end % NODE);

    // All is read before it is written.
    storageBarrier();
    if lane == 0u {
        heap = Heap(after, used, leaving);
        batch.deleted = select(batch.deleted, 0u, params.first != 0u) + leaving;
        if fault.kind != 0u {
            failure = fault;
        }
    }
    if lane == 1u {
        insertions[1] = Insertion(end / NODE, near);
    } else if lane == 2u {
        insertions[2] = Insertion(end / NODE + 1u, surplus - near);
    } else if lane < slots() {
        insertions[lane].count = mine;
    }

    sort(lane);
    for (var i = lane; i < NODE; i += GROUP_SIZE) {
        items[i] = pool[i];
    }
}
