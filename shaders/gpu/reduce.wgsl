// Reduction of one value per invocation over a workgroup, through workgroup memory, for every
// adapter.
//
// Functions: reduce_group.
//
// merge(Reduced, Reduced) -> Reduced is commutative and associative.
//
// provides: reduce_group
// needs: GROUP_SIZE, Reduced, merge
//
// bounds: `lane` is below GROUP_SIZE, the length of `reduce_rows`; lane + half is below `count`,
// which starts there and falls to 1. The divisors are 2.

var<workgroup> reduce_rows: array<Reduced, GROUP_SIZE>;

// All values merged, the same in all invocations. All invocations of the workgroup must call it,
// with their numbers as `lane`; may be called again at once.
fn reduce_group(lane: u32, mine: Reduced) -> Reduced {
    reduce_rows[lane] = mine;
    workgroupBarrier();
    // At most 10 rounds: a workgroup has at most 1,024 invocations.
    for (var count = GROUP_SIZE; count > 1u; count = (count + 1u) / 2u) {
        let half = (count + 1u) / 2u;
        if lane < count / 2u {
            reduce_rows[lane] = merge(reduce_rows[lane], reduce_rows[lane + half]);
        }
        workgroupBarrier();
    }
    // The load has barriers on both sides, so that the rows may be written again.
    return workgroupUniformLoad(&reduce_rows[0]);
}
