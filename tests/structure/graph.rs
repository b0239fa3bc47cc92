//! The files of a crate and which of them uses which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::Source;

/// The files of a crate. A file is known by its module's path: `pdes/memory/contents`; the root's
/// is empty.
pub(crate) struct Graph {
    sources: BTreeMap<String, Source>,
    /// For each file: the files that define the names it uses, with these names.
    pub(crate) uses: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

/// The target of a path.
#[derive(Clone)]
enum Target {
    Module(String),
    /// An item: the file that defines it, and its name there.
    Item(String, String),
}

impl Graph {
    /// Reads the files below `folder`, with `lib.rs` as the root.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut texts = BTreeMap::new();
        read_folder(folder, "", &mut texts);
        Self::new(texts)
    }

    /// The graph of these files, each with its module's path.
    pub(crate) fn new(texts: BTreeMap<String, String>) -> Self {
        let sources = texts.into_iter().map(|(file, text)| (file, Source::parse(&text))).collect();
        let mut graph = Self { sources, uses: BTreeMap::new() };
        let uses = graph.sources.keys().map(|file| (file.clone(), graph.used_by(file))).collect();
        graph.uses = uses;
        graph.uses.retain(|file, _| graph.sources.contains_key(file));
        graph
    }

    /// Files that use each other in a circle, each circle with all its files.
    pub(crate) fn circles(&self) -> Vec<BTreeSet<String>> {
        let mut circles: Vec<BTreeSet<String>> = Vec::new();
        let reached: BTreeMap<_, _> = self.uses.keys().map(|file| (file, self.reached_from(file))).collect();
        for (file, others) in &reached {
            if !others.contains(*file) || circles.iter().any(|circle| circle.contains(*file)) {
                continue;
            }
            circles.push(others.iter().filter(|other| reached[other].contains(*file)).cloned().collect());
        }
        circles
    }

    /// The edges within a set of files, one a line.
    pub(crate) fn edges_within(&self, files: &BTreeSet<String>) -> String {
        let mut lines = String::new();
        for file in files {
            for (used, items) in self.uses[file].iter().filter(|(used, _)| files.contains(*used)) {
                let items: Vec<_> = items.iter().map(String::as_str).collect();
                lines += &format!("    {file} uses {used}: {}\n", items.join(", "));
            }
        }
        lines
    }

    fn reached_from(&self, file: &str) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![file];
        while let Some(file) = waiting.pop() {
            waiting.extend(
                self.uses[file].keys().filter(|used| reached.insert((*used).clone())).map(String::as_str),
            );
        }
        reached
    }

    fn used_by(&self, file: &str) -> BTreeMap<String, BTreeSet<String>> {
        let source = &self.sources[file];
        let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let imports = source.imports.iter().filter(|import| !import.is_reexport);
        for (path, is_glob) in imports
            .map(|import| (&import.path, import.name == "*"))
            .chain(source.paths.iter().map(|path| (path, false)))
        {
            let (definer, item) = match self.resolve(file, path, 0) {
                Some(Target::Item(definer, item)) => (definer, item),
                Some(Target::Module(module)) if is_glob => (module, "*".into()),
                _ => continue,
            };
            used.entry(definer).or_default().insert(item);
        }
        used.remove(file);
        used
    }

    /// The target of a path in this file; `None` for names of other crates and local names.
    fn resolve(&self, file: &str, path: &[String], depth: u32) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" => Target::Module(String::new()),
            "self" => Target::Module(file.into()),
            "super" => Target::Module(parent(file).into()),
            name => self.resolve_name(file, name, depth)?,
        };
        while let (Target::Module(module), Some((name, after))) = (&target, rest.split_first()) {
            target = match name.as_str() {
                "super" => Target::Module(parent(module).into()),
                name => self.resolve_name(module, name, depth)?,
            };
            rest = after;
        }
        Some(target)
    }

    fn resolve_name(&self, module: &str, name: &str, depth: u32) -> Option<Target> {
        let source = &self.sources[module];
        if source.modules.iter().any(|child| child == name) {
            return Some(Target::Module(child(module, name)));
        }
        if source.items.iter().any(|item| item == name) {
            return Some(Target::Item(module.into(), name.into()));
        }
        if depth == 8 {
            return None;
        }
        let imports = source.imports.iter();
        let named = imports.clone().filter(|import| import.name == name && import.path[0] != name);
        let mut found = named.filter_map(|import| self.resolve(module, &import.path, depth + 1));
        found.next().or_else(|| {
            imports.filter(|import| import.name == "*").find_map(|import| {
                match self.resolve(module, &import.path, depth + 1)? {
                    Target::Module(other) => self.resolve_name(&other, name, depth + 1),
                    Target::Item(..) => None,
                }
            })
        })
    }
}

fn parent(module: &str) -> &str {
    module.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn child(module: &str, name: &str) -> String {
    if module.is_empty() { name.into() } else { format!("{module}/{name}") }
}

fn read_folder(folder: &Path, module: &str, texts: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() {
            read_folder(&path, &child(module, name), texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if ["mod", "lib"].contains(&name) { module.into() } else { child(module, name) };
            texts.insert(module, std::fs::read_to_string(&path).unwrap());
        }
    }
}
