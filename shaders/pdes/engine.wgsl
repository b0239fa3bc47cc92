// Memory, names of LPs and failures: shared by all kernels of the conservative engine.
//
// An LP has a row, its place in memory (0 .. run.rows - 1); a name, which keys its streams, its
// part of the fingerprint and its failures; and an address, to which models send. The address is
// the name; names count from run.first_lp. A run can be cut into parts (pdes/parts/outbox.wgsl).
//
// A time is vec2<u32>(low, high) in ticks, an event an Item of 4 or 8 words (time, payload), and R
// is run.rows. Bindings beside those below:
//   states, memory   R states, run.memory_rows rows of 4 words for each LP (pdes/model.wgsl)
//   inbox            run.mail_capacity events for each row: sent in the last window
//   store            run.mail_capacity events for each row: the mailboxes that this window fills
// A window reads what the last one wrote, and its dispatches never wait for each other. So control,
// failures, partials and mailboxes have two halves that alternate with run.part.parity.
// A calendar has other counts and partials, and holds all pending events in its store.
//
// import: gpu/loops.wgsl
// import: gpu/wide.wgsl
// import: time/ticks.wgsl
// provides: GROUP_SIZE, lps, queue_capacity, queue_events, queue_stride
// needs: Item, run
//
// bounds: for the sort, the only trusted kernel that links this file: its rows are those of
// calendar_sort.wgsl, and rows of control are constants.

struct Run {
    // Unused, always zero, as long as the next field's alignment: lavapipe (Mesa 22.3) evaluates
    // conditions on uniforms alone (loops_cut) with the buffer's first word, because of a wrong
    // stride. If that changes the kernel's size, it recompiles the kernel for each dispatch.
    unread: vec4<u32>,
    seed: vec2<u32>,
    lookahead: vec2<u32>,
    until: vec2<u32>,
    event_limit: vec2<u32>,
    // From this number of events on, the first window of each pair does nothing, as at the end of
    // the run, until the next submission. It bounds what the host submits ahead.
    pause: vec2<u32>,
    // The length of an epoch (pdes/window/epochs.wgsl), and floor((2^64 - 1) / length).
    epoch_length: vec2<u32>,
    reciprocal: vec2<u32>,
    // The length of a calendar's span, half of its buckets: pdes/calendar/calendar.wgsl.
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
    // Events that an LP executes in a window at most. The rest run in the next window, so no
    // dispatch runs long.
    budget: u32,
    // Addresses of LPs that can receive events: the lowest, and their number.
    lowest: u32,
    addresses: u32,
    // Where the failures of the run are in `words`.
    failures: u32,
    // The number of this run among runs that differ in their random streams.
    replica: u32,
    // In a run cut over devices: the earliest time that is pending or in transit on any device.
    // TIME_NEVER if all LPs are here.
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
    // The number of this dispatch among those of the same kernel in a window
    // (pdes/bounds/neighbours_relax.wgsl).
    turn: u32,
    // The work that a run does in this dispatch at most, if it is one of many
    // (pdes/replicas/run_of_replica.wgsl).
    slice: u32,
    // At the start of a part: the first LP of the other parts to initialise and their number, or 0
    // (pdes/window/start.wgsl). For results: the first row and the number of rows
    // (pdes/results/output.wgsl).
    others_first: u32,
    others_rows: u32,
}

override GROUP_SIZE: u32 = 64u;
// Rows that an invocation serves, one after the other.
override TILES: u32 = 1u;

// Failures and needed room (below); from COUNTS on: R counts of windows in a row in which the LP
// was STALLED; then 2 x R numbers of messages in each mailbox (mail_count).
@group(0) @binding(2) var<storage, read_write> words: array<atomic<u32>>;
// R x (time of the first pending event (2), queue meta words (2)); R x (events executed (2), their
// fingerprint (2)); 2 x run.groups + 1 partials (`Reduced`); 2 x CONTROL_ROWS rows of control; R x
// speculation_row, in queues only. Per-LP bounds add 4 x R rows (pdes/bounds/bounds.wgsl).
@group(0) @binding(3) var<storage, read_write> lps: array<vec4<u32>>;
// run.queue_stride events for each row from run.part.queue_first on. With per-LP bounds, the
// reserved slot holds the time that the LP has reached (clock_store in
// pdes/bounds/neighbours.wgsl).
@group(0) @binding(4) var<storage, read_write> queue_events: array<Item>;

// An LP that executes this number of events at one time, in windows that use up its budget, fails:
// its time does not advance.
const PATIENCE = 1u << 20u;
// Bit of the first queue meta word in `lps`: in the last window, the LP used up its budget at one
// time. With per-LP bounds, also: its budget ended within a time (clock_stalled in
// pdes/bounds/neighbours.wgsl).
const STALLED = 0x80000000u;
// Bit of the same word: the LP's speculative result is valid, because since then no event was
// executed and none arrived. Any other write of the word clears the bit.
const SPECULATED = 0x40000000u;

// After this number of windows in a row at one time, all LPs that execute events there fail: time
// does not advance. Only LPs without a lookahead that send each other events reach it.
const ROUNDS = 1u << 16u;

// Rows of a half of control, of 4 words each, written by one invocation. They are not atomic,
// because windows begin by reading them and NVIDIA's driver waits for each atomic before it
// continues.
const CONTROL_ROWS = 5u;
const CONTROL_DONE = 0u;     // windows done (2), events executed in all windows but the last (2)
// The time up to which all is done (2); 1 once the run is at its end; windows that began at that
// time (a calendar stores something else).
const CONTROL_STATUS = 1u;
// How far from the first event event-horizon windows look (2), see pdes/horizon/horizon_look.wgsl;
// unused (2). Not in a calendar.
const CONTROL_REACH = 2u;
// With per-LP bounds: how far windows go, in bits; the logarithm of a unit; when units begin (2)
// (pdes/bounds/bounds.wgsl). Not in a calendar.
const CONTROL_WENT = 3u;
// With per-LP bounds, in half 1: the last relaxation that ran in this window; unused (3).
const CONTROL_RELAXED = 4u;

// Offsets from run.failures in `words`. FAILURE, in two halves: the least (LP - run.lowest) * 16 +
// kind, or NO_FAILURE. *_NEEDED: the most events for which there was no room. DIGEST_CUT: 1 + a row
// whose digest the driver cut, or 0; it does not end the run.
const FAILURE = 0u;
const QUEUE_NEEDED = 2u;
const MAIL_NEEDED = 3u;
const DIGEST_CUT = 4u;
const OUTBOX_NEEDED = 5u;
// In a part of a run with a calendar, of the events that came before this window: a bit for each
// bucket, and 0xffffffff minus the epochs from the start of the span to the earliest one in a list.
const ARRIVED_MARKS = 6u;
const ARRIVED_LISTED = 7u;
// For each relaxation dispatch (pdes/bounds/neighbours_relax.wgsl), the earliest bound that it
// changed, or UNCHANGED.
const CHANGES = 8u;
const UNCHANGED = 0xffffffffu;
// Relaxation dispatches in a window at most.
const RELAXATIONS = 4u;
const COUNTS = 16u;

// Kinds of failures, as in src/pdes/contract/error.rs.
const NO_FAILURE = 0xffffffffu;
const NO_ROW = 0xffffffffu;
// A cut loop comes first, then missing memory: an LP's other failures may follow from these.
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

// The number of a workgroup within its window. An invocation serves one row in each of TILES tiles.
fn group_number(id: vec3<u32>) -> u32 {
    return run.part.first_group + id.x;
}

fn row_of(group: u32, tile: u32, lane: u32) -> u32 {
    return (group * TILES + tile) * GROUP_SIZE + lane;
}

// The rows of an invocation in four tiles from `tile` on; NO_ROW for each that does not exist.
fn rows_of_four(group: u32, tile: u32, lane: u32) -> vec4<u32> {
    let tiles = vec4<u32>(0u, 1u, 2u, 3u) + tile;
    let rows = vec4<u32>(
        row_of(group, tiles.x, lane), row_of(group, tiles.y, lane),
        row_of(group, tiles.z, lane), row_of(group, tiles.w, lane)
    );
    return select(vec4<u32>(NO_ROW), rows, (tiles < vec4<u32>(TILES)) & (rows < vec4<u32>(run.rows)));
}

// Rows to read for these four: a missing row becomes another one of the same workgroup, so that no
// read waits for another. If even the first is missing, the workgroup is the last one.
fn rows_to_read(rows: vec4<u32>) -> vec4<u32> {
    return min(select(vec4<u32>(rows.x), rows, rows < vec4<u32>(run.rows)), vec4<u32>(run.rows - 1u));
}

fn name_of(row: u32) -> u32 {
    return run.first_lp + row;
}

// The row of an address; not a row (run.rows or more) if that LP is not here.
fn row_at(address: u32) -> u32 {
    return address - run.first_lp;
}

fn queue_capacity() -> u32 {
    return run.queue_capacity;
}

fn queue_stride() -> u32 {
    return run.queue_stride;
}

// Index in `lps` of a row of control, in the half that a window of this parity reads.
fn control_row(parity: u32, row: u32) -> u32 {
    return 2u * (run.rows + run.groups) + 1u + parity * CONTROL_ROWS + row;
}

// Index in `words` of the number of a row's messages: window `parity` reads it, the other one
// counts.
fn mail_count(parity: u32, row: u32) -> u32 {
    return COUNTS + (1u + parity) * run.rows + row;
}

// The meta words of an LP's queue.
fn queue_meta(row: u32) -> vec2<u32> {
    let kept = lps[row].zw;
    return queue_words(kept);
}

// The meta words of a queue without the flags that `lps` stores with them.
fn queue_words(kept: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(kept.x & ~(STALLED | SPECULATED), kept.y);
}

// Index in `lps` of a row's speculative result: earliest send to another LP (2), events before it,
// 1 if only the reach limits it + 2 x (1 + the row that it sends to next, or 0). Valid while
// SPECULATED is set.
fn speculation_row(row: u32) -> u32 {
    return control_row(2u, row);
}

// Whether this invocation has recorded a failure.
var<private> failed: bool;

// Records a failure in the half that the next dispatch reads; later dispatches do nothing. This
// dispatch continues, so that its smallest failure is found whatever the order of invocations.
fn fail(row: u32, kind: u32) {
    failed = true;
    atomicMin(&words[run.failures + FAILURE + 1u - run.part.parity], (name_of(row) - run.lowest) * 16u + kind);
}

// The row that an event of the LP in `from_row` for this address goes to. NO_ROW, with a failure,
// if the LP or the time does not exist; run.rows or more if the LP is in another part of the run.
fn deliver_to(from_row: u32, address: u32, time: vec2<u32>) -> u32 {
    let unknown = address - run.lowest >= run.addresses;
    if unknown | all(time == TIME_NEVER) {
        fail(from_row, select(TIME_OVERFLOW, DESTINATION, unknown));
        return NO_ROW;
    }
    // The LP just before the first one here has row 0xffffffff, which must not read as NO_ROW.
    return min(row_at(address), NO_ROW - 1u);
}

// `fail` for missing room: `needed` is the number of events that should have fitted.
fn fail_room(row: u32, kind: u32, place: u32, needed: u32) {
    atomicMax(&words[run.failures + place], needed);
    fail(row, kind);
}
