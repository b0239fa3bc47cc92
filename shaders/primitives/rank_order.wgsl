// The end of a ranking by splits: digit starts and places of keys from the ordered tile.
//
// import: primitives/params.wgsl
// provides: starts
// needs: GROUP_SIZE, ITEMS, ITEMS_MOST, Place, place_of, pool_get, pool_set
//
// bounds: `starts` has 257 words, indexed by digit; items are at ranks, a permutation of the places
// of the tile. Loops count to ITEMS.

// The first place of each digit in the ordered tile, and the end.
var<workgroup> starts: array<u32, DIGITS + 1u>;

// Before: the pool holds (digit << 16) | place for each key of the tile, ordered by digit; `place`
// is the original one. After: `items` holds the places of the invocation's items; `starts` is set.
// All invocations must call it, after a barrier; it ends with one.
fn take_order(lane: u32, at: Place, items: ptr<function, array<u32, ITEMS_MOST>>) {
    var mine: array<u32, ITEMS_MOST>;
    for (var i = 0u; i < ITEMS; i++) {
        let place = i * GROUP_SIZE + lane;
        mine[i] = pool_get(place);
        var next = 0u;
        if place > 0u {
            next = (pool_get(place - 1u) >> 16u) + 1u;
        }
        // At most 256 digits begin here.
        for (var digit = next; digit <= mine[i] >> 16u; digit++) {
            starts[digit] = place;
        }
        if place == GROUP_SIZE * ITEMS - 1u {
            for (var digit = (mine[i] >> 16u) + 1u; digit <= DIGITS; digit++) {
                starts[digit] = place + 1u;
            }
        }
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
        pool_set(mine[i] & 0xffffu, i * GROUP_SIZE + lane);
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
        (*items)[i] = pool_get(place_of(at, i));
    }
    workgroupBarrier();
}
