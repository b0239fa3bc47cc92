//! The model contract: plain data in Rust, and the behaviour in one WGSL file.

use bytemuck::Pod;
use std::borrow::Cow;

use crate::gpu::Source;
use crate::random::Stream;
use crate::statistics::{AnalysisError, Observations};
use crate::time::Ticks;

use super::capacity::Capacity;
use super::event::{Event, LpEvent, Payload};
use super::totals::Totals;

/// A model of logical processes (LPs) that send each other events.
///
/// The behaviour is written in WGSL ([`Model::source`]):
///
/// ```wgsl
/// struct State { ... }                                      // one per LP, zeroed before `init`
/// fn init(lp: u32, state: ptr<function, State>)             // initial state; schedules the first events
/// fn handle(lp: u32, event: Event, state: ptr<function, State>)
/// ```
///
/// with `struct Event { time: vec2<u32>, payload: Payload }`. `Payload` is `vec2<u32>`, or
/// `array<u32, 6>` if [`Model::Payload`] is `[u32; 6]`. `init` and `handle` may call
///
/// | function | what it does |
/// | --- | --- |
/// | `schedule(lp, time, payload)` | sends an event: to the LP itself for any time from now on, to others at least the lookahead after the current event |
/// | `now()` | the time of the current event; in `init` zero |
/// | `memory_get(i)`, `memory_set(i, row)`, `memory_rows()` | the LP's rows of LP memory, `vec4<u32>` each: [`Model::memory_rows`] |
/// | `memory_full()` | ends the run because the LP's memory is too small |
/// | `line_push(…)`, `line_front(…)`, `line_pop(…)` | a waiting line in LP memory: [`Line`](crate::pdes::Line) |
/// | `draw()` | 32 random bits of the stream (seed, point, replication, LP, number of the event at this LP); with a purpose, its name and number replace the event's |
/// | `stream_named(name, number)` | the following draws use the substream of a 64-bit name and a number, which does not depend on the LP: [`Stream::named`] |
/// | `stream_purpose(purpose, number)`, `stream_main()` | the following draws use the LP's substream of that name, which does not depend on the event; `stream_main` switches back: [`Stream::purpose`] |
/// | `draw_below(n)` | uniform over 0 .. n-1 |
/// | `draw_exponential(mean)` | exponential with a mean in ticks, in ticks |
/// | `draw_bernoulli(p)` | true with the probability `p` / 2^32: [`Stream::bernoulli`] |
/// | `draw_uniform(low, high)` | uniform over the ticks from `low` to before `high`: [`Stream::uniform`] |
/// | `draw_hyperexponential(p, first, second)` | exponential with either of two means: [`Stream::hyperexponential`] |
/// | `draw_erlang(stages, mean)` | the sum of `stages` exponentials with one mean: [`Stream::erlang`] |
/// | `draw_geometric(scale)` | failures before a success: [`Stream::geometric`] |
/// | `draw_triangular(low, mode, high)` | triangular over ticks: [`Stream::triangular`] |
/// | `draw_poisson(mean)` | Poisson with a mean up to 256: [`Stream::poisson`] |
/// | `draw_normal(mean, deviation)` | normal in ticks, at least 0: [`Stream::normal`] |
/// | `draw_lognormal(median, spread)` | lognormal in ticks: [`Stream::lognormal`] |
/// | `draw_weibull(scale, power)` | Weibull in ticks: [`Stream::weibull`] |
/// | `draw_word(low, high)`, `exponential_of(word, mean)`, `uniform_of(a, b, c, low, high)`, `triangular_of(a, b, low, mode, high)`, `normal_of`, `lognormal_of`, `weibull_of` | truncated variates: [`words_between`](crate::random::words_between) |
/// | `normal_unit(word)` | standard normal in units of 2^-28, from a drawn word: [`normal_unit`](crate::random::normal_unit) |
/// | `alias_slot(n)`, `alias_pick(slot, threshold, other)` | any discrete distribution: [`AliasTable`](crate::random::AliasTable) |
/// | `time_add(a, b)`, `time_since(end, begin)`, `time_less(a, b)`, `time_min(a, b)` | times are `vec2<u32>` (low, high) in ticks: do not use WGSL's `+`, `-` and `<`, which work by component. A sum beyond the last tick is `TIME_NEVER`; `time_since` is zero if `end` is before `begin` |
/// | `wide_add(a, b)`, `wide_subtract(a, b)`, `wide_less(a, b)`; `wide_add_128(a, b)`; `add_word(a, word)`; `mul_wide(a, b)`, `product_128(a, b)` | numbers of 64 bits (modulo 2^64) and of 128 bits (`vec4<u32>`, the lowest word first; all ones if a sum does not fit), and products of two words and of two 64-bit numbers |
/// | `lp_count()`, `lookahead()` | the number of LPs, the lookahead |
/// | `replica()` | the number of this run among the replications, which differ in their random streams: [`Replica`](crate::pdes::Replica) |
/// | `tally_add(…)`, `time_average_set(…)`, `histogram_bin(…)` and more | statistics stored in the state: see [`statistics`](crate::statistics#while-a-model-runs) |
///
/// Both functions act only through `state` and LP memory, so the engine may run them at any time
/// and repeatedly. In the speculative execution of [`Sync::Horizon`](crate::pdes::Sync::Horizon)
/// only 16 written rows of LP memory are kept, so a loop may read old values. Write loops that end
/// whatever LP memory holds.
///
/// An LP executes its smallest pending event, ordered by time and then by payload. Events that it
/// schedules for itself are pending at once, also those for the current time. Events from other LPs
/// arrive with the next window.
///
/// In a model whose lookahead is zero ("without a lookahead"), an LP may send an event for the
/// current time. Time then advances in *rounds*. A round executes the events that each LP holds at
/// that time when the round begins, and those the LP schedules for itself. Events that other LPs
/// send for the same time belong to the next round (superdense time).
///
/// Do not schedule an event that never happens (a delay of `TIME_NEVER`): it counts as beyond the
/// last tick.
///
/// A model may declare its own constants, types and functions. Module-scope variables, barriers,
/// entry points, and uses of the engine's own functions and variables are refused, with file and
/// line: all effects of an event are in `state` and LP memory. The file has its own namespace, so
/// its names may equal names of the engine. Only types must not have the names of WGSL types
/// (`u32`, `vec2`).
///
/// Drivers inline functions. These are therefore refused: a function of more than 200,000
/// statements and expressions with all its callees, or of more than 20,000 without them; a call
/// chain of more than 64 functions; an indexed constant array of more than 1,024 words (put it into
/// `data`); and a loop that changes nothing, which compilers remove even if it never ends.
///
/// A model with parameters or data declares them in the WGSL as
///
/// ```wgsl
/// @group(1) @binding(0) var<uniform> params: Params;
/// @group(1) @binding(1) var<storage, read> data: array<u32>;    // or of structs, as WGSL lays them out: `Model::data` is their words
/// ```
///
/// Do not index beyond `arrayLength(&data)`: the value read depends on the device.
///
/// Import the library's files with a comment on a line of its own: `// import: pdes/line.wgsl` for
/// the `line_` functions, `// import: statistics/tally.wgsl` and so on for statistics.
///
/// # Bounds, for wider windows
///
/// This section is optional, and nothing in it changes a result. It declares what a model's LPs
/// cannot do, so that more LPs may run at once ([`Sync`](crate::pdes::Sync)). If a model violates a
/// declaration that a window relied on, the run ends with
/// [`FaultKind::Promise`](crate::pdes::FaultKind::Promise). The check may miss this at the moment
/// when a run changes its queues or windows, or is resumed
/// ([guide](crate::guide::synchronisation)).
///
/// ```wgsl
/// fn earliest(lp: u32, event: Event, state: ptr<function, State>) -> vec2<u32>
/// ```
///
/// is a time before which the LP sends nothing to others if nothing arrives. `event` is the LP's
/// first pending event. `earliest` replaces speculative execution.
///
/// <a id="neighbours"></a>
/// ```wgsl
/// fn sender_count(lp: u32) -> u32                                       // how many LPs may send to this one
/// fn sender(lp: u32, index: u32) -> u32                                 // which they are
/// fn answer(lp: u32, state: ptr<function, State>) -> Answer             // Answer(since, delay), two times
/// ```
///
/// declare which LPs may send to this LP, and how early it answers. The LP reacts to an arrival at
/// a time `t` that it does not know yet no earlier than `max(t, since) + delay`. (A station that is
/// free from `since` on and then serves for `delay`.) Without `answer`, the bound is `t` plus the
/// lookahead.
///
/// `answer` need not cover the LP's pending events: the engine bounds what they send itself and
/// takes the earlier of the two times. Bounds travel fastest if LPs that send to each other have
/// close numbers: a workgroup relaxes up to 512 consecutive LPs together.
///
/// ```wgsl
/// fn next_to(lp: u32, state: ptr<function, State>) -> u32               // the LP that receives the LP's next message
/// fn next_gap(lp: u32, state: ptr<function, State>) -> vec2<u32>        // how much later, at least, any other LP receives one
/// ```
///
/// together declare two facts. The LP's next message goes to LP `next_to`, whichever event causes
/// it. A message to any other LP comes at least `next_gap` later than two times: the time of this
/// next message, and the time of the second of the events that the LP holds now or that arrive.
/// Events that it schedules for itself do not count.
///
/// If `next_to` is the LP itself or `0xffffffffu`, nothing is declared. (Example: a station that
/// knows the next station of its next customer and the service time of the customer after that. The
/// second service begins neither before that customer arrives nor before the first one leaves.) The
/// gap lets other LPs advance further.
///
/// `earliest`, `answer` and `next_to` may draw: they get the draws of the LP's next executed event.
/// `next_gap` may draw, too: it gets the draws of the event after that. (That event need not be the
/// arrival: a pending event may come first. Then the messages of that event must respect the same
/// bound.) These functions schedule nothing and change nothing.
///
/// # Results
///
/// A model with results ([`Model::Output`]) declares them as
///
/// ```wgsl
/// struct Output { ... }                                             // of numbers, and of structs and arrays of numbers: `Outputs`
/// fn output(lp: u32, state: ptr<function, State>) -> Output         // the results of the LP at the time `now()`
/// ```
///
/// The host calls it at any time, for a time that the host chooses
/// ([`Simulation::outputs`](crate::pdes::Simulation::outputs)). `output` reads the state and LP
/// memory, `params` and `data`. It may call `now()`, `memory_get`, `memory_rows`, `lp_count`,
/// `lookahead`, the functions of times, the statistics (for example `time_average_at(average,
/// now())`) and `normal_unit`.
///
/// It changes nothing: `schedule`, draws, `memory_set` and `memory_full` are refused in it and in
/// its callees, with file and line, and its writes to `state` are lost. Access to a row that the LP
/// does not have is an error of the call for results and does not affect the run.
pub trait Model {
    /// The state of an LP: the same bytes as the WGSL `struct State`. Padding is refused; declare
    /// it as fields.
    type State: Pod;
    /// The same bytes as the WGSL `struct Params`; `()` for a model without parameters.
    type Params: Pod;
    /// The payload of an event: `[u32; 2]`, or `[u32; 6]` if that is too small. The shorter is
    /// faster.
    type Payload: Payload;
    /// The same bytes as the WGSL `struct Output`: the result columns. `()` for a model without
    /// results. Padding is refused.
    type Output: Pod + Send + Sync;

    /// The name in reports.
    fn name(&self) -> &str;

    /// The WGSL file. Use [`wgsl!`](crate::wgsl) so that its errors point at the file and line.
    fn source(&self) -> Source;

    /// The number of LPs.
    fn lps(&self) -> u32;

    /// The minimum time from an event to an event that it schedules for another LP. The larger it
    /// is, the more events run at once. [`Ticks::NEVER`] if LPs send each other nothing; zero if no
    /// bound is known, in which case [`Sync::Horizon`](crate::pdes::Sync::Horizon) finds windows
    /// without it.
    fn lookahead(&self) -> Ticks;

    /// The parameters.
    fn params(&self) -> Self::Params;

    /// The bytes of the parameters. A model that is loaded at run time returns all words.
    #[doc(hidden)]
    fn params_bytes(&self) -> Vec<u8> {
        bytemuck::bytes_of(&self.params()).to_vec()
    }

    /// The read-only data, if the model's WGSL declares `data`.
    fn data(&self) -> &[u32] {
        &[]
    }

    /// The number of rows of 16 bytes in each LP's memory, initially zero: for waiting lines and
    /// tables. [`Model::State`] is copied in and out for each batch of events; of LP memory only
    /// the accessed rows are touched.
    fn memory_rows(&self) -> u32 {
        0
    }

    /// The capacities of queues and mailboxes, as far as they are known. If one is too small, it
    /// grows while the simulation runs (see [`Options::fixed`](crate::pdes::Options::fixed)). A
    /// good estimate saves that time.
    fn capacity(&self) -> Capacity {
        Capacity { queue: 32, mailbox: 16 }
    }

    /// The number of pending events of a run, over all LPs, for a model in which each event
    /// schedules one other, so that the number is constant. (If some events schedule two and others
    /// none, a value above the maximum number of pending events helps.)
    ///
    /// It is a hint like [`capacity`](Self::capacity). In an experiment, the less room a run needs,
    /// the more runs share the device ([`Mapping`](crate::pdes::Mapping)). A run gets room for this
    /// number of events, at most for what queues of `capacity` hold on average plus a reserve;
    /// without the hint, for that much.
    /// [`Sync::Auto`](crate::pdes::Sync::Auto) estimates the width of event-horizon windows from
    /// it.
    fn events_held(&self) -> Option<u32> {
        None
    }

    /// What an experiment observes of a run in addition to the sums of the result columns, by name:
    /// ratios, and quantities in the units of the model's users. All runs have the same names, and
    /// none equals the name of a result column. A run with a NaN measure (a mean of nothing) counts
    /// as failed, so that all columns have the same observations.
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let _ = totals;
        Vec::new()
    }

    /// Adds columns derived from others once runs of an experiment are complete: ratios, estimated
    /// from pooled sums ([`Observations::pool`]). By default it adds none.
    ///
    /// # Errors
    /// [`AnalysisError`], from the functions it calls.
    fn derive(&self, observations: &mut Observations) -> Result<(), AnalysisError> {
        let _ = observations;
        Ok(())
    }
}

/// A reference to a model is the model.
impl<M: Model> Model for &M {
    type State = M::State;
    type Params = M::Params;
    type Payload = M::Payload;
    type Output = M::Output;

    fn name(&self) -> &str {
        (**self).name()
    }

    fn source(&self) -> Source {
        (**self).source()
    }

    fn lps(&self) -> u32 {
        (**self).lps()
    }

    fn lookahead(&self) -> Ticks {
        (**self).lookahead()
    }

    fn params(&self) -> Self::Params {
        (**self).params()
    }

    fn params_bytes(&self) -> Vec<u8> {
        (**self).params_bytes()
    }

    fn data(&self) -> &[u32] {
        (**self).data()
    }

    fn memory_rows(&self) -> u32 {
        (**self).memory_rows()
    }

    fn capacity(&self) -> Capacity {
        (**self).capacity()
    }

    fn events_held(&self) -> Option<u32> {
        (**self).events_held()
    }

    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        (**self).measures(totals)
    }

    fn derive(&self, observations: &mut Observations) -> Result<(), AnalysisError> {
        (**self).derive(observations)
    }
}

/// The second implementation of a model, in Rust: the same behaviour as its WGSL. It is optional,
/// and the sequential engine runs it to check the WGSL
/// ([`CpuSimulation::in_rust`](crate::pdes::CpuSimulation::in_rust)).
pub trait CpuModel: Model {
    /// The same as `init` in WGSL.
    fn init(&self, lp: u32, state: &mut Self::State, context: &mut Context<'_, Self::Payload>);

    /// The same as `handle` in WGSL.
    fn handle(
        &self,
        lp: u32,
        event: &Event<Self::Payload>,
        state: &mut Self::State,
        context: &mut Context<'_, Self::Payload>,
    );

    /// The same as `output` in WGSL, at the time of [`Context::now`]. It may read LP memory, and
    /// must not write it, draw or schedule.
    ///
    /// # Panics
    /// If a model with an output does not implement it.
    fn output(&self, lp: u32, state: &Self::State, context: &mut Context<'_, Self::Payload>) -> Self::Output {
        let _ = (lp, state, context);
        assert!(size_of::<Self::Output>() == 0, "a model with an `Output` implements `CpuModel::output`");
        bytemuck::Zeroable::zeroed()
    }
}

/// The functions that a Rust model may call while it handles an event.
#[derive(Debug)]
pub struct Context<'a, P: Payload = [u32; 2]> {
    pub(crate) stream: Stream,
    pub(crate) lps: u32,
    pub(crate) replica: u32,
    pub(crate) lookahead: Ticks,
    pub(crate) now: Ticks,
    pub(crate) sent: &'a mut Vec<LpEvent<P>>,
    pub(crate) memory: &'a mut [[u32; 4]],
    pub(crate) memory_full: bool,
}

impl<P: Payload> Context<'_, P> {
    /// Sends an event to LP `lp`. WGSL: `schedule`.
    pub fn schedule(&mut self, lp: u32, time: Ticks, payload: P) {
        self.sent.push(LpEvent { event: Event { time, payload }, lp });
    }

    /// The random stream of this event. WGSL: `draw` and the functions with names that begin with
    /// `draw_`.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// The number of LPs. WGSL: `lp_count`.
    pub fn lp_count(&self) -> u32 {
        self.lps
    }

    /// The number of this run among the replications, which differ in their random streams:
    /// [`Replica::number`](crate::pdes::Replica::number). WGSL: `replica`.
    pub fn replica(&self) -> u32 {
        self.replica
    }

    /// The lookahead. WGSL: `lookahead`.
    pub fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    /// The time of the current event; zero in `init`. WGSL: `now`.
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// The number of rows in each LP's memory. WGSL: `memory_rows`.
    #[expect(clippy::cast_possible_truncation, reason = "its length comes from a u32")]
    pub fn memory_rows(&self) -> u32 {
        self.memory.len() as u32
    }

    /// Reads a row of the LP's memory. A row that does not exist ends the run with a fault and
    /// reads as zero. WGSL: `memory_get`.
    pub fn memory_get(&mut self, index: u32) -> [u32; 4] {
        match self.memory.get(index as usize) {
            Some(row) => *row,
            None => {
                self.memory_full();
                [0; 4]
            }
        }
    }

    /// Writes a row of the LP's memory. A row that does not exist ends the run with a fault. WGSL:
    /// `memory_set`.
    pub fn memory_set(&mut self, index: u32, row: [u32; 4]) {
        match self.memory.get_mut(index as usize) {
            Some(kept) => *kept = row,
            None => self.memory_full(),
        }
    }

    /// Ends the run with the fault that the LP's memory is full. WGSL: `memory_full`.
    pub fn memory_full(&mut self) {
        self.memory_full = true;
    }
}
