//! Looks a description through: names, ways, and what goes together. Who comes where, and whether stations can serve them, is in `traffic.rs`.

use std::collections::HashMap;

use super::network::{Network, WhenFull};
use super::traffic::{arrive, leave, stable, traffic};
use super::{Discipline, Distribution, FacilityError, Link, MAX_CLASSES, MAX_SIBLINGS, Route};

/// The most servers of a station that looks at all of them: when somebody comes who may interrupt, or when it breaks down.
const MOST_ROWS: u32 = 32;

/// The most lines that the shortest is chosen of.
const MOST_LINES: usize = 64;

/// The most probabilities of balking.
const MOST_BALKING: usize = 256;

/// Customers of a class that are at a node at the beginning, at the most: its LP schedules an event for each at once.
const MOST_POPULATION: u32 = 4096;

/// Customers that come at once, at the most.
const MOST_BATCH: u32 = 256;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Source {
        interarrival: Distribution,
        class: usize,
        batch: u32,
    },
    /// Of a delay, `servers` is none.
    Station {
        servers: Option<u32>,
        capacity: Option<u32>,
        discipline: Discipline,
    },
    Router,
    Fork,
    Sink,
}

/// How one of several ways is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Choice {
    #[default]
    Chance,
    InTurn,
    Shortest,
}

/// A node of a network that was looked through.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) choice: Choice,
    /// By class.
    pub(super) pairs: Vec<Pair>,
    /// Whether who finds it full waits where he is.
    pub(super) blocks: bool,
    /// The probabilities to leave at once, by the number found.
    pub(super) balking: Vec<f64>,
    /// How long each piece lasts, and how many servers there are in it; of a source, the share of its rate.
    pub(super) calendar: Vec<(f64, f64)>,
    /// The times between breakdowns, and of repairs.
    pub(super) breakdown: Option<(Distribution, Distribution)>,
}

impl Node {
    fn new(name: &str, kind: Kind, route: Option<&Route>, pairs: Vec<Pair>) -> Self {
        let choice = match route {
            Some(Route::InTurn { .. }) => Choice::InTurn,
            Some(Route::Shortest { .. }) => Choice::Shortest,
            _ => Choice::Chance,
        };
        let name = name.to_owned();
        let (blocks, balking, calendar, breakdown) = (false, Vec::new(), Vec::new(), None);
        Self { name, kind, choice, pairs, blocks, balking, calendar, breakdown }
    }

    /// Whether it is as formulas have it.
    pub(super) fn plain(&self) -> bool {
        !self.blocks && self.balking.is_empty() && self.calendar.is_empty() && self.breakdown.is_none()
    }

    /// The average of its calendar.
    pub(super) fn average(&self) -> f64 {
        let all: f64 = self.calendar.iter().map(|piece| piece.0).sum();
        self.calendar.iter().map(|(lasts, value)| lasts / all * value).sum()
    }

    pub(super) fn most_ways(&self) -> usize {
        self.pairs.iter().map(|pair| pair.ways.len()).max().unwrap_or(0)
    }

    /// Whether whoever comes of a class goes on from here, and nobody is lost.
    pub(super) fn keeps(&self, class: usize) -> bool {
        let loses = matches!(self.kind, Kind::Station { capacity: Some(_), .. }) && !self.blocks;
        !loses && self.pairs[class].patience.is_none() && !self.balks()
    }

    pub(super) fn balks(&self) -> bool {
        self.balking.iter().any(|&leaves| leaves > 0.0)
    }

    /// Whether customers of several classes are sent on in turn, one after the other whatever their class, or to the shortest line. What comes of each class then depends on
    /// the order in which they come, and the traffic equations, which share each class out evenly, do not say it.
    pub(super) fn mixes(&self) -> bool {
        let mut coming = self.pairs.iter().filter(|pair| pair.comes && pair.ways.len() > 1);
        match self.choice {
            Choice::Chance => false,
            Choice::InTurn => coming.next().is_some() && coming.next().is_some(),
            Choice::Shortest => coming.next().is_some(),
        }
    }

    /// The servers that there are on average.
    pub(super) fn there(&self, servers: u32) -> f64 {
        let scheduled = if self.calendar.is_empty() { f64::from(servers) } else { self.average() };
        let works = self.breakdown.as_ref().map_or(1.0, |(up, down)| up.mean() / (up.mean() + down.mean()));
        scheduled * works
    }

    /// Whether any of its ways leads to a node that blocks.
    pub(super) fn holds(&self, nodes: &[Node]) -> bool {
        let ways = self.pairs.iter().filter(|pair| pair.comes).flat_map(|pair| &pair.ways);
        ways.into_iter().any(|way| nodes[way.node].blocks)
    }
}

/// A class of customers at a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Pair {
    pub(super) service: Option<Distribution>,
    pub(super) patience: Option<Distribution>,
    pub(super) population: u32,
    pub(super) ways: Vec<Way>,
    /// Of a fork: where siblings go, one along each.
    pub(super) siblings: Vec<Way>,
    /// Whether customers of the class come here at all, and whether any of them came from a source.
    pub(super) comes: bool,
    pub(super) from_outside: bool,
    /// How many come from sources in a unit of time, if nobody is lost; NaN where it is not known.
    pub(super) rate: f64,
}

impl Pair {
    /// The ways of customers, and of siblings.
    pub(super) fn all_ways(&self) -> impl Iterator<Item = &Way> {
        self.ways.iter().chain(&self.siblings)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Way {
    pub(super) probability: f64,
    pub(super) node: usize,
    pub(super) class: usize,
    /// The time that it takes.
    pub(super) travel: Option<Distribution>,
}

impl Way {
    /// The mean of that time.
    pub(super) fn mean_travel(&self) -> f64 {
        self.travel.map_or(0.0, |travel| travel.mean())
    }
}

/// The nodes of a network, in the order of their LPs.
pub(super) fn check(network: &Network, allow_unstable: bool) -> Result<Vec<Node>, FacilityError> {
    let classes = &network.classes;
    let refused = |remedy: String| FacilityError::Classes { classes: classes.join(", "), remedy };
    if classes.is_empty() || classes.len() > MAX_CLASSES {
        return Err(refused(format!("1 to {MAX_CLASSES} can be simulated")));
    }
    if (1..classes.len()).any(|number| classes[..number].contains(&classes[number])) {
        return Err(refused("give each another name".to_owned()));
    }
    if network.stations.is_empty() && network.delays.is_empty() {
        return Err(FacilityError::Empty);
    }
    if let Some(name) = network.repeated() {
        return Err(FacilityError::Repeated { name: name.to_owned() });
    }
    let mut nodes = Names::new(network).nodes(network)?;
    let outside = arrive(&mut nodes, classes)?;
    leave(&nodes, &outside, classes)?;
    together(&nodes)?;
    match traffic(&mut nodes, &outside) {
        Err(_) if allow_unstable => {}
        result => result?,
    }
    if !allow_unstable {
        stable(&nodes, &outside)?;
    }
    Ok(nodes)
}

/// Numbers of names.
struct Names<'n> {
    classes: &'n [String],
    nodes: HashMap<&'n str, usize>,
    sources: usize,
    /// With the time of ways that do not say their own.
    network: &'n Network,
}

impl<'n> Names<'n> {
    fn new(network: &'n Network) -> Self {
        let nodes = network.names().enumerate().map(|(number, name)| (name, number)).collect();
        Self { classes: &network.classes, nodes, sources: network.sources.len(), network }
    }

    fn class(&self, node: &str, class: &str) -> Result<usize, FacilityError> {
        self.classes.iter().position(|known| known == class).ok_or_else(|| FacilityError::UnknownClass {
            node: node.to_owned(),
            class: class.to_owned(),
            known: self.classes.join(", "),
        })
    }

    fn node(&self, from: &str, to: &str) -> Result<usize, FacilityError> {
        let refused =
            |problem: String| FacilityError::Link { node: from.to_owned(), to: to.to_owned(), problem };
        match self.nodes.get(to) {
            None => Err(refused("and no node has this name; add it, or correct the name".to_owned())),
            Some(&number) if number < self.sources => {
                Err(refused("which is a source: nobody can come there".to_owned()))
            }
            Some(&number) => Ok(number),
        }
    }

    /// The time of a way that does not say its own: none to a station that blocks.
    fn travel_to(&self, to: &str) -> Option<Distribution> {
        let blocks =
            self.network.stations.get(to).is_some_and(|station| station.when_full == WhenFull::Block);
        self.network.travel.filter(|_| !blocks)
    }

    /// What is said of each class: all of them, but for those that are named.
    fn by_class<T: Copy>(
        &self,
        node: &str,
        all: Option<T>,
        named: &indexmap::IndexMap<String, T>,
    ) -> Result<Vec<Option<T>>, FacilityError> {
        let mut by_class = vec![all; self.classes.len()];
        for (class, value) in named {
            by_class[self.class(node, class)?] = Some(*value);
        }
        Ok(by_class)
    }

    /// The ways of each class.
    fn ways(&self, node: &str, route: &Route) -> Result<Vec<Vec<Way>>, FacilityError> {
        let links = match route {
            Route::Links(links) => links,
            Route::InTurn { in_turn: nodes } | Route::Shortest { shortest: nodes } => {
                if matches!(route, Route::Shortest { .. }) {
                    let twice = (1..nodes.len()).find(|&place| nodes[..place].contains(&nodes[place]));
                    if let Some(place) = twice {
                        let remedy = "name each node once".to_owned();
                        return Err(setting(node, "the list of lines", &nodes[place], remedy));
                    }
                    if nodes.len() > MOST_LINES {
                        let remedy = format!("at most {MOST_LINES} lines can be compared");
                        return Err(setting(node, "the number of lines", nodes.len(), remedy));
                    }
                }
                #[expect(clippy::cast_precision_loss, reason = "a probability")]
                let share = 1.0 / nodes.len() as f64;
                let ways = nodes.iter().map(|to| {
                    let travel = self.travel_to(to);
                    Ok(Way { probability: share, node: self.node(node, to)?, class: 0, travel })
                });
                let ways = ways.collect::<Result<Vec<_>, FacilityError>>()?;
                let of = |class| ways.iter().map(|way| Way { class, ..*way }).collect();
                return Ok((0..self.classes.len()).map(of).collect());
            }
        };
        let of = |(number, links): (usize, Vec<&Link>)| {
            let given: Vec<f64> = links.iter().filter_map(|link| link.probability).collect();
            let sum: f64 = given.iter().sum();
            let rests = links.len() - given.len();
            let wrong = given.iter().any(|share| !(0.0..=1.0).contains(share));
            let full = (sum - 1.0).abs() < 1e-9;
            if !links.is_empty() && (wrong || rests > 1 || if rests == 1 { sum >= 1.0 } else { !full }) {
                let class = self.classes[number].clone();
                return Err(FacilityError::Probabilities { node: node.to_owned(), class, sum });
            }
            let way = |link: &&Link| self.way(node, link, number, link.probability.unwrap_or(1.0 - sum));
            let ways = links.iter().map(way).collect::<Result<Vec<_>, FacilityError>>()?;
            Ok(ways.into_iter().filter(|way| way.probability > 0.0).collect())
        };
        self.links_of(node, links)?.into_iter().enumerate().map(of).collect()
    }

    /// The links of each class: those that name it, or those that name none.
    fn links_of<'l>(&self, node: &str, links: &'l [Link]) -> Result<Vec<Vec<&'l Link>>, FacilityError> {
        for class in links.iter().flat_map(|link| link.class.iter().chain(&link.becomes)) {
            self.class(node, class)?;
        }
        let of = |name: &String| {
            let own: Vec<&Link> = links.iter().filter(|link| link.class.as_ref() == Some(name)).collect();
            let all = links.iter().filter(|link| link.class.is_none());
            if own.is_empty() { all.collect() } else { own }
        };
        Ok(self.classes.iter().map(of).collect())
    }

    fn way(&self, from: &str, link: &Link, class: usize, probability: f64) -> Result<Way, FacilityError> {
        Ok(Way {
            probability,
            node: self.node(from, &link.node)?,
            class: link.becomes.as_ref().map_or(Ok(class), |class| self.class(from, class))?,
            travel: link.travel.or(self.travel_to(&link.node)),
        })
    }

    /// Where the siblings of each class go.
    fn siblings(&self, node: &str, links: &[Link]) -> Result<Vec<Vec<Way>>, FacilityError> {
        if let Some(probability) = links.iter().find_map(|link| link.probability) {
            let remedy = "leave it out: a sibling goes along each".to_owned();
            return Err(setting(node, "the probability of a sibling", probability, remedy));
        }
        let of = |(class, links): (usize, Vec<&Link>)| {
            if links.len() > MAX_SIBLINGS {
                let remedy = format!("a customer may be parted into {MAX_SIBLINGS} at the most");
                return Err(setting(node, "the number of siblings", links.len(), remedy));
            }
            links.into_iter().map(|link| self.way(node, link, class, 1.0)).collect()
        };
        self.links_of(node, links)?.into_iter().enumerate().map(of).collect()
    }

    fn nodes(&self, network: &Network) -> Result<Vec<Node>, FacilityError> {
        let mut nodes = Vec::new();
        for (name, source) in &network.sources {
            let class = source.class.as_ref().map_or(Ok(0), |class| self.class(name, class))?;
            if !(1..=MOST_BATCH).contains(&source.batch) {
                return Err(setting(name, "the batch", source.batch, format!("choose 1 to {MOST_BATCH}")));
            }
            let kind = Kind::Source { interarrival: source.interarrival, class, batch: source.batch };
            let ways = self.ways(name, &source.to)?.into_iter().enumerate();
            // Of a source, only its own class has ways.
            let ways = ways.map(|(number, ways)| if number == class { ways } else { Vec::new() });
            let pairs = ways.map(|ways| Pair { ways, ..Pair::default() }).collect();
            let mut node = Node::new(name, kind, Some(&source.to), pairs);
            for piece in &source.rates {
                if !(0.0..=1.0).contains(&piece.factor) {
                    let remedy = "choose 0 to 1; `interarrival` is that of the highest rate".to_owned();
                    return Err(setting(name, "the factor of a rate", piece.factor, remedy));
                }
                node.calendar.push((piece.lasts, piece.factor));
            }
            if !node.calendar.is_empty() {
                if !matches!(source.interarrival, Distribution::Exponential(_)) {
                    let reason = "customers are left out of a Poisson process until the rate is right, and of no \
                                  other process is that known to be right; make the time between arrivals exponential";
                    return Err(unsupported(name, "a rate that changes", reason));
                }
                if node.average() == 0.0 {
                    let remedy = "let somebody come in one of the pieces".to_owned();
                    return Err(setting(name, "the factor of all its rates", 0, remedy));
                }
            }
            nodes.push(node);
        }
        for (name, station) in &network.stations {
            let scheduled = station.schedule.iter().map(|piece| piece.servers).max();
            let servers = scheduled.unwrap_or(station.servers);
            if servers == 0 {
                let remedy = "choose at least 1, or make it a delay if it has one for everybody".to_owned();
                return Err(setting(name, "the number of servers", 0, remedy));
            }
            if scheduled.is_some() && station.servers != 1 {
                let remedy = "leave it out: the schedule says how many there are".to_owned();
                return Err(setting(name, "the number of servers", station.servers, remedy));
            }
            if let Some(capacity) = station.capacity
                && capacity < servers
            {
                let remedy = "count the customers in service, too: at least the number of servers".to_owned();
                return Err(setting(name, "the capacity", capacity, remedy));
            }
            let service = self.by_class(name, station.service, &station.service_of)?;
            let patience = self.by_class(name, station.patience, &station.patience_of)?;
            if let Some(wrong) = station.balking.iter().find(|leaves| !(0.0..=1.0).contains(*leaves)) {
                let remedy = "a probability is 0 to 1".to_owned();
                return Err(setting(name, "a probability of balking", wrong, remedy));
            }
            if station.balking.len() > MOST_BALKING {
                let remedy =
                    format!("at most {MOST_BALKING}, of which the last holds for all greater numbers");
                return Err(setting(
                    name,
                    "the number of probabilities of balking",
                    station.balking.len(),
                    remedy,
                ));
            }
            if station.when_full == WhenFull::Block && station.capacity.is_none() {
                return Err(setting(name, "`when_full`", "block", "give it a capacity".to_owned()));
            }
            let kind = Kind::Station {
                servers: Some(servers),
                capacity: station.capacity,
                discipline: station.discipline,
            };
            let pairs =
                self.pairs(name, &station.to, service, patience, station.population, &station.population_of)?;
            let population: u32 = pairs.iter().map(|pair| pair.population).sum();
            if let Some(capacity) = station.capacity
                && population > capacity
            {
                let remedy =
                    format!("it has room for {capacity}, and the others would be lost at the beginning");
                return Err(setting(name, "the population of all classes", population, remedy));
            }
            if population > 0 && !station.balking.is_empty() {
                let remedy = "some of them would leave at the beginning; let them begin at another node, or \
                              nobody balk";
                return Err(setting(
                    name,
                    "the population where customers balk",
                    population,
                    remedy.to_owned(),
                ));
            }
            let mut node = Node::new(name, kind, Some(&station.to), pairs);
            node.blocks = station.when_full == WhenFull::Block;
            node.balking.clone_from(&station.balking);
            node.calendar =
                station.schedule.iter().map(|piece| (piece.lasts, piece.servers.into())).collect();
            node.breakdown = station.breakdown.map(|breakdown| (breakdown.up, breakdown.down));
            nodes.push(node);
        }
        for (name, delay) in &network.delays {
            let time = self.by_class(name, delay.time, &delay.time_of)?;
            let kind = Kind::Station { servers: None, capacity: None, discipline: Discipline::Fifo };
            let none = vec![None; self.classes.len()];
            let pairs = self.pairs(name, &delay.to, time, none, delay.population, &delay.population_of)?;
            nodes.push(Node::new(name, kind, Some(&delay.to), pairs));
        }
        for (name, router) in &network.routers {
            let ways = self.ways(name, &router.to)?.into_iter();
            let pairs = ways.map(|ways| Pair { ways, ..Pair::default() }).collect();
            nodes.push(Node::new(name, Kind::Router, Some(&router.to), pairs));
        }
        for (name, fork) in &network.forks {
            let ways = self.ways(name, &fork.to)?.into_iter().zip(self.siblings(name, &fork.siblings)?);
            let pairs = ways.map(|(ways, siblings)| Pair { ways, siblings, ..Pair::default() }).collect();
            nodes.push(Node::new(name, Kind::Fork, Some(&fork.to), pairs));
        }
        for name in network.sinks.keys() {
            let pairs = vec![Pair::default(); self.classes.len()];
            nodes.push(Node::new(name, Kind::Sink, None, pairs));
        }
        Ok(nodes)
    }

    fn pairs(
        &self,
        name: &str,
        to: &Route,
        service: Vec<Option<Distribution>>,
        patience: Vec<Option<Distribution>>,
        population: u32,
        population_of: &indexmap::IndexMap<String, u32>,
    ) -> Result<Vec<Pair>, FacilityError> {
        let mut populations = self.by_class(name, None, population_of)?;
        populations[0] = populations[0].or(Some(population));
        if let Some(large) = populations.iter().flatten().find(|&&population| population > MOST_POPULATION) {
            let remedy =
                format!("at most {MOST_POPULATION} customers of a class begin at a node; spread them");
            return Err(setting(name, "the population", large, remedy));
        }
        let ways = self.ways(name, to)?;
        let parts = service.into_iter().zip(patience).zip(populations).zip(ways);
        let pair = |(((service, patience), population), ways): (((_, _), Option<u32>), _)| Pair {
            service,
            patience,
            population: population.unwrap_or(0),
            ways,
            ..Pair::default()
        };
        Ok(parts.map(pair).collect())
    }
}

fn setting(node: &str, what: &'static str, value: impl ToString, remedy: String) -> FacilityError {
    FacilityError::Setting { node: node.to_owned(), what, value: value.to_string(), remedy }
}

fn unsupported(node: &str, what: &'static str, reason: &'static str) -> FacilityError {
    FacilityError::Unsupported { node: node.to_owned(), what, reason }
}

/// What a node has that does not go together, or not with those that its ways lead to.
fn together(nodes: &[Node]) -> Result<(), FacilityError> {
    use Discipline::{Polling, Preemptive, Random, Sharing};
    for node in nodes {
        let refused = |what, reason| Err(unsupported(&node.name, what, reason));
        let holds = node.holds(nodes);
        if node.choice == Choice::Shortest {
            let ways = node.pairs.iter().flat_map(|pair| &pair.ways);
            for other in ways.map(|way| &nodes[way.node]) {
                if !matches!(other.kind, Kind::Station { .. }) {
                    return refused(
                        "a shortest line among nodes that have none",
                        "only stations and delays tell how many are there",
                    );
                }
                if other.blocks {
                    return refused(
                        "a shortest line among stations that block",
                        "those who wait elsewhere for room there are in no line",
                    );
                }
            }
        }
        if node
            .pairs
            .iter()
            .flat_map(Pair::all_ways)
            .any(|way| way.travel.is_some() && nodes[way.node].blocks)
        {
            return refused(
                "a time of travel to a station that blocks",
                "who is on his way has left his server, and cannot wait there for room; leave it out, and let the way lead to a delay before that station",
            );
        }
        let mut all = node.pairs.iter().flat_map(Pair::all_ways);
        if matches!(node.kind, Kind::Router | Kind::Fork) && all.any(|way| nodes[way.node].blocks) {
            return refused(
                "a router or fork before a station that blocks",
                "who is refused has no server to wait at; send him there from a station or a delay",
            );
        }
        let Kind::Station { servers, discipline, .. } = node.kind else { continue };
        let patient = node.pairs.iter().all(|pair| pair.patience.is_none());
        let rows = discipline == Preemptive || node.breakdown.is_some();
        if rows && servers.is_some_and(|servers| servers > MOST_ROWS) {
            return refused(
                "so many servers",
                "where services are interrupted all servers are looked at, and at most 32",
            );
        }
        if discipline == Polling && servers != Some(1) {
            return refused("polling by several servers", "each would go its own way; make it one server");
        }
        if discipline == Random && !patient {
            let reason =
                "a line in random order moves its customers, and does not find those again who leave it";
            return refused("patience in a random order", reason);
        }
        if discipline == Random && node.blocks {
            return refused(
                "blocking in a random order",
                "a line in random order leaves no room for those who wait elsewhere",
            );
        }
        if discipline == Sharing {
            if !patient {
                return refused(
                    "patience with shared servers",
                    "everybody is served at once, and nobody waits",
                );
            }
            if !node.calendar.is_empty() || node.breakdown.is_some() {
                return refused(
                    "a schedule or breakdowns of shared servers",
                    "the clock of their shares runs at one rate per number of customers",
                );
            }
            if node.blocks {
                return refused(
                    "blocking at shared servers",
                    "everybody is served at once; give it a capacity with loss",
                );
            }
            if servers.is_some_and(|servers| servers > 0xffff) {
                return refused("so many shared servers", "shares are fractions of 16 bits");
            }
        }
        if discipline == Preemptive && (node.breakdown.is_some() || !node.calendar.is_empty()) {
            return refused(
                "a schedule or breakdowns of a preemptive station",
                "a service that was interrupted twice would have to remember both",
            );
        }
        if holds && (rows || discipline == Sharing) {
            return refused(
                "a way to a station that blocks",
                "from preemptive, shared or breaking servers nobody can wait in service",
            );
        }
        if node.blocks && !node.balking.is_empty() {
            return refused(
                "balking at a station that blocks",
                "who waits elsewhere for room there has joined already",
            );
        }
    }
    // Routers take no time, nor does parting: a way round through nothing else would never end. (Who has been joined took the time that his siblings took.)
    let instant = |node: &usize| matches!(nodes[*node].kind, Kind::Router | Kind::Fork);
    let mut left: Vec<usize> = (0..nodes.len()).filter(instant).collect();
    // As often as one is taken away that leads to no other.
    while let Some(place) = left.iter().position(|&node| {
        let fork = nodes[node].kind == Kind::Fork;
        let ways = nodes[node].pairs.iter().flat_map(|pair| if fork { &pair.siblings } else { &pair.ways });
        ways.into_iter().all(|way| way.travel.is_some() || !left.contains(&way.node))
    }) {
        left.remove(place);
    }
    match left.first() {
        None => Ok(()),
        Some(&node) => Err(unsupported(
            &nodes[node].name,
            "a way round through routers and forks only",
            "it takes no time, and would never end; let one of its ways take some",
        )),
    }
}
