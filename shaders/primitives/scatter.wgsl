// The last step of a radix sort's pass: every workgroup moves its share of the elements to their places.
//
// keys        the keys in their present order, laid out as histogram.wgsl says
// counts      where the workgroup's share of a digit begins within the digit, and the digits' totals (digits.wgsl)
// sorted_keys the keys of each array by digit, those of one digit in their present order
//
// One thread serves ITEMS keys of a tile. A tile is put in order in workgroup memory first (`rank`), so that neighbouring
// threads write to neighbouring places.
// import: primitives/count.wgsl

const DIGITS = 256u;

@group(0) @binding(3) var<storage, read> keys: array<Key>;
@group(0) @binding(4) var<storage, read> counts: array<u32>;
@group(0) @binding(5) var<storage, read_write> sorted_keys: array<Key>;

// Where the next element of each digit goes.
var<workgroup> bases: array<u32, DIGITS>;

@compute @workgroup_size(GROUP_SIZE)
fn scatter(
    @builtin(workgroup_id) group: vec3<u32>, at: Place
) {
    let n = length();
    let lane = lane_of(at);
    let tile_size = GROUP_SIZE * ITEMS;
    let array_index = group.x / task.options;
    let part = group.x % task.options;
    let start = array_index * task.array_length;
    let row = array_index * DIGITS * (task.options + 1u);
    let totals = row + DIGITS * task.options;
    let tiles = share(n, tile_size, part, task.options);
    let each = DIGITS / GROUP_SIZE;
    var sum = 0u;
    for (var i = 0u; i < each; i++) {
        sum += counts[totals + lane * each + i];
    }
    var base = start + first_of(block_scan(at, unit(sum)).before);
    for (var i = 0u; i < each; i++) {
        let digit = lane * each + i;
        bases[digit] = base + counts[row + digit * task.options + part];
        base += counts[totals + digit];
    }
    workgroupBarrier();
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * tile_size;
        let left = min(n - first, tile_size);
        var mine: array<Key, ITEMS>;
        // What lies beyond the end ranks after all that lies before: it comes last and has the last digit.
        var ranks: array<u32, ITEMS>;
        for (var i = 0u; i < ITEMS; i++) {
            let place = place_of(at, i);
            ranks[i] = DIGITS - 1u;
            if place < left {
                mine[i] = keys[start + first + place];
                ranks[i] = digit_of(mine[i]);
            }
        }
        // Now ranks[i] is the digit; afterwards the key's place in the ordered tile.
        rank(at, &ranks);
        for (var digit = lane; digit < DIGITS; digit += GROUP_SIZE) {
            bases[digit] -= starts[digit];
        }
        var moving = take_values(at, start + first, left);
        var to: array<u32, ITEMS>;
        var ordered: array<Key, ITEMS>;
        for (var word = 0u; word < KEY_WORDS; word++) {
            for (var i = 0u; i < ITEMS; i++) {
                pool_set(ranks[i], word_of(mine[i], word));
            }
            workgroupBarrier();
            for (var i = 0u; i < ITEMS; i++) {
                ordered[i] = with_word(ordered[i], word, pool_get(i * GROUP_SIZE + lane));
            }
            workgroupBarrier();
        }
        for (var i = 0u; i < ITEMS; i++) {
            let place = i * GROUP_SIZE + lane;
            if place < left {
                to[i] = bases[digit_of(ordered[i])] + place;
                sorted_keys[to[i]] = ordered[i];
            }
        }
        move_values(at, left, &moving, &ranks, &to);
        workgroupBarrier();
        for (var digit = lane; digit < DIGITS; digit += GROUP_SIZE) {
            bases[digit] += starts[digit + 1u];
        }
        workgroupBarrier();
    }
}
