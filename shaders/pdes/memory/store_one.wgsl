// The memory that events are sent to, in one binding. pdes/memory/store_many.wgsl has the same
// functions for several.
//
// Functions: store_rows, store_split, store_put, store_get.
//
// import: pdes/engine.wgsl
// provides: store_get, store_put, store_rows, store_split
// needs: Item, run
//
// bounds: callers pass rows and places of their own bucket, for which the host made the store.

@group(0) @binding(8) var<storage, read_write> store: array<Item>;

// The rows of a binding.
fn store_rows() -> u32 {
    return run.rows;
}

// The binding of a row, and the row's number in that binding.
fn store_split(row: u32) -> vec2<u32> {
    return vec2<u32>(0u, row);
}

fn store_put(binding: u32, place: u32, event: Item) {
    store[place] = event;
}

fn store_get(binding: u32, place: u32) -> Item {
    return store[place];
}
