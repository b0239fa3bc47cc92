//! Operators on scalars.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, ValueDef, types};
use naga::{BinaryOperator as B, Scalar, ScalarKind as K};

use super::refusal::{Translated, refused};
use super::types::register;
use super::value::Translator;

impl Translator<'_, '_> {
    pub(super) fn binary(&mut self, op: B, of: Scalar, l: Value, r: Value) -> Translated<Value> {
        if of.kind == K::Float {
            return self.float_binary(op, l, r);
        }
        let signed = of.kind == K::Sint;
        if let Some(condition) = integer_condition(op, signed) {
            return Ok(self.b.ins().icmp(condition, l, r));
        }
        if let Some(known) = self.folded(op, l, r) {
            return Ok(self.b.ins().iconst(types::I32, i64::from(known)));
        }
        let b = self.b.ins();
        Ok(match op {
            B::Add => b.iadd(l, r),
            B::Subtract => b.isub(l, r),
            B::Multiply => b.imul(l, r),
            B::Divide | B::Modulo => return self.divide(op, of, l, r),
            B::And | B::LogicalAnd => b.band(l, r),
            B::InclusiveOr | B::LogicalOr => b.bor(l, r),
            B::ExclusiveOr => b.bxor(l, r),
            // (Cranelift takes amounts modulo the width, as WGSL does.)
            B::ShiftLeft => b.ishl(l, r),
            B::ShiftRight if signed => b.sshr(l, r),
            B::ShiftRight => b.ushr(l, r),
            _ => return refused("an operator on this type"),
        })
    }

    /// A word that is known, because both operands are: an index of an element, most often.
    fn folded(&self, op: B, l: Value, r: Value) -> Option<u32> {
        if self.b.func.dfg.value_type(l) != types::I32 {
            return None;
        }
        let [l, r] = [l, r].map(|value| self.constant_word(value).map(|word| word as u32));
        match (op, l?, r?) {
            (B::Add, l, r) => Some(l.wrapping_add(r)),
            (B::Subtract, l, r) => Some(l.wrapping_sub(r)),
            (B::Multiply, l, r) => Some(l.wrapping_mul(r)),
            _ => None,
        }
    }

    fn float_binary(&mut self, op: B, l: Value, r: Value) -> Translated<Value> {
        let condition = match op {
            B::Less => FloatCC::LessThan,
            B::LessEqual => FloatCC::LessThanOrEqual,
            B::Greater => FloatCC::GreaterThan,
            B::GreaterEqual => FloatCC::GreaterThanOrEqual,
            B::Equal => FloatCC::Equal,
            B::NotEqual => FloatCC::NotEqual,
            _ => return self.float_arithmetic(op, l, r),
        };
        Ok(self.b.ins().fcmp(condition, l, r))
    }

    fn float_arithmetic(&mut self, op: B, l: Value, r: Value) -> Translated<Value> {
        Ok(match op {
            B::Add => self.b.ins().fadd(l, r),
            B::Subtract => self.b.ins().fsub(l, r),
            B::Multiply => self.b.ins().fmul(l, r),
            B::Divide => self.b.ins().fdiv(l, r),
            B::Modulo => {
                let quotient = self.b.ins().fdiv(l, r);
                let whole = self.b.ins().trunc(quotient);
                let product = self.b.ins().fmul(whole, r);
                self.b.ins().fsub(l, product)
            }
            _ => return refused("an operator on this type"),
        })
    }

    /// Integer quotients and remainders: x / 0 is x and x % 0 is 0, as where a quotient does not
    /// fit.
    fn divide(&mut self, op: B, of: Scalar, l: Value, r: Value) -> Translated<Value> {
        let (ty, signed) = (register(of)?, of.kind == K::Sint);
        let mut without = self.b.ins().icmp_imm(IntCC::Equal, r, 0);
        if signed {
            let least = if of.width == 8 { i64::MIN } else { i64::from(i32::MIN) };
            let minus = self.b.ins().icmp_imm(IntCC::Equal, r, -1);
            let low = self.b.ins().icmp_imm(IntCC::Equal, l, least);
            let both = self.b.ins().band(minus, low);
            without = self.b.ins().bor(without, both);
        }
        let r = match self.constant_word(r) {
            Some(word) if word != 0 && !signed => r,
            _ => {
                let one = self.b.ins().iconst(ty, 1);
                self.b.ins().select(without, one, r)
            }
        };
        Ok(match (op, signed) {
            (B::Divide, false) => self.b.ins().udiv(l, r),
            (B::Divide, true) => self.b.ins().sdiv(l, r),
            (_, false) => self.b.ins().urem(l, r),
            (_, true) => self.b.ins().srem(l, r),
        })
    }

    /// The number that an instruction is known to yield.
    pub(super) fn constant_word(&self, value: Value) -> Option<i64> {
        match self.b.func.dfg.value_def(self.b.func.dfg.resolve_aliases(value)) {
            ValueDef::Result(instruction, _) => match self.b.func.dfg.insts[instruction] {
                InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number whose halves `u64(low) | u64(high) << 32` puts together, where it is known.
    pub(super) fn joined(&self, low: Value, high: Value) -> Option<Value> {
        let (low, _) = self.operands(low, Opcode::Uextend)?;
        let (high, amount) = self.operands(high, Opcode::Ishl)?;
        let (high, _) = self.operands(high, Opcode::Uextend)?;
        if self.constant_word(amount?) != Some(32) {
            return None;
        }
        self.pairs.get(&(low, high)).copied()
    }

    /// The number whose halves are `u32(number)` and `u32(number >> 32)`, where it is known.
    pub(super) fn halved(&self, low: Value, high: Value) -> Option<Value> {
        let (whole, _) = self.operands(low, Opcode::Ireduce)?;
        let (shifted, _) = self.operands(high, Opcode::Ireduce)?;
        let (same, amount) = self.operands(shifted, Opcode::Ushr)?;
        let is = whole == same && self.constant_word(amount?) == Some(32);
        (is && self.b.func.dfg.value_type(whole) == types::I64).then_some(whole)
    }

    fn operands(&self, value: Value, opcode: Opcode) -> Option<(Value, Option<Value>)> {
        let dfg = &self.b.func.dfg;
        match dfg.value_def(dfg.resolve_aliases(value)) {
            ValueDef::Result(instruction, _) if dfg.insts[instruction].opcode() == opcode => {
                let operands = dfg.inst_args(instruction);
                Some((*operands.first()?, operands.get(1).copied()))
            }
            _ => None,
        }
    }
}

fn integer_condition(op: B, signed: bool) -> Option<IntCC> {
    Some(match (op, signed) {
        (B::Less, false) => IntCC::UnsignedLessThan,
        (B::LessEqual, false) => IntCC::UnsignedLessThanOrEqual,
        (B::Greater, false) => IntCC::UnsignedGreaterThan,
        (B::GreaterEqual, false) => IntCC::UnsignedGreaterThanOrEqual,
        (B::Less, true) => IntCC::SignedLessThan,
        (B::LessEqual, true) => IntCC::SignedLessThanOrEqual,
        (B::Greater, true) => IntCC::SignedGreaterThan,
        (B::GreaterEqual, true) => IntCC::SignedGreaterThanOrEqual,
        (B::Equal, _) => IntCC::Equal,
        (B::NotEqual, _) => IntCC::NotEqual,
        _ => return None,
    })
}
