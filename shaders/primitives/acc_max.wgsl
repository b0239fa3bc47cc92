// Accumulates the greatest word. Of no words: zero.

alias Acc = u32;
const IDENTITY = 0u;

fn combine(a: Acc, b: Acc) -> Acc {
    return max(a, b);
}

fn unit(word: u32) -> Acc {
    return word;
}
