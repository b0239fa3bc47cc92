//! One replication over time: which entity holds which unit of each resource.

use std::io;

use indexmap::IndexMap;
use serde::Serialize;

use crate::pdes::Until;
use crate::text::write_csv;
use crate::time::Ticks;

use super::super::error::ProcessError;
use super::super::ir::Place;
use super::super::lower::{Amount, held_at};
use super::super::model::{Rows, Sized3};
use super::super::program::{Control, HEADER, Node, Program, Status};
use super::course::Course;

/// Who holds which units of resources, in a part of a run. Times are in the model's unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Occupation {
    /// The unit of time.
    pub unit: String,
    /// The begin of the part.
    pub from: f64,
    /// Its end: earlier than requested, if there are too many holdings.
    pub until: f64,
    /// The resources, in the order of the model.
    pub resources: Vec<Occupied>,
}

/// The units of a resource over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Occupied {
    /// The name of the resource.
    pub resource: String,
    /// The number of its units, from each of these times on.
    pub units: Vec<(f64, u32)>,
    /// Who holds them, by unit and then by time.
    pub holdings: Vec<Holding>,
}

/// A time in which an entity holds a unit. Several units held at once are as many holdings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Holding {
    /// The number of the unit, from 1: the first free one when the entity got it.
    pub unit: u32,
    /// The type of the entity.
    pub entity: String,
    /// Its number among its type, from 1.
    pub number: u32,
    /// The begin.
    pub from: f64,
    /// The end; that of the part if it still holds the unit then.
    pub until: f64,
}

/// An entity: its slot, its type, and its number among that.
type Who = [u32; 3];

/// A resource during a run: who holds each unit, and since when.
#[derive(Default)]
struct Units {
    held: Vec<Option<(Who, f64)>>,
    offered: Vec<(f64, u32)>,
    /// Unit, entity, begin, end.
    ended: Vec<(usize, Who, f64, f64)>,
}

impl Units {
    /// Takes note of what each entity holds from this time on. What ended up to `from` is dropped.
    fn change(&mut self, [from, now]: [f64; 2], units: u32, mut holds: IndexMap<Who, u32>) {
        if self.offered.last().is_none_or(|(_, known)| *known != units) {
            self.offered.push((now, units));
        }
        for (unit, held) in self.held.iter_mut().enumerate() {
            let Some((who, since)) = *held else { continue };
            match holds.get_mut(&who) {
                Some(more) if *more > 0 => *more -= 1,
                _ => {
                    *held = None;
                    if now > from {
                        self.ended.push((unit, who, since, now));
                    }
                }
            }
        }
        for (who, count) in holds {
            for _ in 0..count {
                let free = self.held.iter().position(Option::is_none);
                let unit = free.unwrap_or(self.held.len());
                self.held.resize(self.held.len().max(unit + 1), None);
                self.held[unit] = Some((who, now));
            }
        }
    }

    /// Holdings after `from`; those that have not ended, until `until`.
    fn holdings(self, program: &Program, from: f64, until: f64) -> Vec<Holding> {
        let held = self.held.into_iter().enumerate();
        let going = held.filter_map(|(unit, held)| held.map(|(who, since)| (unit, who, since, until)));
        let all = self.ended.into_iter().chain(going).filter(|(_, _, since, end)| *end > from && since < end);
        let holding = |(unit, [_, process, number], since, until): (usize, Who, f64, f64)| Holding {
            unit: u32::try_from(unit + 1).expect("units have 16 bits"),
            entity: program.processes[process as usize].name.clone(),
            number,
            from: since.max(from),
            until,
        };
        let mut all: Vec<_> = all.map(holding).collect();
        all.sort_by(|a, b| a.unit.cmp(&b.unit).then(a.from.total_cmp(&b.from)));
        all
    }
}

impl<S: Sized3> Course<'_, S> {
    /// Holdings from a time to another one, at most `most`.
    pub(super) fn occupation(&self, from: f64, until: f64, most: usize) -> Result<Occupation, ProcessError> {
        let program = self.compiled.program();
        let time = |units: f64| {
            let ticks = program.resolution.ticks(units);
            ticks.map_err(|source| ProcessError::Time { what: "the time of the picture", source })
        };
        let [first, last] = [time(from)?, time(until)?.min(self.until)];
        if first >= last {
            return Err(ProcessError::Setting {
                place: Place::default(),
                what: "the times of the picture".to_owned(),
                value: format!("{from} to {until}"),
                remedy: "choose a begin before the end, and before that of the run".to_owned(),
            });
        }
        let amounts = held_at(program);
        let params = self.model.words();
        let mut simulation = self.simulation()?;
        let mut resources: Vec<Units> = program.resources.iter().map(|_| Units::default()).collect();
        let (mut now, mut end) = (Ticks::ZERO, last);
        loop {
            let state = simulation.states()[0].rows();
            let global = |row: u32| match row.checked_sub(program.size.state_rows()) {
                None => state[row as usize],
                Some(row) => simulation.memory()[row as usize],
            };
            let mut holds: Vec<IndexMap<Who, u32>> = vec![IndexMap::new(); resources.len()];
            for slot in 0..state[0][HEADER.fresh as usize] {
                let row = |row: u32| simulation.memory()[(program.entity_row(slot) + row) as usize];
                let word = |word: u32| row(2 + word / 4)[(word % 4) as usize];
                let Control { step, status, process } = Control::of(row(0)[0]);
                if status == Status::Free as u32 {
                    continue;
                }
                for (resource, amount) in &amounts[step as usize] {
                    let units = match amount {
                        Amount::Counted(at) => word(*at),
                        Amount::Known(parts) => parts.iter().map(|part| constant(part, params)).sum(),
                    };
                    if units > 0 {
                        let who = [slot, process, word(program.entity.who)];
                        holds[*resource as usize].insert(who, units);
                    }
                }
            }
            let here = program.resolution.units(now);
            for ((of, units), holds) in program.resources.iter().zip(&mut resources).zip(holds) {
                units.change([from, here], global(of.row)[1], holds);
            }
            let begun = |of: &Units| of.ended.len() + of.held.iter().flatten().count();
            let next = simulation.pending().iter().map(|(_, event)| event.time).min();
            let Some(next) = next.filter(|next| *next < last) else { break };
            if next > first && resources.iter().map(begun).sum::<usize>() >= most {
                end = next;
                break;
            }
            now = next;
            simulation.run(Until::time(Ticks::new(now.get() + 1)))?;
        }
        let until = program.resolution.units(end);
        let resources = program.resources.iter().zip(resources).map(|(of, mut units)| Occupied {
            resource: of.name.clone(),
            units: std::mem::take(&mut units.offered),
            holdings: units.holdings(program, from, until),
        });
        let unit = self.compiled.model().unit.clone();
        Ok(Occupation { unit, from, until, resources: resources.collect() })
    }
}

/// An amount that does not change while a run lasts.
fn constant(part: &Node, params: &[u32]) -> u32 {
    match part {
        Node::Literal(units) => u32::try_from(*units).unwrap_or(0),
        Node::Param(word) => params[*word as usize],
        _ => 0,
    }
}

impl Occupation {
    /// Writes holdings as CSV: `resource`, `unit`, `entity`, `number`, `from`, `until`.
    ///
    /// # Errors
    /// [`ProcessError::Write`].
    pub fn to_csv(&self, file: impl io::Write) -> Result<(), ProcessError> {
        write_csv(file, |writer| {
            writer.write_record(["resource", "unit", "entity", "number", "from", "until"])?;
            for Occupied { resource, holdings, .. } in &self.resources {
                for Holding { unit, entity, number, from, until } in holdings {
                    let [unit, number] = [unit, number].map(u32::to_string);
                    let [from, until] = [from, until].map(f64::to_string);
                    writer.write_record([resource, &unit, entity, &number, &from, &until])?;
                }
            }
            Ok(())
        })
        .map_err(ProcessError::Write)
    }

    /// Draws a Gantt chart: a row for each unit that was held, with a bar for each holding, by type
    /// of entity. Rows are grey where there are fewer units.
    ///
    /// # Errors
    /// [`AnalysisError::Plot`](crate::statistics::AnalysisError::Plot).
    #[cfg(feature = "plot")]
    pub fn draw(&self) -> Result<String, ProcessError> {
        use crate::statistics::{AnalysisError, plot};
        let wrong = |message: String| AnalysisError::Plot { name: "a Gantt chart".to_owned(), message };
        let mut rows = Vec::new();
        let mut types: Vec<&str> = Vec::new();
        for of in &self.resources {
            let last = of.holdings.iter().map(|holding| holding.unit).max().unwrap_or(1);
            for unit in 1..=last {
                let holdings = of.holdings.iter().filter(|holding| holding.unit == unit);
                let mut bars = Vec::new();
                for Holding { entity, from, until, .. } in holdings {
                    let known = types.iter().position(|name| name == entity);
                    let of = known.unwrap_or_else(|| {
                        types.push(entity);
                        types.len() - 1
                    });
                    bars.push((*from, *until, Some(of)));
                }
                bars.splice(
                    0..0,
                    of.missing(unit, self.from, self.until).map(|[from, until]| (from, until, None)),
                );
                let name = if last == 1 { of.resource.clone() } else { format!("{} {unit}", of.resource) };
                rows.push(plot::Bars { name, bars });
            }
        }
        if rows.is_empty() {
            return Err(wrong("the model has no resource".to_owned()).into());
        }
        if rows.len() > plot::MOST_ROWS as usize {
            let message = format!(
                "it has {} rows, and at most {} fit; choose a shorter time",
                rows.len(),
                plot::MOST_ROWS
            );
            return Err(wrong(message).into());
        }
        let mut svg = String::new();
        let across = format!("time ({})", self.unit);
        plot::gantt(&mut svg, &across, [self.from, self.until], &rows, &types)
            .map_err(|error| wrong(error.to_string()))?;
        Ok(svg)
    }
}

impl Occupied {
    /// When there were fewer units than this number.
    #[cfg(feature = "plot")]
    fn missing(&self, unit: u32, from: f64, until: f64) -> impl Iterator<Item = [f64; 2]> {
        let ends = self.units.iter().skip(1).map(|(time, _)| *time).chain([until]);
        let periods = self.units.iter().zip(ends).filter(move |((_, units), _)| *units < unit);
        periods
            .map(move |((begin, _), end)| [begin.max(from), end.min(until)])
            .filter(|[begin, end]| begin < end)
    }
}
