//! The sequential engine: what a simulation means. A textbook event loop on one `BinaryHeap`, written for reading.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytemuck::Zeroable;

use crate::random::Stream;
use crate::time::Ticks;

use super::error::{Fault, FaultKind, MAX_LPS, SimulationError};
use super::{Context, CpuModel, Event, Fingerprint, Progress, Until};

/// A simulation on the CPU, one event after the other.
pub struct CpuSimulation<'m, M: CpuModel> {
    model: &'m M,
    seed: u64,
    states: Vec<M::State>,
    executed: Vec<u64>,
    pending: BinaryHeap<Reverse<(Event, u32)>>,
    events: u64,
    windows: u64,
    fingerprint: Fingerprint,
    fault: Option<Fault>,
}

impl<'m, M: CpuModel> CpuSimulation<'m, M> {
    /// Initialises the model's LPs.
    ///
    /// # Errors
    /// As the engine on the GPU, except for capacities: there are none here.
    pub fn new(model: &'m M, seed: u64) -> Result<Self, SimulationError> {
        check(model)?;
        let lps = model.lps();
        let mut simulation = Self {
            model,
            seed,
            states: vec![M::State::zeroed(); lps as usize],
            executed: vec![0; lps as usize],
            pending: BinaryHeap::new(),
            events: 0,
            windows: 0,
            fingerprint: Fingerprint::default(),
            fault: None,
        };
        let mut sent = Vec::new();
        for lp in 0..lps {
            let mut context = simulation.context(lp, 0, &mut sent);
            model.init(lp, &mut simulation.states[lp as usize], &mut context);
            // There is no lookahead to keep before the first window.
            simulation.deliver(lp, Ticks::ZERO, &mut sent);
        }
        simulation.faultless()?;
        Ok(simulation)
    }

    /// Executes events until the end that `until` names.
    ///
    /// # Errors
    /// A [`Fault`], after which the simulation cannot go on.
    pub fn run(&mut self, until: Until) -> Result<Progress, SimulationError> {
        self.faultless()?;
        // The time before which all events are safe to execute. Only the counting of windows needs it here.
        let mut horizon = Ticks::ZERO;
        let mut sent = Vec::new();
        loop {
            let first = self.pending.peek().map(|&Reverse(first)| first);
            let now = first.map_or(Ticks::NEVER, |(event, _)| event.time);
            if now >= horizon {
                self.faultless()?;
                if let Some(stop) = until.reached(now, self.events) {
                    return Ok(Progress {
                        now,
                        events: self.events,
                        windows: self.windows,
                        stop: Some(stop),
                    });
                }
                self.windows += 1;
                horizon = now.saturating_add(self.model.lookahead()).min(until.time);
            }
            let Some((event, lp)) = first else { unreachable!("an empty event set is an end") };
            self.pending.pop();
            self.events += 1;
            self.executed[lp as usize] += 1;
            self.fingerprint.executed(lp, &event);
            let mut context = self.context(lp, self.executed[lp as usize], &mut sent);
            self.model.handle(lp, &event, &mut self.states[lp as usize], &mut context);
            self.deliver(lp, event.time.saturating_add(self.model.lookahead()), &mut sent);
        }
    }

    /// The states, by LP.
    pub fn states(&self) -> &[M::State] {
        &self.states
    }

    /// The events still pending, by LP and then in order.
    pub fn pending(&self) -> Vec<(u32, Event)> {
        let mut pending: Vec<_> = self.pending.iter().map(|Reverse((event, lp))| (*lp, *event)).collect();
        pending.sort_unstable();
        pending
    }

    /// The fingerprint of what was executed, of the states, and of what is pending.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut fingerprint = self.fingerprint;
        for (lp, state) in (0..).zip(&self.states) {
            fingerprint.state(lp, &state_words(state));
        }
        for Reverse((event, lp)) in &self.pending {
            fingerprint.pending(*lp, event);
        }
        fingerprint
    }

    fn context<'s>(&self, lp: u32, number: u64, sent: &'s mut Vec<(u32, Event)>) -> Context<'s> {
        Context {
            stream: Stream::new(self.seed, lp, number),
            lps: self.model.lps(),
            lookahead: self.model.lookahead(),
            sent,
        }
    }

    /// Makes what LP `lp` sent pending. As on the GPU, a window with a fault runs to its end, and the fault at the
    /// smallest LP is told.
    fn deliver(&mut self, lp: u32, least: Ticks, sent: &mut Vec<(u32, Event)>) {
        for (destination, event) in sent.drain(..) {
            let kind = if destination >= self.model.lps() {
                FaultKind::Destination
            } else if event.time == Ticks::NEVER {
                FaultKind::TimeOverflow
            } else if event.time < least {
                FaultKind::Lookahead
            } else {
                self.pending.push(Reverse((event, destination)));
                continue;
            };
            let fault = Fault { kind, lp, window: self.windows, needed: 0 };
            if self.fault.is_none_or(|first| (lp, kind as u8) < (first.lp, first.kind as u8)) {
                self.fault = Some(fault);
            }
        }
    }

    fn faultless(&self) -> Result<(), SimulationError> {
        self.fault.map_or(Ok(()), |fault| Err(fault.into()))
    }
}

impl<M: CpuModel> std::fmt::Debug for CpuSimulation<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuSimulation")
            .field("model", &self.model.name())
            .field("events", &self.events)
            .field("pending", &self.pending.len())
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

/// What both engines refuse.
pub(super) fn check<M: super::Model>(model: &M) -> Result<(), SimulationError> {
    let lookahead = model.lookahead();
    match model.lps() {
        0 => Err(SimulationError::NoLps),
        lps if lps > MAX_LPS => Err(SimulationError::TooManyLps { lps, max: MAX_LPS }),
        _ if lookahead == Ticks::ZERO || lookahead == Ticks::NEVER => {
            Err(SimulationError::Lookahead { lookahead })
        }
        _ => Ok(()),
    }
}

/// A state as the words that a kernel sees.
fn state_words<S: bytemuck::Pod>(state: &S) -> Vec<u32> {
    bytemuck::bytes_of(state).chunks_exact(4).map(bytemuck::pod_read_unaligned).collect()
}
