//! The twin of `shaders/facility/network/ways.wgsl`: where customers go from a node.

use super::streams::Draw;
use super::{FacilityState, Here, IN_TURN, SHORTEST, WAY_WORDS};
use crate::facility::Facility;

impl Facility {
    /// The way that a customer of a class takes, one of several that leave at once: its place in
    /// `data`.
    pub(super) fn way_of(
        &self,
        lp: u32,
        class: u32,
        state: &mut FacilityState,
        context: &mut Here<'_>,
        [customer, departures]: [u32; 2],
    ) -> usize {
        let [first, count, choice] = [2, 3, 4].map(|index| self.pair(lp, class, index));
        let word = |way: u32, index: usize| self.data[first as usize + way as usize * WAY_WORDS + index];
        let way = match choice {
            IN_TURN => {
                let way = state.turn % count;
                state.turn = (way + 1) % count;
                way
            }
            SHORTEST => {
                let known = |way: u32, context: &mut Here<'_>| {
                    context.memory_get(self.params.known + way / 4)[way as usize % 4]
                };
                // The first of those that are equal.
                let way = (0..count).min_by_key(|&way| known(way, context)).unwrap_or(0);
                self.more_known(way, 1, context);
                way
            }
            _ if count > 1 => {
                let name = self.pair_name(lp, class, Draw::Way, customer);
                context.stream().named(name, departures);
                let picked = context.stream().below(count);
                if context.stream().draw() < word(picked, 0) { picked } else { word(picked, 1) }
            }
            _ => 0,
        };
        first as usize + way as usize * WAY_WORDS
    }

    /// The way of one of a customer's siblings: its place in `data`.
    pub(super) fn sibling_way(&self, lp: u32, class: u32, number: u32) -> usize {
        let [first, count] = [2, 3].map(|index| self.pair(lp, class, index));
        (first + super::word(WAY_WORDS) * (count + number)) as usize
    }

    /// The node of number `place` has so many customers more.
    pub(super) fn more_known(&self, place: u32, more: u32, context: &mut Here<'_>) {
        let row = self.params.known + place / 4;
        let mut known = context.memory_get(row);
        known[place as usize % 4] = known[place as usize % 4].wrapping_add(more);
        context.memory_set(row, known);
    }
}
