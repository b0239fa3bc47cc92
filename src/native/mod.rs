//! WGSL functions on the CPU: as machine code, or interpreted where none can be made.
//!
//! A call works on a [`Block`] of memory: the fuel (`i64`), then three words of each storage buffer
//! (address, bytes, and the length and last index of its runtime-sized array), then the private,
//! workgroup and uniform variables in the layout of WGSL. A workgroup is one invocation.
//!
//! | file | what it does |
//! | --- | --- |
//! | `module.rs` | parses and validates a text and lays out its block |
//! | `machine/` | translates functions to machine code, by Cranelift |
//! | `interpret/` | runs functions as trees of operations |
//! | `wasm/` | prints these operations as WebAssembly, in browsers |
//! | `host.rs` | functions that both kinds of code call |

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "sizes are bounded when a module is laid out, and words hold narrower numbers"
)]

mod error;
#[cfg(feature = "native")]
mod host;
mod interpret;
#[cfg(all(feature = "native", not(target_arch = "wasm32")))]
mod machine;
mod module;
mod source;
#[cfg(all(feature = "native", target_arch = "wasm32"))]
use wasm as machine;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(all(feature = "native", target_arch = "wasm32"))]
mod wasm;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use error::NativeError;
use interpret::Interpreter;
#[cfg(feature = "native")]
use machine::Machine;
use module::{Layout, Parsed};

/// How code runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Translated to machine code, in browsers to WebAssembly.
    #[default]
    Machine,
    /// Much slower, on every platform.
    Interpreter,
}

/// Functions that the host can call.
#[derive(Debug)]
pub(crate) struct Code {
    layout: Arc<Layout>,
    run: Run,
}

#[derive(Debug)]
enum Run {
    #[cfg(feature = "native")]
    Machine(Box<Machine>),
    Interpreter(Interpreter),
}

impl Code {
    /// Translates functions of a text and all that they call; other functions of it may use
    /// anything that is valid WGSL.
    ///
    /// # Errors
    /// [`NativeError`] names the line that is refused; or that the platform allows no machine code.
    pub(crate) fn new(text: &str, entries: &[&str], engine: Engine) -> Result<Self, NativeError> {
        let parsed = Parsed::new(text)?;
        let handles = entries.iter().map(|name| parsed.function(name)).collect::<Result<Vec<_>, _>>()?;
        let source = parsed.source();
        let refused = |refused| parsed.refused(refused);
        let run = match engine {
            #[cfg(feature = "native")]
            Engine::Machine => Run::Machine(Machine::new(&source, &handles, refused)?.into()),
            #[cfg(not(feature = "native"))]
            Engine::Machine => return Err(module::platform("this build has no translator to machine code")),
            Engine::Interpreter => Run::Interpreter(Interpreter::new(&source, &handles).map_err(refused)?),
        };
        Ok(Self { layout: Arc::new(parsed.layout), run })
    }

    /// Whether it is machine code.
    pub(crate) fn is_machine(&self) -> bool {
        !matches!(self.run, Run::Interpreter(_))
    }

    /// Memory that a call works on: variables with their initial values, nothing bound, no fuel.
    pub(crate) fn block(&self) -> Block {
        let stack = match &self.run {
            #[cfg(feature = "native")]
            Run::Machine(machine) => machine.stack_bytes(),
            Run::Interpreter(interpreter) => interpreter.stack_bytes(),
        };
        Block::new(Arc::clone(&self.layout), stack)
    }

    /// The number of a storage buffer, for [`Block::bind`].
    pub(crate) fn buffer(&self, name: &str) -> Option<usize> {
        self.layout.buffers.iter().position(|buffer| buffer.name == name)
    }

    /// The bytes of a block that hold a private, workgroup or uniform variable.
    pub(crate) fn variable(&self, name: &str) -> Option<Range<usize>> {
        self.layout.variables.iter().find(|variable| variable.name == name).map(|v| v.bytes.clone())
    }

    /// Calls the function of this number among the entries. Scalar arguments are values with zeros
    /// above their width; pointers and values of other types are addresses. A scalar result is
    /// returned; another is written to the address in one more argument.
    ///
    /// # Safety
    /// `block` is of this code. Addresses in `arguments` and bound buffers are valid for reads and
    /// writes of the types that the function declares; addresses in `arguments` lie outside bound
    /// buffers. No other thread accesses them.
    pub(crate) unsafe fn call(&self, block: &mut Block, entry: usize, arguments: &[u64]) -> u64 {
        debug_assert!(Arc::ptr_eq(&self.layout, &block.layout));
        let words = block.words.as_mut_ptr().cast::<u8>();
        // SAFETY: as the caller says; the block is laid out for this code, and the stack follows
        // the variables.
        unsafe {
            let stack = words.add(self.layout.bytes);
            match &self.run {
                #[cfg(feature = "native")]
                Run::Machine(machine) => machine.call(words, stack, entry, arguments),
                Run::Interpreter(interpreter) => interpreter.call(words, stack, entry, arguments),
            }
        }
    }
}

/// Memory that calls of [`Code`] work on.
pub(crate) struct Block {
    words: Vec<u64>,
    /// The memory of unbound buffers, as long as the longest of their types.
    unbound: Vec<u64>,
    layout: Arc<Layout>,
}

impl Block {
    fn new(layout: Arc<Layout>, stack: usize) -> Self {
        let longest = layout.buffers.iter().map(|buffer| buffer.least).max().unwrap_or(0);
        let words = vec![0; (layout.bytes + stack).div_ceil(8)];
        let mut block = Self { words, unbound: vec![0; longest.div_ceil(8)], layout };
        let layout = Arc::clone(&block.layout);
        for variable in &layout.variables {
            let start = variable.bytes.start;
            block.bytes_mut()[start..start + variable.initial.len()].copy_from_slice(&variable.initial);
        }
        (0..layout.buffers.len()).for_each(|buffer| block.unbind(buffer));
        block
    }

    /// Binds memory to a storage buffer. Memory shorter than the buffer's type counts as none.
    ///
    /// # Safety
    /// The memory is valid for reads and writes while calls use this block (of a read-only buffer,
    /// for reads). Its alignment is at least 1.
    pub(crate) unsafe fn bind(&mut self, buffer: usize, at: *mut u8, bytes: usize) {
        let shape = &self.layout.buffers[buffer];
        if bytes < shape.least {
            return self.unbind(buffer);
        }
        let length = shape.length(bytes);
        let last = u64::from(length.saturating_sub(1));
        let words = [at.expose_provenance() as u64, bytes as u64, u64::from(length) | last << 32];
        self.words[shape.at / 8..][..3].copy_from_slice(&words);
    }

    /// Moves a bound buffer to other memory of the same length.
    ///
    /// # Safety
    /// As [`Block::bind`]; the buffer was bound to memory of this length.
    #[inline]
    pub(crate) unsafe fn rebind(&mut self, buffer: usize, at: *mut u8) {
        let first = self.layout.buffers[buffer].at / 8;
        // (Memory that is too short is never bound.)
        if self.words[first + 1] > 0 {
            self.words[first] = at.expose_provenance() as u64;
        }
    }

    /// Binds the buffer to memory of the block, zeros at first, which nothing else uses.
    pub(crate) fn unbind(&mut self, buffer: usize) {
        let at = self.unbound.as_mut_ptr().expose_provenance() as u64;
        self.words[self.layout.buffers[buffer].at / 8..][..3].copy_from_slice(&[at, 0, 0]);
    }

    /// The iterations of loops that are left; negative after a call that was cut.
    pub(crate) fn fuel(&self) -> i64 {
        self.words[0].cast_signed()
    }

    pub(crate) fn set_fuel(&mut self, fuel: i64) {
        self.words[0] = fuel.cast_unsigned();
    }

    /// The whole memory; [`Code::variable`] gives places in it.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: every bit pattern is a byte, and the slice has the bytes of the words.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.words.len() * 8) }
    }

    /// The whole memory. The addresses of buffers in it must stay as they are.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and words take every bit pattern.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.words.len() * 8) }
    }
}

impl Clone for Block {
    fn clone(&self) -> Self {
        let (words, unbound) = (self.words.clone(), vec![0; self.unbound.len()]);
        let mut clone = Self { words, unbound, layout: Arc::clone(&self.layout) };
        let empty = self.unbound.as_ptr().addr() as u64;
        for (i, buffer) in self.layout.buffers.iter().enumerate() {
            if self.words[buffer.at / 8] == empty {
                clone.unbind(i);
            }
        }
        clone
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Block").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

/// The address that a word holds.
#[cfg(all(feature = "native", not(target_arch = "wasm32")))]
fn address(word: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(word as usize)
}
