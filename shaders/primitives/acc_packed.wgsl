// Accumulates four 16-bit counts at once; no count may reach 2^16.

alias Acc = vec2<u32>;
const IDENTITY = vec2<u32>(0u, 0u);

fn combine(a: Acc, b: Acc) -> Acc {
    return a + b;
}
