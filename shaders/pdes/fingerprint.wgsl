// The fingerprint: 64 bits, a sum over things that have no order among themselves (executed events, final states,
// pending events), so that neither invocations nor devices nor the layout of queues can show in it.
//
// Each thing is a row of words, of which random/mix.wgsl makes 64 bits. The Rust twin is src/pdes/fingerprint.rs.
//
// import: gpu/wide.wgsl
// import: random/mix.wgsl

const DIGEST_EXECUTED = 1u;
const DIGEST_STATE = 2u;
const DIGEST_PENDING = 3u;

fn digest_event(kind: u32, lp: u32, event: vec4<u32>) -> vec2<u32> {
    var lanes = mix_word(mix_start(kind), lp);
    lanes = mix_word(lanes, event.x);
    lanes = mix_word(lanes, event.y);
    lanes = mix_word(lanes, event.z);
    lanes = mix_word(lanes, event.w);
    return mix_end(lanes);
}
