// Builds the index of moving regions (index.wgsl). Regions are ordered along a Morton curve
// (Morton, 1966) through the middles of their intervals. A coordinate is the number of sampled
// middles at or below it, so the curve is finer in dense areas, for any distribution and type of
// bounds.
//
// subscriptions, updates  boxes by id, in columns (import.wgsl)
// edges                   for each dimension the middles of SAMPLE regions, ascending
// codes, names            code_regions: the sort keys of the regions, and their names
// sorted_names            gather_leaves: the names in that order
// leaves, nodes, slots    as in index.wgsl
//
// Kernels: pick_edges, PARTS workgroups per dimension; code_regions and gather_leaves, one
// invocation per region; build_nodes, one invocation per node of the level.
//
// provides: Sought, goes_before
//
// bounds: as in matching/common.wgsl and index.wgsl. Loops run over levels, children, samples and
// bits of cells. The number of samples is a divisor and at least 1, because `Index::new` plans no
// kernel for no regions.

// import: gpu/search.wgsl
// import: matching/index.wgsl

const SAMPLE = 1024u;
const SAMPLE_BITS = 10u;
const PARTS = SAMPLE / GROUP_SIZE;

@group(0) @binding(3) var<storage, read_write> edges: array<u32>;
@group(0) @binding(4) var<storage, read_write> codes: array<u32>;
@group(0) @binding(5) var<storage, read_write> names: array<u32>;
@group(0) @binding(6) var<storage, read> sorted_names: array<u32>;
@group(0) @binding(7) var<storage, read_write> leaves: array<u32>;
@group(0) @binding(8) var<storage, read_write> nodes: array<u32>;
@group(0) @binding(9) var<storage, read_write> slots: array<u32>;

var<workgroup> sampled: array<u32, SAMPLE>;

fn key_of(name: u32, column: u32) -> u32 {
    if name < params.subscriptions {
        return subscriptions[column * params.subscriptions + name];
    }
    return updates[column * params.updates + (name - params.subscriptions)];
}

fn middle(name: u32, d: u32) -> u32 {
    let lo = key_of(name, 2u * d);
    let hi = key_of(name, 2u * d + 1u);
    // An empty region, whose upper key is smaller, has the greatest middle.
    return select(lo, lo + (hi - lo) / 2u, lo < hi);
}

@compute @workgroup_size(GROUP_SIZE)
fn pick_edges(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let d = group.x / PARTS;
    let count = min(regions(), SAMPLE);
    let step = regions() / count;
    for (var k = 0u; k < PARTS; k++) {
        let i = k * GROUP_SIZE + lane;
        var key = ~0u;
        if i < count {
            key = middle(i * step, d);
        }
        sampled[i] = key;
    }
    workgroupBarrier();
    // Its place is the number of keys before it.
    let mine = group.x % PARTS * GROUP_SIZE + lane;
    let key = sampled[mine];
    var place = 0u;
    for (var i = 0u; i < SAMPLE; i++) {
        place += u32(sampled[i] < key || (sampled[i] == key && i < mine));
    }
    edges[d * SAMPLE + place] = key;
}

struct Sought {
    dimension: u32,
    key: u32,
}

fn goes_before(edge: u32, sought: Sought) -> bool {
    return edges[sought.dimension * SAMPLE + edge] <= sought.key;
}

// At most 31 bits.
fn code(name: u32) -> u32 {
    if DIMS == 1u {
        return middle(name, 0u) >> 1u;
    }
    let bits = min(SAMPLE_BITS, 31u / DIMS);
    var found = 0u;
    for (var d = 0u; d < DIMS; d++) {
        let before = search(0u, SAMPLE, Sought(d, middle(name, d)));
        let cell = min(before, SAMPLE - 1u) >> (SAMPLE_BITS - bits);
        for (var bit = 0u; bit < bits; bit++) {
            found |= ((cell >> bit) & 1u) << (bit * DIMS + d);
        }
    }
    return found;
}

@compute @workgroup_size(GROUP_SIZE)
fn code_regions(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let name = group_number(group, groups) * GROUP_SIZE + lane;
    if name < regions() {
        // Subscriptions first.
        codes[name] = code(name) | select(0u, 1u << 31u, name >= params.subscriptions);
        names[name] = name;
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn gather_leaves(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let slot = group_number(group, groups) * GROUP_SIZE + lane;
    if slot < regions() {
        let name = sorted_names[slot];
        for (var c = 0u; c < 2u * DIMS; c++) {
            leaves[place_of(0u, c, slot)] = key_of(name, c);
        }
        leaves[place_of(0u, 2u * DIMS, slot)] = name;
        leaves[place_of(0u, 2u * DIMS + 1u, slot)] = 0u;
        slots[name] = slot;
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn build_nodes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let node = group_number(group, groups) * GROUP_SIZE + lane;
    if node >= params.levels[params.level].z {
        return;
    }
    let of_updates = node >= params.levels[params.level].y;
    let level = params.level - 1u;
    let below = nodes_of(level, of_updates);
    let child = FANOUT * (node - nodes_of(params.level, of_updates).x);
    let end = min(child + FANOUT, below.y);
    for (var d = 0u; d < DIMS; d++) {
        var lo = ~0u;
        var hi = 0u;
        for (var i = child; i < end; i++) {
            let lo_place = place_of(level, 2u * d, below.x + i);
            let hi_place = place_of(level, 2u * d + 1u, below.x + i);
            if level == 0u {
                lo = min(lo, leaves[lo_place]);
                hi = max(hi, leaves[hi_place]);
            } else {
                lo = min(lo, nodes[lo_place]);
                hi = max(hi, nodes[hi_place]);
            }
        }
        nodes[place_of(params.level, 2u * d, node)] = lo;
        nodes[place_of(params.level, 2u * d + 1u, node)] = hi;
    }
}
