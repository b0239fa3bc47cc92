// Accumulates four 16-bit counts at once; no count may reach 2^16.

alias Acc = vec2<u32>;
const IDENTITY = vec2<u32>(0u, 0u);

fn combine(a: Acc, b: Acc) -> Acc {
    return a + b;
}

fn unit(word: u32) -> Acc {
    return vec2(word, 0u);
}

fn first_of(counts: Acc) -> u32 {
    return counts.x;
}
