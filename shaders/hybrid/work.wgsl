// Shared by both kinds of handlers: calls in, answers out. The handler's file declares `Call`,
// `Answer`, `handle` and, in group 1, state shared between calls (src/hybrid/handler.rs).
//
//   calls      one for each call of the batch
//   answers    work.groups for each call, consecutive
//   cut        a word, above 0 if a driver ended a loop early
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
