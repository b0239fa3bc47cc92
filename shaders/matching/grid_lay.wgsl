// Grid-based matching, second step: a grid over the bounding box, fine but with few entries.
//
// subscriptions, updates  boxes in columns (import.wgsl)
// bounds  the bounding box (grid_bounds.wgsl)
// laid    [0] the grid, [1] in base.x how often its cells are joined, two by two in each dimension
//
// One workgroup. It samples the regions and joins cells until the sampled regions meet at most
// ENTRIES / 2 cells each on average: sorting an entry costs more than testing a few more
// candidates.
//
// provides: Reduced, merge
//
// bounds: as in matching/common.wgsl. Sampled regions are below the numbers of regions. Loops count
// to 32 bits, to params.joins, or through the sample by steps of GROUP_SIZE.

// import: gpu/reduce.wgsl
// import: matching/grid_params.wgsl
// import: matching/grid_place.wgsl

// Cells are joined until regions meet at most half this number on average. An estimate.
const ENTRIES = 5u;
// The sample of both sides together.
const SAMPLE = 1024u;

@group(0) @binding(3) var<storage, read> bounds: array<u32, 8>;
@group(0) @binding(4) var<storage, read_write> laid: array<Grid, 2>;

// The spans of the sample, a word for each region and end: cells in bits, as in a cell's key.
var<workgroup> first_cells: array<u32, SAMPLE>;
var<workgroup> last_cells: array<u32, SAMPLE>;
var<workgroup> base: array<u32, 4>;
var<workgroup> shift: array<u32, 4>;
var<workgroup> scale: array<u32, 4>;
var<workgroup> exponent: array<u32, 4>;

alias Reduced = u32;

fn merge(a: u32, b: u32) -> u32 {
    return a + b;
}

// floor(cells 2^32 / (last + 1)), which is below 2 cells because `last` has its highest bit set.
// Its product with a place has a high word below `cells`: `last` is the greatest place.
fn cells_per_line(cells: u32, last: u32) -> u32 {
    if last == ~0u {
        return cells;
    }
    var left = cells;
    var quotient = 0u;
    for (var bit = 0u; bit < 32u; bit++) {
        let carried = left >= SIGN;
        left <<= 1u;
        quotient <<= 1u;
        if carried || left > last {
            left -= last + 1u;
            quotient |= 1u;
        }
    }
    return quotient;
}

fn lay_over(d: u32) {
    let lo = ~bounds[2u * d];
    // The last key inside a region: upper bounds are exclusive.
    let hi = bounds[2u * d + 1u] - 1u;
    exponent[d] = max(exponent_of(lo), exponent_of(hi));
    base[d] = line_place(lo, exponent[d]);
    let last = line_place(hi, exponent[d]) - base[d];
    shift[d] = min(countLeadingZeros(last), 31u);
    // All places of a box without extent are 0.
    scale[d] = cells_per_line(params.cells, (last << shift[d]) | SIGN);
}

fn sampled(k: u32) -> Box {
    if k < params.subscriptions_sampled {
        return subscription(k * params.subscription_step);
    }
    return update((k - params.subscriptions_sampled) * params.update_step);
}

// The number of cells that region k of the sample meets after cells were joined.
fn cells_met(k: u32, joins: u32) -> u32 {
    var met = 1u;
    for (var d = 0u; d < DIMS; d++) {
        met *= (cell_in(last_cells[k], d) >> joins) - (cell_in(first_cells[k], d) >> joins) + 1u;
    }
    // Empty regions have no cells. The cap is more than acceptable in any case.
    return select(min(met, 1u << 20u), 0u, last_cells[k] == NO_CELL);
}

@compute @workgroup_size(GROUP_SIZE)
fn lay_grid(@builtin(local_invocation_index) lane: u32) {
    if lane < 4u {
        base[lane] = 0u;
        shift[lane] = 0u;
        scale[lane] = 0u;
        exponent[lane] = 0u;
    }
    if lane < DIMS {
        lay_over(lane);
    }
    workgroupBarrier();
    let grid = Grid(vec4(base[0], base[1], base[2], base[3]), vec4(shift[0], shift[1], shift[2], shift[3]),
                    vec4(scale[0], scale[1], scale[2], scale[3]),
                    vec4(exponent[0], exponent[1], exponent[2], exponent[3]));
    let count = params.subscriptions_sampled + params.updates_sampled;
    var filled = 0u;
    for (var k = lane; k < count; k += GROUP_SIZE) {
        let met = spans(grid, sampled(k));
        var first = 0u;
        var last = 0u;
        for (var d = 0u; d < DIMS; d++) {
            first |= met.lo[d] << (d * cell_bits());
            last |= met.hi[d] << (d * cell_bits());
        }
        first_cells[k] = first;
        last_cells[k] = select(last, NO_CELL, met.none);
        filled += select(1u, 0u, met.none);
    }
    filled = reduce_group(lane, filled);
    var joins = params.joins_least;
    // At most 22 rounds.
    for (; joins < params.joins; joins++) {
        var met = 0u;
        for (var k = lane; k < count; k += GROUP_SIZE) {
            met += cells_met(k, joins);
        }
        met = reduce_group(lane, met);
        if 2u * met <= ENTRIES * filled {
            break;
        }
    }
    if lane == 0u {
        laid[0] = grid;
        laid[1] = Grid(vec4(joins, 0u, 0u, 0u), vec4(0u), vec4(0u), vec4(0u));
    }
}
