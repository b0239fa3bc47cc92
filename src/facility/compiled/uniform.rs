//! The uniform form of a network, for GPUs: all nodes run the code of
//! `shaders/facility/compiled/uniform/`, which reads from rows of data what a node does. The text
//! has the constants of the structure, the laws, and the tournament of next times.

mod layout;
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::ir::Ir;
use super::print;
use crate::facility::distribution::KINDS;
use crate::gpu::Source;
use crate::shaders;

pub(super) use layout::Layout;

/// Slots of next times whose tournament is printed; of more, a loop finds the first.
const MOST_PRINTED: usize = 32;

/// The files whose text refers to the state.
const FILES: [&str; 11] = [
    "state.wgsl",
    "lines.wgsl",
    "heaps.wgsl",
    "visits.wgsl",
    "slices.wgsl",
    "rounds.wgsl",
    "uniform/tables.wgsl",
    "uniform/routes.wgsl",
    "uniform/arrivals.wgsl",
    "uniform/events.wgsl",
    "uniform/kernel.wgsl",
];

/// Where the state of a replication is during a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// In the memory of its workgroup, word by word between those of the others.
    Workgroup,
    /// In private variables, which drivers put into memory of the device.
    Private,
}

/// A network in the uniform form.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Uniform {
    pub(super) layout: Layout,
    /// Rows of data.
    pub(super) data: Vec<[u32; 4]>,
    constants: Vec<(String, String)>,
    text: String,
}

impl Uniform {
    /// The form of a network, or the feature that it lacks.
    pub(super) fn new(ir: &Ir) -> Result<Self, &'static str> {
        let lacks = [
            ("distributions of times and numbers", ir.details.is_some()),
            ("preemption", ir.preempts),
            ("forks", ir.forks > 0),
            ("shared servers", ir.shares()),
            ("routes to the shortest line", ir.known > 0),
        ];
        if let Some((feature, _)) = lacks.into_iter().find(|lack| lack.1) {
            return Err(feature);
        }
        debug_assert_eq!(ir.extra, 0, "further words belong to these features");
        let layout = Layout::new(ir);
        let (data, mut constants) = tables::tables(ir, &layout);
        constants.extend(layout.constants(ir));
        let mut text = String::new();
        laws(ir, &mut text);
        match ir.slots.len() {
            0..=MOST_PRINTED => print::next(ir, &mut text),
            slots => next(slots, &mut text),
        }
        Ok(Self { layout, data, constants, text })
    }

    /// The bytes of workgroup memory of a group of replications.
    pub(super) fn workgroup_bytes(&self, group_size: u32) -> u64 {
        4 * u64::from(group_size) * self.layout.words as u64
    }

    /// The network's text, and the library's files.
    pub(super) fn files(&self, memory: Memory, group_size: u32) -> Vec<Source> {
        let mut text = format!("const GROUP_SIZE = {group_size}u;\n");
        for (name, value) in &self.constants {
            let _ = writeln!(text, "const {name} = {value};");
        }
        text += &self.placed(&self.text, memory);
        let mut files = vec![Source::new("compiled network", text)];
        files.extend(FILES.map(|file| {
            let source = shaders::file(&format!("facility/compiled/{file}"));
            let text = self.placed(source.text(), memory);
            source.with_text(text)
        }));
        files
    }

    /// A text for this memory of the state, without imports of the folder and without constants
    /// that the network has. The number of lines stays.
    fn placed(&self, text: &str, memory: Memory) -> String {
        let printed = |line: &str| {
            let name =
                line.strip_prefix("const ").and_then(|rest| rest.split_once(" =")).map(|(name, _)| name);
            self.constants.iter().any(|(printed, _)| Some(printed.as_str()) == name)
        };
        let mut placed = String::with_capacity(text.len());
        for line in text.lines() {
            if line.starts_with("// import: facility/compiled/") || printed(line) {
                placed += "//";
            } else if memory == Memory::Workgroup && line.starts_with("var<private> network:") {
                placed += "var<workgroup> network: array<u32, NETWORK_WORDS * GROUP_SIZE>;";
            } else if memory == Memory::Workgroup && !line.trim_start().starts_with("//") {
                interleave(line, &mut placed);
            } else {
                placed += line;
            }
            placed.push('\n');
        }
        placed
    }
}

/// A line whose words of the state lie between those of the other replications of a workgroup.
fn interleave(line: &str, to: &mut String) {
    let mut open = Vec::new();
    for (at, character) in line.char_indices() {
        match character {
            '[' => {
                let name = line[..at].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
                let of_state = name == Some("network");
                open.push(of_state);
                *to += if of_state { "[(" } else { "[" };
            }
            ']' => *to += if open.pop() == Some(true) { ") * GROUP_SIZE + network_lane]" } else { "]" },
            _ => to.push(character),
        }
    }
}

/// One function for all laws of the network.
fn laws(ir: &Ir, text: &mut String) {
    *text += "\nfn network_law(first: vec4<u32>, second: vec4<u32>, block: vec4<u32>, row: u32, what: u32, drawn: u32) -> vec2<u32> {\n";
    *text += "    let kind = first.x;\n    let number = first.y;\n    let a = first.zw;\n    let b = second.xy;\n    let c = second.zw;\n";
    // Kinds with the same text share it.
    let mut cases = BTreeMap::<_, Vec<usize>>::new();
    for kind in ir.nodes.iter().flat_map(super::ir::Node::laws).map(|law| law.kind) {
        let kinds = cases.entry((KINDS[kind].wgsl, KINDS[kind].draws)).or_default();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let of = |draws: u32, wgsl: &str| match draws {
        // The last word first.
        1 => format!("let words = vec3<u32>(block.x, 0u, 0u); return {wgsl};"),
        2 => format!("let words = vec3<u32>(block.yx, 0u); return {wgsl};"),
        3 => format!("let words = block.zyx; return {wgsl};"),
        _ if wgsl.contains("draw_") => format!("network_stream(row, what, drawn); return {wgsl};"),
        _ => format!("return {wgsl};"),
    };
    if let [((wgsl, draws), _)] = &cases.iter().collect::<Vec<_>>()[..] {
        let _ = writeln!(text, "    {}\n}}", of(*draws, wgsl));
        return;
    }
    *text += "    switch kind {\n";
    for ((wgsl, draws), kinds) in cases {
        let kinds: Vec<_> = kinds.iter().map(|kind| format!("{kind}u")).collect();
        let _ = writeln!(text, "        case {}: {{ {} }}", kinds.join(", "), of(draws, wgsl));
    }
    *text += "        default: { return vec2<u32>(0u); }\n    }\n}\n";
}

/// The smallest of many next times and its slot, four in a step.
fn next(slots: usize, text: &mut String) {
    let last = slots - 1;
    let _ = writeln!(
        text,
        "
fn network_next() -> vec2<u32> {{
    var first = vec2<u32>(NEVER, 0u);
    for (var i = 0u; i < {slots}u; i += 4u) {{
        let j = min(i + 1u, {last}u);
        let k = min(i + 2u, {last}u);
        let l = min(i + 3u, {last}u);
        let a = network[i];
        let b = network[j];
        let c = network[k];
        let d = network[l];
        let ab = select(vec2<u32>(a, i), vec2<u32>(b, j), b < a);
        let cd = select(vec2<u32>(c, k), vec2<u32>(d, l), d < c);
        let best = select(ab, cd, cd.x < ab.x);
        first = select(first, best, best.x < first.x);
    }}
    network_steps += {}u;
    return first;
}}",
        slots / 4
    );
}
