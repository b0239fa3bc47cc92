//! A namespace for user files. A module-scope name of a user file that the library also declares,
//! or calls in WGSL, is renamed before naga reads it. The new name has the same length, so lines
//! and columns stay.

use std::collections::HashSet;
use std::ops::Range;

use super::depth::{Kind, Token, is_word, token};

/// WGSL functions that the library calls, in addition to those that start with one of [`FAMILIES`].
const BUILT_IN: [&str; 14] = [
    "select",
    "min",
    "max",
    "all",
    "any",
    "abs",
    "clamp",
    "bitcast",
    "countLeadingZeros",
    "countTrailingZeros",
    "countOneBits",
    "firstLeadingBit",
    "firstTrailingBit",
    "arrayLength",
];

/// Prefixes of families of WGSL functions that the library calls.
const FAMILIES: [&str; 3] = ["atomic", "workgroup", "subgroup"];

/// WGSL types: signatures of contracts use them.
const TYPES: [&str; 12] =
    ["bool", "i32", "u32", "f32", "i64", "u64", "vec2", "vec3", "vec4", "array", "atomic", "ptr"];

/// Whether the library calls a WGSL function by this name.
fn is_built_in(name: &str) -> bool {
    BUILT_IN.contains(&name)
        || FAMILIES.iter().any(|family| {
            name.strip_prefix(family).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        })
}

/// A file's part of a joined text.
pub(super) struct FilePart {
    range: Range<usize>,
    library: bool,
    /// The places of its module-scope names, and whether they name types.
    pub(super) declared: Vec<(bool, Range<usize>)>,
}

impl FilePart {
    /// The part of a text from a place to its end.
    pub(super) fn new(text: &str, begin: usize, library: bool) -> Self {
        let declared = declared(&text[begin..]);
        let declared = declared.map(|(is_type, name)| (is_type, begin + name.start..begin + name.end));
        Self { range: begin..text.len(), library, declared: declared.collect() }
    }
}

/// User names that were changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Renamed(Vec<(String, String)>);

impl Renamed {
    /// A message with the original user names.
    pub(super) fn restored(&self, text: String) -> String {
        if self.0.is_empty() {
            return text;
        }
        let mut restored = String::with_capacity(text.len());
        for piece in text.split_inclusive(|c| !is_word(c)) {
            let word = piece.trim_end_matches(|c| !is_word(c));
            let old = self.0.iter().find(|(new, _)| new == word);
            restored += old.map_or(word, |(_, old)| old);
            restored += &piece[word.len()..];
        }
        restored
    }
}

/// Renames user names that the library has, too.
///
/// # Errors
/// The place of the first type in a user file with the name of a WGSL type, because it would change
/// signatures.
pub(super) fn separate(text: &mut String, parts: &[FilePart]) -> Result<Renamed, Range<usize>> {
    if parts.iter().all(|part| part.library) || parts.iter().all(|part| !part.library) {
        return Ok(Renamed::default());
    }
    let of = |library: bool| {
        parts.iter().filter(move |part| part.library == library).flat_map(|part| &part.declared)
    };
    let library: HashSet<&str> = of(true).map(|(_, name)| &text[name.clone()]).collect();
    let is_wgsls = |name: &str| TYPES.contains(&name);
    if let Some((_, name)) = of(false).find(|(is_type, name)| *is_type && is_wgsls(&text[name.clone()])) {
        return Err(name.clone());
    }
    let collide = |name: &&str| library.contains(name) || is_wgsls(name) || is_built_in(name);
    let mut colliding: Vec<_> = of(false).map(|(_, name)| &text[name.clone()]).filter(collide).collect();
    if colliding.is_empty() {
        return Ok(Renamed::default());
    }
    colliding.sort_unstable();
    colliding.dedup();
    let taken: HashSet<&str> = words(text).map(|word| &text[word.range]).collect();
    let mut pairs = Vec::new();
    for old in colliding {
        if let Some(new) = another(old, &taken) {
            pairs.push((new, old.to_owned()));
        }
    }
    let users = parts.iter().filter(|part| !part.library);
    let places: Vec<_> = users.flat_map(|part| uses(text, &part.range, &pairs)).collect();
    for (place, pair) in places {
        text.replace_range(place, &pairs[pair].0);
    }
    Ok(Renamed(pairs))
}

/// A free name with the same length as this one.
fn another(old: &str, taken: &HashSet<&str>) -> Option<String> {
    let (short, shorter) = (&old[..old.len() - 1], old.len().checked_sub(2).map(|end| &old[..end]));
    let ones = ('0'..='9').chain('a'..='z').chain('A'..='Z').map(|last| format!("{short}{last}"));
    let twos = (0..100).filter_map(|last| Some(format!("{}{last:02}", shorter?)));
    let free = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && !taken.contains(&**name)
            && !TYPES.contains(&&**name)
            && !is_built_in(name)
    };
    ones.chain(twos).find(free)
}

/// A word of a text.
struct Word {
    range: Range<usize>,
    /// The character before it.
    before: char,
    /// The number of enclosing braces.
    blocks: usize,
}

/// The words of a text that are not in comments.
fn words(text: &str) -> impl Iterator<Item = Word> {
    let (mut rest, mut before, mut blocks) = (text, ' ', 0_usize);
    std::iter::from_fn(move || {
        while let Some((Token { kind, .. }, after)) = token(rest) {
            rest = after;
            let end = text.len() - after.len();
            let last = text[..end].chars().next_back().unwrap_or(' ');
            match kind {
                Kind::Open(true) => blocks += 1,
                Kind::Close if last == '}' => blocks = blocks.saturating_sub(1),
                _ => {}
            }
            if is_word(last) {
                let length = text[..end].rsplit(|c| !is_word(c)).next().map_or(0, str::len);
                let word = Word { range: end - length..end, before, blocks };
                before = last;
                return Some(word);
            }
            before = last;
        }
        None
    })
}

/// The places of a file's module-scope names, and whether they name types.
fn declared(text: &str) -> impl Iterator<Item = (bool, Range<usize>)> {
    let mut keyword = "";
    words(text).filter_map(move |word| {
        let name = &text[word.range.clone()];
        if word.blocks > 0 {
            keyword = "";
            return None;
        }
        match keyword {
            "" => {
                if ["fn", "struct", "alias", "const", "override", "var"].contains(&name) {
                    keyword = name;
                }
                None
            }
            // In `var<storage, read_write> name`, the words between the angles.
            "var" if ['<', ','].contains(&word.before) => None,
            _ => {
                let is_type = ["struct", "alias"].contains(&keyword);
                keyword = "";
                Some((is_type, word.range))
            }
        }
    })
}

/// The places where a file uses names of the pairs, and the names. Address spaces and access modes
/// are not such names: no library file declares one.
fn uses(text: &str, part: &Range<usize>, pairs: &[(String, String)]) -> Vec<(Range<usize>, usize)> {
    let text = &text[part.clone()];
    let (mut last, mut in_struct) = ("", false);
    let mut found = Vec::new();
    for word in words(text) {
        let name = &text[word.range.clone()];
        if word.blocks == 0 {
            in_struct = name == "struct" || (in_struct && last == "struct");
        }
        last = name;
        let Some(pair) = pairs.iter().position(|(_, old)| old == name) else { continue };
        let is_declared = || in_struct && word.blocks == 1 && next(&text[word.range.end..]) == Some(':');
        if !['.', '@'].contains(&word.before) && !is_declared() {
            found.push((part.start + word.range.start..part.start + word.range.end, pair));
        }
    }
    found
}

/// The first character of a text after blanks and comments, if it is not part of a word.
fn next(text: &str) -> Option<char> {
    let (_, rest) = token(text)?;
    text[..text.len() - rest.len()].chars().next_back().filter(|last| !is_word(*last))
}

#[cfg(test)]
pub(super) mod tests {
    use crate::gpu::{LinkError, Program, Source};

    /// The words of a text, with adjacent characters and the number of braces.
    pub(in crate::gpu) fn tokens(text: &str) -> impl Iterator<Item = (&str, char, Option<char>, usize)> {
        super::words(text).map(|super::Word { range, before, blocks }| {
            (&text[range.clone()], before, super::next(&text[range.end..]), blocks)
        })
    }

    /// The names that a text declares at module scope.
    pub(in crate::gpu) fn declarations(text: &str) -> impl Iterator<Item = &str> {
        super::declared(text).map(|(_, name)| &text[name])
    }

    const LIBRARY: &str = "struct Event { leave: u32 }
fn leave(at: u32) -> u32 { return min(at, 7u); }
fn gather(event: Event) -> u32 { return leave(event.leave); }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() { out[0] = handle(Event(u32(f32(gather(Event(1u)))))); }
";

    fn link(model: &str) -> Result<Program, LinkError> {
        let files = [
            Source::library("shaders/library.wgsl", LIBRARY),
            Source::new("mine/model.wgsl", model.to_owned()),
        ];
        Program::link("names", &files)
    }

    #[test]
    fn what_users_declare_collides_with_nothing_of_the_librarys() {
        for declared in [
            "fn leave(a: f32) -> f32 { return a; } const gather = 3u; var<private> out: u32;",
            "fn min(a: u32, b: u32) -> u32 { return a * b; } fn f32(a: u32) -> u32 { return vec2(a); \
            } fn vec2(a: u32) -> u32 { return a; }",
            "struct leave { leave: u32, gather: leave_1 } struct leave_1 { read: u32 } fn main(out: \
            leave) -> u32 { return out.leave; }",
            "struct store { min: u32 }\nfn leave(leave: ptr<function, store>) { (*leave).min = 3u; }",
        ] {
            let handle = "fn handle(event: Event) -> u32 { /* leave */ let a = event.leave; return a; }\n";
            for text in [format!("{declared}\n{handle}"), format!("{handle}{declared}")] {
                link(&text).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        // The model calls its own `min`, the library WGSL's.
        let model = "fn min(a: u32, b: u32) -> u32 { return a - b; } fn handle(e: Event) -> u32 { return \
            min(e.leave, 2u); }";
        let program = link(model).unwrap();
        let own = program.module().functions.iter().find(|(_, function)| {
            function.name.as_deref().is_some_and(|name| name.starts_with("mi") && name != "min")
        });
        assert!(own.is_some() && program.text().contains("return min(at, 7u)"), "{}", program.text());
    }

    /// Text that resembles a template or hides a member's colon.
    #[test]
    fn names_after_a_less_sign_and_members_with_comments_are_separated() {
        let library = "const LIMIT = 7u; fn leave() -> u32 { return LIMIT; }
@compute @workgroup_size(1) fn main() { _ = handle(leave()); }
";
        let link = |model: &str| {
            let files = [Source::library("l.wgsl", library), Source::new("m.wgsl", model.to_owned())];
            Program::link("names", &files).unwrap_or_else(|error| panic!("{error}"))
        };
        for (model, own) in [
            ("const LIMIT = 3u; fn handle(ptr: u32) -> bool { return ptr < LIMIT; }", "ptr < LIMI0"),
            (
                "const LIMIT = 3u; fn f(a: u32, b: u32) -> bool { return a < b; } \
                fn handle(storage: u32) -> bool { return f(storage, LIMIT); }",
                "LIMI0)",
            ),
            (
                "struct S { @align(16) LIMIT /* the most: */ : u32, leave // when
                : u32 } const LIMIT = 3u; fn leave(s: S) -> u32 { return s.leave + s . LIMIT + LIMIT; } \
                fn handle(a: u32) -> bool { return leave(S(a, a)) < LIMIT; }",
                "@align(16) LIMIT /* the most: */ : u32, leave",
            ),
        ] {
            let program = link(model);
            assert!(program.text().contains(own), "{own}: {}", program.text());
        }
        let of_templates =
            ["function", "private", "workgroup", "uniform", "storage", "read", "write", "read_write"];
        for (name, text) in crate::shaders::texts() {
            assert!(declarations(text).all(|declared| !of_templates.contains(&declared)), "{name}");
        }
    }

    #[test]
    fn messages_have_the_names_and_places_of_the_users() {
        let model = "fn leave(a: u32) -> u32 { return a; }\nfn handle(event: Event) -> u32 { let a = 1u; \
            return leave(a, 2u) + gather; }\nfn gather() {}\n";
        let error = link(model).unwrap_err();
        let LinkError::Wgsl { file, line: 2, library: false, .. } = &error else { panic!("{error}") };
        let said = error.to_string();
        assert!(file == "mine/model.wgsl" && said.contains("return leave(a, 2u) + gather;"), "{said}");
        assert!(!said.contains("leav0") && !said.contains("gathe0"), "{said}");
    }

    #[test]
    fn types_of_wgsls_keep_their_names() {
        for (declared, name) in [
            ("alias u32 = i32;", "u32"),
            ("struct u32 { a: i32 }", "u32"),
            ("struct vec2 { a: i32 }", "vec2"),
        ] {
            let text = format!("// A model.\n{declared}\nfn handle(event: Event) -> u32 {{ return 1; }}\n");
            let error = link(&text).unwrap_err();
            let LinkError::Forbidden { file, line: 2, what, remedy, .. } = &error else { panic!("{error}") };
            assert_eq!((file.as_str(), remedy.as_str()), ("mine/model.wgsl", "Rename the declaration"));
            assert!(what.contains(&format!("`{name}`")), "{what}");
        }
    }

    /// [`super::BUILT_IN`] has the WGSL functions that the library calls, except for those that a
    /// model's file may have to declare.
    #[test]
    fn functions_of_wgsls_that_the_library_calls_are_known() {
        let every = "all any select arrayLength abs acos asin atan ceil clamp cos countLeadingZeros countOneBits \
            countTrailingZeros cross determinant distance dot exp exp2 extractBits faceForward firstLeadingBit \
            firstTrailingBit floor fma fract insertBits log log2 max min mix modf normalize pow reverseBits \
            round sign sin sqrt tan trunc bitcast transpose pack2x16float unpack2x16float";
        for (name, text) in crate::shaders::texts() {
            let code: String = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
            for called in every.split_whitespace() {
                let at = code.match_indices(called).filter(|(at, _)| {
                    let before = code[..*at].chars().next_back().unwrap_or(' ');
                    let after = code[at + called.len()..].chars().next().unwrap_or(' ');
                    !super::is_word(before) && before != '.' && ['(', '<'].contains(&after)
                });
                let declared = code.contains(&format!("fn {called}("));
                let floats = name.starts_with("shaders/self_test");
                assert!(
                    at.count() == 0 || declared || floats || super::is_built_in(called),
                    "{name}: {called}"
                );
            }
        }
    }
}
