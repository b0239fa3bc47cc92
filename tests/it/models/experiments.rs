//! Experiments with models: coverage of intervals whose mean is known from theory.

use eventhorizon::models::CallCentre;
use eventhorizon::pdes::{CpuEngine, EngineOptions, Results, SimulationError};
use eventhorizon::statistics::theory::ErlangA;
use eventhorizon::statistics::{Design, Experiment, Observations};
use eventhorizon::time::Resolution;

use super::{ticks, until};

/// The mean of a time average equals the long-run mean of the level for any span, if the run is in
/// steady state when statistics begin: 20 mean services suffice here.
#[test]
fn intervals_of_experiments_hold_the_mean_at_their_level() {
    const EXPERIMENTS: u32 = 200;
    let theory = ErlangA::new(4.0, 1.0, 0.5, 4).unwrap().number_waiting();
    let engine = CpuEngine::new(
        |_| {
            let model = CallCentre::new(2, 4, 4.0, 1.0, 0.5, 64, Resolution::default())?;
            Ok::<_, eventhorizon::models::ModelError>(model.with_warm_up(ticks(20.0)))
        },
        EngineOptions::default(),
    );
    let (mut held, mut sum) = (0, 0.0);
    for seed in 0..EXPERIMENTS {
        let experiment = Experiment::new(Design::default(), 40, seed.into());
        let results = engine.run(&experiment, until(60.0)).unwrap();
        let waiting = results.observations[0].summary("waiting", 0.95).unwrap();
        assert_eq!(waiting.failed, 0);
        held += u32::from(waiting.interval.unwrap().contains(theory));
        sum += waiting.mean.unwrap();
    }
    let mean = sum / f64::from(EXPERIMENTS);
    let share = f64::from(held) / f64::from(EXPERIMENTS);
    println!("mean {mean:.5}, theory {theory:.5}, held by {held} of {EXPERIMENTS}");
    assert!((mean / theory - 1.0).abs() < 0.01, "{mean} {theory}");
    assert!((0.91..=0.98).contains(&share), "{share}");
}

/// The measures of models are those of their formulas, in units of time.
#[test]
fn measures_are_those_of_theory() {
    use eventhorizon::models::{FifoTorus, Priorities, Torus};
    use eventhorizon::statistics::theory;
    let units = Resolution::default();
    let runs = Experiment::new(Design::default(), 40, 3);
    let check = |observations: &eventhorizon::statistics::Observations, expected: &[(&str, f64)]| {
        for &(name, expected) in expected {
            let found = observations.summary(name, 0.95).unwrap();
            let (mean, interval) = (found.mean.unwrap(), found.interval.unwrap());
            println!("{name}: {mean:.5} ± {:.5}, theory {expected:.5}", interval.half_width);
            // Twice the 95 % half width is about four standard errors.
            assert!((mean - expected).abs() < 2.0 * interval.half_width, "{name}: {mean} is not {expected}");
            assert!(interval.half_width < 0.05 * expected, "{name}: too wide to tell");
        }
    };
    fn first<O>(results: Result<Results<O>, SimulationError>) -> Observations {
        match results {
            Ok(mut results) => results.observations.remove(0),
            Err(error) => panic!("{error}"),
        }
    }

    let centre = CpuEngine::new(
        move |_| CallCentre::new(8, 4, 4.0, 1.0, 0.5, 64, units).map(|model| model.with_warm_up(ticks(20.0))),
        EngineOptions::default(),
    );
    let erlang = ErlangA::new(4.0, 1.0, 0.5, 4).unwrap();
    check(
        &first(centre.run(&runs, until(220.0))),
        &[
            ("wait", erlang.time_in_queue_of_served()),
            ("abandoned", erlang.abandonment()),
            ("waiting", erlang.number_waiting()),
        ],
    );

    let classes = [(0.3, 1.5), (0.2, 0.8), (0.1, 1.0)];
    let stations = CpuEngine::new(
        move |_| Priorities::new(30, &classes, 64, units).map(|model| model.with_warm_up(ticks(200.0))),
        EngineOptions::default(),
    );
    let formula = theory::Priorities::new(&classes).unwrap();
    let [a, b, c] = [0, 1, 2].map(|class| formula.time_in_system(class).unwrap());
    let stations = first(stations.run(&runs, until(1200.0)));
    check(&stations, &[("system_0", a), ("system_1", b), ("system_2", c)]);

    let torus = CpuEngine::new(
        move |_| Torus::new(3, 4, 18, 1.0, 0.5, units).map(|model| model.with_warm_up(ticks(50.0))),
        EngineOptions::default(),
    );
    let network = theory::ClosedNetwork::new(&[(12, 1.0)], 6.0, 18).unwrap();
    check(
        &first(torus.run(&runs, until(550.0))),
        &[
            ("utilisation", network.utilisation(0).unwrap()),
            ("number", network.number(0).unwrap()),
            ("throughput", network.throughput()),
        ],
    );

    // This model has no warm-up: runs are long, so that the start has little weight.
    let fifo = CpuEngine::new(move |_| FifoTorus::new(3, 4, 18, 1.0, units), EngineOptions::default());
    let network = theory::ClosedNetwork::new(&[(12, 1.0)], 0.0, 18).unwrap();
    let (busy, number) = (network.utilisation(0).unwrap(), network.number(0).unwrap());
    check(
        &first(fifo.run(&runs, until(2000.0))),
        &[
            ("utilisation", busy),
            ("wait", (number - busy) / network.throughput()),
            ("throughput", network.throughput()),
        ],
    );
}
