//! Writes the stations of a network: lines, servers, losses, breakdowns.

use serde_json::json;

use crate::facility::Discipline;
use crate::facility::nodes::{Kind, Node};

use super::write::{Block, Writer, law, plus, set};

/// The priority of services that have begun, where no customer preempts them.
const BEGUN: i32 = -2_000_000_000;

/// The priority of breakdowns.
const BREAKS: i32 = -2_100_000_000;

/// Whether services of a station can be interrupted.
fn interrupts(node: &Node) -> bool {
    let preempts = matches!(node.kind, Kind::Station { discipline: Discipline::Preemptive, .. });
    preempts || node.breakdown.is_some()
}

impl Writer<'_> {
    pub(super) fn station(&mut self, number: usize) {
        let node = &self.nodes[number];
        let Kind::Station { servers: Some(servers), capacity, discipline } = node.kind else { return };
        let queue = match discipline {
            _ if interrupts(node) => "preempt",
            Discipline::Fifo => "fifo",
            _ => "priority",
        };
        let mut resource = json!({ "queue": queue });
        match node.calendar.is_empty() {
            true => resource["units"] = servers.into(),
            false => {
                resource["schedule"] =
                    node.calendar.iter().map(|&(lasts, servers)| json!([lasts, servers])).collect()
            }
        }
        self.resources.insert(self.names.of("servers", number), resource);
        if node.blocks {
            self.resources.insert(self.names.of("room", number), json!(capacity.expect("it is checked")));
        }
        for class in self.coming(number) {
            self.arrival(number, class);
        }
        if node.pairs.iter().any(|pair| pair.comes && pair.patience.is_some()) {
            self.impatient(number);
        }
        if let Some((up, down)) = node.breakdown {
            let (broken, name) = (self.names.of("down", number), self.names.of("servers", number));
            self.level(&broken);
            let breaker = self.names.of("breaker", number);
            self.entities.insert(
                self.names.of("breakdown", number),
                json!({
                    "at_start": 1,
                    "attributes": { "repair": { "kind": "time", "value": 0 } },
                    "do": [{ "forever": [
                        { "delay": law(&up) },
                        { "set": "repair", "to": law(&down) },
                        set(&broken, 1),
                        { "spawn": breaker, "count": servers, "set": { "back": "now + repair" } },
                        { "delay": "repair" },
                        set(&broken, 0),
                    ] }],
                }),
            );
            // A server that is not there, or is blocked, is stopped when it comes back.
            self.entities.insert(
                breaker,
                json!({
                    "attributes": { "back": { "kind": "time", "value": 0 } },
                    "do": [{ "use": name, "priority": BREAKS, "patience": "back - now", "for": "back - now" }],
                }),
            );
        }
        let block = if interrupts(node) { self.interruptible(number) } else { self.simple(number) };
        self.block(self.names.of("at", number), block);
    }

    /// What a customer does that comes: it balks, is lost, or gets its place in the line.
    fn arrival(&mut self, number: usize, class: usize) {
        let node = &self.nodes[number];
        let Kind::Station { capacity, discipline, .. } = node.kind else { return };
        let pair = &node.pairs[class];
        let of = |what| self.names.pair(what, number, class);
        let [present, busy] = ["number", "busy"].map(of);
        let here = self.number(number);
        let mut block = vec![json!({ "count": of("arrived") }), set("fresh", 0)];
        for (found, &leaves) in node.balking.iter().enumerate() {
            let last = found + 1 == node.balking.len();
            let condition = format!("{here} {} {found}", if last { ">=" } else { "==" });
            let balks = [vec![json!({ "count": of("balked") })], Self::gone()].concat();
            let balks = json!({ "with": leaves, "do": balks });
            block.push(json!({ "if": condition, "do": [balks] }));
        }
        if let (Some(capacity), false) = (capacity, node.blocks) {
            let lost = [vec![json!({ "count": of("lost") })], Self::gone()].concat();
            block.push(json!({ "if": format!("{here} >= {capacity}"), "do": lost }));
        }
        let time = law(pair.service.as_ref().expect("it is checked"));
        block.extend([set("came", "now"), plus(&present, 1), set("work", time)]);
        if let Some(patience) = &pair.patience {
            block.extend([set("patience", law(patience)), set("patient", 1)]);
        } else if node.pairs.iter().any(|pair| pair.patience.is_some()) {
            block.push(set("patient", 0));
        }
        let rank = i32::try_from(class).expect("there are fewer classes");
        match discipline {
            Discipline::Lifo => {
                let count = self.names.of("arrivals", number);
                self.variable(&count);
                block.extend([plus(&count, 1), set("order", format!("0 - {count}"))]);
            }
            Discipline::Priority => block.push(set("order", rank)),
            Discipline::Preemptive => block.push(set("order", 2 * rank + 1)),
            _ => block.push(set("order", 0)),
        }
        block.push(json!({ "go": self.names.of("at", number) }));
        for level in [present, busy] {
            self.level(&level);
        }
        self.block(self.names.pair("at", number, class), block);
    }

    /// What a customer does whose patience ends.
    fn impatient(&mut self, number: usize) {
        let mut block = Vec::new();
        if self.nodes[number].blocks {
            block.push(json!({ "release": self.names.of("room", number) }));
        }
        block.extend(self.by_class(number, |all, class| {
            let [reneged, present] = ["reneged", "number"].map(|what| all.names.pair(what, number, class));
            vec![json!({ "count": reneged }), plus(&present, -1)]
        }));
        block.extend(Self::gone());
        self.block(self.names.of("gone", number), block);
    }

    /// Waits for a server: the keys of a statement.
    fn waiting(&self, number: usize, mut statement: serde_json::Value, only: &str) -> serde_json::Value {
        let node = &self.nodes[number];
        let Kind::Station { discipline, .. } = node.kind else { return statement };
        if interrupts(node) || discipline != Discipline::Fifo {
            statement["priority"] = "order".into();
        }
        if node.pairs.iter().any(|pair| pair.comes && pair.patience.is_some()) {
            let gone = self.names.of("gone", number);
            let when = format!("patient == 1{only}");
            statement["patience"] = json!({ "time": "patience", "when": when, "else": [{ "go": gone }] });
        }
        statement
    }

    /// What a customer does that has been served and still holds its server.
    fn before_release(&mut self, number: usize) -> Block {
        if !self.nodes[number].holds(self.nodes) {
            return Vec::new();
        }
        let blocked = self.names.of("blocked", number);
        self.level(&blocked);
        let mut block = vec![plus(&blocked, 1)];
        block.extend(self.by_class(number, |all, class| all.held_routes(number, class).0));
        block.push(plus(&blocked, -1));
        block
    }

    /// What a customer does behind its service. `busy` says whether it still counts as served.
    fn departure(&mut self, number: usize, busy: bool) -> Block {
        let node = &self.nodes[number];
        let (holds, room) = (node.holds(self.nodes), node.blocks.then(|| self.names.of("room", number)));
        self.by_class(number, |all, class| {
            let of = |what| all.names.pair(what, number, class);
            let mut block =
                vec![json!({ "tally": of("sojourn"), "value": "now - came" }), plus(&of("number"), -1)];
            if busy {
                block.push(plus(&of("busy"), -1));
            }
            block.extend(room.iter().map(|room| json!({ "release": room })));
            block.extend(if holds { all.held_routes(number, class).1 } else { all.routes(number, class) });
            block
        })
    }

    /// The wait of a customer whose service begins.
    fn waited(&mut self, number: usize) -> Block {
        self.by_class(number, |all, class| {
            vec![json!({ "tally": all.names.pair("wait", number, class), "value": "now - came" })]
        })
    }

    fn busy(&mut self, number: usize, by: i32) -> Block {
        self.by_class(number, |all, class| vec![plus(&all.names.pair("busy", number, class), by)])
    }

    /// Services that nothing interrupts.
    fn simple(&mut self, number: usize) -> Block {
        let servers = self.names.of("servers", number);
        let mut block = vec![self.waiting(number, json!({ "seize": servers }), "")];
        block.extend(self.waited(number));
        block.extend(self.busy(number, 1));
        block.push(json!({ "delay": "work" }));
        block.extend(self.before_release(number));
        block.push(json!({ "release": servers }));
        block.extend(self.departure(number, true));
        block
    }

    /// Services that preemption and breakdowns interrupt: the rest follows later.
    fn interruptible(&mut self, number: usize) -> Block {
        let node = &self.nodes[number];
        let servers = self.names.of("servers", number);
        let Kind::Station { discipline, .. } = node.kind else { return Vec::new() };
        let begun = match discipline {
            Discipline::Preemptive => json!("2 * class"),
            _ => json!(BEGUN),
        };
        let first = [self.waited(number), vec![set("begun", 1), set("order", begun)]].concat();
        let counts = [self.busy(number, 1), vec![set("counted", 1)]].concat();
        let mut body =
            vec![json!({ "if": "begun == 0", "do": first }), json!({ "if": "counted == 0", "do": counts })];
        let waits = [self.busy(number, -1), vec![set("counted", 0)]].concat();
        let mut taken = vec![set("work", "work - (now - since)")];
        if node.breakdown.is_some() {
            let [broken, interrupted] = ["down", "interrupted"].map(|what| self.names.of(what, number));
            self.level(&interrupted);
            let repaired = [plus(&interrupted, -1), set("counted", 1)];
            body.push(json!({ "if": "counted == 2", "do": repaired }));
            let stops = [plus(&interrupted, 1), set("counted", 2)];
            taken.push(json!({ "if": format!("{broken} == 1"), "do": stops, "else": waits }));
        } else {
            taken.extend(waits);
        }
        body.push(set("since", "now"));
        let mut then = vec![set("done", 1)];
        then.extend(self.before_release(number));
        then.extend(self.busy(number, -1));
        let used = json!({ "use": servers, "do": body, "for": "work", "then": then, "preempted": taken });
        let used = self.waiting(number, used, " and begun == 0");
        let mut block = vec![
            set("begun", 0),
            set("done", 0),
            set("counted", 0),
            json!({ "while": "done == 0", "do": [used] }),
        ];
        block.extend(self.departure(number, false));
        block
    }
}
