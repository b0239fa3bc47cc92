// Orders a tile's digits stably: four splits by two bits each, through workgroup memory. lane_of is
// the local index. Counterpart of rank_subgroup.wgsl.
// import: primitives/rank_order.wgsl
// provides: AT_ONCE, Acc, IDENTITY, ITEMS, ITEMS_MOST, acc_word, combine, place_of, pool_get
// provides: pool_set, rank, unit
// needs: GROUP_SIZE, Place, block_scan
//
// bounds: the pool has ITEMS times GROUP_SIZE words. Words are indexed by lane and item, or by
// rank, which permutes the places of the tile. Loops count to ITEMS and the splits of 8 bits.

// Keys of a tile that an invocation serves. A constant, because WGSL has no override-sized arrays
// in function memory. 8: the greatest power of two with which pool, counts and scan of 256
// invocations fit 16 KiB.
const ITEMS_MOST = 8u;
const ITEMS = ITEMS_MOST;
// The words of all keys are exchanged at once.
const AT_ONCE = ITEMS;

// A split counts the four values of two bits at once, in 16 bits each: a tile has fewer than 2^16
// keys.
alias Acc = vec2<u32>;
const IDENTITY = vec2<u32>(0u, 0u);

fn combine(a: Acc, b: Acc) -> Acc {
    return a + b;
}

// A single number below 2^32 as an Acc, and back, so that it can be scanned.
fn unit(word: u32) -> Acc {
    return vec2(word, 0u);
}

fn acc_word(counts: Acc, word: u32) -> u32 {
    return counts.x;
}

// First the digits; later one word per key, to exchange keys and values.
override POOL: u32 = GROUP_SIZE * ITEMS;
var<workgroup> pool: array<u32, POOL>;

fn pool_get(place: u32) -> u32 {
    return pool[place];
}

fn pool_set(place: u32, word: u32) {
    pool[place] = word;
}

// The place in the tile of an invocation's item: neighbours load neighbours.
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

// Replaces the digits of the invocation's items by their places in the ordered tile; sets `starts`.
fn rank(at: Place, items: ptr<function, array<u32, ITEMS_MOST>>) {
    for (var i = 0u; i < ITEMS; i++) {
        let place = place_of(at, i);
        pool[place] = ((*items)[i] << 16u) | place;
    }
    workgroupBarrier();
    var mine: array<u32, ITEMS_MOST>;
    for (var shift = 16u; shift < 24u; shift += 2u) {
        var sum = IDENTITY;
        for (var i = 0u; i < ITEMS; i++) {
            mine[i] = pool[at.index * ITEMS + i];
            sum += one_of((mine[i] >> shift) & 3u);
        }
        let scanned = block_scan(at, sum);
        // Each value starts after the smaller values of all invocations.
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
    take_order(at.index, at, items);
}
