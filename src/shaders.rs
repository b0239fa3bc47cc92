//! The library's WGSL files, from the folder `shaders/`, by path.

use std::sync::LazyLock;

use crate::gpu::{Source, listed};
use crate::text::{closest, quoted};

// Path within `shaders/`, name in errors, and text of each file, sorted by path. `build.rs` writes
// `const FILES: &[(&str, &str, &str)]`.
include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

/// Names and texts of all files.
#[cfg(test)]
pub(crate) fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().map(|&(_, name, text)| (name, text))
}

/// Parts of a model's file; they have the same rights as the model.
const OF_MODELS: [&str; 2] = ["facility/network", "process/"];

/// The file at `path`, relative to `shaders/`; errors in it are reported as `shaders/PATH`.
pub(crate) fn find(path: &str) -> Option<Source> {
    let (_, name, text) = FILES.iter().find(|(found, ..)| *found == path)?;
    let of_model = OF_MODELS.iter().any(|folder| path.starts_with(folder));
    Some(if of_model { Source::new(*name, *text) } else { Source::library(name, text) })
}

/// The file that was probably meant by a `path` that is missing: one with a similar path, or an
/// importable one with the same name in another folder.
pub(crate) fn nearest(path: &str) -> Option<&'static str> {
    fn name(path: &str) -> &str {
        path.rsplit('/').next().unwrap_or(path)
    }
    let similar = closest(&quoted(path), FILES.iter().map(|&(file, ..)| file));
    similar.or_else(|| IMPORTABLE.into_iter().find(|file| name(file) == name(path)))
}

/// The file at `path`, which the library itself names: it is missing only by mistake.
pub(crate) fn file(path: &str) -> Source {
    find(path).unwrap_or_else(|| panic!("the file shaders/{path} is missing"))
}

/// The files that list `name` in their `// provides:` lines.
pub(crate) fn providers(name: &str) -> impl Iterator<Item = &'static str> {
    let provides = move |text: &str| {
        let lists = text.lines().filter_map(|line| line.strip_prefix("// provides:"));
        lists.flat_map(listed).any(|provided| provided == name)
    };
    FILES.iter().filter(move |(.., text)| provides(text)).map(|&(_, file, _)| file)
}

/// A function that a file head lists: `// models: draw_erlang(number, time), …`.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// The kind of each argument: `time`, `probability` or `number`.
    pub(crate) takes: Vec<&'static str>,
    /// Whether models of every engine may call it: true if a line `// models:` lists it, false for
    /// `// takes:`.
    pub(crate) for_models: bool,
}

/// The functions that all heads list.
pub(crate) static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
    let lines = FILES.iter().flat_map(|(.., text)| text.lines());
    let lists = lines.filter_map(|line| {
        let models = line.strip_prefix("// models:");
        Some((models.or_else(|| line.strip_prefix("// takes:"))?, models.is_some()))
    });
    let calls = lists.flat_map(|(list, for_models)| {
        list.split_inclusive(')').filter_map(move |call| {
            let (name, takes) = call.trim_start_matches([',', ' ']).trim_end_matches(')').split_once('(')?;
            Some(Call { name, takes: listed(takes).collect(), for_models })
        })
    });
    calls.collect()
});

/// The files that a model's file may import.
const IMPORTABLE: [&str; 6] = [
    "gpu/wide.wgsl",
    "pdes/line.wgsl",
    "random/exponential_table.wgsl",
    "statistics/histogram.wgsl",
    "statistics/tally.wgsl",
    "statistics/time_average.wgsl",
];

/// The importable file that declares this function or struct.
pub(crate) fn importable(name: &str) -> Option<&'static str> {
    let declares =
        |text: &str| text.contains(&format!("fn {name}(")) || text.contains(&format!("struct {name} {{"));
    IMPORTABLE.into_iter().find(|path| FILES.iter().any(|(file, _, text)| file == path && declares(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_mistyped_path_leads_to_the_file_that_was_meant() {
        for (path, meant) in [
            ("statistics/taly.wgsl", Some("statistics/tally.wgsl")),
            ("stats/tally.wgsl", Some("statistics/tally.wgsl")),
            ("tally.wgsl", Some("statistics/tally.wgsl")),
            ("random/exponential-table.wgsl", Some("random/exponential_table.wgsl")),
            ("my/own/model.glsl", None),
        ] {
            assert_eq!(nearest(path), meant, "{path}");
        }
    }

    #[test]
    fn the_list_is_the_folder() {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        let mut found = Vec::new();
        walk(&root, &root, &mut found);
        let mut listed: Vec<_> = FILES.iter().map(|(name, ..)| (*name).to_owned()).collect();
        found.sort();
        listed.sort();
        assert_eq!(listed, found);
    }
}
