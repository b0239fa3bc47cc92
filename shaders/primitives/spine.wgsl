// The middle step of scan and compact: one workgroup turns the shares' sums into the sums before each share.
//
// partials  one 64-bit sum per workgroup, `task.options` of them, replaced by the sum of those before it
// total     the sum of all, at total[task.destination]
// import: primitives/count.wgsl

@group(0) @binding(3) var<storage, read_write> partials: array<Acc>;
@group(0) @binding(4) var<storage, read_write> total: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn spine(at: Place) {
    let lane = lane_of(at);
    var carry = IDENTITY;
    for (var first = 0u; first < task.options; first += GROUP_SIZE) {
        let i = first + lane;
        var value = IDENTITY;
        if i < task.options {
            value = partials[i];
        }
        let scanned = block_scan(at, value);
        if i < task.options {
            partials[i] = combine(carry, scanned.before);
        }
        carry = combine(carry, scanned.all);
    }
    if lane == 0u {
        store_total(carry);
    }
}
