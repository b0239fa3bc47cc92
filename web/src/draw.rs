//! Draws the LPs of a simulation from its buffer of states: each pixel finds its LP, without a
//! readback.

use bytemuck::{Pod, Zeroable};
use eventhorizon::gpu::{Buffer, Gpu, GpuError, Program, Source};
use web_sys::OffscreenCanvas;

/// The WGSL struct of the same name (draw.wgsl).
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Look {
    /// The number of LPs in a row, and of rows.
    pub(crate) side: u32,
    /// The number of words of a state, and the index of the word that is drawn.
    pub(crate) stride: u32,
    pub(crate) word: u32,
    /// Whether the word is a time; then the picture shows how long ago it was.
    pub(crate) is_time: u32,
    /// The low word of the current time.
    pub(crate) now: u32,
    /// The value that is drawn brightest.
    pub(crate) scale: f32,
    pub(crate) unused: [u32; 2],
}

/// A canvas and the pipeline that draws on it.
pub(crate) struct Canvas {
    surface: wgpu::Surface<'static>,
    pipeline: wgpu::RenderPipeline,
    look: Buffer<Look>,
}

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

impl Canvas {
    pub(crate) fn new(gpu: &Gpu, canvas: OffscreenCanvas) -> Result<Self, String> {
        let (width, height) = (canvas.width(), canvas.height());
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let target = wgpu::SurfaceTarget::OffscreenCanvas(canvas);
        let surface = instance.create_surface(target).map_err(|error| error.to_string())?;
        surface.configure(
            gpu.device(),
            &wgpu::SurfaceConfiguration {
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                format: FORMAT,
                color_space: wgpu::SurfaceColorSpace::Auto,
                width,
                height,
                present_mode: wgpu::PresentMode::Fifo,
                desired_maximum_frame_latency: 2,
                alpha_mode: wgpu::CompositeAlphaMode::Opaque,
                view_formats: Vec::new(),
            },
        );
        let program = Program::link("draw", &[Source::new("web/src/draw.wgsl", include_str!("draw.wgsl"))]);
        let program = program.map_err(|error| error.to_string())?;
        let module = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("draw"),
            source: wgpu::ShaderSource::Wgsl(program.standard_text().into()),
        });
        let pipeline = gpu.device().create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("draw"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("corner"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("colour"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(FORMAT.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let look = Buffer::uniform(gpu, "look", &Look::zeroed()).map_err(|error| error.to_string())?;
        Ok(Self { surface, pipeline, look })
    }

    /// Draws the states after all work that was submitted before.
    pub(crate) fn draw(&self, gpu: &Gpu, states: &wgpu::Buffer, look: Look) -> Result<(), GpuError> {
        let (wgpu::CurrentSurfaceTexture::Success(frame) | wgpu::CurrentSurfaceTexture::Suboptimal(frame)) =
            self.surface.get_current_texture()
        else {
            // The canvas is not visible. A later frame draws it.
            return Ok(());
        };
        self.look.write(gpu, 0, &[look])?;
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("draw"),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: self.look.binding() },
                wgpu::BindGroupEntry { binding: 1, resource: states.as_entire_binding() },
            ],
        });
        let view = frame.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = gpu.encoder("draw");
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("draw"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
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
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        gpu.submit(encoder)?;
        gpu.queue().present(frame);
        Ok(())
    }
}
