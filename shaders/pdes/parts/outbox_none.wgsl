// A run whose LPs are all here: no event leaves. pdes/parts/outbox.wgsl has the same function for a
// part of a run.
//
// Functions: sent_away.
//
// import: pdes/model.wgsl
// provides: sent_away
// needs: Payload

// Whether an event for an LP, whose row would be `row`, was sent to another part.
fn sent_away(row: u32, lp: u32, time: vec2<u32>, payload: Payload) -> bool {
    return false;
}
