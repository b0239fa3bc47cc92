//! Writes the stations of a network: lines, servers, losses, breakdowns.

use serde_json::json;

use crate::facility::beyond::{Interrupted, ShiftEnd};
use crate::facility::nodes::{Kind, Node};
use crate::facility::{Discipline, Distribution};

use super::paced::{is_paced, shares};
use super::write::{Block, Writer, law, plus, set};

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
    let breaks = node.breakdown.is_some() && !is_paced(node);
    !shares(node) && (preempts || breaks || node.beyond.shift == ShiftEnd::Preempt)
}

impl Writer<'_> {
    pub(super) fn station(&mut self, number: usize) {
        let node = &self.nodes[number];
        let Kind::Station { servers: Some(servers), discipline, .. } = node.kind else { return };
        let queue = match discipline {
            _ if interrupts(node) => "preempt",
            // Breakdowns take servers before others.
            _ if node.breakdown.is_some() => "priority",
            Discipline::Fifo | Discipline::Polling | Discipline::Random => "fifo",
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
        if interrupts(node) && node.beyond.shift == ShiftEnd::Preempt {
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
            for class in self.coming(number) {
                let room = node.room(class).expect("it is checked");
                self.resources.insert(self.room(number, class), room.into());
            }
        }
        for class in self.coming(number) {
            self.arrival(number, class);
        }
        if self.has_patience(number) {
            self.impatient(number);
        }
        if let Some((up, down)) = node.breakdown {
            let (broken, name) = (self.names.of("down", number), self.names.of("servers", number));
            self.level(&broken);
            let (breaker, changes) = (self.names.of("breaker", number), self.changes(number));
            let takes = json!({ "spawn": breaker, "count": servers, "set": { "back": "now + repair" } });
            let takes = if shares(node) { Vec::new() } else { vec![takes] };
            let mut cycle = vec![
                json!({ "delay": law(&up) }),
                json!({ "set": "repair", "to": law(&down) }),
                set(&broken, 1),
            ];
            cycle.extend(changes.clone().into_iter().chain(takes.clone()));
            cycle.extend([json!({ "delay": "repair" }), set(&broken, 0)]);
            cycle.extend(changes);
            self.entities.insert(
                self.names.of("breakdown", number),
                json!({
                    "at_start": 1,
                    "attributes": { "repair": { "kind": "time", "value": 0 } },
                    "do": [{ "forever": cycle }],
                }),
            );
            // A server that is not there, or is blocked, is stopped when it comes back.
            if !takes.is_empty() {
                let mut stop =
                    json!({ "use": name, "priority": BREAKS, "patience": "back - now", "for": "back - now" });
                if interrupts(node) {
                    // If a schedule takes it away, it may come back after the repair.
                    stop["preempted"] = json!([]);
                }
                self.entities.insert(
                    breaker,
                    json!({
                        "attributes": { "back": { "kind": "time", "value": 0 } },
                        "do": [{ "while": "now < back", "do": [stop] }],
                    }),
                );
            }
        }
        let mut block = match discipline {
            Discipline::Polling => self.turn(number),
            Discipline::Random => self.drawn(number),
            _ => Vec::new(),
        };
        block.extend(match &node.beyond.batch {
            Some(batch) => self.batched(number, batch),
            None if shares(node) => self.shared(number),
            None if interrupts(node) => self.interruptible(number),
            None if node.beyond.groups.is_empty() => self.simple(number),
            None => self.grouped(number),
        });
        if shares(node) && !node.calendar.is_empty() {
            self.follows_schedule(number);
        }
        self.block(self.names.of("at", number), block);
    }

    /// The places of a station that blocks: of a class at an assembly, else of all.
    pub(super) fn room(&self, number: usize, class: usize) -> String {
        self.counted("room", number, class)
    }

    /// What a customer does that comes: it balks, is lost, or gets its place in the line.
    fn arrival(&mut self, number: usize, class: usize) {
        let node = &self.nodes[number];
        let Kind::Station { discipline, .. } = node.kind else { return };
        let pair = &node.pairs[class];
        let of = |what| self.names.pair(what, number, class);
        let busy = of("busy");
        let here = self.number(number);
        let mut block = self.cross(Some(number));
        block.extend([json!({ "count": of("arrived") }), set("fresh", 0)]);
        for (found, &leaves) in node.balking.iter().enumerate() {
            let last = found + 1 == node.balking.len();
            let condition = format!("{here} {} {found}", if last { ">=" } else { "==" });
            let balks =
                [vec![json!({ "count": of("balked") })], self.note("balked", number, class), self.gone()];
            let balks = balks.concat();
            let balks = if leaves < 1.0 { vec![json!({ "with": leaves, "do": balks })] } else { balks };
            if leaves > 0.0 {
                block.push(json!({ "if": condition, "do": balks }));
            }
        }
        if let (Some(room), false) = (node.room(class), node.blocks) {
            let lost = [vec![json!({ "count": of("lost") })], self.note("lost", number, class), self.gone()];
            let lost = lost.concat();
            let here = if node.beyond.parts().is_empty() { &here } else { &of("number") };
            block.push(json!({ "if": format!("{here} >= {room}"), "do": lost }));
        }
        let time = law(pair.service.as_ref().expect("it is checked"));
        block.push(set("came", "now"));
        block.extend(self.visit(number, class, true));
        block.push(set("work", time));
        if let Some(patience) = &pair.patience {
            block.extend([set("patience", law(patience)), set("patient", 1)]);
        } else if node.pairs.iter().any(|pair| pair.patience.is_some()) {
            block.push(set("patient", 0));
        }
        block.extend(self.work_changes(number, "+ work"));
        if !shares(node) {
            block.extend(self.changes(number));
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
        self.level(&busy);
        self.block(self.names.pair("at", number, class), block);
    }

    /// What a customer does whose patience ends.
    fn impatient(&mut self, number: usize) {
        let mut block = self.leaves_line(number);
        block.extend(self.work_changes(number, "- work"));
        let blocks = self.nodes[number].blocks;
        block.extend(self.by_class(number, |all, class| {
            let room = blocks.then(|| json!({ "release": all.room(number, class) }));
            let mut block: Block = room.into_iter().collect();
            block.push(json!({ "count": all.names.pair("reneged", number, class) }));
            block.extend(all.present(number, class, -1));
            block.extend(all.note("reneged", number, class));
            block.extend(all.changes(number));
            let leaves = all.nodes[number].pairs[class].reneged.is_empty();
            block.extend(if leaves { all.gone() } else { all.reneged_routes(number, class) });
            block
        }));
        self.block(self.names.of("gone", number), block);
    }

    /// Whether customers of a station may lose patience.
    pub(super) fn has_patience(&self, number: usize) -> bool {
        self.nodes[number].pairs.iter().any(|pair| pair.comes && pair.patience.is_some())
    }

    /// Waits for a server: the keys of a statement.
    pub(super) fn waiting(
        &self,
        number: usize,
        mut statement: serde_json::Value,
        only: &str,
    ) -> serde_json::Value {
        let node = &self.nodes[number];
        let Kind::Station { discipline, .. } = node.kind else { return statement };
        if matches!(discipline, Discipline::Polling | Discipline::Random)
            && statement.get("wait_until").is_none()
        {
            // It waited for its turn.
            if interrupts(node) || node.breakdown.is_some() {
                statement["priority"] = "order".into();
            }
            return statement;
        }
        let ordered = !matches!(discipline, Discipline::Fifo | Discipline::Polling | Discipline::Random);
        if statement.get("wait_until").is_none() && (interrupts(node) || ordered || node.breakdown.is_some())
        {
            statement["priority"] = "order".into();
        }
        if self.has_patience(number) {
            let gone = self.names.of("gone", number);
            let when = format!("patient == 1{only}");
            statement["patience"] = json!({ "time": "patience", "when": when, "else": [{ "go": gone }] });
        }
        statement
    }

    /// What a customer does that has been served and still holds its server.
    pub(super) fn before_release(&mut self, number: usize) -> Block {
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
    pub(super) fn departure(&mut self, number: usize, busy: bool) -> Block {
        let node = &self.nodes[number];
        let (holds, blocks) = (node.holds(self.nodes), node.blocks);
        let joins = node.beyond.batch.as_ref().is_some_and(|batch| batch.joins);
        let made = node.made().map(|class| self.names.pair("made", number, class));
        self.by_class(number, |all, class| {
            let of = |what| all.names.pair(what, number, class);
            let [sojourn, serving] = ["sojourn", "busy"].map(of);
            let mut block = vec![json!({ "tally": sojourn, "value": "now - came" })];
            block.extend(all.visit(number, class, false));
            if busy {
                block.push(plus(&serving, -1));
            }
            block.extend(all.changes(number));
            block.extend(blocks.then(|| json!({ "release": all.room(number, class) })));
            // The first one of the first part continues.
            if all.nodes[number].beyond.parts().first().is_some_and(|part| part.0 != class) {
                block.extend(all.gone());
                return block;
            }
            if joins {
                block.push(json!({ "if": "leads == 0", "do": all.gone() }));
            }
            block.extend(made.iter().map(|made| json!({ "count": made })));
            block.extend(all.splits(number, class));
            block.extend(if holds { all.held_routes(number, class).1 } else { all.routes(number, class) });
            block
        })
    }

    /// Other customers that one becomes.
    fn splits(&mut self, number: usize, class: usize) -> Block {
        let Some(splits) = self.nodes[number].beyond.splits else { return Vec::new() };
        let entry = self.entries.len();
        let name = self.names.pair("split", number, class);
        self.entries.push(name.clone());
        let way = [vec![set("class", class), plus("inside", 1)], self.routes(number, class)].concat();
        self.block(name, way);
        let mut others = json!({ "spawn": "customer", "count": splits - 1, "set": { "entry": entry } });
        self.inherits(&mut others);
        vec![others]
    }

    /// The wait of a customer whose service begins.
    pub(super) fn waited(&mut self, number: usize) -> Block {
        self.by_class(number, |all, class| {
            let wait = json!({ "tally": all.names.pair("wait", number, class), "value": "now - came" });
            [vec![wait], all.note("began", number, class)].concat()
        })
    }

    pub(super) fn busy(&mut self, number: usize, by: i32) -> Block {
        self.by_class(number, |all, class| vec![plus(&all.names.pair("busy", number, class), by)])
    }

    /// Services that nothing interrupts.
    fn simple(&mut self, number: usize) -> Block {
        let servers = self.names.of("servers", number);
        let mut block = vec![self.waiting(number, json!({ "seize": servers }), "")];
        block.extend(self.waited(number));
        block.extend(self.busy(number, 1));
        block.extend(self.setup(number, false));
        block.extend(self.runs(number, 1));
        block.extend(self.passes(number));
        block.extend(self.runs(number, -1));
        block.extend(self.before_release(number));
        block.push(json!({ "release": servers }));
        block.extend(self.departure(number, true));
        block
    }

    /// Ticks of a line whose priorities age, in a unit of time: 32 bits hold all times of a run.
    fn scale(&self, head: f64) -> f64 {
        let longest = self.until().unwrap_or(UNKNOWN) + head;
        10_f64.powf((RANGE / longest.max(1.0)).log10().floor())
    }

    /// The setup of a server that serves another class than before: a delay, or more work.
    pub(super) fn setup(&mut self, number: usize, as_work: bool) -> Block {
        let setup = self.nodes[number].beyond.setup.clone();
        if setup.iter().all(Option::is_none) {
            return Vec::new();
        }
        let last = self.names.of("last", number);
        self.first(&last, -1);
        self.by_class(number, |_, class| {
            let delay = setup[class].iter().flat_map(|time: &Distribution| match as_work {
                true => vec![set("since", law(time)), set("work", "work + since")],
                false => vec![json!({ "delay": law(time) })],
            });
            let delay: Vec<_> = delay.collect();
            let changes = json!({ "if": format!("{last} >= 0 and {last} != {class}"), "do": delay });
            let changes = (!delay.is_empty()).then_some(changes);
            changes.into_iter().chain([set(&last, class)]).collect()
        })
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
            Interrupted::Repeat => self.work_changes(number, "+ (now - since)"),
            Interrupted::Restart => {
                let mut block = self.work_changes(number, "- (work - (now - since))");
                block.extend(self.by_class(number, |all, class| {
                    let service = all.nodes[number].pairs[class].service;
                    service.iter().map(|service| set("work", law(service))).collect()
                }));
                block.extend(self.work_changes(number, "+ work"));
                block
            }
            _ => vec![set("work", "work - (now - since)")],
        };
        taken.splice(0..0, self.runs(number, -1));
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
        body.extend(self.setup(number, false));
        body.push(set("since", "now"));
        body.extend(self.runs(number, 1));
        let mut then = vec![set("done", 1)];
        then.extend(self.runs(number, -1));
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
