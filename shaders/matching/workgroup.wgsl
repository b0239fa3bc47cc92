// What the kernels of the room share: the size of a workgroup, its number, and prefix sums over its threads.

const SIZE = 256u;

var<workgroup> sums: array<u32, SIZE>;

// The number of a workgroup in the grid of Kernel::dispatch.
fn number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}

// The sum over the threads before this one. Its bounds: SIZE is a power of two, 8 rounds. Uniform control flow
// only.
fn sum_before(lane: u32, value: u32) -> u32 {
    sums[lane] = value;
    workgroupBarrier();
    for (var step = 1u; step < SIZE; step *= 2u) {
        var before = 0u;
        if lane >= step {
            before = sums[lane - step];
        }
        workgroupBarrier();
        sums[lane] += before;
        workgroupBarrier();
    }
    return sums[lane] - value;
}

// The sum over all threads, after `sum_before`.
fn sum_of_all() -> u32 {
    return sums[SIZE - 1u];
}

// 64-bit numbers are two words, low and high.
fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn at_most(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x <= b.x);
}
