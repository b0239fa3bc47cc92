//! Random descriptions of networks, with features mixed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use eventhorizon::facility::{CompiledError, CompiledNetwork, Facility, Network};
use eventhorizon::random::Stream;

/// Descriptions that may be refused before one is found.
const MOST_TRIES: u64 = 2000;

/// Counts of descriptions by the words of features in them.
pub(crate) type Features = BTreeMap<&'static str, u32>;

/// What a description may have.
const FEATURES: [&str; 35] = [
    "[source.",
    "[delay.",
    "[router.",
    "[fork.",
    "[fork.g]",
    "\"fifo\"",
    "\"lifo\"",
    "\"random\"",
    "\"priority\"",
    "\"polling\"",
    "\"preemptive\"",
    "\"sharing\"",
    "batch =",
    "rates =",
    "population =",
    "population_of.",
    "capacity =",
    "when_full",
    "balking",
    "patience =",
    "patience_of.",
    "schedule",
    "breakdown",
    "in_turn",
    "shortest",
    "travel",
    "becomes",
    "class = \"b\", node",
    "service_of.",
    "time_of.",
    "erlang",
    "weibull",
    "normal",
    "uniform",
    "hyperexponential",
];

/// The description of a number, as text and compiled, that the interpreter and the compiled form
/// accept. Other descriptions are drawn until one is.
pub(crate) fn network(case: u32, features: &mut Features) -> (String, Facility) {
    for attempt in 0..MOST_TRIES {
        let text = Maker::new(case, attempt).text();
        let network = Network::from_toml(&text).unwrap_or_else(|error| panic!("{case}: {error}\n{text}"));
        let Ok(facility) = network.compile_unstable() else { continue };
        match CompiledNetwork::new(&facility) {
            Ok(_) => {}
            Err(CompiledError::NotCovered { .. }) => continue,
            Err(error) => panic!("{case}: {error}\n{text}"),
        }
        let found = FEATURES.iter().filter(|&&feature| text.contains(feature));
        found.for_each(|&feature| *features.entry(feature).or_default() += 1);
        if !text.contains("[source.") {
            *features.entry("closed").or_default() += 1;
        }
        return (text, facility);
    }
    panic!("{case}: no description of {MOST_TRIES} is accepted");
}

/// The number of features that [`network`] counts.
pub(crate) const KINDS: usize = FEATURES.len() + 1;

/// Makes a description of random numbers.
struct Maker {
    stream: Stream,
    classes: Vec<&'static str>,
    /// All times are multiples of a quarter, so that most instants have several events.
    is_grid: bool,
    is_open: bool,
    travels: bool,
    stations: usize,
    /// Stations that block, by number.
    blocking: Vec<bool>,
    /// Nodes that any route may lead to.
    nodes: Vec<String>,
}

impl Maker {
    fn new(case: u32, attempt: u64) -> Self {
        let mut maker = Self {
            stream: Stream::new(7, case, attempt),
            classes: Vec::new(),
            is_grid: false,
            is_open: true,
            travels: false,
            stations: 0,
            blocking: Vec::new(),
            nodes: Vec::new(),
        };
        let classes = maker.one_of(&[1, 1, 2, 2, 3, 4]);
        maker.classes = ["a", "b", "c", "d"][..classes].to_vec();
        maker.is_grid = maker.one_in(4);
        maker.is_open = !maker.one_in(6);
        maker.travels = maker.one_in(3);
        maker.stations = maker.below(5) as usize + 1;
        let blocks = maker.one_in(2);
        maker.blocking = (0..maker.stations).map(|_| blocks && maker.one_in(2)).collect();
        maker
    }

    fn below(&mut self, number: u32) -> u32 {
        self.stream.below(number)
    }

    /// One of `number` times.
    fn one_in(&mut self, number: u32) -> bool {
        self.below(number) == 0
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(u32::try_from(all.len()).unwrap()) as usize]
    }

    fn text(&mut self) -> String {
        let ticks =
            if self.is_grid { self.one_of(&[4, 16, 1000]) } else { self.one_of(&[2000, 4000, 100_000]) };
        let mut text = format!("name = \"random\"\nticks_per_unit = {ticks}\nclasses = {:?}\n", self.classes);
        if self.travels && self.one_in(4) {
            let _ = writeln!(text, "travel = {}", self.law(0.5));
        }
        let stations: Vec<String> = (0..self.stations).map(|number| format!("s{number}")).collect();
        let delays = self.one_of(&["d", "d", "d", "de", ""]).split("").filter(|name| !name.is_empty());
        let delays: Vec<String> = delays.map(str::to_owned).collect();
        let routers = if self.one_in(2) { vec!["r".to_owned()] } else { Vec::new() };
        let forks = if self.one_in(3) { vec!["f".to_owned()] } else { Vec::new() };
        // Customers go from each of these nodes to the next one, or elsewhere.
        let chain = [&routers[..], &stations, &forks, &delays].concat();
        self.nodes.clone_from(&chain);
        let last = if self.is_open { "o" } else { &*chain[0] }.to_owned();
        if self.is_open {
            self.nodes.push("o".to_owned());
            for class in self.classes.clone() {
                let first = if self.one_in(3) { &stations[0] } else { &chain[0] }.clone();
                text += &self.source(class, &first);
            }
        }
        for (number, name) in chain.iter().enumerate() {
            let next = chain.get(number + 1).unwrap_or(&last).clone();
            let to = self.to(&next, name);
            text += &match &name[..1] {
                "r" => format!("[router.{name}]\nto = {to}\n"),
                "d" | "e" => self.delay(name, &to),
                "f" => self.fork(name, &to),
                _ => {
                    let blocks = self.blocking[number - routers.len()];
                    self.station(name, blocks, false, &to)
                }
            };
        }
        if self.is_open {
            text += "[sink.o]\n";
        }
        text
    }

    /// A time, in the mean about `scale`.
    fn law(&mut self, scale: f64) -> String {
        let mean = scale * f64::from(self.below(8) + 2) / 4.0;
        if self.is_grid {
            return format!("{{ constant = {} }}", ((4.0 * mean).round() / 4.0).max(0.25));
        }
        let deviation = mean / 2.0;
        match self.below(12) {
            0 | 1 => format!("{{ constant = {mean} }}"),
            2..=4 => format!("{{ exponential = {mean} }}"),
            5 => format!("{{ uniform = [{}, {}] }}", self.one_of(&[0.0, deviation]), mean * 2.0),
            6 => format!("{{ erlang = {{ stages = {}, mean = {} }} }}", self.below(3) + 1, mean * 3.0),
            7 => {
                let means = format!("first = {mean}, second = {}", 2.0 * mean);
                format!("{{ hyperexponential = {{ probability = 0.6, {means} }} }}")
            }
            8 => format!("{{ lognormal = {{ mean = {}, deviation = {mean} }} }}", 2.0 * mean),
            9 => format!("{{ normal = {{ mean = {mean}, deviation = {deviation} }} }}"),
            10 => format!("{{ weibull = {{ scale = {mean}, shape = {} }} }}", self.one_of(&[0.75, 1.5])),
            _ => format!("{{ triangular = [{deviation}, {mean}, {}] }}", 2.0 * mean),
        }
    }

    /// One of the nodes that any route may lead to.
    fn any(&mut self) -> String {
        let number = self.below(u32::try_from(self.nodes.len()).unwrap());
        self.nodes[number as usize].clone()
    }

    /// A link, with a travel time now and then.
    fn link(&mut self, node: &str, more: &str) -> String {
        let travel = match self.travels && self.one_in(3) {
            true => format!(", travel = {}", self.law(0.5)),
            false => String::new(),
        };
        format!("{{ {}node = {node:?}{travel}{} }}", self.class_of_link(more), more)
    }

    /// Now and then, a link is for one class.
    fn class_of_link(&mut self, more: &str) -> String {
        match more.is_empty() && self.classes.len() > 1 && self.one_in(12) {
            true => format!("class = {:?}, ", self.classes[1]),
            false => String::new(),
        }
    }

    /// Routes to a node, and to others.
    fn to(&mut self, next: &str, name: &str) -> String {
        let other = self.any();
        let becomes = match self.classes.clone() {
            classes if classes.len() > 1 && self.one_in(3) => {
                format!(", becomes = {:?}", self.one_of(&classes))
            }
            _ => String::new(),
        };
        match self.below(10) {
            0 | 1 if next.starts_with(['s', 'd', 'e']) => {
                let (second, third) = (self.any(), self.any());
                let mut all = vec![next, &*second, &*third];
                all.retain(|node| node.starts_with(['s', 'd', 'e']) && *node != name);
                all.dedup();
                format!("{{ shortest = {all:?} }}")
            }
            2 => format!("{{ in_turn = {:?} }}", [next, &*other]),
            3 => format!("{{ in_turn = {:?} }}", [&*self.any(), next, &*other]),
            4 => format!("[{}]", self.link(next, &becomes)),
            5 => {
                let first = self.link(next, ", probability = 0.5");
                format!("[{first}, {}, {other:?}]", self.link(&other, ", probability = 0.25"))
            }
            6 if self.classes.len() > 1 => {
                let class = self.classes[1];
                format!("[{next:?}, {{ class = {class:?}, node = {other:?}{becomes} }}]")
            }
            _ => {
                let second = self.link(&other, &format!(", probability = 0.375{becomes}"));
                format!("[{next:?}, {second}]")
            }
        }
    }

    fn source(&mut self, class: &str, to: &str) -> String {
        let law = self.law(1.0);
        let mut text = format!("[source.in_{class}]\nclass = {class:?}\ninterarrival = {law}\nto = {to:?}\n");
        if self.one_in(4) {
            let _ = writeln!(text, "batch = {}", self.below(4) + 1);
        }
        if law.starts_with("{ exponential") && self.one_in(2) {
            text += "rates = [{ lasts = 4.0, factor = 0.5 }, { lasts = 2.0, factor = 1.0 }]\n";
        }
        text
    }

    /// The times of classes that have their own.
    fn of_classes(&mut self, what: &str, scale: f64) -> String {
        let mut text = format!("{what} = {}\n", self.law(scale));
        for class in self.classes.clone() {
            if self.one_in(5) {
                let _ = writeln!(text, "{what}_of.{class} = {}", self.law(scale));
            }
        }
        text
    }

    /// Customers present at the start.
    fn population(&mut self, most: u32) -> String {
        if self.is_open && !self.one_in(4) {
            return String::new();
        }
        let number = self.below(most + 1);
        match self.classes.clone() {
            classes if classes.len() > 1 && self.one_in(2) => {
                format!("population_of.{} = {number}\n", self.one_of(&classes))
            }
            _ => format!("population = {number}\n"),
        }
    }

    fn delay(&mut self, name: &str, to: &str) -> String {
        let (times, population) = (self.of_classes("time", 1.5), self.population(9));
        format!("[delay.{name}]\n{times}{population}to = {to}\n")
    }

    /// A station; if it has tasks of a fork, none of them is lost.
    fn station(&mut self, name: &str, blocks: bool, has_tasks: bool, to: &str) -> String {
        let disciplines =
            ["fifo", "fifo", "lifo", "priority", "polling", "random", "preemptive", "preemptive", "sharing"];
        let discipline = self.one_of(&disciplines);
        let servers = match discipline {
            "polling" => 1,
            "preemptive" => self.below(4) + 1,
            _ => self.one_of(&[1, 1, 2, 3, 4, 6]),
        };
        let mut text = format!("[station.{name}]\ndiscipline = {discipline:?}\nto = {to}\n");
        text += &self.of_classes("service", 0.8);
        let mut room = servers;
        let interrupts = discipline == "preemptive" || discipline == "sharing";
        if !interrupts && discipline != "polling" && self.one_in(4) {
            let pieces = [(3.0, 2), (2.5, 0), (1.0, 3)];
            let pieces =
                pieces.map(|(lasts, servers)| format!("{{ lasts = {lasts:?}, servers = {servers} }}"));
            let _ = writeln!(text, "schedule = [{}]", pieces.join(", "));
            room = 3;
        } else {
            let _ = writeln!(text, "servers = {servers}");
        }
        let mut population = 6;
        if blocks || !has_tasks && self.one_in(3) {
            population = room + self.below(4);
            let _ = writeln!(text, "capacity = {population}");
        }
        if blocks {
            text += "when_full = \"block\"\n";
        }
        if !interrupts && self.one_in(5) {
            let (up, down) = (self.law(6.0), self.law(1.0));
            let _ = writeln!(text, "breakdown = {{ up = {up}, down = {down} }}");
        }
        if discipline != "random" && discipline != "sharing" && !blocks && !has_tasks && self.one_in(3) {
            text += &self.of_classes("patience", 0.7);
        }
        if !blocks && !has_tasks && self.one_in(4) {
            text += self.one_of(&["balking = [0, 0.2, 0.3, 0.5]\n", "balking = [0, 0, 1]\n"]);
        } else if !has_tasks {
            text += &self.population(population);
        }
        text
    }

    /// A fork with stations for its tasks, and now and then another fork within it.
    fn fork(&mut self, name: &str, to: &str) -> String {
        let tasks = self.one_of(&["[\"t0\", \"t1\"]", "[\"t0\", \"t0\", \"t1\"]", "[\"t1\", \"t0\"]"]);
        let mut text = format!("[fork.{name}]\ntasks = {tasks}\nto = {to}\n");
        let (nested, blocks) = (self.one_in(3), self.one_in(6));
        let first = self.one_of(&["[{ node = \"t1\", probability = 0.25 }, \"f\"]", "\"f\""]);
        text += &self.station("t0", false, true, if nested { "\"g\"" } else { first });
        text += &self.station("t1", blocks, true, "\"f\"");
        if nested {
            let tasks = self.one_of(&["[\"u0\", \"u1\"]", "[\"u1\", \"u0\", \"u1\"]"]);
            let after = self.one_of(&["\"f\"", "\"t1\""]);
            let _ =
                writeln!(text, "[fork.g]\ntasks = {tasks}\nto = {}", if blocks { "\"f\"" } else { after });
            text += &self.station("u0", false, true, "\"g\"");
            text += &self.station("u1", false, true, "\"g\"");
        }
        text
    }
}
