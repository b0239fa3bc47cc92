//! Entities in Rust with heavy arithmetic on the GPU: workshops pass jobs on, and a handler
//! computes the duration of each job. The calls of all workshops in a window are answered together.
//!
//! Prints the number of completed jobs, the calls answered by the device and by CPU cores, and the
//! fingerprint, which does not depend on where calls are answered.
//!
//! ```text
//! cargo run --release --example hybrid
//! ```

use eventhorizon::gpu::{Gpu, Source};
use eventhorizon::hybrid::{
    Context, Digest, Entity, Handle, Handlers, Options, Placement, Simulation, WgslHandler,
};
use eventhorizon::time::Ticks;

/// The handler on the device. `Call` and `Answer` have the bytes of the Rust types below.
const MACHINING: &str = "
struct Call { job: u32, passes: u32 }
struct Answer { ticks: u32 }

fn handle(call: Call) -> Answer {
    var surface = call.job;
    for (var pass_ = 0u; pass_ < min(call.passes, 1000u); pass_ += 1u) { surface = surface * 1664525u + 1013904223u; }
    return Answer(100u + surface % 1000u);
}
";

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Call {
    job: u32,
    passes: u32,
}

/// The same on the host.
fn machining(call: &Call) -> u32 {
    let step = |surface: u32, _| surface.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    100 + (0..call.passes.min(1000)).fold(call.job, step) % 1000
}

struct Workshop {
    machining: Handle<WgslHandler<Call, u32>>,
    done: u32,
}

impl Entity for Workshop {
    type Message = u32; // a job

    fn start(&mut self, context: &mut Context<Self>) {
        // Each workshop begins with one job.
        context.send(context.name(), Ticks::ZERO, context.name());
    }

    fn receive(&mut self, job: u32, context: &mut Context<Self>) {
        let call = Call { job, passes: 200 + context.stream().below(800) };
        context.call(self.machining, call, move |workshop, [ticks], context| {
            workshop.done += 1;
            let entities = context.entities();
            let next = context.stream().below(entities);
            context.send(next, Ticks::new(context.now().get() + u64::from(ticks)), job + 1);
        });
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&self.done);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const WORKSHOPS: u32 = 2000;
    let gpu = Gpu::new().ok(); // without a device, CPU cores answer
    let mut handlers = Handlers::new(gpu.clone(), Placement::Auto);
    let source = Source::new("machining.wgsl", MACHINING);
    let machining = handlers.add(WgslHandler::batched(&gpu, "machining", source, machining)?);

    let lookahead = Ticks::new(100); // the least duration of a job
    let options = Options::default().seed(1).handlers(handlers);
    let make = |_| Workshop { machining, done: 0 };
    let mut simulation = Simulation::new(WORKSHOPS, lookahead, make, options)?;
    simulation.run(Ticks::new(10_000))?;

    let done: u32 = (0..WORKSHOPS).filter_map(|name| simulation.entity(name)).map(|shop| shop.done).sum();
    println!("{done} jobs were done");
    for used in simulation.used() {
        println!("{}: {} calls on the device, {} on the cores", used.name, used.gpu.0, used.cpu.0);
    }
    println!("fingerprint {:016x}", simulation.fingerprint()?.0);
    Ok(())
}
