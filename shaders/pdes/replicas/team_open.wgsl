// How the dispatch of a team begins, where a workgroup serves a replica.
//
// needs: REPLICA_DONE, REPLICA_STATUS, STOP_FAILED, STOP_NOT, lps, replica_failed, replica_open
// needs: replica_row

// Windows done (2) and events executed (2).
var<workgroup> team_done: vec4<u32>;
// As the replica's REPLICA_STATUS, in which a failure is looked at.
var<workgroup> team_status: vec4<u32>;

// To be called by all invocations before anything of the replica in a place; then team_done and team_status are read with workgroupUniformLoad.
fn team_open(place: u32, lane: u32) {
    replica_open(place);
    if lane == 0u {
        team_done = lps[replica_row(place, REPLICA_DONE)];
        var status = lps[replica_row(place, REPLICA_STATUS)];
        if status.z == STOP_NOT && replica_failed() { status.z = STOP_FAILED; }
        team_status = status;
    }
}
