//! The contract between models and engines: models, events, results, errors, ends of runs.

pub(super) mod bounds;
pub(super) mod capacity;
pub(super) mod checkpoint_error;
pub(super) mod error;
pub(super) mod error_kind;
pub(super) mod event;
pub(super) mod fingerprint;
pub(super) mod limits;
pub(super) mod line;
pub(super) mod mapping;
pub(super) mod model;
pub(super) mod options;
pub(super) mod output;
pub(super) mod replica;
pub(super) mod simulation_run;
pub(super) mod sync;
pub(super) mod totals;
pub(super) mod until;
