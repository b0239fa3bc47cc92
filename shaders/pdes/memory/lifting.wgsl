// The rows whose events a dispatch of pdes/memory/lift.wgsl or pdes/memory/lower.wgsl moves.

struct Lifting {
    first: u32,
    rows: u32,
    unused: vec2<u32>,
}

@group(0) @binding(32) var<uniform> lifting: Lifting;
