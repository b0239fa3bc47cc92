//! The optional functions of a model's file.

/// What of a model's file is not part of every model's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::pdes) struct Declared {
    /// Who may send to whom: `sender_count`, `sender`.
    pub(in crate::pdes) senders: bool,
    pub(in crate::pdes) answer: bool,
    /// To whom an LP sends next, and how much later to others: `next_to`, `next_gap`.
    pub(in crate::pdes) next: bool,
    pub(in crate::pdes) earliest: bool,
}

impl Declared {
    /// What of it a run uses that ends by a number of events, if it is one of those. `earliest`
    /// does not say how many events there are before that time, and there may be more than the
    /// budget of a window: what then is executed depends on where windows end. A dry run counts
    /// them.
    pub(in crate::pdes) fn for_run(self, counted: bool) -> Self {
        Self { earliest: self.earliest && !counted, ..self }
    }
}
