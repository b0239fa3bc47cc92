//! Heads of files: errors in them are reported, and those of the library are complete.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::gpu::Program;

/// The names that library files need from a user file.
const USERS: [&str; 69] = [
    "Answer",
    "NETWORK_BALKS",
    "NETWORK_BATCHES",
    "NETWORK_BLOCKS",
    "NETWORK_BREAKS",
    "NETWORK_BY_CLASS",
    "NETWORK_CALENDARS",
    "NETWORK_CHANCES",
    "NETWORK_CLASS",
    "NETWORK_CLASSES",
    "NETWORK_COUNTS",
    "NETWORK_DETAILS",
    "NETWORK_EXTRA",
    "NETWORK_FORKS",
    "NETWORK_HEAPS",
    "NETWORK_HOLDS",
    "NETWORK_IN_TURN",
    "NETWORK_KNOWN",
    "NETWORK_LIMITS",
    "NETWORK_LONG",
    "NETWORK_LOSES",
    "NETWORK_NODES",
    "NETWORK_OPEN",
    "NETWORK_PATIENCE",
    "NETWORK_PREEMPTS",
    "NETWORK_RANDOM",
    "NETWORK_RATES",
    "NETWORK_RINGS",
    "NETWORK_RING_WORDS",
    "NETWORK_ROUTERS",
    "NETWORK_SERVERS",
    "NETWORK_SHIFT",
    "NETWORK_SLOTS",
    "NETWORK_TRAVELS",
    "NETWORK_TRAVEL_HEAP",
    "NETWORK_TRAVEL_SLOT",
    "NETWORK_WAKES",
    "NODE_ROWS",
    "Output",
    "Params",
    "State",
    "TABLE_NODES",
    "TABLE_PAIRS",
    "TABLE_SLOTS",
    "TEAM_NEUTRAL",
    "answer",
    "data",
    "earliest",
    "estimate",
    "finish",
    "handle",
    "init",
    "law_row",
    "network_arrive",
    "network_begin",
    "network_freed",
    "network_law",
    "network_next",
    "network_own",
    "next_gap",
    "next_to",
    "output",
    "params",
    "sender",
    "sender_count",
    "start",
    "step",
    "team_combine",
    "team_step",
];

fn problem(sources: &[Source]) -> String {
    match Program::link("heads", sources) {
        Err(error @ LinkError::Head { .. }) => error.to_string(),
        other => panic!("expected an error of heads, got {other:?}"),
    }
}

#[test]
fn a_need_that_no_file_provides_is_refused_with_those_that_would() {
    let philox = shaders::file("random/philox.wgsl");
    let said = problem(std::slice::from_ref(&philox));
    assert!(said.starts_with("shaders/random/philox.wgsl:"), "{said}");
    let names = "needs `mul_wide`, which no linked file provides: link one of shaders/random/mul_wide.wgsl, \
        shaders/random/mul_wide_int64.wgsl";
    assert!(said.contains(names), "{said}");
    // A library file provides only names in its head; a user file provides what it declares.
    let own = "fn mul_wide(a: u32, b: u32) -> vec2<u32> { return vec2<u32>(a, b); }\n";
    assert_eq!(problem(&[philox.clone(), Source::library("shaders/own.wgsl", own)]), said);
    Program::link("heads", &[philox, Source::new("own.wgsl", own)]).unwrap();
}

#[test]
fn a_file_provides_what_it_declares_and_no_other_one_does() {
    let said = problem(&[Source::library("shaders/a.wgsl", "// A.\n// provides: b, c\nfn b() {}\n")]);
    assert_eq!(said, "shaders/a.wgsl:2: provides `c`, and does not declare it");
    let product =
        ["mul_wide.wgsl", "mul_wide_int64.wgsl"].map(|name| shaders::file(&format!("random/{name}")));
    let said = problem(&product);
    assert!(said.starts_with("shaders/random/mul_wide_int64.wgsl:"), "{said}");
    assert!(
        said.ends_with("provides `mul_wide`, and so does shaders/random/mul_wide.wgsl: link one of them")
    );
    // In user files heads are ordinary comments.
    let user = "// provides: nothing at all\n// needs: mul_wide, sleep\nfn f() {}\n";
    Program::link("heads", &[Source::new("user.wgsl", user)]).unwrap();
}

/// The names, among the known ones, that a file uses and does not declare.
fn unresolved<'t>(text: &'t str, declared: &BTreeSet<&str>, known: &BTreeSet<&str>) -> BTreeSet<&'t str> {
    let (mut locals, mut used) = (BTreeSet::new(), BTreeSet::new());
    let (mut last, mut item) = ("", "");
    for (word, before, next, blocks) in names::tests::tokens(text) {
        if blocks == 0 && ["fn", "struct", "const", "override", "var", "alias"].contains(&word) {
            item = word;
            locals.clear();
        }
        let is_local = match item {
            "fn" => next == Some(':') || (blocks > 0 && ["let", "var", "const"].contains(&last)),
            "struct" => next == Some(':'),
            _ => false,
        };
        // The name in `var<private> name`.
        if is_local || (item == "fn" && blocks > 0 && before == '>' && next == Some('=')) {
            locals.insert(word);
        } else if !['.', '@'].contains(&before)
            && known.contains(word)
            && !declared.contains(word)
            && !locals.contains(word)
        {
            used.insert(word);
        }
        last = word;
    }
    used
}

#[test]
fn heads_say_all_that_files_use_of_others() {
    let files: BTreeMap<&str, Source> = shaders::texts()
        .map(|(name, _)| (name, shaders::file(name.strip_prefix("shaders/").unwrap())))
        .collect();
    let own: BTreeMap<&str, BTreeSet<&str>> =
        files.iter().map(|(name, file)| (*name, names::tests::declarations(file.text()).collect())).collect();
    let known: BTreeSet<&str> = own.values().flatten().copied().chain(USERS).collect();
    let mut needed = BTreeSet::new();
    let mut wrong = Vec::new();
    let lists = |file: &Source, key: &str| -> Vec<String> {
        let lists = file.comments().filter_map(|(_, comment)| comment.strip_prefix(key));
        lists.flat_map(listed).map(str::to_owned).collect()
    };
    for (name, file) in &files {
        let joined = LinkedText::imports(file);
        let declared = joined.iter().flat_map(|import| &own[import.name()]).copied().collect();
        let used: BTreeSet<_> =
            unresolved(file.text(), &declared, &known).into_iter().map(str::to_owned).collect();
        needed.extend(used.iter().cloned());
        if !file.is_library() {
            continue;
        }
        let needs = lists(file, "needs:");
        if !needs.iter().eq(&used) {
            let used: Vec<_> = used.into_iter().collect();
            wrong.push(format!("{name} needs\n  {}\nand says\n  {}", used.join(", "), needs.join(", ")));
        }
    }
    let folder = |name: &str| name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    for (name, file) in files.iter().filter(|(_, file)| file.is_library()) {
        let provides = lists(file, "provides:");
        // Files of a folder that are alternatives provide the same names.
        for (other, neighbour) in files.iter().filter(|(other, _)| folder(other) == folder(name)) {
            let others = lists(neighbour, "provides:");
            let is_choice = others.iter().any(|provided| provides.contains(provided));
            let hidden = others.iter().filter(|it| own[*name].contains(&***it) && !provides.contains(it));
            wrong.extend(
                hidden
                    .filter(|_| is_choice)
                    .map(|it| format!("{name} declares {it}, which {other} provides, and does not")),
            );
        }
        let is_user = |name: &String| USERS.contains(&&**name);
        wrong.extend(
            provides
                .iter()
                .filter(|provided| !needed.contains(*provided))
                .map(|unused| format!("{name} provides {unused}, which no file needs")),
        );
        if !provides.is_sorted_by(|a, b| a < b) {
            wrong.push(format!("{name}: what it provides is not in order"));
        }
        for need in lists(file, "needs:").iter().filter(|need| !is_user(need)) {
            if shaders::providers(need).next().is_none() {
                wrong.push(format!("{name} needs {need}, which no file provides"));
            }
        }
        let long = file.comments().filter(|(_, comment)| {
            (comment.starts_with("needs:") || comment.starts_with("provides:")) && comment.len() > 97
        });
        wrong.extend(long.map(|(line, _)| format!("{name}:{line} is longer than 100 columns")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn parts_of_a_model_are_what_it_imports_and_the_library_does_not_vouch_for() {
    let model = Source::new("m.wgsl", "// import: facility/network_plain.wgsl\n// import: pdes/line.wgsl\n");
    let parts = model.parts();
    let names: Vec<&str> = parts.iter().map(Source::name).collect();
    let expected = ["m.wgsl", "shaders/facility/network_plain.wgsl", "shaders/facility/network.wgsl"];
    assert_eq!(names[..3], expected);
    assert!(names.contains(&"shaders/facility/network/records.wgsl"), "{names:?}");
    assert!(parts.iter().all(|part| !part.is_library()), "{names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}
