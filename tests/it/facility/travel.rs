//! Routes that take time: where customers are meanwhile, values of theory, and the lookahead that
//! results.

use eventhorizon::facility::{
    Delay, Discipline, Distribution, FacilityError, FelNetwork, Fork, Link, Measure, Network, Route, Source,
    Station, Study,
};
use eventhorizon::pdes::Model;

use super::common::few;
use super::new_nodes::{exponential, studied, within};
use super::runs::{mapped, reported, same};
use super::shipped_one;
use super::theory::covered;

const CONSTANT: fn(f64) -> Distribution = Distribution::Constant;

/// A customer arrives at 10, 20, ..., travels for 2.5, is served for 1, travels for 0.5, and
/// leaves.
fn clockwork() -> Network {
    Network::new("clockwork")
        .source("in", Source::new(CONSTANT(10.0), [Link::to("server").taking(CONSTANT(2.5))]))
        .station("server", Station::new(CONSTANT(1.0), [Link::to("out").taking(CONSTANT(0.5))]))
        .sink("out")
}

#[test]
fn who_travels_is_counted_to_the_tick() {
    // A customer that travels when statistics begin or end counts until then: at 31.5 and 41.5 one
    // is on the first route.
    let facility = clockwork().compile().unwrap();
    let report = facility.study(&Study::new(2, 41.5, 31.5)).run().unwrap();
    let mean =
        |node, measure| report.row(node, None, measure).unwrap_or_else(|| panic!("{report}")).mean.unwrap();
    // From 31.5: 1 on the first route, 1 in service, 0.5 on the second, and from 40 to 41.5 the
    // next customer.
    assert_eq!(mean("(network)", Measure::Travelling), 0.3);
    assert_eq!(mean("(network)", Measure::Number), 0.4);
    let server = |measure| report.row("server", Some("customer"), measure).unwrap().mean.unwrap();
    assert_eq!([server(Measure::Number), server(Measure::Sojourn)], [0.1, 1.0]);
    let out = report.row("out", Some("customer"), Measure::Sojourn).unwrap();
    assert_eq!((out.mean, out.observations), (Some(4.0), 2), "the time in the network is that of all of it");

    // One long run in 13 parts: twelve customers that leave, and one that still travels at the end.
    let study = Study::new(1, 132.0, 2.0);
    let long = facility.long_run(&study, 13).run().unwrap();
    let mean = |measure| long.row("(network)", None, measure).unwrap().mean.unwrap();
    assert!((mean(Measure::Travelling) - (12.0 * 3.0 + 2.0) / 130.0).abs() < 1e-12, "{long}");
    assert!((mean(Measure::Number) - (12.0 * 4.0 + 2.0) / 130.0).abs() < 1e-12, "{long}");
}

#[test]
fn a_way_that_takes_time_is_a_delay_to_theory() {
    let uniform = Distribution::Uniform([1.0, 5.0]);
    let open = Network::new("open")
        .source("in", Source::new(exponential(2.0), [Link::to("first").taking(uniform)]))
        .station(
            "first",
            Station::new(
                exponential(1.0),
                ["second".into(), Link::to("out").with(0.25).taking(CONSTANT(3.0))],
            ),
        )
        .station(
            "second",
            Station::new(
                exponential(0.5),
                [Link::to("out"), Link::to("first").with(0.2).taking(exponential(4.0))],
            )
            .with_servers(2),
        )
        .sink("out");
    let report = studied(&open, &Study::new(24, 4000.0, 400.0));
    // First: 0.5 / (1 - 0.15) per unit arrive; 0.75 of them continue to second, and 0.2 of those
    // travel back.
    let first = 0.5 / 0.85;
    let travelling = 0.5 * 3.0 + first * 0.25 * 3.0 + first * 0.75 * 0.2 * 4.0;
    within(&report, "(network)", None, Measure::Travelling, travelling);
    let known = |measure| report.row("(network)", None, measure).unwrap().theory.unwrap();
    assert!((known(Measure::Travelling) - travelling).abs() < 1e-12);
    let sojourn = report.row("out", Some("customer"), Measure::Sojourn).unwrap().theory.unwrap();
    assert!((sojourn - known(Measure::Number) / 0.5).abs() < 1e-12);
    let (inside, all, furthest, which) = covered(&report);
    assert!(furthest < 2.5 && all >= 12 && inside * 10 >= all * 7, "{inside} of {all}: {which}\n{report}");

    // Closed: a travel time has the effect of a delay on the route, in every formula.
    let classes = |network: Network| {
        let service = Distribution::Exponential(1.0);
        let mut station =
            Station::new(service, Route::from([Link::to("pool").taking(uniform)])).with_population(3);
        station.population_of.insert("b".to_owned(), 2);
        network
            .with_classes(&["a", "b"])
            .station("server", station)
            .station("pool", Station::new(service, "server").with_discipline(Discipline::Sharing))
    };
    let one = |servers: u32| {
        let way = [Link::to("server").taking(uniform)];
        Network::new("one")
            .station("server", Station::new(exponential(1.0), way).with_servers(servers).with_population(5))
    };
    for (network, with_delay) in [
        (one(1), one(1).delay("road", Delay::new(uniform, "server"))),
        (one(2), one(2).delay("road", Delay::new(uniform, "server"))),
        (
            classes(Network::new("two")),
            classes(Network::new("two")).delay("road", Delay::new(uniform, "pool")),
        ),
    ] {
        let mut with_delay = with_delay;
        with_delay.stations[0].to = "road".into();
        let short = |network: &Network| studied(network, &Study::new(24, 1500.0, 150.0));
        let (report, other) = (short(&network), short(&with_delay));
        let mut compared = 0;
        for row in report.rows.iter().filter(|row| row.node != "(network)") {
            let same = other.row(&row.node, row.class.as_deref(), row.measure).unwrap();
            match (row.theory, same.theory) {
                (Some(one), Some(other)) => {
                    assert!((one / other - 1.0).abs() < 1e-9, "{row:?} {same:?}");
                    compared += 1;
                }
                (one, other) => assert_eq!(one, other, "{row:?}"),
            }
        }
        assert!(compared >= 5, "{report}");
        let road = other.row("road", None, Measure::Number);
        let road =
            road.or_else(|| other.row("road", Some("customer"), Measure::Number)).unwrap().theory.unwrap();
        let travelling = report.row("(network)", None, Measure::Travelling).unwrap().theory.unwrap();
        assert!((travelling / road - 1.0).abs() < 1e-9, "{travelling} {road}");
        let (_, all, furthest, which) = covered(&report);
        assert!(furthest < 3.0 && all >= 6, "{which}\n{report}");
    }
}

#[test]
fn a_sibling_may_travel_straight_back() {
    let law = exponential(2.0);
    let network = Network::new("round")
        .source("in", Source::new(exponential(4.0), "parts"))
        .fork("parts", Fork::new([Link::to("shelf"), Link::to("parts").taking(law)], "out"))
        .delay("shelf", Delay::new(law, "parts"))
        .sink("out");
    // The maximum of two exponential times of mean 2; there is no formula, since one of them is no
    // delay.
    let report = studied(&network, &Study::new(16, 3000.0, 100.0));
    within(&report, "parts", Some("customer"), Measure::Sojourn, 3.0);
    assert_eq!(report.row("parts", Some("customer"), Measure::Sojourn).unwrap().theory, None);
    // Tasks that come and go at once have theirs, whatever takes time before and after.
    let mut far = Network::new("far")
        .with_travel(CONSTANT(3.0))
        .source("in", Source::new(exponential(4.0), "parts"))
        .fork("parts", Fork::new(["left", "right"], "out"))
        .delay("left", Delay::new(law, "parts"))
        .delay("right", Delay::new(law, "parts"))
        .sink("out");
    let reported = |network: &Network| {
        let report = studied(network, &Study::new(8, 500.0, 50.0));
        report.row("parts", Some("customer"), Measure::Sojourn).unwrap().theory
    };
    assert_eq!(reported(&far), None);
    far.travel = None;
    far.sources[0].to = Route::from([Link::to("parts").taking(CONSTANT(3.0))]);
    far.forks[0].to = Route::from([Link::to("out").taking(CONSTANT(3.0))]);
    assert_eq!(reported(&far), Some(3.0));
}

#[test]
fn the_shortest_time_of_travel_is_the_lookahead() {
    let ring = |travel: Distribution, last: Link| {
        Network::new("ring")
            .with_travel(travel)
            .station("a", Station::new(exponential(1.0), "b").with_population(2))
            .station("b", Station::new(exponential(1.0), [last]))
    };
    let lookahead = |network: &Network| {
        let facility = network.compile().unwrap();
        facility.resolution().units(facility.lookahead())
    };
    for (travel, least) in [
        (CONSTANT(2.0), 2.0),
        (Distribution::Uniform([0.5, 2.0]), 0.5),
        (Distribution::Triangular([0.25, 0.5, 1.0]), 0.25),
        (exponential(2.0), 0.0),
        (Distribution::Normal { mean: 9.0, deviation: 1.0 }, 0.0),
    ] {
        assert_eq!(lookahead(&ring(travel, Link::to("a"))), least, "{travel:?}");
    }
    assert_eq!(
        lookahead(&ring(CONSTANT(2.0), Link::to("a").taking(CONSTANT(0.75)))),
        0.75,
        "the shortest of all"
    );
    // A route back to its own node concerns no other LP; and one route without time suffices.
    let alone = Network::new("alone").station("a", Station::new(exponential(1.0), "a").with_population(2));
    assert_eq!(lookahead(&alone), 0.0);
    let mut own = ring(CONSTANT(2.0), Link::to("a"));
    own.stations[0].to = Route::from([Link::to("b"), Link::to("a").with(0.5).taking(exponential(1.0))]);
    assert_eq!(lookahead(&own), 2.0);
    own.travel = None;
    assert_eq!(lookahead(&own), 0.0);
    // A node that chooses the shortest line needs its length at once.
    let mut shortest = ring(CONSTANT(2.0), Link::to("a"));
    shortest.stations[0].to = Route::shortest(&["b"]);
    assert_eq!(lookahead(&shortest), 0.0);
}

/// Stations in a ring, each of which sends to both neighbours, and every eighth to a sink and from
/// a source.
fn towns(count: usize, travel: Distribution) -> Network {
    let name = |town: usize| format!("town {}", town % count);
    let mut network = Network::new("towns").with_travel(travel).sink("away");
    for town in 0..count {
        let (left, right) = (Link::to(&name(town + count - 1)).with(0.4), Link::to(&name(town + 1)));
        let to = match town % 8 {
            0 => Route::from([left, right, Link::to("away").with(0.2)]),
            3 => Route::from([left, right, Link::to(&name(town)).with(0.1)]),
            _ => Route::from([left, right]),
        };
        network = network
            .station(&name(town), Station::new(exponential(1.0), to).with_servers(1 + town as u32 % 3));
        if town % 8 == 0 {
            network =
                network.source(&format!("from {town}"), Source::new(exponential(12.0), name(town).as_str()));
        }
    }
    network
}

#[test]
fn large_networks_go_by_windows_of_the_lookahead_with_the_bits_of_the_sequential_engine() {
    for (count, travel) in
        [(32, Distribution::Uniform([0.5, 2.0])), (264, CONSTANT(1.5)), (64, exponential(1.0))]
    {
        let facility = towns(count, travel).compile().unwrap();
        let ticks = |units: f64| facility.resolution().ticks(units).unwrap();
        same(&facility.clone().with_warm_up(ticks(5.0)), ticks(30.0), &format!("{count} towns, {travel:?}"));
        assert!(facility.study(&Study::new(2, 60.0, 7.0)).run().is_ok(), "no customer is lost on a route");
    }
}

#[test]
fn replications_have_the_bits_of_the_sequential_engine_whichever_way_they_are_made() {
    let facility = towns(16, Distribution::Triangular([0.5, 1.0, 4.0])).compile().unwrap();
    let ticks = |units: f64| facility.resolution().ticks(units).unwrap();
    use eventhorizon::pdes::Mapping::{Grid, Team, Thread};
    mapped(&facility.clone().with_warm_up(ticks(10.0)), ticks(40.0), few(2, &[Thread, Grid, Team]), "towns");
}

#[test]
fn the_courier_is_as_the_builder_has_it() {
    let file = shipped_one("courier");
    let mut built = Network::new("courier");
    (built.unit, built.about) = (file.unit.clone(), file.about.clone());
    (built.ticks_per_unit, built.until, built.warm_up) = (Some(65536), file.until, file.warm_up);
    let built = built
        .with_travel(Distribution::Uniform([20.0, 40.0]))
        .source("north", Source::new(exponential(5.0), "hub"))
        .source("south", Source::new(exponential(4.0), [Link::to("hub").taking(CONSTANT(25.0))]))
        .station(
            "hub",
            Station::new(
                exponential(7.0),
                [
                    Link::to("harbour").with(0.6).taking(Distribution::Triangular([30.0, 45.0, 90.0])),
                    Link::to("hills"),
                ],
            )
            .with_servers(4),
        )
        .station("harbour", Station::new(exponential(2.5), "doors"))
        .station("hills", Station::new(exponential(3.0), [Link::to("doors"), Link::to("hub").with(0.1)]))
        .sink("doors");
    let study = Study::new(3, 2000.0, 200.0);
    assert_eq!(reported(&studied(&file, &study)), reported(&studied(&built, &study)));
    // The same after writing and reading.
    let json = serde_json::to_string(&file).unwrap();
    assert_eq!(Network::from_json(&json).unwrap(), file);
}

#[test]
fn ways_that_cannot_take_time_are_refused_by_name() {
    let refused = |network: &Network| network.compile().map(|_| ()).unwrap_err();
    let blocking = |travel: Option<Distribution>| {
        let mut way = Link::to("second");
        way.travel = travel;
        Network::new("line")
            .source("in", Source::new(exponential(4.0), "first"))
            .station("first", Station::new(exponential(1.0), [way]))
            .station("second", Station::new(exponential(1.0), "out").with_capacity(2).blocking())
            .sink("out")
    };
    assert!(blocking(None).compile().is_ok());
    let error = refused(&blocking(Some(CONSTANT(1.0))));
    assert!(matches!(&error, FacilityError::Unsupported { node, .. } if node == "first"), "{error}");
    assert!(error.to_string().contains("lead the route to a delay"), "{error}");
    // What the network says of all ways is not said of those.
    let mut all = blocking(None).with_travel(CONSTANT(1.0));
    let facility = all.compile().unwrap();
    assert!(facility.study(&Study::new(2, 50.0, 5.0)).run().is_ok());
    all.travel = Some(CONSTANT(-5.0));
    let error = refused(&all).to_string();
    assert!(error.contains("`line`") && error.contains("travel time of all routes"), "{error}");
    // Too short for a tick, and of no distribution: the way is named.
    for (travel, why) in [(CONSTANT(0.0), "less than a tick"), (Distribution::Uniform([2.0, 1.0]), "greater")]
    {
        let mut network = clockwork();
        network.stations[0].to = Route::from([Link::to("out").taking(travel)]);
        let error = refused(&network).to_string();
        assert!(
            error.contains("`server`") && error.contains("time of travel to `out`") && error.contains(why),
            "{error}"
        );
    }
    let error = Network::from_toml(
        "name = \"n\"\n[source.in]\ninterarrival = { constant = 1 }\nto = [{ node = \"a\", travel = 3 }]\n",
    );
    assert!(error.unwrap_err().to_string().contains("line 4"));
    // The event list does not support such routes.
    let ring = Network::new("ring").station(
        "a",
        Station::new(exponential(1.0), [Link::to("a").taking(CONSTANT(1.0))]).with_population(1),
    );
    let error = FelNetwork::of(&ring.compile().unwrap()).unwrap_err().to_string();
    assert!(error.contains("routes with travel times"), "{error}");
    // A way round that takes time ends.
    let round = |travel: Option<Distribution>| {
        let mut back = Link::to("first").with(0.5);
        back.travel = travel;
        Network::new("round")
            .source("in", Source::new(exponential(4.0), "first"))
            .delay("pause", Delay::new(exponential(1.0), "out"))
            .router("first", "second")
            .router("second", [back, Link::to("pause")])
            .sink("out")
    };
    assert!(round(Some(CONSTANT(1.0))).compile().is_ok());
    assert!(refused(&round(None)).to_string().contains("circle without end"));
}
