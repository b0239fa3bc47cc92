//! The reference implementation of `shaders/facility/network/sharing.wgsl`, which describes the
//! clock and its rounding.

use super::lines::next_serial;
use super::{CLOCK, Customer, FacilityState, NetworkContext, halves, times};
use crate::facility::Facility;
use crate::time::Ticks;

/// Most customers that can share: their numbers are factors of 16 bits.
const MOST: u32 = 0xffff;

/// Saturates if it does not fit.
fn ticks(value: u128) -> Ticks {
    u64::try_from(value).map_or(Ticks::NEVER, Ticks::new)
}

fn scaled(span: Ticks, factor: u32, divisor: u32, up: bool) -> Ticks {
    let product = u128::from(span.get()) * u128::from(factor);
    let divisor = u128::from(divisor);
    ticks(if up { product.div_ceil(divisor) } else { product / divisor })
}

/// The reading of the clock.
fn clock(context: &mut NetworkContext<'_>) -> Ticks {
    halves(context.memory_get(CLOCK))[0]
}

fn fine(span: Ticks) -> Ticks {
    ticks(u128::from(span.get()) << 16)
}

impl Facility {
    /// Advances the clock to the present time.
    pub(super) fn advance(&self, lp: u32, state: &FacilityState, context: &mut NetworkContext<'_>) {
        let servers = self.node(lp, 1);
        let [clock, last] = halves(context.memory_get(CLOCK));
        let mut gain = fine(super::since(context.now(), last));
        if state.busy > servers {
            gain = scaled(gain, servers, state.busy, false);
        }
        context.memory_set(CLOCK, times(clock.saturating_add(gain), context.now()));
    }

    /// The time until the next departure if no customer arrives.
    pub(super) fn until_next(
        &self,
        lp: u32,
        state: &FacilityState,
        context: &mut NetworkContext<'_>,
    ) -> Ticks {
        let servers = self.node(lp, 1);
        let leaves = self.leaves(0, context).0;
        let mut left = super::since(leaves, clock(context));
        if state.busy > servers {
            left = scaled(left, state.busy, servers, true);
        }
        left = left.saturating_add(Ticks::new(0xffff));
        if left == Ticks::NEVER || leaves == Ticks::NEVER {
            Ticks::NEVER
        } else {
            Ticks::new(left.get() >> 16)
        }
    }

    /// The clock time at which a slot's customer leaves, and its number.
    fn leaves(&self, slot: u32, context: &mut NetworkContext<'_>) -> (Ticks, u32) {
        let [low, high, serial, _] = self.slot_row(slot, 2, context);
        (Ticks::from_words([low, high]), serial)
    }

    /// Whether the service of the next departing customer is complete.
    pub(super) fn complete(&self, context: &mut NetworkContext<'_>) -> bool {
        clock(context) >= self.leaves(0, context).0
    }

    /// Adds an arriving customer. The clock must be at the present time.
    pub(super) fn enter_shared(
        &self,
        who: Customer,
        service: Ticks,
        state: &mut FacilityState,
        context: &mut NetworkContext<'_>,
    ) {
        let mut slot = state.busy;
        if slot >= self.params.room.min(MOST) {
            return context.memory_full();
        }
        state.busy += 1;
        let leaves = (clock(context).saturating_add(fine(service)), next_serial(state));
        while slot > 0 && leaves < self.leaves((slot - 1) / 2, context) {
            self.move_slot((slot - 1) / 2, slot, context);
            slot = (slot - 1) / 2;
        }
        self.set_slot_row(slot, 0, times(who.entered, who.arrived), context);
        self.set_slot_row(slot, 1, [who.class, 0, 0, leaves.1], context);
        let [low, high] = leaves.0.to_words();
        self.set_slot_row(slot, 2, [low, high, leaves.1, 0], context);
    }

    /// Removes the customer that leaves next.
    pub(super) fn leave_shared(
        &self,
        state: &mut FacilityState,
        context: &mut NetworkContext<'_>,
    ) -> Customer {
        let [entered, arrived] = halves(self.slot_row(0, 0, context));
        let class = self.slot_row(0, 1, context)[0];
        state.busy -= 1;
        let last = state.busy;
        let leaves = self.leaves(last, context);
        let rows = [0, 1, 2].map(|row| self.slot_row(last, row, context));
        let mut slot = 0;
        while 2 * slot + 1 < last {
            let mut child = 2 * slot + 1;
            if child + 1 < last && self.leaves(child + 1, context) < self.leaves(child, context) {
                child += 1;
            }
            if self.leaves(child, context) >= leaves {
                break;
            }
            self.move_slot(child, slot, context);
            slot = child;
        }
        for (row, words) in (0..).zip(rows) {
            self.set_slot_row(slot, row, words, context);
        }
        Customer { class, entered, arrived, left: Ticks::NEVER }
    }
}
