//! Chooses the shape of slices by timing: for threads, the number of runs per workgroup; for teams
//! in workgroup memory, how far windows reach.
//!
//! Invocations of a workgroup wait for each other in every branch that one of them takes. So fewer
//! runs per workgroup are faster, as long as the device can hold all workgroups at once. That
//! number depends on the model.

use std::time::Duration;

use crate::gpu::Pace;
use crate::gpu::tune::{Budget, Order, Score, Tuner};

use super::mapping::{SliceShape, THREADS};

/// The first choice without earlier outcomes, by the number of runs. (Guesses between measured
/// sizes.)
pub(super) fn usual(all: u32) -> usize {
    let runs = match all {
        0..=512 => 1,
        513..=4096 => 4,
        4097..=8192 => 16,
        _ => 20,
    };
    THREADS.iter().position(|&(choice, _)| choice == runs).expect("it is one of them")
}

/// Whether teams with `lps` LPs in workgroup memory try event-horizon windows, if YAWNS windows
/// hold `mean` events on average. An event-horizon window holds about sqrt(LPs) events: as many as
/// are drawn before an LP has a second one.
fn is_sparse(lps: u32, mean: f64) -> bool {
    mean * mean < 16.0 * f64::from(lps)
}

/// The minimum time of a slice that measures a choice.
const LASTING: Duration = Duration::from_millis(4);

/// The factor by which slices of trials are shorter than usual ([`SLICE`](crate::gpu::SLICE)); they
/// still exceed `LASTING`.
const SHORTER: u32 = 3;

/// The best choice and its rival take two slices each.
const BUDGET: Budget = Budget { samples: 2, rounds: usize::MAX };

/// The index of the rival among the two.
const RIVAL: usize = 1;

/// The number of halted slices after which windows no longer reach the event horizon. (A guess:
/// each halt costs a slice of YAWNS windows.)
const HALTS: u32 = 8;

/// The outcome of trials: the best choice of those tried, and whether all were tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrialResult {
    choice: usize,
    all: bool,
}

#[derive(Debug)]
pub(super) struct SliceTuner {
    choices: Vec<Choice>,
    best: usize,
    trial: Option<Trial>,
    /// Whether a trial may compile another kernel than that of the best choice: any kernel, and
    /// that of event-horizon windows.
    compiles: [bool; 2],
    /// Whether the choice is fixed.
    fixed: bool,
    /// Whether the next slice uses YAWNS windows, and how often that was necessary.
    halted: bool,
    halts: u32,
    /// Whether the next slice is the first of its batch, which waits for earlier work.
    first: bool,
    /// Whether all runs of the batch took part in the last slice, to its end.
    whole: bool,
    /// The pace of slices after that: the time of few runs does not predict the next batch.
    tail: Pace,
    /// Events per second of the best choice.
    rate: Option<f64>,
}

#[derive(Debug)]
struct Choice {
    shape: SliceShape,
    pace: Pace,
    /// Whether a slice was long enough: before that, slices grow as fast as they can.
    lasts: bool,
    /// Whether a shorter slice was not long enough, because slices cannot grow any more.
    short: bool,
    tried: bool,
}

#[derive(Debug)]
struct Trial {
    rival: usize,
    /// Compares the best choice and its rival.
    tuner: Tuner<SliceShape>,
}

impl SliceTuner {
    /// Uses this choice among the shapes, and no other. `pace` is that of slices.
    pub(super) fn fixed(shapes: Vec<SliceShape>, choice: usize, pace: &Pace) -> Self {
        Self { fixed: true, ..Self::of(shapes, choice, true, pace) }
    }

    /// Finds the best of the shapes, from `usual` or from an earlier outcome.
    pub(super) fn found(
        shapes: Vec<SliceShape>,
        usual: usize,
        known: Option<TrialResult>,
        pace: &Pace,
    ) -> Self {
        let best = known.map_or(usual, |known| known.choice);
        let mut tuner = Self::of(shapes, best, known.is_some_and(|known| known.all), pace);
        if known.is_some() {
            // Shapes with the same kernel were tried before.
            let shape = tuner.choices[best].shape;
            for choice in &mut tuner.choices {
                choice.tried |= !choice.shape.has_another_kernel(shape);
            }
        }
        // Event-horizon windows are tried depending on the contents of YAWNS windows.
        if !tuner.choices.iter().any(|choice| choice.shape.horizon) {
            tuner.challenge();
        }
        tuner
    }

    fn of(shapes: Vec<SliceShape>, best: usize, tried: bool, pace: &Pace) -> Self {
        let choice = |shape| Choice { shape, pace: pace.clone(), lasts: false, short: false, tried };
        Self {
            choices: shapes.into_iter().map(choice).collect(),
            best,
            trial: None,
            compiles: [false; 2],
            fixed: false,
            halted: false,
            halts: 0,
            first: true,
            whole: true,
            tail: pace.clone(),
            rate: None,
        }
    }

    /// Starts a batch.
    pub(super) fn begin(&mut self) {
        (self.first, self.whole) = (true, true);
    }

    /// The runs per workgroup of a choice.
    pub(super) fn runs(&self, choice: usize) -> u32 {
        self.choices[choice].shape.runs
    }

    /// Records how many events the windows of the last slice held, for teams of `lps` LPs in
    /// workgroup memory.
    pub(super) fn windows(&mut self, lps: u32, events: u32, windows: u32) {
        if windows > 0 && self.trial.is_none() && is_sparse(lps, f64::from(events) / f64::from(windows)) {
            self.challenge();
        }
    }

    /// Records that a run could not continue in the last slice, with event-horizon windows: the
    /// next slice uses YAWNS windows. After [`HALTS`] halts, unless the choice is fixed, all later
    /// slices do.
    pub(super) fn halt(&mut self) {
        self.halted = true;
        self.halts += 1;
        if self.halts == HALTS && !self.fixed {
            (self.best, self.trial, self.rate) = (0, None, None);
            self.choices.iter_mut().for_each(|choice| choice.tried = true);
        }
    }

    /// Sets whether trials may compile a kernel from now on: any kernel, and that of event-horizon
    /// windows.
    pub(super) fn allow(&mut self, compiles: [bool; 2]) {
        self.compiles = compiles;
    }

    /// Whether a trial needs another kernel than the best choice.
    fn is_of_another_kernel(&self, trial: &Trial) -> bool {
        self.choices[trial.rival].shape.has_another_kernel(self.choices[self.best].shape)
    }

    /// The trial that may continue.
    fn trial(&self) -> Option<&Trial> {
        let compiles = |trial: &Trial| self.compiles[usize::from(self.choices[trial.rival].shape.horizon)];
        self.trial.as_ref().filter(|trial| compiles(trial) || !self.is_of_another_kernel(trial))
    }

    /// The choice for the next slice.
    pub(super) fn next(&self) -> usize {
        match self.trial() {
            _ if self.halted => 0,
            Some(trial) if self.whole && trial.tuner.next() == Some(RIVAL) => trial.rival,
            _ => self.best,
        }
    }

    /// The number of steps of the next slice.
    pub(super) fn steps(&self) -> u32 {
        if !self.whole {
            return self.tail.units();
        }
        let choice = &self.choices[self.next()];
        // A trial is no longer than necessary.
        let shorter = if self.trial().is_some() && choice.lasts && !choice.short { SHORTER } else { 1 };
        choice.pace.units().div_ceil(shorter)
    }

    /// The best shape known.
    #[cfg(test)]
    fn best(&self) -> SliceShape {
        self.choices[self.best].shape
    }

    /// Events per second of the best choice, in slices that lasted while all runs took part.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// The outcome for other batches: all that trials can find, or all that they can find with the
    /// present kernel.
    pub(super) fn known(&self) -> Option<TrialResult> {
        let waits = |trial: &Trial| trial.tuner.turns() == 0 && self.is_of_another_kernel(trial);
        let ended = self.choices.len() > 1 && !self.fixed && self.trial.as_ref().is_none_or(waits);
        let proposed = self.choices.iter().all(|choice| choice.tried || !choice.shape.horizon);
        let all = self.trial.is_none() && proposed;
        ended.then_some(TrialResult { choice: self.best, all })
    }

    /// Whether the current batch may still find a better choice.
    pub(super) fn is_open(&self) -> bool {
        self.trial().is_some() && self.whole
    }

    /// Records a slice of a choice; `whole`: whether all runs took part, to its end.
    pub(super) fn record(&mut self, now: usize, steps: u32, took: Duration, events: u32, whole: bool) {
        let pace = if self.whole { &mut self.choices[now].pace } else { &mut self.tail };
        pace.record(steps, took);
        self.halted = false;
        let first = std::mem::take(&mut self.first);
        if self.whole && !first {
            let choice = &mut self.choices[now];
            choice.short |= choice.lasts && took < LASTING;
            choice.lasts |= took >= LASTING;
        }
        if self.whole && !whole {
            self.tail = self.choices[now].pace.clone();
        }
        self.whole &= whole;
        if first || !self.whole || took < LASTING {
            return;
        }
        let done = (f64::from(events), took.as_secs_f64());
        if now == self.best {
            self.rate = Some(done.0 / done.1);
        }
        if self.trial().is_none() {
            return;
        }
        let Some(trial) = &mut self.trial else { return };
        // (A kernel may have been allowed since the choice.)
        if trial.tuner.next().map(|turn| [self.best, trial.rival][turn]) != Some(now) {
            return;
        }
        trial.tuner.record(Some(done));
        if trial.tuner.next().is_some() {
            return;
        }
        trial.tuner.log(&"replica slices", "events");
        if trial.tuner.best() == Some(self.choices[trial.rival].shape) {
            let rate = trial.tuner.rates().nth(RIVAL).map(|(_, rate)| rate);
            (self.best, self.rate) = (trial.rival, rate);
        }
        self.challenge();
    }

    /// Starts the next trial, of an untried neighbour of the best choice: one with the same kernel
    /// if possible.
    fn challenge(&mut self) {
        self.choices[self.best].tried = true;
        let shape = self.choices[self.best].shape;
        let rival = [self.best + 1, self.best.wrapping_sub(1)]
            .into_iter()
            .filter(|&rival| self.choices.get(rival).is_some_and(|choice| !choice.tried))
            .min_by_key(|&rival| self.choices[rival].shape.has_another_kernel(shape));
        self.trial = rival.map(|rival| {
            self.choices[rival].tried = true;
            let shapes = [(shape, 1.0), (self.choices[rival].shape, 1.0)];
            Trial { rival, tuner: Tuner::new(shapes, Order::Mirrored, Score::Total, BUDGET) }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::SLICE;

    fn shapes() -> Vec<SliceShape> {
        THREADS.map(|(runs, group_size)| SliceShape { runs, group_size, horizon: false }).to_vec()
    }

    fn found(all: u32, known: Option<TrialResult>) -> SliceTuner {
        SliceTuner::found(shapes(), usual(all), known, &Pace::new(1 << 20))
    }

    /// The outcome if `runs` runs per workgroup are best.
    fn known(runs: u32, all: bool) -> Option<TrialResult> {
        let choice = THREADS.iter().position(|&(choice, _)| choice == runs).unwrap();
        Some(TrialResult { choice, all })
    }

    /// The runs per workgroup chosen on a device with these `rate`s of events per second. The
    /// device gets faster by a share each slice.
    fn decided(all: u32, rate: impl Fn(u32) -> f64, drift: f64) -> u32 {
        let mut tuner = found(all, None);
        tuner.allow([true; 2]);
        for slice in 0..100 {
            if !tuner.is_open() {
                return tuner.best().runs;
            }
            let (now, steps) = (tuner.next(), tuner.steps());
            let seconds =
                1e-6 + 1000.0 * f64::from(steps) / rate(tuner.runs(now)) / (1.0 + drift * f64::from(slice));
            tuner.record(now, steps, Duration::from_secs_f64(seconds), 1000 * steps, true);
        }
        panic!("the trials do not end");
    }

    #[test]
    fn the_fastest_is_found_from_either_side() {
        for (best, _) in THREADS {
            let distance = |runs: u32| (f64::from(runs).log2() - f64::from(best).log2()).abs();
            for all in [100, 10_000] {
                for drift in [0.0, 0.02] {
                    let found = decided(all, |runs| 1e9 / (1.0 + 0.2 * distance(runs)), drift);
                    assert_eq!(found, best, "{all} runs, drift {drift}");
                }
            }
        }
    }

    #[test]
    fn no_kernel_is_compiled_before_it_is_allowed() {
        let mut tuner = found(100, None);
        let slice = |tuner: &mut SliceTuner| {
            let now = tuner.next();
            // More runs per workgroup are faster.
            tuner.record(now, tuner.steps(), LASTING, 1000 * tuner.runs(now), true);
        };
        for _ in 0..20 {
            slice(&mut tuner);
        }
        // One kernel serves up to 16.
        assert_eq!((tuner.is_open(), tuner.known()), (false, known(16, false)));
        // Another batch starts there, and repeats no trial.
        let again = found(100, tuner.known());
        assert_eq!((again.best().runs, again.is_open()), (16, false));
        tuner.allow([true; 2]);
        for _ in 0..20 {
            slice(&mut tuner);
        }
        assert_eq!((tuner.is_open(), tuner.known()), (false, known(32, true)));
    }

    /// A kernel may be allowed while a slice is on the device.
    #[test]
    fn a_slice_counts_for_the_choice_that_it_was_of() {
        let mut tuner = found(100, known(16, false));
        let mut slice = |allowed_before: bool| {
            tuner.allow([allowed_before; 2]);
            let (now, steps) = (tuner.next(), tuner.steps());
            tuner.allow([true; 2]);
            tuner.record(now, steps, LASTING, 1000, true);
            (tuner.runs(now), tuner.trial.as_ref().map(|trial| trial.tuner.turns()))
        };
        // The first slice of a batch is not measured. Then come the best choice, and its rival,
        // whose kernel is not allowed yet.
        assert_eq!(slice(true), (16, Some(0)));
        assert_eq!(slice(true), (16, Some(1)));
        assert_eq!(slice(false), (16, Some(1)));
        assert_eq!(slice(true), (20, Some(2)));
    }

    #[test]
    fn slices_of_trials_are_shorter_and_last() {
        // 10 µs a step.
        let slice = |tuner: &mut SliceTuner| {
            let (now, steps) = (tuner.next(), tuner.steps());
            let took = Duration::from_micros(10) * steps;
            tuner.record(now, steps, took, 1000, true);
            took
        };
        let mut tuner = found(10, None);
        let mut lasting = 0;
        while tuner.is_open() {
            let took = slice(&mut tuner);
            assert!(took < SLICE / 2, "{took:?}");
            lasting += u32::from(took >= LASTING);
        }
        assert!(lasting >= 4, "{lasting}");
        let found = slice(&mut tuner);
        assert!(found > SLICE * 2 / 3, "{found:?}");
    }

    #[test]
    fn slices_that_cannot_be_longer_are_not_made_shorter() {
        // 1 µs a step, and at most 9 ms.
        let mut tuner = SliceTuner::found(shapes(), 0, None, &Pace::new(9000));
        for _ in 0..100 {
            let (now, steps) = (tuner.next(), tuner.steps());
            tuner.record(now, steps, Duration::from_micros(1) * steps, 1000, true);
        }
        assert!(!tuner.is_open());
    }

    #[test]
    fn what_is_known_or_fixed_is_not_tried() {
        let known = found(10, known(16, true));
        assert!(!known.is_open());
        assert_eq!(known.best().runs, 16);
        let fixed = SliceTuner::fixed(shapes(), 2, &Pace::new(1 << 20));
        assert!(!fixed.is_open());
        assert_eq!((fixed.best().runs, fixed.next(), fixed.known()), (8, 2, None));
    }

    #[test]
    fn short_slices_first_ones_and_those_in_which_runs_end_are_not_measured() {
        let mut tuner = found(10, None);
        let next = |tuner: &mut SliceTuner, took, whole| {
            tuner.record(tuner.next(), tuner.steps(), took, 1000, whole)
        };
        for _ in 0..10 {
            tuner.begin();
            next(&mut tuner, LASTING * 20, true);
            next(&mut tuner, LASTING / 2, true);
            assert!(tuner.is_open());
            assert_eq!((tuner.best().runs, tuner.next(), tuner.rate()), (1, 0, None));
        }
        // The best choice had its turn. Once a run has ended, the rest of the batch uses the best
        // choice; the next batch continues the trial.
        next(&mut tuner, LASTING * 2, true);
        assert_eq!(tuner.next(), 1);
        next(&mut tuner, LASTING * 2, false);
        assert_eq!((tuner.next(), tuner.is_open(), tuner.known()), (0, false, None));
        next(&mut tuner, LASTING * 2, false);
        tuner.begin();
        assert_eq!((tuner.next(), tuner.is_open()), (1, true));
    }

    /// Windows of teams in workgroup memory: YAWNS, and event horizon.
    fn teams(known: Option<TrialResult>) -> SliceTuner {
        let shapes = [false, true].map(|horizon| SliceShape { runs: 1, group_size: 64, horizon }).to_vec();
        let mut tuner = SliceTuner::found(shapes, 0, known, &Pace::new(1 << 20));
        tuner.allow([false, true]);
        tuner
    }

    /// Records slices until one has event-horizon windows, which execute `times` as many events per
    /// second. Returns whether one does. Windows hold `mean` events.
    fn slices(tuner: &mut SliceTuner, times: u32, mean: u32) -> bool {
        (0..20).any(|_| {
            let now = tuner.next();
            let events = if now == 1 { 1000 * times } else { 1000 };
            tuner.record(now, tuner.steps(), LASTING, events, true);
            tuner.windows(64, mean * 100, 100);
            now == 1
        })
    }

    #[test]
    fn windows_go_to_the_horizon_where_they_are_nearly_empty_and_that_is_faster() {
        let mut tuner = teams(None);
        assert!(!slices(&mut tuner, 9, 32), "full windows");
        // Windows may hold fewer events another time.
        assert_eq!(tuner.known(), Some(TrialResult { choice: 0, all: false }));
        assert!(slices(&mut tuner, 2, 31));
        assert!(tuner.is_open());
        slices(&mut tuner, 2, 31);
        slices(&mut tuner, 2, 31);
        assert_eq!((tuner.is_open(), tuner.known()), (false, Some(TrialResult { choice: 1, all: true })));
        assert!(teams(tuner.known()).best().horizon);
        let mut slow = teams(None);
        while !slow.choices[1].tried || slow.is_open() {
            let now = slow.next();
            slow.record(now, slow.steps(), LASTING, if now == 1 { 999 } else { 1000 }, true);
            slow.windows(64, 100, 100);
        }
        assert!(!slices(&mut slow, 9, 1));
        assert_eq!(slow.known(), Some(TrialResult { choice: 0, all: true }));
    }

    #[test]
    fn where_a_run_cannot_go_on_windows_are_those_of_yawns() {
        let mut tuner = teams(Some(TrialResult { choice: 1, all: true }));
        for halts in 1..=HALTS {
            assert_eq!(tuner.next(), 1);
            tuner.halt();
            assert_eq!((tuner.next(), tuner.is_open()), (0, false));
            tuner.record(0, tuner.steps(), LASTING, 1000, true);
            assert_eq!(tuner.best().horizon, halts < HALTS);
        }
        tuner.record(0, tuner.steps(), LASTING, 1000, true);
        tuner.windows(64, 100, 100);
        assert_eq!((tuner.next(), tuner.is_open()), (0, false));
        // If it is a user's choice, only for one slice.
        let shapes = [false, true].map(|horizon| SliceShape { runs: 1, group_size: 64, horizon }).to_vec();
        let mut fixed = SliceTuner::fixed(shapes, 1, &Pace::new(1 << 20));
        fixed.halt();
        assert_eq!(fixed.next(), 0);
        fixed.record(0, fixed.steps(), LASTING, 1000, true);
        assert_eq!(fixed.next(), 1);
    }
}
