//! Models of JMT (Java Modelling Tools): `.jsimg`, `.jsimw` and `.jsim` here, `.jmva` in
//! [`jmva`](super::jmva).
//!
//! A file of JSIM has classes, nodes made of sections, and connections. Routing strategies of a
//! node choose among its connections, by class. A fork and its join become one node; a class switch
//! becomes a router. What has no equivalent is refused, all of it at once, with element and line.

mod nodes;
mod routes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use eventhorizon::facility::{Distribution, Network};
use indexmap::IndexMap;

pub(super) use routes::with_rest;

use super::xml::{Element, tree};
use crate::shared::{Outcome, print_report, usage};

/// Whether a text is a model of JMT: descriptions in TOML and JSON never begin that way.
pub fn is_model(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

/// Reads a model of JMT. Prints notices of what differs without changing means.
///
/// # Errors
/// A list of the elements that are not supported, with their lines.
pub fn read(file: &Path, text: &str) -> Outcome<Network> {
    let name = file.display();
    let root = tree(text).map_err(|error| usage(format!("{name}: {error}")))?;
    let title =
        file.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let mut report = Report::default();
    let network = match &*root.name {
        "archive" => root.first("sim").map(|sim| simulation(&title, sim, &mut report)),
        "sim" => Some(simulation(&title, &root, &mut report)),
        "model" => Some(super::jmva::model(&title, &root, &mut report)),
        _ => None,
    };
    let Some(network) = network else {
        return Err(usage(format!(
            "{name}: expected a model of JMT (`archive` with `sim`, or `model`), found the element `{}`",
            root.name
        )));
    };
    match (network, &report.refused[..]) {
        (Some(network), []) => {
            report.notices.iter().for_each(|notice| print_report(&format!("notice: {name}: {notice}")));
            Ok(network)
        }
        (_, refused) => {
            Err(usage(format!("{name}: this model cannot be read as a network:\n  {}", refused.join("\n  "))))
        }
    }
}

/// What is said about a model.
#[derive(Default)]
pub(super) struct Report {
    refused: Vec<String>,
    notices: Vec<String>,
}

impl Report {
    /// Refuses an element.
    pub(super) fn refuse(&mut self, element: &Element, why: impl std::fmt::Display) {
        let named = element.attribute("name").or_else(|| element.attribute("className"));
        let name = named.map_or_else(String::new, |name| format!(" `{name}`"));
        let line = format!("line {}, {}{name}: {why}", element.line, element.name);
        if !self.refused.contains(&line) {
            self.refused.push(line);
        }
    }

    /// Notes a difference.
    pub(super) fn note(&mut self, notice: impl Into<String>) {
        let notice = notice.into();
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }
}

/// The end of runs and of the warm-up of a model that has none: some thousand times its longest
/// mean time, as a power of ten.
pub(super) fn set_times<'d>(network: &mut Network, times: impl IntoIterator<Item = &'d Distribution>) {
    let longest =
        times.into_iter().map(Distribution::mean).filter(|mean| mean.is_finite()).fold(0.0, f64::max);
    let until = if longest > 0.0 { 10_f64.powf((5000.0 * longest).log10().ceil()) } else { 10_000.0 };
    network.until = Some(until);
    network.warm_up = Some(until / 10.0);
}

/// A class of customers.
#[derive(Clone)]
struct Class {
    name: String,
    is_open: bool,
    customers: u32,
    priority: f64,
    reference: String,
}

/// A node of the file, by what its sections do.
struct JmtNode<'e> {
    name: &'e str,
    element: &'e Element,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Source,
    Station,
    Delay,
    Router,
    ClassSwitch,
    Fork,
    Join,
    Sink,
}

impl<'e> JmtNode<'e> {
    fn new(element: &'e Element, report: &mut Report) -> Option<Self> {
        let sections: Vec<&str> =
            element.all("section").filter_map(|section| section.attribute("className")).collect();
        let has = |name: &str| sections.contains(&name);
        let known = [
            ("RandomSource", Kind::Source),
            ("JobSink", Kind::Sink),
            ("Fork", Kind::Fork),
            ("Join", Kind::Join),
            ("Delay", Kind::Delay),
            ("Server", Kind::Station),
            ("PSServer", Kind::Station),
            ("PreemptiveServer", Kind::Station),
            ("ClassSwitch", Kind::ClassSwitch),
            ("LogTunnel", Kind::Router),
            ("ServiceTunnel", Kind::Router),
        ];
        let found = known.iter().find(|(name, _)| has(name));
        let (Some(name), Some(&(_, kind))) = (element.attribute("name"), found) else {
            report.refuse(
                element,
                format!("a node with the sections {} is not supported", sections.join(", ")),
            );
            return None;
        };
        let plain = ["Queue", "Buffer", "Router", "ServiceTunnel"];
        let other = sections.iter().find(|section| {
            !plain.contains(section) && !known.iter().any(|(name, of)| name == *section && *of == kind)
        });
        if let Some(section) = other {
            report.refuse(element, format!("its section `{section}` is not supported"));
        }
        Some(Self { name, element, kind })
    }

    fn section(&self, name: &str) -> Option<&'e Element> {
        self.element.all("section").find(|section| section.attribute("className") == Some(name))
    }
}

/// What refers to a class, in the array of a parameter: the class and the element behind it.
fn by_class(parameter: &Element) -> impl Iterator<Item = (&str, &Element)> {
    let pairs = parameter.children.windows(2).filter(|pair| pair[0].name == "refClass");
    pairs.map(|pair| (pair[0].text.trim(), &pair[1]))
}

/// The parameter of a section whose name or class has this ending.
fn parameter<'e>(section: &'e Element, name: &str) -> Option<&'e Element> {
    section.all("parameter").find(|parameter| {
        parameter.attribute("name") == Some(name)
            || parameter.attribute("classPath").is_some_and(|path| super::laws::last(path) == name)
    })
}

/// A model of JSIM, with what was learnt of it.
struct Model<'e> {
    classes: Vec<Class>,
    nodes: IndexMap<&'e str, JmtNode<'e>>,
    /// By node, the nodes that it is connected to.
    connections: BTreeMap<&'e str, Vec<&'e str>>,
    /// By join, its fork.
    forks: BTreeMap<&'e str, &'e str>,
    /// By fork, its join.
    joins: BTreeMap<&'e str, &'e str>,
    /// By node and class, initial customers.
    population: BTreeMap<(&'e str, usize), u32>,
    /// By node, the largest number of customers, if a region that drops bounds it.
    regions: BTreeMap<&'e str, u32>,
    /// The classes that come to a node.
    comes: BTreeSet<(&'e str, usize)>,
}

fn simulation(title: &str, sim: &Element, report: &mut Report) -> Option<Network> {
    let mut model = Model {
        classes: sim.all("userClass").map(|element| class(element, report)).collect(),
        nodes: IndexMap::new(),
        connections: BTreeMap::new(),
        forks: BTreeMap::new(),
        joins: BTreeMap::new(),
        population: BTreeMap::new(),
        regions: BTreeMap::new(),
        comes: BTreeSet::new(),
    };
    for element in &sim.children {
        match &*element.name {
            "userClass" | "measure" | "preload" | "blockingRegion" => {}
            "node" => {
                if let Some(node) = JmtNode::new(element, report)
                    && model.nodes.insert(node.name, node).is_some()
                {
                    report.refuse(element, "another node has this name");
                }
            }
            "connection" => match (element.attribute("source"), element.attribute("target")) {
                (Some(from), Some(to)) => {
                    let is_node = |name: &str| sim.all("node").any(|of| of.attribute("name") == Some(name));
                    if let Some(name) = [from, to].into_iter().find(|name| !is_node(name)) {
                        report.refuse(element, format!("the node `{name}` is unknown"));
                    }
                    model.connections.entry(from).or_default().push(to);
                }
                _ => report.refuse(element, "`source` or `target` is missing"),
            },
            _ => report.refuse(element, "this element is not supported"),
        }
    }
    // Highest priority first: ours is the order of classes.
    if model.uses_priorities() {
        model.classes.sort_by(|a, b| b.priority.total_cmp(&a.priority));
    }
    model.preload(sim, report);
    model.regions(sim, report);
    if !report.refused.is_empty() {
        return None;
    }
    model.pair_forks(report);
    model.spread(report);
    let mut network = Network::new(title);
    network.classes = model.classes.iter().map(|class| class.name.clone()).collect();
    let mut times = Vec::new();
    for node in model.nodes.values() {
        model.add(node, &mut network, &mut times, report);
    }
    set_times(&mut network, &times);
    let longest = sim.attribute("maxSimulated").and_then(|text| text.parse::<f64>().ok());
    match longest.filter(|longest| *longest > 0.0) {
        Some(longest) => {
            network.until = Some(longest);
            network.warm_up = Some(longest / 10.0);
        }
        None => report.note(format!(
            "JMT ends when means are precise; replications end at {} and statistics begin at {}",
            network.until.unwrap_or_default(),
            network.warm_up.unwrap_or_default()
        )),
    }
    Some(network)
}

fn class(element: &Element, report: &mut Report) -> Class {
    let text = |name: &str| element.attribute(name).unwrap_or_default().trim();
    let customers = match text("customers") {
        "" => Some(0),
        number => number.parse::<u32>().ok(),
    };
    if customers.is_none() {
        report.refuse(element, "`customers` is not a number of customers");
    }
    let is_open = match text("type") {
        "open" => true,
        "closed" => false,
        other => {
            report.refuse(element, format!("expected the type `open` or `closed`, found `{other}`"));
            true
        }
    };
    Class {
        name: text("name").to_owned(),
        is_open,
        customers: customers.unwrap_or(0),
        priority: text("priority").parse().unwrap_or(0.0),
        reference: text("referenceSource").to_owned(),
    }
}

impl<'e> Model<'e> {
    fn class_named(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.name == name)
    }

    /// Puts the customers of closed classes where the file says, or at the reference station.
    fn preload(&mut self, sim: &'e Element, report: &mut Report) {
        for place in sim.all("preload").flat_map(|preload| preload.all("stationPopulations")) {
            for of in place.all("classPopulation") {
                let class = of.attribute("refClass").and_then(|name| self.class_named(name));
                let number = of.attribute("population").and_then(|text| text.parse::<u32>().ok());
                let (Some(class), Some(number), Some(node)) = (class, number, place.attribute("stationName"))
                else {
                    report.refuse(of, "its station, class or population is unknown");
                    continue;
                };
                if number > 0 {
                    *self.population.entry((node, class)).or_default() += number;
                }
            }
        }
        for (number, class) in self.classes.iter().enumerate().filter(|(_, class)| !class.is_open) {
            let there: u32 =
                self.population.iter().filter(|((_, of), _)| *of == number).map(|(_, some)| some).sum();
            let Some((&name, _)) = self.nodes.get_key_value(&*class.reference) else {
                let element =
                    sim.all("userClass").find(|element| element.attribute("name") == Some(&class.name));
                element.into_iter().for_each(|element| {
                    report.refuse(element, format!("its reference station `{}` is unknown", class.reference));
                });
                continue;
            };
            if there < class.customers {
                *self.population.entry((name, number)).or_default() += class.customers - there;
            }
        }
        for &(node, class) in self.population.keys() {
            match self.nodes.get(node) {
                Some(node) if matches!(node.kind, Kind::Station | Kind::Delay) => {}
                Some(node) => report.refuse(
                    node.element,
                    format!(
                        "customers of `{}` begin there, and it is no station and no delay",
                        self.classes[class].name
                    ),
                ),
                None => report.refuse(sim, format!("customers begin at `{node}`, which is unknown")),
            }
        }
    }

    /// Takes regions of one station that drop customers as its capacity.
    fn regions(&mut self, sim: &'e Element, report: &mut Report) {
        for region in sim.all("blockingRegion") {
            let nodes: Vec<_> =
                region.all("regionNode").filter_map(|node| node.attribute("nodeName")).collect();
            let bound = |name: &str, key: &str| {
                let all = region.all(name).filter_map(|of| of.attribute(key)?.parse::<i64>().ok());
                all.filter(|most| *most >= 0).min()
            };
            let of_class = bound("classConstraint", "maxJobsPerClass");
            // Of a single class, both bounds are one.
            let all = bound("globalConstraint", "maxJobs");
            let (all, of_class) = match self.classes.len() {
                1 => (all.into_iter().chain(of_class).min(), None),
                _ => (all, of_class),
            };
            let others = of_class
                .or_else(|| bound("globalMemoryConstraint", "maxMemory"))
                .or_else(|| bound("classMemoryConstraint", "maxMemoryPerClass"));
            let drops = region.all("dropRules").all(|rule| rule.attribute("dropThisClass") == Some("true"))
                && region.first("dropRules").is_some();
            match (&nodes[..], all, others, drops) {
                (_, None, None, _) => {}
                (&[node], Some(most), None, true) => {
                    self.regions.insert(node, u32::try_from(most).unwrap_or(u32::MAX));
                }
                _ => report.refuse(
                    region,
                    "a region is supported if it has one station, one bound for all classes, and drops them",
                ),
            }
        }
    }

    /// Finds the join of each fork: where its tasks are behind as many joins as forks.
    fn pair_forks(&mut self, report: &mut Report) {
        for fork in self.nodes.values().filter(|node| node.kind == Kind::Fork) {
            let mut found = BTreeSet::new();
            let mut seen = BTreeSet::new();
            let mut next: Vec<(&str, usize)> = self.targets(fork.name).map(|to| (to, 1)).collect();
            while let Some((name, depth)) = next.pop() {
                // Overlapping forks could nest for ever.
                if depth > self.nodes.len() || !seen.insert((name, depth)) {
                    continue;
                }
                let depth = match self.nodes.get(name).map(|node| node.kind) {
                    Some(Kind::Join) if depth == 1 => {
                        found.insert(name);
                        continue;
                    }
                    Some(Kind::Join) => depth - 1,
                    Some(Kind::Fork) => depth + 1,
                    Some(Kind::Sink) | None => continue,
                    _ => depth,
                };
                next.extend(self.targets(name).map(|to| (to, depth)));
            }
            match found.iter().collect::<Vec<_>>()[..] {
                [&join] => {
                    let (&join, _) = self.nodes.get_key_value(join).expect("it was found there");
                    if self.forks.insert(join, fork.name).is_some() {
                        report.refuse(self.nodes[join].element, "tasks of two forks end at this join");
                    }
                    self.joins.insert(fork.name, join);
                }
                _ => report
                    .refuse(fork.element, format!("its tasks end at {} joins; expected one", found.len())),
            }
        }
        for join in self.nodes.values().filter(|node| node.kind == Kind::Join) {
            if !self.forks.contains_key(join.name) {
                report.refuse(join.element, "no fork belongs to this join");
            }
        }
    }

    /// The nodes that a node is connected to.
    fn targets(&self, node: &str) -> impl Iterator<Item = &'e str> {
        self.connections.get(node).into_iter().flatten().copied()
    }

    /// Finds which classes come to which nodes.
    fn spread(&mut self, report: &mut Report) {
        let mut next: Vec<(&'e str, usize)> = self.population.keys().copied().collect();
        for (number, class) in self.classes.iter().enumerate().filter(|(_, class)| class.is_open) {
            if let Some((&name, node)) = self.nodes.get_key_value(&*class.reference)
                && node.kind == Kind::Source
            {
                next.push((name, number));
            }
        }
        while let Some((name, class)) = next.pop() {
            let Some((&name, node)) = self.nodes.get_key_value(name) else { continue };
            if !self.comes.insert((name, class)) {
                continue;
            }
            match node.kind {
                Kind::Sink => {}
                Kind::Fork => next.extend(self.targets(name).map(|to| (to, class))),
                _ => {
                    let links = self.strategy(node, class, report).links();
                    next.extend(links.into_iter().map(|(to, _, becomes)| (to, becomes)));
                }
            }
        }
        for (&join, &fork) in &self.forks {
            let changed = (0..self.classes.len())
                .find(|&class| self.comes.contains(&(join, class)) && !self.comes.contains(&(fork, class)));
            if changed.is_some() {
                report.refuse(self.nodes[join].element, "tasks change their class between fork and join");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model of one class: a source, stations of one exponential server, and a sink.
    fn model(nodes: &str, connections: &[(&str, &str)], more: &str) -> Outcome<Network> {
        let service = "<parameter name='ServiceStrategy'><refClass>C</refClass>\
            <subParameter classPath='a.ServiceTimeStrategy'><subParameter classPath='a.Exponential'/><subParameter>\
            <subParameter name='lambda'><value>1</value></subParameter></subParameter></subParameter></parameter>";
        let station = |name: &str| {
            format!(
                "<node name='{name}'><section className='Queue'/><section className='Server'>{service}</section></node>"
            )
        };
        let connections: String = connections
            .iter()
            .map(|(from, to)| format!("<connection source='{from}' target='{to}'/>"))
            .collect();
        let text = format!(
            "<sim><userClass name='C' type='open' referenceSource='In'/>\
             <node name='In'><section className='RandomSource'>{service}</section></node>{}{}{nodes}\
             <node name='Out'><section className='JobSink'/></node>{connections}{more}</sim>",
            station("A"),
            station("B")
        );
        read(Path::new("m.jsimg"), &text)
    }

    #[test]
    fn what_leads_nowhere_or_is_no_number_is_refused() {
        let refused = |nodes: &str, more: (&str, &str), words: &str| {
            let error = model(nodes, &[("In", "A"), ("A", "Out"), more], "").unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused("", ("A", "None"), "the node `None` is unknown");
        let station = |name: &str, sections: &str| format!("<node name='{name}'>{sections}</node>");
        let servers = "<section className='Queue'/><section className='Server'><parameter name='maxJobs'>\
            <value>x</value></parameter></section>";
        refused(&station("C", servers), ("In", "C"), "found `x`");
        let routes = "<section className='ServiceTunnel'/><section className='Router'>\
            <parameter name='RoutingStrategy'>\
            <refClass>C</refClass><subParameter classPath='a.EmpiricalStrategy'><subParameter><subParameter>\
            <subParameter name='stationName'><value>B</value></subParameter>\
            <subParameter name='probability'><value>1</value></subParameter></subParameter></subParameter>\
            </subParameter></parameter></section>";
        let error = model(&station("R", routes), &[("In", "R"), ("R", "A"), ("A", "Out")], "");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no connection does: add one from `R`"), "{error}");
    }

    #[test]
    fn a_region_of_one_station_is_its_capacity() {
        let region = |bounds: &str| {
            let region = format!(
                "<blockingRegion name='R'><regionNode nodeName='A'/>{bounds}<dropRules jobClass='C' dropThisClass='true'/></blockingRegion>"
            );
            model("", &[("In", "A"), ("A", "B"), ("B", "Out")], &region)
        };
        let all = "<globalConstraint maxJobs='7'/>";
        let of_class = "<classConstraint jobClass='C' maxJobsPerClass='5'/>";
        for (bounds, capacity) in [(all, 7), (of_class, 5), (&format!("{all}{of_class}"), 5)] {
            assert_eq!(region(bounds).unwrap().stations["A"].capacity, Some(capacity), "{bounds}");
        }
        let memory = region("<globalMemoryConstraint maxMemory='3'/>").unwrap_err().to_string();
        assert!(memory.contains("blockingRegion `R`: a region is supported"), "{memory}");
    }

    #[test]
    fn a_fork_with_branches_has_a_fixed_number_of_tasks_on_each() {
        let fork = |second: &str, probability: &str| {
            let branch = |to: &str, count: &str| {
                format!(
                    "<subParameter><subParameter name='outUnitProbability'><subParameter name='stationName'><value>{to}</value></subParameter>\
                     <subParameter name='probability'><value>{probability}</value></subParameter></subParameter>\
                     <subParameter name='JobsPerLinkDis'><subParameter><subParameter name='numbers'><value>{count}</value></subParameter>\
                     <subParameter name='probability'><value>1</value></subParameter></subParameter></subParameter></subParameter>"
                )
            };
            let nodes = format!(
                "<node name='F'><section className='Fork'><parameter name='isSimplifiedFork'><value>false</value></parameter>\
                 <parameter name='ForkStrategy'><refClass>C</refClass><subParameter classPath='a.ProbabilitiesFork'><subParameter>{}{}</subParameter>\
                 </subParameter></parameter></section></node><node name='J'><section className='Join'/></node>",
                branch("A", "1"),
                branch("B", second)
            );
            model(&nodes, &[("In", "F"), ("F", "A"), ("F", "B"), ("A", "J"), ("B", "J"), ("J", "Out")], "")
        };
        let network = fork("2", "1").unwrap();
        let tasks: Vec<&str> = network.forks["F"].tasks.iter().map(|link| &*link.node).collect();
        assert_eq!(tasks, ["A", "B", "B"]);
        network.compile_unstable().unwrap();
        let random = fork("2", "0.5").unwrap_err().to_string();
        assert!(random.contains("`F` chooses its branches"), "{random}");
    }
}
