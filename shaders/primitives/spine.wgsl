// The middle steps of scan, compact and sort: in rows of partial results each becomes the sum of those before it. One workgroup
// serves a row of params.groups results.
//
// `spine`: the one row of a scan or a compaction
//   rows   one Acc per share of the elements
//   total  the sum of all: its TOTAL_WORDS low words, from total[TOTAL_WORDS * params.destination] on
// `digits`: a row for each of the 256 digits of each array of a sort
//   rows   the counts, laid out as `counts_start` says; the totals behind an array's rows are set
//
// needs: Acc and its functions (acc_word.wgsl or acc_wide.wgsl), the workgroup's scan (block_*.wgsl)
// import: primitives/params.wgsl

// ACC_WORDS at the most.
override TOTAL_WORDS: u32 = ACC_WORDS;

@group(0) @binding(3) var<storage, read_write> rows: array<Acc>;
@group(0) @binding(4) var<storage, read_write> total: array<u32>;

// The row that begins at rows[row]. Returns its sum. All invocations must call it.
fn scan_row(at: Place, row: u32) -> Acc {
    let lane = lane_of(at);
    var carry = IDENTITY;
    for (var first = 0u; first < params.groups; first += GROUP_SIZE) {
        let i = first + lane;
        var value = IDENTITY;
        if i < params.groups {
            value = rows[row + i];
        }
        let scanned = block_scan(at, value);
        if i < params.groups {
            rows[row + i] = combine(carry, scanned.before);
        }
        carry = combine(carry, scanned.all);
    }
    return carry;
}

@compute @workgroup_size(GROUP_SIZE)
fn spine(at: Place) {
    let sum = scan_row(at, 0u);
    let lane = lane_of(at);
    if lane < TOTAL_WORDS {
        total[TOTAL_WORDS * params.destination + lane] = acc_word(sum, lane);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn digits(@builtin(workgroup_id) group: vec3<u32>, at: Place) {
    let digit = group.x % DIGITS;
    let start = counts_start(group.x / DIGITS);
    let sum = scan_row(at, start + digit * params.groups);
    if lane_of(at) == 0u {
        rows[start + DIGITS * params.groups + digit] = sum;
    }
}
