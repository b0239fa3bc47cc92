// The accumulator in one word: a sum modulo 2^32, the smallest word, or the greatest. With no
// words: zero, the greatest word, zero. Counterpart of acc_wide.wgsl.
//
// provides: ACC_WORDS, Acc, IDENTITY, acc_from_wide, acc_word, combine, unit
//
// bounds: callers index elements below `length()`: see params.wgsl.

const SUM = 0u;
const SMALLEST = 1u;
const GREATEST = 2u;
override OPERATION: u32 = SUM;

alias Acc = u32;
const ACC_WORDS = 1u;
override IDENTITY: Acc = select(0u, 0xffffffffu, OPERATION == SMALLEST);

fn combine(a: Acc, b: Acc) -> Acc {
    switch OPERATION {
        case SMALLEST: { return min(a, b); }
        case GREATEST: { return max(a, b); }
        default: { return a + b; }
    }
}

fn unit(word: u32) -> Acc {
    return word;
}

// A 64-bit sum as an accumulator.
fn acc_from_wide(sum: vec2<u32>) -> Acc {
    return sum.x;
}

// One of the ACC_WORDS words, the low one first.
fn acc_word(sum: Acc, word: u32) -> u32 {
    return sum;
}
