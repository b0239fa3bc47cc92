//! Routing strategies of JMT.

use eventhorizon::facility::{Link, Route};

use super::super::laws::{last, value};
use super::super::xml::Element;
use super::{JmtNode, Kind, Model, Report, by_class, parameter};

/// A random route: node, probability, and the class afterwards.
type Chance<'e> = (&'e str, f64, usize);

/// How a node chooses where customers of a class go.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Strategy<'e> {
    Chance(Vec<Chance<'e>>),
    /// To each in turn; the class stays.
    InTurn(Vec<&'e str>, usize),
    /// To the one with the fewest customers.
    Shortest(Vec<&'e str>, usize),
    /// The class does not leave the node.
    Disabled,
}

impl<'e> Strategy<'e> {
    /// Each target with its probability, if it has one, and the class afterwards.
    pub(super) fn links(&self) -> Vec<Chance<'e>> {
        match self {
            Self::Chance(links) => links.clone(),
            Self::InTurn(nodes, class) | Self::Shortest(nodes, class) => {
                nodes.iter().map(|&node| (node, 1.0, *class)).collect()
            }
            Self::Disabled => Vec::new(),
        }
    }
}

/// The text in the part of an element with this name.
pub(super) fn text<'e>(element: &'e Element, name: &str) -> Option<&'e str> {
    value(element.all("subParameter").find(|part| part.attribute("name") == Some(name))?)
}

/// The number in the part of an element with this name, or NaN.
pub(super) fn number(element: &Element, name: &str) -> f64 {
    text(element, name).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Probabilities that add up to 1, except for rounding.
fn shares(weights: &[f64]) -> Result<Vec<f64>, String> {
    let sum: f64 = weights.iter().sum();
    match weights.iter().all(|weight| *weight >= 0.0) && (sum - 1.0).abs() < 1e-3 {
        true => Ok(weights.iter().map(|weight| weight / sum).collect()),
        false => Err(format!("its probabilities add up to {sum}; expected 1")),
    }
}

/// The entries of the array in an element.
pub(super) fn entries(element: &Element) -> impl Iterator<Item = &Element> {
    element.first("subParameter").into_iter().flat_map(|array| array.all("subParameter"))
}

impl<'e> Model<'e> {
    /// What a node does with a class.
    pub(super) fn strategy(&self, node: &JmtNode<'e>, class: usize, report: &mut Report) -> Strategy<'e> {
        if node.kind != Kind::ClassSwitch {
            return self.routing(node, class, report);
        }
        let mut links = Vec::new();
        for (to, share) in self.switch(node, class, report) {
            match self.routing(node, to, report) {
                Strategy::Chance(after) => {
                    links
                        .extend(after.into_iter().map(|(node, chance, class)| (node, chance * share, class)));
                }
                Strategy::Disabled => {}
                _ => report.refuse(node.element, "a class switch is supported with random routes only"),
            }
        }
        Strategy::Chance(links)
    }

    /// The classes that a class becomes at a class switch.
    fn switch(&self, node: &JmtNode<'e>, class: usize, report: &mut Report) -> Vec<(usize, f64)> {
        let matrix = node.section("ClassSwitch").and_then(|section| section.first("parameter"));
        let name = &self.classes[class].name;
        let row = matrix.and_then(|matrix| by_class(matrix).find(|(of, _)| of == name));
        let Some((_, row)) = row else { return vec![(class, 1.0)] };
        let cell =
            |(to, cell): (&str, &Element)| Some((self.class_named(to)?, value(cell)?.parse::<f64>().ok()?));
        let cells: Vec<_> = by_class(row).filter_map(cell).filter(|(_, share)| *share != 0.0).collect();
        match shares(&cells.iter().map(|(_, share)| *share).collect::<Vec<_>>()) {
            Ok(shares) => cells.into_iter().map(|(to, _)| to).zip(shares).collect(),
            Err(why) => {
                report.refuse(row, format!("class `{name}`: {why}"));
                Vec::new()
            }
        }
    }

    fn routing(&self, node: &JmtNode<'e>, class: usize, report: &mut Report) -> Strategy<'e> {
        let is_sink = |name: &str| self.nodes.get(name).is_some_and(|node| node.kind == Kind::Sink);
        // Customers of a closed class never leave.
        let stays = !self.classes[class].is_open;
        let targets: Vec<&str> = self.targets(node.name).filter(|to| !(stays && is_sink(to))).collect();
        if targets.is_empty() {
            return Strategy::Disabled;
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of nodes")]
        let share = 1.0 / targets.len() as f64;
        let evenly = Strategy::Chance(targets.iter().map(|&to| (to, share, class)).collect());
        let strategies = node.section("Router").and_then(|section| parameter(section, "RoutingStrategy"));
        let name = &self.classes[class].name;
        let Some((_, strategy)) = strategies.and_then(|all| by_class(all).find(|(of, _)| of == name)) else {
            return evenly;
        };
        let kind = last(strategy.attribute("classPath").unwrap_or_default());
        match kind {
            "DisabledRoutingStrategy" => Strategy::Disabled,
            "RandomStrategy" => evenly,
            "RoundRobinStrategy" => Strategy::InTurn(targets, class),
            "ShortestQueueLengthRoutingStrategy" => Strategy::Shortest(targets, class),
            "EmpiricalStrategy" => {
                let entry = |entry| Some((text(entry, "stationName")?, number(entry, "probability"), class));
                self.chances(node, strategy, entries(strategy).filter_map(entry), report)
            }
            "ClassSwitchRoutingStrategy" => {
                let mut links = Vec::new();
                for entry in entries(strategy) {
                    let to = text(entry, "stationName").unwrap_or_default();
                    let chance = number(entry, "probability");
                    let array = |part: &&Element| part.attribute("name") == Some("EmpiricalEntryArray");
                    let changes = entry.all("subParameter").find(array);
                    for change in changes.into_iter().flat_map(|all| all.all("subParameter")) {
                        let becomes = text(change, "className").and_then(|name| self.class_named(name));
                        let share = number(change, "probability");
                        links.extend(becomes.map(|becomes| (to, chance * share, becomes)));
                    }
                }
                self.chances(node, strategy, links, report)
            }
            // Every strategy has one choice.
            _ if targets.len() == 1 => evenly,
            _ => {
                let node = node.name;
                report
                    .refuse(strategy, format!("`{kind}` of node `{node}`, class `{name}`, is not supported"));
                Strategy::Disabled
            }
        }
    }

    fn chances(
        &self,
        node: &JmtNode<'e>,
        strategy: &Element,
        links: impl IntoIterator<Item = Chance<'e>>,
        report: &mut Report,
    ) -> Strategy<'e> {
        let links: Vec<_> = links.into_iter().filter(|(_, chance, _)| *chance != 0.0).collect();
        if let Some((to, ..)) = links.iter().find(|(to, ..)| !self.nodes.contains_key(to)) {
            report.refuse(strategy, format!("it leads to the node `{to}`, which is unknown"));
        } else if let Some((to, ..)) =
            links.iter().find(|(to, ..)| !self.targets(node.name).any(|of| of == *to))
        {
            let why = format!("it leads to `{to}`, and no connection does: add one from `{}`", node.name);
            report.refuse(strategy, why);
        }
        match shares(&links.iter().map(|(_, chance, _)| *chance).collect::<Vec<_>>()) {
            Ok(shares) => {
                let link = |((to, _, class), share)| (to, share, class);
                Strategy::Chance(links.into_iter().zip(shares).map(link).collect())
            }
            Err(why) => {
                report.refuse(strategy, why);
                Strategy::Disabled
            }
        }
    }

    /// The name of a node in the network: joins are their forks.
    pub(super) fn target(&self, name: &'e str) -> &'e str {
        self.forks.get(name).copied().unwrap_or(name)
    }

    /// The routes of a node, for the classes that come to it.
    pub(super) fn route(&self, node: &JmtNode<'e>, report: &mut Report) -> Route {
        let coming = (0..self.classes.len()).filter(|&class| self.comes.contains(&(node.name, class)));
        let strategies: Vec<_> = coming.map(|class| (class, self.strategy(node, class, report))).collect();
        self.route_of(node, &strategies, report)
    }

    pub(super) fn route_of(
        &self,
        node: &JmtNode<'e>,
        strategies: &[(usize, Strategy<'e>)],
        report: &mut Report,
    ) -> Route {
        let names = |nodes: &[&'e str]| nodes.iter().map(|to| self.target(to).to_owned()).collect();
        let is_shortest = |to: &[&'e str]| {
            strategies.iter().all(|(_, it)| matches!(it, Strategy::Shortest(also, _) if also == to))
        };
        match strategies.first().map(|(_, strategy)| strategy) {
            Some(Strategy::InTurn(nodes, _)) if strategies.len() == 1 => {
                return Route::InTurn { in_turn: names(nodes) };
            }
            Some(Strategy::Shortest(nodes, _)) if is_shortest(nodes) => {
                report.note(format!(
                    "`{}` sends customers to the first of equally short lines; JMT chooses one at random",
                    node.name
                ));
                return Route::Shortest { shortest: names(nodes) };
            }
            _ => {}
        }
        if strategies.iter().any(|(_, it)| matches!(it, Strategy::InTurn(..) | Strategy::Shortest(..))) {
            report.refuse(
                node.element,
                "round robin is supported for one class at a node, and the shortest queue for all of them",
            );
        }
        let links: Vec<_> = strategies.iter().map(|(class, strategy)| (*class, strategy.links())).collect();
        for (class, _) in links.iter().filter(|(_, links)| links.is_empty()) {
            let class = &self.classes[*class].name;
            report.refuse(node.element, format!("customers of class `{class}` have no route from here"));
        }
        // A class is named where routes of classes differ, or change it.
        let plain = |(class, links): &(usize, Vec<Chance<'e>>)| -> Option<Vec<(&'e str, f64)>> {
            links.iter().map(|&(to, share, becomes)| (becomes == *class).then_some((to, share))).collect()
        };
        let first = links.first().and_then(plain);
        if let Some(first) = first.filter(|first| links.iter().all(|of| plain(of).as_ref() == Some(first))) {
            return Route::Links(with_rest(
                first.iter().map(|&(to, share)| (Link::to(self.target(to)), share)),
            ));
        }
        let all = links.iter().flat_map(|(class, links)| {
            with_rest(links.iter().map(|&(to, share, becomes)| {
                let link = Link::to(self.target(to)).of(&self.classes[*class].name);
                match becomes == *class {
                    true => (link, share),
                    false => (link.becoming(&self.classes[becomes].name), share),
                }
            }))
        });
        Route::Links(all.collect())
    }
}

/// Links with their probabilities; the last gets the rest, so that they add up exactly.
pub(in crate::formats) fn with_rest(links: impl IntoIterator<Item = (Link, f64)>) -> Vec<Link> {
    let mut all: Vec<(Link, f64)> = links.into_iter().collect();
    let last = all.pop();
    let mut links: Vec<Link> = all.into_iter().map(|(link, share)| link.with(share)).collect();
    links.extend(last.map(|(link, _)| link));
    links
}
