// A workgroup scans one value per invocation: subgroups by shuffles, then the subgroups' sums
// through workgroup memory. combine(Acc, Acc) -> Acc is associative. Counterpart of
// block_baseline.wgsl.
//
// Subgroups must be whole. Any size from 4 to 128 that divides GROUP_SIZE works; it is read at run
// time.
// requires: subgroups
// provides: GROUP_SIZE, MAX_SUBGROUP, Place, block_scan, lane_of
// needs: Acc, IDENTITY, combine
//
// bounds: workgroup memory is indexed by subgroup. Subgroups are whole, so there are GROUP_SIZE /
// size of them, of at least 4 invocations, as WebGPU guarantees; the host links files with
// subgroups only if a kernel has verified this (`Subgroups`).

override GROUP_SIZE: u32 = 256u;
// The most invocations that a subgroup of the device has: a power of two.
override MAX_SUBGROUP: u32 = 128u;

// An invocation's place in its workgroup. Values that are uniform in a workgroup are not in it:
// uniformity analysis treats a struct as a whole.
struct Place {
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) index: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
}

// One per subgroup; WebGPU's least size is 4. Named, as all computed sizes of arrays: naga 30
// panics if an unnamed one precedes an override.
override BLOCK_VALUES: u32 = GROUP_SIZE / 4u;
var<workgroup> block_values: array<Acc, BLOCK_VALUES>;

// The invocation's place in the scan: subgroup by subgroup, whatever its local index.
fn lane_of(at: Place) -> u32 {
    return at.subgroup * at.size + at.index;
}

// The combination of earlier invocations' values, and of all.
struct Scanned {
    before: Acc,
    all: Acc,
}

// All invocations must call it. The first barrier allows repeated calls, and reconverges
// invocations: none leaves the common path from there to the last shuffle.
fn block_scan(at: Place, value: Acc) -> Scanned {
    workgroupBarrier();
    var sum = value;
    // If a subgroup is smaller than the greatest one, the last rounds change nothing.
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
