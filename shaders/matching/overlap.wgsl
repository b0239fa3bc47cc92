// Boxes of keys and the test of Algorithm 1 of Marzolla and D'Angelo (2020), for half-open intervals in DIMS
// dimensions. Empty regions hold keys that fail it (import.wgsl).

// import: matching/dims.wgsl

// Bounds in dimensions from DIMS on are not looked at.
struct Box {
    lo: vec4<u32>,
    hi: vec4<u32>,
}

fn overlaps(a: Box, b: Box) -> bool {
    var hit = a.lo.x < b.hi.x && b.lo.x < a.hi.x;
    if DIMS > 1u {
        hit = hit && a.lo.y < b.hi.y && b.lo.y < a.hi.y;
    }
    if DIMS > 2u {
        hit = hit && a.lo.z < b.hi.z && b.lo.z < a.hi.z;
    }
    if DIMS > 3u {
        hit = hit && a.lo.w < b.hi.w && b.lo.w < a.hi.w;
    }
    return hit;
}
