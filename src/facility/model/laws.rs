//! The reference implementation of `shaders/facility/network/distributions.wgsl`, and the part of
//! it that is generated from the table of distributions.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::facility::distribution::{KINDS, Kind, Law, TABLE_WORD};
use crate::gpu::Source;
use crate::random::{Row, Stream, table_wgsl};
use crate::time::Ticks;

/// A time drawn from the distribution whose words begin at a place of the data.
pub(in crate::facility) fn variate(stream: &mut Stream, data: &[u32], law: u32) -> Ticks {
    let (kind, law) = Law::of(&data[law as usize..]);
    (KINDS[kind].time)(stream, &law, data)
}

/// The functions that `distributions.wgsl` needs.
static LAWS: LazyLock<String> = LazyLock::new(|| laws(KINDS));

/// A network's file with these functions.
pub(super) fn with_laws(file: &Source) -> Source {
    Source::new(file.name().to_owned(), format!("{}\n{}", file.text(), *LAWS))
}

/// A file of the library with these functions.
pub(in crate::facility) fn library_with_laws(file: &Source) -> Source {
    file.with_text(format!("{}\n{}", file.text(), *LAWS))
}

/// The places of distributions in the data of a model, which has each once: large networks have
/// few, which then stay in caches.
#[derive(Default)]
pub(in crate::facility) struct Places(HashMap<[u32; 8], u32>);

impl Places {
    /// The place of the distribution with these words and this table. It is appended to `data` if
    /// it is new.
    pub(in crate::facility) fn of(
        &mut self,
        data: &mut Vec<u32>,
        words: [u32; 8],
        table: Option<&[Row]>,
    ) -> u32 {
        *self.0.entry(words).or_insert_with(|| {
            let at = next_row(data);
            let mut words = words;
            if table.is_some() {
                words[TABLE_WORD] = at / 4 + 2;
            }
            data.extend(words.iter().chain(table.unwrap_or_default().as_flattened()));
            at
        })
    }
}

/// The place behind `data`, after words up to a whole row.
pub(super) fn next_row(data: &mut Vec<u32>) -> u32 {
    data.resize(data.len().next_multiple_of(4), 0);
    u32::try_from(data.len()).expect("the words of a network are fewer than 2^32")
}

/// Bits of a number of draws, and the kinds that fit in one word.
const DRAWS_BITS: usize = 2;
const MOST_KINDS: usize = 16;
const _: () = assert!(KINDS.len() <= MOST_KINDS, "one word has no room for the draws of more kinds");

/// Generates the functions of kinds: how many words each draws, and its time.
fn laws(kinds: &[Kind]) -> String {
    let mut draws = 0;
    // One case for rows with the same text: compilers copy each function to each call.
    let mut cases: Vec<(&str, String)> = Vec::new();
    for (place, kind) in kinds.iter().enumerate() {
        draws |= kind.draws << (DRAWS_BITS * place);
        let label = format!("{}u", kind.number);
        match cases.iter_mut().find(|(text, _)| *text == kind.wgsl) {
            Some((_, labels)) => *labels += &format!(", {label}"),
            None => cases.push((kind.wgsl, label)),
        }
    }
    let mut text = format!(
        "// Made of the table of distributions: `facility::distribution`.\n\
         fn law_draws(kind: u32) -> u32 {{ return ({draws:#x}u >> ({DRAWS_BITS}u * kind)) & 3u; }}\n\n\
         fn law_time(kind: u32, words: vec3<u32>, number: u32, a: vec2<u32>, b: vec2<u32>, c: vec2<u32>) -> vec2<u32> {{\n    \
         switch kind {{\n"
    );
    for (call, labels) in cases {
        let _ = writeln!(text, "        case {labels}: {{ return {call}; }}");
    }
    text += "        default: { return a; }\n    }\n}\n\n";
    text += &table_wgsl();
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facility::Distribution;
    use crate::gpu::Program;
    use crate::shaders;

    /// Half of a time: shows that a new distribution needs only a row and a function.
    const HALF: Kind = Kind {
        number: 15, // an unused number
        draws: 1,
        wgsl: "half_of(words.x, a)",
        time: |stream, law, _| Ticks::new(law.a.get() / 2 + u64::from(stream.draw() & 1)),
        least: |law| law.a,
        example: Distribution::Constant(1.0),
    };

    #[test]
    fn a_distribution_is_a_row_and_a_function() {
        let half = "fn half_of(word: u32, a: vec2<u32>) -> vec2<u32> { return vec2<u32>((a.x >> 1u) + (word & 1u), 0u); }\n";
        let kinds: Vec<Kind> = KINDS.iter().copied().chain([HALF]).collect();
        for (text, known) in [(laws(KINDS), false), (laws(&kinds), true)] {
            assert_eq!(text.contains("case 15u: { return half_of(words.x, a); }"), known, "{text}");
            let own = "const SURE = 0xffffffffu;\n@group(0) @binding(0) var<storage, read> data: array<vec4<u32>>;\n";
            let file = Source::new("laws.wgsl", format!("{own}{half}{text}"));
            let [all, product] = ["random/distributions.wgsl", "random/mul_wide.wgsl"].map(shaders::file);
            let program = Program::link("laws", &[all, product, file]).unwrap();
            let called =
                program.module().functions.iter().find(|(_, f)| f.name.as_deref() == Some("law_time"));
            assert!(called.is_some());
        }
    }

    #[test]
    fn rows_with_the_same_text_share_a_case() {
        let text = laws(KINDS);
        assert!(text.contains("case 1u, 4u: { return exponential_of("), "{text}");
        assert!(text.contains("{ return (0x95a34u"), "{text}");
    }
}
