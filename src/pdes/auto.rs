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

/// A trial begins when the run has taken so many times what it took to build the first design.
const PATIENCE: u32 = 10;

/// Where a window of YAWNS has fewer events than one for so many LPs, wider windows promise so much that the trial begins as soon as the run has taken
/// what it took to build the first design, and with them. (A horizon on an H200, 16 events per LP at rate 0.00001, where a window has one for 600
/// LPs: 6.6 and 26 times as fast. At rate 0.001 one for six or seven: half as fast.)
const SPARSE: u64 = 16;

/// And fewer than so many at all. (A horizon on an H200: 420 events in a window of YAWNS, 2.0 and 2.6 times as fast; 1,700, 1.2 times; 3,400, 1.1 times, and with a million LPs
/// the trial took longer than half a second of the run.)
const FEW: u64 = 1000;

/// How long a design is measured, once the device is busy with it.
const MEASURED: Duration = Duration::from_millis(60);

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
    let queue = plain(capacity.queue);
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

/// A choice in the making.
#[derive(Debug)]
pub(super) struct Auto {
    /// What is still to be tried.
    next: Vec<Way>,
    best: Option<(Way, f64)>,
    /// What it took to build a design.
    cost: Duration,
    /// How long the run took so far, and when it was asked last.
    ran: Duration,
    last: Option<Instant>,
    /// Where the measurement began, if it has.
    begin: Option<(Instant, Progress)>,
    /// Events that a window executes where it cannot have too few.
    enough: u64,
    /// What was to be gone on with when the run ended.
    deferred: Option<Way>,
    /// Submissions to pass over, until the device has nothing but this design.
    passing: u32,
}

impl Auto {
    /// Of `candidates`, for so many LPs, the first is in use; it took `cost` to build it.
    pub(super) fn new(candidates: &[Way], lps: u32, cost: Duration) -> Self {
        let next = candidates[1..].to_vec();
        Self {
            next,
            best: None,
            cost,
            ran: Duration::ZERO,
            last: None,
            begin: None,
            enough: lps.into(),
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
        let over = self.next.is_empty() && self.best.is_none();
        let wide = |way: &Way| way.windows.look();
        let sparse = !wide(&present)
            && progress.events.saturating_mul(SPARSE) < self.enough.saturating_mul(progress.windows)
            && progress.events < progress.windows.saturating_mul(FEW);
        let patience = if sparse && self.next.iter().any(wide) { 1 } else { PATIENCE };
        if over || self.best.is_none() && self.ran < self.cost * patience {
            return None;
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
        if self.best.is_none_or(|(_, best)| rate > best) {
            self.best = Some((present, rate));
        }
        if !wide(&present) && events > self.enough.saturating_mul(windows) {
            self.next.retain(|way| !wide(way));
        }
        if sparse {
            self.next.sort_by_key(|way| !wide(way));
        }
        let next = if self.next.is_empty() { self.best.take()?.0 } else { self.next.remove(0) };
        self.pause();
        (next != present).then_some(next)
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

    #[test]
    fn a_trial_goes_through_the_candidates_and_ends_with_the_best() {
        let millis = Duration::from_millis;
        for (rates, expected) in [
            ([10, 9, 8], vec![CALENDAR, WIDE, HEAP]),
            ([9, 10, 8], vec![CALENDAR, WIDE, CALENDAR]),
            ([8, 9, 10], vec![CALENDAR, WIDE]),
        ] {
            let mut auto = Auto::new(&[HEAP, CALENDAR, WIDE], 100, millis(7));
            let (mut present, mut events, mut now) = (HEAP, 0, Instant::now());
            let (begin, mut switches) = (now, Vec::new());
            for window in 0..1000 {
                if let Some(next) = auto.record(present, at(events, window), now) {
                    assert!(now - begin >= millis(70) + MEASURED, "a run that does not last is not tried");
                    switches.push(next);
                    present = next;
                }
                now += millis(1);
                events += rates[[HEAP, CALENDAR, WIDE].iter().position(|way| *way == present).unwrap()];
            }
            assert_eq!(switches, expected);
            assert!(auto.next.is_empty() && auto.best.is_none(), "it is over: {auto:?}");
        }
    }

    #[test]
    fn wider_windows_are_tried_first_and_soon_where_windows_are_nearly_empty() {
        let millis = Duration::from_millis;
        let mut auto = Auto::new(&[HEAP, CALENDAR, WIDE], 1000, millis(200));
        let (begin, mut window) = (Instant::now(), 0);
        let found = loop {
            let now = begin + millis(window);
            if let Some(next) = auto.record(HEAP, at(10 * window, window), now) {
                break (next, now - begin);
            }
            window += 1;
        };
        assert_eq!(found.0, WIDE);
        assert!(found.1 >= millis(200) && found.1 < millis(400), "{found:?}");
        assert_eq!(auto.next, [CALENDAR]);
    }

    #[test]
    fn wider_windows_are_not_tried_where_windows_are_full() {
        for (lps, expected) in [(9, None), (11, Some(WIDE))] {
            let mut auto = Auto::new(&[HEAP, WIDE], lps, Duration::ZERO);
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
        let mut auto = Auto::new(&[HEAP, CALENDAR], 1, Duration::ZERO);
        let begin = Instant::now();
        let seconds = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(auto.record(HEAP, at(0, 0), seconds(0)), None);
        auto.pause();
        for second in 1..4 {
            assert_eq!(auto.record(HEAP, at(10 * second, second), seconds(second)), None, "{second}");
        }
        assert_eq!(auto.record(HEAP, at(40, 4), seconds(4)), Some(CALENDAR));
    }
}
