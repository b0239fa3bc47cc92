//! A model with results: every kind of column.

use bytemuck::{Pod, Zeroable};
use eventhorizon::gpu::Source;
use eventhorizon::pdes::{Capacity, Context, CpuModel, Event, Model};
use eventhorizon::statistics::{Tally, TimeAverage, histogram_bin};
use eventhorizon::time::Ticks;

/// `tests/wgsl/counted.wgsl`
#[derive(Clone)]
pub struct Counted {
    pub lps: u32,
    pub params: CountedParams,
    pub first_kinds: Vec<u32>,
    pub capacity: Capacity,
    pub source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CountedParams {
    pub classes: u32,
    pub row: u32,
    pub culprit: u32,
    pub huge: u32,
    kinds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CountedState {
    pub wait: Tally,
    pub load: TimeAverage,
    pub bins: [u32; 5],
    pub drift: i32,
    pub served: u32,
    spare: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CountedOutput {
    pub wait: Tally,
    pub load: TimeAverage,
    pub big: [u64; 2],
    pub ticks: Ticks,
    pub kind: u32,
    pub drift: i32,
    pub share: f32,
    pub bins: [u32; 5],
    pub lp: u32,
    spare: u32,
}

impl Counted {
    pub fn new(lps: u32) -> Self {
        let params = CountedParams { classes: 4, row: 1, culprit: u32::MAX, huge: 0, kinds: 0 };
        let source = Source::new("tests/wgsl/counted.wgsl", include_str!("../wgsl/counted.wgsl"));
        let capacity = Capacity { queue: 48, mailbox: 24 };
        Self { lps, params, first_kinds: vec![7], capacity, source }
    }

    /// With another text in its WGSL.
    pub fn with(&self, old: &str, new: &str) -> Self {
        let text = self.source.text();
        assert!(text.contains(old), "{old}");
        Self { source: Source::new("counted.wgsl", text.replace(old, new)), ..self.clone() }
    }
}

impl Model for Counted {
    type State = CountedState;
    type Params = CountedParams;
    type Payload = [u32; 2];
    type Output = CountedOutput;

    fn name(&self) -> &str {
        "counted"
    }
    fn source(&self) -> Source {
        self.source.clone()
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(10)
    }
    fn params(&self) -> CountedParams {
        CountedParams { kinds: u32::try_from(self.first_kinds.len()).unwrap(), ..self.params }
    }
    fn data(&self) -> &[u32] {
        &self.first_kinds
    }
    fn memory_rows(&self) -> u32 {
        2
    }
    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

impl CpuModel for Counted {
    fn init(&self, lp: u32, _: &mut CountedState, context: &mut Context<'_>) {
        if lp % 3 != 2 {
            context.schedule(lp, Ticks::new(u64::from(lp % 7)), [0, lp]);
        }
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut CountedState, context: &mut Context<'_>) {
        let wait = u64::from(context.stream().below(1000));
        state.wait.add(event.time, (wait & 1) << 32 | wait);
        let level = context.stream().below(5);
        state.load.set(event.time, level);
        state.bins[histogram_bin(wait, 100, 300, 5) as usize] += 1;
        context.stream().purpose(3, state.served);
        state.drift += context.stream().below(7) as i32 - 3;
        context.stream().main();
        state.served += 1;
        let [a, b, c, d] = std::array::from_fn(|_| context.stream().draw());
        context.memory_set(1, [a, b, c, (d >> 8).wrapping_add(self.params.huge)]);
        let other = (lp + 1 + context.stream().below(5)) % self.lps;
        let delay = Ticks::new(10 + u64::from(context.stream().below(20)));
        context.schedule(other, event.time.saturating_add(delay), [state.served, lp]);
    }

    fn output(&self, lp: u32, state: &CountedState, context: &mut Context<'_>) -> CountedOutput {
        let row = if lp >= self.params.culprit { context.memory_rows() } else { self.params.row };
        let [a, b, c, d] = context.memory_get(row).map(u64::from);
        CountedOutput {
            wait: state.wait,
            load: state.load.at(context.now()),
            big: [b << 32 | a, d << 32 | c],
            ticks: context.now().saturating_add(Ticks::new(u64::from(lp & 1) << 32 | u64::from(lp))),
            kind: self.first_kinds[lp as usize % self.first_kinds.len()] + lp % self.params.classes,
            drift: state.drift,
            share: state.drift as f32 * 0.25,
            bins: state.bins,
            lp,
            spare: 0,
        }
    }
}
