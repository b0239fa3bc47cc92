//! Counts how often a queue design compares two events per event that PHOLD executes. The kernels
//! are in `comparisons.wgsl`.

use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, Program};
use eventhorizon::pdes::Capacity;
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Ticks;

/// The number of iterations before the counted ones, and of the counted ones, for each event of an
/// LP. An event and the one it sends are about one iteration for each event of an LP apart, so the
/// initial events are gone by then.
const ITERATIONS: u32 = 3;

/// Iterations in a submission.
const AT_ONCE: u32 = 16;

/// The WGSL `struct Shape`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Shape {
    mean: Ticks,
    lookahead: Ticks,
    queues: u32,
    population: u32,
    capacity: u32,
    stride: u32,
    room: u32,
    reserved: u32,
}

pub(super) struct Comparisons {
    pub(super) per_event: f64,
    /// The number of executed events, and a hash of them in their order: the same for every design.
    pub(super) executed: [u64; 2],
}

/// Counts in `queues` LPs of `population` events each. Returns `None` if the driver ended a loop
/// early.
#[allow(clippy::cast_precision_loss, reason = "an average")]
pub(super) fn count(
    gpu: &Gpu,
    design: QueueDesign,
    queues: u32,
    population: u32,
    [mean, lookahead]: [Ticks; 2],
) -> Result<Option<Comparisons>, GpuError> {
    let source = design.source().expect("a queue of its own");
    let program = Program::link("comparisons", &[eventhorizon::wgsl!("comparisons.wgsl"), source])?;
    let kernel = |entry| Kernel::new(gpu, &program, entry, &design.constants());
    let (start, window, advance) = (kernel("start")?, kernel("window")?, kernel("advance")?);
    // At the start an LP receives Poisson(population) messages in one iteration, and later an LP
    // that executes one event at a time may hold more.
    let capacity = 2 * Capacity::poisson(population.into(), 0.0).queue;
    let too_large = |_| GpuError::TooLarge {
        what: "a queue".into(),
        needed: 16 * design.stride(capacity),
        limit: gpu.max_buffer_bytes(),
    };
    let stride = u32::try_from(design.stride(capacity)).map_err(too_large)?;
    let shape = Shape { mean, lookahead, queues, population, capacity, stride, room: capacity, reserved: 0 };
    let shape = Buffer::uniform(gpu, "shape", &shape)?;
    let all = u64::from(queues);
    let events = Buffer::<[u32; 4]>::storage(gpu, "queue_events", design.slots(queues, capacity))?;
    let kept = Buffer::<[u32; 4]>::storage(gpu, "queues", all)?;
    let mail = Buffer::<[u32; 4]>::storage(gpu, "mail", 2 * all * u64::from(capacity))?;
    let sent = Buffer::<u32>::storage(gpu, "sent", 2 * all)?;
    let counts = Buffer::<[u32; 4]>::storage(gpu, "counts", all)?;
    let clock = Buffer::<[u32; 4]>::storage(gpu, "clock", 1)?;
    let buffers = [
        ("shape", shape.binding()),
        ("queue_events", events.binding()),
        ("queues", kept.binding()),
        ("mail", mail.binding()),
        ("sent", sent.binding()),
        ("counts", counts.binding()),
        ("clock", clock.binding()),
    ];
    let run = |kernels: &[(&Kernel, u32)], times: u32| -> Result<(), GpuError> {
        let bound = kernels
            .iter()
            .map(|(kernel, groups)| Ok((*kernel, kernel.bind(gpu, &buffers)?, *groups)))
            .collect::<Result<Vec<_>, GpuError>>()?;
        let mut encoder = gpu.encoder("comparisons");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for _ in 0..times {
            for (kernel, bindings, groups) in &bound {
                kernel.dispatch(&mut pass, bindings, *groups);
            }
        }
        drop(pass);
        gpu.wait(gpu.submit(encoder)?)
    };
    let groups = queues.div_ceil(32);
    // Sums over all queues: comparisons, executed events, their hash, and failures.
    let iterations = || -> Result<[u64; 4], GpuError> {
        for _ in 0..(ITERATIONS * population).div_ceil(AT_ONCE) {
            run(&[(&window, groups), (&advance, 1)], AT_ONCE)?;
        }
        let counts = counts.read(gpu)?;
        let add = |sums: [u64; 4], count: [u32; 4]| std::array::from_fn(|i| sums[i] + u64::from(count[i]));
        Ok(counts.into_iter().fold([0; 4], add))
    };
    run(&[(&start, groups)], 1)?;
    let [before, executed_before, ..] = iterations()?;
    let [after, executed, hash, failed] = iterations()?;
    if failed > 0 {
        return Ok(None);
    }
    let per_event = (after - before) as f64 / (executed - executed_before) as f64;
    Ok(Some(Comparisons { per_event, executed: [executed, hash] }))
}
