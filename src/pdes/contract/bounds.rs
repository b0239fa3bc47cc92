//! Bounds of a window that follow from the model alone.

use crate::time::Ticks;

/// The events that each of so many LPs executes in a window at the most, so that a dispatch does
/// not run long: all of them together 2^26, which take a tenth of a second where 700 million events
/// per second are executed. It depends on the model alone, because windows decide where a run ends
/// that ends by a number of events. Up to half a million LPs it is 128, because llvmpipe ends the
/// loops of a long window. Windows of 2^28 LPs count their events in 32 bits.
pub(in crate::pdes) fn budget(lps: u32) -> u32 {
    ((1 << 26) / lps.max(1)).clamp(8, 128)
}

/// The length of the cells that time is cut into, for a lookahead: where there is none, a tick.
pub(in crate::pdes) fn cell(lookahead: Ticks) -> Ticks {
    lookahead.max(Ticks::new(1))
}
