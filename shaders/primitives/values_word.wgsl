// A radix sort's values: one word per key, moved with it.

@group(0) @binding(6) var<storage, read> values: array<u32>;
@group(0) @binding(7) var<storage, read_write> sorted_values: array<u32>;

fn move_values(
    at: Place, first: u32, left: u32, ranks: ptr<function, array<u32, ITEMS>>, to: ptr<function, array<u32, ITEMS>>
) {
    for (var i = 0u; i < ITEMS; i++) {
        let place = place_of(at, i);
        if place < left {
            pool_set((*ranks)[i], values[first + place]);
        }
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
        let place = i * GROUP_SIZE + lane_of(at);
        if place < left {
            sorted_values[(*to)[i]] = pool_get(place);
        }
    }
}
