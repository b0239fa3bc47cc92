//! The form between a network and its text, as a listing for people.

use std::fmt::{self, Display, Formatter};

use super::ir::{Ir, Kind, Law, Lines, Node, Pair, Routes, Service};
use crate::facility::Facility;
use crate::facility::distribution::KINDS;

/// Prints the form with the names of the network.
pub(super) struct Listing<'n> {
    pub(super) ir: &'n Ir,
    pub(super) facility: &'n Facility,
}

/// A law, by its distribution and its row of data.
struct ShownLaw<'l>(&'l Law);

impl Display for ShownLaw<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let example = format!("{:?}", KINDS[self.0.kind].example).to_lowercase();
        let name = example.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        write!(f, "{name} (row {})", self.0.row)
    }
}

impl Display for Listing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Ir { nodes, slots, rings, heaps, .. } = self.ir;
        writeln!(
            f,
            "# {} nodes, {} slots of next times, {} rings, {heaps} heaps, {} words of state, {} rows of data",
            nodes.len(),
            slots.len(),
            rings.len(),
            self.ir.words(),
            self.ir.rows().len()
        )?;
        for (number, node) in nodes.iter().enumerate() {
            self.node(number, node, f)?;
        }
        if let Some([slot, heap]) = self.ir.travel {
            writeln!(f, "trips: slot {slot}, heap {heap}")?;
        }
        Ok(())
    }
}

impl Listing<'_> {
    fn name(&self, node: u32) -> &str {
        self.facility.nodes().nth(node as usize).unwrap_or("?")
    }

    fn node(&self, number: usize, node: &Node, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.name(u32::try_from(number).expect("at most 2^15 nodes"));
        let classes = &self.facility.network().classes;
        match &node.kind {
            Kind::Source { slot, class, arrivals, batch, rates } => {
                let class = &classes[*class as usize];
                write!(f, "source {name}: slot {slot}, class {class}, {}", ShownLaw(arrivals))?;
                batch.iter().try_for_each(|row| write!(f, ", batch (row {row})"))?;
                rates.iter().try_for_each(|rates| write!(f, ", rates by slot {}", rates.slot))?;
            }
            Kind::Router => write!(f, "router {name}")?,
            Kind::Fork { fork, ring } => write!(f, "fork {name}: number {fork}, customers in ring {ring}")?,
            Kind::Sink => write!(f, "sink {name}")?,
            Kind::Station { .. } => self.station(name, node, f)?,
        }
        writeln!(f)?;
        let coming = node.pairs.iter().zip(classes).filter(|(pair, _)| pair.comes);
        coming.into_iter().try_for_each(|(pair, class)| self.pair(class, pair, f))
    }

    fn station(&self, name: &str, node: &Node, f: &mut Formatter<'_>) -> fmt::Result {
        let Kind::Station {
            service,
            lines,
            room,
            balking,
            patience,
            schedule,
            breakdown,
            wake,
            blocked,
            holds,
        } = &node.kind
        else {
            return Ok(());
        };
        write!(f, "station {name}: ")?;
        match service {
            Service::Slots { first, count } => write!(f, "servers in slots {first}..{}", first + count)?,
            Service::Preemptive { first, count, .. } => {
                write!(f, "servers in slots {first}..{}, preemptive", first + count)?;
            }
            Service::Heap { slot, heap, servers: Some(row) } => {
                write!(f, "slot {slot}, services in heap {heap}, servers (row {row})")?;
            }
            Service::Heap { slot, heap, servers: None } => write!(f, "slot {slot}, services in heap {heap}")?,
            Service::Shared { slot, heap, servers, clock } => write!(
                f,
                "slot {slot}, shared by customers in heaps {heap} and {}, servers (row {servers}), clock in word {clock}",
                heap + 1
            )?,
        }
        match lines {
            Lines::None => {}
            Lines::One { ring, last: false } => write!(f, "; line in ring {ring}, first first")?,
            Lines::One { ring, last: true } => write!(f, "; line in ring {ring}, last first")?,
            Lines::Random { ring, .. } => write!(f, "; line in ring {ring}, in random order")?,
            Lines::ByClass { first, polled } => {
                let order = if *polled { "polled" } else { "first class first" };
                write!(f, "; lines by class in rings {first}..{}, {order}", first + self.ir.classes)?;
            }
        }
        room.iter().try_for_each(|row| write!(f, "; room (row {row})"))?;
        balking.iter().try_for_each(|[row, _]| write!(f, "; balking (row {row})"))?;
        patience.iter().try_for_each(|[slot, heap]| write!(f, "; patience in slot {slot}, heap {heap}"))?;
        schedule.iter().try_for_each(|calendar| write!(f, "; schedule by slot {}", calendar.slot))?;
        breakdown.iter().try_for_each(|breakdown| write!(f, "; breakdowns by slot {}", breakdown.slot))?;
        wake.iter().try_for_each(|slot| write!(f, "; servers wake in slot {slot}"))?;
        blocked
            .iter()
            .try_for_each(|[ring, slot]| write!(f, "; blocked customers in ring {ring}, slot {slot}"))?;
        if *holds {
            write!(f, "; may keep customers")?;
        }
        for [chooser, _] in &node.listeners {
            write!(f, "; reports to {}", self.name(*chooser))?;
        }
        Ok(())
    }

    fn pair(&self, class: &str, pair: &Pair, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "    {class}:")?;
        pair.service.iter().try_for_each(|law| write!(f, " service {};", ShownLaw(law)))?;
        pair.patience.iter().try_for_each(|law| write!(f, " patience {};", ShownLaw(law)))?;
        pair.travels.iter().try_for_each(|law| write!(f, " travel {};", ShownLaw(law)))?;
        pair.tasks.iter().try_for_each(|[node, _]| write!(f, " task to {};", self.name(*node)))?;
        if pair.population > 0 {
            write!(f, " {} at the start;", pair.population)?;
        }
        match pair.routes {
            Routes::None => writeln!(f, " leaves"),
            Routes::One { node, .. } => writeln!(f, " to {}", self.name(node)),
            Routes::Chance { first, count } => writeln!(f, " to {count} nodes at random (row {first})"),
            Routes::InTurn { first, count } => writeln!(f, " to {count} nodes in turn (row {first})"),
            Routes::Shortest { first, count, .. } => {
                writeln!(f, " to the shortest of {count} lines (row {first})")
            }
        }
    }
}
