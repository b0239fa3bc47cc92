//! A model linked with the engine's WGSL, and the reflection of its structs.

use super::mapping::{TABLE, product, tables};
use super::{Model, ReplicationError};
use crate::gpu::{
    Allowed, Declaration, FieldUse, GpuError, MOST_KEPT, Program, Source, StructLayout, values_of,
};
use crate::{random, shaders, statistics};

/// The structs of a model in their WGSL layout: factors and result columns by name, type and
/// offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    /// `struct Params`: the factors.
    pub(crate) params: StructLayout,
    /// The uses of fields of `struct Params` in the model: times, probabilities.
    pub(crate) uses: Vec<FieldUse>,
    /// `struct State`.
    pub(crate) state: StructLayout,
    /// `struct Output`: the columns.
    pub(crate) output: StructLayout,
    /// Bytes of `JobSaved`: the engine's state of a replication between slices.
    pub(super) saved_bytes: u32,
    /// Whether it draws with a table in workgroup memory.
    pub(super) tabled: bool,
}

/// The declarations that a model's file must have.
const CONTRACT: [Declaration; 6] = [
    Declaration { keyword: "struct", name: "Params", text: "struct Params" },
    Declaration { keyword: "struct", name: "State", text: "struct State" },
    Declaration { keyword: "struct", name: "Output", text: "struct Output" },
    Declaration { keyword: "fn", name: "start", text: "fn start(state: ptr<function, State>)" },
    Declaration { keyword: "fn", name: "step", text: "fn step(state: ptr<function, State>) -> bool" },
    Declaration { keyword: "fn", name: "finish", text: "fn finish(state: ptr<function, State>) -> Output" },
];

/// The engine's functions that a model's file may call in addition to `MODEL_FUNCTIONS` of `random`
/// and `statistics`, and `ARITHMETIC`: see the documentation of [`Model`].
const FUNCTIONS: [&str; 10] = [
    "draw_block",
    "stream_seek",
    "stream_position",
    "stream_block",
    "stream_purpose",
    "stream_main",
    "exponential_unit",
    "exponential_short",
    "exponential_tabled",
    "fail",
];

/// Additional functions for its team file: `shaders/replication/team.wgsl`.
const TEAM_FUNCTIONS: [&str; 4] = ["team_size", "team_agree", "team_sum", "team_scan"];
const TEAM_VARIABLES: [&str; 2] = ["params", "team_lane"];

impl Schema {
    /// Links the model, checks its structs, and checks that its files use only the allowed parts of
    /// the engine: other state of a replication would depend on the ends of slices and on its
    /// neighbours.
    ///
    /// # Errors
    /// [`ReplicationError`] if the WGSL does not link or breaks the contract.
    pub(crate) fn of<M: Model>(model: &M) -> Result<Self, ReplicationError> {
        let engine = ["replication/thread.wgsl", product(false)].map(shaders::file);
        let program = link(model, &engine)?;
        let file = model.source().name().to_owned();
        let functions =
            [&FUNCTIONS[..], &random::MODEL_FUNCTIONS, &random::ARITHMETIC, &statistics::MODEL_FUNCTIONS]
                .concat();
        let allowed = Allowed { functions: &functions, variables: &["params"], written: &[] };
        program.check_user(&allowed).map_err(GpuError::from)?;
        if let Some(team) = model.team_source() {
            let engine = ["replication/team_workgroup.wgsl", product(false)].map(shaders::file);
            let program = link(model, &[&[team][..], &engine].concat())?;
            let functions = [&functions[..], &TEAM_FUNCTIONS].concat();
            let allowed = Allowed { functions: &functions, variables: &TEAM_VARIABLES, written: &[] };
            program.check_user(&allowed).map_err(GpuError::from)?;
        }
        let layout = |name: &'static str| {
            let layout = program.layout(name).expect("the engine's files use it, and they link");
            match layout.padding() {
                Some(place) => Err(ReplicationError::Padding { file: file.clone(), name, place }),
                None => Ok(layout),
            }
        };
        let (params, state, output) = (layout("Params")?, layout("State")?, layout("Output")?);
        let sized = |name, layout: &StructLayout, values: Option<usize>, rust| match values {
            Some(_) => Ok(()),
            None => Err(ReplicationError::Size { file: file.clone(), name, wgsl: layout.bytes, rust }),
        };
        for (name, layout) in [("State", &state), ("Output", &output)] {
            if layout.bytes > MOST_KEPT {
                let bytes = layout.bytes;
                let problem = format!(
                    "has a `struct {name}` of {bytes} bytes, and WGSL guarantees {MOST_KEPT} for variables of a function; make it smaller"
                );
                return Err(ReplicationError::Contract { file: file.clone(), problem });
            }
        }
        sized("Params", &params, values_of::<M::Params>(params.bytes), size_of::<M::Params>())?;
        sized("Output", &output, values_of::<M::Output>(output.bytes), size_of::<M::Output>())?;
        let saved = program.layout("JobSaved").expect("the engine's files declare it, and they link");
        let files: Vec<_> = std::iter::once(model.source()).chain(model.team_source()).collect();
        let tabled = tables(&files) == TABLE;
        let uses = program.field_uses();
        Ok(Self { params, uses, state, output, saved_bytes: saved.bytes, tabled })
    }
}

/// Links the model with files of the engine.
pub(super) fn link<M: Model>(model: &M, engine: &[Source]) -> Result<Program, ReplicationError> {
    let source = model.source();
    let mut sources = vec![source.clone()];
    sources.extend_from_slice(engine);
    sources.push(shaders::file(tables(&sources)));
    Program::link(source.name(), &sources).map_err(|error| match source.lacks(&CONTRACT, &error) {
        Some(problem) => ReplicationError::Contract { file: source.name().to_owned(), problem },
        None => GpuError::from(error).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Gpu, Word};
    use crate::models::{
        Mm1, Mm1Params, Mmck, MmckParams, Pi, PiParams, Walk, WalkParams, Workshop, WorkshopParams,
    };
    use crate::random::Stream;
    use crate::replication::{CpuEngine, Design, Engine, Experiment, Fail, Mapping, Options, ReferenceModel};

    /// M/M/1, known only by its file and the bytes of its parameters.
    #[derive(Debug)]
    struct Untyped(Mm1Params);

    impl Model for Untyped {
        type Params = Word;
        type Output = Word;

        fn source(&self) -> Source {
            Mm1::default().source()
        }

        fn params_bytes(&self, _: &Word) -> Vec<u8> {
            bytemuck::bytes_of(&self.0).to_vec()
        }
    }

    impl ReferenceModel for Untyped {
        type State = ();

        fn start(&self, _: &Word, _: &mut Stream) -> Result<(), Fail> {
            unreachable!("it is refused")
        }

        fn step(&self, _: &Word, (): &mut (), _: &mut Stream) -> Result<bool, Fail> {
            unreachable!("it is refused")
        }

        fn finish(&self, _: &Word, (): &()) -> Result<Word, Fail> {
            unreachable!("it is refused")
        }
    }

    #[test]
    fn a_model_of_words_is_the_model() {
        let (gpu, model) = (Gpu::new().unwrap(), Mm1::default());
        let params = model.params(0.8, 1.0, 100).unwrap();
        let design = Design::default().cross("clients", [50, 100, 200]).unwrap();
        let experiment = Experiment::new(design, 33, 5);
        for mapping in [Mapping::Thread, Mapping::Warp] {
            let options = Options::default().mapping(mapping);
            let mut typed = Engine::new(&gpu, model, options).unwrap();
            let mut untyped = Engine::new(&gpu, Untyped(params), options).unwrap();
            let expected = typed.run(&params, &experiment).unwrap();
            let found = untyped.run(&Word(0), &experiment).unwrap();
            assert_eq!(expected.fingerprint, found.fingerprint, "{mapping}");
            assert_eq!(
                bytemuck::cast_slice::<_, u32>(&expected.outputs),
                bytemuck::cast_slice::<_, u32>(&found.outputs)
            );
            for (expected, found) in expected.observations.iter().zip(&found.observations) {
                let known = found
                    .columns()
                    .iter()
                    .all(|column| expected.column(&column.name).is_ok_and(|other| other == column));
                assert!(known && !found.columns().is_empty(), "{mapping}");
            }
        }
        let refused = CpuEngine::in_rust(Untyped(params), Options::default()).unwrap_err();
        assert!(matches!(refused, ReplicationError::NoReference { .. }), "{refused}");
    }

    /// The fields of a model's structs have the offsets of its WGSL.
    #[test]
    fn models_lay_their_structs_out_as_wgsl_does() {
        use std::mem::offset_of;
        fn check<M: Model>(model: &M, params: &[(&str, usize)], output: &[(&str, usize)]) {
            let schema = Schema::of(model).unwrap();
            for (layout, host) in [(&schema.params, params), (&schema.output, output)] {
                let fields = layout.fields.iter();
                let wgsl: Vec<_> = fields.map(|it| (it.name.as_str(), it.offset as usize)).collect();
                assert_eq!(wgsl, host);
            }
        }
        macro_rules! fields {
            ($type:ty: $($field:ident),*) => { &[$((stringify!($field), offset_of!($type, $field))),*] };
        }
        check(&Pi, fields!(PiParams: points), fields!(<Pi as Model>::Output: inside));
        check(
            &Mm1::default(),
            fields!(Mm1Params: mean_interarrival, mean_service, clients),
            fields!(<Mm1 as Model>::Output: idle_ticks, queue_ticks, system_ticks),
        );
        check(
            &Mmck::default(),
            fields!(MmckParams: mean_interarrival, mean_service, servers, room, arrivals),
            fields!(<Mmck as Model>::Output: turned_away, let_in, queue_ticks),
        );
        check(
            &Walk,
            fields!(WalkParams: steps),
            fields!(<Walk as Model>::Output: chunk, x, y, explored, most_visits),
        );
        check(
            &Workshop,
            fields!(WorkshopParams: jobs, operation),
            fields!(<Workshop as Model>::Output: busy_ticks, longest_ticks, long_jobs),
        );
    }
}
