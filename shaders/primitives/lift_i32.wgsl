// Elements are i32, compared through their keys.
// import: primitives/keys.wgsl

fn lift(word: u32) -> u32 {
    return key_from_i32(bitcast<i32>(word));
}

fn lower(key: u32) -> u32 {
    return bitcast<u32>(i32_from_key(key));
}
