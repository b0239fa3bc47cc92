// A 64-bit hash of a row of words, in which every bit of every word affects every bit of the
// result. Fingerprints are sums of it. It has two 32-bit lanes, because WGSL has no 64-bit
// integers, which end with the finaliser of MurmurHash3 (A. Appleby, 2008). The reference
// implementation is `random::mix`.
//
// Functions: mix_start, mix_word, mix_end.
//
// bounds: no array and no loop.

// Begins a row; rows of different kinds are unrelated.
fn mix_start(kind: u32) -> vec2<u32> {
    return mix_word(vec2<u32>(0x9e3779b9u, 0x7f4a7c15u), kind);
}

// Hashes a word: in each lane a bijection of the word and of the lane.
fn mix_word(lanes: vec2<u32>, word: u32) -> vec2<u32> {
    let mixed = (lanes ^ vec2<u32>(word)) * vec2<u32>(0x85ebca6bu, 0xc2b2ae35u);
    return mixed ^ (mixed >> vec2<u32>(15u, 13u));
}

fn mix_lane(lane: u32) -> u32 {
    var mixed = (lane ^ (lane >> 16u)) * 0x85ebca6bu;
    mixed = (mixed ^ (mixed >> 13u)) * 0xc2b2ae35u;
    return mixed ^ (mixed >> 16u);
}

// Ends a row: (low word, high word) of its hash.
fn mix_end(lanes: vec2<u32>) -> vec2<u32> {
    let first = mix_lane(lanes.x);
    let high = mix_lane(lanes.y ^ first);
    return vec2<u32>(mix_lane(first + high), high);
}
