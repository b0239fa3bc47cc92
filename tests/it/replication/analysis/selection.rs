//! Selection of the best system: the guarantee, the paper's quantities, and invalid inputs.

use std::ops::Range;

use eventhorizon::random::{Stream, normal_unit};
use eventhorizon::statistics::{
    AnalysisError, Column, Design, Experiment, Failure, FailureCause, Observations, Pairing, Selection,
    Values,
};
use rayon::prelude::*;

/// A standard normal variate, from a word.
fn normal(stream: &mut Stream) -> f64 {
    f64::from(normal_unit(stream.draw())) / f64::from(1 << 28)
}

/// Systems with these means and deviations. With common random numbers, the share `shared` of the
/// variance is common to all systems in a replication.
#[derive(Clone)]
struct Systems<'a> {
    means: &'a [f64],
    deviations: &'a [f64],
    shared: f64,
}

impl Systems<'_> {
    fn experiment(&self, seed: u64) -> Experiment {
        let systems = 0..u32::try_from(self.means.len()).unwrap();
        Experiment::new(Design::default().cross("system", systems).unwrap(), 0, seed)
    }

    /// Works like an engine: streams are keyed by the number of the point in the given design,
    /// which changes when systems have been eliminated.
    fn run(
        &self,
        experiment: &Experiment,
        replications: Range<u32>,
    ) -> Result<Vec<Observations>, AnalysisError> {
        assert_eq!(experiment.replications, replications.end - replications.start);
        let points = 0..experiment.design.len();
        let points = points.map(|point| {
            let system = experiment.design.point(point).whole("system", 0)? as usize;
            let values = replications.clone().map(|replication| {
                let key = experiment.stream(u32::try_from(point).unwrap(), replication);
                let stream = |point| Stream::of_replication(experiment.seed, point, key.replication);
                let complement = |stream: Stream| if key.complement { stream.complement() } else { stream };
                let common = normal(&mut complement(stream(u32::MAX)));
                let mut own = complement(stream(u32::try_from(point).unwrap()));
                let noise = self.shared.sqrt() * common + (1.0 - self.shared).sqrt() * normal(&mut own);
                self.means[system] + self.deviations[system] * noise
            });
            let column = Column { name: "y".into(), values: Values::F64(values.collect()) };
            Observations::new(replications.len(), vec![column], [], experiment.pairing)
        });
        points.collect()
    }

    /// The number of correct selections among `runs`, and the mean observations per system.
    fn correct(&self, selection: Selection, best: usize, runs: u64) -> (u64, f64) {
        let seeds = (0..runs).into_par_iter();
        let all = seeds.map(|seed| {
            let selected = selection.run(&self.experiment(seed), "y", |e, range| self.run(e, range)).unwrap();
            let taken: u64 = selected
                .eliminated
                .iter()
                .zip(&selected.observations)
                .map(|(ended, made)| ended.unwrap_or(made.replications() as u64))
                .sum();
            (u64::from(selected.best == Some(best)), taken)
        });
        let (correct, taken) = all.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        (correct, taken as f64 / (runs * self.means.len() as u64) as f64)
    }
}

/// The least favourable means: all others are worse by exactly the indifference. Four standard
/// errors below the guarantee is a failure.
#[test]
fn selections_are_correct_as_often_as_promised() {
    const RUNS: u64 = 2000;
    let equal = [1.0; 5];
    let slippage = [0.0, 0.0, 0.4, 0.0, 0.0];
    let cases = [
        ("two systems", &slippage[1..3], &equal[..2], 0.0, 0.9),
        ("five systems", &slippage[..], &equal[..], 0.0, 0.9),
        ("unlike deviations", &slippage[..], &[0.5, 1.0, 2.0, 1.0, 0.5][..], 0.0, 0.9),
        ("common random numbers", &slippage[..], &equal[..], 0.7, 0.95),
    ];
    let mut taken = Vec::new();
    for (what, means, deviations, shared, level) in cases {
        let best = means.iter().position(|&mean| mean > 0.0).unwrap();
        let (correct, each) =
            Systems { means, deviations, shared }.correct(Selection::new(0.4, level), best, RUNS);
        println!("{what}: {correct} of {RUNS} correct, {each:.1} observations of a system");
        let error = (level * (1.0 - level) / RUNS as f64).sqrt();
        assert!(correct as f64 / RUNS as f64 > level - 4.0 * error, "{what}: {correct} of {RUNS}");
        taken.push(each);
    }
    // Common parts cancel in differences, which keep a third of their variance.
    assert!(taken[3] < taken[1] * 0.8, "{taken:?}");
}

#[test]
fn systems_that_are_far_worse_end_at_once() {
    let systems = Systems { means: &[10.0, 0.0, 9.5, 3.0], deviations: &[1.0; 4], shared: 0.0 };
    let run = |selection: Selection| {
        selection
            .run(&systems.experiment(1), "y", |experiment, range| systems.run(experiment, range))
            .unwrap()
    };
    let selected = run(Selection::new(0.2, 0.95));
    assert_eq!((selected.best, &selected.survivors), (Some(0), &vec![0]));
    assert_eq!((selected.eliminated[1], selected.eliminated[3]), (Some(20), Some(20)));
    assert_eq!(selected.observations[1].replications(), 20);
    assert!(selected.eliminated[2] > Some(20) && selected.eliminated[0].is_none());
    assert_eq!(run(Selection::new(0.2, 0.95).smallest()).best, Some(1));
    // Pairs are observations, and replications are twice as many.
    let pairs = systems.experiment(1).with_antithetic_pairs();
    let selected = Selection::new(0.2, 0.95)
        .run(&pairs, "y", |experiment, range| systems.run(experiment, range))
        .unwrap();
    assert_eq!((selected.best, selected.observations[1].replications()), (Some(0), 40));
}

#[test]
fn a_bound_on_replications_leaves_the_survivors() {
    let systems = Systems { means: &[1.0, 1.0, -50.0], deviations: &[1.0; 3], shared: 0.0 };
    let bounded = Selection { replications: Some(50), ..Selection::new(0.01, 0.95) };
    let selected =
        bounded.run(&systems.experiment(3), "y", |experiment, range| systems.run(experiment, range)).unwrap();
    assert_eq!((selected.best, &selected.survivors[..]), (None, &[0, 1][..]));
    assert_eq!(selected.observations[0].replications(), 50);
    let few = Selection { replications: Some(19), ..bounded };
    let error =
        few.run(&systems.experiment(3), "y", |experiment, range| systems.run(experiment, range)).unwrap_err();
    assert!(error.to_string().contains("the most replications of a selection is 19"), "{error}");
}

fn system(values: &[f64]) -> Observations {
    super::sample(Values::F64(values.to_vec()))
}

/// Ten observations of a first stage, computed by hand: differences of variance 10 / 9, and 1 -
/// level = 0.05.
#[test]
fn the_bounds_are_those_of_the_paper() {
    let up = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
    let selection = Selection { first_stage: 10, ..Selection::new(0.5, 0.95) };
    // eta = (0.1^(-2 / 9) - 1) / 2, h^2 = 18 eta, and N = floor(h^2 (10 / 9) / 0.25).
    let h2 = (0.1_f64.powf(-2.0 / 9.0) - 1.0) * 9.0;
    let needed = h2 * (10.0 / 9.0) / 0.25;
    let screening = selection.screen(&[system(&up), system(&[0.0; 10])], "x").unwrap();
    assert_eq!(screening.at_most, needed.floor() as u64 + 1);
    assert_eq!((screening.best, screening.survivors.len()), (None, 2));
    // A system is eliminated if the sums differ by (needed - r) * 0.25: the eleventh observation
    // suffices, or does not.
    for (more, ends) in [(0.25 * (needed - 11.0) + 1e-9, true), (0.25 * (needed - 11.0) - 1e-9, false)] {
        let longer = |last: f64, values: &[f64]| system(&[values, &[last]].concat());
        let screening = selection.screen(&[longer(more, &up), longer(0.0, &[0.0; 10])], "x").unwrap();
        assert_eq!(screening.best, ends.then_some(0), "{more}");
        assert_eq!(screening.eliminated, [None, ends.then_some(11)], "{more}");
    }
    // Without variance the first stage decides; of equal systems the first wins.
    let same = selection.screen(&[system(&[1.0; 10]), system(&[1.0; 10])], "x").unwrap();
    assert_eq!((same.best, same.at_most), (Some(0), 10));
}

#[test]
fn what_cannot_be_selected_from_is_refused() {
    let two = [system(&[1.0; 30]), system(&[2.0; 30])];
    let refused = |selection: Selection, systems: &[Observations], text: &str| {
        let error = selection.screen(systems, "x").unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    let fine = Selection::new(0.1, 0.95);
    fine.screen(&two, "x").unwrap();
    refused(fine, &two[..1], "number of systems");
    refused(Selection::new(0.0, 0.95), &two, "indifference zone is 0");
    refused(Selection::new(f64::NAN, 0.95), &two, "indifference zone is NaN");
    refused(Selection::new(f64::INFINITY, 0.95), &two, "indifference zone is inf");
    refused(Selection::new(0.1, 0.5), &two, "level of the selection is 0.5");
    refused(Selection::new(0.1, 1.0), &two, "confidence level 1");
    refused(Selection { first_stage: 9, ..fine }, &two, "first stage is 9");
    refused(Selection { first_stage: 31, ..fine }, &two, "31 needed and 30 of point");
    refused(
        Selection::new(1e-20, 0.95),
        &[system(&[1.0, 2.0].repeat(10)), two[0].clone()],
        "choose a larger one",
    );
    // Survivors with different numbers of observations.
    let values: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
    refused(fine, &[system(&values), system(&[0.5; 30])], "40 needed and 30 of point 1");
    let column = Column { name: "x".into(), values: Values::F64(vec![1.0; 30]) };
    let failed = Failure { replication: 3, cause: FailureCause::Code(1) };
    let failed = Observations::new(30, vec![column.clone()], [failed], Pairing::Independent).unwrap();
    refused(fine, &[two[0].clone(), failed], "1 replication of point 1 failed");
    let pairs = Observations::new(30, vec![column], [], Pairing::Antithetic).unwrap();
    refused(fine, &[two[0].clone(), pairs], "pairing");
    // An engine that returns observations of all points, not only of the remaining ones.
    let systems = Systems { means: &[1.0, 1.0, -50.0], deviations: &[1.0; 3], shared: 0.0 };
    let all = systems.experiment(1);
    let error = fine
        .run(&all, "y", |experiment, range| {
            systems.run(&Experiment { design: all.design.clone(), ..experiment.clone() }, range)
        })
        .unwrap_err();
    assert!(matches!(error, AnalysisError::Points { points: 2, given: 3 }), "{error}");
}
