//! The state of a translation.

use wasm_encoder::Function as Body;

use super::components::Inlines;
use super::words::Words;

// Local variables: two parameters; then those of `SCRATCH`; then these.
pub(super) const BLOCK: u32 = 0;
pub(super) const FRAME: u32 = 1;
pub(super) const INDEX: u32 = 2;
/// The address of the place of an operation.
pub(super) const POINTER: u32 = 10;
pub(super) const SUM: u32 = 11;
pub(super) const TERM: u32 = 12;
/// A number of 64 bits that goes to two words.
pub(super) const VALUE: u32 = 13;
/// The words of the frame begin here.
pub(super) const WORDS: u32 = 14;

/// Types of functions, by number: of code, and of functions of the host by words after the first.
pub(super) const CODE: u32 = 0;

/// Translates one function.
pub(super) struct Emitter<'a> {
    pub(super) constants: &'a [u8],
    /// Their address.
    pub(super) constants_at: u32,
    pub(super) inlines: &'a Inlines,
    pub(super) words: Words,
    pub(super) body: Body,
    /// Bytes of its frame; that of a function which it calls follows.
    pub(super) frame: u32,
    /// Blocks that are open.
    pub(super) depth: u32,
    pub(super) breaks: Vec<u32>,
    pub(super) continues: Vec<u32>,
}
