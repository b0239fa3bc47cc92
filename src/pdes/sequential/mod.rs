//! The sequential engine, which defines the results of a run.

pub(super) mod engine;
pub(super) mod event_list;
pub(super) mod functions;
pub(super) mod native;
pub(super) mod reference;
