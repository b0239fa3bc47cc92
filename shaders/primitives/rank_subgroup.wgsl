// Orders a tile's digits stably: each subgroup counts its digits by ballots, then the subgroups'
// counts are summed. Counterpart of rank_baseline.wgsl; the "warp-level multi-split" of Ashkiani et
// al., "GPU Multisplit", PPoPP 2016.
//
// Stability depends on the order in which a subgroup counts its items, and WGSL has no subgroup
// barrier. Instead, no invocation leaves the common path, and each addition to the counters depends
// on the results of the subgroup's earlier additions, so it cannot begin before them.
//
// Any number of subgroups is ranked correctly. Up to ROOM subgroups have counters; if a driver
// compiles the kernel with more and smaller ones, the tile is split by one bit at a time. Acc is
// one word that sums, and the scan is the one by whole subgroups.
// requires: subgroups
// import: primitives/rank_order.wgsl
// provides: AT_ONCE, ITEMS, ITEMS_MOST, place_of, pool_get, pool_set, rank
// needs: GROUP_SIZE, MAX_SUBGROUP, Place, block_scan, lane_of
//
// bounds: counters are indexed by subgroup and digit below 256. Words are exchanged by rank, a
// permutation of the places of the tile, below or from AT_ONCE * GROUP_SIZE on: the pool has that
// many words, and the tile at most twice as many. If the adapter has several sizes of subgroups,
// the kernel reads their number (`VARYING`). Loops count to ITEMS, AT_ONCE and digits.

// Keys of a tile that an invocation serves: 13 for two-word keys, which take twice the registers,
// else 18. Arrays have the greater length, since WGSL has no override-sized ones in function
// memory; unused elements take no registers. Half of 18 keys fits the 9 KiB of counters.
const ITEMS_MOST = 18u;
override ITEMS: u32 = 18u;
// The words of all keys, or of half of them, are exchanged at once (`exchange`).
override AT_ONCE: u32 = 9u;

// The number of subgroups with counters.
override ROOM: u32 = 8u;
// Whether the device has several sizes of subgroups, so that there may be more than ROOM.
override VARYING: bool = false;
// Words of the pool: max(ROOM * 256 + GROUP_SIZE, GROUP_SIZE * AT_ONCE); AT_ONCE is ITEMS if splits
// may rank. The host computes it: some compilers reject `max` in the size of an array.
override POOL: u32 = 2304u;

// First a count per subgroup and digit, then a word per invocation that is never read; later the
// words of keys and values being exchanged.
var<workgroup> pool: array<atomic<u32>, POOL>;
// Whether there are more subgroups than ROOM.
var<workgroup> crowded: u32;

fn pool_get(place: u32) -> u32 {
    return atomicLoad(&pool[place]);
}

fn pool_set(place: u32, word: u32) {
    atomicStore(&pool[place], word);
}

// The place in the tile of an invocation's item: each subgroup has a contiguous run, and neighbours
// load neighbours.
fn place_of(at: Place, item: u32) -> u32 {
    return (at.subgroup * ITEMS + item) * at.size + at.index;
}

// One item's peers: the invocations of the subgroup with the same digit.
struct Peers {
    before: u32,
    all: u32,
    first: u32,
}

fn peers_of(at: Place, digit: u32) -> Peers {
    let live = subgroupBallot(true);
    if MAX_SUBGROUP <= 32u {
        var mask = live.x;
        for (var bit = 0u; bit < 8u; bit++) {
            let one = (digit >> bit) & 1u;
            mask &= subgroupBallot(one != 0u).x ^ (one - 1u);
        }
        let lower = mask & ((1u << at.index) - 1u);
        return Peers(countOneBits(lower), countOneBits(mask), firstTrailingBit(mask));
    }
    var mask = live;
    for (var bit = 0u; bit < 8u; bit++) {
        let one = (digit >> bit) & 1u;
        mask &= subgroupBallot(one != 0u) ^ vec4(one - 1u);
    }
    // The ballot bits of lower invocations: whole words before the invocation's, lower bits of its
    // own.
    let part = (1u << (at.index & 31u)) - 1u;
    let word = vec4(at.index >> 5u);
    let numbers = vec4(0u, 1u, 2u, 3u);
    let low = select(select(vec4(0u), vec4(part), numbers == word), vec4(0xffffffffu), numbers < word);
    let before = countOneBits(mask & low);
    let all = countOneBits(mask);
    let places = firstTrailingBit(mask) + 32u * numbers;
    let first = select(select(select(places.w, places.z, mask.z != 0u), places.y, mask.y != 0u), places.x, mask.x != 0u);
    return Peers(
        before.x + before.y + before.z + before.w, all.x + all.y + all.z + all.w, first
    );
}

// Zero, but opaque to compilers: it depends on the earlier additions.
var<private> rank_nothing: u32;

// Counts an item's digit for its subgroup, in the counters from `own` on; peers that do not count
// add to `unread`. Returns the digit and, in its low 16 bits, the item's number among those of its
// digit in the subgroup.
fn count_item(at: Place, own: u32, unread: u32, digit: u32) -> u32 {
    let peers = peers_of(at, digit);
    // The first of the peers counts for all; the others add to words of their own.
    let counter = select(unread, own + digit, peers.before == 0u);
    let seen = subgroupShuffle(atomicAdd(&pool[counter], peers.all + rank_nothing), peers.first);
    // A tile has fewer than 2^16 keys.
    rank_nothing = seen >> 16u;
    return (digit << 16u) | (seen + peers.before);
}

// Replaces the digits of the invocation's items by their places in the ordered tile; sets `starts`.
fn rank(at: Place, items: ptr<function, array<u32, ITEMS_MOST>>) {
    let lane = lane_of(at);
    if VARYING {
        if lane == 0u {
            crowded = u32(at.subgroups > ROOM);
        }
        if workgroupUniformLoad(&crowded) != 0u {
            rank_by_bits(at, items);
            return;
        }
    }
    for (var i = lane; i < at.subgroups * DIGITS; i += GROUP_SIZE) {
        atomicStore(&pool[i], 0u);
    }
    workgroupBarrier();
    let own = at.subgroup * DIGITS;
    let unread = at.subgroups * DIGITS + lane;
    rank_nothing = 0u;
    // Unrolled by hand: NVIDIA's compiler does not unroll a loop that contains another, and then
    // the items are not in registers.
    (*items)[0] = count_item(at, own, unread, (*items)[0]);
    (*items)[1] = count_item(at, own, unread, (*items)[1]);
    (*items)[2] = count_item(at, own, unread, (*items)[2]);
    (*items)[3] = count_item(at, own, unread, (*items)[3]);
    (*items)[4] = count_item(at, own, unread, (*items)[4]);
    (*items)[5] = count_item(at, own, unread, (*items)[5]);
    (*items)[6] = count_item(at, own, unread, (*items)[6]);
    (*items)[7] = count_item(at, own, unread, (*items)[7]);
    (*items)[8] = count_item(at, own, unread, (*items)[8]);
    (*items)[9] = count_item(at, own, unread, (*items)[9]);
    (*items)[10] = count_item(at, own, unread, (*items)[10]);
    (*items)[11] = count_item(at, own, unread, (*items)[11]);
    (*items)[12] = count_item(at, own, unread, (*items)[12]);
    if ITEMS > 13u {
        (*items)[13] = count_item(at, own, unread, (*items)[13]);
        (*items)[14] = count_item(at, own, unread, (*items)[14]);
        (*items)[15] = count_item(at, own, unread, (*items)[15]);
        (*items)[16] = count_item(at, own, unread, (*items)[16]);
        (*items)[17] = count_item(at, own, unread, (*items)[17]);
    }
    workgroupBarrier();
    let each = DIGITS / GROUP_SIZE;
    var sum = 0u;
    for (var i = 0u; i < each; i++) {
        let digit = lane * each + i;
        starts[digit] = sum;
        for (var j = digit; j < at.subgroups * DIGITS; j += DIGITS) {
            let number = atomicLoad(&pool[j]);
            atomicStore(&pool[j], sum);
            sum += number;
        }
    }
    let before = block_scan(at, sum).before;
    for (var i = 0u; i < each; i++) {
        let digit = lane * each + i;
        starts[digit] += before;
        for (var j = digit; j < at.subgroups * DIGITS; j += DIGITS) {
            atomicStore(&pool[j], atomicLoad(&pool[j]) + before);
        }
    }
    if lane == 0u {
        starts[DIGITS] = GROUP_SIZE * ITEMS;
    }
    workgroupBarrier();
    for (var i = 0u; i < ITEMS; i++) {
        let item = (*items)[i];
        (*items)[i] = atomicLoad(&pool[own + (item >> 16u)]) + (item & 0xffffu);
    }
    workgroupBarrier();
}

// Ranks with any number of subgroups: a stable split of the tile by each bit of the digit.
fn rank_by_bits(at: Place, items: ptr<function, array<u32, ITEMS_MOST>>) {
    let lane = lane_of(at);
    for (var i = 0u; i < ITEMS; i++) {
        let place = place_of(at, i);
        pool_set(place, ((*items)[i] << 16u) | place);
    }
    workgroupBarrier();
    var mine: array<u32, ITEMS_MOST>;
    for (var shift = 16u; shift < 24u; shift++) {
        var ones = 0u;
        for (var i = 0u; i < ITEMS; i++) {
            mine[i] = pool_get(lane * ITEMS + i);
            ones += (mine[i] >> shift) & 1u;
        }
        let scanned = block_scan(at, ones);
        var zero = lane * ITEMS - scanned.before;
        var one = GROUP_SIZE * ITEMS - scanned.all + scanned.before;
        for (var i = 0u; i < ITEMS; i++) {
            let bit = (mine[i] >> shift) & 1u;
            pool_set(select(zero, one, bit == 1u), mine[i]);
            zero += 1u - bit;
            one += bit;
        }
        workgroupBarrier();
    }
    take_order(lane, at, items);
}
