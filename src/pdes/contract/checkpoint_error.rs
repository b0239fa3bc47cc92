//! What can be wrong with a checkpoint.

use std::io;
use std::path::Path;

use crate::text::quoted;

/// What can be wrong with a checkpoint.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file could not be read.
    #[error("the checkpoint {path} could not be read: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// The file could not be written. What was there before is there still.
    #[error(
        "the checkpoint {path} could not be written: {source}. If one was saved there before, it is there still"
    )]
    Write {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// A place where no checkpoint can be written, found before the run.
    #[error("nothing can be saved as {path}: {source}. Choose another file")]
    Place {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// A place with a checkpoint that a run or study would overwrite and that is not its own, found
    /// before the run.
    #[error(
        "{path} holds a checkpoint {what}. It would be lost: save to another file, or overwrite it \
         (`Autosave::force`, --force)"
    )]
    Taken {
        /// The file.
        path: String,
        /// What it is of.
        what: String,
    },
    /// A place with a checkpoint of the same run or study that is further on than what would be
    /// saved there, found before the run.
    #[error(
        "{path} holds a checkpoint of this, saved after {done}, which would be lost. Continue from it with \
         --resume (`resume` of a run, `Keep::from` of a study), or start again with --force (`Autosave::force`)"
    )]
    Ahead {
        /// The file.
        path: String,
        /// How far it is: its events or replications.
        done: String,
    },
    /// Something else.
    #[error("this is no checkpoint: it does not begin as one, or was changed like a text on its way")]
    NoCheckpoint,
    /// A version that this library does not know.
    #[error(
        "the checkpoint has version {version} of {of}, and this library has version {known}: \
         continue with the library that wrote it, or start again"
    )]
    Version {
        /// Of what: the file format, what a kind of checkpoint holds, or the random streams.
        of: &'static str,
        /// The file's.
        version: u32,
        /// The library's.
        known: u32,
    },
    /// A file that ends early, or goes on.
    #[error("the checkpoint should be {length} bytes long, and there are {}: {}", if found > length { "more".to_owned() } else { found.to_string() },
        if found > length { "something was appended to it" } else { "its end is missing" })]
    Length {
        /// What it says itself, or what it has at the least.
        length: u64,
        /// What there is, or was read.
        found: u64,
    },
    /// Bytes that were changed.
    #[error("the checkpoint is damaged: its checksum is that of other bytes. Use an earlier one")]
    Checksum,
    /// What no engine writes.
    #[error("the checkpoint is damaged, or was not written by this library: {what}")]
    Inconsistent {
        /// What does not fit together.
        what: &'static str,
    },
    /// The checkpoint of a study instead of a run's, or the other way round.
    #[error("this is the checkpoint of {is}, and {wanted} was to go on")]
    Kind {
        /// What it is of.
        is: &'static str,
        /// What it should be of.
        wanted: &'static str,
    },
    /// A checkpoint of another model.
    #[error(
        "the checkpoint is {what}: go on with the model that it is of, or, where LPs, states and events have the same sizes, make a fork of it \
         (`Checkpoint::fork`)"
    )]
    Foreign {
        /// In what it differs.
        what: String,
    },
    /// A checkpoint of another study.
    #[error(
        "the checkpoint is {what}: go on with the network and the choices that it was begun with (more replications and more precision may be asked for), or begin a new study"
    )]
    Study {
        /// In what it differs.
        what: String,
    },
    /// A fork of a run that stood still in the middle.
    #[error(
        "in this checkpoint some LPs are ahead of others, relying on what these were going to send, and a fork may send something else: run it on to a time \
         beyond the end that it was heading to, or until nothing is pending; or stop runs that are to be forked at a time (`Until::time`), or with \
         `Sync::Yawns` and keep the lookahead"
    )]
    Skew,
    /// A part of a run.
    #[error("only whole runs are saved, and this is one of some of a model's LPs")]
    Part,
}

impl CheckpointError {
    /// Refuses a file of the same run or study whose count of `what` is above that of what would be
    /// saved there.
    pub(crate) fn unless_ahead(saved: u64, now: u64, what: &str) -> Result<(), Self> {
        if saved <= now {
            return Ok(());
        }
        let done = format!("{saved} {what}{}", if saved == 1 { "" } else { "s" });
        Err(Self::Ahead { path: String::new(), done })
    }

    /// What was found in a file that was to be overwritten.
    pub(in crate::pdes) fn taken(self, path: &Path) -> Self {
        let what = match self {
            Self::Foreign { what } | Self::Study { what } => what,
            Self::Kind { is, .. } => format!("of {is}"),
            Self::Ahead { done, .. } => return Self::Ahead { path: shown(path), done },
            other => format!("that cannot be read ({other})"),
        };
        Self::Taken { path: shown(path), what }
    }
}

pub(in crate::pdes) fn shown(path: &Path) -> String {
    quoted(&path.display().to_string())
}

crate::text::debug_is_display!(CheckpointError);
