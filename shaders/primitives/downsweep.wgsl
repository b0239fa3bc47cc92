// The last step of a scan: every workgroup scans its share, starting with the sum before it.
//
// input     elements, four to a vector
// partials  one 64-bit sum per workgroup: of all elements before its share
// output    the scanned elements, ACC_WORDS words each, low word first; from the count on unchanged
//
// One invocation serves 16 elements of a tile at a time. Loads and stores are whole vectors, and
// neighbouring invocations access neighbouring ones.
// import: primitives/params.wgsl
// needs: ACC_WORDS, Acc, GROUP_SIZE, IDENTITY, Place, acc_from_wide, acc_word, block_scan, combine
// needs: lane_of, unit
//
// bounds: as in params.wgsl. `partials` has one result for each of `workgroups_for(max)`, which
// does not fall as the length grows, and no kernel with it has more workgroups. Loops count to the
// tiles of a share.

@group(0) @binding(3) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> partials: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4<u32>>;

override ROWS: u32 = VECTORS * GROUP_SIZE;
var<workgroup> rows: array<Acc, ROWS>;

// Stores the four elements of a vector that are below n. Two-word elements are stored in pairs,
// which is faster than to separate whole and partial vectors.
fn store(vector: u32, n: u32, x: Acc, y: Acc, z: Acc, w: Acc) {
    let left = n - vector * 4u;
    if ACC_WORDS == 2u {
        store_pair(vector * 2u, left, x, y);
        if left > 2u {
            store_pair(vector * 2u + 1u, left - 2u, z, w);
        }
        return;
    }
    let words = vec4(acc_word(x, 0u), acc_word(y, 0u), acc_word(z, 0u), acc_word(w, 0u));
    if left >= 4u {
        output[vector] = words;
        return;
    }
    output[vector].x = words.x;
    if left > 1u {
        output[vector].y = words.y;
    }
    if left > 2u {
        output[vector].z = words.z;
    }
}

// Stores the first `left` of two two-word elements, at least 1.
fn store_pair(at: u32, left: u32, x: Acc, y: Acc) {
    if left >= 2u {
        output[at] = vec4(acc_word(x, 0u), acc_word(x, 1u), acc_word(y, 0u), acc_word(y, 1u));
        return;
    }
    output[at].x = acc_word(x, 0u);
    output[at].y = acc_word(x, 1u);
}

@compute @workgroup_size(GROUP_SIZE)
fn downsweep(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, at: Place
) {
    let n = length();
    let lane = lane_of(at);
    let tiles = share(n, GROUP_SIZE * VECTORS * 4u, group.x, groups.x);
    var carry = acc_from_wide(partials[group.x]);
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * (GROUP_SIZE * VECTORS) + lane;
        var words: array<vec4<u32>, VECTORS>;
        for (var i = 0u; i < VECTORS; i++) {
            let vector = first + i * GROUP_SIZE;
            if vector * 4u < n {
                words[i] = input[vector];
            }
        }
        // Words at and after n only add to sums that are never read.
        for (var i = 0u; i < VECTORS; i++) {
            let pair = combine(unit(words[i].x), unit(words[i].y));
            rows[i * GROUP_SIZE + lane] = combine(pair, combine(unit(words[i].z), unit(words[i].w)));
        }
        workgroupBarrier();
        var mine: array<Acc, VECTORS>;
        var sum = IDENTITY;
        for (var i = 0u; i < VECTORS; i++) {
            mine[i] = sum;
            sum = combine(sum, rows[lane * VECTORS + i]);
        }
        let scanned = block_scan(at, sum);
        let before = combine(carry, scanned.before);
        for (var i = 0u; i < VECTORS; i++) {
            rows[lane * VECTORS + i] = combine(before, mine[i]);
        }
        carry = combine(carry, scanned.all);
        workgroupBarrier();
        for (var i = 0u; i < VECTORS; i++) {
            let vector = first + i * GROUP_SIZE;
            let x = rows[i * GROUP_SIZE + lane];
            let y = combine(x, unit(words[i].x));
            let z = combine(y, unit(words[i].y));
            let w = combine(z, unit(words[i].z));
            if vector * 4u < n {
                if params.inclusive == 0u {
                    store(vector, n, x, y, z, w);
                } else {
                    store(vector, n, y, z, w, combine(w, unit(words[i].w)));
                }
            }
        }
    }
}
