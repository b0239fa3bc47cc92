// How many elements a task works on, read when it runs, and how the work is cut.
//
// task    what the host fixed when it bound the task
// count   count[task.count_index] is the number of elements; a word of the caller's, or of the host's own
// status  [count, maximum] of the first task whose count was larger than its maximum, else zeros
//
// A count beyond the maximum is recorded, and the task does what it does for no elements.

struct TaskParams {
    count_index: u32,
    maximum: u32,
    first_bit: u32,
    digit_mask: u32,
    destination: u32,
    options: u32,
    array_length: u32,
    unused: u32,
}

// A thread holds this many vectors of four elements at a time.
const VECTORS = 4u;

@group(0) @binding(0) var<uniform> task: TaskParams;
@group(0) @binding(1) var<storage, read> count: array<u32>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

fn length() -> u32 {
    let n = count[task.count_index];
    return select(n, 0u, n > task.maximum);
}

// For one thread of a task's first dispatch. Dispatches run one after the other, so the first failure stays.
fn report_length() {
    let n = count[task.count_index];
    if n > task.maximum && atomicLoad(&status[0]) == 0u {
        atomicStore(&status[0], n);
        atomicStore(&status[1], task.maximum);
    }
}

// The tiles [x, y) of workgroup `group` of `groups`, when `n` elements are cut into tiles of `tile`: a contiguous run
// each, so that a fixed number of workgroups serves any length. n < 2^31, so nothing wraps.
fn share(n: u32, tile: u32, group: u32, groups: u32) -> vec2<u32> {
    let tiles = (n + tile - 1u) / tile;
    let each = (tiles + groups - 1u) / groups;
    let first = min(group * each, tiles);
    return vec2(first, min(first + each, tiles));
}
