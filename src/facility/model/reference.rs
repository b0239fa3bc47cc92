//! Events at a node: the reference implementation of `shaders/facility/network.wgsl`, whose head
//! describes the memory layout.

use super::lines::next_serial;
use super::records::NodeRecord;
use super::records::block_of;
use super::streams::{DEPARTURES, Draw};
use super::{
    ADMIT, ARRIVAL, BLOCKED, BLOCKS, COMPLETION, Customer, DUE, EMISSION, FORK, FacilityState, HOLDS, LIFO,
    NetworkContext, PIECE, POLLING, PREEMPTIVE, Payload, RELEASE, RENEGE, REPORT, ROUTER, SERVER_ROWS,
    SHARING, SHIFT, SINK, SOURCE, STATION, SURE, TASK, TRIP, WAKE, WAKES, event_of, halves, laws::variate,
    since, times,
};
use crate::facility::{Facility, FacilityOutput};
use crate::pdes::{CpuModel, Event};
use crate::time::Ticks;

/// Servers that may begin a service.
fn free_servers(state: &FacilityState) -> u32 {
    if state.down == 0 { state.open.saturating_sub(state.busy) } else { 0 }
}

/// Servers that are down, and customers whose service waits for a repair. While a station is down,
/// no service begins or ends.
fn out_of_order(state: &FacilityState) -> [u32; 2] {
    if state.down == 0 { [0, 0] } else { [state.open, state.busy] }
}

fn nobody(class: u32) -> Customer {
    Customer { class, entered: Ticks::ZERO, arrived: Ticks::ZERO, left: Ticks::NEVER }
}

/// Whether customers wait elsewhere for room at a node with these flags.
fn blocked_customers_wait(flags: u32, context: &mut NetworkContext<'_>) -> bool {
    flags & BLOCKS != 0 && context.memory_get(BLOCKED)[0] != 0
}

impl CpuModel for Facility {
    fn init(&self, lp: u32, state: &mut FacilityState, context: &mut NetworkContext<'_>) {
        state.open = self.node(lp, 1);
        for class in 0..self.params.classes {
            for number in 0..self.pair(lp, class, 6) {
                let mut who = nobody(class);
                if self.params.trace != 0 {
                    who.entered = Ticks::new(self.tag_at(self.pair(lp, class, 7), number).into());
                }
                context.schedule(lp, Ticks::ZERO, event_of(ARRIVAL, 0, 0, who));
            }
        }
        let begins = [
            (self.node(lp, 7) != 0, event_of(SHIFT, 2, 0, nobody(0))),
            (self.node(lp, 9) != 0, event_of(SHIFT, 0, 0, nobody(0))),
            (self.node(lp, 0) == SOURCE, event_of(EMISSION, 1, 0, nobody(self.node(lp, 6)))),
        ];
        for (_, event) in begins.into_iter().filter(|(does, _)| *does) {
            context.schedule(lp, Ticks::ZERO, event);
        }
    }

    #[expect(clippy::too_many_lines, reason = "it follows the kernel line by line")]
    fn handle(
        &self,
        lp: u32,
        event: &Event<Payload>,
        state: &mut FacilityState,
        context: &mut NetworkContext<'_>,
    ) {
        let now = context.now();
        let words = event.payload;
        let (kind, place) = (words[0] >> 24, words[0] >> 8 & 0xffff);
        let (node, discipline, flags) = (self.node(lp, 0), self.node(lp, 3), self.node(lp, 15));
        let before = state.busy + state.waiting;
        let working = state.busy.min(state.open);
        let mut who = Customer {
            class: words[0] & 0xff,
            entered: Ticks::from_words([words[3], words[2]]),
            arrived: Ticks::from_words([words[5], words[4]]),
            left: Ticks::NEVER,
        };
        let mut came = Ticks::ZERO; // arrival at the node where an arriving customer still holds a server
        let mut deed = NodeRecord::default();
        let (mut moves, mut law, mut span) = (0, 0, Ticks::NEVER);
        let (mut own, mut slot, mut serial) = (None, 0, 0);
        let (mut begins, mut shares, mut holds) = (false, false, false);
        let (mut next, mut server, mut interrupted) = (who, None, None);
        let mut joins = None; // the joined customer and its line
        let mut sender = [words[1] & !TRIP, place];
        if kind == ARRIVAL {
            deed.ended = u32::from(words[1] & TRIP != 0);
        }
        let mut parts = false; // whether the leaving customers are forked tasks
        let mut back = 0; // change of the number of tasks that wait at their fork

        let odds = match kind {
            EMISSION if self.node(lp, 7) != 0 => state.open,
            ARRIVAL if self.node(lp, 11) != 0 => {
                self.data[(self.node(lp, 11) + before.min(self.node(lp, 12) - 1)) as usize]
            }
            _ => SURE,
        };
        // The number of the next random draw.
        let mut number = match kind {
            ARRIVAL => self.next_arrival(lp, who.class, context),
            EMISSION => context.memory_get(block_of(who.class))[2],
            _ => 0,
        };
        let mut name = 0;
        let mut stays = odds == SURE;
        if !stays {
            context.stream().named(self.pair_name(lp, who.class, Draw::Stays, 0), number);
            stays = context.stream().draw() < odds;
        }

        let [due_low, due_high, due_serial, _] = match discipline {
            SHARING => context.memory_get(DUE),
            _ => [0; 4],
        };
        if discipline == SHARING && (kind == ARRIVAL || kind == COMPLETION && words[1] == due_serial) {
            self.advance(lp, state, context);
        }

        match kind {
            SHIFT => {
                own = Some(SHIFT);
                let was_down = out_of_order(state);
                if place == 2 {
                    slot = place;
                    let [number, shifts, picked, zero] = context.memory_get(PIECE);
                    let piece = (self.node(lp, 7) + 3 * number) as usize;
                    context.memory_set(PIECE, [(number + 1) % self.node(lp, 8), shifts, picked, zero]);
                    state.open = self.data[piece + 2];
                    span = Ticks::from_words([self.data[piece], self.data[piece + 1]]);
                } else {
                    state.down = place;
                    law = self.node(lp, 9 + place as usize);
                    slot = 1 - place;
                    let [piece, shifts, picked, zero] = context.memory_get(PIECE);
                    context.memory_set(PIECE, [piece, shifts.wrapping_add(1), picked, zero]);
                    number = shifts;
                    name = self.node_name(lp, [Draw::Up, Draw::Repair][place as usize]);
                }
                self.change_down(was_down, out_of_order(state), context);
                next = nobody(0);
            }
            COMPLETION => {
                if discipline == SHARING {
                    if words[1] != due_serial {
                        return; // a later arrival leaves earlier
                    }
                    // Otherwise later arrivals delayed its departure.
                    if self.complete(context) {
                        who = self.leave_shared(state, context);
                        moves = 1;
                    }
                } else {
                    moves = 1;
                    if flags & SERVER_ROWS != 0 {
                        server = Some(place);
                        let [number, _, low, high] = context.memory_get(self.server_row(place));
                        let end = Ticks::from_words([low, high]);
                        if number != words[1] {
                            return; // the service was interrupted
                        }
                        if now < end {
                            // The station broke down during the service.
                            (own, slot, serial, span) = (Some(COMPLETION), place, number, since(end, now));
                            moves = 0;
                        } else {
                            context.memory_set(self.server_row(place), [0; 4]);
                        }
                    }
                    state.busy -= moves;
                    begins = flags & WAKES == 0 && moves > 0 && state.waiting > 0 && free_servers(state) > 0;
                }
                let gone = i32::from(moves > 0);
                deed = NodeRecord { served: moves, present: -gone, busy: -gone, ..deed };
            }
            EMISSION => {
                own = Some(EMISSION);
                law = self.node(lp, 4);
                who.entered = now;
                if place == 0 && stays {
                    moves = self.node(lp, 5);
                }
                deed.served = moves;
                next = nobody(who.class);
            }
            RELEASE => {
                state.busy -= 1;
                deed = NodeRecord { served: 1, present: -1, busy: -1, ..deed };
            }
            REPORT => return self.more_known(place, words[1], context),
            WAKE => {
                begins = state.waiting > 0 && free_servers(state) > 0;
                if !begins {
                    return;
                }
            }
            ADMIT | ARRIVAL => {
                if kind == ADMIT {
                    let [first, ..] = context.memory_get(BLOCKED);
                    if first == 0 || before >= self.node(lp, 2) {
                        return;
                    }
                    [_, _, number, _] = self.slot_row(first - 1, 2, context);
                    who = self.take(lp, true, state, context);
                    sender = who.left.to_words();
                }
                let returns = kind == ARRIVAL && who.entered.to_words()[1] == TASK | lp;
                let home = who.entered.to_words()[0] >> 16;
                if returns {
                    who = self.customer_of(home, context);
                }
                let blocked = Customer { left: Ticks::from_words(sender), ..who };
                came = who.arrived;
                let missing = who.left.to_words()[0];
                let arrived = if returns { who.arrived } else { now };
                who = Customer { arrived, left: Ticks::NEVER, ..who };
                next = who;
                deed.arrivals = u32::from(!returns);
                if returns {
                    let missing = missing - 1;
                    self.set_slot_row(home, 2, [missing, 0, 0, 0], context);
                    deed.joined = 1;
                    back = 1;
                    if missing == 0 {
                        self.drop_out(home, block_of(0), state, context);
                        deed = NodeRecord { served: 1, present: -1, ..deed };
                        moves = 1;
                        back -= self.pair(lp, who.class, 7).cast_signed();
                    }
                } else if node == FORK {
                    deed.present = 1;
                    moves = self.pair(lp, who.class, 7);
                    parts = true;
                    joins = Some((Customer { left: Ticks::from_words([moves, 0]), ..who }, block_of(0)));
                } else if node == SINK {
                    who.arrived = self.time_of(who.entered);
                    deed.served = 1;
                } else if node == ROUTER {
                    deed.served = 1;
                    moves = 1;
                } else if !stays {
                    deed.balked = 1;
                } else if before >= self.node(lp, 2)
                    || kind == ARRIVAL && blocked_customers_wait(flags, context)
                {
                    if sender[1] == 0 {
                        deed.lost = 1;
                    } else {
                        deed.arrivals = 0;
                        joins = Some((blocked, BLOCKED));
                    }
                } else {
                    deed.present = 1;
                    shares = discipline == SHARING;
                    begins = !shares && state.waiting == 0 && free_servers(state) > 0;
                    if discipline == PREEMPTIVE {
                        begins = free_servers(state) > 0;
                        if !begins {
                            let worst = self.worst_server(lp, context);
                            server = Some(worst);
                            let [_, class, low, high] = context.memory_get(self.server_row(worst));
                            begins = self.line(lp, class) > self.line(lp, who.class);
                            if begins {
                                let [entered, arrived] =
                                    halves(context.memory_get(self.server_row(worst) + 1));
                                let left = since(Ticks::from_words([low, high]), now);
                                interrupted = Some(class);
                                state.busy -= 1;
                                joins =
                                    Some((Customer { class, entered, arrived, left }, self.line(lp, class)));
                            }
                        }
                    }
                    if !begins && !shares {
                        law = self.pair(lp, who.class, 1);
                        name = self.pair_name(lp, who.class, Draw::Patience, 0);
                        joins = Some((who, self.line(lp, who.class)));
                    }
                }
            }
            RENEGE => {
                if self.slot_row(place, 1, context)[3] != words[1] {
                    return; // it has been served
                }
                self.drop_out(place, self.line(lp, who.class), state, context);
                deed = NodeRecord { reneged: 1, present: -1, ..deed };
            }
            _ => unreachable!("there are nine kinds of event"),
        }
        if let Some((waits, line)) = joins {
            let in_front = line != BLOCKED && (discipline == LIFO || begins);
            slot = self.wait(lp, waits, line, in_front, state, context);
            serial = state.serial;
            if line == BLOCKED {
                let [low, high] = waits.left.to_words();
                self.set_slot_row(slot, 2, [low, high, number, 0], context);
            }
            if law != 0 {
                own = Some(RENEGE);
            }
        }
        let arrives = kind == ADMIT || kind == ARRIVAL;
        if begins && !arrives {
            next = self.take(lp, false, state, context);
        }
        let fresh = next.left == Ticks::NEVER;
        if begins || shares {
            (law, span) = if fresh { (self.pair(lp, next.class, 0), span) } else { (law, next.left) };
        }
        if (begins || shares) && fresh || kind == EMISSION {
            let [first, last, services, departures] = context.memory_get(block_of(next.class));
            let counted = [first, last, services.wrapping_add(1), departures];
            context.memory_set(block_of(next.class), counted);
            number = services;
            name = self.pair_name(lp, next.class, Draw::Service, 0);
        }
        let mut departures = 0;
        if moves > 0 && self.pair(lp, who.class, 10) & DEPARTURES != 0 {
            let [first, last, services, before] = context.memory_get(block_of(who.class));
            context.memory_set(block_of(who.class), [first, last, services, before.wrapping_add(1)]);
            departures = before;
        }
        if law != 0 {
            context.stream().named(name, number);
            span = variate(context.stream(), &self.data, law);
        }

        // The node's next own event: its kind and customer.
        if begins {
            (own, slot, serial) = (Some(COMPLETION), 0, 0);
            state.busy += 1;
            if discipline == POLLING {
                state.polled = next.class;
            }
            if flags & SERVER_ROWS != 0 {
                slot = server.unwrap_or_else(|| self.free_server(lp, context));
                serial = next_serial(state);
                let [low, high] = now.saturating_add(span).to_words();
                context.memory_set(self.server_row(slot), [serial, next.class, low, high]);
                context.memory_set(self.server_row(slot) + 1, times(next.entered, next.arrived));
            }
        }
        if discipline == SHARING && (shares || kind == COMPLETION) {
            if shares {
                self.enter_shared(next, span, state, context);
            }
            if state.busy > 0 {
                span = self.until_next(lp, state, context);
                let at = now.saturating_add(span);
                let due = if due_serial == 0 { Ticks::NEVER } else { Ticks::from_words([due_low, due_high]) };
                if !shares || at < due {
                    own = Some(COMPLETION);
                    serial = next_serial(state);
                    let [low, high] = at.to_words();
                    context.memory_set(DUE, [low, high, serial, 0]);
                }
            } else {
                context.memory_set(DUE, [0; 4]);
            }
        }
        if kind == SHIFT && place == 1 {
            // A breakdown: the repair extends all services.
            for server in 0..self.node(lp, 1) {
                let [number, class, low, high] = context.memory_get(self.server_row(server));
                if number != 0 {
                    let [low, high] = Ticks::from_words([low, high]).saturating_add(span).to_words();
                    context.memory_set(self.server_row(server), [number, class, low, high]);
                }
            }
        }
        if let Some(own) = own {
            let whose = if discipline == SHARING { nobody(0) } else { next };
            context.schedule(lp, now.saturating_add(span), event_of(own, slot, serial, whose));
        }

        for number in 0..moves {
            let route = match parts {
                true => self.task_route(lp, who.class, number),
                false => self.route_of(lp, who.class, state, context, [number, departures]),
            };
            let [to, class_and_law] = [2, 3].map(|index| self.data[route + index]);
            let (class, law) = (class_and_law & 3, class_and_law & !3);
            let mut goes = Customer { arrived: Ticks::ZERO, class, ..who };
            // Forked tasks have no sender: their fork does not count them among customers sent to a
            // shorter line.
            let mut from = lp + 1;
            if parts {
                let home = slot << 16 | self.tag_of(who.entered);
                (goes.entered, from) = (Ticks::from_words([home, TASK | lp]), 0);
            }
            if kind == EMISSION && self.params.trace != 0 {
                let tag = self.tag_at(self.node(lp, 11), state.serial);
                goes.entered = Ticks::new(now.get() << 16 | u64::from(tag));
                state.serial = state.serial.wrapping_add(1);
            }
            holds = flags & HOLDS != 0 && self.node(to, 15) & BLOCKS != 0;
            let mut keeps = 0;
            if holds {
                goes.arrived = who.arrived;
                keeps = who.class + 1;
                state.busy += 1;
                deed = NodeRecord::default();
            }
            let mut at = now;
            if law != 0 {
                let name = self.pair_name(lp, who.class, Draw::Travel, number);
                context.stream().named(name, departures);
                at = now.saturating_add(variate(context.stream(), &self.data, law));
                from |= TRIP;
                deed.begun += 1;
            }
            context.schedule(to, at, event_of(ARRIVAL, keeps, from, goes));
        }
        if flags & WAKES != 0 && state.waiting > 0 && free_servers(state) > 0 {
            context.schedule(lp, now, event_of(WAKE, 0, 0, nobody(0)));
        }
        let has_room = state.busy + state.waiting < self.node(lp, 2);
        if has_room && blocked_customers_wait(flags, context) {
            context.schedule(lp, now, event_of(ADMIT, 0, 0, nobody(0)));
        }
        if deed.present > 0 && flags != 0 && sender[1] != 0 {
            let released = Customer { class: sender[1] - 1, arrived: came, ..who };
            context.schedule(sender[0] - 1, now, event_of(RELEASE, 0, 0, released));
        }
        for listener in 0..self.node(lp, 14) {
            let at = (self.node(lp, 13) + 2 * listener) as usize;
            let (to, place) = (self.data[at], self.data[at + 1]);
            // The sender of this customer has counted it already.
            let change = deed.present - i32::from(kind == ARRIVAL && sender[0] == to + 1);
            if change != 0 {
                context.schedule(to, now, event_of(REPORT, place, change.cast_unsigned(), nobody(0)));
            }
        }

        // Statistics.
        if begins || shares {
            deed.fresh = fresh;
            // The arriving customer begins service at once.
            (deed.busy, deed.taken) = if arrives { (1, 0) } else { (deed.busy, i32::from(begins)) };
            // The server continues with a customer of the same class.
            if next.class == who.class {
                (deed.busy, deed.taken) = (deed.busy + deed.taken, 0);
            }
        }
        deed.interrupted = interrupted;
        deed.kept = match discipline {
            SHARING => state.busy.min(state.open).cast_signed() - working.cast_signed(),
            _ => i32::from(holds) - i32::from(kind == RELEASE) + back,
        };
        deed.visited = node != SOURCE && node != ROUTER;
        if state.busy + state.waiting != before && node == STATION {
            self.were_here(before, context);
        }
        self.record(who, next, deed, context);
    }

    fn output(&self, _: u32, state: &FacilityState, context: &mut NetworkContext<'_>) -> FacilityOutput {
        self.reported(state, context)
    }
}
