//! Where to run: one type for all modules that run on the CPU and on a device.

mod chooser;
mod costs;
mod start;
mod work;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) use chooser::{Chooser, Place};
pub(crate) use costs::Kind;
#[doc(hidden)]
pub use costs::kept_costs;
use costs::{Cost, Costs, Observed};
#[doc(hidden)]
pub use work::OneRun;

use crate::gpu::{Gpu, GpuError};

/// A core runs fewer LPs of one run faster than a device does, window by window.
pub(crate) const FEW_LPS: usize = 256;

/// Where to run. The results are the same bits.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Backend<'g> {
    /// On the CPU.
    #[default]
    Cpu,
    /// On this device, whatever it is.
    Gpu(&'g Gpu),
    /// Wherever results are expected first. Replications of networks, of processes and of models
    /// begin on the CPU, time it, and take a device where that is faster: a thread opens it while
    /// the CPU works. One long run has one place. Software adapters are not used: the CPU is faster
    /// on the same cores.
    Auto(&'g OnDemand),
}

impl<'g> Backend<'g> {
    /// The device to run on, opened if it must be; none for the CPU.
    pub fn gpu(self) -> Option<&'g Gpu> {
        match self {
            Self::Cpu => None,
            Self::Gpu(gpu) => Some(gpu),
            Self::Auto(device) => device.hardware(),
        }
    }

    /// The same for work whose CPU engine is made of its WGSL. Without machine code, a software
    /// adapter is faster than that engine.
    pub(crate) fn for_wgsl(self) -> Self {
        match self {
            Self::Auto(device) if !cfg!(feature = "native") => device.opened().map_or(Self::Cpu, Self::Gpu),
            _ => self,
        }
    }

    /// The device is certain if the condition holds: without it, none is opened.
    pub(crate) fn on_device_if(self, condition: bool) -> Self {
        if condition { self.gpu().map_or(self, Self::Gpu) } else { self }
    }

    /// Whether the CPU is certain.
    pub(crate) fn is_cpu(self) -> bool {
        matches!(self, Self::Cpu)
    }

    /// Whether the device is certain, so that the CPU is not used.
    pub(crate) fn is_device(self) -> bool {
        matches!(self, Self::Gpu(_))
    }
}

impl<'g> From<&'g Gpu> for Backend<'g> {
    fn from(gpu: &'g Gpu) -> Self {
        Self::Gpu(gpu)
    }
}

/// Where to run, with the device: what a command line or a caller chose.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "a program has one")]
pub enum OwnedBackend {
    /// On the CPU.
    Cpu,
    /// On this device.
    Gpu(Gpu),
    /// Wherever results are expected first.
    Auto(OnDemand),
}

impl OwnedBackend {
    /// Where to run.
    pub fn backend(&self) -> Backend<'_> {
        match self {
            Self::Cpu => Backend::Cpu,
            Self::Gpu(gpu) => Backend::Gpu(gpu),
            Self::Auto(device) => Backend::Auto(device),
        }
    }

    /// The name of the adapter, if work opened one that it may use.
    pub fn adapter(&self) -> Option<&str> {
        let gpu = match self {
            Self::Cpu => None,
            Self::Gpu(gpu) => Some(gpu),
            Self::Auto(device) => device.in_use(),
        };
        gpu.map(|gpu| gpu.info().name.as_str())
    }

    /// Where the last study ran and why, in one line, if that was chosen here.
    pub fn choice(&self) -> Option<String> {
        match self {
            Self::Auto(device) => device.choice(),
            _ => None,
        }
    }
}

/// A device that is opened when work needs it, as opening takes some tenths of a second; or an
/// open one. Clones share it.
#[derive(Clone)]
pub struct OnDemand {
    shared: Arc<Shared>,
    open: fn() -> Result<Gpu, GpuError>,
    hands_over_after: Option<u32>,
    is_abandoning: bool,
}

#[derive(Default)]
struct Shared {
    device: OnceLock<Option<Gpu>>,
    choice: Mutex<Option<String>>,
    /// Read from the file by the first study.
    costs: Mutex<Option<Costs>>,
}

impl OnDemand {
    /// The device of [`Gpu::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Self {
        Self::by(Gpu::new)
    }

    /// A device that this function opens.
    pub fn by(open: fn() -> Result<Gpu, GpuError>) -> Self {
        Self { shared: Arc::default(), open, hands_over_after: None, is_abandoning: false }
    }

    /// The same for studies that have this number of runs on the CPU and all others on the device,
    /// whatever it is: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn handing_over_after(self, runs: u32) -> Self {
        Self { hands_over_after: Some(runs), ..self }
    }

    /// The same for studies that do not wait for a thread that opens the device or compiles for it:
    /// these start it earlier. See [`Gpu::abandoning`].
    #[doc(hidden)]
    #[must_use]
    #[cfg(not(target_arch = "wasm32"))]
    pub fn abandoning(self) -> Self {
        Self { is_abandoning: true, ..self }
    }

    fn is_abandoning(&self) -> bool {
        self.is_abandoning
    }

    fn hands_over_after(&self) -> Option<u32> {
        self.hands_over_after
    }

    /// The device; none without an adapter, or if its driver refuses. The log says why.
    pub(crate) fn opened(&self) -> Option<&Gpu> {
        let open = || {
            let gpu = (self.open)().inspect_err(|error| log::info!("running on the CPU: {error}")).ok()?;
            #[cfg(not(target_arch = "wasm32"))]
            let gpu = if self.is_abandoning { gpu.abandoning() } else { gpu };
            Some(gpu)
        };
        self.shared.device.get_or_init(open).as_ref()
    }

    /// The device, if work opened it, unless it is a software adapter.
    pub fn in_use(&self) -> Option<&Gpu> {
        self.shared.device.get()?.as_ref().filter(|gpu| !gpu.is_software())
    }

    /// The device, opened by the first call, unless it is a software adapter.
    pub fn hardware(&self) -> Option<&Gpu> {
        self.opened().filter(|gpu| !gpu.is_software())
    }

    /// The device of studies.
    fn usable(&self) -> Option<&Gpu> {
        if self.hands_over_after.is_some() { self.opened() } else { self.hardware() }
    }

    /// Whether work opened it, or tried to.
    fn is_open(&self) -> bool {
        self.shared.device.get().is_some()
    }

    /// What a kind of study is expected to cost.
    fn cost(&self, kind: Kind) -> Cost {
        let mut costs = self.shared.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let gpu = self.shared.device.get().and_then(Option::as_ref);
        let cost = costs.get_or_insert_with(Costs::kept).of(kind, gpu);
        Cost { open: if self.is_open() { 0.0 } else { cost.open }, ..cost }
    }

    /// Keeps what a study found out about its cost.
    fn observe(&self, kind: Kind, observed: Observed) {
        let Some(gpu) = self.usable() else { return };
        let mut costs = self.shared.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let costs = costs.get_or_insert_with(Costs::kept);
        costs.observe(kind, gpu, observed);
        costs.keep();
        log::debug!("{}: {observed:?}, now {:?}", kind.name(), costs.of(kind, Some(gpu)));
    }

    /// Where the last study ran and why, in one line.
    pub fn choice(&self) -> Option<String> {
        self.shared.choice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record_choice(&self, choice: String) {
        *self.shared.choice.lock().unwrap_or_else(PoisonError::into_inner) = Some(choice);
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Default for OnDemand {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Gpu> for OnDemand {
    fn from(gpu: Gpu) -> Self {
        let shared = Shared { device: OnceLock::from(Some(gpu)), ..Shared::default() };
        let open = || unreachable!("it is open");
        Self { shared: Arc::new(shared), open, hands_over_after: None, is_abandoning: false }
    }
}

impl fmt::Debug for OnDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDemand").field("device", &self.shared.device).finish_non_exhaustive()
    }
}
