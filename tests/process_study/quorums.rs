//! Networks that are refused, errors in their words, switches, and forks that wait for a quorum.

use eventhorizon::Backend;
use eventhorizon::facility::{Measure, Network, NetworkDescription, Study};
use eventhorizon::process::NetworkProcess;

use crate::networks::{agrees, network, plan, reported, row};

/// A station with settings, in a network.
fn desk(settings: &str, more: &str) -> String {
    format!(
        "name = \"n\"\nsource.in = {{ interarrival = {{ exponential = 2 }}, to = \"desk\" }}\n\
         [station.desk]\nservice = {{ exponential = 0.5 }}\nto = \"out\"\n{settings}\n[sink.out]\n{more}\n"
    )
}

#[test]
fn what_can_never_be_is_refused() {
    let refused = |settings: &str, more: &str, words: [&str; 2]| {
        let text = desk(settings, more);
        let error = match Network::from_toml(&text) {
            Ok(network) => NetworkProcess::new(&network).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(words.iter().all(|word| error.contains(word)), "{settings} {more}: {error}");
    };
    // No batch fits the region.
    let region = |capacity: u32| format!("[region.ward]\nnodes = [\"desk\"]\ncapacity = {capacity}");
    refused("batch = { most = 4 }", &region(3), ["`ward`", "`desk` begins with 4"]);
    refused("batch = { least = 3, most = 4 }", &region(2), ["`ward`", "begins with 3"]);
    assert!(NetworkProcess::new(&network(&desk("batch = { least = 3, most = 4 }", &region(3)))).is_ok());
    // Empty lists.
    refused("", "[region.ward]\nnodes = []\ncapacity = 3", ["`ward`", "empty"]);
    refused("groups.first = { servers = 1, serves = [] }", "", ["`desk`", "empty in the group `first`"]);
    for list in ["speeds = []", "schedule = []", "balking = []"] {
        refused(list, "", ["line 6", "the list is empty"]);
    }
}

#[test]
fn errors_name_the_station_and_the_field() {
    let error = NetworkProcess::new(&network(&desk("speeds = [1e12]", ""))).unwrap_err().to_string();
    assert!(error.starts_with("`desk`: ") && error.contains("speeds of desk"), "{error}");
    assert!(!error.contains("line ") && !error.contains("pace_"), "{error}");
    // Two customers become one, who waits for another for ever.
    let text = "name = \"n\"\nstation.first = { service = { exponential = 1 }, population = 2, to = \"second\" }\n\
        station.second = { service = { exponential = 1 }, batch = { most = 2, joins = true }, to = \"first\" }\n";
    let process = NetworkProcess::new(&network(text)).unwrap();
    let plan = process.study(&plan(1, 1000.0, 10.0)).unwrap();
    let error = process.compiled().study(&plan).backend(Backend::Cpu).run().unwrap_err();
    let error = process.explained(error).to_string();
    assert!(error.starts_with("`second`: deadlock") && !error.contains("line "), "{error}");
}

#[test]
fn errors_of_crowds_name_the_station() {
    let grouped = r#"
name = "n"
source.in = { interarrival = { exponential = 1 }, to = "desk" }
sink.out = {}
[station.desk]
service = { exponential = 0.9 }
groups.one = { servers = 1, serves = ["customer"] }
to = "out"
"#;
    let shared = r#"
name = "n"
delay.think = { time = { exponential = 100 }, to = "desk" }
[station.desk]
service = { exponential = 1 }
population = 3000
discipline = "sharing"
breakdown = { up = { constant = 50 }, down = { constant = 1 } }
to = "think"
"#;
    for (text, room, says) in [
        (grouped, 5, "more than 5 customers are in the network"),
        (shared, 60_000, "too many customers act at one time at 0 "),
    ] {
        let process = NetworkProcess::new(&network(text)).unwrap();
        let plan = process.study(&plan(1, 1000.0, 10.0)).unwrap().room(room);
        let error = process.compiled().study(&plan).backend(Backend::Cpu).run().unwrap_err();
        let error = process.explained(error).to_string();
        assert!(error.starts_with("`desk`: ") && error.contains(says), "{error}");
        assert!(!error.contains("wait_until") && !error.contains("`send"), "{error}");
    }
}

#[test]
fn a_quorum_of_a_fork_is_an_order_statistic() {
    // The second of four exponential times; the other two are completed, and end.
    let text = r#"
name = "offers"
source.in = { interarrival = { exponential = 2 }, to = "ask" }
fork.ask = { tasks = ["a", "b", "c", "d"], quorum = 2, to = "decide" }
delay.a = { time = { exponential = 12 }, to = "ask" }
delay.b = { time = { exponential = 12 }, to = "ask" }
delay.c = { time = { exponential = 12 }, to = "ask" }
delay.d = { time = { exponential = 12 }, to = "ask" }
delay.decide = { time = { constant = 1 }, to = "out" }
sink.out = {}
"#;
    let study = plan(32, 2000.0, 200.0);
    let report = reported(text, &study);
    let time = 12.0 * (1.0 / 4.0 + 1.0 / 3.0);
    let class = Some("customer");
    assert!((row(&report, "ask", class, Measure::Sojourn).theory.unwrap() - time).abs() < 1e-9);
    agrees(&report, ("ask", class, Measure::Sojourn), time);
    agrees(&report, ("ask", class, Measure::Number), time / 2.0);
    agrees(&report, ("out", class, Measure::Sojourn), time + 1.0);
    // All tasks are served, and each stays as long as without a quorum.
    agrees(&report, ("a", class, Measure::Number), 6.0);
    agrees(&report, ("c", class, Measure::Throughput), 0.5);
    agrees(&report, ("out", class, Measure::Throughput), 0.5);
    // One task waits for the second from the first on: 12 / 3 each.
    agrees(&report, ("ask", None, Measure::Tasks), 4.0 / 2.0);
    // With all tasks, the network form runs it.
    assert!(network(&text.replace("quorum = 2", "quorum = 4")).compile().is_ok());
    // A class that does not come has no tasks.
    let other = text.replace(
        "name =",
        "classes = [\"customer\", \"other\"]\nsource.other = { interarrival = { exponential = 9 }, class = \"other\", \
         to = \"out\" }\nname =",
    );
    let tasks = ["a", "b", "c", "d"].map(|node| format!("{{ class = \"customer\", node = \"{node}\" }}"));
    let other = other.replace("[\"a\", \"b\", \"c\", \"d\"]", &format!("[{}]", tasks.join(", ")));
    NetworkProcess::new(&network(&other)).unwrap_or_else(|error| panic!("{error}\n{other}"));
    for (quorum, word) in [("0", "choose 1 to 4"), ("5", "choose 1 to 4")] {
        let wrong = network(&text.replace("quorum = 2", &format!("quorum = {quorum}")));
        let error = NetworkProcess::new(&wrong).unwrap_err().to_string();
        assert!(error.contains("`quorum`") && error.contains(word), "{error}");
    }
}

#[test]
fn tasks_may_return_in_a_class_in_which_no_customer_comes() {
    let text = |quorum: &str| {
        format!(
            r#"
name = "parts"
classes = ["whole", "part"]
source.in = {{ interarrival = {{ exponential = 2 }}, class = "whole", to = "split" }}
fork.split = {{ tasks = [{{ node = "make", becomes = "part" }}, {{ node = "make", becomes = "part" }}], {quorum} to = "out" }}
delay.make = {{ time = {{ exponential = 1 }}, to = "split" }}
sink.out = {{}}
region.hall = {{ nodes = ["make"], capacity = 1000 }}
"#
        )
    };
    for (quorum, time) in [("quorum = 1,", 0.5), ("", 1.5)] {
        let report = reported(&text(quorum), &plan(32, 2000.0, 200.0));
        agrees(&report, ("split", Some("whole"), Measure::Sojourn), time);
        agrees(&report, ("make", Some("part"), Measure::Throughput), 1.0);
    }
}

#[test]
fn a_group_may_serve_classes_that_do_not_come() {
    let text = r#"
name = "desk"
classes = ["here", "elsewhere"]
source.in = { interarrival = { exponential = 4 }, class = "here", to = "desk" }
source.past = { interarrival = { exponential = 4 }, class = "elsewhere", to = "out" }
[station.desk]
service = { exponential = 2 }
groups.all = { servers = 1, serves = ["here", "elsewhere"] }
groups.others = { servers = 1, serves = ["elsewhere"] }
to = "out"
[sink.out]
"#;
    // M/M/1 with a load of one half.
    let report = reported(text, &plan(32, 4000.0, 400.0));
    agrees(&report, ("desk", Some("here"), Measure::Wait), 2.0);
}

#[test]
fn late_tasks_do_not_count_at_a_later_fork() {
    // By hand: a customer comes at 10 and waits for one of two tasks, until 11. From there on, it
    // waits for two of three tasks, which are back at 14, 15 and 20. The late one at 13.5 is none.
    let text = r#"
name = "twice"
until = 100
source.in = { times = [10], to = "first" }
fork.first = { tasks = ["a", "b"], quorum = 1, to = "second" }
delay.a = { time = { constant = 1 }, to = "first" }
delay.b = { time = { constant = 3.5 }, to = "first" }
fork.second = { tasks = ["c", "d", "e"], quorum = 2, to = "out" }
delay.c = { time = { constant = 3 }, to = "second" }
delay.d = { time = { constant = 4 }, to = "second" }
delay.e = { time = { constant = 9 }, to = "second" }
sink.out = {}
"#;
    let report = reported(text, &Study::new(1, 100.0, 0.0));
    let mean = |node: &str, measure| row(&report, node, Some("customer"), measure).mean.unwrap();
    assert_eq!([mean("first", Measure::Sojourn), mean("second", Measure::Sojourn)], [1.0, 4.0]);
    assert_eq!(mean("out", Measure::Sojourn), 5.0);
    // From 14 on, one task waits for a second.
    assert_eq!(row(&report, "second", None, Measure::Tasks).mean.unwrap(), 0.01);
    assert_eq!(mean("e", Measure::Sojourn), 9.0);
}

#[test]
fn switches_are_set() {
    let mut description =
        NetworkDescription::from_toml(&desk("batch = { least = 1, most = 2 }", "")).unwrap();
    description.set("station.desk.batch.joins=true,false").unwrap();
    let networks = description.networks().unwrap();
    let joins = |point: usize| networks[point].stations["desk"].batch.as_ref().unwrap().joins;
    assert_eq!([0, 1].map(joins), [true, false]);
    assert_eq!(description.design().unwrap().describe(1), "station.desk.batch.joins=false");
    assert!(description.set("station.desk.batch.most=true").is_err());
}
