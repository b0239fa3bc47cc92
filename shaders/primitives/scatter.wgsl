// The last step of a radix sort's pass: every workgroup moves the elements of its share to their
// places. `scatter_keys` moves keys only, `scatter_pairs` also a value with each.
//
// keys           the keys in their current order, laid out as in histogram.wgsl
// counts         from digits.wgsl: the start of the share's keys of each digit, in two or three
//                rows (`counts_start`)
// sorted_keys    the keys of each array by digit, stably
// values         of `scatter_pairs`: one word per key
// sorted_values  of `scatter_pairs`: the values, each at its key's place
//
// One invocation serves ITEMS keys of a tile. A tile is first ordered in workgroup memory (`rank`),
// so that neighbouring invocations write neighbouring places.
// import: primitives/params.wgsl
// needs: AT_ONCE, GROUP_SIZE, ITEMS, ITEMS_MOST, KEY_WORDS, Key, Place, acc_word, block_scan
// needs: digit_of, lane_of, place_of, pool_get, pool_set, rank, starts, unit, with_word, word_of
//
// bounds: as in params.wgsl. Histogram and scatter count the same keys: no kernel between them
// writes `keys`, and no other dispatch runs between those of a plan. So the places are a
// permutation of those below n. Rows are as in digits.wgsl. A tile takes at most 3 turns; shares
// have few enough tiles (`Tuning::workgroups_for`) for drivers that cut loops.

@group(0) @binding(3) var<storage, read> keys: array<Key>;
@group(0) @binding(4) var<storage, read> counts: array<u32>;
@group(0) @binding(5) var<storage, read_write> sorted_keys: array<Key>;
@group(0) @binding(6) var<storage, read> values: array<u32>;
@group(0) @binding(7) var<storage, read_write> sorted_values: array<u32>;

// The place of the next element of each digit.
var<workgroup> bases: array<u32, DIGITS>;

// Sets `bases` for the workgroup's first tile.
fn find_bases(at: Place, group: u32) {
    let start = counts_start(group / params.groups);
    let part = group % params.groups;
    let row = start + DIGITS * part;
    let sums = start + DIGITS * params.groups;
    let chunk = part / params.chunk;
    let begin = array_start(group);
    if chunks() > FEW_CHUNKS {
        let ends = sums + DIGITS * chunks();
        for (var digit = lane_of(at); digit < DIGITS; digit += GROUP_SIZE) {
            bases[digit] = begin + counts[row + digit] + counts[sums + DIGITS * chunk + digit] + counts[ends + digit];
        }
    } else {
        let first = lane_of(at) * (DIGITS / GROUP_SIZE);
        let last = first + DIGITS / GROUP_SIZE;
        var all = 0u;
        for (var digit = first; digit < last; digit++) {
            var before = all + counts[row + digit];
            for (var i = 0u; i < FEW_CHUNKS; i++) {
                let sum = counts[sums + DIGITS * min(i, chunks() - 1u) + digit];
                before += select(0u, sum, i < chunk);
                all += select(0u, sum, i < chunks());
            }
            bases[digit] = before;
        }
        let smaller = begin + acc_word(block_scan(at, unit(all)).before, 0u);
        for (var digit = first; digit < last; digit++) {
            bases[digit] += smaller;
        }
    }
    workgroupBarrier();
}

// Loads the invocation's `keys` of the tile that begins at `first` and has `left` keys, and finds
// their places in the ordered tile. Then `bases` is, for each digit, where the tile's first place
// would go.
fn order_tile(
    at: Place, first: u32, left: u32, mine: ptr<function, array<Key, ITEMS_MOST>>, ranks: ptr<function, array<u32, ITEMS_MOST>>
) {
    // In a separate loop, so that the loads overlap.
    for (var i = 0u; i < ITEMS; i++) {
        let place = place_of(at, i);
        if place < left { (*mine)[i] = keys[first + place]; }
    }
    for (var i = 0u; i < ITEMS; i++) {
        // Places beyond the end have the last digit and rank after all real keys.
        (*ranks)[i] = select(DIGITS - 1u, digit_of((*mine)[i]), place_of(at, i) < left);
    }
    // ranks[i] is the digit now, and the key's place in the ordered tile afterwards.
    rank(at, ranks);
    for (var digit = lane_of(at); digit < DIGITS; digit += GROUP_SIZE) {
        bases[digit] -= starts[digit];
    }
}

// Orders a tile's words by the ranks of the items: the invocation then has those at i * GROUP_SIZE
// + lane. The places of the first AT_ONCE items go first, then the rest, so that the pool can be
// smaller than the tile. Ends with a barrier.
fn exchange(lane: u32, ranks: ptr<function, array<u32, ITEMS_MOST>>, words: ptr<function, array<u32, ITEMS_MOST>>) {
    let first = AT_ONCE * GROUP_SIZE;
    var ordered: array<u32, ITEMS_MOST>;
    for (var i = 0u; i < ITEMS; i++) {
        if AT_ONCE >= ITEMS || (*ranks)[i] < first { pool_set((*ranks)[i], (*words)[i]); }
    }
    workgroupBarrier();
    for (var i = 0u; i < AT_ONCE; i++) {
        ordered[i] = pool_get(i * GROUP_SIZE + lane);
    }
    workgroupBarrier();
    if AT_ONCE < ITEMS {
        for (var i = 0u; i < ITEMS; i++) {
            if (*ranks)[i] >= first { pool_set((*ranks)[i] - first, (*words)[i]); }
        }
        workgroupBarrier();
        for (var i = AT_ONCE; i < ITEMS; i++) {
            ordered[i] = pool_get((i - AT_ONCE) * GROUP_SIZE + lane);
        }
        workgroupBarrier();
    }
    *words = ordered;
}

// Moves the keys, and replaces them by those at i * GROUP_SIZE + lane. Sets `to` to their places.
fn move_keys(
    at: Place, left: u32, mine: ptr<function, array<Key, ITEMS_MOST>>, ranks: ptr<function, array<u32, ITEMS_MOST>>,
    to: ptr<function, array<u32, ITEMS_MOST>>
) {
    let lane = lane_of(at);
    for (var word = 0u; word < KEY_WORDS; word++) {
        var words: array<u32, ITEMS_MOST>;
        for (var i = 0u; i < ITEMS; i++) {
            words[i] = word_of((*mine)[i], word);
        }
        exchange(lane, ranks, &words);
        for (var i = 0u; i < ITEMS; i++) {
            (*mine)[i] = with_word((*mine)[i], word, words[i]);
        }
    }
    for (var i = 0u; i < ITEMS; i++) {
        let place = i * GROUP_SIZE + lane;
        if place < left {
            (*to)[i] = bases[digit_of((*mine)[i])] + place;
            sorted_keys[(*to)[i]] = (*mine)[i];
        }
    }
}

// Sets `bases` for the workgroup's next tile.
fn next_tile(at: Place) {
    workgroupBarrier();
    for (var digit = lane_of(at); digit < DIGITS; digit += GROUP_SIZE) {
        bases[digit] += starts[digit + 1u];
    }
    workgroupBarrier();
}

@compute @workgroup_size(GROUP_SIZE)
fn scatter_keys(@builtin(workgroup_id) group: vec3<u32>, at: Place) {
    let n = length();
    let tile_size = GROUP_SIZE * ITEMS;
    let start = array_start(group.x);
    let tiles = part_tiles(n, tile_size, group.x);
    find_bases(at, group.x);
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * tile_size;
        let left = min(n - first, tile_size);
        var mine: array<Key, ITEMS_MOST>;
        var ranks: array<u32, ITEMS_MOST>;
        order_tile(at, start + first, left, &mine, &ranks);
        var to: array<u32, ITEMS_MOST>;
        move_keys(at, left, &mine, &ranks, &to);
        next_tile(at);
    }
}

// Whether pairs are moved in two iterations of a loop, first the keys, then the values. As one
// piece NVIDIA's compiler uses 120 registers, and only two workgroups fit a multiprocessor.
override IN_TURNS: bool = true;

@compute @workgroup_size(GROUP_SIZE)
fn scatter_pairs(@builtin(workgroup_id) group: vec3<u32>, at: Place) {
    let n = length();
    let tile_size = GROUP_SIZE * ITEMS;
    let start = array_start(group.x);
    let tiles = part_tiles(n, tile_size, group.x);
    // Two: a maximum is below 2^31. Compilers cannot know this and keep the loop.
    let turns = select(1u, 2u + (params.maximum >> 31u), IN_TURNS);
    find_bases(at, group.x);
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * tile_size;
        let left = min(n - first, tile_size);
        var mine: array<Key, ITEMS_MOST>;
        var ranks: array<u32, ITEMS_MOST>;
        order_tile(at, start + first, left, &mine, &ranks);
        var to: array<u32, ITEMS_MOST>;
        for (var turn = 0u; turn < turns; turn++) {
            if turn == 0u {
                move_keys(at, left, &mine, &ranks, &to);
            }
            if turn == turns - 1u {
                var moving: array<u32, ITEMS_MOST>;
                for (var i = 0u; i < ITEMS; i++) {
                    let place = place_of(at, i);
                    if place < left { moving[i] = values[start + first + place]; }
                }
                exchange(lane_of(at), &ranks, &moving);
                for (var i = 0u; i < ITEMS; i++) {
                    if i * GROUP_SIZE + lane_of(at) < left { sorted_values[to[i]] = moving[i]; }
                }
            }
        }
        next_tile(at);
    }
}
