// A batched handler for tests: words of a table, added up along a walk.
//
// One invocation serves one call.

struct Call {
    start: u32,
    steps: u32,
}

struct Answer {
    sum: u32,
    last: u32,
}

@group(1) @binding(0) var<storage, read> table: array<u32>;

fn handle(call: Call) -> Answer {
    var at = call.start;
    var sum = 0u;
    for (var i = 0u; i < call.steps; i += 1u) {
        at = (at * 5u + 1u) % arrayLength(&table);
        sum += table[at];
    }
    return Answer(sum, at);
}
