// Keys of two words, low word first: a u64 in host memory.
//
// provides: KEY_WORDS, Key, digit_of, with_word, word_of
// needs: params
//
// bounds: callers index keys below `length()`, plus the start of the array: `arrays` times the
// bound was compared. Digits are masked to 8 bits.

alias Key = vec2<u32>;

fn digit_of(key: Key) -> u32 {
    let shift = params.first_bit & 31u;
    if params.first_bit >= 32u {
        return (key.y >> shift) & params.digit_mask;
    }
    // A digit may span both words. Two shifts, because a shift by 32 - 0 is invalid for a u32.
    return ((key.x >> shift) | ((key.y << 1u) << (31u - shift))) & params.digit_mask;
}

const KEY_WORDS = 2u;

fn word_of(key: Key, word: u32) -> u32 {
    return select(key.x, key.y, word == 1u);
}

fn with_word(key: Key, word: u32, value: u32) -> Key {
    return select(vec2(value, key.y), vec2(key.x, value), word == 1u);
}
