//! Comments are wrapped, and comments, messages and pages are free of the phrases in
//! `scripts/style-words`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

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

/// The comments and string literals of Rust or WGSL. Comments on consecutive lines are one piece.
fn prose_of_code(text: &str) -> Vec<Prose> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut line): (Vec<Prose>, usize, usize) = (Vec::new(), 0, 1);
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
            rest.chars().next().map_or(1, char::len_utf8)
        };
        line += text[at..at + length].matches('\n').count();
        at += length;
    }
    found
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
            let columns = line.chars().count();
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

#[test]
fn phrases_of_the_list_are_not_used() {
    let list = root().join("scripts/style-words");
    let list = fs::read_to_string(list).unwrap();
    let phrases: Vec<(String, &str)> = list
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            line.split_once("=>").unwrap_or_else(|| panic!("scripts/style-words: `{line}` has no =>"))
        })
        .map(|(phrase, instead)| (flat(phrase), instead.trim()))
        .collect();
    let mut wrong = String::new();
    for path in files(&["rs", "wgsl", "md"]) {
        let mut text = fs::read_to_string(&path).unwrap();
        let is_page = path.extension().is_some_and(|it| it == "md");
        if path.ends_with("CHANGELOG.md") {
            // Its table lists the retired names.
            text = text.lines().filter(|line| !line.starts_with('|')).collect::<Vec<_>>().join("\n");
        }
        for piece in if is_page { prose_of_markdown(&text) } else { prose_of_code(&text) } {
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
        |text: &str| prose_of_code(text).iter().any(|piece| has_phrase(&flat(&piece.text), "by turns"));
    assert!(found("// They run by\n// Turns."));
    assert!(found("let a = '\"'; let b = \"by turns\";"));
    assert!(!found("// They run by turnstiles.\nlet by = turns;"));
    assert!(!found("let by = 1; // by\n\n// turns"));
    assert!(found("let a = r#\"x \" by turns\"#;"));
}
