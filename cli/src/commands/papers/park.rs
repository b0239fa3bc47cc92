//! The closed torus of service facilities of Park and Fishwick (section 6): Figures 19 and 20.
//!
//! Every facility serves for exponential times of mean 10 and sends each token to one of its four
//! neighbours. There is one token per facility.

use std::time::Instant;

use eventhorizon::facility::{FelNetwork, FelReference, FelSimulation};
use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{Options, Simulation, Sync, Until};
use eventhorizon::statistics::theory::ClosedNetwork;
use eventhorizon::time::{Resolution, Ticks};

use super::study::Study;
use crate::shared::Outcome;

/// The mean service time, in units of time.
const MEAN: f64 = 10.0;
/// The time interval of Figure 19: services last whole numbers in the paper.
const INTERVAL: f64 = 1.0;

const SEED: u64 = 42;

/// Measures events per second. `run` continues a run to a time; it returns the seconds it took and
/// the events since its start. Steps grow until one lasts `seconds`. Steps before it keep the
/// device busy for `seconds` and include the compilation of kernels.
fn rate(seconds: f64, units: Resolution, mut run: impl FnMut(Ticks) -> Outcome<(f64, u64)>) -> Outcome<f64> {
    let (mut end, mut step, mut done, mut busy) = (0.0, 1.0, 0, 0.0);
    loop {
        end += step;
        let (took, executed) = run(units.ticks(end)?)?;
        if busy >= seconds && took >= seconds {
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            return Ok((executed - done) as f64 / took);
        }
        done = executed;
        busy += took;
        step *= (1.3 * seconds / took).clamp(1.3, 8.0);
    }
}

/// The seconds that `work` takes.
fn seconds<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Events per second over those of one core, for each side of the torus.
pub(super) fn figure_19(study: &mut Study<'_>) -> Outcome<()> {
    let (units, gpu, least) = (Resolution::default(), study.gpu()?, study.args.seconds());
    let (mean, interval) = (units.ticks(MEAN)?, units.ticks(INTERVAL)?);
    for &side in study.size(&[32, 64, 128, 256, 512, 1024][..], &[16, 32, 64]) {
        if !study.goes_on() {
            return Ok(());
        }
        let tokens = side * side;
        let network = FelNetwork::torus(side, side, tokens, mean)?;
        let mut reference = FelReference::new(&network, SEED, Ticks::ZERO)?;
        let list = |interval| -> Outcome<f64> {
            let mut simulation = FelSimulation::new(&gpu, &network, SEED, interval)?;
            rate(least, units, |until| {
                let took = seconds(|| simulation.run(until))?;
                Ok((took, simulation.results()?.served()))
            })
        };
        let core = rate(least, units, |until| {
            let took = seconds(|| reference.run(until))?;
            Ok((took, reference.results().served()))
        })?;
        let model = FifoTorus::new(side, side, tokens, 1.0 / MEAN, units)?;
        let mut conservative =
            Simulation::new(&gpu, &model, Options::default().seed(SEED).sync(Sync::Neighbours))?;
        let rates = [
            ("event list, intervals of 1", list(interval)?),
            ("event list, exact", list(Ticks::ZERO)?),
            (
                "conservative engine (exact)",
                rate(least, units, |until| {
                    let took = seconds(|| conservative.run(Until::time(until)))?;
                    Ok((took, conservative.progress()?.events))
                })?,
            ),
        ];
        for (line, rate) in rates {
            study.row(["", line], side.into(), Some(rate / core), None, &format!("{rate:.4e} events/s"))?;
        }
        study.note("one core: a heap-based event list, exact");
    }
    Ok(())
}

/// The signed error of the utilisation for each interval: the mean and 95 % interval over seeds.
pub(super) fn figure_20(study: &mut Study<'_>) -> Outcome<()> {
    let (units, gpu) = (Resolution::default(), study.gpu()?);
    let (side, seeds, until) = study.size((64_u32, 10_u32, 2000.0), (16, 3, 500.0));
    let network = FelNetwork::torus(side, side, side * side, units.ticks(MEAN)?)?;
    let end = units.ticks(until)?;
    let utilisation = |seed: u32, interval: f64| -> Outcome<f64> {
        let mut simulation = FelSimulation::new(&gpu, &network, seed.into(), units.ticks(interval)?)?;
        simulation.run(end)?;
        Ok(simulation.results()?.utilisation())
    };
    // Without an interval an iteration has one event, which a core executes sooner: the same bits.
    let on_core = |seed: u32| -> Outcome<f64> {
        let mut reference = FelReference::new(&network, seed.into(), Ticks::ZERO)?;
        reference.run(end)?;
        Ok(reference.results().utilisation())
    };
    let exact = (1..=seeds).map(on_core).collect::<Outcome<Vec<_>>>()?;
    let theory =
        ClosedNetwork::new(&[(side * side, MEAN)], 0.0, side * side)?.utilisation(0).unwrap_or_default();
    let mean = exact.iter().sum::<f64>() / f64::from(seeds);
    study.note(&format!("utilisation {mean:.4} without intervals, {theory:.4} by theory; {seeds} seeds"));
    study.row(
        ["", "mean of seeds"],
        0.0,
        Some(0.0),
        Some(0.0),
        "the paper: an interval of zero has no error",
    )?;
    for interval in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
        if !study.goes_on() {
            return Ok(());
        }
        let mut errors = Vec::new();
        for (seed, exact) in (1..=seeds).zip(&exact) {
            errors.push(100.0 * (utilisation(seed, interval)? / exact - 1.0));
        }
        let mean = errors.iter().sum::<f64>() / f64::from(seeds);
        let spread = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / f64::from(seeds - 1);
        // Student's t for 95 %, of 9 or 2 degrees of freedom.
        let half = study.size(2.262, 4.303) * (spread / f64::from(seeds)).sqrt();
        let note = format!("95 % interval of the mean: {:.3} to {:.3}", mean - half, mean + half);
        study.row(["", "mean of seeds"], interval, Some(mean), None, &note)?;
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let most = errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        study.point("", "least of seeds", interval, least)?;
        study.point("", "greatest of seeds", interval, most)?;
    }
    Ok(())
}
