//! The device: chosen and opened by the library, or lent by an application.

mod submission;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::compilations::{Compilations, HOST_WAIT};
#[cfg(not(target_arch = "wasm32"))]
use super::disk_cache::{self, DiskCache};
#[cfg(target_arch = "wasm32")]
use super::pending_answers::PendingAnswers;
use super::recipe::Built;
use super::staging::Staging;
#[cfg(not(target_arch = "wasm32"))]
use super::staging::Uploads;
use super::{GpuError, Subgroups};
#[cfg(test)]
pub(crate) use submission::CALLS;
pub use submission::Submission;

/// A device and its queue, with the state that the library needs for them. Clones share the device.
#[derive(Clone)]
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
    limits: wgpu::Limits,
    features: wgpu::Features,
    lost: Arc<OnceLock<String>>,
    #[cfg(target_arch = "wasm32")]
    later: PendingAnswers,
    built: Arc<Built>,
    staging: Arc<Staging>,
    #[cfg(not(target_arch = "wasm32"))]
    uploads: Uploads,
    subgroups: Arc<OnceLock<Option<Subgroups>>>,
    trusting: bool,
    #[cfg(not(target_arch = "wasm32"))]
    is_abandoning: bool,
    compilations: Arc<Compilations>,
    #[cfg(not(target_arch = "wasm32"))]
    disk: Option<Arc<DiskCache>>,
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "browsers bound waits themselves"))]
    patience: Duration,
}

/// Maximum number of storage buffers of a kernel: the engine's largest window needs 30.
const MOST_BINDINGS: u32 = 32;

/// Optional features that make kernels faster.
const WANTED: wgpu::Features = wgpu::Features::SHADER_INT64.union(wgpu::Features::SUBGROUP);

impl Gpu {
    /// Opens the best adapter: discrete before integrated before software.
    ///
    /// wgpu's environment variables apply. `WGPU_BACKEND` names the interfaces to search (OpenGL
    /// only if named). `WGPU_ADAPTER_NAME` selects by a part of the name, in any case.
    /// `WGPU_POWER_PREF=low` prefers an integrated adapter to a discrete one.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] if no adapter is usable, [`GpuError::NoDevice`] if the driver
    /// refuses.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Result<Self, GpuError> {
        pollster::block_on(Self::open())
    }

    /// A device for a unit test. It is never destroyed: NVIDIA's driver (580.159) can deadlock if
    /// that happens while other threads end.
    #[cfg(test)]
    pub(crate) fn for_test() -> Self {
        let gpu = Self::new().unwrap_or_else(|error| panic!("this test needs an adapter: {error}"));
        std::mem::forget(gpu.clone());
        gpu
    }

    /// [`Gpu::new`] for browsers, where calls may not block.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] if no adapter is usable, [`GpuError::NoDevice`] if the driver
    /// refuses.
    pub async fn open() -> Result<Self, GpuError> {
        Self::open_nth(0).await
    }

    /// Opens a device by number, round robin over the best adapters: all those that rank like the
    /// adapter of [`Gpu::new`]. Up to the number of such adapters, each device has its own; further
    /// devices share them.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn nth(number: u32) -> Result<Self, GpuError> {
        pollster::block_on(Self::open_nth(number))
    }

    async fn open_nth(number: u32) -> Result<Self, GpuError> {
        #[cfg(target_arch = "wasm32")]
        let folder = None;
        #[cfg(not(target_arch = "wasm32"))]
        let folder = disk_cache::folder();
        Self::open_in(number, folder).await
    }

    /// The same with a folder for compiled kernels.
    pub(super) async fn open_in(number: u32, folder: Option<PathBuf>) -> Result<Self, GpuError> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        // OpenGL drivers must be requested explicitly: compute on them is slow and faulty.
        descriptor.backends = wgpu::Backends::from_env().unwrap_or(wgpu::Backends::PRIMARY);
        let backends = descriptor.backends;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = choose(&instance, backends, number).await?;
        let info = adapter.get_info();
        let offered = adapter.limits();
        // Kernels are written for WebGPU's defaults. Buffer sizes and bindings follow the adapter,
        // as does the largest workgroup, which saves dispatches (`pdes::Sync::Neighbours`). An
        // adapter below a default gives what it has: kernels check the limits they need.
        let required = wgpu::Limits {
            max_buffer_size: offered.max_buffer_size,
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            max_storage_buffers_per_shader_stage: offered
                .max_storage_buffers_per_shader_stage
                .min(MOST_BINDINGS),
            max_buffers_and_acceleration_structures_per_shader_stage: offered
                .max_buffers_and_acceleration_structures_per_shader_stage
                .min(2 * MOST_BINDINGS),
            max_compute_invocations_per_workgroup: offered.max_compute_invocations_per_workgroup.min(1024),
            max_compute_workgroup_size_x: offered.max_compute_workgroup_size_x.min(1024),
            max_compute_workgroup_storage_size: offered.max_compute_workgroup_storage_size.min(48 << 10),
            ..wgpu::Limits::default().or_worse_values_from(&offered)
        };
        let of_cache = folder.as_ref().map_or(wgpu::Features::empty(), |_| wgpu::Features::PIPELINE_CACHE);
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("eventhorizon"),
                required_features: adapter.features() & (WANTED | of_cache),
                required_limits: required,
                ..Default::default()
            })
            .await
            .map_err(|error| GpuError::NoDevice { adapter: named(info).name, reason: error.to_string() })?;
        #[cfg_attr(target_arch = "wasm32", expect(unused_mut, reason = "browsers keep kernels themselves"))]
        let mut gpu = Self::from_device(device, queue);
        let lost = Arc::clone(&gpu.lost);
        gpu.device.set_device_lost_callback(move |reason, message| {
            let _ = lost.set(format!("{reason:?}: {message}"));
        });
        #[cfg(target_arch = "wasm32")]
        if gpu.has(wgpu::Features::SUBGROUP) {
            let _ = gpu.subgroups.set(gpu.probe_subgroups().await);
        }
        #[cfg(not(target_arch = "wasm32"))]
        {
            let make = |descriptor: &wgpu::PipelineCacheDescriptor<'_>| {
                // SAFETY: a check sum shows that the data is what `get_data` returned, and wgpu
                // checks that it is of this adapter and driver.
                gpu.catch("kernels on disk", |device| unsafe { device.create_pipeline_cache(descriptor) })
            };
            let folder = folder.filter(|_| gpu.has(wgpu::Features::PIPELINE_CACHE));
            gpu.disk = folder.and_then(|folder| DiskCache::open(&folder, gpu.info(), make)).map(Arc::new);
        }
        log::info!("{gpu}");
        Ok(gpu)
    }

    /// Uses a device and queue that an application already owns.
    ///
    /// The library installs no callback on them and changes none of their state, so the
    /// application's own callback reports a lost device. Here the next call that returns data to
    /// the host returns [`GpuError::Lost`], and so does every later one. (wgpu reports a loss only
    /// to callers that check, and a check costs more than most calls.) Errors of these
    /// calls never reach the application's handlers. The library uses the features that the
    /// application enabled (`SHADER_INT64` and `SUBGROUP` make it faster) and respects its limits.
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self {
            info: named(device.adapter_info()),
            limits: device.limits(),
            features: device.features(),
            device,
            queue,
            lost: Arc::default(),
            #[cfg(target_arch = "wasm32")]
            later: PendingAnswers::default(),
            built: Arc::default(),
            staging: Arc::default(),
            #[cfg(not(target_arch = "wasm32"))]
            uploads: Uploads::default(),
            subgroups: Arc::default(),
            trusting: true,
            #[cfg(not(target_arch = "wasm32"))]
            is_abandoning: false,
            compilations: Arc::default(),
            #[cfg(not(target_arch = "wasm32"))]
            disk: None,
            patience: HOST_WAIT,
        }
    }

    /// The same device, with run-time checks in the library's own kernels too (bounds, loop
    /// counters).
    ///
    /// Kernels without user WGSL omit these checks, because the library proves them unnecessary.
    /// This is for tests of that claim. Results are the same.
    #[must_use]
    #[doc(hidden)]
    pub fn checked(&self) -> Self {
        Self { trusting: false, ..self.clone() }
    }

    /// The same device for work that does not wait, at its end, for threads that still compile. A
    /// process that [has left threads behind](crate::has_abandoned_threads) must end without
    /// destructors and exit handlers, which drivers do not survive.
    #[must_use]
    #[doc(hidden)]
    #[cfg(not(target_arch = "wasm32"))]
    pub fn abandoning(&self) -> Self {
        Self { is_abandoning: true, ..self.clone() }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn is_abandoning(&self) -> bool {
        self.is_abandoning
    }

    /// The same device without these features: baseline kernels run. For tests and comparisons.
    #[must_use]
    pub fn without(&self, features: wgpu::Features) -> Self {
        Self { features: self.features - features, ..self.clone() }
    }

    /// The same device as if it were not a software adapter: it uses the choices for hardware. For
    /// tests.
    #[must_use]
    #[doc(hidden)]
    pub fn taken_for_hardware(&self) -> Self {
        let mut hardware = self.clone();
        hardware.info.device_type = wgpu::DeviceType::Other;
        hardware
    }

    /// The same device with at most `bytes` bytes in one binding: for tests of data that is split
    /// over several bindings.
    #[must_use]
    #[doc(hidden)]
    pub fn binding_at_most(&self, bytes: u64) -> Self {
        let mut less = self.clone();
        less.limits.max_storage_buffer_binding_size = bytes.min(self.limits.max_storage_buffer_binding_size);
        less
    }

    /// The same device with this bound on waits instead of 120 seconds. Longer waits return
    /// [`GpuError::Timeout`].
    #[must_use]
    pub fn waiting(&self, patience: Duration) -> Self {
        Self { patience, ..self.clone() }
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// The queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The adapter: name, driver, interface.
    pub fn info(&self) -> &wgpu::AdapterInfo {
        &self.info
    }

    /// Whether it is a software adapter, such as llvmpipe.
    pub(crate) fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// The limits of the device.
    pub fn limits(&self) -> &wgpu::Limits {
        &self.limits
    }

    /// The features that kernels may use.
    pub fn features(&self) -> wgpu::Features {
        self.features
    }

    /// Whether kernels may use this feature.
    #[doc(hidden)]
    pub fn has(&self, feature: wgpu::Features) -> bool {
        self.features.contains(feature)
    }

    /// The maximum number of bytes that a storage buffer can hold and a kernel can bind: a multiple
    /// of 16, as buffers are, and below 2^32, because run-time checks compare 32-bit sizes.
    #[doc(hidden)]
    pub fn max_buffer_bytes(&self) -> u64 {
        let limits = &self.limits;
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(u32::MAX.into()) / 16 * 16
    }

    /// The result of the subgroup probe, once it has run.
    pub(super) fn probed(&self) -> &OnceLock<Option<Subgroups>> {
        &self.subgroups
    }

    pub(super) fn staging(&self) -> &Staging {
        &self.staging
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn uploads(&self) -> &Uploads {
        &self.uploads
    }

    /// The file of its compiled kernels, if there is one
    /// ([`keep_kernels_in`](super::keep_kernels_in)).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn disk_cache(&self) -> Option<&DiskCache> {
        self.disk.as_deref()
    }

    pub(super) fn built(&self) -> &Built {
        &self.built
    }

    pub(crate) fn trusting(&self) -> bool {
        self.trusting
    }

    /// Runs `work`, which makes calls on the device, and returns the error that wgpu reports for
    /// it, if any.
    ///
    /// An error scope of this thread catches the error, so it reaches neither wgpu's default
    /// handler, which panics, nor the application's. A browser reports errors later: there the next
    /// wait returns them ([`Gpu::wait_async`], every download).
    pub(crate) fn catch<T>(
        &self,
        context: &str,
        work: impl FnOnce(&wgpu::Device) -> T,
    ) -> Result<T, GpuError> {
        self.alive()?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = work(&self.device);
        self.judge(context, [validation.pop(), internal.pop(), memory.pop()])?;
        Ok(value)
    }

    /// The result of a call, from its error scopes.
    #[cfg(not(target_arch = "wasm32"))]
    fn judge(
        &self,
        context: &str,
        scopes: [impl Future<Output = Option<wgpu::Error>>; 3],
    ) -> Result<(), GpuError> {
        match scopes.into_iter().find_map(known) {
            None => Ok(()),
            Some(error) => {
                // A lost device returns invalid objects without an error, and then errors about
                // them.
                self.present()?;
                Err(GpuError::from_wgpu(context, error))
            }
        }
    }

    /// Stores the scopes of a call until the next wait.
    #[cfg(target_arch = "wasm32")]
    fn judge(
        &self,
        context: &str,
        scopes: [impl Future<Output = Option<wgpu::Error>> + 'static; 3],
    ) -> Result<(), GpuError> {
        let context = context.to_owned();
        self.later.expect(async move {
            for scope in scopes {
                if let Some(error) = scope.await {
                    return Some(GpuError::from_wgpu(&context, error));
                }
            }
            None
        });
        Ok(())
    }

    /// Stores a browser's answer until the next wait. It precedes the answers of later calls.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn expect(&self, answer: impl Future<Output = Option<GpuError>> + 'static) {
        self.later.expect(answer);
    }

    /// The first error of the calls so far that a browser reports late. Elsewhere the result is
    /// `Ok`, because every call returns its own error.
    pub(crate) async fn settle(&self) -> Result<(), GpuError> {
        #[cfg(target_arch = "wasm32")]
        if let Err(error) = self.later.settle().await {
            // The rejected kernel may be among them and must not be found again.
            self.built.forget();
            self.alive()?;
            return Err(error);
        }
        Ok(())
    }

    /// The error of a call that failed without an error from wgpu.
    pub(super) fn failure(&self, context: &str, message: &dyn fmt::Display) -> GpuError {
        let refused = GpuError::Refused { context: context.to_owned(), message: message.to_string() };
        self.present().err().unwrap_or(refused)
    }

    /// Whether both are the same opened device. (wgpu compares by number, which separately opened
    /// devices may share.)
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.built, &other.built)
    }

    pub(super) fn alive(&self) -> Result<(), GpuError> {
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => Err(GpuError::Lost { reason: reason.clone() }),
        }
    }

    /// Whether the device is present. Browsers answer later, so a lost device shows when work
    /// fails.
    #[cfg(target_arch = "wasm32")]
    fn present(&self) -> Result<(), GpuError> {
        self.alive()
    }

    /// Whether the device is present. Checks wgpu itself, because a lent device notifies only the
    /// application.
    #[cfg(not(target_arch = "wasm32"))]
    fn present(&self) -> Result<(), GpuError> {
        self.alive()?;
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        // A buffer without a usage is an error on every device except a lost one, for which wgpu
        // reports no error.
        let _ = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("whether the device is there"),
            size: 16,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        });
        if known(scope.pop()).is_some() {
            return Ok(());
        }
        // A device that the library opened reports the reason when it is polled.
        let _ = self.poll(wgpu::PollType::Poll)?;
        Err(self.gone("it was destroyed, or the driver dropped it"))
    }

    /// Records that the device is lost, with `reason` unless a better one is known.
    fn gone(&self, reason: &str) -> GpuError {
        GpuError::Lost { reason: self.lost.get_or_init(|| reason.to_owned()).clone() }
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?}", self.info.name, self.info.backend)?;
        // Browsers do not report the driver.
        if !self.info.driver.is_empty() {
            write!(f, ", {} {}", self.info.driver, self.info.driver_info)?;
        }
        write!(f, "), buffers of {} MiB at most", self.max_buffer_bytes() >> 20)?;
        if self.has(wgpu::Features::SUBGROUP) {
            write!(f, ", subgroups of {} to {}", self.info.subgroup_min_size, self.info.subgroup_max_size)?;
        }
        if self.has(wgpu::Features::SHADER_INT64) {
            write!(f, ", 64-bit integers")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({self})")
    }
}

/// The error that a scope caught, which is available at once.
#[cfg(not(target_arch = "wasm32"))]
fn known(scope: impl Future<Output = Option<wgpu::Error>>) -> Option<wgpu::Error> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(scope).poll(&mut context) {
        std::task::Poll::Ready(error) => error,
        std::task::Poll::Pending => unreachable!("wgpu's own errors are known when a call returns"),
    }
}

/// The adapter's description, with a placeholder for a missing name: browsers hide it.
fn named(mut info: wgpu::AdapterInfo) -> wgpu::AdapterInfo {
    if info.name.is_empty() {
        info.name = match info.device_type {
            wgpu::DeviceType::Cpu => "a software adapter without a name".to_owned(),
            _ => "an adapter without a name".to_owned(),
        };
    }
    info
}

/// The adapter with this number among the best ones, modulo their count.
async fn choose(
    instance: &wgpu::Instance,
    backends: wgpu::Backends,
    number: u32,
) -> Result<wgpu::Adapter, GpuError> {
    if cfg!(target_arch = "wasm32") {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        return instance
            .request_adapter(&options)
            .await
            .map_err(|error| GpuError::NoAdapter { reason: error.to_string() });
    }
    let wanted = std::env::var("WGPU_ADAPTER_NAME").ok().map(|name| name.to_lowercase());
    let mut seen = Vec::new();
    let mut best: (u8, Vec<wgpu::Adapter>) = (0, Vec::new());
    for adapter in instance.enumerate_adapters(backends).await {
        let info = adapter.get_info();
        seen.push(format!("{} ({:?})", info.name, info.backend));
        let compute =
            adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
        let named = wanted.as_ref().is_none_or(|wanted| info.name.to_lowercase().contains(wanted));
        let rank = score(&info);
        if !compute || !named || rank < best.0 {
            continue;
        }
        if rank > best.0 {
            best = (rank, Vec::new());
        }
        best.1.push(adapter);
    }
    let mut best = best.1;
    let place = number as usize % best.len().max(1);
    let chosen = (place < best.len()).then(|| best.swap_remove(place));
    chosen.ok_or_else(|| {
        let mut reason = match seen.is_empty() {
            true => format!("none found ({backends:?} were searched)"),
            false => format!("none of {} is usable", seen.join(", ")),
        };
        if let Some(wanted) = wanted {
            reason += &format!("; WGPU_ADAPTER_NAME requires '{wanted}' in the name");
        }
        GpuError::NoAdapter { reason }
    })
}

/// Higher is better.
fn score(info: &wgpu::AdapterInfo) -> u8 {
    let low_power = wgpu::PowerPreference::from_env() == Some(wgpu::PowerPreference::LowPower);
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 4 - u8::from(low_power),
        wgpu::DeviceType::IntegratedGpu => 3 + u8::from(low_power),
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 1,
        wgpu::DeviceType::Cpu => 0,
    }
}
