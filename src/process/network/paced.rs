//! Writes services whose speed changes: shared servers, and speeds that depend on the number of
//! customers. And the work that is left at a station.

use serde_json::json;

use crate::facility::Discipline;
use crate::facility::beyond::Selection;
use crate::facility::nodes::{Kind, Node};

use super::write::{Block, Writer, choose, plus, set};

/// Whether the servers of a station are shared.
pub(super) fn shares(node: &Node) -> bool {
    matches!(node.kind, Kind::Station { discipline: Discipline::Sharing, .. })
}

/// Whether the speed of a station's services changes. A breakdown stops such services, and takes no
/// server away.
pub(super) fn is_paced(node: &Node) -> bool {
    let stops = node.breakdown.is_some() && node.beyond.batch.is_some();
    shares(node) || !node.beyond.speeds.is_empty() || stops
}

impl Writer<'_> {
    /// The number of servers, as an expression.
    fn servers_now(&self, number: usize) -> String {
        match self.nodes[number].kind {
            Kind::Station { servers: Some(servers), .. } if self.nodes[number].calendar.is_empty() => {
                servers.to_string()
            }
            _ => format!("units({})", self.names.of("servers", number)),
        }
    }

    /// What follows a change of the number of customers at a station, or of its servers: those in
    /// service continue at another speed.
    pub(super) fn changes(&mut self, number: usize) -> Block {
        let node = &self.nodes[number];
        if !is_paced(node) {
            return Vec::new();
        }
        let [pace, changed] = ["pace", "changed"].map(|what| self.names.of(what, number));
        self.variables.insert(pace.clone(), json!({ "kind": "real", "value": 1 }));
        self.signals.insert(changed.clone(), json!({}));
        let mut block = self.work_passes(number);
        let (present, mut share) = (self.number(number), String::new());
        if shares(node) {
            let used = self.names.of("used", number);
            self.level(&used);
            let servers = self.servers_now(number);
            block.push(set(&used, format!("max(min({present}, {servers}), 0)")));
            share = format!("real({used}) / real(max({present}, 1))");
        }
        let at = |speed: f64| match share.is_empty() {
            true => vec![set(&pace, speed)],
            false => vec![set(&pace, format!("{share} * {speed:?}"))],
        };
        let speeds = if node.beyond.speeds.is_empty() { &[1.0][..] } else { &node.beyond.speeds };
        let arms =
            (1..).zip(speeds).map(|(customers, speed)| (format!("{present} <= {customers}"), at(*speed)));
        let paced = choose(arms.collect());
        if node.breakdown.is_some() {
            let [broken, interrupted] = ["down", "interrupted"].map(|what| self.names.of(what, number));
            for level in [&broken, &interrupted] {
                self.level(level);
            }
            let served = if shares(node) { self.names.of("used", number) } else { self.serving(number) };
            let stalls = json!([set(&pace, 0), set(&interrupted, served)]);
            let serves = [vec![set(&interrupted, 0)], paced].concat();
            block.push(json!({ "if": format!("{broken} == 1"), "do": stalls, "else": serves }));
        } else {
            block.extend(paced);
        }
        block.push(json!({ "send": changed }));
        block
    }

    /// The number of servers that serve, as an expression.
    fn serving(&mut self, number: usize) -> String {
        let what = if self.nodes[number].beyond.batch.is_some() { "leads" } else { "busy" };
        let names: Vec<_> =
            self.coming(number).into_iter().map(|class| self.names.pair(what, number, class)).collect();
        for name in &names {
            self.level(name);
        }
        let mut all = names.join(" + ");
        if self.nodes[number].holds(self.nodes) {
            let blocked = self.names.of("blocked", number);
            self.level(&blocked);
            all += &format!(" - {blocked}");
        }
        all
    }

    /// Lets the time of a service pass.
    pub(super) fn passes(&mut self, number: usize) -> Block {
        if !is_paced(&self.nodes[number]) {
            return vec![json!({ "delay": "work" })];
        }
        let [pace, changed] = ["pace", "changed"].map(|what| self.names.of(what, number));
        self.attribute("left", "time");
        self.attribute("speed", "real");
        let ends = json!({
            "time": "left / if(speed > 0.0, speed, 1.0)",
            "when": "speed > 0.0",
            "else": [set("left", 0)],
            "continue": true,
        });
        let rest = set("left", "left - min(left, (now - since) * speed)");
        let piece = json!([
            set("since", "now"),
            set("speed", pace),
            { "wait": changed, "patience": ends },
            { "if": "left > 0", "do": [rest] },
        ]);
        vec![set("left", "work"), json!({ "while": "left > 0", "do": piece })]
    }

    /// Services of all customers at the same time.
    pub(super) fn shared(&mut self, number: usize) -> Block {
        let mut block = self.by_class(number, |all, class| all.note("began", number, class));
        block.extend(self.runs(number, 1));
        block.extend(self.changes(number));
        block.extend(self.passes(number));
        block.extend(self.runs(number, -1));
        block.extend(self.departure(number, false));
        block
    }

    /// A shared server follows the schedule at once.
    pub(super) fn follows_schedule(&mut self, number: usize) {
        let units = self.servers_now(number);
        let update = self.changes(number);
        let body = [vec![json!({ "wait_until": format!("{units} != known") }), set("known", units)], update];
        self.entities.insert(
            self.names.of("pacer", number),
            json!({ "at_start": 1, "attributes": { "known": -1 }, "do": [{ "forever": body.concat() }] }),
        );
    }

    /// Whether a node chooses the station with the least work, among others.
    fn compares_work(&self, number: usize) -> bool {
        let of =
            |node: &Node| node.pairs.iter().any(|pair| pair.routes.iter().any(|route| route.node == number));
        self.nodes.iter().any(|node| node.beyond.selection == Selection::LeastWork && of(node))
    }

    /// The time of work that has passed since the last change.
    fn passed(&self, number: usize) -> String {
        let [running, changed] = ["running", "worked"].map(|what| self.names.of(what, number));
        let rate = match is_paced(&self.nodes[number]) {
            true => format!("({} * real({running}))", self.names.of("pace", number)),
            false => running,
        };
        let load = self.names.of("load", number);
        format!("min({load}, (now - {changed}) * {rate})")
    }

    /// The work that is left, for each server, as an expression.
    pub(super) fn work_left(&self, number: usize) -> String {
        let left = format!("{} - {}", self.names.of("load", number), self.passed(number));
        match self.nodes[number].kind {
            Kind::Station { servers: Some(servers), .. } if servers > 1 => format!("({left}) / {servers}"),
            _ => left,
        }
    }

    fn work_passes(&mut self, number: usize) -> Block {
        if !self.compares_work(number) {
            return Vec::new();
        }
        let [load, changed] = ["load", "worked"].map(|what| self.names.of(what, number));
        self.clock(&load);
        self.clock(&changed);
        self.first(&self.names.of("running", number), 0);
        vec![set(&load, format!("{load} - {}", self.passed(number))), set(&changed, "now")]
    }

    /// One more or fewer of a station's servers works.
    pub(super) fn runs(&mut self, number: usize, by: i32) -> Block {
        let mut block = self.work_passes(number);
        if !block.is_empty() {
            block.push(plus(&self.names.of("running", number), by));
        }
        block
    }

    /// The work at a station changes by a time, which is an expression with a sign.
    pub(super) fn work_changes(&mut self, number: usize, by: &str) -> Block {
        let mut block = self.work_passes(number);
        if !block.is_empty() {
            let load = self.names.of("load", number);
            block.push(set(&load, format!("{load} {by}")));
        }
        block
    }
}
