//! Pieces of WGSL: their names, their origin, and the comments at their top.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// A named piece of WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: Cow<'static, str>,
    text: Cow<'static, str>,
    /// Whether it is a library file: a user file may have the same name.
    library: bool,
    /// Whether the library wrote it for a model.
    generated: bool,
}

/// Hashes only the name: texts are long, lookups of kernels are frequent, and few pieces share a
/// name.
impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Source {
    /// A piece of WGSL. Error messages use `name`, usually its path.
    pub fn new(name: impl Into<Cow<'static, str>>, text: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), text: text.into(), library: false, generated: false }
    }

    /// A piece of WGSL that the library wrote for a model. On the CPU it may be larger than drivers
    /// compile.
    pub(crate) fn generated(name: String, text: String) -> Self {
        Self { generated: true, ..Self::new(name, text) }
    }

    /// A library file, `shaders/…`. Models that ship with the library are user files: they have the
    /// same rights.
    pub(crate) fn library(name: &'static str, text: &'static str) -> Self {
        Self { library: !name.starts_with("shaders/models/"), ..Self::new(name, text) }
    }

    /// The name in error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The WGSL text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a library file.
    pub(super) fn is_library(&self) -> bool {
        self.library
    }

    /// Whether the library wrote it for a model.
    pub(crate) fn is_generated(&self) -> bool {
        self.generated
    }

    /// Whether its own text imports this file.
    pub(crate) fn imports(&self, path: &str) -> bool {
        self.comments().any(|(_, comment)| comment.strip_prefix("import:").map(str::trim) == Some(path))
    }

    /// The lines that are comments: their numbers and their texts.
    pub(super) fn comments(&self) -> impl Iterator<Item = (u32, &str)> {
        let lines = (1..).zip(self.text.lines());
        lines.filter_map(|(number, line)| Some((number, line.trim().strip_prefix("//")?.trim())))
    }

    /// The same without its declaration of this uniform variable, which another file declares.
    /// Blanks replace it, so that lines stay.
    pub(crate) fn without_uniform(&self, name: &str) -> Self {
        let Some(declaration) = uniform(&self.text, name) else { return self.clone() };
        let blank = |c: char| if c == '\n' { c } else { ' ' };
        let blanks: String = self.text[declaration.clone()].chars().map(blank).collect();
        let mut text = self.text.to_string();
        text.replace_range(declaration, &blanks);
        Self { text: text.into(), ..self.clone() }
    }

    /// The same file with a changed text, of as many lines.
    pub(crate) fn with_text(&self, text: String) -> Self {
        Self { text: text.into(), ..self.clone() }
    }

    #[doc(hidden)]
    pub fn beside(rust_file: &str, path: &str, text: &'static str) -> Self {
        let folder = rust_file.rfind(['/', '\\']).map_or("", |end| &rust_file[..=end]);
        Self::new(format!("{folder}{path}"), text)
    }
}

/// The names of a comma-separated list.
pub(crate) fn listed(names: &str) -> impl Iterator<Item = &str> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// The declaration of this uniform variable in a text: from its attributes to its semicolon.
fn uniform(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let commented = |at: usize| text[..at].rfind('\n').map_or(0, |line| line + 1);
    text.match_indices("var").find_map(|(begin, _)| {
        if text[commented(begin)..begin].contains("//") {
            return None;
        }
        let rest = text[begin + 3..].trim_start().strip_prefix('<')?.trim_start();
        let rest = rest.strip_prefix("uniform")?.trim_start().strip_prefix('>')?.trim_start();
        rest.strip_prefix(name)?.trim_start().strip_prefix(':')?;
        let end = begin + text[begin..].find(';')? + 1;
        // Its attributes: `@group(1) @binding(0)`.
        let mut first = begin;
        while let Some(before) = text[..first].trim_end().strip_suffix(')')
            && let Some(at) = before.rfind('@')
        {
            first = at;
        }
        Some(first..end)
    })
}

/// Includes the WGSL file at a path relative to the current Rust file as a [`Source`].
///
/// Errors in the WGSL then point at that file and line.
#[macro_export]
macro_rules! wgsl {
    ($path:literal) => {
        $crate::gpu::Source::beside(file!(), $path, include_str!($path))
    };
}
