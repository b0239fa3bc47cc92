// A candidate is a match if the boxes overlap.

// import: matching/params.wgsl
// import: matching/boxes.wgsl

fn accept(s: u32, u: u32) -> bool {
    return overlaps(subscription(s), update(u));
}
