// The middle step of scan and compact: each partial result becomes the sum of those before it. One
// workgroup serves all.
//
// rows   one Acc per share of the elements, params.groups in all
// total  the sum of all: its TOTAL_WORDS low words, from total[TOTAL_WORDS * params.destination] on
//
// import: primitives/params.wgsl
// needs: ACC_WORDS, Acc, GROUP_SIZE, IDENTITY, Place, acc_word, block_scan, combine, lane_of
//
// bounds: as in params.wgsl. There are `params.groups` results, for which `partials` was allocated.
// The loop counts up to them by AT_ONCE times GROUP_SIZE.

// At most ACC_WORDS.
override TOTAL_WORDS: u32 = ACC_WORDS;

@group(0) @binding(3) var<storage, read_write> rows: array<Acc>;
@group(0) @binding(4) var<storage, read_write> total: array<u32>;

// Results that an invocation takes at a time: 256 invocations take 2,048, the usual maximum of
// workgroups (`Tuning::sweep`), in one step.
const AT_ONCE = 8u;

@compute @workgroup_size(GROUP_SIZE)
fn spine(at: Place) {
    let lane = lane_of(at);
    var carry = IDENTITY;
    for (var step = 0u; step < params.groups; step += GROUP_SIZE * AT_ONCE) {
        let first = step + lane * AT_ONCE;
        // All loads first, so that they overlap.
        var mine: array<Acc, AT_ONCE>;
        for (var i = 0u; i < AT_ONCE; i++) {
            mine[i] = IDENTITY;
            if first + i < params.groups { mine[i] = rows[first + i]; }
        }
        var sum = IDENTITY;
        for (var i = 0u; i < AT_ONCE; i++) {
            sum = combine(sum, mine[i]);
        }
        let scanned = block_scan(at, sum);
        var before = combine(carry, scanned.before);
        for (var i = 0u; i < AT_ONCE; i++) {
            if first + i < params.groups { rows[first + i] = before; }
            before = combine(before, mine[i]);
        }
        carry = combine(carry, scanned.all);
    }
    if lane < TOTAL_WORDS {
        total[TOTAL_WORDS * params.destination + lane] = acc_word(carry, lane);
    }
}
