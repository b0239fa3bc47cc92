// The rows of a workgroup that have something to do, as one list: its invocations serve them in turn, so that those that neighbour each other are
// all busy, however few of the rows these are. One invocation looks at TILES rows before, of which it chooses.
//
// Functions: pack, pack_steps, pack_row.
//
// import: pdes/engine.wgsl

// The list is no longer; where more rows have something to do, it gains nothing.
const PACK_MOST = 2048u;

var<workgroup> pack_rows: array<u32, PACK_MOST>;
var<workgroup> pack_count: atomic<u32>;
var<workgroup> pack_total: u32;

// How many rows the invocations chose, each of its tiles a bit; they are in pack_rows if they are no more than PACK_MOST. To be called once, by all
// invocations of the workgroup.
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

// In how many steps the invocations serve what they chose, and the row of one of them in a step, or NO_ROW.
fn pack_steps(total: u32) -> u32 {
    return select(TILES, (total + GROUP_SIZE - 1u) / GROUP_SIZE, total <= PACK_MOST);
}

fn pack_row(step: u32, total: u32, group: u32, lane: u32, chosen: u32) -> u32 {
    if total > PACK_MOST { return select(NO_ROW, row_of(group, step, lane), (chosen & (1u << step)) != 0u); }
    let place = step * GROUP_SIZE + lane;
    if place >= total { return NO_ROW; }
    return pack_rows[place];
}
