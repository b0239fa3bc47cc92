//! The mappings, and the choice among them.

use std::fmt;

/// How many invocations run a replication. The results are the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One invocation per replication: thread-level parallelism. For many replications that branch
    /// alike.
    Thread,
    /// One subgroup per replication, with one working invocation: the paper's warp-level
    /// parallelism. Replications never wait for each other in branches. For up to some thousand
    /// replications that branch differently: see the [module](super). Without subgroups, a
    /// workgroup replaces the subgroup.
    Warp,
    /// All invocations of a workgroup run one replication. For few replications; the model must
    /// support it.
    Team,
    /// The fastest in a short trial, by the median of several interleaved slices of each. From
    /// 32,768 replications on it is [`Mapping::Thread`]; also on software adapters such as
    /// llvmpipe, unless [`Mapping::Team`] is twice as fast. A run that is much slower than
    /// its trial repeats the trial. [`Engine::chosen`](super::Engine::chosen) returns the choice.
    #[default]
    Auto,
}

/// The mapping of a run, and why it was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct MappingChoice {
    /// The mapping; never [`Mapping::Auto`].
    pub mapping: Mapping,
    /// Why it was chosen.
    pub why: ChoiceReason,
    /// The speed of each mapping in the trial: draws of a replication per second (steps if its main
    /// stream is not used). Empty without a trial.
    pub speeds: Vec<(Mapping, f64)>,
}

/// Why a mapping was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoiceReason {
    /// The caller chose it.
    Asked,
    /// There are enough replications to fill any device with one invocation each.
    Many,
    /// The adapter is a software adapter, and the other mappings are not much faster there.
    Software,
    /// It was the fastest in a trial.
    Fastest,
    /// It was the fastest in a second trial, after a run was much slower than the first trial.
    Again,
}

impl MappingChoice {
    /// The speed of the chosen mapping in the trial.
    pub(super) fn speed(&self) -> Option<f64> {
        self.speeds.iter().find(|(mapping, _)| *mapping == self.mapping).map(|(_, speed)| *speed)
    }
}

impl fmt::Display for MappingChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            ChoiceReason::Asked => "as requested",
            ChoiceReason::Many => "which fills the device with this many replications",
            ChoiceReason::Software => "the default on a software adapter",
            ChoiceReason::Fastest => "the fastest in a trial",
            ChoiceReason::Again => {
                "the fastest in a second trial, as the run was slower than the first trial"
            }
        };
        write!(f, "mapping {}, {why}", self.mapping)?;
        for (number, (mapping, speed)) in self.speeds.iter().enumerate() {
            let before = if number == 0 { "; draws of a replication per second:" } else { "," };
            write!(f, "{before} {mapping} {speed:.2e}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Mapping {
    /// The name in options and output.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Thread => "thread",
            Self::Warp => "warp",
            Self::Team => "team",
            Self::Auto => "auto",
        })
    }
}
