//! The coverage of intervals: many experiments with known means, on fixed seeds.

use super::{assert_close, sample};
use eventhorizon::random::Stream;
use eventhorizon::statistics::theory::{Mm1, Mmck};
use eventhorizon::statistics::{Column, Observations, Pairing, Values, batch_means, compare};

/// A draw strictly between 0 and 1.
fn uniform(stream: &mut Stream) -> f64 {
    (f64::from(stream.draw()) + 0.5) / 2_f64.powi(32)
}

fn normal(stream: &mut Stream) -> f64 {
    let (radius, angle) = ((-2.0 * uniform(stream).ln()).sqrt(), std::f64::consts::TAU * uniform(stream));
    radius * angle.cos()
}

fn exponential(stream: &mut Stream, rate: f64) -> f64 {
    -uniform(stream).ln() / rate
}

/// The share of `experiments` in which the interval of `values` contains `truth`.
fn coverage(experiments: u32, truth: f64, values: impl Fn(u32) -> Vec<f64>) -> f64 {
    let hits = (0..experiments).filter(|&experiment| {
        let summary = sample(Values::F64(values(experiment))).summary("x", 0.95).unwrap();
        summary.interval.unwrap().contains(truth)
    });
    hits.count() as f64 / f64::from(experiments)
}

#[test]
fn the_interval_of_normal_samples_covers_at_its_level() {
    for n in [2, 5, 30] {
        let share = coverage(4000, 3.0, |experiment| {
            let mut stream = Stream::new(1, experiment, n);
            (0..n).map(|_| 3.0 + 2.0 * normal(&mut stream)).collect()
        });
        // Four standard deviations of the share are 1.4 %.
        assert!((share - 0.95).abs() < 0.014, "{n} observations: {share}");
    }
}

#[test]
fn the_interval_of_skewed_samples_comes_close() {
    let share = coverage(4000, 1.0, |experiment| {
        let mut stream = Stream::new(2, experiment, 0);
        (0..60).map(|_| exponential(&mut stream, 1.0)).collect()
    });
    // Below its level, as expected for skewed observations, and near it with 60 of them.
    assert!((0.92..0.96).contains(&share), "{share}");
}

#[test]
fn batch_means_of_independent_observations_cover_and_are_rarely_suspected() {
    let (mut covered, mut suspected) = (0, 0);
    for experiment in 0..2000 {
        let mut stream = Stream::new(3, experiment, 0);
        let series: Vec<f64> = (0..200).map(|_| exponential(&mut stream, 0.5)).collect();
        let batches = batch_means(&series, 20, 0.95).unwrap();
        covered += u32::from(batches.interval.contains(2.0));
        suspected += u32::from(batches.correlated);
    }
    assert!((1860..1940).contains(&covered), "{covered}");
    assert!((60..140).contains(&suspected), "{suspected}");
}

/// Waiting times of the first clients, by Lindley's recursion.
fn mm1_mean_wait(stream: &mut Stream, arrival: f64, service: f64, clients: u32) -> f64 {
    let (mut wait, mut sum) = (0.0_f64, 0.0);
    for _ in 0..clients {
        sum += wait;
        wait = (wait + exponential(stream, service) - exponential(stream, arrival)).max(0.0);
    }
    sum / f64::from(clients)
}

#[test]
fn theory_lies_in_the_interval_of_mm1_at_the_stated_rate() {
    const CLIENTS: u32 = 60;
    let truth = Mm1::new(0.8, 1.0).unwrap().time_in_queue_of_first(CLIENTS);
    let share = coverage(400, truth, |experiment| {
        (0..100).map(|r| mm1_mean_wait(&mut Stream::new(4, experiment, r), 0.8, 1.0, CLIENTS)).collect()
    });
    assert!((0.91..0.98).contains(&share), "{share}");
}

/// The share of blocked arrivals and the waiting time per arrival, for the first arrivals at an
/// empty system.
fn mmck(stream: &mut Stream, servers: usize, room: usize, arrivals: u32) -> (f64, f64) {
    let (mut now, mut turned_away, mut waited) = (0.0, 0, 0.0);
    // The departure times of those in the system, in order of arrival, which is the order of
    // service.
    let mut leaves: Vec<f64> = Vec::new();
    for _ in 0..arrivals {
        leaves.retain(|&time| time > now);
        if leaves.len() == room {
            turned_away += 1;
        } else {
            let mut times = leaves.clone();
            times.sort_unstable_by(f64::total_cmp);
            let start = if times.len() < servers { now } else { times[times.len() - servers] };
            waited += start - now;
            leaves.push(start + exponential(stream, 1.0));
        }
        now += exponential(stream, 2.5);
    }
    (f64::from(turned_away) / f64::from(arrivals), waited / f64::from(arrivals))
}

#[test]
fn theory_lies_in_the_interval_of_mmck_at_the_stated_rate() {
    const ARRIVALS: u32 = 60;
    let theory = Mmck::new(2.5, 1.0, 3, 6).unwrap();
    let run = |experiment, r| mmck(&mut Stream::new(5, experiment, r), 3, 6, ARRIVALS);
    let share = coverage(400, theory.blocking_of_first(ARRIVALS), |experiment| {
        (0..60).map(|r| run(experiment, r).0).collect()
    });
    assert!((0.91..0.98).contains(&share), "{share}");
    let share = coverage(400, theory.time_in_queue_per_arrival_of_first(ARRIVALS), |experiment| {
        (0..60).map(|r| run(experiment, r).1).collect()
    });
    assert!((0.91..0.98).contains(&share), "{share}");
}

/// The mean of exponentials by inversion is monotone in the draws, so pairs narrow its interval.
/// Without pairing the halves, the interval would be wrong.
#[test]
fn antithetic_pairs_cover_and_are_narrower() {
    const PAIRS: u64 = 50;
    let run = |experiment: u32, pairing| {
        let value = |replication: u64| {
            let mut stream = Stream::new(6, experiment, replication / 2);
            let complement = replication % 2 == 1;
            let draw = |_| {
                let word = stream.draw();
                let word = if complement { !word } else { word };
                -((f64::from(word) + 0.5) / 2_f64.powi(32)).ln()
            };
            (0..4).map(draw).sum::<f64>() / 4.0
        };
        let values = Values::F64((0..2 * PAIRS).map(value).collect());
        let column = Column { name: "x".into(), values };
        let point = Observations::new(2 * PAIRS as usize, vec![column], [], pairing).unwrap();
        point.summary("x", 0.95).unwrap()
    };
    let (mut hits, mut narrower) = (0, 0);
    for experiment in 0..1000 {
        let paired = run(experiment, Pairing::Antithetic);
        let naive = run(experiment, Pairing::Independent);
        assert_close(paired.mean.unwrap(), naive.mean.unwrap(), 13);
        hits += u32::from(paired.interval.unwrap().contains(1.0));
        narrower += u32::from(paired.interval.unwrap().half_width < naive.interval.unwrap().half_width);
    }
    assert!((920..980).contains(&hits), "{hits}");
    assert!(narrower > 990, "{narrower}");
}

/// A queue at two service rates with the same draws: the difference is far more precise than the
/// points.
#[test]
fn common_random_numbers_sharpen_a_comparison() {
    let point = |service, seed| {
        let run = |r| mm1_mean_wait(&mut Stream::new(seed, 0, r), 0.8, service, 100);
        sample(Values::F64((0..200).map(run).collect()))
    };
    let half = |left, right| compare(&left, &right, "x", 0.95).unwrap().interval.unwrap();
    let common = half(point(1.0, 7), point(1.05, 7));
    let independent = half(point(1.0, 7), point(1.05, 8));
    assert!(common.half_width < independent.half_width / 3.0, "{common:?} {independent:?}");
    let theory = |service| Mm1::new(0.8, service).unwrap().time_in_queue_of_first(100);
    assert!(common.contains(theory(1.05) - theory(1.0)), "{common:?}");
    assert!(common.upper < 0.0);
}
