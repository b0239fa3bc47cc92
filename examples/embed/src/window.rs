//! The window, by winit.

use std::sync::Arc;

use eventhorizon::gpu::Gpu;
use glam::{UVec2, Vec2};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop, OwnedDisplayHandle};
use winit::window::{Window, WindowId};

use crate::scene::Scene;
use crate::shared::Outcome;
use crate::{Args, Clock, Device};

/// Everything that exists once the window is open.
struct Shown {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    own: Device,
    scene: Scene,
    clock: Clock,
}

struct Application<'a> {
    args: &'a Args,
    display: OwnedDisplayHandle,
    shown: Option<Shown>,
    /// The position of the pointer, and whether it drags.
    pointer: (Vec2, bool),
    ended: Outcome<()>,
}

/// Opens a window and draws until it is closed.
pub(crate) fn run(args: &Args) -> Outcome<()> {
    let events = EventLoop::new()
        .map_err(|error| format!("{error}. Without a display, use --headless to draw into files"))?;
    let display = events.owned_display_handle();
    let mut application =
        Application { args, display, shown: None, pointer: (Vec2::ZERO, false), ended: Ok(()) };
    events.run_app(&mut application)?;
    if let Some(shown) = &application.shown {
        let (mean, longest) = shown.clock.recording();
        log::info!("recording took {mean:.1?} a frame, {longest:.1?} at most");
    }
    application.ended
}

impl Shown {
    fn open(args: &Args, display: OwnedDisplayHandle, events: &ActiveEventLoop) -> Outcome<Self> {
        let attributes = Window::default_attributes()
            .with_title("eventhorizon: a torus of queues")
            .with_inner_size(LogicalSize::new(960, 640));
        let window = Arc::new(events.create_window(attributes)?);
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(Box::new(display));
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance.create_surface(Arc::clone(&window))?;
        let options =
            wgpu::RequestAdapterOptions { compatible_surface: Some(&surface), ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&options))?;
        let own = Device::open(&adapter)?;
        let size = window.inner_size();
        let configuration = surface
            .get_default_config(&adapter, size.width.max(1), size.height.max(1))
            .ok_or("the adapter cannot draw into this window")?;
        surface.configure(&own.device, &configuration);
        let gpu = Gpu::from_device(own.device.clone(), own.queue.clone());
        let scene = Scene::new(&gpu, args, configuration.format)?;
        Ok(Self { window, surface, configuration, own, scene, clock: Clock::default() })
    }

    fn resize(&mut self, size: UVec2) {
        (self.configuration.width, self.configuration.height) = (size.x.max(1), size.y.max(1));
        self.surface.configure(&self.own.device, &self.configuration);
    }

    fn frame(&mut self) -> Outcome<()> {
        use wgpu::CurrentSurfaceTexture as Current;
        let texture = match self.surface.get_current_texture() {
            Current::Success(texture) => texture,
            Current::Timeout | Current::Occluded => return Ok(()),
            _ => {
                self.surface.configure(&self.own.device, &self.configuration);
                return Ok(());
            }
        };
        let target = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = self.own.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.clock.record(self.scene.advance(&mut encoder)?);
        let size = UVec2::new(self.configuration.width, self.configuration.height);
        self.scene.draw(&self.own.queue, &mut encoder, &target, size);
        self.own.queue.submit([encoder.finish()]);
        self.own.queue.present(texture);
        Ok(())
    }
}

impl ApplicationHandler for Application<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.shown.is_some() {
            return;
        }
        match Shown::open(self.args, self.display.clone(), events) {
            Ok(shown) => {
                shown.window.request_redraw();
                self.shown = Some(shown);
            }
            Err(error) => {
                self.ended = Err(error);
                events.exit();
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => shown.resize(UVec2::new(size.width, size.height)),
            WindowEvent::MouseInput { state, .. } => self.pointer.1 = state == ElementState::Pressed,
            WindowEvent::CursorMoved { position, .. } => {
                let at = Vec2::new(position.x as f32, position.y as f32);
                if self.pointer.1 {
                    shown.scene.drag(at - self.pointer.0);
                }
                self.pointer.0 = at;
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let steps = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => lines,
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 50.0,
                };
                shown.scene.zoom(1.2f32.powf(steps));
            }
            WindowEvent::RedrawRequested => {
                if let Err(error) = shown.frame() {
                    self.ended = Err(error);
                    events.exit();
                }
                shown.window.request_redraw();
            }
            _ => {}
        }
    }
}
