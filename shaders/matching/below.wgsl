// Counts the boxes of a sorted side that lie below a key in the column of the order.
//
// Functions: subscriptions_below, updates_below.
//
// provides: Sought, goes_before
// needs: params
//
// bounds: as in matching/common.wgsl. Searches end at the number of boxes of the side.

// import: gpu/search.wgsl
// import: matching/boxes.wgsl

struct Sought {
    of_updates: bool,
    // The first word of the column.
    first: u32,
    key: u32,
}

fn goes_before(i: u32, sought: Sought) -> bool {
    if sought.of_updates {
        return updates[sought.first + i] < sought.key;
    }
    return subscriptions[sought.first + i] < sought.key;
}

fn subscriptions_below(key: u32, column: u32) -> u32 {
    return search(0u, params.subscriptions, Sought(false, column * params.subscriptions, key));
}

fn updates_below(key: u32, column: u32) -> u32 {
    return search(0u, params.updates, Sought(true, column * params.updates, key));
}
