// The rules of `schedule`, where it puts events into the memory of one replica: for itself from now on, for others after the lookahead.
//
// import: pdes/model.wgsl
//
// needs: run (pdes/run_of_replica.wgsl)

// The row that an event for an LP at a time goes to, which the LP schedules that executes; NO_ROW, and a failure, where it may not.
fn scheduled_row(lp: u32, time: vec2<u32>) -> u32 {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return NO_ROW; }
    if row == lp_row {
        if time_less(time, lp_now) {
            fail(lp_row, PAST);
            return NO_ROW;
        }
    } else if time_less(time, time_add(lp_now, run.lookahead)) {
        fail(lp_row, LOOKAHEAD);
        return NO_ROW;
    }
    return row;
}
