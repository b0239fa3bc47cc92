// Keys of one word.
//
// provides: KEY_WORDS, Key, digit_of, with_word, word_of
// needs: params
//
// bounds: callers index keys below `length()`, plus the start of the array: `arrays` times the
// bound was compared. Digits are masked to 8 bits.

alias Key = u32;

fn digit_of(key: Key) -> u32 {
    return (key >> params.first_bit) & params.digit_mask;
}

const KEY_WORDS = 1u;

fn word_of(key: Key, word: u32) -> u32 {
    return key;
}

fn with_word(key: Key, word: u32, value: u32) -> Key {
    return value;
}
