//! Checks a model's file: required and optional declarations, and the functions that it may call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::gpu::{
    Allowed, Declaration, GpuError, LinkError, MOST_KEPT, Program, Recipe, Source, is_words, values_of,
};
use crate::time::Ticks;
use crate::{random, statistics};

use super::declared::Declared;
use super::recipes::{self, Recipes};
use crate::pdes::contract::output::Columns;
use crate::pdes::contract::sync::Windows;
use crate::pdes::{Model, Payload, SimulationError};

/// Links the model, and refuses a file that violates the contract. Returns the bytes of a state.
pub(in crate::pdes) fn check<M: Model>(
    recipes: &Recipes,
    model: &M,
    declared: Declared,
) -> Result<u32, SimulationError> {
    linked(model, &recipes.start)?;
    let program = linked(model, &recipes.window)?;
    check_uses(&program)?;
    let functions =
        [&OUTPUT_FUNCTIONS[..], &random::MODEL_FUNCTIONS, &random::ARITHMETIC, &statistics::MODEL_FUNCTIONS]
            .concat();
    let mut is_speculative = vec![];
    is_speculative.extend(declared.earliest.then_some("earliest"));
    if recipes.relax.is_some() {
        is_speculative.extend(declared.answer.then_some("answer"));
        is_speculative.extend(declared.next.then_some(["next_to", "next_gap"]).into_iter().flatten());
    }
    let bounds = [(&recipes.look, is_speculative), (&recipes.relax, vec!["sender_count", "sender"])];
    for (recipe, names) in bounds {
        let Some(recipe) = recipe else { continue };
        let program = linked(model, recipe)?;
        for name in names {
            program.check_calls(name, &functions, BOUNDS_ADVICE).map_err(GpuError::from)?;
        }
    }
    check_variables(&program, model)?;
    check_layouts(&program, model)
}

/// The same checks of a model's file that is linked for the CPU. Returns the bytes of a state.
pub(in crate::pdes) fn check_native<M: Model>(program: &Program, model: &M) -> Result<u32, SimulationError> {
    check_uses(program)?;
    check_variables(program, model)?;
    if size_of::<M::Output>() > 0 {
        check_output(program, model)?;
    }
    check_layouts(program, model)
}

/// Refuses uses of the engine that the contract does not allow.
fn check_uses(program: &Program) -> Result<(), SimulationError> {
    let functions =
        [&FUNCTIONS[..], &random::MODEL_FUNCTIONS, &random::ARITHMETIC, &statistics::MODEL_FUNCTIONS]
            .concat();
    let allowed = Allowed { functions: &functions, variables: &["params", "data"], written: &[] };
    Ok(program.check_user(&allowed).map_err(GpuError::from)?)
}

/// Refuses an `output` that does more than read, or returns another struct than in Rust.
fn check_output<M: Model>(program: &Program, model: &M) -> Result<(), SimulationError> {
    let functions = [&OUTPUT_FUNCTIONS[..], &random::ARITHMETIC, &statistics::MODEL_FUNCTIONS].concat();
    program.check_calls("output", &functions, OUTPUT_ADVICE).map_err(GpuError::from)?;
    check_layout::<M, M::Output>(program, model, "Output").map(drop)
}

/// Links a recipe with the model, or reports what its file lacks.
pub(in crate::pdes) fn linked<M: Model>(model: &M, recipe: &Recipe) -> Result<Program, SimulationError> {
    recipe.link().map_err(|error| lacking(model, error))
}

/// The optional functions that a model's file declares; it is linked with the kernel `start`.
pub(in crate::pdes) fn declared<M: Model>(model: &M, start: &Recipe) -> Result<Declared, SimulationError> {
    let program = linked(model, start)?;
    let module = program.module();
    // A function of the model may have the same name with other arguments or another result.
    let has = |name: &str, arguments: usize, gives: Option<&str>| {
        module.functions.iter().any(|(_, function)| {
            let result = function.result.as_ref();
            function.name.as_deref() == Some(name)
                && function.arguments.len() == arguments
                && result.is_some_and(|result| module.types[result.ty].name.as_deref() == gives)
        })
    };
    let senders = has("sender_count", 1, None) && has("sender", 2, None);
    let answer = senders && has("answer", 2, Some("Answer"));
    let next = senders && has("next_to", 2, None) && has("next_gap", 2, None);
    Ok(Declared { senders, answer, next, earliest: has("earliest", 3, None) })
}

/// Refuses a model without the requirements of `windows`: a lookahead and, once `declared` is
/// known, senders.
pub(in crate::pdes) fn keeps<M: Model>(
    windows: Windows,
    model: &M,
    declared: Option<Declared>,
) -> Result<(), SimulationError> {
    let refused = |problem| SimulationError::Senders { sync: windows.into(), problem };
    if !(windows.needs_senders || windows.is_single) {
        return Ok(());
    }
    if model.lookahead() == Ticks::ZERO {
        // Events for the current time are executed in rounds, which are the same for all LPs.
        return Err(refused("needs a lookahead of at least 1 tick"));
    }
    if windows.needs_senders && declared.is_some_and(|declared| !declared.senders) {
        return Err(refused(
            "needs a model that declares the senders of each LP, in `fn sender_count(lp: u32) -> u32` and \
             `fn sender(lp: u32, index: u32) -> u32`",
        ));
    }
    Ok(())
}

/// The key of a model's columns: its WGSL, the words of a payload, the bytes of an output, and
/// whether its type is known in Rust.
type Of = (Source, &'static str, usize, bool);

/// A cache of columns, the newest first: linking a model's WGSL takes as long as a hundred thousand
/// events.
static LOOKED_AT: Mutex<VecDeque<(Of, Arc<Columns>)>> = Mutex::new(VecDeque::new());

/// The size of the cache.
const MOST_LOOKED_AT: usize = 16;

/// Checks the results in a model's file, and returns their columns; `None` for a model without
/// results.
pub(in crate::pdes) fn columns<M: Model>(model: &M) -> Result<Option<Arc<Columns>>, SimulationError> {
    let bytes = size_of::<M::Output>();
    if bytes == 0 {
        return Ok(None);
    }
    let of: Of = (model.source(), M::Payload::FILE, bytes, is_words::<M::Output>());
    let looked_at = || LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = looked_at().iter().find(|(known, _)| *known == of).map(|(_, columns)| columns.clone());
    if known.is_some() {
        return Ok(known);
    }
    let columns = Arc::new(linked_columns(model)?);
    let mut known = looked_at();
    known.truncate(MOST_LOOKED_AT - 1);
    known.push_front((of, columns.clone()));
    Ok(Some(columns))
}

fn linked_columns<M: Model>(model: &M) -> Result<Columns, SimulationError> {
    let program = recipes::output(model, false, 64).link().map_err(|error| lacking(model, error))?;
    check_output(&program, model)?;
    let layout = program.layout("Output").expect("the kernel uses it, and it links");
    Columns::new(&layout)
        .map_err(|field| SimulationError::OutputField { file: model.source().name().to_owned(), field })
}

/// The declarations that a model's file must have.
const CONTRACT: [Declaration; 3] = [
    Declaration { keyword: "struct", name: "State", text: "struct State" },
    Declaration { keyword: "fn", name: "init", text: "fn init(lp: u32, state: ptr<function, State>)" },
    Declaration {
        keyword: "fn",
        name: "handle",
        text: "fn handle(lp: u32, event: Event, state: ptr<function, State>)",
    },
];

/// Additional declarations of a model with an output.
const OUTPUT_CONTRACT: [Declaration; 2] = [
    Declaration { keyword: "struct", name: "Output", text: "struct Output" },
    Declaration {
        keyword: "fn",
        name: "output",
        text: "fn output(lp: u32, state: ptr<function, State>) -> Output",
    },
];

/// What a model's file lacks, if that is why it does not link.
pub(in crate::pdes) fn lacking<M: Model>(model: &M, error: LinkError) -> SimulationError {
    let source = model.source();
    if let LinkError::Wgsl { library: true, message, .. } = &error
        && message.contains("host-shareable")
    {
        let problem = "has a field in `struct State`, `Output` or `Params` that no buffer can hold, such as a bool: make it a u32";
        return SimulationError::Contract { file: source.name().to_owned(), problem: problem.to_owned() };
    }
    let lacks = match size_of::<M::Output>() {
        0 => source.lacks(&CONTRACT, &error),
        _ => source.lacks(&[&CONTRACT[..], &OUTPUT_CONTRACT].concat(), &error),
    };
    match lacks {
        Some(problem) => SimulationError::Contract { file: source.name().to_owned(), problem },
        None => GpuError::from(error).into(),
    }
}

/// The engine's functions that a model may call, besides `MODEL_FUNCTIONS` of `random` and
/// `statistics`, and `ARITHMETIC`. The documentation of [`Model`] lists them.
const FUNCTIONS: [&str; 15] = [
    "stream_purpose",
    "stream_named",
    "stream_main",
    "schedule",
    "now",
    "lp_count",
    "replica",
    "lookahead",
    "memory_get",
    "memory_set",
    "memory_rows",
    "memory_full",
    "line_push",
    "line_front",
    "line_pop",
];

/// The functions that `output` and its callees may call, besides `MODEL_FUNCTIONS` of `statistics`,
/// and `ARITHMETIC`.
const OUTPUT_FUNCTIONS: [&str; 7] =
    ["now", "lp_count", "replica", "lookahead", "memory_get", "memory_rows", "normal_unit"];

const BOUNDS_ADVICE: &str = "It computes bounds, and sends nothing";

const OUTPUT_ADVICE: &str =
    "It reads the state, and changes nothing: no events, no draws, no writes to LP memory";

/// Refuses `params` and `data` at bindings that the engine does not use.
fn check_variables<M: Model>(program: &Program, model: &M) -> Result<(), SimulationError> {
    let file = || model.source().name().to_owned();
    let (bytes, mut declared) = (size_of_val(model.data()), false);
    for (_, variable) in program.module().global_variables.iter() {
        let name = variable.name.as_deref().unwrap_or_default();
        let (place, space) = match name {
            "params" => ((1, 0), naga::AddressSpace::Uniform),
            "data" => ((1, 1), naga::AddressSpace::Storage { access: naga::StorageAccess::LOAD }),
            _ => continue,
        };
        let found = variable.binding.as_ref().map(|at| (at.group, at.binding));
        if found != Some(place) || variable.space != space {
            return Err(SimulationError::Variable { file: file(), variable: name.to_owned() });
        }
        if name == "data" {
            declared = true;
            let module = program.module();
            let (element, least) = (element_bytes(module, variable.ty), least_bytes(module, variable.ty));
            let problem = match bytes {
                0 => "declares `data`, and `Model::data` is empty: return the table there".to_owned(),
                _ if bytes < least => format!(
                    "declares `data` of at least {least} bytes, and `Model::data` has {bytes}: return the whole table there"
                ),
                _ if bytes.is_multiple_of(element) => continue,
                _ => format!(
                    "the elements of `data` have {element} bytes each, and `Model::data` has {bytes}: make that a multiple"
                ),
            };
            return Err(SimulationError::Data { file: file(), problem });
        }
        if name == "params" && size_of::<M::Params>() == 0 {
            let problem = "is the type of `params` in the WGSL, and `Model::Params` has no bytes: declare the same struct in Rust";
            return Err(SimulationError::Layout {
                file: file(),
                name: "Params",
                problem: problem.to_owned(),
            });
        }
    }
    if bytes > 0 && !declared {
        let problem = "`Model::data` is not empty, and the file does not declare `@group(1) @binding(1) var<storage, read> data`";
        return Err(SimulationError::Data { file: file(), problem: problem.to_owned() });
    }
    Ok(())
}

/// The size that divides the bytes of `data`: an element, or, for a struct that ends with a
/// runtime-sized array, a word.
fn element_bytes(module: &naga::Module, ty: naga::Handle<naga::Type>) -> usize {
    match &module.types[ty].inner {
        naga::TypeInner::Array { stride, .. } => *stride as usize,
        naga::TypeInner::Struct { members, .. } => {
            match members.last().map(|last| &module.types[last.ty].inner) {
                // The fields before the array are words, in any number.
                Some(naga::TypeInner::Array { size: naga::ArraySize::Dynamic, .. }) => 4,
                _ => least_bytes(module, ty),
            }
        }
        _ => least_bytes(module, ty),
    }
}

/// The bytes of a type, with one element of a runtime-sized array.
fn least_bytes(module: &naga::Module, ty: naga::Handle<naga::Type>) -> usize {
    module.types[ty].inner.size(module.to_ctx()) as usize
}

/// Compares the model's structs with the Rust types; returns the bytes of a state.
fn check_layouts<M: Model>(program: &Program, model: &M) -> Result<u32, SimulationError> {
    let (found, given) =
        (check_layout::<M, M::Params>(program, model, "Params")?, model.params_bytes().len());
    if found as usize != given {
        let problem = format!("has {found} bytes, and `Model::params_bytes` {given}: make them equal");
        return Err(SimulationError::Layout {
            file: model.source().name().to_owned(),
            name: "Params",
            problem,
        });
    }
    check_layout::<M, M::State>(program, model, "State")
}

/// Compares one struct; returns its bytes.
fn check_layout<M: Model, T: 'static>(
    program: &Program,
    model: &M,
    name: &'static str,
) -> Result<u32, SimulationError> {
    let (found, bytes) = (program.layout(name), size_of::<T>());
    let problem = match found.as_ref().map(|layout| (layout.bytes, layout.padding())) {
        None if bytes == 0 || is_words::<T>() => return Ok(0),
        None => format!("is missing, and the Rust type has {bytes} bytes: declare it"),
        Some((_, Some(place))) => {
            format!("has padding ({place}): declare it as fields of u32")
        }
        Some((found, None)) if values_of::<T>(found).is_none() => {
            format!("has {found} bytes, and the Rust type has {bytes}: make them equal")
        }
        // The engine stores it in a function's variable.
        Some((found, None)) if name != "Params" && found > MOST_KEPT => format!(
            "has {found} bytes, and WGSL guarantees {MOST_KEPT} for the variables of a function: move lists to LP memory (`Model::memory_rows`)"
        ),
        Some((found, None)) => return Ok(found),
    };
    Err(SimulationError::Layout { file: model.source().name().to_owned(), name, problem })
}
