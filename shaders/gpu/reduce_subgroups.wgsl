// Reduction of one value per invocation over a workgroup: within subgroups by shuffles, then over
// their results in workgroup memory. Two barriers instead of one per halving.
//
// Subgroups must have SUBGROUP invocations, in the order of their local indices.
//
// Functions: reduce_group, as in gpu/reduce.wgsl, but uniformity analysis does not see that all
// invocations get the same value.
//
// Reduced is vec4<u32>, and merge(Reduced, Reduced) -> Reduced is commutative and associative.
// requires: subgroups
// provides: reduce_group
// needs: GROUP_SIZE, Reduced, merge
//
// bounds: `lane` is below GROUP_SIZE, so lane / SUBGROUP is below REDUCE_ROWS, the length of
// `reduce_rows`. Loops count to REDUCE_ROWS, or double up to SUBGROUP. Divisors are constants.

override SUBGROUP: u32 = 32u;
override REDUCE_ROWS: u32 = GROUP_SIZE / SUBGROUP;

var<workgroup> reduce_rows: array<Reduced, REDUCE_ROWS>;

fn reduce_group(lane: u32, mine: Reduced) -> Reduced {
    // Reconverges invocations; earlier reads of what is written next are complete.
    workgroupBarrier();
    let own = reduce_subgroup(mine, SUBGROUP);
    if REDUCE_ROWS == 1u { return own; }
    if lane % SUBGROUP == 0u { reduce_rows[lane / SUBGROUP] = own; }
    workgroupBarrier();
    if REDUCE_ROWS <= SUBGROUP { return reduce_subgroup(reduce_rows[lane % REDUCE_ROWS], REDUCE_ROWS); }
    var sum = reduce_rows[0];
    for (var row = 1u; row < REDUCE_ROWS; row += 1u) { sum = merge(sum, reduce_rows[row]); }
    return sum;
}

// The merged values of a power of two of neighbouring invocations, at most SUBGROUP.
fn reduce_subgroup(mine: Reduced, invocations: u32) -> Reduced {
    var sum = mine;
    for (var reach = 1u; reach < invocations; reach *= 2u) { sum = merge(sum, subgroupShuffleXor(sum, reach)); }
    return sum;
}
