// The kernels of `self_test`, one each for functions of the library and parts of WGSL that all
// kernels depend on. One invocation serves a case, or its part of a workgroup's; src/self_test.rs
// has the answers.
//
// import: random/philox.wgsl
// import: random/distributions.wgsl
// import: gpu/loops.wgsl

const GROUP = 64u;
const ROUNDS = 8u;

@group(0) @binding(0) var<storage, read> self_test_input: array<u32>;
@group(0) @binding(1) var<storage, read_write> self_test_output: array<u32>;
@group(0) @binding(2) var<storage, read_write> self_test_atomics: array<atomic<u32>>;

// in: counter (4), key (2); out: block (4).
@compute @workgroup_size(GROUP)
fn philox(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 6u;
    if i + 6u > arrayLength(&self_test_input) { return; }
    let counter = vec4<u32>(self_test_input[i], self_test_input[i + 1u], self_test_input[i + 2u], self_test_input[i + 3u]);
    let block = philox4x32(counter, vec2<u32>(self_test_input[i + 4u], self_test_input[i + 5u]));
    for (var k = 0u; k < 4u; k += 1u) {
        self_test_output[id.x * 4u + k] = block[k];
    }
}

// in: word; out: variate in units of 2^-59 (2).
@compute @workgroup_size(GROUP)
fn exponentials(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&self_test_input) { return; }
    let unit = exponential_unit(self_test_input[id.x]);
    self_test_output[id.x * 2u] = unit.x;
    self_test_output[id.x * 2u + 1u] = unit.y;
}

// All invocations update the same words: sum, minimum, maximum, bits, and a sum by
// compare-exchange, which may fail, is tried ROUNDS times, and counts its successes in the second
// word.
@compute @workgroup_size(GROUP)
fn atomics(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&self_test_atomics[0], id.x);
    atomicMin(&self_test_atomics[1], id.x ^ 0x55u);
    atomicMax(&self_test_atomics[2], id.x ^ 0x55u);
    atomicOr(&self_test_atomics[3], 1u << (id.x % 32u));
    for (var k = 0u; k < ROUNDS; k += 1u) {
        let old = atomicLoad(&self_test_atomics[4]);
        if atomicCompareExchangeWeak(&self_test_atomics[4], old, old + 3u).exchanged {
            atomicAdd(&self_test_atomics[5], 1u);
            break;
        }
    }
}

var<workgroup> self_test_words: array<u32, GROUP>;

// Each round, an invocation reads what the opposite one wrote in the round before. Out: one word
// each.
@compute @workgroup_size(GROUP)
fn barriers(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var word = id.x;
    for (var round = 0u; round < ROUNDS; round += 1u) {
        self_test_words[lane] = word;
        workgroupBarrier();
        word = self_test_words[GROUP - 1u - lane] * 3u + round;
        workgroupBarrier();
    }
    self_test_output[id.x] = word;
}

// in: iterations, bound; out: whether the driver ended the loop early, and its iterations.
// (Software adapters end it after 65,535.)
@compute @workgroup_size(1)
fn loops() {
    var made = 0u;
    for (var i = 0u; i < min(self_test_input[0], 1u << 20u); i += 1u) {
        made += self_test_input[1];
    }
    self_test_output[0] = u32(loops_cut(self_test_input[1]));
    self_test_output[1] = made;
}
