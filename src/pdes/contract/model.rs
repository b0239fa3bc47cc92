//! The model contract: plain data in Rust, the behaviour in one WGSL file, and its Rust twin.

use bytemuck::Pod;
use std::borrow::Cow;

use crate::gpu::Source;
use crate::random::Stream;
use crate::statistics::{AnalysisError, Observations};
use crate::time::Ticks;

use super::capacity::Capacity;
use super::event::{Event, Payload};
use super::totals::Totals;

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
/// with `struct Event { time: vec2<u32>, payload: Payload }`, where `Payload` is `vec2<u32>`, or
/// `array<u32, 6>` if [`Model::Payload`] is `[u32; 6]`. Both may call
///
/// | function | what it does |
/// | --- | --- |
/// | `schedule(lp, time, payload)` | sends an event: to the LP itself for any time from now on, to others at least the lookahead after the present event |
/// | `now()` | the time of the present event; in `init` zero |
/// | `memory_get(i)`, `memory_set(i, row)`, `memory_rows()` | the LP's rows of LP memory, `vec4<u32>` each: [`Model::memory_rows`] |
/// | `memory_full()` | ends the run: the LP's memory does not hold what it has to |
/// | `line_push(…)`, `line_front(…)`, `line_pop(…)` | a waiting line in LP memory: [`Line`](crate::pdes::Line) |
/// | `draw()` | 32 random bits of the stream (seed, LP, number of this event at this LP) |
/// | `stream_named(name, number)` | the following draws use the substream of a 64-bit name and a number, whichever LP it is: [`Stream::named`] |
/// | `stream_purpose(purpose, number)`, `stream_main()` | what follows draws from the LP's substream of that name, whichever event it is; and back: [`Stream::purpose`] |
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
/// | `draw_word(low, high)`, `exponential_of(word, mean)`, `uniform_of(a, b, c, low, high)`, `triangular_of(a, b, low, mode, high)`, `normal_of`, `lognormal_of`, `weibull_of` | truncated variates: [`words_between`](crate::random::words_between) |
/// | `normal_unit(word)` | standard normal in units of 2^-28, from a word that was drawn: [`normal_unit`](crate::random::normal_unit) |
/// | `alias_slot(n)`, `alias_pick(slot, threshold, other)` | any discrete distribution: [`AliasTable`](crate::random::AliasTable) |
/// | `time_add(a, b)`, `time_since(end, begin)`, `time_less(a, b)`, `time_min(a, b)` | times are `vec2<u32>` (low, high) in ticks: WGSL's own `+`, `-` and `<` do something else with them. A sum beyond the last tick is `TIME_NEVER`; from a later time to an earlier one it is zero |
/// | `wide_add(a, b)`, `wide_subtract(a, b)`, `wide_less(a, b)`; `wide_add_128(a, b)`; `add_word(a, word)`; `mul_wide(a, b)`, `product_128(a, b)` | numbers of 64 bits (modulo 2^64), of 128 (`vec4<u32>`, the lowest word first; all ones where a sum does not fit), and products of two words and of two numbers of 64 bits |
/// | `lp_count()`, `lookahead()` | what the names say |
/// | `replica()` | the number of this run among those that differ in their random streams: [`Replica`](crate::pdes::Replica) |
/// | `tally_add(…)`, `time_average_set(…)`, `histogram_bin(…)` and more | statistics that it keeps in its state: see [`statistics`](crate::statistics#while-a-model-runs) |
///
/// and have no other effect than through `state` and LP memory, so that the engine may run them
/// when and as often as it likes: in a dry run of [`Sync::Horizon`](crate::pdes::Sync::Horizon),
/// too, whose loops must end whatever LP memory holds (beyond 16 rows, what it writes is lost).
///
/// An LP executes the smallest event that it holds: by time, then by payload. What it schedules for
/// itself it holds at once, also for the present time; what others send it arrives with the next
/// window. In a model without a lookahead, that may be an event for the present time: then time
/// goes in *rounds*. A round executes what each LP holds at that time when the round begins, and
/// what it schedules for itself; what is sent for the same time is held by the next round
/// (superdense time). An event that never happens (a delay of `TIME_NEVER`) must not be scheduled:
/// it counts as beyond the last tick.
///
/// A model may declare constants, types and functions of its own, too. Module-scope variables,
/// barriers, entry points, and the engine's own functions and variables are refused, with file and
/// line: what an event leaves behind is in `state`. The file has a namespace of its own: what it
/// declares may have a name that the engine has, too. Only types may not be called as WGSL's are
/// (`u32`, `vec2`).
///
/// Drivers copy functions to where they are called. So a function is refused that comes to more
/// than 200,000 statements and expressions with all that it calls, or to more than 20,000 alone; a
/// chain of more than 64 calls; an indexed constant array of more than 1,024 words (keep it in
/// `data`); and a loop that changes nothing, which compilers take out even where it never ends.
///
/// Parameters and data, if the model has any, are declared in the WGSL as
///
/// ```wgsl
/// @group(1) @binding(0) var<uniform> params: Params;
/// @group(1) @binding(1) var<storage, read> data: array<u32>;    // or of structs, as WGSL lays them out: `Model::data` is their words
/// ```
///
/// An index beyond `arrayLength(&data)` is the model's to avoid: what it reads depends on the
/// device.
///
/// Files of the library are imported by a comment that is a line of its own: `// import:
/// pdes/line.wgsl` for the `line_` functions, `// import: statistics/tally.wgsl` and so on for
/// statistics.
///
/// # Bounds, for wider windows
///
/// All of this section is optional, and none of it changes a result: it says what a model's LPs
/// cannot do, so that more of them may run at once ([`Sync`](crate::pdes::Sync)). What a model says
/// here and does not keep ends the run with [`FaultKind::Promise`](crate::pdes::FaultKind::Promise)
/// where a window relied on it (but in a run that changes its queues or its windows, or is resumed,
/// just then: `docs/synchronisation.md`).
///
/// ```wgsl
/// fn earliest(lp: u32, event: Event, state: ptr<function, State>) -> vec2<u32>
/// ```
///
/// is a time before which the LP sends nothing to others, if nothing arrives: `event` is the first
/// that it holds. It takes the place of a dry run.
///
/// <a id="neighbours"></a>
/// ```wgsl
/// fn sender_count(lp: u32) -> u32                                       // how many LPs may send to this one
/// fn sender(lp: u32, index: u32) -> u32                                 // which they are
/// fn answer(lp: u32, state: ptr<function, State>) -> Answer             // Answer(since, delay), two times
/// ```
///
/// say who may send to whom, and how early an LP answers: to whatever arrives at a time `t` that it
/// does not know yet, not before `max(t, since) + delay`. (A station that is free from `since` on,
/// and then serves for `delay`.) Without `answer`, that is `t` and the lookahead. What pending
/// events alone would send is known without it, and an answer may rest on that: it is the earlier
/// of the two that counts. Bounds travel fastest where LPs that send to each other have numbers
/// that are near: up to 512 in a row are looked at together.
///
/// ```wgsl
/// fn next_to(lp: u32, state: ptr<function, State>) -> u32               // to whom it goes, what the LP sends next
/// fn next_gap(lp: u32, state: ptr<function, State>) -> vec2<u32>        // and how much later others hear from it
/// ```
///
/// say, both together, to whom what the LP sends first from now on will go, whichever event makes
/// it send; and that what it sends to anybody else comes at least `next_gap` after both that time
/// and the second event of those that it holds now and those that arrive (what it schedules for
/// itself does not count). Where `next_to` is the LP itself, or `0xffffffffu`, nothing is said. (A
/// station that knows where its next customer will go, and how long the one after him will be
/// served: his service begins neither before he comes nor before the first one has left.) What
/// others hear so much later lets them go as much further: on a torus of FIFO stations windows hold
/// 1.4 times as many events.
///
/// `earliest`, `answer` and `next_to` may draw: the draws are those of the next event that the LP
/// executes; and so may `next_gap`, whose draws are those of the one after that. (It need not be
/// the arrival: what is held may come before it. Then what that would send has to be as early.)
/// They schedule nothing and change nothing.
///
/// # Results
///
/// Results, if the model has any ([`Model::Output`]), are declared as
///
/// ```wgsl
/// struct Output { ... }                                             // of numbers, and of structs and arrays of numbers: `Outputs`
/// fn output(lp: u32, state: ptr<function, State>) -> Output         // what the LP has to print_report at the time `now()`
/// ```
///
/// The host asks for them when it likes, for a time that it chooses
/// ([`Simulation::outputs`](crate::pdes::Simulation::outputs)). `output` reads the state and LP
/// memory, `params` and `data`, and may call `now()`, `memory_get`, `memory_rows`, `lp_count`,
/// `lookahead`, the functions of times, the statistics (`time_average_at(average, now())`, say) and
/// `normal_unit`. It changes nothing: `schedule`, draws, `memory_set` and `memory_full` are refused
/// in it and in what it calls, with file and line, and what it writes to `state` is lost. A row
/// that the LP does not have is an error for who asks for results, and none of the run's.
pub trait Model {
    /// The state of an LP: the same bytes as the WGSL `struct State`. Padding is refused; declare
    /// it as fields. Here and in the next, a model that is not known before the program runs has
    /// [`Word`](crate::gpu::Word)s.
    type State: Pod;
    /// The same bytes as the WGSL `struct Params`; `()` for a model without.
    type Params: Pod;
    /// What an event carries: `[u32; 2]`, or `[u32; 6]` where that does not suffice. The shorter is
    /// the faster.
    type Payload: Payload;
    /// The same bytes as the WGSL `struct Output`: the result columns. `()` for a model without.
    /// Padding is refused.
    type Output: Pod + Send + Sync;

    /// The name in reports.
    fn name(&self) -> &str;

    /// The WGSL file. Use [`wgsl!`](crate::wgsl) so that errors in it point at the file and line.
    fn source(&self) -> Source;

    /// How many LPs there are.
    fn lps(&self) -> u32;

    /// The least time from an event to one that it schedules for another LP. The larger it is, the
    /// more events run at once. [`Ticks::NEVER`] where LPs send each other nothing; zero where
    /// nothing is known: [`Sync::Horizon`](crate::pdes::Sync::Horizon) finds windows without it.
    fn lookahead(&self) -> Ticks;

    /// The parameters.
    fn params(&self) -> Self::Params;

    /// The bytes of the parameters: those of [`params`](Self::params), unless [`Model::Params`] are
    /// [`Word`](crate::gpu::Word)s, of which this tells all.
    fn params_bytes(&self) -> Vec<u8> {
        bytemuck::bytes_of(&self.params()).to_vec()
    }

    /// The read-only data, if the model's WGSL declares `data`.
    fn data(&self) -> &[u32] {
        &[]
    }

    /// The rows of 16 bytes that each LP has in LP memory, zero at first: for waiting lines and
    /// tables. [`Model::State`] is copied in and out for each batch of events; of LP memory only
    /// the rows that the model asks for are touched.
    fn memory_rows(&self) -> u32 {
        0
    }

    /// How much room queues and mailboxes need, as far as it is known: where it does not suffice,
    /// it grows while the simulation runs (see [`Options::fixed`](crate::pdes::Options::fixed)). A
    /// good guess saves that.
    fn capacity(&self) -> Capacity {
        Capacity { queue: 32, mailbox: 16 }
    }

    /// The events that a run holds, those of all LPs together, where each event schedules one
    /// other, so that they stay as many as they were at the beginning. (Where some schedule two and
    /// others none, more room is of use than the most that are held.) A hint like
    /// [`capacity`](Self::capacity), for the runs of an experiment, of which the more go on at once
    /// the less room each takes ([`Mapping`](crate::pdes::Mapping)); without it, and at the most,
    /// they get what queues of that capacity hold on average, and some more. And for
    /// [`Sync::Auto`](crate::pdes::Sync::Auto), which estimates from it how far a horizon goes.
    fn events_held(&self) -> Option<u32> {
        None
    }

    /// What an experiment observes of a run besides the sums of the result columns: ratios, and
    /// quantities in the units of the model's users, by name. All runs have the same names, and
    /// none of them is that of a result column. A run of which one is NaN (a mean of nothing)
    /// counts as failed, so that all columns have the same observations.
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let _ = totals;
        Vec::new()
    }

    /// Adds columns that are made of others, where an experiment has runs that came to their end:
    /// ratios, whose estimate is that of pooled sums ([`Observations::pool`]). By default none.
    ///
    /// # Errors
    /// [`AnalysisError`], as from what it calls.
    fn derive(&self, observations: &mut Observations) -> Result<(), AnalysisError> {
        let _ = observations;
        Ok(())
    }
}

/// The Rust twin of a model's WGSL: the same behaviour, for the sequential engine.
pub trait CpuModel: Model {
    /// The twin of `init`.
    fn init(&self, lp: u32, state: &mut Self::State, context: &mut Context<'_, Self::Payload>);

    /// The twin of `handle`.
    fn handle(
        &self,
        lp: u32,
        event: &Event<Self::Payload>,
        state: &mut Self::State,
        context: &mut Context<'_, Self::Payload>,
    );

    /// The twin of `output`, at the time that [`Context::now`] tells. It may read LP memory, and
    /// may not write it, draw or schedule.
    ///
    /// # Panics
    /// Where a model that has an output leaves this out.
    fn output(&self, lp: u32, state: &Self::State, context: &mut Context<'_, Self::Payload>) -> Self::Output {
        let _ = (lp, state, context);
        assert!(size_of::<Self::Output>() == 0, "a model with an `Output` implements `CpuModel::output`");
        bytemuck::Zeroable::zeroed()
    }
}

/// What a Rust model may use while it handles an event.
#[derive(Debug)]
pub struct Context<'a, P: Payload = [u32; 2]> {
    pub(crate) stream: Stream,
    pub(crate) lps: u32,
    pub(crate) replica: u32,
    pub(crate) lookahead: Ticks,
    pub(crate) now: Ticks,
    pub(crate) sent: &'a mut Vec<(u32, Event<P>)>,
    pub(crate) memory: &'a mut [[u32; 4]],
    pub(crate) memory_full: bool,
}

impl<P: Payload> Context<'_, P> {
    /// Sends an event to LP `lp`. WGSL: `schedule`.
    pub fn schedule(&mut self, lp: u32, time: Ticks, payload: P) {
        self.sent.push((lp, Event { time, payload }));
    }

    /// The random stream of this event. WGSL: `draw` and the functions whose names begin with
    /// `draw_`.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// How many LPs there are. WGSL: `lp_count`.
    pub fn lp_count(&self) -> u32 {
        self.lps
    }

    /// The number of this run among those that differ in their random streams:
    /// [`Replica::number`](crate::pdes::Replica::number). WGSL: `replica`.
    pub fn replica(&self) -> u32 {
        self.replica
    }

    /// The lookahead. WGSL: `lookahead`.
    pub fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    /// The time of the present event; zero in `init`. WGSL: `now`.
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// The rows of LP memory that each LP has. WGSL: `memory_rows`.
    #[expect(clippy::cast_possible_truncation, reason = "it was made of a u32")]
    pub fn memory_rows(&self) -> u32 {
        self.memory.len() as u32
    }

    /// A row of the LP's memory; one that it does not have ends the run with a fault, and is zero.
    /// WGSL: `memory_get`.
    pub fn memory_get(&mut self, index: u32) -> [u32; 4] {
        match self.memory.get(index as usize) {
            Some(row) => *row,
            None => {
                self.memory_full();
                [0; 4]
            }
        }
    }

    /// Changes a row of the LP's memory; one that it does not have ends the run with a fault. WGSL:
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
