//! Writes the stations of a network: lines, servers, losses, breakdowns.

use serde_json::json;

use crate::facility::beyond::{Interrupted, ShiftEnd};
use crate::facility::nodes::{Kind, Node};
use crate::facility::{Discipline, Distribution};

use super::write::{Block, Writer, choose, law, plus, set};

/// The priority of services that have begun, where no customer preempts them.
const BEGUN: i32 = -2_000_000_000;

/// The range of priorities that age.
const RANGE: f64 = 1e9;

/// The end of runs for priorities that age, where the description has none.
const UNKNOWN: f64 = 1e6;

/// The priority of breakdowns.
const BREAKS: i32 = -2_100_000_000;

/// Whether services of a station can be interrupted.
fn interrupts(node: &Node) -> bool {
    let preempts = matches!(node.kind, Kind::Station { discipline: Discipline::Preemptive, .. });
    preempts || node.breakdown.is_some() || node.beyond.shift == ShiftEnd::Preempt
}

impl Writer<'_> {
    pub(super) fn station(&mut self, number: usize) {
        let node = &self.nodes[number];
        let Kind::Station { servers: Some(servers), capacity, discipline } = node.kind else { return };
        let queue = match discipline {
            _ if interrupts(node) => "preempt",
            Discipline::Fifo | Discipline::Polling => "fifo",
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
        if node.beyond.shift == ShiftEnd::Preempt {
            resource["shift"] = "preempt".into();
        }
        match node.beyond.groups.is_empty() {
            true => {
                self.resources.insert(self.names.of("servers", number), resource);
            }
            false => {
                for (group, of) in node.beyond.groups.iter().enumerate() {
                    self.resources.insert(self.group(number, group), of.servers.into());
                }
            }
        }
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
        let mut block = if discipline == Discipline::Polling { self.turn(number) } else { Vec::new() };
        block.extend(match interrupts(node) {
            true => self.interruptible(number),
            false if node.beyond.groups.is_empty() => self.simple(number),
            false => self.grouped(number),
        });
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
        let mut block = self.cross(Some(number));
        block.extend([json!({ "count": of("arrived") }), set("fresh", 0)]);
        for (found, &leaves) in node.balking.iter().enumerate() {
            let last = found + 1 == node.balking.len();
            let condition = format!("{here} {} {found}", if last { ">=" } else { "==" });
            let balks = [vec![json!({ "count": of("balked") })], self.gone()].concat();
            let balks = if leaves < 1.0 { vec![json!({ "with": leaves, "do": balks })] } else { balks };
            if leaves > 0.0 {
                block.push(json!({ "if": condition, "do": balks }));
            }
        }
        if let (Some(capacity), false) = (capacity, node.blocks) {
            let lost = [vec![json!({ "count": of("lost") })], self.gone()].concat();
            block.push(json!({ "if": format!("{here} >= {capacity}"), "do": lost }));
        }
        let time = law(pair.service.as_ref().expect("it is checked"));
        block.extend([set("came", "now"), plus(&present, 1), set("work", time)]);
        if let Some(patience) = &pair.patience {
            block.extend([set("patience", law(patience)), set("patient", 1)]);
        } else if node.pairs.iter().any(|pair| pair.patience.is_some()) {
            block.push(set("patient", 0));
        }
        if self.compares_work(number) {
            let until = self.names.of("served_until", number);
            self.clock(&until);
            block.push(set(&until, format!("max({until}, now) + work")));
        }
        let [rank, last] =
            [class, node.pairs.len()].map(|class| i32::try_from(class).expect("there are fewer classes"));
        match (discipline, node.beyond.aging) {
            // All priorities fall at one rate, so the order in the line does not change.
            (Discipline::Priority, Some(aging)) => {
                let scale = self.scale(aging * f64::from(last));
                let head = (aging * f64::from(rank) * scale).round();
                block.push(set("order", format!("integer(real(now) * {scale:?}) + {head}")));
            }
            (Discipline::Lifo, _) => {
                let count = self.names.of("arrivals", number);
                self.first(&count, 0);
                block.extend([plus(&count, 1), set("order", format!("0 - {count}"))]);
            }
            (Discipline::Priority, None) => block.push(set("order", rank)),
            (Discipline::Preemptive, _) => block.push(set("order", 2 * rank + 1)),
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
            let mut block = vec![json!({ "count": reneged }), plus(&present, -1)];
            let routes = &all.nodes[number].pairs[class].reneged;
            block.extend(if routes.is_empty() { all.gone() } else { all.routes_of(number, routes, class) });
            block
        }));
        self.block(self.names.of("gone", number), block);
    }

    /// Waits for a server: the keys of a statement.
    fn waiting(&self, number: usize, mut statement: serde_json::Value, only: &str) -> serde_json::Value {
        let node = &self.nodes[number];
        let Kind::Station { discipline, .. } = node.kind else { return statement };
        if discipline == Discipline::Polling && statement.get("wait_until").is_none() {
            // It waited for its turn.
            if interrupts(node) {
                statement["priority"] = "order".into();
            }
            return statement;
        }
        let ordered = !matches!(discipline, Discipline::Fifo | Discipline::Polling);
        if statement.get("wait_until").is_none() && (interrupts(node) || ordered) {
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
        block.extend(self.setup(number));
        block.push(json!({ "delay": "work" }));
        block.extend(self.before_release(number));
        block.push(json!({ "release": servers }));
        block.extend(self.departure(number, true));
        block
    }

    /// The resource of a group.
    fn group(&self, number: usize, group: usize) -> String {
        format!("{}__{group}", self.names.of("group", number))
    }

    /// Ticks of a line whose priorities age, in a unit of time: 32 bits hold all times of a run.
    fn scale(&self, head: f64) -> f64 {
        let longest = self.until().unwrap_or(UNKNOWN) + head;
        10_f64.powf((RANGE / longest.max(1.0)).log10().floor())
    }

    /// Waits until a server that polls the classes comes to the class of the customer: no customer
    /// waits of the class that is polled, and of those from there to its own.
    fn turn(&mut self, number: usize) -> Block {
        let (servers, turn) = (self.names.of("servers", number), self.names.of("polled", number));
        let coming = self.coming(number);
        self.first(&turn, coming[0]);
        let nobody = |class: usize| {
            let [present, busy] = ["number", "busy"].map(|what| self.names.pair(what, number, class));
            format!("{present} == {busy}")
        };
        let arms = coming.iter().enumerate().map(|(place, &class)| {
            let turns = (0..coming.len()).map(|polled| {
                let before = (polled..if polled <= place { place } else { place + coming.len() })
                    .map(|other| nobody(coming[other % coming.len()]));
                let all: Vec<_> =
                    [format!("{turn} == {}", coming[polled])].into_iter().chain(before).collect();
                format!("({})", all.join(" and "))
            });
            let turns: Vec<_> = turns.collect();
            let until = format!("free({servers}) > 0 and ({})", turns.join(" or "));
            let wait = self.waiting(number, json!({ "wait_until": until }), "");
            (format!("class == {class}"), vec![wait])
        });
        let arms = arms.collect();
        // Customers that wait are served before one that comes back in the same event.
        let mut block = vec![json!({ "delay": 0 })];
        block.extend(choose(arms));
        block.push(set(&turn, "class"));
        block
    }

    /// The setup of a server that serves another class than before.
    fn setup(&mut self, number: usize) -> Block {
        let setup = self.nodes[number].beyond.setup.clone();
        if setup.iter().all(Option::is_none) {
            return Vec::new();
        }
        let last = self.names.of("last", number);
        self.first(&last, -1);
        self.by_class(number, |_, class| {
            let delay: Vec<_> =
                setup[class].iter().map(|time: &Distribution| json!({ "delay": law(time) })).collect();
            let changes = json!({ "if": format!("{last} >= 0 and {last} != {class}"), "do": delay });
            let changes = (!delay.is_empty()).then_some(changes);
            changes.into_iter().chain([set(&last, class)]).collect()
        })
    }

    /// Services by groups of servers with skills.
    fn grouped(&mut self, number: usize) -> Block {
        let node = &self.nodes[number];
        let groups = &node.beyond.groups;
        let Kind::Station { discipline, .. } = node.kind else { return Vec::new() };
        let names: Vec<String> = (0..groups.len()).map(|group| self.group(number, group)).collect();
        let free = |class: usize| {
            let all = groups.iter().zip(&names).filter(|(group, _)| group.serves[class]);
            let all: Vec<_> = all.map(|(_, name)| format!("free({name}) > 0")).collect();
            format!("({})", all.join(" or "))
        };
        // Customers that wait are served before one that comes back in the same event.
        let mut block = vec![json!({ "delay": 0 })];
        let coming = self.coming(number);
        if discipline == Discipline::Priority {
            let arms = coming.iter().map(|&class| {
                let wait = self.waiting(number, json!({ "wait_until": free(class) }), "");
                (format!("class == {class}"), vec![wait])
            });
            block.extend(choose(arms.collect()));
        } else {
            let all: Vec<_> =
                coming.iter().map(|&class| format!("(class == {class} and {})", free(class))).collect();
            block.push(self.waiting(number, json!({ "wait_until": all.join(" or ") }), ""));
        }
        block.extend(self.by_class(number, |_, class| {
            let can = groups.iter().enumerate().filter(|(_, group)| group.serves[class]);
            let arms = can.map(|(place, group)| {
                let mut takes = vec![json!({ "seize": names[place] }), set("pick", place)];
                if group.speed != 1.0 {
                    takes.push(set("work", format!("work / {:?}", group.speed)));
                }
                (format!("free({}) > 0", names[place]), takes)
            });
            choose(arms.collect())
        }));
        block.extend(self.waited(number));
        block.extend(self.busy(number, 1));
        block.push(json!({ "delay": "work" }));
        block.extend(self.before_release(number));
        let arms = names.iter().enumerate();
        let arms = arms.map(|(place, name)| (format!("pick == {place}"), vec![json!({ "release": name })]));
        block.extend(choose(arms.collect()));
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
        let mut taken = match node.beyond.interrupted {
            Interrupted::Repeat => Vec::new(),
            Interrupted::Restart => self.by_class(number, |all, class| {
                let service = all.nodes[number].pairs[class].service;
                service.iter().map(|service| set("work", law(service))).collect()
            }),
            _ => vec![set("work", "work - (now - since)")],
        };
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
        body.extend(self.setup(number));
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
