// Candidates of ranges: which pair of boxes candidate number p of a tile is.
//
// places  where each range begins among all candidates (64 bits); one more than there are ranges
// begins  where each range begins in the other side's order; first the subscriptions' ranges, then the updates'
// firsts  the range of each tile's first candidate (firsts.wgsl)
//
// A workgroup keeps the starts of its tile's ranges in workgroup memory if there are few.

// import: matching/boxes.wgsl
// import: matching/tile.wgsl

const STAGED = 1024u;

@group(0) @binding(3) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> begins: array<u32>;
@group(0) @binding(5) var<storage, read> firsts: array<u32>;

// Starts of the ranges after the tile's first, counted from the tile's first candidate.
var<workgroup> starts: array<u32, STAGED>;

struct Tile {
    // Low word of its first candidate's number: differences within a tile and a range need no more.
    start: u32,
    range: u32,
    // How many ranges follow within the tile.
    span: u32,
}

fn open_tile(tile: u32, start: u32, lane: u32) -> Tile {
    let opened = Tile(start, firsts[tile], firsts[tile + 1u] - firsts[tile]);
    if opened.span <= STAGED {
        for (var i = lane; i < opened.span; i += SIZE) {
            starts[i] = places[opened.range + 1u + i].x - start;
        }
    }
    workgroupBarrier();
    return opened;
}

fn start_of(tile: Tile, i: u32) -> u32 {
    if tile.span <= STAGED {
        return starts[i];
    }
    return places[tile.range + 1u + i].x - tile.start;
}

// The places of the subscription and of the update of candidate `p` of the tile, each in its side's order.
fn candidate(tile: Tile, p: u32) -> vec2<u32> {
    // How many of the tile's ranges begin at or before the candidate. At most 32 rounds.
    var first = 0u;
    var end = tile.span;
    while first < end {
        let middle = first + (end - first) / 2u;
        if start_of(tile, middle) <= p {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    let range = tile.range + first;
    let other = begins[range] + (tile.start + p - places[range].x);
    if range < params.subscriptions {
        return vec2(range, other);
    }
    return vec2(other, range - params.subscriptions);
}
