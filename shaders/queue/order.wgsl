// The total order of events: timestamp, then payload words.
//
// An event is one vec4<u32>: time (lo, hi), payload (two words). Two events that are equal in all 16 bytes are
// interchangeable, so the order in which they arrived can never show. A queue works with any total order: this
// file is the one that simulation uses.

fn event_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    if a.y != b.y { return a.y < b.y; }
    if a.x != b.x { return a.x < b.x; }
    if a.z != b.z { return a.z < b.z; }
    return a.w < b.w;
}
