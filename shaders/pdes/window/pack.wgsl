// The rows of a workgroup that have work, as one list. Consecutive invocations serve consecutive
// entries, so neighbours are busy even if few rows have work. Before, each invocation chooses among
// its own TILES rows.
//
// Functions: pack, pack_steps, pack_row.
//
// import: pdes/engine.wgsl

// The longest list; if more rows have work, a list gains nothing.
const PACK_MOST = 2048u;

var<workgroup> pack_rows: array<u32, PACK_MOST>;
var<workgroup> pack_count: atomic<u32>;
var<workgroup> pack_total: u32;

// The number of rows that the invocations chose, a bit for each tile. They are in pack_rows if they
// are at most PACK_MOST. Call it once, in all invocations of the workgroup.
fn pack(group: u32, lane: u32, chosen: u32) -> u32 {
    var place = 0u;
    if chosen != 0u { place = atomicAdd(&pack_count, countOneBits(chosen)); }
    workgroupBarrier();
    if lane == 0u { pack_total = atomicLoad(&pack_count); }
    let total = workgroupUniformLoad(&pack_total);
    if total <= PACK_MOST {
        var left = chosen;
        // Bound: TILES, at most 32.
        while left != 0u {
            pack_rows[place] = row_of(group, countTrailingZeros(left), lane);
            left &= left - 1u;
            place += 1u;
        }
    }
    workgroupBarrier();
    return total;
}

// The number of steps in which the invocations serve the chosen rows. pack_row is an invocation's
// row in a step, or NO_ROW.
fn pack_steps(total: u32) -> u32 {
    return select(TILES, (total + GROUP_SIZE - 1u) / GROUP_SIZE, total <= PACK_MOST);
}

fn pack_row(step: u32, total: u32, group: u32, lane: u32, chosen: u32) -> u32 {
    if total > PACK_MOST { return select(NO_ROW, row_of(group, step, lane), (chosen & (1u << step)) != 0u); }
    let place = step * GROUP_SIZE + lane;
    if place >= total { return NO_ROW; }
    return pack_rows[place];
}
