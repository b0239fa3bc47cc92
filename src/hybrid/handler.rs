//! Handlers: work that events pass to the GPU, many calls at once (the paper, sections 2.2 and
//! 2.3).

mod balance;
mod placement;
mod wgsl;

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use web_time::Instant;

use super::HybridError;
use super::error::panic_message;
use crate::gpu::Gpu;
use balance::{Balance, HandlerBackend};
pub use placement::Placement;
pub use wgsl::WgslHandler;
#[doc(hidden)]
pub use wgsl::kernels;

/// A function that events may call. It depends only on its call and on data it holds.
/// [`WgslHandler`] builds one from WGSL and its reference implementation in Rust; implement a
/// handler with several kernels by hand.
pub trait Handler: Send + Sync + 'static {
    /// The type of its input.
    type Call: Send + Sync + 'static;
    /// The type of its answer.
    type Answer: Send + 'static;

    /// Its name, in errors and reports.
    fn name(&self) -> &str;

    /// Whether it can run on a device. If not, it runs on the host's cores, whatever the
    /// [`Placement`].
    fn has_gpu(&self) -> bool {
        true
    }

    /// The answer to a call, on one core.
    fn on_cpu(&self, call: &Self::Call) -> Self::Answer;

    /// The answers to calls, in their order: the same bits. With several devices, several threads
    /// call this at once, each with another device; with several streams
    /// ([`Overlap::Streams`](super::Overlap::Streams)), also with the same.
    ///
    /// # Errors
    /// If the device fails.
    fn on_gpu(&self, gpu: &Gpu, calls: &[Self::Call]) -> Result<Vec<Self::Answer>, HybridError>;
}

/// The handlers of a simulation.
#[derive(Default)]
pub struct Handlers {
    devices: Vec<Gpu>,
    placement: Placement,
    list: Vec<Box<dyn RegisteredHandler>>,
}

/// A handler's handle for [`Context::call`](super::Context::call).
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

/// The number of calls of a handler by backend, and the total time. Times of groups that are
/// answered at once are added.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HandlerUsage {
    /// The handler's name.
    pub name: String,
    /// Calls on devices, and seconds.
    pub gpu: (u64, f64),
    /// The device calls, by device.
    pub devices: Vec<u64>,
    /// Calls on the host's cores, and seconds.
    pub cpu: (u64, f64),
}

impl Handlers {
    /// Creates an empty list of handlers. Without a device all run on the host's cores. Several
    /// devices share the calls of a window in proportion to their speed (`Some(gpu)` is one device,
    /// a list several: [`Gpu::nth`]).
    pub fn new(devices: impl IntoIterator<Item = Gpu>, placement: Placement) -> Self {
        Self { devices: devices.into_iter().collect(), placement, list: Vec::new() }
    }

    /// Adds a handler.
    pub fn add<H: Handler>(&mut self, handler: H) -> Handle<H> {
        let used = HandlerUsage { name: handler.name().to_owned(), ..HandlerUsage::default() };
        self.list.push(Box::new(HandlerMemory { handler, measured: Mutex::new((Balance::default(), used)) }));
        Handle { number: self.list.len() - 1, handler: PhantomData }
    }

    /// The usage of each handler.
    pub fn used(&self) -> Vec<HandlerUsage> {
        self.list.iter().map(|handler| handler.used()).collect()
    }

    /// The answers to calls of one handler. Without a device, they are computed on rayon's cores,
    /// or on this core only.
    pub(super) fn run(
        &self,
        handler: usize,
        calls: Vec<Box<dyn Any + Send>>,
        cores: bool,
    ) -> Result<Vec<Box<dyn Any + Send>>, HybridError> {
        let Some(handler) = self.list.get(handler) else {
            let what =
                "an event called it, and the simulation's Options::handlers does not have it".to_owned();
            return Err(HybridError::Handler { handler: format!("number {handler}"), what });
        };
        handler.run(&self.devices, self.placement, calls, cores)
    }
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handlers").field("placement", &self.placement).field("used", &self.used()).finish()
    }
}

trait RegisteredHandler: Send + Sync {
    fn run(
        &self,
        devices: &[Gpu],
        placement: Placement,
        calls: Vec<Box<dyn Any + Send>>,
        cores: bool,
    ) -> Result<Vec<Box<dyn Any + Send>>, HybridError>;

    fn used(&self) -> HandlerUsage;
}

struct HandlerMemory<H> {
    handler: H,
    /// What its groups took, and the number of calls.
    measured: Mutex<(Balance, HandlerUsage)>,
}

impl<H> HandlerMemory<H> {
    /// Never locked while calls are answered, so that streams answer groups at once.
    fn measured(&self) -> MutexGuard<'_, (Balance, HandlerUsage)> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: Handler> RegisteredHandler for HandlerMemory<H> {
    fn run(
        &self,
        devices: &[Gpu],
        placement: Placement,
        calls: Vec<Box<dyn Any + Send>>,
        cores: bool,
    ) -> Result<Vec<Box<dyn Any + Send>>, HybridError> {
        let name = self.handler.name().to_owned();
        let other = |what: &str| HybridError::Handler { handler: name.clone(), what: what.to_owned() };
        let calls: Option<Vec<H::Call>> =
            calls.into_iter().map(|call| call.downcast().ok().map(|call| *call)).collect();
        let calls = calls.ok_or_else(|| other("it was called with the handle of another simulation"))?;
        let devices = if self.handler.has_gpu() { devices } else { &[] };
        let (mut place, warm) = {
            let (balance, _) = &mut *self.measured();
            let place = balance.place(placement, calls.len(), devices.len());
            (place, balance.is_warm(place))
        };
        let handler = &self.handler;
        // A panic in its code is an error like others, so that all ranks get it.
        let guarded = |answer: &dyn Fn() -> Result<Vec<H::Answer>, HybridError>, calls: usize| {
            let begun = Instant::now();
            let answers = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|panic| {
                Err(other(&format!("its code panicked: {}", panic_message(&*panic))))
            })?;
            if answers.len() != calls {
                return Err(other(&format!("it returned {} answers to {calls} calls", answers.len())));
            }
            Ok((answers, begun.elapsed().as_secs_f64()))
        };
        let on_cpu = || match cores {
            true => Ok(calls.par_iter().map(|call| handler.on_cpu(call)).collect()),
            false => Ok(calls.iter().map(|call| handler.on_cpu(call)).collect()),
        };
        let mut begun = Instant::now();
        let mut answered = match place {
            HandlerBackend::Cpu => guarded(&on_cpu, calls.len()).map(|(answers, _)| answers),
            HandlerBackend::One => {
                let answered = guarded(&|| handler.on_gpu(&devices[0], &calls), calls.len());
                answered.map(|(answers, _)| {
                    self.measured().0.record_device(0, calls.len(), None);
                    answers
                })
            }
            HandlerBackend::All => {
                let shares = self.measured().0.shares(calls.len(), devices.len());
                let mut rest = &calls[..];
                let parts: Vec<_> = devices
                    .iter()
                    .zip(&shares)
                    .map(|(gpu, &share)| {
                        let these = rest.split_off(..share).unwrap_or_default();
                        move || match these {
                            [] => Ok((Vec::new(), 0.0)),
                            _ => guarded(&|| handler.on_gpu(gpu, these), these.len()),
                        }
                    })
                    .collect();
                let reported = at_once(parts);
                // If several fail, the first by device.
                let reported: Result<Vec<_>, _> = reported.into_iter().collect();
                reported.map(|reported| {
                    let mut answers = Vec::with_capacity(calls.len());
                    for (device, (these, seconds)) in reported.into_iter().enumerate() {
                        self.measured().0.record_device(device, these.len(), warm.then_some(seconds));
                        answers.extend(these);
                    }
                    answers
                })
            }
        };
        if placement == Placement::Auto && matches!(answered, Err(HybridError::Cut { .. })) {
            // The driver ended its loops, and would again.
            self.measured().0.cut = true;
            (place, begun) = (HandlerBackend::Cpu, Instant::now());
            answered = guarded(&on_cpu, calls.len()).map(|(answers, _)| answers);
        }
        let answers = answered?;
        let seconds = begun.elapsed().as_secs_f64();
        let (balance, usage) = &mut *self.measured();
        if warm || place == HandlerBackend::Cpu {
            balance.record(place, calls.len(), seconds);
        }
        let used = if place == HandlerBackend::Cpu { &mut usage.cpu } else { &mut usage.gpu };
        used.0 += calls.len() as u64;
        used.1 += seconds;
        usage.devices = balance.devices.iter().map(|device| device.calls).collect();
        Ok(answers.into_iter().map(|answer| Box::new(answer) as Box<dyn Any + Send>).collect())
    }

    fn used(&self) -> HandlerUsage {
        self.measured().1.clone()
    }
}

/// Runs functions at once, each in its own thread (the first in this one), and returns their
/// results, in order. If the system cannot create a thread, its function runs in this one.
fn at_once<R: Send>(functions: Vec<impl FnOnce() -> R + Send>) -> Vec<R> {
    let functions: Vec<_> = functions.into_iter().map(|function| Mutex::new(Some(function))).collect();
    let run = |number: usize| {
        let function = functions[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        function.expect("each is run once")()
    };
    let run = &run;
    std::thread::scope(|scope| {
        let start = |number| std::thread::Builder::new().spawn_scoped(scope, move || run(number));
        let others: Vec<_> = (1..functions.len()).map(start).collect();
        let first = (!functions.is_empty()).then(|| run(0));
        let ended = (1..).zip(others).map(|(number, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => run(number),
        });
        first.into_iter().chain(ended).collect()
    })
}
