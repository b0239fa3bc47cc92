//! Steps: what entities do.

use super::super::ir;
use super::layout::{EntityWord, ParamWord, StepId};
use super::values::{Expr, Slot};

/// Instructions that an entity executes without a pause: first `ops`, then what `act` reads, then
/// at most one draw, then `act`.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What needs no other entity.
    pub ops: Vec<Op>,
    /// How it ends.
    pub act: Act,
    /// Where an entity continues that is interrupted while it waits here, if it can be.
    pub interrupted: Option<StepId>,
    /// The entity's type.
    pub process: u32,
    /// The statement, for faults: `use doctor`.
    pub statement: String,
    /// Where it is written.
    pub place: ir::Place,
}

/// What a step does before its act.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Stores a value of the slot's kind.
    Set(Slot, Expr),
    /// Adds an observation, of any kind but a condition, to a tally.
    Tally(u32, Expr),
    /// Adds an integer to a counter; [`FaultCode::Negative`](super::FaultCode::Negative) if it is
    /// below 0.
    Count(u32, Expr),
    /// Takes a note, with an integer.
    Note(u32, Expr),
}

/// How a step ends. `next` is the step after it.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Continues.
    Jump {
        /// The step after it.
        next: StepId,
    },
    /// Continues by a condition.
    Branch {
        /// The condition.
        condition: Expr,
        /// If it holds.
        yes: StepId,
        /// If it does not.
        no: StepId,
    },
    /// Continues at random: at the first arm whose word of `Params` is above the drawn word, or is
    /// all ones.
    Chance {
        /// One word.
        draw: u32,
        /// Cumulative probabilities in units of 2^-32, with their steps.
        arms: Vec<(ParamWord, StepId)>,
        /// If no arm is taken.
        otherwise: StepId,
    },
    /// Stores a drawn time.
    Draw {
        /// The draw.
        draw: u32,
        /// Where to.
        to: Slot,
        /// The step after it.
        next: StepId,
    },
    /// Stores a random integer, as [`Act::Chance`].
    Choose {
        /// One word.
        draw: u32,
        /// Cumulative probabilities, with values.
        arms: Vec<(ParamWord, i32)>,
        /// The value if no arm is taken.
        otherwise: i32,
        /// Where to.
        to: Slot,
        /// The step after it.
        next: StepId,
    },
    /// Lets time pass.
    Delay {
        /// How long.
        time: Time,
        /// The step after it.
        next: StepId,
    },
    /// Takes units.
    Seize {
        /// The resource.
        resource: u32,
        /// How many, an integer.
        units: Expr,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Gives units back.
    Release {
        /// The resource.
        resource: u32,
        /// How many, an integer.
        units: Expr,
        /// The word that counts what it holds, where that is not known; 16 bits are enough.
        held: Option<EntityWord>,
        /// The step after it.
        next: StepId,
    },
    /// Puts an amount into a container.
    Put {
        /// The container.
        container: u32,
        /// How much, an integer.
        amount: Expr,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Gets an amount out of a container.
    Get {
        /// The container.
        container: u32,
        /// How much, an integer.
        amount: Expr,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Enters a store. Patience holds outside and inside.
    Give {
        /// The store.
        store: u32,
        /// How it waits.
        wait: Wait,
        /// The step after it is taken.
        next: StepId,
    },
    /// Takes an entity.
    Take {
        /// The store.
        store: u32,
        /// Words of the taken entity, and of this one to which they are copied.
        copies: Vec<[EntityWord; 2]>,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Lets time pass, while a unit that it holds can be taken.
    Hold {
        /// The resource.
        resource: u32,
        /// Its line is that of the holders; its patience is the time, with the step behind it.
        wait: Wait,
        /// The step after its unit was taken.
        next: StepId,
    },
    /// Waits until entities are together; the last one takes the others along.
    Batch {
        /// How many: a constant of `Params`.
        size: ParamWord,
        /// The word of the last one with the first of the others, a link.
        members: EntityWord,
        /// How the others wait.
        wait: Wait,
        /// The step of the others behind it.
        next: StepId,
        /// The next step of the last one.
        begin: StepId,
    },
    /// Lets those continue that [`Act::Batch`] took along.
    Separate {
        /// The word with the first of them.
        members: EntityWord,
        /// The step after it.
        next: StepId,
    },
    /// Changes the units of a resource.
    Resize {
        /// The resource.
        resource: u32,
        /// Its units, an integer.
        units: Expr,
        /// The step after it.
        next: StepId,
    },
    /// Interrupts an entity, if it waits at a step with [`Step::interrupted`].
    Interrupt {
        /// Its type.
        process: u32,
        /// Its number, an integer.
        number: Expr,
        /// The step after it.
        next: StepId,
    },
    /// Waits for a signal.
    Wait {
        /// The signal.
        signal: u32,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Waits until a condition holds.
    WaitUntil {
        /// The condition.
        condition: u32,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Sends a signal.
    Send {
        /// The signal.
        signal: u32,
        /// The step after it.
        next: StepId,
    },
    /// Starts entities.
    Spawn {
        /// Their type.
        process: u32,
        /// Their first step.
        entry: StepId,
        /// How many, an integer.
        count: Expr,
        /// Words of their attributes, with values.
        set: Vec<(EntityWord, Expr)>,
        /// The word of this entity that counts them, if it joins them.
        joined: Option<EntityWord>,
        /// The step after it.
        next: StepId,
    },
    /// Waits for the entities that it joins.
    Join {
        /// The word that counts them.
        children: EntityWord,
        /// The step after it.
        next: StepId,
    },
    /// Ends.
    End {
        /// The word that counts entities that it joins, if it may have some.
        children: Option<EntityWord>,
        /// Words that count what it holds, with the resources; zeros unless the model is wrong.
        held: Vec<(u32, EntityWord)>,
    },
}

/// How long.
#[derive(Debug, Clone, PartialEq)]
pub enum Time {
    /// Computed: a time.
    Computed(Expr),
    /// Drawn.
    Drawn(u32),
}

/// How an entity waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The line. For [`Act::Give`] that outside.
    pub line: u32,
    /// An integer, if the line is ordered by priority.
    pub priority: Option<Expr>,
    /// When it gives up.
    pub patience: Option<Patience>,
    /// The word that counts what it holds of the resource, where that is not known.
    pub held: Option<EntityWord>,
    /// Whether the time when it began is read later: then `since` is written also if it does not
    /// wait.
    pub since: bool,
}

/// When an entity gives up.
#[derive(Debug, Clone, PartialEq)]
pub struct Patience {
    /// Whether it gives up at all.
    pub when: Option<Expr>,
    /// How long it waits.
    pub time: Time,
    /// What it does then.
    pub otherwise: StepId,
}

impl Step {
    /// The steps that may follow.
    pub fn successors(&self) -> Vec<StepId> {
        self.act.successors().into_iter().chain(self.interrupted).collect()
    }

    /// The steps that it names, to change them.
    pub(in super::super) fn steps_mut(&mut self) -> Vec<&mut StepId> {
        self.act.steps_mut().into_iter().chain(&mut self.interrupted).collect()
    }

    /// The draw of this step, if it has one.
    pub fn draw(&self) -> Option<u32> {
        let of = |time: &Time| match time {
            Time::Drawn(draw) => Some(*draw),
            Time::Computed(_) => None,
        };
        match &self.act {
            Act::Chance { draw, .. } | Act::Draw { draw, .. } | Act::Choose { draw, .. } => Some(*draw),
            Act::Delay { time, .. } => of(time),
            act => of(&act.wait()?.patience.as_ref()?.time),
        }
    }
}

impl Act {
    /// How it waits, if it does.
    pub fn wait(&self) -> Option<&Wait> {
        match self {
            Self::Seize { wait, .. }
            | Self::Put { wait, .. }
            | Self::Get { wait, .. }
            | Self::Give { wait, .. }
            | Self::Take { wait, .. }
            | Self::Hold { wait, .. }
            | Self::Batch { wait, .. }
            | Self::Wait { wait, .. }
            | Self::WaitUntil { wait, .. } => Some(wait),
            _ => None,
        }
    }

    /// The steps that it names, to change them.
    fn steps_mut(&mut self) -> Vec<&mut StepId> {
        match self {
            Self::End { .. } => Vec::new(),
            Self::Branch { yes, no, .. } => vec![yes, no],
            Self::Chance { arms, otherwise, .. } => {
                arms.iter_mut().map(|(_, step)| step).chain([otherwise]).collect()
            }
            Self::Spawn { entry, next, .. } => vec![entry, next],
            Self::Jump { next }
            | Self::Draw { next, .. }
            | Self::Choose { next, .. }
            | Self::Delay { next, .. }
            | Self::Release { next, .. }
            | Self::Send { next, .. }
            | Self::Resize { next, .. }
            | Self::Separate { next, .. }
            | Self::Interrupt { next, .. }
            | Self::Join { next, .. } => vec![next],
            Self::Batch { next, begin, wait, .. } => {
                let patience = wait.patience.as_mut().map(|patience| &mut patience.otherwise);
                [next, begin].into_iter().chain(patience).collect()
            }
            Self::Seize { next, wait, .. }
            | Self::Put { next, wait, .. }
            | Self::Get { next, wait, .. }
            | Self::Give { next, wait, .. }
            | Self::Take { next, wait, .. }
            | Self::Hold { next, wait, .. }
            | Self::Wait { next, wait, .. }
            | Self::WaitUntil { next, wait, .. } => {
                let patience = wait.patience.as_mut().map(|patience| &mut patience.otherwise);
                [next].into_iter().chain(patience).collect()
            }
        }
    }

    /// The steps that may follow, unless it is interrupted: first the usual one.
    pub fn successors(&self) -> Vec<StepId> {
        let mut steps = match self {
            Self::End { .. } => Vec::new(),
            Self::Branch { yes, no, .. } => vec![*yes, *no],
            Self::Chance { arms, otherwise, .. } => {
                arms.iter().map(|(_, step)| *step).chain([*otherwise]).collect()
            }
            Self::Jump { next }
            | Self::Draw { next, .. }
            | Self::Choose { next, .. }
            | Self::Delay { next, .. }
            | Self::Seize { next, .. }
            | Self::Release { next, .. }
            | Self::Put { next, .. }
            | Self::Get { next, .. }
            | Self::Give { next, .. }
            | Self::Take { next, .. }
            | Self::Hold { next, .. }
            | Self::Resize { next, .. }
            | Self::Separate { next, .. }
            | Self::Interrupt { next, .. }
            | Self::Wait { next, .. }
            | Self::WaitUntil { next, .. }
            | Self::Send { next, .. }
            | Self::Spawn { next, .. }
            | Self::Join { next, .. } => vec![*next],
            Self::Batch { next, begin, .. } => vec![*next, *begin],
        };
        steps.extend(self.wait().and_then(|wait| wait.patience.as_ref()).map(|patience| patience.otherwise));
        steps
    }
}
