//! Functions of components as instructions, those that have some; the host runs the others.

use std::collections::HashMap;

use naga::{BinaryOperator as B, MathFunction as M, Scalar, ScalarKind as K, UnaryOperator as U};
use wasm_encoder::{Instruction as I, ValType};

use super::super::interpret::scalar;

/// Local variables that instructions may use between them: by type, two of each.
pub(super) const SCRATCH: [(ValType, u32); 4] =
    [(ValType::I32, 2), (ValType::I64, 4), (ValType::F32, 6), (ValType::F64, 8)];

/// A function as instructions: its arguments are on the stack, its result is left there.
pub(super) struct Inline {
    pub(super) takes: [ValType; 2],
    pub(super) code: Vec<I<'static>>,
    pub(super) gives: ValType,
}

/// By address of the interpreter's function.
pub(super) type Inlines = HashMap<usize, Inline>;

const SCALARS: [Scalar; 7] =
    [Scalar::BOOL, Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64, Scalar::F32, Scalar::F64];

pub(super) fn inlines() -> Inlines {
    let mut all = Inlines::new();
    let mut insert = |f: Option<usize>, takes: [ValType; 2], code: Option<Vec<I<'static>>>, gives| {
        if let (Some(f), Some(code)) = (f, code) {
            all.insert(f, Inline { takes, code, gives });
        }
    };
    for of in SCALARS {
        let ty = value_type(of);
        for op in OPERATORS {
            let f = scalar::binary(op, of).map(|f| f as usize);
            let compares =
                matches!(op, B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual);
            insert(f, [ty; 2], binary(op, of), if compares { ValType::I32 } else { ty });
        }
        for op in [U::Negate, U::LogicalNot, U::BitwiseNot] {
            insert(scalar::unary(op, of).map(|f| f as usize), [ty; 2], unary(op, of), ty);
        }
        for fun in FUNCTIONS {
            insert(scalar::math1(fun, of).map(|f| f as usize), [ty; 2], math1(fun, of), ty);
            insert(scalar::math2(fun, of).map(|f| f as usize), [ty; 2], math2(fun, of), ty);
        }
        for to in SCALARS.into_iter().filter(|to| *to != of) {
            let f = scalar::convert(of, to).map(|f| f as usize);
            // From bool to integers the function is one for all widths: see `same`.
            let (takes, gives) = match of.kind == K::Bool && to.kind != K::Float {
                true => (ValType::I64, ValType::I64),
                false => (ty, value_type(to)),
            };
            insert(f, [takes; 2], convert(of, to), gives);
        }
    }
    // The absolute value of unsigned numbers, of any width.
    let same = scalar::math1(M::Abs, Scalar::U64).map(|f| f as usize);
    insert(same, [ValType::I64; 2], Some(Vec::new()), ValType::I64);
    all
}

const OPERATORS: [B; 18] = [
    B::Add,
    B::Subtract,
    B::Multiply,
    B::Divide,
    B::Modulo,
    B::Equal,
    B::NotEqual,
    B::Less,
    B::LessEqual,
    B::Greater,
    B::GreaterEqual,
    B::And,
    B::ExclusiveOr,
    B::InclusiveOr,
    B::LogicalAnd,
    B::LogicalOr,
    B::ShiftLeft,
    B::ShiftRight,
];

const FUNCTIONS: [M; 14] = [
    M::Min,
    M::Max,
    M::Abs,
    M::CountTrailingZeros,
    M::CountLeadingZeros,
    M::CountOneBits,
    M::FirstTrailingBit,
    M::FirstLeadingBit,
    M::Ceil,
    M::Floor,
    M::Round,
    M::Fract,
    M::Trunc,
    M::Sqrt,
];

fn value_type(of: Scalar) -> ValType {
    match (of.kind, of.width) {
        (K::Float, 8) => ValType::F64,
        (K::Float, _) => ValType::F32,
        (_, 8) => ValType::I64,
        _ => ValType::I32,
    }
}

/// The instruction of one of four types.
macro_rules! typed {
    ($of:expr; $i32:expr, $i64:expr, $f32:expr, $f64:expr) => {
        match value_type($of) {
            ValType::I32 => $i32,
            ValType::I64 => $i64,
            ValType::F32 => $f32,
            _ => $f64,
        }
    };
}

/// The instruction of integers with a sign or without, of two widths.
macro_rules! integer {
    ($of:expr; $u32:expr, $i32:expr, $u64:expr, $i64:expr) => {
        match ($of.kind == K::Sint, $of.width == 8) {
            (false, false) => $u32,
            (true, false) => $i32,
            (false, true) => $u64,
            (true, true) => $i64,
        }
    };
}

fn scratch(of: Scalar) -> u32 {
    let ty = value_type(of);
    SCRATCH.iter().find(|(of, _)| *of == ty).map_or(0, |(_, local)| *local)
}

fn binary(op: B, of: Scalar) -> Option<Vec<I<'static>>> {
    let (is_float, s) = (of.kind == K::Float, scratch(of));
    let one = match op {
        _ if of.kind == K::Bool => match op {
            B::And | B::LogicalAnd => I::I32And,
            B::InclusiveOr | B::LogicalOr => I::I32Or,
            B::ExclusiveOr | B::NotEqual => I::I32Xor,
            B::Equal => I::I32Eq,
            _ => return None,
        },
        B::Add => typed!(of; I::I32Add, I::I64Add, I::F32Add, I::F64Add),
        B::Subtract => typed!(of; I::I32Sub, I::I64Sub, I::F32Sub, I::F64Sub),
        B::Multiply => typed!(of; I::I32Mul, I::I64Mul, I::F32Mul, I::F64Mul),
        B::Equal => typed!(of; I::I32Eq, I::I64Eq, I::F32Eq, I::F64Eq),
        B::NotEqual => typed!(of; I::I32Ne, I::I64Ne, I::F32Ne, I::F64Ne),
        _ if is_float => match op {
            B::Divide => typed!(of; return None, return None, I::F32Div, I::F64Div),
            B::Less => typed!(of; return None, return None, I::F32Lt, I::F64Lt),
            B::LessEqual => typed!(of; return None, return None, I::F32Le, I::F64Le),
            B::Greater => typed!(of; return None, return None, I::F32Gt, I::F64Gt),
            B::GreaterEqual => typed!(of; return None, return None, I::F32Ge, I::F64Ge),
            _ => return None,
        },
        B::And => typed!(of; I::I32And, I::I64And, return None, return None),
        B::InclusiveOr => typed!(of; I::I32Or, I::I64Or, return None, return None),
        B::ExclusiveOr => typed!(of; I::I32Xor, I::I64Xor, return None, return None),
        B::ShiftLeft => typed!(of; I::I32Shl, I::I64Shl, return None, return None),
        B::ShiftRight => integer!(of; I::I32ShrU, I::I32ShrS, I::I64ShrU, I::I64ShrS),
        B::Less => integer!(of; I::I32LtU, I::I32LtS, I::I64LtU, I::I64LtS),
        B::LessEqual => integer!(of; I::I32LeU, I::I32LeS, I::I64LeU, I::I64LeS),
        B::Greater => integer!(of; I::I32GtU, I::I32GtS, I::I64GtU, I::I64GtS),
        B::GreaterEqual => integer!(of; I::I32GeU, I::I32GeS, I::I64GeU, I::I64GeS),
        // By 1 instead of 0: `a / 0` is `a` in WGSL, and `a % 0` is 0. (The least number divided
        // by -1 is the host's.)
        B::Divide | B::Modulo if op == B::Modulo || of.kind == K::Uint => {
            let divide = match op {
                B::Divide => integer!(of; I::I32DivU, return None, I::I64DivU, return None),
                _ => integer!(of; I::I32RemU, I::I32RemS, I::I64RemU, I::I64RemS),
            };
            let mut code = vec![I::LocalTee(s), I::LocalGet(s)];
            code.extend(match of.width {
                8 => vec![I::I64Eqz, I::I64ExtendI32U, I::I64Add],
                _ => vec![I::I32Eqz, I::I32Add],
            });
            code.push(divide);
            return Some(code);
        }
        _ => return None,
    };
    Some(vec![one])
}

fn unary(op: U, of: Scalar) -> Option<Vec<I<'static>>> {
    Some(match (op, value_type(of)) {
        _ if of.kind == K::Bool => vec![I::I32Eqz],
        (U::Negate, ValType::I32) => vec![I::I32Const(-1), I::I32Mul],
        (U::Negate, ValType::I64) => vec![I::I64Const(-1), I::I64Mul],
        (U::Negate, ValType::F32) => vec![I::F32Neg],
        (U::Negate, ValType::F64) => vec![I::F64Neg],
        (U::BitwiseNot, ValType::I32) => vec![I::I32Const(-1), I::I32Xor],
        (U::BitwiseNot, ValType::I64) => vec![I::I64Const(-1), I::I64Xor],
        _ => return None,
    })
}

fn math1(fun: M, of: Scalar) -> Option<Vec<I<'static>>> {
    let s = scratch(of);
    Some(match (fun, value_type(of)) {
        _ if of.kind == K::Bool => return None,
        (M::CountTrailingZeros, ValType::I32) => vec![I::I32Ctz],
        (M::CountTrailingZeros, ValType::I64) => vec![I::I64Ctz],
        (M::CountLeadingZeros, ValType::I32) => vec![I::I32Clz],
        (M::CountLeadingZeros, ValType::I64) => vec![I::I64Clz],
        (M::CountOneBits, ValType::I32) => vec![I::I32Popcnt],
        (M::CountOneBits, ValType::I64) => vec![I::I64Popcnt],
        (M::FirstLeadingBit, ValType::I32) if of.kind == K::Uint => {
            vec![I::LocalSet(s), I::I32Const(31), I::LocalGet(s), I::I32Clz, I::I32Sub]
        }
        (M::FirstLeadingBit, ValType::I64) if of.kind == K::Uint => {
            vec![I::LocalSet(s), I::I64Const(63), I::LocalGet(s), I::I64Clz, I::I64Sub]
        }
        (M::FirstTrailingBit, ValType::I32) => vec![
            I::LocalSet(s),
            I::I32Const(-1),
            I::LocalGet(s),
            I::I32Ctz,
            I::LocalGet(s),
            I::I32Eqz,
            I::Select,
        ],
        (M::Abs, ValType::F32) => vec![I::F32Abs],
        (M::Abs, ValType::F64) => vec![I::F64Abs],
        (M::Ceil, ValType::F32) => vec![I::F32Ceil],
        (M::Ceil, ValType::F64) => vec![I::F64Ceil],
        (M::Floor, ValType::F32) => vec![I::F32Floor],
        (M::Floor, ValType::F64) => vec![I::F64Floor],
        (M::Round, ValType::F32) => vec![I::F32Nearest],
        (M::Round, ValType::F64) => vec![I::F64Nearest],
        (M::Trunc, ValType::F32) => vec![I::F32Trunc],
        (M::Trunc, ValType::F64) => vec![I::F64Trunc],
        (M::Sqrt, ValType::F32) => vec![I::F32Sqrt],
        (M::Sqrt, ValType::F64) => vec![I::F64Sqrt],
        (M::Fract, ValType::F32) => vec![I::LocalTee(s), I::LocalGet(s), I::F32Floor, I::F32Sub],
        (M::Fract, ValType::F64) => vec![I::LocalTee(s), I::LocalGet(s), I::F64Floor, I::F64Sub],
        _ => return None,
    })
}

fn math2(fun: M, of: Scalar) -> Option<Vec<I<'static>>> {
    let less = match (fun, of.kind) {
        (M::Min | M::Max, K::Float) => typed!(of; return None, return None, I::F32Lt, I::F64Lt),
        (M::Min | M::Max, K::Uint | K::Sint) => {
            integer!(of; I::I32LtU, I::I32LtS, I::I64LtU, I::I64LtS)
        }
        _ => return None,
    };
    let (a, b) = (scratch(of), scratch(of) + 1);
    // The second where it is less, or more, than the first.
    let (left, right) = if fun == M::Min { (b, a) } else { (a, b) };
    Some(vec![
        I::LocalSet(b),
        I::LocalSet(a),
        I::LocalGet(b),
        I::LocalGet(a),
        I::LocalGet(left),
        I::LocalGet(right),
        less,
        I::Select,
    ])
}

fn convert(from: Scalar, to: Scalar) -> Option<Vec<I<'static>>> {
    use ValType as V;
    let (a, b, signed) = (value_type(from), value_type(to), from.kind == K::Sint);
    if to.kind == K::Bool {
        return Some(match a {
            V::I32 => vec![I::I32Const(0), I::I32Ne],
            V::I64 => vec![I::I64Const(0), I::I64Ne],
            V::F32 => vec![I::F32Const(0.0.into()), I::F32Ne],
            _ => vec![I::F64Const(0.0.into()), I::F64Ne],
        });
    }
    if from.kind == K::Bool && to.kind != K::Float {
        return Some(Vec::new());
    }
    let either = |yes, no| if signed { yes } else { no };
    Some(match (a, b) {
        (V::I32, V::I64) => vec![either(I::I64ExtendI32S, I::I64ExtendI32U)],
        (V::I64, V::I32) => vec![I::I32WrapI64],
        (V::I32, V::F32) => vec![either(I::F32ConvertI32S, I::F32ConvertI32U)],
        (V::I32, V::F64) => vec![either(I::F64ConvertI32S, I::F64ConvertI32U)],
        (V::I64, V::F32) => vec![either(I::F32ConvertI64S, I::F32ConvertI64U)],
        (V::I64, V::F64) => vec![either(I::F64ConvertI64S, I::F64ConvertI64U)],
        (V::F32, V::I32) if to.kind == K::Sint => vec![I::I32TruncSatF32S],
        (V::F32, V::I32) => vec![I::I32TruncSatF32U],
        (V::F32, V::I64) if to.kind == K::Sint => vec![I::I64TruncSatF32S],
        (V::F32, V::I64) => vec![I::I64TruncSatF32U],
        (V::F64, V::I32) if to.kind == K::Sint => vec![I::I32TruncSatF64S],
        (V::F64, V::I32) => vec![I::I32TruncSatF64U],
        (V::F64, V::I64) if to.kind == K::Sint => vec![I::I64TruncSatF64S],
        (V::F64, V::I64) => vec![I::I64TruncSatF64U],
        (V::F32, V::F64) => vec![I::F64PromoteF32],
        (V::F64, V::F32) => vec![I::F32DemoteF64],
        _ => Vec::new(),
    })
}
