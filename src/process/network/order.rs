//! Writes lines in other orders than those of resources: polled, random, by skills, in batches.

use serde_json::{Value, json};

use crate::facility::Discipline;
use crate::facility::beyond::Batches;
use crate::facility::nodes::Kind;

use super::paced::is_paced;
use super::write::{Block, Writer, choose, plus, set};

/// Ticks of which one is drawn for a place in a line.
const DRAWN: f64 = (1_u64 << 30) as f64;

impl Writer<'_> {
    /// Waits until a condition of the class holds: by priority and at an assembly each class has a
    /// line, in the order of classes, else all have one.
    fn admitted(&mut self, number: usize, until: impl Fn(usize) -> String) -> Block {
        let Kind::Station { discipline, .. } = self.nodes[number].kind else { return Vec::new() };
        let coming = self.coming(number);
        let same = coming.iter().all(|&class| until(class) == until(coming[0]));
        if discipline == Discipline::Priority || !self.nodes[number].beyond.parts().is_empty() {
            let arms = coming.iter().map(|&class| {
                let wait = self.waiting(number, json!({ "wait_until": until(class) }), "");
                (format!("class == {class}"), vec![wait])
            });
            return choose(arms.collect());
        }
        let all: Vec<_> =
            coming.iter().map(|&class| format!("(class == {class} and {})", until(class))).collect();
        let condition = if same { until(coming[0]) } else { all.join(" or ") };
        vec![self.waiting(number, json!({ "wait_until": condition }), "")]
    }

    /// What comes before a wait for a condition where a customer may have waited for a place or for
    /// room: it got that in the event that freed a server, which is for those in line.
    fn behind_line(&self, number: usize) -> Block {
        let node = &self.nodes[number];
        match node.blocks || !node.beyond.regions.is_empty() {
            true => vec![json!({ "delay": 0 })],
            false => Vec::new(),
        }
    }

    /// Waits until a server that polls the classes comes to the class of the customer: no customer
    /// waits of the class that is polled, and of those from there to its own.
    pub(super) fn turn(&mut self, number: usize) -> Block {
        let (servers, turn) = (self.names.of("servers", number), self.names.of("polled", number));
        let coming = self.coming(number);
        self.first(&turn, coming[0]);
        // No customer of another class waits, or the server comes to that class behind this one.
        let passes = |class: usize, other: usize| {
            let [present, busy] = ["number", "busy"].map(|what| self.names.pair(what, number, other));
            let joint = if other < class { "and" } else { "or" };
            format!("({present} == {busy} or ({turn} > {other} {joint} {turn} <= {class}))")
        };
        let arms = coming.iter().map(|&class| {
            let others = coming.iter().filter(|&&other| other != class);
            let others: String = others.map(|&other| format!(" and {}", passes(class, other))).collect();
            let until = format!("free({servers}) > 0{others}");
            let wait = self.waiting(number, json!({ "wait_until": until }), "");
            (format!("class == {class}"), vec![wait])
        });
        let arms = arms.collect();
        let mut block = self.behind_line(number);
        block.extend(choose(arms));
        block.push(set(&turn, "class"));
        block
    }

    /// Waits in a line of which any customer is next with the same probability. Each has a place,
    /// from 1. A caller draws a place; the last customer takes the place of one that leaves.
    pub(super) fn drawn(&mut self, number: usize) -> Block {
        let [servers, line, called, moved, hole] =
            ["servers", "line", "called", "moved", "hole"].map(|what| self.names.of(what, number));
        for name in [&line, &called, &moved, &hole] {
            self.first(name, 0);
        }
        self.whole("place");
        let span = DRAWN / f64::from(self.ticks_per_unit());
        let calls = json!([
            { "wait_until": format!("{called} == 0 and {moved} == 0 and {line} > 0 and free({servers}) > 0") },
            set("draw", json!({ "uniform": [0, span] })),
            set(&called, format!("1 + min(integer(draw / span * real({line})), {line} - 1)")),
        ]);
        self.entities.insert(
            self.names.of("caller", number),
            json!({
                "at_start": 1,
                "attributes": { "draw": { "kind": "time", "value": 0 }, "span": { "kind": "time", "value": span } },
                "do": [{ "forever": calls }],
            }),
        );
        let mut block = vec![
            json!({ "wait_until": format!("{moved} == 0") }),
            plus(&line, 1),
            set("place", line.as_str()),
        ];
        let mut wait = json!({ "wait_until": format!("{called} == place or {moved} == place") });
        if self.has_patience(number) {
            // Of several waits, the patience of the first one counts.
            block.push(json!({ "if": "patient == 1", "do": [set("patience", "patience + now")] }));
            let gone = json!([{ "go": self.names.of("gone", number) }]);
            wait["patience"] = json!({ "time": "patience - now", "when": "patient == 1", "else": gone });
        }
        let moves = json!([wait, {
            "if": format!("{moved} == place"),
            "do": [set("place", hole.as_str()), set(&moved, 0)],
        }]);
        block.push(json!({ "while": format!("{called} != place"), "do": moves }));
        block.push(set(&called, 0));
        block.extend(self.leaves_line(number));
        block
    }

    /// A customer leaves a line whose customers are counted.
    pub(super) fn leaves_line(&mut self, number: usize) -> Block {
        let Kind::Station { discipline, .. } = self.nodes[number].kind else { return Vec::new() };
        let [line, moved, hole] = ["line", "moved", "hole"].map(|what| self.names.of(what, number));
        let leaves = plus(&line, -1);
        if discipline == Discipline::Random {
            let moves = json!([set(&hole, "place"), set(&moved, line.as_str())]);
            return vec![json!({ "if": format!("place != {line}"), "do": moves }), leaves];
        }
        if self.nodes[number].beyond.batch.is_none() {
            return Vec::new();
        }
        self.by_class(number, |all, class| vec![plus(&all.counted("line", number, class), -1)])
    }

    /// The resource of a group.
    pub(super) fn group(&self, number: usize, group: usize) -> String {
        format!("{}__{group}", self.names.of("group", number))
    }

    /// Services by groups of servers with skills.
    pub(super) fn grouped(&mut self, number: usize) -> Block {
        let groups = &self.nodes[number].beyond.groups;
        let names: Vec<String> = (0..groups.len()).map(|group| self.group(number, group)).collect();
        let free = |class: usize| {
            let all = groups.iter().zip(&names).filter(|(group, _)| group.serves[class]);
            let all: Vec<_> = all.map(|(_, name)| format!("free({name}) > 0")).collect();
            format!("({})", all.join(" or "))
        };
        self.whole("skilled");
        let mut block = self.behind_line(number);
        block.extend(self.admitted(number, free));
        block.extend(self.work_changes(number, "- work"));
        block.extend(self.by_class(number, |_, class| {
            let can = groups.iter().enumerate().filter(|(_, group)| group.serves[class]);
            let arms = can.map(|(place, group)| {
                let mut takes = vec![json!({ "seize": names[place] }), set("skilled", place)];
                if group.speed != 1.0 {
                    takes.push(set("work", format!("work / {:?}", group.speed)));
                }
                (format!("free({}) > 0", names[place]), takes)
            });
            choose(arms.collect())
        }));
        block.extend(self.work_changes(number, "+ work"));
        block.extend(self.waited(number));
        block.extend(self.busy(number, 1));
        block.extend(self.runs(number, 1));
        block.extend(self.passes(number));
        block.extend(self.runs(number, -1));
        block.extend(self.before_release(number));
        // Groups that serve none of the classes that come are never taken.
        let coming = self.coming(number);
        let serves = |place: usize| coming.iter().any(|&class| groups[place].serves[class]);
        let arms = names.iter().enumerate().filter(|&(place, _)| serves(place));
        let arms =
            arms.map(|(place, name)| (format!("skilled == {place}"), vec![json!({ "release": name })]));
        block.extend(choose(arms.collect()));
        block.extend(self.departure(number, true));
        block
    }

    /// A name for something of the customers of a class at an assembly, else of all customers.
    pub(super) fn counted(&self, what: &str, number: usize, class: usize) -> String {
        match self.nodes[number].beyond.parts().is_empty() {
            true => self.names.of(what, number),
            false => self.names.pair(what, number, class),
        }
    }

    /// Services of several customers at once. The first one takes the server, and says how many
    /// follow; all have its time. At an assembly it is of the first part, and says how many of each
    /// part follow.
    pub(super) fn batched(&mut self, number: usize, batch: &Batches) -> Block {
        let [servers, time] = ["servers", "batch"].map(|what| self.names.of(what, number));
        self.clock(&time);
        self.whole("leads");
        let classes = 0..self.nodes[number].pairs.len();
        let [line, forming] = ["line", "forming"]
            .map(|what| classes.clone().map(|class| self.counted(what, number, class)).collect::<Vec<_>>());
        // The lines that a batch takes customers of, by a class, with the least and the most.
        let any = (self.coming(number)[0], batch.least, batch.most);
        let parts = batch.parts.iter().map(|&(class, count)| (class, count, count));
        let taken: Vec<_> = if batch.parts.is_empty() { vec![any] } else { parts.collect() };
        let leads = |class: usize| batch.parts.first().is_none_or(|part| part.0 == class);
        let mut begins = format!("free({servers}) > 0");
        for &(class, least, _) in &taken {
            self.first(&line[class], 0);
            self.first(&forming[class], 0);
            begins += &format!(" and {} >= {least}", line[class]);
            // Those that follow may come later in this instant.
            if !batch.parts.is_empty() {
                begins += &format!(" and {} == 0", forming[class]);
            }
        }
        if is_paced(&self.nodes[number]) && self.nodes[number].breakdown.is_some() {
            begins += &format!(" and {} == 0", self.names.of("down", number));
        }
        // All that come in this instant are counted before a batch begins.
        let mut block = self.by_class(number, |_, class| vec![plus(&line[class], 1)]);
        block.push(json!({ "delay": 0 }));
        block.extend(self.admitted(number, |class| match leads(class) {
            true => format!("{} > 0 or ({begins})", forming[class]),
            false => format!("{} > 0", forming[class]),
        }));
        let mut first = vec![json!({ "seize": servers }), set("leads", 1)];
        first.extend(
            taken
                .iter()
                .map(|&(class, _, most)| set(&forming[class], format!("min({}, {most})", line[class]))),
        );
        first.extend(self.leads(number, 1));
        first.extend(self.setup(number, true));
        first.push(set(&time, "work"));
        block.extend(self.by_class(number, |_, class| {
            let follows = set("leads", 0);
            let begins = match leads(class) {
                true => json!({ "if": format!("{} == 0", forming[class]), "do": first, "else": [follows] }),
                false => follows,
            };
            vec![begins, plus(&forming[class], -1), plus(&line[class], -1)]
        }));
        block.push(set("work", time.as_str()));
        block.extend(self.waited(number));
        block.extend(self.busy(number, 1));
        block.extend(self.changes(number));
        block.extend(self.passes(number));
        let released: Vec<Value> =
            [self.before_release(number), vec![json!({ "release": servers })], self.leads(number, -1)]
                .concat();
        block.push(json!({ "if": "leads == 1", "do": released }));
        block.extend(self.departure(number, true));
        block
    }

    /// Counts a server that serves, by the class of its first customer.
    fn leads(&mut self, number: usize, by: i32) -> Block {
        self.by_class(number, |all, class| {
            let leads = all.names.pair("leads", number, class);
            all.level(&leads);
            vec![plus(&leads, by)]
        })
    }
}
