//! The reference implementation of `shaders/facility/network/routes.wgsl`: where customers go from
//! a node.

use super::streams::Draw;
use super::{FacilityState, IN_TURN, NetworkContext, ROUTE_WORDS, SHORTEST};
use crate::facility::Facility;

impl Facility {
    /// The route of a customer of a class, one of several that leave at once: its index in `data`.
    pub(super) fn route_of(
        &self,
        lp: u32,
        class: u32,
        state: &mut FacilityState,
        context: &mut NetworkContext<'_>,
        [customer, departures]: [u32; 2],
    ) -> usize {
        let [first, count, choice] = [2, 3, 4].map(|index| self.pair(lp, class, index));
        let word =
            |route: u32, index: usize| self.data[first as usize + route as usize * ROUTE_WORDS + index];
        let route = match choice {
            IN_TURN => {
                let route = state.turn % count;
                state.turn = (route + 1) % count;
                route
            }
            SHORTEST => {
                let known = |route: u32, context: &mut NetworkContext<'_>| {
                    context.memory_get(self.params.known + route / 4)[route as usize % 4]
                };
                // The first of equal ones.
                let route = (0..count).min_by_key(|&route| known(route, context)).unwrap_or(0);
                self.more_known(route, 1, context);
                route
            }
            _ if count > 1 => {
                let name = self.pair_name(lp, class, Draw::ResolvedRoute, customer);
                context.stream().named(name, departures);
                let picked = context.stream().below(count);
                if context.stream().draw() < word(picked, 0) { picked } else { word(picked, 1) }
            }
            _ => 0,
        };
        first as usize + route as usize * ROUTE_WORDS
    }

    /// The route of one forked task of a customer: its index in `data`.
    pub(super) fn task_route(&self, lp: u32, class: u32, number: u32) -> usize {
        let [first, count] = [2, 3].map(|index| self.pair(lp, class, index));
        (first + super::word(ROUTE_WORDS) * (count + number)) as usize
    }

    /// Adds `more` customers to the known number of node `place`.
    pub(super) fn more_known(&self, place: u32, more: u32, context: &mut NetworkContext<'_>) {
        let row = self.params.known + place / 4;
        let mut known = context.memory_get(row);
        known[place as usize % 4] = known[place as usize % 4].wrapping_add(more);
        context.memory_set(row, known);
    }
}
