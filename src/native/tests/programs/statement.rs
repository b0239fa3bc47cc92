//! Statements of programs.

use super::expression::CALL_COST;
use super::types::{Scalar, Type};
use super::{Generator, Space, Variable};

/// The deepest nesting of statements.
const DEPTH: u32 = 4;
/// How often a statement may run in a call.
const WEIGHT: u32 = 100;

impl Generator<'_> {
    pub(super) fn statement(&mut self, depth: u32) {
        self.callable = self.callable.saturating_add(self.weight);
        let compound = depth < DEPTH;
        match self.pick(if compound { 22 } else { 13 }) {
            0..=2 => self.assignment(),
            3 | 4 => self.declaration(),
            5 => self.value(),
            6 => self.pointer(),
            7 => self.compound_assignment(),
            8 => self.atomic(),
            9 => self.leave(),
            10 => {
                if let Some(call) = self.call(None, 2) {
                    self.line(&format!("{call};"));
                }
            }
            11 => self.prepared_call(),
            12 => {
                let value = self.expression(&Type::Vector(2, Scalar::U32), 2).text;
                self.line(&format!("_ = {value};"));
            }
            13..=15 => self.branch(depth),
            16 | 17 => self.switch(depth),
            18 => self.counted(depth),
            19 => self.conditional(depth),
            20 => self.endless(depth),
            _ => {
                self.line("{");
                self.block(depth, false);
                self.line("}");
            }
        }
    }

    fn declare(&mut self, name: &str, ty: Type, space: Space) {
        self.scope.push(Variable {
            path: name.to_owned(),
            ty,
            space,
            writable: space == Space::Function,
            whole: space == Space::Function,
        });
    }

    /// Statements in braces, whose variables end with them.
    fn block(&mut self, depth: u32, may_be_empty: bool) {
        let outer = self.scope.len();
        self.indent += 1;
        for _ in 0..u32::from(!may_be_empty) + self.pick(4) {
            self.statement(depth + 1);
        }
        self.indent -= 1;
        self.scope.truncate(outer);
    }

    fn assignment(&mut self) {
        let Some((place, ty, _)) = self.place(2) else { return };
        let value = self.expression(&ty, 4).text;
        self.line(&format!("{place} = {value};"));
    }

    fn compound_assignment(&mut self) {
        let Some((place, ty, _)) = self.place(2) else { return };
        match ty {
            Type::Scalar(Scalar::U32 | Scalar::I32) if self.chance(3) => {
                let op = ["++", "--"][self.pick(2) as usize];
                self.line(&format!("{place}{op};"));
            }
            Type::Scalar(Scalar::U32 | Scalar::I32) | Type::Vector(_, Scalar::U32 | Scalar::I32) => {
                let op = ["+", "-", "*", "&", "|", "^"][self.pick(6) as usize];
                let value = self.expression(&ty, 3).text;
                self.line(&format!("{place} {op}= {value};"));
            }
            _ => {
                let value = self.expression(&ty, 2).text;
                self.line(&format!("{place} = {value};"));
            }
        }
    }

    fn declaration(&mut self) {
        let (name, ty) = (self.name("v"), self.any_type(2));
        let value = match self.pick(3) {
            0 => String::new(),
            _ => format!(" = {}", self.expression(&ty, 3).text),
        };
        self.line(&format!("var {name}: {}{value};", ty.name()));
        self.declare(&name, ty, Space::Function);
    }

    fn value(&mut self) {
        let (name, ty) = (self.name("l"), self.any_type(1));
        let value = self.runtime(&ty, 4);
        self.line(&format!("let {name}: {} = {value};", ty.name()));
        self.declare(&name, ty, Space::Value);
    }

    fn pointer(&mut self) {
        let Some((place, ty, space)) = self.place(2) else { return };
        // Pointers to components of vectors do not exist.
        if matches!(ty, Type::Scalar(_)) {
            return;
        }
        let name = self.name("r");
        self.line(&format!("let {name} = &{place};"));
        let path = format!("(*{name})");
        self.scope.push(Variable { path, ty, space, writable: true, whole: false });
    }

    fn atomic(&mut self) {
        let (place, value) = (format!("&tally[{}]", self.pick(4)), self.runtime(&Type::U32, 2));
        let functions = ["Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Exchange"];
        let name = self.name("l");
        match self.pick(10) {
            8 => self.line(&format!("let {name} = atomicLoad({place});")),
            9 => return self.line(&format!("atomicStore({place}, {value});")),
            i => self.line(&format!("let {name} = atomic{}({place}, {value});", functions[i as usize])),
        }
        self.declare(&name, Type::U32, Space::Value);
    }

    /// Leaves a loop or the function, on a condition.
    fn leave(&mut self) {
        // What returns at once tests little.
        if self.indent == 1 && !self.chance(4) {
            return;
        }
        let condition = self.condition(2);
        let way = match (self.pick(3), self.loops.last().copied()) {
            (0, Some(_)) => "break;".to_owned(),
            (1, Some(true)) => "continue;".to_owned(),
            _ => match self.returns.clone() {
                Some(ty) => format!("return {};", self.expression(&ty, 2).text),
                None => "return;".to_owned(),
            },
        };
        self.line(&format!("if {condition} {{ {way} }}"));
    }

    /// Declares what a function wants pointers to, and calls it.
    fn prepared_call(&mut self) {
        let most = CALL_COST / self.weight;
        let known: Vec<_> = self.functions.iter().filter(|f| f.cost <= most).cloned().collect();
        if known.is_empty() {
            return;
        }
        let function = known[self.pick(known.len() as u32) as usize].clone();
        for parameter in function.parameters.iter().filter(|parameter| parameter.pointer.is_some()) {
            let name = self.name("v");
            let value = self.expression(&parameter.ty, 2).text;
            self.line(&format!("var {name}: {} = {value};", parameter.ty.name()));
            self.declare(&name, parameter.ty.clone(), Space::Function);
        }
        let Some(call) = self.call(function.result.as_ref(), 2) else { return };
        match function.result {
            Some(ty) => {
                let name = self.name("l");
                self.line(&format!("let {name} = {call};"));
                self.declare(&name, ty, Space::Value);
            }
            None => self.line(&format!("{call};")),
        }
    }

    fn branch(&mut self, depth: u32) {
        let condition = self.condition(3);
        self.line(&format!("if {condition} {{"));
        self.block(depth, false);
        if self.chance(3) {
            let condition = self.condition(2);
            self.line(&format!("}} else if {condition} {{"));
            self.block(depth, true);
        }
        if self.chance(2) {
            self.line("} else {");
            self.block(depth, true);
        }
        self.line("}");
    }

    fn switch(&mut self, depth: u32) {
        let signed = self.chance(2);
        let (ty, suffix) = if signed { (Type::I32, "i") } else { (Type::U32, "u") };
        let selector = self.runtime(&ty, 2);
        let count = 1 + self.pick(4);
        let default = self.pick(count + 1);
        self.line(&format!("switch {selector} % 7{suffix} {{"));
        self.indent += 1;
        let inside = self.loops.last().is_some_and(|may_continue| *may_continue);
        self.loops.push(inside);
        for case in 0..=count {
            if case == default {
                self.line("default: {");
            } else {
                let more = if self.chance(3) { format!(", {}{suffix}", case + 10) } else { String::new() };
                self.line(&format!("case {case}{suffix}{more}: {{"));
            }
            self.block(depth, true);
            self.line("}");
        }
        self.loops.pop();
        self.indent -= 1;
        self.line("}");
    }

    /// A loop's body, run `times` times at most.
    fn repeated(&mut self, depth: u32, times: u32) {
        let weight = self.weight;
        self.weight *= times;
        self.loops.push(true);
        self.block(depth, true);
        self.loops.pop();
        self.weight = weight;
    }

    /// The most often that a loop may run here.
    fn times(&mut self) -> u32 {
        1 + self.pick(6.min(WEIGHT / self.weight).max(1))
    }

    fn counted(&mut self, depth: u32) {
        let (name, times) = (self.name("i"), self.times());
        self.line(&format!("for (var {name} = 0u; {name} < {times}u; {name}++) {{"));
        let outer = self.scope.len();
        self.declare(&name, Type::U32, Space::Value);
        self.repeated(depth, times);
        self.scope.truncate(outer);
        self.line("}");
    }

    fn conditional(&mut self, depth: u32) {
        let (name, times) = (self.name("i"), self.times());
        let condition = self.condition(2);
        self.line(&format!("var {name} = 0u;"));
        self.line(&format!("while {name} < {times}u && {condition} {{"));
        self.indent += 1;
        self.line(&format!("{name}++;"));
        self.indent -= 1;
        let outer = self.scope.len();
        self.declare(&name, Type::U32, Space::Value);
        self.repeated(depth, times);
        self.scope.truncate(outer);
        self.line("}");
    }

    fn endless(&mut self, depth: u32) {
        let (name, times) = (self.name("i"), self.times());
        self.line(&format!("var {name} = 0u;"));
        self.line("loop {");
        let outer = self.scope.len();
        self.declare(&name, Type::U32, Space::Value);
        self.repeated(depth, times);
        self.indent += 1;
        self.line("continuing {");
        self.indent += 1;
        self.line(&format!("{name} += 1u;"));
        let condition = if self.chance(2) { format!(" || {}", self.condition(2)) } else { String::new() };
        self.line(&format!("break if {name} >= {times}u{condition};"));
        self.indent -= 1;
        self.line("}");
        self.indent -= 1;
        self.scope.truncate(outer);
        self.line("}");
    }

    /// A `switch` that returns in every case.
    pub(super) fn returning_switch(&mut self, ty: &Type) {
        let selector = self.runtime(&Type::U32, 2);
        self.line(&format!("switch {selector} % 3u {{"));
        for label in ["case 0u:", "case 1u:", "default:"] {
            let value = self.expression(ty, 2).text;
            self.line(&format!("    {label} {{ return {value}; }}"));
        }
        self.line("}");
    }
}
