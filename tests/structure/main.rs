//! Which modules of the library may use each other, and that no files use each other in a circle.

mod graph;
mod owner;
mod source;
mod style;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use graph::Graph;

/// Each module and the modules that it may use. Files outside of modules have rows too.
const MAY_USE: [(&str, &[&str]); 26] = [
    ("error", &[]),
    ("backend", &["gpu"]),
    ("text", &[]),
    // Pages of docs/ only.
    ("guide", &[]),
    ("shared", &[]),
    ("shaders", &["gpu"]),
    ("native", &[]),
    // Sources of users and of the library have one type.
    ("gpu", &["native"]),
    ("time", &[]),
    ("random", &["time"]),
    ("statistics", &["random", "time"]),
    ("columns", &["gpu", "statistics"]),
    ("primitives", &["gpu"]),
    ("queue", &["gpu"]),
    ("pdes", &["backend", "primitives", "queue", "statistics", "random", "time", "gpu", "native"]),
    ("replication", &["backend", "primitives", "queue", "statistics", "random", "time", "gpu", "native"]),
    ("facility", &["backend", "pdes", "replication", "statistics", "random", "time", "gpu", "native"]),
    ("process", &["backend", "facility", "pdes", "statistics", "random", "time", "gpu", "native"]),
    ("optimise", &["backend", "facility", "process", "pdes", "statistics"]),
    ("description", &["backend", "pdes", "replication", "queue", "statistics", "time", "gpu"]),
    ("matching", &["primitives", "queue", "random", "gpu"]),
    ("search", &["backend", "primitives", "queue", "random", "gpu"]),
    ("hybrid", &["pdes", "statistics", "random", "time", "gpu"]),
    ("models", &["pdes", "replication", "statistics", "random", "time", "gpu"]),
    (
        "self_test",
        &[
            "pdes",
            "replication",
            "matching",
            "search",
            "primitives",
            "queue",
            "models",
            "statistics",
            "random",
            "time",
            "gpu",
        ],
    ),
    ("", &["self_test"]),
];

/// Modules that all others may use.
const FOR_ALL: [&str; 5] = ["error", "text", "shared", "shaders", "columns"];

/// The folders of `pdes`, lowest first: each uses itself and those before it.
const FOLDERS_OF_PDES: [&str; 5] = ["contract", "device", "checkpoint", "sequential", "run"];

fn library() -> Graph {
    Graph::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn module_of(file: &str) -> &str {
    file.split('/').next().unwrap()
}

#[test]
fn modules_use_what_they_may() {
    let graph = library();
    let mut wrong = String::new();
    for (file, used) in &graph.uses {
        let module = module_of(file);
        let Some((_, may_use)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            wrong += &format!("{module} has no row in MAY_USE\n");
            continue;
        };
        for (other, items) in used {
            let used = module_of(other);
            if used != module && !may_use.contains(&used) && !FOR_ALL.contains(&used) {
                wrong += &format!("{file} uses {other}: {items:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let graph = library();
    let mut found = String::new();
    for circle in graph.circles() {
        found += &format!("{} files in a circle:\n{}\n", circle.len(), graph.edges_within(&circle));
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn folders_of_pdes_use_those_below_them() {
    let place = |file: &str| {
        let folder = file.strip_prefix("pdes/")?.split('/').next()?;
        FOLDERS_OF_PDES.iter().position(|name| *name == folder)
    };
    let graph = library();
    let (mut wrong, mut seen) = (String::new(), BTreeSet::new());
    for (file, used) in graph.uses.iter().filter(|(file, _)| file.starts_with("pdes/")) {
        let Some(own) = place(file) else {
            wrong += &format!("{file} is in none of these folders\n");
            continue;
        };
        seen.insert(own);
        for (other, items) in used.iter().filter(|(other, _)| module_of(other) == "pdes") {
            if place(other).is_none_or(|other| other > own) {
                wrong += &format!("{file} uses {other}: {items:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(seen.len(), FOLDERS_OF_PDES.len(), "a folder is empty");
}

/// A crate of these files, and the names that one of them uses.
fn uses<const N: usize>(files: [(&str, &str); N], file: &str) -> Vec<String> {
    let texts = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    Graph::new(BTreeMap::from(texts)).uses[file].keys().cloned().collect()
}

#[test]
fn imports_lead_to_the_file_that_defines() {
    let root = ("", "pub mod a; mod c; mod e;");
    let a = ("a", "mod b; pub use b::{self, Item as Other}; pub use crate::c::*; struct Own;");
    let b = ("a/b", "pub struct Item; pub fn run() {}");
    let c = ("c", "pub enum Choice { First }");
    for (text, used) in [
        ("use crate::a::Other;", vec!["a/b"]),
        ("use super::a::{Other as Third, Own};", vec!["a", "a/b"]),
        ("use crate::a::b; fn f() { b::run() }", vec!["a/b"]),
        ("use crate::a::{self, b};", vec![]),
        ("fn f() { crate::a::Choice::First; }", vec!["c"]),
        (
            "fn f<'a>(text: &'a str) { let c = ('\"', '\\'', \"crate::a::Own\"); g::<crate::a::Own>() }",
            vec!["a"],
        ),
        ("/* crate::a::Own /* */ crate::a::Own */ r#\"crate::\" a::Own\"#", vec![]),
        ("#[cfg(test)] mod tests { use crate::a::Own; } use crate::c::Choice;", vec!["c"]),
        (
            "#[cfg(test)] use crate::a::Own; struct S { #[cfg(test)] own: crate::a::Own, c: crate::c::Choice }",
            vec!["c"],
        ),
        ("use std::sync::Arc; fn f(x: T) { x.Other(); Vec::new() }", vec![]),
    ] {
        assert_eq!(uses([root, a, b, c, ("e", text)], "e"), used, "{text}");
    }
}

#[test]
fn parents_that_only_export_use_nothing() {
    let root = ("", "mod a;");
    let b = ("a/b", "use super::Own; pub struct Item;");
    assert!(uses([root, ("a", "mod b; pub use b::Item; pub struct Own;"), b], "a").is_empty());
    let using = ("a", "mod b; pub use b::Item; pub struct Own(Item);");
    assert_eq!(uses([root, using, b], "a"), ["a/b"]);
    let texts = [root, using, b].map(|(name, text)| (name.to_owned(), text.to_owned()));
    let circles = Graph::new(BTreeMap::from(texts)).circles();
    assert_eq!(circles, [["a".to_owned(), "a/b".to_owned()].into()]);
}

/// The dependencies of a manifest, those of tests aside, by name: version and features.
fn dependencies(manifest: &str) -> BTreeMap<&str, String> {
    let text = manifest.split("[dev-dependencies]").next().unwrap();
    let plain = |value: &str| {
        let value = value.replace(", optional = true", "");
        let alone = value.strip_prefix("{ version = ").and_then(|rest| rest.strip_suffix(" }"));
        alone.filter(|version| !version.contains(',')).unwrap_or(&value).to_owned()
    };
    text.lines().filter_map(|line| line.split_once(" = ")).map(|(name, value)| (name, plain(value))).collect()
}

/// The fuzz targets contain `src/native/`, and are a workspace of their own, which is in no package.
#[test]
fn fuzz_targets_have_the_versions_of_the_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(of_targets) = std::fs::read_to_string(root.join("fuzz/Cargo.toml")) else {
        assert!(!root.join("fuzz").exists());
        return;
    };
    let of_library = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let (of_library, of_targets) = (dependencies(&of_library), dependencies(&of_targets));
    let is_of_native = |name: &str| name.starts_with("cranelift-") || ["naga", "region"].contains(&name);
    let names: Vec<_> = of_library.keys().copied().filter(|name| is_of_native(name)).collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        assert_eq!(of_targets.get(name), Some(&of_library[name]), "fuzz/Cargo.toml: {name}");
    }
}
