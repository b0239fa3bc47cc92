// A space of search/slots.wgsl: the vertices of a directed graph, and for search/thread.wgsl the arcs from them.
//
//   arcs   where the arcs of each vertex begin, and the end: work.cells + 1 words; then (to, weight) of each arc. Those of a vertex are in the order of `to`, each
//          of which it has once, and none leads to itself
//
// A place is the number of a vertex, which is also its mark.
//
// Arcs are looked at in parts of eight, because there is no telling how many a vertex has: between two parts a search may wait for the next dispatch.
//
// import: search/slots.wgsl
//
// needs: estimate(vertex, goal) (a user's file, or search/guess_none.wgsl)

@group(0) @binding(1) var<storage> arcs: array<u32>;
@group(0) @binding(6) var<storage, read_write> marks: array<u32>;

// The heuristic is a user's: what it promises is looked at.
const GUESSED = true;
// A cell may have more moves than one look takes in.
const IN_PARTS = true;

fn cell_of(place: u32) -> u32 {
    return place;
}

fn heuristic(place: u32, goal: u32) -> u32 {
    return estimate(place, goal);
}

// The arc that a part begins with: `part` is its number, or 0 for the first of the vertex.
fn part_first(vertex: u32, part: u32) -> u32 {
    return select(part, arcs[vertex], part == 0u);
}

fn arc_word(arc: u32) -> u32 {
    return work.cells + 1u + 2u * arc;
}

// Which of the arcs of this part make a path cheaper, as bits; and 0x100 where one was passed over because its cost is beyond the range, and led to a
// vertex that this search has not reached.
fn look(base: u32, place: u32, cost: u32, epoch: u32, part: u32) -> u32 {
    let first = part_first(place, part);
    let count = min(arcs[place + 1u] - first, 8u);
    var bits = 0u;
    // Bound: 8.
    for (var i = 0u; i < count; i += 1u) {
        let word = arc_word(first + i);
        let mark = marks[base + arcs[word]];
        let weight = arcs[word + 1u];
        // So that nothing wraps: costs are below the range.
        if weight >= work.range - cost {
            if mark <= epoch - work.range { bits |= 0x100u; }
        } else if epoch - cost - weight > mark {
            bits |= 1u << i;
        }
    }
    return bits;
}

// Where arc `i` of a part leads: (mark, place, cost).
fn looked(place: u32, cost: u32, part: u32, i: u32) -> vec3<u32> {
    let word = arc_word(part_first(place, part) + i);
    return vec3<u32>(arcs[word], arcs[word], cost + arcs[word + 1u]);
}

// The part after this one, or 0 if it is the last.
fn next_part(place: u32, part: u32) -> u32 {
    let next = part_first(place, part) + 8u;
    return select(0u, next, next < arcs[place + 1u]);
}
