// Distances between all pairs of vertices: the blocked Floyd-Warshall algorithm (Venkataraman,
// Sahni and Mukhopadhyaya, 2003).
//
//   distances   work.side rows of work.side words, a multiple of TILE: the distance from the row's
//               vertex to the column's, FAR if there is no path. Vertices that pad the last tile
//               have no arcs
//
// A round relaxes paths over the STEP vertices of one block, in three dispatches: `pivots` finishes
// the distances within the block, `panels` its rows and columns, `rest` all others.
//
// A workgroup of `rest` serves a tile of TILE by TILE distances, and an invocation 4 by 4 of them:
// for each vertex of the block it reads 4 + 4 words of workgroup memory for 16 sums. Distances are
// at most FAR, which is below 2^31, so no sum exceeds 32 bits.
//
// bounds: no user WGSL is linked. `distances` has `side` times `side` words, and `side` is a
// multiple of TILE and of STEP, above 0. Rows and columns are those of tiles and blocks, whose
// numbers are compared with the number of them, or dispatched as that number. Workgroup memory is
// indexed below STEP times TILE. Loops run over constants. Divisors are constants and `side`.

struct AllPairsWork {
    side: u32,
    block: u32,     // number of the round
}

const FAR = 0x7fffffffu;
const STEP = 32u;
const TILE = 64u;
const GROUP_SIZE = 256u;

@group(0) @binding(0) var<uniform> work: AllPairsWork;
@group(0) @binding(1) var<storage, read_write> distances: array<u32>;

// From the tile's rows to the block (TILE by STEP, by vertex of the block), and from the block to
// the tile's columns (STEP by TILE).
var<workgroup> to_block: array<u32, 2048>;
var<workgroup> from_block: array<u32, 2048>;

@compute @workgroup_size(GROUP_SIZE)
fn pivots(@builtin(local_invocation_index) lane: u32) {
    let base = work.block * STEP;
    let row = lane / 8u;
    let first = lane % 8u * 4u;
    for (var i = 0u; i < 4u; i += 1u) {
        to_block[row * STEP + first + i] = distances[(base + row) * work.side + base + first + i];
    }
    workgroupBarrier();
    // No race: a round does not change the row and the column of its own vertex, which others read.
    for (var k = 0u; k < STEP; k += 1u) {
        let way = to_block[row * STEP + k];
        for (var i = 0u; i < 4u; i += 1u) {
            let at = row * STEP + first + i;
            to_block[at] = min(to_block[at], way + to_block[k * STEP + first + i]);
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 4u; i += 1u) {
        distances[(base + row) * work.side + base + first + i] = to_block[row * STEP + first + i];
    }
}

// Workgroup i serves STEP columns of the block's rows or, in the second half, STEP rows of its
// columns.
@compute @workgroup_size(GROUP_SIZE)
fn panels(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let blocks = work.side / STEP;
    let columns = group.x >= blocks;
    let other = select(group.x, group.x - blocks, columns);
    if other >= blocks || other == work.block { return; }
    let base = work.block * STEP;
    let row = lane / 8u;
    let first = lane % 8u * 4u;
    let corner = select(base * work.side + other * STEP, other * STEP * work.side + base, columns);
    for (var i = 0u; i < 4u; i += 1u) {
        to_block[row * STEP + first + i] = distances[(base + row) * work.side + base + first + i];
        from_block[row * STEP + first + i] = distances[corner + row * work.side + first + i];
    }
    workgroupBarrier();
    for (var k = 0u; k < STEP; k += 1u) {
        for (var i = 0u; i < 4u; i += 1u) {
            let at = row * STEP + first + i;
            let over_rows = to_block[row * STEP + k] + from_block[k * STEP + first + i];
            let over_columns = from_block[row * STEP + k] + to_block[k * STEP + first + i];
            from_block[at] = min(from_block[at], select(over_rows, over_columns, columns));
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 4u; i += 1u) {
        distances[corner + row * work.side + first + i] = from_block[row * STEP + first + i];
    }
}

// A workgroup for each tile, row by row. The grid has two dimensions if one is too short.
@compute @workgroup_size(GROUP_SIZE)
fn rest(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let tiles = work.side / TILE;
    let number = group.y * groups.x + group.x;
    if number >= tiles * tiles { return; }
    let base = work.block * STEP;
    let top = number / tiles * TILE;
    let left = number % tiles * TILE;
    for (var i = 0u; i < 8u; i += 1u) {
        let at = i * GROUP_SIZE + lane;
        // For each vertex of the block, the tile's rows are contiguous, as its columns are.
        to_block[at % STEP * TILE + at / STEP] = distances[(top + at / STEP) * work.side + base + at % STEP];
        from_block[at] = distances[(base + at / TILE) * work.side + left + at % TILE];
    }
    workgroupBarrier();
    let row = lane / 16u * 4u;
    let column = lane % 16u * 4u;
    let corner = (top + row) * work.side + left + column;
    var a = row_of(corner);
    var b = row_of(corner + work.side);
    var c = row_of(corner + 2u * work.side);
    var d = row_of(corner + 3u * work.side);
    for (var k = 0u; k < STEP; k += 1u) {
        let before = k * TILE + row;
        let at = k * TILE + column;
        let onward = vec4<u32>(from_block[at], from_block[at + 1u], from_block[at + 2u], from_block[at + 3u]);
        a = min(a, onward + to_block[before]);
        b = min(b, onward + to_block[before + 1u]);
        c = min(c, onward + to_block[before + 2u]);
        d = min(d, onward + to_block[before + 3u]);
    }
    // The block's own rows and columns are final: a path over the block is no shorter there.
    put_row(corner, a);
    put_row(corner + work.side, b);
    put_row(corner + 2u * work.side, c);
    put_row(corner + 3u * work.side, d);
}

fn row_of(at: u32) -> vec4<u32> {
    return vec4<u32>(distances[at], distances[at + 1u], distances[at + 2u], distances[at + 3u]);
}

fn put_row(at: u32, row: vec4<u32>) {
    distances[at] = row.x;
    distances[at + 1u] = row.y;
    distances[at + 2u] = row.z;
    distances[at + 3u] = row.w;
}
