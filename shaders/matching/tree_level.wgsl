// Builds one level of the interval tree: the greatest upper bound below each node. Section 3 of
// Marzolla and D'Angelo (2020), "Parallel Interval Tree Matching", with an implicit tree instead of
// their AVL tree: leaves are the subscriptions in the order of their lower bounds, and node i of a
// level covers nodes FANOUT i .. FANOUT i + FANOUT - 1 of the level below.
//
// nodes  all levels, the leaves first
//
// One invocation per node of the level.
//
// bounds: as in matching/common.wgsl. A node is compared with the number of nodes of its level, for
// which the host laid out `nodes`.

// import: matching/common.wgsl

const FANOUT = 8u;

struct LevelParams {
    // The level's first node among all nodes, and its number of nodes.
    first: u32,
    nodes: u32,
    // The same of the level below.
    first_below: u32,
    nodes_below: u32,
}

@group(0) @binding(0) var<uniform> params: LevelParams;
@group(0) @binding(1) var<storage, read_write> nodes: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn build_level(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i < params.nodes {
        var greatest = 0u;
        for (var k = FANOUT * i; k < min(FANOUT * (i + 1u), params.nodes_below); k++) {
            greatest = max(greatest, nodes[params.first_below + k]);
        }
        nodes[params.first + i] = greatest;
    }
}
