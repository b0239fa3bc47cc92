//! Runs that users start: simulations on the device, experiments, and the choices for both.

pub(super) mod auto;
pub(super) mod kernels;
pub(super) mod options;
pub(super) mod replicas;
pub(super) mod simulation;
