// Sort-based matching with sets of active regions (Marzolla and D'Angelo, Algorithms 6 and 7) on a
// device: counts the overlapping pairs. The reference implementation is sbm.rs.
//
// The sorted ends of the regions are cut into segments of one length. Subscriptions are numbered
// first, then updates, which begin with a word of their own. A set has a bit for each region; each
// segment has two sets.
//   delta    an invocation for each segment: the regions that it adds to the active ones, and those
//            that it removes (Algorithm 7, lines 1 to 17)
//   combine  an invocation for each word of the sets: the regions that are active before each
//            segment, by the prefix combination (the rest of Algorithm 7), in place of `added`
//   scan     an invocation for each segment: Algorithm 6 from these
//
//   ends     in order: twice the number of a region, plus 1 for its lower end
//   nets     for each segment: how many active subscriptions and updates it adds, less those it
//            removes
//   found    for each segment: pairs (2 words), 1 if the driver cut a loop
//
// import: gpu/loops.wgsl
//
// bounds: ends are of regions below the sets' bits, and segments below `params.segments`.

struct Params {
    ends: u32,
    segments: u32,
    length: u32,        // ends of a segment
    words: u32,         // of a set
    first_update: u32,  // the number of the first update
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read_write> added: array<u32>;
@group(0) @binding(3) var<storage, read_write> removed: array<u32>;
@group(0) @binding(4) var<storage, read_write> nets: array<vec2<i32>>;
@group(0) @binding(5) var<storage, read_write> found: array<vec4<u32>>;

const GROUP_SIZE = 64u;

// A region's word in the sets of a segment.
fn word_of(segment: u32, region: u32) -> u32 {
    return segment * params.words + region / 32u;
}

fn bit_of(region: u32) -> u32 {
    return 1u << (region % 32u);
}

// One more active region of the kind of `region`.
fn one(region: u32) -> vec2<i32> {
    return select(vec2<i32>(1, 0), vec2<i32>(0, 1), region >= params.first_update);
}

@compute @workgroup_size(GROUP_SIZE)
fn delta(@builtin(global_invocation_id) id: vec3<u32>) {
    let segment = id.x;
    if segment >= params.segments { return; }
    let last = min((segment + 1u) * params.length, params.ends);
    var net = vec2<i32>(0);
    // Bound: the ends of a segment.
    for (var i = segment * params.length; i < last; i += 1u) {
        let region = ends[i] >> 1u;
        let word = word_of(segment, region);
        if (ends[i] & 1u) == 1u {
            added[word] |= bit_of(region);
            net += one(region);
        } else {
            net -= one(region);
            if (added[word] & bit_of(region)) != 0u {
                added[word] &= ~bit_of(region);
            } else {
                removed[word] |= bit_of(region);
            }
        }
    }
    nets[segment] = net;
    found[segment] = vec4<u32>(0u, 0u, u32(loops_cut(params.segments)), 0u);
}

@compute @workgroup_size(GROUP_SIZE)
fn combine(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.x;
    if word >= params.words { return; }
    var members = 0u;
    // Bound: the segments.
    for (var segment = 0u; segment < params.segments; segment += 1u) {
        let place = segment * params.words + word;
        let before = members;
        members = (members & ~removed[place]) | added[place];
        added[place] = before;
    }
    if loops_cut(params.segments) { found[0].z = 1u; }
}

@compute @workgroup_size(GROUP_SIZE)
fn scan(@builtin(global_invocation_id) id: vec3<u32>) {
    let segment = id.x;
    if segment >= params.segments { return; }
    // How many are active: the sizes of the sets.
    var sizes = vec2<i32>(0);
    // Bound: the segments.
    for (var other = 0u; other < segment; other += 1u) { sizes += nets[other]; }
    let last = min((segment + 1u) * params.length, params.ends);
    var pairs = vec2<u32>(0u);
    // Bound: the ends of a segment.
    for (var i = segment * params.length; i < last; i += 1u) {
        let region = ends[i] >> 1u;
        let word = word_of(segment, region);
        if (ends[i] & 1u) == 1u {
            added[word] |= bit_of(region);
            sizes += one(region);
        } else {
            added[word] &= ~bit_of(region);
            sizes -= one(region);
            let others = u32(select(sizes.y, sizes.x, region >= params.first_update));
            pairs.x += others;
            pairs.y += u32(pairs.x < others);
        }
    }
    found[segment] = vec4<u32>(pairs, found[segment].z | u32(loops_cut(params.segments)), 0u);
}
