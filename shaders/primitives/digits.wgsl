// The middle steps of a radix sort's pass: from how often each digit occurs in each workgroup's share to where each share's keys of each digit go.
//
// counts  laid out as `counts_start` says: rows of a word for each digit, so that neighbouring invocations read neighbours
//
// `digits`, a workgroup for each chunk of params.chunk shares: the shares' counts become sums of those before them in the chunk, and the chunk's row becomes the sums of all.
// `begins`, a workgroup for each array that has more than FEW_CHUNKS: the chunks' sums become sums of those before them, and the array's row says where each digit begins.
//   (Of few chunks, whoever moves the keys sums those: scatter.wgsl.)
//
// An invocation serves DIGITS / GROUP_SIZE digits.
// Acc is one word that sums.
// import: primitives/params.wgsl
// needs: GROUP_SIZE, Place, block_scan, lane_of
//
// bounds: as in params.wgsl. `counts` has `sort::rows` rows of 256 words for each array: a row for
// each share, for each chunk of them, and for the array where there are more than FEW_CHUNKS chunks
// (one number in both languages, by a test). Whoever reads a row comes after whoever wrote it.
// Loops count to params.chunk, chunks() and digits.

@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

// The counts of a digit in row `row` and the three after it, or in row `last` where that is before. The digit's first count is counts[first].
fn four_rows(first: u32, row: u32, last: u32) -> vec4<u32> {
    let rows = first + DIGITS * min(vec4(row) + vec4(0u, 1u, 2u, 3u), vec4(last));
    return vec4(counts[rows.x], counts[rows.y], counts[rows.z], counts[rows.w]);
}

// Writes sums to row `row` and the three after it, as far as there are `rows`: `before`, and what the counts `four` add to it. Returns the last sum.
fn write_sums(first: u32, row: u32, rows: u32, four: vec4<u32>, before: u32) -> u32 {
    let place = first + DIGITS * row;
    var sum = before;
    if row < rows { counts[place] = sum; sum += four.x; }
    if row + 1u < rows { counts[place + DIGITS] = sum; sum += four.y; }
    if row + 2u < rows { counts[place + 2u * DIGITS] = sum; sum += four.z; }
    if row + 3u < rows { counts[place + 3u * DIGITS] = sum; sum += four.w; }
    return sum;
}

// In `rows` rows from counts[first] on, of one digit, each count becomes the sum of those before it. Returns the sum of all.
fn sum_rows(first: u32, rows: u32) -> u32 {
    let last = rows - 1u;
    var sum = 0u;
    // By sixteens (LEAST_CHUNK of sort.rs), all of them loaded before any is looked at, so that they wait together.
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
