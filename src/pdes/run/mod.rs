//! The runs that users start: simulations on the device and experiments, with their options.

pub(super) mod auto;
mod awaited;
mod candidates;
pub(super) mod kernels;
pub(super) mod replicas;
pub(super) mod simulation;
