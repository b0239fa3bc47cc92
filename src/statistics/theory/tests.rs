#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "small numbers in tests")]

use super::*;

/// Equal to `digits` significant digits.
#[track_caller]
fn assert_close(got: f64, expected: f64, digits: i32) {
    let error = (got - expected).abs();
    assert!(error <= expected.abs() * 10_f64.powi(-digits), "{got} is not {expected} to {digits} digits");
}

#[test]
fn mm1_in_the_steady_state() {
    let queue = Mm1::new(0.8, 1.0).unwrap();
    assert_close(queue.load(), 0.8, 15);
    assert_close(queue.time_in_queue().unwrap(), 4.0, 14);
    assert_close(queue.time_in_system().unwrap(), 5.0, 14);
    let full = Mm1::new(1.0, 1.0).unwrap();
    assert_eq!((full.time_in_queue(), full.time_in_system()), (None, None));
}

#[test]
fn the_first_clients_of_mm1() {
    let queue = Mm1::new(0.8, 1.0).unwrap();
    assert_eq!(queue.time_in_queue_of(0), 0.0);
    // Client 1 waits if the service of client 0 outlasts the arrival of client 1: without memory,
    // for 1 / 1.0.
    assert_close(queue.time_in_queue_of(1), 0.8 / 1.8, 14);
    // Client 2, by its three cases: it finds 2 (waits 2), or 1 (waits 1), or 0.
    let (up, down) = (0.8 / 1.8, 1.0 / 1.8);
    assert_close(queue.time_in_queue_of(2), 2.0 * up * up + up * down * up + down * up, 14);
    let three = (queue.time_in_queue_of(1) + queue.time_in_queue_of(2)) / 3.0;
    assert_close(queue.time_in_queue_of_first(3), three, 14);
    assert_close(queue.time_in_system_of_first(3), three + 1.0, 14);
    assert_eq!((queue.time_in_queue_of_first(0), queue.time_in_queue_of_first(1)), (0.0, 0.0));
    // Client 1 waits or the server idles.
    assert_close(queue.idle_time_until(1), 1.0 / 0.8 - 1.0 + 0.8 / 1.8, 14);
    assert_eq!(queue.idle_time_until(0), 0.0);
}

#[test]
fn late_clients_of_mm1_are_in_the_steady_state() {
    let queue = Mm1::new(0.8, 1.0).unwrap();
    assert_close(queue.time_in_queue_of(10_000), 4.0, 9);
    assert_close(queue.time_in_queue_of(1_000_000), 4.0, 9);
    // The mean depends on the start: it is too small by a constant over the number of clients.
    let (a, b) = (queue.time_in_queue_of_first(10_000), queue.time_in_queue_of_first(20_000));
    assert!(a < 4.0 && 4.0 - a > 1e-3);
    assert_close((4.0 - a) / (4.0 - b), 2.0, 6);
    // Other units.
    let hours = Mm1::new(48.0, 60.0).unwrap();
    assert_close(hours.time_in_queue_of_first(500) * 60.0, queue.time_in_queue_of_first(500), 12);
}

/// Two methods for the same expectation: Spitzer's identity, and the chain of the numbers found on
/// arrival with unlimited places.
#[test]
fn mm1_is_mmck_with_room_for_all() {
    for (arrival, service) in [(0.8, 1.0), (1.0, 1.0), (3.0, 2.0), (0.1, 4.0), (0.99, 1.0)] {
        let queue = Mm1::new(arrival, service).unwrap();
        let roomy = Mmck::new(arrival, service, 1, 400).unwrap();
        for clients in [1, 2, 3, 17, 400] {
            let (one, other) =
                (queue.time_in_queue_of_first(clients), roomy.time_in_queue_per_arrival_of_first(clients));
            assert!((one - other).abs() <= other * 1e-10, "{arrival} {service} {clients}: {one} {other}");
        }
    }
}

/// Gross, Shortle, Thompson and Harris, example 2.5: three inspection stations, places for seven
/// cars, one arrival per minute, six minutes each. Their p_0 is 0.00088, L 6.06, W 12.3 minutes,
/// and 30.3 cars per hour are rejected.
#[test]
fn mmck_of_the_textbook() {
    let cars = Mmck::new(1.0, 1.0 / 6.0, 3, 7).unwrap();
    assert_close(cars.probabilities()[0], 1.0 / 1141.0, 14);
    assert_close(cars.number_in_system(), 6918.0 / 1141.0, 14);
    assert_close(60.0 * cars.blocking(), 60.0 * 576.0 / 1141.0, 14);
    assert_close(cars.time_in_system(), 6918.0 / (1141.0 - 576.0), 13);
    assert_close(cars.time_in_queue(), 6918.0 / 565.0 - 6.0, 13);
}

#[test]
fn mmck_at_its_corners() {
    // Erlang's loss formula, whose tables give 0.1101 for 3 erlangs on 5 lines and 0.0184 for 5
    // on 10.
    assert_close(Mmck::new(3.0, 1.0, 5, 5).unwrap().blocking(), 0.110_054, 5);
    assert_close(Mmck::new(5.0, 1.0, 10, 10).unwrap().blocking(), 0.018_385, 4);
    assert!(Mmck::new(5.0, 1.0, 10, 10).unwrap().time_in_queue().abs() < 1e-12);
    // M/M/1/K: a truncated geometric distribution.
    let (rho, room) = (0.8_f64, 9);
    let blocking = Mmck::new(0.8, 1.0, 1, room).unwrap().blocking();
    assert_close(blocking, (1.0 - rho) * rho.powi(9) / (1.0 - rho.powi(10)), 13);
    // M/M/2 with unlimited places: Erlang's C is 1/3 at load 1/2, and the waiting time C / (2 - 1).
    assert_close(Mmck::new(1.0, 1.0, 2, 300).unwrap().time_in_queue(), 1.0 / 3.0, 12);
    // Weights that exceed the range of f64 before they are scaled.
    let huge = Mmck::new(1e6, 1.0, 1, 2000).unwrap();
    assert_close(huge.blocking(), 1.0 - 1e-6, 12);
    assert_close(huge.probabilities().iter().sum::<f64>(), 1.0, 12);
    assert_close(huge.number_in_system(), 2000.0, 6);
}

#[test]
fn finite_runs_of_mmck_approach_the_steady_state() {
    let queue = Mmck::new(2.5, 1.0, 3, 6).unwrap();
    assert_eq!(queue.blocking_of_first(0), 0.0);
    // No arrival is rejected before all places can be taken.
    assert_eq!(queue.blocking_of_first(6), 0.0);
    // The seventh arrival is rejected if all six before it arrived before any service ended.
    let fill: f64 = (1..=6).map(|n| 2.5 / (2.5 + f64::from(n.min(3)))).product();
    assert_close(queue.blocking_of_first(7), fill / 7.0, 13);
    assert_close(queue.blocking_of_first(1_000_000), queue.blocking(), 4);
    let per_arrival = queue.time_in_queue() * (1.0 - queue.blocking());
    assert_close(queue.time_in_queue_per_arrival_of_first(1_000_000), per_arrival, 4);
}

#[test]
fn impossible_queues_are_refused() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Mm1::new(rate, 1.0), Err(AnalysisError::Setting { what: "the arrival rate", .. })));
        assert!(matches!(Mm1::new(1.0, rate), Err(AnalysisError::Setting { what: "the service rate", .. })));
    }
    assert!(matches!(Mmck::new(1.0, 1.0, 0, 3), Err(AnalysisError::Setting { .. })));
    let error = Mmck::new(1.0, 1.0, 4, 3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the room is 3; it includes clients in service: choose at least the number of servers"
    );
}

/// "Designing a call center with impatient customers" by its numbers: 48 calls a minute, 50 agents,
/// a minute each, patience of two minutes. 3.1 % of the calls are lost, the mean wait is 3.7
/// seconds, 3 calls wait, and the agents work 93 % of the time. (Without abandonment: 20.8 seconds,
/// 17 calls and 96 %.)
#[test]
fn erlang_a_of_the_paper() {
    let centre = ErlangA::new(48.0, 1.0, 0.5, 50).unwrap();
    let rounded = |value: f64, unit: f64| (value / unit).round() * unit;
    assert_close(rounded(centre.abandonment(), 0.001), 0.031, 12);
    assert_close(rounded(60.0 * centre.time_in_queue(), 0.1), 3.7, 12);
    assert_close(rounded(centre.number_waiting(), 1.0), 3.0, 12);
    assert_close(rounded(centre.utilisation(), 0.01), 0.93, 12);
    // Unlimited patience is Erlang-C, with a line that many places hold.
    let patient = ErlangA::new(48.0, 1.0, 1e-9, 50).unwrap();
    let roomy = Mmck::new(48.0, 1.0, 50, 1050).unwrap();
    assert_close(patient.time_in_queue(), roomy.time_in_queue(), 5);
    assert_close(rounded(60.0 * patient.time_in_queue(), 0.1), 20.8, 12);
    // A permanent overload: the sum has too many terms.
    let error = ErlangA::new(48.0, 1.0, 1e-9, 40).unwrap_err();
    assert!(error.to_string().contains("1e-9") || error.to_string().contains("0.000000001"), "{error}");
    // If the sum is finite, the line is so long that as many customers leave as cannot be served.
    let crowded = ErlangA::new(48.0, 1.0, 1e-3, 40).unwrap();
    assert_close(crowded.number_waiting(), 8000.0, 6);
}

/// The chain as M/M/c/K solves it, if patience and service end at the same rate: M/M/infinity, a
/// Poisson distribution.
#[test]
fn erlang_a_whose_patience_is_as_long_as_service() {
    let centre = ErlangA::new(4.0, 0.5, 0.5, 3).unwrap();
    let mut poisson = (-8.0_f64).exp();
    for (n, p) in (1..).zip(&centre.probabilities) {
        assert!((p - poisson).abs() < 1e-14, "{n}: {p} {poisson}");
        poisson *= 8.0 / f64::from(n);
    }
    assert_close(centre.number_in_system(), 8.0, 13);
    // Every customer is served or leaves.
    let served = centre.utilisation() * 3.0 * 0.5;
    assert_close(4.0 * centre.abandonment() + served, 4.0, 13);
}

/// The wait of served customers against the equations of the line: from place j, a customer moves
/// to j - 1, or leaves.
#[test]
fn erlang_a_waits_of_the_served() {
    let (arrival, service, abandonment, servers) = (5.0, 1.0, 0.7, 4_u32);
    let centre = ErlangA::new(arrival, service, abandonment, servers).unwrap();
    let working = f64::from(servers) * service;
    // The probability to be served, and the expectation of the wait over that event (0 otherwise),
    // from the place with `ahead` customers before it.
    let (mut reached, mut wait) = (vec![], vec![]);
    for ahead in 0..centre.probabilities.len() {
        // It moves up if a customer before it leaves or begins service; at the head, only by the
        // latter.
        let moves = working + ahead as f64 * abandonment;
        let (held, on) = (1.0 / (moves + abandonment), moves / (moves + abandonment));
        let (next, rest) = if ahead == 0 { (1.0, 0.0) } else { (reached[ahead - 1], wait[ahead - 1]) };
        reached.push(on * next);
        wait.push(on * (next * held + rest));
    }
    let line = &centre.probabilities[servers as usize..];
    let free: f64 = centre.probabilities[..servers as usize].iter().sum();
    let served = free + line.iter().zip(&reached).map(|(p, q)| p * q).sum::<f64>();
    let waited: f64 = line.iter().zip(&wait).map(|(p, w)| p * w).sum();
    assert_close(1.0 - served, centre.abandonment(), 12);
    assert_close(waited / served, centre.time_in_queue_of_served(), 12);
    assert_close(free, 1.0 - centre.delay(), 12);
    for (arrival, service, abandonment, servers) in
        [(0.0, 1.0, 1.0, 1), (1.0, 1.0, f64::NAN, 1), (1.0, 1.0, 1.0, 0)]
    {
        assert!(matches!(
            ErlangA::new(arrival, service, abandonment, servers),
            Err(AnalysisError::Setting { .. })
        ));
    }
}

/// Two classes as a Markov chain of the numbers of customers, solved by relaxation, and Little's
/// law.
#[test]
fn priorities_are_those_of_the_chain() {
    const MOST: [usize; 2] = [30, 90];
    let classes: [(f64, f64); 2] = [(0.3, 1.2), (0.25, 0.8)];
    let [(a, m), (b, n)] = classes;
    let mut p = vec![vec![1.0_f64; MOST[1] + 1]; MOST[0] + 1];
    let at =
        |p: &Vec<Vec<f64>>, i: usize, j: usize| p.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0.0);
    for _ in 0..1500 {
        for i in 0..=MOST[0] {
            for j in 0..=MOST[1] {
                let enters = (if i > 0 { a * p[i - 1][j] } else { 0.0 })
                    + (if j > 0 { b * p[i][j - 1] } else { 0.0 })
                    + m * at(&p, i + 1, j)
                    + (if i == 0 { n * at(&p, i, j + 1) } else { 0.0 });
                let leaves = (if i < MOST[0] { a } else { 0.0 })
                    + (if j < MOST[1] { b } else { 0.0 })
                    + (if i > 0 {
                        m
                    } else if j > 0 {
                        n
                    } else {
                        0.0
                    });
                p[i][j] = enters / leaves;
            }
        }
        let sum: f64 = p.iter().flatten().sum();
        p.iter_mut().flatten().for_each(|p| *p /= sum);
    }
    let queue = Priorities::new(&classes).unwrap();
    let cells = || (0..=MOST[0]).flat_map(|i| (0..=MOST[1]).map(move |j| (i, j)));
    let numbers = [0, 1].map(|class| cells().map(|(i, j)| [i, j][class] as f64 * p[i][j]).sum::<f64>());
    assert_close(numbers[0] / a, queue.time_in_system(0).unwrap(), 7);
    assert_close(numbers[1] / b, queue.time_in_system(1).unwrap(), 7);
}

#[test]
fn priorities_at_their_corners() {
    // The first class is not affected by the others; if all services are alike, the customers are
    // those of M/M/1 in another order.
    let queue = Priorities::new(&[(0.2, 1.0), (0.3, 1.0), (0.4, 1.0)]).unwrap();
    assert_close(queue.time_in_system(0).unwrap(), Mm1::new(0.2, 1.0).unwrap().time_in_system().unwrap(), 14);
    let number: f64 =
        (0..).zip([0.2, 0.3, 0.4]).map(|(class, rate)| rate * queue.time_in_system(class).unwrap()).sum();
    assert_close(number, 0.9 * Mm1::new(0.9, 1.0).unwrap().time_in_system().unwrap(), 12);
    assert_close(queue.load(3), 0.9, 14);
    assert_eq!(queue.time_in_system(3), None);
    // An overload for the last class only.
    let full = Priorities::new(&[(0.5, 1.0), (0.5, 1.0)]).unwrap();
    assert_eq!((full.time_in_system(0), full.time_in_system(1)), (Some(2.0), None));
    assert!(matches!(Priorities::new(&[(0.5, 0.0)]), Err(AnalysisError::Setting { .. })));
}

/// Buzen, "Computational algorithms for closed queueing networks with exponential servers",
/// Communications of the ACM 16(9), 1973: the normalising constants G by convolution. The
/// throughput is G(K - 1) / G(K).
#[test]
fn closed_networks_by_convolution() {
    for (servers, delay, customers) in [
        (vec![(1, 1.0)], 0.0, 1),
        (vec![(1, 0.3), (2, 1.1), (1, 0.7)], 0.0, 9),
        (vec![(1, 0.3), (2, 1.1), (1, 0.7)], 2.5, 9),
        (vec![(16, 1.0)], 16.0 * 0.01, 40),
        (vec![(3, 0.5)], 40.0, 12),
    ] {
        // Stations without waiting: delay^k / k!.
        let mut g = vec![1.0_f64];
        for k in 1..=customers {
            g.push(g[k - 1] * delay / k as f64);
        }
        for &(count, demand) in &servers {
            for _ in 0..count {
                for k in 1..=customers {
                    g[k] += demand * g[k - 1];
                }
            }
        }
        let network = ClosedNetwork::new(&servers, delay, customers as u32).unwrap();
        let throughput = g[customers - 1] / g[customers];
        assert_close(network.throughput(), throughput, 12);
        let mut held = delay * throughput;
        for (kind, &(count, demand)) in servers.iter().enumerate() {
            assert_close(network.utilisation(kind).unwrap(), demand * throughput, 12);
            let number: f64 =
                (1..=customers).map(|k| demand.powi(k as i32) * g[customers - k] / g[customers]).sum();
            assert_close(network.number(kind).unwrap(), number, 12);
            held += f64::from(count) * number;
        }
        assert_close(held, customers as f64, 12);
    }
    let balanced = ClosedNetwork::new(&[(1024, 2.0)], 0.0, 4096).unwrap();
    assert_close(balanced.utilisation(0).unwrap(), 4096.0 / (4096.0 + 1023.0), 12);
    assert_eq!(balanced.utilisation(1), None);
    for (servers, delay) in
        [(vec![], 0.0), (vec![(0, 1.0)], 1.0), (vec![(1, 0.0)], 0.0), (vec![(1, 1.0)], -1.0)]
    {
        assert!(matches!(ClosedNetwork::new(&servers, delay, 1), Err(AnalysisError::Setting { .. })));
    }
}

#[test]
fn mmc_is_mmck_with_room_for_all() {
    for (arrival_rate, servers) in [(0.5, 1), (1.5, 2), (7.0, 8)] {
        let all = Mmc::new(arrival_rate, 1.0, servers).unwrap();
        let many = Mmck::new(arrival_rate, 1.0, servers, 400).unwrap();
        assert_close(all.time_in_queue(), many.time_in_queue(), 9);
        assert_close(all.number_in_system(), many.number_in_system(), 9);
        let busy: f64 = many.probabilities()[servers as usize..].iter().sum();
        assert_close(all.delay(), busy, 9);
    }
    assert!(matches!(Mmc::new(2.0, 1.0, 2), Err(AnalysisError::Setting { what: "the load", .. })));
}

#[test]
fn constant_services_halve_the_wait() {
    let queue = |variance| Mg1::new(&[Mg1Class { arrival_rate: 0.5, mean: 1.0, variance }]).unwrap();
    assert_eq!((queue(0.0).time_in_queue(), queue(1.0).time_in_queue()), (Some(0.5), Some(1.0)));
}

#[test]
fn mg1_with_exponential_service_is_mm1_and_has_its_priorities() {
    let classes = [(0.2, 1.0), (0.1, 0.5), (0.15, 0.8)];
    let class = |&(arrival_rate, rate): &(f64, f64)| Mg1Class {
        arrival_rate,
        mean: 1.0 / rate,
        variance: 1.0 / (rate * rate),
    };
    let queue = Mg1::new(&classes.iter().map(class).collect::<Vec<_>>()).unwrap();
    let preemptive = Priorities::new(&classes).unwrap();
    for class in 0..3 {
        let expected = preemptive.time_in_system(class).unwrap();
        assert_close(queue.time_in_system_preemptive(class).unwrap(), expected, 12);
    }
    assert_eq!(queue.time_in_system_preemptive(3), None);
    // Kleinrock's conservation law: the loads' mean of the waits does not depend on the order of
    // service.
    let loads = classes.map(|(arrival_rate, rate)| arrival_rate / rate);
    let waits = [0, 1, 2].map(|class| queue.time_in_queue_by_priority(class).unwrap());
    let mean: f64 =
        loads.iter().zip(waits).map(|(load, wait)| load * wait).sum::<f64>() / loads.iter().sum::<f64>();
    assert_close(mean, queue.time_in_queue().unwrap(), 12);
    let mm1 = Mm1::new(0.5, 1.0).unwrap();
    let one = Mg1::new(&[class(&(0.5, 1.0))]).unwrap();
    assert_close(one.time_in_queue().unwrap(), mm1.time_in_queue().unwrap(), 12);
    let full = Mg1::new(&[class(&(0.5, 1.0)), class(&(0.6, 1.0))]).unwrap();
    assert_eq!((full.time_in_queue(), full.time_in_queue_by_priority(0)), (None, None));
    assert!(full.time_in_system_preemptive(0).is_some() && full.time_in_system_preemptive(1).is_none());
}

#[test]
fn closed_networks_with_several_servers() {
    // With one server each, the values of mean-value analysis.
    let single = ClosedNetwork::new(&[(1, 2.0), (1, 1.0), (1, 0.5)], 3.0, 7).unwrap();
    let nodes = [(Some(1), 2.0), (Some(1), 1.0), (Some(1), 0.5), (None, 3.0)];
    let found = GordonNewell::new(&nodes, 7).unwrap();
    assert_close(found.throughput(), single.throughput(), 12);
    for kind in 0..3 {
        assert_close(found.number(kind).unwrap(), single.number(kind).unwrap(), 12);
    }
    assert_close(found.number(3).unwrap(), 3.0 * single.throughput(), 12);
    // Machine repair is a birth-death chain: n of 5 machines are broken, each of the others fails
    // at the rate 0.1, and 2 are repaired at once.
    let mut weights = vec![1.0];
    for n in 1..=5_u32 {
        let last = weights[n as usize - 1];
        weights.push(last * f64::from(6 - n) * 0.1 / (f64::from(n.min(2)) * 0.5));
    }
    let sum: f64 = weights.iter().sum();
    let mean = |of: fn(f64) -> f64| (0..).zip(&weights).map(|(n, p)| of(f64::from(n)) * p).sum::<f64>() / sum;
    let found = GordonNewell::new(&[(None, 10.0), (Some(2), 2.0)], 5).unwrap();
    assert_close(found.number(1).unwrap(), mean(|n| n), 12);
    assert_close(found.throughput(), mean(|n| 5.0 - n) * 0.1, 12);
    assert_eq!(GordonNewell::new(&nodes, 0).unwrap().throughput(), 0.0);
    assert!(GordonNewell::new(&[(Some(1), 0.0)], 3).is_err());
}

/// The sums over the first clients end when their terms settle, so that very many clients take no
/// time.
#[test]
fn four_thousand_million_clients_are_as_easy_as_a_thousand() {
    let light = Mm1::new(0.8, 1.0).unwrap();
    let waits = light.time_in_queue().unwrap();
    assert!((light.time_in_queue_of(u32::MAX) / waits - 1.0).abs() < 1e-12);
    assert!((light.time_in_queue_of_first(u32::MAX) / waits - 1.0).abs() < 1e-8);
    assert!((light.time_in_queue_of(3000) / waits - 1.0).abs() < 1e-12);
    // An overload: each client waits longer than the one before, by the same time in the long run.
    let heavy = Mm1::new(2.0, 1.0).unwrap();
    let [first, second] = [1000, u32::MAX].map(|client| heavy.time_in_queue_of(client));
    let expected = 0.5 * f64::from(u32::MAX - 1000);
    assert!(((second - first) / expected - 1.0).abs() < 1e-12, "{first} {second}");
    let mean = heavy.time_in_queue_of_first(u32::MAX);
    assert!((mean / (0.25 * f64::from(u32::MAX)) - 1.0).abs() < 1e-6, "{mean}");
    assert_eq!(heavy.time_in_queue_of_first(0), 0.0);
    assert_eq!(heavy.time_in_queue_of_first(1), 0.0);
}
