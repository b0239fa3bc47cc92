//! Valid descriptions, and errors in invalid ones.

use eventhorizon::facility::{
    Delay, Discipline, Distribution, FacilityError, Link, Measure, Network, Route, Source, Station, Study,
};

use super::{shipped, shipped_one};

const EXPONENTIAL: Distribution = Distribution::Exponential(1.0);

/// A valid network to start from.
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
    let report = network.compile().unwrap().study(&study).run().unwrap();
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
    assert_eq!(to("{ node = \"b\", becomes = \"y\" }").unwrap(), Link::to("b").becoming("y").into());
    let links = [Link::to("b").with(0.25), Link::to("c").of("x").becoming("y")];
    let text = "[{ node = \"b\", probability = 0.25 }, { node = \"c\", class = \"x\", becomes = \"y\" }]";
    assert_eq!(to(text).unwrap(), Route::from(links));
    assert_eq!(to("{ in_turn = [\"b\", \"c\"] }").unwrap(), Route::in_turn(&["b", "c"]));
    for wrong in
        ["3", "[3]", "{ probability = 1.0 }", "[{ probability = 1.0 }]", "[{ node = \"b\", odds = 1 }]"]
    {
        assert!(to(wrong).is_err(), "{wrong}");
    }
    for (wrong, named) in [
        ("{ in_turn = [\"b\"], weights = [1, 2] }", "`weights`"),
        ("{ in_turn = [\"b\"], shortest = [\"b\"] }", "exclude each other"),
        ("{ in_line = [\"b\"] }", "`in_line`"),
        ("{}", "`node`, `in_turn` or `shortest`"),
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
    assert!(error.contains("`a` occurs twice"), "{error}");
}

#[test]
fn mistyped_names_are_refused_with_what_was_meant() {
    let error = Network::from_toml("name = \"typo\"\n[station.desk]\nservrs = 2\n").unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("Did you mean `servers`?"), "{error}");
    let network = Network::new("typo")
        .source("in", Source::new(EXPONENTIAL, "sevrer"))
        .station("server", Station::new(EXPONENTIAL, "out"))
        .sink("out");
    let error = refused(&network).to_string();
    assert!(error.contains("did you mean `server`?"), "{error}");
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
    // Customers from outside never leave. (Others reach the sink.)
    let network = Network::new("test")
        .source("in", Source::new(Distribution::Exponential(9.0), "trap"))
        .source("other", Source::new(Distribution::Exponential(9.0), "out"))
        .station("trap", Station::new(EXPONENTIAL, "trap"))
        .sink("out");
    assert!(matches!(refused(&network), E::NoWayOut { node, .. } if node == "in" || node == "trap"));
    assert!(matches!(refused(&to("server".into())), E::Unreachable { node } if node == "out"));
    assert!(matches!(refused(&right().sink("elsewhere")), E::Unreachable { node } if node == "elsewhere"));
    let closed = Network::new("test").station("a", Station::new(EXPONENTIAL, "a"));
    assert!(matches!(refused(&closed), E::Unreachable { node } if node == "a"), "it has no customers");
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
        [Distribution::Exponential(-1.0), Distribution::Uniform([2.0, 1.0]), Distribution::Constant(1e-12)]
    {
        let error = refused(&with(Station::new(law, "out")));
        assert!(matches!(&error, E::Distribution { node, .. } if node == "server"), "{error}");
    }
    let mut network = right();
    network.ticks_per_unit = Some(0);
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
    // Half of them return: the load is 1.
    let half = [Link::to("out").with(0.5), Link::to("later").with(0.5)];
    let error = refused(&network(half.clone().into()));
    assert!(
        matches!(&error, FacilityError::Unstable { node, load } if node == "first" && (load - 1.0).abs() < 1e-12),
        "{error}"
    );
    network(half.into()).compile_unstable().unwrap();
    network([Link::to("out"), Link::to("later").with(0.49)].into()).compile().unwrap();
    // The run ends when too many customers wait.
    let flooded = Network::new("test")
        .source("in", Source::new(Distribution::Exponential(0.5), "server"))
        .station("server", Station::new(EXPONENTIAL, "out"))
        .sink("out");
    let study = Study::new(2, 5000.0, 0.0).room(1000);
    let facility = flooded.compile_unstable().unwrap();
    let error = facility.study(&study).run().unwrap_err();
    assert!(
        matches!(&error, FacilityError::LineFull { node, room: 1000, replication: 0 } if node == "server"),
        "{error}"
    );
    // There is no steady state to compare with, but arrivals are.
    let report = facility.study(&Study::new(4, 50.0, 0.0)).run().unwrap();
    let known: Vec<_> = report.rows.iter().filter(|row| row.theory.is_some()).collect();
    assert!(known.len() == 1 && known[0].node == "in", "{known:?}");
    // Customers that do not wait for ever, or are lost, cause no instability.
    for station in [
        Station::new(EXPONENTIAL, "out").with_patience(EXPONENTIAL),
        Station::new(EXPONENTIAL, "out").with_capacity(4),
    ] {
        let network = Network::new("test")
            .source("in", Source::new(Distribution::Exponential(0.5), "server"))
            .station("server", station)
            .sink("out");
        network.compile().unwrap().study(&Study::new(2, 50.0, 0.0)).run().unwrap();
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
    // All arrivals have to pass, so the first line grows, unless the first station loses customers
    // or is full for the source.
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
    // Three can be served per unit of time. (The station after it is unknown.)
    let other = |mean: f64| Source::new(Distribution::Exponential(mean), "other").of("b");
    let with = |interarrival: f64, mean: f64| {
        shop(interarrival).source("more", other(mean)).station("other", Station::new(EXPONENTIAL, "out"))
    };
    unstable(&with(0.4, 2.0), None);
    unstable(&with(0.25, 2.0), Some(("fast, slow", 4.0 / 3.0)));
    // A shortest line hides no other.
    unstable(&with(0.4, 0.5), Some(("other", 2.0)));
    // Other arrivals to one of the lines count too.
    let besides = with(0.4, 2.0).source("besides", Source::new(Distribution::Exponential(1.6), "slow"));
    unstable(&besides, Some(("fast, slow", 3.125 / 3.0)));
}

#[test]
fn studies_that_observe_nothing_are_refused() {
    let facility = right().compile().unwrap();
    let error = facility.study(&Study::new(2, 10.0, 10.0)).run().unwrap_err();
    assert!(matches!(error, FacilityError::WarmUp { .. }), "{error}");
    let error = facility.study(&Study::new(0, 10.0, 1.0)).run().unwrap_err();
    assert!(matches!(error, FacilityError::Analysis(_)), "{error}");
    let error = facility.study(&Study::new(2, f64::NAN, 1.0)).run().unwrap_err();
    assert!(matches!(error, FacilityError::Time { .. }), "{error}");
}

#[test]
fn what_cannot_be_drawn_is_told_before_loads() {
    let with = |interarrival: Distribution, station: Station| {
        Network::new("test")
            .source("in", Source::new(interarrival, "server"))
            .station("server", station)
            .sink("out")
    };
    let reported = |network: &Network, named: &str, why: &str| {
        let error = refused(network);
        let text = error.to_string();
        assert!(matches!(&error, FacilityError::Distribution { node, .. } if node == named), "{error}");
        assert!(text.contains(why), "{error}");
        assert!(!text.contains("Ticks") && !text.contains("clock"), "what only a program has: {error}");
    };
    let station = || Station::new(EXPONENTIAL, "out");
    for (law, why) in [
        (Distribution::Exponential(0.0), "less than a tick"),
        (Distribution::Exponential(f64::NAN), "NaN is not a finite number"),
        (Distribution::Exponential(-1.0), "-1 is negative"),
        (Distribution::Constant(1e-300), "1e-300 is less than a tick"),
    ] {
        reported(&with(law, station()), "in", why);
    }
    for (law, why) in [
        (Distribution::Constant(f64::INFINITY), "inf is not a finite number"),
        (Distribution::Constant(1e300), "fewer ticks per unit"),
        (Distribution::Exponential(-f64::INFINITY), "-inf is not a finite number"),
        (Distribution::Uniform([9.0, 8.0]), "the second has to be greater"),
        (Distribution::Weibull { scale: 2.0, shape: 0.1 }, "found 0.1"),
        (Distribution::Erlang { stages: 0, mean: 9.0 }, "stages"),
    ] {
        reported(&with(Distribution::Exponential(2.0), Station::new(law, "out")), "server", why);
    }
    let down = station().with_breakdowns(EXPONENTIAL, Distribution::Exponential(f64::INFINITY));
    reported(&with(Distribution::Exponential(9.0), down), "server", "time of repairs");
}

#[test]
fn pieces_of_calendars_are_as_exact_as_distributions() {
    let with = |source: Source, station: Station, ticks: u32| {
        let mut network = Network::new("test").source("in", source).station("server", station).sink("out");
        network.ticks_per_unit = Some(ticks);
        network
    };
    let source = || Source::new(Distribution::Exponential(5.0), "server");
    let scheduled =
        |pieces: &[(f64, u32)]| with(source(), Station::new(EXPONENTIAL, "out").with_schedule(pieces), 1000);
    scheduled(&[(0.002, 4), (0.001, 1)]).compile().unwrap();
    for (pieces, piece) in [
        ([(0.0014, 4), (0.0016, 0)], "0.0014 long (piece 1 of 2)"),
        ([(1.0, 4), (0.0016, 0)], "0.0016 long (piece 2 of 2)"),
        ([(1.0, 4), (f64::NAN, 0)], "NaN long (piece 2 of 2)"),
        ([(f64::INFINITY, 4), (1.0, 0)], "inf long (piece 1 of 2)"),
        ([(1.0, 4), (-1.0, 0)], "-1 long (piece 2 of 2)"),
        ([(0.0, 4), (1.0, 0)], "0 long (piece 1 of 2)"),
    ] {
        let error = refused(&scheduled(&pieces));
        assert!(
            matches!(&error, FacilityError::Setting { node, value, .. } if node == "server" && value == piece),
            "{error}"
        );
    }
    for (pieces, piece) in [
        ([(0.0014, 1.0), (1.0, 0.0)], "0.0014 long (piece 1 of 2)"),
        ([(0.0, 1.0), (1.0, 0.0)], "0 long (piece 1 of 2)"),
    ] {
        let error = refused(&with(source().with_rates(&pieces), Station::new(EXPONENTIAL, "out"), 1000));
        assert!(
            matches!(&error, FacilityError::Setting { node, value, .. } if node == "in" && value == piece),
            "{error}"
        );
    }
}

#[test]
fn times_of_runs_in_a_description_are_times_and_in_order() {
    let with = |until: Option<f64>, warm_up: Option<f64>| {
        let mut network = right();
        (network.until, network.warm_up) = (until, warm_up);
        network
    };
    with(Some(2.0), Some(1.0)).compile().unwrap();
    with(None, Some(1.0)).compile().unwrap();
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        for (network, named) in [
            (with(Some(bad), None), "`until`"),
            (with(Some(bad), Some(1.0)), "`until`"),
            (with(Some(2.0), Some(bad)), "`warm_up`"),
            (with(None, Some(bad)), "`warm_up`"),
        ] {
            let error = refused(&network);
            let text = error.to_string();
            assert!(matches!(error, FacilityError::Time { .. }) && text.contains(named), "{error}");
            assert!(!text.contains("Ticks") && !text.contains("clock"), "{error}");
        }
    }
    for (until, warm_up) in [(2.0, Some(2.0)), (2.0, Some(3.0)), (0.0, None)] {
        let error = refused(&with(Some(until), warm_up));
        let begin = warm_up.unwrap_or(0.0);
        assert!(
            matches!(error, FacilityError::WarmUp { until: end, warm_up } if end == until && warm_up == begin),
            "{error}"
        );
        assert!(error.to_string().contains("`until`") && error.to_string().contains("`warm_up`"), "{error}");
    }
}

#[test]
fn names_that_results_have_for_other_things_are_refused() {
    let called = |network: &Network, bad: &str, why: &str| {
        let error = refused(network);
        assert!(matches!(&error, FacilityError::Name { name, .. } if name == bad), "{error}");
        let text = error.to_string();
        assert!(text.contains(why) && !text.contains(char::is_control), "{error}");
    };
    let node = |name: &str| right().source("more", Source::new(EXPONENTIAL, name)).sink(name);
    called(&right().with_classes(&["all"]), "all", "for all classes");
    called(&node("(network)"), "(network)", "for all nodes");
    for bad in ["a\nb", "\u{1b}[31mred", "\u{0}", "\u{7f}", "\u{9b}", "\u{fffe}"] {
        called(&right().with_classes(&[bad]), bad, "control character");
        called(&node(bad), bad, "control character");
        let mut network = right();
        network.name = bad.to_owned();
        called(&network, bad, "control character");
        (network.name, network.unit) = ("test".to_owned(), bad.to_owned());
        called(&network, bad, "control character");
    }
    // A node may have the name of a class, with any letters.
    node("all").with_classes(&["(network)"]).compile().unwrap();
    node("Straße 7 – \"東\"").compile().unwrap();
}

#[test]
fn a_station_with_more_servers_than_anybody_counts_is_run() {
    let network = Network::new("crowd")
        .source("in", Source::new(Distribution::Exponential(2.0), "server"))
        .station("server", Station::new(EXPONENTIAL, "out").with_servers(u32::MAX))
        .source("others", Source::new(Distribution::Exponential(2.0), "impatient"))
        .station(
            "impatient",
            Station::new(EXPONENTIAL, "out").with_servers(u32::MAX).with_patience(EXPONENTIAL),
        )
        .sink("out");
    let report = network.compile().unwrap().study(&Study::new(2, 20.0, 0.0)).run().unwrap();
    // Formulas that sum over servers would take minutes, and memory for all of them.
    for node in ["server", "impatient"] {
        assert_eq!(report.row(node, Some("customer"), Measure::Wait).unwrap().theory, None);
    }
}

#[test]
fn refusals_say_what_is_meant() {
    // One station alone.
    let alone = Station::new(EXPONENTIAL, "s").with_capacity(1).blocking().with_population(1);
    let facility = Network::new("alone").station("s", alone).compile().unwrap();
    let error = facility.study(&Study::new(1, 20.0, 0.0)).run().unwrap_err();
    assert!(matches!(&error, FacilityError::Deadlock { nodes, .. } if nodes == "`s`"), "{error}");
    assert!(!error.to_string().contains("each other"), "{error}");
    // A circle with an exit.
    let round = right()
        .source("more", Source::new(Distribution::Exponential(9.0), "round"))
        .router("round", [Link::to("round").with(0.5), Link::to("out")]);
    let error = refused(&round);
    assert!(matches!(&error, FacilityError::Unsupported { node, .. } if node == "round"), "{error}");
    assert!(error.to_string().contains("circle without end"), "{error}");
    // A line that is named twice.
    let twice = right().source(
        "more",
        Source::new(Distribution::Exponential(9.0), Route::shortest(&["server", "other", "server"])),
    );
    let error = refused(&twice.station("other", Station::new(EXPONENTIAL, "out"))).to_string();
    assert!(error.contains("names twice is `server`"), "{error}");
}

#[test]
fn a_link_alone_is_a_list_of_one() {
    let network = |to: &str| {
        let text = format!(
            "name = \"n\"\n[source.in]\ninterarrival = {{ exponential = 2 }}\nto = {to}\n\
             [station.B]\nservice = {{ exponential = 1 }}\nto = \"out\"\n[sink.out]\n"
        );
        Network::from_toml(&text)
    };
    let travel = "{ node = \"B\", travel = { uniform = [20, 40] } }";
    let alone = network(travel).unwrap();
    assert_eq!(alone, network(&format!("[{travel}]")).unwrap());
    assert_eq!(network("{ node = \"B\" }").unwrap(), network("[{ node = \"B\" }]").unwrap());
    alone.compile().unwrap();
    for (to, word) in [
        ("{ node = \"B\", in_turn = [\"B\"] }", "exclude each other"),
        ("{ in_turn = [\"B\"], probability = 0.5 }", "names of nodes only"),
        ("{ travel = { constant = 1 } }", "`node`"),
        ("{ node = \"B\", time = 3 }", "time"),
    ] {
        let error = network(to).unwrap_err().to_string();
        assert!(error.contains(word), "{to}: {error}");
    }
    // Sums of binary fractions are printed in short decimals.
    let shares = "[{ node = \"B\", probability = 0.65 }, { node = \"out\", probability = 0.3 }]";
    let error = network(shares).unwrap().compile().unwrap_err().to_string();
    assert!(error.contains("add up to 0.95;"), "{error}");
}

#[test]
fn a_description_may_begin_with_a_byte_order_mark() {
    let toml = "name = \"n\"\n[source.in]\ninterarrival = { exponential = 2 }\nto = \"out\"\n[sink.out]\n";
    let network = Network::from_toml(toml).unwrap();
    assert_eq!(Network::from_toml(&format!("\u{feff}{toml}")).unwrap(), network);
    let json = serde_json::to_string(&network).unwrap();
    assert_eq!(Network::from_json(&format!("\u{feff}{json}")).unwrap(), network);
}
