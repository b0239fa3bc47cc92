//! Why a replication has no results: the statement that failed, the deadlock, or the longest line.

use indexmap::IndexMap;

use crate::time::Ticks;

use super::super::error::{Deadlock, Full, ProcessError, Replication, RunFault, Waits};
use super::super::ir::Place;
use super::super::lower::held_at;
use super::super::program::{
    Act, Control, FaultCode, HEADER, INSTANT, MOST_ENTITIES, MOST_EVENTS_AT_ONCE, MOST_STEPS, Program, Status,
};

/// The memory of a run at its end.
pub(super) struct Snapshot<'p> {
    pub(super) program: &'p Program,
    /// The rows of the state.
    pub(super) state: Vec<[u32; 4]>,
    /// LP memory; empty if the run did not begin.
    pub(super) memory: Vec<[u32; 4]>,
    /// The unit of time.
    pub(super) unit: String,
    pub(super) replication: Replication,
}

impl Snapshot<'_> {
    /// A row that all entities share.
    fn global(&self, row: u32) -> [u32; 4] {
        let in_memory = row.checked_sub(self.program.size.state_rows());
        let found = match in_memory {
            None => self.state.get(row as usize),
            Some(row) => self.memory.get(row as usize),
        };
        found.copied().unwrap_or_default()
    }

    /// A row of an entity.
    fn entity(&self, slot: u32, row: u32) -> [u32; 4] {
        let place = self.program.entity_row(slot) + row;
        self.memory.get(place as usize).copied().unwrap_or_default()
    }

    /// The time of two words, in units.
    fn units(&self, words: [u32; 2]) -> f64 {
        self.program.resolution.units(Ticks::from_words(words))
    }

    /// The time of the last event, in units.
    fn last(&self) -> f64 {
        let [_, word] = INSTANT;
        let row = self.global(word / 4);
        self.units([row[(word % 4) as usize], row[(word % 4 + 1) as usize]])
    }

    /// The fault of the run.
    pub(super) fn fault(self) -> ProcessError {
        let program = self.program;
        let fault = self.global(0)[HEADER.fault as usize];
        let step = &program.steps[(fault >> 8) as usize];
        let [slot, detail, low, high] = self.global(program.fault_row);
        let code = FaultCode::of(fault & 0xff).expect("programs fail by the faults of this list");
        let process = &program.processes[step.process as usize].name;
        let (mut entity, mut statement, mut place) =
            (format!("`{process}`"), step.statement.clone(), step.place);
        if let Some(slot) = slot.checked_sub(1) {
            let number = self.entity(slot, 2)[program.entity.who as usize];
            entity = format!("{entity} {number}");
        } else if code == FaultCode::Endless {
            // Too many events at one time have no statement.
            (entity, statement, place) = ("the model".to_owned(), "the model".to_owned(), Place::default());
        }
        let resource = |index: u32| program.resources.get(index as usize).map_or("", |of| of.name.as_str());
        let what = match code {
            FaultCode::NotHeld => {
                format!("it holds {detail} units of that resource; release no more than it holds")
            }
            FaultCode::Holding => {
                format!("it ends while it holds `{}`; release that before", resource(detail))
            }
            FaultCode::Endless => format!(
                "more than {MOST_STEPS} steps in one event, or {MOST_EVENTS_AT_ONCE} events at one time; let time pass in the loop"
            ),
            FaultCode::Request => format!(
                "a request of {} can never be granted; request at least 1, and no more than there can be",
                detail.cast_signed()
            ),
            FaultCode::Negative => format!("the counter would be reduced by {detail}; count at least 0"),
            FaultCode::Overflow => {
                "a number does not fit: integers have 32 bits, times and reals 64; keep values smaller"
                    .to_owned()
            }
            FaultCode::Division => "a division by zero; test the divisor before".to_owned(),
            FaultCode::Never => "a time beyond the last tick; choose fewer ticks per unit".to_owned(),
            FaultCode::Children => {
                format!("{detail} of the entities that it joins have not ended; join them before")
            }
            FaultCode::Spawned => {
                format!("it starts {detail} entities at once; at most {MOST_ENTITIES} can be there")
            }
            _ => "the run is too long for the numbers of its events; choose an earlier end".to_owned(),
        };
        let (time, unit) = (self.units([low, high]), self.unit);
        let replication = self.replication;
        ProcessError::Fault(Box::new(RunFault {
            place,
            statement,
            entity,
            time,
            unit,
            code,
            what,
            replication,
        }))
    }

    /// More entities than there may be.
    pub(super) fn full(self, most: u32) -> ProcessError {
        let lines = (0..).zip(&self.program.lines);
        let lengths = lines.map(|(line, of)| (self.global(of.row)[1], line, &of.name));
        // The first of equal ones.
        let longest = lengths.reduce(|longest, next| if next.0 > longest.0 { next } else { longest });
        let longest = longest.filter(|(length, ..)| *length > 0);
        let statement = longest.and_then(|(_, line, _)| {
            let waits = |act: &Act| matches!(act, Act::WaitUntil { wait, .. } if wait.line == line);
            self.program.steps.iter().find(|step| waits(&step.act))
        });
        let place = statement.map_or_else(Place::default, |step| step.place);
        let line = longest.map(|(length, _, name)| (name.clone(), length));
        let time = self.last();
        ProcessError::Full(Box::new(Full {
            most,
            time,
            unit: self.unit,
            line,
            place,
            replication: self.replication,
        }))
    }

    /// Entities that wait, where nothing is pending.
    pub(super) fn deadlock(self) -> ProcessError {
        let program = self.program;
        // By type and step.
        let mut groups: IndexMap<(u32, u32), u32> = IndexMap::new();
        for slot in 0..self.global(0)[HEADER.fresh as usize] {
            let Control { step, status, process } = Control::of(self.entity(slot, 0)[0]);
            if status != Status::Free as u32 {
                *groups.entry((process, step)).or_default() += 1;
            }
        }
        groups.sort_by(|a, _, b, _| (a.1, a.0).cmp(&(b.1, b.0)));
        let held = held_at(program);
        let process = |process: u32| program.processes[process as usize].name.clone();
        let waits = groups.iter().map(|(&(of, step), &count)| {
            let written = &program.steps[step as usize];
            let (mut reason, mut holders) = (String::new(), Vec::new());
            match &written.act {
                Act::Seize { resource, .. } => {
                    let [in_use, units, ..] = self.global(program.resources[*resource as usize].row);
                    let name = &program.resources[*resource as usize].name;
                    reason = format!("{in_use} of {units} `{name}` in use");
                    let holding = groups.keys().filter(|group| held[group.1 as usize].contains_key(resource));
                    holders = holding
                        .map(|&(of, step)| (process(of), program.steps[step as usize].place))
                        .collect();
                }
                Act::Put { container, .. } | Act::Get { container, .. } => {
                    let container = &program.containers[*container as usize];
                    let [content, capacity, ..] = self.global(container.row);
                    reason = format!("`{}` has {content} of {capacity}", container.name);
                }
                Act::Give { store, .. } | Act::Take { store, .. } => {
                    let store = &program.stores[*store as usize];
                    let rests = self.global(program.lines[store.items as usize].row)[1];
                    reason = format!("{rests} rest in `{}`", store.name);
                }
                _ => {}
            }
            let (entity, place, statement) = (process(of), written.place, written.statement.clone());
            Waits { count, entity, place, statement, reason, holders }
        });
        let waits = waits.collect();
        let (time, unit, replication) = (self.last(), self.unit.clone(), self.replication.clone());
        ProcessError::Deadlock(Box::new(Deadlock { time, unit, waits, replication }))
    }
}
