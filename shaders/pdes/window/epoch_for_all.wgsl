// Windows that are the same for all LPs and begin by draining the mailboxes: YAWNS.
//
// Functions: message_count, arrival_before_bound; those of pdes/window/same_for_all.wgsl.
//
// import: pdes/engine.wgsl
// import: pdes/window/same_for_all.wgsl
// provides: arrival_before_bound, message_count
// needs: run

fn message_count(row: u32) -> u32 {
    return atomicLoad(&words[mail_count(run.part.parity, row)]);
}

// Nothing to check: a window ends at most a lookahead after its first pending event. Files with
// wider windows check bounds, and `Simulation::skew` reports how far LPs may differ in time.
fn arrival_before_bound(time: vec2<u32>) -> bool {
    return false;
}
