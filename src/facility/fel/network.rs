//! Networks of the event list: service facilities, sources and queues.

use super::{FelError, refuse};
use crate::facility::model::{Places, variate};
use crate::facility::nodes::{Choice, Kind, Node};
use crate::facility::{Discipline, Distribution, Facility};
use crate::random::Stream;
use crate::time::{Resolution, Ticks};

/// A service facility of Park and Fishwick (section 5.3.2): servers, and a FIFO queue.
///
/// ```
/// use eventhorizon::facility::{FelFacility, FelNetwork};
/// use eventhorizon::time::Ticks;
///
/// // M/M/3 with 20 waiting places: a token that finds them full is dropped.
/// let network = FelNetwork::from_facilities([
///     FelFacility::source(Ticks::new(1000), vec![1]),
///     FelFacility::new(Ticks::new(2500), vec![FelFacility::EXIT]).servers(3).queue(20),
/// ])?;
/// assert_eq!(network.len(), 2);
/// # Ok::<(), eventhorizon::facility::FelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FelFacility {
    times: Times,
    targets: Vec<u32>,
    servers: u32,
    /// Waiting places. `None`: no bound.
    places: Option<u32>,
    tokens: u32,
    is_source: bool,
}

/// The times of a facility: services, or what lies between two tokens of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Times {
    /// Exponential, with this mean and one tick more.
    Mean(Ticks),
    /// Of this distribution.
    Law(Distribution, Resolution),
}

impl FelFacility {
    /// The target of tokens that leave the network.
    pub const EXIT: u32 = u32::MAX;

    /// A facility with one server and a queue without a bound. It serves for one tick more than an
    /// exponential time with this mean, rounded down, and sends each token to one of the targets,
    /// all with the same probability, in no time. A target listed twice is twice as probable.
    pub fn new(mean: Ticks, targets: impl Into<Vec<u32>>) -> Self {
        let targets = targets.into();
        Self { times: Times::Mean(mean), targets, servers: 1, places: None, tokens: 0, is_source: false }
    }

    /// A source of tokens from outside the network: the times between them are drawn as services
    /// are.
    pub fn source(mean: Ticks, targets: impl Into<Vec<u32>>) -> Self {
        Self { is_source: true, ..Self::new(mean, targets) }
    }

    /// Sets the distribution of its times, in units of this resolution. A time of 2^62 ticks or
    /// more does not end.
    #[must_use]
    pub fn times(self, law: Distribution, units: Resolution) -> Self {
        Self { times: Times::Law(law, units), ..self }
    }

    /// Sets the number of servers, from 1 to 64.
    #[must_use]
    pub fn servers(self, servers: u32) -> Self {
        Self { servers, ..self }
    }

    /// Sets the capacity of the queue, without the tokens in service. A token that finds it full is
    /// dropped.
    #[must_use]
    pub fn queue(self, places: u32) -> Self {
        Self { places: Some(places), ..self }
    }

    /// Sets the number of tokens at time zero.
    #[must_use]
    pub fn tokens(self, tokens: u32) -> Self {
        Self { tokens, ..self }
    }
}

/// A network of service facilities (Park and Fishwick, section 5.3): closed, or open with sources
/// and an exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FelNetwork {
    /// By facility, its times: the mean in ticks, without the extra tick of each; or with `laws` as
    /// `WORD_TIMES` of `shaders/facility/fel_times_laws.wgsl`.
    pub(super) times: Vec<u32>,
    /// Distributions, as `shaders/facility/network/distributions.wgsl` reads them. Empty if all
    /// times are exponential with an extra tick.
    pub(super) laws: Vec<u32>,
    /// By facility, its targets.
    pub(super) targets: Vec<Vec<u32>>,
    /// By facility, the facilities that send to it, each once.
    pub(super) sources: Vec<Vec<u32>>,
    /// By facility, its initial tokens.
    pub(super) tokens: Vec<u32>,
    /// By facility, its servers.
    pub(super) servers: Vec<u32>,
    /// By facility, its waiting places, or [`SOURCE`]; `None` if no token is minted, dropped or
    /// leaves.
    pub(super) places: Option<Vec<u32>>,
    names: Vec<String>,
}

shared! {
    "facility/fel_queue_ring.wgsl":
    /// Stands for the places of a source.
    pub(super) const SOURCE: u32;
}

/// Drawn times are cut to these ticks, which no run reaches.
const NO_END: u64 = 1 << 62;

/// A facility in an error: its name, if it has one.
fn label(names: &[String], facility: usize) -> String {
    names.get(facility).map_or_else(|| format!("facility {facility}"), |name| format!("`{name}`"))
}

/// What a node of a description has that the event list does not support.
fn lacking(node: &Node, is_open: bool) -> Option<String> {
    let [pair] = &node.pairs[..] else { return Some("serves several classes".to_owned()) };
    let kind = match node.kind {
        Kind::Source { batch, .. } if batch != 1 => Some("is a source of batches"),
        Kind::Station { servers: None, .. } => Some("is a delay"),
        Kind::Station { discipline, .. } if discipline != Discipline::Fifo => {
            Some("has another discipline than fifo")
        }
        Kind::Station { capacity: None, .. } if is_open => {
            Some("has no `capacity`, which each station of an open network needs here")
        }
        Kind::Router => Some("is a router"),
        Kind::Fork => Some("is a fork"),
        Kind::Source { .. } | Kind::Station { .. } | Kind::Sink => None,
    };
    let choice = match node.choice {
        Choice::Chance => None,
        Choice::InTurn => Some("has routes in turn"),
        Choice::Shortest => Some("has routes to the shortest line"),
    };
    let others = [
        (pair.routes.iter().any(|route| route.travel.is_some()), "has routes with travel times"),
        (pair.patience.is_some(), "has customers that lose patience"),
        (node.blocks, "makes customers wait where they are while it is full"),
        (!node.balking.is_empty(), "has customers that balk"),
        (!node.calendar.is_empty(), "has a calendar"),
        (node.breakdown.is_some(), "breaks down"),
    ];
    let other = others.into_iter().find_map(|(has, what)| has.then_some(what));
    let beyond = || node.beyond.first().map(|what| format!("has {what}"));
    kind.or(choice).or(other).map(str::to_owned).or_else(beyond)
}

/// An exponential time with a mean in ticks, as kernels read it.
fn exponential_words(mean: Ticks) -> [u32; 8] {
    let [low, high] = mean.to_words();
    [Distribution::Exponential(1.0).kind(), 0, low, high, 0, 0, 0, 0]
}

/// The most facilities, tokens, servers and waiting places.
const MOST: u64 = 1 << 28;

impl FelNetwork {
    /// Most facilities that send to one facility: one invocation reads all of them.
    const MOST_SOURCES: usize = 64;

    /// The most servers of a facility, and the most servers that an invocation reads, twice for
    /// each arrival.
    const MOST_SERVERS: u32 = 64;
    const MOST_READ: usize = 240;

    /// The longest mean service time, in ticks: a service must fit a word.
    const MOST_MEAN: Ticks = Ticks::new(1 << 27);

    /// A closed network of facilities with one server each and queues without a bound. Takes for
    /// each its mean service time, its targets, and its initial tokens.
    ///
    /// # Errors
    /// [`FelError::Setting`], naming the facility and the value.
    pub fn new(facilities: impl IntoIterator<Item = (Ticks, Vec<u32>, u32)>) -> Result<Self, FelError> {
        let facility =
            |(mean, targets, tokens): (_, Vec<u32>, _)| FelFacility::new(mean, targets).tokens(tokens);
        Self::from_facilities(facilities.into_iter().map(facility))
    }

    /// A network of any facilities, numbered from 0 in their order. With a source, each queue needs
    /// a bound, because its memory is reserved before the run.
    ///
    /// # Errors
    /// [`FelError::Setting`], naming the facility and the value.
    pub fn from_facilities(facilities: impl IntoIterator<Item = FelFacility>) -> Result<Self, FelError> {
        Self::build(facilities.into_iter().collect(), Vec::new())
    }

    /// A network whose facilities have these names, or none of them has one.
    fn build(facilities: Vec<FelFacility>, names: Vec<String>) -> Result<Self, FelError> {
        let label = |facility| label(&names, facility);
        let count = facilities.len();
        if count == 0 || count as u64 > MOST {
            return refuse(format!("a network of {count} facilities"), "choose from 1 to 2^28");
        }
        let (times, laws) = Self::times(&facilities, &label)?;
        let mut servers = Vec::with_capacity(count);
        for (number, facility) in facilities.iter().enumerate() {
            let FelFacility { tokens, is_source, .. } = *facility;
            if facility.servers == 0 || facility.servers > Self::MOST_SERVERS {
                return refuse(
                    format!("{} has {} servers", label(number), facility.servers),
                    "choose from 1 to 64",
                );
            }
            if is_source && (facility.servers, facility.places, tokens) != (1, None, 0) {
                return refuse(
                    format!("{} is a source with servers, a queue or tokens", label(number)),
                    "a source has none; let it send to a facility that has",
                );
            }
            servers.push(facility.servers);
        }
        let sources = Self::senders(&facilities, &label)?;
        let places = Self::places(&facilities, &label)?;
        let most = u64::from(servers.iter().copied().max().unwrap_or(1));
        let read =
            sources.iter().map(Vec::len).max().unwrap_or(0) * usize::try_from(most).expect("at most 64");
        if count as u64 * most > MOST || (most > 1 && read > Self::MOST_READ) {
            return refuse(
                format!("facilities with {most} servers, of which up to {read} send to one facility"),
                "choose at most 240 that send to one, and 2^28 in all; or run the network without an event list",
            );
        }
        let (mut targets, mut tokens) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for facility in facilities {
            targets.push(facility.targets);
            tokens.push(facility.tokens);
        }
        Ok(Self { times, laws, targets, sources, tokens, servers, places, names })
    }

    /// The fields `times` and `laws`.
    fn times(
        facilities: &[FelFacility],
        label: &dyn Fn(usize) -> String,
    ) -> Result<(Vec<u32>, Vec<u32>), FelError> {
        let is_plain = facilities.iter().all(|facility| matches!(facility.times, Times::Mean(_)));
        let (mut times, mut data, mut places) =
            (Vec::with_capacity(facilities.len()), Vec::new(), Places::default());
        for (number, facility) in facilities.iter().enumerate() {
            let is_longer = |mean: Ticks| {
                let what = format!("{} has times of {} ticks on average", label(number), mean.get());
                refuse(what, "choose at most 2^27, by a resolution with fewer ticks per unit")
            };
            times.push(match facility.times {
                Times::Mean(mean) if mean > Self::MOST_MEAN => return is_longer(mean),
                Times::Mean(mean) if is_plain => u32::try_from(mean.get()).expect("at most 2^27"),
                Times::Mean(mean) => places.of(&mut data, exponential_words(mean), None) + 1,
                Times::Law(law, units) => {
                    let words = match law.words_at(units) {
                        Ok(words) => words,
                        Err(reason) => {
                            return refuse(
                                format!("{} has invalid times: {reason}", label(number)),
                                "correct the distribution",
                            );
                        }
                    };
                    if let Ok(mean) = units.ticks(law.mean())
                        && mean > Self::MOST_MEAN
                    {
                        return is_longer(mean);
                    }
                    places.of(&mut data, words, law.table_at(units).as_deref())
                }
            });
        }
        Ok((times, data))
    }

    /// By facility, the facilities that send to it, each once.
    fn senders(
        facilities: &[FelFacility],
        label: &dyn Fn(usize) -> String,
    ) -> Result<Vec<Vec<u32>>, FelError> {
        let count = facilities.len();
        let mut sources = vec![Vec::new(); count];
        for (number, facility) in (0..).zip(facilities) {
            let to = &facility.targets;
            if to.is_empty() || to.len() > 1 << 16 {
                return refuse(
                    format!("facility {number} sends to {} facilities", to.len()),
                    "name from 1 to 65,536 targets; `FelFacility::EXIT` is the way out",
                );
            }
            for &target in to.iter().filter(|&&target| target != FelFacility::EXIT) {
                let Some(sources) = sources.get_mut(target as usize) else {
                    return refuse(
                        format!("facility {number} sends to facility {target} of {count}"),
                        "facilities are numbered from 0",
                    );
                };
                if facilities[target as usize].is_source {
                    return refuse(
                        format!("facility {number} sends to facility {target}, which is a source"),
                        "send tokens that leave the network to `FelFacility::EXIT`",
                    );
                }
                if sources.last() != Some(&number) {
                    sources.push(number);
                }
            }
        }
        if let Some(facility) = sources.iter().position(|sources| sources.len() > Self::MOST_SOURCES) {
            return refuse(
                format!("{} facilities send to {}", sources[facility].len(), label(facility)),
                "the event list takes at most 64; run the network without one",
            );
        }
        Ok(sources)
    }

    /// By facility, its waiting places; `None` if no token is minted, dropped or leaves.
    fn places(
        facilities: &[FelFacility],
        label: &dyn Fn(usize) -> String,
    ) -> Result<Option<Vec<u32>>, FelError> {
        let in_all: u64 = facilities.iter().map(|facility| u64::from(facility.tokens)).sum();
        let is_open = facilities.iter().any(|facility| facility.is_source);
        if in_all > MOST || in_all == 0 && !is_open {
            return refuse(format!("a network with {in_all} tokens"), "choose from 1 to 2^28");
        }
        let leaves = |facility: &FelFacility| facility.targets.contains(&FelFacility::EXIT);
        if !is_open && facilities.iter().all(|facility| facility.places.is_none() && !leaves(facility)) {
            return Ok(None);
        }
        let (mut places, mut sum) = (Vec::with_capacity(facilities.len()), 0);
        for (number, facility) in facilities.iter().enumerate() {
            if facility.is_source {
                places.push(SOURCE);
                continue;
            }
            let Some(own) = facility.places.map(u64::from).or((!is_open).then_some(in_all)) else {
                return refuse(
                    format!("{} has a queue without a bound in a network with sources", label(number)),
                    "its memory is reserved before the run: set its capacity",
                );
            };
            if u64::from(facility.tokens) > own + u64::from(facility.servers) {
                return refuse(
                    format!("{} begins with {} tokens", label(number), facility.tokens),
                    "it has room for as many as its servers and its queue take",
                );
            }
            sum += own + u64::from(facility.servers);
            if sum > MOST {
                return refuse("the queues have more than 2^28 places".to_owned(), "set smaller capacities");
            }
            places.push(u32::try_from(own).expect("at most 2^28"));
        }
        Ok(Some(places))
    }

    /// The paper's model (section 6): a torus of facilities, each of which sends to its four
    /// neighbours, all with the same mean service time. Tokens are spread evenly at first.
    ///
    /// # Errors
    /// [`FelError::Setting`], naming the value.
    pub fn torus(rows: u32, columns: u32, tokens: u32, mean: Ticks) -> Result<Self, FelError> {
        let count = u64::from(rows) * u64::from(columns);
        if count == 0 || count > MOST {
            return refuse(format!("a torus of {rows} x {columns} facilities"), "choose from 1 to 2^28");
        }
        let count = rows * columns;
        let facility = |facility: u32| {
            let (row, column) = (facility / columns, facility % columns);
            let at = |row: u32, column: u32| row % rows * columns + column % columns;
            let targets = vec![
                at(row, column + 1),
                at(row, column + columns - 1),
                at(row + 1, column),
                at(row + rows - 1, column),
            ];
            (mean, targets, tokens / count + u32::from(facility < tokens % count))
        };
        Self::new((0..count).map(facility))
    }

    /// Converts a network of sources, FIFO stations and sinks with one class of customers, without
    /// patience, blocking and travel times. The probabilities of routes are multiples of 1/n for an
    /// n up to 64. In an open network each station has a capacity; a customer that finds it full is
    /// lost.
    ///
    /// # Errors
    /// [`FelError::Setting`], with the node and what the event list does not support.
    pub fn of(facility: &Facility) -> Result<Self, FelError> {
        const REMEDY: &str = "the event list takes FIFO stations, sources and sinks with one class of customers; run the network without an interval";
        let is_open = facility.nodes.iter().any(|node| matches!(node.kind, Kind::Source { .. }));
        // Sinks are no facilities.
        let is_sink = |node: &Node| node.kind == Kind::Sink;
        let mut numbers = Vec::with_capacity(facility.nodes.len());
        let mut next = 0;
        for node in &facility.nodes {
            numbers.push(if is_sink(node) { FelFacility::EXIT } else { next });
            next += u32::from(!is_sink(node));
        }
        let node = |node: &Node| {
            let lacks = |what: &str| refuse(format!("`{}` {what}", node.name), REMEDY);
            if let Some(what) = lacking(node, is_open) {
                return lacks(&what);
            }
            let pair = &node.pairs[0];
            let (law, servers, capacity) = match node.kind {
                Kind::Source { interarrival, .. } => (Some(interarrival), None, None),
                Kind::Station { servers, capacity, .. } => (pair.service, servers, capacity),
                Kind::Router | Kind::Fork | Kind::Sink => (None, None, None),
            };
            let Some(law) = law else { return lacks("has no times of service") };
            let times = |n: u32| pair.routes.iter().map(move |route| route.probability * f64::from(n));
            let whole = |n: &u32| {
                times(*n).all(|times| times > 0.5 && (times - times.round()).abs() < 1e-9 * f64::from(*n))
            };
            let Some(n) = (1..=64).find(whole) else {
                return lacks("has routes with probabilities that are not multiples of 1/n, n to 64");
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64")]
            let often = times(n).map(|times| times.round() as usize);
            let targets = pair.routes.iter().zip(often);
            let targets: Vec<_> =
                targets.flat_map(|(route, often)| std::iter::repeat_n(numbers[route.node], often)).collect();
            let times = match law {
                Distribution::Exponential(mean) => {
                    let Ok(mean) = facility.resolution.ticks(mean) else { return lacks("has no valid time") };
                    // Each draw has one tick more.
                    Times::Mean(Ticks::new(mean.get().saturating_sub(1)))
                }
                law => Times::Law(law, facility.resolution),
            };
            let node = FelFacility { times, ..FelFacility::new(Ticks::ZERO, targets) };
            let Some(servers) = servers else { return Ok(FelFacility { is_source: true, ..node }) };
            let station = node.servers(servers).tokens(pair.population);
            Ok(capacity.map_or(station.clone(), |capacity| {
                // A capacity counts customers in service.
                station.servers(servers.min(capacity)).queue(capacity.saturating_sub(servers))
            }))
        };
        let nodes = || facility.nodes.iter().filter(|&node| !is_sink(node));
        let facilities = nodes().map(node).collect::<Result<Vec<_>, _>>()?;
        Self::build(facilities, nodes().map(|node| node.name.clone()).collect())
    }

    /// The number of facilities and sources.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Always false: no network is empty.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// By facility, the node of the description ([`FelNetwork::of`]); empty for other networks.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of servers of a facility; 0 for a source.
    pub(super) fn servers_of(&self, facility: usize) -> u32 {
        if self.is_source(facility) { 0 } else { self.servers[facility] }
    }

    pub(super) fn is_source(&self, facility: usize) -> bool {
        self.places.as_ref().is_some_and(|places| places[facility] == SOURCE)
    }

    /// The servers of a facility in the memory of the event list.
    pub(super) fn most_servers(&self) -> u32 {
        self.servers.iter().copied().max().unwrap_or(1)
    }

    /// Draws the service with a number (from 1) at a facility: its length and the next facility of
    /// the token. The engine of `pdes` draws the same for an LP's event with that number.
    pub(super) fn draw(&self, seed: u64, facility: u32, number: u64) -> (u64, u32) {
        let mut stream = Stream::new(seed, facility, number);
        let times = self.times[facility as usize];
        let service = match self.laws.is_empty() {
            true => stream.exponential(Ticks::new(times.into())).get() + 1,
            false => {
                let drawn = variate(&mut stream, &self.laws, times & !3).get();
                drawn.saturating_add((times & 3).into()).min(NO_END)
            }
        };
        let targets = &self.targets[facility as usize];
        let target = stream.below(u32::try_from(targets.len()).expect("checked"));
        (service, targets[target as usize])
    }
}
