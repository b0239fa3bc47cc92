//! Traces of single customers from both engines, and the history of one run with its pictures.

use eventhorizon::Backend;
use eventhorizon::facility::{
    Distribution, Facility, FacilityError, Follow, Fork, Link, Measure, Network, Outcome, Source, Station,
    Study, Visit, plot, write_visits,
};

use super::common::gpu;
use super::runs::chance;
use super::shipped_one;

fn traced(facility: &Facility, study: &Study, follow: Follow) -> Vec<Visit> {
    facility.trace(study, follow).run().unwrap()
}

/// Two arrivals at once every 10, which are forked: one task takes 3, and the other takes 1 in the
/// line of a station that loses none.
fn clockwork() -> Network {
    let constant = Distribution::Constant;
    Network::new("clockwork")
        .source("in", Source::new(constant(10.0), "parts").in_batches(2))
        .source("more", Source::new(constant(14.0), "door"))
        .station("slow", Station::new(constant(3.0), "parts"))
        .station("quick", Station::new(constant(1.0), "parts").with_servers(2))
        .fork("parts", Fork::new(["slow", "quick"], "door"))
        .station("door", Station::new(constant(5.0), "out").with_capacity(2))
        .sink("out")
}

#[test]
fn a_trace_tells_every_visit_of_those_who_are_followed() {
    let facility = clockwork().compile().unwrap();
    let visits = traced(&facility, &Study::new(1, 27.5, 0.0), Follow { every: 2, most: 2 });
    let reported: Vec<_> = visits
        .iter()
        .map(|visit| {
            let Visit { customer, from, node, arrived, began, left, outcome, .. } = visit;
            (*customer, &**from, &**node, *arrived, *began, *left, *outcome)
        })
        .collect();
    use Outcome::{Lost, Present, Served};
    // Of the two at 10 and at 20 the one that comes last to the fork, and of `more` the one at 14;
    // at 28 it has ended. Tasks of one time are served in the order of their slots, of which the
    // one that was free last is taken first: at 20 it is the other way round than at 10.
    let expected = [
        (1, "in", "quick", 10.0, Some(10.0), Some(11.0), Served),
        (1, "in", "slow", 10.0, Some(13.0), Some(16.0), Served),
        (1, "in", "parts", 10.0, None, Some(16.0), Served),
        (1, "in", "door", 16.0, None, Some(16.0), Lost),
        (2, "in", "quick", 20.0, Some(20.0), Some(21.0), Served),
        (2, "in", "slow", 20.0, Some(20.0), Some(23.0), Served),
        (2, "in", "parts", 20.0, None, Some(23.0), Served),
        (2, "in", "door", 23.0, Some(23.0), None, Present),
        (3, "more", "door", 14.0, Some(18.0), Some(23.0), Served),
        (3, "more", "out", 23.0, None, Some(23.0), Served),
    ];
    assert_eq!(reported, expected);

    let mut csv = Vec::new();
    write_visits(&visits, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), visits.len() + 1);
    assert_eq!(lines[0], "customer,from,class,node,arrived,began,left,outcome");
    assert_eq!(lines[4], "1,in,customer,door,16.0,,16.0,lost");
    assert_eq!(lines[8], "2,in,customer,door,23.0,23.0,,present");
}

#[test]
fn whoever_is_followed_is_served_as_if_he_were_not() {
    for (name, until) in
        [("emergency", 3000.0), ("order", 600.0), ("line", 1000.0), ("machine_repair", 400.0)]
    {
        let facility = shipped_one(name).compile().unwrap();
        let study = Study::new(2, until, until / 4.0);
        let visits = traced(&facility, &study, Follow::first(5000));
        // Only the first of the study's replications.
        let report = facility.study(&study.replications(1)).run().unwrap();
        for node in facility.nodes() {
            let ended = |visit: &&Visit| {
                visit.node == node
                    && visit.outcome == Outcome::Served
                    && visit.left.is_some_and(|left| left >= study.warm_up)
            };
            let times: Vec<f64> =
                visits.iter().filter(ended).map(|visit| visit.left.unwrap() - visit.arrived).collect();
            let row = |measure| {
                let mut rows = report.rows.iter();
                rows.find(|row| row.node == node && row.measure == measure).and_then(|row| row.mean)
            };
            let Some(throughput) = row(Measure::Throughput).filter(|_| !times.is_empty()) else { continue };
            let count = (throughput * (until - study.warm_up)).round();
            assert_eq!(times.len() as f64, count, "{name}, {node}");
            // (The time at a sink is that in the network; the visit itself takes none.)
            if let Some(mean) = row(Measure::Sojourn).filter(|_| row(Measure::Number).is_some()) {
                let found = times.iter().sum::<f64>() / count;
                assert!((found - mean).abs() < 1e-6 * mean, "{name}, {node}: {found}, not {mean}");
            }
        }
    }
}

#[test]
fn both_engines_tell_the_same_traces() {
    let gpu = gpu();
    let place = Backend::Gpu(&gpu);
    for number in [4, 9] {
        let facility = chance(number).compile_unstable().unwrap();
        let study = Study::new(1, 30.0, 3.0);
        let follow = Follow { every: 2, most: 40 };
        let visits = traced(&facility, &study, follow);
        assert!(visits.len() > 20, "network {number}: {}", visits.len());
        assert_eq!(facility.trace(&study, follow).backend(place).run().unwrap(), visits, "network {number}");
    }
    // More notes and more waiting customers than initial capacities hold.
    let busy = Network::new("busy")
        .source("in", Source::new(Distribution::Exponential(1.0), "server").in_batches(10))
        .station("server", Station::new(Distribution::Exponential(0.09), "out"))
        .sink("out");
    let facility = busy.compile().unwrap().with_room(1);
    let study = Study::new(1, 60.0, 6.0);
    let visits = traced(&facility, &study, Follow::first(1000));
    assert!(visits.len() > 500, "{}", visits.len());
    assert_eq!(facility.trace(&study, Follow::first(1000)).backend(place).run().unwrap(), visits);
}

#[test]
fn a_visit_tells_the_class_that_who_comes_has_there() {
    let network = Network::new("classes")
        .with_classes(&["raw", "done"])
        .source("in", Source::new(Distribution::Constant(10.0), "shop"))
        .station("shop", Station::new(Distribution::Constant(1.0), [Link::to("check").becoming("done")]))
        .station("check", Station::new(Distribution::Constant(1.0), "out"))
        .sink("out");
    let visits = traced(&network.compile().unwrap(), &Study::new(1, 15.0, 0.0), Follow::first(1));
    let reported: Vec<_> = visits.iter().map(|visit| (&*visit.node, &*visit.class)).collect();
    assert_eq!(reported, [("shop", "raw"), ("check", "done"), ("out", "done")]);
}

#[test]
fn traces_that_cannot_be_told_are_refused() {
    let mut clinic = shipped_one("clinic");
    clinic.ticks_per_unit = Some(1 << 20);
    let facility = clinic.compile().unwrap();
    let study = Study::new(1, 100.0, 0.0);
    let refused = |study: &Study, follow| facility.trace(study, follow).run().unwrap_err();
    for (follow, named) in
        [(Follow { every: 0, most: 3 }, "0"), (Follow::first(0), "0"), (Follow::first(30_000), "90000")]
    {
        assert!(matches!(refused(&study, follow), FacilityError::Setting { value, .. } if value == named));
    }
    let long = study.until(2.0_f64.powi(27));
    let error = refused(&long, Follow::first(1));
    assert!(matches!(error, FacilityError::Setting { what, .. } if what.contains("end")));
    let narrow = study.room(2).until(5000.0);
    assert!(matches!(refused(&narrow, Follow::first(1)), FacilityError::LineFull { .. }));
}

#[test]
fn the_course_of_a_run_is_that_of_its_first_replication() {
    let facility = shipped_one("order").compile().unwrap();
    let study = Study::new(1, 2000.0, 400.0);
    let course = facility.course(&study, 10).unwrap();
    let report = facility.study(&study).run().unwrap();
    let names: Vec<&str> = course.numbers.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["books", "records", "packing", "picking"]);
    assert_eq!(course.part, 200.0);
    for (name, numbers) in &course.numbers {
        // The warm-up is two parts of ten.
        let mean = numbers[2..].iter().sum::<f64>() / 8.0;
        let reported = report.row(name, Some("customer"), Measure::Number).unwrap().mean.unwrap();
        assert!((mean - reported).abs() < 1e-9 * reported, "{name}: {mean}, not {reported}");
    }
    for times in &course.sojourns {
        let throughput =
            report.row(&times.node, Some("customer"), Measure::Throughput).unwrap().mean.unwrap();
        assert_eq!(times.count() as f64, (throughput * 1600.0).round(), "{}", times.node);
        // Bins are at most a sixteenth as wide as their times.
        let reported = report.row(&times.node, Some("customer"), Measure::Sojourn).unwrap().mean.unwrap();
        let sum: f64 = times.bins.iter().map(|&(from, to, count)| (from + to) / 2.0 * count as f64).sum();
        assert!((sum / times.count() as f64 / reported - 1.0).abs() < 0.03, "{}", times.node);
    }
    assert_eq!(course.sojourns.len(), 5);
    for parts in [0, usize::MAX] {
        assert!(matches!(facility.course(&study, parts), Err(FacilityError::Setting { .. })));
    }
}

#[test]
fn pictures_name_what_they_show() {
    let facility = shipped_one("order").compile().unwrap();
    let study = Study::new(2, 500.0, 50.0);
    let report = facility.study(&study).run().unwrap();
    let course = facility.course(&study, 50).unwrap();
    let pictures = [plot::numbers(&course), plot::sojourns(&course), plot::network(&facility, &report)]
        .map(Result::unwrap);
    for svg in &pictures {
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for name in ["books", "records", "packing", "picking"] {
            assert!(svg.contains(name), "{name}");
        }
    }
    assert!(pictures[2].contains("orders") && pictures[2].contains("busy 0."));
    // Colours by utilisation: an idle station has another colour than a busy one.
    let fills = |arrivals: f64| {
        let network = Network::new("one")
            .source("in", Source::new(Distribution::Constant(arrivals), "s"))
            .station("s", Station::new(Distribution::Constant(1.0), "out"))
            .sink("out");
        let facility = network.compile().unwrap();
        let report = facility.study(&study).run().unwrap();
        let svg = plot::network(&facility, &report).unwrap();
        let at = svg.find("<rect x=\"210\"").unwrap_or_else(|| panic!("{svg}"));
        svg[at..].split("fill=\"").nth(1).unwrap()[..7].to_owned()
    };
    assert_ne!(fills(1.25), fills(10.0));
    // No customer left, and too many nodes.
    let short = study.until(1e-3).warm_up(0.0);
    let course = facility.course(&short, 5).unwrap();
    assert!(matches!(plot::sojourns(&course), Err(FacilityError::Plot { .. })));
    plot::numbers(&course).unwrap();
    let mut many = Network::new("many");
    for number in 0..=plot::MOST_NODES {
        let next = format!("s{}", (number + 1) % (plot::MOST_NODES + 1));
        let station = Station::new(Distribution::Exponential(1.0), &*next).with_population(1);
        many = many.station(&format!("s{number}"), station);
    }
    let error = plot::network(&many.compile().unwrap(), &report).unwrap_err();
    assert!(error.to_string().contains("301"), "{error}");
}
