// The fingerprint: 64 bits, a sum over things that have no order among themselves (executed events, final states, rows of
// LP memory, pending events), so that neither invocations nor devices nor the layout of queues can show in it.
//
// Each thing is a row of words, of which random/mix.wgsl makes 64 bits. The Rust twin is src/pdes/contract/fingerprint.rs.
//
// import: gpu/wide.wgsl
// import: random/mix.wgsl
// needs: Item, mix_item

const DIGEST_EXECUTED = 1u;
const DIGEST_STATE = 2u;
const DIGEST_PENDING = 3u;
const DIGEST_MEMORY = 4u;

// What the digests of an LP's events of a kind begin with.
fn digest_begin(kind: u32, lp: u32) -> vec2<u32> {
    return mix_word(mix_start(kind), lp);
}

fn digest_event(begun: vec2<u32>, event: Item) -> vec2<u32> {
    return mix_end(mix_item(begun, event));
}
