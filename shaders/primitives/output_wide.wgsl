// A scan's output, two words per element, low word first.

@group(0) @binding(5) var<storage, read_write> output: array<vec4<u32>>;

fn narrowed(sum: vec2<u32>) -> Acc {
    return sum;
}

// The four elements of a vector, as far as they lie before n; two to a vector of the output.
fn store(vector: u32, n: u32, x: Acc, y: Acc, z: Acc, w: Acc) {
    let left = n - vector * 4u;
    store_pair(vector * 2u, left, x, y);
    if left > 2u {
        store_pair(vector * 2u + 1u, left - 2u, z, w);
    }
}

fn store_pair(at: u32, left: u32, x: Acc, y: Acc) {
    if left >= 2u {
        output[at] = vec4(x, y);
        return;
    }
    output[at].x = x.x;
    output[at].y = x.y;
}
