// How many elements a dispatch works on, read when it runs, and how the work is cut.
//
// params  what the host fixed when it bound the buffers
// count   count[params.count_index] is the number of elements; a word of the caller's, or of the host's own
// status  [count, maximum] of the first dispatch whose count was larger than its maximum, else zeros
//
// A count beyond the maximum is recorded, and all dispatches do what they do for no elements.
//
// Functions: length, report_length, share; for sorts part_tiles, array_start, chunks, counts_start.
//
// provides: params
//
// bounds: for all files of the folder, whatever buffers hold. No WGSL of a user's is linked, and no
// kernel writes the uniforms. `length()` is at most `params.maximum`, which `bind` compared with
// the caller's buffers and for which scratch is allotted; its own index `Count` compared. All
// dispatches of a plan find the same count: wgpu refuses one that reads and writes it, `Compact`
// checks `spine`, and nothing reads it after `finish`. Vectors of four reach 3 words beyond it at
// most: a `Buffer` is a multiple of 16 bytes. The divisors `groups`, `chunk`, `chunks()` are at
// least 1.

struct Params {
    count_index: u32,
    // More elements are an error.
    maximum: u32,
    // Workgroups that cut the elements (of each array, where several are sorted) into shares: the number of partial results, or
    // of a digit's counts. At least 1.
    groups: u32,
    // Where a single result goes: an index into its buffer, in results.
    destination: u32,
    // Of a scan: 1 if the sum at an element takes in the element, else 0.
    inclusive: u32,
    // Of a sort: where the digit begins in the key, and its ones (8 at the most).
    first_bit: u32,
    digit_mask: u32,
    // Of a sort: how many keys lie from the beginning of one array to that of the next.
    array_length: u32,
    // Of a sort: shares of an array whose counts are summed by one workgroup. At least 1.
    chunk: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> count: array<u32>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

// An invocation of reduce, scan and compact holds this many vectors of four elements at a time.
const VECTORS = 4u;

fn length() -> u32 {
    let n = count[params.count_index];
    return select(n, 0u, n > params.maximum);
}

// For one invocation of a plan's first dispatch. Dispatches run one after the other, so the first failure stays.
fn report_length() {
    let n = count[params.count_index];
    if n > params.maximum && atomicLoad(&status[0]) == 0u {
        atomicStore(&status[0], n);
        atomicStore(&status[1], params.maximum);
    }
}

// The tiles [x, y) of workgroup `group` of `groups`, when `n` elements are cut into tiles of `tile`: a contiguous run
// each, so that a fixed number of workgroups serves any length. n < 2^31, so nothing wraps; groups and tile are above 0.
fn share(n: u32, tile: u32, group: u32, groups: u32) -> vec2<u32> {
    let tiles = (n + tile - 1u) / tile;
    let each = (tiles + groups - 1u) / groups;
    let first = min(group * each, tiles);
    return vec2(first, min(first + each, tiles));
}

// Of a sort: the values of a digit.
const DIGITS = 256u;

// Of a sort: the tiles, of `tile` keys each, that workgroup `group` serves in its array of `n` keys. params.groups workgroups
// serve the first array, as many the next.
fn part_tiles(n: u32, tile: u32, group: u32) -> vec2<u32> {
    return share(n, tile, group % params.groups, params.groups);
}

// Of a sort: where the keys of workgroup `group`'s array begin.
fn array_start(group: u32) -> u32 {
    return group / params.groups * params.array_length;
}

// Of a sort: chunks of which the sums before each are not written down, because whoever needs them sums so many by itself.
const FEW_CHUNKS = 16u;

// Of a sort: the chunks of an array's shares.
fn chunks() -> u32 {
    return (params.groups + params.chunk - 1u) / params.chunk;
}

// Of a sort: where the counts of array `number` begin, rows of a word for each digit: one for each share (how often the digit occurs there), then one for each chunk of
// shares, then, where there are more than FEW_CHUNKS, one for the array. Where a share's keys of a digit go begins at the sum of what digits.wgsl makes of the three; of few chunks,
// where it leaves the second row as the chunks' sums, whoever moves the keys makes the last two.
fn counts_start(number: u32) -> u32 {
    return number * DIGITS * (params.groups + chunks() + select(0u, 1u, chunks() > FEW_CHUNKS));
}
