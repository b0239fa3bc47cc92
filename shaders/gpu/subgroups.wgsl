// Records each invocation's view of its subgroup, which WGSL does not define. From it
// src/gpu/subgroups.rs finds how subgroups lie in workgroups of this size. Dispatch: any number of
// workgroups in one dimension.
//
// requires: subgroups

override GROUP_SIZE: u32 = 256u;

struct Seen {
    size: u32,
    index: u32,
    subgroup: u32,
    subgroups: u32,
    // The number of invocations in a ballot.
    voters: u32,
    // Local indices of the previous invocation in the subgroup, of its mirror image in the
    // subgroup, and of the first.
    before: u32,
    across: u32,
    first: u32,
    // The bits of the invocations whose local index has an odd number of ones.
    votes: vec4<u32>,
}

// One per invocation: workgroup by workgroup, by local index.
@group(0) @binding(0) var<storage, read_write> subgroups_seen: array<Seen>;

@compute @workgroup_size(GROUP_SIZE)
fn subgroups(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32,
             @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) index: u32,
             @builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) count: u32) {
    // Invocations diverge, as with different events of a model, and reconverge: the rest tests
    // that.
    for (var turn = 0u; turn < local % 5u; turn += 1u) { subgroups_seen[group.x * GROUP_SIZE + local].size = turn; }
    workgroupBarrier();
    let live = countOneBits(subgroupBallot(true));
    let votes = subgroupBallot((countOneBits(local) & 1u) != 0u);
    let before = subgroupShuffleUp(local, 1u);
    let opposite = subgroupShuffle(local, size - 1u - index);
    // Checks it against the other shuffle.
    let across = select(0xffffffffu, opposite, opposite == subgroupShuffleXor(local, size - 1u));
    let first = subgroupBroadcastFirst(local);
    let voters = live.x + live.y + live.z + live.w;
    subgroups_seen[group.x * GROUP_SIZE + local] =
        Seen(size, index, subgroup, count, voters, before, across, first, votes);
}
