//! naga IR as machine code, by Cranelift.
//!
//! Vectors, structures and small arrays are lists of SSA scalars; so are local variables whose
//! address nothing needs. Small functions, and those called once, take the place of their calls.

#![allow(clippy::ptr_arg, reason = "a type that a `Cow` borrows lives as long as the module")]

mod expression;
mod host;
mod math;
mod memory;
mod operator;
mod place;
mod plan;
mod refusal;
mod translate;
mod types;
mod value;

use std::collections::HashMap;
use std::mem;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Signature, Value, types as registers};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, default_libcall_names};
use naga::{Function, Handle};

use super::NativeError;
use super::source::{Refused, Source};
use plan::Plan;
use refusal::{Failure, Translated, failed, refused_at};
use types::Types;
use value::{Shared, Translator};

/// The most bytes of the thread's stack that calls of machine code take.
const STACK_BYTES: u64 = 256 << 10;

/// Machine code of functions.
pub(super) struct Machine {
    /// `Some` until the end of its life.
    jit: Option<JITModule>,
    entries: Vec<Entry>,
    /// Memory that the code reads.
    _constants: Vec<Box<[u64]>>,
}

/// `(block, arguments) -> result`
type Entry = unsafe extern "C" fn(*mut u8, *const u64) -> u64;

// SAFETY: nothing changes the code after it was made; a call touches its block, the addresses in
// its arguments and constants.
unsafe impl Sync for Machine {}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(jit) = self.jit.take() {
            // SAFETY: entries are called through `&self` alone.
            unsafe { jit.free_memory() };
        }
    }
}

impl Machine {
    pub(super) fn new(
        source: &Source<'_>,
        entries: &[Handle<Function>],
        refused: impl FnOnce(Refused) -> NativeError,
    ) -> Result<Self, NativeError> {
        Self::translated(source, entries).map_err(|failure| failure.at(refused))
    }

    fn translated(source: &Source<'_>, entries: &[Handle<Function>]) -> Result<Self, Failure> {
        let plan = Plan::new(source.module, entries)?;
        let isa = isa().map_err(Failure::Platform)?;
        let host_convention = isa.default_call_conv();
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.memory_provider(memory::provider(plan.total).map_err(Failure::Platform)?);
        let jit = JITModule::new(builder);
        let types = Types { module: source.module };
        let (declared, waiting, constants) = (HashMap::new(), Vec::new(), HashMap::new());
        let shared = Shared { source, types, plan, jit, host_convention, declared, waiting, constants };
        let mut builder =
            Builder { shared, context: Context::new(), functions: FunctionBuilderContext::new(), stack: 0 };
        let ids = builder.define(entries);
        let Shared { mut jit, constants, .. } = builder.shared;
        let finalized = ids.map_err(Failure::Refused).and_then(|ids| match jit.finalize_definitions() {
            Ok(()) => Ok(ids),
            Err(error) => Err(Failure::Platform(error.to_string())),
        });
        // (Freed where there is an error.)
        let mut machine =
            Self { jit: None, entries: Vec::new(), _constants: constants.into_keys().collect() };
        if let Ok(ids) = &finalized {
            let address = |id: &FuncId| jit.get_finalized_function(*id);
            // SAFETY: `Builder::define` gives all entries this signature.
            let entry = |id| unsafe { mem::transmute::<*const u8, Entry>(address(id)) };
            machine.entries = ids.iter().map(entry).collect();
        }
        machine.jit = Some(jit);
        finalized.map(|_| machine)
    }

    /// Bytes that calls take of the memory after a block: they have a stack of their own.
    #[expect(clippy::unused_self, reason = "WebAssembly has frames there")]
    pub(super) fn stack_bytes(&self) -> usize {
        0
    }

    /// # Safety
    /// As of `Code::call`.
    pub(super) unsafe fn call(&self, block: *mut u8, _: *mut u8, entry: usize, arguments: &[u64]) -> u64 {
        // SAFETY: as the caller says.
        unsafe { self.entries[entry](block, arguments.as_ptr()) }
    }
}

/// The instructions of this machine.
fn isa() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let wanted = [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // Frames are small, so that guard pages are not skipped.
        ("enable_probestack", "false"),
        // Functions return more scalars than there are registers.
        ("enable_multi_ret_implicit_sret", "true"),
    ];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let builder = cranelift_native::builder()?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

struct Builder<'m> {
    shared: Shared<'m>,
    context: Context,
    functions: FunctionBuilderContext,
    /// Bytes of the frames of all functions.
    stack: u64,
}

impl Builder<'_> {
    /// Defines the entries and all that they call.
    fn define(&mut self, entries: &[Handle<Function>]) -> Translated<Vec<FuncId>> {
        let mut ids = Vec::new();
        for (entry, i) in entries.iter().zip(0..) {
            let mut signature = Signature::new(self.shared.host_convention);
            signature.params = vec![AbiParam::new(registers::I64); 2];
            signature.returns.push(AbiParam::new(registers::I64));
            let name = format!("entry{i}");
            let id = self.shared.jit.declare_function(&name, Linkage::Export, &signature).map_err(failed)?;
            self.function(*entry, id, signature, true)?;
            ids.push(id);
        }
        while let Some(handle) = self.shared.waiting.pop() {
            let (id, signature) = (self.shared.declared[&handle], self.shared.signature(handle)?);
            self.function(handle, id, signature, false)?;
        }
        Ok(ids)
    }

    fn function(
        &mut self,
        handle: Handle<Function>,
        id: FuncId,
        signature: Signature,
        is_entry: bool,
    ) -> Translated<()> {
        self.context.func.signature = signature;
        let b = FunctionBuilder::new(&mut self.context.func, &mut self.functions);
        let block = Value::from_u32(0);
        let mut translator = Translator { shared: &mut self.shared, b, block, pairs: HashMap::new() };
        match is_entry {
            true => translator.entry(handle)?,
            false => translator.whole(handle)?,
        }
        translator.b.finalize();
        let at = |refused: Refused| Refused {
            span: self.shared.source.module.functions.get_span(handle),
            ..refused
        };
        let defined = self.shared.jit.define_function(id, &mut self.context);
        defined.map_err(failed).map_err(at)?;
        let code = self.context.compiled_code();
        let frame =
            code.and_then(|code| code.buffer.frame_layout()).map_or(0, |frame| frame.frame_to_fp_offset);
        // (With the return address and saved registers.)
        self.stack += u64::from(frame) + 128;
        if self.stack > STACK_BYTES {
            let what = format!("a stack of {} bytes (at most {STACK_BYTES})", self.stack);
            return refused_at(self.shared.source.module.functions.get_span(handle), what);
        }
        self.shared.jit.clear_context(&mut self.context);
        Ok(())
    }
}
