// Candidates that a workgroup takes: ITEMS per thread.

// import: matching/workgroup.wgsl

const ITEMS = 8u;
const TILE = ITEMS * SIZE;
// 2^32 / TILE
const TILES_PER_WORD = (1u << 31u) / (TILE / 2u);

// The first candidate of a tile, in 64 bits.
fn tile_start(tile: u32) -> vec2<u32> {
    return vec2(tile * TILE, tile / TILES_PER_WORD);
}
