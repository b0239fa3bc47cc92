//! How deep a text is nested, counted on its tokens before anything parses it.
//!
//! naga goes down into expressions and statements by recursion, and so do drivers' compilers: a sum
//! of 16,000 terms would overflow the stack of the thread and end the process. The bounds are those
//! of WGSL itself, or of Chrome's compiler, and far above what people write; each counts a little
//! too much rather than too little. What is within them and still deep is worked on by a thread
//! with a stack of its own ([`on_stack`]): not optimised, naga 30 takes between 16 and 32 MiB for
//! 511 `else if`.

use super::LinkError;

/// Blocks within each other: WGSL's own bound on the nesting of brace-enclosed statements.
const MOST_BLOCKS: usize = 127;

/// The operators that one expression, with all that it lies in, may have one below the other: as in
/// Tint. (Every `<` that is not closed counts, too: it may begin a template list.)
const MOST_LEVELS: usize = 512;

/// Declarations at module scope: each may need the one before.
const MOST_DECLARATIONS: usize = 8192;

/// Levels from which on a text is deep: the library's own files stay below.
const DEEP: usize = 24;

/// Of the stack for what is deep. (Memory that nobody touches is none.)
#[cfg(not(target_arch = "wasm32"))]
const STACK: usize = 128 << 20;

/// Does what has to do with a text on this thread, or, if it is deep, on one with stack enough.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn on_stack<T: Send>(deep: bool, work: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
    if !deep {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("deep WGSL".into()).stack_size(STACK);
        let worker = worker.spawn_scoped(scope, work);
        let worker = worker.map_err(|error| LinkError::Stack { reason: error.to_string() })?;
        Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// In browsers there are no threads to begin.
#[cfg(target_arch = "wasm32")]
pub(super) fn on_stack<T>(_deep: bool, work: impl FnOnce() -> T) -> Result<T, LinkError> {
    Ok(work())
}

/// What is open: a parenthesis, a bracket or a brace.
#[derive(Clone, Copy, Default)]
struct Open {
    brace: bool,
    /// Operators since the last separator.
    operators: usize,
    /// Of `<` that may be template lists.
    angles: usize,
}

/// Whether a text is deep. An error is what is too deep, and the line (from 1) where.
pub(super) fn check(text: &str) -> Result<bool, (u32, String)> {
    let mut open = vec![Open::default()];
    let (mut line, mut blocks, mut declarations, mut levels, mut deepest) = (1, 0, 0, 0_usize, 0);
    let mut rest = text;
    while let Some((token, after)) = token(rest) {
        line += token.lines;
        rest = after;
        let last = open.len() - 1;
        let here = &mut open[last];
        // Of `levels`, what stands here goes and comes back changed.
        levels -= here.operators + here.angles;
        match token.kind {
            Kind::Open(brace) => {
                levels += here.operators + here.angles + 1;
                blocks += usize::from(brace);
                open.push(Open { brace, ..Open::default() });
            }
            Kind::Close => {
                if last > 0 {
                    let closed = open.pop().unwrap_or_default();
                    blocks -= usize::from(closed.brace);
                    levels -= 1;
                    let here = &mut open[last - 1];
                    levels -= here.operators + here.angles;
                    let ends = closed.brace && !next_is_else(rest);
                    if closed.brace {
                        *here = Open {
                            brace: here.brace,
                            operators: if ends { 0 } else { here.operators + 1 },
                            angles: 0,
                        };
                    }
                    levels += here.operators + here.angles;
                    declarations += usize::from(ends && last == 1);
                } else {
                    // Nothing was open: the parser will say so.
                    levels += here.operators + here.angles;
                }
            }
            Kind::Comma => {
                here.operators = 0;
                levels += here.angles;
            }
            Kind::Semicolon => {
                *here = Open { brace: here.brace, ..Open::default() };
                declarations += usize::from(last == 0);
            }
            Kind::Less => {
                here.angles += 1;
                levels += here.operators + here.angles;
            }
            Kind::Greater => {
                match here.angles {
                    0 => here.operators += 1,
                    _ => here.angles -= 1,
                }
                levels += here.operators + here.angles;
            }
            Kind::Operator => {
                here.operators += 1;
                levels += here.operators + here.angles;
            }
            Kind::Other => levels += here.operators + here.angles,
        }
        deepest = deepest.max(levels);
        let what = if blocks > MOST_BLOCKS {
            format!("more than {MOST_BLOCKS} blocks lie in each other here")
        } else if levels > MOST_LEVELS {
            format!(
                "an expression has more than {MOST_LEVELS} levels here: give its parts names, or take a loop"
            )
        } else if declarations > MOST_DECLARATIONS {
            format!("there are more than {MOST_DECLARATIONS} declarations: take an array, or fewer files")
        } else {
            continue;
        };
        return Err((line, what));
    }
    Ok(deepest > DEEP || declarations > MOST_DECLARATIONS / 8)
}

pub(super) enum Kind {
    /// Whether it is a brace.
    Open(bool),
    Close,
    Comma,
    Semicolon,
    Less,
    Greater,
    Operator,
    Other,
}

pub(super) struct Token {
    pub(super) kind: Kind,
    /// How many lines lie before its end.
    pub(super) lines: u32,
}

/// The next token of a text, and what follows it. Words, numbers and blanks are one each; comments
/// are none.
pub(super) fn token(text: &str) -> Option<(Token, &str)> {
    let (mut rest, mut lines) = (text, 0);
    loop {
        let first = rest.chars().next()?;
        let one = first.len_utf8();
        let (kind, length) = match first {
            '\n' => {
                (lines, rest) = (lines + 1, &rest[1..]);
                continue;
            }
            ' ' | '\t' | '\r' => {
                rest = rest.trim_start_matches([' ', '\t', '\r']);
                continue;
            }
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                let end = comment_end(rest);
                lines += u32::try_from(rest[..end].matches('\n').count()).unwrap_or(u32::MAX);
                rest = &rest[end..];
                continue;
            }
            '(' | '[' => (Kind::Open(false), 1),
            '{' => (Kind::Open(true), 1),
            ')' | ']' | '}' => (Kind::Close, 1),
            ',' => (Kind::Comma, 1),
            ';' => (Kind::Semicolon, 1),
            '<' if rest.starts_with("<=") || rest.starts_with("<<") => (Kind::Operator, 2),
            '<' => (Kind::Less, 1),
            '>' => (Kind::Greater, 1),
            // Of two characters, each counts.
            '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '!' | '~' | '.' | '@' => (Kind::Operator, 1),
            '0'..='9' => (Kind::Other, rest.find(|c| !is_word(c) && c != '.').unwrap_or(rest.len())),
            first if is_word(first) => (Kind::Other, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
            _ => (Kind::Other, one),
        };
        return Some((Token { kind, lines }, &rest[length..]));
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a block comment ends, in which others may lie.
fn comment_end(text: &str) -> usize {
    let (bytes, mut depth, mut at) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    // Within a character there is neither.
    at
}

fn next_is_else(text: &str) -> bool {
    if let Some((Token { kind: Kind::Other, .. }, after)) = token(text) {
        let word = &text[..text.len() - after.len()];
        return word.rsplit(|c| !is_word(c)).next() == Some("else");
    }
    false
}
