//! The mapping of runs to the invocations of a device.

/// How runs are mapped to invocations: the replicas of an experiment, or a single
/// [`Simulation`](crate::pdes::Simulation). Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One of the others, chosen by estimates and trials.
    #[default]
    Auto,
    /// The LPs of a run fill the device, and a window is a dispatch or more. Replicas follow one
    /// another, each as a [`Simulation`](crate::pdes::Simulation) of its own.
    Grid,
    /// A run to a workgroup, an LP to an invocation if there are enough invocations. Windows follow
    /// each other in one dispatch.
    Team,
    /// A run to an invocation, which executes one event after the other. For many runs.
    Thread,
}

impl Mapping {
    /// All mappings.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Grid, Self::Team, Self::Thread];

    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Grid => "grid",
            Self::Team => "team",
            Self::Thread => "thread",
        }
    }
}

impl std::fmt::Display for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Mapping {
    type Err = UnknownMapping;

    fn from_str(name: &str) -> Result<Self, UnknownMapping> {
        let found = Self::ALL.into_iter().find(|mapping| mapping.name() == name);
        found.ok_or_else(|| UnknownMapping(name.to_owned()))
    }
}

/// A name that no mapping has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown mapping '{0}': expected one of {names}", names = Mapping::ALL.map(Mapping::name).join(", "))]
pub struct UnknownMapping(pub String);

crate::text::debug_is_display!(UnknownMapping);
