//! Checks user WGSL against the contract of models: what it may do in an engine, before any
//! compilation.

use std::fmt::Write as _;

use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::{AddressSpace, Expression, Function, ScalarKind, Span, Statement, StorageAccess, TypeInner};

use super::{LinkError, Program, Source};

/// What user files may use of the program that they are linked into.
///
/// They may freely use their own constants, types and functions, and the engine's constants and
/// types.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allowed<'a> {
    /// Engine functions that they may call.
    pub functions: &'a [&'a str],
    /// Buffers that they may declare, or read if the engine declares them.
    pub variables: &'a [&'a str],
    /// Those of `variables` that they may write.
    pub written: &'a [&'a str],
}

impl Allowed<'_> {
    /// The end of each message: what the file may use instead.
    fn remedy(&self, advice: &str) -> String {
        let list =
            |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let mut text = advice.to_owned();
        if !self.variables.is_empty() {
            let _ = write!(text, "; variables for this file: {}", list(self.variables));
        }
        if !self.functions.is_empty() {
            let _ = write!(text, "; engine functions for it: {}", list(self.functions));
        }
        text
    }
}

/// A declaration that an engine needs in a user file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declaration {
    /// `fn` or `struct`.
    pub(crate) keyword: &'static str,
    pub(crate) name: &'static str,
    /// The declaration as errors quote it.
    pub(crate) text: &'static str,
}

impl Source {
    /// The declaration of a contract that this user file lacks, or declares differently, if that is
    /// why the engine's own files do not link with it. naga's messages do not always say so:
    /// `step`, for example, is also a WGSL function.
    pub(crate) fn lacks(&self, contract: &[Declaration], error: &LinkError) -> Option<String> {
        let LinkError::Wgsl { library: true, message, report, .. } = error else { return None };
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let own = words(self.text());
        let declares =
            |it: &Declaration| own.windows(2).any(|pair| pair[0] == it.keyword && pair[1] == it.name);
        if let Some(missing) = contract.iter().find(|it| !declares(it)) {
            return Some(format!("does not declare `{}`, which the engine needs", missing.text));
        }
        // A type of the contract that the file declares itself is a different type.
        let of_contract = |name: &String| {
            contract.iter().any(|it| words(it.text).contains(name))
                && contract.iter().all(|it| it.name != name)
        };
        let global = |keyword: &String| ["struct", "alias"].contains(&keyword.as_str());
        if let Some(pair) = own.windows(2).find(|pair| global(&pair[0]) && of_contract(&pair[1])) {
            let (keyword, name) = (&pair[0], &pair[1]);
            return Some(format!("declares `{keyword} {name}`, which is a name of the engine; rename it"));
        }
        // Ignores the names of the engine's files.
        let said: Vec<_> =
            report.lines().filter(|line| !line.starts_with("  --> ")).flat_map(words).collect();
        let otherwise = contract.iter().rev().find(|it| said.iter().any(|word| word == it.name))?;
        Some(format!("must declare `{}`, but declares it differently: {message}", otherwise.text))
    }
}

/// Something forbidden, with its place in the joined text.
pub(super) struct Finding {
    pub(super) span: Span,
    pub(super) what: String,
    pub(super) advice: &'static str,
}

const STATE: &str = "Keep changing state in function variables and in the values that the engine passes in";
const ENGINE: &str = "Only the engine uses it";
const CARRY: &str = "Sums of vectors lose the carry, which is wrong from tick 2^32 on: use `time_add` for \
    sums, and `time_since` for differences";
const IDLE: &str = "this loop changes nothing that is read after it";
const ENDLESS: &str = "Compilers remove it even if it never ends: delete it, or use what it computes";
const ALONE: &str = "Each call serves one entity and must not depend on other invocations";

impl Program {
    /// Checks that the user files of this program do only what is `allowed`.
    ///
    /// It rejects module-scope variables other than the allowed ones, uses of the engine's
    /// variables, `override`s and functions, barriers, `workgroupUniformLoad`, subgroup operations,
    /// atomics, and entry points.
    ///
    /// # Errors
    /// [`LinkError::Forbidden`] for the first one in the text.
    pub(crate) fn check_user(&self, allowed: &Allowed<'_>) -> Result<(), LinkError> {
        let check = Check { program: self, allowed };
        let mut findings = check.variables();
        for (handle, function) in self.module().functions.iter() {
            let place = self.module().functions.get_span(handle);
            if let Some(place) = check.place(place, function) {
                findings.extend(check.function(function, place));
            }
        }
        for entry in &self.module().entry_points {
            // An empty function has no parts with a place.
            let declared = || {
                let head = format!("fn {}(", entry.name);
                let mut found = self.text().match_indices(&head).filter(|&(at, _)| {
                    let line = self.text()[..at].rfind('\n').map_or(0, |line| line + 1);
                    !self.text()[line..at].contains("//")
                });
                let span = |at| u32::try_from(at).map_or(Span::UNDEFINED, |at| Span::new(at, at + 2));
                found.next().map(|(at, _)| span(at)).filter(|&span| check.is_users(span))
            };
            if let Some(span) = check.place(Span::UNDEFINED, &entry.function).or_else(declared) {
                let what = format!("`{}` is an entry point", entry.name);
                findings.push(Finding { span, what, advice: "Only the engine has entry points" });
            }
        }
        let sums = self.time_sums().into_iter();
        findings.extend(sums.map(|(span, what)| Finding { span, what, advice: CARRY }));
        self.refuse(findings, allowed)
    }

    /// Checks that the user function `name` and its user callees call no engine functions except
    /// `functions`. `advice` describes its purpose.
    ///
    /// # Errors
    /// [`LinkError::Forbidden`] for the first other call in the text.
    pub(crate) fn check_calls(
        &self,
        name: &str,
        functions: &[&str],
        advice: &'static str,
    ) -> Result<(), LinkError> {
        let allowed = Allowed { functions, ..Allowed::default() };
        let check = Check { program: self, allowed: &allowed };
        let all = &self.module().functions;
        let place = |handle| check.place(all.get_span(handle), &all[handle]);
        let named = |handle: naga::Handle<Function>| all[handle].name.as_deref().unwrap_or("_");
        let own = all.iter().filter_map(|(handle, _)| place(handle).map(|_| handle));
        let mut reached: Vec<_> = own.filter(|&handle| named(handle) == name).collect();
        let mut findings = Vec::new();
        let mut next = 0;
        while let Some(&caller) = reached.get(next) {
            next += 1;
            let mut called = Vec::new();
            calls(&all[caller].body, place(caller).unwrap_or_default(), &mut called);
            for (called, span) in called {
                if place(called).is_some() {
                    if !reached.contains(&called) {
                        reached.push(called);
                    }
                } else if !functions.contains(&named(called)) {
                    let what = match named(caller) == name {
                        true => format!("`{name}` may not call `{}`", named(called)),
                        false => {
                            let (helper, called) = (named(caller), named(called));
                            format!("`{name}` may not call `{called}`, and calls `{helper}`, which does")
                        }
                    };
                    findings.push(Finding { span, what, advice });
                }
            }
        }
        self.refuse(findings, &allowed)
    }

    /// Checks that user functions have no floating-point values. `advice` gives the reason.
    ///
    /// # Errors
    /// [`LinkError::Forbidden`] for the first one in the text.
    pub(crate) fn check_integers(&self, advice: &'static str) -> Result<(), LinkError> {
        let allowed = Allowed::default();
        let check = Check { program: self, allowed: &allowed };
        let module = self.module();
        let mut findings = Vec::new();
        for (handle, function) in module.functions.iter() {
            let Some(place) = check.place(module.functions.get_span(handle), function) else { continue };
            let context = ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
            let mut types = Typifier::new();
            for (expression, _) in function.expressions.iter() {
                // The module is valid: each expression has a type.
                if types.grow(expression, &function.expressions, &context).is_err() {
                    break;
                }
                let kind = types.get(expression, &module.types).scalar_kind();
                if matches!(kind, Some(ScalarKind::Float | ScalarKind::AbstractFloat)) {
                    let span = or(function.expressions.get_span(expression), place);
                    findings.push(Finding { span, what: "a floating-point value".to_owned(), advice });
                }
            }
        }
        self.refuse(findings, &allowed)
    }

    /// The first finding in the text as an error, with its remedy.
    pub(super) fn refuse(&self, findings: Vec<Finding>, allowed: &Allowed<'_>) -> Result<(), LinkError> {
        // Spans are places in the joined text, which has the files in linking order.
        let place = |finding: &Finding| finding.span.to_range().map_or(usize::MAX, |range| range.start);
        let first = findings.into_iter().min_by_key(place);
        match first {
            None => Ok(()),
            Some(Finding { span, what, advice }) => Err(self.forbidden(span, what, allowed.remedy(advice))),
        }
    }
}

/// The functions that a block calls, each with the place of the call, or of the surrounding code.
pub(super) fn calls(block: &naga::Block, place: Span, found: &mut Vec<(naga::Handle<Function>, Span)>) {
    for (statement, &span) in block.span_iter() {
        let span = or(span, place);
        match statement {
            Statement::Call { function, .. } => found.push((*function, span)),
            Statement::Block(inner) => calls(inner, span, found),
            Statement::If { accept, reject, .. } => {
                calls(accept, span, found);
                calls(reject, span, found);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| calls(&case.body, span, found)),
            Statement::Loop { body, continuing, .. } => {
                calls(body, span, found);
                calls(continuing, span, found);
            }
            _ => {}
        }
    }
}

/// Maximum bytes of a function's variables: WGSL's guaranteed limit. Some drivers end the process
/// beyond their limit.
pub(crate) const MOST_KEPT: u32 = 8192;

pub(super) struct Check<'a> {
    pub(super) program: &'a Program,
    pub(super) allowed: &'a Allowed<'a>,
}

impl Check<'_> {
    /// Whether this place is in a user file. False for unknown places.
    fn is_users(&self, span: Span) -> bool {
        span.is_defined() && self.program.is_users(span.location(self.program.text()).line_number)
    }

    /// The place of a user function; `declared` is naga's place of the declaration.
    pub(super) fn place(&self, declared: Span, function: &Function) -> Option<Span> {
        // A function without a place of its own gets the places of its parts.
        let expressions =
            || function.expressions.iter().map(|(handle, _)| function.expressions.get_span(handle));
        let parts = || function.body.span_iter().map(|(_, span)| *span).chain(expressions());
        let place = if declared.is_defined() { Some(declared) } else { parts().find(Span::is_defined) };
        place.filter(|&place| self.is_users(place))
    }

    /// The violations at module scope.
    fn variables(&self) -> Vec<Finding> {
        let module = self.program.module();
        let mut findings = Vec::new();
        for (handle, variable) in module.global_variables.iter() {
            let span = module.global_variables.get_span(handle);
            if !self.is_users(span) {
                continue;
            }
            let name = variable.name.as_deref().unwrap_or("_");
            let mut refuse = |what: String| findings.push(Finding { span, what, advice: STATE });
            if !self.allowed.variables.contains(&name) {
                refuse(format!("`{name}` is a module-scope variable"));
                continue;
            }
            match variable.space {
                AddressSpace::Uniform => {}
                AddressSpace::Storage { access } => {
                    let written = access.contains(StorageAccess::STORE);
                    if written && !self.allowed.written.contains(&name) {
                        refuse(format!(
                            "`{name}` is declared as storage that can be written; declare it as `read`"
                        ));
                    } else if has_atomics(module, variable.ty) {
                        refuse(format!("`{name}` holds atomics"));
                    }
                }
                _ => refuse(format!("`{name}` is not a buffer, but the engine binds one to it")),
            }
        }
        for (handle, expression) in module.global_expressions.iter() {
            let span = module.global_expressions.get_span(handle);
            if let Expression::Override(used) = expression
                && self.is_users(span)
            {
                findings.extend(self.constant(*used, span));
            }
        }
        findings
    }

    /// The violations in a user function at `place`.
    fn function(&self, function: &Function, place: Span) -> Vec<Finding> {
        let module = self.program.module();
        let mut findings = Vec::new();
        let bytes = |ty: naga::Handle<naga::Type>| u64::from(module.types[ty].inner.size(module.to_ctx()));
        let kept: u64 = function.local_variables.iter().map(|(_, local)| bytes(local.ty)).sum();
        let given = function
            .arguments
            .iter()
            .map(|given| given.ty)
            .chain(function.result.iter().map(|result| result.ty));
        let made = function.expressions.iter().filter_map(|(_, made)| match *made {
            Expression::Compose { ty, .. } | Expression::ZeroValue(ty) => Some(ty),
            _ => None,
        });
        let largest = given.chain(made).map(bytes).max().unwrap_or(0).max(kept);
        if largest > MOST_KEPT.into() {
            let name = function.name.as_deref().unwrap_or("_");
            let what = format!(
                "`{name}` has {largest} bytes in its variables or in one value; WGSL guarantees {MOST_KEPT} to a function"
            );
            findings.push(Finding { span: place, what, advice: STATE });
        }
        for (handle, expression) in function.expressions.iter() {
            let span = or(function.expressions.get_span(handle), place);
            match *expression {
                Expression::GlobalVariable(used) => {
                    let name = module.global_variables[used].name.as_deref().unwrap_or("_");
                    // A user variable is rejected at its declaration.
                    let own = self.is_users(module.global_variables.get_span(used));
                    if !own && !self.allowed.variables.contains(&name) {
                        let what = format!("`{name}` is a variable of the engine");
                        findings.push(Finding { span, what, advice: ENGINE });
                    }
                }
                Expression::Override(used) => findings.extend(self.constant(used, span)),
                _ => {}
            }
        }
        let idle = |span| Finding { span: or(span, place), what: IDLE.to_owned(), advice: ENDLESS };
        findings.extend(super::idle::loops(function).into_iter().map(idle));
        self.block(function, &function.body, place, &mut findings);
        findings
    }

    /// The name of the engine variable that this expression points into, if it is read-only.
    /// Forbidden variables are rejected where they are named.
    fn unwritten(&self, function: &Function, pointer: naga::Handle<Expression>) -> Option<&str> {
        let module = self.program.module();
        let mut at = pointer;
        let used = loop {
            match function.expressions[at] {
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => at = base,
                Expression::GlobalVariable(used) => break used,
                _ => return None,
            }
        };
        let name = module.global_variables[used].name.as_deref().unwrap_or("_");
        let own = self.is_users(module.global_variables.get_span(used));
        let read_only = self.allowed.variables.contains(&name) && !self.allowed.written.contains(&name);
        (!own && read_only).then_some(name)
    }

    fn constant(&self, used: naga::Handle<naga::Override>, span: Span) -> Option<Finding> {
        let module = self.program.module();
        let name = module.overrides[used].name.as_deref().unwrap_or("_");
        let what = format!("`{name}` is an `override` of the engine");
        (!self.is_users(module.overrides.get_span(used))).then_some(Finding { span, what, advice: ENGINE })
    }

    fn block(&self, function: &Function, block: &naga::Block, place: Span, findings: &mut Vec<Finding>) {
        for (statement, &span) in block.span_iter() {
            let span = or(span, place);
            let what = match statement {
                Statement::Block(inner) => {
                    self.block(function, inner, span, findings);
                    continue;
                }
                Statement::If { accept, reject, .. } => {
                    self.block(function, accept, span, findings);
                    self.block(function, reject, span, findings);
                    continue;
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.block(function, &case.body, span, findings));
                    continue;
                }
                Statement::Loop { body, continuing, .. } => {
                    self.block(function, body, span, findings);
                    self.block(function, continuing, span, findings);
                    continue;
                }
                Statement::Store { pointer, .. } => {
                    if let Some(name) = self.unwritten(function, *pointer) {
                        findings.push(Finding {
                            span,
                            what: format!("`{name}` may only be read"),
                            advice: STATE,
                        });
                    }
                    continue;
                }
                Statement::Call { function: called, arguments, .. } => {
                    // A function with a pointer could write.
                    for &argument in arguments {
                        if let Some(name) = self.unwritten(function, argument) {
                            let what = format!("`{name}` may only be read: pass its value, not a pointer");
                            findings.push(Finding { span, what, advice: STATE });
                        }
                    }
                    let functions = &self.program.module().functions;
                    let name = functions[*called].name.as_deref().unwrap_or("_");
                    let own = self.place(functions.get_span(*called), &functions[*called]).is_some();
                    if !own && !self.allowed.functions.contains(&name) {
                        let what = format!("`{name}` is a function of the engine that is not for this file");
                        findings.push(Finding { span, what, advice: ENGINE });
                    }
                    continue;
                }
                Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => "a barrier",
                Statement::WorkGroupUniformLoad { .. } => "a `workgroupUniformLoad`",
                Statement::SubgroupBallot { .. }
                | Statement::SubgroupGather { .. }
                | Statement::SubgroupCollectiveOperation { .. } => "a subgroup operation",
                Statement::Atomic { .. } | Statement::ImageAtomic { .. } => "an atomic operation",
                _ => continue,
            };
            findings.push(Finding { span, what: format!("{what} is not allowed here"), advice: ALONE });
        }
    }
}

/// The first of the two that is known.
pub(super) fn or(span: Span, other: Span) -> Span {
    if span.is_defined() { span } else { other }
}

fn has_atomics(module: &naga::Module, ty: naga::Handle<naga::Type>) -> bool {
    match &module.types[ty].inner {
        TypeInner::Atomic(_) => true,
        TypeInner::Array { base, .. } => has_atomics(module, *base),
        TypeInner::Struct { members, .. } => members.iter().any(|member| has_atomics(module, member.ty)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE_FILE: &str = "// requires: subgroups
override GROUP: u32 = 64u;
const LIMIT = 7u;
struct Event { time: u32 }
@group(0) @binding(0) var<storage, read_write> control: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> memory: array<u32>;
var<workgroup> shared_word: u32;
fn schedule(time: u32) { atomicAdd(&control[0], time); }
fn fail(kind: u32) { atomicMin(&control[1], kind); }
@compute @workgroup_size(GROUP) fn window() {
    shared_word = handle(Event(memory[0]));
    schedule(workgroupUniformLoad(&shared_word));
    fail(1u);
}
";

    const ALLOWED: Allowed<'static> =
        Allowed { functions: &["schedule"], variables: &["params", "data"], written: &[] };

    fn check(text: &str) -> Result<(), LinkError> {
        let files = [
            Source::library("shaders/engine.wgsl", ENGINE_FILE),
            Source::new("mine/model.wgsl", text.to_owned()),
        ];
        let program = Program::link("t", &files).unwrap_or_else(|error| panic!("{error}\n{text}"));
        program.check_user(&ALLOWED)
    }

    #[test]
    fn innocent_files_pass() {
        let text = "
            struct Params { mean: u32 }
            override OWN: u32 = 3u;
            const TWICE = 2u * LIMIT;
            @group(1) @binding(0) var<uniform> params: Params;
            @group(1) @binding(1) var<storage, read> data: array<u32>;
            fn helper(x: ptr<function, u32>) { *x += data[arrayLength(&data) - 1u]; }
            fn handle(event: Event) -> u32 {
                var sum = params.mean + OWN;
                for (var i = 0u; i < TWICE; i++) { helper(&sum); if sum > 3u { schedule(sum); } }
                var list: array<u32, 4>;
                for (var i = 0u; i < 4u; i++) { for (var k = 0u; k < i; k++) { list[k] += sum; } }
                while sum > 9u { sum /= 2u; }
                for (var i = 0u; i < 4u; i++) { if list[i] == sum { return i; } }
                switch sum { case 1u: { schedule(1u); } default: { sum = min(sum, LIMIT); } }
                return sum + event.time;
            }";
        check(text).unwrap();
    }

    #[test]
    fn each_refusal_names_the_place_and_what_is_allowed() {
        // The declaration, the body of `handle`, the line of the error, and the name in its
        // message.
        let cases = [
            ("var<private> mine: u32;", "mine = 1u;", 1, "`mine` is a module-scope variable"),
            ("var<workgroup> mine: u32;", "mine = 1u;", 1, "`mine` is a module-scope variable"),
            (
                "@group(2) @binding(0) var<uniform> more: vec4<u32>;",
                "",
                1,
                "`more` is a module-scope variable",
            ),
            ("var<private> data: u32;", "", 1, "`data` is not a buffer"),
            ("@group(1) @binding(0) var<storage, read_write> data: array<u32>;", "", 1, "can be written"),
            ("", "memory[0] = 1u;", 3, "`memory` is a variable of the engine"),
            ("", "let x = memory[1];", 3, "`memory` is a variable of the engine"),
            ("", "let n = arrayLength(&memory);", 3, "`memory` is a variable of the engine"),
            (
                "",
                "if event.time > 2u { for (;;) { fail(2u); break; } }",
                3,
                "`fail` is a function of the engine",
            ),
            ("", "switch event.time { case 1u: { fail(2u); } default: {} }", 3, "`fail` is a function"),
            ("", "loop { break; continuing { fail(1u); } }", 3, "`fail` is a function"),
            ("", "workgroupBarrier();", 3, "a barrier is not allowed"),
            ("", "storageBarrier();", 3, "a barrier is not allowed"),
            ("", "let x = workgroupUniformLoad(&shared_word);", 3, "a `workgroupUniformLoad`"),
            ("", "let x = subgroupAdd(1u);", 3, "a subgroup operation"),
            ("", "let x = subgroupBallot(true);", 3, "a subgroup operation"),
            ("", "let x = subgroupShuffle(1u, 0u);", 3, "a subgroup operation"),
            ("", "let x = subgroupBroadcastFirst(1u);", 3, "a subgroup operation"),
            ("", "atomicAdd(&control[0], 1u);", 3, "an atomic operation"),
            ("", "let x = atomicLoad(&control[0]);", 3, "`control` is a variable of the engine"),
            ("", "let x = GROUP;", 3, "`GROUP` is an `override` of the engine"),
            ("override OWN: u32 = GROUP + 1u;", "let x = OWN;", 1, "`GROUP` is an `override` of the engine"),
            ("@compute @workgroup_size(1) fn mine() { schedule(1u); }", "", 1, "`mine` is an entry point"),
            ("fn deep() { fail(3u); }", "deep();", 1, "`fail` is a function of the engine"),
            (
                "",
                "var i = 0u; loop { if i == 9u { break; } continuing { i = 1u; } }",
                3,
                "this loop changes nothing",
            ),
            (
                "",
                "if event.time > 1u { for (var i = 0u; i < 9u; i++) { var k = i; k += 1u; } }",
                3,
                "this loop changes",
            ),
        ];
        for (declared, done, at, words) in cases {
            let text =
                format!("{declared}\nfn handle(event: Event) -> u32 {{\n    {done}\n    return 0u;\n}}\n");
            let error = check(&text).expect_err(&text);
            let LinkError::Forbidden { file, line, column, what, remedy, report } = &error else {
                panic!("{error}")
            };
            assert_eq!((file.as_str(), *line), ("mine/model.wgsl", at), "{error}");
            assert!(*column >= 1 && what.contains(words), "{error}");
            assert!(remedy.contains("`params`, `data`") && remedy.contains("`schedule`"), "{error}");
            // The marked line is the user's.
            let source = if at == 1 { declared } else { done };
            assert!(report.contains(source) && report.contains('^'), "{error}");
            assert!(
                error.to_string().starts_with(&format!("mine/model.wgsl:{line}:{column}: {what}")),
                "{error}"
            );
        }
    }

    /// An engine variable that user code may read.
    #[test]
    fn what_may_be_read_is_not_written() {
        let check = |done: &str, allowed: &Allowed<'_>| {
            let engine = "struct Point { x: u32, y: array<u32, 4> }\nvar<private> place: Point;\n";
            let user = format!(
                "fn helper(p: ptr<private, Point>) {{ (*p).x = 1u; }}\nfn handle(x: Point) -> u32 {{\n{done}\nreturn x.x;\n}}\n"
            );
            let files = [Source::library("shaders/engine.wgsl", engine), Source::new("model.wgsl", user)];
            let program = Program::link("t", &files).unwrap_or_else(|error| panic!("{error}"));
            program.check_user(allowed)
        };
        let read = Allowed { functions: &[], variables: &["place"], written: &[] };
        let written = Allowed { written: &["place"], ..read };
        check("return place.x + place.y[place.x];", &read).unwrap_or_else(|e| panic!("{e}"));
        for done in ["place.x = 3u;", "place.y[x.x] += 1u;", "if x.x > 1u { place = x; }", "helper(&place);"]
        {
            let error = check(done, &read).expect_err(done);
            let LinkError::Forbidden { file, line, what, .. } = &error else { panic!("{error}") };
            assert_eq!((file.as_str(), *line), ("model.wgsl", 3), "{error}");
            assert!(what.starts_with("`place` may only be read"), "{error}");
            check(done, &written).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn calls_are_followed_from_a_function() {
        let check = |more: &str, done: &str| {
            let text = format!(
                "fn handle(event: Event) -> u32 {{ schedule(1u); return 0u; }}\n{more}\nfn output(x: u32) -> u32 {{\n    {done}\n    return x;\n}}\n"
            );
            let files = [
                Source::library("shaders/engine.wgsl", ENGINE_FILE),
                Source::new("mine/model.wgsl", text.clone()),
            ];
            let program = Program::link("t", &files).unwrap_or_else(|error| panic!("{error}\n{text}"));
            program.check_calls("output", &["fail"], "It only looks")
        };
        check("fn helper() { fail(1u); }", "helper(); if x > 1u { fail(2u); }").unwrap();
        let cases = [
            ("", "schedule(x);", 4, "`output` may not call `schedule`"),
            ("", "if x > 2u { for (;;) { schedule(2u); break; } }", 4, "`output` may not call `schedule`"),
            (
                "",
                "switch x { case 1u: { schedule(2u); } default: {} }",
                4,
                "`output` may not call `schedule`",
            ),
            ("", "loop { break; continuing { schedule(1u); } }", 4, "`output` may not call `schedule`"),
            (
                "fn deep() { schedule(1u); } fn helper() { deep(); }",
                "helper();",
                2,
                "`output` may not call `schedule`, and calls `deep`, which does",
            ),
            ("", "_ = handle(Event(1u));", 1, "`output` may not call `schedule`, and calls `handle`"),
        ];
        for (more, done, at, words) in cases {
            let error = check(more, done).expect_err(done);
            let LinkError::Forbidden { file, line, what, remedy, .. } = &error else { panic!("{error}") };
            assert_eq!((file.as_str(), *line), ("mine/model.wgsl", at), "{error}");
            assert!(what.starts_with(words) && remedy.starts_with("It only looks; "), "{error}");
            assert!(remedy.ends_with("for it: `fail`"), "{error}");
        }
    }

    #[test]
    fn what_may_be_written_holds_no_atomics() {
        let link = |ty: &str| {
            let text = format!("@group(0) @binding(0) var<storage, read_write> data: array<{ty}>;");
            Program::link("t", &[Source::new("m.wgsl", text)]).unwrap()
        };
        let allowed = Allowed { written: &["data"], ..ALLOWED };
        link("u32").check_user(&allowed).unwrap();
        let error = link("atomic<u32>").check_user(&allowed).unwrap_err();
        assert!(error.to_string().contains("`data` holds atomics"), "{error}");
    }

    #[test]
    fn files_that_are_not_the_users_are_left_alone() {
        let model = "fn handle(event: Event) -> u32 { return GROUP; }";
        let check = |model| {
            let files = [Source::library("shaders/engine.wgsl", ENGINE_FILE), model];
            Program::link("t", &files).unwrap().check_user(&ALLOWED)
        };
        check(Source::library("shaders/model.wgsl", model)).unwrap();
        check(Source::new("shaders/model.wgsl", model)).unwrap_err();
    }
}
