// The first dispatch of a cycle of the parallel heap: what is merged with the root. parallel_heap.wgsl says what it reads and
// writes. One workgroup; the items of the batch are ordered in workgroup memory, by a bitonic sort.
//
// import: queue/parallel_heap.wgsl
//
// bounds: as in parallel_heap.wgsl. `inserts` is read below `batch.to_insert`, and `deletes`
// written below `batch.to_delete`, unless the first cycle found one beyond its buffer: then
// `failure` says so, and no cycle inserts or deletes. `gather` refuses what is beyond the capacity,
// so targets of insertions are nodes of the buffer. `fetch` moves no more than `held`, what a node
// has and what is under way to it. Loops count to NODE, slots or levels; the search halves.

@group(0) @binding(4) var<storage, read_write> batch: HeapBatch;
@group(0) @binding(5) var<storage, read> inserts: array<Item>;
@group(0) @binding(6) var<storage, read_write> failure: Failure;

var<workgroup> pool: array<Item, NODE>;

// The fault that was found before, or one of this batch: found in its first cycle, so that all of it is done or nothing.
fn find_fault() -> Failure {
    if failure.kind != 0u { return failure; }
    if params.first != 0u {
        if batch.to_insert > params.insert_most {
            return Failure(FAILURE_INSERTS, batch.to_insert, params.insert_most);
        }
        if batch.to_delete > params.delete_most {
            return Failure(FAILURE_DELETES, batch.to_delete, params.delete_most);
        }
        // The heap is at its longest before the first cycle that deletes, or after it.
        let gone = min(min(batch.to_delete, NODE), batch.to_insert);
        let longest = heap.held + max(min(batch.to_insert, params.insert_early), batch.to_insert - gone);
        if longest > params.capacity {
            return Failure(FAILURE_FULL, longest, params.capacity);
        }
    }
    return Failure(0u, 0u, 0u);
}

// Moves the `count` items from `first` on to the batch, from its place `to` on.
fn lift(first: u32, count: u32, to: u32, lane: u32) {
    for (var i = lane; i < count; i += GROUP_SIZE) {
        pool[to + i] = items[first + i];
        items[first + i] = NONE;
    }
}

// Moves `count` of the `held` items of a node to the batch, from its place `to` on: first those that are under way to it, then the last that
// it has. Invocation number `slot` learns what is left of the insertion in that block.
fn fetch(node: u32, held: u32, count: u32, to: u32, lane: u32, mine: ptr<function, u32>) {
    var left = count;
    var there = held;
    // At most 47 blocks: there are 2^28 items at the most, 64 in a node at the least.
    for (var slot = 1u; slot < slots(); slot += 1u) {
        let insertion = insertions[slot];
        if insertion.count > 0u && insertion.node == node {
            let moved = min(left, insertion.count);
            lift(slot * NODE + insertion.count - moved, moved, to + count - left, lane);
            if lane == slot {
                *mine = insertion.count - moved;
            }
            left -= moved;
            there -= insertion.count;
        }
    }
    lift(node_start(node) + there - left, left, to + count - left, lane);
}

// Puts `pool` in order. At most 10 * 11 / 2 steps, of 2 pairs for each invocation.
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

    // What the root will lack, as far as other nodes have it.
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

    // Nodes come into use in pairs: a node has two children or none. They are 3 at the most, the root among them.
    let used = max(ready, max((after + NODE - 1u) / NODE, 1u) | 1u);
    for (var i = lane; i < (used - ready) * NODE; i += GROUP_SIZE) {
        items[node_start(ready) + i] = NONE;
    }

    // What the root has no room for goes behind the last item, to two nodes at the most.
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
