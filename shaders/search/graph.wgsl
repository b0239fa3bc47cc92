// A space of search/slots.wgsl: the vertices of a directed graph, and for search/thread.wgsl their
// arcs.
//
//   arcs   work.cells + 1 words: the first arc of each vertex, and the end; then (to, weight) of
//          each arc. A vertex's arcs are ordered by `to`, all different, and none leads to itself
//
// A place is the number of a vertex, which is also its mark. Arcs are read in parts of four,
// because a vertex can have any number: between two parts a search may wait for the next dispatch.
//
// import: search/slots.wgsl
// provides: GUESSED, IN_PARTS, cell_of, heuristic, look, looked, marks, next_part
// needs: estimate
//
// estimate(vertex, goal) is user code, or that of search/guess_none.wgsl.
//
// bounds: vertices are starts and goals that the host compared with their number, `cells`, or ends
// of arcs, which `Graph` compared. Arcs are numbered below the end of a vertex's row. `data` was
// made for the graph. A kernel with a user's heuristic is created with checks.

@group(0) @binding(1) var<storage> arcs: array<u32>;
@group(0) @binding(6) var<storage, read_write> marks: array<u32>;

// The heuristic is user code, so its consistency is checked.
const GUESSED = true;
// A cell may have more moves than one call of `look` reads.
const IN_PARTS = true;

fn cell_of(place: u32) -> u32 {
    return place;
}

fn heuristic(place: u32, goal: u32) -> u32 {
    return estimate(place, goal);
}

// The first arc of a part: `part`, or the first arc of the vertex if that is 0.
fn part_first(vertex: u32, part: u32) -> u32 {
    return select(part, arcs[vertex], part == 0u);
}

fn arc_word(arc: u32) -> u32 {
    return work.cells + 1u + 2u * arc;
}

// The arcs of this part that make a path cheaper, as bits; and 0x100 if one was skipped because its
// cost is beyond the range and it led to an unreached vertex. All loads precede their uses, so that
// they overlap. No loop: as in search/relax.wgsl.
fn look(base: u32, place: u32, cost: u32, epoch: u32, part: u32) -> u32 {
    let first = part_first(place, part);
    let end = arcs[place + 1u];
    if first >= end { return 0u; }
    // Arcs beyond the last one repeat it; their bits are masked.
    let part_arcs = min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(end - 1u));
    let words = vec4<u32>(work.cells + 1u) + 2u * part_arcs;
    let there = vec4<u32>(arcs[words.x], arcs[words.y], arcs[words.z], arcs[words.w]);
    let weights = vec4<u32>(arcs[words.x + 1u], arcs[words.y + 1u], arcs[words.z + 1u], arcs[words.w + 1u]);
    let of_there = vec4<u32>(marks[base + there.x], marks[base + there.y], marks[base + there.z], marks[base + there.w]);
    let bits = vec4<u32>(1u, 2u, 4u, 8u);
    // Costs are below the range. If a sum is beyond it, the wrapped difference is masked.
    let beyond = select(vec4<u32>(0u), bits, weights >= vec4<u32>(work.range - cost));
    let less = select(vec4<u32>(0u), bits, vec4<u32>(epoch - cost) - weights > of_there);
    let fresh = select(vec4<u32>(0u), bits, of_there <= vec4<u32>(epoch - work.range));
    let lost = beyond & fresh;
    let better = less & ~beyond;
    let mine = (1u << min(end - first, 4u)) - 1u;
    return ((better.x | better.y | better.z | better.w) & mine) | select(0u, 0x100u, ((lost.x | lost.y | lost.z | lost.w) & mine) != 0u);
}

// The end of arc `i` of a part: (mark, place, cost).
fn looked(place: u32, cost: u32, part: u32, i: u32) -> vec3<u32> {
    let word = arc_word(part_first(place, part) + i);
    return vec3<u32>(arcs[word], arcs[word], cost + arcs[word + 1u]);
}

// The next part, or 0 after the last.
fn next_part(place: u32, part: u32) -> u32 {
    let next = part_first(place, part) + 4u;
    return select(0u, next, next < arcs[place + 1u]);
}
