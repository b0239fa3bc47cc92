// The iteration of counts.wgsl for CB-PAR: a team of CB_LANES invocations serves one LP and its
// queue. As in the paper, a lane compares a new event with the one at its place and the one before
// it. The chunk's last event, which all lanes compare too, replaces a vote and is not counted.
//
// needs: counts.wgsl, queue/cb_par.wgsl

const GROUP_SIZE = 64u;

@compute @workgroup_size(GROUP_SIZE)
fn window_team(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    cb_team_begin(lane);
    let q = group.x * CB_TEAMS + cb_team;
    let leads = (q < shape.queues) & (cb_lane == 0u);
    var messages = 0u;
    if leads {
        messages = take_messages(q);
        queue_open(q, queues[q].xy);
        if messages > queue_capacity() - queue_size() {
            messages = queue_capacity() - queue_size();
            fail(q);
        }
    }
    let met = cb_team_meet(q, leads, messages);
    // Bound: the messages of any team.
    for (var i = 0u; i < met.most_count; i += 1u) {
        var event: Item;
        if i < cb_count { event = message(q, i); }
        let before = comparisons;
        let read = touched.x - lasts;
        if CB_BACKWARD {
            cb_team_insert(i < cb_count, event, met.most_held + i);
        } else {
            cb_team_insert_front(i < cb_count, event, met.most_held + i);
        }
        comparisons = before + touched.x - lasts - read;
    }
    let counted = comparisons;
    if leads { serve(q); }
    comparisons = counted;
    if q < shape.queues { add_counts(q); }
    if leads && loops_cut(shape.queues) { fail(q); }
}
