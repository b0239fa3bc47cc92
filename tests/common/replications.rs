//! Helpers that the tests of replications share.

use eventhorizon::gpu::Gpu;
use eventhorizon::replication::{Design, Experiment, Mapping, Results};

use super::gpu;

pub const SEED: u64 = 0x5eed_0000_0003;

pub fn experiment(replications: u32) -> Experiment {
    Experiment::new(Design::default(), replications, SEED)
}

pub fn optional() -> wgpu::Features {
    wgpu::Features::SUBGROUP | wgpu::Features::SHADER_INT64
}

/// The adapter as it is, and as if it lacked all optional features.
pub fn gpus() -> [(Gpu, &'static str); 2] {
    let gpu = gpu();
    [(gpu.without(optional()), "baseline"), (gpu, "as it is")]
}

pub const SCALAR: [Mapping; 2] = [Mapping::Thread, Mapping::Warp];

pub fn assert_same<O: bytemuck::Pod>(gpu: &Results<O>, cpu: &Results<O>, what: &str) {
    let differs = gpu
        .outputs
        .iter()
        .zip(&cpu.outputs)
        .position(|(a, b)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b));
    assert_eq!(differs, None, "{what}: first replication that differs");
    assert_eq!(gpu.outputs.len(), cpu.outputs.len(), "{what}");
    assert_eq!(gpu.fingerprint, cpu.fingerprint, "{what}: outcomes");
    for (gpu, cpu) in gpu.observations.iter().zip(&cpu.observations) {
        assert_eq!(gpu.columns(), cpu.columns(), "{what}");
        assert!(gpu.failures().eq(cpu.failures()), "{what}");
    }
}
