//! Assemblies of unlike parts: by hand, against exact chains, with patience, blocking and splits,
//! and what is refused.

use std::collections::HashMap;

use eventhorizon::Backend;
use eventhorizon::facility::{Measure, Network, Report, Study};
use eventhorizon::gpu::Gpu;
use eventhorizon::process::NetworkProcess;

use crate::networks::{agrees, network, plan, reported, row};
use crate::stations::stationary;

/// Frames and wheels from sources of their own.
fn bicycles(gaps: [&str; 2], parts: &str, settings: &str) -> String {
    format!(
        r#"
name = "bicycles"
classes = ["frame", "wheel", "bicycle"]
source.frames = {{ interarrival = {}, class = "frame", to = "fit" }}
source.wheels = {{ interarrival = {}, class = "wheel", to = "fit" }}
[sink.shop]
[station.fit]
batch = {{ parts = {{ {parts} }}, becomes = "bicycle" }}
to = "shop"
{settings}
"#,
        gaps[0], gaps[1]
    )
}

fn mean(report: &Report, node: &str, class: Option<&str>, measure: Measure) -> f64 {
    row(report, node, class, measure).mean.unwrap_or_else(|| panic!("{node} {measure}: {report}"))
}

#[track_caller]
fn close(found: f64, expected: f64, report: &Report) {
    assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}\n{report}");
}

/// Frames at 4, 8, 12 …, wheels at 1, 2, 3 …: bicycles are begun at 4, 8 … 40 and take 2.
#[test]
fn a_bicycle_by_hand() {
    let gaps = ["{ constant = 4 }", "{ constant = 1 }"];
    let time = "service = { constant = 99 }\nservice_of.bicycle = { constant = 2 }";
    let report = reported(&bicycles(gaps, "frame = 1, wheel = 4", time), &Study::new(2, 40.5, 0.5));
    let of = |class, measure| mean(&report, "fit", Some(class), measure);
    // Nine are done until 38. The frame is never alone, the wheels wait 3, 2, 1 and 0.
    close(of("bicycle", Measure::Throughput) * 40.0, 9.0, &report);
    close(of("frame", Measure::Throughput) * 40.0, 9.0, &report);
    close(of("wheel", Measure::Throughput) * 40.0, 36.0, &report);
    close(mean(&report, "fit", None, Measure::Throughput) * 40.0, 45.0, &report);
    close(of("frame", Measure::Wait), 0.0, &report);
    close(of("wheel", Measure::Wait), 1.5, &report);
    close(of("frame", Measure::Sojourn), 2.0, &report);
    close(of("wheel", Measure::Sojourn), 3.5, &report);
    // Little's law, with the tenth bicycle, whose parts are there for 0.5, and its wheels since 37.
    close(of("frame", Measure::Number) * 40.0, 9.0 * 2.0 + 0.5, &report);
    close(of("wheel", Measure::Number) * 40.0, 36.0 * 3.5 + 8.0, &report);
    close(of("wheel", Measure::Queue) * 40.0, 40.0 * 1.5, &report);
    close(of("frame", Measure::Utilisation) * 40.0, 18.5, &report);
    close(of("wheel", Measure::Utilisation) * 40.0, 0.0, &report);
    // A bicycle is as old as its frame, and all that leave arrive.
    close(mean(&report, "shop", Some("bicycle"), Measure::Sojourn), 2.0, &report);
    close(mean(&report, "shop", Some("bicycle"), Measure::Throughput) * 40.0, 9.0, &report);
    let all = of("frame", Measure::Number) + of("wheel", Measure::Number);
    close(mean(&report, "(network)", None, Measure::Number), all, &report);

    // As old as its first wheel, if that is the first part; and without time.
    let report = reported(
        &bicycles(gaps, "wheel = 4, frame = 1", "service = { constant = 0 }"),
        &Study::new(2, 40.5, 0.5),
    );
    close(mean(&report, "shop", Some("bicycle"), Measure::Sojourn), 3.0, &report);
    close(mean(&report, "shop", Some("bicycle"), Measure::Throughput) * 40.0, 10.0, &report);
    close(mean(&report, "fit", Some("wheel"), Measure::Sojourn), 1.5, &report);
    close(mean(&report, "fit", Some("frame"), Measure::Number), 0.0, &report);
}

/// All states that can be reached, with the rates from each, and their stationary probabilities.
fn explored<const N: usize>(
    begin: [u32; N],
    next: impl Fn([u32; N]) -> Vec<([u32; N], f64)>,
) -> Vec<([u32; N], f64)> {
    let (mut states, mut known, mut rates) = (vec![begin], HashMap::from([(begin, 0)]), Vec::new());
    while rates.len() < states.len() {
        let mut of = Vec::new();
        for (to, rate) in next(states[rates.len()]) {
            let place = *known.entry(to).or_insert_with(|| {
                states.push(to);
                states.len() - 1
            });
            of.push((place, rate));
        }
        rates.push(of);
    }
    states.into_iter().zip(stationary(&rates)).collect()
}

/// The mean of a function of the state.
fn average<const N: usize>(of: &[([u32; N], f64)], value: impl Fn([u32; N]) -> f64) -> f64 {
    of.iter().map(|&(state, p)| p * value(state)).sum()
}

/// Two Poisson flows into bounded lines, and two fitters: the chain of the numbers that wait and of
/// the busy fitters.
#[test]
fn two_flows_with_bounded_lines_agree_with_their_chain() {
    let (flows, takes, rooms, fitters) = ([1.0, 2.5], [1, 2], [4, 7], 2);
    let settled = |[frames, wheels, busy]: [u32; 3]| {
        let begins = (fitters - busy).min(frames / takes[0]).min(wheels / takes[1]);
        [frames - takes[0] * begins, wheels - takes[1] * begins, busy + begins]
    };
    let present = |state: [u32; 3], part: usize| state[part] + takes[part] * state[2];
    let chain = explored([0, 0, 0], |state| {
        let arrives = |part: usize| {
            let mut to = state;
            to[part] += 1;
            (settled(to), flows[part])
        };
        let mut next: Vec<_> =
            (0..2).filter(|&part| present(state, part) < rooms[part]).map(arrives).collect();
        if state[2] > 0 {
            next.push((settled([state[0], state[1], state[2] - 1]), f64::from(state[2])));
        }
        next
    });
    let text = bicycles(
        ["{ exponential = 1 }", "{ exponential = 0.4 }"],
        "frame = 1, wheel = 2",
        "servers = 2\nservice_of.bicycle = { exponential = 1 }\ncapacity_of = { frame = 4, wheel = 7 }",
    );
    let report = reported(&text, &plan(60, 3000.0, 100.0));
    let made = average(&chain, |state| state[2].into());
    for (part, class) in ["frame", "wheel"].into_iter().enumerate() {
        let line = average(&chain, |state| state[part].into());
        let full = average(&chain, |state| f64::from(u8::from(present(state, part) == rooms[part])));
        let through = made * f64::from(takes[part]);
        agrees(&report, ("fit", Some(class), Measure::Queue), line);
        agrees(&report, ("fit", Some(class), Measure::Number), line + through);
        agrees(&report, ("fit", Some(class), Measure::Loss), full);
        agrees(&report, ("fit", Some(class), Measure::Throughput), through);
        // Little's law.
        agrees(&report, ("fit", Some(class), Measure::Wait), line / through);
    }
    agrees(&report, ("fit", Some("bicycle"), Measure::Throughput), made);
    agrees(&report, ("fit", Some("frame"), Measure::Utilisation), made / 2.0);
    agrees(&report, ("shop", Some("bicycle"), Measure::Throughput), made);
}

/// Two machines without lines before an assembly: each waits for room for its own part.
#[test]
fn machines_wait_for_room_for_their_own_part() {
    let (flows, machines, rooms) = ([1.0, 1.5], [1.25, 2.0], [2, 3]);
    // Of a machine: idle, busy or blocked. In line at the assembly; whether it is busy.
    let settled = |[a, b, frames, wheels, busy]: [u32; 5]| {
        let (mut machine, mut line, mut busy) = ([a, b], [frames, wheels], busy);
        for part in 0..2 {
            if machine[part] == 2 && line[part] + busy < rooms[part] {
                machine[part] = 0;
                line[part] += 1;
            }
        }
        if busy == 0 && line[0] > 0 && line[1] > 0 {
            (busy, line) = (1, line.map(|waiting| waiting - 1));
        }
        [machine[0], machine[1], line[0], line[1], busy]
    };
    let chain = explored([0; 5], |state| {
        let mut next = Vec::new();
        for part in 0..2 {
            let mut to = state;
            to[part] += 1;
            match state[part] {
                0 => next.push((settled(to), flows[part])),
                1 => next.push((settled(to), machines[part])),
                _ => {}
            }
        }
        if state[4] == 1 {
            next.push((settled([state[0], state[1], state[2], state[3], 0]), 1.0));
        }
        next
    });
    let text = r#"
name = "line"
classes = ["frame", "wheel", "bicycle"]
source.tubes = { interarrival = { exponential = 1 }, class = "frame", to = "weld" }
source.rims = { interarrival = { exponential = 0.6666666667 }, class = "wheel", to = "spoke" }
station.weld = { service = { exponential = 0.8 }, capacity = 1, to = "fit" }
station.spoke = { service = { exponential = 0.5 }, capacity = 1, to = "fit" }
sink.shop = {}
[station.fit]
batch = { parts = { frame = 1, wheel = 1 }, becomes = "bicycle" }
service = { exponential = 1 }
capacity = 2
capacity_of = { wheel = 3 }
when_full = "block"
to = "shop"
"#;
    let report = reported(text, &plan(60, 3000.0, 100.0));
    for (part, station) in ["weld", "spoke"].into_iter().enumerate() {
        let is = |value: u32| average(&chain, |state| f64::from(u8::from(state[part] == value)));
        agrees(&report, (station, None, Measure::Blocked), is(2));
        agrees(&report, (station, None, Measure::Busy), is(1));
    }
    agrees(&report, ("fit", Some("wheel"), Measure::Queue), average(&chain, |state| state[3].into()));
    agrees(&report, ("shop", Some("bicycle"), Measure::Throughput), average(&chain, |state| state[4].into()));
}

/// Frames come at the rate 1, and each finds a wheel at once or leaves after an exponential time;
/// likewise wheels: the difference of both is a chain of births and deaths.
#[test]
fn a_part_that_waits_may_leave() {
    const MOST: i32 = 60;
    let mut weights = vec![1.0; 2 * MOST as usize + 1];
    let up = |at: i32| 1.0 + 0.5 * f64::from((-at).max(0));
    let down = |at: i32| 1.5 + 0.5 * f64::from(at.max(0));
    for at in -MOST..MOST {
        let place = (at + MOST) as usize;
        weights[place + 1] = weights[place] * up(at) / down(at + 1);
    }
    let all: f64 = weights.iter().sum();
    let line = |sign: i32| {
        let waiting = (-MOST..=MOST).map(|at| weights[(at + MOST) as usize] * f64::from((sign * at).max(0)));
        waiting.sum::<f64>() / all
    };
    let text = bicycles(
        ["{ exponential = 1 }", "{ exponential = 0.6666666667 }"],
        "frame = 1, wheel = 1",
        "service = { constant = 0 }\npatience = { exponential = 2 }",
    );
    let report = reported(&text, &plan(60, 3000.0, 100.0));
    agrees(&report, ("fit", Some("frame"), Measure::Number), line(1));
    agrees(&report, ("fit", Some("wheel"), Measure::Number), line(-1));
    agrees(&report, ("fit", Some("frame"), Measure::Reneged), 0.5 * line(1));
    agrees(&report, ("shop", Some("bicycle"), Measure::Throughput), 1.0 - 0.5 * line(1));
}

/// Of one class, an assembly is a batch that joins; here of customers that become several.
#[test]
fn an_assembly_of_one_class_is_a_batch_that_joins() {
    let text = |batch: &str| {
        format!(
            r#"
name = "boxes"
classes = ["piece", "box"]
source.in = {{ interarrival = {{ exponential = 1 }}, to = "pack" }}
source.other = {{ interarrival = {{ exponential = 9 }}, class = "box", to = "out" }}
station.pack = {{ service = {{ exponential = 2 }}, batch = {batch}, splits = 2, capacity = 9, to = [{{ node = "open", becomes = "box" }}] }}
station.open = {{ service = {{ exponential = 0.5 }}, to = "out" }}
sink.out = {{}}
"#
        )
    };
    let study = plan(8, 500.0, 50.0);
    let parts = reported(&text("{ parts = { piece = 3 }, becomes = \"box\" }"), &study);
    let joins = reported(&text("{ most = 3, joins = true }"), &study);
    for (node, class) in [("pack", "piece"), ("open", "box"), ("out", "box")] {
        for row in parts.rows.iter().filter(|row| row.node == node && row.class.as_deref() == Some(class)) {
            let other = joins.row(node, Some(class), row.measure).unwrap();
            assert_eq!(row.mean, other.mean, "{node} {}", row.measure);
        }
    }
    let made = mean(&parts, "pack", Some("box"), Measure::Throughput);
    close(made, mean(&joins, "pack", Some("piece"), Measure::Throughput) / 3.0, &parts);
}

#[test]
fn what_is_no_assembly_is_refused() {
    let gaps = ["{ exponential = 4 }", "{ exponential = 1 }"];
    let error = |network: &Network| NetworkProcess::new(network).unwrap_err().to_string();
    let refused = |parts: &str, settings: &str, words: [&str; 2]| {
        let settings = format!("service = {{ exponential = 1 }}\n{settings}");
        let error = error(&network(&bicycles(gaps, parts, &settings)));
        assert!(words.iter().all(|word| error.contains(word)), "{parts} {settings}: {error}");
    };
    let bounded = "capacity = 9";
    refused("frame = 1", bounded, ["`fit`", "`wheel`; lead them elsewhere"]);
    refused("frame = 1, wheel = 4, bicycle = 1", bounded, ["`bicycle`", "no customer of this class"]);
    refused("frame = 1, wheel = 0", bounded, ["0 `wheel`", "at least 1"]);
    refused("frame = 1, tyre = 2", bounded, ["`tyre`", "frame, wheel, bicycle"]);
    refused("frame = 1, wheel = 4", "capacity = 3", ["3 for `wheel`", "room for 4"]);
    refused("frame = 1, wheel = 4", "when_full = \"block\"", ["`when_full`", "capacity"]);
    refused("frame = 1, wheel = 4", "population_of = { wheel = 5 }\ncapacity = 4", ["population", "5"]);
    refused(
        "frame = 1, wheel = 4",
        "service_of.wheel = { exponential = 1 }",
        ["`wheel`", "service_of.bicycle"],
    );
    refused("frame = 1, wheel = 4", "discipline = \"lifo\"\ncapacity = 9", ["`fit`", "`fifo`"]);
    let region = "capacity = 9\n[region.hall]\nnodes = [\"fit\"]\ncapacity = 20";
    refused("frame = 1, wheel = 4", region, ["`fit`", "wait outside for ever"]);
    // Lines of parts that only chance brings together grow without end.
    refused("frame = 1, wheel = 4", "", ["customers come to `fit` 1.000 times", "capacity"]);
    refused("frame = 1, wheel = 8", "capacity_of.wheel = 9", ["`frame` customers", "2.000 times"]);
    // More wheels than needed are enough.
    let enough =
        bicycles(gaps, "frame = 1, wheel = 2", "service = { exponential = 1 }\ncapacity_of.wheel = 9");
    assert!(NetworkProcess::new(&network(&enough)).is_ok());

    for (batch, words) in [
        ("parts = { a = 1 }", "`becomes`"),
        ("parts = { a = 1 }, becomes = \"a\", most = 3", "remove `least` and `most`"),
        ("most = 3, becomes = \"a\"", "without parts"),
        ("least = 1", "`most`"),
    ] {
        let text = format!(
            "name = \"n\"\nclasses = [\"a\"]\nsource.in = {{ interarrival = {{ exponential = 2 }}, to = \"s\" }}\n\
             station.s = {{ service = {{ exponential = 1 }}, batch = {{ {batch} }}, to = \"out\" }}\nsink.out = {{}}\n"
        );
        let error = error(&network(&text));
        assert!(error.contains("`s`") && error.contains(words), "{batch}: {error}");
    }
    let bare = network(
        "name = \"n\"\nsource.in = { interarrival = { exponential = 2 }, to = \"s\" }\nsink.out = {}\n\
        station.s = { service = { exponential = 1 }, capacity_of = { customer = 3 }, to = \"out\" }\n",
    );
    assert!(bare.compile().unwrap_err().to_string().contains("`capacity_of`"));
    // A task would not come back.
    let fork = network(
        r#"
name = "n"
classes = ["a", "b"]
source.in = { interarrival = { exponential = 9 }, class = "a", to = "f" }
source.other = { interarrival = { exponential = 9 }, class = "b", to = "s" }
fork.f = { tasks = ["s"], to = "out" }
station.s = { service = { exponential = 1 }, batch = { parts = { a = 1, b = 1 }, becomes = "a" }, to = "f" }
sink.out = {}
"#,
    );
    assert!(error(&fork).contains("joined or split at `s`"), "{}", error(&fork));
}

/// The rates behind an assembly are those of its scarcest part, also in a row and in a circle.
#[test]
fn rates_behind_an_assembly_follow_its_scarcest_part() {
    let text = r#"
name = "rates"
classes = ["frame", "wheel", "seat", "bicycle"]
source.frames = { interarrival = { exponential = 2 }, class = "frame", to = "first" }
source.wheels = { interarrival = { exponential = 2 }, class = "wheel", to = "first" }
source.seats = { interarrival = { exponential = 1 }, class = "seat", to = "second" }
station.first = { service = { constant = 0.1 }, capacity = 9, batch = { parts = { frame = 1, wheel = 2 }, becomes = "frame" }, to = "second" }
station.second = { service = { constant = 0.5 }, capacity = 9, batch = { parts = { frame = 1, seat = 1 }, becomes = "bicycle" }, to = "test" }
station.test = { service = { constant = 1 }, to = [{ node = "repair", probability = 0.5 }, "out"] }
station.repair = { service = { constant = 1 }, to = "test" }
sink.out = {}
"#;
    let facts = eventhorizon::process::NetworkForm::new(&network(text), &[], false).unwrap().facts();
    let node = |name: &str| facts.nodes.iter().find(|node| node.name == name).unwrap();
    let rate = |name: &str, class: &str| {
        node(name).classes.iter().find(|of| of.class == class).unwrap().rate.unwrap()
    };
    assert!((rate("second", "frame") - 0.25).abs() < 1e-9);
    assert!((rate("test", "bicycle") - 0.5).abs() < 1e-9 && (rate("out", "bicycle") - 0.25).abs() < 1e-9);
    assert!((node("second").load.unwrap() - 0.125).abs() < 1e-9);
    assert_eq!(node("second").servers, Some(1.0));
    assert_eq!(node("second").details, ["1 frame, 1 seat become bicycle"]);
}

/// On the device: the same bits.
#[test]
fn an_assembly_does_the_same_on_a_device() {
    let gpu = Gpu::new().unwrap();
    let text = bicycles(
        ["{ exponential = 1 }", "{ exponential = 0.5 }"],
        "wheel = 2, frame = 1",
        "service = { exponential = 0.8 }\ncapacity = 5\npatience_of.frame = { exponential = 3 }",
    );
    let process = NetworkProcess::new(&network(&text)).unwrap();
    let plan = process.study(&Study::new(4, 100.0, 10.0)).unwrap();
    let run = |backend| process.compiled().study(&plan).backend(backend).run().unwrap();
    let (cpu, device) = (run(Backend::Cpu), run(Backend::Gpu(&gpu)));
    assert_eq!(cpu.fingerprint, device.fingerprint);
    assert_eq!(cpu.observations[0].columns(), device.observations[0].columns());
    assert!(cpu.events > 200, "{}", cpu.events);
}

#[test]
fn the_assembly_line_that_ships_loses_no_wheel() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/networks/bicycles.toml");
    let report = reported(&std::fs::read_to_string(path).unwrap(), &Study::new(4, 10_000.0, 500.0));
    let of = |class, measure| mean(&report, "fit", Some(class), measure);
    let made = of("bicycle", Measure::Throughput);
    assert!(made > 0.04, "{report}");
    close(of("wheel", Measure::Throughput), 2.0 * made, &report);
    close(of("frame", Measure::Throughput), made, &report);
    // What the machines finish comes to the assembly, except customers that are there at the ends.
    for (station, class) in [("weld", "frame"), ("spoke", "wheel")] {
        let sent = mean(&report, station, Some(class), Measure::Throughput);
        assert!((sent - of(class, Measure::Throughput)).abs() < 7.0 / 9500.0, "{report}");
    }
}
