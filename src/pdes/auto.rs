//! The choice of a queue design, and of how far windows go, where nobody makes one: by what a model expects, and then by measuring in the run
//! itself.

use web_time::{Duration, Instant};

use crate::gpu::Gpu;
use crate::queue::{QueueDesign, Traverse};
use crate::time::Ticks;

use super::cut::mean_of;
use super::error::SimulationError;
use super::recipes::{Way, Windows};
use super::{Capacity, Model, Options, Progress, Sync, contract};

/// From so many events on that are sent to an LP in a window on average, the calendar comes first. (`bench phold` on an H200, 32,768 LPs, against the heap: 2.5
/// events, 1.17 times as fast; 10, 1.3 times; 81 of 128 that are held, 3.1 times; of a version before, 12 of 128 1.6 times, and 1.5 of 16 0.92 times. Below, trials find it.)
const DENSE: f64 = 5.0;

/// Up to this queue capacity, CB-SEQ is faster than the heap. (`bench phold` on an H200, 32,768 LPs at rate 0.1:
/// 4 events per LP need room for 32, and CB-SEQ wins; 16 need room for 62, and the heap does.)
pub(super) const SHORT_QUEUE: u32 = 40;

/// Beyond this one, the heap with four children to a node is faster than the one with two. (`queue_sweep` on an H200, 32,768 LPs with 1,024 events at
/// rates 0.1, 0.001 and 0.00001: 1.56, 1.32 and 1.03 times as fast; with 128 events, room for 240, 0.98, 1.01 and 0.92 times.)
const LONG_QUEUE: u32 = 500;

/// LPs that hold more events than that are not put into a calendar unasked. (A guess.)
const MOST_IN_CALENDAR: u32 = 4096;

/// Where a window has fewer events than one for so many LPs, a calendar has nothing to win. (An H200: 0.16 events per LP and window, 0.90 and 0.91 times as fast as the heap; 1.3, 1.15 and 1.33.)
const APART: u64 = 2;

/// The next design is tried when the run has gone on for so many times what a trial takes.
const PATIENCE: u32 = 10;

/// What a trial takes at the least: until one was made, nobody knows how long this driver compiles. (The first design says little where the driver had kept its kernels from an earlier
/// program: on an H200 a run of 1.2 s, of which that took less than 0.12, lost another 1.2 by two designs that were tried.)
const LEAST_COST: Duration = Duration::from_millis(250);

/// Where a window of YAWNS has fewer events than one for so many LPs, wider windows promise so much that they are tried first, and as soon as the run has gone on
/// for as long as that takes. (A horizon on an H200, 16 events per LP at rate 0.00001, where a window has one for 600
/// LPs: 6.6 and 26 times as fast. At rate 0.001 one for six or seven: half as fast.)
const SPARSE: u64 = 16;

/// And fewer than so many at all. (A horizon on an H200: 420 events in a window of YAWNS, 2.0 and 2.6 times as fast; 1,700, 1.2 times; 3,400, 1.1 times, and with a million LPs
/// the trial took longer than half a second of the run.)
const FEW: u64 = 1000;

/// Of a model that says how many events it holds, H, it is known how far a horizon should go. With k events in a window of YAWNS, each schedules another one H / k windows ahead on average, if
/// delays are exponential, so the first of these comes after some sqrt(2 H) / k windows. From so many on wider windows promise as much. (An H200, PHOLD, windows by this estimate and how many times as fast a horizon
/// was: 220, 24; 110, 24; 39, 12; 20, 6.3; 14, 3.3; 6.9, 2.1 and 2.5; 3.4, 1.2; 2.4, 1.2; 2.2, 1.05; 1.1, 0.7; 0.4, 0.45 and 0.5.)
const FAR: f64 = 3.0;

/// How long a design is measured, once the device is busy with it.
const MEASURED: Duration = Duration::from_millis(60);

/// Where an LP gets fewer events in a window than that, on average, GPUs take the heap for short queues, too. (`bench phold` on an H200, 4 events per LP, CB-SEQ against the heap: 2
/// events, 1.05 to 1.06 times as fast; 0.04, 0.96 to 0.98, and 0.71 with a million LPs; 0.0004, 1.01, and 0.6.)
const RARE: f64 = 1.0;

/// The ways to take for a model, the best guess first; those with neighbours if its file says who they are.
pub(super) fn candidates<M: Model>(
    gpu: &Gpu,
    model: &M,
    options: &Options,
) -> Result<Vec<Way>, SimulationError> {
    let (none, capacity) = (model.lookahead() == Ticks::ZERO, model.capacity());
    let queues = match options.queue {
        Some(QueueDesign::Calendar) if none || !matches!(options.sync, Sync::Auto | Sync::Yawns) => {
            return Err(SimulationError::Calendar);
        }
        Some(queue) => vec![queue],
        None => designs(gpu, capacity, options.fixed),
    };
    let of = |windows: Windows| {
        // A calendar's buckets are windows of YAWNS, and no shorter than a tick.
        let fitting = |queue: &QueueDesign| *queue != QueueDesign::Calendar || !windows.look() && !none;
        let queues = queues.iter().copied().filter(fitting);
        queues.map(|queue| Way { queue, windows }).collect::<Vec<_>>()
    };
    let (yawns, horizon) = (of(Windows::Yawns), of(Windows::Horizon));
    Ok(match options.sync {
        Sync::Yawns => yawns,
        Sync::Horizon => horizon,
        Sync::Neighbours => {
            contract::neighbours(model, None)?;
            of(Windows::Neighbours)
        }
        // What mailboxes have to hold depends on how long windows are.
        Sync::Auto if options.fixed => yawns,
        Sync::Auto if none => [horizon, yawns].concat(),
        Sync::Auto => [yawns, horizon, of(Windows::Neighbours)].concat(),
    })
}

/// The queue designs to take.
fn designs(gpu: &Gpu, capacity: Capacity, fixed: bool) -> Vec<QueueDesign> {
    let rare = !gpu.on_processor() && mean_of(capacity.mailbox) < RARE;
    let queue = if rare { plain(capacity.queue.max(SHORT_QUEUE + 1)) } else { plain(capacity.queue) };
    // Fixed capacities are those of queues and mailboxes. Drivers on the processor gain nothing by a calendar, and may end its loops. And one
    // invocation would sort the events of an LP that has very many in a cell.
    if fixed || gpu.on_processor() || capacity.queue > MOST_IN_CALENDAR {
        return vec![queue];
    }
    if mean_of(capacity.mailbox) >= DENSE {
        vec![QueueDesign::Calendar, queue]
    } else {
        vec![queue, QueueDesign::Calendar]
    }
}

/// The queue of each LP's own, with room for so many events.
pub(super) fn plain(room: u32) -> QueueDesign {
    if room <= SHORT_QUEUE {
        QueueDesign::CbSeq(Traverse::BackToFront)
    } else if room <= LONG_QUEUE {
        QueueDesign::Heap
    } else {
        QueueDesign::Heap4
    }
}

/// A choice in the making. The run goes on for a while; then it is measured, and so is another way, and the faster of the two goes on for a while.
#[derive(Debug)]
pub(super) struct Auto {
    /// What is still to be tried.
    next: Vec<Way>,
    /// What is to be gone on with unless the present one, which is tried, is faster: with its events per second.
    before: Option<(Way, f64)>,
    /// What a trial takes.
    cost: Duration,
    /// How long the run took since the last trial, and when it was asked last.
    ran: Duration,
    last: Option<Instant>,
    /// Where the measurement began, if it has.
    begin: Option<(Instant, Progress)>,
    /// Events that a window executes where it cannot have too few.
    enough: u64,
    /// Events that the run holds, if the model says it.
    held: Option<u32>,
    /// What was to be gone on with when the run ended.
    deferred: Option<Way>,
    /// Submissions to pass over, until the device has nothing but this design.
    passing: u32,
}

impl Auto {
    /// Of `candidates`, for so many LPs that hold so many events, the first is in use; it took `cost` to build it.
    pub(super) fn new(candidates: &[Way], lps: u32, held: Option<u32>, cost: Duration) -> Self {
        Self {
            next: candidates[1..].to_vec(),
            before: None,
            cost: cost.max(LEAST_COST),
            ran: Duration::ZERO,
            last: None,
            begin: None,
            enough: lps.into(),
            held,
            deferred: None,
            passing: 0,
        }
    }

    /// Takes in how far the run, in which `present` is in use, has come. Returns what to go on with, if it is
    /// another.
    pub(super) fn record(&mut self, present: Way, progress: Progress, now: Instant) -> Option<Way> {
        self.ran += self.last.map_or(Duration::ZERO, |last| now - last);
        self.last = Some(now);
        if let Some(way) = self.deferred.take() {
            return (way != present).then_some(way);
        }
        let wide = |way: &Way| way.windows.look();
        let sparse = !wide(&present) && self.is_sparse(progress.events, progress.windows);
        if self.before.is_none() {
            let patience = if sparse && self.next.iter().any(wide) { 1 } else { PATIENCE };
            if self.next.is_empty() || self.ran < self.cost * patience {
                return None;
            }
        }
        if self.passing > 0 {
            self.passing -= 1;
            return None;
        }
        let Some((begin, first)) = self.begin else {
            self.begin = Some((now, progress));
            return None;
        };
        let took = now - begin;
        let (events, windows) = (progress.events - first.events, progress.windows - first.windows);
        if took < MEASURED || events == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let rate = events as f64 / took.as_secs_f64();
        log::info!("{present}: {rate:.3e} events/s");
        self.pause();
        if let Some((before, slower)) = self.before.take() {
            self.ran = Duration::ZERO;
            return (rate <= slower && before != present).then_some(before);
        }
        if !wide(&present) && events > self.enough.saturating_mul(windows) {
            self.next.retain(|way| !wide(way));
        }
        if !wide(&present) && events.saturating_mul(APART) < self.enough.saturating_mul(windows) {
            self.next.retain(|way| way.queue != QueueDesign::Calendar);
        }
        if sparse {
            self.next.sort_by_key(|way| !wide(way));
        }
        if self.next.is_empty() {
            return None;
        }
        self.before = Some((present, rate));
        Some(self.next.remove(0))
    }

    /// Whether wider windows promise much, where those of YAWNS had so many events.
    fn is_sparse(&self, events: u64, windows: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        if let Some(held) = self.held {
            return (2.0 * f64::from(held)).sqrt() * windows as f64 > FAR * events as f64;
        }
        events.saturating_mul(SPARSE) < self.enough.saturating_mul(windows)
            && events < windows.saturating_mul(FEW)
    }

    /// It took so long to change to what is in use now.
    pub(super) fn changed(&mut self, took: Duration) {
        self.cost = self.cost.max(took + 2 * MEASURED);
        self.pause();
    }

    /// A change that was told was not made: it is told again in the next run.
    pub(super) fn defer(&mut self, change: Option<Way>) {
        self.deferred = change.or(self.deferred);
    }

    /// A measurement that has begun counts nothing: the run was interrupted.
    pub(super) fn pause(&mut self) {
        (self.begin, self.last) = (None, None);
        self.passing = 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: Way = Way { queue: QueueDesign::Heap, windows: Windows::Yawns };
    const CALENDAR: Way = Way { queue: QueueDesign::Calendar, windows: Windows::Yawns };
    const WIDE: Way = Way { queue: QueueDesign::Heap, windows: Windows::Horizon };

    fn at(events: u64, windows: u64) -> Progress {
        Progress { now: Ticks::ZERO, events, windows, stop: None }
    }

    /// A run of a minute that `rates` belong to, for `ways`: which way it goes on with, and after how many milliseconds.
    fn switches(ways: &[Way], rates: &[u64], change: Duration) -> Vec<(Way, u64)> {
        let millis = Duration::from_millis;
        let mut auto = Auto::new(ways, 1, None, millis(300));
        let (mut present, mut events, begin) = (ways[0], 0, Instant::now());
        let (mut ran, mut stood) = (0, Duration::ZERO);
        let mut switches = Vec::new();
        while ran < 60_000 {
            if let Some(next) = auto.record(present, at(events, ran), begin + millis(ran) + stood) {
                switches.push((next, ran));
                present = next;
                stood += change;
                auto.changed(change);
            }
            ran += 1;
            events += rates[ways.iter().position(|way| *way == present).unwrap()];
        }
        assert!(auto.next.is_empty() && auto.before.is_none(), "it is over: {auto:?}");
        switches
    }

    #[test]
    fn trials_go_through_the_candidates_and_the_best_goes_on() {
        let ways = [HEAP, CALENDAR, Way { queue: QueueDesign::Splay, ..HEAP }];
        for (rates, expected) in [
            ([10, 9, 8], vec![1, 0, 2, 0]),
            ([9, 10, 8], vec![1, 2, 1]),
            ([8, 9, 10], vec![1, 2]),
            ([9, 8, 10], vec![1, 0, 2]),
        ] {
            let found: Vec<_> =
                switches(&ways, &rates, Duration::ZERO).into_iter().map(|(way, _)| way).collect();
            assert_eq!(found, expected.into_iter().map(|way| ways[way]).collect::<Vec<_>>(), "{rates:?}");
        }
    }

    #[test]
    fn what_trials_take_is_a_small_part_of_a_run() {
        let ways = [HEAP, CALENDAR, Way { queue: QueueDesign::Splay, ..HEAP }];
        let change = Duration::from_millis(900);
        let found = switches(&ways, &[10, 9, 8], change);
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
            if let Some(next) = auto.record(HEAP, at(10 * window, window), now) {
                break (next, now - begin);
            }
            window += 1;
        };
        assert_eq!(found.0, WIDE);
        assert!(found.1 >= millis(300) && found.1 < millis(500), "{found:?}");
        assert!(auto.next.is_empty(), "a calendar has nothing to win there: {auto:?}");
    }

    /// PHOLD on an H200: LPs, events of each, mean delay in windows, and whether a horizon was more than 1.15 times as fast.
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

    #[test]
    fn wider_windows_are_not_tried_where_windows_are_full() {
        for (lps, expected) in [(9, None), (11, Some(WIDE))] {
            let mut auto = Auto::new(&[HEAP, WIDE], lps, None, Duration::ZERO);
            let (begin, mut found) = (Instant::now(), None);
            for second in 0..9 {
                let now = begin + Duration::from_secs(second);
                found = found.or(auto.record(HEAP, at(100 * second, 10 * second), now));
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_interruption_does_not_count() {
        let mut auto = Auto::new(&[HEAP, CALENDAR], 1, None, Duration::ZERO);
        let begin = Instant::now();
        let seconds = |seconds| begin + Duration::from_secs(10 * seconds);
        assert_eq!(auto.record(HEAP, at(0, 0), seconds(0)), None);
        // Here the measurement begins.
        assert_eq!(auto.record(HEAP, at(10, 1), seconds(1)), None);
        auto.pause();
        for second in 2..5 {
            assert_eq!(auto.record(HEAP, at(10 * second, second), seconds(second)), None, "{second}");
        }
        assert_eq!(auto.record(HEAP, at(50, 5), seconds(5)), Some(CALENDAR));
    }
}
