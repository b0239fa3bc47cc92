//! Prints a network as WGSL that `shaders/facility/compiled/` runs: a case for each slot of next
//! times, and a case for each node that customers go to. Numbers are rows of data, except those of
//! nodes, slots, rings and classes.

mod arrival;
mod node;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ir::{Breakdown, Calendar, Ir, Kind, Law, Node, Service};
use crate::facility::distribution::KINDS;
use crate::gpu::Source;

use node::Printer;

/// The WGSL of a network.
pub(super) fn wgsl(ir: &Ir) -> Source {
    let mut text = String::new();
    let numbers = [
        ("CLASSES", ir.classes as usize),
        ("NODES", ir.nodes.len()),
        ("SLOTS", ir.slots.len()),
        ("RINGS", ir.rings.len()),
        ("HEAPS", ir.heaps as usize),
        ("RING_WORDS", ir.ring_words()),
        ("EXTRA", ir.extra as usize),
        ("KNOWN", ir.known as usize),
        ("SHIFT", ir.details.map_or(0, |details| details.row as usize)),
        ("LIMITS", ir.details.map_or(0, |details| details.limits as usize)),
        // Tasks have the number of their fork above the class.
        ("CLASS", if ir.forks > 0 { 3 } else { 0xff }),
    ];
    for (name, number) in numbers {
        let _ = writeln!(text, "const NETWORK_{name} = {number}u;");
    }
    let _ = writeln!(text, "const NETWORK_OPEN = {};", ir.is_open);
    let _ = writeln!(text, "const NETWORK_BLOCKS = {};", ir.blocks);
    let _ = writeln!(text, "const NETWORK_PATIENCE = {};", ir.is_impatient);
    // Only in the uniform form, all times are near.
    text += "const NETWORK_LONG = true;\n";
    let _ = writeln!(text, "const NETWORK_DETAILS = {};", ir.details.is_some());
    let _ = writeln!(text, "const NETWORK_PREEMPTS = {};", ir.preempts);
    let _ = writeln!(text, "const NETWORK_FORKS = {};", ir.forks > 0);
    laws(ir, &mut text);
    next(ir, &mut text);
    begin(ir, &mut text);
    text += "\nfn network_own(slot: u32) {\n    switch slot {\n";
    for (number, node) in ir.nodes.iter().enumerate() {
        Printer { ir, node, number }.own(&mut text);
    }
    if let Some([slot, heap]) = ir.travel {
        let _ = writeln!(text, "        case {slot}u: {{ network[{slot}] = network_trips_end({heap}u); }}");
    }
    text += "        default: {}\n    }\n}\n\nfn network_arrive() {\n    let to = go_to;\n    go_to = NONE;\n    switch to {\n";
    for (number, node) in ir.nodes.iter().enumerate() {
        Printer { ir, node, number }.arrive(&mut text);
    }
    text += "        default: {}\n    }\n}\n\nfn network_freed() {\n    switch go_to {\n";
    for (number, node) in ir.nodes.iter().enumerate() {
        Printer { ir, node, number }.freed(&mut text);
    }
    text += "        default: {}\n    }\n}\n";
    for (number, node) in ir.nodes.iter().enumerate() {
        Printer { ir, node, number }.enter(&mut text);
    }
    Source::new("compiled network", text)
}

/// Functions for each kind of distribution: one draws a time from now on, and one a length. Lengths
/// of services are drawn before they begin.
fn laws(ir: &Ir, text: &mut String) {
    let kinds: BTreeSet<usize> = ir.nodes.iter().flat_map(Node::laws).map(|law| law.kind).collect();
    for &kind in &kinds {
        law(kind, ["law", "u32", "network_when(", ")"], text);
        law(kind, ["span", "vec2<u32>", "", ""], text);
        if !draws(kind) {
            let _ = writeln!(
                text,
                "
fn network_draw_{kind}(pair: u32, law: u32, row: u32) {{}}

fn network_drawn_{kind}(pair: u32, law: u32, row: u32) -> vec2<u32> {{
    return network_span_{kind}(law, row, DRAW_SERVICE, 0u);
}}"
            );
            continue;
        }
        let _ = writeln!(
            text,
            "
fn network_draw_{kind}(pair: u32, law: u32, row: u32) {{
    let span = network_span_{kind}(law, row, DRAW_SERVICE, network_count(pair + PAIR_SERVICES));
    network[pair + PAIR_NEXT] = span.x;
    network[pair + PAIR_NEXT + 1u] = span.y;
}}

fn network_drawn_{kind}(pair: u32, law: u32, row: u32) -> vec2<u32> {{
    let span = vec2<u32>(network[pair + PAIR_NEXT], network[pair + PAIR_NEXT + 1u]);
    network_draw_{kind}(pair, law, row);
    return span;
}}"
        );
    }
}

/// Whether a distribution of a kind draws.
fn draws(kind: usize) -> bool {
    KINDS[kind].draws > 0 || KINDS[kind].wgsl.contains("draw_")
}

/// A function that draws a time of a kind: its name, its type, and what is around the time.
fn law(kind: usize, [name, of, before, after]: [&str; 4], text: &mut String) {
    let entry = &KINDS[kind];
    let _ =
        writeln!(text, "\nfn network_{name}_{kind}(law: u32, row: u32, what: u32, drawn: u32) -> {of} {{");
    *text += "    let first = network_data[law];\n    let second = network_data[law + 1u];\n";
    let _ = writeln!(text, "    let kind = {kind}u;");
    *text +=
        "    let number = first.y;\n    let a = first.zw;\n    let b = second.xy;\n    let c = second.zw;\n";
    // The last word first.
    let words = ["vec3<u32>(block.x, 0u, 0u)", "vec3<u32>(block.yx, 0u)", "block.zyx"];
    match (entry.draws as usize).checked_sub(1) {
        Some(more) => {
            *text += "    let block = network_block(row, what, drawn);\n";
            let _ = writeln!(text, "    let words = {};", words[more]);
        }
        // Its function draws from the stream, or nothing is drawn.
        None if entry.wgsl.contains("draw_") => *text += "    network_stream(row, what, drawn);\n",
        None => {}
    }
    let _ = writeln!(text, "    return {before}{}{after};\n}}", entry.wgsl);
}

/// The smallest next time and its slot: a tournament.
pub(super) fn next(ir: &Ir, text: &mut String) {
    *text += "\nfn network_next() -> vec2<u32> {\n";
    let mut round: Vec<_> = (0..ir.slots.len())
        .map(|slot| {
            let _ = writeln!(text, "    let t{slot} = network[{slot}];");
            (format!("t{slot}"), format!("{slot}u"))
        })
        .collect();
    let mut games = 0;
    while round.len() > 1 {
        round = round
            .chunks(2)
            .map(|game| {
                let [(a, i), (b, j)] = game else { return game[0].clone() };
                games += 1;
                let _ = writeln!(
                    text,
                    "    let w{games} = {b} < {a};\n    let m{games} = select({a}, {b}, w{games});\n    let s{games} = select({i}, {j}, w{games});"
                );
                (format!("m{games}"), format!("s{games}"))
            })
            .collect();
    }
    match round.first() {
        Some((time, slot)) => {
            let _ = writeln!(text, "    return vec2<u32>({time}, {slot});\n}}");
        }
        None => *text += "    return vec2<u32>(NEVER, NONE);\n}\n",
    }
}

/// First times of sources, and customers present at the start.
fn begin(ir: &Ir, text: &mut String) {
    *text += "\nfn network_begin() {\n";
    for (number, node) in ir.nodes.iter().enumerate() {
        let printer = Printer { ir, node, number };
        match &node.kind {
            Kind::Source { slot, class, arrivals, rates, .. } => {
                let _ = writeln!(text, "    {}", printer.prepare(arrivals, *class));
                let _ = writeln!(text, "    {}", printer.emits(*slot, arrivals, *class));
                if let Some(Calendar { slot, .. }) = rates {
                    let _ = writeln!(text, "    network[{slot}] = 0u;");
                }
            }
            Kind::Station { schedule, breakdown, service: Service::Heap { servers, .. }, .. } => {
                if let Some(row) = servers {
                    let _ = writeln!(text, "    {} = network_data[{row}].x;", printer.word("OPEN"));
                }
                if let Some(Calendar { slot, .. }) = schedule {
                    let _ = writeln!(text, "    network[{slot}] = 0u;");
                }
                if let Some(breakdown) = breakdown {
                    let _ = writeln!(text, "    {}", printer.breaks(breakdown));
                }
            }
            _ => {}
        }
        for (class, pair) in (0..).zip(&node.pairs).filter(|(_, pair)| pair.comes) {
            let service = pair.service.iter().map(|law| printer.prepare(law, class));
            let route = printer.chance(class).map(|chance| format!("network_choose({chance});"));
            service.chain(route).for_each(|line| *text += &format!("    {line}\n"));
        }
        for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.population > 0) {
            let _ = writeln!(
                text,
                "    for (var i = 0u; i < {}u; i += 1u) {{\n        go_to = {number}u;\n        go_class = {class}u;\n        go_from = 0u;\n        go_entered = 0u;\n        network_send(network_list);\n    }}",
                pair.population
            );
        }
    }
    *text += "}\n";
}

impl Node {
    /// The laws of times from now on.
    pub(super) fn laws(&self) -> impl Iterator<Item = &Law> {
        let own = match &self.kind {
            Kind::Source { arrivals, .. } => [Some(arrivals), None],
            Kind::Station { breakdown: Some(Breakdown { up, repair, .. }), .. } => [Some(up), Some(repair)],
            _ => [None; 2],
        };
        let pairs = self.pairs.iter();
        let of_pairs = pairs.flat_map(|pair| pair.service.iter().chain(&pair.patience).chain(&pair.travels));
        own.into_iter().flatten().chain(of_pairs)
    }
}
