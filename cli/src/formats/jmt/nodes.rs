//! Nodes of JMT as nodes of a network.

use eventhorizon::facility::{
    Delay, Discipline, Distribution, Fork, Link, MAX_FORK_TASKS, Network, Source, Station, WhenFull,
};
use indexmap::IndexMap;

use super::super::laws::{last, law, value};
use super::super::xml::Element;
use super::routes::{entries, number, text};
use super::{JmtNode, Kind, Model, Report, by_class, parameter};

/// The distribution of a service strategy; `None` if the class is not served there.
fn service(strategy: &Element) -> Result<Option<Distribution>, String> {
    match last(strategy.attribute("classPath").unwrap_or_default()) {
        "ServiceTimeStrategy" => law(strategy).map(Some),
        "ZeroServiceTimeStrategy" => Ok(Some(Distribution::Constant(0.0))),
        "DisabledServiceTimeStrategy" => Ok(None),
        other => Err(format!("`{other}` is not supported")),
    }
}

/// A number of tasks on a link, if a fork may have it.
fn tasks(number: i64) -> Option<usize> {
    usize::try_from(number).ok().filter(|number| *number <= MAX_FORK_TASKS)
}

/// The whole number of a parameter. Another text is refused.
fn whole(section: &Element, name: &str, report: &mut Report) -> Option<i64> {
    let parameter = parameter(section, name)?;
    let text = value(parameter)?;
    let number = text.parse().ok();
    if number.is_none() {
        report.refuse(parameter, format!("expected a whole number, found `{text}`"));
    }
    number
}

impl<'e> Model<'e> {
    /// Whether classes of different priorities meet at a station that looks at priorities.
    pub(super) fn uses_priorities(&self) -> bool {
        let puts = self.nodes.values().filter_map(|node| node.section("Queue"));
        let puts = puts.filter_map(|queue| parameter(queue, "QueuePutStrategy"));
        puts.flat_map(by_class)
            .any(|(_, put)| last(put.attribute("classPath").unwrap_or_default()).ends_with("Priority"))
    }

    /// Adds a node to the network, and its times to `times`.
    pub(super) fn add(
        &self,
        node: &JmtNode<'e>,
        network: &mut Network,
        times: &mut Vec<Distribution>,
        report: &mut Report,
    ) {
        let coming: Vec<usize> =
            (0..self.classes.len()).filter(|&class| self.comes.contains(&(node.name, class))).collect();
        if coming.is_empty() {
            report.note(format!("no customer comes to `{}`; it is left out", node.name));
            return;
        }
        let name = node.name.to_owned();
        match node.kind {
            Kind::Source => self.add_sources(node, &coming, network, times, report),
            Kind::Station => {
                let station = self.station(node, &coming, times, report);
                network.stations.extend(station.map(|station| (name, station)));
            }
            Kind::Delay => {
                let (time, time_of) = self.services(node, "Delay", &coming, times, report);
                let mut delay = Delay::new(Distribution::Constant(0.0), self.route(node, report));
                (delay.time, delay.time_of) = (time, time_of);
                (delay.population, delay.population_of) = self.initial(node);
                if self.capacity(node, &coming, report).is_some() {
                    report.refuse(node.element, "a delay with a bound is not supported");
                }
                network.delays.insert(name, delay);
            }
            Kind::Router | Kind::ClassSwitch => {
                let route = self.route(node, report);
                network.routers.insert(name, eventhorizon::facility::Router { to: route });
                if node.section("LogTunnel").is_some() {
                    report.note(format!("`{}` logs nothing here; --trace follows customers", node.name));
                }
            }
            Kind::Fork => {
                let fork = self.fork(node, report);
                network.forks.extend(fork.map(|fork| (name, fork)));
            }
            // Part of its fork.
            Kind::Join => {}
            Kind::Sink => {
                network.sinks.insert(name, eventhorizon::facility::Sink {});
            }
        }
    }

    /// A source of JMT generates several classes; each becomes a source.
    fn add_sources(
        &self,
        node: &JmtNode<'e>,
        coming: &[usize],
        network: &mut Network,
        times: &mut Vec<Distribution>,
        report: &mut Report,
    ) {
        let strategies =
            node.section("RandomSource").and_then(|section| parameter(section, "ServiceStrategy"));
        for &class in coming {
            let of = &self.classes[class].name;
            let strategy = strategies.and_then(|all| by_class(all).find(|(name, _)| name == of));
            let interarrival = match strategy.map(|(_, strategy)| (strategy, service(strategy))) {
                Some((_, Ok(Some(law)))) => law,
                Some((strategy, Err(why))) => {
                    report.refuse(strategy, format!("arrivals of class `{of}`: {why}"));
                    continue;
                }
                _ => {
                    report.refuse(node.element, format!("class `{of}` has no arrivals here"));
                    continue;
                }
            };
            times.push(interarrival);
            let route = self.route_of(node, &[(class, self.strategy(node, class, report))], report);
            let name = if coming.len() == 1 { node.name.to_owned() } else { format!("{} {of}", node.name) };
            if self.nodes.contains_key(&*name) && coming.len() > 1 {
                report
                    .refuse(node.element, format!("the source of class `{of}` would be called as a node is"));
            }
            network.sources.insert(name, Source::new(interarrival, route).of(of));
        }
    }

    /// One distribution for all classes, or one for each.
    fn services(
        &self,
        node: &JmtNode<'e>,
        section: &str,
        coming: &[usize],
        times: &mut Vec<Distribution>,
        report: &mut Report,
    ) -> (Option<Distribution>, IndexMap<String, Distribution>) {
        let strategies = node.section(section).and_then(|section| parameter(section, "ServiceStrategy"));
        let mut all = IndexMap::new();
        for &class in coming {
            let of = &self.classes[class].name;
            let strategy = strategies.and_then(|all| by_class(all).find(|(name, _)| name == of));
            match strategy.map(|(_, strategy)| (strategy, service(strategy))) {
                Some((_, Ok(Some(law)))) => {
                    times.push(law);
                    all.insert(of.clone(), law);
                }
                Some((strategy, Err(why))) => {
                    report.refuse(strategy, format!("service of class `{of}` at `{}`: {why}", node.name));
                }
                _ => report.refuse(node.element, format!("class `{of}` comes here and is not served")),
            }
        }
        let mut laws = all.values();
        match laws.next().copied() {
            Some(first) if laws.all(|law| *law == first) => (Some(first), IndexMap::new()),
            _ => (None, all),
        }
    }

    /// Initial customers of the first class, or of each.
    fn initial(&self, node: &JmtNode<'e>) -> (u32, IndexMap<String, u32>) {
        let here = self.population.iter().filter(|((name, _), _)| *name == node.name);
        let by_class: IndexMap<_, _> =
            here.map(|(&(_, class), &some)| (self.classes[class].name.clone(), some)).collect();
        match (self.classes.len(), by_class.first()) {
            (1, Some((_, &some))) => (some, IndexMap::new()),
            _ => (0, by_class),
        }
    }

    /// The bound of customers at a node, and what happens to more.
    fn capacity(&self, node: &JmtNode<'e>, coming: &[usize], report: &mut Report) -> Option<(u32, WhenFull)> {
        let region = self.regions.get(node.name).map(|&most| (most, WhenFull::Lose));
        let queue = node.section("Queue");
        let size = queue.and_then(|queue| whole(queue, "size", report)).filter(|size| *size >= 0);
        let (Some(queue), Some(size)) = (queue, size) else { return region };
        let rules = parameter(queue, "dropStrategies").into_iter().flat_map(by_class);
        let mut rules: Vec<&str> = rules
            .filter(|(name, _)| coming.iter().any(|&class| self.classes[class].name == *name))
            .filter_map(|(_, rule)| value(rule))
            .collect();
        rules.sort_unstable();
        rules.dedup();
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        match (&rules[..], region) {
            (["drop"], None) => Some((size, WhenFull::Lose)),
            (["drop"], Some((most, _))) => Some((size.min(most), WhenFull::Lose)),
            (["BAS blocking"], None) => Some((size, WhenFull::Block)),
            _ => {
                report.refuse(
                    queue,
                    format!(
                        "`{}` has a bound with the rule `{}`; `drop` and `BAS blocking` are supported, the same for all classes",
                        node.name,
                        rules.join("`, `")
                    ),
                );
                None
            }
        }
    }

    fn station(
        &self,
        node: &JmtNode<'e>,
        coming: &[usize],
        times: &mut Vec<Distribution>,
        report: &mut Report,
    ) -> Option<Station> {
        let kinds = ["Server", "PSServer", "PreemptiveServer"];
        let kind = kinds.into_iter().find(|kind| node.section(kind).is_some())?;
        let section = node.section(kind)?;
        let (service, service_of) = self.services(node, kind, coming, times, report);
        let mut station = Station::new(Distribution::Constant(0.0), self.route(node, report));
        (station.service, station.service_of) = (service, service_of);
        match whole(section, "maxJobs", report).map(u32::try_from) {
            Some(Ok(servers)) => station.servers = servers,
            None => {}
            Some(Err(_)) => report.refuse(section, "`maxJobs` is no number of servers: use a Delay"),
        }
        for unknown in ["delayOffStrategy", "switchoverStrategy", "SwitchoverStrategy"] {
            if parameter(section, unknown).is_some() {
                report.refuse(section, format!("`{}` has `{unknown}`, which is not supported", node.name));
            }
        }
        if parameter(section, "serverNames").is_some_and(|names| names.all("subParameter").count() > 1) {
            report.refuse(
                section,
                format!("`{}` has servers of several types, which are not supported", node.name),
            );
        }
        if let Some((capacity, when_full)) = self.capacity(node, coming, report) {
            (station.capacity, station.when_full) = (Some(capacity), when_full);
        }
        station.discipline = match kind {
            "PSServer" => self.sharing(node, section, report),
            _ => self.discipline(node, coming, report),
        };
        (station.population, station.population_of) = self.initial(node);
        self.add_patience(node, coming, &mut station, report);
        Some(station)
    }

    fn sharing(&self, node: &JmtNode<'e>, section: &Element, report: &mut Report) -> Discipline {
        let strategies = parameter(section, "PSStrategy").into_iter().flat_map(by_class);
        for (_, strategy) in strategies {
            let name = last(strategy.attribute("classPath").unwrap_or_default());
            if name != "EPSStrategy" {
                report.refuse(
                    strategy,
                    format!("`{name}` of `{}` is not supported: shares are equal", node.name),
                );
            }
        }
        Discipline::Sharing
    }

    /// The order of service, from how classes are put into the queue and taken from it.
    fn discipline(&self, node: &JmtNode<'e>, coming: &[usize], report: &mut Report) -> Discipline {
        let Some(queue) = node.section("Queue") else { return Discipline::Fifo };
        let get = queue.all("parameter").filter_map(|it| it.attribute("classPath"));
        let get = get.filter(|path| path.contains("QueueGetStrategies")).map(last).next();
        let puts = parameter(queue, "QueuePutStrategy").into_iter().flat_map(by_class);
        let mut puts: Vec<&str> = puts
            .filter(|(name, _)| coming.iter().any(|&class| self.classes[class].name == *name))
            .map(|(_, put)| last(put.attribute("classPath").unwrap_or_default()))
            .collect();
        puts.sort_unstable();
        puts.dedup();
        let mut priorities: Vec<f64> = coming.iter().map(|&class| self.classes[class].priority).collect();
        priorities.sort_by(f64::total_cmp);
        priorities.dedup();
        let one = priorities.len() == 1;
        let each = priorities.len() == coming.len();
        match (get, &puts[..]) {
            (None | Some("FCFSstrategy"), [] | ["TailStrategy"]) => Discipline::Fifo,
            (None | Some("FCFSstrategy"), ["HeadStrategy"])
            | (Some("LCFSstrategy"), [] | ["TailStrategy"]) => Discipline::Lifo,
            (None | Some("FCFSstrategy"), ["RandStrategy"]) => Discipline::Random,
            (None | Some("FCFSstrategy"), ["TailStrategyPriority"]) if one => Discipline::Fifo,
            (None | Some("FCFSstrategy"), ["TailStrategyPriority"]) if each => Discipline::Priority,
            (None | Some("FCFSstrategy"), ["FCFSPRStrategyPriority"]) if each => Discipline::Preemptive,
            (None | Some("FCFSstrategy"), ["TailStrategyPriority" | "FCFSPRStrategyPriority"]) => {
                report.refuse(
                    queue,
                    "classes of one priority meet others; give each class a priority of its own",
                );
                Discipline::Priority
            }
            (get, puts) => {
                report.refuse(
                    queue,
                    format!(
                        "the order of service of `{}` is not supported: {} with {}",
                        node.name,
                        get.unwrap_or("FCFSstrategy"),
                        puts.join(", ")
                    ),
                );
                Discipline::Fifo
            }
        }
    }

    fn add_patience(&self, node: &JmtNode<'e>, coming: &[usize], station: &mut Station, report: &mut Report) {
        let Some(all) = node.section("Queue").and_then(|queue| parameter(queue, "Impatience")) else {
            return;
        };
        for (name, strategy) in by_class(all) {
            if value(strategy) == Some("null")
                || !coming.iter().any(|&class| self.classes[class].name == name)
            {
                continue;
            }
            let kind = last(strategy.attribute("classPath").unwrap_or_default());
            match (kind, law(strategy)) {
                ("Reneging", Ok(law)) => {
                    station.patience_of.insert(name.to_owned(), law);
                }
                ("Reneging", Err(why)) => report.refuse(strategy, why),
                _ => report.refuse(strategy, format!("`{kind}` of `{}` is not supported", node.name)),
            }
        }
        let mut laws = station.patience_of.values();
        if let Some(first) = laws.next().copied()
            && laws.all(|law| *law == first)
            && station.patience_of.len() == coming.len()
        {
            station.patience = Some(first);
            station.patience_of.clear();
        }
    }

    fn fork(&self, node: &JmtNode<'e>, report: &mut Report) -> Option<Fork> {
        let section = node.section("Fork")?;
        let each = whole(section, "jobsPerLink", report).unwrap_or(1);
        let simple = parameter(section, "isSimplifiedFork").and_then(value) != Some("false");
        let block = whole(section, "block", report).unwrap_or(-1);
        let Some(each) = tasks(each) else {
            report.refuse(section, format!("`jobsPerLink` is no number of tasks up to {MAX_FORK_TASKS}"));
            return None;
        };
        let branches = match simple {
            true => self.targets(node.name).map(|to| (to, each)).collect(),
            false => self.branches(node, section, report),
        };
        if block >= 0 {
            report.refuse(section, format!("`{}` bounds its customers, which is not supported", node.name));
        }
        let join = self.joins.get(node.name).and_then(|&join| self.nodes.get(join))?;
        let strategies = join.section("Join").and_then(|section| parameter(section, "JoinStrategy"));
        for (_, strategy) in strategies.into_iter().flat_map(by_class) {
            let required = strategy.all("subParameter").find_map(value).unwrap_or("-1");
            if last(strategy.attribute("classPath").unwrap_or_default()) != "NormalJoin" || required != "-1" {
                report.refuse(
                    strategy,
                    format!("`{}` joins some tasks; only all together are supported", join.name),
                );
            }
        }
        let tasks = branches
            .into_iter()
            .flat_map(|(to, count)| std::iter::repeat_n(Link::to(self.target(to)), count));
        Some(Fork::new(tasks, self.route(join, report)))
    }

    /// The branches of a fork with the number of tasks on each: the same for all classes, and
    /// always.
    fn branches(
        &self,
        node: &JmtNode<'e>,
        section: &'e Element,
        report: &mut Report,
    ) -> Vec<(&'e str, usize)> {
        let part = |of: &'e Element, name: &str| {
            of.all("subParameter").find(|part| part.attribute("name") == Some(name))
        };
        let branch = |entry: &'e Element| -> Option<(&'e str, usize)> {
            let to = part(entry, "outUnitProbability")?;
            if number(to, "probability") != 1.0 {
                return None;
            }
            let mut counts = part(entry, "JobsPerLinkDis")?
                .all("subParameter")
                .filter(|of| number(of, "probability") != 0.0);
            let (Some(count), None) = (counts.next(), counts.next()) else { return None };
            Some((text(to, "stationName")?, text(count, "numbers")?.parse().ok().and_then(tasks)?))
        };
        let strategies = parameter(section, "ForkStrategy").into_iter().flat_map(by_class);
        let coming = strategies.filter(|(name, _)| {
            self.class_named(name).is_some_and(|class| self.comes.contains(&(node.name, class)))
        });
        let all: Vec<Option<Vec<_>>> = coming
            .map(|(_, strategy)| match last(strategy.attribute("classPath").unwrap_or_default()) {
                "ProbabilitiesFork" => entries(strategy).map(branch).collect(),
                _ => None,
            })
            .collect();
        match &all[..] {
            [Some(first), others @ ..] if others.iter().all(|other| other.as_ref() == Some(first)) => {
                first.clone()
            }
            _ => {
                report.refuse(
                    section,
                    format!(
                        "`{}` chooses its branches; a fixed number of tasks on each is supported",
                        node.name
                    ),
                );
                Vec::new()
            }
        }
    }
}
