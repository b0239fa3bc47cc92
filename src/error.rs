//! What kind of error one is: the same five kinds for all modules.

/// What went wrong, in one word; programs choose their exit code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call is wrong: a parameter, an option, a combination.
    Usage,
    /// The model or the description is wrong.
    Model,
    /// The device, its driver or its memory.
    Device,
    /// The run failed while it executed events.
    Fault,
    /// A file or a connection.
    Io,
}
