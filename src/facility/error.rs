//! What can be wrong with a network, or go wrong with its runs.

use crate::ErrorKind;
use crate::pdes::{CheckpointError, Fault, SimulationError};
use crate::statistics::AnalysisError;
use crate::text::number;
use crate::time::TimeError;

/// An error of the `facility` module. Those of a description come before anything is run; correct
/// it and call again. What a run gave that ended in one of the others is lost.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FacilityError {
    /// A description that is not TOML, or has a field that no network has.
    #[error("the description cannot be read: {0}")]
    Toml(Box<toml::de::Error>),
    /// A description that is not JSON, or has a field that no network has.
    #[error("the description cannot be read: {0}")]
    Json(serde_json::Error),
    /// A network without a node where anybody is served.
    #[error("the network has no station and no delay; add one")]
    Empty,
    /// A name that two nodes have.
    #[error("two nodes are called `{name}`; give one of them another name")]
    Repeated {
        /// The name.
        name: String,
    },
    /// A name that would make results ambiguous, or harm where they are shown.
    #[error("{what} cannot be called `{}`: {reason}", name.escape_debug())]
    Name {
        /// What has it.
        what: &'static str,
        /// The name.
        name: String,
        /// Why not, and what would do.
        reason: &'static str,
    },
    /// No classes, too many, or two of one name.
    #[error("the network has the classes {classes}; {remedy}")]
    Classes {
        /// Their names.
        classes: String,
        /// What would do.
        remedy: String,
    },
    /// A class that the network does not have.
    #[error("`{node}` names the class `{class}`; there are: {known}")]
    UnknownClass {
        /// The node.
        node: String,
        /// The name.
        class: String,
        /// The classes.
        known: String,
    },
    /// A way to a node that does not exist, or to a source.
    #[error("`{node}` sends customers to `{to}`, {problem}")]
    Link {
        /// The node.
        node: String,
        /// Where the way leads.
        to: String,
        /// What is wrong with that.
        problem: String,
    },
    /// Probabilities that are none, or do not add up to 1.
    #[error(
        "the ways of `{class}` from `{node}` have probabilities that add up to {}; \
         make it 1, or leave one of them out, which then has the rest",
        number(*sum)
    )]
    Probabilities {
        /// The node.
        node: String,
        /// The class.
        class: String,
        /// Their sum.
        sum: f64,
    },
    /// A class that comes to a node and has no way on.
    #[error(
        "`{class}` customers come to `{node}` and have no way on; add a link, to a sink if they leave the network there"
    )]
    NoWay {
        /// The node.
        node: String,
        /// The class.
        class: String,
    },
    /// Customers that come in and can never leave.
    #[error(
        "`{class}` customers who come to `{node}` can reach no sink, so that more and more of them would be there; add a way out"
    )]
    NoWayOut {
        /// The node.
        node: String,
        /// The class.
        class: String,
    },
    /// A node to which nobody ever comes.
    #[error("nobody ever comes to `{node}`; add a link to it, or remove it")]
    Unreachable {
        /// The node.
        node: String,
    },
    /// A class of which there is nobody.
    #[error(
        "there is no `{class}` customer: no source, no population and no link makes one. Add one of them, or remove the class"
    )]
    NoCustomers {
        /// The class.
        class: String,
    },
    /// A class that comes to a node, and no time is said for it.
    #[error(
        "`{class}` customers come to `{node}`, which has no {what} for them; add `{what}`, or one for this class"
    )]
    NoTime {
        /// The node.
        node: String,
        /// The class.
        class: String,
        /// `service` or `time`.
        what: &'static str,
    },
    /// Siblings that a fork makes, and that do not all come back to it.
    #[error(
        "siblings that the fork `{fork}` makes {what} `{node}`, and it would wait for them for ever; {remedy}"
    )]
    Siblings {
        /// The fork.
        fork: String,
        /// Where they are lost.
        node: String,
        /// How.
        what: &'static str,
        /// What would do.
        remedy: &'static str,
    },
    /// A distribution that cannot be drawn from.
    #[error("`{node}`: the {what} cannot be drawn: {reason}")]
    Distribution {
        /// The node.
        node: String,
        /// Which time.
        what: String,
        /// Why not.
        reason: String,
    },
    /// Another setting of a node.
    #[error("`{node}`: {what} is {value}; {remedy}")]
    Setting {
        /// The node, or the network.
        node: String,
        /// Which setting.
        what: &'static str,
        /// Its value.
        value: String,
        /// What would do.
        remedy: String,
    },
    /// What the module does not support.
    #[error("`{node}`: {what} cannot be simulated yet: {reason}")]
    Unsupported {
        /// The node.
        node: String,
        /// What.
        what: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// An open network in which more customers come to a station than it serves.
    #[error(
        "`{node}` has to serve {load:.3} times what its servers can: its line, or that of who waits for room there, grows without end. (What is lost on the way to it is not counted.) Add servers, or \
         allow unstable networks"
    )]
    Unstable {
        /// The station, or all of which a shortest line is chosen.
        node: String,
        /// Offered load over the servers.
        load: f64,
    },
    /// Two nodes, or classes at nodes, with the same hash of their names: they would draw the same
    /// random numbers.
    #[error(
        "the random streams of `{first}` and `{second}` have the same 64-bit name: rename one of the two nodes"
    )]
    SameStreams {
        /// A node.
        first: String,
        /// The other.
        second: String,
    },
    /// A network too large for the check of its stability.
    #[error(
        "whether the network is stable is not known: it has {pairs} pairs of a node and a class that customers come to from outside, and up to {most} are checked. \
         Allow unstable networks to run it"
    )]
    Unchecked {
        /// Pairs of node and class.
        pairs: usize,
        /// The most that are checked.
        most: usize,
    },
    /// A time that is none.
    #[error("the {what} is no time: {}", no_time(source))]
    Time {
        /// Which.
        what: &'static str,
        /// Why not.
        source: TimeError,
    },
    /// The run is not longer than its warm-up.
    #[error(
        "a run until {until} has nothing to observe after a warm-up until {warm_up}; let it end (`until`) later, or the warm-up (`warm_up`) earlier"
    )]
    WarmUp {
        /// The end of runs.
        until: f64,
        /// Where statistics begin.
        warm_up: f64,
    },
    /// A run whose beginning shows in its second half.
    #[error(
        "at `{node}` the number of customers still settles in the second half of runs until {until}; make them longer, or say the warm-up"
    )]
    NotSettled {
        /// The station.
        node: String,
        /// The end of runs.
        until: f64,
    },
    /// More customers wait at a station than there may be.
    #[error(
        "in replication {replication} more than {room} customers wait at `{node}`: it may be unstable. Give it a capacity, or allow more to wait"
    )]
    LineFull {
        /// The station.
        node: String,
        /// The most that may wait.
        room: u32,
        /// The run.
        replication: u32,
    },
    /// A run that failed.
    #[error("replication {replication} failed at `{node}`: {fault}")]
    Fault {
        /// The node.
        node: String,
        /// The run.
        replication: u32,
        /// Why.
        fault: Fault,
    },
    /// Stations that wait for each other for ever, or one for itself.
    #[error(
        "in replication {replication} nothing goes on any more at {nodes}: all servers there are kept for ever, by customers who wait for room there themselves. Give them more \
         room, or let customers be lost there"
    )]
    Deadlock {
        /// Their names.
        nodes: String,
        /// The run.
        replication: u32,
    },
    /// Little's law does not hold in a run: a bug of the library's, or of the device's.
    #[error(
        "in replication {replication} Little's law does not hold for `{class}` customers at `{node}`: the times that they were there add up to {times} ticks (modulo 2^64), and \
         the area under their number is {area}. The results mean nothing: please report it"
    )]
    Little {
        /// The node.
        node: String,
        /// The class.
        class: String,
        /// The run.
        replication: u32,
        /// The sum of the times, modulo 2^64.
        times: u64,
        /// The area.
        area: u128,
    },
    /// Customers were lost on a way: a bug of the library's, or of the device's.
    #[error(
        "in replication {replication} {sent} customers left for another node, and {came} came to one. The results mean nothing: please report it"
    )]
    Flow {
        /// The run.
        replication: u32,
        /// Who left for another node.
        sent: u64,
        /// Who came to one.
        came: u64,
    },
    /// The engine.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A study that was saved.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The statistics.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A picture that could not be drawn.
    #[error("the picture cannot be drawn: {message}")]
    Plot {
        /// Why not.
        message: String,
    },
    /// A table that could not be written.
    #[error("the table cannot be written: {0}")]
    Write(#[from] csv::Error),
}

crate::text::debug_is_display!(FacilityError);

impl FacilityError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Simulation(error) => simulation_kind(error),
            Self::Checkpoint(error) => checkpoint_kind(error),
            Self::Analysis(error) => error.kind(),
            Self::Time { .. } | Self::WarmUp { .. } | Self::NotSettled { .. } => ErrorKind::Usage,
            Self::LineFull { .. }
            | Self::Fault { .. }
            | Self::Deadlock { .. }
            | Self::Little { .. }
            | Self::Flow { .. } => ErrorKind::Fault,
            Self::Plot { .. } | Self::Write(_) => ErrorKind::Io,
            _ => ErrorKind::Model,
        }
    }
}

/// The kind of an error of a run, as far as networks can cause it.
fn simulation_kind(error: &SimulationError) -> ErrorKind {
    match error {
        SimulationError::Gpu(error) => error.kind(),
        SimulationError::Analysis(error) => error.kind(),
        SimulationError::Checkpoint(error) => checkpoint_kind(error),
        SimulationError::Fault(_) | SimulationError::Cycle { .. } | SimulationError::Output { .. } => {
            ErrorKind::Fault
        }
        SimulationError::Write(_) => ErrorKind::Io,
        _ => ErrorKind::Usage,
    }
}

/// The kind of an error of a saved run: a wrong place or study is the caller's, all else the file's.
fn checkpoint_kind(error: &CheckpointError) -> ErrorKind {
    match error {
        CheckpointError::Foreign { .. }
        | CheckpointError::Study { .. }
        | CheckpointError::Place { .. }
        | CheckpointError::Taken { .. }
        | CheckpointError::Ahead { .. } => ErrorKind::Usage,
        _ => ErrorKind::Io,
    }
}

/// Why a number is no time, for who writes it into a description: [`TimeError`] speaks to who
/// writes a program.
pub(super) fn no_time(error: &TimeError) -> String {
    match error {
        TimeError::NotFinite { units } => format!("{units} is not a finite number; choose one that is"),
        TimeError::Negative { units } => format!("{} is negative; choose a time that is not", number(*units)),
        TimeError::BeyondHorizon { units, horizon } => format!(
            "{} is not before {horizon}, where ticks end; choose a shorter time, or fewer ticks per unit",
            number(*units)
        ),
        error => error.to_string(),
    }
}
