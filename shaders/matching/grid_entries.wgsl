// Entries of a grid: one per region and cell that it meets. Both sides' entries are listed, then
// sorted elsewhere by side and cell, and then filled with their regions' keys.
//
// cells    homes and last cells of the regions, subscriptions first (grid_cells.wgsl)
// places   start of each region's entries (64 bits), and then their number; the first is 0
// keys, ids                list_entries: side and cell of each entry (update_bit), and its region
// sorted_keys, sorted_ids  gather_entries: the same in order
// subscriptions, updates   2 DIMS columns of keys, by region
// ordered_...              the same columns, a row per entry of the side; then columns of region
//                          ids, homes and cells. A row without an entry holds NO_CELL only
//
// There is room for params.subscription_entries and params.update_entries. If a side has more, all
// rows are without an entry. One invocation per row, so a region in many cells has many
// invocations.
//
// provides: Sought, goes_before, params
//
// bounds: as in matching/common.wgsl. `places` is the exclusive prefix sum of `lengths`; its search
// runs in 1 .. regions, and less 1 is a region. Rows and sorted entries are accessed below the room
// for entries: if `places` has more, `entries()` is 0. `sorted_ids` permutes regions, updates
// behind subscriptions. Rows without an entry have ranges of length 0. The divisor `width` is 1
// more than last minus first cell of a region, which find_cells writes in this order: at most 22
// bits.

// import: gpu/search.wgsl
// import: matching/boxes.wgsl
// import: matching/grid.wgsl

struct EntryParams {
    // Boxes of each side.
    subscriptions: u32,
    updates: u32,
    subscription_entries: u32,
    update_entries: u32,
}

@group(0) @binding(0) var<uniform> params: EntryParams;
@group(0) @binding(3) var<storage, read> cells: array<u32>;
@group(0) @binding(4) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> ids: array<u32>;
@group(0) @binding(7) var<storage, read> sorted_keys: array<u32>;
@group(0) @binding(8) var<storage, read> sorted_ids: array<u32>;
@group(0) @binding(9) var<storage, read_write> ordered_subscriptions: array<u32>;
@group(0) @binding(10) var<storage, read_write> ordered_updates: array<u32>;

// The number of an entry.
alias Sought = u32;

fn goes_before(region: u32, entry: Sought) -> bool {
    return places[region].x <= entry;
}

// The number of entries of each side; 0 if they do not fit.
fn entries() -> vec2<u32> {
    let of_subscriptions = places[params.subscriptions];
    let all = places[params.subscriptions + params.updates];
    // Without the high words this is wrong only if one is not 0, which `fits` excludes.
    let found = vec2(of_subscriptions.x, all.x - of_subscriptions.x);
    let fits = all.y == 0u && found.x <= params.subscription_entries && found.y <= params.update_entries;
    return select(vec2(0u), found, fits);
}

@compute @workgroup_size(GROUP_SIZE)
fn list_entries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let e = group_number(group, groups) * GROUP_SIZE + lane;
    if e >= params.subscription_entries + params.update_entries {
        return;
    }
    let found = entries();
    if e >= found.x + found.y {
        // Behind all others: the sort is stable.
        keys[e] = NO_CELL;
        ids[e] = 0u;
        return;
    }
    // The last region whose entries begin at or before this one.
    let region = search(1u, params.subscriptions + params.updates, e) - 1u;
    var left = e - places[region].x;
    var key = select(update_bit(), 0u, region < params.subscriptions);
    for (var d = 0u; d < DIMS; d++) {
        let from_cell = cell_in(cells[2u * region], d);
        let width = cell_in(cells[2u * region + 1u], d) - from_cell + 1u;
        key |= (from_cell + left % width) << (d * cell_bits());
        left /= width;
    }
    keys[e] = key;
    ids[e] = region;
}

fn gather_subscription(row: u32, found: u32) {
    let rows = params.subscription_entries;
    if row >= found {
        ordered_subscriptions[(2u * DIMS + 2u) * rows + row] = NO_CELL;
        return;
    }
    let id = sorted_ids[row];
    for (var c = 0u; c < 2u * DIMS; c++) {
        ordered_subscriptions[c * rows + row] = subscriptions[c * params.subscriptions + id];
    }
    ordered_subscriptions[2u * DIMS * rows + row] = id;
    ordered_subscriptions[(2u * DIMS + 1u) * rows + row] = cells[2u * id];
    ordered_subscriptions[(2u * DIMS + 2u) * rows + row] = sorted_keys[row];
}

fn gather_update(row: u32, found: vec2<u32>) {
    let rows = params.update_entries;
    if row >= found.y {
        ordered_updates[(2u * DIMS + 2u) * rows + row] = NO_CELL;
        return;
    }
    let region = sorted_ids[found.x + row];
    let id = region - params.subscriptions;
    for (var c = 0u; c < 2u * DIMS; c++) {
        ordered_updates[c * rows + row] = updates[c * params.updates + id];
    }
    ordered_updates[2u * DIMS * rows + row] = id;
    ordered_updates[(2u * DIMS + 1u) * rows + row] = cells[2u * region];
    ordered_updates[(2u * DIMS + 2u) * rows + row] = sorted_keys[found.x + row] - update_bit();
}

@compute @workgroup_size(GROUP_SIZE)
fn gather_entries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let row = group_number(group, groups) * GROUP_SIZE + lane;
    let found = entries();
    if row < params.subscription_entries {
        gather_subscription(row, found.x);
    } else if row - params.subscription_entries < params.update_entries {
        gather_update(row - params.subscription_entries, found);
    }
}
