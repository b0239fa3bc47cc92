// Whether a pending event of a replication comes before another: by time, then by number. Numbers
// differ.
//
// requires: int64
// provides: pending_before
//
// bounds: no array and no loop.

fn pending_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    let first = (u64(a.y) << 32u) | u64(a.x);
    let second = (u64(b.y) << 32u) | u64(b.x);
    return (first < second) | ((first == second) & (a.z < b.z));
}
