//! Comments are wrapped, and comments, messages and pages are free of the phrases in
//! `scripts/style-words`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::owner::links;

const COMMENT_COLUMNS: usize = 100;
const MARKDOWN_COLUMNS: usize = 200;

/// Prose of a file: the text, with line breaks as spaces, and the line on which it begins.
struct Prose {
    line: usize,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files with one of the endings in the folders and files that users and contributors read.
/// Folders that are missing in the published package are skipped.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let places = [
        "src",
        "shaders",
        "cli/src",
        "bench/src",
        "examples",
        "docs",
        "README.md",
        "CHANGELOG.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "site",
    ];
    let mut waiting: Vec<PathBuf> =
        places.iter().map(|place| root().join(place)).filter(|path| path.exists()).collect();
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending)) {
            found.push(path);
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no file ends with one of {endings:?}");
    found
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// The comments and string literals of Rust or WGSL, and the code without them, with its line
/// breaks. Comments on consecutive lines are one piece.
fn split_code(text: &str) -> (Vec<Prose>, String) {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut line): (Vec<Prose>, usize, usize) = (Vec::new(), 0, 1);
    let mut code = String::new();
    let mut last_comment = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            let words = rest[..length].trim_start_matches(['/', '!']).trim();
            match found.last_mut() {
                Some(piece) if last_comment + 1 == line => {
                    piece.text.push(' ');
                    piece.text.push_str(words);
                }
                _ => found.push(Prose { line, text: words.into() }),
            }
            last_comment = line;
            length
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = 2 + hashes;
            let length = rest[begin..].find(&end).map_or(rest.len(), |length| begin + length + end.len());
            found.push(Prose { line, text: rest[..length].replace('\n', " ") });
            length
        } else if rest.starts_with('"') {
            let mut length = 1;
            while length < rest.len() && bytes[at + length] != b'"' {
                length += if bytes[at + length] == b'\\' { 2 } else { 1 };
            }
            let length = (length + 1).min(rest.len());
            let words = rest[..length].replace("\\\n", " ").replace("\\n", " ");
            found.push(Prose { line, text: words });
            length
        } else if let Some(escaped) = rest.strip_prefix("'\\") {
            2 + escaped.char_indices().skip(1).find(|(_, it)| *it == '\'').map_or(0, |(place, _)| place + 1)
        } else if rest.starts_with("'\"'") {
            3
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            code.push_str(&rest[..length]);
            at += length;
            line += usize::from(rest.starts_with('\n'));
            continue;
        };
        let lines = text[at..at + length].matches('\n').count();
        code.push(' ');
        code.push_str(&"\n".repeat(lines));
        line += lines;
        at += length;
    }
    (found, code)
}

/// The identifiers of a line of code.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|it: char| !(it.is_alphanumeric() || it == '_')).filter(|name| !name.is_empty())
}

/// Whether a name is retired: the whole, or one of its words (`heap_told`, `HeapTold`, `HEAP_TOLD`).
fn is_retired(name: &str, retired: &str) -> bool {
    let mut words = String::new();
    let mut was_lower = false;
    for it in name.chars() {
        if it.is_uppercase() && was_lower {
            words.push('_');
        }
        was_lower = it.is_lowercase() || it.is_numeric();
        words.extend(it.to_lowercase());
    }
    name == retired || words.split('_').any(|word| word == retired)
}

/// The number of `#` before the quote of a raw string that begins here.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.bytes().take_while(|&byte| byte == b'#').count();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// The paragraphs of a page, without its code.
fn prose_of_markdown(text: &str) -> Vec<Prose> {
    let (mut found, mut is_code, mut is_open) = (Vec::<Prose>::new(), false, false);
    for (line, words) in (1..).zip(text.lines()) {
        if words.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code || words.trim().is_empty() || words.starts_with("```") {
            is_open = false;
            continue;
        }
        match found.last_mut() {
            Some(piece) if is_open => {
                piece.text.push(' ');
                piece.text.push_str(words.trim());
            }
            _ => found.push(Prose { line, text: words.trim().into() }),
        }
        is_open = true;
    }
    found
}

/// A text in lower case in which single spaces part the words.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn has_phrase(flat: &str, phrase: &str) -> bool {
    let is_word = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    flat.match_indices(phrase).any(|(place, _)| {
        !is_word(flat[..place].chars().next_back()) && !is_word(flat[place + phrase.len()..].chars().next())
    })
}

#[test]
fn comments_and_pages_are_wrapped() {
    let mut wrong = String::new();
    for path in files(&["rs", "wgsl"]) {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.trim_start();
            let content = words.trim_start_matches(['/', '!', ' ']);
            if words.starts_with("//") && content.starts_with("```") {
                is_code = !is_code;
            }
            // Code in rustdoc has the width of code; a list that the linker reads is one line.
            if is_code || content.starts_with("models:") {
                continue;
            }
            let is_table = content.starts_with('|');
            let is_link = words.contains("://") && words.split_whitespace().count() <= 3;
            let columns = line.chars().count();
            if words.starts_with("//") && !is_table && !is_link && columns > COMMENT_COLUMNS {
                writeln!(wrong, "{}:{number} has {columns} columns", name(&path)).unwrap();
            }
        }
    }
    for path in files(&["md"]) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            // The README of a package has addresses, which `scripts/owner readme` wrote.
            let addresses = links(line).filter(|target| target.contains("://"));
            let columns =
                line.chars().count() - addresses.map(|target| target.chars().count()).sum::<usize>();
            if !line.trim_start().starts_with('|') && columns > MARKDOWN_COLUMNS {
                writeln!(wrong, "{}:{number} has {columns} columns", name(&path)).unwrap();
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "comments wrap at {COMMENT_COLUMNS} columns, Markdown at {MARKDOWN_COLUMNS} (tables aside):\n{wrong}"
    );
}

fn list() -> String {
    fs::read_to_string(root().join("scripts/style-words")).unwrap()
}

/// The phrases and names of the list, each with what to write instead. Names are in backticks.
fn entries(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| {
        let entry = line.split_once("=>");
        let (phrase, instead) = entry.unwrap_or_else(|| panic!("scripts/style-words: `{line}` has no =>"));
        (phrase.trim(), instead.trim())
    })
}

#[test]
fn retired_names_are_not_used_in_code() {
    let list = list();
    let names: Vec<_> = entries(&list)
        .filter_map(|(name, instead)| Some((name.strip_prefix('`')?.strip_suffix('`')?, instead)))
        .collect();
    assert!(names.len() > 10, "scripts/style-words has names in backticks");
    let mut wrong = String::new();
    for path in files(&["rs", "wgsl"]) {
        let (_, code) = split_code(&fs::read_to_string(&path).unwrap());
        for (number, line) in (1..).zip(code.lines()) {
            for found in identifiers(line) {
                for (_, instead) in names.iter().filter(|(retired, _)| is_retired(found, retired)) {
                    writeln!(wrong, "{}:{number}: `{found}`: write {instead}", name(&path)).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "retired names of scripts/style-words:\n{wrong}");
}

#[test]
fn names_are_retired_as_a_whole_or_by_a_word() {
    for name in ["told", "told_words", "ToldWords", "lineTold", "LINE_TOLD2", "what_is_told"] {
        assert_eq!(is_retired(name, "told"), name != "LINE_TOLD2", "{name}");
    }
    assert!(!is_retired("toldest", "told") && is_retired("CellSplit", "CellSplit"));
    let (_, code) = split_code("let a = \"told\"; // told\nlet told = 1;");
    let lines: Vec<_> = code.lines().map(|line| identifiers(line).collect::<Vec<_>>()).collect();
    assert_eq!(lines, [vec!["let", "a"], vec!["let", "told", "1"]]);
}

#[test]
fn phrases_of_the_list_are_not_used() {
    let list = list();
    let phrases: Vec<_> = entries(&list).filter(|(phrase, _)| !phrase.starts_with('`')).collect();
    let phrases: Vec<_> = phrases.iter().map(|(phrase, instead)| (flat(phrase), *instead)).collect();
    let mut wrong = String::new();
    for path in files(&["rs", "wgsl", "md"]) {
        let mut text = fs::read_to_string(&path).unwrap();
        let is_page = path.extension().is_some_and(|it| it == "md");
        if path.ends_with("CHANGELOG.md") {
            // Its table lists the retired names.
            text = text.lines().filter(|line| !line.starts_with('|')).collect::<Vec<_>>().join("\n");
        }
        for piece in if is_page { prose_of_markdown(&text) } else { split_code(&text).0 } {
            let words = flat(&piece.text);
            for (phrase, instead) in phrases.iter().filter(|(phrase, _)| has_phrase(&words, phrase)) {
                writeln!(wrong, "{}:{}: \"{phrase}\": write {instead}", name(&path), piece.line).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "phrases of scripts/style-words:\n{wrong}");
}

#[test]
fn phrases_are_found_across_lines_and_as_whole_words() {
    let found =
        |text: &str| split_code(text).0.iter().any(|piece| has_phrase(&flat(&piece.text), "by turns"));
    assert!(found("// They run by\n// Turns."));
    assert!(found("let a = '\"'; let b = \"by turns\";"));
    assert!(!found("// They run by turnstiles.\nlet by = turns;"));
    assert!(!found("let by = 1; // by\n\n// turns"));
    assert!(found("let a = r#\"x \" by turns\"#;"));
}
