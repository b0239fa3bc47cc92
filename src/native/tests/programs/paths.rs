//! Paths into variables.

use std::fmt::Write as _;

use super::types::{Scalar, Struct, Type};
use super::{Generator, Space, Variable};

/// Words of the largest member of a structure, which has at most 5.
const LARGEST: u32 = 64;

impl Generator<'_> {
    pub(super) fn structure(&mut self, shareable: bool) {
        let number = self.structs.len();
        let members: Vec<_> = (0..1 + self.pick(5)).map(|_| self.member_type(2, shareable)).collect();
        let mut text = format!("struct S{number} {{\n");
        for (i, member) in members.iter().enumerate() {
            let _ = writeln!(text, "    m{i}: {},", member.name());
        }
        text.push_str("}\n\n");
        self.structs.push(Struct { text, members, shareable });
    }

    pub(super) fn any_type(&mut self, depth: u32) -> Type {
        self.member_type(depth, false)
    }

    /// Words of memory, with room for alignment.
    fn words(&self, ty: &Type) -> u32 {
        match ty {
            Type::Scalar(_) => 1,
            Type::Vector(..) => 4,
            Type::Array(element, size) => self.words(element).next_multiple_of(4) * size,
            Type::Struct(number) => self.structs[*number].members.iter().map(|ty| self.words(ty) + 3).sum(),
        }
    }

    fn member_type(&mut self, depth: u32, shareable: bool) -> Type {
        let ty = self.unbounded_type(depth, shareable);
        if self.words(&ty) > LARGEST { Type::U32 } else { ty }
    }

    fn unbounded_type(&mut self, depth: u32, shareable: bool) -> Type {
        match self.pick(if depth == 0 { 6 } else { 9 }) {
            0..=2 => Type::Scalar(self.scalar_type(shareable)),
            3..=5 => {
                let size = 2 + self.pick(3);
                Type::Vector(size, self.scalar_type(shareable))
            }
            6 => {
                let element = Box::new(self.member_type(depth - 1, shareable));
                Type::Array(element, 1 + self.pick(5))
            }
            _ => {
                let usable = |s: &Struct| s.shareable || !shareable;
                let known: Vec<_> = (0..self.structs.len()).filter(|i| usable(&self.structs[*i])).collect();
                match known.len() {
                    0 => Type::U32,
                    count => Type::Struct(known[self.pick(count as u32) as usize]),
                }
            }
        }
    }

    fn scalar_type(&mut self, shareable: bool) -> Scalar {
        let all = [Scalar::U32, Scalar::I32, Scalar::U32, Scalar::I32, Scalar::Bool, Scalar::F32];
        all[self.pick(if shareable { 4 } else { 6 }) as usize]
    }

    /// All scalars of a variable, as expressions of type `u32`.
    pub(super) fn leaves(&self, path: &str, ty: &Type, leaves: &mut Vec<String>) {
        match ty {
            Type::Scalar(Scalar::F32) => leaves.push(format!("u32(i32({path} * 4.0))")),
            Type::Scalar(_) => leaves.push(format!("u32({path})")),
            Type::Vector(size, scalar) => {
                let scalar = Type::Scalar(*scalar);
                (0..*size).for_each(|i| self.leaves(&format!("{path}[{i}]"), &scalar, leaves));
            }
            Type::Array(element, size) => {
                (0..*size).for_each(|i| self.leaves(&format!("{path}[{i}]"), element, leaves));
            }
            Type::Struct(number) => {
                for (i, member) in self.structs[*number].members.iter().enumerate() {
                    self.leaves(&format!("{path}.m{i}"), member, leaves);
                }
            }
        }
    }

    /// A variable that satisfies a condition.
    pub(super) fn variable(&mut self, usable: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all = self.scope.iter().chain(&self.globals).filter(|variable| usable(variable));
        let all: Vec<_> = all.cloned().collect();
        match all.len() {
            0 => None,
            // The newest first: they are used most.
            count => Some(all[self.pick(count as u32) as usize].clone()),
        }
    }

    /// An index that is in range, except in native programs and where it may be constant.
    fn index(&mut self, size: u32, depth: u32) -> String {
        if depth == 0 || self.chance(2) {
            return format!("{}", self.pick(size));
        }
        let signed = self.native() && self.chance(2);
        let index = self.runtime(if signed { &Type::I32 } else { &Type::U32 }, depth - 1);
        if self.native() && (signed || self.chance(3)) { index } else { format!("{index} % {size}u") }
    }

    /// One step into a type: the text after a path, and what it leads to.
    fn step(&mut self, ty: &Type, depth: u32) -> Option<(String, Type)> {
        match ty {
            Type::Scalar(_) => None,
            Type::Vector(size, scalar) => {
                let step = if self.chance(2) {
                    format!("[{}]", self.index(*size, depth))
                } else {
                    format!(".{}", ["x", "y", "z", "w"][self.pick(*size) as usize])
                };
                Some((step, Type::Scalar(*scalar)))
            }
            Type::Array(element, size) => {
                Some((format!("[{}]", self.index(*size, depth)), (**element).clone()))
            }
            Type::Struct(number) => {
                let count = self.structs[*number].members.len() as u32;
                let member = self.pick(count) as usize;
                Some((format!(".m{member}"), self.structs[*number].members[member].clone()))
            }
        }
    }

    /// A path to a part of a variable of this type, where chance finds one.
    pub(super) fn path(&mut self, wanted: &Type, depth: u32) -> Option<String> {
        for _ in 0..6 {
            let Variable { path, ty, .. } = self.variable(|_| true)?;
            let (mut path, mut ty) = (path, ty);
            loop {
                if ty == *wanted {
                    return Some(path);
                }
                let Some((step, next)) = self.step(&ty, depth) else { break };
                path.push_str(&step);
                ty = next;
            }
        }
        None
    }

    /// A scalar of a variable, as a number of this type.
    pub(super) fn number(&mut self, wanted: Scalar, depth: u32) -> Option<String> {
        let Variable { mut path, mut ty, .. } = self.variable(|_| true)?;
        while let Some((step, next)) = self.step(&ty, depth) {
            path.push_str(&step);
            ty = next;
        }
        Some(match wanted {
            _ if ty == Type::Scalar(wanted) => path,
            Scalar::F32 if ty != Type::BOOL => format!("(f32(i32({path}) & 4095) * 0.25)"),
            wanted => format!("{}({path})", wanted.name()),
        })
    }

    /// A part of a variable that can be written.
    pub(super) fn place(&mut self, depth: u32) -> Option<(String, Type, Space)> {
        let Variable { mut path, mut ty, space, .. } = self.variable(|variable| variable.writable)?;
        // A runtime-sized array is no value.
        while path == "words" || !self.chance(3) {
            let Some((step, next)) = self.step(&ty, depth) else { break };
            path.push_str(&step);
            ty = next;
        }
        Some((path, ty, space))
    }
}
