//! Infers which numbers in user WGSL are times and probabilities, from calls of library functions.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use naga::{
    BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal, LocalVariable, Span,
    Statement, TypeInner,
};

use super::Program;
use crate::shaders;

mod numbers;

/// The meaning of a field of `struct Params`, from the functions that it is passed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldUse {
    /// The field's name.
    pub field: String,
    /// Its meaning.
    pub unit: FieldUnit,
    /// The library function; empty for [`FieldUnit::Number`].
    pub call: String,
    /// The place of the call: the model's file and the line, or empty.
    pub place: String,
}

/// The meaning of the number in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FieldUnit {
    /// A time in ticks.
    Time,
    /// A probability in units of 2^-32.
    Probability,
    /// A 32-bit number that never becomes a 64-bit time and is never combined with one.
    Number,
}

const T: Option<FieldUnit> = Some(FieldUnit::Time);
const P: Option<FieldUnit> = Some(FieldUnit::Probability);
const N: Option<FieldUnit> = None;

/// The engine's functions that take times, with the meaning of each argument. For functions that
/// models may call, the heads of the files define it: [`CALLS`](shaders::CALLS).
const TAKES: [(&str, &[Option<FieldUnit>]); 5] = [
    ("time_add", &[T, T]),
    ("time_since", &[T, T]),
    ("time_less", &[T, T]),
    ("time_min", &[T, T]),
    ("schedule", &[N, T, N]),
];

/// Maximum number of expressions in a search for a value's origin.
const MOST_SEEN: usize = 64;

/// The origin of an unchanged value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Root {
    Field(u32),
    Argument(u32),
    Call(Handle<Function>),
}

/// A call, with its place.
struct Call<'m> {
    function: Handle<Function>,
    arguments: &'m [Handle<Expression>],
    span: Span,
}

/// The relevant statements of a function.
#[derive(Default)]
struct Body<'m> {
    calls: Vec<Call<'m>>,
    /// Pointer and value.
    stores: Vec<(Handle<Expression>, Handle<Expression>)>,
    returned: Vec<Handle<Expression>>,
}

impl<'m> Body<'m> {
    fn of(function: &'m Function) -> Self {
        let mut body = Self::default();
        body.read(&function.body);
        body
    }

    fn read(&mut self, block: &'m Block) {
        for (statement, &span) in block.span_iter() {
            match statement {
                Statement::Call { function, arguments, .. } => {
                    self.calls.push(Call { function: *function, arguments, span });
                }
                Statement::Store { pointer, value } | Statement::Atomic { pointer, value, .. } => {
                    self.stores.push((*pointer, *value));
                }
                Statement::Return { value } => self.returned.extend(value),
                Statement::Block(inner) => self.read(inner),
                Statement::If { accept, reject, .. } => {
                    [accept, reject].into_iter().for_each(|it| self.read(it))
                }
                Statement::Switch { cases, .. } => cases.iter().for_each(|case| self.read(&case.body)),
                Statement::Loop { body, continuing, .. } => {
                    [body, continuing].into_iter().for_each(|it| self.read(it));
                }
                _ => {}
            }
        }
    }
}

/// A user function.
struct UserFunction<'m> {
    handle: Handle<Function>,
    function: &'m Function,
    body: Body<'m>,
    /// The values stored in each of its variables.
    variables: HashMap<Handle<LocalVariable>, Vec<Handle<Expression>>>,
}

struct Units<'m> {
    program: &'m Program,
    params: Option<Handle<naga::GlobalVariable>>,
    own: Vec<UserFunction<'m>>,
    /// The meaning of arguments of user functions, with the library call that defines it.
    arguments: HashMap<(Handle<Function>, u32), (FieldUnit, &'static str)>,
}

impl Program {
    /// The meaning of the fields of `struct Params`, from their uses in user files.
    pub(crate) fn field_uses(&self) -> Vec<FieldUse> {
        let units = Units::of(self);
        let mut found: Vec<FieldUse> = Vec::new();
        for own in &units.own {
            units.takes(own, |root, unit, call, span| {
                let Root::Field(number) = root else { return };
                let field = units.field(number);
                if !found.iter().any(|known| known.field == field && known.unit == unit) {
                    found.push(FieldUse { field, unit, call: call.to_owned(), place: units.place(span) });
                }
            });
        }
        for number in units.numbers() {
            let field = units.field(number);
            if !found.iter().any(|known| known.field == field) {
                let (call, place) = (String::new(), String::new());
                found.push(FieldUse { field, unit: FieldUnit::Number, call, place });
            }
        }
        found
    }

    /// The places where user code adds or subtracts times as vectors, which drops carries, and the
    /// time in question.
    pub(super) fn time_sums(&self) -> Vec<(Span, String)> {
        let units = Units::of(self);
        let mut found = Vec::new();
        for own in &units.own {
            let expressions = &own.function.expressions;
            for (handle, expression) in expressions.iter() {
                let Some(operands) = sum(expression) else { continue };
                let roots = operands.into_iter().flat_map(|operand| units.roots(own, operand));
                let time = roots.filter_map(|root| units.time_of(own, root)).next();
                let is_pair = || operands.into_iter().any(|operand| units.is_pair(own, operand));
                if let Some(time) = time.filter(|_| is_pair()) {
                    found.push((expressions.get_span(handle), format!("{time} in a sum of vectors")));
                }
            }
            for call in own.body.calls.iter().filter(|call| !units.is_own(call.function)) {
                let Some((name, taken)) = takes(units.name(call.function)) else { continue };
                let times = call.arguments.iter().zip(taken).filter(|(_, taken)| **taken == T);
                for (&argument, _) in times.filter(|_| !name.starts_with("exponential_")) {
                    if sum(&expressions[argument]).is_some() {
                        let what = format!("a sum of vectors as a time for `{name}`");
                        found.push((expressions.get_span(argument), what));
                    }
                }
            }
        }
        found
    }
}

/// The operands of a sum or a difference.
fn sum(expression: &Expression) -> Option<[Handle<Expression>; 2]> {
    match expression {
        Expression::Binary { op: BinaryOperator::Add | BinaryOperator::Subtract, left, right } => {
            Some([*left, *right])
        }
        _ => None,
    }
}

impl<'m> Units<'m> {
    fn of(program: &'m Program) -> Self {
        let module = program.module();
        let params = module.global_variables.iter();
        let is_struct =
            |variable: &GlobalVariable| matches!(module.types[variable.ty].inner, TypeInner::Struct { .. });
        let mut params =
            params.filter(|(_, variable)| variable.name.as_deref() == Some("params") && is_struct(variable));
        let params = params.next().map(|(handle, _)| handle);
        let mut units = Self { program, params, own: Vec::new(), arguments: HashMap::new() };
        for (handle, function) in module.functions.iter() {
            if !units.is_own(handle) {
                continue;
            }
            let own = UserFunction::of(handle, function);
            // Functions follow their callees.
            let mut known = Vec::new();
            units.takes(&own, |root, unit, call, _| {
                if let Root::Argument(argument) = root {
                    known.push(((handle, argument), (unit, call)));
                }
            });
            for (argument, unit) in known {
                units.arguments.entry(argument).or_insert(unit);
            }
            units.own.push(own);
        }
        units
    }

    fn is_own(&self, function: Handle<Function>) -> bool {
        let module = self.program.module();
        let parts = || module.functions[function].body.span_iter().map(|(_, span)| *span);
        let declared = module.functions.get_span(function);
        let mut places = std::iter::once(declared).chain(parts());
        places.find(Span::is_defined).is_some_and(|span| self.is_users(span))
    }

    fn is_users(&self, span: Span) -> bool {
        self.program.is_users(span.location(self.program.text()).line_number)
    }

    fn place(&self, span: Span) -> String {
        let line = span.is_defined().then(|| span.location(self.program.text()).line_number);
        let origin = line.and_then(|line| self.program.origin(line));
        origin.map_or_else(String::new, |(file, line)| format!("{file}:{line}"))
    }

    fn name(&self, function: Handle<Function>) -> &'m str {
        self.program.module().functions[function].name.as_deref().unwrap_or_default()
    }

    /// The fields of `struct Params`.
    fn fields(&self) -> &'m [naga::StructMember] {
        let module = self.program.module();
        match self.params.map(|params| &module.types[module.global_variables[params].ty].inner) {
            Some(TypeInner::Struct { members, .. }) => members,
            _ => &[],
        }
    }

    fn field(&self, number: u32) -> String {
        self.fields()[number as usize].name.clone().unwrap_or_default()
    }

    /// Calls `found` for each value that a call takes as a time or as a probability.
    fn takes(&self, own: &UserFunction<'m>, mut found: impl FnMut(Root, FieldUnit, &'static str, Span)) {
        for call in &own.body.calls {
            for (number, &argument) in (0..).zip(call.arguments) {
                let taken = match self.arguments.get(&(call.function, number)) {
                    Some(&taken) => Some(taken),
                    None if self.is_own(call.function) => None,
                    None => takes(self.name(call.function))
                        .and_then(|(name, units)| Some(((*units.get(number as usize)?)?, name))),
                };
                let Some((unit, name)) = taken else { continue };
                self.roots(own, argument).into_iter().for_each(|root| found(root, unit, name, call.span));
            }
        }
    }

    /// The origins of a value: through variables, choices, and pairs of a low word and zero.
    fn roots(&self, own: &UserFunction<'m>, expression: Handle<Expression>) -> Vec<Root> {
        let (mut roots, mut seen, mut left) = (Vec::new(), HashSet::new(), vec![expression]);
        while let Some(expression) = left.pop() {
            if seen.len() == MOST_SEEN {
                return Vec::new();
            }
            if !seen.insert(expression) {
                continue;
            }
            match &own.function.expressions[expression] {
                Expression::FunctionArgument(number) => roots.push(Root::Argument(*number)),
                Expression::CallResult(function) => roots.push(Root::Call(*function)),
                Expression::Select { accept, reject, .. } => left.extend([*accept, *reject]),
                Expression::Load { pointer } => match &own.function.expressions[*pointer] {
                    Expression::LocalVariable(variable) => {
                        left.extend(own.stored(*variable).iter().take(MOST_SEEN))
                    }
                    Expression::AccessIndex { base, index } if self.is_params(own, *base) => {
                        roots.push(Root::Field(*index));
                    }
                    _ => {}
                },
                Expression::AccessIndex { base, index } => {
                    if let Expression::Load { pointer } = &own.function.expressions[*base]
                        && self.is_params(own, *pointer)
                    {
                        roots.push(Root::Field(*index));
                    }
                }
                Expression::Compose { components, .. } => {
                    if let [low, high] = components[..]
                        && matches!(own.function.expressions[high], Expression::Literal(Literal::U32(0)))
                    {
                        left.push(low);
                    }
                }
                _ => {}
            }
        }
        roots
    }

    fn is_params(&self, own: &UserFunction<'m>, expression: Handle<Expression>) -> bool {
        match own.function.expressions[expression] {
            Expression::GlobalVariable(variable) => Some(variable) == self.params,
            _ => false,
        }
    }

    /// The description of a value that is a time, else `None`.
    fn time_of(&self, own: &UserFunction<'m>, root: Root) -> Option<String> {
        match root {
            Root::Call(function) if !self.is_own(function) => {
                let name = self.name(function);
                let takes_times = takes(name).is_some_and(|(_, units)| units.contains(&T));
                let is_time = takes_times || ["now", "lookahead"].contains(&name);
                is_time.then(|| format!("`{name}()`"))
            }
            Root::Argument(number) => {
                let &(unit, _) = self.arguments.get(&(own.handle, number))?;
                let name = own.function.arguments[number as usize].name.clone();
                name.filter(|_| unit == FieldUnit::Time).map(|name| format!("the time `{name}`"))
            }
            Root::Field(_) | Root::Call(_) => None,
        }
    }

    /// Whether it is a value of two words, as far as its origin shows.
    fn is_pair(&self, own: &UserFunction<'m>, expression: Handle<Expression>) -> bool {
        let module = self.program.module();
        let pair = |ty: Handle<naga::Type>| is_pair(&module.types[ty].inner);
        self.roots(own, expression).into_iter().any(|root| match root {
            Root::Field(number) => pair(self.fields()[number as usize].ty),
            Root::Argument(number) => pair(own.function.arguments[number as usize].ty),
            Root::Call(function) => {
                module.functions[function].result.as_ref().is_some_and(|result| pair(result.ty))
            }
        })
    }
}

impl<'m> UserFunction<'m> {
    fn of(handle: Handle<Function>, function: &'m Function) -> Self {
        let body = Body::of(function);
        let mut variables: HashMap<_, Vec<_>> = HashMap::new();
        for &(pointer, value) in &body.stores {
            if let Expression::LocalVariable(variable) = function.expressions[pointer] {
                variables.entry(variable).or_default().push(value);
            }
        }
        for (variable, local) in function.local_variables.iter() {
            variables.entry(variable).or_default().extend(local.init);
        }
        Self { handle, function, body, variables }
    }

    /// The values stored in a variable of the function.
    fn stored(&self, variable: Handle<LocalVariable>) -> &[Handle<Expression>] {
        self.variables.get(&variable).map_or(&[], Vec::as_slice)
    }
}

fn takes(name: &str) -> Option<(&'static str, &'static [Option<FieldUnit>])> {
    type Takes = HashMap<&'static str, Vec<Option<FieldUnit>>>;
    static ALL: LazyLock<Takes> = LazyLock::new(|| {
        let unit = |takes: &&str| match *takes {
            "time" => T,
            "probability" => P,
            _ => N,
        };
        let calls = shaders::CALLS.iter().map(|call| (call.name, call.takes.iter().map(unit).collect()));
        let all = calls.chain(TAKES.map(|(name, takes)| (name, takes.to_vec())));
        all.filter(|(_, takes): &(_, Vec<_>)| takes.iter().any(Option::is_some)).collect()
    });
    ALL.get_key_value(name).map(|(name, takes)| (*name, &takes[..]))
}

fn is_pair(inner: &TypeInner) -> bool {
    matches!(inner, TypeInner::Vector { size: naga::VectorSize::Bi, scalar } if *scalar == naga::Scalar::U32)
}

#[cfg(test)]
mod tests;
