//! The `gpu` module on a real adapter: buffers, kernels, limits and errors.

mod common;

use common::{POISON, gpu, own_gpu};
use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, Program, Source};

const DOUBLE: &str = "
override SIZE: u32 = 64u;
@group(0) @binding(0) var<uniform> count: vec4<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(SIZE)
fn double(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * groups.x + group.x) * SIZE + lane;
    if i < count.x { output[i] = input[i] * 2u; }
}
";

fn double(gpu: &Gpu, values: &[u32], size: u32) -> Result<Vec<u32>, GpuError> {
    let program = Program::link("double", &[Source::new("double.wgsl", DOUBLE)])?;
    let kernel = Kernel::new(gpu, &program, "double", &[("SIZE", f64::from(size))])?;
    let len = u32::try_from(values.len()).unwrap();
    let count = Buffer::uniform(gpu, "count", &[len, 0, 0, 0])?;
    let input = Buffer::storage_from(gpu, "input", values)?;
    let output = Buffer::storage_from(gpu, "output", &vec![POISON; values.len()])?;
    let bindings = kernel
        .bind(gpu, &[("count", count.binding()), ("input", input.binding()), ("output", output.binding())])?;
    let mut encoder = gpu.encoder("test");
    kernel.dispatch(&mut encoder.begin_compute_pass(&Default::default()), &bindings, len.div_ceil(size));
    gpu.submit(encoder)?;
    output.read(gpu)
}

#[test]
fn kernels_run_around_every_workgroup_boundary_and_beyond_the_first_dimension() {
    let gpu = gpu();
    for len in [0u32, 1, 63, 64, 65, 127, 128, 129, 4096, 70_001] {
        for size in [1, 64, 256] {
            let values: Vec<u32> = (0..len).collect();
            let expected: Vec<u32> = values.iter().map(|v| v * 2).collect();
            assert_eq!(double(&gpu, &values, size).unwrap(), expected, "{len} values, workgroups of {size}");
        }
    }
}

#[test]
fn a_buffer_beyond_the_limit_is_a_typed_error_that_names_it() {
    let gpu = gpu();
    let words = gpu.max_buffer_bytes() / 4 + 1;
    let error = Buffer::<u32>::storage(&gpu, "events", words).unwrap_err();
    assert!(
        matches!(&error, GpuError::TooLarge { what, needed, limit } if what == "events" && needed > limit)
    );
}

#[test]
fn an_unbound_variable_is_named() {
    let gpu = gpu();
    let program = Program::link("double", &[Source::new("double.wgsl", DOUBLE)]).unwrap();
    let kernel = Kernel::new(&gpu, &program, "double", &[]).unwrap();
    let error = kernel.bind(&gpu, &[]).unwrap_err();
    assert!(matches!(&error, GpuError::Unbound { variable, .. } if variable == "count"), "{error}");
}

#[test]
fn what_the_driver_refuses_is_returned_and_does_not_panic() {
    let gpu = gpu();
    let program = Program::link("double", &[Source::new("double.wgsl", DOUBLE)]).unwrap();
    let error = Kernel::new(&gpu, &program, "double", &[("SIZE", 1e6)]).unwrap_err();
    assert!(matches!(error, GpuError::Refused { .. }), "{error}");
    let error = Kernel::new(&gpu, &program, "no_such_entry", &[]).unwrap_err();
    assert!(matches!(error, GpuError::Refused { .. }), "{error}");
}

#[test]
fn a_feature_that_the_device_lacks_is_named() {
    let gpu = gpu().without(wgpu::Features::all());
    let source = Source::new("wide.wgsl", "// requires: int64\n@compute @workgroup_size(1) fn main() {}");
    let program = Program::link("wide", &[source]).unwrap();
    let error = Kernel::new(&gpu, &program, "main", &[]).unwrap_err();
    assert!(
        matches!(&error, GpuError::MissingFeature { feature, .. } if feature.contains("INT64")),
        "{error}"
    );
}

#[test]
fn a_lost_device_is_an_error_of_every_later_call() {
    let gpu = own_gpu();
    gpu.device().destroy();
    let error = double(&gpu, &[1, 2, 3], 64).unwrap_err();
    assert!(matches!(error, GpuError::Lost { .. }), "{error:?}");
}

#[test]
fn an_applications_device_serves_too() {
    let own = gpu();
    let lent = Gpu::from_device(own.device().clone(), own.queue().clone());
    assert_eq!(double(&lent, &[1, 2, 3], 64).unwrap(), [2, 4, 6]);
    assert_eq!(lent.info().name, own.info().name);
}

#[test]
fn parts_of_a_buffer_read_back() {
    let gpu = gpu();
    let values: Vec<u32> = (0..1000).collect();
    let buffer = Buffer::storage_from(&gpu, "values", &values).unwrap();
    let part = pollster::block_on(buffer.read_range(&gpu, 17, 100)).unwrap();
    assert_eq!(part, values[17..117]);
    buffer.write(&gpu, 5, &[77]).unwrap();
    assert_eq!(buffer.read(&gpu).unwrap()[4..7], [4, 77, 6]);
}

#[test]
fn the_probe_of_subgroups_sees_what_the_adapter_says() {
    let gpu = gpu();
    let Some(subgroups) = gpu.subgroups() else {
        assert!(!gpu.has(wgpu::Features::SUBGROUP), "a device with subgroups answers the probe");
        return;
    };
    assert_eq!(
        subgroups.layouts().iter().map(|layout| layout.workgroup).collect::<Vec<_>>(),
        [32, 64, 128, 256]
    );
    for layout in subgroups.layouts() {
        let info = gpu.info();
        assert!(info.subgroup_min_size <= layout.min && layout.min <= layout.max, "{layout:?}");
        assert!(layout.max <= info.subgroup_max_size, "{layout:?}");
        assert_eq!(subgroups.of(layout.workgroup), Some(layout));
    }
    assert_eq!(subgroups.of(48), None);
    // The answer is kept, for every handle of the device, and hidden from handles without the feature.
    assert_eq!(gpu.checked().subgroups(), Some(subgroups));
    assert_eq!(gpu.without(wgpu::Features::SUBGROUP).subgroups(), None);
}

/// Mesa's processor driver and every GPU that is known fill whole subgroups in order. Were it not so here, the subgroup
/// kernels would go untested in silence.
#[test]
fn subgroups_of_mesas_processor_driver_are_whole() {
    let gpu = gpu();
    if gpu.info().name.contains("llvmpipe") {
        let subgroups = gpu.subgroups().expect("llvmpipe has subgroups");
        assert!(subgroups.layouts().iter().all(|layout| layout.whole && layout.in_order), "{subgroups:?}");
    }
}
