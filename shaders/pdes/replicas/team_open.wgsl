// The start of a team's dispatch, if a workgroup serves a replica.
//
// needs: REPLICA_DONE, REPLICA_STATUS, STOP_FAILED, STOP_NOT, lps, replica_failed, replica_open
// needs: replica_row

// Windows done (2) and events executed (2).
var<workgroup> team_done: vec4<u32>;
// The replica's REPLICA_STATUS, with a failure of an earlier dispatch.
var<workgroup> team_status: vec4<u32>;

// Call it in all invocations before anything of the replica at a place; then read team_done and
// team_status with workgroupUniformLoad.
fn team_open(place: u32, lane: u32) {
    replica_open(place);
    if lane == 0u {
        team_done = lps[replica_row(place, REPLICA_DONE)];
        var status = lps[replica_row(place, REPLICA_STATUS)];
        if status.z == STOP_NOT && replica_failed() { status.z = STOP_FAILED; }
        team_status = status;
    }
}
