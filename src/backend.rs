//! Where to run: one type for all modules that run on the CPU and on a device.

use crate::gpu::Gpu;

/// Where to run. The results are the same bits.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Backend<'g> {
    /// On the CPU.
    #[default]
    Cpu,
    /// On this device, whatever it is.
    Gpu(&'g Gpu),
    /// On this device, or on the CPU if its adapter is a software adapter: that one is slower than
    /// the CPU engine on the same cores.
    Auto(&'g Gpu),
}

impl<'g> Backend<'g> {
    /// The device to run on; none for the CPU.
    pub fn gpu(self) -> Option<&'g Gpu> {
        match self {
            Self::Cpu => None,
            Self::Gpu(gpu) => Some(gpu),
            Self::Auto(gpu) => (!gpu.is_software()).then_some(gpu),
        }
    }

    /// The device for a model whose CPU engine is made of its WGSL. Without machine code, a
    /// software adapter is faster than that engine.
    pub(crate) fn gpu_for_wgsl(self) -> Option<&'g Gpu> {
        match self {
            Self::Auto(gpu) if !cfg!(feature = "native") => Some(gpu),
            _ => self.gpu(),
        }
    }
}

impl<'g> From<&'g Gpu> for Backend<'g> {
    fn from(gpu: &'g Gpu) -> Self {
        Self::Gpu(gpu)
    }
}
