//! A model linked with the engine's WGSL, and what reflection says about its structs.

use super::mapping::product;
use super::{Model, ReplicationError};
use crate::gpu::{Allowed, GpuError, LinkError, Program, Source, StructLayout};
use crate::shaders;

/// The structs of a model as its WGSL lays them out: factors and result columns by name, type and offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// `struct Params`: the factors.
    pub params: StructLayout,
    /// `struct State`.
    pub state: StructLayout,
    /// `struct Output`: the columns.
    pub output: StructLayout,
    /// Bytes of `JobSaved`: what the engine keeps of a replication between slices.
    pub(super) saved_bytes: u32,
}

/// What a model's file must declare: keyword, name, declaration.
const CONTRACT: [(&str, &str, &str); 6] = [
    ("struct", "Params", "`struct Params`"),
    ("struct", "State", "`struct State`"),
    ("struct", "Output", "`struct Output`"),
    ("fn", "start", "`fn start(state: ptr<function, State>)`"),
    ("fn", "step", "`fn step(state: ptr<function, State>) -> bool`"),
    ("fn", "finish", "`fn finish(state: ptr<function, State>) -> Output`"),
];

/// What of the engine a model's file may use: the documentation of [`Model`].
const ALLOWED: Allowed<'static> = Allowed {
    functions: &[
        "draw",
        "draw_block",
        "draw_below",
        "draw_exponential",
        "stream_seek",
        "stream_position",
        "stream_block",
        "exponential_unit",
        "exponential_short",
        "mul_wide",
        "add_word",
        "time_add",
        "time_less",
        "time_min",
        "wide_add",
        "wide_subtract",
        "wide_less",
        "fail",
    ],
    variables: &["params"],
    written: &[],
};

/// What its file for a team may use besides: `shaders/replication/team.wgsl`.
const TEAM_FUNCTIONS: [&str; 4] = ["team_size", "team_agree", "team_sum", "team_scan"];
const TEAM_VARIABLES: [&str; 2] = ["params", "team_lane"];

impl Schema {
    /// Links the model, checks its structs, and checks that its files use nothing of the engine but what they may: what a replication
    /// knew besides its state would depend on where slices end and on its neighbours.
    pub(super) fn of<M: Model>(model: &M) -> Result<Self, ReplicationError> {
        let engine = ["replication/thread.wgsl", product(false)].map(shaders::file);
        let program = link(model, &engine)?;
        let file = model.source().name().to_owned();
        program.check_user(&[&file], &ALLOWED).map_err(GpuError::from)?;
        if let Some(team) = model.team_source() {
            let name = team.name().to_owned();
            let engine = ["replication/team_workgroup.wgsl", product(false)].map(shaders::file);
            let program = link(model, &[&[team][..], &engine].concat())?;
            let functions = [ALLOWED.functions, &TEAM_FUNCTIONS].concat();
            let allowed = Allowed { functions: &functions, variables: &TEAM_VARIABLES, written: &[] };
            // Both are the user's: the one calls what the other declares, which is checked above.
            program.check_user(&[&file, &name], &allowed).map_err(GpuError::from)?;
        }
        let layout = |name: &'static str| {
            let layout = program.layout(name).expect("the engine's files use it, and they link");
            match padding(&layout) {
                Some(offset) => Err(ReplicationError::Padding { file: file.clone(), name, offset }),
                None => Ok(layout),
            }
        };
        let (params, state, output) = (layout("Params")?, layout("State")?, layout("Output")?);
        let sized = |name, layout: &StructLayout, rust: usize| match layout.bytes as usize == rust {
            true => Ok(()),
            false => Err(ReplicationError::Size { file: file.clone(), name, wgsl: layout.bytes, rust }),
        };
        sized("Params", &params, size_of::<M::Params>())?;
        sized("Output", &output, size_of::<M::Output>())?;
        let saved = program.layout("JobSaved").expect("the engine's files declare it, and they link");
        Ok(Self { params, state, output, saved_bytes: saved.bytes })
    }
}

/// Links the model with files of the engine.
pub(super) fn link<M: Model>(model: &M, engine: &[Source]) -> Result<Program, ReplicationError> {
    let source = model.source();
    let mut sources = vec![source.clone()];
    sources.extend_from_slice(engine);
    Program::link(source.name(), &sources).map_err(|error| match missing(&source, &error) {
        Some(missing) => ReplicationError::Contract { file: source.name().to_owned(), missing },
        None => GpuError::from(error).into(),
    })
}

/// The part of the contract whose lack makes the engine's own files wrong. naga's words do not always tell: `step` is also a
/// function of WGSL's.
fn missing(model: &Source, error: &LinkError) -> Option<&'static str> {
    let LinkError::Wgsl { file, .. } = error else { return None };
    let words: Vec<_> =
        model.text().split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let declared =
        |keyword: &str, name: &str| words.windows(2).any(|pair| pair[0] == keyword && pair[1] == name);
    let lacking = CONTRACT.iter().find(|(keyword, name, _)| !declared(keyword, name));
    lacking.filter(|_| file.starts_with("shaders/replication/")).map(|(_, _, declaration)| *declaration)
}

/// Where padding ends, if there is some.
fn padding(layout: &StructLayout) -> Option<u32> {
    let mut next = 0;
    for field in &layout.fields {
        if field.offset != next {
            return Some(field.offset);
        }
        next = field.offset + field.bytes;
    }
    (next != layout.bytes).then_some(layout.bytes)
}
