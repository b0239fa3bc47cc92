// A candidate of a grid is a match if the boxes overlap and this is the cell of the lower corner of what they
// share. Two regions may meet in many cells; that one cell reports them, so no set of found pairs is needed.
// Cell numbers do not fall with the bounds, so the number there is the greater of the two homes'.
//
// subscriptions, updates  entries (grid_gather.wgsl)

// import: matching/params.wgsl
// import: matching/boxes.wgsl
// import: matching/grid.wgsl

fn accept(s: u32, u: u32) -> bool {
    if !overlaps(subscription(s), update(u)) {
        return false;
    }
    let home = 2u * DIMS + 1u;
    let s_home = subscriptions[home * params.subscriptions + s];
    let u_home = updates[home * params.updates + u];
    let cell = subscriptions[(home + 1u) * params.subscriptions + s];
    for (var d = 0u; d < DIMS; d++) {
        if max(cell_in(s_home, d), cell_in(u_home, d)) != cell_in(cell, d) {
            return false;
        }
    }
    return true;
}
