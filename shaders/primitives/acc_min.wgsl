// Accumulates the smallest word. Of no words: the greatest.

alias Acc = u32;
const IDENTITY = 0xffffffffu;

fn combine(a: Acc, b: Acc) -> Acc {
    return min(a, b);
}

fn unit(word: u32) -> Acc {
    return word;
}
