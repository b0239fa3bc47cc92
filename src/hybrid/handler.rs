//! Handlers: work that events hand to the GPU, many calls at once (the paper, sections 2.2 and 2.3).

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use web_time::Instant;

use super::HybridError;
use super::error::panic_message;
use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, Recipe, Source};
use crate::shaders;

/// What events may call: a function that depends on its call and on what it keeps, and on nothing else. [`WgslHandler`] makes one of WGSL and of its Rust twin; one that takes several
/// kernels is written by hand.
pub trait Handler: Send + Sync + 'static {
    /// What it is given.
    type Call: Send + Sync + 'static;
    /// What it answers.
    type Answer: Send + 'static;

    /// Its name, in errors and reports.
    fn name(&self) -> &str;

    /// Whether it can run on a device. One that says no runs on the host's cores, whatever the [`Placement`].
    fn has_gpu(&self) -> bool {
        true
    }

    /// The answer to a call, on one core.
    fn on_cpu(&self, call: &Self::Call) -> Self::Answer;

    /// The answers to calls, in their order: the same bits.
    ///
    /// # Errors
    /// Where the device fails.
    fn on_gpu(&self, gpu: &Gpu, calls: &[Self::Call]) -> Result<Vec<Self::Answer>, HybridError>;
}

/// Where calls run. It changes the speed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Placement {
    /// Wherever so many calls took less time so far; both places are tried. A handler that the device's driver cuts ([`HybridError::Cut`]) runs on the cores from
    /// then on.
    #[default]
    Auto,
    /// On the device.
    Gpu,
    /// On the host's cores.
    Cpu,
}

/// The handlers of a simulation.
#[derive(Default)]
pub struct Handlers {
    gpu: Option<Gpu>,
    placement: Placement,
    list: Vec<Box<dyn Registered>>,
}

/// One of them, as [`Context::call`](super::Context::call) wants it.
pub struct Handle<H> {
    number: usize,
    handler: PhantomData<fn(H)>,
}

impl<H> Handle<H> {
    pub(super) fn number(self) -> usize {
        self.number
    }
}

impl<H> Clone for Handle<H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for Handle<H> {}

impl<H> std::fmt::Debug for Handle<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle({})", self.number)
    }
}

/// How many calls of a handler ran where, and how long that took in all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Used {
    /// The handler.
    pub name: String,
    /// Calls on the device, and seconds.
    pub gpu: (u64, f64),
    /// Calls on the host's cores, and seconds.
    pub cpu: (u64, f64),
}

impl Handlers {
    /// No handlers yet. Without a device all run on the host's cores.
    pub fn new(gpu: Option<Gpu>, placement: Placement) -> Self {
        Self { gpu, placement, list: Vec::new() }
    }

    /// Adds one.
    pub fn add<H: Handler>(&mut self, handler: H) -> Handle<H> {
        let used = Used { name: handler.name().to_owned(), ..Used::default() };
        self.list.push(Box::new(Kept { handler, balance: Balance::default(), used }));
        Handle { number: self.list.len() - 1, handler: PhantomData }
    }

    /// What ran where, handler by handler.
    pub fn used(&self) -> Vec<Used> {
        self.list.iter().map(|handler| handler.used().clone()).collect()
    }

    /// The answers to calls of one handler, on rayon's cores or on this one, where the device does not serve.
    pub(super) fn run(
        &mut self,
        handler: usize,
        calls: Vec<Box<dyn Any + Send>>,
        cores: bool,
    ) -> Result<Vec<Box<dyn Any + Send>>, HybridError> {
        let Some(handler) = self.list.get_mut(handler) else {
            let what =
                "an event called it, and the simulation's Options::handlers does not hold it".to_owned();
            return Err(HybridError::Handler { handler: format!("number {handler}"), what });
        };
        handler.run(self.gpu.as_ref(), self.placement, calls, cores)
    }
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handlers").field("placement", &self.placement).field("used", &self.used()).finish()
    }
}

trait Registered: Send {
    fn run(
        &mut self,
        gpu: Option<&Gpu>,
        placement: Placement,
        calls: Vec<Box<dyn Any + Send>>,
        cores: bool,
    ) -> Result<Vec<Box<dyn Any + Send>>, HybridError>;

    fn used(&self) -> &Used;
}

struct Kept<H> {
    handler: H,
    balance: Balance,
    used: Used,
}

impl<H: Handler> Registered for Kept<H> {
    fn run(
        &mut self,
        gpu: Option<&Gpu>,
        placement: Placement,
        calls: Vec<Box<dyn Any + Send>>,
        cores: bool,
    ) -> Result<Vec<Box<dyn Any + Send>>, HybridError> {
        let other =
            |what: &str| HybridError::Handler { handler: self.used.name.clone(), what: what.to_owned() };
        let calls: Option<Vec<H::Call>> =
            calls.into_iter().map(|call| call.downcast().ok().map(|call| *call)).collect();
        let calls = calls.ok_or_else(|| other("it was called by the handle of another simulation"))?;
        let gpu = gpu.filter(|_| self.handler.has_gpu());
        let mut gpu = match placement {
            Placement::Cpu => None,
            Placement::Gpu => gpu,
            Placement::Auto => gpu.filter(|_| self.balance.prefers_gpu(calls.len())),
        };
        let handler = &self.handler;
        // A panic of its code is an error like others, so that all ranks hear of it.
        let answer = |gpu: Option<&Gpu>| {
            let begun = Instant::now();
            let answers = catch_unwind(AssertUnwindSafe(|| match gpu {
                Some(gpu) => handler.on_gpu(gpu, &calls),
                None if cores => Ok(calls.par_iter().map(|call| handler.on_cpu(call)).collect()),
                None => Ok(calls.iter().map(|call| handler.on_cpu(call)).collect()),
            }));
            let answers = answers.unwrap_or_else(|panic| {
                Err(other(&format!("its code panicked: {}", panic_message(&*panic))))
            })?;
            Ok((answers, begun.elapsed().as_secs_f64()))
        };
        let mut answered = answer(gpu);
        if placement == Placement::Auto && matches!(answered, Err(HybridError::Cut { .. })) {
            // The driver ends its loops, and would again.
            self.balance.cut = true;
            gpu = None;
            answered = answer(None);
        }
        let (answers, seconds) = answered?;
        if answers.len() != calls.len() {
            return Err(other(&format!("it gave {} answers to {} calls", answers.len(), calls.len())));
        }
        self.balance.record(gpu.is_some(), calls.len(), seconds);
        let used = if gpu.is_some() { &mut self.used.gpu } else { &mut self.used.cpu };
        used.0 += calls.len() as u64;
        used.1 += seconds;
        Ok(answers.into_iter().map(|answer| Box::new(answer) as Box<dyn Any + Send>).collect())
    }

    fn used(&self) -> &Used {
        &self.used
    }
}

/// What was measured: seconds of a call on the CPU, and of batches of 2^i to 2^(i+1) - 1 calls on the GPU, each a moving mean.
#[derive(Debug, Default)]
struct Balance {
    cpu: Option<f64>,
    gpu: [Option<f64>; 32],
    /// Whether the GPU's driver cut it: it is not tried again.
    cut: bool,
}

impl Balance {
    /// A place that was not tried is tried, unless fewer calls took the GPU longer than these take the CPU.
    #[expect(clippy::cast_precision_loss, reason = "calls are counted, and f64 counts far")]
    fn prefers_gpu(&self, calls: usize) -> bool {
        let Some(cpu) = self.cpu.filter(|_| !self.cut).map(|each| each * calls as f64) else { return false };
        let size = size(calls);
        match self.gpu[size] {
            Some(gpu) => gpu < cpu,
            None => self.gpu[..size].iter().rev().flatten().next().is_none_or(|&fewer| fewer < cpu),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "calls are counted, and f64 counts far")]
    fn record(&mut self, gpu: bool, calls: usize, seconds: f64) {
        let (kept, new) = match gpu {
            true => (&mut self.gpu[size(calls)], seconds),
            false => (&mut self.cpu, seconds / calls.max(1) as f64),
        };
        *kept = Some(kept.map_or(new, |old| 0.75 * old + 0.25 * new));
    }
}

/// The logarithm of a number of calls.
fn size(calls: usize) -> usize {
    (calls.max(1).ilog2() as usize).min(31)
}

/// A handler that is a WGSL function, and its Rust twin.
///
/// Batched: an invocation serves a call.
///
/// ```wgsl
/// struct Call { ... }                     // in, per call: the bytes of C
/// struct Answer { ... }                   // out, per call: the bytes of A
/// fn handle(call: Call) -> Answer
/// ```
///
/// Multithreaded: so many workgroups serve a call, with workgroup memory and barriers of the file's own. All invocations of a workgroup call `handle`, and what that of lane 0 returns
/// is the workgroup's answer.
///
/// ```wgsl
/// fn handle(call: Call, group: u32, lane: u32) -> Answer
/// ```
///
/// What all calls share lies in buffers that stay on the device ([`WgslHandler::bind`]); the file declares them in `@group(1)`. One that it writes to is the caller's care: what
/// calls write must not depend on their order. `handle` may end no workgroup's barriers in part of its invocations, and its loops together must stay below 65,535 iterations of one
/// invocation.
pub struct WgslHandler<C, A, const GROUPS: usize = 1> {
    name: String,
    /// The device that it was made for, if any.
    device: Option<(Gpu, Kernel)>,
    /// Whether workgroups serve a call, and not an invocation.
    multithreaded: bool,
    /// The file's own variables, each with its buffer and as many bytes as that has values.
    bound: Vec<(String, wgpu::Buffer, u64)>,
    twin: Twin<C, A, GROUPS>,
    memory: std::sync::Mutex<Memory>,
}

type Twin<C, A, const GROUPS: usize> = Arc<dyn Fn(&C) -> [A; GROUPS] + Send + Sync>;

/// Invocations of a workgroup that serves a call each.
const GROUP_SIZE: u32 = 64;

/// `HandlerWork` of `shaders/hybrid/handler.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Work {
    first: u32,
    calls: u32,
    groups: u32,
    pad: u32,
}

/// The buffers of a handler, which serve again.
#[derive(Default)]
struct Memory {
    /// Bytes that there is room for.
    calls: Option<Buffer<u32>>,
    answers: Option<Buffer<u32>>,
    /// Per submission: calls of a multithreaded handler, workgroups of calls of a batched one.
    pace: Option<Pace>,
}

/// The kernels of a file of handlers, for translation.
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

/// The kernel of a handler's file, batched or multithreaded.
#[doc(hidden)]
pub fn kernels(batched: Source, multithreaded: Source) -> Vec<Recipe> {
    vec![recipe("hybrid", batched, None), recipe("hybrid", multithreaded, Some(32))]
}

impl<C: Pod + Send + Sync, A: Pod + Send> WgslHandler<C, A> {
    /// One invocation for each call. Without a device it is checked all the same, and runs on the CPU.
    ///
    /// # Errors
    /// WGSL that does not link, whose `Call` and `Answer` are not the bytes of `C` and `A`, or that the device refuses.
    pub fn batched(
        gpu: Option<&Gpu>,
        name: &str,
        source: Source,
        twin: impl Fn(&C) -> A + Send + Sync + 'static,
    ) -> Result<Self, HybridError> {
        Self::new(gpu, name, recipe(name, source, None), false, Arc::new(move |call| [twin(call)]))
    }
}

impl<C: Pod + Send + Sync, A: Pod + Send, const GROUPS: usize> WgslHandler<C, A, GROUPS> {
    /// For each call `GROUPS` workgroups of so many invocations. The twin returns an answer for each workgroup.
    ///
    /// # Errors
    /// As [`WgslHandler::batched`].
    pub fn multithreaded(
        gpu: Option<&Gpu>,
        name: &str,
        source: Source,
        invocations: u32,
        twin: impl Fn(&C) -> [A; GROUPS] + Send + Sync + 'static,
    ) -> Result<Self, HybridError> {
        let most = gpu.map_or(256, |gpu| gpu.limits().max_compute_invocations_per_workgroup);
        if GROUPS == 0 || GROUPS > 1 << 16 || invocations == 0 || invocations > most {
            let what = format!(
                "{GROUPS} workgroups of {invocations} invocations for each call: choose 1 to 65,536 workgroups, and 1 to {most} invocations"
            );
            return Err(HybridError::Handler { handler: name.to_owned(), what });
        }
        Self::new(gpu, name, recipe(name, source, Some(invocations)), true, Arc::new(twin))
    }

    fn new(
        gpu: Option<&Gpu>,
        name: &str,
        recipe: Recipe,
        multithreaded: bool,
        twin: Twin<C, A, GROUPS>,
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
        let device = gpu.map(|gpu| Ok::<_, HybridError>((gpu.clone(), recipe.kernel(gpu)?))).transpose()?;
        Ok(Self {
            name: name.to_owned(),
            device,
            multithreaded,
            bound: Vec::new(),
            twin,
            memory: std::sync::Mutex::default(),
        })
    }

    /// Binds a buffer to a variable of the file's.
    #[must_use]
    pub fn bind<T: Pod>(mut self, variable: &str, buffer: &Buffer<T>) -> Self {
        let bytes = buffer.len().max(1) * size_of::<T>() as u64;
        self.bound.push((variable.to_owned(), buffer.raw().clone(), bytes));
        self
    }

    /// The answers to calls, so many for each as there are workgroups.
    fn dispatch(&self, gpu: &Gpu, kernel: &Kernel, calls: &[C]) -> Result<Vec<A>, HybridError> {
        let each = u32::try_from(GROUPS).expect("at most 65,536");
        let words = |bytes: usize| (bytes / 4) as u64;
        let mut memory = self.memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let need = words(size_of_val(calls));
        let answers = calls.len() as u64 * u64::from(each) * words(size_of::<A>());
        let memory = &mut *memory;
        let given = grown(gpu, "calls", &mut memory.calls, need)?;
        let told = grown(gpu, "answers", &mut memory.answers, answers)?;
        // Zero, until a driver cuts a loop.
        let cut = Buffer::<u32>::storage(gpu, "cut", 1)?;
        given.write(gpu, 0, bytemuck::cast_slice(calls))?;
        let count = u32::try_from(calls.len()).expect("what fits a buffer is counted in 32 bits");
        let pace = memory.pace.get_or_insert_with(|| Pace::new(1 << 20));
        // So that workgroups and invocations are counted in 32 bits.
        let most = (1 << 30) / each;
        // Of the pace: what takes about as long as a call.
        let unit = if self.multithreaded { 1 } else { GROUP_SIZE };
        let mut first = 0;
        while first < count {
            let calls = (pace.units().max(1).saturating_mul(unit)).min(count - first).min(most);
            let work = Buffer::uniform(gpu, "work", &Work { first, calls, groups: each, pad: 0 })?;
            let mut buffers: Vec<(&str, wgpu::BindingResource<'_>)> = vec![
                ("work", work.binding()),
                ("calls", given.binding()),
                ("answers", told.binding()),
                ("cut", cut.binding()),
            ];
            buffers.extend(self.bound.iter().map(|(name, buffer, bytes)| {
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
        download.record_part(&mut encoder, told.raw(), 0, (0, 4 * answers));
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

/// A buffer with room for so many words, in which values are lost.
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
    Ok(buffer.as_ref().expect("it was made"))
}

impl<C: Pod + Send + Sync, A: Pod + Send, const GROUPS: usize> Handler for WgslHandler<C, A, GROUPS> {
    type Call = C;
    /// Of a batched one, and where one workgroup serves a call, one answer.
    type Answer = [A; GROUPS];

    fn name(&self) -> &str {
        &self.name
    }

    fn on_cpu(&self, call: &C) -> [A; GROUPS] {
        (self.twin)(call)
    }

    fn has_gpu(&self) -> bool {
        self.device.is_some()
    }

    /// On the device that it was made for.
    fn on_gpu(&self, _: &Gpu, calls: &[C]) -> Result<Vec<[A; GROUPS]>, HybridError> {
        let words = |bytes: usize| (bytes as u64).max(1);
        let Some((gpu, kernel)) = &self.device else {
            let what = "it was made without a device".to_owned();
            return Err(HybridError::Handler { handler: self.name.clone(), what });
        };
        let limit = gpu.max_buffer_bytes();
        let most = (limit / words(size_of::<C>()))
            .min(limit / words(size_of::<A>().saturating_mul(GROUPS)))
            .clamp(1, 1 << 30);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut answers = Vec::with_capacity(calls.len());
        for calls in calls.chunks(most) {
            let told = self.dispatch(gpu, kernel, calls)?;
            let whole = |part: &[A]| <[A; GROUPS]>::try_from(part).expect("a chunk has so many");
            answers.extend(told.chunks_exact(GROUPS).map(whole));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_places_are_tried_and_the_faster_one_stays() {
        let mut balance = Balance::default();
        assert!(!balance.prefers_gpu(100), "the CPU is first");
        balance.record(false, 100, 1.0);
        assert!(balance.prefers_gpu(100), "then the GPU is tried");
        balance.record(true, 100, 0.5);
        assert!(balance.prefers_gpu(100));
        // Ten calls: 0.1 s on the CPU. Unknown on the GPU, so it is tried, and lost.
        assert!(balance.prefers_gpu(10));
        balance.record(true, 10, 0.4);
        assert!(!balance.prefers_gpu(10) && !balance.prefers_gpu(20) && balance.prefers_gpu(64));
    }
}
