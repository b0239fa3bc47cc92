// The accumulator in two words: a 64-bit sum, low word first. The empty sum is zero. Counterpart of
// acc_word.wgsl.
// import: gpu/wide.wgsl
// provides: ACC_WORDS, Acc, IDENTITY, acc_from_wide, acc_word, combine, unit
//
// bounds: callers index elements below `length()`: see params.wgsl.

alias Acc = vec2<u32>;
const ACC_WORDS = 2u;
const IDENTITY = vec2<u32>(0u, 0u);

fn combine(a: Acc, b: Acc) -> Acc {
    return wide_add(a, b);
}

fn unit(word: u32) -> Acc {
    return vec2(word, 0u);
}

fn acc_from_wide(sum: vec2<u32>) -> Acc {
    return sum;
}

// One of the ACC_WORDS words, the low one first.
fn acc_word(sum: Acc, word: u32) -> u32 {
    return select(sum.x, sum.y, word == 1u);
}
