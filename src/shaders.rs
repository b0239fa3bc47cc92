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
    similar.or_else(|| importable_files().map(|(file, _)| file).find(|file| name(file) == name(path)))
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
    file: &'static str,
    pub(crate) name: &'static str,
    /// The kind of each argument: `time`, `probability` or `number`.
    pub(crate) takes: Vec<&'static str>,
    /// Whether models of every engine may call it: true if a line `// models:` lists it, false for
    /// `// takes:`.
    pub(crate) for_models: bool,
}

/// The functions that all heads list.
pub(crate) static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
    let lines = FILES.iter().flat_map(|&(file, _, text)| text.lines().map(move |line| (file, line)));
    let lists = lines.filter_map(|(file, line)| {
        let models = line.strip_prefix("// models:");
        Some((file, models.or_else(|| line.strip_prefix("// takes:"))?, models.is_some()))
    });
    let calls = lists.flat_map(|(file, list, for_models)| {
        list.split_inclusive(')').filter_map(move |call| {
            let (name, takes) = call.trim_start_matches([',', ' ']).trim_end_matches(')').split_once('(')?;
            Some(Call { file, name, takes: listed(takes).collect(), for_models })
        })
    });
    calls.collect()
});

/// The functions for models of every engine that the files of a folder declare.
pub(crate) fn for_models(folder: &str) -> Vec<&'static str> {
    let of_folder = |call: &&Call| {
        call.for_models && call.file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    CALLS.iter().filter(of_folder).map(|call| call.name).collect()
}

/// The files that a model's file may import, with their texts.
fn importable_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = ["gpu/wide.wgsl", "pdes/line.wgsl", "random/exponential_table.wgsl"];
    let files = FILES.iter().map(|&(file, _, text)| (file, text));
    files.filter(move |(file, _)| file.starts_with("statistics/") || others.contains(file))
}

/// The importable file that declares this function or struct.
pub(crate) fn importable(name: &str) -> Option<&'static str> {
    let declares =
        |text: &str| text.contains(&format!("fn {name}(")) || text.contains(&format!("struct {name} {{"));
    importable_files().find(|(_, text)| declares(text)).map(|(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Program;
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

    /// A time has two words, except for `exponential_short`; a probability has one.
    #[test]
    fn heads_say_what_functions_take() {
        let mut files: Vec<_> = CALLS.iter().map(|call| call.file).collect();
        files.dedup();
        let sources: Vec<_> = files.into_iter().chain(["random/mul_wide.wgsl"]).map(file).collect();
        let program = Program::link("calls", &sources).unwrap();
        let module = program.module();
        for call in CALLS.iter() {
            let (_, function) = module
                .functions
                .iter()
                .find(|(_, function)| function.name.as_deref() == Some(call.name))
                .unwrap_or_else(|| panic!("{} is missing", call.name));
            assert_eq!(function.arguments.len(), call.takes.len(), "{}", call.name);
            for (argument, takes) in function.arguments.iter().zip(&call.takes) {
                let is_word = module.types[argument.ty].inner == naga::TypeInner::Scalar(naga::Scalar::U32);
                let expected = match *takes {
                    "time" => matches!(call.name, "exponential_short" | "exponential_tabled"),
                    "probability" => true,
                    "number" => continue,
                    other => panic!("{} takes {other}", call.name),
                };
                assert_eq!(is_word, expected, "{}", call.name);
            }
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
