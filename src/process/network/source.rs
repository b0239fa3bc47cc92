//! Statements of sources.

use serde_json::{Value, json};

use crate::facility::Distribution;
use crate::facility::arrivals::MarkovArrivals;
use crate::facility::nodes::Kind;

use super::write::{Block, Writer, choose, law, plus, set};

impl Writer<'_> {
    pub(super) fn source(&mut self, number: usize) {
        let node = &self.nodes[number];
        let Kind::Source { interarrival, class, batch } = node.kind else { return };
        let entry = self.entries.len();
        let name = self.names.of("enter", number);
        self.entries.push(name.clone());
        let count = self.names.pair("sent", number, class);
        let mut block = self.begins(number, class);
        block.extend([set("fresh", 1), plus("inside", 1), json!({ "count": count })]);
        block.extend(self.routes(number, class));
        self.block(name, block);
        let one = json!({ "spawn": "customer", "set": { "entry": entry } });
        let all = json!({ "spawn": "customer", "count": batch, "set": { "entry": entry } });
        let described = &self.network().sources[node.name.as_str()];
        let source = match (&described.times, &described.map) {
            (Some(times), _) => {
                let class = &self.network().classes[class];
                json!({ "times": times.of(class).collect::<Vec<_>>(), "batch": batch, "do": [one] })
            }
            (None, Some(map)) => json!({
                "at_start": 1,
                "attributes": { "phase": 0 },
                "do": [{ "forever": phases(map, &all) }],
            }),
            (None, None) if node.calendar.is_empty() => {
                json!({ "every": law(&interarrival), "batch": batch, "do": [one] })
            }
            (None, None) if matches!(interarrival, Distribution::Exponential(_)) => {
                let piece = |&(lasts, share): &(f64, f64)| json!({ "lasts": lasts, "rate": share / interarrival.mean() });
                json!({ "rates": node.calendar.iter().map(piece).collect::<Vec<_>>(), "batch": batch, "do": [one] })
            }
            (None, None) => paced(&interarrival, &node.calendar, &all),
        };
        self.entities.insert(self.names.of("source", number), source);
    }
}

/// A source whose times between arrivals pass at the rate of the present period: at half of it,
/// they last twice as long.
fn paced(between: &Distribution, calendar: &[(f64, f64)], arrive: &Value) -> Value {
    let period = |place: usize| -> Block {
        let next = (place + 1) % calendar.len();
        let end = json!([{ "delay": "rest" }, set("piece", next), set("rest", calendar[next].0)]);
        let factor = calendar[place].1;
        if factor == 0.0 {
            return end.as_array().cloned().unwrap_or_default();
        }
        let (mut ends, Value::Array(more)) = (Vec::new(), end) else { unreachable!("a list") };
        ends.push(set("left", format!("left - rest * {factor}")));
        ends.extend(more);
        // Rounding must not make it longer than the rest of the period.
        let stays = [
            set("gap", format!("min(left / {factor}, rest)")),
            json!({ "delay": "gap" }),
            set("rest", "rest - gap"),
            set("left", 0),
        ];
        vec![json!({ "if": format!("left <= rest * {factor}"), "do": stays, "else": ends })]
    };
    let periods = (0..calendar.len()).map(|place| (format!("piece == {place}"), period(place)));
    json!({
        "at_start": 1,
        "attributes": {
            "piece": 0,
            "left": { "kind": "time", "value": 0 },
            "gap": { "kind": "time", "value": 0 },
            "rest": { "kind": "time", "value": calendar[0].0 },
        },
        "do": [{ "forever": [
            set("left", law(between)),
            { "while": "left > 0", "do": choose(periods.collect()) },
            arrive,
        ] }],
    })
}

/// One change of a Markovian arrival process.
fn phases(map: &MarkovArrivals, arrive: &Value) -> Block {
    let arms = (0..map.d0.len()).map(|phase| {
        let rate = map.rate_of(phase);
        let changes: Vec<(f64, Block)> = map
            .changes(phase)
            .map(|(change, next, arrives)| {
                let mut block = if arrives { vec![arrive.clone()] } else { Vec::new() };
                block.push(set("phase", next));
                (change / rate, block)
            })
            .collect();
        let (last, others) = changes.split_last().expect("its rates add up to one above zero");
        let mut block = vec![json!({ "delay": law(&Distribution::Exponential(1.0 / rate)) })];
        match others.is_empty() {
            true => block.extend(last.1.clone()),
            false => {
                let others: Vec<_> = others.iter().map(|(p, block)| json!({ "p": p, "do": block })).collect();
                block.push(json!({ "with": others, "else": last.1 }));
            }
        }
        (format!("phase == {phase}"), block)
    });
    choose(arms.collect())
}
