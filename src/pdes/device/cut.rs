//! How the rows of a run are cut into dispatches and bindings, and how many of them an invocation serves.

use crate::gpu::{Gpu, Subgroups};
use crate::queue::QueueDesign;

use super::dispatch::Part;
use crate::pdes::contract::capacity::mean_for;
use crate::pdes::contract::error::{MEMORY, SimulationError};
use crate::pdes::{Capacity, Event, Model};

/// A dispatch serves this many rows at the most, so that it does not run long on slow devices: with the budget that a window of so
/// many LPs has, it executes 2^26 events at the most. (llvmpipe on two cores executes some 7 million events per second of PHOLD, an H200 five
/// thousand million.)
const DISPATCH_ROWS: u32 = 1 << 20;

/// Invocations of a window, at the most: with more LPs than that, each serves several, one after the other. (`bench phold` on an H200,
/// 1,048,576 LPs, 65,536 invocations against the version before, which had a million: 0.96 to 1.12 times as fast at rate 0.1, where
/// fewer queues at once share the cache better; 1.0 to 1.4 at 0.001; 2.3 to 3.6 at 0.00001, where workgroups with nothing to
/// do cost most.)
const AT_ONCE: u32 = 1 << 16;

/// The same where queues are short circular buffers, of which more fit the cache. (The same, 4 events per LP in CB-SEQ, against 65,536 invocations:
/// 1.06 times as fast at rate 0.1, 1.36 at 0.001, 0.95 at 0.00001. With 16 events, or with the heap at rate 0.1, fewer at
/// once are better.)
const SHORT_AT_ONCE: u32 = 1 << 18;

/// The same where each LP has a horizon of its own, and much is executed in a window. But where there are more than `AT_ONCE`, each serves two at the least, so that those that have something to do fill
/// the lanes. (`bench sync` on an H200, torus of stations with a customer each, µs a window. 262,144: 120, 110 and 112 with one, two and four; 1,048,576: 432, 438 and 444 with 4, 8 and 16. With four
/// customers each 148 and 151 with two and four, with a fifth of one 91 and 89.)
const NEIGHBOURS_AT_ONCE: u32 = 1 << 18;

shared! {
    "pdes/queues/mailboxes.wgsl":
    /// Mailboxes of so many neighbouring LPs lie in one another, in one binding. A power of two.
    const MAIL_LANES: u32;
}

/// Up to this room, circular buffers are short. (4 events per LP need room for 32; 16 need room for 62.)
const SHORT_QUEUE: u32 = 40;

/// Invocations of a window at the most where teams of them serve an LP, as in CB-PAR: about as many as an H200 has room for at once. (A guess.)
const TEAMS_AT_ONCE: u32 = 1 << 18;

/// The LPs that an invocation of a driver on the processor serves at the most: a window begins once for all of them, and those that have something to do fill the
/// lanes. It is no more because llvmpipe counts the loops of each invocation. (`phold` on llvmpipe, two cores, 32,768 LPs with 16 events in heaps, processor time
/// with one, two, four and eight: 23.3, 16.0, 12.5 and 10.0 s at rate 0.001, 8.5, 8.7, 7.9 and 7.8 at 0.01, 8.4, 8.5, 7.6 and 7.5 at 0.1; windows to the horizon with one
/// and four: 11.4 and 4.0 s at 0.001, 13.3 and 3.2 at 0.00001; of neighbours 6.3 and 5.0 at 0.001.)
const TILES_OF_A_THREAD: u32 = 4;

/// Workgroups for each core there, at the least, so that all are done at about the same time. (A guess.)
const GROUPS_OF_A_THREAD: u32 = 4;

/// Room of a queue up to which it is several there: to put that many in order, or to go through them, is far below what llvmpipe lets an invocation do, for four queues, too.
const SHORT_OF_A_THREAD: u32 = 64;

/// Up to this many partial reductions, every workgroup of the next window reads them all; beyond, a dispatch of its
/// own merges them first. A guess: so many are 4 reads for each of 256 invocations, and the dispatch costs 2 us on an H200.
const DIRECT_PARTIALS: u32 = 1024;

/// The store takes this many bindings at the most: those of `shaders/pdes/memory/store_many.wgsl`.
pub(in crate::pdes) const STORE_PARTS: u32 = 24;

/// Storage buffers of a window beside the store: words, lps, queue_events, inbox, states, data, memory. (A calendar has two less.)
const OTHER_BINDINGS: u32 = 7;

/// Uniform buffers of a window: run, params.
const UNIFORM_BINDINGS: u32 = 2;

/// How the rows of a run are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Cut {
    /// Invocations of a workgroup, unless `lanes` are more.
    pub(in crate::pdes) group_size: u32,
    /// Invocations that serve an LP together in a window.
    pub(in crate::pdes) lanes: u32,
    /// Rows that an invocation serves, or a team of them, one after the other.
    pub(in crate::pdes) tiles: u32,
    pub(in crate::pdes) rows: u32,
    /// Rows of a dispatch, and of a binding of the queues and of LP memory: whole workgroups unless there is one dispatch.
    pub(in crate::pdes) part_rows: u32,
    /// Rows of a binding of the store: where a binding is the inbox of dispatches, a multiple of `part_rows` unless there is one.
    pub(in crate::pdes) store_rows: u32,
    /// Slots of a queue.
    pub(in crate::pdes) queue_stride: u32,
    /// Buckets of a calendar; none where there are queues.
    pub(in crate::pdes) buckets: u32,
    /// What was asked for.
    pub(in crate::pdes) capacity: Capacity,
    /// Events that there is room for in a mailbox or a bucket.
    pub(in crate::pdes) room: u32,
    /// Events that the store holds for each LP.
    pub(in crate::pdes) stored: u64,
    /// How the buckets of a calendar are sorted in a dispatch of its own; none where the thread that executes one sorts it.
    pub(in crate::pdes) sort: Option<Sort>,
    /// Of a part of a run that is cut over devices.
    pub(in crate::pdes) outbox: Option<Outbox>,
}

/// How a kernel sorts the buckets of a calendar: `shaders/pdes/calendar/calendar_sort.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Sort {
    pub(in crate::pdes) group_size: u32,
    pub(in crate::pdes) team: u32,
    /// 0 where each event is compared with all.
    pub(in crate::pdes) bins: u32,
    /// The invocations of every subgroup in its workgroups, where that is known and they lie in order.
    pub(in crate::pdes) subgroup: Option<u32>,
}

impl Sort {
    /// None where buckets are short.
    fn new(gpu: &Gpu, room: u32) -> Option<Self> {
        let of = |group_size, team, bins| Self {
            group_size,
            team,
            bins,
            subgroup: Subgroups::in_order(gpu, group_size),
        };
        // From a short bucket the thread that executes it picks, which is faster than a dispatch that sorts; one of more than 32 events it would have to sort. (`bench phold` at
        // rate 0.1. H200, 32,768 LPs: with 24 events each, which takes room for 40, a window takes 58 us and would take 66; with 32, and room for 48, 77 and
        // would take 101. llvmpipe, 4,096 LPs: with 48, and room for 56, 11 million events per second, 6.4 if they were sorted.)
        // Teams and bins are the best of several that were tried there. Room for 72 is what 64 events each take, of which a team of 16 rarely finds more than its 64
        // (121 us, 131 by teams of 32; llvmpipe 8.1 million per second, 5.9).
        let sort = match (room, gpu.is_software()) {
            (..=40, false) | (..=64, true) => return None,
            (..=72, true) => of(32, 16, 0),
            (..=128, true) => of(32, 32, 0),
            (..=256, true) => of(64, 64, 0),
            (..=72, false) => of(64, 16, 64),
            (..=128, false) => of(64, 32, 64),
            (..=256, false) => of(64, 64, 128),
            (..=512, _) => of(128, 128, 256),
            (513.., _) => of(256, 256, 512),
        };
        (sort.group_size <= gpu.limits().max_compute_invocations_per_workgroup).then_some(sort)
    }
}

/// The buckets of a calendar, so that they take some four times the room of one of its lists, within what its kernels can have. (A guess.)
fn buckets(capacity: Capacity) -> u32 {
    let fitting = 4 * u64::from(capacity.queue) / u64::from(capacity.mailbox.max(1));
    1 << fitting.clamp(8, 32).ilog2()
}

/// Events of a row that lie together in a calendar (`shaders/pdes/calendar/calendar.wgsl`): a power of two.
pub(in crate::pdes) const CALENDAR_CHUNK: u32 = 8;

/// The events that a bucket has room for, whole chunks of them, where a model's mailboxes have room for so many. That many would be much memory for nothing, because
/// what finds its bucket full goes the way of later events. So it is some three standard deviations above the
/// mean that `Capacity::poisson` has for such a mailbox. (`bench phold` on an H200, 32,768 LPs at rate 0.1: with five and a half, when buckets all but never are full, it is no faster
/// with 1,024 events each, and 0.77 times as fast with 128, because larger teams sort.)
fn bucket_room(mailbox: u32) -> u32 {
    const DEVIATIONS: f64 = 3.0;
    let mean = mean_of(mailbox);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below the mailbox, which fits"
    )]
    let room = (mean + DEVIATIONS * mean.sqrt()).ceil() as u32;
    room.clamp(1, u32::MAX - CALENDAR_CHUNK).next_multiple_of(CALENDAR_CHUNK)
}

/// The mean load for which `Capacity::poisson` gives this capacity, roughly: m + 9 sqrt(m) is the capacity.
pub(in crate::pdes) fn mean_of(capacity: u32) -> f64 {
    let root = ((81.0 + 4.0 * f64::from(capacity)).sqrt() - 9.0) / 2.0;
    root * root
}

/// The places that a list of a calendar takes.
fn list_stride(capacity: Capacity) -> u64 {
    u64::from(capacity.queue).next_multiple_of(CALENDAR_CHUNK.into())
}

/// The events that the store holds for each LP: `room` in a mailbox or in each bucket.
fn stored(buckets: u32, room: u32, capacity: Capacity) -> u64 {
    match buckets {
        0 => room.into(),
        buckets => u64::from(buckets) * u64::from(room) + 2 * list_stride(capacity),
    }
}

/// From this many LPs on, workgroups of 256 are faster; below, those of 64 spread LPs over more processors. (`bench phold` on an
/// H200, which has 132 processors: 16,384 LPs are 64 workgroups of 256. The exact place is a guess.)
const MANY_LPS: u32 = 16_384;

/// Up to so many LPs, workgroups are single subgroups of GPUs that have subgroups of 32 invocations or fewer. (The same, 1,024 LPs with 4, 16 and 128 events, heaps in workgroups of 32
/// against 64: 1.08, 1.05 and 1.02 times as fast at rate 0.00001, 1.04, 1.02 and 1.00 at 0.001, 0.99, 1.00 and 1.05 at 0.1, calendars 0.99 to 1.00; 4,096 LPs, 0.91 to 1.06.)
const FEW_LPS: u32 = 1024;

/// The invocations of a workgroup, unless somebody chooses.
pub(in crate::pdes) fn usual_group_size(gpu: &Gpu, rows: u32, queue: QueueDesign) -> u32 {
    let size = match (rows >= MANY_LPS, queue.lanes()) {
        (false, 1) if rows <= FEW_LPS && !gpu.is_software() && Subgroups::in_order(gpu, 32).is_some() => 32,
        (false, 1) => 64,
        (true, 1) => 256,
        // The teams of a workgroup wait for each other, so few of them: those of one subgroup, or of two, because processors have room for
        // so many workgroups at once. (A guess.)
        (false, _) => 32,
        (true, _) => 64,
    };
    group_size_at_most(gpu, size)
}

/// The LPs that an invocation serves in each window, unless somebody chooses. `room`: of a queue.
/// `busy`: whether much is executed in a window.
pub(in crate::pdes) fn usual_tiles(gpu: &Gpu, rows: u32, queue: QueueDesign, room: u32, busy: bool) -> u32 {
    let (is_software, lanes) = (gpu.is_software(), queue.lanes());
    match is_software {
        // Calendars are not sifted through: `bench phold` on an H200, 1,048,576 LPs at rate 0.1: 1.1 to 1.2 times as fast as with four.
        _ if queue.is_calendar() => 1,
        true if lanes > 1 || room > SHORT_OF_A_THREAD => 1,
        true => {
            let threads = std::thread::available_parallelism()
                .map_or(1, |threads| u32::try_from(threads.get()).unwrap_or(1));
            let groups = rows.div_ceil(usual_group_size(gpu, rows, queue));
            (groups / (GROUPS_OF_A_THREAD * threads)).clamp(1, TILES_OF_A_THREAD)
        }
        _ if lanes > 1 => (rows.min(DISPATCH_ROWS) * lanes).div_ceil(TEAMS_AT_ONCE),
        _ if busy && rows > AT_ONCE => rows.min(DISPATCH_ROWS).div_ceil(NEIGHBOURS_AT_ONCE).max(2),
        _ if queue.row().short_fit_caches && room <= SHORT_QUEUE => {
            rows.min(DISPATCH_ROWS).div_ceil(SHORT_AT_ONCE)
        }
        _ => rows.min(DISPATCH_ROWS).div_ceil(AT_ONCE),
    }
}

/// A power of two of at most `size` invocations that the device takes.
pub(in crate::pdes) fn group_size_at_most(gpu: &Gpu, size: u32) -> u32 {
    size.min(1 << gpu.limits().max_compute_invocations_per_workgroup.max(1).ilog2())
}

/// The rows that a workgroup of so many invocations serves at once, with so many for each; with more, if they are too few for one.
pub(in crate::pdes) fn at_once(group_size: u32, lanes: u32) -> u32 {
    (group_size / lanes).max(1)
}

impl Cut {
    /// Of nothing.
    pub(in crate::pdes) const EMPTY: Self = Self {
        group_size: 0,
        lanes: 1,
        tiles: 0,
        rows: 0,
        part_rows: 0,
        store_rows: 0,
        queue_stride: 0,
        buckets: 0,
        capacity: Capacity { queue: 0, mailbox: 0 },
        room: 0,
        stored: 0,
        sort: None,
        outbox: None,
    };

    /// Cuts `rows` LPs so that queues, mailboxes and LP memory fit the bindings of the device.
    pub(in crate::pdes) fn new(
        gpu: &Gpu,
        rows: u32,
        (group_size, tiles): (u32, u32),
        queue: QueueDesign,
        needs: Needs,
    ) -> Result<Self, SimulationError> {
        let limits = gpu.limits();
        let storage = limits.max_storage_buffers_per_shader_stage.saturating_sub(OTHER_BINDINGS);
        let all = limits.max_buffers_and_acceleration_structures_per_shader_stage;
        let bindings = storage.min(all.saturating_sub(OTHER_BINDINGS + UNIFORM_BINDINGS));
        let lanes = queue.lanes();
        let at_once = at_once(group_size, lanes);
        let buckets = if queue.is_calendar() { buckets(needs.capacity) } else { 0 };
        let room = CutSizes {
            bytes: gpu.max_buffer_bytes(),
            store_parts: if bindings >= STORE_PARTS { STORE_PARTS } else { 1 },
            rows,
            at_once,
            tiles,
            inbox: buckets == 0,
            // A dispatch has one dimension: a second one might launch workgroups of the next part too.
            dispatch_rows: at_once
                .saturating_mul(gpu.limits().max_compute_workgroups_per_dimension)
                .min(DISPATCH_ROWS),
        };
        let event = u64::from(needs.event_bytes);
        let stored_with = |capacity: Capacity| {
            let room = if buckets > 0 { bucket_room(capacity.mailbox) } else { capacity.mailbox };
            (room, stored(buckets, room, capacity))
        };
        let with = |capacity: Capacity, memory: u32| {
            let queue = event.saturating_mul(queue.stride(capacity.queue));
            room.cut([queue, event * stored_with(capacity).1, ROW * u64::from(memory)])
        };
        let too_large = |what, capacity: u32, needed: u64, fits: &dyn Fn(u32) -> bool| {
            let (mut fitting, mut beyond) = (0, capacity);
            while beyond - fitting > 1 {
                let middle = fitting + (beyond - fitting) / 2;
                *(if fits(middle) { &mut fitting } else { &mut beyond }) = middle;
            }
            SimulationError::TooLarge {
                what,
                capacity,
                lps: rows,
                needed,
                limit: room.bytes,
                largest: fitting.into(),
            }
        };
        let Needs { capacity, memory_rows, .. } = needs;
        let one = Capacity { queue: 1, mailbox: 1 };
        let rows_of = |size| with(one, size).is_some();
        if memory_rows > 0 && !rows_of(memory_rows) {
            let needed = u64::from(rows).saturating_mul(ROW * u64::from(memory_rows));
            return Err(too_large(MEMORY, memory_rows, needed, &rows_of));
        }
        let queues = |size| with(Capacity { queue: size, ..one }, memory_rows).is_some();
        if !queues(capacity.queue) {
            let lists = 2 * u64::from(rows) * list_stride(capacity);
            let needed =
                event.saturating_mul(if buckets > 0 { lists } else { queue.slots(rows, capacity.queue) });
            return Err(too_large("queues", capacity.queue, needed, &queues));
        }
        let mailboxes = |size| with(Capacity { mailbox: size, ..capacity }, memory_rows).is_some();
        let mut cut = with(capacity, memory_rows).ok_or_else(|| {
            let halves = if buckets > 0 { 1 } else { 2 };
            let needed = u64::from(rows).saturating_mul(halves * event * stored_with(capacity).1);
            too_large("mailboxes", capacity.mailbox, needed, &mailboxes)
        })?;
        // It fits a binding, so it fits 32 bits.
        cut.queue_stride = u32::try_from(queue.stride(capacity.queue)).unwrap_or(u32::MAX);
        (cut.group_size, cut.lanes) = (group_size, lanes);
        cut.buckets = buckets;
        cut.capacity = capacity;
        (cut.room, cut.stored) = stored_with(capacity);
        cut.outbox = needs.part.map(|part| Outbox::new(gpu, rows, part, needs));
        cut.sort = (buckets > 0).then(|| Sort::new(gpu, cut.room)).flatten();
        Ok(cut)
    }

    pub(in crate::pdes) fn groups(&self) -> u32 {
        self.groups_of(self.rows)
    }

    /// The workgroups that serve so many rows.
    pub(in crate::pdes) fn groups_of(&self, rows: u32) -> u32 {
        rows.div_ceil(self.at_once() * self.tiles)
    }

    /// The rows that a workgroup of a window serves at once.
    pub(in crate::pdes) fn at_once(&self) -> u32 {
        at_once(self.group_size, self.lanes)
    }

    /// The first row and the number of rows of each dispatch.
    pub(in crate::pdes) fn parts(&self) -> impl Iterator<Item = (u32, u32)> {
        let Self { rows, part_rows, .. } = *self;
        (0..rows).step_by(part_rows as usize).map(move |first| (first, part_rows.min(rows - first)))
    }

    pub(in crate::pdes) fn store_parts(&self) -> u32 {
        self.rows.div_ceil(self.store_rows)
    }

    /// Partial reductions that a window reads: where they begin in `lps`, for either parity, and how many there are.
    fn partials(&self) -> [(u32, u32); 2] {
        let (first, groups) = (2 * self.rows, self.groups());
        match self.gathered() {
            true => [(first + 2 * groups, 1); 2],
            false => [(first, groups), (first + groups, groups)],
        }
    }

    /// Of a calendar: up to how many events the thread that executes a bucket picks from it, as `shaders/pdes/calendar/calendar_pick.wgsl` has it. None where a
    /// dispatch sorts them.
    pub(in crate::pdes) fn picked(&self) -> u32 {
        // (No fewer than 16: whether 8 would serve rooms of 8 better was not tried.)
        if self.sort.is_some() { 0 } else { self.room.clamp(16, 32) }
    }

    /// Whether a dispatch of its own merges the partial reductions.
    pub(in crate::pdes) fn gathered(&self) -> bool {
        self.groups() > DIRECT_PARTIALS || self.sort.is_some()
    }

    /// What the dispatch sees that begins at row `first`.
    pub(in crate::pdes) fn part(&self, first: u32, rows: u32, parity: u32) -> Part {
        let (partials_first, partials_count) = self.partials()[parity as usize];
        Part {
            parity,
            first_group: first / (self.at_once() * self.tiles),
            queue_first: first,
            queue_rows: rows,
            inbox_first: first / self.store_rows * self.store_rows,
            partials_first,
            partials_count,
            memory_first: first,
            ..Part::default()
        }
    }
}

/// Bytes of a row of LP memory.
pub(in crate::pdes) const ROW: u64 = 16;

/// What the LPs of a model need room for.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdes) struct Needs {
    pub(in crate::pdes) capacity: Capacity,
    pub(in crate::pdes) event_bytes: u32,
    pub(in crate::pdes) memory_rows: u32,
    /// Of a run that is cut over devices.
    pub(in crate::pdes) part: Option<PartIndex>,
}

impl Needs {
    #[expect(clippy::cast_possible_truncation, reason = "16 or 32 bytes")]
    pub(in crate::pdes) fn of<M: Model>(model: &M) -> Self {
        let event_bytes = size_of::<Event<M::Payload>>() as u32;
        Self { capacity: model.capacity(), event_bytes, memory_rows: model.memory_rows(), part: None }
    }
}

/// Which part of a run this is, and of how many; and how many events there is to be room for on their way to each of the others, at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct PartIndex {
    pub(in crate::pdes) own: u32,
    pub(in crate::pdes) parts: u32,
    pub(in crate::pdes) room: u32,
}

/// Where a part of a run puts what goes to others: `shaders/pdes/parts/outbox.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Outbox {
    pub(in crate::pdes) parts: u32,
    pub(in crate::pdes) own: u32,
    /// Events for each of the other parts.
    pub(in crate::pdes) room: u32,
}

impl Outbox {
    /// Room for twice as many as go to each part of the run, where LPs send to all alike as many as their mailboxes are made for: with two parts, for all. It is no more than fits a binding.
    fn new(gpu: &Gpu, rows: u32, PartIndex { own, parts, room }: PartIndex, needs: Needs) -> Self {
        const LEAST: f64 = 1024.0;
        let others = u64::from(parts - 1).max(1);
        let taken = 4 * (64 + 3 * u64::from(rows) + others);
        let bytes = gpu.max_buffer_bytes().saturating_sub(taken);
        let fitting = bytes / (others * Outbox::entry(needs.event_bytes as usize) as u64);
        let sent = mean_for(needs.capacity.mailbox) * f64::from(rows);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and casts saturate"
        )]
        let wanted = (2.0 * sent / f64::from(parts) + LEAST).ceil() as u64;
        let room = u32::try_from(wanted.max(room.into()).min(fitting)).unwrap_or(u32::MAX).max(1);
        Self { parts, own, room }
    }

    /// The words that it takes, for events of so many bytes.
    pub(in crate::pdes) fn words(&self, event_bytes: usize) -> u64 {
        let others = u64::from(self.parts - 1);
        others + others * u64::from(self.room) * (Self::entry(event_bytes) as u64 / 4)
    }

    /// The bytes of an event on its way: the LP that it goes to, and the event.
    pub(in crate::pdes) const fn entry(event_bytes: usize) -> usize {
        4 + event_bytes
    }
}

/// What there is to cut, and into what.
struct CutSizes {
    /// Of a binding.
    bytes: u64,
    store_parts: u32,
    rows: u32,
    at_once: u32,
    tiles: u32,
    /// Whether a dispatch reads a binding of the store, as the mailboxes of its rows. One of a calendar has all of them in reach anyway: cut like that,
    /// windows of 32,768 LPs with 1,024 events each would be three dispatches, one after the other, of which each takes as long as one: 810 us in place of 395 (H200).
    inbox: bool,
    dispatch_rows: u32,
}

impl CutSizes {
    /// For LPs that each have so many bytes of queue, mailbox and LP memory. Fewer tiles serve where a workgroup's rows do not fit a
    /// binding.
    fn cut(&self, bytes: [u64; 3]) -> Option<Cut> {
        let fewer = |tiles: &u32| (*tiles > 1).then(|| tiles.div_ceil(2));
        let mut tiles = std::iter::successors(Some(self.tiles), fewer);
        tiles.find_map(|tiles| self.cut_in(tiles, bytes))
    }

    fn cut_in(&self, tiles: u32, bytes: [u64; 3]) -> Option<Cut> {
        let [queue_rows, store_rows, memory_rows] = bytes.map(|bytes| {
            u32::try_from(self.bytes.checked_div(bytes).unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
        });
        // Dispatches are whole workgroups, and where bindings are their inboxes, these hold whole groups of mailboxes.
        let mut whole = self.at_once.saturating_mul(tiles);
        if self.inbox {
            whole = whole.saturating_mul(MAIL_LANES >> whole.trailing_zeros().min(MAIL_LANES.ilog2()));
        }
        let rounded = |rows: u32| if rows >= self.rows { self.rows } else { rows / whole * whole };
        let inbox_rows = if self.inbox { store_rows } else { u32::MAX };
        let part_rows = rounded(queue_rows.min(inbox_rows).min(memory_rows).min(self.dispatch_rows));
        let together = if self.inbox { part_rows } else { whole };
        if part_rows == 0 || store_rows < together.min(self.rows) {
            return None;
        }
        let store_rows = if store_rows >= self.rows { self.rows } else { store_rows / together * together };
        let Self { at_once, rows, .. } = *self;
        let cut = Cut { group_size: at_once, tiles, rows, part_rows, store_rows, ..Cut::EMPTY };
        (cut.store_parts() <= self.store_parts).then_some(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_hold_all_rows_in_bindings_that_fit() {
        for rows in [1, 63, 64, 65, 1000, 100_000, 1 << 20, (1 << 20) + 1] {
            for (group_size, tiles) in [(8, 1), (64, 1), (256, 1), (8, 3), (256, 16), (1, 1), (2, 3), (4, 1)]
            {
                for (stride, mail, memory) in
                    [(1, 1, 0), (10, 3, 1), (232, 150, 0), (3, 1000, 17), (5000, 10, 900), (5, 10, 7000)]
                {
                    let sizes = [4096u64, 1 << 20, 128 << 20].into_iter();
                    let kinds = [true, false];
                    for (bytes, inbox) in sizes.flat_map(|bytes| kinds.map(|kind| (bytes, kind))) {
                        let room = CutSizes {
                            bytes,
                            store_parts: 24,
                            rows,
                            at_once: group_size,
                            tiles,
                            inbox,
                            dispatch_rows: 1 << 20,
                        };
                        let bytes_of = [16 * stride, 16 * mail, 16 * memory];
                        let Some(cut) = room.cut(bytes_of) else {
                            let least = if inbox { group_size.max(MAIL_LANES) } else { group_size }.min(rows);
                            let queues = u64::from(least) * 16 * stride;
                            let others = u64::from(least) * 16 * mail.max(memory);
                            let parts = u64::from(rows).div_ceil(24) * 16 * mail;
                            assert!(queues.max(others) > bytes || 2 * parts > bytes);
                            continue;
                        };
                        assert_eq!(cut.parts().map(|(_, rows)| rows).sum::<u32>(), rows);
                        let mut next = 0;
                        for (first, count) in cut.parts() {
                            assert_eq!((first, first % (group_size * cut.tiles)), (next, 0));
                            assert!(!inbox || first % MAIL_LANES == 0);
                            let queues = u64::from(count) * 16 * stride;
                            assert!(queues.max(u64::from(count) * 16 * memory) <= bytes);
                            let part = cut.part(first, count, 0);
                            assert!(!inbox || first + count <= part.inbox_first + cut.store_rows);
                            next = first + count;
                        }
                        // Where nothing else is too large, there is one dispatch.
                        assert!(
                            inbox
                                || stride.max(memory) * 16 * u64::from(rows) > bytes
                                || rows > 1 << 20
                                || next == cut.part_rows
                        );
                        assert!(u64::from(cut.store_rows) * mail * 16 <= bytes);
                        assert!(cut.store_parts() <= 24);
                    }
                }
            }
        }
    }
}
