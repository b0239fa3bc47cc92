//! A model linked with the engine's WGSL, and what reflection says about its structs.

use super::{Model, ReplicationError};
use crate::gpu::{GpuError, LinkError, Program, Source, StructLayout};
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
}

/// What a model's file must declare, as naga names it where it is missing.
const CONTRACT: [(&str, &str); 6] = [
    ("Params", "`struct Params`"),
    ("State", "`struct State`"),
    ("Output", "`struct Output`"),
    ("start", "`fn start(state: ptr<function, State>)`"),
    ("step", "`fn step(state: ptr<function, State>) -> bool`"),
    ("finish", "`fn finish(state: ptr<function, State>) -> Output`"),
];

impl Schema {
    /// Links the model and checks its structs.
    pub(super) fn of<M: Model>(model: &M) -> Result<Self, ReplicationError> {
        let product = shaders::file("random/mul_wide.wgsl");
        let program = link(model, &[shaders::file("replication/thread.wgsl"), product])?;
        let file = model.source().name().to_owned();
        let layout = |name: &'static str, missing| {
            let layout = program.layout(name);
            let layout = layout.ok_or_else(|| ReplicationError::Contract { file: file.clone(), missing })?;
            match padding(&layout) {
                Some(offset) => Err(ReplicationError::Padding { file: file.clone(), name, offset }),
                None => Ok(layout),
            }
        };
        let [params, state, output] = [0, 1, 2].map(|index| layout(CONTRACT[index].0, CONTRACT[index].1));
        let (params, state, output) = (params?, state?, output?);
        let sized = |name, layout: &StructLayout, rust: usize| match layout.bytes as usize == rust {
            true => Ok(()),
            false => Err(ReplicationError::Size { file: file.clone(), name, wgsl: layout.bytes, rust }),
        };
        sized("Params", &params, size_of::<M::Params>())?;
        sized("Output", &output, size_of::<M::Output>())?;
        Ok(Self { params, state, output })
    }
}

/// Links the model with files of the engine.
pub(super) fn link<M: Model>(model: &M, engine: &[Source]) -> Result<Program, ReplicationError> {
    let source = model.source();
    let file = source.name().to_owned();
    let mut sources = vec![source];
    sources.extend_from_slice(engine);
    Program::link(&file, &sources).map_err(|error| match missing(&error) {
        Some(missing) => ReplicationError::Contract { file, missing },
        None => GpuError::from(error).into(),
    })
}

/// The part of the contract whose lack makes the engine's own files wrong.
fn missing(error: &LinkError) -> Option<&'static str> {
    let LinkError::Wgsl { file, message, .. } = error else { return None };
    let named = |name: &str| message.contains(&format!("`{name}`"));
    let found = CONTRACT.iter().find(|(name, _)| named(name));
    found.filter(|_| file.starts_with("shaders/replication/")).map(|(_, missing)| *missing)
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
