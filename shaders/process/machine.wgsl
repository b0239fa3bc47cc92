// What a process model has in registers while it executes an event, faults, and numbers.
//
// needs: State (print::wgsl)
//
// bounds: no array and no loop.

// What went wrong: `process::program::FaultCode`.
const FAULT_NOT_HELD = 1u;
const FAULT_HOLDING = 2u;
const FAULT_ENDLESS = 3u;
const FAULT_REQUEST = 4u;
const FAULT_NEGATIVE = 5u;
const FAULT_OVERFLOW = 6u;
const FAULT_DIVISION = 7u;
const FAULT_NEVER = 8u;
const FAULT_NUMBERS = 9u;
const FAULT_CHILDREN = 10u;
const FAULT_SPAWNED = 11u;
const FAULT_LATE = 12u;

// What an entity does: `process::program::Status`.
const STATUS_FREE = 0u;
const STATUS_READY = 1u;
const STATUS_DELAY = 2u;
const STATUS_LINE = 3u;
const STATUS_ITEM = 4u;
const STATUS_JOIN = 5u;
const STATUS_MEMBER = 6u;

// What follows the generated part of a step or of a source.
const ACT_CONTINUE = 0u;
const ACT_DELAY = 1u;
const ACT_WAIT = 2u;
const ACT_ARRIVAL = 3u; // schedules the next event of a source
const ACT_JOIN = 4u;
const ACT_END = 5u;
const ACT_DRAWN = 6u;   // `drawn` uses what was drawn
const ACT_INTERRUPT = 7u; // interrupts the entity of the type `entry` with the number `number`

// Work on lines that follows an act.
const WORK_NONE = 0u;
const WORK_RESOURCE = 1u;  // grants while the first of the line fits
const WORK_CONTAINER = 2u;
const WORK_STORE = 3u;     // moves givers inside
const WORK_GIVE = 4u;      // grants the first taker
const WORK_TAKE = 5u;      // takes the first item
const WORK_SEND = 6u;      // grants all of a line
const WORK_ENTER = 7u;     // the running entity enters a line
const WORK_LEAVE = 8u;     // it leaves one: its patience ended
const WORK_GRANT = 9u;     // grants `who`, of no line
const WORK_TRIED = 10u;    // grants `who`, whose condition holds
const WORK_INTERRUPT = 11u; // interrupts `who`, which leaves its line
const WORK_BATCH = 12u;    // takes all of a line along, the last one first
const WORK_SEPARATE = 13u; // grants all that were taken along

// No distribution, and a word instead of one.
const LAW_NONE = 0xffffffffu;
const LAW_WORD = 0xfffffffeu;

// Bits of a line: by priority, with the largest first, and its resource is served behind entries.
const PRIORITY = 1u;
const LARGEST = 2u;
const SERVES = 4u;
const ALL_ONES = 0xffffffffu;
const NO_LINE = 0xffffffffu;
const SOURCE_EVENT = 0x80000000u;
const MOST_EVENTS_AT_ONCE = 0x100000u;
const MOST_STEPS = 16384u;
const MOST_ENTITIES = 65534u;

struct Machine {
    lp: u32,
    // The first fault of the event, with its step; and whether there was no room.
    fault: u32,
    detail: u32,
    stopped: bool,
    // The time since the end of the warm-up, at least 0, and whether it is over.
    age: vec2<u32>,
    counts: bool,
    // Bits of changed levels.
    touched: u32,
    // The running entity (a link), its row 0 when it began, and its step.
    slot: u32,
    step: u32,
    control: vec4<u32>,
    // The list of those that continue.
    first: u32,
    last: u32,
    // What a step draws: a row of `params`, the stream, and what was drawn.
    law: u32,
    number: u32,
    name: vec2<u32>,
    word: u32,
    timed: bool,
    time: vec2<u32>,
    // How it waits.
    act: u32,
    status: u32,
    line: u32,
    priority: u32,
    amount: u32,
    // Work on lines: its kind, its object, an entity, and the step whose words are copied.
    work: u32,
    item: u32,
    who: u32,
    copies: u32,
    // Entities to spawn: how many, control word, parent, the last number, and who sets attributes.
    spawns: u32,
    entry: u32,
    parent: u32,
    last_number: u32,
    origin: u32,
    row: u32,
    // A source + 1, what it does next, its entry, and whether a run begins.
    source: u32,
    phase: u32,
    index: u32,
    begins: bool,
    // The condition to try next, and the entity of its line, or 0.
    condition: u32,
    candidate: u32,
}

// Notes the first fault of the event.
fn failed(m: ptr<function, Machine>, code: u32, detail: u32) {
    if (*m).fault == 0u {
        (*m).fault = code | ((*m).step << 8u);
        (*m).detail = detail;
    }
}

// The next number of an event or a wait.
fn take_number(state: ptr<function, State>, m: ptr<function, Machine>) -> u32 {
    (*state).r0.z += 1u;
    if (*state).r0.z == 0u { failed(m, FAULT_NUMBERS, 0u); }
    return (*state).r0.z;
}
