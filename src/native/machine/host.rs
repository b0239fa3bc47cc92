//! Functions of the host that machine code calls: those for which there are no instructions.

use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlags, Signature, Type, Value, types};
use naga::TypeInner as T;

use super::super::host::{binary, pack, quaternary, ternary, unary, unpack};
use super::super::interpret::component::{Binary, Quaternary, Ternary, Unary};
use super::super::interpret::float::{Pack, Unpack};
use super::super::interpret::runs::runs;
use super::value::Translator;

/// A function of components, with its number of arguments.
#[derive(Clone, Copy)]
pub(super) enum Host {
    Unary(Unary),
    Binary(Binary),
    Ternary(Ternary),
    Quaternary(Quaternary),
    Pack(Pack),
    /// A component of what it returns.
    Unpack(Unpack, u64),
}

/// Copies `bytes` bytes between places that may overlap.
extern "C" fn copy(from: usize, to: u64, bytes: u64) -> u64 {
    // SAFETY: `Translator::copy` passes places of a type of that size.
    unsafe {
        std::ptr::copy(super::super::address(from as u64), super::super::address(to), bytes as usize);
    }
    0
}

/// Copies `count` parts, whose offsets and sizes are two words each.
extern "C" fn copy_parts(from: usize, to: u64, parts: u64, count: u64) -> u64 {
    let (from, to) = (super::super::address(from as u64), super::super::address(to));
    let parts = super::super::address(parts).cast::<u64>();
    for i in 0..count as usize {
        // SAFETY: `Translator::copy` passes places of a type with these parts, and their list.
        unsafe {
            let (offset, bytes) = (*parts.add(2 * i) as usize, *parts.add(2 * i + 1) as usize);
            std::ptr::copy(from.add(offset), to.add(offset), bytes);
        }
    }
    0
}

/// Writes zeros to `bytes` bytes.
extern "C" fn clear(to: usize, bytes: u64) -> u64 {
    // SAFETY: `Translator::clear` passes a place of a type of that size.
    unsafe { super::super::address(to as u64).write_bytes(0, bytes as usize) };
    0
}

impl Translator<'_, '_> {
    /// Calls a function of the host; the result has the register type `to`.
    pub(super) fn host(&mut self, host: Host, arguments: &[Value], to: Type) -> Value {
        let (by, f) = match host {
            Host::Unary(f) => (unary as *const () as usize, f as usize),
            Host::Binary(f) => (binary as *const () as usize, f as usize),
            Host::Ternary(f) => (ternary as *const () as usize, f as usize),
            Host::Quaternary(f) => (quaternary as *const () as usize, f as usize),
            Host::Pack(f) => (pack as *const () as usize, f as usize),
            Host::Unpack(f, _) => (unpack as *const () as usize, f as usize),
        };
        let mut words = vec![self.word(f as u64)];
        words.extend(arguments.iter().map(|argument| self.widen(*argument)));
        match host {
            Host::Pack(_) => words.resize_with(5, || self.word(0)),
            Host::Unpack(_, component) => words.push(self.word(component)),
            _ => {}
        }
        let word = self.call_host(by, &words);
        self.narrow(word, to)
    }

    /// Copies a value, and nothing to its padding.
    pub(super) fn copy(&mut self, from: Value, to: Value, inner: &T) {
        let parts = runs(self.shared.source, inner);
        if let [(0, bytes)] = parts[..] {
            let bytes = self.word(bytes.into());
            self.call_host(copy as *const () as usize, &[from, to, bytes]);
            return;
        }
        let count = self.word(parts.len() as u64);
        let list = parts.into_iter().flat_map(|(offset, bytes)| [offset, bytes].map(u64::from)).collect();
        let list = self.constant_words(list);
        self.call_host(copy_parts as *const () as usize, &[from, to, list, count]);
    }

    pub(super) fn clear(&mut self, to: Value, bytes: u32) {
        let bytes = self.word(bytes.into());
        self.call_host(clear as *const () as usize, &[to, bytes]);
    }

    pub(super) fn word(&mut self, word: u64) -> Value {
        self.b.ins().iconst(types::I64, word.cast_signed())
    }

    fn call_host(&mut self, address: usize, words: &[Value]) -> Value {
        let mut signature = Signature::new(self.shared.host_convention);
        signature.params = vec![AbiParam::new(types::I64); words.len()];
        signature.returns.push(AbiParam::new(types::I64));
        let signature = self.b.import_signature(signature);
        let address = self.word(address as u64);
        let call = self.b.ins().call_indirect(signature, address, words);
        self.b.inst_results(call)[0]
    }

    /// The bits of a scalar with zeros above.
    pub(super) fn widen(&mut self, value: Value) -> Value {
        match self.b.func.dfg.value_type(value) {
            types::F32 => {
                let bits = self.b.ins().bitcast(types::I32, MemFlags::new(), value);
                self.b.ins().uextend(types::I64, bits)
            }
            types::F64 => self.b.ins().bitcast(types::I64, MemFlags::new(), value),
            types::I64 => value,
            _ => self.b.ins().uextend(types::I64, value),
        }
    }

    /// A scalar from its bits.
    pub(super) fn narrow(&mut self, word: Value, to: Type) -> Value {
        match to {
            types::F32 => {
                let bits = self.b.ins().ireduce(types::I32, word);
                self.b.ins().bitcast(types::F32, MemFlags::new(), bits)
            }
            types::F64 => self.b.ins().bitcast(types::F64, MemFlags::new(), word),
            types::I64 => word,
            _ => self.b.ins().ireduce(to, word),
        }
    }
}
