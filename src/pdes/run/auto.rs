//! The automatic choice of a queue design and of the synchronisation by measurement in the run
//! itself, among the candidates.

use web_time::{Duration, Instant};

use crate::gpu::tune::{Budget, Order, Score, Tuner};

use super::awaited::Awaited;
use super::candidates::reach;
use crate::pdes::device::strategy::Strategy;
use crate::pdes::{Progress, Until};

/// A calendar gains nothing, and is not tried, if a window has less than one event for this many
/// LPs.
const APART: u64 = 2;

/// The next design is tried when the run has taken this many times the cost of a trial.
const PATIENCE: u32 = 10;

/// The minimum cost of a trial. Before the first trial the compile time of the driver is unknown:
/// building the first design may have used kernels cached from an earlier program.
const LEAST_COST: Duration = Duration::from_millis(250);

/// If a YAWNS window has less than one event for this many LPs, wider windows are tried first, and
/// as soon as the run has taken as long as a trial.
const SPARSE: u64 = 16;

/// The limit of events in a window for the same.
const FEW: u64 = 1000;

/// The same limit for a model that reports its number of pending events, H. With k events in a
/// YAWNS window, each schedules another H / k windows ahead on average if delays are exponential.
/// The first of these comes after about sqrt(2 H) / k windows; from this many on, wider windows are
/// tried early.
const FAR: f64 = 3.0;

/// The measured time of a design, once the device is busy with it.
const MEASURED: Duration = Duration::from_millis(60);

/// Whether windows are wider than those of YAWNS.
fn is_wide(strategy: &Strategy) -> bool {
    strategy.windows.is_speculative()
}

/// The choice of a strategy in a run. The strategy in use is measured, then a rival, and the faster
/// one runs until the next trial. A change rebuilds the run's memory, so each has one turn in a
/// trial, and the first turn decides which rival gets the second.
#[derive(Debug)]
pub(in crate::pdes) struct Auto {
    /// The strategies not tried yet.
    next: Vec<Strategy>,
    /// The incumbent, which is measured, and its rival, which is wanted or in use.
    trial: Option<Tuner<Strategy>>,
    /// The strategy to change to, until that is done.
    wanted: Option<Strategy>,
    /// The cost of a trial.
    cost: Duration,
    /// The time the run took since the last trial.
    ran: Duration,
    /// The last recorded progress, if nothing interrupted the run since.
    last: Option<(Instant, Progress)>,
    /// The measurement of the current strategy.
    measured: Measured,
    /// The number of events per window from which a window is full.
    enough: u64,
    /// The number of pending events, if the model reports it.
    held: Option<u32>,
    /// The strategy to change to once its kernels are compiled. Nothing is tried until then.
    awaited: Option<Awaited>,
    /// The number of submissions to skip after a change, because the first ones are small.
    passing: u32,
}

#[derive(Debug, Default)]
struct Measured {
    took: Duration,
    events: u64,
    windows: u64,
}

impl Auto {
    /// For `candidates`, of which the first is in use and took `cost` to build; `lps` LPs hold
    /// `held` events.
    pub(in crate::pdes) fn new(candidates: &[Strategy], lps: u32, held: Option<u32>, cost: Duration) -> Self {
        Self {
            next: candidates[1..].to_vec(),
            trial: None,
            wanted: None,
            cost: cost.max(LEAST_COST),
            ran: Duration::ZERO,
            last: None,
            measured: Measured::default(),
            enough: lps.into(),
            held,
            awaited: None,
            passing: 2,
        }
    }

    /// For a strategy in use that stands in for the first of the awaited ones.
    pub(in crate::pdes) fn waiting(
        (present, awaited): (Strategy, Awaited),
        lps: u32,
        held: Option<u32>,
        cost: Duration,
    ) -> Self {
        Self { awaited: Some(awaited), ..Self::new(&[present], lps, held, cost) }
    }

    /// The strategy to change to as soon as nothing is in flight, if any. After the attempt call
    /// [`Auto::changed`], whether it succeeded or not.
    pub(in crate::pdes) fn wanted(&self) -> Option<Strategy> {
        self.wanted
    }

    /// The strategy to continue with if nothing more is measured.
    pub(in crate::pdes) fn settled(&self, present: Strategy) -> Strategy {
        self.trial.as_ref().and_then(Tuner::best).or(self.wanted).unwrap_or(present)
    }

    /// Records the progress of the run, in which `present` is in use.
    pub(in crate::pdes) fn record(&mut self, present: Strategy, progress: Progress, now: Instant) {
        if let Some(awaited) = self.awaited.as_mut().filter(|awaited| !awaited.is_outgrown()) {
            if awaited.is_due(&progress, now) {
                self.wanted = awaited.candidates.first().copied();
            }
            return;
        }
        let last = self.last.replace((now, progress));
        let Some((then, before)) = last.filter(|_| self.wanted.is_none()) else { return };
        let took = now - then;
        self.ran += took;
        if self.trial.is_none() {
            let sparse = !is_wide(&present) && self.is_sparse(progress.events, progress.windows);
            let patience = if sparse && self.next.iter().any(is_wide) { 1 } else { PATIENCE };
            if self.next.is_empty() || self.ran < self.cost * patience {
                return;
            }
        }
        if self.passing > 0 {
            self.passing -= 1;
            return;
        }
        self.measured.took += took;
        self.measured.events += progress.events - before.events;
        self.measured.windows += progress.windows - before.windows;
        if self.measured.took >= MEASURED && self.measured.events > 0 {
            self.decide(present);
        }
    }

    /// Decides after a complete measurement.
    fn decide(&mut self, present: Strategy) {
        // The device may have had no room for an awaited one.
        self.next.retain(|next| *next != present);
        let Measured { took, events, windows } = std::mem::take(&mut self.measured);
        let sparse = !is_wide(&present) && self.is_sparse(events, windows);
        if !is_wide(&present) {
            let full = !sparse && events > self.enough.saturating_mul(windows);
            let skew = events.saturating_mul(APART) < self.enough.saturating_mul(windows);
            self.next.retain(|next| !(full && is_wide(next) || skew && next.queue.is_calendar()));
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let done = (events as f64, took.as_secs_f64());
        if let Some(mut trial) = self.trial.take() {
            self.ran = Duration::ZERO;
            // The incumbent is in use if the device had no room for the rival.
            trial.record((trial.best() != Some(present)).then_some(done));
            trial.log(&"run strategy", "events");
            self.wanted = trial.best().filter(|best| *best != present);
        } else if !self.next.is_empty() {
            if sparse {
                self.next.sort_by_key(|strategy| !is_wide(strategy));
            }
            let rival = self.next.remove(0);
            let both = [(present, 1.0), (rival, 1.0)];
            let mut trial = Tuner::new(both, Order::Rounds, Score::Total, Budget::ONCE);
            trial.record(Some(done));
            (self.trial, self.wanted) = (Some(trial), Some(rival));
        }
    }

    /// Whether wider windows are likely to be much faster, given the events in YAWNS windows.
    fn is_sparse(&self, events: u64, windows: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        if let Some(held) = self.held {
            return reach(held) * windows as f64 > FAR * events as f64;
        }
        events.saturating_mul(SPARSE) < self.enough.saturating_mul(windows)
            && events < windows.saturating_mul(FEW)
    }

    /// Ends a change, which took this long, or which the device had no room for.
    pub(in crate::pdes) fn changed(&mut self, took: Duration) {
        self.cost = self.cost.max(took + 2 * MEASURED);
        if let Some(awaited) = self.awaited.take_if(|awaited| !awaited.is_outgrown()) {
            self.next = awaited.candidates[1..].to_vec();
        }
        (self.wanted, self.passing) = (None, 2);
        self.pause();
    }

    /// A run to this end begins.
    pub(in crate::pdes) fn begin(&mut self, until: Until) {
        self.pause();
        if let Some(awaited) = &mut self.awaited
            && awaited.begin(until, Instant::now())
            && !awaited.is_outgrown()
        {
            self.wanted = awaited.candidates.first().copied();
        }
    }

    /// The run has larger capacities. Kernels that are being compiled are for the smaller ones, so
    /// that strategy is tried as any other.
    pub(in crate::pdes) fn grown(&mut self) {
        if let Some(awaited) = self.awaited.as_mut().filter(|awaited| !awaited.is_outgrown()) {
            awaited.outgrow();
            (self.next, self.wanted) = (awaited.candidates.clone(), None);
        }
    }

    /// The run has left its team, or must not enter one.
    pub(in crate::pdes) fn leave_teams(&mut self) {
        self.next.retain(|strategy| !strategy.is_team);
        self.wanted.take_if(|strategy| strategy.is_team);
        if let Some(awaited) = &mut self.awaited {
            // The first one, which is compiled, is of the grid.
            awaited.candidates.retain(|strategy| !strategy.is_team);
        }
        let has_team = |trial: &Tuner<Strategy>| trial.rates().any(|(strategy, _)| strategy.is_team);
        if self.trial.take_if(|trial| has_team(trial)).is_some() {
            (self.wanted, self.measured, self.passing) = (None, Measured::default(), 2);
        }
        self.pause();
    }

    /// The run has ended.
    pub(in crate::pdes) fn end(&mut self) {
        if let Some(awaited) = &mut self.awaited {
            awaited.end(Instant::now());
        }
    }

    /// The run is interrupted: the time until the next progress does not count.
    pub(in crate::pdes) fn pause(&mut self) {
        self.last = None;
        if let Some(awaited) = &mut self.awaited {
            awaited.pause();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdes::contract::sync::Windows;
    use crate::queue::QueueDesign;
    use crate::time::Ticks;

    const HEAP: Strategy = Strategy { queue: QueueDesign::Heap, windows: Windows::EPOCHS, is_team: false };
    const CALENDAR: Strategy = Strategy { queue: QueueDesign::Calendar, ..HEAP };
    const WIDE: Strategy = Strategy { windows: Windows::WIDE, ..HEAP };

    fn at(events: u64, windows: u64) -> Progress {
        Progress { now: Ticks::ZERO, events, windows, stop: None }
    }

    /// Simulates a run of a minute with the given `rates` of `strategies`. Returns the strategies
    /// it changes to, and after how many milliseconds.
    fn switches(strategies: &[Strategy], rates: &[u64], change: Duration) -> Vec<(Strategy, u64)> {
        let millis = Duration::from_millis;
        let mut auto = Auto::new(strategies, 1, None, millis(300));
        let (mut present, mut events, begin) = (strategies[0], 0, Instant::now());
        let (mut ran, mut waited) = (0, Duration::ZERO);
        let mut switches = Vec::new();
        while ran < 60_000 {
            auto.record(present, at(events, ran), begin + millis(ran) + waited);
            if let Some(next) = auto.wanted() {
                switches.push((next, ran));
                present = next;
                waited += change;
                auto.changed(change);
            }
            ran += 1;
            events += rates[strategies.iter().position(|strategy| *strategy == present).unwrap()];
        }
        assert!(auto.next.is_empty() && auto.trial.is_none(), "it is over: {auto:?}");
        switches
    }

    #[test]
    fn trials_go_through_the_candidates_and_the_best_goes_on() {
        let strategies = [HEAP, CALENDAR, Strategy { queue: QueueDesign::Splay, ..HEAP }];
        for (rates, expected) in [
            ([10, 9, 8], vec![1, 0, 2, 0]),
            ([9, 10, 8], vec![1, 2, 1]),
            ([8, 9, 10], vec![1, 2]),
            ([9, 8, 10], vec![1, 0, 2]),
        ] {
            let found: Vec<_> = switches(&strategies, &rates, Duration::ZERO)
                .into_iter()
                .map(|(strategy, _)| strategy)
                .collect();
            assert_eq!(
                found,
                expected.into_iter().map(|strategy| strategies[strategy]).collect::<Vec<_>>(),
                "{rates:?}"
            );
        }
    }

    #[test]
    fn what_trials_take_is_a_small_part_of_a_run() {
        let strategies = [HEAP, CALENDAR, Strategy { queue: QueueDesign::Splay, ..HEAP }];
        let change = Duration::from_millis(900);
        let found = switches(&strategies, &[10, 9, 8], change);
        assert!(found[0].1 >= 3000, "ten times what the first one took to build: {found:?}");
        assert!(found[2].1 >= found[1].1 + 9000, "ten times what the change took: {found:?}");
    }

    #[test]
    fn wider_windows_are_tried_first_and_soon_where_windows_are_nearly_empty() {
        let millis = Duration::from_millis;
        let mut auto = Auto::new(&[HEAP, CALENDAR, WIDE], 1000, None, millis(300));
        let (begin, mut window) = (Instant::now(), 0);
        let found = loop {
            let now = begin + millis(window);
            auto.record(HEAP, at(10 * window, window), now);
            if let Some(next) = auto.wanted() {
                break (next, now - begin);
            }
            window += 1;
        };
        assert_eq!(found.0, WIDE);
        assert!(found.1 >= millis(300) && found.1 < millis(500), "{found:?}");
        assert!(auto.next.is_empty(), "a calendar has nothing to win there: {auto:?}");
    }

    /// PHOLD on an H200: LPs, events per LP, mean delay in windows, and whether the event horizon
    /// was more than 1.15 times as fast.
    #[test]
    fn pending_events_decide_between_queue_and_horizon() {
        for (lps, population, delay, expected) in [
            (1024, 4, 10_000, true),
            (1024, 128, 10_000, true),
            (1024, 1024, 10_000, true),
            (32_768, 128, 10_000, true),
            (1_048_576, 16, 10_000, true),
            (1024, 16, 100, false),
            (1024, 128, 100, false),
            (32_768, 4, 100, false),
            (1_048_576, 4, 100, false),
            (32_768, 16, 1, false),
        ] {
            let held = lps * population;
            let auto = Auto::new(&[HEAP, WIDE], lps, Some(held), Duration::ZERO);
            let windows = 1_000_000;
            let events = u64::from(held) * windows / (delay + 1);
            assert_eq!(auto.is_sparse(events, windows), expected, "{lps} x {population}, {delay}");
        }
    }

    /// Event-limited runs have no team. The trial of another design is not theirs.
    #[test]
    fn a_run_that_left_its_team_does_not_want_one() {
        let team = Strategy { is_team: true, ..HEAP };
        let mut auto = Auto::new(&[CALENDAR, team, HEAP], 1, None, Duration::ZERO);
        let begin = Instant::now();
        for second in 0..9 {
            auto.record(CALENDAR, at(10 * second, second), begin + Duration::from_secs(second));
        }
        assert_eq!(auto.wanted(), Some(team));
        auto.leave_teams();
        assert_eq!(auto.wanted(), None);
        for second in 9..99 {
            auto.record(CALENDAR, at(10 * second, second), begin + Duration::from_secs(second));
        }
        assert_eq!(auto.wanted(), Some(HEAP));
        auto.leave_teams();
        assert_eq!(auto.wanted(), Some(HEAP));
    }

    #[test]
    fn wider_windows_are_not_tried_where_windows_are_full() {
        for (lps, expected) in [(9, None), (11, Some(WIDE))] {
            let mut auto = Auto::new(&[HEAP, WIDE], lps, None, Duration::ZERO);
            let begin = Instant::now();
            for second in 0..9 {
                auto.record(HEAP, at(100 * second, 10 * second), begin + Duration::from_secs(second));
            }
            assert_eq!(auto.wanted(), expected);
        }
    }

    /// The model holds many events: even full YAWNS windows are sparse compared with those of the
    /// event horizon.
    #[test]
    fn wider_windows_are_tried_where_what_is_held_promises_them_however_full_windows_are() {
        let mut auto = Auto::new(&[HEAP, CALENDAR, WIDE], 64, Some(64_000), Duration::ZERO);
        let begin = Instant::now();
        for second in 0..9 {
            auto.record(HEAP, at(1000 * second, 10 * second), begin + Duration::from_secs(second));
        }
        assert_eq!(auto.wanted(), Some(WIDE));
    }

    /// Runs of 50 ms each, with progress every 5 ms and a minute before each. The calendar runs at
    /// 1 event per ms, the heap at 2.
    #[test]
    fn a_trial_goes_on_in_the_next_runs_and_what_lies_between_does_not_count() {
        let millis = Duration::from_millis;
        let mut auto = Auto::new(&[HEAP, CALENDAR], 1, None, Duration::ZERO);
        let (mut now, mut events, mut present) = (Instant::now(), 0, HEAP);
        let mut switches = Vec::new();
        for run in 0..200 {
            now += Duration::from_secs(60);
            auto.pause();
            for _ in 0..10 {
                now += millis(5);
                events += if present == HEAP { 10 } else { 5 };
                auto.record(present, at(events, events), now);
                if let Some(next) = auto.wanted() {
                    present = next;
                    switches.push((next, run));
                    auto.changed(Duration::ZERO);
                }
            }
        }
        assert_eq!(switches.len(), 2, "{switches:?}");
        assert_eq!((switches[0].0, switches[1].0), (CALENDAR, HEAP));
        assert!(switches[0].1 >= 50 && switches[1].1 <= switches[0].1 + 3, "{switches:?}");
    }

    /// A change that a run did not reach is made by the next run.
    #[test]
    fn what_is_wanted_stays_until_it_is_done() {
        let mut auto = Auto::new(&[HEAP, CALENDAR, WIDE], 1, None, Duration::ZERO);
        let begin = Instant::now();
        let mut second = 0;
        let mut on = |auto: &mut Auto, present, rate| {
            for _ in 0..9 {
                second += 1;
                auto.record(present, at(rate * second, second), begin + Duration::from_secs(second));
            }
        };
        on(&mut auto, HEAP, 10);
        assert_eq!((auto.wanted(), auto.settled(HEAP)), (Some(CALENDAR), HEAP));
        auto.pause();
        on(&mut auto, HEAP, 10);
        assert_eq!(auto.wanted(), Some(CALENDAR), "nothing else is measured until then");
        auto.changed(Duration::ZERO);
        assert_eq!((auto.wanted(), auto.settled(CALENDAR)), (None, HEAP));
    }

    /// The device has no room for the wanted strategy: the run continues with the current one.
    #[test]
    fn what_cannot_be_is_not_tried_again() {
        let mut auto = Auto::new(&[HEAP, CALENDAR], 1, None, Duration::ZERO);
        let begin = Instant::now();
        for second in 0..60 {
            auto.record(HEAP, at(10 * second, second), begin + Duration::from_secs(second));
            if auto.wanted().is_some() {
                assert_eq!(auto.wanted(), Some(CALENDAR));
                auto.changed(Duration::ZERO);
            }
        }
        assert!(auto.next.is_empty() && auto.trial.is_none(), "it is over: {auto:?}");
    }
}
