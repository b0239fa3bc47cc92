//! Random numbers of networks: common to a network and its variants, as described in
//! docs/guide-networks.md.

use std::collections::HashMap;

use eventhorizon::Backend;
use eventhorizon::facility::{Follow, Network, Outcome, Study, Visit};

use super::common::gpu;

fn visits(text: &str) -> Vec<Visit> {
    let head = "name = \"streams\"\nticks_per_unit = 1048576\n";
    let facility = Network::from_toml(&format!("{head}{text}")).unwrap().compile_unstable().unwrap();
    facility.trace(&Study::new(7, 600.0, 0.0), Follow::first(1000)).run().unwrap()
}

/// The values of a class's visits to a node, in the order of another time.
fn of(
    visits: &[Visit],
    node: &str,
    class: &str,
    order: impl Fn(&Visit) -> Option<f64>,
    value: impl Fn(&Visit) -> Option<f64>,
) -> Vec<f64> {
    let here = visits.iter().filter(|visit| visit.node == node && visit.class == class);
    let mut found: Vec<_> = here.filter_map(|visit| Some((order(visit)?, value(visit)?))).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, value)| value).collect()
}

/// Up to the first service that had not ended with the run.
fn services(visits: &[Visit], node: &str, class: &str) -> Vec<f64> {
    let all = of(
        visits,
        node,
        class,
        |visit| visit.began,
        |visit| Some(visit.left.unwrap_or(f64::NAN) - visit.began?),
    );
    all.into_iter().take_while(|time| time.is_finite()).collect()
}

/// For customers that leave a node, in this order: the travel time to the next one, which
/// identifies the route here.
fn trips(visits: &[Visit], node: &str, class: &str) -> Vec<f64> {
    let next = |visit: &Visit| {
        let mine = visits.iter().filter(|other| other.customer == visit.customer && other.node != node);
        mine.map(|other| other.arrived).find(|&arrived| Some(arrived) >= visit.left)
    };
    let all = of(
        visits,
        node,
        class,
        |visit| visit.left,
        |visit| Some(next(visit).unwrap_or(f64::NAN) - visit.left?),
    );
    all.into_iter().take_while(|time| time.is_finite()).collect()
}

fn arrivals(visits: &[Visit], node: &str, class: &str) -> Vec<f64> {
    of(visits, node, class, |visit| Some(visit.arrived), |visit| Some(visit.arrived))
}

/// Checks that the first values of both, of which there are many, are equal.
#[track_caller]
fn common(a: &[f64], b: &[f64]) {
    let count = a.len().min(b.len());
    assert!(count > 50, "{count}");
    assert_eq!(a[..count], b[..count]);
}

const BASE: &str = "classes = [\"light\", \"severe\"]
[source.light]
interarrival = { exponential = 2 }
class = \"light\"
to = \"desk\"
[source.severe]
interarrival = { exponential = 3 }
class = \"severe\"
to = \"desk\"
[station.desk]
service = { exponential = 1 }
to = [{ node = \"ward\", probability = 0.5, travel = { exponential = 4 } }, \"home\"]
[delay.ward]
time = { exponential = 5 }
to = \"home\"
[sink.home]
";

#[test]
fn services_and_arrivals_are_the_same_whatever_servers_and_lines_there_are() {
    let base = visits(BASE);
    for (from, to) in [
        ("[station.desk]", "[station.desk]\nservers = 3"),
        ("[station.desk]", "[station.desk]\ndiscipline = \"priority\""),
        ("[station.desk]", "[station.desk]\npatience = { exponential = 2 }"),
        ("[station.desk]", "[station.desk]\ncapacity = 3"),
        (
            "[station.desk]",
            "[station.desk]\nbreakdown = { up = { exponential = 9 }, down = { exponential = 2 } }",
        ),
        ("time = { exponential = 5 }", "time = { uniform = [1, 2] }"),
    ] {
        let other = visits(&BASE.replace(from, to));
        for class in ["light", "severe"] {
            common(&arrivals(&base, "desk", class), &arrivals(&other, "desk", class));
            // A repair that interrupts a service makes it longer.
            if !to.contains("breakdown") {
                common(&services(&base, "desk", class), &services(&other, "desk", class));
            }
        }
    }
}

#[test]
fn a_class_draws_the_same_numbers_without_the_other() {
    let base = visits(BASE);
    let start = BASE.find("[source.severe]").unwrap();
    let end = BASE.find("[station.desk]").unwrap();
    let alone = format!("{}{}", &BASE[..start], &BASE[end..]).replace(", \"severe\"", "");
    let alone = visits(&alone);
    common(&arrivals(&base, "desk", "light"), &arrivals(&alone, "desk", "light"));
    common(&services(&base, "desk", "light"), &services(&alone, "desk", "light"));
}

#[test]
fn ways_and_times_of_travel_are_numbered_by_departures() {
    // The fifth customer to leave the desk takes the same route with the same travel time,
    // whichever customer it is.
    let base = visits(BASE);
    let variant = |from, to| visits(&BASE.replace(from, to));
    for other in [
        variant("service = { exponential = 1 }", "service = { uniform = [0, 1] }"),
        variant("[station.desk]", "[station.desk]\ndiscipline = \"lifo\""),
    ] {
        for class in ["light", "severe"] {
            let [trips, others] = [&base, &other].map(|visits| trips(visits, "desk", class));
            assert!(trips.contains(&0.0) && trips.iter().any(|&time| time > 4.0));
            assert!(trips.len().min(others.len()) > 50);
            // Up to rounding of a difference of times.
            assert!(trips.iter().zip(&others).all(|(a, b)| (a - b).abs() < 1e-9), "{class}");
        }
    }
    // An additional route changes neither the services before it nor those of customers on other
    // routes.
    let more = BASE.replace("probability = 0.5", "probability = 0.25").replace(
        "\"home\"]\n[delay.ward]",
        "{ node = \"ward\", probability = 0.25 }, \"home\"]\n[delay.ward]",
    );
    common(&services(&visits(BASE), "desk", "light"), &services(&visits(&more), "desk", "light"));
}

#[test]
fn draws_of_a_kind_are_independent_of_those_of_another() {
    let base = visits(BASE);
    let light = services(&base, "desk", "light");
    let severe = services(&base, "desk", "severe");
    let count = light.len().min(severe.len());
    assert!((0..count).all(|k| light[k] != severe[k]));
    // Three standard deviations of a correlation of independent values.
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let (a, b) = (mean(&light[..count]), mean(&severe[..count]));
    let moment =
        |x: &[f64], a: f64, y: &[f64], b: f64| -> f64 { (0..count).map(|k| (x[k] - a) * (y[k] - b)).sum() };
    let product = moment(&light, a, &severe, b);
    let scale = (moment(&light, a, &light, a) * moment(&severe, b, &severe, b)).sqrt();
    assert!((product / scale).abs() < 3.0 / (count as f64).sqrt());
}

#[test]
fn who_waits_elsewhere_for_room_draws_its_patience_once() {
    let of = |capacity: u32, place: Backend<'_>| {
        let text = format!(
            "name = \"guests\"\nticks_per_unit = 1048576\n[source.in]\ninterarrival = {{ exponential = 1 }}\nto = \"before\"\n\
             [delay.before]\ntime = {{ constant = 1 }}\nto = \"desk\"\n[station.desk]\nservice = {{ exponential = 1.5 }}\n\
             patience = {{ exponential = 4 }}\ncapacity = {capacity}\nwhen_full = \"block\"\nto = \"out\"\n[sink.out]\n"
        );
        let facility = Network::from_toml(&text).unwrap().compile_unstable().unwrap();
        facility.trace(&Study::new(7, 600.0, 0.0), Follow::first(1000)).backend(place).run().unwrap()
    };
    // Customers arrive at the desk in one order, for any capacity.
    let patience = |visits: &[Visit]| -> HashMap<u32, f64> {
        let gone = visits.iter().filter(|visit| visit.node == "desk" && visit.outcome == Outcome::Reneged);
        gone.map(|visit| (visit.customer, visit.left.unwrap() - visit.arrived)).collect()
    };
    let narrow = of(2, Backend::Cpu);
    let waited = narrow.iter().filter(|visit| visit.node == "before" && visit.left.is_some());
    assert!(waited.filter(|visit| visit.left.unwrap() - visit.arrived > 1.5).count() > 50);
    let gpu = gpu();
    assert_eq!(narrow, of(2, Backend::Gpu(&gpu)));
    let (narrow, wide) = (patience(&narrow), patience(&of(50, Backend::Cpu)));
    let both: Vec<_> = narrow.iter().filter_map(|(who, time)| Some((time, wide.get(who)?))).collect();
    assert!(both.len() > 10, "{}", both.len());
    // Up to rounding of a difference of times.
    assert!(both.iter().all(|(a, b)| (*a - *b).abs() < 1e-9), "{both:?}");
}
