//! Shared servers, blocking, shortest lines, breakdowns, schedules, changing rates, balking,
//! polling, distributions, and one long run: compared with theory, or with the stationary
//! distribution of a Markov chain.

use eventhorizon::facility::{
    Delay, Discipline, Distribution, FacilityError, Link, Measure, Network, Report, Route, Source, Station,
    Study,
};

use super::shipped_one;
use super::theory::covered;

pub(crate) fn exponential(mean: f64) -> Distribution {
    Distribution::Exponential(mean)
}

pub(crate) fn studied(network: &Network, study: &Study) -> Report {
    network.compile().unwrap().study(study).run().unwrap()
}

/// Checks that an interval contains a value, with a margin.
#[track_caller]
pub(crate) fn within(report: &Report, node: &str, class: Option<&str>, measure: Measure, expected: f64) {
    let row = report.row(node, class, measure).unwrap_or_else(|| panic!("{node} {measure}\n{report}"));
    let (mean, half_width) = (row.mean.unwrap(), row.half_width.unwrap());
    assert!(
        (mean - expected).abs() <= 2.0 * half_width,
        "{node} {measure}: {mean} ± {half_width}, not {expected}"
    );
    assert!(
        half_width < 0.15 * expected.abs() + 0.01,
        "{node} {measure}: {mean} ± {half_width} says nothing"
    );
}

/// The stationary distribution of a Markov chain: rates from state to state.
fn stationary(states: usize, rates: &[(usize, usize, f64)]) -> Vec<f64> {
    let mut out = vec![0.0; states];
    rates.iter().for_each(|&(from, _, rate)| out[from] += rate);
    let fastest = 1.01 * out.iter().copied().fold(0.0, f64::max);
    let mut share = vec![1.0 / states as f64; states];
    for _ in 0..6000 {
        let mut next: Vec<f64> =
            share.iter().zip(&out).map(|(share, out)| share * (1.0 - out / fastest)).collect();
        rates.iter().for_each(|&(from, to, rate)| next[to] += share[from] * rate / fastest);
        share = next;
    }
    share
}

#[test]
fn of_servers_that_are_shared_only_means_count() {
    for law in [
        Distribution::Constant(0.7),
        Distribution::Hyperexponential { probability: 0.9, first: 0.3, second: 4.3 },
    ] {
        let mut network = Network::new("M/G/1-PS")
            .with_classes(&["a", "b"])
            .source("first", Source::new(exponential(2.0), "server"))
            .source("second", Source::new(exponential(4.0), "server").of("b"))
            .station(
                "server",
                Station::new(law, "out")
                    .with_service_of("b", exponential(1.4))
                    .with_discipline(Discipline::Sharing),
            )
            .sink("out");
        let report = studied(&network, &Study::new(24, 4500.0, 500.0).seed(3));
        let (inside, all, furthest, which) = covered(&report);
        assert!(all >= 12 && furthest < 2.5 && inside * 4 >= all * 3, "{which}\n{report}");
        assert_eq!(
            report
                .row("server", Some("a"), Measure::Sojourn)
                .unwrap()
                .theory
                .map(|time| (time * 1e6).round()),
            Some(2_333_333.0)
        );
        // Two servers; a customer uses at most one, so with exponential times it is M/M/2.
        network = Network::new("M/M/2-PS")
            .source("in", Source::new(exponential(1.0), "server"))
            .station(
                "server",
                Station::new(exponential(1.5), "out").with_servers(2).with_discipline(Discipline::Sharing),
            )
            .sink("out");
        let report = studied(&network, &Study::new(16, 4000.0, 500.0));
        let (_, all, furthest, which) = covered(&report);
        assert!(all >= 5 && furthest < 2.5, "{which}\n{report}");
    }
}

#[test]
fn shares_are_exact() {
    // A customer that takes 3 arrives at 0, one that takes 1 at 1: they share from 1 to 3, and the
    // first is done at 4.
    let source =
        |at: f64, class: &str| Source::new(Distribution::Uniform([at, at + 1.0 / 512.0]), "server").of(class);
    let network = Network::new("two")
        .with_classes(&["long", "short"])
        .source("a", source(10.0, "long"))
        .source("b", source(11.0, "short"))
        .station(
            "server",
            Station::new(Distribution::Constant(3.0), "out")
                .with_service_of("short", Distribution::Constant(1.0))
                .with_discipline(Discipline::Sharing),
        )
        .sink("out");
    let report = studied(&network, &Study::new(2, 15.0, 0.0));
    let time = |class| report.row("server", Some(class), Measure::Sojourn).unwrap().mean.unwrap();
    assert!((time("long") - 4.0).abs() < 1e-5, "{report}");
    assert!((time("short") - 2.0).abs() < 0.01, "{report}");
}

#[test]
fn polling_keeps_what_kleinrock_says() {
    let network = shipped_one("polling");
    let report = studied(&network, &Study::new(32, 6000.0, 500.0));
    let row = |class, measure| report.row("crane", Some(class), measure).unwrap().mean.unwrap();
    // The loads times the waits sum to the load times the wait of a single line,
    // W = R / (1 - load), with R half the rates times the second moments.
    let found: f64 = ["north", "south", "west"]
        .map(|class| row(class, Measure::Utilisation) * row(class, Measure::Wait))
        .iter()
        .sum();
    let load = 2.0 / 6.0 + 3.0 / 12.0 + 5.0 / 24.0;
    let rest = 0.5 * (8.0 / 6.0 + 12.0 / 12.0 + (25.0 + 1.0 / 3.0) / 24.0);
    let expected = load * rest / (1.0 - load);
    assert!((found / expected - 1.0).abs() < 0.08, "{found} {expected}");
    // Customers at busier sites wait less: the crane is there more often.
    assert!(row("north", Measure::Wait) < row("west", Measure::Wait), "{report}");
}

#[test]
fn who_finds_no_room_keeps_his_server() {
    // Two machines without a buffer, and always work for the first: each is in one of three states
    // a third of the time.
    let network = Network::new("saturated")
        .station("first", Station::new(exponential(1.0), "second").with_population(6))
        .station("second", Station::new(exponential(1.0), "first").with_capacity(1).blocking());
    let report = studied(&network, &Study::new(16, 3000.0, 100.0));
    within(&report, "second", Some("customer"), Measure::Throughput, 2.0 / 3.0);
    within(&report, "second", Some("customer"), Measure::Utilisation, 2.0 / 3.0);
    within(&report, "first", None, Measure::Blocked, 1.0 / 3.0);
    within(&report, "first", None, Measure::Busy, 2.0 / 3.0);
    within(&report, "first", Some("customer"), Measure::Utilisation, 1.0);
    assert!(report.row("second", Some("customer"), Measure::Loss).is_none(), "no source sends there");
    // Arrivals from a source are lost if the station is full: M/M/1/3.
    let network = Network::new("M/M/1/3")
        .source("in", Source::new(exponential(1.0), "server"))
        .station("server", Station::new(exponential(1.0), "out").with_capacity(3).blocking())
        .sink("out");
    within(
        &studied(&network, &Study::new(16, 2000.0, 100.0)),
        "server",
        Some("customer"),
        Measure::Loss,
        0.25,
    );
}

#[test]
fn stations_that_wait_for_each_other_are_named() {
    let station =
        |to: &str| Station::new(exponential(1.0), to).with_capacity(1).blocking().with_population(1);
    let network = Network::new("deadlock")
        .source("in", Source::new(exponential(5.0), "bystander"))
        .station("a", station("b"))
        .station("b", station("a"))
        .station("bystander", Station::new(exponential(1.0), "out"))
        .sink("out");
    let error = network.compile().unwrap().study(&Study::new(2, 100.0, 1.0)).run().unwrap_err();
    assert!(
        matches!(&error, FacilityError::Deadlock { nodes, replication: 0 } if nodes == "`a`, `b`"),
        "{error}"
    );
    // With a capacity of one more there is no deadlock.
    let network =
        Network::new("no deadlock").station("a", station("b").with_capacity(2)).station("b", station("a"));
    studied(&network, &Study::new(4, 100.0, 1.0));
    // Nor if a customer in a line will lose its patience while all servers are blocked and it waits
    // at `b`. (From 1 to 50 no customer moves.)
    let constant = Distribution::Constant;
    let network = |patience: Option<f64>| {
        let second = Station::new(constant(1.0), "a").with_capacity(2).blocking().with_population(2);
        Network::new("patience")
            .station("a", Station::new(constant(1.0), "b").with_capacity(1).blocking().with_population(1))
            .station("b", patience.map_or(second.clone(), |time| second.with_patience(constant(time))))
    };
    let study = Study::new(1, 40.0, 0.0);
    let error = network(None).compile().unwrap().study(&study).run().unwrap_err();
    assert!(matches!(&error, FacilityError::Deadlock { nodes, .. } if nodes == "`a`, `b`"), "{error}");
    studied(&network(Some(50.0)), &study);
    let report = studied(&network(Some(50.0)), &Study::new(1, 80.0, 0.0));
    let reneged = report.row("b", Some("customer"), Measure::Reneged).unwrap().mean.unwrap();
    assert!(
        reneged > 0.0 && report.row("b", Some("customer"), Measure::Throughput).unwrap().mean.unwrap() > 0.2
    );
}

#[test]
fn the_shortest_of_two_lines() {
    let network = Network::new("shortest")
        .source("in", Source::new(exponential(0.625), "choice"))
        .router("choice", Route::shortest(&["a", "b"]))
        .station("a", Station::new(exponential(1.0), "out"))
        .station("b", Station::new(exponential(1.0), "out"))
        .sink("out");
    // Of equal lines the first is chosen: numbers at a and b up to 29.
    let (most, mut rates) = (30, Vec::new());
    for (a, b) in (0..most).flat_map(|a| (0..most).map(move |b| (a, b))) {
        let state = a * most + b;
        if a <= b && a + 1 < most {
            rates.push((state, state + most, 1.6));
        } else if b < a && b + 1 < most {
            rates.push((state, state + 1, 1.6));
        }
        if a > 0 {
            rates.push((state, state - most, 1.0));
        }
        if b > 0 {
            rates.push((state, state - 1, 1.0));
        }
    }
    let share = stationary(most * most, &rates);
    let mean = |of: &dyn Fn(usize) -> usize| {
        share.iter().enumerate().map(|(state, share)| of(state) as f64 * share).sum::<f64>()
    };
    let report = studied(&network, &Study::new(24, 3000.0, 200.0));
    within(&report, "a", Some("customer"), Measure::Number, mean(&|state| state / most));
    within(&report, "b", Some("customer"), Measure::Number, mean(&|state| state % most));
}

#[test]
fn breakdowns_and_balking_are_markov_chains() {
    let network = Network::new("breakdowns")
        .source("in", Source::new(exponential(1.0), "server"))
        .station(
            "server",
            Station::new(exponential(0.5), "out").with_breakdowns(exponential(8.0), exponential(2.0)),
        )
        .sink("out");
    let (most, mut rates) = (120, Vec::new());
    for n in 0..most {
        let (up, down) = (2 * n, 2 * n + 1);
        rates.extend([(up, down, 0.125), (down, up, 0.5)]);
        if n + 1 < most {
            rates.extend([(up, up + 2, 1.0), (down, down + 2, 1.0)]);
        }
        if n > 0 {
            rates.push((up, up - 2, 2.0));
        }
    }
    let share = stationary(2 * most, &rates);
    let number: f64 = share.iter().enumerate().map(|(state, share)| (state / 2) as f64 * share).sum();
    let report = studied(&network, &Study::new(24, 4000.0, 300.0));
    within(&report, "server", Some("customer"), Measure::Number, number);
    // Availability 8 / (8 + 2); a service of 0.5 is interrupted 0.5 / 8 times, for 2 each.
    within(&report, "server", None, Measure::Down, 0.2);
    within(&report, "server", None, Measure::Busy, 0.5);
    within(&report, "server", Some("customer"), Measure::Utilisation, 0.625);
    assert_eq!(report.row("server", None, Measure::Down).unwrap().theory, Some(0.2));

    let leaves = [0.0, 0.25, 0.5, 0.75];
    let network = Network::new("balking")
        .source("in", Source::new(exponential(1.0), "server"))
        .station("server", Station::new(exponential(1.0), "out").with_balking(&leaves))
        .sink("out");
    let rates: Vec<_> = (0..60).flat_map(|n| [(n, n + 1, 1.0 - leaves[n.min(3)]), (n + 1, n, 1.0)]).collect();
    let share = stationary(61, &rates);
    let report = studied(&network, &Study::new(16, 3000.0, 200.0));
    let balked: f64 = share.iter().enumerate().map(|(n, share)| share * leaves[n.min(3)]).sum();
    within(&report, "server", Some("customer"), Measure::Balked, balked);
    within(
        &report,
        "server",
        Some("customer"),
        Measure::Number,
        share.iter().enumerate().map(|(n, share)| n as f64 * share).sum(),
    );
}

#[test]
fn what_changes_with_time() {
    // M/M/infinity: the mean arrival rate times the mean service.
    let network = Network::new("day and night")
        .source(
            "in",
            Source::new(exponential(0.5), "hall").with_rates(&[(10.0, 1.0), (5.0, 0.2), (5.0, 0.0)]),
        )
        .delay("hall", Delay::new(Distribution::Uniform([1.0, 3.0]), "out"))
        .sink("out");
    let report = studied(&network, &Study::new(24, 2200.0, 200.0));
    within(&report, "in", Some("customer"), Measure::Throughput, 1.1);
    within(&report, "hall", Some("customer"), Measure::Number, 2.2);
    // No randomness: a customer arrives every 10, and takes 3. From 20 to 40 there is no server.
    let network = Network::new("shifts")
        .source("in", Source::new(Distribution::Constant(10.0), "desk"))
        .station(
            "desk",
            Station::new(Distribution::Constant(3.0), "out").with_schedule(&[(25.0, 1), (15.0, 0)]),
        )
        .sink("out");
    let report = network.compile_unstable().unwrap().study(&Study::new(2, 80.0, 0.0)).run().unwrap();
    let row = |measure| report.row("desk", Some("customer"), measure).unwrap().mean.unwrap();
    // Arrivals at 10 … 70; those of 30 and 40 begin service at 40 and 43 (that of 70 waits until
    // the end).
    assert_eq!(row(Measure::Wait), (10.0 + 3.0) / 6.0);
    assert_eq!(row(Measure::Utilisation), 18.0 / 50.0);
    // From 25 to 40 there is no server, so no share of servers can be busy.
    let facility = network.compile_unstable().unwrap();
    let report = facility.study(&Study::new(2, 40.0, 25.0)).run().unwrap();
    assert_eq!(report.row("desk", Some("customer"), Measure::Utilisation).unwrap().mean, None);
    assert!(matches!(&report.warnings[..], [one] if one.contains("utilisation at `desk`")), "{report}");
    // No customer waits in the first of eight parts.
    let report = facility.long_run(&Study::new(1, 80.0, 0.0), 8).run().unwrap();
    assert_eq!(report.row("desk", Some("customer"), Measure::Wait).unwrap().mean, None);
    assert!(report.warnings.iter().any(|one| one.starts_with("wait at `desk` is not reported")), "{report}");
}

#[test]
fn quantiles_that_no_bin_bounds_are_not_told() {
    // A unit of the histogram is a tick, and its bins end at 4,096.
    let mut network = Network::new("quick and long")
        .source("in", Source::new(Distribution::Constant(1000.0), "quick"))
        .station("quick", Station::new(Distribution::Constant(1.0 / 65536.0), "long"))
        .delay("long", Delay::new(Distribution::Constant(5000.0), "out"))
        .sink("out");
    network.ticks_per_unit = Some(1 << 20);
    let report = studied(&network, &Study::new(2, 20_000.0, 0.0).details(true));
    let row = |node, measure| report.row(node, Some("customer"), measure).unwrap();
    assert_eq!(row("quick", Measure::WaitQuantile(99)).mean, Some(0.0), "no customer waits");
    assert!(row("quick", Measure::SojournQuantile(50)).mean.unwrap() > 9e-6);
    assert_eq!(row("long", Measure::SojournQuantile(50)).mean, None);
    assert!(report.warnings.iter().any(|one| one.starts_with("sojourn_50 at `long`")), "{report}");
}

#[test]
fn a_quantile_stands_beside_the_width_of_its_bin() {
    let network = Network::new("constant")
        .source("in", Source::new(Distribution::Constant(2.0), "server"))
        .station("server", Station::new(Distribution::Constant(1.0), "out"))
        .sink("out");
    let report = studied(&network, &Study::new(2, 2000.0, 0.0).details(true));
    let row = |measure| report.row("server", Some("customer"), measure).unwrap();
    for percent in [50, 90, 95, 99] {
        let row = row(Measure::SojournQuantile(percent));
        let (mean, width) = (row.mean.unwrap(), row.resolution.unwrap());
        assert!(mean > 1.0 && mean - 1.0 <= width && width <= mean / 16.0, "{mean} {width}");
        let printed = format!("to {:.1} %", 100.0 * width / mean);
        assert!(report.to_string().lines().any(|line| line.ends_with(&printed)), "{report}");
    }
    // No customer waits: the first bin starts at 0.
    let wait = row(Measure::WaitQuantile(50));
    let width = wait.resolution.unwrap();
    assert!(wait.mean == Some(0.0) && width > 0.0 && width <= 1.0 / 64.0, "{width}");
    assert_eq!(row(Measure::Sojourn).resolution, None);
    let mut csv = Vec::new();
    report.to_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.lines().next().unwrap().ends_with(",upper,resolution,up_to"), "{csv}");
    assert!(
        csv.lines().any(|line| line.contains("wait_50") && line.ends_with(&format!(",{width},"))),
        "{csv}"
    );
    assert!(report.to_string().lines().nth(1).unwrap().ends_with("theory  resolution"), "{report}");
    let plain = studied(&network, &Study::new(2, 2000.0, 0.0));
    assert!(!plain.to_string().contains("resolution"), "{plain}");
}

#[test]
fn the_clock_of_shares_is_not_left() {
    let mut network = Network::new("shares")
        .source("in", Source::new(exponential(2.0), "server"))
        .station("server", Station::new(exponential(1.0), "out").with_discipline(Discipline::Sharing))
        .sink("out");
    network.ticks_per_unit = Some(1 << 20);
    let facility = network.compile().unwrap();
    let (until, study) = (2e8, Study::new(1, 2e8, 0.0));
    for error in [
        facility.settles(1, until, 1).unwrap_err(),
        facility.study(&study).run().unwrap_err(),
        facility.long_run(&study, 20).run().unwrap_err(),
    ] {
        assert!(matches!(&error, FacilityError::Setting { node, .. } if node == "server"), "{error}");
    }
}

#[test]
fn distributions_are_told_to_their_bins() {
    let study = Study::new(24, 5000.0, 500.0).details(true);
    let report = studied(&shipped_one("mm1"), &study);
    for percent in [50, 90] {
        let row = report.row("server", Some("customer"), Measure::SojournQuantile(percent)).unwrap();
        within(&report, "server", Some("customer"), row.measure, row.theory.unwrap());
    }
    within(&report, "server", None, Measure::Empty, 0.2);
    let length = |customers| {
        report.lengths.iter().find(|row| row.node == "server" && row.customers == customers).unwrap()
    };
    for customers in 0..6 {
        let row = length(customers);
        let expected = 0.2 * 0.8_f64.powi(customers as i32);
        assert!((row.mean - expected).abs() < 2.5 * row.half_width.unwrap(), "{row:?} {expected}");
    }
    let all: f64 = report.lengths.iter().map(|row| row.mean).sum();
    assert!((all - 1.0).abs() < 1e-9);
    // Without randomness, the bin is known.
    let network = Network::new("clockwork")
        .with_classes(&["a", "b"])
        .source("in", Source::new(Distribution::Constant(10.0), "server").in_batches(2))
        .source("other", Source::new(Distribution::Constant(10.0), "else").of("b"))
        .station("server", Station::new(Distribution::Constant(3.0), "out"))
        .delay("else", Delay::new(Distribution::Constant(1.0), "out"))
        .sink("out");
    let report = studied(&network, &Study::new(2, 210.0, 10.0).details(true));
    let sojourn = |node, class, percent| {
        report.row(node, class, Measure::SojournQuantile(percent)).unwrap().mean.unwrap()
    };
    // One of two does not wait.
    let wait = |percent| report.row("server", Some("a"), Measure::WaitQuantile(percent)).unwrap().mean;
    assert_eq!(wait(50), Some(0.0));
    assert!((wait(90).unwrap() / 3.0 - 1.0).abs() <= 1.0 / 16.0, "{report}");
    for (node, class, percent, expected) in [
        ("server", Some("a"), 50, 3.0),
        ("server", Some("a"), 90, 6.0),
        ("out", None, 50, 3.0),
        ("out", Some("b"), 99, 1.0),
    ] {
        let found = sojourn(node, class, percent);
        assert!((found / expected - 1.0).abs() <= 1.0 / 16.0, "{node}: {found} {expected}");
    }
}

#[test]
fn a_long_run_by_batches() {
    let facility = shipped_one("mm1").compile().unwrap();
    let warm_up = facility.settles(5, 4000.0, 4).unwrap();
    assert!(warm_up <= 2000.0, "{warm_up}");
    let report = facility.long_run(&Study::new(1, 60_000.0, warm_up.max(200.0)), 20).run().unwrap();
    let (inside, all, furthest, which) = covered(&report);
    assert!(all >= 8 && furthest < 3.0 && inside * 3 >= all * 2, "{which}\n{report}");
    // The batches are parts of one run: the mean is that of the run.
    let study = Study::new(1, 60_000.0, warm_up.max(200.0)).seed(1);
    let whole = facility.study(&study).run().unwrap();
    let number =
        |report: &Report| report.row("server", Some("customer"), Measure::Number).unwrap().mean.unwrap();
    assert!((number(&report) - number(&whole)).abs() < 1e-6, "{report}{whole}");
    // A growing line has no steady state.
    let flooded = Network::new("flooded")
        .source("in", Source::new(exponential(0.5), "server"))
        .station("server", Station::new(exponential(1.0), "out"))
        .sink("out");
    let error = flooded.compile_unstable().unwrap().settles(1, 300.0, 2).unwrap_err();
    assert!(matches!(&error, FacilityError::NotSettled { node, .. } if node == "server"), "{error}");
    let error = facility.long_run(&Study::new(1, 100.0, 0.0), 3).run().unwrap_err();
    assert!(matches!(error, FacilityError::Analysis(_)), "{error}");
}

#[test]
fn what_does_not_go_together_is_refused_and_the_node_is_named() {
    let with = |station: Station| {
        Network::new("test")
            .source("in", Source::new(exponential(4.0), "server"))
            .station("server", station)
            .sink("out")
    };
    let server = || Station::new(exponential(1.0), "out");
    let shared = || server().with_discipline(Discipline::Sharing);
    let preemptive = || server().with_discipline(Discipline::Preemptive);
    let up = || exponential(5.0);
    for station in [
        shared().with_patience(up()),
        shared().with_breakdowns(up(), up()),
        shared().with_schedule(&[(5.0, 1)]),
        shared().with_capacity(3).blocking(),
        preemptive().with_breakdowns(up(), up()),
        preemptive().with_schedule(&[(5.0, 1)]),
        server().with_servers(33).with_breakdowns(up(), up()),
        server().with_discipline(Discipline::Random).with_capacity(3).blocking(),
        server().with_discipline(Discipline::Polling).with_servers(2),
        server().with_capacity(3).blocking().with_balking(&[0.5]),
    ] {
        let error = with(station).compile().expect_err("it is refused");
        assert!(matches!(&error, FacilityError::Unsupported { node, .. } if node == "server"), "{error}");
    }
    for station in [
        server().with_balking(&[1.5]),
        server().blocking(),
        server().with_schedule(&[(5.0, 0)]),
        server().with_schedule(&[(0.0, 1)]),
        server().with_servers(2).with_schedule(&[(5.0, 1)]),
    ] {
        let error = with(station).compile().expect_err("it is refused");
        assert!(matches!(&error, FacilityError::Setting { node, .. } if node == "server"), "{error}");
    }
    let source = |source: Source| with(server()).source("more", source);
    let changing = Source::new(Distribution::Constant(9.0), "server").with_rates(&[(5.0, 0.5)]);
    let error = source(changing).compile().unwrap_err();
    assert!(matches!(&error, FacilityError::Unsupported { node, .. } if node == "more"), "{error}");
    for rates in [&[(5.0, 1.5)], &[(5.0, 0.0)]] {
        let error = source(Source::new(exponential(9.0), "server").with_rates(rates)).compile().unwrap_err();
        assert!(matches!(&error, FacilityError::Setting { node, .. } if node == "more"), "{error}");
    }
    // Routers: to each other, to a station that blocks, and shortest lines of nodes without a line.
    let round = with(server()).router("a", [Link::to("b").with(0.5), Link::to("server")]).router("b", "a");
    let round = round.source("lost", Source::new(exponential(9.0), "a"));
    assert!(
        matches!(round.compile().unwrap_err(), FacilityError::Unsupported { node, .. } if node == "a" || node == "b")
    );
    let blocked = with(server().with_capacity(3).blocking()).router("a", "server");
    let blocked = blocked.source("more", Source::new(exponential(9.0), "a"));
    assert!(matches!(blocked.compile().unwrap_err(), FacilityError::Unsupported { node, .. } if node == "a"));
    let none =
        with(server()).source("more", Source::new(exponential(9.0), Route::shortest(&["server", "out"])));
    assert!(matches!(none.compile().unwrap_err(), FacilityError::Unsupported { node, .. } if node == "more"));
    let twice =
        with(server()).source("more", Source::new(exponential(9.0), Route::shortest(&["server", "server"])));
    assert!(matches!(twice.compile().unwrap_err(), FacilityError::Setting { node, .. } if node == "more"));
    // Preemptive servers may not send to stations that block.
    let network = Network::new("test")
        .source("in", Source::new(exponential(9.0), "first"))
        .station("first", Station::new(exponential(1.0), "second").with_discipline(Discipline::Preemptive))
        .station("second", Station::new(exponential(1.0), "out").with_capacity(1).blocking())
        .sink("out");
    assert!(
        matches!(network.compile().unwrap_err(), FacilityError::Unsupported { node, .. } if node == "first")
    );
}
