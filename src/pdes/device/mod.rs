//! The engine on the device: checks of a model's file, the division of memory, the linked files,
//! and the dispatches.

pub(super) mod check;
pub(super) mod control;
pub(super) mod cut;
pub(super) mod declared;
pub(super) mod dispatch;
pub(super) mod fits;
pub(super) mod growth;
pub(super) mod memory;
pub(super) mod plans;
pub(super) mod pool;
pub(super) mod recipes;
pub(super) mod results;
pub(super) mod schema;
pub(super) mod strategy;
pub(super) mod transfer;
