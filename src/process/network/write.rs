//! Writes a network as a process model in JSON: nodes and routes.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::facility::nodes::{Choice, Kind, Node, Pair, ResolvedRoute};
use crate::facility::outline::Outline;
use crate::facility::{Distribution, Network};

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
                let mut found = plain.clone();
                for number in 2.. {
                    if !found.is_empty() && taken.insert(found.clone()) {
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

    /// A name for something of a class at a node. A name alone has no two underscores.
    pub(super) fn pair(&self, what: &str, node: usize, class: usize) -> String {
        format!("{what}_{}__{}", self.nodes[node], self.classes[class])
    }
}

/// Statements.
pub(super) type Block = Vec<Value>;

/// The end of a route: a node, with the class there and the travels on the way.
type Target = (usize, usize, Vec<Distribution>);

/// Writes the parts of a process model.
pub(super) struct Writer<'n> {
    pub(super) nodes: &'n [Node],
    pub(super) names: &'n Names,
    outline: &'n Outline,
    variables: Map<String, Value>,
    pub(super) resources: Map<String, Value>,
    pub(super) entities: Map<String, Value>,
    blocks: Map<String, Value>,
    /// The blocks at which customers begin.
    pub(super) entries: Vec<String>,
    /// The ends of routes of customers that hold a server meanwhile.
    targets: Vec<Target>,
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

impl<'n> Writer<'n> {
    /// The description.
    pub(super) fn network(&self) -> &'n Network {
        self.outline.network()
    }

    pub(super) fn new(outline: &'n Outline, names: &'n Names) -> Self {
        Self {
            nodes: outline.nodes(),
            names,
            outline,
            variables: Map::new(),
            resources: Map::new(),
            entities: Map::new(),
            blocks: Map::new(),
            entries: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// The process model as JSON.
    pub(super) fn write(mut self) -> String {
        self.level("inside");
        for number in 0..self.nodes.len() {
            self.node(number);
        }
        self.beginning();
        let network = self.outline.network();
        let mut customer = self.blocks;
        let dispatch = self
            .entries
            .iter()
            .enumerate()
            .map(|(entry, block)| (format!("entry == {entry}"), vec![json!({ "go": block })]));
        customer.insert("do".to_owned(), choose(dispatch.collect()).into());
        let whole =
            ["entry", "class", "fresh", "task", "begun", "done", "patient", "order", "next", "counted"];
        let mut attributes: Map<String, Value> =
            whole.map(|name| (name.to_owned(), json!(0))).into_iter().collect();
        for name in ["came", "work", "patience", "since"] {
            attributes.insert(name.to_owned(), json!({ "kind": "time", "value": 0 }));
        }
        customer.insert("attributes".to_owned(), attributes.into());
        self.entities.insert("customer".to_owned(), customer.into());
        let mut model = json!({
            "name": network.name,
            "about": network.about,
            "unit": network.unit,
            "ticks_per_unit": self.outline.resolution().ticks_per_unit(),
            "variable": self.variables,
            "resource": self.resources,
            "entity": self.entities,
        });
        for (key, time) in [("until", network.until), ("warm_up", network.warm_up)] {
            if let Some(time) = time {
                model[key] = time.into();
            }
        }
        serde_json::to_string_pretty(&model).expect("text keys")
    }

    /// A variable with a time average.
    pub(super) fn level(&mut self, name: &str) {
        self.variables.insert(name.to_owned(), json!({ "value": 0, "level": true }));
    }

    pub(super) fn variable(&mut self, name: &str) {
        self.variables.insert(name.to_owned(), json!(0));
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
    pub(super) fn gone() -> Block {
        vec![plus("inside", -1), json!({ "end": true })]
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
                    let block = [vec![json!({ "tally": tally })], Self::gone()].concat();
                    self.block(self.names.pair("at", number, class), block);
                }
            }
        }
    }

    fn delay(&mut self, number: usize) {
        for class in self.coming(number) {
            let pair = &self.nodes[number].pairs[class];
            let [present, sojourn] = ["number", "sojourn"].map(|what| self.names.pair(what, number, class));
            self.level(&present);
            let time = law(pair.service.as_ref().expect("it is checked"));
            let mut block =
                vec![set("fresh", 0), set("came", "now"), plus(&present, 1), json!({ "delay": time })];
            // A customer keeps its place here until it has room.
            let holds = self.nodes[number].holds(self.nodes);
            let (before, after) = if holds { self.held_routes(number, class) } else { Default::default() };
            block.extend(before);
            block.extend([json!({ "tally": sojourn, "value": "now - came" }), plus(&present, -1)]);
            block.extend(if holds { after } else { self.routes(number, class) });
            self.block(self.names.pair("at", number, class), block);
        }
    }

    fn fork(&mut self, number: usize) {
        let mark = number + 1;
        let waiting = self.names.of("tasks", number);
        self.level(&waiting);
        for class in self.coming(number) {
            let pair = &self.nodes[number].pairs[class];
            let [present, sojourn] = ["number", "sojourn"].map(|what| self.names.pair(what, number, class));
            self.level(&present);
            let tasks = i32::try_from(pair.tasks.len()).expect("at most 64");
            let mut block = vec![
                json!({ "if": format!("task == {mark}"), "do": [plus(&waiting, 1), { "end": true }] }),
                set("fresh", 0),
                set("came", "now"),
                plus(&present, 1),
            ];
            for (place, route) in pair.tasks.iter().enumerate() {
                let entry = self.entries.len();
                let name = format!("{}_{place}", self.names.pair("task", number, class));
                self.entries.push(name.clone());
                let mut way = vec![set("class", class)];
                way.extend(self.along(route, class));
                self.block(name, way);
                block.push(
                    json!({ "spawn": "customer", "join": true, "set": { "entry": entry, "task": mark } }),
                );
            }
            block.extend([
                json!({ "join": true }),
                plus(&waiting, -tasks),
                json!({ "tally": sojourn, "value": "now - came" }),
                plus(&present, -1),
            ]);
            block.extend(self.routes(number, class));
            self.block(self.names.pair("at", number, class), block);
        }
    }

    /// Customers that are there at time zero.
    fn beginning(&mut self) {
        let mut all = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.population > 0) {
                let entry = self.entries.len();
                let name = self.names.pair("begin", number, class);
                self.entries.push(name.clone());
                let mut block = vec![set("class", class), plus("inside", 1)];
                if node.blocks {
                    block.push(json!({ "seize": self.names.of("room", number) }));
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

    /// The routes of a customer that holds nothing.
    pub(super) fn routes(&mut self, number: usize, class: usize) -> Block {
        let pair = &self.nodes[number].pairs[class];
        let ways: Vec<Block> = pair.routes.iter().map(|route| self.along(route, class)).collect();
        self.chosen(number, pair, ways)
    }

    /// One of several blocks, one for each route.
    fn chosen(&mut self, number: usize, pair: &Pair, mut ways: Vec<Block>) -> Block {
        if ways.len() == 1 {
            return ways.remove(0);
        }
        let count = ways.len();
        match self.nodes[number].choice {
            Choice::Chance => {
                let last = ways.pop().expect("there are several");
                let arms = ways.into_iter().zip(&pair.routes);
                let arms: Vec<_> =
                    arms.map(|(way, route)| json!({ "p": route.probability, "do": way })).collect();
                vec![json!({ "with": arms, "else": last })]
            }
            Choice::InTurn => {
                let turn = self.names.of("turn", number);
                self.variable(&turn);
                let arms = ways.into_iter().enumerate().map(|(place, way)| {
                    let next = set(&turn, (place + 1) % count);
                    (format!("{turn} == {place}"), [vec![next], way].concat())
                });
                choose(arms.collect())
            }
            Choice::Shortest => {
                let lines: Vec<_> = pair.routes.iter().map(|route| self.number(route.node)).collect();
                let arms = ways.into_iter().enumerate().map(|(place, way)| {
                    let condition = match lines[place + 1..].join(", ") {
                        rest if rest.is_empty() => String::new(),
                        rest if place + 2 == count => format!("{} <= {rest}", lines[place]),
                        rest => format!("{} <= min({rest})", lines[place]),
                    };
                    (condition, way)
                });
                choose(arms.collect())
            }
        }
    }

    /// Travels.
    fn travel(&mut self, time: &Distribution, arrival: Block) -> Block {
        self.level("travelling");
        let begin = vec![plus("travelling", 1), json!({ "delay": law(time) })];
        [begin, arrival, vec![plus("travelling", -1)]].concat()
    }

    /// The way of a customer that holds no server. It waits where it is for room at a station that
    /// blocks, or is lost there if it comes from a source.
    fn along(&mut self, route: &ResolvedRoute, class: usize) -> Block {
        let mut way = Vec::new();
        if route.class != class {
            way.push(set("class", route.class));
        }
        let mut enters = Vec::new();
        if self.nodes[route.node].blocks {
            let room = self.names.of("room", route.node);
            let [arrived, lost] =
                ["arrived", "lost"].map(|what| self.names.pair(what, route.node, route.class));
            let no_room = format!("fresh == 1 and (free({room}) <= 0 or queue({room}) > 0)");
            let mut turned = vec![json!({ "count": arrived }), json!({ "count": lost })];
            if route.travel.is_some() {
                turned.push(plus("travelling", -1));
            }
            turned.extend(Self::gone());
            enters = vec![json!({ "if": no_room, "do": turned }), json!({ "seize": room })];
        }
        way.extend(match &route.travel {
            Some(time) => self.travel(time, enters),
            None => enters,
        });
        way.push(json!({ "go": self.names.pair("at", route.node, route.class) }));
        way
    }

    /// The routes of a customer that keeps its server until it has room at the next station: what
    /// it does while it holds the server, and behind that.
    pub(super) fn held_routes(&mut self, number: usize, class: usize) -> (Block, Block) {
        let mut reached = Vec::new();
        let choice = self.held(number, class, &[], &mut reached);
        let arms = reached.into_iter().map(|place: usize| {
            let (node, to, travels) = self.targets[place].clone();
            let mut way = if to == class { Vec::new() } else { vec![set("class", to)] };
            for time in &travels {
                way.extend(self.travel(time, Vec::new()));
            }
            way.push(json!({ "go": self.names.pair("at", node, to) }));
            (format!("next == {place}"), way)
        });
        let arms = arms.collect();
        (choice, choose(arms))
    }

    /// Chooses the end of a route through routers, and seizes room there.
    fn held(
        &mut self,
        number: usize,
        class: usize,
        before: &[Distribution],
        reached: &mut Vec<usize>,
    ) -> Block {
        let pair = &self.nodes[number].pairs[class];
        let mut ways = Vec::new();
        for route in &pair.routes {
            let travels: Vec<_> = before.iter().copied().chain(route.travel).collect();
            let node = &self.nodes[route.node];
            if node.kind == Kind::Router && travels.is_empty() {
                let count = self.names.pair("passed", route.node, route.class);
                let mut way = vec![json!({ "count": count })];
                way.extend(self.held(route.node, route.class, &travels, reached));
                ways.push(way);
                continue;
            }
            let target = (route.node, route.class, travels);
            let place = self.targets.iter().position(|known| *known == target).unwrap_or_else(|| {
                self.targets.push(target.clone());
                self.targets.len() - 1
            });
            if !reached.contains(&place) {
                reached.push(place);
            }
            let mut way = vec![set("next", place)];
            if node.blocks {
                way.push(json!({ "seize": self.names.of("room", route.node) }));
            }
            ways.push(way);
        }
        self.chosen(number, pair, ways)
    }
}
