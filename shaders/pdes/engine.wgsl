// What all kernels of the conservative engine share: the memory, the names of LPs, failures.
//
// An LP has a *row*, its place in this memory (0 .. run.rows - 1); a *name*, which keys its streams, its part of the fingerprint
// and its failures; and an *address*, what models call it when they send to it. Today the address is the name, and names count
// from run.first_lp: a run can be cut into parts that hold some of the LPs each (pdes/parts/outbox.wgsl). A part that stands alone has addresses of its own LPs only.
//
// A time is vec2<u32>(low, high) in ticks, an event an Item of 4 or 8 words (time, payload), and R is run.rows:
//
//   run      what is the same in all dispatches of a run, and in run.part which workgroups and which part of the memory this
//            dispatch serves, and its parity. A window is one dispatch, or several where queues or mailboxes take several bindings.
//            Dispatches of a window never wait for each other, so what one window writes the next one reads: control,
//            failures, the partials and the mailboxes have two halves that alternate
//   words    failures and what was lacking (below); from COUNTS on R: the windows in a row for which the LP stands, where STALLED is
//            set; then 2 x R: the mails in each mailbox
//   lps      R x (time of the first pending event (2), meta words of the queue (2)), R x (events executed (2), fingerprint of them
//            (2)), then the partials: 2 x run.groups + 1 x (earliest time (2), events executed, a mark: pdes/queues/queue_windows.wgsl),
//            then control: 2 x CONTROL_ROWS; then R x what dry runs found (pdes/horizon/speculate.wgsl): (earliest time that it sends to another LP (2),
//            events before that, 1 where that is only as far as was looked + 2 x (1 + the row that it sends to next, or 0)), which holds where DRY is set. A calendar has none of these. With neighbours
//            (pdes/bounds/neighbours.wgsl), 2 x R x bounds (pdes/bounds/bounds.wgsl), R x delays, R x links
//            Rows of dry runs hold where DRY is set. Those after them hold arbitrary values until
//            windows of their synchronisation have written them.
//   queue_events   run.queue_stride events for each row from run.part.queue_first on; with neighbours, what lies aside is the time up to which the LP has come (pdes/bounds/neighbours.wgsl)
//   states   (pdes/model.wgsl) R x the model's State
//   memory   (pdes/model.wgsl) run.memory_rows rows of 4 words for each row from run.part.memory_first on, if the model has LP memory
//   inbox    (pdes/queues/mailboxes.wgsl, which says in what order) run.mail_capacity events for each row from run.part.inbox_first on: what the last window sent
//   store    (pdes/memory/store_one.wgsl, pdes/memory/store_many.wgsl) run.mail_capacity events for each row: the mailboxes that this window fills
//
// A calendar (pdes/calendar/calendar.wgsl) has other counts and partials, and neither queues nor an inbox: all that is pending is in its store.
//
// import: gpu/loops.wgsl
// import: gpu/wide.wgsl
// import: time/ticks.wgsl
// provides: GROUP_SIZE, lps, queue_capacity, queue_events, queue_stride
// needs: Item, run
//
// bounds: for the sort, the only trusted kernel that links it: rows are those of
// calendar_sort.wgsl, and rows of control are constants.

struct Run {
    // Read by no kernel, and always zero; as long as the alignment of what follows needs. Mesa's lavapipe (22.3) takes the first word of a uniform buffer for whatever a condition
    // of uniforms alone asks, such as that of loops_cut; where that changes the kernel's size, it compiles the kernel again for
    // each dispatch. (Its array of offsets is written with one stride and read with another.)
    unread: vec4<u32>,
    seed: vec2<u32>,
    lookahead: vec2<u32>,
    until: vec2<u32>,
    event_limit: vec2<u32>,
    // From so many events on, windows wait for the next submission: the first of a pair does nothing, as at the end of the run. The host, which cannot
    // know how much windows to come will do, so bounds what it submits ahead.
    pause: vec2<u32>,
    // The length of a cell of time (pdes/window/epochs.wgsl), and floor((2^64 - 1) / cell).
    cell: vec2<u32>,
    reciprocal: vec2<u32>,
    // What half of a calendar's buckets span: pdes/calendar/calendar.wgsl.
    epoch: vec2<u32>,
    first_lp: u32,
    rows: u32,
    total: u32,
    groups: u32,
    queue_capacity: u32,
    queue_stride: u32,
    mail_capacity: u32,
    state_words: u32,
    memory_rows: u32,
    // Events that an LP executes in a window at the most. What is left over runs in the next one, so no dispatch runs long.
    budget: u32,
    // LPs that events can be sent to: so many addresses, from the lowest on.
    lowest: u32,
    addresses: u32,
    // Where the failures of the run lie in `words`.
    failures: u32,
    // The number of the run among those that differ in their random streams.
    replica: u32,
    // Of a run that is cut over devices: the earliest time that is pending or on its way anywhere. TIME_NEVER, where all LPs are here.
    earliest: vec2<u32>,
    part: Part,
}

struct Part {
    parity: u32,
    first_group: u32,
    queue_first: u32,
    queue_rows: u32,
    inbox_first: u32,
    partials_first: u32,
    partials_count: u32,
    memory_first: u32,
    // The number of this dispatch among those of its kernel in a window, where there are several (pdes/bounds/neighbours_relax.wgsl).
    turn: u32,
    // How much a run does in this dispatch at the most, where it is one of many (pdes/replicas/run_of_replica.wgsl).
    slice: u32,
    // At the start of a part of a run, LPs of another one: the first of them, and how many, or 0 (pdes/window/start.wgsl).
    others_first: u32,
    others_rows: u32,
}

override GROUP_SIZE: u32 = 64u;
// Rows that an invocation serves, one after the other.
override TILES: u32 = 1u;

@group(0) @binding(2) var<storage, read_write> words: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> lps: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> queue_events: array<Item>;

// So many events of an LP at one time, in whole budgets of windows, are a failure: its time does not advance.
const PATIENCE = 1u << 20u;
// Of the first meta word of a queue that an LP keeps in `lps`, the bit that says that in the last window it used up its budget at one time; with
// neighbours, also that its budget ended within a time (clock_stalled in pdes/bounds/neighbours.wgsl).
const STALLED = 0x80000000u;
// And the one that says that its dry run holds: neither was an event executed since nor has one arrived. Whoever writes the word for another
// reason takes that back.
const SPECULATED = 0x40000000u;

// So many windows in a row at one time are a failure of all who execute events there: time does not advance. It takes LPs without a lookahead
// that send each other events.
const ROUNDS = 1u << 16u;

// Rows of a half of control, each of 4 words, written by one invocation. They are no atomics, because windows begin with them, and NVIDIA's
// driver waits for each atomic before it goes on.
const CONTROL_ROWS = 5u;
const CONTROL_DONE = 0u;     // windows done (2), events executed in all windows but the last (2)
const CONTROL_STATUS = 1u;   // the time up to which all is done (2), 1 once the run has reached its end, windows that began at that time (of
                             // a calendar, something else)
const CONTROL_REACH = 2u;    // how far from the first event windows with an event horizon look (2): pdes/horizon/horizon_look.wgsl; unused. Not of a calendar
const CONTROL_WENT = 3u;     // of neighbours: in how many bits it can be told how far windows go; the units of bounds: the logarithm of one, when they begin (2) (pdes/bounds/bounds.wgsl). Not of a calendar
const CONTROL_RELAXED = 4u;  // of neighbours, in half 1: the last relaxation of this window that was made; unused (3)

// Words, from run.failures on: the first failure, by half, the smallest of row * 16 + kind, or NO_FAILURE; the most room that was asked for where there was
// too little; and 1 + a row whose digest was cut by the driver, or 0, which ends no run.
const FAILURE = 0u;
const QUEUE_NEEDED = 2u;
const MAIL_NEEDED = 3u;
const DIGEST_CUT = 4u;
const OUTBOX_NEEDED = 5u;
// Where windows have relaxations (pdes/bounds/neighbours_relax.wgsl): for each of these dispatches, the earliest of the bounds that it changed, or UNCHANGED.
const CHANGES = 8u;
const UNCHANGED = 0xffffffffu;
// At the most.
const RELAXATIONS = 4u;
const COUNTS = 16u;

// Kinds of failures, as in src/pdes/contract/error.rs.
const NO_FAILURE = 0xffffffffu;
const NO_ROW = 0xffffffffu;
// A cut loop comes first, and then memory that is not there: what else an LP is blamed for may follow from them.
const LOOPS_CUT = 1u;
const MEMORY_FULL = 2u;
const QUEUE_FULL = 3u;
const MAILBOX_FULL = 4u;
const LOOKAHEAD = 5u;
const DESTINATION = 6u;
const TIME_OVERFLOW = 7u;
const PAST = 8u;
const STUCK = 9u;
const CYCLE = 10u;
const PROMISE = 11u;
const OUTBOX_FULL = 12u;

// The number of a workgroup among all of a window, and the rows that an invocation serves: one for each of TILES tiles.
fn group_number(id: vec3<u32>) -> u32 {
    return run.part.first_group + id.x;
}

fn row_of(group: u32, tile: u32, lane: u32) -> u32 {
    return (group * TILES + tile) * GROUP_SIZE + lane;
}

// Those of four tiles, from `tile` on; NO_ROW where there is none.
fn rows_of_four(group: u32, tile: u32, lane: u32) -> vec4<u32> {
    let tiles = vec4<u32>(0u, 1u, 2u, 3u) + tile;
    let rows = vec4<u32>(
        row_of(group, tiles.x, lane), row_of(group, tiles.y, lane),
        row_of(group, tiles.z, lane), row_of(group, tiles.w, lane)
    );
    return select(vec4<u32>(NO_ROW), rows, (tiles < vec4<u32>(TILES)) & (rows < vec4<u32>(run.rows)));
}

// Rows to read for these four, whether they are there or not, so that no read waits for another: in place of one that is not there, one of the same
// workgroup's. (If the first is not there, the workgroup is the last one.)
fn rows_to_read(rows: vec4<u32>) -> vec4<u32> {
    return min(select(vec4<u32>(rows.x), rows, rows < vec4<u32>(run.rows)), vec4<u32>(run.rows - 1u));
}

fn name_of(row: u32) -> u32 {
    return run.first_lp + row;
}

// The row of an address, if that LP is here: else it is no row.
fn row_at(address: u32) -> u32 {
    return address - run.first_lp;
}

fn queue_capacity() -> u32 {
    return run.queue_capacity;
}

fn queue_stride() -> u32 {
    return run.queue_stride;
}

// Where a row of control lies in `lps`, of the half that a window of this parity reads.
fn control_row(parity: u32, row: u32) -> u32 {
    return 2u * (run.rows + run.groups) + 1u + parity * CONTROL_ROWS + row;
}

// Where the mails of a row are counted: those that window `parity` finds, of which the other one writes.
fn mail_count(parity: u32, row: u32) -> u32 {
    return COUNTS + (1u + parity) * run.rows + row;
}

// The meta words of the queue that an LP keeps.
fn queue_meta(row: u32) -> vec2<u32> {
    let kept = lps[row].zw;
    return queue_words(kept);
}

// Those of the words that an LP keeps in `lps`.
fn queue_words(kept: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(kept.x & ~(STALLED | SPECULATED), kept.y);
}

// Where the dry run of a row lies in `lps`.
fn speculation_row(row: u32) -> u32 {
    return control_row(2u, row);
}

// Whether this invocation has recorded a failure.
var<private> failed: bool;

// Records a failure of this dispatch, in the half that the next one reads. The rest of the dispatch goes on, so that the
// smallest of its failures is found whatever the order of invocations; later dispatches do nothing.
fn fail(row: u32, kind: u32) {
    failed = true;
    atomicMin(&words[run.failures + FAILURE + 1u - run.part.parity], (name_of(row) - run.lowest) * 16u + kind);
}

// The row that an event for an address at a time goes to, which the LP in row `from_row` schedules; NO_ROW, and a failure, where there
// is no such LP or no such time. Beyond run.rows, if the LP is of another part of the run.
fn deliver_to(from_row: u32, address: u32, time: vec2<u32>) -> u32 {
    let unknown = address - run.lowest >= run.addresses;
    if unknown | all(time == TIME_NEVER) {
        fail(from_row, select(TIME_OVERFLOW, DESTINATION, unknown));
        return NO_ROW;
    }
    // The LP before the first one here is none that is not there.
    return min(row_at(address), NO_ROW - 1u);
}

// fail, where `needed` events had to have room.
fn fail_room(row: u32, kind: u32, place: u32, needed: u32) {
    atomicMax(&words[run.failures + place], needed);
    fail(row, kind);
}
