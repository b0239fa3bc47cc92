// The number of elements of a dispatch, read at run time, and the division of the work.
//
// params  fixed by the host when it binds the buffers
// count   count[params.count_index] is the number of elements; a word of the caller or the host
// status  [count, maximum] of the first dispatch whose count exceeds its maximum, else zeros
//
// A count beyond the maximum is recorded, and all dispatches behave as for no elements.
//
// Functions: length, report_length, share; for sorts part_tiles, array_start, chunks, counts_start.
//
// provides: params
//
// bounds: for all files of the folder, with any content of buffers. No user WGSL is linked, and no
// kernel writes the uniforms. `length()` is at most `params.maximum`, which `bind` compared with
// the caller's buffers and for which scratch is allocated; its own index `Count` compared. All
// dispatches of a plan read the same count: wgpu rejects one that reads and writes it, `Compact`
// checks `spine`, and nothing reads it after `finish`. Vectors of four reach at most 3 words beyond
// it: a `Buffer` is a multiple of 16 bytes. The divisors `groups`, `chunk`, `chunks()` are at least
// 1.

struct Params {
    count_index: u32,
    // More elements are an error.
    maximum: u32,
    // Workgroups that divide the elements (of each array, if several are sorted) into shares: the
    // number of partial results, or of a digit's counts. At least 1.
    groups: u32,
    // The index of a single result in its buffer, in results.
    destination: u32,
    // Of a scan: 1 if the sum at an element includes the element, else 0.
    inclusive: u32,
    // Of a sort: the first bit of the digit in the key, and the digit's mask (at most 8 ones).
    first_bit: u32,
    digit_mask: u32,
    // Of a sort: the number of keys from the start of one array to that of the next.
    array_length: u32,
    // Of a sort: the number of shares whose counts one workgroup sums. At least 1.
    chunk: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> count: array<u32>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

// Vectors of four elements that an invocation of reduce, scan and compact holds at a time.
const VECTORS = 4u;

fn length() -> u32 {
    let n = count[params.count_index];
    return select(n, 0u, n > params.maximum);
}

// One invocation of a plan's first dispatch calls it. Dispatches run one after the other, so the
// first failure is kept.
fn report_length() {
    let n = count[params.count_index];
    if n > params.maximum && atomicLoad(&status[0]) == 0u {
        atomicStore(&status[0], n);
        atomicStore(&status[1], params.maximum);
    }
}

// The tiles [x, y) of workgroup `group` of `groups`, if `n` elements are divided into tiles of
// `tile`: a contiguous run each, so a fixed number of workgroups serves any length. n < 2^31, so
// nothing wraps; groups and tile are above 0.
fn share(n: u32, tile: u32, group: u32, groups: u32) -> vec2<u32> {
    let tiles = (n + tile - 1u) / tile;
    let each = (tiles + groups - 1u) / groups;
    let first = min(group * each, tiles);
    return vec2(first, min(first + each, tiles));
}

// Of a sort: the values of a digit.
const DIGITS = 256u;

// Of a sort: the tiles of `tile` keys that workgroup `group` serves in its array of `n` keys. Each
// array has params.groups workgroups.
fn part_tiles(n: u32, tile: u32, group: u32) -> vec2<u32> {
    return share(n, tile, group % params.groups, params.groups);
}

// Of a sort: the first key of workgroup `group`'s array.
fn array_start(group: u32) -> u32 {
    return group / params.groups * params.array_length;
}

// Of a sort: up to this many chunks, the kernel that needs the sums before them computes these
// itself.
const FEW_CHUNKS = 16u;

// Of a sort: the chunks of an array's shares.
fn chunks() -> u32 {
    return (params.groups + params.chunk - 1u) / params.chunk;
}

// Of a sort: the first count of array `number`, in rows of a word per digit: one per share, then
// one per chunk, then one per array with more than FEW_CHUNKS. A share's keys of a digit start at
// the sum of its three rows; with few chunks scatter.wgsl computes the last two.
fn counts_start(number: u32) -> u32 {
    return number * DIGITS * (params.groups + chunks() + select(0u, 1u, chunks() > FEW_CHUNKS));
}
