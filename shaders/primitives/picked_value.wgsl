// A compaction that keeps the values of elements.

@group(0) @binding(6) var<storage, read> values: array<u32>;

fn picked(index: u32) -> u32 {
    return values[index];
}
