//! Models of JMVA: service times and visits of each class at each station.
//!
//! A file has no routes. Results of product-form networks depend on the visits only, so customers
//! choose their next station in proportion to them; an open class leaves with the probability that
//! gives the visits.

use eventhorizon::facility::{Delay, Discipline, Distribution, Link, Network, Source, Station};
use indexmap::IndexMap;

use super::jmt::{Report, set_times, with_rest};
use super::xml::Element;

/// A class: its customers if it is closed, or its rate of arrivals.
struct Class<'e> {
    name: &'e str,
    load: Load,
}

enum Load {
    Closed(u32),
    Open(f64),
}

/// A station, with service time and visits of each class.
struct Place<'e> {
    name: &'e str,
    element: &'e Element,
    servers: Option<u32>,
    service: Vec<f64>,
    visits: Vec<f64>,
}

pub(super) fn model(title: &str, root: &Element, report: &mut Report) -> Option<Network> {
    let Some(parameters) = root.first("parameters") else {
        report.refuse(root, "the element `parameters` is missing");
        return None;
    };
    let classes: Vec<Class<'_>> = parameters
        .first("classes")
        .into_iter()
        .flat_map(|classes| &classes.children)
        .filter_map(|element| class(element, report))
        .collect();
    let places: Vec<Place<'_>> = parameters
        .first("stations")
        .into_iter()
        .flat_map(|stations| &stations.children)
        .filter_map(|element| place(element, &classes, report))
        .collect();
    for (number, place) in places.iter().enumerate() {
        if places[..number].iter().any(|other| other.name == place.name) {
            report.refuse(place.element, format!("there is another station called `{}`", place.name));
        }
    }
    if classes.is_empty() || places.is_empty() {
        report.refuse(parameters, "it has no classes or no stations");
        return None;
    }
    let mut network = Network::new(title);
    network.classes = classes.iter().map(|class| class.name.to_owned()).collect();
    if let Some(description) = root.first("description") {
        network.about = description.text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let reference = parameters.first("ReferenceStation");
    let begins_at = |class: &str| {
        let named = reference?.all("Class").find(|element| element.attribute("name") == Some(class))?;
        named.attribute("refStation")
    };
    let is_open = classes.iter().any(|class| matches!(class.load, Load::Open(_)));
    let exit = is_open.then(|| free("out", &places));
    // By class, its links from every node.
    let mut all = Vec::new();
    let mut times = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let visited: Vec<&Place<'_>> = places.iter().filter(|place| place.visits[number] > 0.0).collect();
        if visited.is_empty() {
            report.refuse(parameters, format!("the class `{}` visits no station", class.name));
            return None;
        }
        let visits: f64 = visited.iter().map(|place| place.visits[number]).sum();
        let leaves = f64::from(u8::from(matches!(class.load, Load::Open(_))));
        let to = |place: &&Place<'_>| (Link::to(place.name), place.visits[number] / (visits + leaves));
        let mut links: Vec<(Link, f64)> = visited.iter().map(to).collect();
        if let Load::Open(rate) = class.load {
            links.extend(exit.as_ref().map(|exit| (Link::to(exit), 1.0 / (visits + 1.0))));
            let interarrival = Distribution::Exponential(1.0 / rate);
            times.push(interarrival);
            let name = free(&format!("{} arrivals", class.name), &places);
            network.sources.insert(name, Source::new(interarrival, with_rest(links.clone())).of(class.name));
        }
        let named = links.into_iter().map(|(link, share)| (link.of(class.name), share));
        all.push(with_rest(named));
    }
    for place in &places {
        let here: Vec<usize> = (0..classes.len()).filter(|&class| place.visits[class] > 0.0).collect();
        if here.is_empty() {
            report.note(format!("no class visits `{}`; it is left out", place.name));
            continue;
        }
        let mut links: Vec<Link> = here.iter().flat_map(|&class| all[class].clone()).collect();
        if classes.len() == 1 {
            links.iter_mut().for_each(|link| link.class = None);
        }
        let law = |class: usize| Distribution::Exponential(place.service[class]);
        let by_class = || here.iter().map(|&class| (classes[class].name.to_owned(), law(class)));
        let is_alike = here.iter().all(|&class| place.service[class] == place.service[here[0]]);
        let (time, time_of) = match is_alike {
            true => (Some(law(here[0])), IndexMap::new()),
            false => (None, by_class().collect()),
        };
        times.extend(here.iter().map(|&class| law(class)));
        let begin = |(class, of): (usize, &Class<'_>)| match of.load {
            Load::Closed(customers) => {
                let first = places.iter().find(|place| place.visits[class] > 0.0)?.name;
                let visited =
                    |name: &&str| places.iter().any(|place| place.name == *name && place.visits[class] > 0.0);
                let there = begins_at(of.name).filter(visited).unwrap_or(first);
                (there == place.name).then(|| (of.name.to_owned(), customers))
            }
            Load::Open(_) => None,
        };
        let population_of: IndexMap<String, u32> =
            classes.iter().enumerate().filter_map(begin).filter(|(_, customers)| *customers > 0).collect();
        match place.servers {
            None => {
                let mut delay = Delay::new(law(here[0]), links);
                (delay.time, delay.time_of, delay.population_of) = (time, time_of, population_of);
                network.delays.insert(place.name.to_owned(), delay);
            }
            Some(servers) => {
                let mut station = Station::new(law(here[0]), links).with_servers(servers);
                (station.service, station.service_of, station.population_of) = (time, time_of, population_of);
                if !is_alike {
                    // Stations with times by class are in product form if they are shared.
                    station = station.with_discipline(Discipline::Sharing);
                }
                network.stations.insert(place.name.to_owned(), station);
            }
        }
    }
    if let Some(exit) = exit {
        network = network.sink(&exit);
    }
    set_times(&mut network, &times);
    report.note(format!(
        "a model of JMVA has no end; replications end at {} and statistics begin at {}",
        network.until.unwrap_or_default(),
        network.warm_up.unwrap_or_default()
    ));
    Some(network)
}

/// A name that no station has.
fn free(name: &str, places: &[Place<'_>]) -> String {
    let mut name = name.to_owned();
    while places.iter().any(|place| place.name == name) {
        name.push('_');
    }
    name
}

fn class<'e>(element: &'e Element, report: &mut Report) -> Option<Class<'e>> {
    let number = |key: &str| element.attribute(key).and_then(|text| text.trim().parse::<f64>().ok());
    let load = match &*element.name {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        "closedclass" => number("population")
            .filter(|customers| customers.fract() == 0.0 && (0.0..=4096.0).contains(customers))
            .map(|customers| Load::Closed(customers as u32)),
        "openclass" => number("rate").filter(|rate| *rate > 0.0 && rate.is_finite()).map(Load::Open),
        _ => {
            report.refuse(element, "this element is not supported");
            return None;
        }
    };
    match (load, element.attribute("name")) {
        (Some(load), Some(name)) => Some(Class { name, load }),
        _ => {
            report.refuse(element, "expected a name, and a `population` up to 4096 or a `rate` above 0");
            None
        }
    }
}

fn place<'e>(element: &'e Element, classes: &[Class<'_>], report: &mut Report) -> Option<Place<'e>> {
    let Some(name) = element.attribute("name") else {
        report.refuse(element, "its name is missing");
        return None;
    };
    let text = |list: &str, item: &str, class: &str| -> Option<&'e str> {
        let mut all = element.first(list)?.children.iter().filter(|it| it.name == item || it.name == list);
        Some(all.find(|it| it.attribute("customerclass") == Some(class))?.text.trim())
    };
    let mut of = Place { name, element, servers: Some(1), service: Vec::new(), visits: Vec::new() };
    match &*element.name {
        "delaystation" => of.servers = None,
        "listation" => {
            let servers = element.attribute("servers").map(|text| text.trim().parse::<u32>());
            match servers {
                None => {}
                Some(Ok(servers)) if servers > 0 => of.servers = Some(servers),
                Some(_) => report.refuse(element, "`servers` is no number of servers"),
            }
        }
        "ldstation" => {}
        _ => {
            report.refuse(element, "this kind of station is not supported");
            return None;
        }
    }
    let mut servers = Vec::new();
    for class in classes {
        let number =
            |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok()).filter(|it| *it >= 0.0);
        let visits = number(text("visits", "visit", class.name));
        let service = match &*element.name {
            "ldstation" => text("servicetimes", "servicetime", class.name).and_then(load_dependent).map(
                |(number, time)| {
                    of.servers = Some(number);
                    servers.push(number);
                    time
                },
            ),
            _ => number(text("servicetimes", "servicetime", class.name)),
        };
        let (Some(visits), Some(service)) = (visits, service) else {
            report.refuse(element, format!("expected visits and a service time of class `{}` that can be read; times that depend on the load are supported where they are those of several servers", class.name));
            return None;
        };
        // A service of no time is no visit.
        of.visits.push(if service > 0.0 { visits } else { 0.0 });
        of.service.push(service);
    }
    let differs = of.service.iter().any(|service| *service != of.service[0])
        || servers.iter().any(|number| *number != servers[0]);
    if of.element.name == "ldstation" && differs {
        report.refuse(
            element,
            "times that depend on the load are supported if they are the same for all classes",
        );
    }
    Some(of)
}

/// The number of servers and the service time of one, if times by the number of customers are those
/// of several servers: a time divided by the number of customers, and constant from some number on.
fn load_dependent(list: &str) -> Option<(u32, f64)> {
    let times = list.split([';', ',']).map(|time| time.trim().parse::<f64>().ok());
    let times: Vec<f64> = times.collect::<Option<_>>()?;
    let first = *times.first()?;
    #[expect(clippy::cast_precision_loss, reason = "a number of customers")]
    let of_servers = |servers: usize| {
        let expected = |number: usize| first / number.min(servers) as f64;
        times.iter().enumerate().all(|(at, time)| (time - expected(at + 1)).abs() < 1e-9 * first)
    };
    // With a server for each customer, the number cannot be seen; it is at least that of the list.
    let servers = (1..=times.len()).find(|&servers| of_servers(servers))?;
    Some((u32::try_from(servers).ok()?, first))
}
