// Execute, if a team of CB_LANES invocations serves an LP (queue/cb_par.wgsl): as
// pdes/window/execute.wgsl, but it always continues to the horizon.
//
// Only the leader of a team runs the model, draws and schedules. The team inserts the LP's messages
// and then, in rounds, the events scheduled for the LP itself: the leader continues until an event
// schedules some, or to the end. Teams that are done, or lie beyond the last LP, insert nothing and
// only take part in the barriers.
//
// import: pdes/window/execute.wgsl
// import: pdes/queues/queues.wgsl
// import: pdes/window/deliver_mail.wgsl
// import: queue/cb_par.wgsl
// needs: Horizon, IDLE, Item, Reduced, State, event_time, handle, item_event, mail_at, run

// An event for the team to insert: a message in the first round, then an event behind those held.
fn pending_incoming(round: u32, row: u32, mail: u32, behind: u32) -> Item {
    if round == 0u { return mail_at(row, mail); }
    return queue_events[queue_spare(behind)];
}

// Executes the events of a row before the horizon; returns the row's part of the reduction to the
// leader. Call it in all invocations of the workgroup.
fn execute_team(row: u32, horizon: Horizon) -> Reduced {
    let owner = row - run.part.queue_first;
    // Down to the rounds, and in them except for the insertion, only the leader's values are valid.
    var left = IDLE;
    var opened = false;
    var inserts = 0u;
    if cb_lane == 0u && row < run.rows {
        opened = pending_begin(row, horizon, pending_see(row));
        if opened { inserts = pending_mails; } else { left = pending_idle(); }
    }
    let name = name_of(row);
    let begun = digest_begin(DIGEST_EXECUTED, name);
    var runs = false;
    var begin = TIME_NEVER;
    var first = TIME_NEVER;
    var executed = 0u;
    var number = vec2<u32>(0u);
    var digest = vec2<u32>(0u);
    var event: Item;
    var state: State;
    failed = false;
    // Bound: a leader executes an event in each round but the first and the last two of its LP.
    for (var round = 0u; round < run.budget + 3u; round += 1u) {
        let met = cb_team_meet(owner, opened, inserts);
        if !met.any_open || (round > 0u && met.most_count == 0u) { break; }
        // All lanes: messages first, then events behind those held. Each is read before the one
        // before it is inserted.
        var coming: Item;
        if cb_count > 0u { coming = pending_incoming(round, row, 0u, 0u); }
        for (var i = 0u; i < met.most_count; i += 1u) {
            let present = coming;
            if i + 1u < cb_count { coming = pending_incoming(round, row, i + 1u, 1u); }
            // An LP's own events are at `queue_spare`.
            if round == 0u && !CB_BACKWARD {
                cb_team_insert_front(i < cb_count, present, met.most_held + i);
            } else {
                cb_team_insert(i < cb_count, present, met.most_held + i);
            }
        }
        if opened && (round == 0u || inserts > 0u) {
            inserts = 0u;
            first = TIME_NEVER;
            if pending_any() {
                event = pending_first();
                first = event_time(event);
            }
            if round == 0u {
                begin = first;
                runs = may_run(row, first, horizon);
                if runs {
                    let counts = lps[run.rows + row];
                    number = counts.xy;
                    digest = counts.zw;
                    state = states_get(row);
                    lp_row = row;
                    deliver_open();
                }
            }
            // Bound: run.budget.
            while runs && executed < run.budget && time_less(first, horizon.until) && !failed {
                pending_pop();
                executed += 1u;
                number = wide_add(number, vec2<u32>(1u, 0u));
                digest = wide_add(digest, digest_event(begun, event));
                lp_now = first;
                first = TIME_NEVER;
                stream_open(run.seed, name, number);
                handle(name, item_event(event), &state);
                record_failure();
                // Only those that fit.
                inserts = min(deliver_own_count, run.queue_capacity - queue_size());
                deliver_own_count = 0u;
                // The team inserts them before the leader reads the first event.
                if inserts > 0u { break; }
                if pending_any() {
                    event = pending_first();
                    first = event_time(event);
                }
            }
        }
    }
    if !opened { return left; }
    var stalls = 0u;
    if runs {
        states_set(row, state);
        lps[run.rows + row] = vec4<u32>(number, digest);
        stalls = stall_count(row, executed, all(first == begin));
    } else if pending_was_stalled() {
        stalls = STALLED;
    }
    return pending_close(row, first, executed, stalls);
}
