//! The device that all runs of a process share.

use std::sync::{Mutex, PoisonError};

use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::{OnDemand, OwnedBackend};

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

/// Where a call runs: on the `cpu`; the `gpu`; or `auto`, the CPU if there is no adapter.
pub(crate) fn place(backend: &str) -> Result<OwnedBackend, Failure> {
    match backend {
        "cpu" => Ok(OwnedBackend::Cpu),
        "gpu" => Ok(OwnedBackend::Gpu(open()?)),
        "auto" => Ok(OwnedBackend::Auto(OnDemand::by(open))),
        other => {
            Err(Failure::usage(format!("the backend is {other:?}; choose \"auto\", \"cpu\" or \"gpu\"")))
        }
    }
}

/// `gpu` or `cpu`, and the name of the adapter.
pub(crate) fn names(adapter: Option<String>) -> (&'static str, String) {
    match adapter {
        Some(adapter) => ("gpu", adapter),
        None => ("cpu", "the CPU".to_owned()),
    }
}
