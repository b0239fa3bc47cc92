//! Reads and writes structs of a storage buffer by 16 or 8 bytes.
//!
//! Drivers load and store a struct member by member, each with an address and a check of its own,
//! which is slow for structs of many words. So if a library file has
//!
//! ```wgsl
//! @group(0) @binding(6) var<storage, read_write> states: array<State>;
//! fn states_get(row: u32) -> State { return states[row]; }
//! fn states_set(row: u32, value: State) { states[row] = value; }
//! ```
//!
//! and the struct consists of words without padding, the linker writes the same three lines for an
//! array of `vec4<u32>` or `vec2<u32>`. It generates no other text, and this one only because WGSL
//! cannot reinterpret the type of a buffer.

use naga::{AddressSpace, ArraySize, Handle, Module, Scalar, Type, TypeInner, VectorSize};

/// Structs with more words stay unchanged: single members of long lists are better read in place.
const MOST_WORDS: usize = 64;

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The joined text with such lines replaced, if there are any. Lines stay the same.
pub(super) fn by_rows(module: &Module, text: &str) -> Option<String> {
    let variables = module.global_variables.iter().map(|(_, variable)| variable);
    let mut rewritten = None;
    for variable in variables.filter(|variable| matches!(variable.space, AddressSpace::Storage { .. })) {
        let TypeInner::Array { base, .. } = module.types[variable.ty].inner else { continue };
        let (Some(variable), Some(_)) = (&variable.name, &module.types[base].name) else { continue };
        let text = rewritten.as_deref().unwrap_or(text);
        rewritten = of_variable(module, text, variable, base).or(rewritten);
    }
    rewritten
}

fn of_variable(module: &Module, text: &str, variable: &str, ty: Handle<Type>) -> Option<String> {
    let name = module.types[ty].name.as_ref()?;
    let declared = format!("> {variable}: array<{name}>;");
    let get = format!("fn {variable}_get(row: u32) -> {name} {{ return {variable}[row]; }}");
    let set = format!("fn {variable}_set(row: u32, value: {name}) {{ {variable}[row] = value; }}");
    if [&declared, &get, &set].iter().any(|line| !text.contains(line.as_str())) {
        return None;
    }
    let words = module.types[ty].inner.size(module.to_ctx()) as usize / 4;
    let width = [4, 2].into_iter().find(|width| words.is_multiple_of(*width))?;
    if words == 0 || words > MOST_WORDS {
        return None;
    }
    let (rows, each) = (words / width, &COMPONENTS[..width]);
    let mut loaded =
        (0..rows).flat_map(|row| each.iter().map(move |component| format!("row_{row}.{component}")));
    let value = composed(module, ty, &mut loaded)?;
    let mut stored = Vec::new();
    taken_apart(module, ty, "value", &mut stored)?;
    let at = |row: usize| format!("{variable}[row * {rows}u + {row}u]");
    let loads: String = (0..rows).map(|row| format!("let row_{row} = {}; ", at(row))).collect();
    let stores: String = (0..rows)
        .map(|row| format!("{} = vec{width}<u32>({}); ", at(row), stored[row * width..][..width].join(", ")))
        .collect();
    Some(
        text.replace(&declared, &format!("> {variable}: array<vec{width}<u32>>;"))
            .replace(&get, &format!("fn {variable}_get(row: u32) -> {name} {{ {loads}return {value}; }}"))
            .replace(&set, &format!("fn {variable}_set(row: u32, value: {name}) {{ {stores}}}")),
    )
}

/// A value of a type of words, in WGSL, from one expression for each word. `None` if it contains
/// anything except words, or padding.
fn composed(module: &Module, ty: Handle<Type>, words: &mut impl Iterator<Item = String>) -> Option<String> {
    let Type { name, inner } = &module.types[ty];
    let mut parts = Vec::new();
    match inner {
        TypeInner::Scalar(scalar) => return Some(read(*scalar, &words.next()?)),
        TypeInner::Vector { size, scalar } => {
            for _ in 0..count(*size) {
                parts.push(read(*scalar, &words.next()?));
            }
        }
        TypeInner::Array { base, size: ArraySize::Constant(size), .. } => {
            for _ in 0..size.get() {
                parts.push(composed(module, *base, words)?);
            }
        }
        TypeInner::Struct { members, .. } => {
            name.as_ref()?;
            for member in members {
                parts.push(composed(module, member.ty, words)?);
            }
        }
        _ => return None,
    }
    Some(format!("{}({})", named(module, ty)?, parts.join(", ")))
}

/// The words of a value of such a type; `path` is its expression.
fn taken_apart(module: &Module, ty: Handle<Type>, path: &str, words: &mut Vec<String>) -> Option<()> {
    let begin = words.len();
    let end = begin + module.types[ty].inner.size(module.to_ctx()) as usize / 4;
    match &module.types[ty].inner {
        TypeInner::Scalar(scalar) => words.push(written(*scalar, path)?),
        TypeInner::Vector { size, scalar } => {
            for component in &COMPONENTS[..count(*size)] {
                words.push(written(*scalar, &format!("{path}.{component}"))?);
            }
        }
        TypeInner::Array { base, size: ArraySize::Constant(size), .. } => {
            for index in 0..size.get() {
                taken_apart(module, *base, &format!("{path}[{index}]"), words)?;
            }
        }
        TypeInner::Struct { members, .. } => {
            for member in members {
                // A member that begins later has padding before it.
                (begin + member.offset as usize / 4 == words.len()).then_some(())?;
                taken_apart(module, member.ty, &format!("{path}.{}", member.name.as_ref()?), words)?;
            }
        }
        _ => return None,
    }
    (words.len() == end).then_some(())
}

fn count(size: VectorSize) -> usize {
    size as usize
}

/// A word as a number of this type.
fn read(scalar: Scalar, word: &str) -> String {
    match scalar {
        Scalar::U32 => word.to_owned(),
        _ => format!("bitcast<{}>({word})", scalar_name(scalar).unwrap_or_default()),
    }
}

/// The inverse; `None` if the type is not a word.
fn written(scalar: Scalar, value: &str) -> Option<String> {
    Some(match scalar_name(scalar)? {
        "u32" => value.to_owned(),
        _ => format!("bitcast<u32>({value})"),
    })
}

fn scalar_name(scalar: Scalar) -> Option<&'static str> {
    match scalar {
        Scalar::U32 => Some("u32"),
        Scalar::I32 => Some("i32"),
        Scalar::F32 => Some("f32"),
        _ => None,
    }
}

/// The WGSL name of a type.
fn named(module: &Module, ty: Handle<Type>) -> Option<String> {
    let Type { name, inner } = &module.types[ty];
    match inner {
        TypeInner::Scalar(scalar) => scalar_name(*scalar).map(str::to_owned),
        TypeInner::Vector { size, scalar } => Some(format!("vec{}<{}>", count(*size), scalar_name(*scalar)?)),
        TypeInner::Array { base, size: ArraySize::Constant(size), .. } => {
            Some(format!("array<{}, {size}>", named(module, *base)?))
        }
        TypeInner::Struct { .. } => name.clone(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::gpu::{Program, Source};

    const LINES: &str = "@group(0) @binding(0) var<storage, read_write> rows: array<Row>;
fn rows_get(row: u32) -> Row { return rows[row]; }
fn rows_set(row: u32, value: Row) { rows[row] = value; }
@compute @workgroup_size(1) fn main() { rows_set(1u, rows_get(0u)); }
";

    fn written(row: &str) -> String {
        let sources = [Source::library("shaders/rows.wgsl", LINES), Source::new("row.wgsl", row.to_owned())];
        Program::link("rows", &sources).unwrap().device_text().to_owned()
    }

    #[test]
    fn structs_of_words_are_read_and_written_by_rows() {
        let text = written(
            "struct Inner { a: i32, b: f32 }
            struct Row { c: vec2<u32>, d: array<Inner, 1>, e: vec4<f32>, f: u32, g: u32, h: vec2<i32> }",
        );
        for line in [
            "> rows: array<vec4<u32>>;",
            "fn rows_get(row: u32) -> Row { let row_0 = rows[row * 3u + 0u]; let row_1 = ",
            "return Row(vec2<u32>(row_0.x, row_0.y), array<Inner, 1>(Inner(bitcast<i32>(row_0.z), bitcast<f32>(row_0.w))), vec4<f32>(bitcast<f32>(row_1.x), ",
            "row_2.x, row_2.y, vec2<i32>(bitcast<i32>(row_2.z), bitcast<i32>(row_2.w)));",
            "rows[row * 3u + 0u] = vec4<u32>(value.c.x, value.c.y, bitcast<u32>(value.d[0].a), bitcast<u32>(value.d[0].b));",
            "rows[row * 3u + 2u] = vec4<u32>(value.f, value.g, bitcast<u32>(value.h.x), bitcast<u32>(value.h.y));",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        // Lines stay the same, because errors refer to them.
        assert!(text.contains("}\n@compute @workgroup_size(1) fn main()"));
        let pairs = written("struct Row { a: vec2<u32>, b: u32, c: u32, d: vec2<u32> }");
        assert!(pairs.contains("> rows: array<vec2<u32>>;"));
    }

    #[test]
    fn others_stay_as_they_are() {
        let long = format!("struct Row {{ a: array<vec4<u32>, {}> }}", super::MOST_WORDS / 4 + 1);
        let padded = "struct Row { a: vec3<u32>, b: vec4<u32> }";
        for row in ["struct Row { a: u32, b: u32, c: u32 }", padded, "struct Row { a: mat2x2<f32> }", &long] {
            assert!(written(row).contains(LINES), "{row}");
        }
    }
}
