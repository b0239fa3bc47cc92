//! A parsed and validated text, and where its variables lie in a block.

use std::ops::Range;

use naga::proc::Layouter;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, ArraySize, Function, Handle, Module, TypeInner as T};

use super::NativeError;
use super::interpret::{Refused, Source, constant};

/// The longest text.
const TEXT_BYTES: usize = 4 << 20;
/// The most memory of variables, and the longest buffer type.
const BLOCK_BYTES: u64 = 256 << 20;

const CHECK: &str = "Compile the same text for a GPU to see all that is wrong with it";
const USE_GPU: &str = "Use what the guide to models lists, or run the model on a GPU";
const SMALLER: &str = "Make it smaller, or run the model on a GPU";

/// Where variables lie in a block.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) buffers: Vec<Buffer>,
    pub(super) variables: Vec<Variable>,
    /// Bytes of a block, a multiple of 16.
    pub(super) bytes: usize,
}

#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) name: String,
    /// The byte of the block where its words start.
    pub(super) at: usize,
    /// Bytes of its type, with one element of a runtime-sized array.
    pub(super) least: usize,
    /// Where its runtime-sized array starts, and the distance of elements.
    array: Option<(u32, u32)>,
}

impl Buffer {
    /// Elements of the runtime-sized array in so many bytes.
    pub(super) fn length(&self, bytes: usize) -> u32 {
        let Some((offset, stride)) = self.array else { return 0 };
        let elements = bytes.saturating_sub(offset as usize) / stride.max(1) as usize;
        u32::try_from(elements).unwrap_or(u32::MAX)
    }
}

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) bytes: Range<usize>,
    pub(super) initial: Vec<u8>,
}

/// A text that is ready to be translated.
pub(super) struct Parsed<'a> {
    text: &'a str,
    module: Module,
    info: ModuleInfo,
    pub(super) layout: Layout,
    globals: Vec<Option<u32>>,
}

impl<'a> Parsed<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, NativeError> {
        if text.len() > TEXT_BYTES {
            let what = format!("a text of {} bytes is longer than {TEXT_BYTES}", text.len());
            return Err(error(0, what, SMALLER));
        }
        let module = naga::front::wgsl::parse_str(text).map_err(|e| {
            let line = e.location(text).map_or(0, |location| location.line_number);
            error(line, e.message().to_owned(), CHECK)
        })?;
        let info =
            Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).map_err(|e| {
                let line = e.location(text).map_or(0, |location| location.line_number);
                error(line, causes(e.as_inner()), CHECK)
            })?;
        let mut parsed = Self {
            text,
            module,
            info,
            layout: Layout { buffers: Vec::new(), variables: Vec::new(), bytes: 8 },
            globals: Vec::new(),
        };
        parsed.lay_out()?;
        Ok(parsed)
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { module: &self.module, info: &self.info, globals: self.globals.clone() }
    }

    /// A function by name.
    pub(super) fn function(&self, name: &str) -> Result<Handle<Function>, NativeError> {
        let mut functions = self.module.functions.iter();
        match functions.find(|(_, function)| function.name.as_deref() == Some(name)) {
            Some((handle, _)) => Ok(handle),
            None => Err(error(0, format!("the function `{name}` is missing"), CHECK)),
        }
    }

    /// What a translator refused, with its line.
    pub(super) fn refused(&self, refused: Refused) -> NativeError {
        let line = if refused.span.is_defined() { refused.span.location(self.text).line_number } else { 0 };
        error(line, format!("{} cannot run on the CPU", refused.what), USE_GPU)
    }

    fn lay_out(&mut self) -> Result<(), NativeError> {
        let mut layouter = Layouter::default();
        layouter
            .update(self.module.to_ctx())
            .map_err(|e| error(0, format!("a type has no layout: {e}"), CHECK))?;
        self.globals = vec![None; self.module.global_variables.len()];
        let mut at = 8_u64;
        for (handle, variable) in self.module.global_variables.iter() {
            if let AddressSpace::Storage { .. } = variable.space {
                let name = variable.name.clone().unwrap_or_default();
                let (least, array) = shape(&self.module, variable.ty);
                if least > BLOCK_BYTES {
                    return Err(error(0, format!("the buffer `{name}` of {least} bytes"), SMALLER));
                }
                self.globals[handle.index()] = u32::try_from(at).ok();
                self.layout.buffers.push(Buffer { name, at: at as usize, least: least as usize, array });
                at += 24;
            }
        }
        for (handle, variable) in self.module.global_variables.iter() {
            let spaces = [AddressSpace::Private, AddressSpace::WorkGroup, AddressSpace::Uniform];
            if !spaces.contains(&variable.space) {
                continue;
            }
            let name = variable.name.clone().unwrap_or_default();
            let Some(bytes) = self.bytes(variable.ty).filter(|bytes| at + bytes < BLOCK_BYTES) else {
                let line = self.line(handle);
                return Err(error(line, format!("the variable `{name}` is too large"), SMALLER));
            };
            let alignment = layouter[variable.ty].alignment.max(naga::proc::Alignment::SIXTEEN);
            at = at.next_multiple_of(u64::from(alignment.round_up(1)));
            let mut initial = Vec::new();
            if let Some(init) = variable.init {
                initial = vec![0; bytes as usize];
                let arena = &self.module.global_expressions;
                if constant::write(&self.module, arena, init, &mut initial).is_none() {
                    let what = format!("the initial value of `{name}` cannot be computed on the CPU");
                    return Err(error(self.line(handle), what, USE_GPU));
                }
            }
            self.globals[handle.index()] = u32::try_from(at).ok();
            let bytes = at as usize..(at + bytes) as usize;
            at = bytes.end as u64;
            self.layout.variables.push(Variable { name, bytes, initial });
        }
        self.layout.bytes = at.next_multiple_of(16) as usize;
        Ok(())
    }

    fn line(&self, handle: Handle<naga::GlobalVariable>) -> u32 {
        self.module.global_variables.get_span(handle).location(self.text).line_number
    }

    fn bytes(&self, ty: Handle<naga::Type>) -> Option<u64> {
        self.module.types[ty].inner.try_size(self.module.to_ctx()).map(u64::from)
    }
}

/// The bytes of a buffer's type with one element, and its runtime-sized array.
fn shape(module: &Module, ty: Handle<naga::Type>) -> (u64, Option<(u32, u32)>) {
    let whole = |ty: Handle<naga::Type>| u64::from(module.types[ty].inner.size(module.to_ctx()));
    match &module.types[ty].inner {
        T::Array { size: ArraySize::Dynamic, stride, .. } => (u64::from(*stride), Some((0, *stride))),
        T::Struct { members, .. } => match members.last().map(|last| (last, &module.types[last.ty].inner)) {
            Some((last, T::Array { size: ArraySize::Dynamic, stride, .. })) => {
                let end = u64::from(last.offset) + u64::from(*stride);
                (end.max(whole(ty)), Some((last.offset, *stride)))
            }
            _ => (whole(ty), None),
        },
        _ => (whole(ty), None),
    }
}

/// An error with those that caused it.
fn causes(outer: &dyn std::error::Error) -> String {
    let mut text = outer.to_string();
    let mut inner = outer.source();
    while let Some(cause) = inner {
        text = format!("{text}: {cause}");
        inner = cause.source();
    }
    text
}

fn error(line: u32, what: String, remedy: &'static str) -> NativeError {
    NativeError { line, what, remedy, platform: false }
}

/// The platform allows no machine code.
pub(super) fn platform(why: &str) -> NativeError {
    let remedy = "Run the model on a GPU, or interpreted";
    NativeError { line: 0, what: format!("No machine code: {why}"), remedy, platform: true }
}
