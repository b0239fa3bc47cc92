//! Fork and join: customers that are split into tasks, and joined again.

use eventhorizon::Backend;
use eventhorizon::facility::{
    Delay, Discipline, Distribution, FacilityError, Fork, Link, Measure, Network, Route, Source, Station,
    Study,
};
use eventhorizon::pdes::{EngineOptions, Mapping};

use super::common::{gpu, is_long};
use super::new_nodes::{exponential, studied, within};
use super::runs::{mapped, reported, same};
use super::shipped_one;
use super::theory::covered;

#[test]
fn two_parts_of_an_order_take_as_long_as_nelson_and_tantawi_say() {
    let network = shipped_one("order");
    let report = studied(&network, &Study::new(32, 8000.0, 1000.0));
    let (inside, all, furthest, which) = covered(&report);
    assert!(all >= 20 && furthest < 2.5 && inside * 5 >= all * 4, "{which}\n{report}");
    // (12 - 0.7) / 8 of 1.4 / (1 - 0.7), a fifth more than a single one; and Little's law for the
    // whole.
    let customer = Some("customer");
    let row = report.row("picking", customer, Measure::Sojourn).unwrap();
    assert!((row.theory.unwrap() - 11.3 / 8.0 * 1.4 / 0.3).abs() < 1e-9, "{row:?}");
    within(&report, "shipped", customer, Measure::Sojourn, row.theory.unwrap() + 2.0);
    within(&report, "(network)", None, Measure::Number, (row.theory.unwrap() + 2.0) / 2.0);
    // Two tasks of each customer there, less those that are still served: a station has 7 / 3.
    within(&report, "picking", None, Measure::Tasks, row.theory.unwrap() - 2.0 * 7.0 / 3.0);
}

/// Tasks that overtake each other, in a fork in which another lies: the last of three exponential
/// times.
fn within_each_other() -> Network {
    Network::new("nested")
        .with_classes(&["a", "b"])
        .source("in", Source::new(Distribution::Constant(0.25), "outer"))
        .source("more", Source::new(exponential(1.0), "outer").of("b"))
        .delay("x", Delay::new(exponential(2.0), "outer"))
        .delay("y", Delay::new(exponential(2.0), "inner"))
        .delay("z", Delay::new(exponential(2.0), Route::in_turn(&["inner"])))
        // Class `b` has one task more, and all of its tasks travel as the other class.
        .fork(
            "outer",
            Fork::new(
                [
                    Link::to("x"),
                    Link::to("inner"),
                    Link::to("x").of("b").becoming("a"),
                    Link::to("x").of("b").becoming("a"),
                    Link::to("inner").of("b").becoming("a"),
                ],
                [Link::to("out"), Link::to("kept").of("b")],
            ),
        )
        .fork("inner", Fork::new(["y", "z"], "outer"))
        .sink("out")
        .sink("kept")
}

#[test]
fn the_last_of_several_times_is_that_of_harmonic_numbers_in_forks_within_forks() {
    let report = studied(&within_each_other(), &Study::new(16, 800.0, 50.0));
    let harmonic = |tasks: u32| (1..=tasks).map(|place| 1.0 / f64::from(place)).sum::<f64>();
    within(&report, "outer", Some("a"), Measure::Sojourn, 2.0 * harmonic(3));
    within(&report, "outer", Some("b"), Measure::Sojourn, 2.0 * harmonic(4));
    within(&report, "inner", Some("a"), Measure::Sojourn, 2.0 * harmonic(2));
    assert_eq!(report.row("inner", Some("a"), Measure::Sojourn).unwrap().theory, Some(3.0));
    assert!(report.row("inner", Some("b"), Measure::Sojourn).is_none(), "no customer arrives as `b`");
    // A forked customer counts once, with its original class.
    within(&report, "out", Some("a"), Measure::Throughput, 4.0);
    within(&report, "kept", Some("b"), Measure::Throughput, 1.0);
    within(&report, "(network)", None, Measure::Number, 8.0 * harmonic(3) + 2.0 * harmonic(4));
}

#[test]
fn tasks_are_joined_with_their_own_and_times_of_no_chance_are_exact() {
    // One comes at 1, 2, 3, ...; every other first part takes 5, and the rest 0.5: who comes later
    // is joined before.
    let network = Network::new("clockwork")
        .source("in", Source::new(Distribution::Constant(1.0), "parts"))
        .router("switch", Route::in_turn(&["slow", "fast"]))
        .delay("slow", Delay::new(Distribution::Constant(5.0), "parts"))
        .delay("fast", Delay::new(Distribution::Constant(0.5), "parts"))
        .delay("paper", Delay::new(Distribution::Constant(0.75), "parts"))
        .fork("parts", Fork::new(["switch", "paper"], "out"))
        .sink("out");
    let report = studied(&network, &Study::new(2, 110.0, 10.0));
    let row = |node, measure| report.row(node, Some("customer"), measure).unwrap().mean.unwrap();
    // Alternately 5 and 0.75. Matched in the order of arrival, it would be about 3 for each, with
    // another deviation.
    assert_eq!(row("out", Measure::Sojourn), 2.875);
    assert!((row("out", Measure::SojournDeviation) - 2.125).abs() < 1e-4);
    assert_eq!(row("parts", Measure::Number), 2.875);
    // The paper waits for 4.25 of 5 of the slow, and the fast part for 0.25 for the paper.
    assert_eq!(report.row("parts", None, Measure::Tasks).unwrap().mean, Some(2.25));
    assert_eq!(report.row("(network)", None, Measure::Number).unwrap().mean, Some(2.875));
}

/// Closed, with a station that blocks between fork and join, customers that are forked repeatedly,
/// and a shortest line after the join.
fn closed() -> Network {
    Network::new("closed")
        .with_classes(&["a", "b"])
        .station("first", Station::new(exponential(1.0), "second").with_discipline(Discipline::Preemptive))
        .delay("pause", Delay::new(exponential(2.0), "narrow").with_population(5))
        .station("second", Station::new(exponential(0.7), "parts").with_servers(2))
        .station("narrow", Station::new(exponential(0.5), "parts").with_capacity(2).blocking())
        .station("left", Station::new(exponential(1.0), "parts"))
        .station("right", Station::new(exponential(0.8), "parts").with_discipline(Discipline::Sharing))
        .router("again", [Link::to("parts").with(0.2), Link::to("hall")])
        .fork("parts", Fork::new([Link::to("first"), Link::to("pause").becoming("b")], "again"))
        .fork("hall", Fork::new(["lone"], Route::shortest(&["left", "right"])))
        .delay("lone", Delay::new(exponential(0.1), "hall"))
}

#[test]
fn a_closed_network_has_its_customers_however_often_they_are_parted() {
    let report = studied(&closed(), &Study::new(4, 300.0, 0.0));
    let row = report.row("(network)", None, Measure::Number).unwrap();
    assert_eq!((row.mean, row.half_width), (Some(5.0), Some(0.0)), "{report}");
    let row = |node, measure| report.row(node, Some("a"), measure).unwrap().mean.unwrap();
    assert!(row("parts", Measure::Throughput) > row("hall", Measure::Throughput), "{report}");
}

#[test]
fn forks_have_the_bits_of_the_sequential_engine_in_every_mapping() {
    for (network, mappings) in [(within_each_other(), &[Mapping::Thread][..]), (closed(), &[Mapping::Team])] {
        let facility = network.compile().unwrap();
        let ticks = |units| facility.resolution().ticks(units).unwrap();
        let facility = facility.clone().with_warm_up(ticks(3.0)).with_details();
        if is_long() {
            same(&facility, ticks(12.0), &network.name);
        }
        mapped(&facility, ticks(12.0), mappings, &network.name);
    }
}

#[test]
fn room_for_those_who_were_parted_is_made_as_it_is_needed_and_shows_in_nothing() {
    let gpu = gpu();
    let facility = within_each_other().compile().unwrap();
    let study = Study::new(3, 60.0, 6.0);
    let expected = facility.clone().with_room(512).study(&study).run().unwrap();
    let options = EngineOptions::default().mapping(Mapping::Thread);
    for backend in [Backend::Cpu, Backend::Gpu(&gpu)] {
        let found =
            facility.clone().with_room(4).study(&study).backend(backend).options(options).run().unwrap();
        assert_eq!(reported(&found), reported(&expected));
    }
    let error = facility.study(&study.room(8)).run().unwrap_err();
    assert!(matches!(error, FacilityError::LineFull { node, .. } if node == "outer"));
}

#[test]
fn tasks_that_would_not_all_come_back_are_refused_and_fork_and_node_are_named() {
    let right = |station: Station, tasks: &[Link]| {
        Network::new("test")
            .source("in", Source::new(exponential(9.0), "parts"))
            .fork("parts", Fork::new(tasks.to_vec(), "out"))
            .station("one", station)
            .delay("two", Delay::new(exponential(1.0), "parts"))
            .sink("out")
    };
    let one = |to: Route| Station::new(exponential(1.0), to);
    let both = [Link::to("one"), Link::to("two")];
    right(one("parts".into()), &both).compile().unwrap();
    let refused = |network: Network| network.compile_unstable().expect_err("it is refused");
    let lost = |station: Station, at: &str, how: &str| match refused(right(station, &both)) {
        FacilityError::Tasks { fork, node, what, .. } => {
            assert_eq!((&*fork, &*node), ("parts", at));
            assert!(what.contains(how), "{what}");
        }
        error => panic!("{error}"),
    };
    let home = || one("parts".into());
    lost(one([Link::to("parts").with(0.9), Link::to("out")].into()), "out", "leave");
    lost(home().with_capacity(3), "one", "room");
    lost(home().with_patience(exponential(2.0)), "one", "patience");
    lost(home().with_balking(&[0.0, 0.5]), "one", "balk");
    lost(one("one".into()), "one", "no way back");

    // Forks that overlap, and tasks that go round in no time.
    let fork = |to: &str| right(one(to.into()), &both).fork("other", Fork::new(["three"], "parts"));
    let three = |to: &str| Delay::new(exponential(1.0), to);
    fork("other").delay("three", three("other")).compile().unwrap();
    let error = refused(fork("other").delay("three", three("parts")));
    let reported = error.to_string();
    assert!(matches!(error, FacilityError::Tasks { fork, node, .. } if fork == "other" && node == "parts"));
    assert!(
        reported.contains("`other`") && reported.contains("`parts`") && reported.contains("join them before"),
        "{reported}"
    );
    let error = refused(right(home(), &[Link::to("one"), Link::to("two"), Link::to("parts")]));
    assert!(matches!(error, FacilityError::Unsupported { node, .. } if node == "parts"));
    let error = refused(right(home().with_capacity(3).blocking(), &both));
    assert!(matches!(error, FacilityError::Unsupported { node, .. } if node == "parts"));

    let error = refused(right(home(), &[Link::to("one").with(0.5), Link::to("two")]));
    assert!(matches!(error, FacilityError::Setting { value, .. } if value == "0.5"));
    let idle = right(home(), &[])
        .source("more", Source::new(exponential(9.0), [Link::to("one").with(0.5), Link::to("two")]));
    assert!(matches!(refused(idle), FacilityError::NoWay { node, .. } if node == "parts"));
    let many = vec![Link::to("one"); 65];
    assert!(matches!(refused(right(home(), &many)), FacilityError::Setting { value, .. } if value == "65"));
    // Both tasks come to one server, and it serves one of two.
    let twice = [Link::to("one"), Link::to("one"), Link::to("two")];
    right(home(), &twice).compile().unwrap();
    let station = Station::new(exponential(5.0), "parts");
    let error = right(station, &twice).compile().unwrap_err();
    assert!(matches!(error, FacilityError::Unstable { load, .. } if (load - 10.0 / 9.0).abs() < 1e-9));
    let mut fine = right(home(), &both);
    fine.ticks_per_unit = Some(1 << 20);
    let facility = fine.compile().unwrap();
    let error = facility.study(&Study::new(2, 1e13, 1.0)).run().unwrap_err();
    assert!(matches!(error, FacilityError::Time { .. }), "{error}");
}
