// Accumulates a 64-bit sum, low word first.

alias Acc = vec2<u32>;
const IDENTITY = vec2<u32>(0u, 0u);

fn combine(a: Acc, b: Acc) -> Acc {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn unit(word: u32) -> Acc {
    return vec2(word, 0u);
}
