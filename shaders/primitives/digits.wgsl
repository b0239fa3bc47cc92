// The middle steps of a radix sort's pass: from the counts of each digit in each workgroup's share
// to the places of each share's keys of each digit.
//
// counts  laid out as `counts_start` documents: rows of a word per digit, so that neighbouring
//         invocations read neighbouring words
//
// `digits`, a workgroup per chunk of params.chunk shares: counts become sums of earlier shares in
// the chunk, and the chunk's row becomes the sums of all.
// `begins`, a workgroup per array with more than FEW_CHUNKS chunks: chunk sums become sums of
// earlier chunks, and the array's row the start of each digit. (scatter.wgsl sums few chunks
// itself.)
//
// An invocation serves DIGITS / GROUP_SIZE digits. Acc is one word that sums.
// import: primitives/params.wgsl
// needs: GROUP_SIZE, Place, block_scan, lane_of
//
// bounds: as in params.wgsl. `counts` has `sort::rows` rows of 256 words for each array: a row for
// each share, for each chunk of them, and for the array if there are more than FEW_CHUNKS chunks (a
// test compares the constant in both languages). Rows are read in later dispatches than they are
// written. Loops count to params.chunk, chunks() and digits.

@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

// A digit's counts in row `row` and the three after it, at most `last`. Its first count is
// counts[first].
fn four_rows(first: u32, row: u32, last: u32) -> vec4<u32> {
    let rows = first + DIGITS * min(vec4(row) + vec4(0u, 1u, 2u, 3u), vec4(last));
    return vec4(counts[rows.x], counts[rows.y], counts[rows.z], counts[rows.w]);
}

// Writes sums to row `row` and the three after it, below `rows`: `before` plus the earlier counts
// of `four`. Returns the last sum.
fn write_sums(first: u32, row: u32, rows: u32, four: vec4<u32>, before: u32) -> u32 {
    let place = first + DIGITS * row;
    var sum = before;
    if row < rows { counts[place] = sum; sum += four.x; }
    if row + 1u < rows { counts[place + DIGITS] = sum; sum += four.y; }
    if row + 2u < rows { counts[place + 2u * DIGITS] = sum; sum += four.z; }
    if row + 3u < rows { counts[place + 3u * DIGITS] = sum; sum += four.w; }
    return sum;
}

// In `rows` rows from counts[first] on, each count of a digit becomes the sum of those before it.
// Returns the sum of all.
fn sum_rows(first: u32, rows: u32) -> u32 {
    let last = rows - 1u;
    var sum = 0u;
    // In groups of 16 (LEAST_CHUNK of sort.rs), with all loads first, so that they overlap.
    for (var row = 0u; row < rows; row += 16u) {
        let a = four_rows(first, row, last);
        let b = four_rows(first, row + 4u, last);
        let c = four_rows(first, row + 8u, last);
        let d = four_rows(first, row + 12u, last);
        sum = write_sums(first, row, rows, a, sum);
        sum = write_sums(first, row + 4u, rows, b, sum);
        sum = write_sums(first, row + 8u, rows, c, sum);
        sum = write_sums(first, row + 12u, rows, d, sum);
    }
    return sum;
}

@compute @workgroup_size(GROUP_SIZE)
fn digits(@builtin(workgroup_id) group: vec3<u32>, at: Place) {
    let start = counts_start(group.x / chunks());
    let chunk = group.x % chunks();
    let share = chunk * params.chunk;
    let rows = min(params.groups - share, params.chunk);
    for (var digit = lane_of(at); digit < DIGITS; digit += GROUP_SIZE) {
        counts[start + DIGITS * (params.groups + chunk) + digit] = sum_rows(start + DIGITS * share + digit, rows);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn begins(@builtin(workgroup_id) group: vec3<u32>, at: Place) {
    let row = counts_start(group.x) + DIGITS * params.groups;
    let ends = row + DIGITS * chunks();
    let each = DIGITS / GROUP_SIZE;
    let first = lane_of(at) * each;
    var sum = 0u;
    for (var digit = first; digit < first + each; digit++) {
        counts[ends + digit] = sum;
        sum += sum_rows(row + digit, chunks());
    }
    let before = block_scan(at, sum).before;
    for (var digit = first; digit < first + each; digit++) {
        counts[ends + digit] += before;
    }
}
