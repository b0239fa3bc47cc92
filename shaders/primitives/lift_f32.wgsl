// Elements are f32, compared through their keys.
// import: primitives/keys.wgsl

fn lift(word: u32) -> u32 {
    return key_from_f32_bits(word);
}

fn lower(key: u32) -> u32 {
    return f32_bits_from_key(key);
}
