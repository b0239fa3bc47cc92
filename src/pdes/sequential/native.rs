//! The functions of a model's WGSL: `shaders/native/engine.wgsl`.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::{Pod, Zeroable};

use crate::gpu::{GpuError, Program, Source, is_words, values_of};
use crate::native::{Block, Code, Engine};
use crate::shaders;

use super::functions::{Call, Functions, MakeFunctions, RunConstants};
use crate::pdes::contract::error::FaultKind;
use crate::pdes::contract::event::LpEvent;
use crate::pdes::device::check;
use crate::pdes::device::memory::Run;
use crate::pdes::device::recipes::product;
use crate::pdes::{Event, Model, Payload, SimulationError};

shared! {
    "native/engine.wgsl":
    const NATIVE_TROUBLE: u32;
}

/// The iterations of loops that one call may make: about a second of machine code. A call that
/// makes more fails with [`FaultKind::LoopsCut`].
const MOST_ITERATIONS: i64 = 1 << 30;

/// Initial room for the events that a call schedules and for the rows that it replaces, and the
/// largest room.
const ROOM: usize = 1 << 10;
const MOST_ROOM: usize = 1 << 24;
/// By how much room grows at most at a time.
const GROWTH: usize = 16;

/// The functions of a model's WGSL: machine code, where the platform has it.
///
/// # Errors
/// [`SimulationError`] if the file does not link or violates the contract of [`Model`], with file
/// and line.
pub(crate) fn functions<M: Model>(model: &M) -> Result<MakeFunctions<M>, SimulationError> {
    functions_by(model, Engine::default())
}

/// The same, interpreted.
pub(super) fn interpreted<M: Model>(model: &M) -> Result<MakeFunctions<M>, SimulationError> {
    functions_by(model, Engine::Interpreter)
}

fn functions_by<M: Model>(model: &M, engine: Engine) -> Result<MakeFunctions<M>, SimulationError> {
    let compiled = compiled(model, engine)?;
    Ok(Arc::new(move |model, run| Box::new(NativeFunctions::new(model, compiled.clone(), run))))
}

/// The entries of a model's code, by number.
const ENTRIES: [&str; 3] = ["native_init", "native_handle", "native_output"];
const INIT: usize = 0;
const HANDLE: usize = 1;
const OUTPUT: usize = 2;

/// The code of a model's file with the places that the engine uses.
struct Compiled {
    code: Code,
    state_bytes: u32,
    sent: usize,
    replaced: Option<usize>,
    memory: Option<usize>,
    data: Option<usize>,
    run: Range<usize>,
    params: Option<Range<usize>>,
    /// Of native_sent_count, native_replaced_count and lp_wrong.
    counts: [usize; 3],
}

/// What the code of a model and its checks depend on: its WGSL, the words of a payload, the bytes
/// of its types and whether they are known in Rust, the bytes of its data, and the engine.
type Key = (Source, &'static str, [(usize, bool); 3], [usize; 2], Engine);

/// The code of models that were translated last, the newest first: the points of a design share
/// one file.
static KNOWN: Mutex<VecDeque<(Key, Arc<Compiled>)>> = Mutex::new(VecDeque::new());

/// The size of that cache.
const MOST_KNOWN: usize = 16;

/// The code of a model.
fn compiled<M: Model>(model: &M, engine: Engine) -> Result<Arc<Compiled>, SimulationError> {
    let types = [
        (size_of::<M::State>(), is_words::<M::State>()),
        (size_of::<M::Params>(), is_words::<M::Params>()),
        (size_of::<M::Output>(), is_words::<M::Output>()),
    ];
    let bytes = [model.params_bytes().len(), size_of_val(model.data())];
    let key: Key = (model.source(), M::Payload::FILE, types, bytes, engine);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().iter().find(|(other, _)| *other == key).map(|(_, compiled)| compiled.clone());
    if let Some(compiled) = found {
        return Ok(compiled);
    }
    let compiled = Arc::new(Compiled::new(model, engine)?);
    let mut known = known();
    known.truncate(MOST_KNOWN - 1);
    known.push_front((key, compiled.clone()));
    Ok(compiled)
}

impl Compiled {
    fn new<M: Model>(model: &M, engine: Engine) -> Result<Self, SimulationError> {
        let has_output = size_of::<M::Output>() > 0;
        let link = if model.source().is_generated() { Program::link_for_cpu } else { Program::link };
        let program = link(model.name(), &native_sources(model));
        let program = program.map_err(|error| check::lacking(model, error))?;
        let state_bytes = check::check_native(&program, model)?;
        let entries = &ENTRIES[..if has_output { 3 } else { 2 }];
        let code = program.compile(entries, engine).map_err(GpuError::from)?;
        let place = |name| code.variable(name).expect("native/engine.wgsl uses it").start;
        Ok(Self {
            state_bytes,
            sent: code.buffer("native_sent").expect("native/engine.wgsl uses it"),
            replaced: code.buffer("native_replaced"),
            memory: code.buffer("memory"),
            data: code.buffer("data"),
            run: code.variable("run").expect("native/engine.wgsl uses it"),
            params: code.variable("params"),
            counts: ["native_sent_count", "native_replaced_count", "lp_wrong"].map(place),
            code,
        })
    }
}

/// The files that are linked for a model on the CPU.
#[doc(hidden)]
pub fn native_sources<M: Model>(model: &M) -> Vec<Source> {
    let mut sources = vec![model.source()];
    sources.extend(["native/engine.wgsl", product(true), M::Payload::FILE].map(shaders::file));
    sources.extend((size_of::<M::Output>() > 0).then(|| shaders::file("native/output.wgsl")));
    sources
}

/// A scheduled event: `NativeSent` in `shaders/native/engine.wgsl`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Sent<P> {
    event: Event<P>,
    lp: u32,
    unused: u32,
}

// SAFETY: all zeros are a valid event and valid numbers.
unsafe impl<P: Payload> Zeroable for Sent<P> {}

// SAFETY: an event has no padding and a multiple of 8 bytes; two words follow.
unsafe impl<P: Payload> Pod for Sent<P> {}

shared! {
    "native/engine.wgsl":
    /// A row of LP memory before it was replaced.
    struct Replaced as NativeReplaced {
        row: [u32; 4],
        index: u32,
        unused_0: u32,
        unused_1: u32,
        unused_2: u32,
    }
}

/// The functions of a model with the memory of their code.
struct NativeFunctions<P> {
    compiled: Arc<Compiled>,
    block: Block,
    /// The number of values of a state.
    values: usize,
    sent: Vec<Sent<P>>,
    replaced: Vec<Replaced>,
    /// The state before the present call.
    before: Vec<u64>,
    /// The number of rows of LP memory, and the address and length of the data, that are bound.
    bound: (usize, (usize, usize)),
}

impl<P: Payload> NativeFunctions<P> {
    fn new<M: Model>(model: &M, compiled: Arc<Compiled>, run: RunConstants) -> Self {
        let mut block = compiled.code.block();
        let RunConstants { seed, replica, lps, lookahead } = run;
        let memory_rows = model.memory_rows();
        let run = Run { seed, replica, lookahead, memory_rows, ..Run::of_none(lps) };
        block.bytes_mut()[compiled.run.clone()].copy_from_slice(bytemuck::bytes_of(&run));
        if let Some(place) = compiled.params.clone() {
            block.bytes_mut()[place].copy_from_slice(&model.params_bytes());
        }
        let has_memory = compiled.replaced.is_some() && memory_rows > 0;
        let values = values_of::<M::State>(compiled.state_bytes).expect("its size was checked");
        let mut functions = Self {
            block,
            values,
            sent: vec![Sent::zeroed(); ROOM],
            replaced: vec![Replaced::zeroed(); if has_memory { ROOM } else { 0 }],
            before: vec![0; (compiled.state_bytes as usize).div_ceil(8)],
            bound: (0, (0, 0)),
            compiled,
        };
        functions.bind_lists();
        functions
    }

    /// Binds the lists that calls write.
    fn bind_lists(&mut self) {
        let Compiled { sent, replaced, .. } = *self.compiled;
        // SAFETY: the lists stay where they are until they grow and are bound again.
        unsafe {
            self.block.bind(sent, self.sent.as_mut_ptr().cast(), size_of_val(&*self.sent));
            if let Some(replaced) = replaced {
                self.block.bind(replaced, self.replaced.as_mut_ptr().cast(), size_of_val(&*self.replaced));
            }
        }
    }

    /// Binds the LP's rows and the model's data: at other places with each call, rarely of another
    /// length.
    #[inline]
    fn bind(&mut self, data: &[u32], memory: &mut [[u32; 4]]) {
        let Compiled { memory: rows, data: buffer, .. } = *self.compiled;
        // SAFETY: the memory outlives the call. Code writes only within it, and does not write
        // `data`, which is declared `read`.
        unsafe {
            if let Some(rows) = rows {
                let (at, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory));
                if memory.len() != self.bound.0 {
                    self.block.bind(rows, at, bytes);
                    self.bound.0 = memory.len();
                } else if bytes > 0 {
                    self.block.rebind(rows, at);
                }
            }
            if let Some(buffer) = buffer {
                let bound = (data.as_ptr().addr(), data.len());
                if bound != self.bound.1 {
                    self.block.bind(buffer, data.as_ptr().cast_mut().cast(), size_of_val(data));
                    self.bound.1 = bound;
                }
            }
        }
    }

    /// Calls an entry with these arguments, within the bound of iterations.
    ///
    /// # Safety
    /// Addresses in `arguments` are valid for the types that the entry declares.
    #[inline]
    unsafe fn enter(
        &mut self,
        data: &[u32],
        memory: &mut [[u32; 4]],
        entry: usize,
        arguments: &[u64],
    ) -> u32 {
        self.bind(data, memory);
        self.block.set_fuel(MOST_ITERATIONS);
        #[expect(clippy::cast_possible_truncation, reason = "the entries return a u32 or nothing")]
        // SAFETY: as the caller guarantees, and the buffers are bound.
        unsafe {
            self.compiled.code.call(&mut self.block, entry, arguments) as u32
        }
    }

    /// Calls `init` or `handle`, again with more room if it was too short.
    ///
    /// # Safety
    /// As [`NativeFunctions::enter`]; the last argument is to be the address of `state`.
    #[inline]
    unsafe fn call<S: Pod, const N: usize>(
        &mut self,
        data: &[u32],
        call: &mut Call<'_, P>,
        entry: usize,
        mut arguments: [u64; N],
        state: &mut [S],
    ) {
        // (A copy of one value needs no call.)
        match state {
            [state] => self.before(size_of::<S>()).copy_from_slice(bytemuck::bytes_of(state)),
            _ => self.before(size_of_val(state)).copy_from_slice(bytemuck::cast_slice(state)),
        }
        loop {
            arguments[N - 1] = address(state.as_mut_ptr());
            // SAFETY: as the caller guarantees.
            let result = unsafe { self.enter(data, call.memory, entry, &arguments) };
            if result != NATIVE_TROUBLE && self.block.fuel() >= 0 {
                let sent = self.sent[..result as usize].iter();
                call.sent.extend(sent.map(|sent| LpEvent { event: sent.event, lp: sent.lp }));
                return;
            }
            if !self.makes_room(call) {
                return;
            }
            let bytes = bytemuck::cast_slice_mut(state);
            bytes.copy_from_slice(self.before(bytes.len()));
        }
    }

    /// Undoes a call that was too short of room, and makes some; else returns false with the fault.
    #[cold]
    fn makes_room(&mut self, call: &mut Call<'_, P>) -> bool {
        let [sent, replaced, _] = self.compiled.counts.map(|place| self.word(place));
        let cut = self.block.fuel() < 0;
        // A call whose writes were dropped may have been cut for that reason.
        let (more_rows, more_events) =
            (replaced as usize > self.replaced.len(), sent as usize > self.sent.len() && !cut);
        // Without its writes a call may have gone astray, so its counts are no measure.
        let room =
            |length: usize, count: u32| (count as usize).next_power_of_two().clamp(length, GROWTH * length);
        let rooms = [room(self.replaced.len(), replaced), room(self.sent.len(), sent)];
        if (more_rows || more_events) && rooms.into_iter().all(|room| room <= MOST_ROOM) {
            let written = self.replaced.len().min(replaced as usize);
            for Replaced { row, index, .. } in self.replaced[..written].iter().rev() {
                call.memory[*index as usize] = *row;
            }
            let [rows, events] = rooms;
            self.replaced.resize(rows, Replaced::zeroed());
            self.sent.resize(events, Sent::zeroed());
            self.bind_lists();
            return true;
        }
        call.fault = Some(match () {
            () if cut => FaultKind::LoopsCut,
            () if more_events || more_rows => FaultKind::MailboxFull,
            () => FaultKind::MemoryFull,
        });
        false
    }

    fn before(&mut self, bytes: usize) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.before)[..bytes]
    }

    fn word(&self, place: usize) -> u32 {
        bytemuck::pod_read_unaligned(&self.block.bytes()[place..place + 4])
    }
}

/// The address of a value as an argument.
fn address<T>(of: *const T) -> u64 {
    of.expose_provenance() as u64
}

/// The low and the high word.
fn words(number: u64) -> [u64; 2] {
    [number & 0xffff_ffff, number >> 32]
}

impl<M: Model> Functions<M> for NativeFunctions<M::Payload> {
    fn state_values(&self) -> usize {
        self.values
    }

    fn init(&mut self, model: &M, call: &mut Call<'_, M::Payload>, state: &mut [M::State]) {
        let arguments = [call.lp.into(), 0];
        // SAFETY: a state has the bytes of the WGSL `State`, which was checked.
        unsafe { self.call(model.data(), call, INIT, arguments, state) }
    }

    fn handle(
        &mut self,
        model: &M,
        call: &mut Call<'_, M::Payload>,
        event: &Event<M::Payload>,
        state: &mut [M::State],
    ) {
        let [low, high] = words(call.number);
        let arguments = [call.lp.into(), low, high, address(event), 0];
        // SAFETY: a state has the bytes of the WGSL `State`, which was checked; an event has the
        // layout of `Event`.
        unsafe { self.call(model.data(), call, HANDLE, arguments, state) }
    }

    fn output(
        &mut self,
        model: &M,
        call: &mut Call<'_, M::Payload>,
        state: &[M::State],
        output: &mut [M::Output],
    ) {
        // The code may write to its state: those writes are lost.
        self.before(size_of_val(state)).copy_from_slice(bytemuck::cast_slice(state));
        let [low, high] = words(call.now.get());
        let state = address(self.before.as_mut_ptr());
        let arguments = [call.lp.into(), low, high, state, address(output.as_mut_ptr())];
        // SAFETY: the state and the output have the bytes of the WGSL structs, which was checked.
        unsafe { self.enter(model.data(), call.memory, OUTPUT, &arguments) };
        let wrong = self.word(self.compiled.counts[2]);
        call.fault = match self.block.fuel() < 0 {
            true => Some(FaultKind::LoopsCut),
            false => (wrong != 0).then_some(FaultKind::MemoryFull),
        };
    }
}
