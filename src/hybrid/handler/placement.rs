//! Where calls of handlers run.

/// Where calls run. It changes the speed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Placement {
    /// Wherever so many calls took less time so far; all places are tried, and those that lost
    /// again now and then. A handler that the device's driver cuts
    /// ([`HybridError::Cut`](crate::hybrid::HybridError::Cut)) runs on the cores from then on.
    #[default]
    Auto,
    /// On the device; of several, on one or on all, whichever took less time so far.
    Gpu,
    /// On the host's cores.
    Cpu,
}
