//! The sequential engine: what a run means.

pub(super) mod engine;
pub(super) mod event_list;
