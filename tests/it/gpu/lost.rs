//! A device that is lost, and an application that owns one.

use std::sync::{Arc, Mutex};

use super::common::{gpu, own_gpu};
use super::{DOUBLE, double, steps};
use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Program, Recipe, Source, Submission};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{Options, Simulation, Until};
use eventhorizon::time::{Resolution, Ticks};

/// Objects that are created while a device works.
struct Kit {
    recipe: Recipe,
    kernel: Kernel,
    buffer: Buffer<u32>,
    plan: Plan,
    submission: Submission,
}

impl Kit {
    fn new(gpu: &Gpu) -> Self {
        let recipe = steps("count");
        let kernel = recipe.kernel(gpu).unwrap();
        let buffer = Buffer::storage(gpu, "counts", 16).unwrap();
        let mut plan = Plan::new("kit");
        plan.dispatch(gpu, &kernel, 16, &[("counts", buffer.binding())]).unwrap();
        plan.clear("counts", buffer.raw());
        let submission = plan.submit(gpu).unwrap();
        Self { recipe, kernel, buffer, plan, submission }
    }

    /// Every kind of call on a lost device is the same error, and none panics.
    fn check_lost(&self, gpu: &Gpu) {
        let fresh = Recipe::new("fresh", "double", [Source::new("double.wgsl", DOUBLE)]);
        let errors = [
            ("read", self.buffer.read(gpu).err()),
            ("read of a part", pollster::block_on(self.buffer.read_range(gpu, 3, 4)).err()),
            ("write", self.buffer.write(gpu, 0, &[1]).err()),
            ("storage", Buffer::<u32>::storage(gpu, "new", 4).err()),
            ("storage with values", Buffer::storage_from(gpu, "new", &[1u32]).err()),
            ("uniform", Buffer::uniform(gpu, "new", &[1u32; 4]).err()),
            ("bind", self.kernel.bind(gpu, &[("counts", self.buffer.binding())]).err()),
            ("new kernel", fresh.kernel(gpu).err()),
            ("plan", self.plan.submit(gpu).err()),
            ("empty submission", gpu.submit(gpu.encoder("empty")).err()),
            ("wait", gpu.wait(self.submission.clone()).err()),
        ];
        for (what, error) in errors {
            assert!(matches!(error, Some(GpuError::Lost { .. })), "{what}: {error:?}");
        }
        assert_eq!(self.recipe.kernel(gpu).unwrap(), self.kernel, "what is built stays in the cache");
    }
}

#[test]
fn a_lost_device_is_an_error_of_every_later_call() {
    let gpu = own_gpu();
    let kit = Kit::new(&gpu);
    gpu.device().destroy();
    kit.check_lost(&gpu);
    assert_eq!(gpu.subgroups(), None, "it was not measured before the loss");
    assert!(matches!(double(&gpu, &[1, 2, 3], 64), Err(GpuError::Lost { .. })));
}

/// Each call is the first one after the loss once, since later ones may use what it found out.
/// Calls that return no data may miss the loss; the next call that does must report it.
#[test]
fn whichever_call_comes_first_no_result_comes_from_a_lost_device() {
    let calls: [fn(&Gpu, &Kit) -> Option<GpuError>; 6] = [
        |gpu, kit| kit.buffer.read(gpu).err(),
        |gpu, kit| kit.buffer.write(gpu, 0, &[1]).err(),
        |gpu, _| Buffer::<u32>::storage(gpu, "new", 4).err(),
        |gpu, kit| kit.kernel.bind(gpu, &[("counts", kit.buffer.binding())]).err(),
        |gpu, kit| kit.plan.submit(gpu).err(),
        |gpu, kit| gpu.wait(kit.submission.clone()).err(),
    ];
    let own = own_gpu();
    let heard = listen(own.device());
    // Fresh handles of a device do not share what another one found out.
    let lent: Vec<_> =
        calls.iter().map(|_| Gpu::from_device(own.device().clone(), own.queue().clone())).collect();
    let kits: Vec<_> = lent.iter().map(Kit::new).collect();
    own.device().destroy();
    for (number, call) in calls.iter().enumerate() {
        let (gpu, kit) = (&lent[number], &kits[number]);
        let first = call(gpu, kit);
        assert!(matches!(first, None | Some(GpuError::Lost { .. })), "call {number}: {first:?}");
        let error = kit.buffer.read(gpu).unwrap_err();
        assert!(matches!(error, GpuError::Lost { .. }), "after call {number}: {error}");
        kit.check_lost(gpu);
    }
    assert_eq!(*heard.lock().unwrap(), [""; 0]);
}

/// The errors that an application's own handler receives.
fn listen(device: &wgpu::Device) -> Arc<Mutex<Vec<String>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    device.on_uncaptured_error(Arc::new(move |error| hear.lock().unwrap().push(error.to_string())));
    heard
}

#[test]
fn an_application_that_loses_its_device_hears_nothing_of_the_librarys_calls() {
    let own = own_gpu();
    let heard = listen(own.device());
    let lent = Gpu::from_device(own.device().clone(), own.queue().clone());
    let kit = Kit::new(&lent);
    let model = Phold::new(20, 2, 0.1, 10.0, Resolution::default()).unwrap();
    let mut simulation = Simulation::new(&lent, &model, Options::default()).unwrap();
    own.device().destroy();
    let run = simulation.run(Until::time(Ticks::new(1 << 40))).map(drop);
    let progress = simulation.progress().map(drop);
    let states = simulation.states().map(drop);
    for result in [run, progress, states] {
        let error = result.unwrap_err();
        assert!(error.to_string().contains("lost"), "{error}");
    }
    kit.check_lost(&lent);
    assert_eq!(*heard.lock().unwrap(), [""; 0]);
}

#[test]
fn an_application_hears_nothing_of_what_the_library_is_refused() {
    let own = own_gpu();
    let heard = listen(own.device());
    let lent = Gpu::from_device(own.device().clone(), own.queue().clone());
    let program = Program::link("double", &[Source::new("double.wgsl", DOUBLE)]).unwrap();
    let error = Kernel::new(&lent, &program, "double", &[("SIZE", 1e6)]).unwrap_err();
    assert!(matches!(error, GpuError::Refused { .. }), "{error}");
    // A buffer that the application destroyed cannot be read; the device keeps working.
    let buffer = Buffer::<u32>::storage(&lent, "values", 4).unwrap();
    buffer.raw().destroy();
    let error = buffer.read(&lent).unwrap_err();
    assert!(matches!(error, GpuError::Refused { .. }), "{error}");
    assert_eq!(double(&lent, &[1, 2, 3], 64).unwrap(), [2, 4, 6]);
    assert_eq!(*heard.lock().unwrap(), [""; 0]);
}

#[test]
fn an_applications_device_serves_too() {
    let own = gpu();
    let lent = Gpu::from_device(own.device().clone(), own.queue().clone());
    assert_eq!(double(&lent, &[1, 2, 3], 64).unwrap(), [2, 4, 6]);
    assert_eq!(lent.info().name, own.info().name);
}
