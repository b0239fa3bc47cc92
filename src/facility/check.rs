//! Validates a description, field by field and in combination. `names.rs` resolves names and
//! numbers; `traffic.rs` checks which classes reach which nodes and whether stations are stable.

use super::distribution::whole;
use super::names::{Names, setting};
use super::network::Network;
use super::nodes::{Choice, Kind, Node, Pair, unsupported};
use super::scale::TimeScale;
use super::traffic::{arrive, leave, stable, traffic};
use super::translated;
use super::{Discipline, Distribution, FacilityError, MAX_CLASSES};
use crate::text::quoted;
use crate::time::{Resolution, Ticks};

/// Most servers of a station that scans all of its servers: one with preemption or breakdowns.
const MOST_ROWS: u32 = 32;

/// How a network runs that the interpreter of networks refuses.
const PROCESS: &str =
    "it needs a process model, which `eventhorizon network` and `process::NetworkProcess` make";

/// What runs a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The interpreter of networks, or what a network is compiled to.
    Network,
    /// A process model, into which the network is translated (`process/network`).
    Process,
}

/// The nodes of a network, in the order of their LPs.
pub(super) fn check(
    network: &Network,
    scale: TimeScale,
    allow_unstable: bool,
    form: Form,
) -> Result<Vec<Node>, FacilityError> {
    let resolution = scale.resolution;
    named(network)?;
    match (network.until, network.warm_up) {
        (Some(until), warm_up) => observed(resolution, until, warm_up.unwrap_or(0.0)).map(drop)?,
        (None, Some(warm_up)) => ticks(resolution, WARM_UP, warm_up).map(drop)?,
        (None, None) => {}
    }
    let classes = &network.classes;
    let refused = |remedy: String| FacilityError::Classes { classes: classes.join(", "), remedy };
    if classes.is_empty() {
        return Err(refused("name at least one".to_owned()));
    }
    if form == Form::Network && classes.len() > MAX_CLASSES {
        return Err(refused(format!("more than {MAX_CLASSES}: {PROCESS}")));
    }
    lists(network)?;
    if form == Form::Network {
        plain(network, PROCESS)?;
    }
    if (1..classes.len()).any(|number| classes[..number].contains(&classes[number])) {
        return Err(refused("give each another name".to_owned()));
    }
    if network.stations.is_empty() && network.delays.is_empty() {
        return Err(FacilityError::Empty);
    }
    if let Some(name) = network.repeated() {
        return Err(FacilityError::Repeated { name: name.to_owned() });
    }
    let mut nodes = Names::new(network).nodes(network)?;
    let outside = arrive(&mut nodes, classes)?;
    leave(&nodes, &outside, classes)?;
    match form {
        Form::Network => together(&nodes)?,
        Form::Process => translated::together(&nodes, classes)?,
    }
    cycles(&nodes)?;
    // Before rates and loads are computed: a time that cannot be drawn would be reported as
    // overload.
    drawn(&nodes, network, scale)?;
    match traffic(&mut nodes, &outside) {
        Err(_) if allow_unstable => {}
        result => result?,
    }
    if !allow_unstable {
        stable(&nodes, &outside, classes, &network.regions)?;
    }
    Ok(nodes)
}

/// The names of the times of runs in errors, with their names in descriptions and studies.
pub(super) const UNTIL: &str = "end of runs (`until`)";
const WARM_UP: &str = "warm-up (`warm_up`)";

pub(super) fn ticks(resolution: Resolution, what: &'static str, units: f64) -> Result<Ticks, FacilityError> {
    resolution.ticks(units).map_err(|source| FacilityError::Time { what, source })
}

/// The end of runs and of their warm-up, if anything remains to observe between them.
pub(super) fn observed(
    resolution: Resolution,
    until: f64,
    warm_up: f64,
) -> Result<(Ticks, Ticks), FacilityError> {
    let end = ticks(resolution, UNTIL, until)?;
    let begin = ticks(resolution, WARM_UP, warm_up)?;
    if begin < end { Ok((end, begin)) } else { Err(FacilityError::WarmUp { until, warm_up }) }
}

/// Checks that names differ from the words that results use, and that they can be displayed.
fn named(network: &Network) -> Result<(), FacilityError> {
    let refused = |what, name: &str, reason| Err(FacilityError::Name { what, name: name.to_owned(), reason });
    let nodes = network.names().map(|name| ("a node", name));
    let classes = network.classes.iter().map(|name| ("a class", &**name));
    let whole = [("the network", &*network.name), ("its unit of time", &*network.unit)];
    for (what, name) in whole.into_iter().chain(classes).chain(nodes) {
        match (what, name) {
            ("a class", "all") => {
                return refused(what, name, "results use this name for all classes; choose another");
            }
            ("a node", "(network)") => {
                return refused(what, name, "results use this name for all nodes; choose another");
            }
            _ => {}
        }
        // XML allows neither control characters nor the last two code points of the first plane.
        if name.contains(|letter: char| letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}')) {
            let reason =
                "it has a control character, which would change a terminal and spoil SVG files; leave it out";
            return refused(what, name, reason);
        }
    }
    Ok(())
}

/// Refuses arrivals that the network form does not have.
fn plain(network: &Network, reason: &'static str) -> Result<(), FacilityError> {
    let found = network.sources.iter().find_map(|(name, source)| Some((name, source.beyond()?)));
    found.map_or(Ok(()), |(name, what)| Err(unsupported(name, what, reason)))
}

/// Checks the classes of lists of arrivals.
fn lists(network: &Network) -> Result<(), FacilityError> {
    for (name, source) in &network.sources {
        let Some(times) = &source.times else { continue };
        if let Some(class) = times.classes.iter().find(|class| !network.classes.contains(class)) {
            let (node, class, known) = (name.clone(), quoted(class), network.classes.join(", "));
            return Err(FacilityError::UnknownClass { node, class, known });
        }
        let class = source.class.as_ref().or(network.classes.first());
        if class.is_some_and(|class| times.of(class).next().is_none()) {
            let (node, what) = (name.clone(), "the number of arrivals of its class");
            let remedy = "write arrivals of this class, or another `class`".to_owned();
            return Err(FacilityError::Setting { node, what, value: "0".to_owned(), remedy });
        }
    }
    Ok(())
}

/// Checks that all times can be drawn, and that calendars consist of whole ticks.
fn drawn(nodes: &[Node], network: &Network, scale: TimeScale) -> Result<(), FacilityError> {
    let law_at = |scale, node: &str, law: Option<&Distribution>, what: &dyn Fn() -> String| match law
        .map_or(Ok(()), |law| law.words(scale).map(drop))
    {
        Ok(()) => Ok(()),
        Err(reason) => Err(FacilityError::Distribution { node: node.to_owned(), what: what(), reason }),
    };
    let law =
        |node: &str, law: Option<&Distribution>, what: &dyn Fn() -> String| law_at(scale, node, law, what);
    law(&network.name, network.travel.as_ref(), &|| "travel time of all routes".to_owned())?;
    for node in nodes {
        let name = &*node.name;
        // The clock of shared servers has no room for a time beyond the end of runs.
        let shared = matches!(node.kind, Kind::Station { discipline: Discipline::Sharing, .. });
        let served = if shared { TimeScale::new(scale.resolution, None) } else { scale };
        let mut calendar = "a piece of its schedule";
        if let Kind::Source { interarrival, .. } = &node.kind {
            law(name, Some(interarrival), &|| "time between arrivals".to_owned())?;
            calendar = "a piece of its rates";
        }
        for (number, &(lasts, _)) in node.calendar.iter().enumerate() {
            let value = || format!("{lasts} long (piece {} of {})", number + 1, node.calendar.len());
            whole(lasts, scale).map_err(|reason| setting(name, calendar, value(), reason))?;
        }
        if let Some((up, down)) = &node.breakdown {
            law(name, Some(up), &|| "time between breakdowns".to_owned())?;
            law(name, Some(down), &|| "time of repairs".to_owned())?;
        }
        for (class, setup) in network.classes.iter().zip(&node.beyond.setup) {
            law(name, setup.as_ref(), &|| format!("setup of `{class}`"))?;
        }
        for (class, pair) in network.classes.iter().zip(&node.pairs).filter(|(_, pair)| pair.comes) {
            // An assembly may take no time. Customers that circle in it at one time fail the run.
            let at_once = !node.beyond.parts().is_empty();
            let service = pair.service.filter(|law| !at_once || *law != Distribution::Constant(0.0));
            law_at(served, name, service.as_ref(), &|| format!("service of `{class}`"))?;
            law(name, pair.patience.as_ref(), &|| format!("patience of `{class}`"))?;
            for route in pair.all_routes() {
                let to = || format!("time of travel to `{}`", nodes[route.node].name);
                law(name, route.travel.as_ref(), &to)?;
            }
        }
    }
    Ok(())
}

/// Checks combinations of settings of a node, and of a node with the targets of its routes.
fn together(nodes: &[Node]) -> Result<(), FacilityError> {
    use Discipline::{Polling, Preemptive, Random, Sharing};
    for node in nodes {
        let refused = |what, reason| Err(unsupported(&node.name, what, reason));
        if let Some(what) = node.beyond.first() {
            return refused(what, PROCESS);
        }
        let holds = node.holds(nodes);
        if node.choice == Choice::Shortest {
            let routes = node.pairs.iter().flat_map(|pair| &pair.routes);
            for other in routes.map(|route| &nodes[route.node]) {
                if !matches!(other.kind, Kind::Station { .. }) {
                    return refused(
                        "a shortest line among nodes without lines",
                        "only stations and delays report their number of customers",
                    );
                }
                if other.blocks {
                    return refused(
                        "a shortest line among stations that block",
                        "customers that wait elsewhere for room there are in no line",
                    );
                }
            }
        }
        if node
            .pairs
            .iter()
            .flat_map(Pair::all_routes)
            .any(|route| route.travel.is_some() && nodes[route.node].blocks)
        {
            return refused(
                "a time of travel to a station that blocks",
                "a travelling customer has left its server and cannot wait there for room; remove the time, and lead the route to a delay before that station",
            );
        }
        let mut all = node.pairs.iter().flat_map(Pair::all_routes);
        if matches!(node.kind, Kind::Router | Kind::Fork) && all.any(|route| nodes[route.node].blocks) {
            return refused(
                "a router or fork before a station that blocks",
                "a refused customer has no server to wait at; send it there from a station or a delay",
            );
        }
        let Kind::Station { servers, discipline, .. } = node.kind else { continue };
        let patient = node.pairs.iter().all(|pair| pair.patience.is_none());
        let rows = discipline == Preemptive || node.breakdown.is_some();
        if rows && servers.is_some_and(|servers| servers > MOST_ROWS) {
            return refused(
                "more than 32 servers",
                "a station that interrupts services scans all its servers, at most 32",
            );
        }
        if discipline == Polling && servers != Some(1) {
            return refused("polling by several servers", "each server polls alone; use one server");
        }
        if discipline == Random && !patient {
            let reason = "a line in random order moves its customers and cannot find one that leaves it";
            return refused("patience in a random order", reason);
        }
        if discipline == Random && node.blocks {
            return refused(
                "blocking in a random order",
                "a line in random order has no room for customers that wait elsewhere",
            );
        }
        if discipline == Sharing {
            if !patient {
                return refused(
                    "patience with shared servers",
                    "all customers are served at the same time, and none waits",
                );
            }
            if !node.calendar.is_empty() || node.breakdown.is_some() {
                return refused(
                    "a schedule or breakdowns of shared servers",
                    "the clock of their shares runs at one rate per number of customers",
                );
            }
            if node.blocks {
                return refused(
                    "blocking at shared servers",
                    "all customers are served at the same time; give it a capacity with loss",
                );
            }
            if servers.is_some_and(|servers| servers > 0xffff) {
                return refused("too many shared servers", "shares are fractions of 16 bits");
            }
        }
        if discipline == Preemptive && (node.breakdown.is_some() || !node.calendar.is_empty()) {
            return refused(
                "a schedule or breakdowns of a preemptive station",
                "a service that is interrupted twice would have to store both interruptions",
            );
        }
        if holds && (rows || discipline == Sharing) {
            return refused(
                "a route to a station that blocks",
                "customers cannot wait in service at preemptive, shared or breaking servers",
            );
        }
        if node.blocks && !node.balking.is_empty() {
            return refused(
                "balking at a station that blocks",
                "a customer that waits elsewhere for room there has joined already",
            );
        }
    }
    Ok(())
}

/// Checks that no cycle has only routers and forks. These take no time, so it would never end. A
/// join takes time: that of its forked tasks.
fn cycles(nodes: &[Node]) -> Result<(), FacilityError> {
    let instant = |node: &usize| matches!(nodes[*node].kind, Kind::Router | Kind::Fork);
    let mut left: Vec<usize> = (0..nodes.len()).filter(instant).collect();
    // Removes nodes without routes to the rest, until none can be removed.
    while let Some(place) = left.iter().position(|&node| {
        let fork = nodes[node].kind == Kind::Fork;
        let routes = nodes[node].pairs.iter().flat_map(|pair| if fork { &pair.tasks } else { &pair.routes });
        routes.into_iter().all(|route| route.travel.is_some() || !left.contains(&route.node))
    }) {
        left.remove(place);
    }
    match left.first() {
        None => Ok(()),
        Some(&node) => Err(unsupported(
            &nodes[node].name,
            "a cycle of routers and forks only",
            "it takes no time, so a customer could circle without end; give one of its routes a travel time",
        )),
    }
}
