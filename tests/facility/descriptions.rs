//! What a description says, and what is wrong with a bad one.

use eventhorizon::facility::{
    Delay, Discipline, Distribution, FacilityError, Link, Measure, Network, Place, Route, Source, Station,
    Study,
};

use super::{shipped, shipped_one};

const EXPONENTIAL: Distribution = Distribution::Exponential(1.0);

/// A network that is right, as a beginning.
fn right() -> Network {
    Network::new("test")
        .source("in", Source::new(Distribution::Exponential(2.0), "server"))
        .station("server", Station::new(EXPONENTIAL, "out"))
        .sink("out")
}

#[track_caller]
fn refused(network: &Network) -> FacilityError {
    network.compile().expect_err("it is refused")
}

#[test]
fn what_depends_on_the_order_of_classes_is_not_told_as_theory() {
    // All of `a` go to x, and all of `b` to y.
    let network = Network::from_toml(
        r#"
        name = "in turn"
        classes = ["a", "b"]
        [source.a]
        interarrival = { constant = 2.0 }
        class = "a"
        to = "hall"
        [source.b]
        interarrival = { constant = 2.0 }
        class = "b"
        to = "hall"
        [delay.hall]
        time = { constant = 1.0 }
        to = { in_turn = ["x", "y"] }
        [station.x]
        service = { exponential = 0.5 }
        to = "out"
        [station.y]
        service = { exponential = 0.5 }
        to = "out"
        [sink.out]
        "#,
    )
    .unwrap();
    let study = Study::new(4, 200.0, 20.0);
    let report = network.compile().unwrap().study(&study, Place::Cpu, |_, _| {}).unwrap();
    let throughput = |node, class| report.row(node, Some(class), Measure::Throughput).unwrap();
    assert_eq!(throughput("a", "a").theory, Some(0.5));
    assert!((throughput("x", "a").mean.unwrap() - 0.5).abs() < 0.02);
    assert_eq!(throughput("x", "a").theory, None);
}

#[test]
fn toml_json_and_the_builder_say_the_same() {
    for (name, network) in shipped() {
        let json = serde_json::to_string(&network).unwrap();
        assert_eq!(Network::from_json(&json).unwrap(), network, "{name}");
        network.compile().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let built = Network::new("M/M/1")
        .source("arrivals", Source::new(Distribution::Exponential(1.25), "server"))
        .station("server", Station::new(EXPONENTIAL, "out"))
        .sink("out");
    let mut read = shipped_one("mm1");
    (read.until, read.warm_up) = (None, None);
    read.unit.clone_from(&built.unit);
    assert_eq!(read, built);
}

#[test]
fn ways_are_names_lists_or_in_turn() {
    let to = |text: &str| {
        let text = format!("name = \"n\"\n[source.a]\ninterarrival = {{ constant = 1 }}\nto = {text}");
        Network::from_toml(&text).map(|network| network.sources["a"].to.clone())
    };
    assert_eq!(to("\"b\"").unwrap(), Route::from("b"));
    assert_eq!(to("[\"b\"]").unwrap(), Route::from("b"));
    let links = [Link::to("b").with(0.25), Link::to("c").of("x").becoming("y")];
    let text = "[{ node = \"b\", probability = 0.25 }, { node = \"c\", class = \"x\", becomes = \"y\" }]";
    assert_eq!(to(text).unwrap(), Route::from(links));
    assert_eq!(to("{ in_turn = [\"b\", \"c\"] }").unwrap(), Route::in_turn(&["b", "c"]));
    for wrong in ["3", "[3]", "{ node = \"b\" }", "[{ probability = 1.0 }]", "[{ node = \"b\", odds = 1 }]"] {
        assert!(to(wrong).is_err(), "{wrong}");
    }
    for (wrong, named) in [
        ("{ in_turn = [\"b\"], weights = [1, 2] }", "`weights`"),
        ("{ in_turn = [\"b\"], shortest = [\"b\"] }", "`in_turn` and `shortest`"),
        ("{ in_line = [\"b\"] }", "`in_line`"),
        ("{}", "`in_turn` or `shortest`"),
    ] {
        let error = to(wrong).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn errors_of_a_file_name_line_and_field() {
    let text =
        "name = \"n\"\n\n[station.server]\nservers = 2\nservice = { exponental = 1.0 }\nto = \"out\"\n";
    let error = Network::from_toml(text).unwrap_err().to_string();
    assert!(error.contains("line 5") && error.contains("exponental"), "{error}");
    let text =
        "name = \"n\"\n\n[station.server]\nserver = 2\nservice = { exponential = 1.0 }\nto = \"out\"\n";
    let error = Network::from_toml(text).unwrap_err().to_string();
    assert!(error.contains("line 4") && error.contains("`server`"), "{error}");
    let error = Network::from_json("{\n\"name\": \"n\",\n\"colour\": 3}").unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("colour"), "{error}");
    let twice = r#"{"name": "n", "sink": {"a": {}, "a": {}}}"#;
    let error = Network::from_json(twice).unwrap_err().to_string();
    assert!(error.contains("`a` comes twice"), "{error}");
}

#[test]
fn bad_networks_are_refused_and_the_node_is_named() {
    use FacilityError as E;
    right().compile().unwrap();
    assert!(matches!(refused(&Network::new("empty")), E::Empty));
    assert!(matches!(refused(&right().sink("out")), E::Repeated { name } if name == "out"));
    assert!(matches!(refused(&right().sink("in")), E::Repeated { name } if name == "in"));
    assert!(matches!(refused(&right().with_classes(&[])), E::Classes { .. }));
    assert!(matches!(refused(&right().with_classes(&["a", "a"])), E::Classes { .. }));
    assert!(matches!(refused(&right().with_classes(&["a", "b", "c", "d", "e"])), E::Classes { .. }));
    assert!(matches!(refused(&right().with_classes(&["a", "b"])), E::NoCustomers { class } if class == "b"));
    let network = right().source("more", Source::new(EXPONENTIAL, "server").of("nobody"));
    assert!(
        matches!(refused(&network), E::UnknownClass { node, class, .. } if node == "more" && class == "nobody")
    );
    let network = right().station("server", Station::new(EXPONENTIAL, "door"));
    assert!(matches!(refused(&network), E::Repeated { .. }), "a builder does not overwrite");
    let to = |to: Route| {
        Network::new("test")
            .source("in", Source::new(Distribution::Exponential(9.0), "server"))
            .station("server", Station::new(EXPONENTIAL, to))
            .sink("out")
    };
    assert!(
        matches!(refused(&to("door".into())), E::Link { node, to, .. } if node == "server" && to == "door")
    );
    assert!(matches!(refused(&to("in".into())), E::Link { to, .. } if to == "in"));
    for (shares, sum) in [([0.5, 0.4], 0.9), ([0.5, 0.6], 1.1), ([1.5, -0.5], 1.0)] {
        let links = shares.map(|share| Link::to("out").with(share));
        let error = refused(&to(links.into()));
        assert!(
            matches!(&error, E::Probabilities { node, sum: found, .. } if node == "server" && (found - sum).abs() < 1e-12),
            "{error}"
        );
    }
    assert!(matches!(refused(&to([Link::to("out"), Link::to("server")].into())), E::Probabilities { .. }));
    to([Link::to("out"), Link::to("server").with(0.25)].into()).compile().unwrap();
    assert!(matches!(refused(&to(Vec::new().into())), E::NoWay { node, .. } if node == "server"));
    assert!(matches!(refused(&to(Route::in_turn(&[]))), E::NoWay { node, .. } if node == "server"));
    // Who comes from outside never leaves. (The sink is reached by others.)
    let network = Network::new("test")
        .source("in", Source::new(Distribution::Exponential(9.0), "trap"))
        .source("other", Source::new(Distribution::Exponential(9.0), "out"))
        .station("trap", Station::new(EXPONENTIAL, "trap"))
        .sink("out");
    assert!(matches!(refused(&network), E::NoWayOut { node, .. } if node == "in" || node == "trap"));
    assert!(matches!(refused(&to("server".into())), E::Unreachable { node } if node == "out"));
    assert!(matches!(refused(&right().sink("elsewhere")), E::Unreachable { node } if node == "elsewhere"));
    let closed = Network::new("test").station("a", Station::new(EXPONENTIAL, "a"));
    assert!(matches!(refused(&closed), E::Unreachable { node } if node == "a"), "nobody is in it");
    let untimed = Network::from_toml(
        "name = \"n\"\n[source.in]\ninterarrival = { exponential = 2 }\nto = \"server\"\n[station.server]\nto = \"out\"\n[sink.out]",
    );
    assert!(
        matches!(refused(&untimed.unwrap()), E::NoTime { node, what: "service", .. } if node == "server")
    );
}

#[test]
fn bad_settings_are_refused_and_the_node_is_named() {
    use FacilityError as E;
    let with = |station: Station| {
        Network::new("test")
            .source("in", Source::new(Distribution::Exponential(2.0), "server"))
            .station("server", station)
            .sink("out")
    };
    let server = || Station::new(EXPONENTIAL, "out");
    for station in [
        server().with_servers(0),
        server().with_servers(3).with_capacity(2),
        server().with_population(5000),
        server().with_population(3).with_capacity(2),
        server().with_population(1).with_balking(&[0.0, 0.5]),
    ] {
        assert!(matches!(refused(&with(station)), E::Setting { node, .. } if node == "server"));
    }
    let network = right().source("more", Source::new(Distribution::Exponential(9.0), "server").in_batches(0));
    assert!(matches!(refused(&network), E::Setting { node, .. } if node == "more"));
    let impatient = server().with_discipline(Discipline::Random).with_patience(EXPONENTIAL);
    let many = server().with_discipline(Discipline::Preemptive).with_servers(33);
    for station in [impatient, many] {
        assert!(matches!(refused(&with(station)), E::Unsupported { node, .. } if node == "server"));
    }
    for law in
        [Distribution::Exponential(-1.0), Distribution::Uniform([2.0, 1.0]), Distribution::Constant(1e-9)]
    {
        let error = refused(&with(Station::new(law, "out")));
        assert!(matches!(&error, E::Distribution { node, .. } if node == "server"), "{error}");
    }
    let mut network = right();
    network.ticks_per_unit = 0;
    assert!(matches!(refused(&network), E::Time { .. }));
}

#[test]
fn unstable_networks_are_refused_unless_they_are_allowed() {
    let network = |to: Route| {
        Network::new("test")
            .source("in", Source::new(Distribution::Exponential(2.0), "first"))
            .station("first", Station::new(EXPONENTIAL, to))
            .delay("later", Delay::new(EXPONENTIAL, "first"))
            .sink("out")
    };
    // Half of them come again: as many as it serves.
    let half = [Link::to("out").with(0.5), Link::to("later").with(0.5)];
    let error = refused(&network(half.clone().into()));
    assert!(
        matches!(&error, FacilityError::Unstable { node, load } if node == "first" && (load - 1.0).abs() < 1e-12),
        "{error}"
    );
    network(half.into()).compile_unstable().unwrap();
    network([Link::to("out"), Link::to("later").with(0.49)].into()).compile().unwrap();
    // It ends where too many wait.
    let flooded = Network::new("test")
        .source("in", Source::new(Distribution::Exponential(0.5), "server"))
        .station("server", Station::new(EXPONENTIAL, "out"))
        .sink("out");
    let study = Study { room: 1000, ..Study::new(2, 5000.0, 0.0) };
    let facility = flooded.compile_unstable().unwrap();
    let error = facility.study(&study, Place::Cpu, |_, _| {}).unwrap_err();
    assert!(
        matches!(&error, FacilityError::LineFull { node, room: 1000, replication: 0 } if node == "server"),
        "{error}"
    );
    // There is no steady state to tell of, but of who comes.
    let report = facility.study(&Study::new(4, 50.0, 0.0), Place::Cpu, |_, _| {}).unwrap();
    let known: Vec<_> = report.results.iter().filter(|row| row.theory.is_some()).collect();
    assert!(known.len() == 1 && known[0].node == "in", "{known:?}");
    // Those who do not wait for ever, or are lost, do not.
    for station in [
        Station::new(EXPONENTIAL, "out").with_patience(EXPONENTIAL),
        Station::new(EXPONENTIAL, "out").with_capacity(4),
    ] {
        let network = Network::new("test")
            .source("in", Source::new(Distribution::Exponential(0.5), "server"))
            .station("server", station)
            .sink("out");
        network.compile().unwrap().study(&Study::new(2, 50.0, 0.0), Place::Cpu, |_, _| {}).unwrap();
    }
}

#[test]
fn overload_before_a_station_that_blocks_or_at_a_shortest_line_is_found() {
    let unstable = |network: &Network, expected: Option<(&str, f64)>| match (network.compile(), expected) {
        (Ok(_), None) => {}
        (Err(FacilityError::Unstable { node, load }), Some(expected)) => {
            assert!(node == expected.0 && (load - expected.1).abs() < 1e-12, "{node} {load}");
        }
        (result, expected) => panic!("{:?} {expected:?}", result.map(|_| ())),
    };
    let line = |first: Station| {
        Network::new("line")
            .source("in", Source::new(Distribution::Exponential(1.0), "first"))
            .station("first", first)
            .station("second", Station::new(EXPONENTIAL, "third").with_capacity(2).with_servers(2).blocking())
            .station(
                "third",
                Station::new(Distribution::Exponential(1.25), "out").with_capacity(3).blocking(),
            )
            .sink("out")
    };
    let first = || Station::new(Distribution::Exponential(0.5), "second");
    // All that comes has to pass, and the line before grows; unless the first station loses some, or is full for the source.
    unstable(&line(first()), Some(("third", 1.25)));
    unstable(&line(first().with_capacity(4)), None);
    unstable(&line(first().with_patience(EXPONENTIAL)), None);
    unstable(&line(first().with_capacity(4).blocking()), None);

    let shop = |interarrival: f64| {
        Network::new("shop")
            .with_classes(&["a", "b"])
            .source("in", Source::new(Distribution::Exponential(interarrival), "choice"))
            .router("choice", Route::shortest(&["fast", "slow"]))
            .station("fast", Station::new(Distribution::Exponential(0.5), "behind"))
            .station("slow", Station::new(EXPONENTIAL, "behind"))
            .station("behind", Station::new(Distribution::Exponential(0.1), "out"))
            .sink("out")
    };
    // Three can be served in a unit of time. (Of the station behind it is not known.)
    let other = |mean: f64| Source::new(Distribution::Exponential(mean), "other").of("b");
    let with = |interarrival: f64, mean: f64| {
        shop(interarrival).source("more", other(mean)).station("other", Station::new(EXPONENTIAL, "out"))
    };
    unstable(&with(0.4, 2.0), None);
    unstable(&with(0.25, 2.0), Some(("fast, slow", 4.0 / 3.0)));
    // A shortest line hides no other.
    unstable(&with(0.4, 0.5), Some(("other", 2.0)));
    // What comes to one of the lines besides counts, too.
    let besides = with(0.4, 2.0).source("besides", Source::new(Distribution::Exponential(1.6), "slow"));
    unstable(&besides, Some(("fast, slow", 3.125 / 3.0)));
}

#[test]
fn studies_that_observe_nothing_are_refused() {
    let facility = right().compile().unwrap();
    let error = facility.study(&Study::new(2, 10.0, 10.0), Place::Cpu, |_, _| {}).unwrap_err();
    assert!(matches!(error, FacilityError::WarmUp { .. }), "{error}");
    let error = facility.study(&Study::new(0, 10.0, 1.0), Place::Cpu, |_, _| {}).unwrap_err();
    assert!(matches!(error, FacilityError::Analysis(_)), "{error}");
    let error = facility.study(&Study::new(2, f64::NAN, 1.0), Place::Cpu, |_, _| {}).unwrap_err();
    assert!(matches!(error, FacilityError::Time { .. }), "{error}");
}
