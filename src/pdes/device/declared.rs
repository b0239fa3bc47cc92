//! The optional functions of a model's file.

/// The optional functions that a model's file declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::pdes) struct Declared {
    /// The senders of each LP: `sender_count`, `sender`.
    pub(in crate::pdes) senders: bool,
    pub(in crate::pdes) answer: bool,
    /// The next destination of an LP, and the gap to other messages: `next_to`, `next_gap`.
    pub(in crate::pdes) next: bool,
    pub(in crate::pdes) earliest: bool,
}

impl Declared {
    /// The functions that a run uses; `counted`: whether it is event-limited. `earliest` does not
    /// bound the number of events before that time, which may exceed the budget of a window, so the
    /// executed events would depend on where windows end. Speculative execution counts them.
    pub(in crate::pdes) fn for_run(self, counted: bool) -> Self {
        Self { earliest: self.earliest && !counted, ..self }
    }
}
