//! The backend of handlers' calls.

/// The backend of calls. It changes only the speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Placement {
    /// The backend that took less time for this number of calls. All backends are tried, and those
    /// that lost are retried now and then. If the device's driver ends the handler's loops
    /// ([`HybridError::Cut`](crate::hybrid::HybridError::Cut)), it runs on the cores from then on.
    #[default]
    Auto,
    /// The device. Of several, the first or all, whichever took less time.
    Gpu,
    /// The host's cores.
    Cpu,
}
