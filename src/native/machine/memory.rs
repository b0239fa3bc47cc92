//! Memory of machine code: written, then made executable, and freed with its module.

use std::sync::OnceLock;

use cranelift_jit::{ArenaMemoryProvider, JITMemoryProvider};
use region::Protection;

/// Bytes of machine code for an expression: several times what the longest instructions take.
const EXPRESSION_BYTES: usize = 256;
/// Bytes for functions themselves.
const LEAST_BYTES: usize = 256 << 10;

/// Memory for the code of a number of expressions: one range, so that all calls are near.
pub(super) fn provider(expressions: usize) -> Result<Box<dyn JITMemoryProvider + Send>, String> {
    static ALLOWED: OnceLock<Result<(), String>> = OnceLock::new();
    ALLOWED.get_or_init(|| probe().map_err(|error| error.to_string())).clone()?;
    let bytes = LEAST_BYTES + expressions * EXPRESSION_BYTES;
    let provider = ArenaMemoryProvider::new_with_size(bytes).map_err(|error| error.to_string())?;
    Ok(Box::new(provider))
}

/// Whether the platform lets written memory become executable. (Cranelift panics otherwise.)
fn probe() -> region::Result<()> {
    let mut page = region::alloc(region::page::size(), Protection::READ_WRITE)?;
    // SAFETY: nothing else knows the page, which is freed here.
    unsafe { region::protect(page.as_mut_ptr::<u8>(), page.len(), Protection::READ_EXECUTE) }
}
