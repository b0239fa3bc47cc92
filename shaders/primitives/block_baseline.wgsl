// A workgroup scans one value per invocation, through workgroup memory (Hillis and Steele, "Data
// parallel algorithms", 1986). combine(Acc, Acc) -> Acc is associative. Counterpart of
// block_subgroup.wgsl.
//
// provides: GROUP_SIZE, Place, block_scan, lane_of
// needs: Acc, IDENTITY, combine
//
// bounds: workgroup memory is indexed by lane, below GROUP_SIZE. Loops double or halve up to
// GROUP_SIZE.

override GROUP_SIZE: u32 = 256u;

// An invocation's place in its workgroup. Values that are uniform in a workgroup are not in it:
// uniformity analysis treats a struct as a whole.
struct Place {
    @builtin(local_invocation_index) index: u32,
}

// Named, as all computed sizes of arrays: naga 30 panics if an unnamed one precedes an override.
override BLOCK_VALUES: u32 = 2u * GROUP_SIZE;
var<workgroup> block_values: array<Acc, BLOCK_VALUES>;

// The invocation's place in the order of the workgroup's scan.
fn lane_of(at: Place) -> u32 {
    return at.index;
}

// The combination of earlier invocations' values, and of all.
struct Scanned {
    before: Acc,
    all: Acc,
}

// All invocations must call it. It begins with a barrier, so that it can be called again at once.
fn block_scan(at: Place, value: Acc) -> Scanned {
    workgroupBarrier();
    let lane = at.index;
    block_values[lane] = value;
    workgroupBarrier();
    var current = 0u;
    // At most 8 rounds: a workgroup has at most 256 invocations.
    for (var step = 1u; step < GROUP_SIZE; step <<= 1u) {
        var mine = block_values[current + lane];
        if lane >= step {
            mine = combine(block_values[current + lane - step], mine);
        }
        current = GROUP_SIZE - current;
        block_values[current + lane] = mine;
        workgroupBarrier();
    }
    var scanned = Scanned(IDENTITY, block_values[current + GROUP_SIZE - 1u]);
    if lane > 0u {
        scanned.before = block_values[current + lane - 1u];
    }
    return scanned;
}
