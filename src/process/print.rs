//! Prints a program as WGSL: steps, sources and tables, which `shaders/process/` executes. The text
//! depends on the structure of a model alone; its constants are in `Params`. Models of `pdes` and
//! runs without it differ in the last part of the text.

mod data;
mod sources;
mod steps;
mod tables;
mod values;

use std::fmt::Write as _;

use crate::gpu::Source;

use super::program::{EntityWord, GlobalWord, ParamWord, Program};

/// The components of a row.
const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// The WGSL of a program as a model of `pdes`.
pub(super) fn wgsl(program: &Program) -> Source {
    printed(program, Text::output)
}

/// The WGSL of a program for `shaders/process/run/`.
pub(super) fn slices(program: &Program) -> Source {
    printed(program, Text::slices)
}

/// The rows of `data`: those of the program, and the tables of its text.
pub(super) fn data(program: &Program) -> Vec<u32> {
    let tables = data::Tables::of(program);
    program.data.iter().chain(tables.0.iter().flatten()).flatten().copied().collect()
}

fn printed<'p>(program: &'p Program, last: impl FnOnce(&mut Text<'p>)) -> Source {
    let mut text = Text { program, lines: String::new(), indent: 0, temporaries: 0 };
    text.head();
    text.tables();
    text.laws();
    text.steps();
    text.drawn();
    text.sources();
    text.set_words();
    text.conditions();
    text.begin();
    last(&mut text);
    let name: String = program.name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    Source::generated(format!("process/{name}.wgsl"), text.lines)
}

/// A text in the making.
struct Text<'p> {
    program: &'p Program,
    lines: String,
    indent: usize,
    temporaries: u32,
}

impl Text<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with('}') {
            self.indent -= 1;
        }
        let _ = writeln!(self.lines, "{:1$}{line}", "", 4 * self.indent);
        if line.ends_with('{') {
            self.indent += 1;
        }
    }

    /// A name that was not used before.
    fn fresh(&mut self) -> String {
        self.temporaries += 1;
        format!("v{}", self.temporaries)
    }

    /// A new name for a value.
    fn bind(&mut self, value: &str) -> String {
        let name = self.fresh();
        self.line(format!("let {name} = {value};"));
        name
    }

    /// Ends the event if a value before was a fault.
    fn check(&mut self) {
        self.line("if (*m).fault != 0u { return; }");
    }

    /// Ends the event with a fault if this holds.
    fn fault_if(&mut self, condition: &str, code: &str, detail: &str) {
        self.line(format!("if {condition} {{"));
        self.line(format!("failed(m, {code}, {detail});"));
        self.line("return;");
        self.line("}");
    }

    /// The value of a row that all entities share.
    fn row(&self, row: u32) -> String {
        match row.checked_sub(self.program.size.state_rows()) {
            None => format!("(*state).r{row}"),
            Some(place) => format!("memory_get({place}u)"),
        }
    }

    fn set_row(&mut self, row: u32, value: &str) {
        match row.checked_sub(self.program.size.state_rows()) {
            None => self.line(format!("(*state).r{row} = {value};")),
            Some(place) => self.line(format!("memory_set({place}u, {value});")),
        }
    }

    /// One word, or two, of rows that all entities share.
    fn global(&self, word: GlobalWord, words: u32) -> String {
        format!("{}.{}", self.row(word / 4), components(word, words))
    }

    fn set_global(&mut self, word: GlobalWord, words: u32, value: &str) {
        if word / 4 < self.program.size.state_rows() {
            return self.set_components(&self.row(word / 4), word, words, value);
        }
        let name = self.fresh();
        self.line(format!("var {name} = {};", self.row(word / 4)));
        self.set_components(&name, word, words, value);
        self.set_row(word / 4, &name);
    }

    /// One word, or two, of the attributes that begin at the row `at`.
    fn attribute(at: &str, word: EntityWord, words: u32) -> String {
        format!("memory_get({at} + {}u).{}", word / 4, components(word, words))
    }

    fn set_attribute(&mut self, at: &str, word: EntityWord, words: u32, value: &str) {
        let name = self.fresh();
        self.line(format!("var {name} = memory_get({at} + {}u);", word / 4));
        self.set_components(&name, word, words, value);
        self.line(format!("memory_set({at} + {}u, {name});", word / 4));
    }

    /// Sets components of a local row.
    fn set_components(&mut self, name: &str, word: u32, words: u32, value: &str) {
        if words == 1 {
            return self.line(format!("{name}.{} = {value};", components(word, 1)));
        }
        let value = self.bind(value);
        let row = match word % 4 {
            0 => format!("vec4<u32>({value}, {name}.zw)"),
            _ => format!("vec4<u32>({name}.xy, {value})"),
        };
        self.line(format!("{name} = {row};"));
    }
}

/// `x`, or `zw`.
fn components(word: u32, words: u32) -> String {
    (word % 4..word % 4 + words).map(|at| COMPONENTS[at as usize]).collect()
}

/// A constant.
fn param(word: ParamWord, words: u32) -> String {
    format!("params.words[{}].{}", word / 4, components(word, words))
}
