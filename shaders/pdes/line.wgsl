// A waiting line in LP memory, first come first served: a ring of `room` rows from row `base` on.
// Each line of an LP has rows of its own. The Rust counterpart is `pdes::Line`.
//
// Functions: line_push, line_front, line_pop.
//
// needs: memory_full, memory_get, memory_set

// The part of a line that is in the LP's state; zeros are an empty line.
struct Line {
    // The row of the front, relative to `base`.
    first: u32,
    // Number of waiting rows.
    length: u32,
}

// The line with a row appended. A full line ends the run with a failure.
@must_use
fn line_push(line: Line, base: u32, room: u32, row: vec4<u32>) -> Line {
    if line.length >= room {
        memory_full();
        return line;
    }
    let place = line.first + line.length;
    memory_set(base + select(place, place - room, place >= room), row);
    return Line(line.first, line.length + 1u);
}

// The row at the front. The line must not be empty.
@must_use
fn line_front(line: Line, base: u32) -> vec4<u32> {
    return memory_get(base + line.first);
}

// The line without its front; an empty line is unchanged.
@must_use
fn line_pop(line: Line, room: u32) -> Line {
    if line.length == 0u { return line; }
    let next = line.first + 1u;
    return Line(select(next, 0u, next >= room), line.length - 1u);
}
