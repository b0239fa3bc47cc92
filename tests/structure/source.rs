//! Reads the declarations, imports and paths of a Rust file, without code for tests or
//! documentation.

/// What a file declares and uses.
#[derive(Default)]
pub(crate) struct Source {
    /// Modules with a file of their own.
    pub(crate) modules: Vec<String>,
    /// Items that are defined here, at any depth except in functions.
    pub(crate) items: Vec<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths in code, each as its segments. A single segment is one that may name an import.
    pub(crate) paths: Vec<Vec<String>>,
}

/// One name of a `use` declaration.
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// The name here; `*` for all names.
    pub(crate) name: String,
    /// Whether it is `pub`, with any scope.
    pub(crate) is_reexport: bool,
}

const ITEM_KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

impl Source {
    pub(crate) fn parse(text: &str) -> Self {
        let tokens = without_tests(tokens(text));
        let mut source = Self::default();
        let mut at = 0;
        // Whether the declaration that begins here is public.
        let mut is_public = false;
        while at < tokens.len() {
            let token = tokens[at].as_str();
            let next = tokens.get(at + 1).map_or("", String::as_str);
            match token {
                "pub" => {
                    is_public = true;
                    at += 1;
                    if next == "(" {
                        at += tokens[at..].iter().position(|token| token == ")").unwrap() + 1;
                    }
                    continue;
                }
                "use" if is_public || at == 0 || [";", "}", "{", "]"].contains(&tokens[at - 1].as_str()) => {
                    at = source.read_use(&tokens, at + 1, &[], is_public);
                }
                "mod" if is_name(next) => {
                    let list = if tokens[at + 2] == ";" { &mut source.modules } else { &mut source.items };
                    list.push(next.to_owned());
                    at += 2;
                }
                "macro_rules" if next == "!" => {
                    source.items.push(tokens[at + 2].clone());
                    at += 3;
                }
                _ if ITEM_KEYWORDS.contains(&token) && is_name(next) => {
                    source.items.push(next.to_owned());
                    at += 2;
                }
                _ if is_name(token) => at = source.read_path(&tokens, at),
                _ => at += 1,
            }
            is_public = false;
        }
        source
    }

    /// Reads a tree of imports, and returns where it ends.
    fn read_use(&mut self, tokens: &[String], mut at: usize, prefix: &[String], is_reexport: bool) -> usize {
        let mut path = prefix.to_vec();
        loop {
            match tokens[at].as_str() {
                "::" => {
                    at += 1;
                    continue;
                }
                "{" => {
                    at += 1;
                    while tokens[at] != "}" {
                        at = self.read_use(tokens, at, &path, is_reexport);
                        at += usize::from(tokens[at] == ",");
                    }
                    return at + 1;
                }
                "*" => {
                    self.imports.push(Import { path, name: "*".into(), is_reexport });
                    return at + 1;
                }
                "self" if !path.is_empty() => at += 1,
                _ => {
                    path.push(tokens[at].clone());
                    at += 1;
                }
            }
            match tokens[at].as_str() {
                "::" => {}
                "as" => {
                    self.imports.push(Import { path, name: tokens[at + 1].clone(), is_reexport });
                    return at + 2;
                }
                _ => {
                    let name = path.last().unwrap().clone();
                    self.imports.push(Import { path, name, is_reexport });
                    return at;
                }
            }
        }
    }

    /// Reads a path in code, and returns where it ends.
    fn read_path(&mut self, tokens: &[String], start: usize) -> usize {
        let mut path = vec![tokens[start].clone()];
        let mut at = start + 1;
        while at + 1 < tokens.len() && tokens[at] == "::" && is_name(&tokens[at + 1]) {
            path.push(tokens[at + 1].clone());
            at += 2;
        }
        let is_member = start > 0 && [".", "::"].contains(&tokens[start - 1].as_str());
        // A single name in lower case may be an import only if it is called; others are variables.
        let is_variable = path.len() == 1
            && path[0].starts_with(|first: char| first.is_lowercase() || first == '_')
            && !tokens.get(at).is_some_and(|next| next == "(" || next == "!");
        if !is_member && !is_variable {
            self.paths.push(path);
        }
        at
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Names, `::` and single characters, without comments, strings, characters, lifetimes and numbers.
fn tokens(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    let get = |at: usize| text.get(at).copied().unwrap_or('\n');
    let is_word = |symbol: char| symbol.is_alphanumeric() || symbol == '_';
    while at < text.len() {
        let symbol = text[at];
        match (symbol, get(at + 1)) {
            ('/', '/') => {
                while at < text.len() && text[at] != '\n' {
                    at += 1;
                }
            }
            ('/', '*') => at = after_comment(&text, at),
            ('"', _) => at = after_string(&text, at),
            ('r', '"') => at = after_raw_string(&text, at + 1),
            ('r', '#') if ['"', '#'].contains(&get(at + 2)) => at = after_raw_string(&text, at + 1),
            ('b', '"') => at = after_string(&text, at + 1),
            ('b', '\'') => at = after_character(&text, at + 1),
            ('\'', '\\') => at = after_character(&text, at),
            ('\'', _) if get(at + 2) == '\'' => at += 3,
            ('\'', _) => {
                at += 1;
                while is_word(get(at)) {
                    at += 1;
                }
            }
            (':', ':') => {
                tokens.push("::".into());
                at += 2;
            }
            _ if is_word(symbol) => {
                let start = at;
                while is_word(get(at)) {
                    at += 1;
                }
                if !symbol.is_ascii_digit() {
                    tokens.push(text[start..at].iter().collect());
                }
            }
            _ => {
                if !symbol.is_whitespace() {
                    tokens.push(symbol.into());
                }
                at += 1;
            }
        }
    }
    tokens
}

fn after_comment(text: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    loop {
        match (text[at], text[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
}

fn after_string(text: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn after_raw_string(text: &[char], start: usize) -> usize {
    let hashes = text[start..].iter().take_while(|symbol| **symbol == '#').count();
    let mut at = start + hashes + 1;
    while text[at] != '"' || !text[at + 1..].starts_with(&vec!['#'; hashes]) {
        at += 1;
    }
    at + 1 + hashes
}

fn after_character(text: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while text[at] != '\'' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Removes items and fields under `#[cfg(test)]` or `#[cfg(doc)]`.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mut left = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if !is_left_out(&tokens[at..]) {
            left.push(tokens[at].clone());
            at += 1;
            continue;
        }
        while tokens[at] == "#" {
            at = after_brackets(&tokens, at + 1);
        }
        let is_item = tokens[at..].iter().take(6).any(|token| {
            ITEM_KEYWORDS.contains(&token.as_str())
                || ["mod", "use", "impl", "macro_rules"].contains(&token.as_str())
        });
        loop {
            match tokens[at].as_str() {
                ";" => break at += 1,
                "," if !is_item => break at += 1,
                "{" => break at = after_brackets(&tokens, at),
                "(" | "[" => at = after_brackets(&tokens, at),
                "}" => break,
                _ => at += 1,
            }
        }
    }
    left
}

fn is_left_out(tokens: &[String]) -> bool {
    let start = ["#", "[", "cfg", "("];
    tokens.len() > 6
        && tokens.iter().zip(start).all(|(token, wanted)| token == wanted)
        && (tokens[4] == "test" || tokens[4] == "doc" || (tokens[4] == "all" && tokens[6] == "test"))
}

/// The position after the brackets that open at `at`.
fn after_brackets(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (number, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return number + 1;
        }
    }
    panic!("brackets that are not closed");
}
