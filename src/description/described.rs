//! A description, and the model that it describes.

use std::path::{Path, PathBuf};

use crate::gpu::{FieldUse, Source, StructLayout};
use crate::pdes;
use crate::replication;
use crate::statistics::Design;
use crate::time::{Resolution, Ticks};

use super::error::{DescriptionError, invalid};
use super::points::Points;
use super::written::{self, Texts, Written};

/// A model of a TOML file and a WGSL file, which can still be changed.
pub struct Description {
    texts: Texts,
    changes: Vec<String>,
    until: Option<f64>,
    written: Written,
}

impl Description {
    /// Reads a TOML file and the files that it names.
    ///
    /// # Errors
    /// [`DescriptionError::File`] for a file that cannot be read, [`DescriptionError::Invalid`]
    /// with
    /// file and line for what is invalid in it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DescriptionError> {
        Self::new(Texts::read(path.as_ref())?)
    }

    /// A description from texts. `name` is the name of the TOML in messages; its key `model` is not
    /// used.
    ///
    /// # Errors
    /// [`DescriptionError::Invalid`], as [`Description::read`].
    pub fn from_texts(name: &str, toml: &str, wgsl: Source) -> Result<Self, DescriptionError> {
        Self::new(Texts::new(name, toml, wgsl)?)
    }

    fn new(texts: Texts) -> Result<Self, DescriptionError> {
        let written = Written::new(&texts, &[], None)?;
        Ok(Self { texts, changes: Vec::new(), until: None, written })
    }

    /// Sets the values of a parameter: `NAME=VALUE`, or `NAME=VALUE,VALUE` for several points of a
    /// design. The kind of number stays that of the file.
    ///
    /// # Errors
    /// [`DescriptionError::Invalid`] for an unknown parameter, a value that is not a number, and a
    /// parameter that was set before.
    pub fn set(&mut self, change: &str) -> Result<&mut Self, DescriptionError> {
        let mut changes = self.changes.clone();
        changes.push(change.to_owned());
        self.written = Written::new(&self.texts, &changes, self.until)?;
        self.changes = changes;
        Ok(self)
    }

    /// Sets the end of each run of a model of logical processes (a file with `[processes]`), in
    /// units of time, instead of that in the file.
    ///
    /// # Errors
    /// [`DescriptionError::Invalid`] if the file has no `[processes]`.
    pub fn until(&mut self, units: f64) -> Result<&mut Self, DescriptionError> {
        if self.written.processes.is_none() {
            let path = self.texts.path.display();
            return Err(invalid(format!("{path} has no [processes], so its runs have no end to set")));
        }
        self.until = Some(units);
        self.written = Written::new(&self.texts, &self.changes, self.until)?;
        Ok(self)
    }

    /// The files that the TOML file names.
    pub fn files(&self) -> &[PathBuf] {
        &self.texts.named
    }

    /// Links the WGSL and finds what it declares.
    ///
    /// # Errors
    /// [`DescriptionError::Simulation`] or [`DescriptionError::Replication`] for an error in the
    /// WGSL,
    /// [`DescriptionError::Invalid`] with file and line for one in \[processes\].
    pub fn compile(&self) -> Result<DescribedModel, DescriptionError> {
        let written = self.written.clone();
        let words = written.payload()?;
        let (params, output, uses) = match words {
            None => {
                let schema = replication::Schema::of(&written.replication_model(Vec::new()))?;
                (Some(schema.params), Some(schema.output), schema.uses)
            }
            Some(words) => {
                let schema = match words {
                    2 => pdes::Schema::of(&written.process_model::<[u32; 2]>(Vec::new())?),
                    _ => pdes::Schema::of(&written.process_model::<[u32; 6]>(Vec::new())?),
                };
                let schema = schema.map_err(|error| written.placed(error))?;
                (schema.params, schema.output, schema.uses)
            }
        };
        Ok(DescribedModel { written, words, params, output, uses })
    }
}

impl std::fmt::Debug for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Description")
            .field("path", &self.texts.path)
            .field("changes", &self.changes)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// A description with its linked WGSL.
pub struct DescribedModel {
    pub(super) written: Written,
    /// Words of a payload; `None` for a model of replications.
    pub(super) words: Option<u32>,
    params: Option<StructLayout>,
    output: Option<StructLayout>,
    uses: Vec<FieldUse>,
}

impl DescribedModel {
    /// The name in the file, or that of the file.
    pub fn name(&self) -> &str {
        &self.written.name
    }

    /// The seed in the file, or 1.
    pub fn seed(&self) -> u64 {
        self.written.seed
    }

    /// The number of replications in the file, if it has one.
    pub fn replications(&self) -> Option<u32> {
        self.written.replications
    }

    /// Whether it is a model of logical processes (a file with `[processes]`); otherwise it is a
    /// model of [`replication`].
    pub fn has_processes(&self) -> bool {
        self.words.is_some()
    }

    /// The ticks in a unit of time.
    pub fn resolution(&self) -> Resolution {
        self.written.units
    }

    /// The end of each run of a model of logical processes.
    ///
    /// # Errors
    /// [`DescriptionError::Invalid`] if it is missing or not a time.
    pub fn end(&self) -> Result<Ticks, DescriptionError> {
        self.written.until()
    }

    /// What makes results doubtful: times that are rounded to ticks, in sentences.
    pub fn warnings(&self) -> &[String] {
        &self.written.warnings
    }

    /// The names of the measures.
    pub fn measures(&self) -> Vec<&str> {
        self.written.measures.names()
    }

    /// The layout of `struct Params`.
    pub fn params(&self) -> Option<&StructLayout> {
        self.params.as_ref()
    }

    /// The layout of `struct Output`: the result columns.
    pub fn output(&self) -> Option<&StructLayout> {
        self.output.as_ref()
    }

    /// The design: a factor for each parameter with several values, in the numbers of the file.
    /// Parameters and measures are checked against the WGSL.
    ///
    /// # Errors
    /// [`DescriptionError::Invalid`], with file and line.
    pub fn design(&self) -> Result<Design, DescriptionError> {
        Ok(self.points()?.shown)
    }

    pub(super) fn points(&self) -> Result<Points, DescriptionError> {
        let Some(output) = &self.output else {
            return Err(invalid(format!(
                "{}: the WGSL declares no results: add `struct Output` and `fn output(lp: u32, state: ptr<function, State>) -> Output`",
                self.written.path.display()
            )));
        };
        self.written.check_measures(output)?;
        self.written.points(self.params.as_ref(), &self.uses)
    }

    /// A message about a run with names of Rust items replaced by those of the file.
    pub fn in_words_of_file(&self, message: impl std::fmt::Display) -> String {
        written::in_words(message)
    }
}

impl std::fmt::Debug for DescribedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DescribedModel").field("name", &self.written.name).finish_non_exhaustive()
    }
}
