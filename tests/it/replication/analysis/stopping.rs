use super::sample;
use eventhorizon::random::Stream;
use eventhorizon::statistics::{
    AnalysisError, Budget, Column, Decision, Failure, FailureCause, Observations, Pairing, Precision, Spent,
    Stopping, Summary, Values,
};
use proptest::prelude::*;
use std::time::Duration;

const NO_TIME: Duration = Duration::ZERO;

fn rule(relative: f64, replications: Option<u64>, seconds: Option<u64>) -> Stopping {
    let budget = Budget { replications, time: seconds.map(Duration::from_secs), ..Budget::default() };
    Stopping::new(Precision::relative(relative), budget)
}

/// `n` values around a mean of 100, with a half width near `half`.
fn summary(n: usize, half: f64) -> Summary {
    let deviation = half * (n as f64).sqrt() / 1.96;
    sample(Values::F64((0..n).map(|i| 100.0 + if i % 2 == 0 { deviation } else { -deviation }).collect()))
        .summary("x", 0.95)
        .unwrap()
}

fn next(rule: &Stopping, summaries: &[Summary], elapsed: Duration) -> Decision {
    rule.next(Pairing::Independent, summaries, elapsed)
}

#[test]
fn it_asks_for_what_the_square_root_law_says() {
    let rule = rule(0.01, None, None);
    assert_eq!(next(&rule, &[], NO_TIME), Decision::Continue(30));
    assert_eq!(next(&rule, &[summary(20, 0.1)], NO_TIME), Decision::Continue(10));
    assert_eq!(next(&rule, &[summary(1000, 0.9)], NO_TIME), Decision::Reached);
    // Twice too wide: four times as many.
    let Decision::Continue(more) = next(&rule, &[summary(1000, 2.0)], NO_TIME) else { panic!() };
    assert!((2980..3040).contains(&more), "{more}");
    // The widest column decides, in any position.
    assert_eq!(next(&rule, &[summary(1000, 2.0), summary(1000, 0.5)], NO_TIME), Decision::Continue(more));
    // Nearly there, and far away: steps stay between a tenth and nine times the current number.
    assert_eq!(next(&rule, &[summary(1000, 1.001)], NO_TIME), Decision::Continue(100));
    assert_eq!(next(&rule, &[summary(1000, 90.0)], NO_TIME), Decision::Continue(9000));
}

#[test]
fn a_mean_near_zero_needs_an_absolute_bound() {
    let zero = sample(Values::I32([-1, 1].repeat(50))).summary("x", 0.95).unwrap();
    let mut rule = rule(0.01, Some(1000), None);
    assert_eq!(next(&rule, std::slice::from_ref(&zero), NO_TIME), Decision::Continue(900));
    rule.precision.absolute = 0.5;
    assert_eq!(next(&rule, &[zero], NO_TIME), Decision::Reached);
}

#[test]
fn it_says_which_budget_ended_the_run() {
    let replications = rule(0.01, Some(1200), None);
    assert_eq!(next(&replications, &[summary(1000, 2.0)], NO_TIME), Decision::Continue(200));
    assert_eq!(next(&replications, &[summary(1200, 2.0)], NO_TIME), Decision::ReplicationsSpent);
    // A precision that the last replication reaches is reached.
    assert_eq!(next(&replications, &[summary(1200, 0.5)], NO_TIME), Decision::Reached);
    let time = rule(0.01, None, Some(10));
    let at = |seconds| next(&time, &[summary(1000, 2.0)], Duration::from_secs(seconds));
    let Decision::Continue(3000..3040) = at(1) else { panic!("{:?}", at(1)) };
    // 1000 took 8 seconds, so 250 fit the last 2.
    assert_eq!(at(8), Decision::Continue(250));
    assert_eq!(at(10), Decision::TimeSpent);
    // There is always a first step.
    assert_eq!(next(&time, &[], Duration::from_secs(11)), Decision::Continue(30));
    // A slow model still gets one more step.
    let slow = Duration::from_millis(9_999);
    assert_eq!(next(&time, &[summary(30, 2.0)], slow), Decision::Continue(1));
}

#[test]
fn events_are_a_budget_that_no_clock_changes() {
    let rule =
        Stopping { budget: Budget { events: Some(50_000), ..Budget::default() }, ..rule(0.01, None, None) };
    let at = |events, summaries: &[Summary]| {
        let spent = |seconds| Spent { events, time: Duration::from_secs(seconds) };
        let decision = rule.next(Pairing::Independent, summaries, spent(0));
        assert_eq!(rule.next(Pairing::Independent, summaries, spent(1000)), decision);
        decision
    };
    // There is always a first step.
    assert_eq!(at(0, &[]), Decision::Continue(30));
    // 1000 took 40,000, so 250 fit the rest.
    assert_eq!(at(40_000, &[summary(1000, 2.0)]), Decision::Continue(250));
    for events in [49_999, 50_000, 60_000] {
        assert_eq!(at(events, &[summary(1000, 2.0)]), Decision::EventsSpent);
    }
    assert_eq!(at(60_000, &[summary(1000, 0.5)]), Decision::Reached);
}

#[test]
fn pairs_stay_whole() {
    let rule = rule(0.01, Some(1101), None);
    let next = |summaries: &[Summary]| rule.next(Pairing::Antithetic, summaries, NO_TIME);
    assert_eq!(
        Stopping { minimum: 31, ..rule }.next(Pairing::Antithetic, &[], NO_TIME),
        Decision::Continue(32)
    );
    assert_eq!(next(&[summary(1000, 2.0)]), Decision::Continue(100));
    assert_eq!(next(&[summary(1100, 2.0)]), Decision::ReplicationsSpent);
    // 2000 replications are 1000 pairs; the proposal is in replications.
    let values = Values::F64((0..2000).map(|i| 100.0 + [25.0, 25.0, -25.0, -25.0][i % 4]).collect());
    let point =
        Observations::new(2000, vec![Column { name: "x".into(), values }], [], Pairing::Antithetic).unwrap();
    let pairs = point.summary("x", 0.95).unwrap();
    assert_eq!(pairs.observations, 1000);
    // The half width is 1.55, so 2.4 times as many.
    let unbounded = Stopping { budget: Budget::default(), ..rule };
    let Decision::Continue(more) = unbounded.next(Pairing::Antithetic, &[pairs], NO_TIME) else { panic!() };
    assert!(more % 2 == 0 && (2780..2860).contains(&more), "{more}");
}

#[test]
fn a_run_in_which_all_fail_ends() {
    let failures = (0..40).map(|replication| Failure { replication, cause: FailureCause::Code(1) });
    let column = Column { name: "x".into(), values: Values::U32(vec![0; 40]) };
    let point = Observations::new(40, vec![column], failures, Pairing::Independent).unwrap();
    let rule = rule(0.01, None, None);
    assert_eq!(next(&rule, &point.summaries(0.95).unwrap(), NO_TIME), Decision::AllFailed);
}

#[test]
fn a_run_ends_at_its_precision() {
    let rule = rule(0.02, Some(1_000_000), None);
    let mut values = Vec::new();
    let mut looks = 0;
    let end = loop {
        let summaries = sample(Values::F64(values.clone())).summaries(0.95).unwrap();
        match next(&rule, &summaries, NO_TIME) {
            Decision::Continue(more) => {
                let first = values.len() as u64;
                values.extend((0..more).map(|i| {
                    let word = Stream::new(11, 0, first + i).draw();
                    -((f64::from(word) + 0.5) / 2_f64.powi(32)).ln()
                }));
                looks += 1;
            }
            end => break end,
        }
    };
    assert_eq!(end, Decision::Reached);
    // The exponential needs about (1.96 / 0.02)^2 = 9,604, reached in a few steps without much
    // excess.
    assert!((8_500..12_000).contains(&values.len()) && looks <= 6, "{} in {looks}", values.len());
}

#[test]
fn settings_that_cannot_be_met_are_refused() {
    assert!(rule(0.01, Some(30), None).check().is_ok());
    for relative in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let error = rule(relative, None, None).check().unwrap_err();
        assert!(matches!(error, AnalysisError::Setting { what: "the precision", .. }), "{error}");
    }
    let hurried = rule(0.01, None, Some(0)).check().unwrap_err();
    assert_eq!(
        hurried.to_string(),
        "the budget of time is 0 s; choose a positive time, or none for no bound"
    );
    let few = rule(0.01, Some(29), None).check().unwrap_err();
    let message =
        "the budget of replications is 29, and the minimum 30; choose at least the minimum of replications";
    assert_eq!(few.to_string(), message);
    let hasty = Stopping { minimum: 9, ..rule(0.01, None, None) };
    assert!(matches!(hasty.check(), Err(AnalysisError::Setting { .. })));
    let mut level = rule(0.01, None, None);
    level.precision.level = 95.0;
    assert!(matches!(level.check(), Err(AnalysisError::Level { .. })));
}

proptest! {
    /// For any observations, a run ends within the budget.
    #[test]
    fn every_run_ends_within_its_budget(budget in 30_u64..100_000, n in 0_usize..2000, half in 0.0..1e6_f64, pairs in any::<bool>()) {
        let pairing = if pairs { Pairing::Antithetic } else { Pairing::Independent };
        let rule = rule(0.01, Some(budget), None);
        let mut now = summary(n, half);
        for _ in 0..200 {
            match rule.next(pairing, std::slice::from_ref(&now), NO_TIME) {
                Decision::Continue(more) => {
                    prop_assert!(more > 0 && now.replications + more <= budget && (!pairs || more % 2 == 0));
                    // The interval never narrows.
                    now.replications += more;
                }
                _ => return Ok(()),
            }
        }
        prop_assert!(false, "no end");
    }
}
