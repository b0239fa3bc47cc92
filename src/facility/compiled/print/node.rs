//! The events of a node: completions, emissions, changes of servers.

use std::fmt::Write as _;
use std::ops::Range;

use crate::facility::compiled::ir::{Breakdown, Calendar, Ir, Kind, Law, Lines, Node, Routes, Service};
use crate::facility::compiled::rows::PAIR_WORDS;

pub(super) struct Printer<'i> {
    pub(super) ir: &'i Ir,
    pub(super) node: &'i Node,
    pub(super) number: usize,
}

impl Printer<'_> {
    /// The words of a class here.
    pub(super) fn pair(&self, class: u32) -> String {
        let pair = self.number * self.ir.classes as usize + class as usize;
        format!("(NETWORK_PAIRS + {}u)", pair * PAIR_WORDS)
    }

    /// The same for a class that is a value.
    pub(super) fn pair_of(&self, class: &str) -> String {
        match self.ir.classes {
            1 => self.pair(0),
            _ => format!("({} + PAIR_WORDS * {})", self.pair(0), self.class_of(class)),
        }
    }

    /// The class of a customer or a task.
    pub(super) fn class_of(&self, class: &str) -> String {
        if self.ir.forks > 0 { format!("({class} & NETWORK_CLASS)") } else { class.to_owned() }
    }

    /// A further word of the state.
    pub(super) fn extra(number: u32) -> String {
        format!("(NETWORK_MORE + {number}u)")
    }

    /// A word of the node.
    pub(super) fn word(&self, name: &str) -> String {
        format!("network[{} + PAIR_{name}]", self.pair(0))
    }

    /// The end of the next service of a class here, or of its next time between arrivals.
    pub(super) fn draw(&self, law: &Law, class: u32) -> String {
        format!("network_when({})", self.span(law, class))
    }

    /// The time of the next emission of a source.
    pub(super) fn emits(&self, slot: u32, law: &Law, class: u32) -> String {
        format!("network[{slot}] = network_later({slot}u, {});", self.span(law, class))
    }

    /// The length of the next service of a class.
    pub(super) fn span(&self, Law { kind, row }: &Law, class: u32) -> String {
        let stream = self.node.pairs[class as usize].stream;
        format!("network_drawn_{kind}({}, {row}u, {stream}u)", self.pair(class))
    }

    /// Draws the first service of a class.
    pub(super) fn prepare(&self, law: &Law, class: u32) -> String {
        self.span(law, class).replacen("network_drawn", "network_draw", 1) + ";"
    }

    /// The routes of a class at random of which the next one is drawn before it is taken: of those
    /// whose departures have no other draws.
    pub(super) fn chance(&self, class: u32) -> Option<String> {
        let pair = &self.node.pairs[class as usize];
        let counts = matches!(self.node.kind, Kind::Fork { .. } | Kind::Source { batch: Some(_), .. });
        match pair.routes {
            Routes::Chance { first, count } if pair.travels.is_empty() && !counts => {
                Some(format!("{}, {first}u, {count}u, {}u", self.pair(class), pair.stream))
            }
            _ => None,
        }
    }

    /// The end of a time drawn for a class: the draw's kind and number.
    pub(super) fn drawn(&self, law: &Law, class: u32, kind: &str, number: &str) -> String {
        let Law { kind: law, row } = law;
        let stream = self.node.pairs[class as usize].stream;
        format!("network_law_{law}({row}u, {stream}u, {kind}, {number})")
    }

    /// Statements for a class that is a value: one for each class that comes here.
    pub(super) fn by_class(&self, class: &str, indent: usize, of: impl Fn(u32) -> String) -> String {
        let comes: Vec<u32> =
            (0..).zip(&self.node.pairs).filter(|(_, pair)| pair.comes).map(|(class, _)| class).collect();
        let space = " ".repeat(indent);
        match comes[..] {
            [] => String::new(),
            [one] => format!("{space}{}\n", of(one)),
            _ => {
                let cases =
                    comes.iter().map(|&class| format!("{space}    case {class}u: {{ {} }}\n", of(class)));
                let cases: String = cases.collect();
                let class = self.class_of(class);
                format!("{space}switch {class} {{\n{cases}{space}    default: {{}}\n{space}}}\n")
            }
        }
    }

    /// The service of a customer of a class begins: sets the variable `time`.
    pub(super) fn serve(&self, class: &str, indent: usize) -> String {
        let space = " ".repeat(indent);
        let draws = self.by_class(class, indent, |class| match &self.node.pairs[class as usize].service {
            Some(law) => format!("time = {};", self.draw(law, class)),
            None => String::new(),
        });
        let polled = match self.node.kind {
            Kind::Station { lines: Lines::ByClass { polled: true, .. }, .. } => {
                format!("{space}{} = {};\n", self.word("POLLED"), self.class_of(class))
            }
            _ => String::new(),
        };
        format!("{draws}{polled}")
    }

    /// A customer of a class, a value, leaves for another node. `counted` is the number of the
    /// departure, if it is known, and `nth` the customer's number in it.
    pub(super) fn departs(&self, class: &str, counted: Option<&str>, nth: &str, indent: usize) -> String {
        let from = self.number + 1;
        let goes = self.by_class(class, indent, |number| self.route(number, class, counted, nth));
        let place = if self.ir.blocks { " go_place = 0u;" } else { "" };
        format!("{}go_from = {from}u;{place}\n{goes}", " ".repeat(indent))
    }

    /// A customer of a class takes a route. `value` has its class, and its fork.
    pub(super) fn route(&self, class: u32, value: &str, counted: Option<&str>, nth: &str) -> String {
        let pair = &self.node.pairs[class as usize];
        // A task stays one.
        let task = if self.ir.forks > 0 { format!(" | ({value} & 0xfcu)") } else { String::new() };
        let chance = self.chance(class);
        let mut text = match counted {
            None if pair.departs && chance.is_none() => {
                format!("let number = network_count({} + PAIR_DEPARTURES); ", self.pair(class))
            }
            _ => String::new(),
        };
        let number = counted.unwrap_or("number");
        let last = match pair.routes {
            Routes::None => return String::new(),
            Routes::One { node, word } => {
                text += &format!("go_to = {node}u; go_class = {}u{task}; ", word & 0xff);
                format!("{word}u")
            }
            Routes::Chance { first, count } => {
                let stream = pair.stream;
                let route = match chance {
                    Some(chance) => format!("network_chosen({chance})"),
                    None => format!("network_route({first}u, {count}u, {stream}u, DRAW_WAY{nth}, {number})"),
                };
                text += &format!("let route = network_data[{route}]; ");
                "route.w".to_owned()
            }
            Routes::InTurn { first, count } => {
                let turn = self.word("TURN");
                text += &format!(
                    "let turn = {turn} % {count}u; {turn} = (turn + 1u) % {count}u; let route = network_data[{first}u + turn]; "
                );
                "route.w".to_owned()
            }
            Routes::Shortest { first, count, known } => {
                text += &format!(
                    "let route = network_data[{first}u + network_shortest({}, {count}u)]; ",
                    Self::extra(known)
                );
                "route.w".to_owned()
            }
        };
        if !matches!(pair.routes, Routes::One { .. }) {
            text += &format!("go_to = route.z; go_class = (route.w & 0xffu){task};");
        }
        if let Kind::Station { holds: true, .. } = self.node.kind {
            // It keeps its server until the next node lets it in.
            let (pair, blocked) = (self.pair(0), self.word("BLOCKED"));
            text += &format!(
                " if ({last} >> 31u) != 0u {{ go_place = {}u; go_came = who.y; {blocked} += 1u; network_change({pair} + PAIR_OUT, 1); }}",
                class + 1
            );
        }
        text += &self.travels(class, &last, number, nth);
        text
    }

    /// If the route of a customer of a class takes time, its trip begins. `last` is the word of the
    /// route.
    pub(super) fn travels(&self, class: u32, last: &str, number: &str, nth: &str) -> String {
        let pair = &self.node.pairs[class as usize];
        let Some([slot, heap]) = self.ir.travel.filter(|_| !pair.travels.is_empty()) else {
            return String::new();
        };
        let own = self.pair(class);
        let cases = pair.travels.iter().zip(1..).map(|(law, travel)| {
            let time = self.drawn(law, class, &format!("DRAW_TRAVEL{nth}"), number);
            format!("case {travel}u: {{ time = {time}; }} ")
        });
        format!(
            " var time = NEVER; let travel = ({last} >> 8u) & 0xffu; switch travel {{ {}default: {{}} }} if travel > 0u {{ network[{own} + PAIR_BEGUN] += 1u; network_change({} + PAIR_TRIPS, 1); network[{slot}] = network_travel({heap}u, time); network_began = vec2<u32>(network[{slot}], {slot}u); }}",
            cases.collect::<String>(),
            self.pair(0)
        )
    }

    /// Text that remembers how many customers are here, if other nodes need to know.
    pub(super) fn remember(&self, text: &mut String) {
        if let Kind::Station { lines, .. } = &self.node.kind
            && !self.node.listeners.is_empty()
        {
            let _ = writeln!(text, "            let customers = {} + {};", self.busy(), self.waiting(lines));
        }
    }

    /// Text that reports the change since then, and the number if distributions are recorded. The
    /// sender of an arriving customer knows of it.
    pub(super) fn report(&self, arrives: bool, text: &mut String) {
        let Kind::Station { lines, .. } = &self.node.kind else { return };
        let now = format!("{} + {}", self.busy(), self.waiting(lines));
        if self.ir.details.is_some() {
            let _ = writeln!(text, "            network_number({}u, {now});", self.number);
        }
        for [chooser, known] in &self.node.listeners {
            let own = match arrives {
                true => format!(" - u32((go_from & ~TRIP) == {}u)", chooser + 1),
                false => String::new(),
            };
            let _ = writeln!(text, "            network_report({known}u, {now} - customers{own});");
        }
    }

    /// The head of a case.
    pub(super) fn case(&self, number: u32, text: &mut String) {
        let _ = writeln!(text, "        // node {}\n        case {number}u: {{", self.number);
    }

    pub(super) fn own(&self, text: &mut String) {
        match &self.node.kind {
            Kind::Source { slot, class, arrivals, batch, rates } => {
                if let Some(calendar) = rates {
                    self.change(calendar, text);
                    let _ = writeln!(text, "            {} = piece.z;\n        }}", self.word("OPEN"));
                }
                self.emission(*slot, *class, arrivals, *batch, rates.is_some(), text);
            }
            Kind::Station {
                service: Service::Slots { first, count } | Service::Preemptive { first, count, .. },
                ..
            } => {
                for slot in *first..first + count {
                    self.slot_completion(slot, *first..first + count, text);
                }
            }
            Kind::Station { service: Service::Shared { slot, heap, servers, clock }, .. } => {
                self.shared_completion(*slot, *heap, *servers, *clock, text);
            }
            Kind::Station { service: Service::Heap { slot, heap, .. }, .. } => {
                self.heap_completion(*slot, *heap, text);
            }
            Kind::Router | Kind::Fork { .. } | Kind::Sink => {}
        }
        if let Kind::Station { patience: Some([slot, heap]), .. } = self.node.kind {
            self.case(slot, text);
            self.remember(text);
            let _ = writeln!(text, "            ring_renege({heap}u, {});", self.pair(0));
            let _ = writeln!(text, "            network[{slot}] = heap_pop({heap}u);");
            self.report(false, text);
            *text += "        }\n";
        }
    }

    /// A service in a slot ends.
    fn slot_completion(&self, slot: u32, all: Range<u32>, text: &mut String) {
        let Kind::Station { service, lines, .. } = &self.node.kind else { return };
        self.case(slot, text);
        self.remember(text);
        let mut began = String::new();
        match service {
            // Services that end at one time do so by the number of their servers.
            Service::Preemptive { first, began: words, .. } => {
                let word = Self::extra(words + slot - first);
                began = format!(
                    "                network_serial += 1u;\n                network[{word}] = network_serial;\n"
                );
            }
            _ => {
                for other in all.filter(|&other| other != slot) {
                    let _ = writeln!(text, "            network_earliest({slot}u, {other}u);");
                }
            }
        }
        let place = format!("NETWORK_SERVED + {}u", 3 * slot);
        let _ = writeln!(
            text,
            "            let who = vec3<u32>(network[{place}], network[{place} + 1u], network[{place} + 2u]);"
        );
        let _ = writeln!(text, "            network[{slot}] = NEVER;");
        let _ = writeln!(text, "            network_leaves({}, network_at - who.y);", self.pair_of("who.z"));
        let begins = format!(
            "network_serves({slot}u, next.x, next.y, next.z);\n                network[{slot}] = time;\n{began}"
        );
        self.take(lines, None, &begins, text);
        self.report(false, text);
        self.leaves(text);
    }

    /// Shared servers complete a service, or others delayed it.
    fn shared_completion(&self, slot: u32, heap: u32, servers: u32, clock: u32, text: &mut String) {
        self.case(slot, text);
        self.remember(text);
        let (clock, held) = (Self::extra(clock), self.busy());
        let _ = writeln!(
            text,
            "            let servers = network_data[{servers}].x;
            shared_advance({clock}, {held}, servers);
            let ends = shared_ends({heap}u, {clock});
            var who = vec3<u32>(0u);
            if ends {{
                who = shared_leave({heap}u);
                if {held} < servers {{ network_change({} + PAIR_OUT, -1); }}
            }}
            network[{slot}] = NEVER;
            if {held} > 0u {{ network[{slot}] = network_when(shared_next({heap}u, {clock}, servers)); }}",
            self.pair(0)
        );
        self.report(false, text);
        *text += "            if ends {\n";
        let _ = writeln!(text, "            network_leaves({}, network_at - who.y);", self.pair_of("who.z"));
        self.leaves(text);
        *text += "        }\n";
    }

    /// Events of a station whose services are in a heap.
    pub(super) fn heap_completion(&self, slot: u32, heap: u32, text: &mut String) {
        let Kind::Station { lines, breakdown, wake, blocked, holds, .. } = &self.node.kind else { return };
        self.case(slot, text);
        self.remember(text);
        let _ = writeln!(text, "            var who = heap_get({heap}u, 0u).yzw;");
        if breakdown.is_some() {
            let servers = self.word("SERVERS");
            let _ = writeln!(text, "            {servers} &= ~(1u << (who.z >> 8u));");
            *text += "            who.z &= 0xffu;\n";
        }
        let _ = writeln!(text, "            network[{slot}] = heap_pop({heap}u);");
        let leaves = format!("network_leaves({}, network_at - who.y);", self.pair_of("who.z"));
        if !holds {
            let _ = writeln!(text, "            {leaves}");
        }
        let begins = format!(
            "network[{slot}] = heap_push({heap}u, vec4<u32>(time, next.xy, {}));\n",
            self.served("next.z")
        );
        if wake.is_none() {
            self.take(lines, None, &begins, text);
        }
        if !holds {
            self.report(false, text);
        }
        *text += "            go_entered = who.x;\n";
        *text += &self.departs("who.z", None, "", 12);
        if *holds {
            let _ = writeln!(text, "            if go_place == 0u {{ {leaves} }}");
            self.report(false, text);
        }
        self.wakes(text);
        *text += "        }\n";
        self.shifts(slot, heap, text);
        if let Some(wake) = wake {
            self.case(*wake, text);
            let _ = writeln!(text, "            network[{wake}] = NEVER;");
            self.take(lines, Some(&self.free()), &begins, text);
            self.wakes(text);
            *text += "        }\n";
        }
        if let Some([ring, admit]) = blocked {
            self.case(*admit, text);
            let _ = writeln!(text, "            ring_admit({ring}u);");
            let _ = writeln!(text, "            network_enter_{}();", self.number);
            *text += "            go_admitted = false;\n            go_to = NONE;\n        }\n";
        }
    }

    /// The next piece of a calendar begins; the case stays open.
    pub(super) fn change(&self, Calendar { slot, first, count }: &Calendar, text: &mut String) {
        self.case(*slot, text);
        let piece = self.word("PIECE");
        let _ = writeln!(text, "            let piece = network_data[{first}u + {piece}];");
        let _ = writeln!(text, "            {piece} = ({piece} + 1u) % {count}u;");
        let _ = writeln!(text, "            network[{slot}] = network_later({slot}u, piece.xy);");
    }

    /// Changes of the servers of a station whose services are in a heap.
    pub(super) fn shifts(&self, slot: u32, heap: u32, text: &mut String) {
        let Kind::Station { schedule, breakdown, .. } = &self.node.kind else { return };
        let (pair, held) = (self.pair(0), self.busy());
        if let Some(breakdown) = breakdown {
            let Breakdown { slot: shift, repair, .. } = breakdown;
            self.case(*shift, text);
            let (down, open) = (self.word("DOWN"), self.word("OPEN"));
            let (breaks, repair) = (self.breaks(breakdown), self.shift(breakdown, repair, "DRAW_REPAIR"));
            let _ = writeln!(
                text,
                "            if {down} == 0u {{
                network_down({pair}, {held}, 1u, {open});
                let repaired = {repair};
                network[{shift}] = repaired;
                network[{slot}] = heap_delay({heap}u, repaired);
            }} else {{
                network_down({pair}, {held}, 0u, {open});
                {breaks}
            }}"
            );
            self.wakes(text);
            *text += "        }\n";
        }
        if let Some(calendar) = schedule {
            self.change(calendar, text);
            let _ =
                writeln!(text, "            network_down({pair}, {held}, {}, piece.z);", self.word("DOWN"));
            self.wakes(text);
            *text += "        }\n";
        }
    }

    /// The time of the next breakdown.
    pub(super) fn breaks(&self, breakdown: &Breakdown) -> String {
        let slot = breakdown.slot;
        let span = self.shift(breakdown, &breakdown.up, "DRAW_UP");
        let span = span.replacen("network_law", "network_span", 1);
        format!("network[{slot}] = network_later({slot}u, {span});")
    }

    /// The time of the next repair.
    pub(super) fn shift(&self, breakdown: &Breakdown, law: &Law, kind: &str) -> String {
        let (Law { kind: law, row }, stream) = (law, breakdown.stream);
        format!("network_law_{law}({row}u, {stream}u, {kind}, network_count({} + PAIR_SHIFTS))", self.pair(0))
    }

    /// The number of busy servers.
    pub(super) fn busy(&self) -> String {
        let Kind::Station { service, holds, .. } = &self.node.kind else { return "0u".to_owned() };
        match service {
            Service::Slots { first, count } | Service::Preemptive { first, count, .. } => {
                let busy = (*first..first + count).map(|slot| format!("u32(network[{slot}] != NEVER)"));
                format!("({})", busy.collect::<Vec<_>>().join(" + "))
            }
            Service::Heap { heap, .. } if *holds => {
                format!("(network[NETWORK_HELD + {heap}u] + {})", self.word("BLOCKED"))
            }
            Service::Heap { heap, .. } | Service::Shared { heap, .. } => {
                format!("network[NETWORK_HELD + {heap}u]")
            }
        }
    }

    /// Whether a server of a station is free that may be free while customers wait.
    pub(super) fn free(&self) -> String {
        format!("({} == 0u) & ({} < {})", self.word("DOWN"), self.busy(), self.word("OPEN"))
    }

    /// The last word of an entry of the heap of services: the class, and the server if it has rows.
    pub(super) fn served(&self, class: &str) -> String {
        match self.node.kind {
            Kind::Station { breakdown: Some(_), .. } => {
                format!("{class} | (network_server({}) << 8u)", self.pair(0))
            }
            _ => class.to_owned(),
        }
    }

    /// If servers are free while customers wait, one wakes now. If the node has room for a blocked
    /// customer, that comes in now.
    pub(super) fn wakes(&self, text: &mut String) {
        let Kind::Station { lines, wake, blocked, room, .. } = &self.node.kind else { return };
        let waiting = self.waiting(lines);
        if let Some(wake) = wake {
            let free = self.free();
            let _ = writeln!(
                text,
                "            network[{wake}] = select(NEVER, network_now, ({waiting} > 0u) & {free});"
            );
        }
        if let (Some([ring, admit]), Some(room)) = (blocked, room) {
            let busy = self.busy();
            let _ = writeln!(
                text,
                "            network[{admit}] = select(NEVER, network_now, (network[NETWORK_LINE + {ring}u] > 0u) & ({busy} + {waiting} < network_data[{room}].x));"
            );
        }
    }

    /// The number of customers that wait.
    pub(super) fn waiting(&self, lines: &Lines) -> String {
        let of = |ring: u32| format!("network[NETWORK_LINE + {ring}u]");
        match lines {
            Lines::None => "0u".to_owned(),
            Lines::One { ring, .. } | Lines::Random { ring, .. } => of(*ring),
            Lines::ByClass { first, .. } => {
                let rings: Vec<_> = (0..self.ir.classes).map(|class| of(first + class)).collect();
                format!("({})", rings.join(" + "))
            }
        }
    }

    pub(super) fn emission(
        &self,
        slot: u32,
        class: u32,
        arrivals: &Law,
        batch: Option<u32>,
        thins: bool,
        text: &mut String,
    ) {
        let pair = self.pair(class);
        self.case(slot, text);
        let _ = writeln!(text, "            {}", self.emits(slot, arrivals, class));
        if thins {
            // Of the highest rate, a share.
            let stream = self.node.pairs[class as usize].stream;
            let open = self.word("OPEN");
            let _ = writeln!(
                text,
                "            if {open} != SURE {{
                // The number of the time taken now: one more is drawn.
                let drawn = network[{pair} + PAIR_SERVICES] - 2u;
                if network_block({stream}u, DRAW_STAYS, drawn).x >= {open} {{ return; }}
            }}"
            );
        }
        *text += "            go_entered = network_at;\n";
        let value = format!("{class}u");
        match batch {
            None => {
                let _ = writeln!(text, "            network[{pair}] += 1u;");
                *text += &self.departs(&value, None, "", 12);
            }
            Some(row) => {
                let _ = writeln!(text, "            let batch = network_data[{row}].x;");
                let _ = writeln!(text, "            network[{pair}] += batch;");
                let _ = writeln!(text, "            let number = network_count({pair} + PAIR_DEPARTURES);");
                *text += "            for (var i = 0u; i < batch; i += 1u) {\n";
                *text += &self.departs(&value, Some("number"), " | (8u * i)", 16);
                *text +=
                    "                if go_to != NONE { network_send(1u - network_list); }\n            }\n";
                *text += "            network_steps += batch;\n            network_rounds = true;\n";
            }
        }
        *text += "        }\n";
    }

    /// The customer `who` leaves; the case ends.
    pub(super) fn leaves(&self, text: &mut String) {
        *text += "            go_entered = who.x;\n";
        *text += &self.departs("who.z", None, "", 12);
        *text += "        }\n";
    }

    /// If a customer waits (and `and` holds), it is `next`, and `begins` serves it until `time`.
    pub(super) fn take(&self, lines: &Lines, and: Option<&str>, begins: &str, text: &mut String) {
        let next = match lines {
            Lines::None => return,
            Lines::One { ring, last } => format!("ring_take({ring}u, {last})"),
            Lines::Random { ring, stream } => format!("ring_pick({ring}u, {stream}u, {})", self.pair(0)),
            Lines::ByClass { first, polled } => {
                let from = if *polled { self.word("POLLED") } else { "0u".to_owned() };
                format!("ring_take(ring_next({first}u, {from}), false)")
            }
        };
        let also = and.map_or_else(String::new, |and| format!(" && {and}"));
        let _ = writeln!(text, "            if {} > 0u{also} {{", self.waiting(lines));
        let _ = writeln!(text, "                let next = {next};");
        let pair = self.pair_of("next.z");
        let waited = format!("                network_waited({pair}, network_at - next.y);\n");
        let serves = self.serve("next.z", 16);
        *text += "                var time = NEVER;\n";
        if let Kind::Station { service: Service::Preemptive { .. }, .. } = self.node.kind {
            let _ = writeln!(
                text,
                "                if network_left == NEVER {{\n{waited}{serves}                }} else {{ time = network_resume({pair}); }}"
            );
        } else {
            *text += &waited;
            *text += &serves;
        }
        let _ = writeln!(text, "                {begins}            }}");
    }
}
