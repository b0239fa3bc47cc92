//! Constants and structs that Rust shares with WGSL files. The compiler reads the constants from
//! the file and rejects structs that differ. Also the builder methods that all options share.

/// Declares constants or structs of a file in `shaders/`.
///
/// A constant takes its value from the file. A struct has the fields of the WGSL struct, by name,
/// offset and size, and no padding. `as` precedes the WGSL name if it differs.
macro_rules! shared {
    ($path:literal: $($(#[$meta:meta])* $vis:vis const $name:ident: $ty:ty $(as $wgsl:ident)?;)+) => {$(
        $(#[$meta])*
        $vis const $name: $ty = $crate::shared::constant(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)),
            [$(stringify!($wgsl),)? stringify!($name)][0],
        ) as $ty;
    )+};
    ($path:literal: $($(#[$meta:meta])* $vis:vis struct $name:ident $(as $wgsl:ident)? {
        $($(#[$doc:meta])* $field_vis:vis $field:ident: $ty:ty),+ $(,)?
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        $vis struct $name { $($(#[$doc])* $field_vis $field: $ty),+ }

        const _: [usize; 2] = $crate::shared::layout(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)),
            [$(stringify!($wgsl),)? stringify!($name)][0],
            &[$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$ty>())),+],
        );
    )+};
}

/// Builder methods of options: each sets the field of its name, from what converts into its type.
macro_rules! builder {
    ($options:ident: $($(#[$meta:meta])* $field:ident: $ty:ty),+ $(,)?) => {
        impl $options {$(
            #[doc = concat!("Sets [`", stringify!($options), "::", stringify!($field), "`].")]
            $(#[$meta])*
            #[must_use]
            pub fn $field(self, $field: $ty) -> Self {
                Self { $field: $field.into(), ..self }
            }
        )+}
    };
}

/// The value of a constant: numbers and constants of the same file, combined with `<<`, `*` and `/`
/// from left to right.
pub(crate) const fn constant(text: &str, name: &str) -> u32 {
    let mut tokens = Tokens::after(text, "const", name);
    assert!(
        same(tokens.next(), "="),
        "expected `=` after the constant's name; constants with a type are not supported"
    );
    let mut value = tokens.number();
    loop {
        match tokens.next().as_bytes() {
            b";" => return value,
            b"*" => value *= tokens.number(),
            b"/" => value /= tokens.number(),
            b"<" => {
                tokens.next();
                value <<= tokens.number();
            }
            _ => panic!("expected a number, a constant, `<<`, `*` or `/` in the constant's value"),
        }
    }
}

/// Alignment and size of a struct. Checks the fields' names, offsets and sizes if there are any.
pub(crate) const fn layout(text: &str, name: &str, fields: &[(&str, usize, usize)]) -> [usize; 2] {
    let mut tokens = Tokens::after(text, "struct", name);
    let (mut align, mut end, mut count) = (4, 0, 0);
    while !same(tokens.next(), "}") && !same(tokens.peek(), "}") {
        let field = tokens.next();
        tokens.next();
        let [field_align, size] = tokens.ty();
        assert!(end % field_align == 0, "the WGSL struct has padding");
        if !fields.is_empty() {
            assert!(count < fields.len(), "the WGSL struct has more fields");
            let (rust, offset, bytes) = fields[count];
            assert!(same(field, rust), "a field has another name in WGSL");
            assert!(offset == end && bytes == size, "a field has another place or size in WGSL");
        }
        (count, end) = (count + 1, end + size);
        align = if field_align > align { field_align } else { align };
    }
    assert!(fields.is_empty() || count == fields.len(), "the WGSL struct has fewer fields");
    assert!(end % align == 0, "the WGSL struct has padding");
    [align, end]
}

/// Words and single characters, without blanks and comments.
#[derive(Clone, Copy)]
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens after the name of a declaration.
    const fn after(text: &'a str, keyword: &str, name: &str) -> Self {
        let mut tokens = Self { text, at: 0 };
        loop {
            let token = tokens.next();
            assert!(!token.is_empty(), "the WGSL file does not declare this name");
            if same(token, keyword) && same(tokens.peek(), name) {
                tokens.next();
                return tokens;
            }
        }
    }

    /// The next token; empty at the end.
    const fn next(&mut self) -> &'a str {
        let bytes = self.text.as_bytes();
        let mut begin = self.at;
        let mut comment = false;
        while begin < bytes.len() && (comment || bytes[begin].is_ascii_whitespace() || bytes[begin] == b'/') {
            comment = bytes[begin] != b'\n' && (comment || bytes[begin] == b'/' && bytes[begin + 1] == b'/');
            if bytes[begin] == b'/' && !comment {
                break;
            }
            begin += 1;
        }
        let mut end = begin;
        while end < bytes.len() && (bytes[end].is_ascii_alphanumeric() || bytes[end] == b'_') {
            end += 1;
        }
        if end == begin && end < bytes.len() {
            end += 1;
        }
        self.at = end;
        self.text.split_at(end).0.split_at(begin).1
    }

    const fn peek(mut self) -> &'a str {
        self.next()
    }

    const fn number(&mut self) -> u32 {
        let token = self.next();
        if same(token, "~") {
            return !self.number();
        }
        let digits = match token.as_bytes() {
            [b'0'..=b'9', .., b'u'] => token.split_at(token.len() - 1).0,
            [b'0'..=b'9', ..] => token,
            _ => return constant(self.text, token),
        };
        let number = match digits.as_bytes() {
            [b'0', b'x', ..] => u32::from_str_radix(digits.split_at(2).1, 16),
            _ => u32::from_str_radix(digits, 10),
        };
        match number {
            Ok(number) => number,
            Err(_) => panic!("not a number"),
        }
    }

    /// Alignment and size of a type.
    const fn ty(&mut self) -> [usize; 2] {
        let name = self.next();
        let vector = match name.as_bytes() {
            b"u32" | b"i32" | b"f32" => return [4, 4],
            b"atomic" => [4, 4],
            b"vec2" => [8, 8],
            b"vec4" => [16, 16],
            b"array" => {
                self.next();
                let [align, size] = self.ty();
                self.next();
                let length = self.number() as usize;
                self.next();
                return [align, size * length];
            }
            _ => return layout(self.text, name, &[]),
        };
        // Skips `<u32>` or another component type.
        self.next();
        self.next();
        self.next();
        vector
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Program, Source};

    const TEXT: &str = "// struct S and const A are below.
        const A = 3u; // const B = 1u;
        const B = 1u << 4u;
        const C = A * B / 2u;
        const D = ~0u;
        const E = 0x80000000u;
        struct Inner { a: vec2<u32>, b: array<u32, A>, c: atomic<i32> }
        struct S {
            a: u32, // b: u32,
            b: f32,
            c: vec2<u32>,
            inner: Inner,
            d: i32,
            e: u32,
            f: array<vec4<u32>, 2>,
        }";

    #[test]
    fn constants_have_the_values_of_the_file() {
        let values = ["A", "B", "C", "D", "E"].map(|name| constant(TEXT, name));
        assert_eq!(values, [3, 16, 24, u32::MAX, 1 << 31]);
    }

    #[test]
    fn layouts_are_those_of_naga_and_others_are_refused() {
        let program = Program::link("t", &[Source::new("t.wgsl", TEXT)]).unwrap();
        for name in ["Inner", "S"] {
            let naga = program.layout(name).unwrap();
            let fields = naga.fields.iter().map(|f| (f.name.as_str(), f.offset as usize, f.bytes as usize));
            let fields: Vec<_> = fields.collect();
            assert_eq!(layout(TEXT, name, &fields)[1], naga.bytes as usize);
            let refused = |fields: Vec<_>| std::panic::catch_unwind(|| layout(TEXT, name, &fields)).is_err();
            assert!(refused(fields[1..].to_vec()) && refused(fields[..2].to_vec()));
            for (of, (field, offset, bytes)) in fields.iter().enumerate() {
                for wrong in
                    [("x", *offset, *bytes), (*field, offset + 4, *bytes), (*field, *offset, bytes + 4)]
                {
                    let mut fields = fields.clone();
                    fields[of] = wrong;
                    assert!(refused(fields));
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "padding")]
    fn padding_is_refused() {
        layout("struct S { a: u32, b: vec2<u32> }", "S", &[]);
    }
}
