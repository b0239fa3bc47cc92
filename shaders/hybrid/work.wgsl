// What the two ways of serving handlers share: calls in, answers out. The file of a handler declares `Call`, `Answer` and `handle`, and what it
// shares between calls, in group 1 (src/hybrid/handler.rs).
//
//   calls      one for each call of the batch
//   answers    work.groups for each call, one after the other
//   cut        a word, above 0 where a driver has ended a loop before its time
//
// A dispatch serves the calls from work.first on: a batch may be several dispatches.
//
// needs: Answer

// import: gpu/loops.wgsl

struct HandlerWork {
    first: u32,
    calls: u32,     // of this dispatch, at least 1
    groups: u32,    // workgroups, and answers, of a call
    pad: u32,
}

override GROUP_SIZE: u32 = 64u;

@group(0) @binding(0) var<uniform> work: HandlerWork;
@group(0) @binding(1) var<storage, read> calls: array<Call>;
@group(0) @binding(2) var<storage, read_write> answers: array<Answer>;
@group(0) @binding(3) var<storage, read_write> cut: array<atomic<u32>>;
