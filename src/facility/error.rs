//! Errors of networks and of their runs.

use crate::ErrorKind;
use crate::pdes::{CheckpointError, Fault, SimulationError};
use crate::statistics::AnalysisError;
use crate::text::{number, suggested};
use crate::time::TimeError;

/// An error of the `facility` module. Errors of a description occur before any run; correct it and
/// call again. A run that ends with one of the other errors has no results.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FacilityError {
    /// A description that is not TOML, or has an unknown field.
    #[error("the description cannot be read: {}", suggested(&.0.to_string()))]
    Toml(Box<toml::de::Error>),
    /// A description that is not JSON, or has an unknown field.
    #[error("the description cannot be read: {}", suggested(&.0.to_string()))]
    Json(serde_json::Error),
    /// A change of a description: its path leads nowhere, or the value is invalid there.
    #[error("`{change}`: {reason}")]
    Change {
        /// The change, as `PATH=VALUE`, or its place.
        change: String,
        /// Why it is invalid.
        reason: String,
    },
    /// An error at one of several points of a design.
    #[error("at {point}: {source}")]
    Point {
        /// The point: its factors and levels.
        point: String,
        /// The error.
        source: Box<FacilityError>,
    },
    /// A network without a station and without a delay.
    #[error("the network has no station and no delay; add one")]
    Empty,
    /// A name that two nodes have.
    #[error("two nodes are called `{name}`; give one of them another name")]
    Repeated {
        /// The name.
        name: String,
    },
    /// A name that would make results ambiguous, or that cannot be displayed safely.
    #[error("{what} cannot be called `{}`: {reason}", name.escape_debug())]
    Name {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// Why it is refused, and what to do.
        reason: &'static str,
    },
    /// No classes, too many, or two with the same name.
    #[error("the network has the classes {classes}; {remedy}")]
    Classes {
        /// Their names.
        classes: String,
        /// What to do.
        remedy: String,
    },
    /// A class that the network does not have.
    #[error("`{node}` names the class `{class}`; there are: {known}")]
    UnknownClass {
        /// The node.
        node: String,
        /// The name.
        class: String,
        /// The classes of the network.
        known: String,
    },
    /// A route to a node that does not exist, or to a source.
    #[error("`{node}` sends customers to `{to}`, {problem}")]
    Link {
        /// The node.
        node: String,
        /// The target of the route.
        to: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Invalid probabilities, or probabilities that do not add up to 1.
    #[error(
        "the routes of `{class}` from `{node}` have probabilities that add up to {}; \
         make the sum 1, or omit one of them, which then gets the rest",
        number(*sum + 0.0)
    )]
    Probabilities {
        /// The node.
        node: String,
        /// The class.
        class: String,
        /// Their sum.
        sum: f64,
    },
    /// A class that reaches a node from which it has no route.
    #[error(
        "`{class}` customers reach `{node}` and have no route from there; add a link, to a sink if they leave the network there"
    )]
    NoWay {
        /// The node.
        node: String,
        /// The class.
        class: String,
    },
    /// Customers that enter and can never leave.
    #[error(
        "`{class}` customers that reach `{node}` can reach no sink, so their number grows without end; add a route to a sink"
    )]
    NoWayOut {
        /// The node.
        node: String,
        /// The class.
        class: String,
    },
    /// A node that no customer reaches.
    #[error("no customer reaches `{node}`; add a link to it, or remove it")]
    Unreachable {
        /// The node.
        node: String,
    },
    /// A class without customers.
    #[error(
        "there is no `{class}` customer: no source, no population and no link creates one. Add one of them, or remove the class"
    )]
    NoCustomers {
        /// The class.
        class: String,
    },
    /// A class that reaches a node without a time for it.
    #[error(
        "`{class}` customers reach `{node}`, which has no {what} for them; add `{what}`, or one for this class"
    )]
    NoTime {
        /// The node.
        node: String,
        /// The class.
        class: String,
        /// `service` or `time`.
        what: &'static str,
    },
    /// Tasks of a fork that do not all return to it.
    #[error(
        "tasks of the fork `{fork}` {what} `{node}`, and the fork would wait for them for ever; {remedy}"
    )]
    Tasks {
        /// The fork.
        fork: String,
        /// The node where they are lost.
        node: String,
        /// How they are lost.
        what: &'static str,
        /// What to do.
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
        /// The setting.
        what: &'static str,
        /// Its value.
        value: String,
        /// What to do.
        remedy: String,
    },
    /// A combination that the module does not support.
    #[error("`{node}`: {what} cannot be simulated yet: {reason}")]
    Unsupported {
        /// The node.
        node: String,
        /// The combination.
        what: &'static str,
        /// Why it is not supported.
        reason: &'static str,
    },
    /// An open network in which a station receives more work than it can serve.
    #[error(
        "`{node}` has to serve {load:.3} times the work that its servers can (customers lost on the way are not subtracted), so its line, or the line for room there, grows without end. Add servers, or \
         allow unstable networks (`--allow-unstable`, `Network::compile_unstable`)"
    )]
    Unstable {
        /// The station, or all stations of a shortest-line choice.
        node: String,
        /// Offered load divided by the number of servers.
        load: f64,
    },
    /// A region whose customers need more places than it has.
    #[error(
        "the customers of the region `{region}` need {load:.3} times its places \
         (customers lost on the way are not subtracted), so the line outside it grows without end. \
         Raise its capacity, or allow unstable networks (`--allow-unstable`, `Network::compile_unstable`)"
    )]
    CrowdedRegion {
        /// The region.
        region: String,
        /// The places that customers need on average, divided by the capacity.
        load: f64,
    },
    /// An assembly to which more of a part come than of others, or than its servers take. With
    /// random times, equal rates are too many.
    #[error(
        "`{class}` customers come to `{node}` {load:.3} times as fast as its other parts or its servers allow, so their line, or the line for room there, grows without end. \
         Give them a capacity or a patience, or allow unstable networks (`--allow-unstable`, `Network::compile_unstable`)"
    )]
    Unmatched {
        /// The station.
        node: String,
        /// The class of the part.
        class: String,
        /// Its rate over that of the scarcest other part, or over what the servers can do.
        load: f64,
    },
    /// Two nodes, or classes at nodes, whose names have the same hash: they would draw the same
    /// random numbers.
    #[error(
        "the random streams of `{first}` and `{second}` have the same 64-bit name; rename one of the two nodes"
    )]
    SameStreams {
        /// One node.
        first: String,
        /// The other node.
        second: String,
    },
    /// A network too large for the stability check.
    #[error(
        "the stability of the network is unknown: it has {pairs} pairs of a node and a class that customers reach from outside, and at most {most} are checked. \
         Allow unstable networks to run it (`--allow-unstable`, `Network::compile_unstable`)"
    )]
    Unchecked {
        /// Pairs of node and class.
        pairs: usize,
        /// The most that are checked.
        most: usize,
    },
    /// An invalid time.
    #[error("the {what} is not a valid time: {}", no_time(source))]
    Time {
        /// Which time.
        what: &'static str,
        /// Why it is invalid.
        source: TimeError,
    },
    /// The run is not longer than its warm-up.
    #[error(
        "a run until {until} has nothing to observe after a warm-up until {warm_up}; set `until` later, or `warm_up` earlier"
    )]
    WarmUp {
        /// The end of runs.
        until: f64,
        /// The end of the warm-up, when statistics begin.
        warm_up: f64,
    },
    /// A run whose initial transient is visible in its second half.
    #[error(
        "at `{node}` the number of customers still settles in the second half of runs until {until}; make them longer, or set the warm-up"
    )]
    NotSettled {
        /// The station.
        node: String,
        /// The end of runs.
        until: f64,
    },
    /// More customers wait at a station than its line has room for.
    #[error(
        "in replication {replication} more than {room} customers wait at `{node}`: it may be unstable. Give it a capacity, or allow more to wait (`--room`, `Study::room`)"
    )]
    LineFull {
        /// The station.
        node: String,
        /// The most that may wait.
        room: u32,
        /// The replication.
        replication: u32,
    },
    /// A run that failed.
    #[error("replication {replication} failed at `{node}`: {fault}")]
    Fault {
        /// The node.
        node: String,
        /// The replication.
        replication: u32,
        /// The fault.
        fault: Fault,
    },
    /// Stations that wait for each other for ever, or one that waits for itself.
    #[error(
        "replication {replication} is in deadlock at {nodes}: all servers there are held by customers that wait for room there themselves, or lack parts that come from there. Give them more \
         room, or let customers be lost there"
    )]
    Deadlock {
        /// Their names.
        nodes: String,
        /// The replication.
        replication: u32,
    },
    /// Little's law does not hold in a run: a bug of the library or of the device.
    #[error(
        "in replication {replication} Little's law does not hold for `{class}` customers at `{node}`: their sojourn times add up to {times} ticks (modulo 2^64), and \
         the area under their number is {area}. The results are wrong: please report it"
    )]
    Little {
        /// The node.
        node: String,
        /// The class.
        class: String,
        /// The replication.
        replication: u32,
        /// The sum of the sojourn times, modulo 2^64.
        times: u64,
        /// The area under the number of customers.
        area: u128,
    },
    /// Customers were lost on a route: a bug of the library or of the device.
    #[error(
        "in replication {replication} {sent} customers left for another node, and {came} arrived at one. The results are wrong: please report it"
    )]
    Flow {
        /// The replication.
        replication: u32,
        /// Customers that left for another node.
        sent: u64,
        /// Customers that arrived at a node.
        came: u64,
    },
    /// The process model into which the network was translated failed.
    #[error("{error}")]
    Process {
        /// The error.
        error: Box<dyn std::error::Error + Send + Sync>,
        /// What kind of error it is.
        kind: ErrorKind,
    },
    /// The engine failed.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A saved study is invalid.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The statistics failed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A plot that could not be drawn.
    #[error("the plot cannot be drawn: {message}")]
    Plot {
        /// Why not.
        message: String,
    },
    /// A table that could not be written.
    #[error("the table cannot be written: {0}")]
    Write(#[source] std::io::Error),
}

crate::text::debug_is_display!(FacilityError);

impl FacilityError {
    /// Whether the network form lacks what the description has, so that a process model may run it
    /// ([`NetworkProcess`](crate::process::NetworkProcess)).
    pub fn needs_process(&self) -> bool {
        matches!(self, Self::Unsupported { .. } | Self::Classes { .. })
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Point { source, .. } => source.kind(),
            Self::Process { kind, .. } => *kind,
            Self::Simulation(error) => error.kind(),
            Self::Checkpoint(error) => error.kind(),
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

/// Why a number is not a valid time, for the author of a description: the text of [`TimeError`]
/// addresses programmers.
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
