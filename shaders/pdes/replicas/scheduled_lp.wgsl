// The rules of `schedule` within one replica: for the LP itself from now on, for others after the
// lookahead. They are those of deliver_to (pdes/engine.wgsl) without a branch: a failure is
// recorded in lp_wrong and reported after the model's function (record_failure in pdes/model.wgsl).
// The event is stored all the same; its run ends.
//
// import: pdes/model.wgsl
// needs: run, shared_run

// The LP that receives an event which `from_lp` schedules at `time` for `lp`; if `lp` does not
// exist, `from_lp`.
fn scheduled_lp(from_lp: u32, lp: u32, time: vec2<u32>) -> u32 {
    let own = lp == from_lp;
    let unknown = lp >= shared_run.total;
    let never = all(time == TIME_NEVER);
    let early = time_less(time, lp_now) | (!own & time_less(wide_subtract(time, lp_now), run.lookahead));
    let kind = select(select(select(1u << LOOKAHEAD, 1u << PAST, own), 1u << TIME_OVERFLOW, never), 1u << DESTINATION, unknown);
    lp_wrong |= select(0u, kind, early | unknown | never);
    return select(lp, from_lp, unknown);
}
