// The second step of a radix sort's pass: where each workgroup's share of each digit begins, within the digit.
//
// counts  per array counts[digit * task.options + workgroup], replaced by the sum over the workgroups before;
//         counts[256 * task.options + digit] becomes how often the digit occurs in all
//
// One workgroup serves one digit of one array.
// import: primitives/count.wgsl

const DIGITS = 256u;

@group(0) @binding(3) var<storage, read_write> counts: array<Acc>;

@compute @workgroup_size(GROUP_SIZE)
fn digits(
    @builtin(workgroup_id) group: vec3<u32>, at: Place
) {
    let lane = lane_of(at);
    let digit = group.x % DIGITS;
    let start = group.x / DIGITS * DIGITS * (task.options + 1u);
    let row = start + digit * task.options;
    var carry = IDENTITY;
    for (var first = 0u; first < task.options; first += GROUP_SIZE) {
        let i = first + lane;
        var value = IDENTITY;
        if i < task.options {
            value = counts[row + i];
        }
        let scanned = block_scan(at, value);
        if i < task.options {
            counts[row + i] = combine(carry, scanned.before);
        }
        carry = combine(carry, scanned.all);
    }
    if lane == 0u {
        counts[start + DIGITS * task.options + digit] = carry;
    }
}
