// The rules of `schedule`, where it puts events into the memory of one replica: for itself from now on, for others after the lookahead.
//
// What deliver_to (pdes/engine.wgsl) asks for is asked for here once more, in the same order, for one branch to take all that may be wrong. (`bench replicas` on an H200: near teams 1.02 to 1.05 times as
// fast as by calling it.)
//
// import: pdes/model.wgsl
//
// needs: run (pdes/run_of_replica.wgsl)

// The row that an event for an LP at a time goes to, which the LP schedules that executes; NO_ROW, and a failure, where it may not.
fn scheduled_row(lp: u32, time: vec2<u32>) -> u32 {
    let row = row_at(lp);
    let own = row == lp_row;
    let early = time_less(time, select(time_add(lp_now, run.lookahead), lp_now, own));
    let unknown = lp - run.lowest >= run.addresses;
    let never = all(time == TIME_NEVER);
    if early | unknown | never {
        fail(lp_row, select(select(select(LOOKAHEAD, PAST, own), TIME_OVERFLOW, never), DESTINATION, unknown));
        return NO_ROW;
    }
    return row;
}
