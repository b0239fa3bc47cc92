// Accumulates the sum modulo 2^32.

alias Acc = u32;
const IDENTITY = 0u;

fn combine(a: Acc, b: Acc) -> Acc {
    return a + b;
}

fn unit(word: u32) -> Acc {
    return word;
}

fn first_of(sum: Acc) -> u32 {
    return sum;
}
