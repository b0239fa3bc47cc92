// What a walk through the interval tree does with matches, first version: nothing, tree_query.wgsl counts them.

fn wanted(q: u32) -> bool {
    return true;
}

fn put(q: u32, hit: u32, leaf: u32) {
}
