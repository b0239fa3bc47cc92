// A reduction in two dispatches. In `upsweep`, which is also the first step of scan and compact,
// every workgroup combines its share of the elements. In `finish`, one workgroup combines the
// results.
//
// input     elements, four to a vector; those from the count on are ignored
// partials  one Acc per workgroup of the upsweep, params.groups of them: its combined share
// output    of `finish`: the result, ACC_WORDS words from output[ACC_WORDS * params.destination] on
//
// One invocation of `upsweep` serves 16 elements of a tile at a time; a workgroup serves a
// contiguous run of tiles (`share`).
// import: primitives/params.wgsl
// import: primitives/keys.wgsl
// needs: ACC_WORDS, Acc, GROUP_SIZE, IDENTITY, Place, acc_word, block_scan, combine, lane_of, unit
//
// bounds: as in params.wgsl. `partials` is as in downsweep.wgsl. A single result goes to
// `params.destination`, which `bind` compared with the length of the buffer. Loops count to the
// tiles of a share and to params.groups.

// Interpretation of elements: words, i32 or f32 (compared through their keys), or flags, each
// counting one unless it is zero.
const WORDS = 0u;
const SIGNED = 1u;
const FLOATS = 2u;
const FLAGS = 3u;
override ELEMENTS: u32 = WORDS;

@group(0) @binding(3) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> partials: array<Acc>;
@group(0) @binding(5) var<storage, read_write> output: array<u32>;

// An element's bits as a word to combine.
fn word_of(word: u32) -> u32 {
    switch ELEMENTS {
        case SIGNED: { return key_from_i32(bitcast<i32>(word)); }
        case FLOATS: { return key_from_f32_bits(word); }
        case FLAGS: { return select(0u, 1u, word != 0u); }
        default: { return word; }
    }
}

// A combined word as an element's bits.
fn element_of(word: u32) -> u32 {
    switch ELEMENTS {
        case SIGNED: { return bitcast<u32>(i32_from_key(word)); }
        case FLOATS: { return f32_bits_from_key(word); }
        default: { return word; }
    }
}

fn unit_at(word: u32, index: u32, n: u32) -> Acc {
    if index < n {
        return unit(word_of(word));
    }
    return IDENTITY;
}

@compute @workgroup_size(GROUP_SIZE)
fn upsweep(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, at: Place
) {
    let n = length();
    let lane = lane_of(at);
    if group.x == 0u && lane == 0u {
        report_length();
    }
    let tile_size = GROUP_SIZE * VECTORS * 4u;
    let tiles = share(n, tile_size, group.x, groups.x);
    var sum = IDENTITY;
    for (var tile = tiles.x; tile < tiles.y; tile++) {
        let first = tile * (GROUP_SIZE * VECTORS) + lane;
        if (tile + 1u) * tile_size <= n {
            var words: array<vec4<u32>, VECTORS>;
            for (var i = 0u; i < VECTORS; i++) {
                words[i] = input[first + i * GROUP_SIZE];
            }
            for (var i = 0u; i < VECTORS; i++) {
                let pair = combine(unit(word_of(words[i].x)), unit(word_of(words[i].y)));
                sum = combine(sum, combine(pair, combine(unit(word_of(words[i].z)), unit(word_of(words[i].w)))));
            }
        } else {
            for (var i = 0u; i < VECTORS; i++) {
                let vector = first + i * GROUP_SIZE;
                if vector * 4u < n {
                    let words = input[vector];
                    sum = combine(sum, unit_at(words.x, vector * 4u, n));
                    sum = combine(sum, unit_at(words.y, vector * 4u + 1u, n));
                    sum = combine(sum, unit_at(words.z, vector * 4u + 2u, n));
                    sum = combine(sum, unit_at(words.w, vector * 4u + 3u, n));
                }
            }
        }
    }
    let total = block_scan(at, sum).all;
    if lane == 0u {
        partials[group.x] = total;
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn finish(at: Place) {
    let lane = lane_of(at);
    var sum = IDENTITY;
    for (var i = lane; i < params.groups; i += GROUP_SIZE) {
        sum = combine(sum, partials[i]);
    }
    let total = block_scan(at, sum).all;
    if lane < ACC_WORDS {
        output[ACC_WORDS * params.destination + lane] = element_of(acc_word(total, lane));
    }
}
