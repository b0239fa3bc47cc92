//! The engine's kernels: which files are linked for a model, a queue design and a device, and what is asked of the model's file.

use std::sync::Arc;

use crate::gpu::{Allowed, Declaration, Gpu, GpuError, LinkError, Program, Recipe, Source};
use crate::queue::QueueDesign;
use crate::time::Ticks;
use crate::{random, shaders, statistics};

use super::cut::{Cut, Sort, at_once, group_size_at_most};
use super::output::Columns;
use super::{Model, Payload, SimulationError, Sync};

/// The files that say where events are pending, and so how far a window goes and what `schedule` does in it.
struct Files {
    synchronise: &'static str,
    window: &'static [&'static str],
    start: &'static str,
    held: &'static str,
}

const QUEUES: Files = Files {
    synchronise: "pdes/yawns.wgsl",
    window: &["pdes/queues.wgsl", "pdes/deliver_mail.wgsl"],
    start: "pdes/queues_start.wgsl",
    held: "pdes/queues_held.wgsl",
};

const CALENDAR: Files = Files {
    synchronise: "pdes/calendar_sync.wgsl",
    window: &["pdes/calendar_window.wgsl"],
    start: "pdes/calendar_start.wgsl",
    held: "pdes/calendar_held.wgsl",
};

/// What stands in for the file that synchronises where windows go to the event horizon, and their first dispatch.
const HORIZON: &str = "pdes/horizon.wgsl";
const LOOK: &str = "pdes/horizon_look.wgsl";
/// What comes between them for horizons of each LP's own.
const RELAX: &str = "pdes/neighbours_relax.wgsl";

/// How far windows go: [`Sync`](super::Sync), decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Windows {
    Yawns,
    Horizon,
    Neighbours,
}

impl From<Windows> for Sync {
    fn from(windows: Windows) -> Self {
        match windows {
            Windows::Yawns => Self::Yawns,
            Windows::Horizon => Self::Horizon,
            Windows::Neighbours => Self::Neighbours,
        }
    }
}

/// What a run may change without changing results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) queue: QueueDesign,
    pub(super) windows: Windows,
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {}", self.queue, Sync::from(self.windows))
    }
}

#[derive(Debug)]
pub(super) struct Recipes {
    pub(super) start: Recipe,
    pub(super) settle: Recipe,
    /// The first dispatch of windows that have two.
    pub(super) look: Option<Recipe>,
    /// What comes then, several times.
    pub(super) relax: Option<Recipe>,
    /// Its invocations to a workgroup.
    pub(super) relax_size: u32,
    pub(super) window: Recipe,
    pub(super) gather: Recipe,
    pub(super) digest: Recipe,
    pub(super) digest_memory: Recipe,
    pub(super) count_held: Recipe,
    pub(super) lift: Recipe,
    pub(super) lower: Recipe,
    /// Of a calendar: the time of the first event, by workgroup and of all.
    pub(super) first: Option<[Recipe; 2]>,
    /// Sorts the buckets of a calendar.
    pub(super) sort: Option<Recipe>,
}

/// What of a device, or of the sizes of a run, decides which files are linked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) way: Way,
    pub(super) int64: bool,
    pub(super) group_size: u32,
    pub(super) tiles: u32,
    /// Of kernels that serve no LPs (the one that gathers partial reductions, in one workgroup): as large as the device has them.
    pub(super) gather_size: u32,
    /// Of relaxations, likewise.
    pub(super) relax_size: u32,
    /// Rows in each binding of the store, and how many bindings, where it takes several.
    pub(super) store: Option<(u32, u32)>,
    /// Of a calendar.
    pub(super) buckets: u32,
    pub(super) sorted: Option<Sort>,
    pub(super) declared: Declared,
}

impl Choice {
    /// One for any device.
    fn usual(way: Way, declared: Declared) -> Self {
        Self {
            way,
            int64: false,
            group_size: 256,
            tiles: 1,
            gather_size: 256,
            relax_size: 256,
            store: None,
            buckets: 0,
            sorted: None,
            declared,
        }
    }

    pub(super) fn new(gpu: &Gpu, way: Way, declared: Declared, cut: &Cut) -> Self {
        Self {
            way,
            int64: gpu.has(wgpu::Features::SHADER_INT64),
            group_size: cut.group_size,
            tiles: cut.tiles,
            gather_size: group_size_at_most(gpu, 256),
            relax_size: group_size_at_most(gpu, 1024),
            store: (cut.store_parts() > 1).then_some((cut.store_rows, cut.store_parts())),
            buckets: cut.buckets,
            sorted: cut.sort,
            declared,
        }
    }
}

impl Recipes {
    /// Those of the model called `name`, whose file is `source` and whose events carry `P`.
    pub(super) fn new<P: Payload>(name: &str, source: &Source, choice: Choice) -> Self {
        let Choice {
            way,
            int64,
            group_size,
            tiles,
            gather_size,
            relax_size,
            store: stores,
            buckets,
            sorted,
            declared,
        } = choice;
        let queue = way.queue;
        let files = if buckets > 0 { CALENDAR } else { QUEUES };
        let product = product(int64);
        let store = if stores.is_some() { "pdes/store_many.wgsl" } else { "pdes/store_one.wgsl" };
        // Kernels where one invocation serves an LP have one for each that a window's workgroup serves at once.
        let at_once = at_once(group_size, queue.lanes());
        let sizes = [("GROUP_SIZE", f64::from(at_once)), ("TILES", f64::from(tiles))];
        let calendar = (buckets > 0).then_some(("CALENDAR_BUCKETS", f64::from(buckets)));
        let cut = stores.map(|(rows, bindings)| {
            [("STORE_ROWS", f64::from(rows)), ("STORE_BINDINGS", f64::from(bindings))]
        });
        // Linked are `kernel`, `more`, the size of events, and what a calendar's memory or a queue consists of.
        let with_pending = |entry, kernel: &'static str, more: &[&'static str], stored: bool, name: &str| {
            let mut paths = vec![kernel];
            paths.extend(more);
            paths.push(P::FILE);
            // Cells of time, and the model's draws.
            if calendar.is_some()
                || [files.synchronise, HORIZON, LOOK, RELAX].iter().any(|file| paths.contains(file))
            {
                paths.push(product);
            }
            let stored = stored || calendar.is_some();
            paths.extend(stored.then_some(store));
            let mut sources: Vec<_> = paths.into_iter().map(shaders::file).collect();
            sources.extend(queue.source());
            let recipe =
                Recipe::new(name, entry, sources).with(queue.constants().iter().copied()).with(sizes);
            recipe.with(calendar).with(cut.into_iter().flatten().filter(|_| stored))
        };
        let with_model = |entry, kernel: &'static str, more: &[&'static str], stored| {
            with_pending(entry, kernel, more, stored, &format!("{name} {kernel}")).and(source.clone())
        };
        let start = |entry| with_model(entry, "pdes/start.wgsl", &[files.synchronise, files.start], false);
        let synchronise: &[_] = match way.windows {
            Windows::Yawns => &[files.synchronise],
            Windows::Horizon => &[HORIZON, "pdes/horizon_one.wgsl"],
            Windows::Neighbours => &[HORIZON, "pdes/neighbours.wgsl"],
        };
        let (wide, neighbours) = (way.windows != Windows::Yawns, way.windows == Windows::Neighbours);
        let answers: &[_] = match (neighbours, declared.answer) {
            (false, _) => &["pdes/answers_none.wgsl"],
            (true, false) => &["pdes/answers.wgsl", "pdes/answer_default.wgsl"],
            (true, true) => &["pdes/answers.wgsl"],
        };
        let dry = if declared.earliest { "pdes/dry_earliest.wgsl" } else { "pdes/dry_run.wgsl" };
        let held = |entry, kernel| with_pending(entry, kernel, &[files.held], false, kernel);
        let gather = |entry, kernel, more: &[&'static str]| {
            with_pending(entry, kernel, more, false, kernel).with([("GROUP_SIZE", f64::from(gather_size))])
        };
        let (window, window_file) = match (queue.lanes(), tiles) {
            (1, 1) => ("window", "pdes/window.wgsl"),
            (1, _) => ("window_tiles", "pdes/window.wgsl"),
            _ => ("window_team", "pdes/window_team.wgsl"),
        };
        let lifting = [("GROUP_SIZE", f64::from(group_size))];
        let first = "pdes/calendar_first.wgsl";
        Self {
            start: start("start_lps"),
            settle: start("settle_lps"),
            look: wide.then(|| {
                let recipe = with_model("look_ahead", LOOK, &[&[dry], answers].concat(), false);
                recipe.with(neighbours.then_some(("LOOK_FAR", 1.0)))
            }),
            relax: neighbours.then(|| {
                with_model("relax", RELAX, &[], false).with([("GROUP_SIZE", f64::from(relax_size))])
            }),
            relax_size,
            window: with_model(window, window_file, &[synchronise, files.window].concat(), true)
                .with([("GROUP_SIZE", f64::from(at_once * queue.lanes()))]),
            gather: gather("gather", files.synchronise, &[]),
            digest: held("digest", "pdes/digest.wgsl"),
            digest_memory: Recipe::new(
                "pdes/digest_memory.wgsl",
                "digest_memory",
                ["pdes/digest_memory.wgsl", P::FILE].map(shaders::file),
            )
            .with([("GROUP_SIZE", f64::from(gather_size))]),
            count_held: held("count_held", "pdes/lift.wgsl").with(lifting),
            lift: held("lift", "pdes/lift.wgsl").with(lifting),
            lower: with_pending(
                "lower",
                "pdes/lower.wgsl",
                &[files.synchronise, files.start],
                false,
                "pdes/lower.wgsl",
            )
            .with(lifting),
            sort: sorted.map(|sort| {
                gather("sort_buckets", "pdes/calendar_sort.wgsl", &[]).with([
                    ("GROUP_SIZE", f64::from(sort.group_size)),
                    ("SORT_TEAM", f64::from(sort.team)),
                    ("SORT_BINS", f64::from(sort.bins)),
                ])
            }),
            first: calendar.map(|_| {
                [with_pending("first_rows", first, &[], false, first), gather("first_of_all", first, &[])]
            }),
        }
    }

    /// Links the model, and refuses a file that does not keep the contract. Returns the bytes of a state.
    pub(super) fn check<M: Model>(&self, model: &M, declared: Declared) -> Result<u32, SimulationError> {
        self.start.link().map_err(|error| lacking(model, error))?;
        let program = self.window.link().map_err(|error| lacking(model, error))?;
        let functions = [&FUNCTIONS[..], &random::MODEL_FUNCTIONS, &statistics::MODEL_FUNCTIONS].concat();
        let allowed = Allowed { functions: &functions, variables: &["params", "data"], written: &[] };
        program.check_user(&allowed).map_err(GpuError::from)?;
        let functions =
            [&OUTPUT_FUNCTIONS[..], &random::MODEL_FUNCTIONS, &statistics::MODEL_FUNCTIONS].concat();
        let mut looks = vec![];
        looks.extend(declared.earliest.then_some("earliest"));
        looks.extend((declared.answer && self.relax.is_some()).then_some("answer"));
        let bounds = [(&self.look, looks), (&self.relax, vec!["sender_count", "sender"])];
        for (recipe, names) in bounds {
            let Some(recipe) = recipe else { continue };
            let program = recipe.link().map_err(|error| lacking(model, error))?;
            for name in names {
                program.check_calls(name, &functions, BOUNDS_ADVICE).map_err(GpuError::from)?;
            }
        }
        check_variables(&program, model)?;
        check_layouts(&program, model)
    }
}

/// What of a model's file is not part of every model's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Declared {
    /// Who may send to whom: `sender_count`, `sender`.
    senders: bool,
    answer: bool,
    earliest: bool,
}

impl Declared {
    /// What of it a run uses that ends by a number of events, if it is one of those. `earliest` does not say how many events there are before
    /// that time, and there may be more than the budget of a window: what then is executed depends on where windows end. A dry run counts them.
    pub(super) fn for_run(self, counted: bool) -> Self {
        Self { earliest: self.earliest && !counted, ..self }
    }
}

/// What the file of a model declares.
pub(super) fn declared<M: Model>(model: &M) -> Result<Declared, SimulationError> {
    let way = Way { queue: QueueDesign::Heap, windows: Windows::Yawns };
    let recipes =
        Recipes::new::<M::Payload>(model.name(), &model.source(), Choice::usual(way, Declared::default()));
    let program = recipes.start.link().map_err(|error| lacking(model, error))?;
    let module = program.module();
    // A function of the model's own may have the same name: it takes and gives other things.
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
    Ok(Declared { senders, answer, earliest: has("earliest", 3, None) })
}

/// Refuses a model that does not say who may send to whom, or has no lookahead.
pub(super) fn neighbours<M: Model>(model: &M) -> Result<(), SimulationError> {
    let refused = |problem| SimulationError::Neighbours { problem };
    if model.lookahead() == Ticks::ZERO {
        // What is sent for the present time is executed in rounds, which are the same for all.
        return Err(refused("takes a lookahead of at least 1 tick"));
    }
    if !declared(model)?.senders {
        return Err(refused(
            "takes a model that says who may send to whom, in `fn sender_count(lp: u32) -> u32` and \
             `fn sender(lp: u32, index: u32) -> u32`",
        ));
    }
    Ok(())
}

fn product(int64: bool) -> &'static str {
    if int64 { "random/mul_wide_int64.wgsl" } else { "random/mul_wide.wgsl" }
}

/// The kernel that calls the model's `output`.
pub(super) fn output<M: Model>(model: &M, int64: bool, group_size: u32) -> Recipe {
    let files = ["pdes/output.wgsl", product(int64), M::Payload::FILE];
    Recipe::new(format!("{} pdes/output.wgsl", model.name()), "write_outputs", files.map(shaders::file))
        .with([("GROUP_SIZE", f64::from(group_size))])
        .and(model.source())
}

/// What works on results of any model: entry point `totals` or `classify`.
pub(super) fn totals(entry: &'static str, group_size: u32) -> Recipe {
    Recipe::new("pdes/totals.wgsl", entry, [shaders::file("pdes/totals.wgsl")])
        .with([("GROUP_SIZE", f64::from(group_size))])
}

/// Checks what a model's file says of its results, and returns their columns; none for a model without.
pub(super) fn columns<M: Model>(model: &M) -> Result<Option<Arc<Columns>>, SimulationError> {
    let bytes = size_of::<M::Output>();
    if bytes == 0 {
        return Ok(None);
    }
    let program = output(model, false, 64).link().map_err(|error| lacking(model, error))?;
    let functions = [&OUTPUT_FUNCTIONS[..], &statistics::MODEL_FUNCTIONS].concat();
    program.check_calls("output", &functions, OUTPUT_ADVICE).map_err(GpuError::from)?;
    check_layout(&program, model, "Output", bytes)?;
    let layout = program.layout("Output").expect("the kernel uses it, and it links");
    let columns = Columns::new(&layout)
        .map_err(|field| SimulationError::OutputField { file: model.source().name().to_owned(), field })?;
    Ok(Some(Arc::new(columns)))
}

/// What a model's file must declare.
const CONTRACT: [Declaration; 3] = [
    Declaration { keyword: "struct", name: "State", text: "struct State" },
    Declaration { keyword: "fn", name: "init", text: "fn init(lp: u32, state: ptr<function, State>)" },
    Declaration {
        keyword: "fn",
        name: "handle",
        text: "fn handle(lp: u32, event: Event, state: ptr<function, State>)",
    },
];

/// And one with an output.
const OUTPUT_CONTRACT: [Declaration; 2] = [
    Declaration { keyword: "struct", name: "Output", text: "struct Output" },
    Declaration {
        keyword: "fn",
        name: "output",
        text: "fn output(lp: u32, state: ptr<function, State>) -> Output",
    },
];

fn lacking<M: Model>(model: &M, error: LinkError) -> SimulationError {
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

/// What of the engine a model may call besides `MODEL_FUNCTIONS` of `random` and `statistics`, as the documentation of [`Model`] lists it.
const FUNCTIONS: [&str; 15] = [
    "schedule",
    "now",
    "time_add",
    "time_since",
    "time_less",
    "time_min",
    "lp_count",
    "lookahead",
    "memory_get",
    "memory_set",
    "memory_rows",
    "memory_full",
    "line_push",
    "line_front",
    "line_pop",
];

/// What of these `output` may call, and what it calls of the model's own; besides `MODEL_FUNCTIONS` of `statistics`.
const OUTPUT_FUNCTIONS: [&str; 10] = [
    "now",
    "time_add",
    "time_since",
    "time_less",
    "time_min",
    "lp_count",
    "lookahead",
    "memory_get",
    "memory_rows",
    "normal_unit",
];

const BOUNDS_ADVICE: &str = "It tells what may be sent, and sends nothing";

const OUTPUT_ADVICE: &str =
    "It tells what is, and changes nothing: no events, no draws, nothing written to LP memory";

/// Refuses `params` and `data` in places that the engine does not bind.
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
            let element = element_bytes(program.module(), variable.ty);
            let problem = match bytes {
                0 => "declares `data`, and `Model::data` is empty: return the table there".to_owned(),
                _ if bytes.is_multiple_of(element) => continue,
                _ => format!(
                    "the elements of `data` have {element} bytes each, and `Model::data` has {bytes}: they have to fill it"
                ),
            };
            return Err(SimulationError::Data { file: file(), problem });
        }
        if name == "params" && size_of::<M::Params>() == 0 {
            let problem = "is what `params` holds in the WGSL, and `Model::Params` has no bytes: declare the same in Rust";
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

/// The bytes of which `data` has a whole number: those of an element, or, where an array without a size ends a struct, of one of its.
fn element_bytes(module: &naga::Module, ty: naga::Handle<naga::Type>) -> usize {
    match &module.types[ty].inner {
        naga::TypeInner::Array { stride, .. } => *stride as usize,
        naga::TypeInner::Struct { members, .. } => {
            match members.last().map(|last| &module.types[last.ty].inner) {
                // What lies before it is words, and any number of those.
                Some(naga::TypeInner::Array { size: naga::ArraySize::Dynamic, .. }) => 4,
                _ => module.types[ty].inner.size(module.to_ctx()) as usize,
            }
        }
        other => other.size(module.to_ctx()) as usize,
    }
}

/// Compares the model's structs with the Rust types; returns the bytes of a state.
fn check_layouts<M: Model>(program: &Program, model: &M) -> Result<u32, SimulationError> {
    check_layout(program, model, "Params", size_of::<M::Params>())?;
    check_layout(program, model, "State", size_of::<M::State>())
}

/// Compares one of them; returns its bytes.
fn check_layout<M: Model>(
    program: &Program,
    model: &M,
    name: &'static str,
    bytes: usize,
) -> Result<u32, SimulationError> {
    let found = program.layout(name);
    let problem = match found.as_ref().map(|layout| (layout.bytes, layout.padding())) {
        None if bytes == 0 => return Ok(0),
        None => format!("is missing, and the Rust type has {bytes} bytes: declare it"),
        Some((_, Some(place))) => {
            format!("has padding ({place}), whose bytes mean nothing: declare it as fields of u32")
        }
        Some((found, None)) if found as usize != bytes => {
            format!("has {found} bytes, and the Rust type has {bytes}: make them equal")
        }
        Some((found, None)) => return Ok(found),
    };
    Err(SimulationError::Layout { file: model.source().name().to_owned(), name, problem })
}

/// Every kernel that a simulation of `model` may link.
#[doc(hidden)]
pub fn kernels<M: Model>(model: &M) -> Vec<Recipe> {
    let mut kernels = output_kernels(model);
    let declared = declared(model).expect("a model that links");
    for queue in QueueDesign::ALL {
        for int64 in [false, true] {
            for (store, tiles) in [(None, 4), (None, 1), (Some((1024, 24)), 1)] {
                let buckets = if queue == QueueDesign::Calendar { 8 } else { 0 };
                let sorted = (buckets > 0).then_some(Sort { group_size: 128, team: 128, bins: 256 });
                let recipes = |windows| {
                    let way = Way { queue, windows };
                    let usual = Choice::usual(way, declared);
                    let choice = Choice { int64, tiles, store, buckets, sorted, ..usual };
                    Recipes::new::<M::Payload>(model.name(), &model.source(), choice)
                };
                if buckets == 0 {
                    let neighbours = declared.senders && queue == QueueDesign::Heap;
                    let neighbours = neighbours.then_some(Windows::Neighbours);
                    for windows in [Windows::Horizon].into_iter().chain(neighbours) {
                        let Recipes { look, relax, window, .. } = recipes(windows);
                        kernels.extend(look.into_iter().chain(relax).chain([window]));
                    }
                }
                let recipes = recipes(Windows::Yawns);
                kernels.push(recipes.window);
                if tiles > 1 || buckets > 0 {
                    kernels.extend([recipes.start, recipes.settle, recipes.gather, recipes.digest]);
                    kernels.extend([recipes.digest_memory, recipes.count_held, recipes.lift, recipes.lower]);
                    kernels.extend(recipes.first.into_iter().flatten().chain(recipes.sort));
                }
            }
        }
    }
    kernels
}

/// Those of them for its results.
#[doc(hidden)]
pub fn output_kernels<M: Model>(model: &M) -> Vec<Recipe> {
    let mut kernels = vec![totals("totals", 64), totals("classify", 64)];
    if size_of::<M::Output>() > 0 {
        kernels.extend([false, true].map(|int64| output(model, int64, 256)));
    }
    kernels
}
