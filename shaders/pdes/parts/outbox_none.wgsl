// A run whose LPs are all here: nothing is sent away. pdes/parts/outbox.wgsl has the same function for the part of a run.
//
// Functions: sent_away.
//
// import: pdes/model.wgsl
// provides: sent_away
// needs: Payload

// Whether an event for an LP, which would lie in that row, has left for another part.
fn sent_away(row: u32, lp: u32, time: vec2<u32>, payload: Payload) -> bool {
    return false;
}
