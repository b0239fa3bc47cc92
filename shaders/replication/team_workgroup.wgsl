// The scan of a team in workgroup memory, for every adapter (Hillis and Steele, "Data parallel
// algorithms", CACM 29(12), 1986). replication/team_subgroups.wgsl is the same function for
// adapters with subgroups.
//
// import: replication/team.wgsl
// needs: TEAM_NEUTRAL, tables_open, team_combine
//
// bounds: as in job.wgsl; parts are indexed by lane, less a distance that is compared with it. The
// distance doubles.

var<workgroup> team_parts: array<vec4<u32>, GROUP_SIZE>;

struct TeamScan {
    // The earlier lanes, combined in order.
    before: vec4<u32>,
    // All lanes.
    total: vec4<u32>,
}

fn team_scan(mine: vec4<u32>) -> TeamScan {
    team_parts[team_lane] = mine;
    workgroupBarrier();
    var sum = mine;
    for (var distance = 1u; distance < GROUP_SIZE; distance <<= 1u) {
        if team_lane >= distance {
            sum = team_combine(team_parts[team_lane - distance], sum);
        }
        workgroupBarrier();
        team_parts[team_lane] = sum;
        workgroupBarrier();
    }
    var before = TEAM_NEUTRAL;
    if team_lane > 0u {
        before = team_parts[team_lane - 1u];
    }
    let total = team_parts[GROUP_SIZE - 1u];
    // The next scan writes to the words read here.
    workgroupBarrier();
    return TeamScan(before, total);
}

@compute @workgroup_size(GROUP_SIZE)
fn team(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    tables_open(lane, GROUP_SIZE);
    team_lane = lane;
    let slot = group.y * groups.x + group.x;
    if slot < job_work.jobs {
        team_slice(slot);
    }
}
