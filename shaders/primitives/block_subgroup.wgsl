// A workgroup scans one value per thread: subgroups by shuffles, then the subgroups' sums through workgroup memory.
//
// Twin of block_baseline.wgsl. Needs `Acc`, `IDENTITY` and an associative `combine`. Any subgroup size from 4 to 128.
// requires: subgroups

override GROUP_SIZE: u32 = 256u;
// The most threads that a subgroup of the device has.
override MAX_SUBGROUP: u32 = 128u;

// Where a thread stands in its workgroup. What is the same for all its threads is kept out: a uniformity analysis takes
// a struct as a whole.
struct Place {
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) index: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
}

var<workgroup> block_values: array<Acc, GROUP_SIZE / 4u>;

// The thread's place in the order of the workgroup's scan: subgroup by subgroup, whatever local indices these have.
fn lane_of(at: Place) -> u32 {
    return at.subgroup * at.size + at.index;
}

// What the threads before this one hold, combined, and what all hold.
struct Scanned {
    before: Acc,
    all: Acc,
}

// All threads must call it. Begins with a barrier, so that it may be called again at once, and so that lanes that parted
// before it are together again: from there to the last shuffle no lane leaves the common path.
fn block_scan(at: Place, value: Acc) -> Scanned {
    workgroupBarrier();
    var sum = value;
    // A subgroup may be smaller than the greatest: then the last rounds change nothing.
    for (var step = 1u; step < MAX_SUBGROUP; step <<= 1u) {
        let other = subgroupShuffleUp(sum, step);
        sum = select(sum, combine(other, sum), at.index >= step);
    }
    let before = subgroupShuffleUp(sum, 1u);
    if at.index == at.size - 1u {
        block_values[at.subgroup] = sum;
    }
    workgroupBarrier();
    var scanned = Scanned(IDENTITY, IDENTITY);
    for (var i = 0u; i < at.subgroups; i++) {
        if i == at.subgroup {
            scanned.before = scanned.all;
        }
        scanned.all = combine(scanned.all, block_values[i]);
    }
    if at.index > 0u {
        scanned.before = combine(scanned.before, before);
    }
    return scanned;
}
