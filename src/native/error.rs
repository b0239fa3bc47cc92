//! What cannot run on the CPU.

use std::fmt;

/// Why functions of a text cannot run on the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NativeError {
    /// The line of the text, counted from 1; 0 where no line is to blame.
    pub(crate) line: u32,
    /// What is refused.
    pub(crate) what: String,
    /// What to do instead.
    pub(crate) remedy: &'static str,
    /// The platform allows no machine code: the interpreter still runs it.
    pub(crate) platform: bool,
}

impl fmt::Display for NativeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}. {}", self.what, self.remedy)
    }
}

impl std::error::Error for NativeError {}
