// A radix sort's values: one word per key, moved with it.

@group(0) @binding(6) var<storage, read> values: array<u32>;
@group(0) @binding(7) var<storage, read_write> sorted_values: array<u32>;

// Loads the values of the thread's keys, early enough to wait for little.
fn take_values(at: Place, first: u32, left: u32) -> array<u32, ITEMS> {
    var moving: array<u32, ITEMS>;
    for (var i = 0u; i < ITEMS; i++) {
        let place = place_of(at, i);
        if place < left {
            moving[i] = values[first + place];
        }
    }
    return moving;
}

fn move_values(
    at: Place, left: u32, moving: ptr<function, array<u32, ITEMS>>, ranks: ptr<function, array<u32, ITEMS>>,
    to: ptr<function, array<u32, ITEMS>>
) {
    for (var i = 0u; i < ITEMS; i++) {
        pool_set((*ranks)[i], (*moving)[i]);
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
        let place = i * GROUP_SIZE + lane_of(at);
        if place < left {
            sorted_values[(*to)[i]] = pool_get(place);
        }
    }
}
