//! Writes the routes of a network.

use serde_json::{Map, Value, json};

use crate::facility::Distribution;
use crate::facility::beyond::Selection;
use crate::facility::nodes::{Choice, Kind, ResolvedRoute};

use super::blocking::waits;
use super::write::{Block, Writer, choose, law, plus, set};

/// Lets what else is due in this instant happen, services that end above all: customers arrive
/// behind that, as in the network form.
fn settles() -> Value {
    json!({ "delay": 0 })
}

impl Writer<'_> {
    /// The routes of a customer that holds nothing.
    pub(super) fn routes(&mut self, number: usize, class: usize) -> Block {
        let node = &self.nodes[number];
        let routes = &node.pairs[class].routes;
        let compares = node.choice == Choice::Shortest && routes.len() > 1;
        let ways: Vec<Block> = routes.iter().map(|route| self.along(route, class, compares)).collect();
        let first = if compares { vec![settles()] } else { Vec::new() };
        [first, self.chosen((number, node.choice), routes, ways)].concat()
    }

    /// The same for the routes of customers that lost patience, which chance chooses.
    pub(super) fn reneged_routes(&mut self, number: usize, class: usize) -> Block {
        let routes = &self.nodes[number].pairs[class].reneged;
        let ways: Vec<Block> = routes.iter().map(|route| self.along(route, class, false)).collect();
        self.chosen((number, Choice::Chance), routes, ways)
    }

    /// One of several blocks, one for each route.
    fn chosen(
        &mut self,
        (number, choice): (usize, Choice),
        routes: &[ResolvedRoute],
        mut ways: Vec<Block>,
    ) -> Block {
        if ways.len() == 1 {
            return ways.remove(0);
        }
        let count = ways.len();
        match choice {
            Choice::Chance => {
                let last = ways.pop().expect("there are several");
                let arms = ways.into_iter().zip(routes);
                let arms: Vec<_> =
                    arms.map(|(way, route)| json!({ "p": route.probability, "do": way })).collect();
                vec![json!({ "with": arms, "else": last })]
            }
            Choice::InTurn => {
                let turn = self.names.of("turn", number);
                self.first(&turn, 0);
                let arms = ways.into_iter().enumerate().map(|(place, way)| {
                    let next = set(&turn, (place + 1) % count);
                    (format!("{turn} == {place}"), [vec![next], way].concat())
                });
                choose(arms.collect())
            }
            Choice::Shortest => {
                let selection = self.nodes[number].beyond.selection;
                if let Selection::Of(some) = selection {
                    return self.shortest_of(some, routes, ways);
                }
                let (mut block, mut lines) = (Vec::new(), Vec::new());
                for route in routes {
                    if selection == Selection::LeastWork {
                        // All lines in one expression would be a long one.
                        let left = self.names.of("left", route.node);
                        self.clock(&left);
                        block.push(set(&left, self.work_left(route.node)));
                        lines.push(left);
                    } else {
                        lines.push(self.number(route.node));
                    }
                }
                let arms = ways.into_iter().enumerate().map(|(place, way)| {
                    let rest = lines[place + 1..].join(", ");
                    let rest = if place + 2 < count { format!("min({rest})") } else { rest };
                    (format!("{} <= {rest}", lines[place]), way)
                });
                block.extend(choose(arms.collect()));
                block
            }
        }
    }

    /// The shortest of some lines at random; the first drawn of equal ones.
    fn shortest_of(&mut self, some: u32, routes: &[ResolvedRoute], ways: Vec<Block>) -> Block {
        let count = routes.len();
        let uniform = |count: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a probability")]
            let share = 1.0 / count as f64;
            let all: Map<String, Value> = (0..count).map(|place| (place.to_string(), share.into())).collect();
            json!({ "choice": all })
        };
        let length = |place: &str| {
            let last = self.number(routes[count - 1].node);
            (0..count - 1).rev().fold(last, |rest, line| {
                format!("if({place} == {line}, {}, {rest})", self.number(routes[line].node))
            })
        };
        let shorter = format!("{} < {}", length("other"), length("pick"));
        let mut block = vec![set("pick", uniform(count))];
        if some == 2 {
            block.extend([
                set("other", uniform(count - 1)),
                json!({ "if": "other >= pick", "do": [plus("other", 1)] }),
                json!({ "if": shorter, "do": [set("pick", "other")] }),
            ]);
        } else {
            // The lines that were drawn are the digits of a binary number.
            for name in ["drawn", "digit", "draws"] {
                self.whole(name);
            }
            let digit = |place: &str| {
                (0..count - 1).rev().fold((1_u32 << (count - 1)).to_string(), |rest, line| {
                    format!("if({place} == {line}, {}, {rest})", 1_u32 << line)
                })
            };
            let new = json!([
                set("drawn", "drawn + digit"),
                plus("draws", 1),
                { "if": shorter, "do": [set("pick", "other")] },
            ]);
            let again = json!([
                set("other", uniform(count)),
                set("digit", digit("other")),
                { "if": "drawn / digit % 2 == 0", "do": new },
            ]);
            block.extend([set("drawn", digit("pick")), set("draws", 1)]);
            block.push(json!({ "while": format!("draws < {some}"), "do": again }));
        }
        let arms = ways.into_iter().enumerate().map(|(place, way)| (format!("pick == {place}"), way));
        block.extend(choose(arms.collect()));
        block
    }

    /// What comes before an arrival at a node: only at stations does the order matter.
    fn settled(&self, node: usize) -> Block {
        match self.nodes[node].kind {
            Kind::Station { servers: Some(_), .. } => vec![settles()],
            _ => Vec::new(),
        }
    }

    /// Travels.
    fn travel(&mut self, time: &Distribution, arrival: Block) -> Block {
        self.level("travelling");
        let begin = vec![plus("travelling", 1), json!({ "delay": law(time) })];
        [begin, arrival, vec![plus("travelling", -1)]].concat()
    }

    /// The way of a customer that holds no server. It waits where it is for room at a station that
    /// blocks, or is lost there if it comes from a source. `settled` says that the instant of the
    /// arrival [settles](settles) before, if the way takes no time.
    pub(super) fn along(&mut self, route: &ResolvedRoute, class: usize, settled: bool) -> Block {
        let mut way = Vec::new();
        if route.class != class {
            way.push(set("class", route.class));
        }
        let mut enters = self.settled(route.node);
        if settled && route.travel.is_none() {
            enters.clear();
        }
        if self.nodes[route.node].blocks {
            let room = self.room(route.node, route.class);
            let [arrived, lost] =
                ["arrived", "lost"].map(|what| self.names.pair(what, route.node, route.class));
            let no_room = format!("fresh == 1 and (free({room}) <= 0 or queue({room}) > 0)");
            let mut turned = vec![json!({ "count": arrived }), json!({ "count": lost })];
            turned.extend(self.note("lost", route.node, route.class));
            if route.travel.is_some() {
                turned.push(plus("travelling", -1));
            }
            turned.extend(self.gone());
            enters.extend([json!({ "if": no_room, "do": turned }), json!({ "seize": room })]);
        }
        way.extend(match &route.travel {
            Some(time) => self.travel(time, enters),
            None => enters,
        });
        way.push(json!({ "go": self.names.pair("at", route.node, route.class) }));
        way
    }

    /// Whether the way of a customer from a node, through routers, depends on lines.
    fn compares(&self, (number, class): (usize, usize)) -> bool {
        let node = &self.nodes[number];
        let routers = node.pairs[class]
            .routes
            .iter()
            .filter(|route| route.travel.is_none() && self.nodes[route.node].kind == Kind::Router);
        node.choice == Choice::Shortest
            || routers.into_iter().any(|route| self.compares((route.node, route.class)))
    }

    /// The routes of a customer that keeps its server until it has room at the next station: what
    /// it does while it holds the server, and behind that.
    pub(super) fn held_routes(&mut self, number: usize, class: usize) -> (Block, Block) {
        let mut reached = Vec::new();
        let choice = self.held(number, (number, class), &[], &mut reached);
        let compares = self.compares((number, class));
        let arms = reached.into_iter().map(|place: usize| {
            let (node, to, travels) = self.targets[place].clone();
            let mut way = if to == class { Vec::new() } else { vec![set("class", to)] };
            // The next one that compares lines sees this customer.
            let mut enters = if compares && travels.is_empty() { Vec::new() } else { self.settled(node) };
            if self.nodes[node].blocks && !travels.is_empty() {
                // It has left its server, and waits for room on its way.
                enters.push(json!({ "seize": self.room(node, to) }));
            }
            let (last, before) =
                travels.split_last().map_or((None, &[][..]), |(last, rest)| (Some(last), rest));
            for time in before {
                way.extend(self.travel(time, Vec::new()));
            }
            way.extend(match last {
                Some(time) => self.travel(time, enters),
                None => enters,
            });
            way.push(json!({ "go": self.names.pair("at", node, to) }));
            (format!("next == {place}"), way)
        });
        let arms = arms.collect();
        (choice, choose(arms))
    }

    /// Chooses the end of a route through routers, and seizes room there for a customer that keeps
    /// a server of `from`.
    fn held(
        &mut self,
        from: usize,
        (number, class): (usize, usize),
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
                way.extend(self.held(from, (route.node, route.class), &travels, reached));
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
            let travels_there = !self.targets[place].2.is_empty();
            let mut way = vec![set("next", place)];
            if node.blocks && !travels_there {
                let seizes = json!({ "seize": self.room(route.node, route.class) });
                if self.cyclic[from] && self.cyclic[route.node] {
                    let waits = waits(self.names, from, route.node);
                    self.first(&waits, 0);
                    way.extend([plus(&waits, 1), seizes, plus(&waits, -1)]);
                } else {
                    way.push(seizes);
                }
            }
            ways.push(way);
        }
        self.chosen((number, self.nodes[number].choice), &pair.routes, ways)
    }
}
