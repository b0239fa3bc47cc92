//! Small models with which the engine is tested.

use eventhorizon::gpu::Source;
use eventhorizon::pdes::{Capacity, Context, CpuModel, Event, Model};
use eventhorizon::time::Ticks;

/// `tests/wgsl/ring.wgsl`
pub struct Ring {
    pub next: Vec<u32>,
    pub step: u64,
    pub hops: u32,
    pub stride: u32,
    pub capacity: Capacity,
}

impl Ring {
    /// Each LP passes its token to the next one, so an LP holds at most one event.
    pub fn new(lps: u32, hops: u32) -> Self {
        let next = (0..lps).map(|lp| (lp + 1) % lps).collect();
        Self { next, step: 10, hops, stride: 1, capacity: Capacity { queue: 2, mailbox: 2 } }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct RingParams {
    step: u64,
    hops: u32,
    stride: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct RingState {
    pub visits: u32,
    pub drawn: u32,
}

impl Model for Ring {
    type State = RingState;
    type Params = RingParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "ring"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/ring.wgsl", include_str!("../wgsl/ring.wgsl"))
    }
    fn lps(&self) -> u32 {
        u32::try_from(self.next.len()).unwrap()
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(self.step)
    }
    fn params(&self) -> RingParams {
        RingParams { step: self.step, hops: self.hops, stride: self.stride }
    }
    fn data(&self) -> &[u32] {
        &self.next
    }
    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

impl CpuModel for Ring {
    fn init(&self, lp: u32, state: &mut RingState, context: &mut Context<'_>) {
        state.drawn = context.stream().draw();
        if lp.is_multiple_of(self.stride) {
            context.schedule(lp, Ticks::new(u64::from(lp % 7)), [self.hops, lp]);
        }
    }
    fn handle(&self, lp: u32, event: &Event, state: &mut RingState, context: &mut Context<'_>) {
        state.visits += 1;
        state.drawn = state.drawn.wrapping_mul(31).wrapping_add(context.stream().below(1000));
        if event.payload[0] > 0 {
            let time = event.time.saturating_add(Ticks::new(self.step));
            context.schedule(self.next[lp as usize], time, [event.payload[0] - 1, event.payload[1]]);
        }
    }
}

/// `tests/wgsl/mischief.wgsl`
#[derive(Clone, Copy)]
pub struct Mischief {
    pub lps: u32,
    pub rule: u32,
    pub culprit: u32,
    pub at: u64,
    pub capacity: Capacity,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct MischiefParams {
    at: u64,
    rule: u32,
    culprit: u32,
}

impl Model for Mischief {
    type State = u32;
    type Params = MischiefParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "mischief"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/mischief.wgsl", include_str!("../wgsl/mischief.wgsl"))
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(1000)
    }
    fn params(&self) -> MischiefParams {
        MischiefParams { at: self.at, rule: self.rule, culprit: self.culprit }
    }
    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

impl CpuModel for Mischief {
    fn init(&self, lp: u32, _: &mut u32, context: &mut Context<'_>) {
        match self.rule {
            10 => context.schedule(self.lps, Ticks::new(1), [0, 0]),
            11 => context.schedule(2, Ticks::new(1), [lp, lp]),
            12 => context.schedule(lp, Ticks::NEVER, [0, 0]),
            _ => {}
        }
        context.schedule(lp, Ticks::new(u64::from(lp)), [lp, lp]);
    }
    fn handle(&self, lp: u32, event: &Event, state: &mut u32, context: &mut Context<'_>) {
        *state += 1;
        let next = event.time.saturating_add(context.lookahead());
        if lp >= self.culprit && event.time.get() >= self.at {
            match self.rule {
                0 => context.schedule(
                    (lp + 1) % self.lps,
                    event.time.saturating_add(Ticks::new(999)),
                    event.payload,
                ),
                1 => context.schedule(self.lps + lp, next, event.payload),
                2 => context.schedule(lp, Ticks::NEVER, event.payload),
                3 => context.schedule(3, next, event.payload),
                4 => context.schedule(4, next.saturating_add(Ticks::new(1 << 32)), event.payload),
                _ => {}
            }
        }
        context.schedule((lp + 1) % self.lps, next, event.payload);
    }
}
