//! What is refused of networks that run as process models: settings without an agreed meaning
//! together, or that process models lack.

use super::beyond::{Beyond, Interrupted, Selection, ShiftEnd};
use super::nodes::{Choice, Kind, Node, unsupported};
use super::{Discipline, FacilityError};

/// Checks combinations of settings of a node, and of a node with the targets of its routes.
pub(super) fn together(nodes: &[Node], classes: &[String]) -> Result<(), FacilityError> {
    for node in nodes {
        if let Some((what, reason)) = refused(node) {
            return Err(unsupported(&node.name, what, reason));
        }
        if let Some(class) = unskilled(node) {
            return Err(FacilityError::NoTime {
                node: node.name.clone(),
                class: classes[class].clone(),
                what: "group that serves them (`serves`)",
            });
        }
        if node.choice == Choice::Shortest {
            for route in node.pairs.iter().flat_map(|pair| &pair.routes) {
                let to = &nodes[route.node];
                if let Some((what, reason)) = not_compared(node.beyond.selection, to) {
                    return Err(unsupported(&node.name, what, reason));
                }
            }
        }
    }
    Ok(())
}

/// Why a line cannot be compared with others.
fn not_compared(selection: Selection, to: &Node) -> Option<(&'static str, &'static str)> {
    let Kind::Station { servers, discipline, .. } = to.kind else {
        let reason = "only stations and delays report their number of customers";
        return Some(("a shortest line among nodes without lines", reason));
    };
    let patient = to.pairs.iter().all(|pair| pair.patience.is_none());
    let Beyond { groups, setup, .. } = &to.beyond;
    let alone = servers == Some(1) && discipline == Discipline::Fifo && groups.is_empty();
    let sure =
        patient && to.breakdown.is_none() && to.calendar.is_empty() && setup.iter().all(Option::is_none);
    (selection == Selection::LeastWork && !(alone && sure)).then_some((
        "the work of a station that does not serve steadily",
        "the work is known at one server that serves all in the order of arrival, without pauses",
    ))
}

/// A class without a group that serves it.
fn unskilled(node: &Node) -> Option<usize> {
    let groups = &node.beyond.groups;
    let coming = (0..node.pairs.len()).filter(|&class| node.pairs[class].comes && !groups.is_empty());
    coming.into_iter().find(|&class| groups.iter().all(|group| !group.serves[class]))
}

/// What is refused at a node, with the reason.
fn refused(node: &Node) -> Option<(&'static str, &'static str)> {
    use Discipline::{Fifo, Lifo, Polling, Preemptive, Priority, Random, Sharing};
    let Kind::Station { servers, discipline, .. } = node.kind else { return None };
    let Beyond { groups, shift, interrupted, setup, .. } = &node.beyond;
    let stops = discipline == Preemptive || node.breakdown.is_some() || *shift == ShiftEnd::Preempt;
    let sets_up = setup.iter().any(Option::is_some);
    match discipline {
        Random => {
            return Some((
                "a line in random order in a process model",
                "its lines are ordered by arrival or by a priority that does not change",
            ));
        }
        Sharing => {
            return Some(("shared servers in a process model", "its resources serve whole customers"));
        }
        Polling if servers != Some(1) || !groups.is_empty() => {
            return Some(("polling by several servers", "each server polls alone; use one server"));
        }
        Fifo | Lifo | Polling | Priority | Preemptive => {}
    }
    if node.blocks && !node.balking.is_empty() {
        return Some((
            "balking at a station that blocks",
            "a customer that waits elsewhere for room there has joined already",
        ));
    }
    if !groups.is_empty() && stops {
        return Some((
            "groups with preemption, breakdowns or preemptive ends of shifts",
            "an interrupted customer would wait for one group, or for all of them",
        ));
    }
    if !groups.is_empty() && (sets_up || node.beyond.aging.is_some()) {
        return Some((
            "groups with setups or priorities that age",
            "a free server takes classes in their order, and which one it served last is not said",
        ));
    }
    if !groups.is_empty() && discipline == Lifo {
        return Some((
            "groups with the discipline `lifo`",
            "a free server looks through the line from its begin",
        ));
    }
    if sets_up && servers != Some(1) {
        return Some(("a setup of several servers", "which of them serves next is not said; use one server"));
    }
    if *interrupted != Interrupted::Resume && !stops {
        return Some((
            "a service that is repeated without interruptions",
            "nothing interrupts it; choose the discipline `preemptive`, a breakdown, or `shift = \"preempt\"`",
        ));
    }
    None
}
