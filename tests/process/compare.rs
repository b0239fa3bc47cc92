//! Runs a model as a compiled program and by the interpreter, and compares all that both know,
//! after each time at which there is an event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{
    CpuEngine, CpuSimulation, Engine, EngineOptions, Event, Mapping, Options, Simulation, SimulationError,
    Until,
};
use eventhorizon::process::ir::{Kind, ProcessModel};
use eventhorizon::process::program::{
    Control, FaultCode, GlobalWord, HEADER, Histogram, INSTANT, LIVE, Program, SOURCE_EVENT, Size, Status,
    SumKind,
};
use eventhorizon::process::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small, lower};
use eventhorizon::statistics::{Design, Experiment, Point};
use eventhorizon::time::Ticks;

use crate::interpreter::{Being, Due, Level, Quantity, State, Waiters, World};

/// An event that executes more statements than this may be endless: the two count differently.
const MANY_STEPS: u32 = 4_000;

/// Replications of a model in each mapping.
const REPLICATIONS: u32 = 6;

/// A model with what a run needs.
#[derive(Debug, Clone)]
pub struct Case {
    pub model: ProcessModel,
    /// Values of the parameters.
    pub point: Vec<f64>,
    /// One run for each.
    pub seeds: Vec<u64>,
    /// The end of the warm-up and of the run, in units.
    pub warm_up: f64,
    pub until: f64,
    /// Room for entities.
    pub room: u32,
    /// The run ends after this number of events, too.
    pub most_events: u64,
}

/// What a comparison saw.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub events: u64,
    pub fault: Option<FaultCode>,
    /// Whether there was no room for an entity.
    pub full: bool,
    /// Observations of all tallies.
    pub observations: u64,
    /// What happened: [`World::did`].
    pub did: BTreeSet<String>,
}

/// Why a case was not compared, or what differs.
#[derive(Debug, Clone)]
pub enum Trouble {
    Refused(String),
    Differs(String),
}

type Compared<T> = Result<T, Trouble>;

fn differs<T>(what: String) -> Compared<T> {
    Err(Trouble::Differs(what))
}

/// Compares two values.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, program: T, interpreter: T) -> Compared<()> {
    match program == interpreter {
        true => Ok(()),
        false => differs(format!("{what}: {program:?} in the program, {interpreter:?} by the interpreter")),
    }
}

/// The compiled program of a case.
pub fn printed(case: &Case) -> Compared<Arc<Printed>> {
    let program = lower(&case.model).map_err(|error| Trouble::Refused(error.to_string()))?;
    Ok(Arc::new(Printed::new(program)))
}

/// Compares a program on the CPU with the interpreter.
pub fn compare(case: &Case) -> Compared<Seen> {
    let printed = printed(case)?;
    match printed.program.size {
        Size::Small => compare_sized::<Small>(case, &printed),
        Size::Medium => compare_sized::<Medium>(case, &printed),
        Size::Large => compare_sized::<Large>(case, &printed),
    }
}

/// Compares a program on a device with the same on the CPU, at `stops` times.
pub fn compare_device(gpu: &Gpu, case: &Case, stops: u32) -> Compared<u64> {
    let printed = printed(case)?;
    match printed.program.size {
        Size::Small => device_sized::<Small>(gpu, case, &printed, stops),
        Size::Medium => device_sized::<Medium>(gpu, case, &printed, stops),
        Size::Large => device_sized::<Large>(gpu, case, &printed, stops),
    }
}

/// Compares some replications of a program in these mappings with the same on the CPU.
pub fn compare_mappings(gpu: &Gpu, case: &Case, mappings: &[Mapping]) -> Compared<u64> {
    let printed = printed(case)?;
    match printed.program.size {
        Size::Small => mapped::<Small>(gpu, case, &printed, mappings),
        Size::Medium => mapped::<Medium>(gpu, case, &printed, mappings),
        Size::Large => mapped::<Large>(gpu, case, &printed, mappings),
    }
}

fn mapped<S: Sized3>(gpu: &Gpu, case: &Case, printed: &Arc<Printed>, mappings: &[Mapping]) -> Compared<u64> {
    let (run, until) = model_of::<S>(case, printed)?;
    let build = move |_: &Point<'_>| Ok::<_, std::convert::Infallible>(run.clone());
    let experiment = Experiment::new(Design::default(), REPLICATIONS, case.seeds[0]);
    let cpu = CpuEngine::new(build.clone(), EngineOptions::default());
    let expected = cpu.run(&experiment, Until::time(until)).map_err(|error| failed(&error))?;
    for mapping in mappings {
        let options = EngineOptions::default().mapping(*mapping);
        let mut engine = Engine::new(gpu, build.clone(), options).map_err(|error| failed(&error))?;
        let found = engine.run(&experiment, Until::time(until)).map_err(|error| failed(&error))?;
        same(&format!("results by {mapping}"), found.fingerprint, expected.fingerprint)?;
    }
    let ended = expected.runs.iter().flatten().flatten();
    Ok(ended.map(|run| run.progress.events).sum())
}

pub fn model_of<S: Sized3>(case: &Case, printed: &Arc<Printed>) -> Compared<(ProcessRun<S>, Ticks)> {
    let resolution = printed.program.resolution;
    let refused = |error: String| Trouble::Refused(error);
    let warm_up = resolution.ticks(case.warm_up).map_err(|error| refused(error.to_string()))?;
    let run = ProcessRun::new(Arc::clone(printed), &case.point, warm_up, case.room)
        .map_err(|error| refused(error.to_string()))?;
    Ok((run, resolution.ticks(case.until).map_err(|error| refused(error.to_string()))?))
}

fn device_sized<S: Sized3>(gpu: &Gpu, case: &Case, printed: &Arc<Printed>, stops: u32) -> Compared<u64> {
    let (run, until) = model_of::<S>(case, printed)?;
    let options = Options::default().seed(case.seeds[0]);
    let mut on_cpu = match CpuSimulation::new(&run, options) {
        Ok(on_cpu) => on_cpu,
        Err(_) => return Ok(0),
    };
    let mut simulation = Simulation::new(gpu, &run, options).map_err(|error| failed(&error))?;
    let mut events = 0;
    for stop in 1..=stops {
        let until = Until::time(Ticks::new(until.get() / u64::from(stops) * u64::from(stop)));
        let progress = match (simulation.run(until), on_cpu.run(until)) {
            (Ok(device), Ok(cpu)) => {
                same("events", device.events, cpu.events)?;
                cpu
            }
            // A device stops at the end of a window, so only the kind of fault is the same.
            (Err(device), Err(cpu)) => {
                same("kind of fault", device.kind(), cpu.kind())?;
                break;
            }
            (Ok(_), Err(error)) | (Err(error), Ok(_)) => return differs(format!("one fails: {error}")),
        };
        events = progress.events;
        same("fingerprint", simulation.fingerprint().map_err(|error| failed(&error))?, on_cpu.fingerprint())?;
    }
    Ok(events)
}

fn compare_sized<S: Sized3>(case: &Case, printed: &Arc<Printed>) -> Compared<Seen> {
    let program = &printed.program;
    let (run, until) = model_of::<S>(case, printed)?;
    let mut all = Seen::default();
    for &seed in &case.seeds {
        let seen = compare_run(case, seed, program, &run, until)?;
        all.events += seen.events;
        all.observations += seen.observations;
        all.fault = all.fault.or(seen.fault);
        all.full |= seen.full;
        all.did.extend(seen.did);
    }
    Ok(all)
}

fn compare_run<S: Sized3>(
    case: &Case,
    seed: u64,
    program: &Program,
    run: &ProcessRun<S>,
    until: Ticks,
) -> Compared<Seen> {
    let warm_up = program.resolution.ticks(case.warm_up).expect("checked before").get();
    let mut world = World::new(&case.model, program.resolution, &case.point, seed, warm_up, run.room());
    world.begin();
    let begun = CpuSimulation::new(run, Options::default().seed(seed));
    let mut seen = Seen::default();
    let mut simulation = match begun {
        Ok(simulation) => simulation,
        Err(error) if world.full => {
            seen.full = is_full(&error)?;
            return Ok(seen);
        }
        Err(error) => return Err(failed(&error)),
    };
    loop {
        let rows = Both { program, state: simulation.states()[0].rows(), memory: simulation.memory() };
        if world.full {
            return differs("there is room in the program, and none by the interpreter".to_owned());
        }
        let is_over = rows.is_over(&world);
        let compared = match is_over {
            Over::Endless => Ok(()),
            Over::No | Over::Faults => rows.all(&world).and_then(|()| pending(&simulation, &world)),
        };
        compared.map_err(|trouble| at(trouble, &world))?;
        seen.events = world.events;
        seen.fault = match rows.word(HEADER.fault) {
            0 => None,
            fault => FaultCode::of(fault & 0xff),
        };
        seen.observations = world.tallies.values().map(|tally| u64::from(tally.count)).sum();
        let Some(next) = world.next().filter(|next| *next < until.get()) else { break };
        if is_over != Over::No || world.events >= case.most_events {
            break;
        }
        world.step();
        match simulation.run(Until::time(Ticks::new(next + 1))) {
            Ok(progress) => same("events", progress.events, world.events).map_err(|of| at(of, &world))?,
            Err(error) if world.full => {
                seen.full = is_full(&error)?;
                return Ok(seen);
            }
            Err(error) => return at_err(format!("the program fails: {error}"), &world),
        }
    }
    outputs::<S>(program, &simulation)?;
    seen.did = world.did;
    Ok(seen)
}

fn is_full(error: &SimulationError) -> Compared<bool> {
    match error.to_string().contains("memory") {
        true => Ok(true),
        false => differs(format!("there is no room by the interpreter, and the program says: {error}")),
    }
}

fn at(trouble: Trouble, world: &World<'_>) -> Trouble {
    match trouble {
        Trouble::Differs(what) => Trouble::Differs(format!(
            "at {} ({} events; interpreter: {:?}): {what}",
            world.now, world.events, world.fault
        )),
        refused @ Trouble::Refused(_) => refused,
    }
}

fn at_err<T>(what: String, world: &World<'_>) -> Compared<T> {
    Err(at(Trouble::Differs(what), world))
}

/// Drivers and the translator to machine code take programs up to a bound.
fn failed(error: &SimulationError) -> Trouble {
    let error = error.to_string();
    match error.contains("; the bound is 200000") || error.contains(" expressions (at most ") {
        true => Trouble::Refused(error),
        false => Trouble::Differs(error),
    }
}

/// The output is the rows that the program lists.
fn outputs<S: Sized3>(program: &Program, simulation: &CpuSimulation<'_, ProcessRun<S>>) -> Compared<()> {
    let now = simulation.states()[0].rows()[1];
    let at = Ticks::from_words([now[2], now[3]]).saturating_add(Ticks::new(1));
    let found = simulation.outputs(at).map_err(|error| failed(&error))?;
    let rows = Both { program, state: simulation.states()[0].rows(), memory: simulation.memory() };
    for (place, row) in program.output_rows.iter().enumerate() {
        same(&format!("output {place}"), found.rows()[0].rows()[place], rows.row(*row))?;
    }
    Ok(())
}

/// Whether a comparison goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    No,
    /// There is a fault.
    Faults,
    /// The program found a loop without end, whose steps the interpreter counts in another way.
    Endless,
}

/// Rows of a program, beside the interpreter.
struct Both<'a> {
    program: &'a Program,
    state: &'a [[u32; 4]],
    memory: &'a [[u32; 4]],
}

impl Both<'_> {
    /// A row that all entities share.
    fn row(&self, row: u32) -> [u32; 4] {
        let row = row as usize;
        self.state.get(row).copied().unwrap_or_else(|| self.memory[row - self.state.len()])
    }

    fn word(&self, word: GlobalWord) -> u32 {
        self.row(word / 4)[word as usize % 4]
    }

    fn value(&self, kind: Kind, word: impl Fn(u32) -> u32) -> Quantity {
        let both = || Ticks::from_words([word(0), word(1)]).get();
        match kind {
            Kind::Integer => Quantity::Integer(word(0).cast_signed()),
            Kind::Time => Quantity::Time(both()),
            Kind::Real => Quantity::Real(both().cast_signed()),
            Kind::Condition => Quantity::Condition(word(0) != 0),
        }
    }

    fn is_over(&self, world: &World<'_>) -> Over {
        let fault = self.word(HEADER.fault);
        let endless = fault & 0xff == FaultCode::Endless as u32;
        match fault {
            _ if endless && world.steps > MANY_STEPS => Over::Endless,
            0 if world.fault.is_none() => Over::No,
            _ => Over::Faults,
        }
    }

    fn all(&self, world: &World<'_>) -> Compared<()> {
        let program = self.program;
        self.fault(world)?;
        same("last number", self.word(HEADER.number), world.number)?;
        same("used slots", self.word(HEADER.fresh), world.fresh)?;
        same("first free slot", self.word(HEADER.free), world.free.last().map_or(0, |slot| slot + 1))?;
        same("living entities", self.word(LIVE), world.entities.len() as u32)?;
        let [count, time] = INSTANT;
        let last = Ticks::from_words([self.word(time), self.word(time + 1)]).get();
        same("events at this time", (self.word(count), last), world.instant)?;
        for (process, count) in program.processes.iter().zip(&world.counts) {
            same(&format!("entities of {}", process.name), self.word(process.count), *count)?;
        }
        for (source, count) in program.sources.iter().zip(&world.entries) {
            same(&format!("entries of {}", source.name), self.word(source.count), *count)?;
        }
        for variable in &program.variables {
            let found = self.value(variable.kind, |word| self.word(variable.word + word));
            let within = |what: &str| variable.name.strip_prefix(what)?.strip_suffix(')');
            let expected = if let Some(signal) = within("sent(") {
                Quantity::Integer(world.sent.get(signal).copied().unwrap_or(0).cast_signed())
            } else if let Some(statement) = within("turn(") {
                Quantity::Integer(world.turns.get(statement).copied().unwrap_or(0) as i32)
            } else {
                world.variables[&*variable.name]
            };
            same(&variable.name, found, expected)?;
        }
        self.places(world)?;
        self.sums(world)?;
        (0..world.fresh).try_for_each(|slot| self.entity(slot, world))
    }

    fn fault(&self, world: &World<'_>) -> Compared<()> {
        let fault = self.word(HEADER.fault);
        let [link, detail, low, high] = self.row(self.program.fault_row);
        let (code, step) = (FaultCode::of(fault & 0xff), &self.program.steps[(fault >> 8) as usize]);
        let Some(expected) = &world.fault else { return same("fault", (fault != 0).then_some(code), None) };
        same("fault", (code, link.checked_sub(1)), {
            let slot = expected.entity.as_ref().map(|(slot, ..)| *slot);
            (Some(expected.wrong.code), slot)
        })?;
        same("time of the fault", Ticks::from_words([low, high]).get(), expected.time)?;
        same("its detail", detail, expected.wrong.detail)?;
        if expected.entity.is_some() && !step.statement.split("; ").any(|part| part == expected.statement) {
            return differs(format!("the fault is at `{}`, not at `{}`", step.statement, expected.statement));
        }
        Ok(())
    }

    /// A level and its sum of changes times age: its area is what the sum lacks.
    fn level(&self, what: &str, level: &Level, value: u32, sum: u64, world: &World<'_>) -> Compared<()> {
        same(what, i64::from(value), level.value)?;
        let age = world.age();
        let area = u64::from(value).wrapping_mul(age).wrapping_sub(sum);
        same(&format!("area of {what}"), area, level.area(age) as u64)
    }

    /// The same with 128 bits.
    fn wide(&self, what: &str, level: &Level, value: i64, sum: [u32; 4], world: &World<'_>) -> Compared<()> {
        same(what, value, level.value)?;
        let sum = (0..4).map(|word| u128::from(sum[word]) << (32 * word)).sum::<u128>();
        let area = (i128::from(value) * i128::from(world.age())).wrapping_sub(sum.cast_signed());
        same(&format!("area of {what}"), area, level.area(world.age()))
    }

    fn line(&self, line: u32, waiters: &Waiters, world: &World<'_>) -> Compared<()> {
        let line = &self.program.lines[line as usize];
        let [_, length, low, high] = self.row(line.row);
        self.level(&line.name, &waiters.length, length, Ticks::from_words([low, high]).get(), world)
    }

    fn places(&self, world: &World<'_>) -> Compared<()> {
        let (program, places) = (self.program, &world.places);
        for of in &program.resources {
            let expected = &places.resources[&*of.name];
            let [in_use, units, low, high] = self.row(of.row);
            same(&format!("units of {}", of.name), units, expected.units)?;
            self.level(&of.name, &expected.in_use, in_use, Ticks::from_words([low, high]).get(), world)?;
            self.line(of.line, &expected.line, world)?;
            if let Some(holders) = of.holders {
                self.line(holders, &expected.holders, world)?;
            }
        }
        for of in &program.containers {
            let expected = &places.containers[&*of.name];
            let [content, capacity, ..] = self.row(of.row);
            same(&format!("capacity of {}", of.name), capacity, expected.capacity)?;
            self.wide(&of.name, &expected.content, content.into(), self.row(of.row + 1), world)?;
            self.line(of.getters, &expected.getters, world)?;
            self.line(of.putters, &expected.putters, world)?;
        }
        for of in &program.stores {
            let expected = &places.stores[&*of.name];
            self.line(of.items, &expected.items, world)?;
            self.line(of.givers, &expected.givers, world)?;
            self.line(of.takers, &expected.takers, world)?;
        }
        for (line, name) in program.signals.iter().zip(world.model.signals.keys()) {
            self.line(*line, &places.signals[&**name], world)?;
        }
        same("conditions", program.conditions.len(), places.conditions.len())?;
        for (of, waiters) in program.conditions.iter().zip(&places.conditions) {
            self.line(of.line, waiters, world)?;
        }
        // No list has the lines of batches: they are what remains.
        let others = (program.resources.iter().flat_map(|of| [Some(of.line), of.holders]).flatten())
            .chain(program.containers.iter().flat_map(|of| [of.getters, of.putters]))
            .chain(program.stores.iter().flat_map(|of| [of.items, of.givers, of.takers]))
            .chain(program.signals.iter().copied())
            .chain(program.conditions.iter().map(|of| of.line));
        let others: BTreeSet<u32> = others.collect();
        let batches = (0..program.lines.len() as u32).filter(|line| !others.contains(line));
        let batches: Vec<u32> = batches.collect();
        same("batches", batches.len(), places.batches.len())?;
        for (line, waiters) in batches.into_iter().zip(&places.batches) {
            self.line(line, waiters, world)?;
        }
        Ok(())
    }

    fn sums(&self, world: &World<'_>) -> Compared<()> {
        for sum in &self.program.sums {
            let (name, row) = (&*sum.name, self.row(sum.row));
            // All observations are in a bin, and all times up to the last change.
            if let Some(histogram) = sum.histogram {
                let rows = (histogram.row()..histogram.row() + histogram.rows()).map(|at| self.row(at));
                let words: Vec<u32> = rows.flatten().collect();
                let wide = |words: &[u32]| u64::from(words[1]) << 32 | u64::from(words[0]);
                match histogram {
                    Histogram::Observations { .. } => same(name, words.iter().sum(), row[3])?,
                    Histogram::Times { .. } => {
                        same(name, words[4..].chunks_exact(2).map(wide).sum(), wide(&words))?;
                    }
                }
            }
            match sum.kind {
                SumKind::Tally(_) => {
                    let expected = world.tallies.get(name).copied().unwrap_or_default();
                    let total = i128::from(row[2].cast_signed()) << 64
                        | i128::from(row[1]) << 32
                        | i128::from(row[0]);
                    same(name, (total, row[3]), (expected.sum, expected.count))?;
                    let range = self.row(sum.row + 1);
                    let [least, most] = [0, 2]
                        .map(|word| Ticks::from_words([range[word], range[word + 1]]).get().cast_signed());
                    same(&format!("range of {name}"), [least, most], [expected.least, expected.most])?;
                    let squares = self.row(sum.row + 2).map(u128::from);
                    let squares = squares.iter().rev().fold(0, |sum, word| sum << 32 | word);
                    same(&format!("squares of {name}"), squares, expected.squares)?;
                }
                SumKind::Share(_) => {
                    let found = Ticks::from_words([row[0], row[1]]).get();
                    same(name, found, world.shares.get(name).copied().unwrap_or_default())?;
                }
                SumKind::Counter => {
                    let found = Ticks::from_words([row[0], row[1]]).get();
                    same(name, found, world.counters.get(name).copied().unwrap_or_default())?;
                }
                SumKind::Level(_) => {
                    let expected = &world.levels[name];
                    let variable = self.program.variables.iter().find(|of| of.name == name);
                    let value = self.word(variable.expect("a variable").word).cast_signed();
                    self.wide(name, expected, value.into(), row, world)?;
                }
            }
        }
        Ok(())
    }

    fn entity(&self, slot: u32, world: &World<'_>) -> Compared<()> {
        let row = self.program.entity_row(slot);
        let [control, number, ..] = self.memory[row as usize];
        let control = Control::of(control);
        let what = |what: &str| format!("{what} of slot {slot}");
        let Some(being) = world.entities.get(&slot) else {
            return same(&what("status"), control.status, Status::Free as u32);
        };
        // A fault leaves the entity that runs as it was, and those that continue where they were.
        if world.fault.is_none() {
            same(&what("status"), control.status, status(being) as u32)?;
            same(&what("number"), number, being.number)?;
        }
        same(&what("type"), control.process, being.kind as u32)?;
        let word = |word: u32| self.memory[(row + 2 + word / 4) as usize][word as usize % 4];
        let layout = &self.program.entity;
        same(&what("number among its type"), word(layout.who), being.who)?;
        if let Some(created) = layout.created {
            let found = self.value(Kind::Time, |more| word(created + more));
            same(&what("entry"), found, Quantity::Time(being.created))?;
        }
        let process = &self.program.processes[being.kind];
        if let Some(children) = process.children {
            same(&what("children"), word(children), being.children)?;
        }
        for attribute in &process.attributes {
            let found = self.value(attribute.kind, |more| word(attribute.word + more));
            same(&what(&attribute.name), found, being.attributes[&*attribute.name])?;
        }
        Ok(())
    }
}

fn status(being: &Being<'_>) -> Status {
    use crate::interpreter::Where;
    match being.state {
        State::Ready => Status::Ready,
        State::Delay => Status::Delay,
        State::Line(Where::Items(_)) => Status::Item,
        State::Line(_) => Status::Line,
        State::Join => Status::Join,
        State::Member => Status::Member,
    }
}

/// The events that are pending, with those that were cancelled.
fn pending<S: Sized3>(simulation: &CpuSimulation<'_, ProcessRun<S>>, world: &World<'_>) -> Compared<()> {
    // A fault ends the event before those that continue scheduled theirs.
    let found: BTreeMap<_, _> = simulation
        .pending()
        .into_iter()
        .map(|(_, Event { time, payload: [number, who] })| ((time.get(), number), who))
        .collect();
    let expected = world.pending.iter().map(|(key, due)| {
        let who = match due {
            Due::Entity(slot) => *slot,
            Due::Source(source) => SOURCE_EVENT | *source as u32,
        };
        (*key, who)
    });
    same("pending events", found, expected.collect())
}
