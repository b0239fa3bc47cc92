//! The engine's kernels: which files are linked for a model, a queue design and a device, and what is asked of the model's file.

use crate::gpu::{Allowed, Declaration, Gpu, GpuError, LinkError, Program, Recipe};
use crate::queue::QueueDesign;
use crate::{random, shaders, statistics};

use super::memory::Cut;
use super::{Model, Payload, SimulationError};

/// How far a window goes, and what `schedule` does in it: one file each today.
const SYNCHRONISE: &str = "pdes/yawns.wgsl";
const DELIVER: &str = "pdes/deliver_mail.wgsl";

#[derive(Debug)]
pub(super) struct Recipes {
    pub(super) start: Recipe,
    pub(super) settle: Recipe,
    pub(super) window: Recipe,
    pub(super) gather: Recipe,
    pub(super) digest: Recipe,
}

/// What of a device, or of the sizes of a run, decides which files are linked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) queue: QueueDesign,
    pub(super) int64: bool,
    pub(super) group_size: u32,
    pub(super) tiles: u32,
    /// Of the kernel that gathers partial reductions: one workgroup, as large as the device has them.
    pub(super) gather_size: u32,
    /// Rows in each binding of the mailboxes, where they take several.
    pub(super) mail_rows: Option<u32>,
}

impl Choice {
    pub(super) fn new(gpu: &Gpu, queue: QueueDesign, cut: &Cut) -> Self {
        Self {
            queue,
            int64: gpu.has(wgpu::Features::SHADER_INT64),
            group_size: cut.group_size,
            tiles: cut.tiles,
            gather_size: super::memory::group_size_at_most(gpu, 256),
            mail_rows: (cut.mail_parts() > 1).then_some(cut.mail_rows),
        }
    }
}

impl Recipes {
    pub(super) fn new<M: Model>(model: &M, choice: Choice) -> Self {
        let Choice { queue, int64, group_size, tiles, gather_size, mail_rows } = choice;
        let product = if int64 { "random/mul_wide_int64.wgsl" } else { "random/mul_wide.wgsl" };
        let payload = || shaders::file(M::Payload::FILE);
        let sizes = [("GROUP_SIZE", f64::from(group_size)), ("TILES", f64::from(tiles))];
        let with_queue = |entry, kernel: &str, files: &[&str], name: &str| {
            let files = [&[kernel], files].concat();
            let mut sources: Vec<_> = files.into_iter().map(shaders::file).collect();
            sources.extend([payload(), queue.source()]);
            Recipe::new(name, entry, sources).with(queue.constants().iter().copied()).with(sizes)
        };
        let with_model = |entry, kernel: &str, files: &[&str]| {
            let name = format!("{} {kernel}", model.name());
            with_queue(entry, kernel, &[files, &[SYNCHRONISE, product]].concat(), &name).and(model.source())
        };
        let entry = if tiles > 1 { "window_tiles" } else { "window" };
        let window = match mail_rows {
            None => with_model(entry, "pdes/window.wgsl", &[DELIVER, "pdes/mail_one.wgsl"]),
            Some(rows) => with_model(entry, "pdes/window.wgsl", &[DELIVER, "pdes/mail_many.wgsl"])
                .with([("MAIL_ROWS", f64::from(rows))]),
        };
        Self {
            start: with_model("start_lps", "pdes/start.wgsl", &[]),
            settle: with_model("settle_lps", "pdes/start.wgsl", &[]),
            window,
            gather: Recipe::new(SYNCHRONISE, "gather", [shaders::file(SYNCHRONISE), payload()])
                .with([("GROUP_SIZE", f64::from(gather_size))]),
            digest: with_queue("digest", "pdes/digest.wgsl", &[], "pdes/digest.wgsl"),
        }
    }

    /// Links the model, and refuses a file that does not keep the contract. Returns the bytes of a state.
    pub(super) fn check<M: Model>(&self, model: &M) -> Result<u32, SimulationError> {
        self.start.link().map_err(|error| lacking(model, error))?;
        let program = self.window.link().map_err(|error| lacking(model, error))?;
        let functions = [&FUNCTIONS[..], &random::MODEL_FUNCTIONS, &statistics::MODEL_FUNCTIONS].concat();
        let allowed = Allowed { functions: &functions, variables: &["params", "data"], written: &[] };
        program.check_user(&allowed).map_err(GpuError::from)?;
        check_variables(&program, model)?;
        check_layouts(&program, model)
    }
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

fn lacking(model: &impl Model, error: LinkError) -> SimulationError {
    let source = model.source();
    match source.lacks(&CONTRACT, &error) {
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

/// Refuses `params` and `data` in places that the engine does not bind.
fn check_variables<M: Model>(program: &Program, model: &M) -> Result<(), SimulationError> {
    let file = || model.source().name().to_owned();
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
        if name == "params" && size_of::<M::Params>() == 0 {
            let problem = "is what `params` holds in the WGSL, and `Model::Params` has no bytes: declare the same in Rust";
            return Err(SimulationError::Layout {
                file: file(),
                name: "Params",
                problem: problem.to_owned(),
            });
        }
    }
    Ok(())
}

/// Compares the model's structs with the Rust types; returns the bytes of a state.
fn check_layouts<M: Model>(program: &Program, model: &M) -> Result<u32, SimulationError> {
    let layout = |name, bytes: usize| {
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
    };
    layout("Params", size_of::<M::Params>())?;
    layout("State", size_of::<M::State>())
}

/// Every kernel that a simulation of `model` may link.
#[doc(hidden)]
pub fn kernels(model: &impl Model) -> Vec<Recipe> {
    let mut kernels = Vec::new();
    for queue in QueueDesign::ALL {
        for int64 in [false, true] {
            for (mail_rows, tiles) in [(None, 4), (None, 1), (Some(1024), 1)] {
                let choice = Choice { queue, int64, group_size: 256, tiles, gather_size: 256, mail_rows };
                let Recipes { start, settle, window, gather, digest } = Recipes::new(model, choice);
                kernels.push(window);
                if tiles > 1 {
                    kernels.extend([start, settle, gather, digest]);
                }
            }
        }
    }
    kernels
}
