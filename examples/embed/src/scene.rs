//! The simulation, and the pass that draws its states.

use std::time::{Duration, Instant};

use eventhorizon::gpu::Gpu;
use eventhorizon::models::Torus;
use eventhorizon::pdes::{Fingerprint, Options, PendingProgress, Simulation, Sync, Until};
use eventhorizon::time::{Resolution, Ticks};
use glam::{UVec2, Vec2};

use crate::shared::Outcome;
use crate::{Args, caption, extent};

/// The travel time of a customer, in units of the mean service.
const TRAVEL: f64 = 0.25;

/// `struct View` in `view.wgsl`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct View {
    origin: Vec2,
    centre: Vec2,
    stations: UVec2,
    per_pixel: f32,
    full: f32,
    caption: UVec2,
}

pub(crate) struct Scene {
    model: Torus,
    simulation: Simulation<Torus>,
    windows: u32,
    until: Until,
    pending: Option<PendingProgress>,
    /// The time of the last report, and the events by then.
    reported: (Instant, u64),
    rate: f64,
    frame: Instant,
    /// Seconds, smoothed.
    frame_time: f64,
    view: View,
    uniform: wgpu::Buffer,
    caption: wgpu::Texture,
    bound: wgpu::BindGroup,
    pipeline: wgpu::RenderPipeline,
}

pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

impl Scene {
    pub(crate) fn new(gpu: &Gpu, args: &Args, format: wgpu::TextureFormat) -> Outcome<Self> {
        let side = args.side;
        let model = Torus::new(side, side, side * side * args.customers, 1.0, TRAVEL, Resolution::default())?;
        let options = Options::default().seed(args.seed).sync(Sync::Yawns);
        let simulation = Simulation::new(gpu, &model, options)?;

        let device = gpu.device();
        let view = View {
            origin: Vec2::splat(side as f32 / 2.0),
            centre: Vec2::ZERO,
            stations: UVec2::splat(side),
            per_pixel: side as f32 / 640.0,
            full: 3.0 * args.customers as f32,
            caption: caption::SIZE,
        };
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: size_of::<View>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let caption = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("caption"),
            size: extent(caption::SIZE),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let shader = device.create_shader_module(wgpu::include_wgsl!("view.wgsl"));
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("view"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &shader,
                entry_point: Some("cover"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            fragment: Some(wgpu::FragmentState {
                module: &shader,
                entry_point: Some("paint"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(format.into())],
            }),
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            multiview_mask: None,
            cache: None,
        });
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("view"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                entry(0, uniform.as_entire_binding()),
                // The simulation's own buffer, which is the same for its lifetime.
                entry(1, simulation.states_buffer().as_entire_binding()),
                entry(2, wgpu::BindingResource::TextureView(&caption.create_view(&Default::default()))),
            ],
        });
        let now = Instant::now();
        Ok(Self {
            model,
            simulation,
            windows: args.windows,
            until: Until::time(Ticks::ZERO),
            pending: None,
            reported: (now, 0),
            rate: 0.0,
            frame: now,
            frame_time: 0.0,
            view,
            uniform,
            caption,
            bound,
            pipeline,
        })
    }

    /// Records the windows of a frame. Returns the time that this took.
    pub(crate) fn advance(&mut self, encoder: &mut wgpu::CommandEncoder) -> Outcome<Duration> {
        if let Some(pending) = &mut self.pending
            && let Some(progress) = self.simulation.poll(pending)?
        {
            let (when, before) = std::mem::replace(&mut self.reported, (Instant::now(), progress.events));
            self.rate = real(progress.events - before) / when.elapsed().as_secs_f64();
            self.pending = None;
        }
        let begin = Instant::now();
        // The latest time that this number of windows can reach.
        let travel = Resolution::default().ticks(TRAVEL)?.get();
        let until = self.until.time.saturating_add(Ticks::new(travel * u64::from(self.windows)));
        self.until = Until::time(until);
        self.simulation.set_until(self.until)?;
        self.simulation.record(encoder, self.windows);
        let recording = begin.elapsed();
        if self.pending.is_none() {
            self.pending = Some(self.simulation.record_progress(encoder)?);
        }
        Ok(recording)
    }

    /// Records the render pass.
    pub(crate) fn draw(
        &mut self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        size: UVec2,
    ) {
        let seconds = std::mem::replace(&mut self.frame, Instant::now()).elapsed().as_secs_f64();
        self.frame_time += (seconds - self.frame_time) / 10.0;
        let text = format!(
            "{} x {} stations, time {:.0}: {:.1} ms a frame, {:.2} million events/s",
            self.view.stations.x,
            self.view.stations.y,
            Resolution::default().units(self.until.time),
            1e3 * self.frame_time,
            self.rate / 1e6,
        );
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(caption::SIZE.x),
            rows_per_image: None,
        };
        let ink = caption::pixels(&text);
        queue.write_texture(self.caption.as_image_copy(), &ink, layout, extent(caption::SIZE));
        self.view.centre = size.as_vec2() / 2.0;
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&self.view));
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("view"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bound, &[]);
        pass.draw(0..3, 0..1);
    }

    /// Moves the picture by this number of pixels.
    pub(crate) fn drag(&mut self, by: Vec2) {
        let size = self.view.stations.as_vec2();
        self.view.origin = (self.view.origin - by * self.view.per_pixel).rem_euclid(size);
    }

    /// Scales stations by this factor.
    pub(crate) fn zoom(&mut self, factor: f32) {
        let widest = self.view.stations.max_element() as f32 / 100.0;
        self.view.per_pixel = (self.view.per_pixel / factor).clamp(1e-3, widest);
    }

    pub(crate) fn simulation(&self) -> &Simulation<Torus> {
        &self.simulation
    }

    pub(crate) fn model(&self) -> Torus {
        self.model
    }

    pub(crate) fn until(&self) -> Until {
        self.until
    }

    /// Runs the rest of the frames' windows, if any, and returns the run's fingerprint.
    pub(crate) fn finish(&mut self) -> Outcome<Fingerprint> {
        self.simulation.run(self.until)?;
        Ok(self.simulation.fingerprint()?)
    }
}
