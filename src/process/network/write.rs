//! Writes a network as a process model in JSON: nodes and routes.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::facility::measures::Measured;
use crate::facility::nodes::{Kind, Node};
use crate::facility::outline::Outline;
use crate::facility::{Distribution, Follow, Measure, Network};

/// Names of nodes and classes that the language of process models allows, in their order.
#[derive(Debug)]
pub(super) struct Names {
    nodes: Vec<String>,
    classes: Vec<String>,
}

impl Names {
    pub(super) fn new(network: &Network) -> Self {
        let unique = |names: &mut dyn Iterator<Item = &str>| {
            let mut taken = HashSet::new();
            let mut all = Vec::new();
            for name in names {
                let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
                let plain = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
                // Names of other alphabets have no such letter.
                let plain = if plain.is_empty() { "n".to_owned() } else { plain };
                let mut found = plain.clone();
                for number in 2.. {
                    if taken.insert(found.clone()) {
                        break;
                    }
                    found = format!("{plain}_{number}");
                }
                all.push(found);
            }
            all
        };
        Self {
            nodes: unique(&mut network.names()),
            classes: unique(&mut network.classes.iter().map(String::as_str)),
        }
    }

    /// A name for something of a node.
    pub(super) fn of(&self, what: &str, node: usize) -> String {
        format!("{what}_{}", self.nodes[node])
    }

    /// What a name is of: its first part, and the node.
    pub(super) fn find<'t>(&self, name: &'t str) -> Option<(&'t str, usize)> {
        let (what, rest) = name.split_once('_')?;
        let node = rest.split_once("__").map_or(rest, |(node, _)| node);
        Some((what, self.nodes.iter().position(|known| known == node)?))
    }

    /// What a name of a class at a node is of: its first part, the node and the class.
    pub(super) fn find_pair<'t>(&self, name: &'t str) -> Option<(&'t str, usize, usize)> {
        let (what, node) = self.find(name)?;
        let (_, class) = name.split_once("__")?;
        Some((what, node, self.classes.iter().position(|known| known == class)?))
    }

    /// What the statement in a line of the model is of: the key above it that names a node.
    pub(super) fn at_line<'t>(&self, text: &'t str, line: usize) -> Option<(&'t str, usize)> {
        let keys = text.lines().take(line).filter_map(|line| {
            let (key, value) = line.trim_start().strip_prefix('"')?.split_once("\": ")?;
            value.ends_with(['[', '{']).then_some(key)
        });
        let found: Vec<_> = keys.filter_map(|key| self.find(key)).collect();
        found.last().copied()
    }

    /// The names for something of a class that comes to a node, or of all.
    pub(super) fn tallies(
        &self,
        nodes: &[Node],
        node: usize,
        class: Option<usize>,
        what: &str,
    ) -> Vec<String> {
        let pairs = nodes[node].pairs.iter().enumerate();
        let classes = pairs.filter(|(number, pair)| pair.comes && class.is_none_or(|only| only == *number));
        classes.map(|(class, _)| self.pair(what, node, class)).collect()
    }

    /// A name for something of a class at a node. A name alone has no two underscores.
    pub(super) fn pair(&self, what: &str, node: usize, class: usize) -> String {
        format!("{what}_{}__{}", self.nodes[node], self.classes[class])
    }
}

/// The attributes of customers that are whole numbers.
const WHOLE: [&str; 12] = [
    "entry", "class", "fresh", "task", "begun", "done", "patient", "order", "next", "counted", "pick",
    "other",
];

/// Statements.
pub(super) type Block = Vec<Value>;

/// The end of a route: a node, with the class there and the travels on the way.
pub(super) type Target = (usize, usize, Vec<Distribution>);

/// Where followed customers begin: a node, a class, and the tag of the first one.
pub(super) type Begin = (usize, usize, u32);

/// Writes the parts of a process model.
pub(super) struct Writer<'n> {
    pub(super) nodes: &'n [Node],
    pub(super) names: &'n Names,
    outline: &'n Outline,
    /// What is reported.
    columns: &'n [Measured],
    pub(super) variables: Map<String, Value>,
    pub(super) resources: Map<String, Value>,
    pub(super) entities: Map<String, Value>,
    blocks: Map<String, Value>,
    /// The blocks at which customers begin.
    pub(super) entries: Vec<String>,
    /// The ends of routes of customers that hold a server meanwhile.
    pub(super) targets: Vec<Target>,
    /// By node, whether it is a station that may wait for itself.
    pub(super) cyclic: Vec<bool>,
    /// Which customers are followed, and where these begin.
    followed: Option<(Follow, Vec<Begin>)>,
    /// Attributes of customers that only some networks need.
    attributes: Map<String, Value>,
    pub(super) signals: Map<String, Value>,
}

/// Changes a number.
pub(super) fn plus(name: &str, by: i32) -> Value {
    match by {
        1 => json!({ "set": name, "to": format!("{name} + 1") }),
        _ => json!({ "set": name, "to": format!("{name} - {}", -by) }),
    }
}

pub(super) fn set(name: &str, to: impl Into<Value>) -> Value {
    json!({ "set": name, "to": to.into() })
}

pub(super) fn law(law: &Distribution) -> Value {
    if *law == Distribution::Constant(0.0) {
        return 0.into();
    }
    serde_json::to_value(law).expect("distributions are names and numbers")
}

/// The first block whose condition holds; the last one has none.
pub(super) fn choose(mut arms: Vec<(String, Block)>) -> Block {
    let Some((_, last)) = arms.pop() else { return Vec::new() };
    if arms.is_empty() {
        return last;
    }
    let mut arms = arms.into_iter();
    let (first, then) = arms.next().expect("there are two");
    let more: Vec<_> = arms.map(|(condition, block)| json!({ "if": condition, "do": block })).collect();
    vec![json!({ "if": first, "do": then, "elif": more, "else": last })]
}

/// The blocks that customers come to: routers before stations that block have others.
fn reached(mut blocks: Map<String, Value>, entries: &[String]) -> Map<String, Value> {
    fn leads(value: &Value, to: &mut Vec<String>) {
        match value {
            Value::Array(all) => all.iter().for_each(|value| leads(value, to)),
            Value::Object(table) => {
                to.extend(table.get("go").and_then(Value::as_str).map(str::to_owned));
                table.values().for_each(|value| leads(value, to));
            }
            _ => {}
        }
    }
    let (mut found, mut next) = (HashSet::new(), entries.to_vec());
    while let Some(name) = next.pop() {
        if found.insert(name.clone()) {
            leads(&blocks[&name], &mut next);
        }
    }
    blocks.retain(|name, _| found.contains(name));
    blocks
}

impl<'n> Writer<'n> {
    /// The description.
    pub(super) fn network(&self) -> &'n Network {
        self.outline.network()
    }

    /// `cyclic` says of each node whether it is a station that may wait for itself.
    pub(super) fn new(
        outline: &'n Outline,
        names: &'n Names,
        columns: &'n [Measured],
        cyclic: Vec<bool>,
    ) -> Self {
        Self {
            nodes: outline.nodes(),
            names,
            outline,
            columns,
            variables: Map::new(),
            resources: Map::new(),
            entities: Map::new(),
            blocks: Map::new(),
            entries: Vec::new(),
            targets: Vec::new(),
            cyclic,
            followed: None,
            attributes: Map::new(),
            signals: Map::new(),
        }
    }

    /// Follows customers: those that begin at a node in a class have tags from a first one on.
    pub(super) fn following(self, follow: Follow, tags: Vec<Begin>) -> Self {
        Self { followed: Some((follow, tags)), ..self }
    }

    /// What a customer does first, at a source or at time zero: it gets its class, and a tag if it
    /// is followed.
    pub(super) fn begins(&mut self, node: usize, class: usize) -> Block {
        let classed = set("class", class);
        let Some((Follow { every, most }, tags)) = &self.followed else { return vec![classed] };
        let begin = tags.iter().find(|(from, of, _)| (*from, *of) == (node, class));
        let first = begin.expect("customers begin there").2;
        let (every, most) = (*every, *most);
        let begun = self.names.pair("begun", node, class);
        self.first(&begun, 0);
        let follows = format!("{begun} % {every} == 0 and {begun} / {every} < {most}");
        let tag = set("tag", format!("{first} + {begun} / {every}"));
        vec![classed, json!({ "if": follows, "do": [tag] }), plus(&begun, 1)]
    }

    /// The tag of customers that another one starts.
    pub(super) fn inherits(&self, spawn: &mut Value) {
        if self.followed.is_some() {
            spawn["set"]["tag"] = "tag".into();
        }
    }

    /// A note on a customer that is followed.
    pub(super) fn note(&self, what: &str, node: usize, class: usize) -> Block {
        if self.followed.is_none() {
            return Vec::new();
        }
        let note = json!({ "note": self.names.pair(what, node, class), "value": "tag" });
        vec![json!({ "if": "tag > 0", "do": [note] })]
    }

    /// Gives customers an attribute that is a whole number.
    pub(super) fn whole(&mut self, name: &str) {
        self.attributes.insert(name.to_owned(), json!(0));
    }

    /// Gives customers an attribute of another kind.
    pub(super) fn attribute(&mut self, name: &str, kind: &str) {
        self.attributes.insert(name.to_owned(), json!({ "kind": kind, "value": 0 }));
    }

    pub(super) fn ticks_per_unit(&self) -> u32 {
        self.outline.resolution().ticks_per_unit()
    }

    /// The end of runs in the description.
    pub(super) fn until(&self) -> Option<f64> {
        self.outline.network().until
    }

    /// A number with a first value.
    pub(super) fn first(&mut self, name: &str, value: impl Into<Value>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    /// A time.
    pub(super) fn clock(&mut self, name: &str) {
        self.variables.insert(name.to_owned(), json!({ "kind": "time", "value": 0 }));
    }

    /// The process model as JSON.
    pub(super) fn write(mut self) -> String {
        self.level("inside");
        // The free places of regions.
        let mut containers = Map::new();
        for (number, region) in self.outline.network().regions.values().enumerate() {
            let places = json!({ "capacity": region.capacity, "level": region.capacity });
            containers.insert(format!("region_{number}"), places);
        }
        for number in 0..self.nodes.len() {
            self.node(number);
        }
        self.beginning();
        let network = self.outline.network();
        let bounds = self.bounds();
        let mut customer = reached(self.blocks, &self.entries);
        let dispatch = self
            .entries
            .iter()
            .enumerate()
            .map(|(entry, block)| (format!("entry == {entry}"), vec![json!({ "go": block })]));
        customer.insert("do".to_owned(), choose(dispatch.collect()).into());
        let mut attributes = Map::new();
        let regions = (0..network.regions.len()).map(|region| format!("in_{region}"));
        for name in WHOLE.map(str::to_owned).into_iter().chain(regions) {
            attributes.insert(name, json!(0));
        }
        for name in ["came", "work", "patience", "since"] {
            attributes.insert(name.to_owned(), json!({ "kind": "time", "value": 0 }));
        }
        if self.followed.is_some() {
            attributes.insert("tag".to_owned(), json!(0));
        }
        attributes.append(&mut self.attributes);
        customer.insert("attributes".to_owned(), attributes.into());
        self.entities.insert("customer".to_owned(), customer.into());
        let mut model = json!({
            "name": network.name,
            "about": network.about,
            "unit": network.unit,
            "ticks_per_unit": self.outline.resolution().ticks_per_unit(),
            "variable": self.variables,
            "resource": self.resources,
            "container": containers,
            "signal": self.signals,
            "entity": self.entities,
            "tally": bounds,
        });
        for (key, time) in [("until", network.until), ("warm_up", network.warm_up)] {
            if let Some(time) = time {
                model[key] = time.into();
            }
        }
        serde_json::to_string_pretty(&model).expect("text keys")
    }

    /// The bounds of shares and the histograms of quantiles, by the name of the tally.
    fn bounds(&self) -> Map<String, Value> {
        let mut bounds = Map::new();
        let unit = f64::from(self.outline.bin_shift()).exp2() / f64::from(self.ticks_per_unit());
        for column in self.columns {
            let waits = match column.measure {
                Measure::WaitShare => true,
                Measure::SojournShare => false,
                measure => match measure.quantile() {
                    Some((_, which)) => which == 1,
                    None => continue,
                },
            };
            let (node, what) =
                (column.node.expect("it is of a node"), if waits { "wait" } else { "sojourn" });
            for name in self.names.tallies(self.nodes, node, column.class, what) {
                let of = bounds.entry(name).or_insert(json!({ "up_to": [] }));
                let Some(bound) = column.up_to else {
                    of["histogram"] = unit.into();
                    continue;
                };
                let list = of["up_to"].as_array_mut().expect("a list");
                let bound = json!(bound.to_string());
                if !list.contains(&bound) {
                    list.push(bound);
                }
            }
        }
        bounds
    }

    /// One customer of a class more or fewer is at a node.
    pub(super) fn present(&mut self, number: usize, class: usize, by: i32) -> Block {
        let name = self.names.pair("number", number, class);
        self.level(&name);
        let mut block = vec![plus(&name, by)];
        if self.outline.details() && matches!(self.nodes[number].kind, Kind::Station { .. }) {
            let all = self.names.of("present", number);
            let level = json!({ "value": 0, "level": true, "histogram": true });
            self.variables.insert(all.clone(), level);
            block.push(plus(&all, by));
        }
        block
    }

    /// A customer comes to a node, or leaves it.
    pub(super) fn visit(&mut self, number: usize, class: usize, comes: bool) -> Block {
        let (by, what) = if comes { (1, "came") } else { (-1, "left") };
        let mut block = self.present(number, class, by);
        block.extend(self.note(what, number, class));
        block
    }

    /// A variable with a time average.
    pub(super) fn level(&mut self, name: &str) {
        self.variables.insert(name.to_owned(), json!({ "value": 0, "level": true }));
    }

    pub(super) fn block(&mut self, name: String, block: Block) {
        self.blocks.insert(name, block.into());
    }

    pub(super) fn coming(&self, node: usize) -> Vec<usize> {
        (0..self.nodes[node].pairs.len()).filter(|&class| self.nodes[node].pairs[class].comes).collect()
    }

    /// Statements that depend on the class of a customer at a node.
    pub(super) fn by_class(&mut self, node: usize, mut of: impl FnMut(&mut Self, usize) -> Block) -> Block {
        let arms: Vec<(String, Block)> = self
            .coming(node)
            .into_iter()
            .map(|class| (format!("class == {class}"), of(self, class)))
            .collect();
        match arms.iter().all(|(_, block)| *block == arms[0].1) {
            true => arms.into_iter().next().map(|(_, block)| block).unwrap_or_default(),
            false => choose(arms),
        }
    }

    /// The number of customers at a node, as an expression.
    pub(super) fn number(&self, node: usize) -> String {
        let classes = self.coming(node).into_iter();
        let names: Vec<_> = classes.map(|class| self.names.pair("number", node, class)).collect();
        format!("({})", names.join(" + "))
    }

    /// A customer leaves the network.
    pub(super) fn gone(&self) -> Block {
        let mut block = self.cross(None);
        block.extend([plus("inside", -1), json!({ "end": true })]);
        block
    }

    /// What a customer does that comes to a node, or leaves the network: it leaves regions, and
    /// waits for a place in others.
    pub(super) fn cross(&self, node: Option<usize>) -> Block {
        let mut block = Vec::new();
        let inside =
            |region: usize| node.is_some_and(|node| self.nodes[node].beyond.regions.contains(&region));
        let regions = self.outline.network().regions.len();
        // A customer that waits for a place holds none that it leaves.
        for region in (0..regions).filter(|&region| !inside(region)) {
            let (name, place) = (format!("region_{region}"), format!("in_{region}"));
            let leave = json!([{ "put": name }, set(&place, 0)]);
            block.push(json!({ "if": format!("{place} == 1"), "do": leave }));
        }
        for region in (0..regions).filter(|&region| inside(region)) {
            let (name, place) = (format!("region_{region}"), format!("in_{region}"));
            let enter = json!([{ "get": name }, set(&place, 1)]);
            block.push(json!({ "if": format!("{place} == 0"), "do": enter }));
        }
        block
    }

    fn node(&mut self, number: usize) {
        match self.nodes[number].kind {
            Kind::Source { .. } => self.source(number),
            Kind::Station { servers: None, .. } => self.delay(number),
            Kind::Station { .. } => self.station(number),
            Kind::Router => {
                for class in self.coming(number) {
                    let count = self.names.pair("passed", number, class);
                    let mut block = vec![json!({ "count": count })];
                    block.extend(self.routes(number, class));
                    self.block(self.names.pair("at", number, class), block);
                }
            }
            Kind::Fork => self.fork(number),
            Kind::Sink => {
                for class in self.coming(number) {
                    let tally = self.names.pair("sojourn", number, class);
                    let mut block = self.cross(Some(number));
                    block.push(json!({ "tally": tally }));
                    block.extend(self.note("left", number, class));
                    block.extend(self.gone());
                    self.block(self.names.pair("at", number, class), block);
                }
            }
        }
    }

    fn delay(&mut self, number: usize) {
        for class in self.coming(number) {
            let pair = &self.nodes[number].pairs[class];
            let sojourn = self.names.pair("sojourn", number, class);
            let [comes, leaves] = [true, false].map(|comes| self.visit(number, class, comes));
            let time = law(pair.service.as_ref().expect("it is checked"));
            let mut block = self.cross(Some(number));
            block.extend([set("fresh", 0), set("came", "now")]);
            block.extend(comes);
            block.extend(self.note("began", number, class));
            block.push(json!({ "delay": time }));
            // A customer keeps its place here until it has room.
            let holds = self.nodes[number].holds(self.nodes);
            let (before, after) = if holds { self.held_routes(number, class) } else { Default::default() };
            block.extend(before);
            block.push(json!({ "tally": sojourn, "value": "now - came" }));
            block.extend(leaves);
            block.extend(if holds { after } else { self.routes(number, class) });
            self.block(self.names.pair("at", number, class), block);
        }
    }

    fn fork(&mut self, number: usize) {
        let mark = number + 1;
        let waiting = self.names.of("tasks", number);
        self.level(&waiting);
        let quorum = self.nodes[number].beyond.quorum;
        let returns = if quorum.is_some() { self.reports() } else { vec![plus(&waiting, 1)] };
        let back = [returns, self.cross(None), vec![json!({ "end": true })]].concat();
        let coming = self.coming(number);
        // Tasks may return in a class in which no customer comes.
        for class in (0..self.nodes[number].pairs.len()).filter(|class| !coming.contains(class)) {
            self.block(self.names.pair("at", number, class), back.clone());
        }
        for class in coming {
            let pair = &self.nodes[number].pairs[class];
            let sojourn = self.names.pair("sojourn", number, class);
            let [comes, leaves] = [true, false].map(|comes| self.visit(number, class, comes));
            let tasks = i32::try_from(pair.tasks.len()).expect("at most 64");
            let mut block = vec![json!({ "if": format!("task == {mark}"), "do": back })];
            block.extend(self.cross(Some(number)));
            block.extend([set("fresh", 0), set("came", "now")]);
            block.extend(comes);
            if quorum.is_some() {
                block.extend([plus("forked", 1), set("visit", "forked"), set("back", 0)]);
            }
            for (place, route) in pair.tasks.iter().enumerate() {
                let entry = self.entries.len();
                let name = format!("{}_{place}", self.names.pair("task", number, class));
                self.entries.push(name.clone());
                let mut way = vec![set("class", class)];
                way.extend(self.along(route, class, false));
                self.block(name, way);
                let mut task = json!({ "spawn": "customer", "set": { "entry": entry, "task": mark } });
                self.inherits(&mut task);
                match quorum {
                    None => task["join"] = true.into(),
                    Some(_) => {
                        task["set"]["owner"] = "number".into();
                        task["set"]["ticket"] = "visit".into();
                    }
                }
                block.push(task);
            }
            match quorum {
                None => block.extend([json!({ "join": true }), plus(&waiting, -tasks)]),
                Some(quorum) => block.extend(self.gathers(quorum, &waiting)),
            }
            block.push(json!({ "tally": sojourn, "value": "now - came" }));
            block.extend(leaves);
            block.extend(self.routes(number, class));
            self.block(self.names.pair("at", number, class), block);
        }
    }

    /// A task reports to its customer that it is back, in an event of its own. Nothing happens if
    /// that one has continued.
    fn reports(&mut self) -> Block {
        for name in ["visit", "back", "owner", "ticket"] {
            self.whole(name);
        }
        for name in ["forked", "caller"] {
            self.first(name, 0);
        }
        self.signals.insert("nothing".to_owned(), json!({}));
        vec![
            json!({ "delay": 0 }),
            set("caller", "ticket"),
            json!({ "interrupt": "customer", "number": "owner" }),
        ]
    }

    /// A customer waits until some of its tasks are back. It may be at another fork when a late one
    /// of an earlier fork reports.
    fn gathers(&self, quorum: u32, waiting: &str) -> Block {
        let counts = json!({ "if": "caller == visit", "do": [plus("back", 1), plus(waiting, 1)] });
        let waits = json!({ "do": [{ "wait": "nothing" }], "interrupted": [counts] });
        let quorum = i32::try_from(quorum).expect("at most 64");
        vec![json!({ "while": format!("back < {quorum}"), "do": [waits] }), plus(waiting, -quorum)]
    }

    /// Customers that are there at time zero.
    fn beginning(&mut self) {
        let mut all = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.population > 0) {
                let entry = self.entries.len();
                let name = self.names.pair("begin", number, class);
                let mut block = self.begins(number, class);
                self.entries.push(name.clone());
                block.push(plus("inside", 1));
                if node.blocks {
                    block.push(json!({ "seize": self.room(number, class) }));
                }
                block.push(json!({ "go": self.names.pair("at", number, class) }));
                self.blocks.insert(name, block.into());
                all.push(json!({ "spawn": "customer", "count": pair.population, "set": { "entry": entry } }));
            }
        }
        if !all.is_empty() {
            self.entities.insert("beginning".to_owned(), json!({ "at_start": 1, "do": all }));
        }
    }
}
