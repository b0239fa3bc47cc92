//! Models in which one run, or one LP, behaves unlike all others.

use eventhorizon::gpu::Source;
use eventhorizon::pdes::{Context, CpuModel, Event, Model, Totals};
use eventhorizon::time::Ticks;
use std::borrow::Cow;

/// `tests/wgsl/odd_one_out.wgsl`
#[derive(Clone, Copy)]
pub(super) struct OddOneOut {
    lps: u32,
    params: OddParams,
}

#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct OddParams {
    at: Ticks,
    mean: Ticks,
    culprit: u32,
    from: u32,
}

#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct OddState {
    coloured: u32,
    seen: u32,
}

/// As the culprit: all runs.
const EVERY: u32 = u32::MAX - 1;

impl OddOneOut {
    /// A model that breaks no rule.
    pub(super) fn new(lps: u32) -> Self {
        let (at, mean) = (Ticks::ZERO, Ticks::new(900));
        Self { lps, params: OddParams { at, mean, culprit: u32::MAX, from: 0 } }
    }

    pub(super) fn breaking(self, culprit: u32, from: u32, at: u64) -> Self {
        Self { params: OddParams { culprit, from, at: Ticks::new(at), ..self.params }, ..self }
    }

    /// A model that breaks the rule in every run.
    pub(super) fn breaking_always(self) -> Self {
        self.breaking(EVERY, 0, 0)
    }

    fn mix(coloured: u32) -> u32 {
        coloured.wrapping_mul(0x9e37_79b1)
    }
}

impl Model for OddOneOut {
    type State = OddState;
    type Params = OddParams;
    type Payload = [u32; 2];
    type Output = [u32; 2];

    fn name(&self) -> &str {
        "odd one out"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/odd_one_out.wgsl", include_str!("../../../wgsl/odd_one_out.wgsl"))
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(1000)
    }
    fn params(&self) -> OddParams {
        self.params
    }
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let replica = totals.column("replica").unwrap();
        vec![("number".into(), replica.maximum().to_f64())]
    }
}

impl CpuModel for OddOneOut {
    fn init(&self, lp: u32, state: &mut OddState, context: &mut Context<'_>) {
        let replica = context.replica();
        state.coloured = Self::mix(replica).wrapping_add(context.stream().draw());
        context.schedule(lp, Ticks::new(lp.into()), [lp, replica]);
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut OddState, context: &mut Context<'_>) {
        let (now, replica) = (context.now(), context.replica());
        state.seen += 1;
        state.coloured = Self::mix(state.coloured ^ event.payload[1].wrapping_add(replica));
        let OddParams { at, mean, culprit, from } = self.params;
        if (replica == culprit || culprit == EVERY) && lp >= from && now >= at {
            let early = now.saturating_add(Ticks::new(context.lookahead().get() - 1));
            return context.schedule((lp + 1) % self.lps, early, event.payload);
        }
        let delay = context.lookahead().saturating_add(context.stream().exponential(mean));
        let to = context.stream().below(self.lps);
        context.schedule(to, now.saturating_add(delay), event.payload);
    }

    fn output(&self, _: u32, state: &OddState, context: &mut Context<'_>) -> [u32; 2] {
        [state.coloured, context.replica()]
    }
}

/// `tests/wgsl/two_at_fault.wgsl`: eight LPs that send each other nothing, as they declare. LP 0
/// advances tick by tick for a while; LP 5 schedules into the past at tick 1000, and LP 2 a tick
/// later.
#[derive(Clone, Copy)]
pub(super) struct TwoAtFault;

impl Model for TwoAtFault {
    type State = u32;
    type Params = ();
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "two at fault"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/two_at_fault.wgsl", include_str!("../../../wgsl/two_at_fault.wgsl"))
    }
    fn lps(&self) -> u32 {
        8
    }
    fn lookahead(&self) -> Ticks {
        Ticks::ZERO
    }
    fn params(&self) {}
}

impl CpuModel for TwoAtFault {
    fn init(&self, lp: u32, _: &mut u32, context: &mut Context<'_>) {
        let time = match lp {
            0 => 1,
            2 => 1001,
            5 => 1000,
            _ => 100_000,
        };
        context.schedule(lp, Ticks::new(time), [0, 0]);
    }

    fn handle(&self, lp: u32, _: &Event, seen: &mut u32, context: &mut Context<'_>) {
        *seen += 1;
        if lp == 0 && context.now() < Ticks::new(50) {
            context.schedule(lp, context.now().saturating_add(Ticks::new(1)), [0, 0]);
        }
        if lp == 2 || lp == 5 {
            context.schedule(lp, Ticks::new(1), [0, 0]);
        }
    }
}

/// `tests/wgsl/late.wgsl`
#[derive(Clone, Copy)]
pub(super) struct Late {
    pub(super) lookahead: Ticks,
    pub(super) events: u32,
}

impl Model for Late {
    type State = u32;
    type Params = [u32; 2];
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "late"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/late.wgsl", include_str!("../../../wgsl/late.wgsl"))
    }
    fn lps(&self) -> u32 {
        8
    }
    fn lookahead(&self) -> Ticks {
        self.lookahead
    }
    fn params(&self) -> [u32; 2] {
        [self.events, 0]
    }
}

impl CpuModel for Late {
    fn init(&self, lp: u32, _: &mut u32, context: &mut Context<'_>) {
        context.schedule(lp, Ticks::ZERO, [0, 0]);
    }

    fn handle(&self, lp: u32, _: &Event, handled: &mut u32, context: &mut Context<'_>) {
        *handled += 1;
        if lp == 0 && *handled == 150 || lp == 5 && *handled == 1 {
            context.schedule(8, context.now().saturating_add(context.lookahead()), [0, 0]);
        }
        if *handled < self.events {
            context.schedule(lp, context.now().saturating_add(Ticks::new(1)), [0, 0]);
        }
    }
}

/// `tests/wgsl/scribe.wgsl`
#[derive(Debug, Clone, Copy)]
pub(super) struct Scribe {
    pub(super) rows: u32,
    pub(super) again: u32,
}

#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct ScribeParams {
    mean: Ticks,
    rows: u32,
    again: u32,
}

#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct ScribeState {
    sum: u32,
    seen: u32,
}

impl Model for Scribe {
    type State = ScribeState;
    type Params = ScribeParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "scribe"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/scribe.wgsl", include_str!("../../../wgsl/scribe.wgsl"))
    }
    fn lps(&self) -> u32 {
        9
    }
    fn memory_rows(&self) -> u32 {
        self.rows
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(10)
    }
    fn params(&self) -> ScribeParams {
        ScribeParams { mean: Ticks::new(5000), rows: self.rows, again: self.again }
    }
}

impl CpuModel for Scribe {
    fn init(&self, lp: u32, _: &mut ScribeState, context: &mut Context<'_>) {
        context.schedule(lp, Ticks::new(lp.into()), [lp, 0]);
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut ScribeState, context: &mut Context<'_>) {
        state.seen += 1;
        let [token, times] = event.payload;
        let count = 1 + context.stream().below(self.rows);
        for i in 0..count {
            let [x, y, z, w] = context.memory_get(i);
            let row = [y.wrapping_add(token), z.wrapping_add(i), w.wrapping_add(1), x ^ count];
            context.memory_set(i, row);
            let [read, ..] = context.memory_get(i * 7 % self.rows);
            state.sum = state.sum.wrapping_mul(31).wrapping_add(read);
        }
        if times < self.again {
            return context.schedule(lp, event.time, [token, times + 1]);
        }
        let delay = context.lookahead().saturating_add(context.stream().exponential(Ticks::new(5000)));
        let to = context.stream().below(self.lps());
        context.schedule(to, event.time.saturating_add(delay), [state.sum, 0]);
    }
}
