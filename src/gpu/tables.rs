//! For software adapters, replaces constant arrays in user code that are indexed at run time by
//! functions that select.
//!
//! naga stores such an array to a variable at each use, word by word, and LLVM's time grows with
//! the square of such stores: minutes for 1,000 words. A selection among as many values compiles in
//! a moment.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use naga::{Expression, Handle, Literal, Module, Scalar, TypeInner};

use super::{Program, words};

/// Arrays with fewer values stay unchanged.
const FEWEST: usize = 16;

/// A use of an array: its name, and the brackets of its index.
struct Use {
    begin: usize,
    open: usize,
    close: usize,
    constant: Handle<naga::Constant>,
}

impl Program {
    /// The text for software adapters: [`Program::device_text`], with such functions.
    pub(super) fn software_text(&self) -> Cow<'_, str> {
        match self.with_tables_selected() {
            Some(text) => words::by_rows(self.module(), &text).unwrap_or(text).into(),
            None => self.device_text().into(),
        }
    }

    /// The text with each such array in a function, if there is any. Lines stay the same.
    fn with_tables_selected(&self) -> Option<String> {
        let (module, text) = (self.module(), self.text());
        let mut uses: Vec<Use> = Vec::new();
        for (_, function) in module.functions.iter() {
            for (handle, made) in function.expressions.iter() {
                if let Expression::Access { base, .. } = *made
                    && let Expression::Constant(constant) = function.expressions[base]
                    && let Some(range) = function.expressions.get_span(handle).to_range()
                    && self.is_users(function.expressions.get_span(handle).location(text).line_number)
                    && let Some(found) =
                        of(text, range, module.constants[constant].name.as_deref()?, constant)
                {
                    uses.push(found);
                }
            }
        }
        uses.retain(|found| values(module, found.constant).is_some());
        uses.sort_unstable_by_key(|found| found.begin);
        uses.dedup_by_key(|found| found.begin);
        let mut constants: Vec<_> = uses.iter().map(|found| found.constant).collect();
        constants.sort_unstable();
        constants.dedup();
        if constants.is_empty() {
            return None;
        }
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for found in &uses {
            edits.push((
                found.begin..found.open + 1,
                format!("{}(u32(", function_name(module, found.constant)),
            ));
            edits.push((found.close..found.close + 1, "))".to_owned()));
        }
        edits.sort_unstable_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = text.to_owned();
        for (range, new) in edits {
            text.replace_range(range, &new);
        }
        for constant in constants {
            let (ty, values) = values(module, constant)?;
            let name = function_name(module, constant);
            let _ = write!(text, "fn {name}(at: u32) -> {ty} {{ let i = min(at, {}u); ", values.len() - 1);
            for bit in 0..values.len().next_power_of_two().trailing_zeros() {
                let _ = write!(text, "let b{bit} = (i & {}u) != 0u; ", 1_u32 << bit);
            }
            let _ = writeln!(text, "return {}; }}", selected(&values));
        }
        naga::front::wgsl::parse_str(&text).is_ok().then_some(text)
    }
}

fn function_name(module: &Module, constant: Handle<naga::Constant>) -> String {
    format!(
        "{}_selected_{}",
        module.constants[constant].name.as_deref().unwrap_or_default(),
        constant.index()
    )
}

/// The use of an array, if this range of the text is its name and an index in brackets.
fn of(text: &str, range: Range<usize>, name: &str, constant: Handle<naga::Constant>) -> Option<Use> {
    let rest = text.get(range.clone())?.strip_prefix(name)?;
    let open = range.start + name.len() + (rest.len() - rest.trim_start().len());
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.checked_sub(1)?,
            // Comments may contain brackets.
            b'/' => return None,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(Use { begin: range.start, open, close: at, constant });
        }
    }
    None
}

/// The element type and the values of a constant array, in WGSL, if they are numbers and there are
/// enough of them.
fn values(module: &Module, constant: Handle<naga::Constant>) -> Option<(&'static str, Vec<String>)> {
    let constant = &module.constants[constant];
    let TypeInner::Array { base, size: naga::ArraySize::Constant(size), .. } =
        module.types[constant.ty].inner
    else {
        return None;
    };
    let TypeInner::Scalar(scalar) = module.types[base].inner else { return None };
    let (ty, zero) = match scalar {
        Scalar::U32 => ("u32", "0u"),
        Scalar::I32 => ("i32", "0i"),
        Scalar::F32 => ("f32", "0f"),
        _ => return None,
    };
    let size = size.get() as usize;
    let values = match &module.global_expressions[constant.init] {
        Expression::ZeroValue(_) => vec![zero.to_owned(); size],
        Expression::Compose { components, .. } => {
            let value = |handle: &Handle<Expression>| match module.global_expressions[*handle] {
                Expression::Literal(Literal::U32(value)) => Some(format!("{value}u")),
                Expression::Literal(Literal::I32(value)) => Some(format!("i32({}u)", value.cast_unsigned())),
                Expression::Literal(Literal::F32(value)) => Some(format!("{value:?}f")),
                Expression::ZeroValue(_) => Some(zero.to_owned()),
                _ => None,
            };
            components.iter().map(value).collect::<Option<_>>()?
        }
        _ => return None,
    };
    (values.len() == size && size >= FEWEST).then_some((ty, values))
}

/// The value at an index with the bits `b0`, `b1` and so on.
fn selected(values: &[String]) -> String {
    let mut level = values.to_vec();
    let mut bit = 0;
    while level.len() > 1 {
        let pairs = level.chunks(2).map(|pair| match pair {
            [even, odd] if even != odd => format!("select({even}, {odd}, b{bit})"),
            _ => pair[0].clone(),
        });
        level = pairs.collect();
        bit += 1;
    }
    level.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::gpu::{Program, Source};

    #[test]
    fn constant_arrays_that_are_indexed_become_functions() {
        let words = |of: &dyn Fn(u32) -> String, most| (0..most).map(of).collect::<Vec<_>>().join(", ");
        let text = format!(
            "const A = array<u32, 20>({});\nconst B = array<i32, 16>({});\n\
             const C = array<f32, 17>();\nconst D = array<u32, 4>(1, 2, 3, 4);
fn f(x: u32) -> u32 {{ return A[A[x % 7u] + 1u] + A[3] + D[x]; }}
fn g(x: i32) -> i32 {{ let A = array<u32, 20>(); return B[x] + i32(C [ x ]) + i32(A[x]); }}
",
            words(&|n| format!("{}u", n * n), 20),
            words(&|n| format!("{}", -i64::from(n)), 16),
        );
        let program = Program::link("t", &[Source::new("m.wgsl", text.clone())]).unwrap();
        let selected = program.software_text();
        for part in [
            "return A_selected_0(u32(A_selected_0(u32(x % 7u)) + 1u)) + A[3] + D[x];",
            "return B_selected_1(u32(x)) + i32(C_selected_2(u32( x ))) + i32(A[x]);",
            "fn A_selected_0(at: u32) -> u32 { let i = min(at, 19u); let b0 = (i & 1u) != 0u;",
            "select(select(0u, 1u, b0), select(4u, 9u, b0), b1)",
            "i32(4294967281u)",
            "return 0f; }",
        ] {
            assert!(selected.contains(part), "{part}\n{selected}");
        }
        // Lines stay the same, and library text does not change.
        assert!(selected.lines().zip(text.lines()).take(4).all(|(new, old)| new == old));
        let program =
            Program::link("t", &[Source::library("shaders/m.wgsl", Box::leak(text.into_boxed_str()))]);
        assert!(!program.unwrap().software_text().contains("_selected_"));
    }
}
