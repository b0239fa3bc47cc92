// Builds one level of the interval tree: the greatest upper bound below each node. Section 3 of Marzolla and
// D'Angelo (2020), "Parallel Interval Tree Matching", with an implicit tree in place of their AVL tree: leaves
// are the subscriptions in the order of their lower bounds, and node i of a level stands for nodes FANOUT i ..
// FANOUT i + FANOUT - 1 of the level below.
//
// nodes  all levels, the leaves first; this one from params.updates on, the one below from params.first on with
//        params.subscriptions nodes
//
// One thread per node, params.end of them.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

const FANOUT = 8u;

@group(0) @binding(4) var<storage, read_write> nodes: array<u32>;

@compute @workgroup_size(SIZE)
fn build_level(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = number(group, groups) * SIZE + lane;
    if i < params.end {
        var greatest = 0u;
        for (var k = FANOUT * i; k < min(FANOUT * (i + 1u), params.subscriptions); k++) {
            greatest = max(greatest, nodes[params.first + k]);
        }
        nodes[params.updates + i] = greatest;
    }
}
