//! The mappings, and which of them was chosen.

use std::fmt;

/// Which invocations serve a replication. The results are the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One invocation per replication: thread-level parallelism. For many replications that do much
    /// the same.
    Thread,
    /// One subgroup per replication, of which one invocation works: the paper's warp-level
    /// parallelism. Replications never wait for each other in branches. For up to some thousand
    /// replications that branch differently: see the [module](super). Where subgroups are missing,
    /// a workgroup plays the subgroup.
    Warp,
    /// All invocations of a workgroup serve one replication. For few replications; the model must
    /// offer it.
    Cooperative,
    /// Whichever of them a short trial finds the fastest: the median of several slices of each, by
    /// turns. From 32,768 replications on [`Mapping::Thread`]; so on adapters that are programs,
    /// such as llvmpipe, unless [`Mapping::Cooperative`] is twice as fast. A run that is much
    /// slower than its trial was looks again. [`Engine::chosen`](super::Engine::chosen) tells what
    /// came of it.
    #[default]
    Auto,
}

/// Which mapping served a run, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct MappingChoice {
    /// The mapping; never [`Mapping::Auto`].
    pub mapping: Mapping,
    /// Why it is this one.
    pub why: ChoiceReason,
    /// What the trial saw of each mapping that it tried: draws of a replication per second (steps,
    /// where the replications' own streams are not drawn from). Empty without a trial.
    pub speeds: Vec<(Mapping, f64)>,
}

/// Why a mapping was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoiceReason {
    /// The caller chose it.
    Asked,
    /// There are so many replications that one invocation for each fills any device.
    Many,
    /// The adapter is a program, and the others are slower there or not much faster.
    Software,
    /// It was the fastest in a trial.
    Fastest,
    /// It was the fastest in a second trial, after a run was much slower than the first one had
    /// said.
    Again,
}

impl MappingChoice {
    /// What the trial saw of the chosen mapping.
    pub(super) fn speed(&self) -> Option<f64> {
        self.speeds.iter().find(|(mapping, _)| *mapping == self.mapping).map(|(_, speed)| *speed)
    }
}

impl fmt::Display for MappingChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            ChoiceReason::Asked => "as asked for",
            ChoiceReason::Many => "which fills the device with so many replications",
            ChoiceReason::Software => "the usual one where the adapter is a program",
            ChoiceReason::Fastest => "the fastest in a trial",
            ChoiceReason::Again => {
                "the fastest in a second trial, as the run was slower than the first one said"
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
    /// The word that examples take and print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Thread => "thread",
            Self::Warp => "warp",
            Self::Cooperative => "coop",
            Self::Auto => "auto",
        })
    }
}
