//! Plans.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::common::{POISON, gpu};
use super::{counts, steps};
use eventhorizon::gpu::{Buffer, Plan};

#[test]
fn steps_of_a_plan_see_what_the_ones_before_wrote() {
    let gpu = gpu();
    let kernel = steps("count").kernel(&gpu).unwrap();
    let (counts, copy) = (counts(&gpu, 16), Buffer::storage_from(&gpu, "copy", &[POISON; 16]).unwrap());
    let mut plan = Plan::new("order");
    assert!(plan.is_empty());
    plan.dispatch(&gpu, &kernel, 16, &[("counts", counts.binding())]).unwrap();
    plan.copy("all but one", (counts.raw(), 0), (copy.raw(), 4), 60);
    let mut rest = Plan::new("rest");
    rest.dispatch(&gpu, &kernel, 16, &[("counts", counts.binding())]).unwrap();
    rest.clear("counts", counts.raw());
    rest.dispatch(&gpu, &kernel, 5, &[("counts", counts.binding())]).unwrap();
    plan.append(&rest);
    assert!(!plan.is_empty());

    gpu.wait(plan.submit(&gpu).unwrap()).unwrap();
    let five_ones = [[1; 5].as_slice(), &[0; 11]].concat();
    assert_eq!(counts.read(&gpu).unwrap(), five_ones);
    assert_eq!(copy.read(&gpu).unwrap(), [[POISON].as_slice(), &[1; 15]].concat());

    let mut encoder = gpu.encoder("twice");
    plan.record_times(&mut encoder, 2);
    gpu.submit(encoder).unwrap();
    assert_eq!(counts.read(&gpu).unwrap(), five_ones);
    assert_eq!(copy.read(&gpu).unwrap(), [[POISON].as_slice(), &[2; 5], &[1; 10]].concat());

    let mut encoder = gpu.encoder("not at all");
    plan.record_times(&mut encoder, 0);
    gpu.submit(encoder).unwrap();
    assert_eq!(counts.read(&gpu).unwrap(), five_ones);
}

#[test]
fn a_plan_changes_kernels_and_buffers_between_dispatches() {
    let gpu = gpu();
    let (count, add) = (steps("count").kernel(&gpu).unwrap(), steps("add_input").kernel(&gpu).unwrap());
    let (one, two) = (counts(&gpu, 4), counts(&gpu, 4));
    let input = Buffer::storage_from(&gpu, "input", &[10, 20, 30, 40u32]).unwrap();
    let factor = Buffer::uniform(&gpu, "factor", &[3u32, 0, 0, 0]).unwrap();
    let mut plan = Plan::new("mixed");
    for (kernel, counts) in [(&count, &one), (&count, &two), (&add, &one), (&count, &one), (&add, &two)] {
        let buffers =
            [("factor", factor.binding()), ("counts", counts.binding()), ("input", input.binding())];
        plan.dispatch(&gpu, kernel, 4, &buffers).unwrap();
    }
    let mut encoder = gpu.encoder("an application's pass");
    plan.record_in(&mut encoder.begin_compute_pass(&Default::default()));
    plan.record(&mut encoder);
    gpu.submit(encoder).unwrap();
    assert_eq!(one.read(&gpu).unwrap(), [64, 124, 184, 244]);
    assert_eq!(two.read(&gpu).unwrap(), [62, 122, 182, 242]);
}

#[test]
fn a_plan_dispatches_beyond_the_first_dimension() {
    let gpu = gpu();
    let kernel = steps("count").kernel(&gpu).unwrap();
    let counts = counts(&gpu, 70_001);
    let mut plan = Plan::new("wide");
    plan.dispatch(&gpu, &kernel, 70_001, &[("counts", counts.binding())]).unwrap();
    plan.submit(&gpu).unwrap();
    assert_eq!(counts.read(&gpu).unwrap(), vec![1; 70_001]);
}

#[test]
fn a_kernel_says_how_many_workgroups_the_next_one_has() {
    let gpu = gpu();
    let (ask, count) = (steps("ask").kernel(&gpu).unwrap(), steps("count").kernel(&gpu).unwrap());
    let counts = counts(&gpu, 16);
    let arguments = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
        mapped_at_creation: false,
    });
    let mut plan = Plan::new("indirect");
    plan.dispatch(&gpu, &ask, 1, &[("arguments", arguments.as_entire_binding())]).unwrap();
    plan.dispatch_indirect(&gpu, &count, (&arguments, 4), &[("counts", counts.binding())]).unwrap();
    plan.submit(&gpu).unwrap();
    assert_eq!(counts.read(&gpu).unwrap(), [[1; 7].as_slice(), &[0; 9]].concat());
}

#[test]
fn a_plan_prints_a_line_for_each_step() {
    let gpu = gpu();
    let add = steps("add_input").kernel(&gpu).unwrap();
    let counts = counts(&gpu, 100);
    let factor = Buffer::uniform(&gpu, "factor", &[3u32, 0, 0, 0]).unwrap();
    let part = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer: counts.raw(),
        offset: 256,
        size: std::num::NonZero::new(64),
    });
    let input = Buffer::<u32>::storage(&gpu, "input", 16).unwrap();
    let buffers = [("counts", part), ("input", input.binding()), ("factor", factor.binding())];
    let mut plan = Plan::new("print");
    plan.clear("the counts", counts.raw());
    plan.dispatch(&gpu, &add, 9, &buffers).unwrap();
    plan.dispatch_indirect(&gpu, &add, (input.raw(), 12), &buffers).unwrap();
    plan.copy("back", (counts.raw(), 8), (input.raw(), 16), 24);
    let bound = "writes counts (64 bytes from byte 256), reads input (64 bytes), uniform factor (16 bytes)";
    let expected = format!(
        "plan \"print\"
   0  clear the counts: 400 bytes
   1  dispatch steps::add_input x 9: {bound}
   2  dispatch steps::add_input x (the words at byte 12 of a buffer): {bound}
   3  copy back: 24 bytes, from byte 8 to byte 16
"
    );
    assert_eq!(plan.to_string(), expected);
}

#[test]
fn a_pass_refuses_a_plan_with_copies_and_shows_it() {
    let gpu = gpu();
    let counts = counts(&gpu, 4);
    let mut plan = Plan::new("copies");
    plan.clear("the counts", counts.raw());
    let mut encoder = gpu.encoder("test");
    let mut pass = encoder.begin_compute_pass(&Default::default());
    let panic = catch_unwind(AssertUnwindSafe(|| plan.record_in(&mut pass))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("accepts only dispatches") && text.contains("clear the counts: 16 bytes"),
        "{text}"
    );
}
