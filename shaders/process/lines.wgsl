// The entity table and lines of a process model: linked lists, and pairing heaps for lines by
// priority (Fredman, Sedgewick, Sleator, Tarjan, "The pairing heap", Algorithmica 1, 1986). Rows
// and their order are in `process::program`.
//
// An entity is named by a link: its slot + 1. 0 is no entity.
//
// import: gpu/wide.wgsl
// import: process/machine.wgsl
// needs: ENTITIES, HEAPS, PREEMPTS, State, STRIDE, line_of, memory_get, memory_set, row_get
//        (print::wgsl)
// needs: row_set, step_of
//
// bounds: links are below 65,536 and name rows of LP memory. `combined` ends after two steps for
// each entity of a line.

// The row 0 of an entity.
fn row_of(link: u32) -> u32 {
    return ENTITIES + (link - 1u) * STRIDE;
}

fn low_half(word: u32, half: u32) -> u32 {
    return (word & 0xffff0000u) | half;
}

fn high_half(word: u32, half: u32) -> u32 {
    return (word & 0xffffu) | (half << 16u);
}

// Changes the link to the next or the previous of an entity.
fn set_next(link: u32, next: u32) {
    var row = memory_get(row_of(link));
    row.z = low_half(row.z, next);
    memory_set(row_of(link), row);
}

fn set_previous(link: u32, previous: u32) {
    var row = memory_get(row_of(link));
    row.z = high_half(row.z, previous);
    memory_set(row_of(link), row);
}

// Appends to the list of those that continue.
fn append(m: ptr<function, Machine>, link: u32) {
    if (*m).last == 0u {
        (*m).first = link;
    } else {
        set_next((*m).last, link);
    }
    (*m).last = link;
}

// The heap of two heaps, one of which may be empty.
fn merged(a: u32, b: u32, largest: bool) -> u32 {
    if (a == 0u) | (b == 0u) {
        let root = a | b;
        if root != 0u {
            var row = memory_get(row_of(root));
            row.z = 0u;
            memory_set(row_of(root), row);
        }
        return root;
    }
    let a_row = memory_get(row_of(a));
    let b_row = memory_get(row_of(b));
    let a_first = bitcast<i32>(memory_get(row_of(a) + 1u).x);
    let b_first = bitcast<i32>(memory_get(row_of(b) + 1u).x);
    let less = (a_first < b_first) | ((a_first == b_first) & (a_row.y < b_row.y));
    let stays = less != largest;
    let root = select(b, a, stays);
    let under = select(a, b, stays);
    var root_row = select(b_row, a_row, stays);
    var under_row = select(a_row, b_row, stays);
    let child = root_row.w & 0xffffu;
    root_row.z = 0u;
    root_row.w = low_half(root_row.w, under);
    under_row.z = child | (root << 16u);
    memory_set(row_of(root), root_row);
    memory_set(row_of(under), under_row);
    if child != 0u { set_previous(child, under); }
    return root;
}

// Merges siblings in pairs, from the first child on, then these from the last one on into `heap`,
// and at last `other`. Merged pairs are linked by `next` meanwhile.
fn combined(child: u32, length: u32, heap: u32, other: u32, largest: bool) -> u32 {
    var rest = child;
    var pairs = 0u;
    var root = heap;
    var more = other;
    // Bound: two merges for each entity, and the last one.
    for (var i = 0u; i < 2u * length + 2u; i += 1u) {
        var a = root;
        var b = more;
        let pairing = rest != 0u;
        if pairing {
            a = rest;
            b = memory_get(row_of(a)).z & 0xffffu;
            rest = 0u;
            if b != 0u { rest = memory_get(row_of(b)).z & 0xffffu; }
        } else if pairs != 0u {
            b = pairs;
            pairs = memory_get(row_of(b)).z & 0xffffu;
        } else {
            if more == 0u { break; }
            more = 0u;
        }
        let found = merged(a, b, largest);
        if pairing {
            if pairs != 0u { set_next(found, pairs); }
            pairs = found;
        } else {
            root = found;
        }
    }
    return root;
}

// Takes an entity with this row 0 out of a line, or puts it into one, or both.
fn relink(state: ptr<function, State>, m: ptr<function, Machine>, who: u32, row: vec4<u32>, out: u32, into: u32) {
    var heap_row = NO_LINE;
    var largest = false;
    var child = 0u;
    var heap = 0u;
    var other = 0u;
    if out != NO_LINE {
        let about = line_of(out);
        var line = row_get(state, about.x);
        line = vec4<u32>(line.x, line.y - 1u, wide_subtract(line.zw, (*m).age));
        (*m).touched |= about.z;
        let next = row.z & 0xffffu;
        let previous = row.z >> 16u;
        if HEAPS && (about.y & PRIORITY) != 0u {
            largest = PREEMPTS && (about.y & LARGEST) != 0u;
            heap_row = about.x;
            child = row.w & 0xffffu;
            if line.x != who {
                other = line.x;
                var before = memory_get(row_of(previous));
                if (before.w & 0xffffu) == who {
                    before.w = low_half(before.w, next);
                } else {
                    before.z = low_half(before.z, next);
                }
                memory_set(row_of(previous), before);
                if next != 0u { set_previous(next, previous); }
            }
        } else {
            if previous == 0u { line.x = low_half(line.x, next); } else { set_next(previous, next); }
            if next == 0u { line.x = high_half(line.x, previous); } else { set_previous(next, previous); }
        }
        row_set(state, about.x, line);
    }
    if into != NO_LINE {
        let about = line_of(into);
        var line = row_get(state, about.x);
        line = vec4<u32>(line.x, line.y + 1u, wide_add(line.zw, (*m).age));
        (*m).touched |= about.z;
        var entered = vec4<u32>(row.xy, 0u, row.w & 0xffff0000u);
        if HEAPS && (about.y & PRIORITY) != 0u {
            largest = PREEMPTS && (about.y & LARGEST) != 0u;
            heap_row = about.x;
            heap = who;
            other = line.x;
        } else {
            let previous = line.x >> 16u;
            entered.z = previous << 16u;
            if previous == 0u { line.x = who; } else { set_next(previous, who); }
            line.x = high_half(line.x, who);
        }
        memory_set(row_of(who), entered);
        row_set(state, about.x, line);
    }
    if HEAPS && heap_row != NO_LINE {
        var line = row_get(state, heap_row);
        line.x = combined(child, line.y, heap, other, largest);
        row_set(state, heap_row, line);
    }
}

// Lets an entity continue behind the statement at which it was, or where it is interrupted.
fn grant(m: ptr<function, Machine>, who: u32, interrupted: bool) {
    let row = memory_get(row_of(who));
    let about = step_of(row.x & 0xffffu);
    let next = select(about.x & 0xffffu, about.w >> 16u, interrupted);
    let control = (row.x & 0xff000000u) | (STATUS_READY << 16u) | next;
    memory_set(row_of(who), vec4<u32>(control, 0u, 0u, row.w & 0xffff0000u));
    append(m, who);
}
