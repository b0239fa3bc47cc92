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
mod tests;
