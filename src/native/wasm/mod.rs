//! Functions as WebAssembly, where the program is WebAssembly itself: the interpreter's operations
//! as instructions, in a module that shares the program's memory.

mod components;
mod emit;
mod emitter;
mod values;
mod words;

use std::cell::RefCell;

use naga::{Function as NagaFunction, Handle};
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function as Body, FunctionSection, ImportSection,
    MemoryType, Module, RefType, TableType, TypeSection, ValType,
};

use super::interpret::Interpreter;
use super::source::{Refused, Source};
use super::{NativeError, module};
use emitter::CODE;

#[wasm_bindgen]
extern "C" {
    /// What a module exports.
    #[derive(Clone)]
    type Exports;

    /// Runs the entry of this number.
    #[wasm_bindgen(method)]
    fn call(this: &Exports, entry: u32, block: u32, frame: u32);
}

thread_local! {
    /// By number of the code. (What JavaScript holds stays in its thread.)
    static MODULES: RefCell<Vec<Option<Exports>>> = const { RefCell::new(Vec::new()) };
}

/// Code that the browser compiles.
#[derive(Debug)]
pub(super) struct Machine {
    interpreter: Interpreter,
    /// In [`MODULES`].
    number: usize,
}

impl Machine {
    pub(super) fn new(
        source: &Source<'_>,
        entries: &[Handle<NagaFunction>],
        refused: impl FnOnce(Refused) -> NativeError,
    ) -> Result<Self, NativeError> {
        let interpreter = Interpreter::new(source, entries).map_err(refused)?;
        let exports = instance(&emitted(&interpreter)).map_err(|why| {
            module::platform(&format!("the browser compiles no WebAssembly at run time: {why:?}"))
        })?;
        let number = MODULES.with_borrow_mut(|modules| {
            let free = modules.iter().position(Option::is_none).unwrap_or(modules.len());
            modules.resize(modules.len().max(free + 1), None);
            modules[free] = Some(exports);
            free
        });
        Ok(Self { interpreter, number })
    }

    pub(super) fn stack_bytes(&self) -> usize {
        self.interpreter.stack_bytes()
    }

    /// Calls an entry.
    ///
    /// # Safety
    /// As [`Interpreter::call`].
    pub(super) unsafe fn call(&self, block: *mut u8, stack: *mut u8, entry: usize, arguments: &[u64]) -> u64 {
        let exports = MODULES.with_borrow(|modules| modules.get(self.number).cloned().flatten());
        let address = |at: *mut u8| at.expose_provenance() as u32;
        // SAFETY: as the caller says. In a thread that did not compile it, it is interpreted.
        unsafe {
            match exports {
                Some(exports) => self.interpreter.pass(stack, entry, arguments, |_| {
                    exports.call(entry as u32, address(block), address(stack));
                }),
                None => self.interpreter.call(block, stack, entry, arguments),
            }
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // (At the end of a thread its modules may be gone.)
        let _ = MODULES.try_with(|modules| {
            if let Some(module) = modules.borrow_mut().get_mut(self.number) {
                *module = None;
            }
        });
    }
}

/// The bytes of a module with all functions, by number, and one that calls the entry of a number.
fn emitted(interpreter: &Interpreter) -> Vec<u8> {
    let functions = &interpreter.functions;
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32; 2], []);
    for words in 1..=4 {
        let parameters = std::iter::once(ValType::I32).chain(vec![ValType::I64; words]);
        types.ty().function(parameters.collect::<Vec<_>>(), [ValType::I64]);
    }
    let entry_type = types.len();
    types.ty().function([ValType::I32; 3], []);

    let mut imports = ImportSection::new();
    let memory =
        MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None };
    imports.import("env", "memory", EntityType::Memory(memory));
    let table = TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 0,
        maximum: None,
        shared: false,
    };
    imports.import("env", "table", EntityType::Table(table));

    let (mut declared, mut code) = (FunctionSection::new(), CodeSection::new());
    let inlines = components::inlines();
    let constants_at = interpreter.constants.as_ptr().expose_provenance() as u32;
    for function in functions {
        declared.function(CODE);
        code.function(&emit::emit(function, &interpreter.constants, constants_at, &inlines));
    }
    declared.function(entry_type);
    code.function(&by_number(&interpreter.entries));
    let mut exports = ExportSection::new();
    exports.export("call", ExportKind::Func, functions.len() as u32);

    let mut module = Module::new();
    module.section(&types).section(&imports).section(&declared).section(&exports).section(&code);
    module.finish()
}

/// Calls the entry of a number with a block and a frame.
fn by_number(entries: &[usize]) -> Body {
    use wasm_encoder::BlockType::Empty;
    let mut body = Body::new([]);
    for (number, entry) in (0..).zip(entries) {
        body.instructions().local_get(0).i32_const(number).i32_eq().if_(Empty);
        body.instructions().local_get(1).local_get(2).call(*entry as u32).end();
    }
    body.instructions().end();
    body
}

/// The exports of a module that has the program's memory and table of functions.
fn instance(bytes: &[u8]) -> Result<Exports, JsValue> {
    use js_sys::WebAssembly::{Instance, Module};
    use js_sys::{Object, Reflect, Uint8Array};
    let module = Module::new(&Uint8Array::from(bytes).into())?;
    let (env, imports) = (Object::new(), Object::new());
    Reflect::set(&env, &"memory".into(), &wasm_bindgen::memory())?;
    Reflect::set(&env, &"table".into(), &wasm_bindgen::function_table())?;
    Reflect::set(&imports, &"env".into(), &env)?;
    Ok(Instance::new(&module, &imports)?.exports().unchecked_into())
}
