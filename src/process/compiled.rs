//! A compiled model with the points of its parameters.

use std::sync::{Arc, Mutex, PoisonError};

use crate::statistics::Design;
use crate::time::{Resolution, Ticks};

use super::blocking::{Blocking, BlockingStation};
use super::error::ProcessError;
use super::ir::{Place, ProcessModel};
use super::lower::lower;
use super::model::Printed;
use super::program::Program;
use super::run::NativeProgram;

/// The most combinations of values of parameters.
const MOST_POINTS: usize = 100_000;

/// A compiled model, with a point for each combination of values of its parameters.
#[derive(Debug, Clone)]
pub struct CompiledProcess {
    model: ProcessModel,
    printed: Arc<Printed>,
    design: Design,
    points: Vec<Vec<f64>>,
    /// Its machine code, once a study has run on cores.
    native: Arc<Mutex<Option<Arc<NativeProgram>>>>,
    /// The stations of a network that may wait for each other.
    blocking: Arc<Blocking>,
}

impl ProcessModel {
    /// Sets the values of a parameter: `NAME=VALUE`, or `NAME=VALUE,VALUE` for several points of a
    /// design. Times are in units.
    ///
    /// # Errors
    /// [`ProcessError::Unknown`] and [`ProcessError::Setting`].
    pub fn set(&mut self, change: &str) -> Result<(), ProcessError> {
        let place = Place::default();
        let wrong = |what: &str, value: &str, remedy: &str| ProcessError::Setting {
            place,
            what: what.to_owned(),
            value: crate::text::quoted(value),
            remedy: remedy.to_owned(),
        };
        let form = "write NAME=VALUE or NAME=VALUE,VALUE";
        let (name, values) =
            change.split_once('=').ok_or_else(|| wrong("the change of a parameter", change, form))?;
        let known = self.parameters.keys().cloned().collect();
        let Some(parameter) = self.parameters.get_mut(name.trim()) else {
            let (name, what) = (name.trim().to_owned(), "a parameter");
            return Err(ProcessError::Unknown { place, name, what, known });
        };
        let numbers = values.split(',').map(|value| {
            let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| wrong(&format!("the parameter `{}`", name.trim()), value, "write a number"))
        });
        parameter.values = numbers.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Checks the model and compiles it.
    ///
    /// # Errors
    /// [`ProcessError`], with the line.
    pub fn compile(&self) -> Result<CompiledProcess, ProcessError> {
        let program = lower(self)?;
        let counts = self.parameters.values().map(|parameter| parameter.values.len());
        let count = match self.paired {
            true => counts.max().unwrap_or(1),
            false => counts.fold(1, usize::saturating_mul),
        };
        if count > MOST_POINTS {
            let what = "combinations of values of parameters";
            return Err(ProcessError::TooMany { what, count, most: MOST_POINTS });
        }
        let mut design = Design::default();
        for (name, parameter) in self.parameters.iter().filter(|(_, of)| of.values.len() > 1) {
            let values = parameter.values.iter().copied();
            design = if self.paired { design.pair(name, values)? } else { design.cross(name, values)? };
        }
        let values = |point: usize| {
            let point = design.point(point);
            let value = |(name, of): (&String, &super::ir::Parameter)| point.real(name, of.values[0]);
            self.parameters.iter().map(value).collect::<Vec<_>>()
        };
        let points: Vec<_> = (0..design.len()).map(values).collect();
        for point in &points {
            program.params(point, Ticks::ZERO, 1)?;
            program.costs_at(point)?;
        }
        let (printed, native) = (Arc::new(Printed::new(program)), Arc::default());
        let blocking = Arc::default();
        Ok(CompiledProcess { model: self.clone(), printed, design, points, native, blocking })
    }
}

impl CompiledProcess {
    /// The same for a network in which these stations may wait for each other.
    #[must_use]
    pub(super) fn with_stations(self, stations: Vec<BlockingStation>) -> Self {
        let blocking = Arc::new(Blocking::new(stations, self.program()));
        Self { blocking, ..self }
    }

    /// The stations that may wait for each other.
    pub(super) fn blocking(&self) -> &Blocking {
        &self.blocking
    }

    /// The model.
    pub fn model(&self) -> &ProcessModel {
        &self.model
    }

    /// The points: each combination of values of parameters that have several.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Ticks in the unit of time.
    pub fn resolution(&self) -> Resolution {
        self.printed.program.resolution
    }

    /// The compiled program.
    pub fn program(&self) -> &Program {
        &self.printed.program
    }

    pub(super) fn printed(&self) -> &Arc<Printed> {
        &self.printed
    }

    /// The machine code, which all studies share.
    pub(super) fn native(&self) -> Result<Arc<NativeProgram>, ProcessError> {
        let mut native = self.native.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(native) = &*native {
            return Ok(Arc::clone(native));
        }
        let made = NativeProgram::new(&self.printed);
        let made = Arc::new(made.map_err(|error| ProcessError::of_code(error, false))?);
        Ok(Arc::clone(native.insert(made)))
    }

    /// The values of all parameters at a point.
    pub(super) fn values(&self, point: usize) -> &[f64] {
        &self.points[point]
    }
}
