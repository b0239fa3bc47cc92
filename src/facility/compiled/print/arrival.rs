//! Arrivals at a node.

use std::fmt::Write as _;

use super::node::Printer;
use crate::facility::compiled::ir::{Kind, Lines, Service};

impl Printer<'_> {
    pub(super) fn arrive(&self, text: &mut String) {
        if matches!(self.node.kind, Kind::Source { .. }) {
            return;
        }
        self.case(u32::try_from(self.number).expect("fewer than 2^32 nodes"), text);
        let pair = self.pair_of("go_class");
        if self.ir.travel.is_some() {
            let node = self.pair(0);
            let _ = writeln!(
                text,
                "            if (go_from & TRIP) != 0u {{\n                network[{pair} + PAIR_ENDED] += 1u;\n                network_change({node} + PAIR_TRIPS, -1);\n            }}"
            );
        }
        match &self.node.kind {
            Kind::Source { .. } => {}
            Kind::Router => {
                let _ = writeln!(text, "            network[{pair}] += 1u;");
                *text += "            let class_ = go_class;\n";
                *text += &self.departs("class_", None, "", 12);
            }
            Kind::Sink => {
                let _ = writeln!(text, "            network_leaves({pair}, network_at - go_entered);");
            }
            Kind::Fork { fork, ring } => self.fork(*fork, *ring, text),
            Kind::Station { blocked: Some(_), .. } => {
                let _ = writeln!(text, "            network_enter_{}();", self.number);
            }
            Kind::Station { .. } => self.arrival(&pair, text),
        }
        *text += "        }\n";
    }

    /// A customer arrives at a station.
    fn arrival(&self, pair: &str, text: &mut String) {
        let Kind::Station { service, lines, room, balking, wake, blocked, .. } = &self.node.kind else {
            return;
        };
        self.remember(text);
        let counts = self.node.pairs.iter().any(|pair| pair.counts);
        if counts {
            *text += "            var came = 0u;\n";
            *text += &self.by_class("go_class", 12, |class| match self.node.pairs[class as usize].counts {
                true => format!("came = network_count({} + PAIR_ARRIVALS);", self.pair(class)),
                false => String::new(),
            });
        }
        let (mut free, begins) = match service {
            Service::Shared { slot, heap, servers, clock } => {
                let (clock, held) = (Self::extra(*clock), self.busy());
                let _ = writeln!(
                    text,
                    "            let servers = network_data[{servers}].x;\n            shared_advance({clock}, {held}, servers);"
                );
                let begins = format!(
                    "                if {held} < servers {{ network_change({} + PAIR_OUT, 1); }}
                shared_join({heap}u, {clock}, span);
                network[{slot}] = min(network[{slot}], network_when(shared_next({heap}u, {clock}, servers)));
                network_began = vec2<u32>(network[{slot}], {slot}u);\n",
                    self.pair(0)
                );
                ("true".to_owned(), begins)
            }
            Service::Slots { first, count } | Service::Preemptive { first, count, .. } => {
                *text += "            var slot = NONE;\n";
                for slot in (*first..first + count).rev() {
                    let _ = writeln!(text, "            if network[{slot}] == NEVER {{ slot = {slot}u; }}");
                }
                let mut begins = "                network_serves(slot, go_entered, network_at, go_class);\n                network[slot] = time;\n                network_began = vec2<u32>(time, slot);\n".to_owned();
                if let (Service::Preemptive { began, .. }, Lines::ByClass { first: ring, .. }) =
                    (service, lines)
                {
                    let words = Self::extra(*began);
                    let _ = writeln!(
                        text,
                        "            if slot == NONE {{ slot = network_worst({first}u, {count}u, {words}); }}"
                    );
                    let interrupts = format!(
                        "                if network[slot] != NEVER {{ network_interrupt(slot, {ring}u, {}); }}\n                network_serial += 1u;\n                network[{words} + slot - {first}u] = network_serial;\n",
                        self.pair(0)
                    );
                    begins.insert_str(0, &interrupts);
                }
                ("slot != NONE".to_owned(), begins)
            }
            Service::Heap { slot, heap, servers } => {
                let free = match (servers, wake) {
                    (_, Some(_)) => self.free(),
                    (Some(row), None) => format!("{} < network_data[{row}].x", self.busy()),
                    (None, None) => "true".to_owned(),
                };
                let begins = format!(
                    "                let first = heap_push({heap}u, vec4<u32>(time, go_entered, network_at, {}));\n                network[{slot}] = first;\n                network_began = vec2<u32>(first, {slot}u);\n",
                    self.served("go_class")
                );
                (free, begins)
            }
        };
        let (busy, waiting) = (self.busy(), self.waiting(lines));
        if wake.is_some() {
            free = format!("({waiting} == 0u) & ({free})");
        }
        let mut open = String::new();
        if let Some([first, count]) = balking {
            let _ = writeln!(
                text,
                "            let odds = network_data[{first}u + min({busy} + {waiting}, {}u)].x;\n            var stays = odds == SURE;",
                count - 1
            );
            *text += "            if !stays {\n";
            *text += &self.by_class("go_class", 16, |class| {
                let stream = self.node.pairs[class as usize].stream;
                format!("stays = network_block({stream}u, DRAW_STAYS, came).x < odds;")
            });
            *text += "            }\n";
            open = format!(
                "!stays {{\n                network[{pair} + PAIR_BALKED] += 1u;\n            }} else if "
            );
        }
        let lost = format!("network[{pair} + PAIR_LOST] += 1u;");
        if let (Some([ring, _]), Some(row)) = (blocked, room) {
            // All that wait for room come before it.
            let _ = writeln!(
                text,
                "            let full = ({busy} + {waiting} >= network_data[{row}].x) | (!go_admitted & (network[NETWORK_LINE + {ring}u] > 0u));\n            let enters = !full;"
            );
            open += &format!(
                "full {{\n                if go_place != 0u {{ ring_block({ring}u); }} else {{ {lost} }}\n            }} else if "
            );
        }
        if let (Service::Shared { .. } | Service::Preemptive { .. }, Some(row)) = (service, room) {
            open += &format!(
                "{busy} + {waiting} >= network_data[{row}].x {{\n                {lost}\n            }} else if "
            );
        }
        let _ = writeln!(text, "            if {open}{free} {{");
        if let Service::Shared { .. } = service {
            *text += "                var span = TIME_ZERO;\n";
            *text += &self.by_class("go_class", 16, |class| match &self.node.pairs[class as usize].service {
                Some(law) => format!("span = {};", self.span(law, class)),
                None => String::new(),
            });
        } else {
            *text += "                var time = NEVER;\n";
            *text += &self.serve("go_class", 16);
        }
        *text += &begins;
        self.joins(&lost, &free, text);
        self.report(true, text);
        if blocked.is_some() {
            let _ = writeln!(text, "            if enters {{ network_release({}u); }}", self.number);
            self.wakes(text);
        }
    }

    /// A customer that finds no server joins a line, or is lost.
    fn joins(&self, lost: &str, free: &str, text: &mut String) {
        let Kind::Station { service, lines, room, patience, wake, blocked, .. } = &self.node.kind else {
            return;
        };
        let ring = match lines {
            Lines::None => {
                if free != "true" {
                    let _ = writeln!(text, "            }} else {{\n                {lost}");
                }
                *text += "            }\n";
                return;
            }
            Lines::One { ring, .. } | Lines::Random { ring, .. } => format!("{ring}u"),
            Lines::ByClass { first, .. } => format!("{first}u + {}", self.class_of("go_class")),
        };
        let waiting = self.waiting(lines);
        let counted_before = blocked.is_some() || matches!(service, Service::Preemptive { .. });
        if let Some(row) = room.filter(|_| !counted_before) {
            // Where servers may be free, the room counts all customers.
            let counted = if wake.is_some() { format!("{} + {waiting}", self.busy()) } else { waiting };
            let _ = writeln!(
                text,
                "            }} else if {counted} >= network_data[{row}].x {{\n                {lost}"
            );
        }
        let _ = writeln!(text, "            }} else {{\n                let place = ring_join({ring});");
        if let Some([slot, heap]) = patience {
            *text +=
                &self.by_class("go_class", 16, |class| match &self.node.pairs[class as usize].patience {
                    Some(law) => format!(
                        "network[{slot}] = heap_push({heap}u, vec4<u32>({}, place, network_serial, {ring}));",
                        self.drawn(law, class, "DRAW_PATIENCE", "came")
                    ),
                    None => String::new(),
                });
            let _ = writeln!(text, "                network_began = vec2<u32>(network[{slot}], {slot}u);");
        }
        *text += "            }\n";
    }

    /// The function in which a customer comes in that was blocked.
    pub(super) fn enter(&self, text: &mut String) {
        if let Kind::Station { blocked: Some(_), .. } = self.node.kind {
            let _ = writeln!(text, "\nfn network_enter_{}() {{", self.number);
            self.arrival(&self.pair_of("go_class"), text);
            *text += "}\n";
        }
    }

    /// A customer arrives at a fork, or a task comes back.
    fn fork(&self, fork: u32, ring: u32, text: &mut String) {
        let pairs = self.pair(0);
        let _ = writeln!(
            text,
            "            if (go_class >> 2u) == {fork}u {{
                let who = fork_return({ring}u, {pairs});
                network_change({pairs} + PAIR_OUT, 1);
                if who.w == 0u {{
                    go_entered = who.x;"
        );
        *text += &self.by_class("who.z", 20, |class| {
            let tasks = self.node.pairs[class as usize].tasks.len();
            format!("network_change({pairs} + PAIR_OUT, -{tasks});")
        });
        *text += &self.departs("who.z", None, "", 20);
        *text += "                }\n            } else {\n";
        let _ = writeln!(text, "                let customer = fork_join({ring}u, {pairs});");
        *text += &self.by_class("go_class", 16, |class| self.tasks(fork, ring, class));
        *text += "                network_rounds = true;\n            }\n";
    }

    /// The tasks of a customer of a class leave its fork.
    fn tasks(&self, fork: u32, ring: u32, class: u32) -> String {
        let pair = &self.node.pairs[class as usize];
        let mut text = format!("fork_expects({ring}u, customer, {}u); ", pair.tasks.len());
        if pair.departs {
            text += &format!("let number = network_count({} + PAIR_DEPARTURES); ", self.pair(class));
        }
        let place = if self.ir.blocks { " go_place = 0u;" } else { "" };
        for (number, [node, word]) in pair.tasks.iter().enumerate() {
            let class_and_fork = word & 0xff | fork << 2;
            let travels = self.travels(class, &format!("{word}u"), "number", &format!(" | {}u", 8 * number));
            text += &format!(
                "{{ go_to = {node}u; go_class = {class_and_fork}u; go_from = 0u; go_entered = customer;{place}{travels} if go_to != NONE {{ network_send(1u - network_list); }} }} "
            );
        }
        text + &format!("network_steps += {}u;", pair.tasks.len())
    }

    /// A customer that kept a server here has left it.
    pub(super) fn freed(&self, text: &mut String) {
        if let Kind::Station { holds: true, .. } = self.node.kind {
            self.case(u32::try_from(self.number).expect("at most 2^15 nodes"), text);
            self.remember(text);
            let (pair, blocked) = (self.pair(0), self.word("BLOCKED"));
            let _ = writeln!(text, "            {blocked} -= 1u;");
            let _ = writeln!(text, "            network_change({pair} + PAIR_OUT, -1);");
            let _ = writeln!(
                text,
                "            network_leaves({}, network_at - go_came);",
                self.pair_of("go_class")
            );
            self.report(false, text);
            self.wakes(text);
            *text += "        }\n";
        }
    }
}
