//! Handlers that are WGSL functions.

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use web_time::Instant;

use super::Handler;
use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, Recipe, Source};
use crate::hybrid::HybridError;
use crate::shaders;

/// A handler that is a WGSL function, with its reference implementation in Rust.
///
/// Batched: an invocation serves a call.
///
/// ```wgsl
/// struct Call { ... }                     // in, per call: the bytes of C
/// struct Answer { ... }                   // out, per call: the bytes of A
/// fn handle(call: Call) -> Answer
/// ```
///
/// Multithreaded: `GROUPS` workgroups serve a call, with workgroup memory and barriers of the file.
/// All invocations of a workgroup call `handle`, and the result of lane 0 is the workgroup's
/// answer.
///
/// ```wgsl
/// fn handle(call: Call, group: u32, lane: u32) -> Answer
/// ```
///
/// Data shared by all calls is in buffers that stay on the device ([`WgslHandler::bind`]); the file
/// declares them in `@group(1)`. If `handle` writes to one, the result must not depend on the order
/// of calls. All invocations of a workgroup must reach the same barriers, and the loops of an
/// invocation must stay below 65,535 iterations in total.
pub struct WgslHandler<C, A, const GROUPS: usize = 1> {
    name: String,
    /// The devices that it was built for.
    devices: Vec<OnDevice>,
    /// Whether workgroups serve a call, instead of an invocation.
    multithreaded: bool,
    reference: ReferenceFn<C, A, GROUPS>,
}

/// A handler on a device.
struct OnDevice {
    gpu: Gpu,
    kernel: Kernel,
    /// The file's own variables, each with its buffer and the size of its values in bytes.
    bound: Vec<(String, wgpu::Buffer, u64)>,
    /// As many as groups that were answered at once.
    memory: Mutex<Vec<Memory>>,
}

type ReferenceFn<C, A, const GROUPS: usize> = Arc<dyn Fn(&C) -> [A; GROUPS] + Send + Sync>;

/// The workgroup size of batched handlers, in which each invocation serves a call.
const GROUP_SIZE: u32 = 64;

shared! {
    "hybrid/work.wgsl":
    struct Work as HandlerWork {
        first: u32,
        calls: u32,
        groups: u32,
        pad: u32,
    }
}

/// The reused buffers of a handler.
#[derive(Default)]
struct Memory {
    /// Sized for the most calls up to now.
    calls: Option<Buffer<u32>>,
    answers: Option<Buffer<u32>>,
    /// The pace per submission: calls of a multithreaded handler, workgroups of calls of a batched
    /// one.
    pace: Option<Pace>,
}

/// The kernel of a handler's file.
fn recipe(name: &str, source: Source, shape: Option<u32>) -> Recipe {
    match shape {
        None => Recipe::new(name, "batched", [shaders::file("hybrid/batched.wgsl"), source])
            .with([("GROUP_SIZE", f64::from(GROUP_SIZE))]),
        Some(lanes) => {
            Recipe::new(name, "multithreaded", [shaders::file("hybrid/multithreaded.wgsl"), source])
                .with([("GROUP_SIZE", f64::from(lanes))])
        }
    }
}

/// The kernels of handlers' files, batched and multithreaded, for translation.
#[doc(hidden)]
pub fn kernels(batched: Source, multithreaded: Source) -> Vec<Recipe> {
    vec![recipe("hybrid", batched, None), recipe("hybrid", multithreaded, Some(32))]
}

impl<C: Pod + Send + Sync, A: Pod + Send> WgslHandler<C, A> {
    /// One invocation for each call. It is built for all given devices (`Some(&gpu)` is one,
    /// `&list` are several). Without a device it is checked and runs on the CPU.
    ///
    /// # Errors
    /// If the WGSL does not link, if its `Call` and `Answer` differ in bytes from `C` and `A`, or
    /// if the device refuses it.
    pub fn batched<'g>(
        devices: impl IntoIterator<Item = &'g Gpu>,
        name: &str,
        source: Source,
        reference: impl Fn(&C) -> A + Send + Sync + 'static,
    ) -> Result<Self, HybridError> {
        let devices: Vec<_> = devices.into_iter().collect();
        Self::new(&devices, name, recipe(name, source, None), false, Arc::new(move |call| [reference(call)]))
    }
}

impl<C: Pod + Send + Sync, A: Pod + Send, const GROUPS: usize> WgslHandler<C, A, GROUPS> {
    /// `GROUPS` workgroups of `invocations` invocations for each call. The reference implementation
    /// returns an answer for each workgroup.
    ///
    /// # Errors
    /// As [`WgslHandler::batched`].
    pub fn multithreaded<'g>(
        devices: impl IntoIterator<Item = &'g Gpu>,
        name: &str,
        source: Source,
        invocations: u32,
        reference: impl Fn(&C) -> [A; GROUPS] + Send + Sync + 'static,
    ) -> Result<Self, HybridError> {
        let devices: Vec<_> = devices.into_iter().collect();
        let most = devices.iter().map(|gpu| gpu.limits().max_compute_invocations_per_workgroup);
        let most = most.min().unwrap_or(256);
        if GROUPS == 0 || GROUPS > 1 << 16 || invocations == 0 || invocations > most {
            let what = format!(
                "{GROUPS} workgroups of {invocations} invocations for each call: choose 1 to 65,536 workgroups, and 1 to {most} invocations"
            );
            return Err(HybridError::Handler { handler: name.to_owned(), what });
        }
        Self::new(&devices, name, recipe(name, source, Some(invocations)), true, Arc::new(reference))
    }

    fn new(
        devices: &[&Gpu],
        name: &str,
        recipe: Recipe,
        multithreaded: bool,
        reference: ReferenceFn<C, A, GROUPS>,
    ) -> Result<Self, HybridError> {
        let program = recipe.link()?;
        let wrong = |what: String| HybridError::Handler { handler: name.to_owned(), what };
        for (of, bytes) in [("Call", size_of::<C>()), ("Answer", size_of::<A>())] {
            let layout = program.layout(of).ok_or_else(|| wrong(format!("its WGSL has no `struct {of}`")))?;
            if layout.bytes as usize != bytes {
                let what = format!(
                    "`struct {of}` has {} bytes in WGSL, and its Rust type has {bytes}",
                    layout.bytes
                );
                return Err(wrong(what));
            }
            if let Some(padding) = layout.padding() {
                return Err(wrong(format!("`struct {of}` has padding: {padding}. Declare a field there")));
            }
        }
        let made = devices.iter().map(|&gpu| {
            let (gpu, kernel) = (gpu.clone(), recipe.kernel(gpu)?);
            Ok::<_, HybridError>(OnDevice { gpu, kernel, bound: Vec::new(), memory: Mutex::default() })
        });
        let devices = made.collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), devices, multithreaded, reference })
    }

    /// Binds a buffer to a variable of the file, for a handler on one device.
    #[must_use]
    pub fn bind<T: Pod>(self, variable: &str, buffer: &Buffer<T>) -> Self {
        let first = self.devices.first().map(|device| device.gpu.clone());
        match first {
            Some(gpu) => self.bind_on(&gpu, variable, buffer),
            None => self,
        }
    }

    /// Binds a buffer of one of the handler's devices: each needs its own. (For another device this
    /// has no effect.)
    #[must_use]
    pub fn bind_on<T: Pod>(mut self, gpu: &Gpu, variable: &str, buffer: &Buffer<T>) -> Self {
        let bytes = buffer.len().max(1) * size_of::<T>() as u64;
        let of = |device: &&mut OnDevice| device.gpu.is(gpu);
        if let Some(device) = self.devices.iter_mut().find(of) {
            device.bound.push((variable.to_owned(), buffer.raw().clone(), bytes));
        }
        self
    }

    /// The answers to calls: `GROUPS` for each.
    fn dispatch(&self, device: &OnDevice, calls: &[C]) -> Result<Vec<A>, HybridError> {
        let memory = || device.memory.lock().unwrap_or_else(PoisonError::into_inner);
        // Not locked meanwhile: streams answer several groups at once.
        let mut own = memory().pop().unwrap_or_default();
        let answers = self.dispatch_in(&mut own, device, calls)?;
        memory().push(own);
        Ok(answers)
    }

    fn dispatch_in(
        &self,
        memory: &mut Memory,
        device: &OnDevice,
        calls: &[C],
    ) -> Result<Vec<A>, HybridError> {
        let OnDevice { gpu, kernel, .. } = device;
        let each = u32::try_from(GROUPS).expect("at most 65,536");
        let words = |bytes: usize| (bytes / 4) as u64;
        let need = words(size_of_val(calls));
        let answers = calls.len() as u64 * u64::from(each) * words(size_of::<A>());
        let given = grown(gpu, "calls", &mut memory.calls, need)?;
        let reported = grown(gpu, "answers", &mut memory.answers, answers)?;
        // Zero, unless a driver ends a loop early.
        let cut = Buffer::<u32>::storage(gpu, "cut", 1)?;
        given.write(gpu, 0, bytemuck::cast_slice(calls))?;
        let count = u32::try_from(calls.len()).expect("calls that fit a buffer are counted in 32 bits");
        let pace = memory.pace.get_or_insert_with(|| Pace::new(1 << 20));
        // Workgroups and invocations are counted in 32 bits.
        let most = (1 << 30) / each;
        // The unit of the pace, which takes about as long as a call.
        let unit = if self.multithreaded { 1 } else { GROUP_SIZE };
        let mut first = 0;
        while first < count {
            let calls = (pace.units().max(1).saturating_mul(unit)).min(count - first).min(most);
            let work = Buffer::uniform(gpu, "work", &Work { first, calls, groups: each, pad: 0 })?;
            let mut buffers: Vec<(&str, wgpu::BindingResource<'_>)> = vec![
                ("work", work.binding()),
                ("calls", given.binding()),
                ("answers", reported.binding()),
                ("cut", cut.binding()),
            ];
            buffers.extend(device.bound.iter().map(|(name, buffer, bytes)| {
                let size = std::num::NonZero::new(*bytes);
                let binding = wgpu::BufferBinding { buffer, offset: 0, size };
                (name.as_str(), wgpu::BindingResource::Buffer(binding))
            }));
            let mut plan = Plan::new("handler");
            let groups = if self.multithreaded { calls * each } else { calls.div_ceil(GROUP_SIZE) };
            plan.dispatch(gpu, kernel, groups, &buffers)?;
            let begun = Instant::now();
            gpu.wait(plan.submit(gpu)?)?;
            pace.record(calls.div_ceil(unit), begun.elapsed());
            first += calls;
        }
        let download = Download::new(gpu, "answers", 4 * (answers + 1))?;
        let mut encoder = gpu.encoder("answers");
        download.record_part(&mut encoder, reported.raw(), 0, (0, 4 * answers));
        download.record_part(&mut encoder, cut.raw(), 0, (4 * answers, 4));
        let submission = gpu.submit(encoder)?;
        let bytes = pollster::block_on(download.finish(gpu, submission))?;
        let (answers, cut) = bytes.split_at(bytes.len() - 4);
        if cut != [0; 4] {
            return Err(HybridError::Cut { handler: self.name.clone() });
        }
        Ok(bytemuck::pod_collect_to_vec(answers))
    }
}

/// A buffer with room for this many words; its contents are lost if it grows.
fn grown<'b>(
    gpu: &Gpu,
    label: &str,
    buffer: &'b mut Option<Buffer<u32>>,
    words: u64,
) -> Result<&'b Buffer<u32>, GpuError> {
    if buffer.as_ref().is_none_or(|buffer| buffer.len() < words) {
        let most = gpu.max_buffer_bytes() / 4;
        let words = words.max(words.next_power_of_two().min(most));
        *buffer = None;
        *buffer = Some(Buffer::storage(gpu, label, words)?);
    }
    Ok(buffer.as_ref().expect("it was just built"))
}

impl<C: Pod + Send + Sync, A: Pod + Send, const GROUPS: usize> Handler for WgslHandler<C, A, GROUPS> {
    type Call = C;
    /// One answer for a batched handler, and for one workgroup per call.
    type Answer = [A; GROUPS];

    fn name(&self) -> &str {
        &self.name
    }

    fn on_cpu(&self, call: &C) -> [A; GROUPS] {
        (self.reference)(call)
    }

    fn has_gpu(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Runs on this device if it was built for it, else on its first device.
    fn on_gpu(&self, gpu: &Gpu, calls: &[C]) -> Result<Vec<[A; GROUPS]>, HybridError> {
        let words = |bytes: usize| (bytes as u64).max(1);
        let here = self.devices.iter().find(|device| device.gpu.is(gpu));
        let Some(device) = here.or(self.devices.first()) else {
            let what = "it was built without a device".to_owned();
            return Err(HybridError::Handler { handler: self.name.clone(), what });
        };
        // Backends are tried over time, so a variable that is bound only on some devices must be
        // detected at the first call.
        let lacking = self.devices.iter().find_map(|device| {
            let lacks = |name: &String| device.bound.iter().all(|(own, ..)| own != name);
            let (name, ..) =
                self.devices.iter().flat_map(|other| &other.bound).find(|(name, ..)| lacks(name))?;
            Some((name, &device.gpu))
        });
        if let Some((variable, gpu)) = lacking {
            let what = format!(
                "`{variable}` is bound on one of its devices and not on {gpu}: bind a buffer on each (`bind_on`)"
            );
            return Err(HybridError::Handler { handler: self.name.clone(), what });
        }
        let limit = device.gpu.max_buffer_bytes();
        let most = (limit / words(size_of::<C>()))
            .min(limit / words(size_of::<A>().saturating_mul(GROUPS)))
            .clamp(1, 1 << 30);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut answers = Vec::with_capacity(calls.len());
        for calls in calls.chunks(most) {
            let reported = self.dispatch(device, calls)?;
            let whole = |part: &[A]| <[A; GROUPS]>::try_from(part).expect("a chunk has `GROUPS` answers");
            answers.extend(reported.chunks_exact(GROUPS).map(whole));
        }
        Ok(answers)
    }
}

impl<C, A, const GROUPS: usize> std::fmt::Debug for WgslHandler<C, A, GROUPS> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WgslHandler")
            .field("name", &self.name)
            .field("groups", &GROUPS)
            .finish_non_exhaustive()
    }
}
