//! Measures the nesting depth of a text on its tokens, before any parser runs.
//!
//! naga recurses into expressions and statements, and so do drivers' compilers: a sum of 16,000
//! terms would overflow the thread's stack and end the process. The bounds are those of WGSL or of
//! Chrome's compiler, far above hand-written code. Each count errs on the high side. Deep texts
//! within the bounds are processed by a thread with a large stack ([`on_stack`]): an unoptimised
//! naga 30 takes between 16 and 32 MiB for 511 `else if`.

use super::LinkError;

/// Nested blocks: WGSL's own bound on the nesting of brace-enclosed statements.
const MOST_BLOCKS: usize = 127;

/// Nested operators of an expression with everything around it: the bound of Tint. (Every open `<`
/// counts too, because it may begin a template list.)
const MOST_LEVELS: usize = 512;

/// Declarations at module scope: each may need the previous one.
const MOST_DECLARATIONS: usize = 8192;

/// Levels from which a text counts as deep. The library's own files stay below.
const DEEP: usize = 24;

/// Bytes of the stack for deep texts. (Untouched pages cost no memory.)
#[cfg(not(target_arch = "wasm32"))]
const STACK: usize = 128 << 20;

/// Processes a text on this thread or, if it is deep, on a thread with a large stack.
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

/// Browsers cannot start threads.
#[cfg(target_arch = "wasm32")]
pub(super) fn on_stack<T>(_deep: bool, work: impl FnOnce() -> T) -> Result<T, LinkError> {
    Ok(work())
}

/// An open parenthesis, bracket or brace.
#[derive(Clone, Copy, Default)]
struct Open {
    brace: bool,
    /// Operators since the last separator.
    operators: usize,
    /// `<` signs that may begin template lists.
    angles: usize,
}

/// Whether a text is deep. The error is a text that is too deep, with the line (from 1).
pub(super) fn check(text: &str) -> Result<bool, (u32, String)> {
    let mut open = vec![Open::default()];
    let (mut line, mut blocks, mut declarations, mut levels, mut deepest) = (1, 0, 0, 0_usize, 0);
    let mut rest = text;
    while let Some((token, after)) = token(rest) {
        line += token.lines;
        rest = after;
        let last = open.len() - 1;
        let here = &mut open[last];
        // Remove this level's part of `levels`; each arm adds the changed part again.
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
                    // Nothing is open: the parser reports it.
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
            format!("more than {MOST_BLOCKS} blocks are nested here")
        } else if levels > MOST_LEVELS {
            format!("an expression has more than {MOST_LEVELS} levels here; name its parts, or use a loop")
        } else if declarations > MOST_DECLARATIONS {
            format!("there are more than {MOST_DECLARATIONS} declarations; use an array, or fewer files")
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
    /// The number of lines before its end.
    pub(super) lines: u32,
}

/// The next token of a text, and the rest. A word, a number or a run of blanks is one token;
/// comments are skipped.
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
            // Operators of two characters count twice.
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

/// The end of a block comment, which may contain others.
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
    // Inside a multi-byte character there is neither.
    at
}

fn next_is_else(text: &str) -> bool {
    if let Some((Token { kind: Kind::Other, .. }, after)) = token(text) {
        let word = &text[..text.len() - after.len()];
        return word.rsplit(|c| !is_word(c)).next() == Some("else");
    }
    false
}
