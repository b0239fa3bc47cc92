//! What entities do at their steps.

use super::super::ir::Kind;
use super::super::program::{Act, EntityWord, Expr, Step, StepId, Time, Wait};
use super::{Text, param};

/// Steps of a function: the linker bounds the length of one.
const STEPS: usize = 64;

/// Where the attributes of the running entity begin.
const AT: &str = "at";

impl Text<'_> {
    /// Prints the steps, and the function that finds the present one.
    pub(super) fn steps(&mut self) {
        let program = self.program;
        let parts = program.steps.chunks(STEPS).count();
        for (part, steps) in program.steps.chunks(STEPS).enumerate() {
            self.line("");
            self.line(format!("fn steps_{part}(state: ptr<function, State>, m: ptr<function, Machine>) {{"));
            self.line("let at = row_of((*m).slot) + 2u;");
            self.line("switch (*m).step {");
            for (index, step) in steps.iter().enumerate() {
                let at = part * STEPS + index;
                self.line(format!("case {at}u: {{ // {}", comment(&step.statement)));
                self.indent += 1;
                self.step(at, step);
                self.line("}");
            }
            self.line("default: {}");
            self.line("}");
            self.line("}");
        }
        self.line("");
        self.line("fn run_step(state: ptr<function, State>, m: ptr<function, Machine>) {");
        self.line(format!("switch (*m).step / {STEPS}u {{"));
        for part in 0..parts {
            let label = if part + 1 == parts { "default".to_owned() } else { format!("case {part}u") };
            self.line(format!("{label}: {{ steps_{part}(state, m); }}"));
        }
        self.line("}");
        self.line("}");
    }

    fn go(&mut self, next: StepId) {
        self.line(format!("(*m).step = {next}u;"));
    }

    fn act(&mut self, act: &str) {
        self.line(format!("(*m).act = {act};"));
    }

    fn work(&mut self, work: &str, item: u32) {
        self.line(format!("(*m).work = {work};"));
        self.line(format!("(*m).item = {item}u;"));
    }

    fn step(&mut self, at: usize, step: &Step) {
        step.ops.iter().for_each(|op| self.op(op, AT));
        match &step.act {
            Act::Jump { next } => self.go(*next),
            Act::Branch { condition, yes, no } => {
                let condition = self.value(condition, AT);
                self.line(format!("(*m).step = select({no}u, {yes}u, {condition});"));
            }
            Act::Chance { draw, .. } | Act::Draw { draw, .. } | Act::Choose { draw, .. } => {
                self.entity_draw(*draw);
                self.act("ACT_DRAWN");
            }
            Act::Delay { time, .. } => {
                self.time(time);
                self.act("ACT_DELAY");
            }
            Act::Seize { resource, units, wait, next } => self.seize(*resource, units, wait, *next),
            Act::Release { resource, units, held, next } => self.release(*resource, units, *held, *next),
            Act::Put { container, amount, wait, next } => {
                self.container(*container, amount, wait, *next, true)
            }
            Act::Get { container, amount, wait, next } => {
                self.container(*container, amount, wait, *next, false);
            }
            Act::Give { store, wait, next } => self.give(*store, wait, *next),
            Act::Take { store, wait, next, .. } => self.take(at, *store, wait, *next),
            Act::Hold { wait, .. } | Act::Wait { wait, .. } => {
                // Of a unit that it may have released meanwhile.
                if let Some(word) = wait.held {
                    let holds = Self::attribute(AT, word, 1);
                    self.fault_if(&format!("{holds} == 0u"), "FAULT_NOT_HELD", "0u");
                }
                self.line("(*m).amount = 0u;");
                self.wait(wait, None);
            }
            Act::Batch { size, members, wait, begin, .. } => {
                let row = self.row(self.program.lines[wait.line as usize].row);
                self.line("(*m).amount = 0u;");
                self.line(format!("if {row}.y + 1u >= {} {{", param(*size, 1)));
                self.work("WORK_BATCH", wait.line);
                self.line(format!("(*m).copies = {members}u;"));
                self.go(*begin);
                self.line("} else {");
                self.wait(wait, None);
                self.line("}");
            }
            Act::Separate { members, next } => {
                self.line(format!("if {} != 0u {{", Self::attribute(AT, *members, 1)));
                self.work("WORK_SEPARATE", 0);
                self.line(format!("(*m).copies = {members}u;"));
                self.line("}");
                self.go(*next);
            }
            Act::Resize { resource, units, next } => self.resize(*resource, units, *next),
            Act::Interrupt { process, number, next } => {
                let number = self.words(number, AT);
                self.line(format!("(*m).number = {number};"));
                self.line(format!("(*m).entry = {process}u;"));
                self.act("ACT_INTERRUPT");
                self.go(*next);
            }
            Act::WaitUntil { condition, wait, next } => {
                self.line("(*m).amount = 0u;");
                let holds = self.program.conditions[*condition as usize].holds.clone();
                let holds = self.value(&holds, AT);
                self.unless_waiting(&holds, wait, *next, |_| {}, None);
            }
            Act::Send { signal, next } => {
                let line = self.program.signals[*signal as usize];
                self.work("WORK_SEND", line);
                self.go(*next);
            }
            Act::Spawn { process, entry, count, set, joined, next } => {
                let count = self.value(count, AT);
                let most = "i32(MOST_ENTITIES)";
                let detail = format!("bitcast<u32>({count})");
                self.fault_if(&format!("{count} > {most}"), "FAULT_SPAWNED", &detail);
                // Faults of values occur before entities start.
                for (_, value) in set {
                    self.value(value, AT);
                }
                let count = self.bind(&format!("bitcast<u32>(max({count}, 0))"));
                if let Some(word) = joined {
                    let value = format!("{} + {count}", Self::attribute(AT, *word, 1));
                    self.set_attribute(AT, *word, 1, &value);
                }
                let parent = if joined.is_some() { "(*m).slot" } else { "0u" };
                self.spawn(*process, *entry, &count, parent);
                self.line(format!("(*m).origin = {at}u;"));
                self.go(*next);
            }
            Act::Join { children, next } => {
                self.line(format!("if {} == 0u {{", Self::attribute(AT, *children, 1)));
                self.go(*next);
                self.line("} else {");
                self.act("ACT_JOIN");
                self.line("}");
            }
            Act::End { children, held } => {
                for (resource, word) in held {
                    let holds = format!("{} != 0u", Self::attribute(AT, *word, 1));
                    self.fault_if(&holds, "FAULT_HOLDING", &format!("{resource}u"));
                }
                if let Some(word) = children {
                    let count = self.bind(&Self::attribute(AT, *word, 1));
                    self.fault_if(&format!("{count} != 0u"), "FAULT_CHILDREN", &count);
                }
                self.act("ACT_END");
            }
        }
    }

    /// Starts entities: their number is a word.
    pub(super) fn spawn(&mut self, process: u32, entry: StepId, count: &str, parent: &str) {
        let word = self.program.processes[process as usize].count;
        self.line(format!("(*m).spawns = {count};"));
        let last = self.bind(&self.global(word, 1));
        self.line(format!("(*m).last_number = {last};"));
        self.set_global(word, 1, &format!("{last} + {count}"));
        self.line(format!("(*state).r1.x += {count};"));
        self.line(format!("(*m).entry = {}u | (STATUS_READY << 16u);", process << 24 | u32::from(entry)));
        self.line(format!("(*m).parent = {parent};"));
    }

    /// The stream of a draw of the running entity.
    fn entity_draw(&mut self, draw: u32) {
        let visit = match self.program.draws[draw as usize].visit {
            Some(word) => Self::attribute(AT, word, 1),
            None => "0u".to_owned(),
        };
        self.draw_of(draw, &visit, &Self::attribute(AT, self.program.entity.who, 1));
    }

    /// What is drawn, and its stream.
    pub(super) fn draw_of(&mut self, draw: u32, visit: &str, number: &str) {
        let of = &self.program.draws[draw as usize];
        let hash = of.hash;
        let law = match of.law {
            Some(law) => format!("{}u", self.program.laws[law as usize].words / 4),
            None => "LAW_WORD".to_owned(),
        };
        self.line(format!("(*m).law = {law};"));
        self.line(format!("(*m).name = vec2<u32>({visit}, {hash:#x}u);"));
        self.line(format!("(*m).number = {number};"));
    }

    fn time(&mut self, time: &Time) {
        match time {
            Time::Computed(time) => {
                let time = self.value(time, AT);
                self.line(format!("(*m).time = {time};"));
            }
            Time::Drawn(draw) => self.entity_draw(*draw),
        }
        self.line("(*m).timed = true;");
    }

    /// Enters a line, which `place` replaces if it is given: line and status.
    fn wait(&mut self, wait: &Wait, place: Option<[String; 2]>) {
        let priority = match &wait.priority {
            Some(priority) => self.words(priority, AT),
            None => "0u".to_owned(),
        };
        self.line(format!("(*m).priority = {priority};"));
        let [line, status] = place.unwrap_or([format!("{}u", wait.line), "STATUS_LINE".to_owned()]);
        self.line(format!("(*m).line = {line};"));
        self.line(format!("(*m).status = {status};"));
        self.act("ACT_WAIT");
        let Some(patience) = &wait.patience else { return };
        if let Some(when) = &patience.when {
            let when = self.value(when, AT);
            self.line(format!("if {when} {{"));
        }
        self.time(&patience.time);
        if patience.when.is_some() {
            self.line("}");
        }
    }

    /// Does `own` and continues if `free` holds, else waits.
    fn unless_waiting(
        &mut self,
        free: &str,
        wait: &Wait,
        next: StepId,
        own: impl FnOnce(&mut Self),
        place: Option<[String; 2]>,
    ) {
        self.line(format!("if {free} {{"));
        own(self);
        if wait.since {
            self.line("memory_set(at - 1u, vec4<u32>(0u, 0u, now()));");
        }
        self.go(next);
        self.line("} else {");
        self.wait(wait, place);
        self.line("}");
    }

    fn seize(&mut self, resource: u32, units: &Expr, wait: &Wait, next: StepId) {
        let of = &self.program.resources[resource as usize];
        let (row, watch) = (of.row, of.watch);
        let most = if of.most == of.units { None } else { Some(param(of.most, 1)) };
        let line_row = self.program.lines[of.line as usize].row;
        let units = self.words(units, AT);
        let units = self.bind(&units);
        let level = self.bind(&self.row(row));
        let most = most.unwrap_or_else(|| format!("{level}.y"));
        let request = format!("(bitcast<i32>({units}) < 1) | ({units} > {most})");
        self.fault_if(&request, "FAULT_REQUEST", &units);
        self.line(format!("(*m).amount = {units};"));
        // Both are below 2^16.
        let free = format!("({}.y == 0u) & ({level}.x + {units} <= {level}.y)", self.row(line_row));
        let seized = |text: &mut Self| {
            let sum = format!("level_64({level}.zw, {units}, false, (*m).age)");
            text.set_row(row, &format!("vec4<u32>({level}.x + {units}, {level}.y, {sum})"));
            text.touch(watch);
            if let Some(word) = wait.held {
                let value = format!("{} + {units}", Self::attribute(AT, word, 1));
                text.set_attribute(AT, word, 1, &value);
            }
        };
        self.unless_waiting(&free, wait, next, seized, None);
    }

    fn release(&mut self, resource: u32, units: &Expr, held: Option<EntityWord>, next: StepId) {
        let of = &self.program.resources[resource as usize];
        let (row, watch) = (of.row, of.watch);
        let line_row = self.program.lines[of.line as usize].row;
        let units = self.words(units, AT);
        let units = self.bind(&units);
        self.fault_if(&format!("bitcast<i32>({units}) < 1"), "FAULT_REQUEST", &units);
        if let Some(word) = held {
            let holds = self.bind(&Self::attribute(AT, word, 1));
            self.fault_if(&format!("{units} > {holds}"), "FAULT_NOT_HELD", &holds);
            self.set_attribute(AT, word, 1, &format!("{holds} - {units}"));
        }
        let level = self.bind(&self.row(row));
        self.fault_if(&format!("{units} > {level}.x"), "FAULT_NOT_HELD", &format!("{level}.x"));
        let sum = format!("level_64({level}.zw, {units}, true, (*m).age)");
        self.set_row(row, &format!("vec4<u32>({level}.x - {units}, {level}.y, {sum})"));
        self.touch(watch);
        self.go(next);
        self.line(format!("if {}.y != 0u {{", self.row(line_row)));
        self.work("WORK_RESOURCE", resource);
        self.line("}");
    }

    fn resize(&mut self, resource: u32, units: &Expr, next: StepId) {
        let of = &self.program.resources[resource as usize];
        let (row, watch, offered) = (of.row, of.watch, of.offered);
        let units = self.words(units, AT);
        let units = self.bind(&units);
        // As a word, a number below 0 is large.
        self.fault_if(&format!("{units} > 65535u"), "FAULT_REQUEST", &units);
        let level = self.bind(&self.row(row));
        self.set_row(row, &format!("vec4<u32>({level}.x, {units}, {level}.zw)"));
        if let Some(row) = offered {
            let less = self.bind(&format!("{units} < {level}.y"));
            let size = format!("select({units} - {level}.y, {level}.y - {units}, {less})");
            let sum = format!("level_64({}.xy, {size}, {less}, (*m).age)", self.row(row));
            self.set_row(row, &format!("vec4<u32>({sum}, 0u, 0u)"));
        }
        self.touch(watch);
        self.go(next);
        self.work("WORK_RESOURCE", resource);
    }

    fn container(&mut self, container: u32, amount: &Expr, wait: &Wait, next: StepId, puts: bool) {
        let of = &self.program.containers[container as usize];
        let (row, watch) = (of.row, of.watch);
        let [putters, getters] = [of.putters, of.getters].map(|line| self.program.lines[line as usize].row);
        let (own, others) = if puts { (putters, getters) } else { (getters, putters) };
        let amount = self.words(amount, AT);
        let amount = self.bind(&amount);
        let level = self.bind(&self.row(row));
        let request = format!("(bitcast<i32>({amount}) < 1) | ({amount} > {level}.y)");
        self.fault_if(&request, "FAULT_REQUEST", &amount);
        self.line(format!("(*m).amount = {amount};"));
        let most = if puts { format!("{level}.y - {level}.x") } else { format!("{level}.x") };
        let free = format!("({}.y == 0u) & ({amount} <= {most})", self.row(own));
        let sign = if puts { '+' } else { '-' };
        let changed = |text: &mut Self| {
            text.set_row(row, &format!("vec4<u32>({level}.x {sign} {amount}, {level}.yzw)"));
            let sum = text.row(row + 1);
            text.set_row(row + 1, &format!("level_128({sum}, {amount}, {}, (*m).age)", !puts));
            text.touch(watch);
            text.line(format!("if {}.y != 0u {{", text.row(others)));
            text.work("WORK_CONTAINER", container);
            text.line("}");
        };
        self.unless_waiting(&free, wait, next, changed, None);
    }

    fn give(&mut self, store: u32, wait: &Wait, next: StepId) {
        let of = &self.program.stores[store as usize];
        let (items, givers, capacity) = (of.items, of.givers, of.capacity);
        let [items_row, takers_row] = [items, of.takers].map(|line| self.program.lines[line as usize].row);
        self.line("(*m).amount = 0u;");
        let taken = format!("{}.y != 0u", self.row(takers_row));
        let room = self.bind(&format!("{}.y < {}", self.row(items_row), param(capacity, 1)));
        let place = [
            format!("select({givers}u, {items}u, {room})"),
            format!("select(STATUS_LINE, STATUS_ITEM, {room})"),
        ];
        self.unless_waiting(&taken, wait, next, |text| text.work("WORK_GIVE", store), Some(place));
    }

    fn take(&mut self, at: usize, store: u32, wait: &Wait, next: StepId) {
        let items = self.program.stores[store as usize].items;
        let row = self.program.lines[items as usize].row;
        self.line("(*m).amount = 0u;");
        let takes = |text: &mut Self| {
            text.work("WORK_TAKE", store);
            text.line(format!("(*m).copies = {at}u;"));
        };
        let rests = format!("{}.y != 0u", self.row(row));
        self.unless_waiting(&rests, wait, next, takes, None);
    }

    /// Prints what steps and sources do with what they drew.
    pub(super) fn drawn(&mut self) {
        let program = self.program;
        self.line("");
        self.line("fn drawn(state: ptr<function, State>, m: ptr<function, Machine>) {");
        if program.sources.iter().any(super::sources::drops) {
            self.line("if (*m).source != 0u {");
            self.line("kept(state, m);");
            self.line("return;");
            self.line("}");
        }
        self.line("let at = row_of((*m).slot) + 2u;");
        self.line("switch (*m).step {");
        for (index, step) in program.steps.iter().enumerate() {
            match &step.act {
                Act::Chance { arms, otherwise, .. } => {
                    self.line(format!("case {index}u: {{"));
                    let steps =
                        arms.iter().map(|(word, next)| (*word, format!("{next}u"))).collect::<Vec<_>>();
                    let next = self.pick(&steps, &format!("{otherwise}u"));
                    self.line(format!("(*m).step = {next};"));
                    self.line("}");
                }
                Act::Choose { arms, otherwise, to, next, .. } => {
                    self.line(format!("case {index}u: {{"));
                    let of = |value: i32| super::values::literal(Kind::Integer, value.into());
                    let values = arms.iter().map(|(word, value)| (*word, of(*value))).collect::<Vec<_>>();
                    let value = self.pick(&values, &of(*otherwise));
                    self.store(*to, Kind::Integer, &format!("bitcast<u32>({value})"), AT);
                    self.go(*next);
                    self.line("}");
                }
                Act::Draw { to, next, .. } => {
                    self.line(format!("case {index}u: {{"));
                    self.store(*to, Kind::Time, "(*m).time", AT);
                    self.go(*next);
                    self.line("}");
                }
                _ => {}
            }
        }
        self.line("default: {}");
        self.line("}");
        self.line("}");
    }

    /// The value of the first arm that the drawn word is below.
    fn pick(&mut self, arms: &[(u32, String)], otherwise: &str) -> String {
        let found = self.fresh();
        self.line(format!("var {found} = {otherwise};"));
        for (word, value) in arms.iter().rev() {
            let below = param(*word, 1);
            self.line(format!(
                "{found} = select({found}, {value}, ((*m).word < {below}) | ({below} == ALL_ONES));"
            ));
        }
        found
    }
}

/// A statement's text in a comment of one line.
fn comment(statement: &str) -> String {
    statement
        .chars()
        .map(|c| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c })
        .collect()
}
