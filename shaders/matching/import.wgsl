// Checks regions and converts them to columns of order-preserving keys. Half-open intervals as in
// section 1 of Marzolla and D'Angelo, "Parallel Data Distribution Management on Shared-Memory
// Multiprocessors" (2020).
//
// rows     params.rows x 2 DIMS words: lower bounds, then upper bounds, as bits of u32 (KIND 0),
//          i32 (1) or f32 (2); the first is region params.first
// columns  2 DIMS columns of params.regions keys: column 2d has the lower bounds of dimension d,
//          column 2d + 1 the upper
// status   [0] smallest region * DIMS + dimension at fault (all ones: no fault), [1] number of
//          regions that are not empty
//
// A region that is empty in any dimension gets lower key 2^32 - 1 and upper key 0 in all: it fails
// every test `a.lo < b.hi && b.lo < a.hi`, so kernels need no special case. One invocation per row.
//
// provides: Reduced, merge, params
//
// bounds: as in matching/common.wgsl. User data is in `rows`, which holds bounds and no indices.

// import: gpu/reduce.wgsl
// import: matching/common.wgsl

override KIND: u32 = 0u;

const SIGN = 0x80000000u;

struct ImportParams {
    regions: u32,
    first: u32,
    rows: u32,
}

@group(0) @binding(0) var<uniform> params: ImportParams;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read_write> columns: array<u32>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 2>;

alias Reduced = u32;

fn merge(a: u32, b: u32) -> u32 {
    return a + b;
}

fn not_a_number(bits: u32) -> bool {
    return KIND == 2u && (bits & ~SIGN) > 0x7f800000u;
}

fn key(bits: u32) -> u32 {
    if KIND == 0u {
        return bits;
    }
    if KIND == 1u {
        return bits ^ SIGN;
    }
    if (bits & SIGN) == 0u || bits == SIGN {
        return bits | SIGN;
    }
    return ~bits;
}

@compute @workgroup_size(GROUP_SIZE)
fn import_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    var filled = 0u;
    if i < params.rows {
        let region = params.first + i;
        var is_empty = false;
        for (var d = 0u; d < DIMS; d++) {
            let lo = rows[(2u * i) * DIMS + d];
            let hi = rows[(2u * i + 1u) * DIMS + d];
            if not_a_number(lo) || not_a_number(hi) || key(lo) > key(hi) {
                atomicMin(&status[0], region * DIMS + d);
            }
            is_empty |= key(lo) == key(hi);
        }
        for (var d = 0u; d < DIMS; d++) {
            let lo = key(rows[(2u * i) * DIMS + d]);
            let hi = key(rows[(2u * i + 1u) * DIMS + d]);
            columns[(2u * d) * params.regions + region] = select(lo, ~0u, is_empty);
            columns[(2u * d + 1u) * params.regions + region] = select(hi, 0u, is_empty);
        }
        filled = select(1u, 0u, is_empty);
    }
    filled = reduce_group(lane, filled);
    if lane == 0u {
        atomicAdd(&status[1], filled);
    }
}
