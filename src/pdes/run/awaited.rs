//! A strategy whose kernels a thread compiles while the run uses another one.

use web_time::Instant;

#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::CompileAhead;

use crate::pdes::device::strategy::Strategy;
use crate::pdes::{Progress, Until};

/// A change of the strategy must be expected to pay: it moves all events, and takes some hundredths
/// of a second. (A guess.)
const WORTH: f64 = 0.25;

/// The candidates of a run whose first one is being compiled.
#[derive(Debug)]
pub(in crate::pdes) struct Awaited {
    /// The first one, and those to try after it.
    pub(super) candidates: Vec<Strategy>,
    #[cfg(not(target_arch = "wasm32"))]
    thread: CompileAhead,
    /// Seconds of earlier runs: later ones are expected to take as long.
    earlier: f64,
    run: Run,
    /// Whether the run needs more room than the kernels are for.
    is_outgrown: bool,
}

/// The run that executes.
#[derive(Debug, Default)]
struct Run {
    begun: Option<(Instant, Until)>,
    first: Option<(Instant, Progress)>,
}

impl Awaited {
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::pdes) fn new(thread: CompileAhead, candidates: &[Strategy]) -> Self {
        Self {
            candidates: candidates.to_vec(),
            thread,
            earlier: 0.0,
            run: Run::default(),
            is_outgrown: false,
        }
    }

    /// Without the candidates that a model does not support; the first one it does.
    #[must_use]
    pub(in crate::pdes) fn only(mut self, supported: impl Fn(&Strategy) -> bool) -> Self {
        self.candidates.retain(supported);
        self
    }

    /// The same after earlier runs that took this number of seconds.
    #[cfg(test)]
    pub(in crate::pdes) fn after(self, earlier: f64) -> Self {
        Self { earlier, ..self }
    }

    /// A run to this end begins. Whether the kernels are there, and a change is expected to pay.
    pub(super) fn begin(&mut self, until: Until, now: Instant) -> bool {
        self.run = Run { begun: Some((now, until)), first: None };
        self.is_ready() && self.earlier > WORTH
    }

    /// The same during a run.
    pub(super) fn is_due(&mut self, progress: &Progress, now: Instant) -> bool {
        let left = self.run.left(progress, now);
        self.is_ready() && self.earlier + left > WORTH
    }

    /// What follows may repeat windows, or come after a while.
    pub(super) fn pause(&mut self) {
        self.run.first = None;
    }

    /// The run has larger capacities now, for which the kernels are not made.
    pub(super) fn outgrow(&mut self) {
        self.is_outgrown = true;
    }

    pub(super) fn is_outgrown(&self) -> bool {
        self.is_outgrown
    }

    /// Waits for the thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::pdes) fn wait(mut self) {
        self.thread.wait();
    }

    #[cfg(target_arch = "wasm32")]
    pub(in crate::pdes) fn wait(self) {}

    /// The run has ended.
    pub(super) fn end(&mut self, now: Instant) {
        let run = std::mem::take(&mut self.run);
        self.earlier += run.begun.map_or(0.0, |(begun, _)| (now - begun).as_secs_f64());
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn is_ready(&self) -> bool {
        self.thread.is_ready()
    }

    /// Browsers have no threads.
    #[cfg(target_arch = "wasm32")]
    fn is_ready(&self) -> bool {
        true
    }
}

impl Run {
    /// The seconds that the run is expected to take yet, at its pace so far: to its end in time or
    /// in events, whichever is nearer.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn left(&mut self, last: &Progress, now: Instant) -> f64 {
        let Some((_, until)) = self.begun else { return 0.0 };
        let (then, first) = *self.first.get_or_insert((now, *last));
        let share = |done: u64, all: u64| done as f64 / all.max(1) as f64;
        let by_events =
            share(last.events.saturating_sub(first.events), until.events.saturating_sub(first.events));
        let by_time = share(
            last.now.get().saturating_sub(first.now.get()),
            until.time.get().saturating_sub(first.now.get()),
        );
        let done = by_events.max(by_time);
        let took = (now - then).as_secs_f64();
        if done > 0.0 { took * (1.0 - done).max(0.0) / done } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use web_time::Duration;

    use super::*;
    use crate::time::Ticks;

    /// A run of 10 seconds of simulated time, of which one takes a second.
    #[test]
    fn what_is_left_follows_the_pace_and_the_nearer_end() {
        let at = |now, events| Progress { now: Ticks::new(now), events, windows: 1, stop: None };
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let left = |time, events, last| {
            let until = Until { time: Ticks::new(time), events };
            let mut run = Run { begun: Some((now, until)), first: None };
            assert_eq!(run.left(&at(100, 50), now), 0.0, "nothing is known");
            run.left(&last, now + second)
        };
        assert_eq!(left(1100, u64::MAX, at(200, 150)), 9.0);
        assert_eq!(left(1100, 250, at(200, 150)), 1.0);
        assert_eq!(left(150, u64::MAX, at(200, 150)), 0.0);
        assert_eq!(left(1100, 250, at(100, 50)), 0.0);
        assert_eq!(left(1100, 250, at(90, 40)), 0.0, "a repeated run may be earlier");
        assert!(left(u64::MAX, u64::MAX, at(200, 150)) > 1e9);
    }
}
