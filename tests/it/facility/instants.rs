//! Simultaneous events in the order of the table in docs/guide-networks.md, with values computed by
//! hand.

use eventhorizon::Backend;
use eventhorizon::facility::{Follow, Measure, Network, Outcome, Study};

use super::common::{gpu, is_long};

/// A pair, the network without its head, the end, and for each visit to node `s`: the times of
/// arrival, start of service and departure.
type Case = (&'static str, &'static str, f64, &'static [(f64, Option<f64>, Option<f64>)]);

const END: &str = "\nto = \"out\"\n[sink.out]\n";

const CASES: &[Case] = &[
    (
        "a completion comes before a breakdown, and a repair before an arrival",
        "[source.a]\ninterarrival = { constant = 10 }\nto = \"s\"\n[station.s]\nservice = { constant = 5 }\n\
         breakdown = { up = { constant = 15 }, down = { constant = 5 } }",
        56.0,
        &[
            (10.0, Some(10.0), Some(15.0)),
            (20.0, Some(20.0), Some(25.0)),
            (30.0, Some(30.0), Some(35.0)),
            (40.0, Some(40.0), Some(45.0)),
            (50.0, Some(50.0), Some(55.0)),
        ],
    ),
    (
        "a breakdown comes before an arrival",
        "[source.a]\ninterarrival = { constant = 15 }\nto = \"s\"\n[station.s]\nservice = { constant = 5 }\n\
         breakdown = { up = { constant = 15 }, down = { constant = 5 } }",
        26.0,
        &[(15.0, Some(20.0), Some(25.0))],
    ),
    (
        "a completion comes before an arrival",
        "[source.a]\ninterarrival = { constant = 5 }\nto = \"s\"\n[station.s]\nservice = { constant = 5 }\ncapacity = 1",
        16.0,
        &[(5.0, Some(5.0), Some(10.0)), (10.0, Some(10.0), Some(15.0)), (15.0, Some(15.0), None)],
    ),
    (
        "a shift that ends comes before who waits begins",
        "[source.a]\ninterarrival = { constant = 4 }\nto = \"s\"\n[station.s]\nservice = { constant = 6 }\n\
         schedule = [{ lasts = 10, servers = 1 }, { lasts = 10, servers = 0 }]",
        11.0,
        &[(4.0, Some(4.0), Some(10.0)), (8.0, None, None)],
    ),
    (
        "a shift comes before an arrival",
        "[source.a]\ninterarrival = { constant = 10 }\nto = \"s\"\n[station.s]\nservice = { constant = 1 }\n\
         schedule = [{ lasts = 10, servers = 1 }, { lasts = 5, servers = 0 }]",
        17.0,
        &[(10.0, Some(15.0), Some(16.0))],
    ),
    (
        "a completion comes before the end of patience",
        "[source.a]\ninterarrival = { constant = 4 }\nto = \"s\"\n[station.s]\nservice = { constant = 6 }\n\
         patience = { constant = 2 }",
        15.0,
        &[(4.0, Some(4.0), Some(10.0)), (8.0, Some(10.0), None), (12.0, None, Some(14.0))],
    ),
    (
        "a repair comes before the end of patience",
        "[source.a]\ninterarrival = { constant = 12 }\nto = \"s\"\n[station.s]\nservice = { constant = 1 }\n\
         patience = { constant = 8 }\nbreakdown = { up = { constant = 10 }, down = { constant = 10 } }",
        22.0,
        &[(12.0, Some(20.0), Some(21.0))],
    ),
    (
        "a shift comes before the end of patience",
        "[source.a]\ninterarrival = { constant = 7 }\nto = \"s\"\n[station.s]\nservice = { constant = 1 }\n\
         patience = { constant = 3 }\nschedule = [{ lasts = 10, servers = 0 }, { lasts = 10, servers = 1 }]",
        12.0,
        &[(7.0, Some(10.0), Some(11.0))],
    ),
    (
        "the end of patience comes before an arrival",
        "[source.a]\ninterarrival = { constant = 5 }\nto = [{ node = \"s\", travel = { constant = 2 } }]\n[station.s]\n\
         service = { constant = 100 }\npatience = { constant = 5 }\ncapacity = 2",
        18.0,
        &[(7.0, Some(7.0), None), (12.0, None, Some(17.0)), (17.0, None, None)],
    ),
    (
        "a breakdown comes before a shift that begins",
        "[source.a]\ninterarrival = { constant = 6 }\nto = \"s\"\n[station.s]\nservice = { constant = 1 }\n\
         breakdown = { up = { constant = 10 }, down = { constant = 1 } }\n\
         schedule = [{ lasts = 10, servers = 0 }, { lasts = 10, servers = 1 }]",
        11.5,
        &[(6.0, Some(11.0), None)],
    ),
    (
        "a repair and a shift that ends are both over before who waits begins",
        "[source.a]\ninterarrival = { constant = 7 }\nto = \"s\"\n[station.s]\nservice = { constant = 1 }\n\
         breakdown = { up = { constant = 5 }, down = { constant = 5 } }\n\
         schedule = [{ lasts = 10, servers = 1 }, { lasts = 10, servers = 0 }]",
        13.0,
        &[(7.0, None, None)],
    ),
];

fn of_case(body: &str) -> Network {
    Network::from_toml(&format!("name = \"instant\"\nticks_per_unit = 1000\n{body}{END}")).unwrap()
}

#[test]
fn each_pair_of_events_at_one_instant_is_in_the_order_of_the_table() {
    let gpu = gpu();
    for (place, of) in [(Backend::Cpu, 1), (Backend::Gpu(&gpu), if is_long() { 1 } else { 4 })] {
        for &(what, body, until, expected) in CASES.iter().step_by(of) {
            let facility = of_case(body).compile_unstable().unwrap();
            let visits =
                facility.trace(&Study::new(1, until, 0.0), Follow::first(100)).backend(place).run().unwrap();
            let found: Vec<_> = visits.iter().filter(|visit| visit.node == "s").collect();
            assert!(found.iter().all(|visit| visit.outcome != Outcome::Lost), "{what}");
            let found: Vec<_> = found.iter().map(|visit| (visit.arrived, visit.began, visit.left)).collect();
            assert_eq!(found, expected, "{what}");
        }
    }
}

#[test]
fn a_line_of_fixed_times_at_a_load_of_one_is_served_without_waits() {
    let network = Network::from_toml(include_str!("../../data/networks/load_of_one.toml")).unwrap();
    let visits = network.compile().unwrap();
    let visits = visits.trace(&Study::new(1, 24.0, 0.0), Follow::first(100)).run().unwrap();
    let began: Vec<_> = visits.iter().filter(|visit| visit.node == "s").map(|visit| visit.began).collect();
    let hours: Vec<_> = (1..24).map(|hour| Some(f64::from(hour))).collect();
    assert_eq!(began[..23], hours);
    // A service with varying times is still refused.
    let text = include_str!("../../data/networks/load_of_one.toml")
        .replace("service = { constant", "service = { exponential");
    Network::from_toml(&text).unwrap().compile().unwrap_err();
}

#[test]
fn an_unconnected_part_changes_nothing_of_the_rest() {
    let report = |text: &str| {
        let text = text.replace("warm_up = 100", "warm_up = 100\nticks_per_unit = 1048576");
        let facility = Network::from_toml(&text).unwrap().compile().unwrap();
        facility.study(&Study::new(3, 1000.0, 100.0)).run().unwrap()
    };
    let alone = report(include_str!("../../data/networks/alone.toml"));
    let more = report(include_str!("../../data/networks/with_unrelated_part.toml"));
    for measure in
        [Measure::Throughput, Measure::Number, Measure::Wait, Measure::Sojourn, Measure::Utilisation]
    {
        let of = |report: &eventhorizon::facility::Report| {
            report.row("s", Some("customer"), measure).unwrap().mean
        };
        assert!(of(&alone).is_some());
        assert_eq!(of(&alone), of(&more), "{measure}");
    }
}
