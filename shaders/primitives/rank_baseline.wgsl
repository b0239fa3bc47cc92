// Puts a tile's digits in order, stably: four splits by two bits each, through workgroup memory.
//
// Twin of rank_subgroup.wgsl. Each split counts the four values of two bits at once, 16 bits a count (acc_packed.wgsl).
// import: primitives/acc_packed.wgsl

// Before: the digits; afterwards: one word per key, to exchange keys and values.
var<workgroup> pool: array<u32, GROUP_SIZE * ITEMS>;
// The place in the ordered tile at which each digit begins, and the end.
var<workgroup> starts: array<u32, DIGITS + 1u>;

fn pool_get(place: u32) -> u32 {
    return pool[place];
}

fn pool_set(place: u32, word: u32) {
    pool[place] = word;
}

// The place in the tile of a thread's item: neighbours load neighbours.
fn place_of(at: Place, item: u32) -> u32 {
    return item * GROUP_SIZE + at.index;
}

// The count of 1 for the two bits `pair`.
fn one_of(pair: u32) -> Acc {
    let one = 1u << (16u * (pair & 1u));
    return select(vec2(one, 0u), vec2(0u, one), pair > 1u);
}

fn count_of(counts: Acc, pair: u32) -> u32 {
    return (select(counts.x, counts.y, pair > 1u) >> (16u * (pair & 1u))) & 0xffffu;
}

// Before: the digits of the thread's items. After: their places in the ordered tile; `starts` is set.
fn rank(at: Place, items: ptr<function, array<u32, ITEMS>>) {
    for (var i = 0u; i < ITEMS; i++) {
        let place = place_of(at, i);
        pool[place] = ((*items)[i] << 16u) | place;
    }
    workgroupBarrier();
    var mine: array<u32, ITEMS>;
    for (var shift = 16u; shift < 24u; shift += 2u) {
        var sum = IDENTITY;
        for (var i = 0u; i < ITEMS; i++) {
            mine[i] = pool[at.index * ITEMS + i];
            sum += one_of((mine[i] >> shift) & 3u);
        }
        let scanned = block_scan(at, sum);
        // Of each value, the smaller values of all threads come first.
        let low = scanned.all.x << 16u;
        let half = (scanned.all.x & 0xffffu) + (scanned.all.x >> 16u);
        let high = half | ((half + (scanned.all.y & 0xffffu)) << 16u);
        var next = scanned.before + vec2(low, high);
        for (var i = 0u; i < ITEMS; i++) {
            let pair = (mine[i] >> shift) & 3u;
            pool[count_of(next, pair)] = mine[i];
            next += one_of(pair);
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < ITEMS; i++) {
        let place = i * GROUP_SIZE + at.index;
        mine[i] = pool[place];
        var next = 0u;
        if place > 0u {
            next = (pool[place - 1u] >> 16u) + 1u;
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
        pool[mine[i] & 0xffffu] = i * GROUP_SIZE + at.index;
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
        (*items)[i] = pool[place_of(at, i)];
    }
    workgroupBarrier();
}
