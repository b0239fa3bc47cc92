// What the kernels that lay a grid are told, and the regions of both sides as one list.
//
// Functions: region_of.
//
// provides: params
//
// bounds: as in matching/common.wgsl. `region_of` tells sides apart by the numbers in `params`.

// import: matching/boxes.wgsl

struct GridParams {
    // Boxes of each side.
    subscriptions: u32,
    updates: u32,
    // Cells per dimension of the finest grid, and how often they may be joined two by two in each dimension.
    cells: u32,
    joins: u32,
    // They are joined so often at the least.
    joins_least: u32,
    // Of each side so many regions are looked at, every so manieth.
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
