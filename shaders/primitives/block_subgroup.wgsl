// A workgroup scans one value per invocation: subgroups by shuffles, then the subgroups' sums through workgroup memory.
//
// Twin of block_baseline.wgsl. Subgroups must be whole; any size from 4 to 128 that divides GROUP_SIZE will do, and it is read
// when the kernel runs.
// combine(Acc, Acc) -> Acc is associative.
// requires: subgroups
// provides: GROUP_SIZE, MAX_SUBGROUP, Place, block_scan, lane_of
// needs: Acc, IDENTITY, combine
//
// bounds: workgroup memory is indexed by subgroup. Subgroups are whole, so there are GROUP_SIZE /
// size of them, of 4 invocations at least, as WebGPU promises; the host takes files with subgroups
// only where a kernel saw this (`Subgroups`).

override GROUP_SIZE: u32 = 256u;
// The most invocations that a subgroup of the device has: a power of two.
override MAX_SUBGROUP: u32 = 128u;

// Where an invocation stands in its workgroup. What is the same for all of a workgroup is kept out: a uniformity analysis takes
// a struct as a whole.
struct Place {
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) index: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
}

// One per subgroup; 4 is the least size that WebGPU knows.
// Named, as all sizes of arrays that are computed: naga 30 ends in a panic where an unnamed one comes before an override.
override BLOCK_VALUES: u32 = GROUP_SIZE / 4u;
var<workgroup> block_values: array<Acc, BLOCK_VALUES>;

// The invocation's place in the order of the workgroup's scan: subgroup by subgroup, whatever local indices these have.
fn lane_of(at: Place) -> u32 {
    return at.subgroup * at.size + at.index;
}

// What the invocations before this one hold, combined, and what all hold.
struct Scanned {
    before: Acc,
    all: Acc,
}

// All invocations must call it. Begins with a barrier, so that it may be called again at once, and so that invocations that
// parted before it are together again: from there to the last shuffle none leaves the common path.
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
