//! Pieces of WGSL: what they are called, whose they are, and what the comments at their top ask
//! for.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// A named piece of WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: Cow<'static, str>,
    text: Cow<'static, str>,
    /// Whether the library brings it: a user's may have the same name.
    library: bool,
}

/// Of the name alone: a text is long, a device looks its kernels up often, and few pieces share a
/// name.
impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Source {
    /// A piece of WGSL; `name` is what error messages call it, usually its path.
    pub fn new(name: impl Into<Cow<'static, str>>, text: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), text: text.into(), library: false }
    }

    /// A file of the library's, `shaders/…`. The models that ship are none: they have no more
    /// rights than a user's.
    pub(crate) fn library(name: &'static str, text: &'static str) -> Self {
        Self { library: !name.starts_with("shaders/models/"), ..Self::new(name, text) }
    }

    /// What error messages call this piece.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The WGSL text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is the library's.
    pub(super) fn is_library(&self) -> bool {
        self.library
    }

    /// Whether it imports a file of the library itself.
    pub(crate) fn imports(&self, path: &str) -> bool {
        self.comments().any(|(_, comment)| comment.strip_prefix("import:").map(str::trim) == Some(path))
    }

    /// Lines that are comments: their number, and what they say.
    pub(super) fn comments(&self) -> impl Iterator<Item = (u32, &str)> {
        let lines = (1..).zip(self.text.lines());
        lines.filter_map(|(number, line)| Some((number, line.trim().strip_prefix("//")?.trim())))
    }

    /// The same without its declaration of a uniform variable of this name, which another file
    /// declares: in its place are blanks, so that all else stays in its lines.
    pub(crate) fn without_uniform(&self, name: &str) -> Self {
        let Some(declaration) = uniform(&self.text, name) else { return self.clone() };
        let blank = |c: char| if c == '\n' { c } else { ' ' };
        let blanks: String = self.text[declaration.clone()].chars().map(blank).collect();
        let mut text = self.text.to_string();
        text.replace_range(declaration, &blanks);
        Self { text: text.into(), ..self.clone() }
    }

    #[doc(hidden)]
    pub fn beside(rust_file: &str, path: &str, text: &'static str) -> Self {
        let folder = rust_file.rfind(['/', '\\']).map_or("", |end| &rust_file[..=end]);
        Self::new(format!("{folder}{path}"), text)
    }
}

/// The names of a list with commas between them.
pub(crate) fn listed(names: &str) -> impl Iterator<Item = &str> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Where a text declares a uniform variable of this name: from its attributes to its semicolon.
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

/// Includes the WGSL file at a path relative to the present Rust file as a [`Source`].
///
/// Errors in the WGSL then point at that file and line.
#[macro_export]
macro_rules! wgsl {
    ($path:literal) => {
        $crate::gpu::Source::beside(file!(), $path, include_str!($path))
    };
}
