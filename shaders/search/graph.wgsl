// A space of search/slots.wgsl: the vertices of a directed graph, and for search/thread.wgsl the arcs from them.
//
//   arcs   where the arcs of each vertex begin, and the end: work.cells + 1 words; then (to, weight) of each arc. Those of a vertex are in the order of `to`, each
//          of which it has once, and none leads to itself
//
// A place is the number of a vertex, which is also its mark.
//
// Arcs are looked at in parts of four, because there is no telling how many a vertex has: between two parts a search may wait for the next dispatch.
//
// import: search/slots.wgsl
// provides: GUESSED, IN_PARTS, cell_of, heuristic, look, looked, marks, next_part
// needs: estimate
//
// estimate(vertex, goal) is a user's, or that of search/guess_none.wgsl.
//
// bounds: vertices are starts and goals that the host compared with their number, `cells`, or ends
// of arcs, which `Graph` compared. Arcs are numbered below the end of a vertex's row. `data` was
// made for the graph. A kernel with a user's heuristic is created with checks.

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
//
// All arcs, and then all marks, are asked for before one is used, so that no read waits for another. No loop: as in search/relax.wgsl.
fn look(base: u32, place: u32, cost: u32, epoch: u32, part: u32) -> u32 {
    let first = part_first(place, part);
    let end = arcs[place + 1u];
    if first >= end { return 0u; }
    // Beyond the last arc it is the last one again, and its bit is left out.
    let part_arcs = min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(end - 1u));
    let words = vec4<u32>(work.cells + 1u) + 2u * part_arcs;
    let there = vec4<u32>(arcs[words.x], arcs[words.y], arcs[words.z], arcs[words.w]);
    let weights = vec4<u32>(arcs[words.x + 1u], arcs[words.y + 1u], arcs[words.z + 1u], arcs[words.w + 1u]);
    let of_there = vec4<u32>(marks[base + there.x], marks[base + there.y], marks[base + there.z], marks[base + there.w]);
    let bits = vec4<u32>(1u, 2u, 4u, 8u);
    // Costs are below the range. Where the sum is beyond, what wraps below is not looked at.
    let beyond = select(vec4<u32>(0u), bits, weights >= vec4<u32>(work.range - cost));
    let less = select(vec4<u32>(0u), bits, vec4<u32>(epoch - cost) - weights > of_there);
    let fresh = select(vec4<u32>(0u), bits, of_there <= vec4<u32>(epoch - work.range));
    let lost = beyond & fresh;
    let better = less & ~beyond;
    let mine = (1u << min(end - first, 4u)) - 1u;
    return ((better.x | better.y | better.z | better.w) & mine) | select(0u, 0x100u, ((lost.x | lost.y | lost.z | lost.w) & mine) != 0u);
}

// Where arc `i` of a part leads: (mark, place, cost).
fn looked(place: u32, cost: u32, part: u32, i: u32) -> vec3<u32> {
    let word = arc_word(part_first(place, part) + i);
    return vec3<u32>(arcs[word], arcs[word], cost + arcs[word + 1u]);
}

// The part after this one, or 0 if it is the last.
fn next_part(place: u32, part: u32) -> u32 {
    let next = part_first(place, part) + 4u;
    return select(0u, next, next < arcs[place + 1u]);
}
