//! A simulation inside a wgpu application. The application owns the device and the encoder; the
//! simulation records its windows there; a kernel of the application reads the states of the LPs in
//! place.
//!
//! For each of ten frames prints the number of customers at the fullest station of a torus of
//! queues.
//!
//! ```text
//! cargo run --release --example embedding
//! cargo run --release -p eventhorizon-embed     # a larger application, with a window
//! ```

use eventhorizon::gpu::Gpu;
use eventhorizon::models::Torus;
use eventhorizon::pdes::{Options, Simulation, Sync, Until};
use eventhorizon::time::Resolution;

/// Stations along a side, and windows in a frame.
const SIDE: u32 = 64;
const WINDOWS: u32 = 8;

/// The application's kernel. `State` is that of `shaders/models/torus.wgsl`.
const FULLEST: &str = "
struct TimeAverage {
    area: vec4<u32>, since: vec2<u32>, changed: vec2<u32>,
    level: u32, minimum: u32, maximum: u32, unused: u32,
}
struct State { number: TimeAverage, busy: TimeAverage, served: vec2<u32>, unused: vec2<u32> }

@group(0) @binding(0) var<storage, read> states: array<State>;
@group(0) @binding(1) var<storage, read_write> fullest: atomic<u32>;
override stations: u32;

@compute @workgroup_size(64)
fn find(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < stations { atomicMax(&fullest, states[id.x].number.level); }
}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The application opens its device and lends it.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;
    let gpu = Gpu::from_device(device.clone(), queue.clone());

    let (units, travel) = (Resolution::default(), 0.25);
    let model = Torus::new(SIDE, SIDE, 4 * SIDE * SIDE, 1.0, travel, units)?;
    let options = Options::default().seed(42).sync(Sync::Yawns);
    let mut simulation = Simulation::new(&gpu, &model, options)?;

    // The application's own kernel binds the states of the simulation.
    let stations = f64::from(SIDE * SIDE);
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("fullest"),
        layout: None,
        module: &device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("fullest"),
            source: wgpu::ShaderSource::Wgsl(FULLEST.into()),
        }),
        entry_point: Some("find"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &[("stations", stations)],
            ..Default::default()
        },
        cache: None,
    });
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4,
            usage,
            mapped_at_creation: false,
        })
    };
    use wgpu::BufferUsages as Usage;
    let fullest = buffer(Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST);
    let readback = buffer(Usage::MAP_READ | Usage::COPY_DST);
    let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("fullest"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: simulation.states_buffer().as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: fullest.as_entire_binding() },
        ],
    });

    for frame in 1..=10 {
        // A window is at least as long as the lookahead, here the travel time.
        simulation.set_until(Until::time(units.ticks(f64::from(frame * WINDOWS) * travel)?))?;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        simulation.record(&mut encoder, WINDOWS);
        encoder.clear_buffer(&fullest, 0, None);
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bound, &[]);
            pass.dispatch_workgroups((SIDE * SIDE).div_ceil(64), 1, 1);
        }
        encoder.copy_buffer_to_buffer(&fullest, 0, &readback, 0, 4);
        queue.submit([encoder.finish()]);

        readback.map_async(wgpu::MapMode::Read, .., |_| {});
        device.poll(wgpu::PollType::wait_indefinitely())?;
        let most: u32 = bytemuck::pod_read_unaligned(&readback.get_mapped_range(..)?);
        readback.unmap();
        println!("frame {frame:2}: {most} customers at the fullest station");
    }
    println!("{} events were executed", simulation.progress()?.events);
    Ok(())
}
