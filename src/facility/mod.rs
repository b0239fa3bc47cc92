//! Queueing networks.

mod fel;

#[doc(hidden)]
pub use fel::kernels;
pub use fel::{FelError, FelNetwork, FelResults, FelRow, FelSimulation, FelTwin};
