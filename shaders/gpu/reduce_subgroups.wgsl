// Reduction of one value per invocation over a workgroup, by shuffles: within subgroups, and over what these leave in workgroup memory. Two waits for
// others in place of one for each halving: an empty window of 32,768 LPs takes 6.3 us in place of 7.3, one of 1,024 LPs 5.8 in place of 6.6 (H200). By
// subgroupMin and subgroupAdd it takes longer there.
//
// Subgroups must be of SUBGROUP invocations, in the order of their local indices.
//
// Functions: reduce_group, as in gpu/reduce.wgsl, but that no analysis of uniformity sees that all invocations get the same.
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
    // Invocations that parted are together again, and all have read what is written now.
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

// The values of so many neighbouring invocations merged, a power of two of at most SUBGROUP.
fn reduce_subgroup(mine: Reduced, invocations: u32) -> Reduced {
    var sum = mine;
    for (var reach = 1u; reach < invocations; reach *= 2u) { sum = merge(sum, subgroupShuffleXor(sum, reach)); }
    return sum;
}
