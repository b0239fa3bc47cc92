use crate::assert_close;
use eventhorizon::statistics::AnalysisError;
use eventhorizon::statistics::theory::{Mm1, Mmck};

#[test]
fn mm1_in_the_steady_state() {
    let queue = Mm1::new(0.8, 1.0).unwrap();
    assert_close(queue.load(), 0.8, 15);
    assert_close(queue.idle_share().unwrap(), 0.2, 15);
    assert_close(queue.time_in_queue().unwrap(), 4.0, 14);
    assert_close(queue.time_in_system().unwrap(), 5.0, 14);
    assert_close(queue.number_in_system().unwrap(), 4.0, 14);
    let full = Mm1::new(1.0, 1.0).unwrap();
    assert_eq!((full.idle_share(), full.time_in_queue(), full.time_in_system()), (None, None, None));
}

#[test]
fn the_first_clients_of_mm1() {
    let queue = Mm1::new(0.8, 1.0).unwrap();
    assert_eq!(queue.time_in_queue_of(0), 0.0);
    // Client 1 waits if the service of client 0 outlasts the arrival of client 1: by the lack of memory for 1
    // / 1.0.
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
    // The mean keeps the memory of the start: it falls short by a constant over the number of clients.
    let (a, b) = (queue.time_in_queue_of_first(10_000), queue.time_in_queue_of_first(20_000));
    assert!(a < 4.0 && 4.0 - a > 1e-3);
    assert_close((4.0 - a) / (4.0 - b), 2.0, 6);
    // Other units.
    let hours = Mm1::new(48.0, 60.0).unwrap();
    assert_close(hours.time_in_queue_of_first(500) * 60.0, queue.time_in_queue_of_first(500), 12);
}

/// Two roads to the same expectation: Spitzer's identity, and the chain of the numbers found on arrival with
/// room for all.
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

/// Gross, Shortle, Thompson and Harris, example 2.5: three inspection stations, room for seven cars, one
/// arrival per minute, six minutes each. Their p_0 is 0.00088, L 6.06, W 12.3 minutes, and 30.3 cars per hour
/// are turned away.
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
    // Erlang's loss formula, whose tables give 0.1101 for 3 erlangs on 5 lines and 0.0184 for 5 on 10.
    assert_close(Mmck::new(3.0, 1.0, 5, 5).unwrap().blocking(), 0.110_054, 5);
    assert_close(Mmck::new(5.0, 1.0, 10, 10).unwrap().blocking(), 0.018_385, 4);
    assert!(Mmck::new(5.0, 1.0, 10, 10).unwrap().time_in_queue().abs() < 1e-12);
    // M/M/1/K: a truncated geometric distribution.
    let (rho, room) = (0.8_f64, 9);
    let blocking = Mmck::new(0.8, 1.0, 1, room).unwrap().blocking();
    assert_close(blocking, (1.0 - rho) * rho.powi(9) / (1.0 - rho.powi(10)), 13);
    // M/M/2 with room for all: Erlang's C is 1/3 at load 1/2, and the waiting time C / (2 - 1).
    assert_close(Mmck::new(1.0, 1.0, 2, 300).unwrap().time_in_queue(), 1.0 / 3.0, 12);
    // Weights that leave the range of f64 before they are scaled.
    let huge = Mmck::new(1e6, 1.0, 1, 2000).unwrap();
    assert_close(huge.blocking(), 1.0 - 1e-6, 12);
    assert_close(huge.probabilities().iter().sum::<f64>(), 1.0, 12);
    assert_close(huge.number_in_system(), 2000.0, 6);
}

#[test]
fn finite_runs_of_mmck_approach_the_steady_state() {
    let queue = Mmck::new(2.5, 1.0, 3, 6).unwrap();
    assert_eq!(queue.blocking_of_first(0), 0.0);
    // Nobody is turned away before the room can be full.
    assert_eq!(queue.blocking_of_first(6), 0.0);
    // The seventh arrival is, if all six before it came before any service ended.
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
        "the room is 3; count the clients in service too: at least the number of servers"
    );
}
