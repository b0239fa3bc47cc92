// A compaction that keeps the indices of elements.

fn picked(index: u32) -> u32 {
    return index;
}
