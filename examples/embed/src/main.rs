//! A wgpu program that contains a simulation: a queueing network on a torus, drawn while it runs
//! from the buffer that holds its states.
//!
//! The program owns the device, the queue and the encoder of each frame. It lends the device
//! ([`Gpu::from_device`]) and records some windows into the encoder (`Simulation::record`), then a
//! render pass that binds `Simulation::states_buffer`: drawing reads nothing back. The progress
//! comes from a small readback that never delays a frame (`Simulation::poll`).
//!
//! ```text
//! cargo run --release -p eventhorizon-embed                                # a window; drag to move, scroll to zoom
//! cargo run --release -p eventhorizon-embed -- --headless --out frames --frames 60
//! ```

mod caption;
mod scene;
mod window;

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{CpuSimulation, Options};
use eventhorizon_cli::shared::{self, Outcome};
use glam::UVec2;

use scene::Scene;

/// Draw a queueing network while it is simulated.
#[derive(Parser)]
pub(crate) struct Args {
    /// Stations along each side of the torus
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(3..=4096))]
    side: u32,
    /// Customers for each station
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    customers: u32,
    /// Windows recorded in each frame; each advances simulated time by a travel time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    windows: u32,
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Draw into files instead of a window
    #[arg(long)]
    headless: bool,
    /// The folder of these files
    #[arg(long, default_value = "frames", requires = "headless")]
    out: PathBuf,
    /// The number of frames
    #[arg(long, default_value_t = 60, requires = "headless", value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Write every n-th frame as a PNG
    #[arg(long, default_value_t = 20, requires = "headless", value_parser = clap::value_parser!(u32).range(1..))]
    write: u32,
    /// Compare the run with the sequential engine at the end
    #[arg(long, requires = "headless")]
    verify: bool,
}

/// Of pictures in files.
const SIZE: UVec2 = UVec2::new(960, 640);

/// The program's device, and the number of its errors. The library's calls must cause none of them.
pub(crate) struct Device {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) errors: Arc<AtomicU32>,
}

impl Device {
    /// Opens a device like any other program, with higher limits than WebGPU's defaults for larger
    /// simulations.
    pub(crate) fn open(adapter: &wgpu::Adapter) -> Outcome<Self> {
        let limits = adapter.limits();
        let required_limits = wgpu::Limits {
            max_buffer_size: limits.max_buffer_size,
            max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
            ..wgpu::Limits::default().or_worse_values_from(&limits)
        };
        let wanted = wgpu::Features::SUBGROUP | wgpu::Features::SHADER_INT64;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("embed"),
            required_features: adapter.features() & wanted,
            required_limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
        let errors = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            seen.fetch_add(1, Ordering::Relaxed);
            shared::print_report(&format!("error in the application: {error}"));
        }));
        Ok(Self { device, queue, errors })
    }
}

/// Times of frames.
#[derive(Default)]
pub(crate) struct Clock {
    frames: u32,
    recording: Duration,
    longest: Duration,
}

impl Clock {
    pub(crate) fn record(&mut self, recording: Duration) {
        self.frames += 1;
        self.recording += recording;
        self.longest = self.longest.max(recording);
    }

    /// The mean time to record a frame's windows, and the longest.
    pub(crate) fn recording(&self) -> (Duration, Duration) {
        (self.recording / self.frames.max(1), self.longest)
    }
}

fn main() -> ExitCode {
    shared::main(|args: &Args| if args.headless { headless(args) } else { window::run(args) })
}

/// Draws into a texture and writes some of the pictures.
fn headless(args: &Args) -> Outcome<()> {
    std::fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let own = Device::open(&adapter)?;
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let texture = own.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("frame"),
        size: extent(SIZE),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let target = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let gpu = Gpu::from_device(own.device.clone(), own.queue.clone());
    let mut scene = Scene::new(&gpu, args, format)?;
    let (mut clock, begin, mut written) = (Clock::default(), Instant::now(), 0);
    for frame in 1..=args.frames {
        if shared::watch().is_break() {
            break;
        }
        let mut encoder = own.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        clock.record(scene.advance(&mut encoder)?);
        scene.draw(&own.queue, &mut encoder, &target, SIZE);
        own.queue.submit([encoder.finish()]);
        // Waits for the device, because no screen limits the frame rate.
        own.device.poll(wgpu::PollType::wait_indefinitely())?;
        if frame % args.write == 0 || frame == args.frames {
            save(&own, &texture, &args.out.join(format!("frame_{frame:04}.png")))?;
            written += 1;
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let progress = scene.simulation().progress()?;
    let (mean, longest) = clock.recording();
    let mut out = stdout();
    writeln!(out, "adapter            {}", own.device.adapter_info().name)?;
    writeln!(out, "stations           {} x {}", args.side, args.side)?;
    writeln!(
        out,
        "frames             {} in {seconds:.2} s, {written} written to {}",
        clock.frames,
        args.out.display()
    )?;
    writeln!(
        out,
        "events             {} ({:.3e} /s, drawing included)",
        progress.events,
        scene::real(progress.events) / seconds
    )?;
    writeln!(
        out,
        "recording          {mean:.1?} a frame for {} windows, {longest:.1?} at most",
        args.windows
    )?;
    writeln!(out, "errors of its own  {}", own.errors.load(Ordering::Relaxed))?;
    if args.verify {
        let (model, until) = (scene.model(), scene.until());
        let mut cpu = CpuSimulation::new(&model, Options::default().seed(args.seed))?;
        cpu.run(until)?;
        let fingerprint = scene.finish()?;
        shared::same(&fingerprint, &cpu.fingerprint(), "the fingerprint")?;
        writeln!(out, "fingerprint        {fingerprint}, as the sequential engine's")?;
    }
    Ok(())
}

fn extent(size: UVec2) -> wgpu::Extent3d {
    wgpu::Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 }
}

/// Writes a texture as a picture.
fn save(own: &Device, texture: &wgpu::Texture, path: &Path) -> Outcome<()> {
    let row = (4 * SIZE.x).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = own.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture"),
        size: u64::from(row) * u64::from(SIZE.y),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = own.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        extent(SIZE),
    );
    own.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |_| {});
    own.device.poll(wgpu::PollType::wait_indefinitely())?;
    let mapped = buffer.get_mapped_range(..)?;
    let pixels: Vec<u8> =
        mapped.chunks(row as usize).flat_map(|line| &line[..4 * SIZE.x as usize]).copied().collect();
    shared::write_png(path, (SIZE.x, SIZE.y), png::ColorType::Rgba, &pixels)
}
