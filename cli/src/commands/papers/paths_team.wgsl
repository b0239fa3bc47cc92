// `serve` of paths.wgsl for CB-PAR: a team of CB_LANES invocations serves the open list of each
// search.
//
// needs: paths.wgsl, queue/cb_par.wgsl

override GROUP_SIZE: u32 = 64u;

@compute @workgroup_size(GROUP_SIZE)
fn serve_team(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    cb_team_begin(lane);
    let mine = (group.y * groups.x + group.x) * CB_TEAMS + cb_team;
    let leads = (cb_lane == 0u) & (mine < shape.slots);
    var runs = false;
    var inserts = 0u;
    if leads {
        slot = slots[mine];
        if slot.status == FREE {
            begin();
        } else {
            runs = true;
            queue_open(mine, slot.queue);
            inserts = min(slot.found, queue_capacity() - queue_size());
            if inserts < slot.found { atomicStore(&control[2], 1u); }
        }
    }
    let met = cb_team_meet(mine, runs, inserts);
    // Bound: FOUND.
    for (var i = 0u; i < met.most_count; i += 1u) {
        var item: Item;
        if i < cb_count { item = rows[found_row(mine, i)]; }
        if CB_BACKWARD {
            cb_team_insert(i < cb_count, item, met.most_held + i);
        } else {
            cb_team_insert_front(i < cb_count, item, met.most_held + i);
        }
    }
    if leads {
        if runs { take(mine); }
        slots[mine] = slot;
        if loops_cut(shape.slots) { atomicStore(&control[3], 1u); }
    }
}
