// The place of a bound in a grid. All arithmetic is on integers, so every device has the same
// cells.
//
// A key becomes a place on a line of 2^32 places: for integers the key itself, for floats a
// fixed-point number whose unit follows from the greater end of the bounding box. Places count from
// the box's lower end and are shifted up to 32 bits. A cell's number is the high word of the place
// times the number of cells per 2^32 places. It never falls as the bound rises; results depend on
// nothing else.
//
// Functions: line_place, exponent_of, finest_cell; spans for regions.
//
// bounds: as in matching/common.wgsl. A cell is the high word of a place's product with `scale`:
// below `cells` in each dimension up to the last place of the box (`cells_per_line`). Keys outside
// of the box do not occur: earlier in the plan `find_bounds` computes it from the same buffers, of
// all regions except empty ones, which have no cells.

// import: matching/boxes.wgsl
// import: matching/grid.wgsl

// 0 for u32, 1 for i32, 2 for f32: as in import.wgsl.
override KIND: u32 = 0u;

const SIGN = 0x80000000u;

// The grid, for each dimension: the place of the box's lower end, the shift of places, the
// multiplier from places to cells, and for floats the exponent of the unit.
struct Grid {
    base: vec4<u32>,
    shift: vec4<u32>,
    scale: vec4<u32>,
    exponent: vec4<u32>,
}

// A key as the bits of a float. Infinite bounds become the greatest numbers.
fn float_bits(key: u32) -> u32 {
    // The keys of the smallest and the greatest number.
    let finite = clamp(key, 0x00800000u, 0xff7fffffu);
    return select(~finite, finite ^ SIGN, finite >= SIGN);
}

// The exponent of a float; 1 for the smallest.
fn exponent_of(key: u32) -> u32 {
    return max((float_bits(key) >> 23u) & 0xffu, 1u);
}

// The place of a key on the line; `exponent` is at least its exponent.
fn line_place(key: u32, exponent: u32) -> u32 {
    if KIND != 2u {
        return key;
    }
    let bits = float_bits(key);
    let fraction = (bits & 0x7fffffu) | select(0u, 0x800000u, (bits & 0x7f800000u) != 0u);
    let size = (fraction << 7u) >> min(exponent - exponent_of(key), 31u);
    return select(SIGN - size, SIGN + size, bits < SIGN);
}

// The high word of a product.
fn multiply_high(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let mixed = (a >> 16u) * (b & 0xffffu);
    let other = (a & 0xffffu) * (b >> 16u);
    let middle = (low >> 16u) + (mixed & 0xffffu) + (other & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (mixed >> 16u) + (other >> 16u) + (middle >> 16u);
}

// The number of the cell of the finest grid that holds a key, in dimension d.
fn finest_cell(grid: Grid, key: u32, d: u32) -> u32 {
    let place = (line_place(key, grid.exponent[d]) - grid.base[d]) << grid.shift[d];
    return multiply_high(place, grid.scale[d]);
}

// The first and the last cell of the finest grid that a region meets in each dimension.
struct Spans {
    lo: vec4<u32>,
    hi: vec4<u32>,
    // Whether it meets no cell, because it is empty.
    none: bool,
}

fn spans(grid: Grid, region: Box) -> Spans {
    var found = Spans(vec4(0u), vec4(0u), region.lo.x >= region.hi.x);
    if !found.none {
        for (var d = 0u; d < DIMS; d++) {
            found.lo[d] = finest_cell(grid, region.lo[d], d);
            found.hi[d] = finest_cell(grid, region.hi[d] - 1u, d);
        }
    }
    return found;
}
