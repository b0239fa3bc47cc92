// A hash of a row of words to 64 bits in which every bit of every word reaches every bit of the result: what fingerprints are
// sums of. Two lanes of 32 bits, because WGSL has no 64-bit integers. The Rust twin is `random::mix`.
//
// The rounds of a lane at the end are the finaliser of MurmurHash3 (A. Appleby, 2008).
//
// Functions: mix_start, mix_word, mix_end.
//
// bounds: no array and no loop.

// Begins a row; rows of different kinds are unrelated.
fn mix_start(kind: u32) -> vec2<u32> {
    return mix_word(vec2<u32>(0x9e3779b9u, 0x7f4a7c15u), kind);
}

// Takes in a word. In each lane a bijection of the word and of what was there before.
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
