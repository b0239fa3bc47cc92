//! Random valid WGSL programs, as wgslsmith makes them: nested control flow, structures, arrays,
//! vectors, calls, pointers, variables in all address spaces, integer and some `f32` arithmetic.
//!
//! Bytes decide everything, so that proptest shrinks programs and a fuzzer mutates them. Without
//! bytes, each choice is the first: a leaf.

mod expression;
mod statement;
mod types;

use std::fmt::Write as _;

use types::{Scalar, Type};

/// The variables of group 0 by binding: the last is a uniform, the others are buffers.
pub(crate) const BINDINGS: [&str; 5] = ["words", "store", "tally", "input", "setup"];
/// The words of `words` and `input`.
const WORDS: usize = 64;
/// As many as the largest `store` has.
const STORE_WORDS: usize = 1024;

/// Which programs are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Integers are the same everywhere: indices are in range, numbers of type `f32` are multiples
    /// of 1/4 up to 1024, which every operation leaves exact.
    Portable,
    /// Also indices out of range, all functions of `f32`, matrices and integers of 64 bits: what
    /// drivers do differently, or lack.
    Native,
}

/// A program with the function `run(seed: u32) -> u32` and an entry point `main` that calls it with
/// `words[1]` and writes the result to `words[0]`.
pub(crate) fn program(bytes: &[u8], dialect: Dialect) -> String {
    let mut generator = Generator {
        bytes: bytes.iter(),
        dialect,
        structs: Vec::new(),
        functions: Vec::new(),
        globals: Vec::new(),
        scope: Vec::new(),
        text: String::new(),
        indent: 1,
        names: 0,
        nodes: 0,
        weight: 1,
        loops: Vec::new(),
        returns: None,
        callable: 0,
    };
    generator.module()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Values: `let`, arguments.
    Value,
    Function,
    Private,
    Storage,
}

#[derive(Clone)]
struct Variable {
    /// How a program reads it: for a pointer `(*p)`.
    path: String,
    ty: Type,
    space: Space,
    writable: bool,
    /// A whole variable of its space, whose address may be passed.
    whole: bool,
}

#[derive(Clone)]
struct Parameter {
    ty: Type,
    /// The space of a pointer to it.
    pointer: Option<Space>,
}

#[derive(Clone)]
struct Function {
    name: String,
    parameters: Vec<Parameter>,
    result: Option<Type>,
    /// Statements that a call runs at most, roughly.
    cost: u32,
}

struct Generator<'a> {
    bytes: std::slice::Iter<'a, u8>,
    dialect: Dialect,
    structs: Vec<types::Struct>,
    functions: Vec<Function>,
    globals: Vec<Variable>,
    scope: Vec<Variable>,
    text: String,
    indent: usize,
    names: u32,
    /// Expressions of the current function.
    nodes: u32,
    /// How often the current statement runs in a call.
    weight: u32,
    /// The loops around the current statement: whether `continue` is allowed.
    loops: Vec<bool>,
    returns: Option<Type>,
    /// The cost of the current function so far.
    callable: u32,
}

impl Generator<'_> {
    fn pick(&mut self, choices: u32) -> u32 {
        let byte = |bytes: &mut std::slice::Iter<'_, u8>| bytes.next().map_or(0, |byte| u32::from(*byte));
        let wide = if choices > 256 { byte(&mut self.bytes) << 8 } else { 0 };
        (wide | byte(&mut self.bytes)) % choices
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.pick(one_in) == one_in - 1
    }

    fn native(&self) -> bool {
        self.dialect == Dialect::Native
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}_{}", self.names)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * self.indent);
    }

    fn module(&mut self) -> String {
        for _ in 0..1 + self.pick(3) {
            self.structure(true);
        }
        let store = Type::Struct(self.structs.len() - 1);
        for _ in 0..self.pick(3) {
            self.structure(false);
        }
        let mut text = self.structs.iter().map(|s| s.text.as_str()).collect::<String>();
        let _ = write!(
            text,
            "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> store: {};
@group(0) @binding(2) var<storage, read_write> tally: array<atomic<u32>, 4>;
@group(0) @binding(3) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> setup: array<vec4<i32>, 4>;
var<private> zero: u32;
",
            store.name()
        );
        self.global("words", Type::Array(Box::new(Type::U32), WORDS as u32), Space::Storage, true);
        self.global("store", store, Space::Storage, true);
        let (unsigned, signed) = (Type::Vector(4, Scalar::U32), Type::Vector(4, Scalar::I32));
        self.global("input", Type::Array(Box::new(unsigned), WORDS as u32 / 4), Space::Storage, false);
        self.global("setup", Type::Array(Box::new(signed), 4), Space::Storage, false);
        for _ in 0..self.pick(5) {
            let (name, ty) = (self.name("p"), self.any_type(2));
            let value = if self.chance(2) { format!(" = {}", self.constant(&ty)) } else { String::new() };
            let _ = writeln!(text, "var<private> {name}: {}{value};", ty.name());
            self.global(&name, ty, Space::Private, true);
        }
        text.push_str(
            "
fn norm(x: f32) -> f32 {
    return trunc(clamp(x, -1024.0, 1024.0) * 4.0) * 0.25;
}

",
        );
        for _ in 0..self.pick(5) {
            self.define_function();
        }
        self.define_run();
        text.push_str(&self.text);
        text.push_str("@compute @workgroup_size(1)\nfn main() {\n    words[0] = run(words[1]);\n}\n");
        text
    }

    fn global(&mut self, name: &str, ty: Type, space: Space, writable: bool) {
        self.globals.push(Variable { path: name.to_owned(), ty, space, writable, whole: true });
    }

    fn define_function(&mut self) {
        let name = self.name("f");
        let result = if self.chance(5) { None } else { Some(self.any_type(1)) };
        self.scope.clear();
        let mut parameters = Vec::new();
        for i in 0..self.pick(4) {
            let (ty, argument) = (self.any_type(1), format!("a{i}"));
            let pointer = self.chance(2).then_some(Space::Function);
            let path = if pointer.is_some() { format!("(*{argument})") } else { argument };
            let space = pointer.unwrap_or(Space::Value);
            self.scope.push(Variable {
                path,
                ty: ty.clone(),
                space,
                writable: pointer.is_some(),
                whole: false,
            });
            parameters.push(Parameter { ty, pointer });
        }
        let list = parameters.iter().enumerate().map(|(i, parameter)| match parameter.pointer {
            Some(_) => format!("a{i}: ptr<function, {}>", parameter.ty.name()),
            None => format!("a{i}: {}", parameter.ty.name()),
        });
        let list = list.collect::<Vec<_>>().join(", ");
        self.body(&name, &list, result.clone());
        let cost = self.callable;
        self.functions.push(Function { name, parameters, result, cost });
    }

    fn define_run(&mut self) {
        self.scope.clear();
        self.scope.push(Variable {
            path: "seed".to_owned(),
            ty: Type::U32,
            space: Space::Value,
            writable: false,
            whole: false,
        });
        self.body("run_once", "seed: u32", Some(Type::U32));
        // What private variables hold at the end is a result, too.
        let mut leaves = Vec::new();
        for variable in self.globals.clone().iter().filter(|variable| variable.space == Space::Private) {
            self.leaves(&variable.path, &variable.ty, &mut leaves);
        }
        self.text.push_str("fn run(seed: u32) -> u32 {\n    let result = run_once(seed);\n");
        for (i, leaf) in leaves.iter().enumerate() {
            self.line(&format!("words[{}] = words[{0}] * 31u + {leaf};", 2 + i % (WORDS - 2)));
        }
        self.text.push_str("    return result;\n}\n\n");
    }

    fn body(&mut self, name: &str, parameters: &str, result: Option<Type>) {
        let arrow = result.as_ref().map_or(String::new(), |ty| format!(" -> {}", ty.name()));
        let _ = writeln!(self.text, "fn {name}({parameters}){arrow} {{");
        (self.nodes, self.weight, self.callable, self.indent) = (0, 1, 1, 1);
        self.returns = result.clone();
        for _ in 0..1 + self.pick(7) {
            self.statement(0);
        }
        if let Some(ty) = result {
            // A function may end with a statement that returns on every way.
            if self.chance(6) {
                self.returning_switch(&ty);
            } else {
                let value = self.expression(&ty, 3).text;
                self.line(&format!("return {value};"));
            }
        }
        self.text.push_str("}\n\n");
    }
}

/// What each of [`BINDINGS`] holds before a run: small and large words; `words[1]` is the seed.
pub(crate) fn contents(seed: u32) -> [Vec<u32>; 5] {
    let mut state = u64::from(seed) << 1 | 1;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = (state >> 32) as u32;
        if word & 3 == 0 { word >> 27 } else { word }
    };
    let mut contents =
        [WORDS, STORE_WORDS, 4, WORDS, 16].map(|count| (0..count).map(|_| word()).collect::<Vec<_>>());
    contents[0][1] = seed;
    contents
}
