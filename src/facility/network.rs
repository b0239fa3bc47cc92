//! A network as data, as a builder or a file describes it.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::beyond::{Batch, Group, Interrupted, Region, ShiftEnd};
use super::route::{filled, is_default, links, named};
use super::source::{Source, one};
use super::{Distribution, FacilityError, Link, Route};
use crate::text::unmarked;

/// A queueing network: sources, stations, delays, routers, forks and sinks by name, and the routes
/// between them.
///
/// All times are in the network's unit of time. [`Network::compile`] checks it. The names of all
/// nodes differ. No class is named `all`, and no node `(network)`, because results use these names;
/// no name has control characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The name in reports.
    pub name: String,
    /// A description for readers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The unit of time, for readers: `minute`.
    #[serde(default = "unit")]
    pub unit: String,
    /// Ticks in a unit of time: times are whole ticks. Default: chosen from the times of the
    /// description ([`Resolution::for_times`](crate::time::Resolution::for_times)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks_per_unit: Option<u32>,
    /// The classes of customers. A network with more than [`MAX_CLASSES`](super::MAX_CLASSES) runs
    /// as a [process model](crate::process::NetworkProcess). At stations with
    /// priorities, the first class has the highest.
    #[serde(default = "classes")]
    pub classes: Vec<String>,
    /// The default end of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// The default end of the warm-up: statistics begin here. It is before `until`, if both are
    /// set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<f64>,
    /// The default travel time of routes, also to and from routers and forks; a route to a station
    /// that blocks has none. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub travel: Option<Distribution>,
    /// Nodes where customers enter the network.
    #[serde(
        default,
        rename = "source",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub sources: IndexMap<String, Source>,
    /// Nodes with servers and lines.
    #[serde(
        default,
        rename = "station",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub stations: IndexMap<String, Station>,
    /// Nodes where customers spend a time without waiting.
    #[serde(
        default,
        rename = "delay",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub delays: IndexMap<String, Delay>,
    /// Nodes with a choice of routes, which take no time.
    #[serde(
        default,
        rename = "router",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub routers: IndexMap<String, Router>,
    /// Nodes where customers are forked into tasks, and joined.
    #[serde(
        default,
        rename = "fork",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub forks: IndexMap<String, Fork>,
    /// Nodes where customers leave the network.
    #[serde(
        default,
        rename = "sink",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub sinks: IndexMap<String, Sink>,
    /// Nodes that hold a bounded number of customers together. Networks with regions run as
    /// [process models](crate::process::NetworkProcess).
    #[serde(
        default,
        rename = "region",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub regions: IndexMap<String, Region>,
    /// Names that a builder used twice.
    #[serde(skip)]
    repeated: Vec<String>,
}

fn unit() -> String {
    "unit of time".to_owned()
}

fn classes() -> Vec<String> {
    vec!["customer".to_owned()]
}

/// A period in which a station has a number of servers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shift {
    /// The length of the period.
    pub lasts: f64,
    /// The number of servers.
    pub servers: u32,
}

/// Breakdowns of a station, with all its servers, busy or idle. Services continue after the repair
/// where they stopped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// The time from a repair, or from the beginning, to the next breakdown.
    pub up: Distribution,
    /// The time of a repair.
    pub down: Distribution,
}

/// What happens to a customer that finds a station full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WhenFull {
    /// It is lost.
    #[default]
    Lose,
    /// It waits where it was served and keeps its server there (blocking after service) until there
    /// is room, in the order of arrival. Customers from a source are lost.
    Block,
}

/// Servers with a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Station {
    /// How many customers are served at once.
    #[serde(default = "one")]
    pub servers: u32,
    /// The service time of all classes except those in `service_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Distribution>,
    /// The service time, by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub service_of: IndexMap<String, Distribution>,
    /// The largest number of customers, in service and in line. `when_full` says what happens to
    /// more. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
    /// At a station with [parts](Batch::parts), where `capacity` is of each class: those of other
    /// classes.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub capacity_of: IndexMap<String, u32>,
    /// What happens to customers beyond the capacity. Default: they are lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_full: WhenFull,
    /// The probabilities that an arriving customer balks, by the number of customers present: 0, 1,
    /// 2 …; the last applies to all greater numbers. Default: no customer balks.
    #[serde(default, deserialize_with = "filled", skip_serializing_if = "Vec::is_empty")]
    pub balking: Vec<f64>,
    /// The number of servers, one period after the other, repeated for ever; replaces `servers`. If
    /// the number falls, services that have begun are completed.
    #[serde(default, deserialize_with = "filled", skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<Shift>,
    /// Breakdowns, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// Which customer is served next.
    #[serde(default)]
    pub discipline: Discipline,
    /// How long a customer waits before it leaves the network, for all classes except those in
    /// `patience_of`. A preempted customer waits for ever. Default: customers wait for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<Distribution>,
    /// The same by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub patience_of: IndexMap<String, Distribution>,
    /// Initial customers of the first class: at most as many as there is room for, and none at a
    /// station with balking.
    #[serde(default)]
    pub population: u32,
    /// The same by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub population_of: IndexMap<String, u32>,
    /// Groups of servers with skills, which replace `servers`. A customer takes a server of the
    /// first group that serves its class and has a free one; a free server takes the first customer
    /// of the line that it serves. This and the next nine settings run as
    /// [process models](crate::process::NetworkProcess).
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, Group>,
    /// What happens to services at the end of a shift.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shift: ShiftEnd,
    /// How a service continues that preemption, a breakdown or the end of a shift interrupted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted: Interrupted,
    /// The time that the server takes before it serves another class than the last one, for all
    /// classes except those in `setup_of`. Only for one server. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Distribution>,
    /// The same by class of the customer that is served next.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub setup_of: IndexMap<String, Distribution>,
    /// The wait that is worth one class, with [`Discipline::Priority`]. Default: no wait is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging: Option<f64>,
    /// The speed of each server, by the number of customers present: 1, 2, 3 …; the last applies to
    /// all greater numbers. Default: 1.
    #[serde(default, deserialize_with = "filled", skip_serializing_if = "Vec::is_empty")]
    pub speeds: Vec<f64>,
    /// How many customers a server serves at once, in the time of the first of them, or of what is
    /// assembled of them. Default: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// How many customers each one becomes behind its service. Default: it stays one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<u32>,
    /// The routes of customers whose patience ends. Default: they leave the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reneged_to: Option<Route>,
    /// The routes of customers from here.
    pub to: Route,
}

/// A node where customers spend a time without waiting: a station with a server for each customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Delay {
    /// The time of all classes except those in `time_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Distribution>,
    /// The time, by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub time_of: IndexMap<String, Distribution>,
    /// Initial customers of the first class.
    #[serde(default)]
    pub population: u32,
    /// The same by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub population_of: IndexMap<String, u32>,
    /// The routes of customers from here.
    pub to: Route,
}

/// A choice of routes. It takes no time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Router {
    /// The routes of customers from here.
    pub to: Route,
}

/// Divides customers into tasks, and joins them again. It takes no time.
///
/// For an arriving customer, one task leaves at once along each link of `tasks`, and is served like
/// any customer. Routes of tasks lead back to this node. When all tasks of a customer are back, the
/// customer continues along `to`, with the class with which it arrived.
///
/// Between fork and join, no task may be lost or leave the network. Forks may be nested, but must
/// not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Fork {
    /// One link for each task, at most [`MAX_FORK_TASKS`](super::MAX_FORK_TASKS) of a customer,
    /// without probabilities. Links that name a class replace, for this class, those that name
    /// none.
    #[serde(deserialize_with = "links")]
    pub tasks: Vec<Link>,
    /// How many tasks of a customer have to be back before it continues. The others are completed,
    /// and end when they are back. Default: all. Fewer run as a process model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<u32>,
    /// The routes of joined customers.
    pub to: Route,
}

/// A node where customers leave the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sink {}

/// Which waiting customer is served next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Discipline {
    /// First come, first served.
    #[default]
    Fifo,
    /// Last come, first served.
    Lifo,
    /// Any of them, at random.
    Random,
    /// Classes in their order, first come first served within a class. Services are not
    /// interrupted.
    Priority,
    /// The same, but an arriving customer preempts the service of a later class, which continues
    /// later where it stopped (preemptive resume).
    Preemptive,
    /// One server visits the classes in cyclic order, and serves each until no customer of it waits
    /// (exhaustive polling), first come first served within a class. Changing takes no time.
    Polling,
    /// All customers share the servers equally, with at most one server each (processor sharing).
    /// Shares are exact to 2^-16 of a tick for each arrival and departure, and departures are at
    /// the next whole tick. Their clock counts up to 2^47 ticks; a longer [`Study`](super::Study)
    /// is refused.
    Sharing,
}

impl Network {
    /// A network without nodes, with one class of customers.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: String::new(),
            unit: unit(),
            ticks_per_unit: None,
            classes: classes(),
            until: None,
            warm_up: None,
            travel: None,
            sources: IndexMap::new(),
            stations: IndexMap::new(),
            delays: IndexMap::new(),
            routers: IndexMap::new(),
            forks: IndexMap::new(),
            sinks: IndexMap::new(),
            regions: IndexMap::new(),
            repeated: Vec::new(),
        }
    }

    /// Reads a description in TOML.
    ///
    /// # Errors
    /// [`FacilityError::Toml`], with line and field.
    pub fn from_toml(text: &str) -> Result<Self, FacilityError> {
        toml::from_str(unmarked(text)).map_err(|error| FacilityError::Toml(Box::new(error)))
    }

    /// Reads a description in JSON.
    ///
    /// # Errors
    /// [`FacilityError::Json`], with line and column.
    pub fn from_json(text: &str) -> Result<Self, FacilityError> {
        serde_json::from_str(unmarked(text)).map_err(FacilityError::Json)
    }

    /// Sets the classes of customers.
    #[must_use]
    pub fn with_classes(mut self, classes: &[&str]) -> Self {
        self.classes = classes.iter().map(|&class| class.to_owned()).collect();
        self
    }

    /// Sets the travel time of all routes without their own, except routes to stations that block.
    #[must_use]
    pub fn with_travel(self, travel: Distribution) -> Self {
        Self { travel: Some(travel), ..self }
    }

    /// Adds a source.
    #[must_use]
    pub fn source(mut self, name: &str, source: Source) -> Self {
        self.repeated.extend(self.sources.insert(name.to_owned(), source).map(|_| name.to_owned()));
        self
    }

    /// Adds a station.
    #[must_use]
    pub fn station(mut self, name: &str, station: Station) -> Self {
        self.repeated.extend(self.stations.insert(name.to_owned(), station).map(|_| name.to_owned()));
        self
    }

    /// Adds a delay.
    #[must_use]
    pub fn delay(mut self, name: &str, delay: Delay) -> Self {
        self.repeated.extend(self.delays.insert(name.to_owned(), delay).map(|_| name.to_owned()));
        self
    }

    /// Adds a router.
    #[must_use]
    pub fn router(mut self, name: &str, to: impl Into<Route>) -> Self {
        let router = Router { to: to.into() };
        self.repeated.extend(self.routers.insert(name.to_owned(), router).map(|_| name.to_owned()));
        self
    }

    /// Adds a fork, to which tasks come back to be joined.
    #[must_use]
    pub fn fork(mut self, name: &str, fork: Fork) -> Self {
        self.repeated.extend(self.forks.insert(name.to_owned(), fork).map(|_| name.to_owned()));
        self
    }

    /// Bounds the number of customers at some nodes together.
    #[must_use]
    pub fn region(mut self, name: &str, nodes: &[&str], capacity: u32) -> Self {
        let nodes = nodes.iter().map(|&node| node.to_owned()).collect();
        self.regions.insert(name.to_owned(), Region { nodes, capacity });
        self
    }

    /// Adds a sink.
    #[must_use]
    pub fn sink(mut self, name: &str) -> Self {
        self.repeated.extend(self.sinks.insert(name.to_owned(), Sink {}).map(|_| name.to_owned()));
        self
    }

    /// A name that two nodes have.
    pub(super) fn repeated(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        self.repeated.first().map(String::as_str).or(twice)
    }

    /// The names of all nodes, in the order of their LPs: sources, stations, delays, routers,
    /// forks, sinks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let served = self.sources.keys().chain(self.stations.keys()).chain(self.delays.keys());
        let parting = self.routers.keys().chain(self.forks.keys());
        served.chain(parting).chain(self.sinks.keys()).map(String::as_str)
    }
}

impl Station {
    /// One server with an unbounded line, first come first served.
    pub fn new(service: Distribution, to: impl Into<Route>) -> Self {
        Self {
            servers: 1,
            service: Some(service),
            service_of: IndexMap::new(),
            capacity: None,
            capacity_of: IndexMap::new(),
            when_full: WhenFull::Lose,
            balking: Vec::new(),
            schedule: Vec::new(),
            breakdown: None,
            discipline: Discipline::Fifo,
            patience: None,
            patience_of: IndexMap::new(),
            population: 0,
            population_of: IndexMap::new(),
            groups: IndexMap::new(),
            shift: ShiftEnd::Finish,
            interrupted: Interrupted::Resume,
            setup: None,
            setup_of: IndexMap::new(),
            aging: None,
            speeds: Vec::new(),
            batch: None,
            splits: None,
            reneged_to: None,
            to: to.into(),
        }
    }

    /// Sets the number of servers.
    #[must_use]
    pub fn with_servers(self, servers: u32) -> Self {
        Self { servers, ..self }
    }

    /// Sets the service of one class.
    #[must_use]
    pub fn with_service_of(mut self, class: &str, service: Distribution) -> Self {
        self.service_of.insert(class.to_owned(), service);
        self
    }

    /// Sets the capacity, which includes customers in service.
    #[must_use]
    pub fn with_capacity(self, capacity: u32) -> Self {
        Self { capacity: Some(capacity), ..self }
    }

    /// A customer that finds it full waits where it is, and keeps its server there.
    #[must_use]
    pub fn blocking(self) -> Self {
        Self { when_full: WhenFull::Block, ..self }
    }

    /// Sets the probabilities of balking, by the number of customers present.
    #[must_use]
    pub fn with_balking(self, balking: &[f64]) -> Self {
        Self { balking: balking.to_owned(), ..self }
    }

    /// Sets a schedule: the length of each period, and its number of servers.
    #[must_use]
    pub fn with_schedule(self, schedule: &[(f64, u32)]) -> Self {
        Self { schedule: schedule.iter().map(|&(lasts, servers)| Shift { lasts, servers }).collect(), ..self }
    }

    /// Adds breakdowns.
    #[must_use]
    pub fn with_breakdowns(self, up: Distribution, down: Distribution) -> Self {
        Self { breakdown: Some(Breakdown { up, down }), ..self }
    }

    /// Adds a group of servers, which serve these classes.
    #[must_use]
    pub fn with_group(mut self, name: &str, servers: u32, serves: &[&str]) -> Self {
        let serves = serves.iter().map(|&class| class.to_owned()).collect();
        self.groups.insert(name.to_owned(), Group { servers, serves, speed: 1.0 });
        self
    }

    /// Sets the discipline.
    #[must_use]
    pub fn with_discipline(self, discipline: Discipline) -> Self {
        Self { discipline, ..self }
    }

    /// Sets the patience of all classes.
    #[must_use]
    pub fn with_patience(self, patience: Distribution) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Sets the initial customers of the first class.
    #[must_use]
    pub fn with_population(self, population: u32) -> Self {
        Self { population, ..self }
    }
}

impl Fork {
    /// A task to each of several nodes; joined customers go `to`.
    pub fn new<L: Into<Link>>(tasks: impl IntoIterator<Item = L>, to: impl Into<Route>) -> Self {
        Self { tasks: tasks.into_iter().map(Into::into).collect(), quorum: None, to: to.into() }
    }

    /// Lets customers continue when this number of their tasks is back.
    #[must_use]
    pub fn with_quorum(self, quorum: u32) -> Self {
        Self { quorum: Some(quorum), ..self }
    }
}

impl Delay {
    /// The same time for all classes.
    pub fn new(time: Distribution, to: impl Into<Route>) -> Self {
        Self {
            time: Some(time),
            time_of: IndexMap::new(),
            population: 0,
            population_of: IndexMap::new(),
            to: to.into(),
        }
    }

    /// Sets the initial customers of the first class.
    #[must_use]
    pub fn with_population(self, population: u32) -> Self {
        Self { population, ..self }
    }
}
