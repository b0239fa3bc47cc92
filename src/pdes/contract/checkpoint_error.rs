//! Errors of checkpoints.

use std::io;
use std::path::Path;

use crate::text::quoted;

/// An error of a checkpoint.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file could not be read.
    #[error("the checkpoint {path} could not be read: {source}")]
    Read {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// The file could not be written. An earlier checkpoint at this path is unchanged.
    #[error(
        "the checkpoint {path} could not be written: {source}. If one was saved there before, it is unchanged"
    )]
    Write {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// A path at which no checkpoint can be written, found before the run.
    #[error("nothing can be saved as {path}: {source}. Choose another file")]
    Place {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// A path with a checkpoint of something else, which a run or study would overwrite; found
    /// before the run.
    #[error(
        "{path} holds a checkpoint {what}. It would be lost: save to another file, or overwrite it \
         (--force; in a program, `force` of `Autosave`)"
    )]
    Taken {
        /// The file.
        path: String,
        /// What the checkpoint is of.
        what: String,
    },
    /// A path with a checkpoint of the same run or study that has progressed further than the one
    /// to be saved; found before the run.
    #[error(
        "{path} holds a checkpoint of the same run or study, saved after {done}, which would be lost. Continue from it with \
         --resume, or start again with --force (in a program, `resume` or `StudyAutosave::from`, and `force`)"
    )]
    Ahead {
        /// The file.
        path: String,
        /// Its progress, in events or replications.
        done: String,
    },
    /// The file is not a checkpoint.
    #[error(
        "this is not a checkpoint: its first bytes are wrong, or a transfer changed it as if it were text"
    )]
    NoCheckpoint,
    /// A version that this library does not support.
    #[error(
        "the checkpoint has version {version} of {of}, and this library has version {known}: \
         continue with the library that wrote it, or start again"
    )]
    Version {
        /// What has the version: the file format, the contents of a kind of checkpoint, or the
        /// random streams.
        of: &'static str,
        /// The version of the file.
        version: u32,
        /// The version of the library.
        known: u32,
    },
    /// A file that is too short or too long.
    #[error("the checkpoint is damaged: expected {length} bytes, found {}: {}", if found > length { "more".to_owned() } else { found.to_string() },
        if found > length { "something was appended to it" } else { "its end is missing" })]
    Length {
        /// The length that the file declares, or its minimum length.
        length: u64,
        /// The length found, or the number of bytes read.
        found: u64,
    },
    /// Changed bytes.
    #[error("the checkpoint is damaged: its checksum does not match its contents. Use an earlier one")]
    Checksum,
    /// Contents that no engine writes.
    #[error("the checkpoint is damaged, or was not written by this library: {what}")]
    Inconsistent {
        /// What is inconsistent.
        what: &'static str,
    },
    /// The checkpoint of a study instead of a run, or of a run instead of a study.
    #[error("expected the checkpoint of {wanted}, found that of {is}")]
    Kind {
        /// What the checkpoint is of.
        is: &'static str,
        /// What is expected.
        wanted: &'static str,
    },
    /// A checkpoint of another model.
    #[error(
        "the checkpoint is {what}: resume it with its own model, or, if LPs, states and events have the same sizes, fork it \
         (`Checkpoint::fork`)"
    )]
    Foreign {
        /// The difference.
        what: String,
    },
    /// A checkpoint of another study.
    #[error(
        "the checkpoint is {what}: resume it with the network or model, and the options, of its start (only more replications and more precision are allowed), or start a new study"
    )]
    Study {
        /// The difference.
        what: String,
    },
    /// A fork of a run that was stopped while some LPs were ahead of others.
    #[error(
        "in this checkpoint some LPs are ahead of others and rely on events that a fork may not send. Run it to a time \
         beyond its stop time, or until nothing is pending; or stop runs that are to be forked at a time (`Until::time`), or with \
         `Sync::Yawns` and an unchanged lookahead"
    )]
    Skew,
    /// A part of a run.
    #[error("only whole runs can be saved, and this run has a part of the model's LPs")]
    Part,
}

impl CheckpointError {
    /// Refuses a file of the same run or study if its count of `what` exceeds the count to be
    /// saved.
    pub(crate) fn unless_ahead(saved: u64, now: u64, what: &str) -> Result<(), Self> {
        if saved <= now {
            return Ok(());
        }
        let done = format!("{saved} {what}{}", if saved == 1 { "" } else { "s" });
        Err(Self::Ahead { path: String::new(), done })
    }

    /// The error for a file that was to be overwritten and holds something else.
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
