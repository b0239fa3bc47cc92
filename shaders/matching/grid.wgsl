// Cells of a grid. A cell's key has the same number of bits for each dimension.
//
// bounds: as in matching/common.wgsl. No array; shifts are by the bits of a dimension, 22 at most.

// import: matching/common.wgsl

fn cell_bits() -> u32 {
    return 22u / DIMS;
}

// The bits of dimension d.
fn cell_mask(d: u32) -> u32 {
    return ((1u << cell_bits()) - 1u) << (d * cell_bits());
}

// The number of a cell in dimension d.
fn cell_in(cell: u32, d: u32) -> u32 {
    return (cell & cell_mask(d)) >> (d * cell_bits());
}

// Both sides' entries are sorted together: this key bit is set for updates, which therefore come
// last.
fn update_bit() -> u32 {
    return 1u << (DIMS * cell_bits());
}

// The cell of a row without an entry: above all others.
const NO_CELL = ~0u;
