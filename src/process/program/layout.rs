//! Rows of state and LP memory, 16 bytes each.
//!
//! * Global rows `0 .. global_rows`. The first `state_rows` of them are `State`, in registers while
//!   events run; row `g` behind them is row `g - state_rows` of LP memory. Row 0 is the header, the
//!   rows after it have counts and variables (four words a row), then come lines and resources, and
//!   then sums, so that those with most changes are in the state.
//! * The entity table begins at the next even row of LP memory: `room` entities of `stride` rows.
//!   The stride is even, so two rows share a sector of 32 bytes.
//!
//! An entity has row 0, control: (step | status << 16 | type << 24, number, next | previous << 16,
//! child | parent << 16), row 1, wait: (priority, amount, since (2)), and its attributes from row 2
//! on. Word 0 of the attributes is its number among its type. A link is a slot + 1; 0 is no link.
//!
//! What an event touches: row 0 of an entity that moves, its row 1 if it begins to wait, its
//! attributes where a step names them, row 0 (and row 1, if not all requests are of one unit) of an
//! entity that is granted, the neighbours' row 0 of one that enters or leaves a line, and the rows
//! of the tallies. Levels, lines, variables and counts are in the state if there are few.

/// A step: the program counter of entities that are at it.
pub type StepId = u16;

/// A word of the rows that all entities share: row `word / 4`, component `word % 4`. A value of two
/// words begins at an even one. The first [`Size::state_rows`] rows are the state, the others the
/// first rows of LP memory.
pub type GlobalWord = u32;

/// A word of `Params`.
pub type ParamWord = u32;

/// A word of an entity's attributes: row 2 + `word / 4` of the entity.
pub type EntityWord = u32;

/// Words of the header, global row 0.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// The first free slot, as a link.
    pub free: u32,
    /// How many slots were ever used.
    pub fresh: u32,
    /// The last number of an event or a wait.
    pub number: u32,
    /// 0, or a fault: code | step << 8.
    pub fault: u32,
}

/// The words of the header; the word behind it counts living entities.
pub const HEADER: Header = Header { free: 0, fresh: 1, number: 2, fault: 3 };

/// The word that counts living entities.
pub const LIVE: u32 = 4;

/// The word that counts events at the present time, and the two with the time of the last event.
pub const INSTANT: [u32; 2] = [5, 6];

/// Most events at one time: time stands still behind them.
pub const MOST_EVENTS_AT_ONCE: u32 = 1 << 20;

/// The first word for counts of types and sources, and variables.
pub const FIRST_COUNT: u32 = 8;

/// Most entities at a time: links have 16 bits.
pub const MOST_ENTITIES: u32 = 0xfffe;

/// Most steps of an event, over all entities: loops of kernels end below 65,535.
pub const MOST_STEPS: u32 = 16_384;

/// Ticks behind the warm-up at which runs end at the latest. Sums of changes have 64 bits, and
/// levels of resources and lines up to 16 of them.
pub const MOST_TICKS: u64 = 1 << 47;

/// Marks the event of a source in the second word of its payload; an entity's is its slot.
pub const SOURCE_EVENT: u32 = 1 << 31;

/// The kind of [`mix`](crate::random::mix) that hashes the names of draws: its high word.
pub const DRAWN_HASH: u32 = u32::from_be_bytes(*b"draw");

/// The first word of an entity's row 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Its step.
    pub step: u32,
    /// The number of its [`Status`].
    pub status: u32,
    /// Its type.
    pub process: u32,
}

impl Control {
    /// The parts of a word.
    pub const fn of(word: u32) -> Self {
        Self { step: word & 0xffff, status: word >> 16 & 0xff, process: word >> 24 }
    }

    /// The word.
    pub const fn word(self) -> u32 {
        self.step | self.status << 16 | self.process << 24
    }
}

/// Two links in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkWord {
    /// The low half: next, or child.
    pub low: u32,
    /// The high half: previous, or parent.
    pub high: u32,
}

impl LinkWord {
    /// The halves of a word.
    pub const fn of(word: u32) -> Self {
        Self { low: word & 0xffff, high: word >> 16 }
    }

    /// The word.
    pub const fn word(self) -> u32 {
        self.low | self.high << 16
    }
}

/// What an entity does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Status {
    /// The slot is free.
    Free = 0,
    /// It runs, or is in the list of those that continue in this event.
    Ready = 1,
    /// It lets time pass.
    Delay = 2,
    /// It is in the line of its step.
    Line = 3,
    /// It rests in the store of its step.
    Item = 4,
    /// It waits for entities that it joins.
    Join = 5,
    /// It is taken along by another, until that separates.
    Member = 6,
}

/// Rows of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityLayout {
    /// Rows of an entity, even, at least 4.
    pub stride: u32,
    /// Words of attributes in use.
    pub words: u32,
    /// The word of the number among its type: 0.
    pub who: EntityWord,
    /// The two words of the time when it entered, if a model reads ages.
    pub created: Option<EntityWord>,
}

impl EntityLayout {
    /// Rows for this number of words.
    pub const fn stride_of(words: u32) -> u32 {
        (2 + words.div_ceil(4)).next_multiple_of(2)
    }
}

/// The Rust types of state and output: the smallest that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// 4 rows of state, 16 rows of output.
    Small,
    /// 8 rows of state, 64 rows of output.
    Medium,
    /// 16 rows of state, 512 rows of output: 8 KiB, the most that WGSL allows in a variable.
    Large,
}

impl Size {
    /// All sizes, the smallest first.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// Rows of `State`.
    pub const fn state_rows(self) -> u32 {
        match self {
            Self::Small => 4,
            Self::Medium => 8,
            Self::Large => 16,
        }
    }

    /// Rows of `Output`.
    pub const fn output_rows(self) -> u32 {
        match self {
            Self::Small => 16,
            Self::Medium => 64,
            Self::Large => 512,
        }
    }
}
