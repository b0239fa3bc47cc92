//! Networks as diagrams in text, for documentation: DOT of Graphviz, and Mermaid.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use eventhorizon::facility::{Discipline, Distribution, Link, Network, Route};

use crate::shared;

/// The kind of a node, which decides its shape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Source,
    Station,
    Delay,
    Router,
    Fork,
    Sink,
}

/// Nodes with the lines of their labels, and routes with their labels.
struct Diagram {
    nodes: Vec<(Kind, Vec<String>)>,
    routes: Vec<(usize, usize, String)>,
}

/// A network in the language DOT of Graphviz.
pub fn dot(network: &Network) -> String {
    let diagram = Diagram::of(network);
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!(
        "digraph \"{}\" {{\n  rankdir=LR;\n  node [fontname=\"sans-serif\", shape=box];\n  edge [fontname=\"sans-serif\", fontsize=10];\n",
        quoted(&network.name)
    );
    for (number, (kind, lines)) in diagram.nodes.iter().enumerate() {
        let shape = match kind {
            Kind::Source => "shape=cds",
            Kind::Station => "shape=box",
            Kind::Delay => "shape=box, style=rounded",
            Kind::Router => "shape=diamond",
            Kind::Fork => "shape=box, peripheries=2",
            Kind::Sink => "shape=doublecircle",
        };
        let label: Vec<String> = lines.iter().map(|line| quoted(line)).collect();
        let _ = writeln!(text, "  n{number} [label=\"{}\", {shape}];", label.join("\\n"));
    }
    for (from, to, label) in &diagram.routes {
        let label = if label.is_empty() { String::new() } else { format!(" [label=\"{}\"]", quoted(label)) };
        let _ = writeln!(text, "  n{from} -> n{to}{label};");
    }
    text + "}\n"
}

/// A network as a flowchart of Mermaid.
pub fn mermaid(network: &Network) -> String {
    let diagram = Diagram::of(network);
    let quoted = |text: &str| {
        text.replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;")
    };
    let mut text = "flowchart LR\n".to_owned();
    for (number, (kind, lines)) in diagram.nodes.iter().enumerate() {
        let [open, close] = match kind {
            Kind::Source => [">", "]"],
            Kind::Station => ["[", "]"],
            Kind::Delay => ["(", ")"],
            Kind::Router => ["{", "}"],
            Kind::Fork => ["[[", "]]"],
            Kind::Sink => ["(((", ")))"],
        };
        let label: Vec<String> = lines.iter().map(|line| quoted(line)).collect();
        let _ = writeln!(text, "  n{number}{open}\"{}\"{close}", label.join("<br>"));
    }
    for (from, to, label) in &diagram.routes {
        let label = if label.is_empty() { String::new() } else { format!("|\"{}\"|", quoted(label)) };
        let _ = writeln!(text, "  n{from} -->{label} n{to}");
    }
    text
}

impl Diagram {
    fn of(network: &Network) -> Self {
        let mut diagram = Self { nodes: Vec::new(), routes: Vec::new() };
        let places: BTreeMap<&str, usize> =
            network.names().enumerate().map(|(at, name)| (name, at)).collect();
        for (name, source) in &network.sources {
            let batch =
                if source.batch > 1 { format!(", {} at a time", source.batch) } else { String::new() };
            let arrivals = match (&source.map, &source.times) {
                (Some(map), _) => format!("MAP of {}", shared::count(map.d0.len(), "phase")),
                (_, Some(_)) => "at times of a list".to_owned(),
                _ => format!("every {}", law(&source.interarrival)),
            };
            let class = source.class.clone().filter(|_| network.classes.len() > 1);
            let rates = Some("rate by periods".to_owned()).filter(|_| !source.rates.is_empty());
            let lines = [Some(name.clone()), class, Some(arrivals + &batch), rates];
            let lines = lines.into_iter().flatten().collect();
            diagram.add(Kind::Source, lines, &places, &source.to);
        }
        for (name, station) in &network.stations {
            let mut lines = vec![name.clone()];
            let count = |servers: u32| shared::count(servers, "server");
            match station.schedule.is_empty() {
                false => lines.push("servers by schedule".to_owned()),
                true if station.groups.is_empty() => lines.push(count(station.servers)),
                true => {}
            }
            let groups = station.groups.iter();
            lines.extend(groups.map(|(group, of)| format!("{group}: {}", count(of.servers))));
            lines.extend(laws(station.service.as_ref(), station.service_of.iter()));
            if station.discipline != Discipline::Fifo {
                let value = serde_json::to_value(station.discipline).unwrap_or_default();
                lines.extend(value.as_str().map(str::to_owned));
            }
            let breaks = station.breakdown.as_ref();
            lines.extend(breaks.map(|of| format!("breaks down: up {}, down {}", law(&of.up), law(&of.down))));
            lines.extend(station.batch.as_ref().map(ToString::to_string));
            lines.extend(station.splits.map(|splits| format!("each becomes {splits}")));
            lines.extend(station.capacity.map(|capacity| format!("room for {capacity}")));
            let rooms = station.capacity_of.iter();
            lines.extend(rooms.map(|(class, room)| format!("{class}: room for {room}")));
            lines.extend(customers(station.population, station.population_of.values()));
            let number = diagram.nodes.len();
            diagram.add(Kind::Station, lines, &places, &station.to);
            if let Some(to) = &station.reneged_to {
                diagram.leave(number, &places, to, "reneged");
            }
        }
        for (name, delay) in &network.delays {
            let mut lines = vec![name.clone()];
            lines.extend(laws(delay.time.as_ref(), delay.time_of.iter()));
            lines.extend(customers(delay.population, delay.population_of.values()));
            diagram.add(Kind::Delay, lines, &places, &delay.to);
        }
        for (name, router) in &network.routers {
            diagram.add(Kind::Router, vec![name.clone()], &places, &router.to);
        }
        for (name, fork) in &network.forks {
            let from = diagram.nodes.len();
            for task in &fork.tasks {
                diagram.route(from, &places, &task.node, &words(task, None, "a task"));
            }
            let quorum = fork.quorum.map(|quorum| format!("quorum of {quorum}"));
            diagram.add(Kind::Fork, [name.clone()].into_iter().chain(quorum).collect(), &places, &fork.to);
        }
        for name in network.sinks.keys() {
            diagram.nodes.push((Kind::Sink, vec![name.clone()]));
        }
        diagram
    }

    fn add(&mut self, kind: Kind, lines: Vec<String>, places: &BTreeMap<&str, usize>, to: &Route) {
        let from = self.nodes.len();
        self.nodes.push((kind, lines));
        self.leave(from, places, to, "");
    }

    /// The routes from a node, with `why` on those that say nothing of themselves.
    fn leave(&mut self, from: usize, places: &BTreeMap<&str, usize>, to: &Route, why: &str) {
        match to {
            Route::Links(links) => {
                for link in links {
                    let share = link.probability.or_else(|| rest(links, link));
                    self.route(from, places, &link.node, &words(link, share, why));
                }
            }
            Route::InTurn { in_turn } => {
                in_turn.iter().for_each(|node| self.route(from, places, node, "in turn"));
            }
            Route::Shortest { shortest } => {
                shortest.iter().for_each(|node| self.route(from, places, node, "shortest line"));
            }
            Route::ShortestOf { shortest, of } => {
                let label = format!("shortest of {of}");
                shortest.iter().for_each(|node| self.route(from, places, node, &label));
            }
            Route::LeastWork { least_work } => {
                least_work.iter().for_each(|node| self.route(from, places, node, "least work"));
            }
        }
    }

    /// Adds a route, or its label to a route between the same nodes.
    fn route(&mut self, from: usize, places: &BTreeMap<&str, usize>, node: &str, label: &str) {
        let Some(&to) = places.get(node) else { return };
        match self.routes.iter_mut().find(|route| (route.0, route.1) == (from, to)) {
            Some((_, _, before)) if before == label => {}
            Some((_, _, before)) if before.is_empty() => label.clone_into(before),
            Some((_, _, before)) => *before = format!("{before}; {label}"),
            None => self.routes.push((from, to, label.to_owned())),
        }
    }
}

/// The probability that the other links of a class leave to this one.
fn rest(links: &[Link], link: &Link) -> Option<f64> {
    let others = links.iter().filter(|other| other.class == link.class && other.probability.is_some());
    let sum: f64 = others.filter_map(|other| other.probability).sum();
    (sum > 0.0).then_some(1.0 - sum)
}

fn words(link: &Link, share: Option<f64>, first: &str) -> String {
    let parts = [
        Some(first.to_owned()).filter(|first| !first.is_empty()),
        link.class.clone(),
        share.map(|share| short(share, 4)),
        link.becomes.as_ref().map(|class| format!("becomes {class}")),
        link.travel.as_ref().map(|travel| format!("takes {}", law(travel))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A number with this number of digits behind the point, or of its own digits if it is small.
fn short(number: f64, digits: i32) -> String {
    let scale = 10_f64.powi(digits);
    match number.abs() * scale < 1e3 && number != 0.0 {
        true => format!("{:.*e}", 3, number).parse::<f64>().unwrap_or(number).to_string(),
        false => ((number * scale).round() / scale).to_string(),
    }
}

/// A distribution in words: its name and its numbers.
fn law(law: &Distribution) -> String {
    fn words(value: &serde_json::Value, to: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(keys) => {
                for (key, value) in keys {
                    to.push(key.clone());
                    words(value, to);
                }
            }
            // Long lists are for the description.
            serde_json::Value::Array(all) if all.len() > 4 => to.push("…".to_owned()),
            serde_json::Value::Array(all) => all.iter().for_each(|value| words(value, to)),
            serde_json::Value::Number(number) => {
                to.push(number.as_f64().map_or_else(|| number.to_string(), |number| short(number, 6)));
            }
            other => to.push(other.to_string()),
        }
    }
    let mut all = Vec::new();
    words(&serde_json::to_value(law).unwrap_or_default(), &mut all);
    all.join(" ")
}

fn laws<'l>(
    all: Option<&'l Distribution>,
    by_class: impl Iterator<Item = (&'l String, &'l Distribution)>,
) -> Vec<String> {
    let each = by_class.map(|(class, of)| format!("{class}: {}", law(of)));
    all.map(law).into_iter().chain(each).collect()
}

fn customers<'p>(first: u32, others: impl Iterator<Item = &'p u32>) -> Option<String> {
    match first + others.sum::<u32>() {
        0 => None,
        1 => Some("1 customer at the start".to_owned()),
        all => Some(format!("{all} customers at the start")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_every_node_and_route() {
        let network = Network::from_toml(
            "name = \"a \\\"b\\\"\"\nclasses = [\"one\", \"two\"]\n[source.in]\ninterarrival = { exponential = 2.5 }\nto = \"first\"\n\
             [station.first]\nservers = 2\ndiscipline = \"priority\"\nservice = { uniform = [1, 2] }\nto = [{ node = \"split\", probability = 0.25 }, { node = \"out\" }, { class = \"two\", node = \"out\" }]\n\
             [delay.rest]\ntime = { constant = 1 }\nto = \"split\"\n\
             [fork.split]\ntasks = [\"rest\", \"rest\"]\nto = { node = \"first\", becomes = \"two\" }\n[sink.out]\n",
        )
        .unwrap();
        let dot = dot(&network);
        for line in [
            "digraph \"a \\\"b\\\"\" {\n",
            "  n0 [label=\"in\\nevery exponential 2.5\", shape=cds];\n",
            "  n1 [label=\"first\\n2 servers\\nuniform 1 2\\npriority\", shape=box];\n",
            "  n1 -> n3 [label=\"0.25\"];\n",
            "  n1 -> n4 [label=\"0.75; two\"];\n",
            "  n3 -> n2 [label=\"a task\"];\n",
            "  n3 -> n1 [label=\"becomes two\"];\n",
            "  n2 -> n3;\n",
        ] {
            assert!(dot.contains(line), "{line}: {dot}");
        }
        assert!(dot.ends_with("}\n"));
        let mermaid = mermaid(&network);
        for line in [
            "flowchart LR\n",
            "  n0>\"in<br>every exponential 2.5\"]\n",
            "  n4(((\"out\")))\n",
            "  n1 -->|\"0.25\"| n3\n",
            "  n2 --> n3\n",
        ] {
            assert!(mermaid.contains(line), "{line}: {mermaid}");
        }
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        for (number, digits, shown) in [
            (0.25, 4, "0.25"),
            (1.0 / 3.0, 4, "0.3333"),
            (4e-5, 4, "0.00004"),
            (4e-7, 6, "0.0000004"),
            (1.23456e-6, 6, "0.000001235"),
            (0.0, 4, "0"),
            (1234.5678, 6, "1234.5678"),
        ] {
            assert_eq!(short(number, digits), shown);
        }
    }

    #[test]
    fn labels_have_what_the_description_has() {
        let network = Network::from_toml(
            "name = \"a\"\n[source.phases]\nmap = { d0 = [[-1.0]], d1 = [[1.0]] }\nto = \"desk\"\n\
             [source.list]\ntimes = [1.0, 2.0]\nto = \"desk\"\n\
             [source.day]\ninterarrival = { exponential = 1 }\n\
             rates = [{ lasts = 1, factor = 0.5 }]\nto = \"desk\"\n\
             [station.desk]\nservice = { constant = 1 }\nto = \"out\"\n\
             groups = { day = { servers = 2, serves = [\"customer\"] }, \
             night = { servers = 1, serves = [\"customer\"] } }\n\
             breakdown = { up = { exponential = 9 }, down = { constant = 1 } }\n[sink.out]\n",
        )
        .unwrap();
        let dot = dot(&network);
        for label in [
            "phases\\nMAP of 1 phase\"",
            "list\\nat times of a list\"",
            "day\\nevery exponential 1\\nrate by periods\"",
            "desk\\nday: 2 servers\\nnight: 1 server\\nconstant 1\\n",
            "breaks down: up exponential 9, down constant 1\"",
        ] {
            assert!(dot.contains(label), "{label}: {dot}");
        }
    }
}
