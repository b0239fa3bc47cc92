//! Random programs: a CPU engine against a device.

use super::compare::{check, run, runner};
use super::engines;
use super::programs::{BINDINGS, Dialect, contents};
use crate::gpu::{Buffer, Gpu, Kernel, Program, Source};

#[test]
fn a_device_computes_the_same() {
    let gpu = Gpu::new().unwrap_or_else(|error| panic!("this test needs an adapter: {error}"));
    check(runner(20, 5000), Dialect::Portable, |text, seed| {
        let mut expected = run(text, seed, engines()[0]);
        expected.truncate(expected.len() - contents(seed)[4].len());
        [on_device(&gpu, text, seed), expected]
    });
}

/// The storage buffers after a run.
fn on_device(gpu: &Gpu, text: &str, seed: u32) -> Vec<u32> {
    let program = Program::link("random", &[Source::new("random.wgsl", text.to_owned())]).unwrap();
    let kernel = Kernel::new(gpu, &program, "main", &[]).unwrap();
    let contents = contents(seed);
    let (setup, stored) = contents.split_last().unwrap();
    let stored: Vec<_> = BINDINGS
        .iter()
        .zip(stored)
        .map(|(name, words)| Buffer::storage_from(gpu, name, words).unwrap())
        .collect();
    let setup = Buffer::uniform_from(gpu, "setup", setup).unwrap();
    let bindings: Vec<_> =
        BINDINGS.iter().copied().zip(stored.iter().map(Buffer::binding).chain([setup.binding()])).collect();
    let bindings = kernel.bind(gpu, &bindings).unwrap();
    let mut encoder = gpu.encoder("random");
    kernel.dispatch(&mut encoder.begin_compute_pass(&Default::default()), &bindings, 1);
    gpu.submit(encoder).unwrap();
    stored.iter().flat_map(|buffer| buffer.read(gpu).unwrap()).collect()
}
