//! Joins files into one text, and checks what they need of each other.

use std::collections::{HashMap, HashSet};

use super::source::listed;
use super::{LinkError, Source, names};
use crate::shaders;
use crate::text::quoted;

/// The origin of a line of the joined text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) file: usize,
    pub(super) line: u32,
}

/// The text of several files. Each occurs once, after its imports.
#[derive(Default)]
pub(super) struct LinkedText {
    pub(super) text: String,
    pub(super) files: Vec<Source>,
    pub(super) parts: Vec<names::FilePart>,
    pub(super) lines: Vec<Origin>,
    pub(super) features: wgpu::Features,
    seen: HashSet<Source>,
    heads: Vec<Head>,
}

/// A line `// provides:` or `// needs:` of a library file.
struct Head {
    file: usize,
    line: u32,
    provides: bool,
    names: String,
}

impl Head {
    fn names(&self) -> impl Iterator<Item = &str> {
        listed(&self.names)
    }

    fn error(&self, joined: &LinkedText, problem: String) -> LinkError {
        LinkError::Head { file: joined.files[self.file].name().to_owned(), line: self.line, problem }
    }
}

impl LinkedText {
    /// The given files with all their imports.
    pub(super) fn of(sources: &[Source]) -> Result<Self, LinkError> {
        let mut joined = Self::default();
        for source in sources {
            joined.add(source)?;
        }
        joined.check_heads()?;
        Ok(joined)
    }

    fn add(&mut self, source: &Source) -> Result<(), LinkError> {
        if !self.seen.insert(source.clone()) {
            return Ok(());
        }
        let mut heads = Vec::new();
        for (line, comment) in source.comments() {
            if let Some(import) = comment.strip_prefix("import:").map(str::trim) {
                let found = shaders::find(import).ok_or_else(|| LinkError::UnknownImport {
                    file: source.name().to_owned(),
                    line,
                    import: quoted(import),
                    nearest: shaders::nearest(import),
                })?;
                self.add(&found)?;
            } else if let Some(feature) = comment.strip_prefix("requires:").map(str::trim) {
                self.features |= match feature {
                    "int64" => wgpu::Features::SHADER_INT64,
                    "subgroups" => wgpu::Features::SUBGROUP,
                    _ => {
                        return Err(LinkError::UnknownFeature {
                            file: source.name().to_owned(),
                            line,
                            feature: quoted(feature),
                        });
                    }
                };
            } else if source.is_library() {
                let (provides, needs) = (comment.strip_prefix("provides:"), comment.strip_prefix("needs:"));
                heads.extend(provides.or(needs).map(|names| (line, provides.is_some(), names.to_owned())));
            }
        }
        let (file, begin) = (self.files.len(), self.text.len());
        let head = |(line, provides, names)| Head { file, line, provides, names };
        self.heads.extend(heads.into_iter().map(head));
        for (number, line) in (1..).zip(source.text().lines()) {
            self.lines.push(Origin { file, line: number });
            self.text.push_str(line);
            self.text.push('\n');
        }
        self.parts.push(names::FilePart::new(&self.text, begin, source.is_library()));
        self.files.push(source.clone());
        Ok(())
    }

    /// A file with all its imports.
    #[cfg(test)]
    fn imports(source: &Source) -> Vec<Source> {
        let mut joined = Self::default();
        joined.add(source).unwrap_or_else(|error| panic!("{error}"));
        joined.files
    }

    /// Checks that each file declares what it provides, that no other file provides it, and that
    /// needed names have a provider. With a user file linked, a missing name may be the user's:
    /// then contracts and naga report it.
    fn check_heads(&self) -> Result<(), LinkError> {
        let mut provided = HashMap::new();
        for head in self.heads.iter().filter(|head| head.provides) {
            for name in head.names() {
                if !self.declares(head.file, name) {
                    return Err(head.error(self, format!("provides `{name}`, and does not declare it")));
                }
                if let Some(other) = provided.insert(name, head.file) {
                    let other = self.files[other].name();
                    let problem = format!("provides `{name}`, and so does {other}: link one of them");
                    return Err(head.error(self, problem));
                }
            }
        }
        if self.files.iter().any(|file| !file.is_library()) {
            return Ok(());
        }
        for head in self.heads.iter().filter(|head| !head.provides) {
            for name in head.names().filter(|name| !provided.contains_key(name)) {
                let candidates: Vec<_> = shaders::providers(name).collect();
                if !candidates.is_empty() {
                    let candidates = candidates.join(", ");
                    let problem =
                        format!("needs `{name}`, which no linked file provides: link one of {candidates}");
                    return Err(head.error(self, problem));
                }
            }
        }
        Ok(())
    }

    fn declares(&self, file: usize, name: &str) -> bool {
        self.parts[file].declared.iter().any(|(_, place)| self.text[place.clone()] == *name)
    }
}

impl Source {
    /// The file and its imports with the same rights, each once: the parts of a model.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let mut parts = vec![self.clone()];
        let mut next = 0;
        while next < parts.len() {
            let part = parts[next].clone();
            let imports = part.comments().filter_map(|(_, comment)| comment.strip_prefix("import:"));
            for found in imports.filter_map(|path| shaders::find(path.trim())) {
                if !found.is_library() && !parts.contains(&found) {
                    parts.push(found);
                }
            }
            next += 1;
        }
        parts
    }
}

#[cfg(test)]
mod tests;
