//! The maps of keys in WGSL against those in Rust.

use super::common::{POISON, gpu};
use eventhorizon::gpu::{Buffer, Kernel, Program, Source};
use eventhorizon::primitives::keys;

const KEYS: &str = "
// import: primitives/keys.wgsl
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    let word = words[at.x];
    let signed = key_from_i32(bitcast<i32>(word));
    let floating = key_from_f32_bits(word);
    found[at.x] = vec4(signed, bitcast<u32>(i32_from_key(signed)), floating, f32_bits_from_key(floating));
}
";

#[test]
fn the_key_maps_are_the_same_on_both_sides() {
    let gpu = gpu();
    let mut words: Vec<u32> = (0..1024 - 8u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    words.extend([0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff, 0x7f80_0000, 0xff80_0000]);
    let program = Program::link("keys", &[Source::new("keys test", KEYS)]).unwrap();
    let kernel = Kernel::new(&gpu, &program, "main", &[]).unwrap();
    let input = Buffer::storage_from(&gpu, "words", &words).unwrap();
    let found = Buffer::storage_from(&gpu, "found", &vec![[POISON; 4]; words.len()]).unwrap();
    let bindings = kernel.bind(&gpu, &[("words", input.binding()), ("found", found.binding())]).unwrap();
    let mut encoder = gpu.encoder("test");
    kernel.dispatch(&mut encoder.begin_compute_pass(&Default::default()), &bindings, 16);
    gpu.submit(encoder).unwrap();
    let expected: Vec<[u32; 4]> = words
        .iter()
        .map(|&word| {
            [keys::key_from_i32(word.cast_signed()), word, keys::key_from_f32(f32::from_bits(word)), word]
        })
        .collect();
    assert_eq!(found.read(&gpu).unwrap(), expected);
}
