//! The choice of a queue design, and of how far windows go, where nobody makes one: by what a model
//! expects, and then by measuring in the run itself.

use web_time::{Duration, Instant};

use crate::gpu::Gpu;
use crate::gpu::tune::{Budget, Order, Score, Tuner};
use crate::queue::{DefaultFor, QueueDesign};
use crate::time::Ticks;

use crate::pdes::contract::capacity::mean_for;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::device::check;
use crate::pdes::device::strategy::{Strategy, USUAL, usual};
use crate::pdes::device::windows::{TABLE, Windows};
use crate::pdes::{Capacity, Model, Options, Progress};

/// Where many events are sent to each LP in a window.
const DENSE_QUEUE: QueueDesign = QueueDesign::default_for(DefaultFor::Dense);

/// From so many events on that are sent to an LP in a window on average, the calendar comes first.
/// (`bench phold` on an H200, against `USUAL`: 2 of 4 events that are held, 0.99, 1.07 and 1.41
/// times as fast with 1,024, 32,768 and 1,048,576 LPs; 8 of 16, 1.08, 1.13 and 1.68 times; 64 of
/// 128, 1.7 and 2.3 times; 1.3 of 128, 0.86 and 1.02. What else, trials find.)
const DENSE: f64 = 2.5;

/// Unless queues have room for so many times as many, and LPs are few: events that are far ahead
/// lie in lists, which takes each of them long. (The same: 10 of 1,024, 0.72 times as fast with
/// 1,024 LPs, and 1.14 times with 32,768. Between these lies a guess.)
const FAR_AHEAD: f64 = 50.0;
const FAR_AHEAD_LPS: u32 = 8192;

/// LPs that hold more events than that are not put into a calendar unasked. (A guess.)
const MOST_IN_CALENDAR: u32 = 4096;

/// Where a window has fewer events than one for so many LPs, a calendar has nothing to win, and is
/// not tried. (An H200: 0.16 events per LP and window, 0.90 and 0.91 times as fast as the heap;
/// 1.3, 1.15 and 1.33.)
const APART: u64 = 2;

/// The next design is tried when the run has gone on for so many times what a trial takes.
const PATIENCE: u32 = 10;

/// What a trial takes at the least: until one was made, nobody knows how long this driver compiles.
/// (The first design says little where the driver had kept its kernels from an earlier program: on
/// an H200 a run of 1.2 s, of which that took less than 0.12, lost another 1.2 by two designs that
/// were tried.)
const LEAST_COST: Duration = Duration::from_millis(250);

/// Where a window of YAWNS has fewer events than one for so many LPs, wider windows promise so much
/// that they are tried first, and as soon as the run has gone on for as long as that takes. (A
/// horizon on an H200, 16 events per LP at rate 0.00001, where a window has one for 600 LPs: 6.6
/// and 26 times as fast. At rate 0.001 one for six or seven: half as fast.)
const SPARSE: u64 = 16;

/// And fewer than so many at all. (A horizon on an H200: 420 events in a window of YAWNS, 2.0 and
/// 2.6 times as fast; 1,700, 1.2 times; 3,400, 1.1 times, and with a million LPs the trial took
/// longer than half a second of the run.)
const FEW: u64 = 1000;

/// Of a model that says how many events it holds, H, it is known how far a horizon should go. With
/// k events in a window of YAWNS, each schedules another one H / k windows ahead on average, if
/// delays are exponential, so the first of these comes after some sqrt(2 H) / k windows. From so
/// many on wider windows promise as much. (An H200, PHOLD, windows by this estimate and how many
/// times as fast a horizon was: 220, 24; 110, 24; 39, 12; 20, 6.3; 14, 3.3; 6.9, 2.1 and 2.5; 3.4,
/// 1.2; 2.4, 1.2; 2.2, 1.05; 1.1, 0.7; 0.4, 0.45 and 0.5.)
const FAR: f64 = 3.0;

/// From so many on, by what a model expects (which says up to twice the events), a run begins with
/// wider windows, which takes no longer than to begin with others. (The same H200, windows by that
/// estimate: 2.2, 2.1 and 1.85, 1.2 times as fast; 0.75, 0.68 times. Whole runs at rate 0.00001
/// that began with YAWNS took 1.4 to 2.8 s where the horizon alone takes 1.2, because a driver
/// compiles it for up to a second.)
const FAR_ENOUGH: f64 = 1.5;

/// How long a design is measured, once the device is busy with it.
const MEASURED: Duration = Duration::from_millis(60);

/// The strategies for a model, the best guess first; those with neighbours if its file says who
/// they are.
pub(in crate::pdes) fn candidates<M: Model>(
    gpu: &Gpu,
    model: &M,
    options: &Options,
) -> Result<Vec<Strategy>, SimulationError> {
    let (none, capacity) = (model.lookahead() == Ticks::ZERO, model.capacity());
    // A calendar's buckets are windows of YAWNS, and no shorter than a tick.
    let epochs = |windows: Windows| !windows.is_speculative() && !none;
    let chosen = Windows::chosen(options.sync);
    let calendar = options.queue.is_some_and(QueueDesign::is_calendar);
    if calendar && (none || chosen.is_some_and(Windows::is_speculative)) {
        return Err(SimulationError::Calendar);
    }
    let of = |windows: Windows| {
        let queues = match options.queue {
            Some(queue) => vec![queue],
            None if epochs(windows) => designs(gpu, model.lps(), capacity, options.fixed),
            None => vec![usual(windows)],
        };
        let fitting = |queue: &QueueDesign| !queue.is_calendar() || epochs(windows);
        let queues = queues.into_iter().filter(fitting);
        queues.map(|queue| Strategy { queue, windows }).collect::<Vec<_>>()
    };
    if let Some(windows) = chosen {
        check::keeps(windows, model, None)?;
        return Ok(of(windows));
    }
    let mut order = TABLE.to_vec();
    if options.fixed {
        // What mailboxes have to hold depends on how long windows are.
        order.retain(|windows| !windows.is_speculative());
    } else if none || begins_wide(model) {
        order.sort_by_key(|windows| (windows.needs_senders, !windows.is_speculative()));
    }
    order.retain(|windows| !(none && windows.needs_senders));
    Ok(order.into_iter().flat_map(of).collect())
}

/// Whether windows go further than those of YAWNS.
fn is_wide(strategy: &Strategy) -> bool {
    strategy.windows.is_speculative()
}

/// Whether a model expects that a horizon goes far.
fn begins_wide<M: Model>(model: &M) -> bool {
    let window = mean_for(model.capacity().mailbox) * f64::from(model.lps());
    model.events_held().is_some_and(|held| reach(held) > FAR_ENOUGH * window)
}

/// How many events windows of YAWNS have on the way to the horizon, in a run that holds so many.
fn reach(held: u32) -> f64 {
    (2.0 * f64::from(held)).sqrt()
}

/// The room of a mailbox for wider windows, of a model that says how many events it holds: for
/// twice as many as a horizon promises, because some go further. (PHOLD of 1,024 LPs at rate
/// 0.00001 overflowed what is enough for YAWNS after 170 to 800 windows; whole runs of 1.2 s with
/// 4, 16 and 128 events each take an H200 0.01 to 0.16 s less since that does not happen.)
pub(in crate::pdes) fn mailbox_of_horizon<M: Model>(model: &M) -> u32 {
    let sent = model.events_held().map_or(0.0, |held| 2.0 * reach(held) / f64::from(model.lps()));
    Capacity::poisson(0.0, sent).mailbox
}

/// The queue designs to take for windows that are cells.
fn designs(gpu: &Gpu, lps: u32, capacity: Capacity, fixed: bool) -> Vec<QueueDesign> {
    let sent = mean_for(capacity.mailbox);
    // Fixed capacities are those of queues and mailboxes. Drivers on the processor gain nothing by
    // a calendar, and may end its loops. And one invocation would sort the events of an LP that has
    // very many in a cell.
    if fixed || gpu.is_software() || capacity.queue > MOST_IN_CALENDAR {
        return vec![USUAL];
    }
    let far_ahead = lps < FAR_AHEAD_LPS && sent * FAR_AHEAD < f64::from(capacity.queue);
    let dense = sent >= DENSE && !far_ahead;
    if dense { vec![DENSE_QUEUE, USUAL] } else { vec![USUAL, DENSE_QUEUE] }
}

/// The choice of a strategy in a run: the strategy in use is measured, then a rival, and the faster
/// one runs until the next trial. A change rebuilds the run's memory, so each has one turn in a
/// trial, and the first turn decides which rival is worth the second.
#[derive(Debug)]
pub(in crate::pdes) struct Auto {
    /// What is still to be tried.
    next: Vec<Strategy>,
    /// The incumbent, which is measured, and its rival, which is wanted or in use.
    trial: Option<Tuner<Strategy>>,
    /// What to change to, until that is done.
    wanted: Option<Strategy>,
    /// What a trial takes.
    cost: Duration,
    /// How long the run took since the last trial.
    ran: Duration,
    /// When it was told last how far the run had come, since when nothing interrupted it.
    last: Option<(Instant, Progress)>,
    /// What is measured of the present strategy.
    measured: Measured,
    /// Events that a window executes where it cannot have too few.
    enough: u64,
    /// Events that the run holds, if the model says it.
    held: Option<u32>,
    /// Submissions to pass over after a change, of which the first are small.
    passing: u32,
}

#[derive(Debug, Default)]
struct Measured {
    took: Duration,
    events: u64,
    windows: u64,
}

impl Auto {
    /// Of `candidates`, for so many LPs that hold so many events, the first is in use; it took
    /// `cost` to build it.
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
            passing: 2,
        }
    }

    /// The strategy to change to as soon as nothing is under way, if any: then [`Auto::changed`] is
    /// to be called, whether it was possible or not.
    pub(in crate::pdes) fn wanted(&self) -> Option<Strategy> {
        self.wanted
    }

    /// What there is to go on with if nothing more is measured.
    pub(in crate::pdes) fn settled(&self, present: Strategy) -> Strategy {
        self.trial.as_ref().and_then(Tuner::best).or(self.wanted).unwrap_or(present)
    }

    /// Takes in how far the run, in which `present` is in use, has come.
    pub(in crate::pdes) fn record(&mut self, present: Strategy, progress: Progress, now: Instant) {
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

    /// What was measured is enough.
    fn decide(&mut self, present: Strategy) {
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
            // The incumbent is in use where the device had no room for the rival.
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

    /// Whether wider windows promise much, where those of YAWNS had so many events.
    fn is_sparse(&self, events: u64, windows: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        if let Some(held) = self.held {
            return reach(held) * windows as f64 > FAR * events as f64;
        }
        events.saturating_mul(SPARSE) < self.enough.saturating_mul(windows)
            && events < windows.saturating_mul(FEW)
    }

    /// What was wanted is done, or the device has no room for it. It took so long.
    pub(in crate::pdes) fn changed(&mut self, took: Duration) {
        self.cost = self.cost.max(took + 2 * MEASURED);
        (self.wanted, self.passing) = (None, 2);
        self.pause();
    }

    /// The run is interrupted: the time until it is told of again does not count.
    pub(in crate::pdes) fn pause(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Phold;
    use crate::time::Resolution;

    const HEAP: Strategy = Strategy { queue: QueueDesign::Heap, windows: Windows::YAWNS };
    const CALENDAR: Strategy = Strategy { queue: QueueDesign::Calendar, windows: Windows::YAWNS };
    const WIDE: Strategy = Strategy { queue: QueueDesign::Heap, windows: Windows::HORIZON };

    fn at(events: u64, windows: u64) -> Progress {
        Progress { now: Ticks::ZERO, events, windows, stop: None }
    }

    /// A run of a minute that `rates` belong to, for `strategies`: with which it continues, and
    /// after how many milliseconds.
    fn switches(strategies: &[Strategy], rates: &[u64], change: Duration) -> Vec<(Strategy, u64)> {
        let millis = Duration::from_millis;
        let mut auto = Auto::new(strategies, 1, None, millis(300));
        let (mut present, mut events, begin) = (strategies[0], 0, Instant::now());
        let (mut ran, mut stood) = (0, Duration::ZERO);
        let mut switches = Vec::new();
        while ran < 60_000 {
            auto.record(present, at(events, ran), begin + millis(ran) + stood);
            if let Some(next) = auto.wanted() {
                switches.push((next, ran));
                present = next;
                stood += change;
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

    /// PHOLD on an H200: LPs, events of each, mean delay in windows, and whether a horizon was more
    /// than 1.15 times as fast.
    #[test]
    fn what_a_model_holds_tells_how_far_a_horizon_goes() {
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

    /// PHOLD with a lookahead of 10: LPs, events of each, the rate, and whether a run begins with a
    /// horizon.
    #[test]
    fn a_run_begins_with_wider_windows_where_the_model_promises_them() {
        for (lps, population, rate, expected) in [
            (1024, 4, 0.00001, true),
            (1024, 128, 0.00001, true),
            (1024, 1024, 0.00001, true),
            (32_768, 4, 0.00001, true),
            (32_768, 128, 0.00001, true),
            (32_768, 1024, 0.00001, true),
            (1_048_576, 4, 0.00001, true),
            (1_048_576, 16, 0.00001, true),
            (1024, 4, 0.001, true),
            (1024, 16, 0.001, false),
            (1024, 128, 0.001, false),
            (1024, 4, 0.1, false),
            (32_768, 4, 0.001, false),
            (1_048_576, 16, 0.001, false),
        ] {
            let model = Phold::new(lps, population, rate, 10.0, Resolution::default()).unwrap();
            assert_eq!(begins_wide(&model), expected, "{lps} x {population}, {rate}");
        }
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

    /// A model that holds so much that windows which are full are sparse beside what a horizon
    /// promises.
    #[test]
    fn wider_windows_are_tried_where_what_is_held_promises_them_however_full_windows_are() {
        let mut auto = Auto::new(&[HEAP, CALENDAR, WIDE], 64, Some(64_000), Duration::ZERO);
        let begin = Instant::now();
        for second in 0..9 {
            auto.record(HEAP, at(1000 * second, 10 * second), begin + Duration::from_secs(second));
        }
        assert_eq!(auto.wanted(), Some(WIDE));
    }

    /// In runs of 50 ms each, told of by 5 ms, with a minute before each: 1 event per ms where the
    /// heap makes 2.
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

    /// What a run did not come to do is done by the next one.
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

    /// The device has no room for what is wanted: it is gone on with what there is, and nothing is
    /// changed.
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
