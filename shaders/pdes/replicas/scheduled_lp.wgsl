// The rules of `schedule`, where it puts events into the memory of one replica: for itself from now on, for others after the lookahead.
//
// They are those of deliver_to (pdes/engine.wgsl), but without a branch: what is wrong is noted, and told when the model's function has returned (record_failure in pdes/model.wgsl). The event goes somewhere
// meanwhile, because the run that it belongs to ends.
//
// import: pdes/model.wgsl
// needs: run, shared_run

// The LP that an event at a time goes to, which the LP `from_lp` schedules that executes; where there is none, to that LP itself.
fn scheduled_lp(from_lp: u32, lp: u32, time: vec2<u32>) -> u32 {
    let own = lp == from_lp;
    let unknown = lp >= shared_run.total;
    let never = all(time == TIME_NEVER);
    let early = time_less(time, lp_now) | (!own & time_less(wide_subtract(time, lp_now), run.lookahead));
    let kind = select(select(select(1u << LOOKAHEAD, 1u << PAST, own), 1u << TIME_OVERFLOW, never), 1u << DESTINATION, unknown);
    lp_wrong |= select(0u, kind, early | unknown | never);
    return select(lp, from_lp, unknown);
}
