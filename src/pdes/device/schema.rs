//! The structs of a model as its WGSL lays them out, for programs that load models at run time.

use crate::gpu::{FieldUse, StructLayout, is_words};

use super::check;
use super::declared::Declared;
use super::recipes::{Choice, Recipes};
use crate::pdes::{Model, SimulationError};

/// The structs of a model's file: names, types and offsets of their fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    /// `struct Params`, if the model has one.
    pub(crate) params: Option<StructLayout>,
    /// The uses of the fields of `struct Params`, such as times or probabilities, derived from the
    /// model's code.
    pub(crate) uses: Vec<FieldUse>,
    /// `struct State`.
    pub(crate) state: StructLayout,
    /// `struct Output`, if the model has one: its result columns are [`StructLayout::columns`].
    pub(crate) output: Option<StructLayout>,
}

impl Schema {
    /// Links the model's file. Only the model's name, source and payload type matter.
    ///
    /// # Errors
    /// [`SimulationError`] if the file does not link, with file and line, or lacks a declaration
    /// that every model needs.
    pub(crate) fn of<M: Model>(model: &M) -> Result<Self, SimulationError> {
        let choice = Choice::plain(Declared::default());
        let recipes = Recipes::new::<M::Payload>(model.name(), &model.source(), choice);
        let program = check::linked(model, &recipes.start)?;
        Ok(Self {
            params: program.layout("Params"),
            uses: program.field_uses(),
            state: program.layout("State").expect("the engine's files use it, and they link"),
            output: program.layout("Output"),
        })
    }
}

/// The bytes of an LP's state; 0 for a file that does not link, which no run can use.
pub(in crate::pdes) fn state_bytes<M: Model>(model: &M) -> usize {
    match is_words::<M::State>() {
        false => size_of::<M::State>(),
        true => Schema::of(model).map_or(0, |schema| schema.state.bytes as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Gpu, Source, Word};
    use crate::models::Torus;
    use crate::pdes::{
        Capacity, Context, CpuModel, CpuSimulation, Engine, EngineOptions, Event, Mapping, Options,
        Simulation, Until,
    };
    use crate::statistics::{Design, Experiment};
    use crate::time::{Resolution, Ticks};

    /// The same model, known only by its file and its bytes.
    #[derive(Clone)]
    struct Untyped {
        torus: Torus,
        params: Vec<u8>,
    }

    impl Model for Untyped {
        type State = Word;
        type Params = Word;
        type Payload = [u32; 2];
        type Output = Word;

        fn name(&self) -> &str {
            self.torus.name()
        }

        fn source(&self) -> Source {
            self.torus.source()
        }

        fn lps(&self) -> u32 {
            self.torus.lps()
        }

        fn lookahead(&self) -> Ticks {
            self.torus.lookahead()
        }

        fn params(&self) -> Word {
            Word(0)
        }

        fn params_bytes(&self) -> Vec<u8> {
            self.params.clone()
        }

        fn memory_rows(&self) -> u32 {
            self.torus.memory_rows()
        }

        fn capacity(&self) -> Capacity {
            self.torus.capacity()
        }
    }

    impl CpuModel for Untyped {
        fn init(&self, _: u32, _: &mut Word, _: &mut Context<'_>) {
            unreachable!("it is refused");
        }

        fn handle(&self, _: u32, _: &Event, _: &mut Word, _: &mut Context<'_>) {
            unreachable!("it is refused");
        }
    }

    fn torus() -> Torus {
        Torus::new(6, 5, 2, 1.0, 0.1, Resolution::default()).unwrap()
    }

    fn untyped() -> Untyped {
        Untyped { torus: torus(), params: torus().params_bytes() }
    }

    #[test]
    fn a_model_of_words_is_the_model() {
        let (gpu, until) = (Gpu::new().unwrap(), Until::time(Resolution::default().ticks(20.0).unwrap()));
        let (typed, untyped) = (torus(), untyped());
        let schema = Schema::of(&untyped).unwrap();
        assert_eq!(schema.state.bytes as usize, size_of::<<Torus as Model>::State>());
        assert!(schema.params.is_some());
        let options = Options::default().seed(7);
        let mut expected = Simulation::new(&gpu, &typed, options).unwrap();
        let mut found = Simulation::new(&gpu, &untyped, options).unwrap();
        assert_eq!(expected.run(until).unwrap().events, found.run(until).unwrap().events);
        assert_eq!(expected.fingerprint().unwrap(), found.fingerprint().unwrap());
        let (states, words) = (expected.states().unwrap(), found.states().unwrap());
        assert_eq!(bytemuck::cast_slice::<_, u32>(&states), bytemuck::cast_slice::<_, u32>(&words));
        let (expected_rows, rows) =
            (expected.outputs(until.time).unwrap(), found.outputs(until.time).unwrap());
        assert_eq!(expected_rows.columns(), rows.columns());
        assert_eq!(expected_rows.to_string(), rows.to_string());
        assert_eq!(expected.totals(until.time, None).unwrap(), found.totals(until.time, None).unwrap());
        let refused = CpuSimulation::in_rust(&untyped, Options::default().seed(7)).unwrap_err();
        assert!(matches!(refused, SimulationError::NoReference { .. }), "{refused}");
        // Shorter parameters would be read beyond their end.
        let short = Untyped { params: typed.params_bytes()[4..].to_vec(), ..untyped.clone() };
        let refused = Simulation::new(&gpu, &short, options).unwrap_err();
        assert!(matches!(refused, SimulationError::Layout { name: "Params", .. }), "{refused}");
        // A checkpoint of one model is valid for the other.
        let saved = found.checkpoint().unwrap();
        assert_eq!(
            Simulation::resume(&gpu, &typed, options, &saved).unwrap().fingerprint().unwrap(),
            found.fingerprint().unwrap()
        );
    }

    #[test]
    fn experiments_over_a_model_of_words_are_those_over_the_model() {
        let (gpu, until) = (Gpu::new().unwrap(), Until::time(Resolution::default().ticks(10.0).unwrap()));
        let experiment = Experiment::new(Design::default(), 5, 3);
        for mapping in [Mapping::Thread, Mapping::Grid] {
            let options = EngineOptions::default().mapping(mapping);
            let mut typed = Engine::new(&gpu, |_| Ok::<_, String>(torus()), options).unwrap();
            let expected = typed.run(&experiment, until).unwrap();
            let by_words = |options| {
                Engine::new(&gpu, |_| Ok::<_, String>(untyped()), options).unwrap().run(&experiment, until)
            };
            let found = by_words(options).unwrap();
            assert_eq!(expected.fingerprint, found.fingerprint, "{mapping}");
            let reported = by_words(options.outputs(true)).unwrap();
            for (run, row) in expected.runs[0].iter().zip(&reported.runs[0]) {
                let (run, row) = (run.as_ref().unwrap(), row.as_ref().unwrap());
                assert_eq!(
                    run.totals,
                    Some(row.outputs.as_ref().unwrap().totals(None).unwrap()),
                    "{mapping}"
                );
            }
        }
    }
}
