//! The model contract: plain data in Rust, the behaviour in one WGSL file, and its Rust twin.

use bytemuck::Pod;

use crate::gpu::Source;
use crate::random::Stream;
use crate::time::Ticks;

use super::Capacity;

/// An event: 16 bytes.
///
/// Events have a total order: time, then payload words. Two events that are equal in all 16 bytes at the same LP are
/// interchangeable, which is why the order in which they arrive can never show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Event {
    /// When it happens.
    pub time: Ticks,
    /// Two words of the model's own.
    pub payload: [u32; 2],
}

impl Event {
    /// The four words that kernels see: time (low, high), payload.
    pub const fn words(&self) -> [u32; 4] {
        let [low, high] = self.time.to_words();
        [low, high, self.payload[0], self.payload[1]]
    }
}

/// A model of logical processes (LPs) that send each other events.
///
/// The behaviour is WGSL ([`Model::source`]):
///
/// ```wgsl
/// struct State { ... }                                      // one per LP, zeroed before `init`
/// fn init(lp: u32, state: ptr<function, State>)             // initial state; schedules the first events
/// fn handle(lp: u32, event: Event, state: ptr<function, State>)
/// ```
///
/// with `struct Event { time: vec2<u32>, payload: vec2<u32> }`. Both may call
///
/// | function | what it does |
/// | --- | --- |
/// | `schedule(lp, time, payload)` | sends an event; from `handle`, at least the lookahead after the present one |
/// | `draw()` | 32 random bits of the stream (seed, LP, number of this event at this LP) |
/// | `draw_below(n)` | uniform over 0 .. n-1 |
/// | `draw_exponential(mean)` | exponential with a mean in ticks, in ticks |
/// | `draw_bernoulli(p)` | true with the probability `p` / 2^32: [`Stream::bernoulli`] |
/// | `draw_uniform(low, high)` | uniform over the ticks from `low` to before `high`: [`Stream::uniform`] |
/// | `draw_hyperexponential(p, first, second)` | exponential with either of two means: [`Stream::hyperexponential`] |
/// | `draw_erlang(stages, mean)` | the sum of so many exponentials of one mean: [`Stream::erlang`] |
/// | `draw_geometric(scale)` | failures before a success: [`Stream::geometric`] |
/// | `draw_triangular(low, mode, high)` | triangular over ticks: [`Stream::triangular`] |
/// | `draw_poisson(mean)` | Poisson, of a mean up to 256: [`Stream::poisson`] |
/// | `draw_normal(mean, deviation)` | normal in ticks, at least 0: [`Stream::normal`] |
/// | `draw_lognormal(median, spread)` | lognormal in ticks: [`Stream::lognormal`] |
/// | `draw_weibull(scale, power)` | Weibull in ticks: [`Stream::weibull`] |
/// | `normal_unit(word)` | standard normal in units of 2^-28, from a word that was drawn: [`normal_unit`](crate::random::normal_unit) |
/// | `alias_slot(n)`, `alias_pick(slot, threshold, other)` | any discrete distribution: [`AliasTable`](crate::random::AliasTable) |
/// | `time_add(a, b)`, `time_less(a, b)`, `time_min(a, b)` | times are `vec2<u32>` (low, high) in ticks |
/// | `lp_count()`, `lookahead()` | what the names say |
/// | `tally_add(…)`, `time_average_set(…)`, `histogram_bin(…)` and more | statistics that it keeps in its state: see [`statistics`](crate::statistics#while-a-model-runs) |
///
/// and have no other effect than through `state`, so that the engine may run them when and as often as it likes. An event
/// that never happens (a delay of `TIME_NEVER`) must not be scheduled: it counts as beyond the last tick.
///
/// A model may declare constants, types and functions of its own, too. Module-scope variables, barriers, entry points, and the engine's
/// own functions and variables are refused, with file and line: what an event leaves behind is in `state`. The engine's names share the
/// module: a name that it has too is reported with both places.
///
/// Parameters and data, if the model has any, are declared in the WGSL as
///
/// ```wgsl
/// @group(1) @binding(0) var<uniform> params: Params;
/// @group(1) @binding(1) var<storage, read> data: array<u32>;    // any type
/// ```
pub trait Model {
    /// The state of an LP: the same bytes as the WGSL `struct State`. Padding is refused; declare it as fields.
    type State: Pod;
    /// The same bytes as the WGSL `struct Params`; `()` for a model without.
    type Params: Pod;

    /// The name in reports.
    fn name(&self) -> &str;

    /// The WGSL file. Use [`wgsl!`](crate::wgsl) so that errors in it point at the file and line.
    fn source(&self) -> Source;

    /// How many LPs there are.
    fn lps(&self) -> u32;

    /// The least time from an event to one that it schedules; more than zero. The larger it is, the more events run
    /// at once.
    fn lookahead(&self) -> Ticks;

    /// The parameters.
    fn params(&self) -> Self::Params;

    /// The read-only data, if the model's WGSL declares `data`.
    fn data(&self) -> &[u32] {
        &[]
    }

    /// How much room queues and mailboxes need.
    fn capacity(&self) -> Capacity;
}

/// The Rust twin of a model's WGSL: the same behaviour, for the sequential engine.
pub trait CpuModel: Model {
    /// The twin of `init`.
    fn init(&self, lp: u32, state: &mut Self::State, context: &mut Context<'_>);

    /// The twin of `handle`.
    fn handle(&self, lp: u32, event: &Event, state: &mut Self::State, context: &mut Context<'_>);
}

/// What a Rust model may use while it handles an event.
#[derive(Debug)]
pub struct Context<'a> {
    pub(super) stream: Stream,
    pub(super) lps: u32,
    pub(super) lookahead: Ticks,
    pub(super) sent: &'a mut Vec<(u32, Event)>,
}

impl Context<'_> {
    /// Sends an event to LP `lp`. WGSL: `schedule`.
    pub fn schedule(&mut self, lp: u32, time: Ticks, payload: [u32; 2]) {
        self.sent.push((lp, Event { time, payload }));
    }

    /// The random stream of this event. WGSL: `draw` and the functions whose names begin with `draw_`.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// How many LPs there are. WGSL: `lp_count`.
    pub fn lp_count(&self) -> u32 {
        self.lps
    }

    /// The lookahead. WGSL: `lookahead`.
    pub fn lookahead(&self) -> Ticks {
        self.lookahead
    }
}
