//! How replications are run.

use super::Mapping;

/// The default of [`Options::max_steps`]: a bound, so that no replication runs for ever.
pub const MAX_STEPS: u32 = 1 << 30;

/// The name of the bound in errors.
pub(super) const MOST_STEPS: &str = "the most steps of a replication";

/// How an [`Engine`](super::Engine) or a [`CpuEngine`](super::CpuEngine) runs replications. The CPU
/// engine uses [`Options::max_steps`] only.
///
/// ```
/// use eventhorizon::replication::{Mapping, Options};
///
/// let options = Options::default().mapping(Mapping::Warp).group_size(64);
/// assert_eq!((options.mapping, options.group_size), (Mapping::Warp, Some(64)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which invocations serve a replication. Default: [`Mapping::Auto`].
    pub mapping: Mapping,
    /// Invocations in a workgroup. Default: by device, mapping and number of replications.
    pub group_size: Option<u32>,
    /// The most steps of a replication, at least 1. A replication that has made them and is not
    /// finished fails as [`FailureCause::Endless`](super::FailureCause::Endless). Default:
    /// [`MAX_STEPS`].
    ///
    /// A step is a call of the model's `step`. [`Mapping::Thread`], [`Mapping::Warp`] and
    /// [`CpuEngine`](super::CpuEngine) make the same steps, so the same replications fail.
    ///
    /// With [`Mapping::Team`] a step is a call of `team_step`, which may stand for any
    /// number of them (M/M/1: 8 clients in a `step`, up to 32 for each invocation of the workgroup
    /// in a `team_step`). There the bound only ends what would run for ever, and the workgroup size
    /// decides which replications fail. [`Mapping::Auto`] therefore passes the team mapping
    /// over where the bound is not the default.
    pub max_steps: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { mapping: Mapping::Auto, group_size: None, max_steps: MAX_STEPS }
    }
}

builder! {
    Options:
    mapping: Mapping,
    group_size: impl Into<Option<u32>>,
    max_steps: u32,
}
