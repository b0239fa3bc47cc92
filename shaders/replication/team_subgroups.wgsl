// The scan of a team with subgroups: within each by shuffles, then over their totals in workgroup
// memory. The same function as in replication/team_workgroup.wgsl, for adapters with subgroups of
// one size.
//
// WGSL does not define how subgroups lie in a workgroup, so lanes are numbered here: subgroups in
// the order of arrival, then invocations. Any numbering gives the same bits, because a lane's work
// depends on its number alone.
//
// import: replication/team.wgsl
// requires: subgroups
// needs: TEAM_NEUTRAL, tables_open, team_combine
//
// bounds: as in job.wgsl; totals are at the number of a subgroup's first lane, below GROUP_SIZE.
// Loops double up to SUBGROUP_SIZE, or step by it; subgroups are whole (`Mapping`).

// Invocations per subgroup: the adapter's least and largest size are equal. GROUP_SIZE is a
// multiple of it.
override SUBGROUP_SIZE: u32 = 32u;

var<workgroup> team_next: atomic<u32>;
// The totals of the subgroups, at the number of their first lanes.
var<workgroup> team_parts: array<vec4<u32>, GROUP_SIZE>;

// This invocation's number in its subgroup.
var<private> team_sublane: u32;

struct TeamScan {
    // The earlier lanes, combined in order.
    before: vec4<u32>,
    // All lanes.
    total: vec4<u32>,
}

fn team_scan(mine: vec4<u32>) -> TeamScan {
    var sum = mine;
    for (var distance = 1u; distance < SUBGROUP_SIZE; distance <<= 1u) {
        let other = subgroupShuffleUp(sum, distance);
        if team_sublane >= distance {
            sum = team_combine(other, sum);
        }
    }
    let shifted = subgroupShuffleUp(sum, 1u);
    var before = select(shifted, TEAM_NEUTRAL, vec4<bool>(team_sublane == 0u));
    if SUBGROUP_SIZE == GROUP_SIZE {
        return TeamScan(before, subgroupShuffle(sum, SUBGROUP_SIZE - 1u));
    }
    let first = team_lane - team_sublane;
    if team_sublane == SUBGROUP_SIZE - 1u {
        team_parts[first] = sum;
    }
    workgroupBarrier();
    var total = TEAM_NEUTRAL;
    var outer = TEAM_NEUTRAL;
    for (var part = 0u; part < GROUP_SIZE; part += SUBGROUP_SIZE) {
        if part == first {
            outer = total;
        }
        total = team_combine(total, team_parts[part]);
    }
    // The next scan writes to the words read here.
    workgroupBarrier();
    return TeamScan(team_combine(outer, before), total);
}

@compute @workgroup_size(GROUP_SIZE)
fn team(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32, @builtin(subgroup_invocation_id) sublane: u32) {
    tables_open(lane, GROUP_SIZE);
    if lane == 0u {
        atomicStore(&team_next, 0u);
    }
    workgroupBarrier();
    var first = 0u;
    if sublane == 0u {
        first = atomicAdd(&team_next, SUBGROUP_SIZE);
    }
    team_lane = subgroupBroadcastFirst(first) + sublane;
    team_sublane = sublane;
    let slot = group.y * groups.x + group.x;
    if slot < job_work.jobs {
        team_slice(slot);
    }
}
