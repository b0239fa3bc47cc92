//! The reference implementation of `shaders/facility/network/lines.wgsl`: waiting lines, and
//! servers with rows.

use super::records::block_of;
use super::streams::Draw;
use super::{
    BLOCKED, Customer, FacilityState, NetworkContext, PAIR_WORDS, PIECE, POLLING, RANDOM, RING, RING_SIZE,
    halves, times,
};
use crate::facility::Facility;
use crate::time::Ticks;

pub(super) fn next_serial(state: &mut FacilityState) -> u32 {
    state.serial = state.serial.wrapping_add(1).max(1);
    state.serial
}

impl Facility {
    pub(super) fn slot_row(&self, slot: u32, row: u32, context: &mut NetworkContext<'_>) -> [u32; 4] {
        context.memory_get(self.params.slots + slot * self.params.slot_rows + row)
    }

    pub(super) fn set_slot_row(
        &self,
        slot: u32,
        row: u32,
        words: [u32; 4],
        context: &mut NetworkContext<'_>,
    ) {
        context.memory_set(self.params.slots + slot * self.params.slot_rows + row, words);
    }

    /// Puts a customer into a line, at the end or in front. Returns its slot.
    pub(super) fn wait(
        &self,
        lp: u32,
        who: Customer,
        line: u32,
        in_front: bool,
        state: &mut FacilityState,
        context: &mut NetworkContext<'_>,
    ) -> u32 {
        let discipline = self.node(lp, 3);
        let list = discipline != RANDOM && discipline != RING;
        let mut slot = if list { state.free } else { state.waiting };
        if slot >= self.params.room {
            context.memory_full();
            return 0;
        }
        if discipline == RING {
            slot = self.ring_end(state, context);
        }
        state.waiting += u32::from(line != BLOCKED);
        let (mut next, mut previous) = (0, 0);
        if list {
            // A free slot stores the distance from its successor to the next free slot: 0 if it was
            // never written.
            state.free = (slot + 1).wrapping_add(self.slot_row(slot, 1, context)[1]);
            let [first, last, services, departures] = context.memory_get(line);
            let ends = if in_front {
                next = first;
                self.link(first, 2, slot + 1, context);
                [slot + 1, if last == 0 { slot + 1 } else { last }, services, departures]
            } else {
                previous = last;
                self.link(last, 1, slot + 1, context);
                [if first == 0 { slot + 1 } else { first }, slot + 1, services, departures]
            };
            context.memory_set(line, ends);
        }
        self.set_slot_row(slot, 0, times(who.entered, who.arrived), context);
        if self.params.slot_rows > 1 {
            self.set_slot_row(slot, 1, [who.class, next, previous, next_serial(state)], context);
        }
        if self.params.slot_rows > 2 {
            self.set_slot_row(slot, 2, times(who.left, Ticks::ZERO), context);
        }
        slot
    }

    /// The slot of a ring for one more customer.
    fn ring_end(&self, state: &mut FacilityState, context: &mut NetworkContext<'_>) -> u32 {
        let size = RING_SIZE << state.polled;
        let first = state.free;
        if state.waiting < size {
            return (first + state.waiting) % size;
        }
        // Doubles the ring: moves the customers in slots before the first behind the others, or the
        // others to the end, whichever are fewer.
        let before = first <= size / 2;
        for slot in if before { 0..first } else { first..size } {
            self.move_slot(slot, size + slot, context);
        }
        state.free = if before { first } else { size + first };
        state.polled += 1;
        (state.free + state.waiting) % (2 * size)
    }

    pub(super) fn move_slot(&self, from: u32, to: u32, context: &mut NetworkContext<'_>) {
        for row in 0..self.params.slot_rows {
            let words = self.slot_row(from, row, context);
            self.set_slot_row(to, row, words, context);
        }
    }

    fn link(&self, slot: u32, side: usize, other: u32, context: &mut NetworkContext<'_>) {
        if slot > 0 {
            let mut row = self.slot_row(slot - 1, 1, context);
            row[side] = other;
            self.set_slot_row(slot - 1, 1, row, context);
        }
    }

    /// Removes a customer from a line.
    pub(super) fn drop_out(
        &self,
        slot: u32,
        line: u32,
        state: &mut FacilityState,
        context: &mut NetworkContext<'_>,
    ) {
        let [_, next, previous, _] = self.slot_row(slot, 1, context);
        state.waiting -= u32::from(line != BLOCKED);
        self.link(previous, 1, next, context);
        self.link(next, 2, previous, context);
        let [mut first, mut last, services, departures] = context.memory_get(line);
        if previous == 0 {
            first = next;
        }
        if next == 0 {
            last = previous;
        }
        let ends = [first, last, services, departures];
        context.memory_set(line, ends);
        self.set_slot_row(slot, 1, [0, state.free.wrapping_sub(slot + 1), 0, 0], context);
        state.free = slot;
    }

    /// Removes the customer that is served next from its line, or the first blocked customer. The
    /// line must not be empty.
    pub(super) fn take(
        &self,
        lp: u32,
        blocked: bool,
        state: &mut FacilityState,
        context: &mut NetworkContext<'_>,
    ) -> Customer {
        let discipline = self.node(lp, 3);
        let mut line = BLOCKED;
        let slot = if discipline == RING {
            state.free
        } else if discipline == RANDOM {
            let [piece, shifts, picked, zero] = context.memory_get(PIECE);
            context.memory_set(PIECE, [piece, shifts, picked.wrapping_add(1), zero]);
            context.stream().named(self.node_name(lp, Draw::Pick), picked);
            context.stream().below(state.waiting)
        } else {
            // Polling starts with the class that was served last.
            let first = if discipline == POLLING { state.polled } else { 0 };
            let classes = self.params.classes;
            let mut lines = (0..classes).map(|line| block_of((first + line) % classes));
            if !blocked {
                line = lines.find(|&line| context.memory_get(line)[0] > 0).unwrap_or(BLOCKED);
            }
            context.memory_get(line)[0].max(1) - 1
        };
        let who = self.customer_of(slot, context);
        match discipline {
            RING => {
                state.waiting -= 1;
                state.free = (slot + 1) % (RING_SIZE << state.polled);
                // An empty line starts from the first slot again.
                if state.waiting == 0 {
                    state.free = 0;
                }
            }
            RANDOM => {
                state.waiting -= 1;
                self.move_slot(state.waiting, slot, context);
            }
            _ => self.drop_out(slot, line, state, context),
        }
        who
    }

    /// The customer in a slot.
    pub(super) fn customer_of(&self, slot: u32, context: &mut NetworkContext<'_>) -> Customer {
        let [entered, arrived] = halves(self.slot_row(slot, 0, context));
        let class = if self.params.slot_rows > 1 { self.slot_row(slot, 1, context)[0] } else { 0 };
        let left = match self.params.slot_rows {
            1 | 2 => Ticks::NEVER,
            _ => halves(self.slot_row(slot, 2, context))[0],
        };
        Customer { class, entered, arrived, left }
    }

    /// The customers that hold a server and wait for room elsewhere, in the memory of all LPs:
    /// their node, and the full node.
    pub(in crate::facility) fn waits_for(&self, memory: &[[u32; 4]]) -> Vec<(usize, usize)> {
        let rows = crate::pdes::Model::memory_rows(self) as usize;
        let mut waits = Vec::new();
        for (node, memory) in memory.chunks(rows).enumerate() {
            let senders =
                self.slots_of(memory, BLOCKED).into_iter().map(|slot| memory[slot + 2][0] as usize - 1);
            waits.extend(senders.map(|sender| (sender, node)));
        }
        waits
    }

    /// By node, whether any customer in a line there has limited patience.
    pub(in crate::facility) fn impatient(&self, memory: &[[u32; 4]]) -> Vec<bool> {
        let rows = crate::pdes::Model::memory_rows(self) as usize;
        let nodes = self.nodes.iter().zip(memory.chunks(rows));
        let here = |(node, memory): (&crate::facility::nodes::Node, &[[u32; 4]])| {
            // A line in random order is not a list, and its customers have no patience.
            node.pairs.iter().any(|pair| pair.patience.is_some())
                && (0..self.params.classes)
                    .flat_map(|line| self.slots_of(memory, block_of(line)))
                    .any(|slot| node.pairs[memory[slot + 1][0] as usize].patience.is_some())
        };
        nodes.map(here).collect()
    }

    /// The first rows of the slots in a line of an LP, in order.
    fn slots_of(&self, memory: &[[u32; 4]], line: u32) -> Vec<usize> {
        let (mut slots, mut next) = (Vec::new(), memory[line as usize][0]);
        // Visits each slot once.
        while next > 0 {
            let slot = (self.params.slots + (next - 1) * self.params.slot_rows) as usize;
            slots.push(slot);
            next = memory[slot + 1][1];
        }
        slots
    }

    pub(super) fn server_row(&self, server: u32) -> u32 {
        self.params.servers + 2 * server
    }

    pub(super) fn line(&self, lp: u32, class: u32) -> u32 {
        block_of(self.pair(lp, class, 5))
    }

    pub(super) fn node(&self, lp: u32, index: usize) -> u32 {
        self.data[lp as usize * super::NODE_WORDS + index]
    }

    pub(super) fn pair(&self, lp: u32, class: u32, index: usize) -> u32 {
        let pair = lp as usize * self.params.classes as usize + class as usize;
        self.data[self.nodes.len() * super::NODE_WORDS + pair * PAIR_WORDS + index]
    }

    pub(super) fn free_server(&self, lp: u32, context: &mut NetworkContext<'_>) -> u32 {
        let mut all = 0..self.node(lp, 1);
        all.find(|&server| context.memory_get(self.server_row(server))[0] == 0).expect("a server is free")
    }

    pub(super) fn worst_server(&self, lp: u32, context: &mut NetworkContext<'_>) -> u32 {
        let order = |server: u32, context: &mut NetworkContext<'_>| {
            let [serial, class, ..] = context.memory_get(self.server_row(server));
            (self.line(lp, class), serial)
        };
        let mut worst = 0;
        for server in 1..self.node(lp, 1) {
            if order(server, context) > order(worst, context) {
                worst = server;
            }
        }
        worst
    }
}
