//! What is refused of networks that run as process models: settings without an agreed meaning
//! together, or that process models lack.

use super::beyond::{Beyond, Interrupted, Selection, ShiftEnd};
use super::names::setting;
use super::nodes::{Choice, Kind, Node, unsupported};
use super::{Discipline, FacilityError};

/// Checks combinations of settings of a node, and of a node with the targets of its routes.
pub(super) fn together(nodes: &[Node], classes: &[String]) -> Result<(), FacilityError> {
    for node in nodes {
        if let Some((what, reason)) = refused(node, nodes) {
            return Err(unsupported(&node.name, what, reason));
        }
        lacks_parts(node, classes)?;
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
    let Kind::Station { servers, .. } = to.kind else {
        let reason = "only stations and delays report their number of customers";
        return Some(("a shortest line among nodes without lines", reason));
    };
    if selection != Selection::LeastWork {
        return None;
    }
    if servers.is_none() {
        return Some(("the work of a delay", "no customer waits there, so all are equal; choose `shortest`"));
    }
    let what = "the work of a station that serves in batches";
    to.beyond
        .batch
        .as_ref()
        .map(|_| (what, "the time of a batch is that of its first customer, who is not known yet"))
}

/// Checks that the parts of an assembly come to it, and no other class.
fn lacks_parts(node: &Node, classes: &[String]) -> Result<(), FacilityError> {
    let parts = node.beyond.parts();
    for (class, pair) in node.pairs.iter().enumerate().filter(|_| !parts.is_empty()) {
        let (what, remedy) = match (parts.iter().any(|part| part.0 == class), pair.comes) {
            (true, false) => ("a part of the batch", "no customer of this class comes here; lead them here"),
            (false, true) => {
                ("a class beside the parts of the batch", "lead them elsewhere, or add them to `parts`")
            }
            _ => continue,
        };
        return Err(setting(&node.name, what, format!("`{}`", classes[class]), remedy.to_owned()));
    }
    Ok(())
}

/// A class without a group that serves it.
fn unskilled(node: &Node) -> Option<usize> {
    let groups = &node.beyond.groups;
    let coming = (0..node.pairs.len()).filter(|&class| node.pairs[class].comes && !groups.is_empty());
    coming.into_iter().find(|&class| groups.iter().all(|group| !group.serves[class]))
}

/// What is refused at a node, with the reason.
fn refused(node: &Node, nodes: &[Node]) -> Option<(&'static str, &'static str)> {
    use Discipline::{Fifo, Lifo, Polling, Preemptive, Priority, Random, Sharing};
    let Kind::Station { servers, discipline, .. } = node.kind else { return None };
    let Beyond { groups, shift, interrupted, setup, speeds, batch, .. } = &node.beyond;
    let stops = discipline == Preemptive || node.breakdown.is_some() || *shift == ShiftEnd::Preempt;
    let sets_up = setup.iter().any(Option::is_some);
    let patient = node.pairs.iter().all(|pair| pair.patience.is_none());
    let begins_again = *interrupted != Interrupted::Resume;
    match discipline {
        Random if !groups.is_empty() => {
            return Some((
                "groups with the discipline `random`",
                "a free server looks through the line from its begin",
            ));
        }
        Sharing if !groups.is_empty() || sets_up || batch.is_some() => {
            return Some((
                "groups, setups or batches of shared servers",
                "all customers are served at the same time, by all servers",
            ));
        }
        Sharing if !patient || node.holds(nodes) => {
            return Some((
                "shared servers with patience, or before a station that blocks",
                "no customer waits there, and none has a server of its own to keep",
            ));
        }
        Sharing if begins_again => {
            return Some((
                "shared services that are repeated",
                "all customers would begin again at once; choose `interrupted = \"resume\"`",
            ));
        }
        Polling if servers != Some(1) || !groups.is_empty() => {
            return Some(("polling by several servers", "each server polls alone; use one server"));
        }
        Fifo | Lifo | Polling | Priority | Preemptive | Random | Sharing => {}
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
    if let Some(batch) = batch {
        if !matches!(discipline, Fifo | Priority) || node.beyond.aging.is_some() || !groups.is_empty() {
            return Some((
                "service in batches in another order than `fifo` and `priority`, or by groups",
                "the first of the line takes others along, in the order of arrival or of classes",
            ));
        }
        if node.holds(nodes) && !batch.joins {
            return Some((
                "a route of a batch to a station that blocks",
                "its customers would find room one after the other, and share one server; choose `joins = true`",
            ));
        }
    }
    if node.beyond.parts().len() > 1 && !node.beyond.regions.is_empty() {
        return Some((
            "an assembly in a region",
            "one part could take all its places, and the others would wait outside for ever; bound the parts by `capacity`",
        ));
    }
    let changes = batch.is_some() || !speeds.is_empty();
    if changes && (begins_again || *shift == ShiftEnd::Preempt || discipline == Preemptive) {
        return Some((
            "an interrupted service in batches or with `speeds`",
            "its rest would depend on the customers that come and leave meanwhile",
        ));
    }
    if begins_again && !stops {
        return Some((
            "a service that is repeated without interruptions",
            "nothing interrupts it; choose the discipline `preemptive`, a breakdown, or `shift = \"preempt\"`",
        ));
    }
    None
}
