//! Counts how often a queue design compares two events per event that PHOLD executes. The kernel is
//! in `comparisons.wgsl`.

use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, Program};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Ticks;

/// The number of windows before the counted ones, and of the counted ones. The initial events are
/// gone by then.
const WINDOWS: u32 = 16;

/// The WGSL `struct Shape`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Shape {
    mean: Ticks,
    lookahead: Ticks,
    queues: u32,
    capacity: u32,
    stride: u32,
    reserved: u32,
}

pub(crate) struct Comparisons {
    pub(crate) per_event: f64,
    /// The number of executed events, and a hash of them in their order: the same for every design.
    pub(crate) executed: [u64; 2],
}

/// Counts in `queues` queues of `population` events each. Returns `None` if the driver ended a loop
/// early.
#[allow(clippy::cast_precision_loss, reason = "an average")]
pub(crate) fn count(
    gpu: &Gpu,
    design: QueueDesign,
    queues: u32,
    population: u32,
    [mean, lookahead]: [Ticks; 2],
) -> Result<Option<Comparisons>, GpuError> {
    let source = design.source().expect("a queue of its own");
    let program = Program::link("comparisons", &[eventhorizon::wgsl!("comparisons.wgsl"), source])?;
    let kernel = |entry| Kernel::new(gpu, &program, entry, &design.constants());
    let (start, window) = (kernel("start")?, kernel("window")?);
    let too_large = |_| GpuError::TooLarge {
        what: "a queue".into(),
        needed: 16 * design.stride(population),
        limit: gpu.max_buffer_bytes(),
    };
    let stride = u32::try_from(design.stride(population)).map_err(too_large)?;
    let shape = Shape { mean, lookahead, queues, capacity: population, stride, reserved: 0 };
    let shape = Buffer::uniform(gpu, "shape", &shape)?;
    let events = Buffer::<[u32; 4]>::storage(gpu, "queue_events", design.slots(queues, population))?;
    let kept = Buffer::<[u32; 4]>::storage(gpu, "queues", queues.into())?;
    let mail = Buffer::<[u32; 4]>::storage(gpu, "mail", u64::from(queues) * u64::from(population))?;
    let sent = Buffer::<u32>::storage(gpu, "sent", queues.into())?;
    let counts = Buffer::<[u32; 4]>::storage(gpu, "counts", queues.into())?;
    let buffers = [
        ("shape", shape.binding()),
        ("queue_events", events.binding()),
        ("queues", kept.binding()),
        ("mail", mail.binding()),
        ("sent", sent.binding()),
        ("counts", counts.binding()),
    ];
    let run = |kernel: &Kernel| -> Result<(), GpuError> {
        let bindings = kernel.bind(gpu, &buffers)?;
        let mut encoder = gpu.encoder("comparisons");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        kernel.dispatch(&mut pass, &bindings, queues.div_ceil(32));
        drop(pass);
        gpu.wait(gpu.submit(encoder)?)
    };
    // Sums over all queues: comparisons, executed events, their hash, and failures.
    let windows = || -> Result<[u64; 4], GpuError> {
        for _ in 0..WINDOWS {
            run(&window)?;
        }
        let counts = counts.read(gpu)?;
        let add = |sums: [u64; 4], count: [u32; 4]| std::array::from_fn(|i| sums[i] + u64::from(count[i]));
        Ok(counts.into_iter().fold([0; 4], add))
    };
    run(&start)?;
    let [before, executed_before, ..] = windows()?;
    let [after, executed, hash, failed] = windows()?;
    if failed > 0 {
        return Ok(None);
    }
    let per_event = (after - before) as f64 / (executed - executed_before) as f64;
    Ok(Some(Comparisons { per_event, executed: [executed, hash] }))
}
