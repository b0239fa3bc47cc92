//! In which way slices are made, where there are several: found by timing them. Of threads, how
//! many runs share a workgroup; of near teams, how far windows go.
//!
//! Invocations of a workgroup wait for each other in every branch that one takes, so runs are
//! faster far apart, as long as the device has room for so many workgroups at once. How many that
//! are depends on the model. 10⁶ events per second in slices on an H200, with 16, 20 and 32 of
//! 10,000 runs to a workgroup: `shop.toml` 2,115, 2,140 and 2,015, `jackson.toml` 2,220, 2,290 and
//! 2,230. (20 are 500 workgroups, and that device has 528 schedulers.)

use std::time::Duration;

use crate::gpu::Pace;
use crate::gpu::tune::{Budget, Order, Score, Tuner};

use super::mapping::{SliceShape, THREADS};

/// Which of these is taken at first, unless something is known: by the number of runs up to which
/// that is so. (Guesses between sizes that were measured by `bench replicas` on an H200: 64, 1,024,
/// 2,100, 5,000 and 10,000.)
pub(super) fn usual(all: u32) -> usize {
    let runs = match all {
        0..=512 => 1,
        513..=4096 => 4,
        4097..=8192 => 16,
        _ => 20,
    };
    THREADS.iter().position(|&(choice, _)| choice == runs).expect("it is one of them")
}

/// Whether near teams of so many LPs try windows to the event horizon, when windows of YAWNS hold
/// `mean` events on average. A window to the horizon holds about as many as there are until an LP
/// has a second one: some sqrt(LPs). (`bench replicas` on an H200: 1.1 times as fast where windows
/// of 64 LPs hold 20 to 30, 0.9 where those of 256 hold 90.)
fn is_sparse(lps: u32, mean: f64) -> bool {
    mean * mean < 16.0 * f64::from(lps)
}

/// A slice tells how fast a choice is if it lasts so long.
const LASTING: Duration = Duration::from_millis(4);

/// In trials, slices are shorter by that than the usual ones ([`SLICE`](crate::gpu::SLICE)), which
/// last more than `LASTING` then.
const SHORTER: u32 = 3;

/// The best choice so far and its rival take two slices each.
const BUDGET: Budget = Budget { samples: 2, rounds: usize::MAX };

/// The number of the rival among the two.
const RIVAL: usize = 1;

/// Windows go to the event horizon no more after so many slices that had to end for it. (A guess:
/// each costs a slice of windows of YAWNS.)
const HALTS: u32 = 8;

/// What trials found: the best choice of those that they came to, and whether these were all.
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
    /// Whether a trial may need another kernel than the best has, which is compiled then: any, and
    /// that of windows to the event horizon.
    compiles: [bool; 2],
    /// Whether nobody may change the choice.
    fixed: bool,
    /// Whether the next slice is to be by windows of YAWNS, and how often that was so.
    halted: bool,
    halts: u32,
    /// Whether the next slice is the first of its batch, which waits for what was begun before.
    first: bool,
    /// Whether all runs of the batch took part in the last slice, to its end.
    whole: bool,
    /// Of slices since that is no more so: what few runs take says nothing of the next batch.
    tail: Pace,
    /// Events per second, of the best.
    rate: Option<f64>,
}

#[derive(Debug)]
struct Choice {
    shape: SliceShape,
    pace: Pace,
    /// Whether a slice lasted: before that, slices are to grow as fast as they can.
    lasts: bool,
    /// Whether one did not that was shorter, of slices that cannot grow any more.
    short: bool,
    tried: bool,
}

#[derive(Debug)]
struct Trial {
    rival: usize,
    /// Of the best and its rival.
    tuner: Tuner<SliceShape>,
}

impl SliceTuner {
    /// This choice among the ways, and no other one. `pace`: of slices.
    pub(super) fn fixed(shapes: Vec<SliceShape>, choice: usize, pace: &Pace) -> Self {
        Self { fixed: true, ..Self::of(shapes, choice, true, pace) }
    }

    /// The best of the ways: `usual` at first, or what was found before.
    pub(super) fn found(
        shapes: Vec<SliceShape>,
        usual: usize,
        known: Option<TrialResult>,
        pace: &Pace,
    ) -> Self {
        let best = known.map_or(usual, |known| known.choice);
        let mut tuner = Self::of(shapes, best, known.is_some_and(|known| known.all), pace);
        if known.is_some() {
            // Those of the same kernel were tried before.
            let shape = tuner.choices[best].shape;
            for choice in &mut tuner.choices {
                choice.tried |= !choice.shape.has_another_kernel(shape);
            }
        }
        // Windows to the horizon are proposed by what the others hold.
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

    /// A batch begins.
    pub(super) fn begin(&mut self) {
        (self.first, self.whole) = (true, true);
    }

    /// How many runs share a workgroup, by a choice.
    pub(super) fn runs(&self, choice: usize) -> u32 {
        self.choices[choice].shape.runs
    }

    /// Takes in what windows of the last slice held on average, of near teams of so many LPs.
    pub(super) fn windows(&mut self, lps: u32, events: u32, windows: u32) {
        if windows > 0 && self.trial.is_none() && is_sparse(lps, f64::from(events) / f64::from(windows)) {
            self.challenge();
        }
    }

    /// A run could not go on in the last slice, whose windows went to the event horizon: the next
    /// slice's do not. Where that comes too often and the choice is not fixed, none do from now on.
    pub(super) fn halt(&mut self) {
        self.halted = true;
        self.halts += 1;
        if self.halts == HALTS && !self.fixed {
            (self.best, self.trial, self.rate) = (0, None, None);
            self.choices.iter_mut().for_each(|choice| choice.tried = true);
        }
    }

    /// Whether trials may take a kernel that is yet to be compiled, from now on: any, and that of
    /// windows to the event horizon.
    pub(super) fn allow(&mut self, compiles: [bool; 2]) {
        self.compiles = compiles;
    }

    /// Whether a trial takes another kernel than the best has.
    fn is_of_another_kernel(&self, trial: &Trial) -> bool {
        self.choices[trial.rival].shape.has_another_kernel(self.choices[self.best].shape)
    }

    /// The trial that may go on.
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

    /// Steps of the next slice.
    pub(super) fn steps(&self) -> u32 {
        if !self.whole {
            return self.tail.units();
        }
        let choice = &self.choices[self.next()];
        // A trial is no longer than it has to be.
        let shorter = if self.trial().is_some() && choice.lasts && !choice.short { SHORTER } else { 1 };
        choice.pace.units().div_ceil(shorter)
    }

    /// The best so far.
    #[cfg(test)]
    fn best(&self) -> SliceShape {
        self.choices[self.best].shape
    }

    /// Events per second of the best, in slices that lasted while all runs took part.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// What is to be kept for other batches: all that trials can find, or all that they can with
    /// the kernel that there is.
    pub(super) fn known(&self) -> Option<TrialResult> {
        let waits = |trial: &Trial| trial.tuner.turns() == 0 && self.is_of_another_kernel(trial);
        let ended = self.choices.len() > 1 && !self.fixed && self.trial.as_ref().is_none_or(waits);
        let proposed = self.choices.iter().all(|choice| choice.tried || !choice.shape.horizon);
        let all = self.trial.is_none() && proposed;
        ended.then_some(TrialResult { choice: self.best, all })
    }

    /// Whether the present batch may yet find a better number.
    pub(super) fn is_open(&self) -> bool {
        self.trial().is_some() && self.whole
    }

    /// Takes in what a slice by a choice did; `whole`: whether all runs took part, to its end.
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
        // (Since it was chosen, a kernel may have been allowed.)
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

    /// Begins the next trial, of a neighbour of the best that had none: one of the same kernel, if
    /// there is.
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

    /// What is known if so many runs to a workgroup are best.
    fn known(runs: u32, all: bool) -> Option<TrialResult> {
        let choice = THREADS.iter().position(|&(choice, _)| choice == runs).unwrap();
        Some(TrialResult { choice, all })
    }

    /// What is found on a device that executes so many events in a second, by number of runs to a
    /// workgroup; it gets faster by a share each slice.
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
        panic!("it does not come to an end");
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
            // More runs to a workgroup are faster.
            tuner.record(now, tuner.steps(), LASTING, 1000 * tuner.runs(now), true);
        };
        for _ in 0..20 {
            slice(&mut tuner);
        }
        // Up to 16 are served by one kernel.
        assert_eq!((tuner.is_open(), tuner.known()), (false, known(16, false)));
        // Another batch begins there, and tries neither again.
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
        // The first slice of a batch tells nothing; then the best has its turn, and its rival,
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
        // 1 µs a step, and 9 ms at the most.
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
    fn short_slices_first_ones_and_those_in_which_runs_end_tell_nothing() {
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
        // The best had its turn. Once a run has ended, the rest of the batch is for the best; the
        // next batch goes on.
        next(&mut tuner, LASTING * 2, true);
        assert_eq!(tuner.next(), 1);
        next(&mut tuner, LASTING * 2, false);
        assert_eq!((tuner.next(), tuner.is_open(), tuner.known()), (0, false, None));
        next(&mut tuner, LASTING * 2, false);
        tuner.begin();
        assert_eq!((tuner.next(), tuner.is_open()), (1, true));
    }

    /// Windows of near teams: of YAWNS, and to the event horizon.
    fn teams(known: Option<TrialResult>) -> SliceTuner {
        let shapes = [false, true].map(|horizon| SliceShape { runs: 1, group_size: 64, horizon }).to_vec();
        let mut tuner = SliceTuner::found(shapes, 0, known, &Pace::new(1 << 20));
        tuner.allow([false, true]);
        tuner
    }

    /// Makes slices until one is by windows to the horizon, which execute so many times as many
    /// events in a second; says whether one is. Windows hold `mean`.
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
        // What they hold may be less another time.
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
        // But where somebody chose it, for one slice.
        let shapes = [false, true].map(|horizon| SliceShape { runs: 1, group_size: 64, horizon }).to_vec();
        let mut fixed = SliceTuner::fixed(shapes, 1, &Pace::new(1 << 20));
        fixed.halt();
        assert_eq!(fixed.next(), 0);
        fixed.record(0, fixed.steps(), LASTING, 1000, true);
        assert_eq!(fixed.next(), 1);
    }
}
