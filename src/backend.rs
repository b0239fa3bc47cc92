//! Where to run: one type for all modules that run on the CPU and on a device.

mod chooser;

use std::fmt;
use std::sync::OnceLock;

pub(crate) use chooser::{Chooser, Cost, Place};

use crate::gpu::{Gpu, GpuError};

/// A core runs fewer LPs of one run faster than a device does, window by window.
const FEW_LPS: usize = 256;

/// Where to run. The results are the same bits.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Backend<'g> {
    /// On the CPU.
    #[default]
    Cpu,
    /// On this device, whatever it is.
    Gpu(&'g Gpu),
    /// Wherever results are expected first. Studies of networks and of processes begin on the CPU,
    /// time it, and take a device where that is faster. Other work runs on the device. Software
    /// adapters are not used: the CPU is faster on the same cores.
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

    /// The device for a model whose CPU engine is made of its WGSL. Without machine code, a
    /// software adapter is faster than that engine.
    pub(crate) fn gpu_for_wgsl(self) -> Option<&'g Gpu> {
        match self {
            Self::Auto(device) if !cfg!(feature = "native") => device.opened(),
            _ => self.gpu(),
        }
    }

    /// The same for a study whose CPU engine is made of WGSL.
    pub(crate) fn for_wgsl(self) -> Self {
        match self {
            Self::Auto(_) if !cfg!(feature = "native") => self.gpu_for_wgsl().map_or(Self::Cpu, Self::Gpu),
            _ => self,
        }
    }

    /// The same for one run of this many LPs, most of which are idle in a window.
    pub(crate) fn for_one_run(self, lps: usize) -> Self {
        match self {
            Self::Auto(_) if lps < FEW_LPS => Self::Cpu,
            _ => self,
        }
    }

    /// The device, if the condition holds: without it, none is opened.
    pub(crate) fn gpu_if(self, condition: bool) -> Option<&'g Gpu> {
        if condition { self.gpu() } else { None }
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

/// A device that is opened when work needs it, as opening takes some tenths of a second; or an
/// open one.
pub struct OnDemand {
    device: OnceLock<Option<Gpu>>,
    open: fn() -> Result<Gpu, GpuError>,
}

impl OnDemand {
    /// The device of [`Gpu::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub const fn new() -> Self {
        Self::by(Gpu::new)
    }

    /// A device that this function opens.
    pub const fn by(open: fn() -> Result<Gpu, GpuError>) -> Self {
        Self { device: OnceLock::new(), open }
    }

    /// The device; none without an adapter, or if its driver refuses. The log says why.
    pub(crate) fn opened(&self) -> Option<&Gpu> {
        let open = || (self.open)().inspect_err(|error| log::info!("running on the CPU: {error}")).ok();
        self.device.get_or_init(open).as_ref()
    }

    /// The device, if work opened it, unless it is a software adapter.
    pub fn in_use(&self) -> Option<&Gpu> {
        self.device.get()?.as_ref().filter(|gpu| !gpu.is_software())
    }

    /// The device, opened by the first call, unless it is a software adapter.
    pub fn hardware(&self) -> Option<&Gpu> {
        self.opened().filter(|gpu| !gpu.is_software())
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
        let open = || unreachable!("it is open");
        Self { device: OnceLock::from(Some(gpu)), open }
    }
}

impl fmt::Debug for OnDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDemand").field("device", &self.device).finish_non_exhaustive()
    }
}
