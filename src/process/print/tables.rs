//! What does not depend on steps: structs, constants, and tables. (Compilers copy an indexed
//! constant array to each use, so tables lie in `data`: `data.rs`.)

use std::fmt::Write as _;

use crate::facility::distribution::KINDS;
use crate::random::table_wgsl;

use super::super::program::{Act, Order};
use super::data::Tables;
use super::{Text, param};

/// Bits of the number of words that a distribution draws.
const DRAWS_BITS: u32 = 2;

impl Text<'_> {
    pub(super) fn head(&mut self) {
        let program = self.program;
        for file in ["process/events.wgsl", "process/numbers.wgsl", "process/sums.wgsl"] {
            self.line(format!("// import: {file}"));
        }
        if !program.histograms.is_empty() {
            self.line("// import: process/histograms.wgsl");
        }
        if !program.notes.is_empty() {
            self.line("// import: process/notes.wgsl");
        }
        self.line("//");
        self.line("// bounds: rows are numbers of the program, and those of the program's tables.");
        self.line("");
        self.line(format!("struct Params {{ words: array<vec4<u32>, {}> }}", program.param_rows));
        let rows = |count: u32| -> String {
            (0..count).map(|row| format!("r{row}: vec4<u32>")).collect::<Vec<_>>().join(", ")
        };
        self.line(format!("struct State {{ {} }}", rows(program.size.state_rows())));
        self.line("@group(1) @binding(0) var<uniform> params: Params;");
        self.line("@group(1) @binding(1) var<storage, read> data: array<vec4<u32>>;");
        let heaps = program.lines.iter().any(|line| line.order == Order::Priority);
        let joins = program.processes.iter().any(|process| process.children.is_some());
        self.line(format!("const TICKS_PER_UNIT = {}u;", program.resolution.ticks_per_unit()));
        self.line(format!("const ENTITIES = {}u;", program.entities()));
        self.line(format!("const STRIDE = {}u;", program.entity.stride));
        self.line(format!("const FAULT_ROW = {}u;", program.fault_row));
        self.line(format!("const SOURCES = {}u;", program.sources.len()));
        self.line(format!("const CONDITIONS = {}u;", program.conditions.len()));
        self.line(format!("const HEAPS = {heaps};"));
        self.line(format!("const JOINS = {joins};"));
        let interrupts = program.steps.iter().any(|step| matches!(step.act, Act::Interrupt { .. }));
        let batches = program.steps.iter().any(|step| matches!(step.act, Act::Batch { .. }));
        self.line(format!("const BATCHES = {batches};"));
        self.line(format!("const INTERRUPTS = {interrupts};"));
        let preempts = program.resources.iter().any(|of| of.holders.is_some());
        self.line(format!("const PREEMPTS = {preempts};"));
    }

    /// A function that reads a table: its first row in `data`.
    fn table(&mut self, name: &str, first: usize) {
        self.line(format!("fn {name}(index: u32) -> vec4<u32> {{ return data[{first}u + index]; }}"));
    }

    pub(super) fn tables(&mut self) {
        let tables = Tables::of(self.program);
        self.line("");
        let mut first = self.program.data.len();
        for (name, rows) in Tables::NAMES.into_iter().zip(&tables.0) {
            self.table(name, first);
            first += rows.len();
        }
        self.children_of();
        self.rows();
        self.copies();
        self.blank();
    }

    fn children_of(&mut self) {
        self.line("");
        self.line("fn children_of(process: u32) -> u32 {");
        self.line("switch process {");
        for (index, process) in self.program.processes.iter().enumerate() {
            if let Some(word) = process.children {
                self.line(format!("case {index}u: {{ return {word}u; }}"));
            }
        }
        self.line("default: { return 0u; }");
        self.line("}");
        self.line("}");
    }

    /// Rows by number. The state has no index, so that it stays in registers.
    fn rows(&mut self) {
        let program = self.program;
        let state = program.size.state_rows();
        let hot = 2..state.min(program.global_rows);
        self.line("");
        self.line("fn row_get(state: ptr<function, State>, index: u32) -> vec4<u32> {");
        self.line("switch index {");
        for row in hot.clone() {
            self.line(format!("case {row}u: {{ return (*state).r{row}; }}"));
        }
        self.line(format!("default: {{ return memory_get(index - {state}u); }}"));
        self.line("}");
        self.line("}");
        self.line("");
        self.line("fn row_set(state: ptr<function, State>, index: u32, row: vec4<u32>) {");
        self.line("switch index {");
        for row in hot {
            self.line(format!("case {row}u: {{ (*state).r{row} = row; }}"));
        }
        self.line(format!("default: {{ memory_set(index - {state}u, row); }}"));
        self.line("}");
        self.line("}");
    }

    /// Copies words of a taken entity.
    fn copies(&mut self) {
        self.line("");
        self.line("fn copy_words(step: u32, source: u32, to: u32) {");
        self.line("switch step {");
        for (index, step) in self.program.steps.iter().enumerate() {
            let Act::Take { copies, .. } = &step.act else { continue };
            if copies.is_empty() {
                continue;
            }
            self.line(format!("case {index}u: {{"));
            for [source, to] in copies {
                self.set_attribute("to", *to, 1, &Self::attribute("source", *source, 1));
            }
            self.line("}");
        }
        self.line("default: {}");
        self.line("}");
        self.line("}");
    }

    /// Attributes of a new entity.
    fn blank(&mut self) {
        let layout = &self.program.entity;
        self.line("");
        self.line("fn blank(at: u32, number: u32) {");
        for row in 0..layout.stride - 2 {
            let words: Vec<String> = (4 * row..4 * row + 4)
                .map(|word| match layout.created {
                    _ if word == layout.who => "number".to_owned(),
                    Some(created) if word == created => "now().x".to_owned(),
                    Some(created) if word == created + 1 => "now().y".to_owned(),
                    _ => "0u".to_owned(),
                })
                .collect();
            self.line(format!("memory_set(at + {row}u, vec4<u32>({}));", words.join(", ")));
        }
        self.line("}");
    }

    /// The distributions that the program uses, of the table of all.
    pub(super) fn laws(&mut self) {
        let used = |number: u32| self.program.laws.iter().any(|law| law.kind == number);
        let kinds: Vec<_> = KINDS.iter().filter(|kind| used(kind.number)).collect();
        let draws = kinds.iter().fold(0, |draws: u32, kind| draws | kind.draws << (DRAWS_BITS * kind.number));
        // One case for rows with the same text: compilers copy each function to each call.
        let mut cases: Vec<(&str, String)> = Vec::new();
        for kind in kinds {
            let label = format!("{}u", kind.number);
            match cases.iter_mut().find(|(text, _)| *text == kind.wgsl) {
                Some((_, labels)) => {
                    let _ = write!(labels, ", {label}");
                }
                None => cases.push((kind.wgsl, label)),
            }
        }
        self.line("");
        self.line("const SURE = 0xffffffffu;");
        self.line(format!(
            "fn law_draws(kind: u32) -> u32 {{ return ({draws:#x}u >> ({DRAWS_BITS}u * kind)) & 3u; }}"
        ));
        self.line("");
        self.line(
            "fn law_time(kind: u32, words: vec3<u32>, number: u32, a: vec2<u32>, b: vec2<u32>, c: vec2<u32>) -> vec2<u32> {",
        );
        self.line("switch kind {");
        for (call, labels) in cases {
            self.line(format!("case {labels}: {{ return {call}; }}"));
        }
        self.line("default: { return a; }");
        self.line("}");
        self.line("}");
        if self.program.laws.iter().any(|law| law.table.is_some()) {
            self.lines += "\n";
            self.lines += &table_wgsl();
        }
    }

    /// Prints what waiting entities wait for.
    pub(super) fn conditions(&mut self) {
        let program = self.program;
        self.line("");
        self.line(
            "fn holds(condition: u32, state: ptr<function, State>, m: ptr<function, Machine>) -> bool {",
        );
        self.line("let at = row_of((*m).slot) + 2u;");
        self.line("switch condition {");
        for (index, condition) in program.conditions.iter().enumerate() {
            self.line(format!("case {index}u: {{"));
            let holds = self.expression(&condition.holds, "at");
            self.line(format!("return {holds};"));
            self.line("}");
        }
        self.line("default: { return false; }");
        self.line("}");
        self.line("}");
    }

    /// Prints constants that go to their rows when a run begins.
    pub(super) fn begin(&mut self) {
        let program = self.program;
        self.line("");
        self.line("fn begin(state: ptr<function, State>) {");
        for of in &program.resources {
            let units = param(of.units, 1);
            self.set_row(of.row, &format!("vec4<u32>(0u, {units}, 0u, 0u)"));
        }
        for of in &program.containers {
            let [level, capacity] = [of.level, of.capacity].map(|word| param(word, 1));
            self.set_row(of.row, &format!("vec4<u32>({level}, {capacity}, 0u, 0u)"));
        }
        for of in &program.variables {
            let words = super::values::words_of(of.kind);
            self.set_global(of.word, words, &param(of.first, words));
        }
        self.line("}");
    }

    pub(super) fn output(&mut self) {
        let program = self.program;
        let output = program.size.output_rows();
        self.line("");
        self.line(format!("struct Output {{ rows: array<vec4<u32>, {output}> }}"));
        self.line("fn output(lp: u32, state: ptr<function, State>) -> Output {");
        self.line("var found = Output();");
        for (index, row) in program.output_rows.iter().enumerate() {
            let row = self.row(*row);
            self.line(format!("found.rows[{index}] = {row};"));
        }
        self.line("return found;");
        self.line("}");
    }

    /// Prints how a slice begins and ends, and which rows are results.
    pub(super) fn slices(&mut self) {
        let program = self.program;
        let rows = program.size.state_rows();
        self.line("");
        self.line(format!("const STATE_ROWS = {rows}u;"));
        self.line("fn loaded_state() -> State {");
        let loaded: Vec<_> = (0..rows).map(|row| format!("saved_get(SAVED_STATE + {row}u)")).collect();
        self.line(format!("return State({});", loaded.join(", ")));
        self.line("}");
        self.line("fn store_state(state: ptr<function, State>) {");
        for row in 0..rows {
            self.line(format!("saved_set(SAVED_STATE + {row}u, (*state).r{row});"));
        }
        self.line("}");
        self.line("fn store_results(state: ptr<function, State>) {");
        for (index, row) in program.output_rows.iter().enumerate() {
            let row = self.row(*row);
            self.line(format!("result_set({index}u, {row});"));
        }
        let histograms = &program.histograms;
        if !histograms.is_empty() {
            let (to, rows) = (program.output_rows.len(), histograms.len());
            let from = histograms.start - program.size.state_rows();
            self.line(format!("for (var i = 0u; i < {rows}u; i += 1u) {{"));
            self.line(format!("result_set({to}u + i, memory_get({from}u + i));"));
            self.line("}");
        }
        self.line("}");
    }
}
