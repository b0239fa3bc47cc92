//! What the text reads by number, in `data` behind the rows of the program: lines, steps,
//! resources, containers, stores and conditions.

use super::super::program::{Act, Order, Program, Step};

shared! {
    "process/machine.wgsl":
    const WORK_RESOURCE: u32;
    const WORK_CONTAINER: u32;
    const WORK_STORE: u32;
}

/// The rows of all tables: lines, steps, resources, containers, stores, conditions.
pub(super) struct Tables(pub(super) [Vec<[u32; 4]>; 6]);

impl Tables {
    /// The functions that read them.
    pub(super) const NAMES: [&str; 6] =
        ["line_of", "step_of", "resource_of", "container_of", "store_of", "condition_of"];

    pub(super) fn of(program: &Program) -> Self {
        let lines = program.lines.iter().zip(owners(program)).map(|(line, owner)| {
            let flags = [line.order == Order::Priority, line.largest, line.serves];
            let flags = flags.iter().rev().fold(0, |word, flag| word << 1 | u32::from(*flag));
            [line.row, flags, line.watch, owner]
        });
        let steps = program.steps.iter().map(|step| step_row(program, step));
        let resources = program.resources.iter().map(|of| {
            let holders = of.holders.map_or(0, |line| line + 1);
            [of.row, of.line, of.watch, holders | u32::from(of.shift) << 16]
        });
        let containers = program.containers.iter().map(|of| [of.row, of.putters, of.getters, of.watch]);
        let stores = program.stores.iter().map(|of| [of.items, of.givers, of.takers, of.capacity]);
        let conditions = program.conditions.iter().map(|of| [of.line, of.watch, of.own.into(), 0]);
        Self([
            lines.collect(),
            steps.collect(),
            resources.collect(),
            containers.collect(),
            stores.collect(),
            conditions.collect(),
        ])
    }
}

/// Where an entity continues that waits at a step, and in which line.
fn step_row(program: &Program, step: &Step) -> [u32; 4] {
    let interrupted = step.interrupted.map_or(0, u32::from) << 16;
    let wait = match &step.act {
        Act::Delay { next, .. } | Act::Join { next, .. } => return [u32::from(*next), 0, 0, interrupted],
        act => act.wait(),
    };
    let Some(wait) = wait else { return [0; 4] };
    let next = step.act.successors()[0];
    let otherwise = wait.patience.as_ref().map_or(0, |patience| patience.otherwise);
    let item = match &step.act {
        Act::Give { store, .. } => program.stores[*store as usize].items,
        _ => wait.line,
    };
    let held = wait.held.map_or(0, |word| word + 1);
    [u32::from(next) | u32::from(otherwise) << 16, wait.line, item, held | interrupted]
}

/// What is served when an entity leaves a line.
fn owners(program: &Program) -> Vec<u32> {
    let mut owners = vec![0; program.lines.len()];
    let owner = |kind: u32, index: u32| kind | index << 8;
    for (index, of) in (0..).zip(&program.resources) {
        for line in [of.line].into_iter().chain(of.holders) {
            owners[line as usize] = owner(WORK_RESOURCE, index);
        }
    }
    for (index, of) in (0..).zip(&program.containers) {
        for line in [of.putters, of.getters] {
            owners[line as usize] = owner(WORK_CONTAINER, index);
        }
    }
    for (index, of) in (0..).zip(&program.stores) {
        for line in [of.items, of.givers, of.takers] {
            owners[line as usize] = owner(WORK_STORE, index);
        }
    }
    owners
}
