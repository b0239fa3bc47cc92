//! Looks a description through: names, ways, who comes where, and whether its stations can serve all who come.

use std::collections::HashMap;

use super::network::{Link, Network, Route};
use super::{Discipline, Distribution, FacilityError, MAX_CLASSES};

/// Pairs of node and class up to which traffic equations are solved: by elimination, which takes their third power.
const MOST_PAIRS: usize = 1500;

/// The most servers of a preemptive station, which looks at all of them when somebody comes.
const MOST_PREEMPTIVE: u32 = 32;

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
    Sink,
}

/// A node of a network that was looked through.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) in_turn: bool,
    /// By class.
    pub(super) pairs: Vec<Pair>,
}

/// A class of customers at a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Pair {
    pub(super) service: Option<Distribution>,
    pub(super) patience: Option<Distribution>,
    pub(super) population: u32,
    pub(super) ways: Vec<Way>,
    /// Whether customers of the class come here at all, and whether any of them came from a source.
    pub(super) comes: bool,
    pub(super) from_outside: bool,
    /// How many come from sources in a unit of time, if nobody is lost; NaN where it is not known.
    pub(super) rate: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Way {
    pub(super) probability: f64,
    pub(super) node: usize,
    pub(super) class: usize,
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
    arrive(&mut nodes, classes)?;
    leave(&nodes, classes)?;
    match traffic(&mut nodes) {
        Err(_) if allow_unstable => {}
        result => result?,
    }
    if !allow_unstable {
        stable(&nodes)?;
    }
    Ok(nodes)
}

/// Numbers of names.
struct Names<'n> {
    classes: &'n [String],
    nodes: HashMap<&'n str, usize>,
    sources: usize,
}

impl<'n> Names<'n> {
    fn new(network: &'n Network) -> Self {
        let nodes = network.names().enumerate().map(|(number, name)| (name, number)).collect();
        Self { classes: &network.classes, nodes, sources: network.sources.len() }
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
            Route::InTurn { in_turn } => {
                #[expect(clippy::cast_precision_loss, reason = "a probability")]
                let share = 1.0 / in_turn.len() as f64;
                let nodes = in_turn.iter().map(|to| self.node(node, to)).collect::<Result<Vec<_>, _>>()?;
                let of =
                    |class| nodes.iter().map(move |&node| Way { probability: share, node, class }).collect();
                return Ok((0..self.classes.len()).map(of).collect());
            }
        };
        for class in links.iter().flat_map(|link| link.class.iter().chain(&link.becomes)) {
            self.class(node, class)?;
        }
        let of = |number: usize| {
            let name = &self.classes[number];
            let own: Vec<&Link> = links.iter().filter(|link| link.class.as_ref() == Some(name)).collect();
            let all = links.iter().filter(|link| link.class.is_none());
            let links: Vec<&Link> = if own.is_empty() { all.collect() } else { own };
            let given: Vec<f64> = links.iter().filter_map(|link| link.probability).collect();
            let sum: f64 = given.iter().sum();
            let rests = links.len() - given.len();
            let wrong = given.iter().any(|share| !(0.0..=1.0).contains(share));
            let full = (sum - 1.0).abs() < 1e-9;
            if !links.is_empty() && (wrong || rests > 1 || if rests == 1 { sum >= 1.0 } else { !full }) {
                let class = name.clone();
                return Err(FacilityError::Probabilities { node: node.to_owned(), class, sum });
            }
            let way = |link: &&Link| {
                Ok(Way {
                    probability: link.probability.unwrap_or(1.0 - sum),
                    node: self.node(node, &link.node)?,
                    class: link.becomes.as_ref().map_or(Ok(number), |class| self.class(node, class))?,
                })
            };
            let ways = links.iter().map(way).collect::<Result<Vec<_>, FacilityError>>()?;
            Ok(ways.into_iter().filter(|way| way.probability > 0.0).collect())
        };
        (0..self.classes.len()).map(of).collect()
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
            nodes.push(Node { name: name.clone(), kind, in_turn: in_turn(&source.to), pairs });
        }
        for (name, station) in &network.stations {
            if station.servers == 0 {
                let remedy = "choose at least 1, or make it a delay if it has one for everybody".to_owned();
                return Err(setting(name, "the number of servers", 0, remedy));
            }
            if let Some(capacity) = station.capacity
                && capacity < station.servers
            {
                let remedy = "count the customers in service, too: at least the number of servers".to_owned();
                return Err(setting(name, "the capacity", capacity, remedy));
            }
            let service = self.by_class(name, station.service, &station.service_of)?;
            let patience = self.by_class(name, station.patience, &station.patience_of)?;
            let preemptive = station.discipline == Discipline::Preemptive;
            if preemptive && station.servers > MOST_PREEMPTIVE {
                let reason =
                    "of a preemptive station all servers are looked at for each arrival, and at most 32";
                return Err(FacilityError::Unsupported {
                    node: name.clone(),
                    what: "so many servers",
                    reason,
                });
            }
            if station.discipline == Discipline::Random && patience.iter().any(Option::is_some) {
                let reason =
                    "a line in random order moves its customers, and does not find those again who leave it";
                return Err(FacilityError::Unsupported {
                    node: name.clone(),
                    what: "patience in a random order",
                    reason,
                });
            }
            let kind = Kind::Station {
                servers: Some(station.servers),
                capacity: station.capacity,
                discipline: station.discipline,
            };
            let pairs =
                self.pairs(name, &station.to, service, patience, station.population, &station.population_of)?;
            nodes.push(Node { name: name.clone(), kind, in_turn: in_turn(&station.to), pairs });
        }
        for (name, delay) in &network.delays {
            let time = self.by_class(name, delay.time, &delay.time_of)?;
            let kind = Kind::Station { servers: None, capacity: None, discipline: Discipline::Fifo };
            let none = vec![None; self.classes.len()];
            let pairs = self.pairs(name, &delay.to, time, none, delay.population, &delay.population_of)?;
            nodes.push(Node { name: name.clone(), kind, in_turn: in_turn(&delay.to), pairs });
        }
        for name in network.sinks.keys() {
            let pairs = vec![Pair::default(); self.classes.len()];
            nodes.push(Node { name: name.clone(), kind: Kind::Sink, in_turn: false, pairs });
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

fn in_turn(route: &Route) -> bool {
    matches!(route, Route::InTurn { .. })
}

fn setting(node: &str, what: &'static str, value: impl ToString, remedy: String) -> FacilityError {
    FacilityError::Setting { node: node.to_owned(), what, value: value.to_string(), remedy }
}

/// Finds who comes where, and that everybody who comes is served and has a way on.
fn arrive(nodes: &mut [Node], classes: &[String]) -> Result<(), FacilityError> {
    for outside in [true, false] {
        let mut next = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            match node.kind {
                Kind::Source { class, .. } => {
                    if outside {
                        next.push((number, class));
                    }
                }
                _ => {
                    let here =
                        (0..classes.len()).filter(|&class| !outside && node.pairs[class].population > 0);
                    next.extend(here.map(|class| (number, class)));
                }
            }
        }
        while let Some((number, class)) = next.pop() {
            let pair = &mut nodes[number].pairs[class];
            let known = if outside { &mut pair.from_outside } else { &mut pair.comes };
            if std::mem::replace(known, true) {
                continue;
            }
            next.extend(pair.ways.iter().map(|way| (way.node, way.class)));
        }
    }
    for node in nodes.iter_mut() {
        node.pairs.iter_mut().for_each(|pair| pair.comes |= pair.from_outside);
    }
    for node in nodes.iter() {
        let name = node.name.clone();
        if !node.pairs.iter().any(|pair| pair.comes) {
            return Err(FacilityError::Unreachable { node: name });
        }
        for (class, pair) in classes.iter().zip(&node.pairs).filter(|(_, pair)| pair.comes) {
            if node.kind == Kind::Sink {
                continue;
            }
            if let Kind::Station { servers, .. } = node.kind
                && pair.service.is_none()
            {
                let what = if servers.is_some() { "service" } else { "time" };
                return Err(FacilityError::NoTime { node: name, class: class.clone(), what });
            }
            if pair.ways.is_empty() {
                return Err(FacilityError::NoWay { node: name, class: class.clone() });
            }
        }
    }
    for (number, class) in classes.iter().enumerate() {
        if !nodes.iter().any(|node| node.pairs[number].comes) {
            return Err(FacilityError::NoCustomers { class: class.clone() });
        }
    }
    Ok(())
}

/// That whoever comes from outside can leave. (Those whose patience ends leave, too.)
fn leave(nodes: &[Node], classes: &[String]) -> Result<(), FacilityError> {
    let out = |node: &Node, pair: &Pair| node.kind == Kind::Sink || pair.patience.is_some();
    let mut leaves: Vec<Vec<bool>> =
        nodes.iter().map(|node| node.pairs.iter().map(|pair| out(node, pair)).collect()).collect();
    // As often as somebody is found, at most once for each pair.
    loop {
        let mut found = false;
        for (number, node) in nodes.iter().enumerate() {
            for (class, pair) in node.pairs.iter().enumerate() {
                if !leaves[number][class] && pair.ways.iter().any(|way| leaves[way.node][way.class]) {
                    leaves[number][class] = true;
                    found = true;
                }
            }
        }
        if !found {
            break;
        }
    }
    for (node, leaves) in nodes.iter().zip(&leaves) {
        for ((class, pair), leaves) in classes.iter().zip(&node.pairs).zip(leaves) {
            if pair.from_outside && !leaves {
                return Err(FacilityError::NoWayOut { node: node.name.clone(), class: class.clone() });
            }
        }
    }
    Ok(())
}

/// Solves the traffic equations of those who come from outside: the rate of a pair is that of the sources, and of each pair before it, times the
/// probability of the way.
fn traffic(nodes: &mut [Node]) -> Result<(), FacilityError> {
    let mut places = HashMap::new();
    let mut pairs = Vec::new();
    for (number, node) in nodes.iter_mut().enumerate() {
        for (class, pair) in node.pairs.iter_mut().enumerate() {
            if pair.from_outside {
                places.insert((number, class), pairs.len());
                pairs.push((number, class));
                pair.rate = f64::NAN;
            }
        }
    }
    let size = pairs.len();
    if size > MOST_PAIRS {
        return Err(FacilityError::Unchecked { pairs: size, most: MOST_PAIRS });
    }
    // Rows of (1 - the transposed matrix of ways), and in the last column what sources send.
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (place, &(number, class)) in pairs.iter().enumerate() {
        let node = &nodes[number];
        rows[place][place] += 1.0;
        if let Kind::Source { interarrival, batch, .. } = node.kind {
            rows[place][size] = f64::from(batch) / interarrival.mean();
        }
        for way in &node.pairs[class].ways {
            rows[places[&(way.node, way.class)]][place] -= way.probability;
        }
    }
    let rates = eliminate(rows);
    for (&(number, class), rate) in pairs.iter().zip(rates) {
        nodes[number].pairs[class].rate = rate;
    }
    Ok(())
}

/// Gaussian elimination with pivots by column: the solution of rows of coefficients with the right side in the last column.
pub(super) fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let size = rows.len();
    for column in 0..size {
        let largest = |a: &usize, b: &usize| rows[*a][column].abs().total_cmp(&rows[*b][column].abs());
        let pivot = (column..size).max_by(largest).unwrap_or(column);
        rows.swap(column, pivot);
        let (above, below) = rows.split_at_mut(column + 1);
        let top = &above[column];
        for row in below {
            let factor = row[column] / top[column];
            if factor != 0.0 {
                for (value, above) in row[column..].iter_mut().zip(&top[column..]) {
                    *value -= factor * above;
                }
            }
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|column| rows[row][column] * solution[column]).sum();
        solution[row] = (rows[row][size] - known) / rows[row][row];
    }
    solution
}

/// The work that comes to a station from outside, in servers.
pub(super) fn work(node: &Node) -> f64 {
    let of = |pair: &Pair| pair.rate * pair.service.map_or(0.0, |service| service.mean());
    node.pairs.iter().filter(|pair| pair.from_outside).map(of).sum()
}

/// Whether customers of several classes are sent on in turn, one after the other whatever their class. What comes of each class then depends on the order in which they
/// come, and the traffic equations, which share each class out evenly, do not say it.
pub(super) fn mixes(nodes: &[Node]) -> bool {
    let mixes = |node: &Node| {
        let mut coming = node.pairs.iter().filter(|pair| pair.comes && pair.ways.len() > 1);
        node.in_turn && coming.next().is_some() && coming.next().is_some()
    };
    nodes.iter().any(mixes)
}

fn stable(nodes: &[Node]) -> Result<(), FacilityError> {
    if mixes(nodes) {
        return Ok(());
    }
    for node in nodes {
        let Kind::Station { servers: Some(servers), capacity: None, .. } = node.kind else { continue };
        // Who leaves the line when his patience ends does not make it grow without end.
        if node.pairs.iter().filter(|pair| pair.from_outside).all(|pair| pair.patience.is_some()) {
            continue;
        }
        let load = work(node) / f64::from(servers);
        if load >= 1.0 {
            return Err(FacilityError::Unstable { node: node.name.clone(), load });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::eliminate;

    #[test]
    fn equations_are_solved() {
        let rows = vec![vec![0.0, 2.0, 1.0, 7.0], vec![1.0, -1.0, 0.5, 0.5], vec![3.0, 1.0, -1.0, 2.0]];
        let found = eliminate(rows.clone());
        for row in rows {
            let left: f64 = row[..3].iter().zip(&found).map(|(a, b)| a * b).sum();
            assert!((left - row[3]).abs() < 1e-12, "{found:?}");
        }
    }
}
