//! Fields of one word that are numbers and not times. Doubtful fields are excluded.

use std::collections::HashSet;

use naga::{
    AddressSpace, BinaryOperator, Expression, Function, GlobalVariable, Handle, LocalVariable, ScalarKind,
    Type, TypeInner,
};

use super::{Units, UserFunction};

/// Library functions whose one-word arguments are all counts or indices.
const COUNTS: [&str; 6] = ["draw_below", "alias_slot", "memory_get", "memory_set", "schedule", "draw_erlang"];

/// Library functions whose results are counts or indices, never a part of a time.
const COUNTED: [&str; 5] = ["alias_slot", "draw_below", "lp_count", "memory_rows", "replica"];

/// The storage of a word between a store and a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum StorageClass {
    /// A variable of a function.
    Local(Handle<Function>, Handle<LocalVariable>),
    /// A variable of the module.
    Global(Handle<GlobalVariable>),
    /// This member of every value of a struct.
    Member(Handle<Type>, u32),
    /// Every element of every array of a type.
    Element(Handle<Type>),
    /// Any target of pointers to this type.
    Behind(Handle<Type>),
}

/// How far values of a kind spread beyond the expressions in which they originate.
#[derive(Debug, Default)]
struct Flow {
    places: HashSet<StorageClass>,
    arguments: HashSet<(Handle<Function>, u32)>,
    returns: HashSet<Handle<Function>>,
}

impl Flow {
    fn len(&self) -> usize {
        self.places.len() + self.arguments.len() + self.returns.len()
    }
}

type Values = HashSet<Handle<Expression>>;

impl<'m> Units<'m> {
    /// The fields of 32 bits that are used and never become times or are combined with them.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let types = &self.program.module().types;
        let is_word = |member: &naga::StructMember| matches!(&types[member.ty].inner, TypeInner::Scalar(scalar) if scalar.kind == ScalarKind::Uint);
        let fields = (0..).zip(self.fields()).filter(|(_, member)| is_word(member));
        let fields: Vec<u32> = fields.map(|(number, _)| number).collect();
        if fields.is_empty() {
            return fields;
        }
        let outside = self.outside();
        fields.into_iter().filter(|&number| self.is_number(number, &outside)).collect()
    }

    /// Whether all values derived from a field stay numbers of one word and are combined only with
    /// numbers.
    fn is_number(&self, field: u32, outside: &HashSet<Handle<Type>>) -> bool {
        let Some(made) = self.made_of(field, outside) else { return false };
        if made.iter().all(HashSet::is_empty) {
            return false;
        }
        let times = self.possible_times(field, outside);
        self.own.iter().zip(made).zip(times).all(|((own, made), times)| {
            let meet = |expression: &Expression| match expression {
                Expression::Binary { op, left, right } if is_comparison(*op) => {
                    (made.contains(left) && times.contains(right))
                        || (made.contains(right) && times.contains(left))
                }
                _ => false,
            };
            made.is_disjoint(&times) && !own.function.expressions.iter().any(|(_, it)| meet(it))
        })
    }

    /// The expressions of each function that derive from a field. `None` if the field flows out of
    /// sight: into a pair, a struct, memory, or a library function that may take a time.
    fn made_of(&self, field: u32, outside: &HashSet<Handle<Type>>) -> Option<Vec<Values>> {
        let called: HashSet<_> =
            self.own.iter().flat_map(|own| own.body.calls.iter().map(|call| call.function)).collect();
        let mut flow = Flow::default();
        loop {
            let before = flow.len();
            let mut found = Vec::new();
            for own in &self.own {
                let is_field = |value| self.param(own, value) == Some(field);
                let made = self.reached(own, &flow, outside, is_field);
                let composed = |expression: &Expression| match expression {
                    Expression::Compose { components, .. } => components.iter().any(|it| made.contains(it)),
                    Expression::Splat { value, .. } => made.contains(value),
                    _ => false,
                };
                if own.function.expressions.iter().any(|(_, expression)| composed(expression)) {
                    return None;
                }
                for (place, value) in self.stores(own, outside) {
                    match place {
                        Some(place @ StorageClass::Local(..)) if made.contains(&value) => {
                            flow.places.insert(place);
                        }
                        _ if made.contains(&value) => return None,
                        _ => {}
                    }
                }
                for call in &own.body.calls {
                    for (number, argument) in (0..).zip(call.arguments) {
                        let place = self.kept_at(own, *argument, outside);
                        if place.is_some_and(|place| flow.places.contains(&place)) {
                            return None;
                        }
                        if !made.contains(argument) {
                            continue;
                        }
                        if self.is_own(call.function) {
                            flow.arguments.insert((call.function, number));
                        } else if !COUNTS.contains(&self.name(call.function)) {
                            return None;
                        }
                    }
                }
                if own.body.returned.iter().any(|value| made.contains(value)) {
                    if !called.contains(&own.handle) {
                        return None;
                    }
                    flow.returns.insert(own.handle);
                }
                found.push(made);
            }
            if flow.len() == before {
                return Some(found);
            }
        }
    }

    /// The expressions of each function that may be times or words of times, without the field
    /// itself.
    fn possible_times(&self, field: u32, outside: &HashSet<Handle<Type>>) -> Vec<Values> {
        let mut flow = Flow::default();
        loop {
            let before = flow.len();
            let mut found = Vec::new();
            for own in &self.own {
                let begins = |value| self.param(own, value) != Some(field) && self.doubt(own, value, outside);
                let times = self.reached(own, &flow, outside, begins);
                for (place, value) in self.stores(own, outside) {
                    flow.places.extend(place.filter(|_| times.contains(&value)));
                }
                for (_, expression) in own.function.expressions.iter() {
                    let Expression::Compose { ty, components } = expression else { continue };
                    for (index, _) in (0..).zip(components).filter(|(_, it)| times.contains(*it)) {
                        flow.places.insert(match self.program.module().types[*ty].inner {
                            TypeInner::Struct { .. } => StorageClass::Member(*ty, index),
                            _ => StorageClass::Element(*ty),
                        });
                    }
                }
                for call in &own.body.calls {
                    for (number, argument) in (0..).zip(call.arguments) {
                        // A callee may write a time through a pointer.
                        if self.is_pointer(own, *argument) {
                            flow.places.extend(self.kept_at(own, *argument, outside));
                        }
                        if times.contains(argument) {
                            flow.arguments.insert((call.function, number));
                        }
                    }
                }
                if own.body.returned.iter().any(|value| times.contains(value)) {
                    flow.returns.insert(own.handle);
                }
                found.push(times);
            }
            if flow.len() == before {
                return found;
            }
        }
    }

    /// The values stored in a function, and their storage: `None` if loads from it are doubtful
    /// anyway.
    fn stores(
        &self,
        own: &UserFunction<'m>,
        outside: &HashSet<Handle<Type>>,
    ) -> Vec<(Option<StorageClass>, Handle<Expression>)> {
        let place = |pointer| self.kept_at(own, pointer, outside);
        let stores = own.body.stores.iter().map(|&(pointer, value)| (place(pointer), value));
        let locals = own.function.local_variables.iter();
        let local = |(variable, local): (_, &LocalVariable)| {
            Some((Some(StorageClass::Local(own.handle, variable)), local.init?))
        };
        stores.chain(locals.filter_map(local)).collect()
    }

    /// The expressions of a function that these values reach: their origins, and expressions
    /// derived from them.
    fn reached(
        &self,
        own: &UserFunction<'m>,
        flow: &Flow,
        outside: &HashSet<Handle<Type>>,
        begins: impl Fn(Handle<Expression>) -> bool,
    ) -> Values {
        let mut reached = HashSet::new();
        let kept = |at| self.kept_at(own, at, outside).is_some_and(|place| flow.places.contains(&place));
        // Operands precede the expressions that use them.
        for (handle, expression) in own.function.expressions.iter() {
            let has = |value: &Handle<Expression>| reached.contains(value);
            let comes = match expression {
                Expression::FunctionArgument(number) => flow.arguments.contains(&(own.handle, *number)),
                Expression::CallResult(function) => flow.returns.contains(function),
                Expression::Load { pointer } => kept(*pointer),
                Expression::AccessIndex { .. } | Expression::Access { .. } => kept(handle),
                Expression::Binary { op, left, right } => !is_comparison(*op) && (has(left) || has(right)),
                Expression::Unary { expr, .. } | Expression::As { expr, .. } => has(expr),
                Expression::Select { accept, reject, .. } => has(accept) || has(reject),
                Expression::Math { arg, arg1, arg2, arg3, .. } => {
                    has(arg) || [arg1, arg2, arg3].into_iter().flatten().any(has)
                }
                _ => false,
            };
            if comes || begins(handle) {
                reached.insert(handle);
            }
        }
        reached
    }

    /// Whether an expression alone may be a time or a part of one.
    fn doubt(
        &self,
        own: &UserFunction<'m>,
        value: Handle<Expression>,
        outside: &HashSet<Handle<Type>>,
    ) -> bool {
        match &own.function.expressions[value] {
            Expression::CallResult(function) => {
                !self.is_own(*function) && !COUNTED.contains(&self.name(*function))
            }
            Expression::Load { pointer } => self.kept_at(own, *pointer, outside).is_none(),
            Expression::AccessIndex { .. } | Expression::Access { .. } => {
                !self.is_pointer(own, value) && self.kept_at(own, value, outside).is_none()
            }
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::Override(_)
            | Expression::ZeroValue(_)
            | Expression::Compose { .. }
            | Expression::Splat { .. }
            | Expression::Swizzle { .. }
            | Expression::FunctionArgument(_)
            | Expression::GlobalVariable(_)
            | Expression::LocalVariable(_)
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Select { .. }
            | Expression::Relational { .. }
            | Expression::Math { .. }
            | Expression::As { .. }
            | Expression::ArrayLength(_) => false,
            _ => true,
        }
    }

    /// The field of `params` whose value an expression is.
    fn param(&self, own: &UserFunction<'m>, value: Handle<Expression>) -> Option<u32> {
        let expressions = &own.function.expressions;
        let pointer = match expressions[value] {
            Expression::Load { pointer } => pointer,
            _ => value,
        };
        let Expression::AccessIndex { base, index } = expressions[pointer] else { return None };
        match expressions[base] {
            _ if pointer != value => self.is_params(own, base).then_some(index),
            Expression::Load { pointer } => self.is_params(own, pointer).then_some(index),
            _ => None,
        }
    }

    /// Structs and arrays whose words come from outside: the parameters, and user buffers.
    fn outside(&self) -> HashSet<Handle<Type>> {
        let module = self.program.module();
        let variables = module.global_variables.iter().filter(|(handle, variable)| {
            let users = self.is_users(module.global_variables.get_span(*handle));
            Some(*handle) == self.params || (users && !is_own_space(variable.space))
        });
        let mut left: Vec<_> = variables.map(|(_, variable)| variable.ty).collect();
        let mut outside = HashSet::new();
        while let Some(ty) = left.pop() {
            if outside.insert(ty) {
                match &module.types[ty].inner {
                    TypeInner::Array { base, .. } => left.push(*base),
                    TypeInner::Struct { members, .. } => left.extend(members.iter().map(|member| member.ty)),
                    _ => {}
                }
            }
        }
        outside
    }

    /// The storage that a pointer or a part of a value refers to; `None` if its content is
    /// doubtful.
    fn kept_at(
        &self,
        own: &UserFunction<'m>,
        at: Handle<Expression>,
        outside: &HashSet<Handle<Type>>,
    ) -> Option<StorageClass> {
        let module = self.program.module();
        match own.function.expressions[at] {
            Expression::LocalVariable(variable) => Some(StorageClass::Local(own.handle, variable)),
            Expression::GlobalVariable(variable) => is_own_space(module.global_variables[variable].space)
                .then_some(StorageClass::Global(variable)),
            Expression::FunctionArgument(_) => self
                .is_pointer(own, at)
                .then_some(())
                .and_then(|()| Some(StorageClass::Behind(self.type_of(own, at)?))),
            Expression::AccessIndex { base, .. } | Expression::Access { base, .. } => {
                let ty = self.type_of(own, base).filter(|ty| !outside.contains(ty))?;
                match (&module.types[ty].inner, &own.function.expressions[at]) {
                    // Structs of the library are not tracked.
                    (TypeInner::Struct { .. }, Expression::AccessIndex { index, .. }) => {
                        self.is_users(module.types.get_span(ty)).then_some(StorageClass::Member(ty, *index))
                    }
                    (TypeInner::Array { .. }, _) => Some(StorageClass::Element(ty)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_pointer(&self, own: &UserFunction<'m>, value: Handle<Expression>) -> bool {
        match own.function.expressions[value] {
            Expression::LocalVariable(_) | Expression::GlobalVariable(_) => true,
            Expression::FunctionArgument(number) => {
                let ty = own.function.arguments[number as usize].ty;
                matches!(self.program.module().types[ty].inner, TypeInner::Pointer { .. })
            }
            Expression::AccessIndex { base, .. } | Expression::Access { base, .. } => {
                self.is_pointer(own, base)
            }
            _ => false,
        }
    }

    /// The type of a value, or of a pointer's target, as far as it is a struct, an array or a part
    /// of one.
    fn type_of(&self, own: &UserFunction<'m>, value: Handle<Expression>) -> Option<Handle<Type>> {
        let module = self.program.module();
        match &own.function.expressions[value] {
            Expression::FunctionArgument(number) => {
                let ty = own.function.arguments[*number as usize].ty;
                match module.types[ty].inner {
                    TypeInner::Pointer { base, .. } => Some(base),
                    _ => Some(ty),
                }
            }
            Expression::LocalVariable(variable) => Some(own.function.local_variables[*variable].ty),
            Expression::GlobalVariable(variable) => Some(module.global_variables[*variable].ty),
            Expression::Load { pointer } => self.type_of(own, *pointer),
            Expression::Select { accept, .. } => self.type_of(own, *accept),
            Expression::CallResult(function) => Some(module.functions[*function].result.as_ref()?.ty),
            Expression::Compose { ty, .. } | Expression::ZeroValue(ty) => Some(*ty),
            Expression::Constant(constant) => Some(module.constants[*constant].ty),
            Expression::AccessIndex { base, index } => match &module.types[self.type_of(own, *base)?].inner {
                TypeInner::Struct { members, .. } => Some(members.get(*index as usize)?.ty),
                TypeInner::Array { base, .. } => Some(*base),
                _ => None,
            },
            Expression::Access { base, .. } => match module.types[self.type_of(own, *base)?].inner {
                TypeInner::Array { base, .. } => Some(base),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether only the functions of the module write variables of an address space.
fn is_own_space(space: AddressSpace) -> bool {
    matches!(space, AddressSpace::Function | AddressSpace::Private | AddressSpace::WorkGroup)
}

fn is_comparison(op: BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual)
}
