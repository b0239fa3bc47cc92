//! Reads process models from TOML, and from JSON with the same structure.
//!
//! Both become one [`tree`], whose values know their lines. `model` reads the tables of a model
//! from it, `statements` and `values` what is in them, and `expression` the texts of expressions.
//! The builder makes the same tree.

mod expression;
mod files;
mod keys;
mod model;
mod statements;
pub(in crate::process) mod tree;
mod values;

#[cfg(test)]
mod examples;
#[cfg(test)]
pub(in crate::process) mod tests;

use std::path::Path;

use super::error::ProcessError;
use super::ir::ProcessModel;
use crate::facility::in_folder;
use crate::text::unmarked;
pub(in crate::process) use files::Traces;
use files::read_file;
pub(in crate::process) use model::model;

/// Bytes of a description.
const MOST_BYTES: u64 = 16 << 20;

impl ProcessModel {
    /// Reads a model from a file: JSON if its name ends in `.json`, else TOML. Files that it names
    /// are relative to its folder. A model without a name has that of the file.
    ///
    /// # Errors
    /// [`ProcessError`], with file and line.
    pub fn read(path: &Path) -> Result<Self, ProcessError> {
        let text = read_file(path, MOST_BYTES)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let found = (if json { tree::of_json(&text) } else { tree::of_toml(&text) })
            .and_then(|root| in_folder(folder, || model(&root, &Traces { folder: Some(folder) })));
        let mut found = found.map_err(|error| error.in_file(path))?;
        if found.name.is_empty() {
            found.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        Ok(found)
    }

    /// Reads a model from TOML.
    ///
    /// # Errors
    /// [`ProcessError`], with the line.
    pub fn from_toml(text: &str) -> Result<Self, ProcessError> {
        model(&tree::of_toml(unmarked(text))?, &Traces::default())
    }

    /// Reads a model from JSON.
    ///
    /// # Errors
    /// [`ProcessError`], with the line.
    pub fn from_json(text: &str) -> Result<Self, ProcessError> {
        model(&tree::of_json(unmarked(text))?, &Traces::default())
    }
}
