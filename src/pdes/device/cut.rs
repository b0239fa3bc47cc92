//! Divides the rows of a run into dispatches and bindings, and chooses the rows per invocation.

use crate::gpu::{Gpu, Subgroups};
use crate::queue::QueueDesign;

use super::dispatch::Part;
use super::pool::{Pool, events_of};
use super::strategy::Strategy;
use crate::pdes::contract::capacity::mean_for;
use crate::pdes::contract::error::{MEMORY, SimulationError};
use crate::pdes::{Capacity, Event, Mapping, Model};

/// The maximum number of rows of a dispatch, so that it does not run long on slow devices: with the
/// budget of a window it executes at most 2^26 events.
const DISPATCH_ROWS: u32 = 1 << 20;

/// The maximum number of invocations of a window. With more LPs, each serves several, one after the
/// other: fewer queues at once share the cache better, and idle workgroups cost less.
const AT_ONCE: u32 = 1 << 16;

/// The same for queues that are short circular buffers, more of which fit the cache.
const SHORT_AT_ONCE: u32 = 1 << 18;

/// The same with per-LP bounds, if much is executed in a window. With more than `AT_ONCE` LPs, each
/// invocation serves at least two, so that LPs with events fill the lanes.
const NEIGHBOURS_AT_ONCE: u32 = 1 << 18;

shared! {
    "pdes/queues/mailboxes.wgsl":
    /// The number of neighbouring LPs with interleaved mailboxes, in one binding. A power of two.
    const MAIL_LANES: u32;
}

/// The maximum capacity of short circular buffers. (4 events per LP need 32; 16 need 62.)
const SHORT_QUEUE: u32 = 40;

/// The maximum number of invocations of a window if teams serve an LP, as in CB-PAR: about as many
/// as an H200 holds at once. (A guess.)
const TEAMS_AT_ONCE: u32 = 1 << 18;

/// The maximum number of LPs per invocation on a software adapter: a window starts once for all of
/// them, and LPs with events fill the lanes. Not more, because llvmpipe counts the loops of each
/// invocation.
const TILES_OF_A_THREAD: u32 = 4;

/// The minimum number of workgroups per core there, so that all cores finish at about the same
/// time. (A guess.)
const GROUPS_OF_A_THREAD: u32 = 4;

/// The maximum queue capacity for several LPs per invocation there: sorting or scanning four such
/// queues is far below llvmpipe's limit.
const SHORT_OF_A_THREAD: u32 = 64;

/// Up to this many partial reductions, every workgroup of the next window reads them all (4 reads
/// for each of 256 invocations). Beyond, a dispatch merges them first. (A guess.)
const DIRECT_PARTIALS: u32 = 1024;

/// The maximum number of bindings of the store, as in `shaders/pdes/memory/store_many.wgsl`.
pub(in crate::pdes) const STORE_PARTS: u32 = 24;

/// Storage buffers of a window besides the store: words, lps, queue_events, inbox, states, data,
/// memory. (A calendar has two less.)
const OTHER_BINDINGS: u32 = 7;

/// Uniform buffers of a window: run, params.
const UNIFORM_BINDINGS: u32 = 2;

/// The minimum size of a team's workgroups, except in windows: fewer kernels are compiled, and
/// lavapipe (Mesa 22.3) finds loops cut in workgroups of one invocation.
const LEAST_OF_TEAM: u32 = 64;

/// Why a run has no team.
pub(in crate::pdes) const TOO_MANY: &str =
    "its LPs, or the events of an LP, are too many for a workgroup of this device";

/// The division of a run's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Cut {
    /// Invocations of a workgroup, unless `lanes` is larger.
    pub(in crate::pdes) group_size: u32,
    /// Invocations that serve an LP together in a window.
    pub(in crate::pdes) lanes: u32,
    /// Rows that an invocation, or a team of them, serves one after the other.
    pub(in crate::pdes) tiles: u32,
    pub(in crate::pdes) rows: u32,
    /// Rows of a dispatch, and of a binding of the queues and of LP memory: whole workgroups unless
    /// there is one dispatch.
    pub(in crate::pdes) part_rows: u32,
    /// Rows of a binding of the store. If a binding is the inbox of dispatches, this is a multiple
    /// of `part_rows` unless there is one binding.
    pub(in crate::pdes) store_rows: u32,
    /// Slots of a queue.
    pub(in crate::pdes) queue_stride: u32,
    /// Buckets of a calendar; 0 for queues.
    pub(in crate::pdes) buckets: u32,
    /// The requested capacity.
    pub(in crate::pdes) capacity: Capacity,
    /// The capacity of a mailbox or a bucket.
    pub(in crate::pdes) room: u32,
    /// Events in the store for each LP.
    pub(in crate::pdes) stored: u64,
    /// How a separate dispatch sorts the buckets of a calendar; `None` if the thread that executes
    /// a bucket sorts it.
    pub(in crate::pdes) sort: Option<Sort>,
    /// For a part of a run that is split over devices.
    pub(in crate::pdes) outbox: Option<Outbox>,
    /// For a run that a team executes: instead of queues and mailboxes.
    pub(in crate::pdes) pool: Option<Pool>,
}

/// How a kernel sorts the buckets of a calendar: `shaders/pdes/calendar/calendar_sort.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Sort {
    pub(in crate::pdes) group_size: u32,
    pub(in crate::pdes) team: u32,
    /// 0 if each event is compared with all others.
    pub(in crate::pdes) bins: u32,
    /// The size of every subgroup in its workgroups, if it is known and their invocations are in
    /// order.
    pub(in crate::pdes) subgroup: Option<u32>,
}

impl Sort {
    /// `None` for short buckets.
    fn new(gpu: &Gpu, room: u32) -> Option<Self> {
        let of = |group_size, team, bins| Self {
            group_size,
            team,
            bins,
            subgroup: Subgroups::in_order(gpu, group_size),
        };
        // In a short bucket the executing thread picks events, which is faster than a sorting
        // dispatch; more than 32 events it would have to sort. Team and bin sizes are measured.
        // Room for 72 is for 64 events, more than which a team of 16 rarely finds.
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

/// The number of buckets of a calendar, so that they take about four times the room of one of its
/// lists, within the limits of its kernels. (A guess.)
fn buckets(capacity: Capacity) -> u32 {
    let fitting = 4 * u64::from(capacity.queue) / u64::from(capacity.mailbox.max(1));
    1 << fitting.clamp(8, 32).ilog2()
}

/// The number of events of a row that are contiguous in a calendar
/// (`shaders/pdes/calendar/calendar.wgsl`): a power of two.
pub(in crate::pdes) const CALENDAR_CHUNK: u32 = 8;

/// The capacity of a bucket, in whole chunks, for a mailbox capacity. Events that find their bucket
/// full are treated like later ones, so three standard deviations above the mean of
/// `Capacity::poisson` suffice. More room costs memory, and larger teams sort.
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

/// The mean load for which `Capacity::poisson` returns about this capacity: capacity = m + 9
/// sqrt(m).
pub(in crate::pdes) fn mean_of(capacity: u32) -> f64 {
    let root = ((81.0 + 4.0 * f64::from(capacity)).sqrt() - 9.0) / 2.0;
    root * root
}

/// The slots of a calendar's list.
fn list_stride(capacity: Capacity) -> u64 {
    u64::from(capacity.queue).next_multiple_of(CALENDAR_CHUNK.into())
}

/// Events in the store for each LP: `room` in a mailbox or in each bucket.
fn stored(buckets: u32, room: u32, capacity: Capacity) -> u64 {
    match buckets {
        0 => room.into(),
        buckets => u64::from(buckets) * u64::from(room) + 2 * list_stride(capacity),
    }
}

/// From this many LPs on, workgroups of 256 are faster; below, workgroups of 64 spread LPs over
/// more multiprocessors.
const MANY_LPS: u32 = 16_384;

/// Up to this many LPs, a workgroup is a single subgroup on GPUs with subgroups of at most 32
/// invocations.
const FEW_LPS: u32 = 1024;

/// The default size of a workgroup.
pub(in crate::pdes) fn usual_group_size(gpu: &Gpu, rows: u32, queue: QueueDesign) -> u32 {
    let size = match (rows >= MANY_LPS, queue.lanes()) {
        (false, 1) if rows <= FEW_LPS && !gpu.is_software() && Subgroups::in_order(gpu, 32).is_some() => 32,
        (false, 1) => 64,
        (true, 1) => 256,
        // The teams of a workgroup wait for each other, so it has few: those of one or two
        // subgroups, because a multiprocessor holds a limited number of workgroups. (A guess.)
        (false, _) => 32,
        (true, _) => 64,
    };
    group_size_at_most(gpu, size)
}

/// The default number of LPs per invocation in each window. `room` is the capacity of a queue;
/// `busy`: whether much is executed in a window.
pub(in crate::pdes) fn usual_tiles(gpu: &Gpu, rows: u32, queue: QueueDesign, room: u32, busy: bool) -> u32 {
    let (is_software, lanes) = (gpu.is_software(), queue.lanes());
    match is_software {
        // A calendar needs no scan over idle queues, so one LP per invocation is faster.
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

/// The largest power of two of at most `size` invocations that the device supports.
pub(in crate::pdes) fn group_size_at_most(gpu: &Gpu, size: u32) -> u32 {
    size.min(1 << gpu.limits().max_compute_invocations_per_workgroup.max(1).ilog2())
}

/// The rows that a workgroup serves at once, with `lanes` invocations for each. A group smaller
/// than `lanes` still serves one.
pub(in crate::pdes) fn at_once(group_size: u32, lanes: u32) -> u32 {
    (group_size / lanes).max(1)
}

impl Cut {
    /// A division of no rows.
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
        pool: None,
    };

    /// The division of a run of this strategy.
    pub(in crate::pdes) fn of(
        gpu: &Gpu,
        rows: u32,
        shape: (u32, u32),
        strategy: Strategy,
        needs: Needs,
    ) -> Result<Self, SimulationError> {
        match strategy.is_team {
            true => Self::team(gpu, rows, needs),
            false => Self::new(gpu, rows, shape, strategy.queue, needs),
        }
    }

    /// One workgroup, with an invocation for each LP.
    fn team(gpu: &Gpu, rows: u32, needs: Needs) -> Result<Self, SimulationError> {
        let Needs { capacity, events, event_bytes, memory_rows, .. } = needs;
        let memory = u64::from(rows) * ROW * u64::from(memory_rows);
        let pool = Pool::new(gpu, rows, events, event_bytes).filter(|_| memory <= gpu.max_buffer_bytes());
        let pool = pool.ok_or(SimulationError::NoMapping { mapping: Mapping::Team, problem: TOO_MANY })?;
        Ok(Self {
            // Kernels other than windows have no need for fewer invocations.
            group_size: pool.lists.max(LEAST_OF_TEAM),
            tiles: 1,
            rows,
            part_rows: rows,
            store_rows: rows,
            queue_stride: pool.lists,
            capacity,
            pool: Some(pool),
            ..Self::EMPTY
        })
    }

    /// Divides `rows` LPs so that queues, mailboxes and LP memory fit the bindings of the device.
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
            // A dispatch has one dimension: with two it might launch workgroups of the next part.
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
        // The queue fits a binding, so its slots fit 32 bits.
        cut.queue_stride = u32::try_from(queue.stride(capacity.queue)).unwrap_or(u32::MAX);
        (cut.group_size, cut.lanes) = (group_size, lanes);
        cut.buckets = buckets;
        cut.capacity = capacity;
        (cut.room, cut.stored) = stored_with(capacity);
        cut.outbox = needs.part.map(|part| Outbox::new(gpu, &cut, part, needs));
        cut.sort = (buckets > 0).then(|| Sort::new(gpu, cut.room)).flatten();
        Ok(cut)
    }

    /// The capacity of a queue, or of the pool of all LPs.
    pub(in crate::pdes) fn queue_capacity(&self) -> u32 {
        self.pool.map_or(self.capacity.queue, |pool| pool.slots)
    }

    pub(in crate::pdes) fn groups(&self) -> u32 {
        self.groups_of(self.rows)
    }

    /// The number of workgroups for this many rows.
    pub(in crate::pdes) fn groups_of(&self, rows: u32) -> u32 {
        rows.div_ceil(self.at_once() * self.tiles)
    }

    /// The counts of a row in `words`.
    pub(in crate::pdes) fn counts(&self) -> u32 {
        match self.buckets {
            0 => 3,
            buckets => buckets + 3,
        }
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

    /// The partial reductions that a window reads, for either parity: their start in `lps`, and
    /// their number.
    fn partials(&self) -> [(u32, u32); 2] {
        let (first, groups) = (2 * self.rows, self.groups());
        match self.gathered() {
            true => [(first + 2 * groups, 1); 2],
            false => [(first, groups), (first + groups, groups)],
        }
    }

    /// For a calendar: the maximum number of events from which the executing thread picks, as in
    /// `shaders/pdes/calendar/calendar_pick.wgsl`. 0 if a dispatch sorts them.
    pub(in crate::pdes) fn picked(&self) -> u32 {
        if self.sort.is_some() { 0 } else { self.room.clamp(16, 32) }
    }

    /// Whether a separate dispatch merges the partial reductions.
    pub(in crate::pdes) fn gathered(&self) -> bool {
        self.groups() > DIRECT_PARTIALS || self.sort.is_some()
    }

    /// The parameters of the dispatch that begins at row `first`.
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

/// The memory needs of a model's LPs.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdes) struct Needs {
    pub(in crate::pdes) capacity: Capacity,
    /// Room for the pending events of all LPs together, in a team.
    pub(in crate::pdes) events: u32,
    pub(in crate::pdes) event_bytes: u32,
    pub(in crate::pdes) memory_rows: u32,
    /// For a part of a run that is split over devices.
    pub(in crate::pdes) part: Option<PartIndex>,
}

impl Needs {
    #[expect(clippy::cast_possible_truncation, reason = "16 or 32 bytes")]
    pub(in crate::pdes) fn of<M: Model>(model: &M) -> Self {
        let event_bytes = size_of::<Event<M::Payload>>() as u32;
        Self {
            capacity: model.capacity(),
            events: events_of(model),
            event_bytes,
            memory_rows: model.memory_rows(),
            part: None,
        }
    }
}

/// The index of a part of a run, the number of parts, and the minimum capacity of the outbox for
/// each other part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct PartIndex {
    pub(in crate::pdes) own: u32,
    pub(in crate::pdes) parts: u32,
    pub(in crate::pdes) room: u32,
}

/// The outbox of a part of a run: `shaders/pdes/parts/outbox.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Outbox {
    pub(in crate::pdes) parts: u32,
    pub(in crate::pdes) own: u32,
    /// Events for each of the other parts.
    pub(in crate::pdes) room: u32,
}

impl Outbox {
    /// Sized for twice the events that go to each part if LPs send to all LPs alike, at the mean
    /// load of their mailboxes; it fits a binding.
    fn new(gpu: &Gpu, cut: &Cut, PartIndex { own, parts, room }: PartIndex, needs: Needs) -> Self {
        const LEAST: f64 = 1024.0;
        let others = u64::from(parts - 1).max(1);
        let rows = cut.rows;
        let taken = 4 * (64 + u64::from(cut.counts()) * u64::from(rows) + others);
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

    /// Its number of words, for events of this many bytes.
    pub(in crate::pdes) fn words(&self, event_bytes: usize) -> u64 {
        let others = u64::from(self.parts - 1);
        others + others * u64::from(self.room) * (Self::entry(event_bytes) as u64 / 4)
    }

    /// The bytes of an event in a message: its destination, and the event.
    pub(in crate::pdes) const fn entry(event_bytes: usize) -> usize {
        4 + event_bytes
    }
}

/// The sizes to divide, and their limits.
struct CutSizes {
    /// The maximum bytes of a binding.
    bytes: u64,
    store_parts: u32,
    rows: u32,
    at_once: u32,
    tiles: u32,
    /// Whether a dispatch reads a binding of the store as the mailboxes of its rows. A calendar's
    /// dispatch reaches all bindings anyway, and fewer dispatches are faster.
    inbox: bool,
    dispatch_rows: u32,
}

impl CutSizes {
    /// Divides LPs that each have `bytes` of queue, mailbox and LP memory. Uses fewer tiles if a
    /// workgroup's rows do not fit a binding.
    fn cut(&self, bytes: [u64; 3]) -> Option<Cut> {
        let fewer = |tiles: &u32| (*tiles > 1).then(|| tiles.div_ceil(2));
        let mut tiles = std::iter::successors(Some(self.tiles), fewer);
        tiles.find_map(|tiles| self.cut_in(tiles, bytes))
    }

    fn cut_in(&self, tiles: u32, bytes: [u64; 3]) -> Option<Cut> {
        let [queue_rows, store_rows, memory_rows] = bytes.map(|bytes| {
            u32::try_from(self.bytes.checked_div(bytes).unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
        });
        // Dispatches are whole workgroups. If bindings are their inboxes, these are whole groups of
        // interleaved mailboxes.
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
                        // If nothing else is too large, there is one dispatch.
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
