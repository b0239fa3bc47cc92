//! Types of programs.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    U32,
    I32,
    Bool,
    F32,
}

impl Scalar {
    pub(super) fn name(self) -> &'static str {
        match self {
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::Bool => "bool",
            Scalar::F32 => "f32",
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Type {
    Scalar(Scalar),
    Vector(u32, Scalar),
    Array(Box<Type>, u32),
    /// By its number.
    Struct(usize),
}

impl Type {
    pub(super) const U32: Type = Type::Scalar(Scalar::U32);
    pub(super) const I32: Type = Type::Scalar(Scalar::I32);
    pub(super) const BOOL: Type = Type::Scalar(Scalar::Bool);
    pub(super) const F32: Type = Type::Scalar(Scalar::F32);

    pub(super) fn name(&self) -> String {
        match self {
            Type::Scalar(scalar) => scalar.name().to_owned(),
            Type::Vector(size, scalar) => format!("vec{size}<{}>", scalar.name()),
            Type::Array(element, size) => format!("array<{}, {size}>", element.name()),
            Type::Struct(number) => format!("S{number}"),
        }
    }

    /// A scalar, or the vector of a size of this scalar.
    pub(super) fn of(size: u32, scalar: Scalar) -> Type {
        if size == 1 { Type::Scalar(scalar) } else { Type::Vector(size, scalar) }
    }
}

pub(super) struct Struct {
    pub(super) text: String,
    pub(super) members: Vec<Type>,
    /// All members are integers, which lie in buffers.
    pub(super) shareable: bool,
}
