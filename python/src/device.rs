//! The device that all runs of a process share.

use std::sync::{Mutex, PoisonError};

use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::{Backend, OnDemand};

use crate::errors::Failure;

static OPEN: Mutex<Option<Gpu>> = Mutex::new(None);

/// The device, opened by the first call.
pub(crate) fn open() -> Result<Gpu, GpuError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*open {
        Some(gpu) => Ok(gpu.clone()),
        None => Ok(open.insert(Gpu::new()?).clone()),
    }
}

/// Opens the device anew at the next call: it may be lost.
pub(crate) fn forget() {
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Where a call runs.
pub(crate) enum Place {
    Cpu,
    Gpu(Gpu),
    Auto(OnDemand),
}

impl Place {
    /// `cpu`; `gpu`; or `auto`, the CPU if there is no adapter.
    pub(crate) fn named(backend: &str) -> Result<Self, Failure> {
        match backend {
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu(open()?)),
            "auto" => Ok(Self::Auto(OnDemand::by(open))),
            other => {
                Err(Failure::usage(format!("the backend is {other:?}; choose \"auto\", \"cpu\" or \"gpu\"")))
            }
        }
    }

    pub(crate) fn backend(&self) -> Backend<'_> {
        match self {
            Self::Cpu => Backend::Cpu,
            Self::Gpu(gpu) => Backend::Gpu(gpu),
            Self::Auto(gpu) => Backend::Auto(gpu),
        }
    }

    /// `gpu` or `cpu`, and the name of the adapter.
    pub(crate) fn engine(&self) -> (&'static str, String) {
        names(self.backend().gpu().map(|gpu| gpu.info().name.clone()))
    }
}

/// `gpu` or `cpu`, and the name of the adapter.
pub(crate) fn names(adapter: Option<String>) -> (&'static str, String) {
    match adapter {
        Some(adapter) => ("gpu", adapter),
        None => ("cpu", "the CPU".to_owned()),
    }
}
