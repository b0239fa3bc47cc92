//! Where entities enter, and the attributes that they get.

use super::super::program::{Act, Arrivals, Source};
use super::{Text, param};

/// Whether entries of a source may be dropped.
pub(super) fn drops(source: &Source) -> bool {
    matches!(source.arrivals, Arrivals::Rates { .. })
}

impl Text<'_> {
    /// Prints what sources do: their phases are the next entry, whether one is kept, and the start
    /// of entities.
    pub(super) fn sources(&mut self) {
        let program = self.program;
        self.line("");
        self.line("fn source_done(m: ptr<function, Machine>) {");
        self.line("let more = (*m).begins & ((*m).source < SOURCES);");
        self.line("(*m).source = select(0u, (*m).source + 1u, more);");
        self.line("(*m).phase = 0u;");
        self.line("}");
        self.line("");
        self.line("fn run_source(state: ptr<function, State>, m: ptr<function, Machine>) {");
        self.line("switch (*m).source {");
        for (index, source) in program.sources.iter().enumerate() {
            self.line(format!("case {}u: {{", index + 1));
            if matches!(source.arrivals, Arrivals::Start) {
                self.line(format!("if {} != 0u {{", param(source.most, 1)));
                self.enter(index, source);
                self.line("}");
                self.line("source_done(m);");
            } else {
                self.line("if (*m).phase == 0u {");
                self.next_entry(index, source);
                self.line("return;");
                self.line("}");
                if let Arrivals::Rates { keep, .. } = source.arrivals {
                    self.line("if (*m).phase == 1u {");
                    let number = format!("{} - 1u", self.global(source.count, 1));
                    self.draw_of(keep, "0u", &number);
                    self.line("(*m).act = ACT_DRAWN;");
                    self.line("return;");
                    self.line("}");
                }
                self.enter(index, source);
                self.line("source_done(m);");
            }
            self.line("}");
        }
        self.line("default: { (*m).source = 0u; }");
        self.line("}");
        self.line("}");
        if program.sources.iter().any(drops) {
            self.kept();
        }
    }

    /// Schedules the next event of a source.
    fn next_entry(&mut self, index: usize, source: &Source) {
        let before = self.bind(&self.global(source.count, 1));
        let number = self.bind(&format!("select({before} + 1u, 0u, (*m).begins)"));
        self.line(format!("(*m).index = {}u;", index + 1));
        self.line("if !(*m).begins {");
        self.set_global(source.count, 1, &format!("{before} + 1u"));
        self.line("}");
        let most = param(source.most, 1);
        let more = match &source.arrivals {
            Arrivals::Trace { count, .. } => format!("({number} < {most}) & ({number} < {count}u)"),
            _ => format!("{number} < {most}"),
        };
        self.line(format!("if {more} {{"));
        match &source.arrivals {
            Arrivals::Start => {}
            Arrivals::Constant(word) => self.line(format!("(*m).time = {};", param(*word, 2))),
            Arrivals::Drawn(draw) | Arrivals::Rates { gap: draw, .. } => self.draw_of(*draw, "0u", &number),
            Arrivals::Trace { first, rows, .. } => {
                self.line(format!("(*m).time = time_since(data[{first}u + {rows}u * {number}].xy, now());"));
            }
        }
        self.line("(*m).timed = true;");
        self.line("(*m).act = ACT_ARRIVAL;");
        self.line("}");
        let phase = if drops(source) { 1 } else { 2 };
        self.line("if (*m).begins {");
        self.line("source_done(m);");
        self.line("} else {");
        self.line(format!("(*m).phase = {phase}u;"));
        self.line("}");
    }

    /// Starts the entities of an entry.
    fn enter(&mut self, index: usize, source: &Source) {
        let batch = param(source.batch, 1);
        self.spawn(source.process, source.entry, &batch, "0u");
        self.line(format!("(*m).origin = SOURCE_EVENT | {index}u;"));
        if let Arrivals::Trace { first, rows, .. } = source.arrivals {
            let count = self.global(source.count, 1);
            self.line(format!("(*m).row = {first}u + {rows}u * ({count} - 1u) + 1u;"));
        }
    }

    /// Prints whether a candidate of a source with changing rates enters.
    fn kept(&mut self) {
        self.line("");
        self.line("fn kept(state: ptr<function, State>, m: ptr<function, Machine>) {");
        self.line("var cycle = vec2<u32>(1u, 0u);");
        self.line("var low = 0u;");
        self.line("var high = 0u;");
        self.line("switch (*m).source {");
        for (index, source) in self.program.sources.iter().enumerate() {
            let Arrivals::Rates { first, periods, cycle, .. } = source.arrivals else { continue };
            self.line(format!("case {}u: {{", index + 1));
            let cycle = super::values::literal(super::super::ir::Kind::Time, cycle.cast_signed());
            self.line(format!("cycle = {cycle};"));
            self.line(format!("low = {first}u;"));
            self.line(format!("high = {}u;", first + periods - 1));
            self.line("}");
        }
        self.line("default: {}");
        self.line("}");
        self.line("let within = time_modulo(m, now(), cycle);");
        self.line("// The first period that ends later. Bound: at most 1,024 periods.");
        self.line("for (var i = 0u; i < 11u && low < high; i += 1u) {");
        self.line("let middle = (low + high) / 2u;");
        self.line("let ends = time_less(within, data[middle].xy);");
        self.line("high = select(high, middle, ends);");
        self.line("low = select(middle + 1u, low, ends);");
        self.line("}");
        self.line("let word = data[low].z;");
        self.line("let share = params.words[word / 4u][word & 3u];");
        self.line("if ((*m).word < share) | (share == ALL_ONES) {");
        self.line("(*m).phase = 2u;");
        self.line("} else {");
        self.line("source_done(m);");
        self.line("}");
        self.line("}");
    }

    /// Prints the attributes that new entities get.
    pub(super) fn set_words(&mut self) {
        let program = self.program;
        self.line("");
        self.line("fn set_words(at: u32, state: ptr<function, State>, m: ptr<function, Machine>) {");
        self.line("switch (*m).origin {");
        for (index, step) in program.steps.iter().enumerate() {
            let Act::Spawn { set, .. } = &step.act else { continue };
            if set.is_empty() {
                continue;
            }
            self.line(format!("case {index}u: {{"));
            self.line("let own = row_of((*m).slot) + 2u;");
            for (word, value) in set {
                let words = self.words(value, "own");
                self.set_attribute("at", *word, super::values::words_of(value.kind), &words);
            }
            self.line("}");
        }
        for (index, source) in program.sources.iter().enumerate() {
            let Arrivals::Trace { words, .. } = &source.arrivals else { continue };
            if words.is_empty() {
                continue;
            }
            self.line(format!("case SOURCE_EVENT | {index}u: {{"));
            for (place, word) in (0..).zip(words) {
                let value = format!("data[(*m).row + {}u].{}", place / 4, super::components(place, 1));
                self.set_attribute("at", *word, 1, &value);
            }
            self.line("}");
        }
        self.line("default: {}");
        self.line("}");
        self.line("}");
    }
}
