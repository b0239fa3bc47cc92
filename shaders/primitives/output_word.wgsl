// A scan's output, one word per element, sums modulo 2^32.

@group(0) @binding(5) var<storage, read_write> output: array<vec4<u32>>;

fn narrowed(sum: vec2<u32>) -> Acc {
    return sum.x;
}

// The four elements of a vector, as far as they lie before n.
fn store(vector: u32, n: u32, x: Acc, y: Acc, z: Acc, w: Acc) {
    let left = n - vector * 4u;
    if left >= 4u {
        output[vector] = vec4(x, y, z, w);
        return;
    }
    output[vector].x = x;
    if left > 1u {
        output[vector].y = y;
    }
    if left > 2u {
        output[vector].z = z;
    }
}
