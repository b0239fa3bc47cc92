//! Reflection: reads the layout of WGSL structs, so that users need not repeat it in Rust.

use std::any::TypeId;

use super::Program;

/// A word of a WGSL struct whose fields are known only at run time.
///
/// A model whose `State`, `Params` or `Output` is this type may have a WGSL struct of any number of
/// words there. On the host it is these words, one after the other. Reflection interprets them
/// (`pdes::Schema`, `replication::Schema`).
/// Such a model has no second implementation in Rust: the CPU engines run its WGSL, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Word(pub u32);

/// The number of values of `T` that represent a WGSL struct of `bytes` bytes: one, or its words if
/// `T` is [`Word`]. `None` if `T` has another size.
pub(crate) fn values_of<T: 'static>(bytes: u32) -> Option<usize> {
    match is_words::<T>() {
        true => Some(bytes as usize / 4),
        false => (bytes as usize == size_of::<T>()).then_some(1),
    }
}

/// Whether `T` represents words whose meaning is known only at run time.
pub(crate) fn is_words<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<Word>()
}

/// A field of a WGSL struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its first byte within the struct.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Its type.
    pub kind: FieldKind,
}

/// The type of a field, as far as the host needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// `u32`
    U32,
    /// `i32`
    I32,
    /// `f32`
    F32,
    /// `vec2<u32>`: by convention the low and the high half of a 64-bit number.
    U64,
    /// `vec4<u32>`: by convention a 128-bit number, the lowest word first.
    U128,
    /// Anything else.
    Other,
}

/// A WGSL struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructLayout {
    /// Its fields, in order.
    pub fields: Vec<Field>,
    /// Its size in bytes, padding included.
    pub bytes: u32,
    /// The first field with inner padding: for example an array of `vec3`, or a struct.
    padded: Option<String>,
    columns: Vec<Field>,
}

impl StructLayout {
    /// The fields down to single numbers, in order. Fields of an inner struct are named
    /// `name.field`, elements of an array `name[0]`, `name[1]` and so on. Values that are not
    /// numbers are [`FieldKind::Other`]. Explicit padding is omitted: fields named `unused`, or
    /// with a leading underscore.
    pub fn columns(&self) -> &[Field] {
        &self.columns
    }

    /// The place of the first bytes that belong to no field, in words, if there are any. Without
    /// them the struct's bytes mean the same on both sides.
    pub(crate) fn padding(&self) -> Option<String> {
        let mut next = 0;
        for field in &self.fields {
            if field.offset != next {
                return Some(format!("{} bytes before `{}`", field.offset - next, field.name));
            }
            if self.padded.as_ref() == Some(&field.name) {
                return Some(format!("bytes within `{}`", field.name));
            }
            next = field.offset + field.bytes;
        }
        let last = self.fields.last().map_or("", |field| &field.name);
        (next != self.bytes).then(|| format!("{} bytes after `{last}`", self.bytes - next))
    }
}

impl Program {
    /// The struct called `name`, if the program has one.
    pub fn layout(&self, name: &str) -> Option<StructLayout> {
        let module = self.module();
        module.types.iter().find_map(|(_, ty)| match &ty.inner {
            naga::TypeInner::Struct { members, span } if ty.name.as_deref() == Some(name) => {
                let mut columns = Vec::new();
                for member in members.iter().filter(|member| !fills(member)) {
                    let name = member.name.clone().unwrap_or_default();
                    flatten(module, name, member.offset, member.ty, &mut columns);
                }
                Some(StructLayout {
                    columns,
                    fields: members
                        .iter()
                        .map(|member| {
                            let inner = &module.types[member.ty].inner;
                            Field {
                                name: member.name.clone().unwrap_or_default(),
                                offset: member.offset,
                                bytes: inner.size(module.to_ctx()),
                                kind: kind(inner),
                            }
                        })
                        .collect(),
                    padded: members
                        .iter()
                        .find(|member| !dense(module, member.ty))
                        .map(|member| member.name.clone().unwrap_or_default()),
                    bytes: *span,
                })
            }
            _ => None,
        })
    }
}

/// Adds the parts of a type at byte `offset`, down to single numbers.
fn flatten(
    module: &naga::Module,
    name: String,
    offset: u32,
    ty: naga::Handle<naga::Type>,
    columns: &mut Vec<Field>,
) {
    let inner = &module.types[ty].inner;
    match inner {
        naga::TypeInner::Struct { members, .. } => {
            for member in members.iter().filter(|member| !fills(member)) {
                let name = format!("{name}.{}", member.name.as_deref().unwrap_or_default());
                flatten(module, name, offset + member.offset, member.ty, columns);
            }
        }
        naga::TypeInner::Array { base, size: naga::ArraySize::Constant(size), stride } => {
            for index in 0..size.get() {
                flatten(module, format!("{name}[{index}]"), offset + index * stride, *base, columns);
            }
        }
        _ => columns.push(Field { name, offset, bytes: inner.size(module.to_ctx()), kind: kind(inner) }),
    }
}

/// Whether a field is explicit padding.
fn fills(member: &naga::StructMember) -> bool {
    member.name.as_deref().is_some_and(|name| name == "unused" || name.starts_with('_'))
}

/// Whether every byte of a type belongs to a value.
fn dense(module: &naga::Module, ty: naga::Handle<naga::Type>) -> bool {
    match &module.types[ty].inner {
        naga::TypeInner::Scalar(_) | naga::TypeInner::Vector { .. } | naga::TypeInner::Atomic(_) => true,
        naga::TypeInner::Matrix { rows, .. } => *rows != naga::VectorSize::Tri,
        naga::TypeInner::Array { base, stride, .. } => {
            *stride == module.types[*base].inner.size(module.to_ctx()) && dense(module, *base)
        }
        naga::TypeInner::Struct { members, span } => {
            let mut next = 0;
            members.iter().all(|member| {
                let follows = member.offset == next && dense(module, member.ty);
                next = member.offset + module.types[member.ty].inner.size(module.to_ctx());
                follows
            }) && next == *span
        }
        _ => false,
    }
}

fn kind(inner: &naga::TypeInner) -> FieldKind {
    match *inner {
        naga::TypeInner::Scalar(naga::Scalar::U32) => FieldKind::U32,
        naga::TypeInner::Scalar(naga::Scalar::I32) => FieldKind::I32,
        naga::TypeInner::Scalar(naga::Scalar::F32) => FieldKind::F32,
        naga::TypeInner::Vector { size: naga::VectorSize::Bi, scalar: naga::Scalar::U32 } => FieldKind::U64,
        naga::TypeInner::Vector { size: naga::VectorSize::Quad, scalar: naga::Scalar::U32 } => {
            FieldKind::U128
        }
        _ => FieldKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Source;

    #[test]
    fn fields_have_names_offsets_and_types() {
        let text = "struct S { a: u32, b: f32, c: vec2<u32>, d: i32, @align(8) e: u32 }";
        let program = Program::link("t", &[Source::new("s.wgsl", text)]).unwrap();
        let layout = program.layout("S").unwrap();
        let seen: Vec<_> =
            layout.fields.iter().map(|f| (f.name.as_str(), f.offset, f.bytes, f.kind)).collect();
        assert_eq!(
            seen,
            [
                ("a", 0, 4, FieldKind::U32),
                ("b", 4, 4, FieldKind::F32),
                ("c", 8, 8, FieldKind::U64),
                ("d", 16, 4, FieldKind::I32),
                ("e", 24, 4, FieldKind::U32)
            ]
        );
        assert_eq!(layout.bytes, 32);
        assert_eq!(layout.padding().unwrap(), "4 bytes before `e`");
        assert_eq!(program.layout("T"), None);
    }

    #[test]
    fn columns_are_the_numbers_at_any_depth() {
        let text = "struct Inner { a: vec4<u32>, b: vec2<u32>, c: i32, d: f32 }
            struct S { first: Inner, bins: array<u32, 3>, more: array<Inner, 2>, place: vec3<f32> }";
        let program = Program::link("t", &[Source::new("s.wgsl", text)]).unwrap();
        let layout = program.layout("S").unwrap();
        let seen: Vec<_> =
            layout.columns().iter().map(|f| (f.name.as_str(), f.offset, f.bytes, f.kind)).collect();
        assert_eq!(
            seen,
            [
                ("first.a", 0, 16, FieldKind::U128),
                ("first.b", 16, 8, FieldKind::U64),
                ("first.c", 24, 4, FieldKind::I32),
                ("first.d", 28, 4, FieldKind::F32),
                ("bins[0]", 32, 4, FieldKind::U32),
                ("bins[1]", 36, 4, FieldKind::U32),
                ("bins[2]", 40, 4, FieldKind::U32),
                ("more[0].a", 48, 16, FieldKind::U128),
                ("more[0].b", 64, 8, FieldKind::U64),
                ("more[0].c", 72, 4, FieldKind::I32),
                ("more[0].d", 76, 4, FieldKind::F32),
                ("more[1].a", 80, 16, FieldKind::U128),
                ("more[1].b", 96, 8, FieldKind::U64),
                ("more[1].c", 104, 4, FieldKind::I32),
                ("more[1].d", 108, 4, FieldKind::F32),
                ("place", 112, 12, FieldKind::Other),
            ]
        );
        assert!(layout.fields.iter().all(|field| field.kind == FieldKind::Other));
    }

    #[test]
    fn fields_in_the_place_of_padding_are_no_columns() {
        let text = "struct Inner { a: vec2<u32>, b: u32, unused: u32 }
            struct S { _first: vec4<u32>, inner: array<Inner, 2>, used: u32, _last: array<u32, 3>, unused_too: u32, unused: vec3<f32> }";
        let program = Program::link("t", &[Source::new("s.wgsl", text)]).unwrap();
        let layout = program.layout("S").unwrap();
        let names: Vec<_> = layout.columns().iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["inner[0].a", "inner[0].b", "inner[1].a", "inner[1].b", "used", "unused_too"]);
        assert!(layout.fields.iter().any(|field| field.name == "_last"));
    }

    #[test]
    fn padding_is_seen_at_any_depth() {
        let text = "struct Inner { v: vec3<u32> }
            struct Fine { a: array<vec2<u32>, 2>, b: vec3<u32>, c: u32 }
            struct Rows { a: array<vec3<u32>, 2> }
            struct Nested { a: Inner }
            struct Columns { a: mat2x3<f32> }";
        let program = Program::link("t", &[Source::new("s.wgsl", text)]).unwrap();
        let padding = |name| program.layout(name).unwrap().padding();
        assert_eq!(padding("Fine"), None);
        assert_eq!(padding("Inner").unwrap(), "4 bytes after `v`");
        for name in ["Rows", "Nested", "Columns"] {
            assert_eq!(padding(name).unwrap(), "bytes within `a`", "{name}");
        }
    }
}
