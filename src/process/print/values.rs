//! Expressions, and what steps store.

use super::super::ir::{Binary, Kind};
use super::super::program::{Expr, Histogram, Node, Op, Slot, SumKind, Unary};
use super::{Text, param};

/// Words of a value.
pub(super) fn words_of(kind: Kind) -> u32 {
    match kind {
        Kind::Integer | Kind::Condition => 1,
        Kind::Time | Kind::Real => 2,
    }
}

/// A value of words as WGSL computes with it.
fn of_words(kind: Kind, words: &str) -> String {
    match kind {
        Kind::Integer => format!("bitcast<i32>({words})"),
        Kind::Condition => format!("({words} != 0u)"),
        Kind::Time | Kind::Real => words.to_owned(),
    }
}

/// A value as words.
fn to_words(kind: Kind, value: &str) -> String {
    match kind {
        Kind::Integer => format!("bitcast<u32>({value})"),
        Kind::Condition => format!("u32({value})"),
        Kind::Time | Kind::Real => value.to_owned(),
    }
}

pub(super) fn literal(kind: Kind, bits: i64) -> String {
    match kind {
        // The least integer is no literal of WGSL.
        Kind::Integer if bits == i64::from(i32::MIN) => "bitcast<i32>(0x80000000u)".to_owned(),
        Kind::Integer => format!("{bits}i"),
        Kind::Condition => format!("{}", bits != 0),
        Kind::Time | Kind::Real => {
            let bits = bits.cast_unsigned();
            format!("vec2<u32>({}u, {}u)", bits & 0xffff_ffff, bits >> 32)
        }
    }
}

/// Whether a value can be a fault.
fn can_fail(value: &Expr) -> bool {
    value.any(&mut |node| match node {
        Node::Unary(unary, _) => {
            !matches!(unary, Unary::Not | Unary::RealOfInteger | Unary::TimeOfInteger | Unary::TimeOfReal)
        }
        Node::Binary(binary, operands) => match binary {
            Binary::Plus | Binary::Minus | Binary::Times => operands[0].kind != Kind::Time,
            Binary::Over | Binary::Modulo => true,
            _ => false,
        },
        _ => false,
    })
}

impl Text<'_> {
    /// Computes a value, and ends the event if it is a fault. `at` is where the attributes begin.
    pub(super) fn value(&mut self, value: &Expr, at: &str) -> String {
        let found = self.expression(value, at);
        // What is stored later may be read here.
        let found = self.bind(&found);
        if can_fail(value) {
            self.check();
        }
        found
    }

    /// Computes a value as words.
    pub(super) fn words(&mut self, value: &Expr, at: &str) -> String {
        let found = self.value(value, at);
        to_words(value.kind, &found)
    }

    pub(super) fn expression(&mut self, value: &Expr, at: &str) -> String {
        let kind = value.kind;
        let words = words_of(kind);
        match &value.node {
            Node::Literal(bits) => literal(kind, *bits),
            Node::Param(word) => of_words(kind, &param(*word, words)),
            Node::Attribute(word) => of_words(kind, &Self::attribute(at, *word, words)),
            Node::Global(word) => of_words(kind, &self.global(*word, words)),
            Node::Now => "now()".to_owned(),
            Node::Waited => format!("time_since(now(), memory_get({at} - 1u).zw)"),
            Node::InUse(resource) => {
                let row = self.program.resources[*resource as usize].row;
                format!("bitcast<i32>({}.x)", self.row(row))
            }
            Node::Units(resource) => {
                let row = self.program.resources[*resource as usize].row;
                format!("bitcast<i32>({}.y)", self.row(row))
            }
            Node::Length(line) => {
                format!("bitcast<i32>({}.y)", self.row(self.program.lines[*line as usize].row))
            }
            Node::Content(container) => {
                let row = self.program.containers[*container as usize].row;
                format!("bitcast<i32>({}.x)", self.row(row))
            }
            Node::Unary(unary, operand) => {
                let a = self.expression(operand, at);
                let found = match (unary, kind) {
                    (Unary::Minus, Kind::Integer) => format!("integer_subtract(m, 0, {a})"),
                    (Unary::Minus, _) => format!("real_subtract(m, vec2<u32>(0u), {a})"),
                    (Unary::Not, _) => format!("(!{a})"),
                    (Unary::RealOfInteger, _) => format!("real_of_integer({a})"),
                    (Unary::IntegerOfReal, _) => format!("integer_of_real(m, {a})"),
                    (Unary::IntegerOfTime, _) => format!("integer_of_time(m, {a})"),
                    (Unary::RealOfTime, _) => format!("real_of_time(m, {a})"),
                    (Unary::TimeOfInteger, _) => format!("time_of_integer({a})"),
                    (Unary::TimeOfReal, _) => format!("time_of_real({a})"),
                };
                self.bind(&found)
            }
            Node::Binary(binary, operands) => {
                let [a, b] = &**operands;
                let kinds = (a.kind, b.kind);
                let (a, b) = (self.expression(a, at), self.expression(b, at));
                self.bind(&operation(*binary, kinds, &a, &b))
            }
            Node::Select(operands) => {
                let [condition, yes, no] = [0, 1, 2].map(|side| self.expression(&operands[side], at));
                self.bind(&format!("select({no}, {yes}, {condition})"))
            }
        }
    }

    /// Prints what a step does before its act.
    pub(super) fn op(&mut self, op: &Op, at: &str) {
        match op {
            Op::Set(slot, value) => {
                let words = self.words(value, at);
                self.store(*slot, value.kind, &words, at);
            }
            Op::Tally(sum, value) => {
                let found = self.value(value, at);
                let found =
                    if value.kind == Kind::Integer { format!("integer_wide({found})") } else { found };
                let row = self.program.sums[*sum as usize].row;
                self.line("if (*m).counts {");
                let sums = self.bind(&self.row(row));
                self.set_row(row, &format!("tally_sum({sums}, {found})"));
                let range = self.row(row + 1);
                self.set_row(row + 1, &format!("tally_range({range}, {sums}.w == 0u, {found})"));
                let squares = self.row(row + 2);
                self.set_row(row + 2, &format!("tally_squares({squares}, {found})"));
                if let Some(Histogram::Observations { row, shift }) =
                    self.program.sums[*sum as usize].histogram
                {
                    let row = row - self.program.size.state_rows();
                    self.line(format!("count_observation({row}u, {found}, {});", param(shift, 1)));
                }
                self.line("}");
            }
            Op::Note(note, value) => {
                let value = self.words(value, at);
                let number = Self::attribute(at, self.program.entity.who, 1);
                let (rows, state) = (&self.program.notes, self.program.size.state_rows());
                let (first, most) = (rows.start - state, rows.len() - 1);
                self.line(format!("take_note({first}u, {most}u, {note}u, {number}, {value});"));
            }
            Op::Count(sum, value) => {
                let found = self.value(value, at);
                self.fault_if(&format!("{found} < 0"), "FAULT_NEGATIVE", &format!("magnitude({found})"));
                let row = self.program.sums[*sum as usize].row;
                self.line("if (*m).counts {");
                let sums = self.bind(&self.row(row));
                self.set_row(
                    row,
                    &format!("vec4<u32>(wide_add({sums}.xy, integer_wide({found})), {sums}.zw)"),
                );
                self.line("}");
            }
        }
    }

    /// Stores words in an attribute or a variable.
    pub(super) fn store(&mut self, slot: Slot, kind: Kind, value: &str, at: &str) {
        let words = words_of(kind);
        let index = match slot {
            Slot::Attribute(word) => return self.set_attribute(at, word, words, value),
            Slot::Variable(index) => index,
        };
        let variable = &self.program.variables[index as usize];
        let (word, watch) = (variable.word, variable.watch);
        let level = variable.level.map(|sum| &self.program.sums[sum as usize]);
        if let Some(sum) = level {
            debug_assert!(matches!(sum.kind, SumKind::Level(_)), "a level has a sum of its kind");
            let row = sum.row;
            let old = self.bind(&format!("bitcast<i32>({})", self.global(word, 1)));
            let new = self.bind(&format!("bitcast<i32>({value})"));
            let less = self.bind(&format!("{new} < {old}"));
            // A difference of two integers fits a word without a sign.
            let size = format!("bitcast<u32>(select({new} - {old}, {old} - {new}, {less}))");
            let sums = self.row(row);
            self.set_row(row, &format!("level_128({sums}, {size}, {less}, (*m).age)"));
            if let Some(Histogram::Times { row }) = sum.histogram {
                let row = row - self.program.size.state_rows();
                self.line(format!("count_time({row}u, {old}, (*m).age);"));
            }
        }
        self.set_global(word, words, value);
        self.touch(watch);
    }

    /// A level changed that conditions read.
    pub(super) fn touch(&mut self, watch: u32) {
        if watch != 0 {
            self.line(format!("(*m).touched |= {watch:#x}u;"));
        }
    }
}

fn operation(binary: Binary, kinds: (Kind, Kind), a: &str, b: &str) -> String {
    use Kind::{Condition, Integer, Real, Time};
    let wide = matches!(kinds.0, Time | Real);
    let less = if kinds.0 == Real { "real_less" } else { "wide_less" };
    let prefix = match kinds.0 {
        Integer | Condition => "integer",
        Real => "real",
        Time => "time",
    };
    match binary {
        Binary::Plus if kinds.0 == Time => format!("time_add({a}, {b})"),
        Binary::Plus => format!("{prefix}_add(m, {a}, {b})"),
        Binary::Minus if kinds.0 == Time => format!("time_since({a}, {b})"),
        Binary::Minus => format!("{prefix}_subtract(m, {a}, {b})"),
        Binary::Times => match kinds {
            (Time, Integer) => format!("time_times_integer({a}, {b})"),
            (Time, _) => format!("time_times_real({a}, {b})"),
            _ => format!("{prefix}_times(m, {a}, {b})"),
        },
        Binary::Over => match kinds {
            (Time, Integer) => format!("time_over_integer(m, {a}, {b})"),
            (Time, Real) => format!("time_over_real(m, {a}, {b})"),
            (Time, _) => format!("time_over_time(m, {a}, {b})"),
            _ => format!("{prefix}_over(m, {a}, {b})"),
        },
        Binary::Modulo => format!("{prefix}_modulo(m, {a}, {b})"),
        Binary::Min if wide => format!("select({a}, {b}, {less}({b}, {a}))"),
        Binary::Max if wide => format!("select({a}, {b}, {less}({a}, {b}))"),
        Binary::Min => format!("min({a}, {b})"),
        Binary::Max => format!("max({a}, {b})"),
        Binary::Equal if wide => format!("all({a} == {b})"),
        Binary::Unequal if wide => format!("any({a} != {b})"),
        Binary::Less if wide => format!("{less}({a}, {b})"),
        Binary::LessOrEqual if wide => format!("(!{less}({b}, {a}))"),
        Binary::Greater if wide => format!("{less}({b}, {a})"),
        Binary::GreaterOrEqual if wide => format!("(!{less}({a}, {b}))"),
        Binary::Equal => format!("({a} == {b})"),
        Binary::Unequal => format!("({a} != {b})"),
        Binary::Less => format!("({a} < {b})"),
        Binary::LessOrEqual => format!("({a} <= {b})"),
        Binary::Greater => format!("({a} > {b})"),
        Binary::GreaterOrEqual => format!("({a} >= {b})"),
        Binary::And => format!("({a} & {b})"),
        Binary::Or => format!("({a} | {b})"),
    }
}
