//! Bounds the size of user WGSL after a driver's inlining. Drivers copy every function to its
//! calls, and an array that is indexed as a value to every use: a page of WGSL can take gigabytes
//! and minutes. So the naga module is measured first and rejected beyond bounds that a software
//! adapter compiles in seconds.

use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::{Block, Expression, Function, Handle, Module, Span, Statement, TypeInner};

use super::contract::{Allowed, Check, Finding, calls, or};
use super::{LinkError, Program};

/// Statements and expressions of a function with all its callees.
const MOST_INLINED: u64 = 200_000;

/// Functions of a call chain.
const MOST_DEEP: u32 = 64;

/// Statements and expressions of a function alone.
const MOST_OWN: u64 = 20_000;

/// Words of an array that is indexed as a value: a constant, or a `let`.
const MOST_INDEXED: u64 = 1024;

/// The size of a function with all its callees.
#[derive(Clone, Copy, Default)]
struct Size {
    inlined: u64,
    deep: u32,
}

impl Program {
    /// Checks that the functions of user files are not too large for drivers.
    ///
    /// # Errors
    /// [`LinkError::Forbidden`] for the first function that is.
    pub(super) fn check_size(&self) -> Result<(), LinkError> {
        let allowed = Allowed::default();
        let check = Check { program: self, allowed: &allowed };
        let module = self.module();
        let mut sizes = Vec::<Size>::with_capacity(module.functions.len());
        let mut findings = Vec::new();
        // In naga a function follows its callees.
        for (handle, function) in module.functions.iter() {
            let place = check.place(module.functions.get_span(handle), function);
            let mut own = statements(&function.body).saturating_add(function.expressions.len() as u64);
            if let Some(place) = place {
                for (name, words, span) in indexed_values(module, function) {
                    if words > MOST_INDEXED {
                        let what = format!(
                            "{name} has {words} words and is indexed: drivers copy it to each use, \
                            so the bound is {MOST_INDEXED} words"
                        );
                        findings.push(Finding { span: or(span, place), what, advice: TABLES });
                    } else {
                        own = own.saturating_add(words);
                    }
                }
            }
            let mut called = Vec::new();
            calls(&function.body, Span::UNDEFINED, &mut called);
            let mut size = Size { inlined: own, deep: 1 };
            for (callee, _) in called {
                let callee = sizes[callee.index()];
                size.inlined = size.inlined.saturating_add(callee.inlined);
                size.deep = size.deep.max(callee.deep + 1);
            }
            sizes.push(size);
            let Some(place) = place else { continue };
            let name = function.name.as_deref().unwrap_or("_");
            let what = if own > MOST_OWN {
                format!("`{name}` has {own} statements and expressions; the bound is {MOST_OWN}")
            } else if size.inlined > MOST_INLINED {
                format!(
                    "{} have {} statements and expressions, with each call copied; \
                    the bound is {MOST_INLINED}",
                    chain(module, handle, &sizes, |size| size.inlined),
                    size.inlined
                )
            } else if size.deep > MOST_DEEP {
                format!(
                    "{} call each other in a chain of {} functions; the bound is {MOST_DEEP}",
                    chain(module, handle, &sizes, |size| size.deep.into()),
                    size.deep
                )
            } else {
                continue;
            };
            findings.push(Finding { span: place, what, advice: SHORTER });
            // Its callers are larger still.
            break;
        }
        check.program.refuse(findings, &allowed)
    }
}

const TABLES: &str = "Store it in `data`, which is not copied";
const SHORTER: &str = "Drivers copy functions to their calls: use a loop, or fewer calls";

/// The chain of functions from this one on that follows the largest callee: "`f` → `g` → … → `z`".
fn chain(module: &Module, from: Handle<Function>, sizes: &[Size], key: impl Fn(&Size) -> u64) -> String {
    let mut names = Vec::new();
    let mut next = Some(from);
    while let Some(handle) = next {
        let function = &module.functions[handle];
        names.push(format!("`{}`", function.name.as_deref().unwrap_or("_")));
        let mut called = Vec::new();
        calls(&function.body, Span::UNDEFINED, &mut called);
        next = called.into_iter().map(|(callee, _)| callee).max_by_key(|callee| key(&sizes[callee.index()]));
    }
    const SHOWN: usize = 3;
    if names.len() > 2 * SHOWN {
        names.splice(SHOWN..names.len() - SHOWN, ["…".to_owned()]);
    }
    names.join(" → ")
}

fn statements(block: &Block) -> u64 {
    let of = |statement: &Statement| match statement {
        Statement::Block(inner) => statements(inner),
        Statement::If { accept, reject, .. } => statements(accept) + statements(reject),
        Statement::Switch { cases, .. } => cases.iter().map(|case| 1 + statements(&case.body)).sum(),
        Statement::Loop { body, continuing, .. } => statements(body) + statements(continuing),
        _ => 0,
    };
    block.iter().map(|statement| 1 + of(statement)).sum()
}

/// The arrays that a function indexes as values at run time: their names, words and places.
fn indexed_values(module: &Module, function: &Function) -> Vec<(String, u64, Span)> {
    let accesses = function.expressions.iter().filter_map(|(handle, made)| match *made {
        Expression::Access { base, .. } => Some((handle, base)),
        _ => None,
    });
    let accesses: Vec<_> = accesses.collect();
    let Some(&(last, _)) = accesses.last() else { return Vec::new() };
    let context = ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
    let mut types = Typifier::new();
    // The module is valid: each expression has a type.
    if types.grow(last, &function.expressions, &context).is_err() {
        return Vec::new();
    }
    let array = |(handle, base)| match types.get(base, &module.types) {
        inner @ TypeInner::Array { .. } => {
            let words = u64::from(inner.size(module.to_ctx()) / 4);
            let name = match function.expressions[base] {
                Expression::Constant(constant) => module.constants[constant].name.as_deref(),
                _ => function.named_expressions.get(&base).map(String::as_str),
            };
            let name = name.map_or_else(|| "an array".to_owned(), |name| format!("`{name}`"));
            Some((name, words, function.expressions.get_span(handle)))
        }
        _ => None,
    };
    accesses.into_iter().filter_map(array).collect()
}

#[cfg(test)]
mod tests {
    use super::{MOST_DEEP, MOST_INDEXED, MOST_INLINED, MOST_OWN};
    use crate::gpu::{LinkError, Program, Source};

    fn refused(text: &str) -> Option<(u32, String)> {
        match Program::link("size", &[Source::new("model.wgsl", text.to_owned())]) {
            Ok(_) => None,
            Err(LinkError::Forbidden { line, what, remedy, .. }) => Some((line, format!("{what}. {remedy}"))),
            Err(other) => panic!("{other}"),
        }
    }

    /// Functions that each call the previous one `times` times.
    fn calling(functions: u32, times: usize) -> String {
        (1..=functions).fold("fn f0(x: u32) -> u32 { return x ^ 5u; }\n".to_owned(), |text, n| {
            let calls = vec![format!("f{}(x)", n - 1); times].join(" + ");
            text + &format!("fn f{n}(x: u32) -> u32 {{ return {calls}; }}\n")
        })
    }

    #[test]
    fn chains_of_calls_are_bounded() {
        assert_eq!(refused(&calling(10, 2)), None);
        let (line, what) = refused(&calling(30, 2)).unwrap();
        // Each line is a function. The error names the first one that is too large.
        assert!((10..20).contains(&line), "{what}");
        let top = format!("`f{}` → `f{}` → ", line - 1, line - 2);
        let bound = MOST_INLINED.to_string();
        for part in [&*top, "… → `f2` → `f1` → `f0` have ", &bound, "use a loop"] {
            assert!(what.contains(part), "{part}: {what}");
        }
        assert_eq!(refused(&calling(MOST_DEEP - 1, 1)), None);
        let (line, what) = refused(&calling(1000, 1)).unwrap();
        assert_eq!(line, MOST_DEEP + 1, "{what}");
        assert!(what.contains("a chain of 65 functions") && what.contains("the bound is 64"), "{what}");
        // The sum of calls overflows 64 bits.
        assert!(refused(&calling(60, 4)).is_some());
    }

    #[test]
    fn functions_are_bounded() {
        let of = |statements| {
            format!(
                "fn f(a: u32) -> u32 {{\n    var x = a;\n{}    return x;\n}}\n",
                "    x += a;\n".repeat(statements)
            )
        };
        assert_eq!(refused(&of(1000)), None);
        let (line, what) = refused(&of(20_000)).unwrap();
        assert!(line == 1 && what.contains("`f` has ") && what.contains(&MOST_OWN.to_string()), "{what}");
    }

    #[test]
    fn arrays_that_are_indexed_as_values_are_bounded() {
        let of = |words: u64, index: &str| {
            format!("const A = array<u32, {words}>();\nfn f(x: u32) -> u32 {{\n    return A[{index}];\n}}\n")
        };
        assert_eq!(refused(&of(MOST_INDEXED, "x")), None);
        // An array that only the compiler indexes is a number.
        assert_eq!(refused(&of(1_000_000, "7")), None);
        let (line, what) = refused(&of(1_000_000, "x")).unwrap();
        assert_eq!(line, 3);
        assert!(what.contains("`A` has 1000000 words") && what.contains("`data`"), "{what}");
    }

    #[test]
    fn code_of_the_cpu_is_not_bounded() {
        Program::link_for_cpu("size", &[Source::new("model.wgsl", calling(30, 2))]).unwrap();
    }

    #[test]
    fn files_of_the_librarys_are_not_bounded() {
        let text: &'static str = Box::leak(calling(30, 2).into_boxed_str());
        Program::link("size", &[Source::library("shaders/f.wgsl", text)]).unwrap();
    }
}
