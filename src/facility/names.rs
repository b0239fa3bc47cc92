//! Resolves a description into nodes: names become numbers, and each number is checked.

use std::collections::HashMap;

use super::beyond::{Batches, Beyond, ShiftEnd, Skilled};
use super::network::{Network, Station, WhenFull};
use super::nodes::{Kind, Node, Pair, ResolvedRoute};
use super::source::of_mean;
use super::{Discipline, Distribution, FacilityError, Link, MAX_FORK_TASKS, Route};

/// Most lines to choose the shortest from.
const MOST_LINES: usize = 64;

/// Most lines of which more than two are compared.
const MOST_DRAWN: usize = 30;

/// The most speeds of a station.
const MOST_SPEEDS: usize = 64;

/// The most customers that a server serves at once, and that one becomes.
const MOST_TOGETHER: u32 = 4096;

/// The most probabilities of balking.
const MOST_BALKING: usize = 256;

/// Why there are no other numbers of parts.
const MOST_PARTS: &str = "choose at least 1 of each class, and at most 4,096 of all";

/// Most initial customers of a class at a node: its LP schedules an event for each at once.
const MOST_POPULATION: u32 = 4096;

/// Most customers in a batch.
const MOST_BATCH: u32 = 256;

/// Resolves names to numbers.
pub(super) struct Names<'n> {
    classes: &'n [String],
    nodes: HashMap<&'n str, usize>,
    sources: usize,
    /// With the default travel time.
    network: &'n Network,
}

impl<'n> Names<'n> {
    pub(super) fn new(network: &'n Network) -> Self {
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
            None => Err(refused(match crate::text::closest(to, self.nodes.keys().copied()) {
                Some(meant) => format!("and no node has this name; did you mean `{meant}`?"),
                None => "and no node has this name; add it, or correct the name".to_owned(),
            })),
            Some(&number) if number < self.sources => {
                Err(refused("which is a source; customers cannot go there".to_owned()))
            }
            Some(&number) => Ok(number),
        }
    }

    /// The travel time of a route without its own: none to a station that blocks.
    fn travel_to(&self, to: &str) -> Option<Distribution> {
        let blocks =
            self.network.stations.get(to).is_some_and(|station| station.when_full == WhenFull::Block);
        self.network.travel.filter(|_| !blocks)
    }

    /// A setting by class: `all`, except for classes in `named`.
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

    /// The routes of each class.
    fn routes(&self, node: &str, route: &Route) -> Result<Vec<Vec<ResolvedRoute>>, FacilityError> {
        let links = match route {
            Route::Links(links) => links,
            Route::ShortestOf { shortest, of }
                if *of < 2 || *of as usize > shortest.len() || *of > 2 && shortest.len() > MOST_DRAWN =>
            {
                let remedy = format!(
                    "choose 2 to {}, of at most {MOST_DRAWN} lines if above 2, or compare all without `of`",
                    shortest.len()
                );
                return Err(setting(node, "the number of lines that are compared (`of`)", of, remedy));
            }
            Route::InTurn { in_turn: nodes }
            | Route::Shortest { shortest: nodes }
            | Route::ShortestOf { shortest: nodes, .. }
            | Route::LeastWork { least_work: nodes } => {
                if !matches!(route, Route::InTurn { .. }) {
                    let twice = (1..nodes.len()).find(|&place| nodes[..place].contains(&nodes[place]));
                    if let Some(place) = twice {
                        let (twice, remedy) = (format!("`{}`", nodes[place]), "name each node once");
                        let what = "a line that the choice names twice";
                        return Err(setting(node, what, twice, remedy.to_owned()));
                    }
                    if nodes.len() > MOST_LINES {
                        let remedy = format!("at most {MOST_LINES} lines can be compared");
                        return Err(setting(node, "the number of lines", nodes.len(), remedy));
                    }
                }
                #[expect(clippy::cast_precision_loss, reason = "a probability")]
                let share = 1.0 / nodes.len() as f64;
                let routes = nodes.iter().map(|to| {
                    let travel = self.travel_to(to);
                    Ok(ResolvedRoute { probability: share, node: self.node(node, to)?, class: 0, travel })
                });
                let routes = routes.collect::<Result<Vec<_>, FacilityError>>()?;
                let of = |class| routes.iter().map(|route| ResolvedRoute { class, ..*route }).collect();
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
            let route = |link: &&Link| self.route(node, link, number, link.probability.unwrap_or(1.0 - sum));
            let routes = links.iter().map(route).collect::<Result<Vec<_>, FacilityError>>()?;
            Ok(routes.into_iter().filter(|route| route.probability > 0.0).collect())
        };
        self.links_of(node, links)?.into_iter().enumerate().map(of).collect()
    }

    /// The links of each class: those that name it, otherwise those that name none.
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

    fn route(
        &self,
        from: &str,
        link: &Link,
        class: usize,
        probability: f64,
    ) -> Result<ResolvedRoute, FacilityError> {
        Ok(ResolvedRoute {
            probability,
            node: self.node(from, &link.node)?,
            class: link.becomes.as_ref().map_or(Ok(class), |class| self.class(from, class))?,
            travel: link.travel.or(self.travel_to(&link.node)),
        })
    }

    /// The routes of the tasks of each class.
    fn tasks(&self, node: &str, links: &[Link]) -> Result<Vec<Vec<ResolvedRoute>>, FacilityError> {
        if let Some(probability) = links.iter().find_map(|link| link.probability) {
            let remedy = "remove it: a task takes each link".to_owned();
            return Err(setting(node, "the probability of a task", probability, remedy));
        }
        let of = |(class, links): (usize, Vec<&Link>)| {
            if links.len() > MAX_FORK_TASKS {
                let remedy = format!("a customer may have at most {MAX_FORK_TASKS} tasks");
                return Err(setting(node, "the number of tasks", links.len(), remedy));
            }
            links.into_iter().map(|link| self.route(node, link, class, 1.0)).collect()
        };
        self.links_of(node, links)?.into_iter().enumerate().map(of).collect()
    }

    /// The nodes, in the order of their LPs.
    ///
    /// # Errors
    /// Unknown names, and invalid numbers.
    pub(super) fn nodes(&self, network: &Network) -> Result<Vec<Node>, FacilityError> {
        let mut nodes = Vec::new();
        for (name, source) in &network.sources {
            let class = source.class.as_ref().map_or(Ok(0), |class| self.class(name, class))?;
            if !(1..=MOST_BATCH).contains(&source.batch) {
                return Err(setting(name, "the batch", source.batch, format!("choose 1 to {MOST_BATCH}")));
            }
            // A list with classes has arrivals of several sources.
            let own = source.times.as_ref().map(|times| of_mean(times.mean(Some(&self.classes[class]))));
            let interarrival = own.unwrap_or(source.interarrival);
            let kind = Kind::Source { interarrival, class, batch: source.batch };
            let routes = self.routes(name, &source.to)?.into_iter().enumerate();
            // Only the source's own class has routes.
            let routes = routes.map(|(number, routes)| if number == class { routes } else { Vec::new() });
            let pairs = routes.map(|routes| Pair { routes, ..Pair::default() }).collect();
            let mut node = Node::new(name, kind, Some(&source.to), pairs);
            for piece in &source.rates {
                if !(0.0..=1.0).contains(&piece.factor) {
                    let remedy = "choose 0 to 1; `interarrival` belongs to the highest rate".to_owned();
                    return Err(setting(name, "the factor of a rate", piece.factor, remedy));
                }
                node.calendar.push((piece.lasts, piece.factor));
            }
            if source.times.is_some() {
                // Its rate is not steady.
                node.calendar.push((1.0, 1.0));
            }
            if !node.calendar.is_empty() {
                // The lengths of pieces are checked later.
                if node.calendar.iter().all(|&(_, factor)| factor == 0.0) {
                    let remedy = "choose a positive factor for one piece".to_owned();
                    return Err(setting(name, "the factor of all its rates", 0, remedy));
                }
            }
            nodes.push(node);
        }
        for (name, station) in &network.stations {
            let scheduled = station.schedule.iter().map(|piece| piece.servers).max();
            let grouped = station.groups.values().map(|group| group.servers).reduce(u32::saturating_add);
            let servers = scheduled.or(grouped).unwrap_or(station.servers);
            if servers == 0 {
                let remedy = "choose at least 1, or use a delay if no customer waits".to_owned();
                return Err(setting(name, "the number of servers", 0, remedy));
            }
            if scheduled.is_some() && station.servers != 1 {
                let remedy = "remove it: the schedule sets the number of servers".to_owned();
                return Err(setting(name, "the number of servers", station.servers, remedy));
            }
            let batch = self.batches(name, station)?;
            let parts = batch.as_ref().map_or(&[][..], |batch| &batch.parts);
            let rooms = self.rooms(name, station, parts)?;
            if let Some(capacity) = station.capacity
                && parts.is_empty()
                && capacity < servers
            {
                let remedy =
                    "it includes customers in service: choose at least the number of servers".to_owned();
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
                    format!("choose at most {MOST_BALKING}; the last applies to all greater numbers");
                return Err(setting(
                    name,
                    "the number of probabilities of balking",
                    station.balking.len(),
                    remedy,
                ));
            }
            let bounded = match parts.is_empty() {
                true => station.capacity.is_some(),
                false => parts.iter().all(|&(class, _)| rooms[class].is_some()),
            };
            if station.when_full == WhenFull::Block && !bounded {
                return Err(setting(name, "`when_full`", "block", "give it a capacity".to_owned()));
            }
            let kind = Kind::Station {
                servers: Some(servers),
                capacity: station.capacity.filter(|_| parts.is_empty()),
                discipline: station.discipline,
            };
            let pairs =
                self.pairs(name, &station.to, service, patience, station.population, &station.population_of)?;
            let population: u32 = pairs.iter().map(|pair| pair.population).sum();
            let wrong = |capacity: u32, what, population| {
                let remedy = format!("it has room for {capacity}, and others would be lost at the beginning");
                Err(setting(name, what, population, remedy))
            };
            match station.capacity {
                Some(capacity) if parts.is_empty() && population > capacity => {
                    return wrong(capacity, "the population of all classes", population);
                }
                _ => {}
            }
            for (pair, capacity) in pairs.iter().zip(&rooms).filter_map(|(pair, room)| Some((pair, (*room)?)))
            {
                if pair.population > capacity {
                    return wrong(capacity, "the population of a class", pair.population);
                }
            }
            if population > 0 && !station.balking.is_empty() {
                let remedy = "some of them would leave at the beginning; place them at another node, or \
                              remove `balking`";
                return Err(setting(
                    name,
                    "the initial population with balking",
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
            if let Some(route) = &station.reneged_to {
                let remedy = || "write a node, or links with probabilities".to_owned();
                match route {
                    Route::Links(links) if links.is_empty() => {
                        return Err(setting(name, "`reneged_to`", "an empty list", remedy()));
                    }
                    Route::Links(_) => {}
                    _ => return Err(setting(name, "`reneged_to`", "a choice among lines", remedy())),
                }
                for (pair, reneged) in node.pairs.iter_mut().zip(self.routes(name, route)?) {
                    pair.reneged = if pair.patience.is_some() { reneged } else { Vec::new() };
                }
            }
            node.beyond = beyond_of(self, name, station, node.beyond)?;
            node.beyond.batch = batch;
            if !node.beyond.parts().is_empty() {
                assembles(&mut node, &rooms);
            }
            if let (Kind::Station { servers, .. }, false) = (&mut node.kind, node.beyond.groups.is_empty()) {
                *servers = Some(node.beyond.groups.iter().map(|group| group.servers).sum());
            }
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
            let routes = self.routes(name, &router.to)?.into_iter();
            let pairs = routes.map(|routes| Pair { routes, ..Pair::default() }).collect();
            nodes.push(Node::new(name, Kind::Router, Some(&router.to), pairs));
        }
        for (name, fork) in &network.forks {
            let routes = self.routes(name, &fork.to)?.into_iter().zip(self.tasks(name, &fork.tasks)?);
            let pairs = routes.map(|(routes, tasks)| Pair { routes, tasks, ..Pair::default() }).collect();
            let mut node = Node::new(name, Kind::Fork, Some(&fork.to), pairs);
            // Classes without tasks do not come.
            let tasks = node.pairs.iter().map(|pair| pair.tasks.len());
            let fewest = tasks.filter(|tasks| *tasks > 0).min().unwrap_or(0);
            if let Some(quorum) = fork.quorum.filter(|quorum| !(1..=fewest).contains(&(*quorum as usize))) {
                let remedy = format!("choose 1 to {fewest}, the number of tasks");
                return Err(setting(name, "`quorum`", quorum, remedy));
            }
            node.beyond.quorum = fork.quorum.filter(|quorum| (*quorum as usize) < most(&node));
            nodes.push(node);
        }
        for name in network.sinks.keys() {
            let pairs = vec![Pair::default(); self.classes.len()];
            nodes.push(Node::new(name, Kind::Sink, None, pairs));
        }
        regions(network, &mut nodes)?;
        Ok(nodes)
    }

    /// The batches of a station.
    fn batches(&self, name: &str, station: &Station) -> Result<Option<Batches>, FacilityError> {
        let wrong = |value: String, remedy: &str| Err(setting(name, "the batch", value, remedy.to_owned()));
        let Some(batch) = &station.batch else { return Ok(None) };
        if batch.parts.is_empty() {
            let least = batch.least.unwrap_or(batch.most);
            if !(1..=batch.most).contains(&least) || !(2..=MOST_TOGETHER).contains(&batch.most) {
                let remedy = "choose `most` from 2 to 4,096, and `least` from 1 to `most`; or write `parts`";
                return wrong(format!("{least} to {}", batch.most), remedy);
            }
            if batch.becomes.is_some() {
                return wrong("`becomes` without parts".to_owned(), "write `parts`, or remove it");
            }
            if station.capacity.is_some_and(|capacity| capacity < least) {
                return wrong(format!("of at least {least}"), "give the station room for it");
            }
            let (joins, parts, product) = (batch.joins, Vec::new(), 0);
            return Ok(Some(Batches { least, most: batch.most, joins, parts, product }));
        }
        if batch.least.is_some() || batch.most > 0 {
            let remedy = "remove `least` and `most`: `parts` say how many of each class it takes";
            return wrong("`parts` with `least` or `most`".to_owned(), remedy);
        }
        let Some(becomes) = &batch.becomes else {
            return wrong("`parts` without `becomes`".to_owned(), "name the class of what is assembled");
        };
        let of = |(class, count): (&String, &u32)| match count {
            1..=MOST_TOGETHER => Ok((self.class(name, class)?, *count)),
            _ => Err(setting(
                name,
                "the parts of a batch",
                format!("{count} `{class}`"),
                MOST_PARTS.to_owned(),
            )),
        };
        let parts = batch.parts.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let product = self.class(name, becomes)?;
        let all: u32 = parts.iter().map(|part| part.1).sum();
        if all > MOST_TOGETHER {
            return Err(setting(name, "the parts of a batch", all, MOST_PARTS.to_owned()));
        }
        if let Some(class) = station.service_of.keys().find(|class| *class != becomes) {
            let remedy = format!("an assembly takes the time of what it makes: write `service_of.{becomes}`");
            return Err(setting(name, "the service of a part", format!("`{class}`"), remedy));
        }
        Ok(Some(Batches { least: all, most: all, joins: true, parts, product }))
    }

    /// The room of each class at an assembly.
    fn rooms(
        &self,
        name: &str,
        station: &Station,
        parts: &[(usize, u32)],
    ) -> Result<Vec<Option<u32>>, FacilityError> {
        if let (Some(class), true) = (station.capacity_of.keys().next(), parts.is_empty()) {
            let remedy = "write `capacity`: only at a station with `parts`, classes have room of their own";
            return Err(setting(name, "`capacity_of`", format!("`{class}`"), remedy.to_owned()));
        }
        let rooms =
            self.by_class(name, station.capacity.filter(|_| !parts.is_empty()), &station.capacity_of)?;
        for &(class, count) in parts {
            if let Some(room) = rooms[class].filter(|room| *room < count) {
                let remedy = format!("a batch takes {count}, so give them room for {count} or more");
                let value = format!("{room} for `{}`", self.classes[class]);
                return Err(setting(name, "the capacity", value, remedy));
            }
        }
        Ok(rooms)
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
        let routes = self.routes(name, to)?;
        let parts = service.into_iter().zip(patience).zip(populations).zip(routes);
        let pair = |(((service, patience), population), routes): (((_, _), Option<u32>), _)| Pair {
            service,
            patience,
            population: population.unwrap_or(0),
            routes,
            ..Pair::default()
        };
        Ok(parts.map(pair).collect())
    }
}

/// Gives the parts of an assembly the time and the routes of what it makes. Other classes have
/// them, too, so that what is refused is that they come.
fn assembles(node: &mut Node, rooms: &[Option<u32>]) {
    let product = node.beyond.batch.as_ref().map_or(0, |batch| batch.product);
    let made = node.pairs[product].clone();
    for (pair, &room) in node.pairs.iter_mut().zip(rooms) {
        (pair.service, pair.room) = (made.service, room);
        pair.routes.clone_from(&made.routes);
    }
}

/// The most tasks of a customer.
fn most(fork: &Node) -> usize {
    fork.pairs.iter().map(|pair| pair.tasks.len()).max().unwrap_or(0)
}

pub(super) fn setting(node: &str, what: &'static str, value: impl ToString, remedy: String) -> FacilityError {
    FacilityError::Setting { node: node.to_owned(), what, value: value.to_string(), remedy }
}

/// The settings of a station.
fn beyond_of(
    names: &Names<'_>,
    name: &str,
    station: &Station,
    route: Beyond,
) -> Result<Beyond, FacilityError> {
    let wrong = |what, value: String, remedy: &str| FacilityError::Setting {
        node: name.to_owned(),
        what,
        value,
        remedy: remedy.to_owned(),
    };
    let mut groups = Vec::new();
    for (group, of) in &station.groups {
        if of.servers == 0 || of.servers > 65_535 {
            let value = format!("{} in the group `{group}`", of.servers);
            return Err(wrong("the number of servers", value, "choose 1 to 65,535"));
        }
        if !(of.speed > 0.0 && of.speed.is_finite()) {
            let value = format!("{} in the group `{group}`", of.speed);
            return Err(wrong("the speed", value, "choose a number above 0"));
        }
        if of.serves.is_empty() {
            let value = format!("empty in the group `{group}`");
            return Err(wrong("the list of classes that it serves", value, "name the classes"));
        }
        let mut serves = vec![false; names.classes.len()];
        for class in &of.serves {
            serves[names.class(name, class)?] = true;
        }
        groups.push(Skilled { servers: of.servers, serves, speed: of.speed });
    }
    if let Some(aging) = station.aging.filter(|aging| !(*aging > 0.0 && aging.is_finite())) {
        return Err(wrong(
            "`aging`",
            aging.to_string(),
            "choose the wait that is worth one class: a time above 0",
        ));
    }
    if station.aging.is_some() && station.discipline != Discipline::Priority {
        let remedy = "choose the discipline `priority`, or remove it";
        return Err(wrong("`aging`", "given without priorities".to_owned(), remedy));
    }
    if station.shift == ShiftEnd::Preempt && station.schedule.is_empty() {
        return Err(wrong("`shift`", "preempt".to_owned(), "give it a schedule, or remove it"));
    }
    if !groups.is_empty() && (station.servers != 1 || !station.schedule.is_empty()) {
        let remedy = "remove `servers` and `schedule`: the groups have all servers";
        return Err(wrong("the number of servers", "given beside groups".to_owned(), remedy));
    }
    if station.reneged_to.is_some() && station.patience.is_none() && station.patience_of.is_empty() {
        let remedy = "give it a patience, or remove it";
        return Err(wrong("`reneged_to`", "given without a patience".to_owned(), remedy));
    }
    if let Some(speed) = station.speeds.iter().find(|speed| !(**speed > 0.0 && speed.is_finite())) {
        return Err(wrong("a speed", speed.to_string(), "choose a number above 0"));
    }
    if station.speeds.len() > MOST_SPEEDS {
        let value = station.speeds.len().to_string();
        return Err(wrong(
            "the number of speeds",
            value,
            "choose at most 64; the last applies to all greater numbers",
        ));
    }
    if let Some(splits) = station.splits.filter(|splits| !(2..=MOST_TOGETHER).contains(splits)) {
        return Err(wrong("`splits`", splits.to_string(), "choose 2 to 4,096, or remove it"));
    }
    let setup = names.by_class(name, station.setup, &station.setup_of)?;
    Ok(Beyond {
        groups,
        shift: station.shift,
        interrupted: station.interrupted,
        setup,
        aging: station.aging,
        reneged_to: station.reneged_to.is_some(),
        speeds: station.speeds.clone(),
        splits: station.splits,
        ..route
    })
}

/// Enters the regions of a network at its nodes.
fn regions(network: &Network, nodes: &mut [Node]) -> Result<(), FacilityError> {
    for (number, (name, region)) in network.regions.iter().enumerate() {
        let wrong = |what, value: String, remedy: &str| FacilityError::Setting {
            node: name.clone(),
            what,
            value,
            remedy: remedy.to_owned(),
        };
        if region.capacity == 0 || region.capacity > 65_535 {
            return Err(wrong(
                "the capacity of the region",
                region.capacity.to_string(),
                "choose 1 to 65,535",
            ));
        }
        if region.nodes.is_empty() {
            let remedy = "name stations and delays, or remove the region";
            return Err(wrong("the list of nodes of the region", "empty".to_owned(), remedy));
        }
        for inside in &region.nodes {
            let place = nodes.iter().position(|node| node.name == *inside);
            match place.map(|place| &mut nodes[place]) {
                Some(node) if matches!(node.kind, Kind::Station { .. }) => {
                    let least = node.beyond.batch.as_ref().map_or(1, |batch| batch.least);
                    if region.capacity < least {
                        let remedy =
                            format!("`{inside}` begins with {least} customers: choose {least} or more");
                        return Err(wrong(
                            "the capacity of the region",
                            region.capacity.to_string(),
                            &remedy,
                        ));
                    }
                    if !node.beyond.regions.contains(&number) {
                        node.beyond.regions.push(number);
                    }
                }
                _ => {
                    let remedy = "name stations and delays";
                    return Err(wrong("a node of the region", format!("`{inside}`"), remedy));
                }
            }
        }
    }
    Ok(())
}
