//! A network as data: what a builder or a file says.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{self, DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::route::links;
use super::{Distribution, FacilityError, Link, Route};

/// A queueing network: sources, stations, delays, forks and sinks by name, and who goes where.
///
/// All times are in the network's unit of time. [`Network::compile`] checks it. The names of all
/// nodes differ; no class is called `all`, and no node `(network)`, as results call all of them;
/// and no name has control characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// What reports call it.
    pub name: String,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The unit of time, for people: `minute`.
    #[serde(default = "unit")]
    pub unit: String,
    /// Ticks in a unit of time: times are whole ticks. Chosen by the times of the description, if
    /// it is not said ([`Resolution::for_times`](crate::time::Resolution::for_times)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks_per_unit: Option<u32>,
    /// The classes of customers, at most [`MAX_CLASSES`](super::MAX_CLASSES). Where a station has
    /// priorities, the first goes first.
    #[serde(default = "classes")]
    pub classes: Vec<String>,
    /// How long a run should be, unless somebody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// When statistics should begin, unless somebody says otherwise: before `until`, if both are
    /// said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<f64>,
    /// The time that ways take which do not say their own, those to and from routers and forks too,
    /// but none to a station that blocks. None, unless it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub travel: Option<Distribution>,
    /// Where customers come from.
    #[serde(
        default,
        rename = "source",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub sources: IndexMap<String, Source>,
    /// Where they are served.
    #[serde(
        default,
        rename = "station",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub stations: IndexMap<String, Station>,
    /// Where they spend a time, and nobody waits for another.
    #[serde(
        default,
        rename = "delay",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub delays: IndexMap<String, Delay>,
    /// Where their way parts, which takes no time.
    #[serde(
        default,
        rename = "router",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub routers: IndexMap<String, Router>,
    /// Where they are parted into siblings, and joined again.
    #[serde(
        default,
        rename = "fork",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub forks: IndexMap<String, Fork>,
    /// Where they leave the network.
    #[serde(
        default,
        rename = "sink",
        deserialize_with = "named",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub sinks: IndexMap<String, Sink>,
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

fn one() -> u32 {
    1
}

/// Where customers come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The time between two arrivals, and before the first.
    pub interarrival: Distribution,
    /// The class of those who come; the first, unless it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How many come at once, at most 256.
    #[serde(default = "one")]
    pub batch: u32,
    /// Shares of the rate of arrivals, one after the other, and then from the beginning again:
    /// `interarrival`, which has to be exponential, is that of the highest. Always all of it,
    /// unless it is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Rate>,
    /// Where they go.
    pub to: Route,
}

/// A time in which a source has a share of its rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How long.
    pub lasts: f64,
    /// The share of the rate, 0 to 1.
    pub factor: f64,
}

/// A time in which a station has so many servers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shift {
    /// How long.
    pub lasts: f64,
    /// How many.
    pub servers: u32,
}

/// How a station breaks down, with all its servers, whether they are busy or not. Services go on
/// after the repair where they stopped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// The time from a repair, or from the beginning, to the next breakdown.
    pub up: Distribution,
    /// The time of a repair.
    pub down: Distribution,
}

/// What becomes of who finds a station full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WhenFull {
    /// He is lost.
    #[default]
    Lose,
    /// He waits where he was served, and keeps his server there (blocking after service), until
    /// there is room, in the order in which they came. Who comes from a source is lost.
    Block,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Servers, and a line for those who wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// How many customers are served at once.
    #[serde(default = "one")]
    pub servers: u32,
    /// The time of a service of all classes but those in `service_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Distribution>,
    /// The time of a service, by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub service_of: IndexMap<String, Distribution>,
    /// The most customers, in service and in line; who finds so many is lost. No bound, unless it
    /// is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
    /// What becomes of them, if it is not loss.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_full: WhenFull,
    /// The probabilities with which who comes leaves at once, if there are 0, 1, 2 … customers; the
    /// last for all greater numbers. Nobody does, unless it is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub balking: Vec<f64>,
    /// How many servers there are, one time after the other, and then from the beginning again; in
    /// the place of `servers`. Who is in service when there are fewer is served to the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<Shift>,
    /// How it breaks down, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// Who is served next.
    #[serde(default)]
    pub discipline: Discipline,
    /// How long a customer waits before it leaves the network, of all classes but those in
    /// `patience_of`; for ever, unless it is said. Who has been served once, and was interrupted,
    /// waits for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<Distribution>,
    /// The same by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub patience_of: IndexMap<String, Distribution>,
    /// Customers of the first class that are here at the beginning: no more than there is room for,
    /// and nobody where customers balk.
    #[serde(default)]
    pub population: u32,
    /// The same by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub population_of: IndexMap<String, u32>,
    /// Where customers go afterwards.
    pub to: Route,
}

/// Where customers spend a time, and nobody waits for another: a station with a server for
/// everybody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// The time of all classes but those in `time_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Distribution>,
    /// The time, by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub time_of: IndexMap<String, Distribution>,
    /// Customers of the first class that are here at the beginning.
    #[serde(default)]
    pub population: u32,
    /// The same by class.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub population_of: IndexMap<String, u32>,
    /// Where customers go afterwards.
    pub to: Route,
}

/// Where the way of customers parts. It takes no time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Router {
    /// Where customers go.
    pub to: Route,
}

/// Where customers are parted, and joined again. It takes no time.
///
/// In the place of who comes a sibling goes along each of `siblings`, at once, and is served like
/// any customer. Their ways lead back to this node: when all siblings of a customer are here again,
/// he goes on along `to`, as the one that came, whatever became of their classes. So whoever comes
/// is forked, and who comes back is joined.
///
/// Between the two nobody may be lost, and nobody leaves the network. Forks may lie between the
/// fork and the join of another, but not overlap with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// Where siblings go, one along each link, at most [`MAX_FORK_TASKS`](super::MAX_FORK_TASKS) of a
    /// customer. Links that name a class take the place of those that name none. They have no
    /// probability.
    #[serde(deserialize_with = "links")]
    pub tasks: Vec<Link>,
    /// Where customers go that have been joined.
    pub to: Route,
}

/// Where customers leave the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sink {}

/// Who of those who wait is served next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Discipline {
    /// Who came first.
    #[default]
    Fifo,
    /// Who came last.
    Lifo,
    /// Any of them.
    Random,
    /// Of the classes the first one that waits, and of that who came first. Services are not
    /// interrupted.
    Priority,
    /// The same, and who arrives interrupts the service of a later class, which goes on later where
    /// it stopped (preemptive resume).
    Preemptive,
    /// One server goes from class to class, in their order and round again, and serves each until
    /// nobody of it waits (exhaustive polling); of a class, who came first. Going takes no time.
    Polling,
    /// Nobody waits: the servers are shared by all, with equal parts, and at most one server to a
    /// customer (processor sharing). Shares are exact to 2^-16 of a tick for each arrival and
    /// departure, and departures are at the next whole tick. (Their clock counts up to 2^47 ticks;
    /// a [`Study`](super::Study) that goes on for longer is refused.)
    Sharing,
}

/// A table by name, in which no name comes twice.
fn named<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<IndexMap<String, T>, D::Error> {
    struct Table<T>(std::marker::PhantomData<T>);
    impl<'de, T: DeserializeOwned> Visitor<'de> for Table<T> {
        type Value = IndexMap<String, T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table by name")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut table = IndexMap::new();
            while let Some(name) = map.next_key::<String>()? {
                if table.contains_key(&name) {
                    return Err(de::Error::custom(format!(
                        "the name `{name}` comes twice; give one of them another"
                    )));
                }
                let value = map.next_value()?;
                table.insert(name, value);
            }
            Ok(table)
        }
    }
    deserializer.deserialize_map(Table(std::marker::PhantomData))
}

/// A text without the byte order mark with which some editors begin it.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

impl Network {
    /// A network without nodes, with customers of one class.
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

    /// The same with these classes of customers.
    #[must_use]
    pub fn with_classes(mut self, classes: &[&str]) -> Self {
        self.classes = classes.iter().map(|&class| class.to_owned()).collect();
        self
    }

    /// The same, and all ways that do not say their own time take this one, but those to stations
    /// that block.
    #[must_use]
    pub fn with_travel(self, travel: Distribution) -> Self {
        Self { travel: Some(travel), ..self }
    }

    /// The same with a source more.
    #[must_use]
    pub fn source(mut self, name: &str, source: Source) -> Self {
        self.repeated.extend(self.sources.insert(name.to_owned(), source).map(|_| name.to_owned()));
        self
    }

    /// The same with a station more.
    #[must_use]
    pub fn station(mut self, name: &str, station: Station) -> Self {
        self.repeated.extend(self.stations.insert(name.to_owned(), station).map(|_| name.to_owned()));
        self
    }

    /// The same with a delay more.
    #[must_use]
    pub fn delay(mut self, name: &str, delay: Delay) -> Self {
        self.repeated.extend(self.delays.insert(name.to_owned(), delay).map(|_| name.to_owned()));
        self
    }

    /// The same with a router more.
    #[must_use]
    pub fn router(mut self, name: &str, to: impl Into<Route>) -> Self {
        let router = Router { to: to.into() };
        self.repeated.extend(self.routers.insert(name.to_owned(), router).map(|_| name.to_owned()));
        self
    }

    /// The same with a fork more, to which siblings come back to be joined.
    #[must_use]
    pub fn fork(mut self, name: &str, fork: Fork) -> Self {
        self.repeated.extend(self.forks.insert(name.to_owned(), fork).map(|_| name.to_owned()));
        self
    }

    /// The same with a sink more.
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

impl Source {
    /// Single customers of the first class.
    pub fn new(interarrival: Distribution, to: impl Into<Route>) -> Self {
        Self { interarrival, class: None, batch: 1, rates: Vec::new(), to: to.into() }
    }

    /// Customers of another class.
    #[must_use]
    pub fn of(self, class: &str) -> Self {
        Self { class: Some(class.to_owned()), ..self }
    }

    /// So many at once.
    #[must_use]
    pub fn in_batches(self, batch: u32) -> Self {
        Self { batch, ..self }
    }

    /// With shares of the rate: how long each lasts, and how much it is.
    #[must_use]
    pub fn with_rates(self, rates: &[(f64, f64)]) -> Self {
        Self { rates: rates.iter().map(|&(lasts, factor)| Rate { lasts, factor }).collect(), ..self }
    }
}

impl Station {
    /// One server, who serves customers in the order of their arrival, however many there are.
    pub fn new(service: Distribution, to: impl Into<Route>) -> Self {
        Self {
            servers: 1,
            service: Some(service),
            service_of: IndexMap::new(),
            capacity: None,
            when_full: WhenFull::Lose,
            balking: Vec::new(),
            schedule: Vec::new(),
            breakdown: None,
            discipline: Discipline::Fifo,
            patience: None,
            patience_of: IndexMap::new(),
            population: 0,
            population_of: IndexMap::new(),
            to: to.into(),
        }
    }

    /// The same with so many servers.
    #[must_use]
    pub fn with_servers(self, servers: u32) -> Self {
        Self { servers, ..self }
    }

    /// The same with another service of one class.
    #[must_use]
    pub fn with_service_of(mut self, class: &str, service: Distribution) -> Self {
        self.service_of.insert(class.to_owned(), service);
        self
    }

    /// The same with room for so many customers, in service and in line.
    #[must_use]
    pub fn with_capacity(self, capacity: u32) -> Self {
        Self { capacity: Some(capacity), ..self }
    }

    /// The same, and who finds it full waits where he is, and keeps his server there.
    #[must_use]
    pub fn blocking(self) -> Self {
        Self { when_full: WhenFull::Block, ..self }
    }

    /// The same with probabilities to leave at once, by the number of customers.
    #[must_use]
    pub fn with_balking(self, balking: &[f64]) -> Self {
        Self { balking: balking.to_owned(), ..self }
    }

    /// The same with a number of servers that changes: how long each lasts, and how many there are.
    #[must_use]
    pub fn with_schedule(self, schedule: &[(f64, u32)]) -> Self {
        Self { schedule: schedule.iter().map(|&(lasts, servers)| Shift { lasts, servers }).collect(), ..self }
    }

    /// The same with breakdowns.
    #[must_use]
    pub fn with_breakdowns(self, up: Distribution, down: Distribution) -> Self {
        Self { breakdown: Some(Breakdown { up, down }), ..self }
    }

    /// The same with another discipline.
    #[must_use]
    pub fn with_discipline(self, discipline: Discipline) -> Self {
        Self { discipline, ..self }
    }

    /// The same for customers who do not wait for ever.
    #[must_use]
    pub fn with_patience(self, patience: Distribution) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// The same with customers of the first class at the beginning.
    #[must_use]
    pub fn with_population(self, population: u32) -> Self {
        Self { population, ..self }
    }
}

impl Fork {
    /// A sibling to each of several nodes; customers that have been joined go `to`.
    pub fn new<L: Into<Link>>(tasks: impl IntoIterator<Item = L>, to: impl Into<Route>) -> Self {
        Self { tasks: tasks.into_iter().map(Into::into).collect(), to: to.into() }
    }
}

impl Delay {
    /// A delay of all classes.
    pub fn new(time: Distribution, to: impl Into<Route>) -> Self {
        Self {
            time: Some(time),
            time_of: IndexMap::new(),
            population: 0,
            population_of: IndexMap::new(),
            to: to.into(),
        }
    }

    /// The same with customers of the first class at the beginning.
    #[must_use]
    pub fn with_population(self, population: u32) -> Self {
        Self { population, ..self }
    }
}
