//! Bounds of a window that depend on the model alone.

use crate::time::Ticks;

/// The maximum number of events that each LP executes in a window, which bounds the length of a
/// dispatch. All LPs together execute at most 2^26, a tenth of a second at 700 million events a
/// second.
///
/// It depends on the model alone, because windows decide at which event an event-limited run stops.
/// Up to half a million LPs it is 128, because llvmpipe ends the loops of a long window. Windows of
/// 2^28 LPs count their events in 32 bits.
pub(in crate::pdes) fn budget(lps: u32) -> u32 {
    ((1 << 26) / lps.max(1)).clamp(8, 128)
}

/// The length of an epoch: the lookahead, or one tick without a lookahead.
pub(in crate::pdes) fn epoch_length(lookahead: Ticks) -> Ticks {
    lookahead.max(Ticks::new(1))
}

/// The end of the epoch that contains a time. A window lies within one.
pub(in crate::pdes) fn epoch_end(time: Ticks, epoch_length: Ticks) -> Ticks {
    Ticks::new(time.get() - time.get() % epoch_length.get()).saturating_add(epoch_length)
}
