//! What goes wrong in runs.

/// What went wrong in a run, in the low 8 bits of the header's fault; the step is above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum FaultCode {
    /// It releases units that it does not hold. Detail: what it holds.
    NotHeld = 1,
    /// It ends while it holds units. Detail: the resource.
    Holding = 2,
    /// More steps in an event than [`MOST_STEPS`](super::MOST_STEPS), or events at one time than
    /// [`MOST_EVENTS_AT_ONCE`](super::MOST_EVENTS_AT_ONCE).
    Endless = 3,
    /// It asks for units or an amount that is below 1, or more than can ever be there. Detail: how
    /// many.
    Request = 4,
    /// A counter is to be reduced. Detail: by how much.
    Negative = 5,
    /// A sum, product or conversion that does not fit.
    Overflow = 6,
    /// A division by zero.
    Division = 7,
    /// A delay beyond the last tick.
    Never = 8,
    /// Numbers of events are used up.
    Numbers = 9,
    /// It ends before entities that it joins. Detail: how many.
    Children = 10,
    /// More entities are started at once than can exist. Detail: how many.
    Spawned = 11,
    /// An event [`MOST_TICKS`](super::MOST_TICKS) or more behind the warm-up: sums would not fit.
    Late = 12,
}

impl FaultCode {
    /// The fault with this number.
    pub fn of(code: u32) -> Option<Self> {
        use FaultCode as F;
        let all = [
            F::NotHeld,
            F::Holding,
            F::Endless,
            F::Request,
            F::Negative,
            F::Overflow,
            F::Division,
            F::Never,
            F::Numbers,
            F::Children,
            F::Spawned,
            F::Late,
        ];
        all.into_iter().find(|fault| *fault as u32 == code)
    }
}
