// A multithreaded handler for tests: a workgroup adds up products, lane by lane.
//
// A call has several workgroups, of 32 invocations each.

struct Call {
    base: u32,
}

struct Answer {
    sum: u32,
}

var<workgroup> parts: array<u32, 32>;

fn handle(call: Call, group: u32, lane: u32) -> Answer {
    parts[lane] = (call.base + lane) * (group + 1u);
    workgroupBarrier();
    var sum = 0u;
    for (var i = 0u; i < 32u; i += 1u) { sum += parts[i]; }
    workgroupBarrier();
    return Answer(sum);
}
