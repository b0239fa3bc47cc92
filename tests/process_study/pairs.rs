//! All pairs of features of networks: what runs them, and what is refused for which reason. The
//! table of the guide is what this finds.

use eventhorizon::Backend;
use eventhorizon::facility::{
    Batch, Breakdown, Discipline, Distribution, Fork, Group, Interrupted, Link, Network, Region, Route,
    Router, Shift, ShiftEnd, Source, Station, Study, WhenFull,
};
use eventhorizon::process::NetworkProcess;

use crate::long::is_long;

/// A feature: its name in the table, what excludes it, and how a network gets it.
struct Feature {
    name: &'static str,
    /// Features of one kind exclude each other.
    kind: &'static str,
    adds: fn(&mut Network),
}

fn exponential(mean: f64) -> Distribution {
    Distribution::Exponential(mean)
}

fn desk(network: &mut Network) -> &mut Station {
    &mut network.stations["desk"]
}

fn base() -> Network {
    let source = |class: &str| Source::new(exponential(4.0), "desk").of(class);
    Network::new("pairs")
        .with_classes(&["a", "b"])
        .source("in_a", source("a"))
        .source("in_b", source("b"))
        .station("desk", Station::new(exponential(0.5), "next"))
        .station("next", Station::new(exponential(0.5), "out"))
        .sink("out")
}

/// Leads all sources along a route.
fn enter(network: &mut Network, route: &Route) {
    network.sources.values_mut().for_each(|source| source.to = route.clone());
}

/// A choice between the desk and another station.
fn choice(network: &mut Network, of: fn(Vec<String>) -> Route) {
    network.stations.insert("other".to_owned(), Station::new(exponential(0.5), "next"));
    enter(network, &of(vec!["desk".to_owned(), "other".to_owned()]));
}

const FEATURES: [Feature; 27] = [
    Feature { name: "`lifo`", kind: "discipline", adds: |all| desk(all).discipline = Discipline::Lifo },
    Feature { name: "`random`", kind: "discipline", adds: |all| desk(all).discipline = Discipline::Random },
    Feature {
        name: "`priority`",
        kind: "discipline",
        adds: |all| desk(all).discipline = Discipline::Priority,
    },
    Feature {
        name: "`aging`",
        kind: "discipline",
        adds: |all| {
            desk(all).discipline = Discipline::Priority;
            desk(all).aging = Some(3.0);
        },
    },
    Feature {
        name: "`preemptive`",
        kind: "discipline",
        adds: |all| desk(all).discipline = Discipline::Preemptive,
    },
    Feature { name: "`polling`", kind: "discipline", adds: |all| desk(all).discipline = Discipline::Polling },
    Feature { name: "`sharing`", kind: "discipline", adds: |all| desk(all).discipline = Discipline::Sharing },
    Feature { name: "loss", kind: "full", adds: |all| desk(all).capacity = Some(5) },
    Feature {
        name: "blocks others",
        kind: "full",
        adds: |all| {
            desk(all).capacity = Some(5);
            desk(all).when_full = WhenFull::Block;
        },
    },
    Feature {
        name: "is blocked",
        kind: "",
        adds: |all| {
            all.stations["next"].capacity = Some(3);
            all.stations["next"].when_full = WhenFull::Block;
        },
    },
    Feature { name: "patience", kind: "", adds: |all| desk(all).patience = Some(exponential(9.0)) },
    Feature {
        name: "`reneged_to`",
        kind: "",
        adds: |all| {
            desk(all).patience = Some(exponential(9.0));
            desk(all).reneged_to = Some("next".into());
        },
    },
    Feature { name: "balking", kind: "", adds: |all| desk(all).balking = vec![0.0, 0.25] },
    Feature {
        name: "schedule",
        kind: "",
        adds: |all| {
            desk(all).schedule = vec![Shift { lasts: 50.0, servers: 1 }, Shift { lasts: 5.0, servers: 0 }];
        },
    },
    Feature {
        name: "`shift`",
        kind: "",
        adds: |all| {
            desk(all).schedule = vec![Shift { lasts: 50.0, servers: 1 }, Shift { lasts: 5.0, servers: 0 }];
            desk(all).shift = ShiftEnd::Preempt;
        },
    },
    Feature {
        name: "breakdown",
        kind: "",
        adds: |all| desk(all).breakdown = Some(Breakdown { up: exponential(50.0), down: exponential(5.0) }),
    },
    Feature {
        name: "`interrupted`",
        kind: "",
        adds: |all| {
            desk(all).breakdown = Some(Breakdown { up: exponential(50.0), down: exponential(5.0) });
            desk(all).interrupted = Interrupted::Repeat;
        },
    },
    Feature {
        name: "groups",
        kind: "",
        adds: |all| {
            let serves = all.classes.clone();
            desk(all).groups.insert("staff".to_owned(), Group { servers: 1, serves, speed: 1.0 });
        },
    },
    Feature { name: "setup", kind: "", adds: |all| desk(all).setup = Some(exponential(0.1)) },
    Feature { name: "`speeds`", kind: "", adds: |all| desk(all).speeds = vec![1.0, 1.5, 2.0] },
    Feature { name: "`batch`", kind: "", adds: |all| desk(all).batch = Some(Batch::new(1, 4)) },
    Feature { name: "`splits`", kind: "", adds: |all| desk(all).splits = Some(2) },
    Feature {
        name: "region",
        kind: "",
        adds: |all| {
            let nodes = vec!["desk".to_owned()];
            all.regions.insert("room".to_owned(), Region { nodes, capacity: 8 });
        },
    },
    Feature {
        name: "five classes",
        kind: "",
        adds: |all| {
            for class in ["c", "d", "e"] {
                all.classes.push(class.to_owned());
                let source = Source::new(exponential(8.0), all.sources["in_a"].to.clone()).of(class);
                all.sources.insert(format!("in_{class}"), source);
            }
            let classes = all.classes.clone();
            desk(all).groups.values_mut().for_each(|group| group.serves.clone_from(&classes));
        },
    },
    Feature {
        name: "`shortest`",
        kind: "choice",
        adds: |all| choice(all, |shortest| Route::Shortest { shortest }),
    },
    Feature {
        name: "`shortest` with `of`",
        kind: "choice",
        adds: |all| choice(all, |shortest| Route::ShortestOf { shortest, of: 2 }),
    },
    Feature {
        name: "`least_work`",
        kind: "choice",
        adds: |all| choice(all, |least_work| Route::LeastWork { least_work }),
    },
];

/// Features of the whole network, which come last.
const WHOLE: [Feature; 3] = [
    Feature { name: "fork", kind: "fork", adds: |all| fork(all, None) },
    Feature { name: "`quorum`", kind: "fork", adds: |all| fork(all, Some(1)) },
    Feature { name: "travel", kind: "", adds: |all| all.travel = Some(exponential(0.5)) },
];

fn fork(all: &mut Network, quorum: Option<u32>) {
    let route = all.sources["in_a"].to.clone();
    all.routers.insert("door".to_owned(), Router { to: route });
    all.stations["next"].to = "parts".into();
    all.stations.insert("side".to_owned(), Station::new(exponential(0.5), "parts"));
    let mut fork = Fork::new([Link::to("door"), Link::to("side")], "out");
    fork.quorum = quorum;
    all.forks.insert("parts".to_owned(), fork);
    enter(all, &"parts".into());
}

/// What runs a network: `n` the network form, `p` a process model; or why none does.
fn outcome(network: &Network) -> Result<&'static str, String> {
    match network.compile_unstable() {
        Ok(_) => Ok("n"),
        Err(error) if error.needs_process() => match NetworkProcess::new_unstable(network) {
            Ok(process) => {
                if is_long() {
                    let study = Study::new(2, 300.0, 0.0).seed(1);
                    let plan = process.study(&study).unwrap();
                    let results = process.compiled().study(&plan).backend(Backend::Cpu).run();
                    let results = results.unwrap_or_else(|error| panic!("{error}\n{}", process.text()));
                    let report = process.report(&study, &results).unwrap();
                    assert!(report.customers > 100, "{report}");
                }
                Ok("p")
            }
            Err(error) => Err(reason(&error.to_string())),
        },
        Err(error) => Err(reason(&error.to_string())),
    }
}

/// The reason of an error, without the node.
fn reason(error: &str) -> String {
    let error = error.replace(" cannot be simulated yet:", ":");
    error.split_once("`: ").map_or(error.as_str(), |(_, reason)| reason).to_owned()
}

/// The table of all pairs in Markdown, and the reasons; with the number of pairs and of those that
/// are refused.
fn table() -> (String, usize, usize) {
    let all: Vec<&Feature> = FEATURES.iter().chain(&WHOLE).collect();
    let numbers: Vec<String> = (1..=all.len()).map(|number| number.to_string()).collect();
    let mut text = format!("| | feature | {} |\n", numbers.join(" | "));
    text += &format!("| ---: | --- |{}\n", " :-: |".repeat(all.len()));
    let (mut reasons, mut pairs, mut refused) = (Vec::<String>::new(), 0, 0);
    for (row, one) in all.iter().enumerate() {
        let mut cells = Vec::new();
        for (column, two) in all.iter().enumerate() {
            if column >= row {
                cells.push(String::new());
                continue;
            }
            if !one.kind.is_empty() && one.kind == two.kind {
                cells.push("–".to_owned());
                continue;
            }
            let mut network = base();
            (two.adds)(&mut network);
            (one.adds)(&mut network);
            pairs += 1;
            cells.push(match outcome(&network) {
                Ok(form) => form.to_owned(),
                Err(reason) => {
                    refused += 1;
                    let place = reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    char::from(b'A' + u8::try_from(place).unwrap()).to_string()
                }
            });
        }
        text += &format!("| {} | {} | {} |\n", row + 1, one.name, cells.join(" | "));
    }
    text += "\n";
    for (place, reason) in reasons.iter().enumerate() {
        text += &format!("* {}: {reason}\n", char::from(b'A' + u8::try_from(place).unwrap()));
    }
    (text, pairs, refused)
}

#[test]
fn the_guide_has_what_runs_each_pair_of_features() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide-networks.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let (text, pairs, refused) = table();
    let begin = guide.find("| | feature |").expect("the guide has the table");
    assert!(guide[begin..].starts_with(&text), "{refused} of {pairs} pairs are refused; write\n{text}");
    let count = format!("{refused} of {pairs} pairs are refused");
    assert!(guide.contains(&count), "write: {count}");
}

/// Alone, each feature runs.
#[test]
fn each_feature_runs() {
    for feature in FEATURES.iter().chain(&WHOLE) {
        let mut network = base();
        (feature.adds)(&mut network);
        outcome(&network).unwrap_or_else(|error| panic!("{}: {error}", feature.name));
    }
    assert_eq!(outcome(&base()), Ok("n"));
}
