// Distances between all pairs of vertices: Floyd and Warshall's algorithm in blocks (Venkataraman, Sahni and Mukhopadhyaya, 2003).
//
//   distances   work.side rows of as many words, a multiple of TILE: the distance from the row's vertex to the column's, FAR where there is no way.
//               Vertices that fill up the last tile have no ways
//
// A round takes the vertices of one block, STEP of them, as those on the way: `pivots` finishes the block of these vertices among themselves,
// `panels` their rows and columns, `rest` all other distances. Each is a dispatch.
//
// A workgroup of `rest` serves a tile of TILE by TILE distances, and an invocation 4 by 4 of them: for each vertex on the way it reads 4 + 4 words of
// workgroup memory for 16 sums. Distances are below FAR, and FAR is below 2^31, so no sum leaves 32 bits.
//
// bounds: no WGSL of a user's is linked. `distances` has `side` times `side` words, and `side` is a
// multiple of TILE and of STEP, above 0. Rows and columns are those of tiles and blocks, whose
// numbers are compared with, or dispatched as, the number that there is. Workgroup memory is
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

// From the tile's rows to the block (TILE by STEP, a vertex of the block after the other), and from the block to the tile's columns (STEP by TILE).
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
    // In a round, the way over a vertex changes neither its row nor its column: what others read does not change as they read it.
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

// Workgroup i of the first half serves STEP columns of the block's rows, of the second half STEP rows of its columns.
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

// A workgroup for each tile, row by row; beyond what fits one dimension the grid has two.
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
        // Rows of the tile lie side by side for each vertex of the block, as its columns do.
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
    // The block's own rows and columns are finished: the way over the block is no shorter there.
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
