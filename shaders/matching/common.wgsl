// Shared by all kernels of the module: dimensions, workgroup size and number, tiles.
//
// provides: GROUP_SIZE
//
// bounds: for all files of the folder, with the additions of each file. No user WGSL is linked, and
// no user writes values that kernels index with. An invocation's number is compared with the length
// for which the host allocated the buffers; MAX_REGIONS and MAX_ENTRIES keep products of columns
// and rows below 2^32. Vectors and workgroup arrays are indexed by dimension, lane and item, below
// constants. Loops run over dimensions, columns, items, halvings, or by steps of at least 1.
// Divisors are constants.

// Dimensions of the regions, 1 to 4.
override DIMS: u32 = 1u;

// Invocations of a workgroup in every kernel of the module, as in kernels.rs.
const GROUP_SIZE = 256u;

// A workgroup takes a tile of a long list: ITEMS elements per invocation.
const ITEMS = 8u;
const TILE = ITEMS * GROUP_SIZE;
// 2^32 / TILE
const TILES_PER_WORD = (1u << 31u) / (TILE / 2u);

// The number of a workgroup in the grid of Kernel::dispatch.
fn group_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}

// The first element of a tile, in 64 bits.
fn tile_start(tile: u32) -> vec2<u32> {
    return vec2(tile * TILE, tile / TILES_PER_WORD);
}
