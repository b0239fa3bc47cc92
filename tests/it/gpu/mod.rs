//! The `gpu` module on a real adapter: buffers, kernels, limits and errors.

mod lost;
mod plans;

use std::time::Duration;

use crate::common;
use common::{POISON, gpu, own_gpu};
use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Program, Recipe, Source};

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

/// From 64 MiB on, buffers have memory of their own (on Vulkan).
#[test]
fn large_buffers_are_zeros_at_first_and_hold_what_is_written() {
    let gpu = &gpu();
    let len = (64 << 18) + 5;
    let ends = |buffer: &Buffer<u32>| {
        let part = |first| pollster::block_on(buffer.read_range(gpu, first, 6)).unwrap();
        [part(0), part(len / 2), part(len - 6)]
    };
    for round in 0..3u32 {
        let buffer = Buffer::storage(gpu, "large", len).unwrap();
        assert_eq!(ends(&buffer), [[0; 6]; 3], "what was there before shows in round {round}");
        let mut plan = Plan::new("large");
        let values: Vec<u32> = (1..=6).map(|value| value + round).collect();
        for first in [0, len / 2, len - 6] {
            buffer.write(gpu, first, &values).unwrap();
        }
        let copy = Buffer::<u32>::storage(gpu, "copy", len).unwrap();
        plan.copy("large", (buffer.raw(), 0), (copy.raw(), 0), 4 * (len - 1));
        plan.submit(gpu).unwrap();
        assert_eq!(ends(&buffer), [(); 3].map(|()| values.clone()));
        let [first, middle, mut last] = ends(&copy);
        assert_eq!((&first, &middle), (&values, &values));
        assert_eq!(last.pop(), Some(0));
        assert_eq!(last, values[..5]);
        plan.clear("large", buffer.raw());
        plan.submit(gpu).unwrap();
        assert_eq!(ends(&buffer), [[0; 6]; 3]);
        buffer.write(gpu, 0, &vec![u32::MAX; 1 << 16]).unwrap();
    }
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
        subgroups.layouts().iter().map(|layout| layout.group_size).collect::<Vec<_>>(),
        [32, 64, 128, 256]
    );
    for layout in subgroups.layouts() {
        let info = gpu.info();
        assert!(info.subgroup_min_size <= layout.min && layout.min <= layout.max, "{layout:?}");
        assert!(layout.max <= info.subgroup_max_size, "{layout:?}");
        assert_eq!(subgroups.of(layout.group_size), Some(layout));
    }
    assert_eq!(subgroups.of(48), None);
    // The measurement is cached for every handle of the device, and hidden from handles without the
    // feature.
    assert_eq!(gpu.checked().subgroups(), Some(subgroups));
    assert_eq!(gpu.without(wgpu::Features::SUBGROUP).subgroups(), None);
}

/// Mesa's software adapter and every known GPU fill whole subgroups in order. If this adapter did
/// not, the subgroup kernels would silently go untested.
#[test]
fn subgroups_of_mesas_processor_driver_are_whole() {
    let gpu = gpu();
    if gpu.info().name.contains("llvmpipe") {
        let subgroups = gpu.subgroups().expect("llvmpipe has subgroups");
        assert!(subgroups.layouts().iter().all(|layout| layout.whole && layout.in_order), "{subgroups:?}");
    }
}

/// More pieces than are in flight at once, from an unaligned offset; twice, so that memory is used
/// again.
#[test]
fn long_writes_are_whole_and_in_order() {
    let gpu = gpu();
    let len = 18 << 20;
    let buffer = Buffer::storage(&gpu, "long", len as u64 + 2).unwrap();
    for seed in [1u32, 2] {
        let values: Vec<u32> = (0..len).map(|i: u32| i.wrapping_mul(0x9e37_79b9) ^ seed).collect();
        buffer.write(&gpu, 0, &[POISON]).unwrap();
        buffer.write(&gpu, u64::from(len) + 1, &[POISON]).unwrap();
        buffer.write(&gpu, 1, &values).unwrap();
        // A short write after it, which takes another path.
        buffer.write(&gpu, 7, &[seed]).unwrap();
        let read = buffer.read(&gpu).unwrap();
        assert_eq!((read[0], read[len as usize + 1], read[7]), (POISON, POISON, seed));
        let differ = (1..).zip(&values).filter(|&(i, value)| i != 7 && read[i] != *value).count();
        assert_eq!(differ, 0);
    }
}

/// Threads poll the device, each for its own work, while others see the end of theirs.
#[test]
fn threads_that_share_a_device_wait_for_their_own_work() {
    let gpu = own_gpu().taken_for_hardware();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let gpu = &gpu;
            scope.spawn(move || {
                let buffer = Buffer::<u32>::storage(gpu, "of a thread", 64).unwrap();
                for round in 0..400 {
                    let values: Vec<u32> = (0..64).map(|i| thread << 24 | round << 8 | i).collect();
                    buffer.write(gpu, 0, &values).unwrap();
                    assert_eq!(buffer.read(gpu).unwrap(), values);
                }
            });
        }
    });
}

#[test]
fn ranges_beyond_the_end_are_typed_errors_and_never_wrap() {
    let gpu = gpu();
    let buffer = Buffer::storage_from(&gpu, "values", &[7u32; 10]).unwrap();
    for (first, len) in [(u64::MAX, 2), (2, u64::MAX), (u64::MAX, u64::MAX), (9, 2), (11, 0), (0, 11)] {
        let error = pollster::block_on(buffer.read_range(&gpu, first, len)).unwrap_err();
        let GpuError::OutOfRange { what, first: f, len: l, size } = &error else { panic!("{error:?}") };
        assert_eq!((*f, *l, *size), (first, len, 10));
        assert!(what.contains("values"), "{error}");
    }
    for (first, len) in [(u64::MAX, 2), (u64::MAX, 1), (9, 2), (11, 0), (0, 11)] {
        let error = buffer.write(&gpu, first, &vec![POISON; len]).unwrap_err();
        assert!(matches!(error, GpuError::OutOfRange { size: 10, .. }), "{error:?}");
    }
    assert_eq!(pollster::block_on(buffer.read_range(&gpu, 10, 0)).unwrap(), [0; 0]);
    buffer.write(&gpu, 10, &[]).unwrap();
    assert_eq!(buffer.read(&gpu).unwrap(), [7; 10]);
}

/// Buffers, some of which each entry point uses.
const STEPS: &str = "
@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> arguments: array<u32>;
@group(1) @binding(5) var<uniform> factor: vec4<u32>;
fn add(i: u32, more: u32) { if i < arrayLength(&counts) { counts[i] += more; } }
@compute @workgroup_size(1)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    add(group.y * groups.x + group.x, 1u);
}

@compute @workgroup_size(1) fn add_input(@builtin(workgroup_id) group: vec3<u32>) {
    add(group.x, factor.x * input[group.x]);
}

@compute @workgroup_size(1) fn ask() { arguments[1] = 7u; arguments[2] = 1u; arguments[3] = 1u; }
";

fn steps(entry: &'static str) -> Recipe {
    Recipe::new("steps", entry, [Source::new("steps.wgsl", STEPS)])
}

fn counts(gpu: &Gpu, len: usize) -> Buffer<u32> {
    Buffer::storage_from(gpu, "counts", &vec![0; len]).unwrap()
}

#[test]
fn bindings_are_those_of_the_entry_point() {
    let gpu = gpu();
    let program = steps("count").link().unwrap();
    let used = |entry| program.used(entry).map(|v| v.name.clone().unwrap()).collect::<Vec<_>>();
    assert_eq!(used("count"), ["counts"]);
    assert_eq!(used("add_input"), ["counts", "input", "factor"]);
    assert_eq!(used("nothing"), [""; 0]);
    // Only used bindings count, not declared ones.
    let limit = u64::from(gpu.limits().max_storage_buffers_per_shader_stage);
    let names = 0..=limit;
    let declare = |i| format!("@group(0) @binding({i}) var<storage, read_write> b{i}: array<u32>;\n");
    let declared: String = names.clone().map(declare).collect();
    let with = |used: std::ops::RangeInclusive<u64>| {
        let writes: String = used.map(|i| format!("b{i}[0] = 1u; ")).collect();
        let text = format!("{declared}@compute @workgroup_size(1) fn main() {{ {writes} }}");
        Recipe::new("many", "main", [Source::new("many.wgsl", text)]).kernel(&gpu)
    };
    with(3..=5).unwrap();
    let error = with(names).unwrap_err();
    assert!(
        matches!(error, GpuError::Limit { needed, limit: found, .. } if needed == limit + 1 && found == limit),
        "{error}"
    );
    let kernel = steps("add_input").kernel(&gpu).unwrap();
    let error = kernel.bind(&gpu, &[]).unwrap_err();
    assert!(matches!(&error, GpuError::Unbound { variable, .. } if variable == "counts"), "{error}");
}

#[test]
fn a_device_builds_a_recipe_once_in_each_way() {
    let gpu = gpu();
    let recipe = Recipe::new("double", "double", [Source::new("double.wgsl", DOUBLE)]);
    let kernel = recipe.kernel(&gpu).unwrap();
    assert_eq!(recipe.clone().kernel(&gpu.clone()).unwrap(), kernel);
    // Another value, another file, another entry: another kernel.
    assert_ne!(recipe.clone().with([("SIZE", 32.0)]).kernel(&gpu).unwrap(), kernel);
    let other = Source::new("double.wgsl", DOUBLE.replace("* 2u", "* 3u"));
    assert_ne!(Recipe::new("double", "double", [other]).kernel(&gpu).unwrap(), kernel);
    assert_ne!(steps("ask").kernel(&gpu).unwrap(), steps("count").kernel(&gpu).unwrap());
    // Without checks it is another one, unless the device omits none. SAFETY: the kernel compares
    // its index with the count, which is the buffers' length, has no loop and no divisor, and is
    // not dispatched.
    let (trusted, checked) =
        unsafe { (recipe.trusted(&gpu).unwrap(), recipe.trusted(&gpu.checked()).unwrap()) };
    assert_ne!(trusted, kernel);
    assert_eq!(checked, kernel);
    // SAFETY: as above.
    assert_eq!(unsafe { recipe.trusted(&gpu) }.unwrap(), trusted);
    // Another device.
    assert_ne!(recipe.kernel(&Gpu::from_device(gpu.device().clone(), gpu.queue().clone())).unwrap(), kernel);
}

#[test]
fn a_device_without_a_feature_is_not_served_what_one_with_it_built() {
    let gpu = gpu();
    let feature = wgpu::Features::SUBGROUP;
    assert!(gpu.has(feature), "Mesa's driver has subgroups, and so has every GPU that is tested on");
    let text = "// requires: subgroups\n@compute @workgroup_size(1) fn main() {}";
    let recipe = Recipe::new("sub", "main", [Source::new("sub.wgsl", text)]);
    recipe.kernel(&gpu).unwrap();
    let error = recipe.kernel(&gpu.without(feature)).unwrap_err();
    assert!(matches!(error, GpuError::MissingFeature { .. }), "{error}");
    assert_ne!(steps("ask").kernel(&gpu).unwrap(), steps("ask").kernel(&gpu.without(feature)).unwrap());
}

#[test]
fn what_does_not_link_is_an_error_of_the_recipe() {
    let recipe = Recipe::new("bad", "main", [Source::new("bad.wgsl", "fn f() -> u32 { return missing; }")]);
    let error = recipe.kernel(&gpu()).unwrap_err();
    assert!(matches!(&error, GpuError::Link(_)) && error.to_string().starts_with("bad.wgsl:1:"), "{error}");
}

/// Work for a second on a CPU: a wait of zero length returns before any device has done it.
const LONG: &str = "
@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@compute @workgroup_size(64) fn long(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = id.x;
    for (var i = 0u; i < 60000u; i++) { x = x * 1664525u + 1013904223u; }
    counts[id.x % arrayLength(&counts)] = x;
}

";

#[test]
fn a_wait_is_bounded_and_says_what_to_do() {
    let gpu = own_gpu();
    let kernel = Recipe::new("long", "long", [Source::new("long.wgsl", LONG)]).kernel(&gpu).unwrap();
    let counts = counts(&gpu, 16);
    let mut plan = Plan::new("long");
    plan.dispatch(&gpu, &kernel, 200, &[("counts", counts.binding())]).unwrap();
    let submission = plan.submit(&gpu).unwrap();
    let error = gpu.waiting(Duration::ZERO).wait(submission.clone()).unwrap_err();
    assert!(matches!(error, GpuError::Timeout { .. }), "{error}");
    assert!(error.to_string().contains("process"), "{error}");
    // It was slow, but did not hang.
    gpu.wait(submission).unwrap();
}
