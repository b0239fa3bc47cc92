//! Stations of a network that wait for each other for ever, found from the variables of its process
//! model at the end of a run.

use crate::facility::nodes::shrink;

use super::program::Program;

/// A station whose customers keep their servers until there is room at others of the list.
#[derive(Debug, Clone)]
pub(super) struct BlockingStation<V = String> {
    pub(super) name: String,
    /// How many can be kept.
    pub(super) servers: i64,
    /// The variables with the number that wait for room at another one, by its place in the list.
    pub(super) waits: Vec<(V, usize)>,
    /// Sums of variables that have these values if no customer can lose patience here.
    pub(super) patient: Vec<Sum<V>>,
    /// Of an assembly: the number of its servers that hold customers.
    pub(super) held: Vec<(V, i64)>,
    /// Of an assembly: the parts that come from places of the list only.
    pub(super) parts: Vec<Part<V>>,
}

/// A part of an assembly.
#[derive(Debug, Clone)]
pub(super) struct Part<V = String> {
    /// The number that waits, and the number that a service takes.
    pub(super) line: Sum<V>,
    /// The stations that send it.
    pub(super) from: Vec<usize>,
}

/// A sum of variables with a sign each, and a value to compare it with.
pub(super) type Sum<V> = (Vec<(V, i64)>, i64);

/// The stations of a network that may wait for each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocking(Vec<BlockingStation<u32>>);

impl Blocking {
    /// Finds the variables, all of which have averages, in a program. No customer ever waits where
    /// it has none.
    pub(super) fn new(stations: Vec<BlockingStation>, program: &Program) -> Self {
        let find = |name: &String| {
            let found = program.variables.iter().find(|variable| variable.name == *name);
            found.map(|variable| variable.word)
        };
        let word = |name: &String| find(name).expect("it is a variable of the model");
        let sum = |of: &[(String, i64)]| of.iter().map(|(name, sign)| (word(name), *sign)).collect();
        let part = |part: &Part| Part { line: (sum(&part.line.0), part.line.1), from: part.from.clone() };
        let of = |station: BlockingStation| BlockingStation {
            waits: station.waits.iter().filter_map(|(name, to)| Some((find(name)?, *to))).collect(),
            patient: station.patient.iter().map(|(of, value)| (sum(of), *value)).collect(),
            held: sum(&station.held),
            parts: station.parts.iter().map(part).collect(),
            name: station.name,
            servers: station.servers,
        };
        Self(stations.into_iter().map(of).collect())
    }

    /// The names of the stations that are in deadlock, if there are any, from the rows of a run's
    /// output: all their servers are kept by customers that wait for room at one of them, or wait
    /// for a part that only they send, and no customer leaves a line there.
    pub(super) fn stuck(&self, rows: &[[u32; 4]]) -> Option<String> {
        let value = |word: u32| i64::from(rows[(word / 4) as usize][(word % 4) as usize].cast_signed());
        let sum = |of: &[(u32, i64)]| of.iter().map(|&(word, sign)| sign * value(word)).sum::<i64>();
        let patient = |station: &BlockingStation<u32>| station.patient.iter().all(|(of, is)| sum(of) == *is);
        let mut stuck: Vec<bool> = self.0.iter().map(patient).collect();
        shrink(&mut stuck, |stuck, place| {
            let station = &self.0[place];
            let waits = station.waits.iter().filter(|(_, to)| stuck[*to]);
            let blocked = waits.map(|&(word, _)| value(word)).sum::<i64>();
            let lacks = |part: &Part<u32>| {
                sum(&part.line.0) < part.line.1 && part.from.iter().all(|from| stuck[*from])
            };
            blocked >= station.servers || sum(&station.held) == blocked && station.parts.iter().any(lacks)
        });
        let found = self.0.iter().zip(stuck).filter(|(_, stuck)| *stuck);
        let names: Vec<_> = found.map(|(station, _)| format!("`{}`", station.name)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}
