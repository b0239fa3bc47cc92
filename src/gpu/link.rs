//! Joins WGSL files into one module, records the origin of each line, and lets naga check the
//! result.
//!
//! A kernel is linked from files, not generated from text (except for three lines: `words.rs`). The
//! linker reads four kinds of comments at the top of a file:
//!
//! ```wgsl
//! // import: random/philox.wgsl      another file of the library; joined once, however often it is named
//! // requires: int64                 the file needs a device feature: `int64` or `subgroups`
//! // provides: queue_pop, queue_push what other files use without an import; in files of the library alone
//! // needs: Item, event_before       what it uses of files that it does not import: one of several, or the model
//! ```
//!
//! WGSL needs no declaration order, so *a choice is a file*: two files with the same functions are
//! alternatives, and the caller links one of them.

use std::collections::HashSet;
use std::fmt::Write as _;

use naga::Statement;
use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::linked_text::{LinkedText, Origin};
use super::{LinkError, Source, depth, names, words};
use crate::text::{around, cut, quoted};

/// A place in a file that was joined.
pub(super) struct SourceLocation {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) library: bool,
}

/// A checked WGSL module with the map back to its files.
#[derive(Debug)]
pub struct Program {
    name: String,
    text: String,
    /// The text for devices, if it differs: structs are read and written by rows.
    by_rows: Option<String>,
    files: Vec<Source>,
    lines: Vec<Origin>,
    features: wgpu::Features,
    module: naga::Module,
    /// The module-scope variables of each entry point, in the module's order.
    used: Vec<Vec<naga::Handle<naga::GlobalVariable>>>,
    /// Whether parsing or compiling needs a thread with a large stack.
    deep: bool,
    /// User names that the text replaces.
    renamed: names::Renamed,
}

impl Program {
    /// Joins `sources` with all their imports, each file once, and checks the result.
    ///
    /// # Errors
    /// [`LinkError`], with file and line of the faulty piece.
    pub fn link(name: &str, sources: &[Source]) -> Result<Self, LinkError> {
        Self::joined(name, sources, true)
    }

    /// The same for code of the CPU alone: it may be larger than drivers compile.
    ///
    /// # Errors
    /// As [`Program::link`].
    pub(crate) fn link_for_cpu(name: &str, sources: &[Source]) -> Result<Self, LinkError> {
        Self::joined(name, sources, false)
    }

    fn joined(name: &str, sources: &[Source], for_drivers: bool) -> Result<Self, LinkError> {
        let LinkedText { mut text, files, parts, lines, features, .. } = LinkedText::of(sources)?;
        let (module, used) = (naga::Module::default(), Vec::new());
        let (by_rows, deep) = (None, false);
        let name = name.to_owned();
        let (renamed, taken) = match names::separate(&mut text, &parts) {
            Ok(renamed) => (renamed, None),
            Err(place) => (names::Renamed::default(), Some(place)),
        };
        let mut program = Self { name, text, by_rows, files, lines, features, module, used, deep, renamed };
        if let Some(place) = taken {
            return Err(program.takes_a_type(place));
        }
        program.deep = match depth::check(&program.text) {
            Ok(deep) => deep,
            Err((line, what)) => return Err(program.too_deep(line, what)),
        };
        depth::on_stack(program.deep, move || program.parsed(for_drivers))?
    }

    /// Adds the parsed module.
    fn parsed(mut self, for_drivers: bool) -> Result<Self, LinkError> {
        self.parse()?;
        if for_drivers {
            self.check_size()?;
        }
        self.by_rows = words::by_rows(&self.module, &self.text);
        let right = |text: &String| naga::front::wgsl::parse_str(text).is_ok();
        debug_assert!(self.by_rows.as_ref().is_none_or(right), "what the linker writes is WGSL");
        Ok(self)
    }

    fn parse(&mut self) -> Result<(), LinkError> {
        let features = self.features;
        self.module = naga::front::wgsl::parse_str(&self.text).map_err(|error| {
            let labels: Vec<_> = error.labels().map(|(span, text)| (span, text.to_owned())).collect();
            self.report(error.message().to_owned(), &labels, error.notes())
        })?;
        let mut capabilities = Capabilities::default();
        capabilities.set(Capabilities::SHADER_INT64, features.contains(wgpu::Features::SHADER_INT64));
        capabilities.set(Capabilities::SUBGROUP, features.contains(wgpu::Features::SUBGROUP));
        let mut validator = Validator::new(ValidationFlags::all(), capabilities);
        let info = validator.validate(&self.module).map_err(|error| {
            let mut message = error.as_inner().to_string();
            let mut cause = std::error::Error::source(error.as_inner());
            while let Some(inner) = cause {
                let _ = write!(message, ": {inner}");
                cause = inner.source();
            }
            let labels: Vec<_> = error.spans().map(|(span, text)| (*span, text.clone())).collect();
            self.report(message, &labels, std::iter::empty())
        })?;
        let entries = 0..self.module.entry_points.len();
        self.used = entries
            .map(|entry| {
                let uses = info.get_entry_point(entry);
                let globals = self.module.global_variables.iter().map(|(handle, _)| handle);
                globals.filter(|&handle| !uses[handle].is_empty()).collect()
            })
            .collect();
        Ok(())
    }

    /// The name in error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The joined text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text for devices. Its lines are the same, except that structs in buffers are read and
    /// written by 16 or 8 bytes (`words.rs`).
    pub fn device_text(&self) -> &str {
        self.by_rows.as_ref().unwrap_or(&self.text)
    }

    /// The text for browsers: with the `enable` lines that naga rejects and WebGPU requires.
    pub fn standard_text(&self) -> String {
        format!("{}{}", self.enables(), self.device_text())
    }

    fn enables(&self) -> &'static str {
        if self.features.contains(wgpu::Features::SUBGROUP) { "enable subgroups;\n" } else { "" }
    }

    /// The error of a browser's compiler for [`Program::standard_text`], with file and line of the
    /// faulty piece. (It is sometimes stricter than naga.)
    #[cfg(target_arch = "wasm32")]
    pub(super) fn refusal(
        &self,
        module: wgpu::ShaderModule,
    ) -> impl Future<Output = Option<super::GpuError>> + 'static {
        let (before, name, text) = (self.enables().len(), self.name.clone(), self.device_text().to_owned());
        let (files, lines, features) = (self.files.clone(), self.lines.clone(), self.features);
        let (parsed, used) = (naga::Module::default(), Vec::new());
        let (by_rows, deep, renamed) = (None, false, self.renamed.clone());
        let program =
            Self { name, text, by_rows, files, lines, features, module: parsed, used, deep, renamed };
        async move {
            let said = module.get_compilation_info().await.messages;
            let errors =
                said.into_iter().filter(|said| said.message_type == wgpu::CompilationMessageType::Error);
            let mut all = Vec::new();
            let mut first = None;
            for error in errors {
                let begin = error.location.map(|place| (place.offset as usize).saturating_sub(before));
                let begin = begin.map_or(usize::MAX, |begin| program.text.floor_char_boundary(begin));
                let length = error.location.map_or(0, |place| place.length as usize);
                let end = program.text.floor_char_boundary(begin.saturating_add(length));
                let span = match (u32::try_from(begin), u32::try_from(end)) {
                    (Ok(begin), Ok(end)) if begin < end => naga::Span::new(begin, end),
                    (Ok(begin), _) if (begin as usize) < program.text.len() => {
                        naga::Span::new(begin, begin + 1)
                    }
                    _ => naga::Span::UNDEFINED,
                };
                all.push((span, if first.is_none() { String::new() } else { error.message.clone() }));
                first.get_or_insert(error.message);
            }
            let first = first?;
            Some(program.report(first, &all, std::iter::empty()).into())
        }
    }

    /// Whether compiling needs a thread with a large stack: [`depth::on_stack`].
    pub(super) fn is_deep(&self) -> bool {
        self.deep
    }

    /// The features that a device needs to run this.
    pub fn features(&self) -> wgpu::Features {
        self.features
    }

    /// The module of the joined text, for reflection. Devices get [`Program::device_text`].
    pub fn module(&self) -> &naga::Module {
        &self.module
    }

    /// The module-scope variables that an entry point or its callees use; empty if there is no such
    /// entry point.
    pub fn used(&self, entry: &str) -> impl Iterator<Item = &naga::GlobalVariable> {
        let number = self.module.entry_points.iter().position(|point| point.name == entry);
        let handles = number.map_or(&[][..], |number| &self.used[number]);
        handles.iter().map(|&handle| &self.module.global_variables[handle])
    }

    /// The original file and line of a line of the joined text (from 1).
    pub fn origin(&self, joined_line: u32) -> Option<(&str, u32)> {
        let Origin { file, line } = self.place(joined_line)?;
        Some((self.files[file].name(), line))
    }

    fn place(&self, joined_line: u32) -> Option<Origin> {
        self.lines.get(usize::try_from(joined_line).ok()?.checked_sub(1)?).copied()
    }

    /// Whether a line of the joined text comes from a user file.
    pub(super) fn is_users(&self, joined_line: u32) -> bool {
        self.place(joined_line).is_some_and(|Origin { file, .. }| !self.files[file].is_library())
    }

    /// Whether an entry point or one of its callees has a loop in a user file.
    pub(super) fn users_loop(&self, entry: &str) -> bool {
        let point = self.module.entry_points.iter().find(|point| point.name == entry);
        let (mut blocks, mut called) = (Vec::new(), HashSet::new());
        blocks.extend(point.map(|point| &point.function.body));
        while let Some(block) = blocks.pop() {
            for (statement, span) in block.span_iter() {
                match statement {
                    Statement::Loop { .. } if self.is_users(span.location(&self.text).line_number) => {
                        return true;
                    }
                    Statement::Loop { body, continuing, .. } => blocks.extend([body, continuing]),
                    Statement::If { accept, reject, .. } => blocks.extend([accept, reject]),
                    Statement::Switch { cases, .. } => blocks.extend(cases.iter().map(|case| &case.body)),
                    Statement::Block(inner) => blocks.push(inner),
                    Statement::Call { function, .. } if called.insert(*function) => {
                        blocks.push(&self.module.functions[*function].body);
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// The error of a user declaration, at this place of the joined text, with the name of a WGSL
    /// type.
    pub(super) fn takes_a_type(&self, place: std::ops::Range<usize>) -> LinkError {
        let what =
            format!("`{}` is the name of a type of WGSL that the engine uses", &self.text()[place.clone()]);
        let span = |at| u32::try_from(at).unwrap_or(u32::MAX);
        let span = naga::Span::new(span(place.start), span(place.end));
        self.forbidden(span, what, "Rename the declaration".to_owned())
    }

    /// The error of forbidden user code.
    pub(super) fn forbidden(&self, span: naga::Span, what: String, remedy: String) -> LinkError {
        let (place, report) = self.mark(span, "").unzip();
        let here = || SourceLocation { file: self.name().to_owned(), line: 1, column: 1, library: false };
        let SourceLocation { file, line, column, .. } = place.unwrap_or_else(here);
        let (what, report) = (self.restored(what), report.unwrap_or_default());
        LinkError::Forbidden { file, line, column, what, remedy, report }
    }

    /// File, line and column of a place in the joined text, and the line with a mark.
    pub(super) fn mark(&self, span: naga::Span, label: &str) -> Option<(SourceLocation, String)> {
        if !span.is_defined() {
            return None;
        }
        let at = span.location(&self.text);
        let Origin { file, line } = self.place(at.line_number)?;
        let (file, library, text) =
            (self.files[file].name(), self.files[file].is_library(), self.files[file].text());
        // The line as the user wrote it.
        let text = text.lines().nth(line as usize - 1).unwrap_or("");
        let (text, indent) = around(text, at.line_position as usize - 1);
        let marks = (at.length as usize).clamp(1, text.len().saturating_sub(indent).max(1));
        let mut marked = format!("  --> {file}:{line}:{}\n{line:5} | {text}\n", at.line_position);
        let mark = format!("{}{} {}", " ".repeat(indent), "^".repeat(marks), quoted(label));
        let _ = writeln!(marked, "      | {}", mark.trim_end());
        let (file, column) = (file.to_owned(), at.line_position);
        Some((SourceLocation { file, line, column, library }, marked))
    }

    /// A message with the original user names.
    pub(super) fn restored(&self, message: String) -> String {
        self.renamed.restored(message)
    }

    /// The error of a line that is nested too deeply to parse.
    fn too_deep(&self, joined_line: u32, message: String) -> LinkError {
        self.report(message, &[(self.line(joined_line), String::new())], std::iter::empty())
    }

    /// The begin of a line of the joined text (from 1; 0 is no line).
    pub(super) fn line(&self, joined_line: u32) -> naga::Span {
        let Some(before) = (joined_line as usize).checked_sub(1) else { return naga::Span::UNDEFINED };
        let begin = self.text.split_inclusive('\n').take(before).map(str::len).sum::<usize>();
        u32::try_from(begin).map_or(naga::Span::UNDEFINED, |begin| naga::Span::new(begin, begin + 1))
    }

    fn report<'n>(
        &self,
        message: String,
        labels: &[(naga::Span, String)],
        notes: impl Iterator<Item = &'n str>,
    ) -> LinkError {
        let message = self.restored(message);
        let mut report = String::new();
        let mut place = None;
        for (span, label) in labels {
            let label = &self.restored(label.clone());
            if let Some((at, marked)) = self.mark(*span, label) {
                place.get_or_insert(at);
                report += &marked;
            }
        }
        for note in notes {
            let _ = writeln!(report, "  note: {}", quoted(&self.restored(note.to_owned())));
        }
        // An error without a place, such as a type that is too large, is rarely in the library.
        let here = || {
            let users = self.files.iter().find(|file| !file.is_library()).map_or(&*self.name, Source::name);
            SourceLocation { file: users.to_owned(), line: 1, column: 1, library: false }
        };
        let SourceLocation { file, line, column, library } = place.unwrap_or_else(here);
        let message = match message.split('`').nth(1).and_then(crate::shaders::importable) {
            Some(path) if !library && message.starts_with("no definition in scope") => {
                format!("{message} (add a line `// import: {path}`)")
            }
            // naga may quote source text, and the reason comes last.
            _ => cut(&message, 1000),
        };
        LinkError::Wgsl { file, line, column, library, message, report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(sources: &[Source]) -> (String, u32, String) {
        match Program::link("test", sources) {
            Err(LinkError::Wgsl { file, line, message, report, .. }) => {
                (file, line, format!("{message}\n{report}"))
            }
            other => panic!("expected a WGSL error, got {other:?}"),
        }
    }

    #[test]
    fn loops_of_users_are_those_that_an_entry_point_comes_to() {
        let library = Source::library(
            "shaders/library.wgsl",
            "fn sum(n: u32) -> u32 {\n    var s = 0u;\n    for (var i = 0u; i < n; i++) { s += twice(i); }\n    return s;\n}\n",
        );
        let entry =
            |name: &str, body: &str| format!("@compute @workgroup_size(1) fn {name}() {{ {body} }}\n");
        let user = [
            "fn twice(n: u32) -> u32 { return 2u * n; }\n".to_owned(),
            "fn deep(n: u32) -> u32 {\n    switch n {\n        case 0u: { return 1u; }\n        default: { if n > 3u { while n == 7u { } } }\n    }\n    return 0u;\n}\n".to_owned(),
            entry("plain", "_ = sum(3u);"),
            entry("looped", "_ = sum(3u); _ = deep(2u);"),
        ];
        let program = Program::link("test", &[library, Source::new("model.wgsl", user.concat())]).unwrap();
        assert_eq!(["plain", "looped", "none"].map(|entry| program.users_loop(entry)), [false, true, false]);
    }

    #[test]
    fn a_file_is_joined_once() {
        let one = Source::new("one.wgsl", "const ONE = 1u;\n");
        let program = Program::link("test", &[one.clone(), one]).unwrap();
        assert_eq!(program.text(), "const ONE = 1u;\n");
    }

    #[test]
    fn a_parse_error_points_at_the_users_file_and_line() {
        let library = Source::new("library.wgsl", "fn fine() {}\n\n\n");
        let user = Source::new("mine/model.wgsl", "fn handle() -> u32 {\n    return missing;\n}\n");
        let (file, line, text) = failure(&[library, user]);
        assert_eq!((file.as_str(), line), ("mine/model.wgsl", 2));
        assert!(text.contains("missing") && text.contains("return missing;"), "{text}");
    }

    #[test]
    fn a_validation_error_points_at_the_users_file_and_line() {
        let library = Source::new("library.wgsl", "fn fine() {}\n\n\n");
        let user = Source::new("model.wgsl", "fn f() -> u32 {\n    var x: u32 = 1u;\n    x = x + 1u;\n}\n");
        let (file, _, text) = failure(&[library, user]);
        assert_eq!(file, "model.wgsl");
        assert!(text.contains("model.wgsl"), "{text}");
    }

    #[test]
    fn what_is_too_deep_for_a_parser_is_refused_at_its_line() {
        let many = 16_000;
        let of = |body: String| {
            format!("fn fine() {{}}\nfn f() -> u32 {{\n    let a = 1u;\n    return {body};\n}}\n")
        };
        let nested = |open: &str, close: &str| format!("{}1u{}", open.repeat(many), close.repeat(many));
        let chained = (0..many).map(|n| format!("const c{} = c{n};", n + 1)).collect::<String>();
        for (text, line) in [
            (of("a".to_owned() + &"+a".repeat(many)), 4),
            (of("a".to_owned() + &"\n*a".repeat(many)), 4 + 510),
            (of(nested("(", ")")), 4),
            (of("-".repeat(many) + "1i"), 4),
            (of("!".repeat(many) + "true"), 4),
            (of(nested("u32(", ")")), 4),
            (of("a".to_owned() + &"[0]".repeat(many).replace("[0]", ".x")), 4),
            (of(nested("vec2(1u, ", ")")), 4),
            (format!("fn f() {{\n{}{}}}", "{".repeat(many), "}".repeat(many)), 2),
            (format!("fn f() {{\n{}{}}}", "if true {".repeat(many), "}".repeat(many)), 2),
            (format!("fn f() {{\nif true {{}}{}}}", " else if true { fine(); }".repeat(many)), 2),
            (format!("fn f() {{\nif true {{}}{}}}", " /* c */ else\n if true {}".repeat(many)), 2 + 511),
            (format!("alias T = \n{}u32{};", "array<".repeat(many), ",2>".repeat(many)), 2),
            (format!("alias T = \n{}u32{};", "ptr<function,".repeat(many), ">".repeat(many)), 2),
            (format!("\n{}const a = 1u;", "@must_use ".repeat(many)), 2),
            (format!("const c0 = 1u;\n{chained}"), 2),
        ] {
            let (file, found, message) = failure(&[Source::new("deep.wgsl", text.clone())]);
            assert_eq!((&*file, found), ("deep.wgsl", line), "{} {message}", &text[..60]);
            assert!(message.len() < 2000 && message.contains("more than"), "{message}");
        }
    }

    #[test]
    fn what_is_within_the_bounds_fits_the_stack_of_a_small_thread() {
        let of = |body: String| format!("fn f() -> u32 {{\n    let a = 1u;\n    return {body};\n}}\n");
        let link = |text: String| match Program::link("deep", &[Source::new("deep.wgsl", text)]) {
            Ok(_) => true,
            // naga has its own bounds.
            Err(LinkError::Wgsl { message, .. }) => {
                assert!(!message.contains("more than") || message.contains("limit"), "{message}");
                false
            }
            Err(other) => panic!("{other}"),
        };
        let run = move || {
            assert!(link(of("a".to_owned() + &"+a".repeat(508))));
            assert!(link(of("a".to_owned() + &"+(a".repeat(50) + &")".repeat(50))));
            assert!(link(of("- ".repeat(150) + "1i").replace("-> u32", "-> i32")));
            let _ = link(of("- ".repeat(500) + "1i"));
            let _ = link(of("(".repeat(500) + "a" + &")".repeat(500)));
            let _ = link(format!("fn f() {{\n{}{}}}", "{".repeat(126), "}".repeat(126)));
            assert!(link(format!("fn f() {{\nif true {{}}{}}}", " else if true {}".repeat(500))));
            assert!(link((0..8000).fold("const c0 = 1u;\n".to_owned(), |text, n| {
                text + &format!("const c{} = c{n};\n", n + 1)
            })));
            assert!(link(
                (0..63)
                    .rev()
                    .fold(String::new(), |text, n| { text + &format!("fn f{}() {{ f{n}(); }}\n", n + 1) })
                    + "fn f0() {}"
            ));
        };
        // Half of the default stack of Rust's threads, and the stack of Windows' main thread.
        std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
    }

    /// So linking the library's files starts no thread.
    #[test]
    fn the_librarys_files_are_not_deep() {
        for (name, text) in crate::shaders::texts() {
            assert_eq!(depth::check(text), Ok(false), "{name}");
        }
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("fn f() -> u32 {{ return {} + missing; }}", vec!["1u"; 300].join(" + "));
        let (_, line, message) = failure(&[Source::new("long.wgsl", text)]);
        assert!(line == 1 && message.len() < 600 && message.contains("^^^^^^^"), "{message}");
        let (_, _, message) =
            failure(&[Source::new("long.wgsl", format!("const a = {};", "b".repeat(200_000)))]);
        assert!(message.len() < 2000, "{}", message.len());
    }

    #[test]
    fn unknown_directives_are_errors() {
        let import = Program::link("t", &[Source::new("a.wgsl", "\n// import: no/such.wgsl\n")]);
        assert!(matches!(import, Err(LinkError::UnknownImport { line: 2, .. })), "{import:?}");
        let feature = Program::link("t", &[Source::new("a.wgsl", "// requires: wings\n")]);
        assert!(matches!(feature, Err(LinkError::UnknownFeature { line: 1, .. })), "{feature:?}");
    }

    #[test]
    fn browsers_get_the_enable_line() {
        let program = Program::link("t", &[Source::new("a.wgsl", "// requires: subgroups\n")]).unwrap();
        assert!(program.standard_text().starts_with("enable subgroups;\n"));
        assert!(!program.text().contains("enable"));
    }
}
