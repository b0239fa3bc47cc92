// The fingerprint: a 64-bit sum over unordered items (executed events, final states, rows of LP
// memory, pending events). It is therefore independent of invocations, devices and the layout of
// queues.
//
// random/mix.wgsl hashes the words of each item to 64 bits. The reference implementation is
// src/pdes/contract/fingerprint.rs.
//
// import: gpu/wide.wgsl
// import: random/mix.wgsl
// needs: Item, mix_item

const DIGEST_EXECUTED = 1u;
const DIGEST_STATE = 2u;
const DIGEST_PENDING = 3u;
const DIGEST_MEMORY = 4u;

// The start of the digest of an LP's items of a kind.
fn digest_begin(kind: u32, lp: u32) -> vec2<u32> {
    return mix_word(mix_start(kind), lp);
}

fn digest_event(begun: vec2<u32>, event: Item) -> vec2<u32> {
    return mix_end(mix_item(begun, event));
}
