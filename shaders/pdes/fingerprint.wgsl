// The fingerprint: 64 bits, a sum over things that have no order among themselves (executed events, final states,
// pending events), so that neither threads nor devices nor the layout of queues can show in it.
//
// Each thing is a row of words, hashed in two 32-bit lanes. The Rust twin is src/pdes/fingerprint.rs.
//
// import: time/ticks.wgsl

const DIGEST_EXECUTED = 1u;
const DIGEST_STATE = 2u;
const DIGEST_PENDING = 3u;

fn digest_start(kind: u32, lp: u32) -> vec2<u32> {
    return digest_word(vec2<u32>(0x9e3779b9u, 0x7f4a7c15u) + kind, lp);
}

fn digest_word(digest: vec2<u32>, word: u32) -> vec2<u32> {
    let mixed = (digest ^ vec2<u32>(word)) * vec2<u32>(0x85ebca6bu, 0xc2b2ae35u);
    return mixed ^ (mixed >> vec2<u32>(15u, 13u));
}

// Lets the two lanes reach each other, so that a 64-bit sum is more than two 32-bit ones.
fn digest_end(digest: vec2<u32>) -> vec2<u32> {
    let high = (digest.y ^ digest.x) * 0x27d4eb2fu;
    return vec2<u32>(digest.x ^ (high >> 16u), high);
}

fn digest_event(kind: u32, lp: u32, event: vec4<u32>) -> vec2<u32> {
    var digest = digest_start(kind, lp);
    digest = digest_word(digest, event.x);
    digest = digest_word(digest, event.y);
    digest = digest_word(digest, event.z);
    digest = digest_word(digest, event.w);
    return digest_end(digest);
}

// The sum of two digests modulo 2^64.
fn digest_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
