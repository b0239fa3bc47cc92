// The parameters of the kernels that lay a grid, and the regions of both sides as one list.
//
// Functions: region_of.
//
// provides: params
//
// bounds: as in matching/common.wgsl. `region_of` separates sides by the numbers in `params`.

// import: matching/boxes.wgsl

struct GridParams {
    // Boxes of each side.
    subscriptions: u32,
    updates: u32,
    // Cells per dimension of the finest grid, and the most times they may be joined in each
    // dimension.
    cells: u32,
    joins: u32,
    // The fewest times they are joined.
    joins_least: u32,
    // The number of regions sampled of each side, and the steps between them.
    subscriptions_sampled: u32,
    updates_sampled: u32,
    subscription_step: u32,
    update_step: u32,
}

@group(0) @binding(0) var<uniform> params: GridParams;

// Region i of all: first the subscriptions, then the updates.
fn region_of(i: u32) -> Box {
    if i < params.subscriptions {
        return subscription(i);
    }
    return update(i - params.subscriptions);
}
