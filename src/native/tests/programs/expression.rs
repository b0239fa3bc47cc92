//! Expressions of programs.

use super::Generator;
use super::types::{Scalar, Type};

/// Expressions of a function beyond which there are only leaves.
const NODES: u32 = 400;

/// Statements that one call runs at most, times how often it runs.
pub(super) const CALL_COST: u32 = 2000;

pub(super) struct Expression {
    pub(super) text: String,
    /// Nothing in it is known only when the program runs. Those are not combined, since what
    /// overflows in a constant is an error.
    constant: bool,
}

fn runtime(text: String) -> Expression {
    Expression { text, constant: false }
}

impl Generator<'_> {
    pub(super) fn expression(&mut self, ty: &Type, depth: u32) -> Expression {
        self.nodes += 1;
        let depth = if self.nodes > NODES { 0 } else { depth };
        if depth == 0 || self.chance(4) {
            return self.leaf(ty, depth);
        }
        if self.chance(6)
            && let Some(call) = self.call(Some(ty), depth - 1)
        {
            return runtime(call);
        }
        let depth = depth - 1;
        match ty {
            Type::Scalar(Scalar::Bool) => runtime(self.condition(depth)),
            Type::Scalar(Scalar::F32) => runtime(self.float(depth)),
            Type::Scalar(scalar) => runtime(self.integer(*scalar, depth)),
            Type::Vector(size, scalar) => self.vector(*size, *scalar, depth),
            Type::Array(..) | Type::Struct(_) => self.constructor(ty, depth),
        }
    }

    /// An expression that no compiler can evaluate.
    pub(super) fn runtime(&mut self, ty: &Type, depth: u32) -> String {
        let Expression { text, constant } = self.expression(ty, depth);
        match ty {
            _ if !constant => text,
            Type::Scalar(Scalar::U32) => format!("({text} + zero)"),
            Type::Scalar(Scalar::Bool) => format!("({text} == (zero == 0u))"),
            Type::Scalar(scalar) => format!("({text} + {}(zero))", scalar.name()),
            Type::Vector(size, Scalar::Bool) => format!("({text} | vec{size}<bool>(zero > 0u))"),
            Type::Vector(_, scalar) => format!("({text} + {}({}(zero)))", ty.name(), scalar.name()),
            Type::Array(..) | Type::Struct(_) => text,
        }
    }

    fn leaf(&mut self, ty: &Type, depth: u32) -> Expression {
        if !self.chance(4)
            && let Some(path) = self.path(ty, depth.min(1))
        {
            return runtime(path);
        }
        let scalar = match ty {
            Type::Scalar(scalar) | Type::Vector(_, scalar) => *scalar,
            _ => return self.constructor(ty, 0),
        };
        if self.chance(2)
            && let Some(number) = self.number(scalar, depth.min(1))
        {
            return runtime(format!("{}({number})", ty.name()));
        }
        Expression { text: self.constant(ty), constant: true }
    }

    /// A constant of a type.
    pub(super) fn constant(&mut self, ty: &Type) -> String {
        match ty {
            Type::Scalar(Scalar::Bool) => ["false", "true"][self.pick(2) as usize].to_owned(),
            Type::Scalar(Scalar::F32) => format!("{:.2}", (f64::from(self.pick(8193)) - 4096.0) / 4.0),
            Type::Scalar(Scalar::U32) => format!("{}u", self.word()),
            // (The least number has no literal.)
            Type::Scalar(Scalar::I32) => format!("{}i", (self.word() as i32).max(-i32::MAX)),
            Type::Vector(size, scalar) => {
                let scalar = Type::Scalar(*scalar);
                let parts: Vec<_> = (0..*size).map(|_| self.constant(&scalar)).collect();
                format!("{}({})", ty.name(), parts.join(", "))
            }
            Type::Array(element, size) => {
                let parts: Vec<_> = (0..*size).map(|_| self.constant(element)).collect();
                format!("{}({})", ty.name(), parts.join(", "))
            }
            Type::Struct(number) => {
                let members = self.structs[*number].members.clone();
                let parts: Vec<_> = members.iter().map(|member| self.constant(member)).collect();
                format!("{}({})", ty.name(), parts.join(", "))
            }
        }
    }

    /// A word: small, near a power of two, or any.
    fn word(&mut self) -> u32 {
        match self.pick(4) {
            0 => self.pick(8),
            1 => 1 << self.pick(32),
            2 => (1_u32 << self.pick(32)).wrapping_sub(1 + self.pick(2)),
            _ => self.pick(65536) << 16 | self.pick(65536),
        }
    }

    fn constructor(&mut self, ty: &Type, depth: u32) -> Expression {
        let parts: Vec<Type> = match ty {
            Type::Array(element, size) => vec![(**element).clone(); *size as usize],
            Type::Struct(number) => self.structs[*number].members.clone(),
            Type::Vector(size, scalar) => vec![Type::Scalar(*scalar); *size as usize],
            Type::Scalar(_) => vec![ty.clone()],
        };
        if self.chance(8) {
            return Expression { text: format!("{}()", ty.name()), constant: true };
        }
        let parts: Vec<_> = parts.iter().map(|part| self.expression(part, depth)).collect();
        let constant = parts.iter().all(|part| part.constant);
        let texts: Vec<_> = parts.into_iter().map(|part| part.text).collect();
        Expression { text: format!("{}({})", ty.name(), texts.join(", ")), constant }
    }

    /// An operation on integers that scalars and vectors have in common; `shape` is the type.
    fn arithmetic(&mut self, size: u32, scalar: Scalar, depth: u32) -> String {
        let (ty, signed) = (Type::of(size, scalar), scalar == Scalar::I32);
        let a = self.runtime(&ty, depth);
        match self.pick(12) {
            0..=2 => {
                let op = ["+", "-", "*"][self.pick(3) as usize];
                format!("({a} {op} {})", self.expression(&ty, depth).text)
            }
            3 | 4 => {
                let op = ["&", "|", "^"][self.pick(3) as usize];
                format!("({a} {op} {})", self.expression(&ty, depth).text)
            }
            5 => {
                let op = ["/", "%"][self.pick(2) as usize];
                format!("({a} {op} {})", self.divisor(&ty, depth))
            }
            6 => {
                let op = ["<<", ">>"][self.pick(2) as usize];
                format!("({a} {op} {})", self.divisor(&Type::of(size, Scalar::U32), depth))
            }
            7 => format!("({}{a})", if signed && self.chance(2) { "-" } else { "~" }),
            8 => {
                let functions = [
                    "abs",
                    "countLeadingZeros",
                    "countTrailingZeros",
                    "countOneBits",
                    "reverseBits",
                    "firstLeadingBit",
                    "firstTrailingBit",
                    "sign",
                ];
                // `sign` is of signed integers.
                let function = functions[self.pick(if signed { 8 } else { 7 }) as usize];
                format!("{function}({a})")
            }
            9 => {
                let function = ["min", "max"][self.pick(2) as usize];
                format!("{function}({a}, {})", self.expression(&ty, depth).text)
            }
            10 => {
                let name = ty.name();
                let (low, high) = (self.pick(100), self.pick(1000));
                format!("clamp({a}, {name}({low}), {name}({}))", low + high)
            }
            _ => {
                let (offset, count) = (self.runtime(&Type::U32, depth), self.runtime(&Type::U32, depth));
                if self.chance(2) {
                    format!("extractBits({a}, {offset}, {count})")
                } else {
                    format!("insertBits({a}, {}, {offset}, {count})", self.runtime(&ty, depth))
                }
            }
        }
    }

    /// A number that no compiler knows in any component: there, zeros and large shifts are errors.
    fn divisor(&mut self, ty: &Type, depth: u32) -> String {
        let text = self.runtime(ty, depth);
        match ty {
            Type::Vector(_, scalar) => format!("({text} + {}({}(zero)))", ty.name(), scalar.name()),
            _ => text,
        }
    }

    fn integer(&mut self, scalar: Scalar, depth: u32) -> String {
        let ty = Type::Scalar(scalar);
        match self.pick(14) {
            0..=5 => self.arithmetic(1, scalar, depth),
            6 => {
                let from = [Type::U32, Type::I32, Type::BOOL, Type::F32][self.pick(4) as usize].clone();
                format!("{}({})", ty.name(), self.runtime(&from, depth))
            }
            7 => {
                let from = if scalar == Scalar::U32 { Type::I32 } else { Type::U32 };
                format!("bitcast<{}>({})", ty.name(), self.runtime(&from, depth))
            }
            8 => self.select(&ty, depth),
            9 => {
                let size = 2 + self.pick(3);
                let component = ["x", "y", "z", "w"][self.pick(size) as usize];
                format!("{}.{component}", self.runtime(&Type::Vector(size, scalar), depth))
            }
            10 => {
                let vector = Type::Vector(2 + self.pick(3), scalar);
                format!("dot({}, {})", self.runtime(&vector, depth), self.runtime(&vector, depth))
            }
            11 if self.native() => {
                let wide = if scalar == Scalar::U32 { "u64" } else { "i64" };
                let (a, b) = (self.runtime(&ty, depth), self.runtime(&ty, depth));
                let op = ["*", "+", "-", "/", "%", "^"][self.pick(6) as usize];
                let shift = self.runtime(&Type::U32, depth);
                format!("{}(({wide}({a}) {op} {wide}({b})) >> ({shift} & 63u))", ty.name())
            }
            12 => format!("{}(arrayLength(&{}))", ty.name(), ["words", "input"][self.pick(2) as usize]),
            _ => self.packed(scalar, depth),
        }
    }

    fn packed(&mut self, scalar: Scalar, depth: u32) -> String {
        let (signed, unsigned) = (Type::Vector(4, Scalar::I32), Type::Vector(4, Scalar::U32));
        if scalar == Scalar::I32 {
            let (a, b) = (self.runtime(&Type::U32, depth), self.runtime(&Type::U32, depth));
            return format!("dot4I8Packed({a}, {b})");
        }
        match self.pick(5) {
            0 => format!("pack4xU8({})", self.runtime(&unsigned, depth)),
            1 => format!("pack4xI8({})", self.runtime(&signed, depth)),
            2 => format!("pack4xU8Clamp({})", self.runtime(&unsigned, depth)),
            3 => format!("pack4xI8Clamp({})", self.runtime(&signed, depth)),
            _ => {
                let (a, b) = (self.runtime(&Type::U32, depth), self.runtime(&Type::U32, depth));
                format!("dot4U8Packed({a}, {b})")
            }
        }
    }

    fn select(&mut self, ty: &Type, depth: u32) -> String {
        let condition = match ty {
            Type::Vector(size, _) if self.chance(2) => Type::Vector(*size, Scalar::Bool),
            _ => Type::BOOL,
        };
        let (a, b) = (self.expression(ty, depth).text, self.expression(ty, depth).text);
        format!("select({a}, {b}, {})", self.runtime(&condition, depth))
    }

    fn compare(&mut self, size: u32, depth: u32) -> String {
        let scalar = [Scalar::U32, Scalar::I32, Scalar::F32][self.pick(3) as usize];
        let op = ["<", "<=", ">", ">=", "==", "!="][self.pick(6) as usize];
        let ty = Type::of(size, scalar);
        format!("({} {op} {})", self.runtime(&ty, depth), self.expression(&ty, depth).text)
    }

    pub(super) fn condition(&mut self, depth: u32) -> String {
        match self.pick(9) {
            0..=3 => self.compare(1, depth),
            4 => format!("(!{})", self.runtime(&Type::BOOL, depth)),
            5 | 6 => {
                let op = ["&&", "||", "&", "|", "==", "!="][self.pick(6) as usize];
                format!("({} {op} {})", self.runtime(&Type::BOOL, depth), self.runtime(&Type::BOOL, depth))
            }
            7 => {
                let function = ["all", "any"][self.pick(2) as usize];
                let vector = Type::Vector(2 + self.pick(3), Scalar::Bool);
                format!("{function}({})", self.runtime(&vector, depth))
            }
            _ => self.select(&Type::BOOL, depth),
        }
    }

    fn float(&mut self, depth: u32) -> String {
        let (f32, whole) = (Type::F32, Type::Scalar(Scalar::I32));
        if self.native() && self.chance(2) {
            return self.inexact(depth);
        }
        match self.pick(6) {
            0 | 1 => {
                let op = ["+", "-", "*"][self.pick(3) as usize];
                format!("norm({} {op} {})", self.runtime(&f32, depth), self.expression(&f32, depth).text)
            }
            2 => {
                let function = ["floor", "ceil", "trunc", "abs", "sign", "round", "-"][self.pick(7) as usize];
                format!("{function}({})", self.runtime(&f32, depth))
            }
            3 => {
                let function = ["min", "max"][self.pick(2) as usize];
                format!("{function}({}, {})", self.runtime(&f32, depth), self.expression(&f32, depth).text)
            }
            4 => format!("(f32({} & 4095) * 0.25)", self.runtime(&whole, depth)),
            _ => self.select(&f32, depth),
        }
    }

    /// Functions whose results differ between implementations in their last bits.
    fn inexact(&mut self, depth: u32) -> String {
        let (a, b) = (self.runtime(&Type::F32, depth), self.runtime(&Type::F32, depth));
        match self.pick(8) {
            0 | 1 => {
                let functions = [
                    "sin",
                    "cos",
                    "tan",
                    "asin",
                    "acos",
                    "atan",
                    "sinh",
                    "cosh",
                    "tanh",
                    "asinh",
                    "acosh",
                    "atanh",
                    "exp",
                    "exp2",
                    "log",
                    "log2",
                    "sqrt",
                    "inverseSqrt",
                    "fract",
                    "radians",
                    "degrees",
                    "saturate",
                    "quantizeToF16",
                ];
                format!("{}({a})", functions[self.pick(functions.len() as u32) as usize])
            }
            2 => format!("({a} {} {b})", ["/", "%", "*", "+"][self.pick(4) as usize]),
            3 => format!("{}({a}, {b})", ["pow", "atan2", "step", "distance"][self.pick(4) as usize]),
            4 => {
                let function = ["fma", "mix", "smoothstep", "clamp"][self.pick(4) as usize];
                format!("{function}({a}, {b}, {})", self.runtime(&Type::F32, depth))
            }
            5 => format!("ldexp({a}, {})", self.runtime(&Type::I32, depth)),
            6 => format!("(mat2x2<f32>({a}, {b}, {b}, {a}) * vec2<f32>({b}, {a})).y"),
            _ => {
                format!("length(vec3<f32>({a}, {b}, unpack2x16float({}).y))", self.runtime(&Type::U32, depth))
            }
        }
    }

    fn vector(&mut self, size: u32, scalar: Scalar, depth: u32) -> Expression {
        let ty = Type::Vector(size, scalar);
        match self.pick(8) {
            0 => self.constructor(&ty, depth),
            1 => {
                let Expression { text, constant } = self.expression(&Type::Scalar(scalar), depth);
                Expression { text: format!("{}({text})", ty.name()), constant }
            }
            2 => {
                let from = 2 + self.pick(3);
                let vector = self.runtime(&Type::Vector(from, scalar), depth);
                let pattern: String =
                    (0..size).map(|_| ["x", "y", "z", "w"][self.pick(from) as usize]).collect();
                runtime(format!("{vector}.{pattern}"))
            }
            3 => runtime(self.select(&ty, depth)),
            4 if size > 2 => {
                let (first, rest) = (self.runtime(&Type::Vector(2, scalar), depth), size - 2);
                let rest = self.expression(&Type::of(rest, scalar), depth).text;
                runtime(format!("{}({first}, {rest})", ty.name()))
            }
            _ => match scalar {
                Scalar::Bool => runtime(self.compare(size, depth)),
                Scalar::F32 => {
                    let function = ["floor", "ceil", "trunc", "abs", "-"][self.pick(5) as usize];
                    runtime(format!("{function}({})", self.runtime(&ty, depth)))
                }
                _ if size == 4 && self.chance(6) => {
                    let function = if scalar == Scalar::U32 { "unpack4xU8" } else { "unpack4xI8" };
                    runtime(format!("{function}({})", self.runtime(&Type::U32, depth)))
                }
                _ if self.chance(6) => {
                    let from = [Scalar::U32, Scalar::I32, Scalar::Bool, Scalar::F32][self.pick(4) as usize];
                    runtime(format!("{}({})", ty.name(), self.runtime(&Type::Vector(size, from), depth)))
                }
                _ => runtime(self.arithmetic(size, scalar, depth)),
            },
        }
    }

    /// A call of a function with this result.
    pub(super) fn call(&mut self, result: Option<&Type>, depth: u32) -> Option<String> {
        let most = CALL_COST / self.weight;
        let fits = |f: &&super::Function| f.result.as_ref() == result && f.cost <= most;
        let known: Vec<_> = self.functions.iter().filter(fits).cloned().collect();
        let count = u32::try_from(known.len()).ok().filter(|count| *count > 0)?;
        let function = known[self.pick(count) as usize].clone();
        let mut arguments: Vec<String> = Vec::new();
        for parameter in &function.parameters {
            arguments.push(match parameter.pointer {
                None => self.expression(&parameter.ty, depth).text,
                Some(space) => {
                    // No variable is passed twice.
                    let used = arguments.clone();
                    let fits = |variable: &super::Variable| {
                        let whole = variable.whole && variable.writable && variable.space == space;
                        whole && variable.ty == parameter.ty && !used.contains(&format!("&{}", variable.path))
                    };
                    format!("&{}", self.variable(fits)?.path)
                }
            });
        }
        self.callable = self.callable.saturating_add(function.cost.saturating_mul(self.weight));
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }
}
