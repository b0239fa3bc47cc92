// Whether a pending event of a replication comes before another: by time, then by number. Numbers
// differ.
//
// import: gpu/wide.wgsl
// provides: pending_before
//
// bounds: no array and no loop.

fn pending_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    return wide_less(a.xy, b.xy) | (all(a.xy == b.xy) & (a.z < b.z));
}
