//! How many runs share a workgroup, where each is served by an invocation: found by timing slices.
//!
//! Invocations of a workgroup wait for each other in every branch that one takes, so runs are faster far apart, as long as the device has room for so many workgroups at once. How many that
//! are depends on the model. 10⁶ events per second in slices on an H200, with 16, 20 and 32 of 10,000 runs to a workgroup: `shop.toml` 2,115, 2,140 and 2,015, `jackson.toml` 2,220, 2,290 and
//! 2,230. (20 are 500 workgroups, and that device has 528 schedulers.)

use std::time::Duration;

use crate::gpu::Pace;

/// How many runs may share a workgroup, and the invocations of that, of which fewer may serve runs: two kernels, because compilations are long, and not one, because each
/// invocation takes workgroup memory, of which there is little (docs/replicas.md): in the 48 KiB that NVIDIA's driver gives a processor, 9 workgroups of 16 invocations find room, or 4 of 32 (by division).
const CHOICES: [(u32, u32); 6] = [(1, 16), (4, 16), (8, 16), (16, 16), (20, 32), (32, 32)];

/// The invocations of the workgroups, by choice.
pub(super) fn groups() -> impl Iterator<Item = u32> {
    CHOICES.into_iter().map(|(_, group)| group)
}

/// How many share a workgroup at first, unless something is known: by the number of runs up to which that is so. (Guesses between sizes that were measured by `bench replicas` on an H200: 64, 1,024, 2,100, 5,000 and
/// 10,000.)
fn usual(all: u32) -> u32 {
    match all {
        0..=512 => 1,
        513..=4096 => 4,
        4097..=8192 => 16,
        _ => 20,
    }
}

/// A slice tells how fast a choice is if it lasts so long.
const LASTING: Duration = Duration::from_millis(4);

/// In trials, slices are shorter by that than the usual ones ([`SLICE`](crate::gpu::SLICE)), which last more than `LASTING` then.
const SHORTER: u32 = 3;

/// In this order the best choice so far (0) and its rival (1) take slices: what gets faster or slower by itself, as the clock of a device that was idle, is the same for both.
const TURNS: [usize; 4] = [0, 1, 1, 0];

/// What trials found: the best number of those that they came to, and whether these were all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    runs: u32,
    all: bool,
}

#[derive(Debug)]
pub(super) struct Spread {
    choices: Vec<Choice>,
    best: usize,
    trial: Option<Trial>,
    /// Whether a trial may need another kernel than the best has: it is compiled then.
    compiles: bool,
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
    runs: u32,
    /// Invocations of its workgroups: what its kernel is compiled for.
    group: u32,
    pace: Pace,
    /// Whether a slice lasted: before that, slices are to grow as fast as they can.
    lasts: bool,
    tried: bool,
}

#[derive(Debug)]
struct Trial {
    rival: usize,
    slices: usize,
    /// Of the best and its rival, what was executed in how many seconds.
    done: [(f64, f64); 2],
}

impl Spread {
    /// So many runs to a workgroup, and no other number. `pace`: of slices.
    pub(super) fn fixed(runs: u32, pace: Pace) -> Self {
        Self::of(vec![Choice { runs, group: runs, pace, lasts: false, tried: true }], 0)
    }

    /// The best number for so many runs, or one that was found before.
    pub(super) fn found(all: u32, known: Option<Known>, pace: &Pace) -> Self {
        let first = known.map_or_else(|| usual(all), |known| known.runs);
        let best = CHOICES.iter().position(|&(runs, _)| runs == first).unwrap_or(0);
        // Those of the same kernel were tried before.
        let tried = |group| known.is_some_and(|known| known.all || group == CHOICES[best].1);
        let choice =
            |(runs, group)| Choice { runs, group, pace: pace.clone(), lasts: false, tried: tried(group) };
        let mut spread = Self::of(CHOICES.map(choice).into(), best);
        spread.challenge();
        spread
    }

    fn of(choices: Vec<Choice>, best: usize) -> Self {
        let tail = choices[best].pace.clone();
        let (trial, compiles) = (None, false);
        Self { choices, best, trial, compiles, first: true, whole: true, tail, rate: None }
    }

    /// A batch begins.
    pub(super) fn begin(&mut self) {
        (self.first, self.whole) = (true, true);
    }

    /// How many runs share a workgroup, by a choice.
    pub(super) fn runs(&self, choice: usize) -> u32 {
        self.choices[choice].runs
    }

    /// Whether trials may take a kernel that is yet to be compiled, from now on.
    pub(super) fn allow(&mut self, compiles: bool) {
        self.compiles = compiles;
    }

    /// Whether a trial takes another kernel than the best has.
    fn is_of_another_kernel(&self, trial: &Trial) -> bool {
        self.choices[trial.rival].group != self.choices[self.best].group
    }

    /// The trial that may go on.
    fn trial(&self) -> Option<&Trial> {
        self.trial.as_ref().filter(|trial| self.compiles || !self.is_of_another_kernel(trial))
    }

    /// The choice for the next slice.
    pub(super) fn next(&self) -> usize {
        match self.trial() {
            Some(trial) if self.whole && TURNS[trial.slices] == 1 => trial.rival,
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
        let shorter = if self.trial().is_some() && choice.lasts { SHORTER } else { 1 };
        choice.pace.units().div_ceil(shorter)
    }

    /// The best number so far.
    pub(super) fn best(&self) -> u32 {
        self.choices[self.best].runs
    }

    /// Events per second of the best, in slices that lasted while all runs took part.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// What is to be kept for other batches: all that trials can find, or all that they can with the kernel that there is.
    pub(super) fn known(&self) -> Option<Known> {
        let waits = |trial: &Trial| trial.slices == 0 && self.is_of_another_kernel(trial);
        let ended = self.choices.len() > 1 && self.trial.as_ref().is_none_or(waits);
        ended.then(|| Known { runs: self.best(), all: self.trial.is_none() })
    }

    /// Whether the present batch may yet find a better number.
    pub(super) fn is_open(&self) -> bool {
        self.trial().is_some() && self.whole
    }

    /// Takes in what a slice by a choice did; `whole`: whether all runs took part, to its end.
    pub(super) fn record(&mut self, now: usize, steps: u32, took: Duration, events: u32, whole: bool) {
        let pace = if self.whole { &mut self.choices[now].pace } else { &mut self.tail };
        pace.record(steps, took);
        let first = std::mem::take(&mut self.first);
        if self.whole && !first {
            self.choices[now].lasts |= took >= LASTING;
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
        let turn = TURNS[trial.slices];
        if now != [self.best, trial.rival][turn] {
            return;
        }
        let (executed, seconds) = &mut trial.done[turn];
        *executed += done.0;
        *seconds += done.1;
        trial.slices += 1;
        if trial.slices < TURNS.len() {
            return;
        }
        let [best, rival] = trial.done.map(|(executed, seconds)| executed / seconds);
        let runs = [self.best, trial.rival].map(|choice| self.choices[choice].runs);
        log::info!("threads, {} runs to a workgroup: {best:.3e} events/s, {}: {rival:.3e}", runs[0], runs[1]);
        if rival > best {
            (self.best, self.rate) = (trial.rival, Some(rival));
        }
        self.challenge();
    }

    /// Begins the next trial, of a neighbour of the best that had none: one of the same kernel, if there is.
    fn challenge(&mut self) {
        self.choices[self.best].tried = true;
        let group = self.choices[self.best].group;
        let rival = [self.best + 1, self.best.wrapping_sub(1)]
            .into_iter()
            .filter(|&rival| self.choices.get(rival).is_some_and(|choice| !choice.tried))
            .min_by_key(|&rival| self.choices[rival].group != group);
        self.trial = rival.map(|rival| {
            self.choices[rival].tried = true;
            Trial { rival, slices: 0, done: Default::default() }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::SLICE;

    /// What is found on a device that executes so many events in a second, by number of runs to a workgroup; it gets faster by a share each slice.
    fn decided(all: u32, rate: impl Fn(u32) -> f64, drift: f64) -> u32 {
        let mut spread = Spread::found(all, None, &Pace::new(1 << 20));
        spread.allow(true);
        for slice in 0..100 {
            if !spread.is_open() {
                return spread.best();
            }
            let (now, steps) = (spread.next(), spread.steps());
            let seconds =
                1e-6 + 1000.0 * f64::from(steps) / rate(spread.runs(now)) / (1.0 + drift * f64::from(slice));
            spread.record(now, steps, Duration::from_secs_f64(seconds), 1000 * steps, true);
        }
        panic!("it does not come to an end");
    }

    #[test]
    fn the_fastest_is_found_from_either_side() {
        for (best, _) in CHOICES {
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
        let mut spread = Spread::found(100, None, &Pace::new(1 << 20));
        let slice = |spread: &mut Spread| {
            let now = spread.next();
            // More runs to a workgroup are faster.
            spread.record(now, spread.steps(), LASTING, 1000 * spread.runs(now), true);
        };
        for _ in 0..20 {
            slice(&mut spread);
        }
        // Up to 16 are served by one kernel.
        assert_eq!((spread.is_open(), spread.known()), (false, Some(Known { runs: 16, all: false })));
        // Another batch begins there, and tries neither again.
        let again = Spread::found(100, spread.known(), &Pace::new(1 << 20));
        assert_eq!((again.best(), again.is_open()), (16, false));
        spread.allow(true);
        for _ in 0..20 {
            slice(&mut spread);
        }
        assert_eq!((spread.is_open(), spread.known()), (false, Some(Known { runs: 32, all: true })));
    }

    /// A kernel may be allowed while a slice is on the device.
    #[test]
    fn a_slice_counts_for_the_choice_that_it_was_of() {
        let mut spread = Spread::found(100, Some(Known { runs: 16, all: false }), &Pace::new(1 << 20));
        let mut slice = |allowed_before: bool| {
            spread.allow(allowed_before);
            let (now, steps) = (spread.next(), spread.steps());
            spread.allow(true);
            spread.record(now, steps, LASTING, 1000, true);
            (spread.runs(now), spread.trial.as_ref().map(|trial| trial.slices))
        };
        // The first slice of a batch tells nothing; then the best has its turn, and its rival, whose kernel is not allowed yet.
        assert_eq!(slice(true), (16, Some(0)));
        assert_eq!(slice(true), (16, Some(1)));
        assert_eq!(slice(false), (16, Some(1)));
        assert_eq!(slice(true), (20, Some(2)));
    }

    #[test]
    fn slices_of_trials_are_shorter_and_last() {
        // 10 µs a step.
        let slice = |spread: &mut Spread| {
            let (now, steps) = (spread.next(), spread.steps());
            let took = Duration::from_micros(10) * steps;
            spread.record(now, steps, took, 1000, true);
            took
        };
        let mut spread = Spread::found(10, None, &Pace::new(1 << 20));
        let mut lasting = 0;
        while spread.is_open() {
            let took = slice(&mut spread);
            assert!(took < SLICE / 2, "{took:?}");
            lasting += u32::from(took >= LASTING);
        }
        assert!(lasting >= 4, "{lasting}");
        let found = slice(&mut spread);
        assert!(found > SLICE * 2 / 3, "{found:?}");
    }

    #[test]
    fn what_is_known_or_fixed_is_not_tried() {
        let pace = Pace::new(1 << 20);
        let known = Spread::found(10, Some(Known { runs: 16, all: true }), &pace);
        assert!(!known.is_open());
        assert_eq!(known.best(), 16);
        let fixed = Spread::fixed(8, pace);
        assert!(!fixed.is_open());
        assert_eq!((fixed.best(), fixed.next(), fixed.choices.len()), (8, 0, 1));
    }

    #[test]
    fn short_slices_first_ones_and_those_in_which_runs_end_tell_nothing() {
        let mut spread = Spread::found(10, None, &Pace::new(1 << 20));
        let next = |spread: &mut Spread, took, whole| {
            spread.record(spread.next(), spread.steps(), took, 1000, whole)
        };
        for _ in 0..10 {
            spread.begin();
            next(&mut spread, LASTING * 20, true);
            next(&mut spread, LASTING / 2, true);
            assert!(spread.is_open());
            assert_eq!((spread.best(), spread.next(), spread.rate()), (1, 0, None));
        }
        // The best had its turn. Once a run has ended, the rest of the batch is for the best; the next batch goes on.
        next(&mut spread, LASTING * 2, true);
        assert_eq!(spread.next(), 1);
        next(&mut spread, LASTING * 2, false);
        assert_eq!((spread.next(), spread.is_open(), spread.known()), (0, false, None));
        next(&mut spread, LASTING * 2, false);
        spread.begin();
        assert_eq!((spread.next(), spread.is_open()), (1, true));
    }
}
