// Notes of process models, in LP memory: rows as `process::program::Program::notes` says.
//
// needs: memory_get, memory_set, now
//
// bounds: a note beyond the last row is counted only.

fn take_note(first: u32, most: u32, note: u32, number: u32, value: u32) {
    let count = memory_get(first).x;
    memory_set(first, vec4<u32>(count + 1u, 0u, 0u, 0u));
    if count < most {
        let time = now();
        memory_set(first + 1u + count, vec4<u32>(value, number, time.x, time.y | (note << 16u)));
    }
}
