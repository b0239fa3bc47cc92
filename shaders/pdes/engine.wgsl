// What all kernels of the conservative engine share: the buffers, the control block, failures.
//
// Buffers (one LP is one row; a time is vec2<u32>(lo, hi) in ticks; an event is vec4<u32>(time, payload)):
//   run           the constants of a run, the parity of the dispatch and its first workgroup. Dispatches alternate
//                 between two halves of `control` and `partials`, because what one window writes the next one
//                 reads; so a window may also be cut into several dispatches, each of some workgroups
//   control       2 halves of CONTROL_WORDS: see below
//   partials      2 x run.groups, then 1 for the second reduction: (earliest time (2), events executed, unused)
//   queue_events  lps x queue_stride events: the pending event sets
//   lps           2 x lps: first (time of the first pending event (2), queue meta words (2)),
//                 then (events executed (2), fingerprint of them (2))
//   mail_events   2 x lps x mail_capacity events: what was sent in the last window and is sent in this one. The halves
//                 alternate with the windows done, not with dispatches: one that finds the run at its end is no window
//   mail_counts   2 x lps: how many lie in each mailbox
//
// import: gpu/loops.wgsl
// import: time/ticks.wgsl

struct Run {
    seed: vec2<u32>,
    lookahead: vec2<u32>,
    until: vec2<u32>,
    event_limit: vec2<u32>,
    lps: u32,
    queue_capacity: u32,
    mail_capacity: u32,
    groups: u32,
    parity: u32,
    partials_first: u32,
    partials_count: u32,
    first_group: u32,
    state_words: u32,
    queue_stride: u32,
}

@group(0) @binding(0) var<uniform> run: Run;
@group(0) @binding(1) var<storage, read_write> control: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> partials: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> queue_events: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> lps: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> mail_events: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> mail_counts: array<atomic<u32>>;

// Words of a half of `control`. All but FAILURE are written by one thread.
const CONTROL_WORDS = 8u;
const WINDOWS = 0u;   // windows done (2 words)
const EVENTS = 2u;    // events executed in all windows but the last (2 words)
const NOW = 4u;       // the time up to which all is done (2 words)
const STOPPED = 6u;   // 1 once the run has reached its end
const FAILURE = 7u;   // the first failure: the smallest of lp * 8 + kind, or NO_FAILURE

const NO_FAILURE = 0xffffffffu;

// Behind the halves of `control`: 1 + an LP whose digest was cut, or 0. That ends no run.
const DIGEST_CUT = 16u;
const QUEUE_FULL = 1u;
const MAILBOX_FULL = 2u;
const LOOKAHEAD = 3u;
const DESTINATION = 4u;
const TIME_OVERFLOW = 5u;
const LOOPS_CUT = 6u;

const IDLE = vec4<u32>(0xffffffffu, 0xffffffffu, 0u, 0u);

// The number of a workgroup among all of a window.
fn group_number(id: vec3<u32>) -> u32 {
    return run.first_group + id.x;
}

fn queue_capacity() -> u32 {
    return run.queue_capacity;
}

fn queue_stride() -> u32 {
    return run.queue_stride;
}

// The half of the mailboxes that the window after those done empties; it fills the other.
fn mail_half() -> u32 {
    return atomicLoad(&control[run.parity * CONTROL_WORDS + WINDOWS]) & 1u;
}

// Records a failure of this dispatch. The rest of the dispatch goes on, so that the smallest of its failures is
// found whatever the order of threads; later dispatches do nothing.
fn fail(half: u32, lp: u32, kind: u32) {
    atomicMin(&control[half * CONTROL_WORDS + FAILURE], lp * 8u + kind);
}

// The earlier time and the sum of the counts.
fn merge(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(time_min(a.xy, b.xy), a.z + b.z, 0u);
}
