// What the open list of a search holds when it is a queue of shaders/queue/, and its order: the estimate of a path through a cell (cost
// so far and heuristic); then the cell nearest to the goal, which has the greatest cost so far; then the place. It is a total order, so every
// design takes the same cells in the same order.
//
// An item is (estimate, place): 8 bytes. The heuristic is made again from the place, and is the same bits each time: integers only.
//
// import: search/slots.wgsl
// provides: Item, event_before, item_words, queue_capacity, queue_events, queue_stride, words_item
// needs: heuristic
//
// bounds: the queue keeps to the slots of its search, which slots.wgsl gives.

alias Item = vec2<u32>;

var<private> goal: u32;     // of the search whose list it is

fn event_before(a: Item, b: Item) -> bool {
    if a.x != b.x { return a.x < b.x; }
    let of_a = heuristic(a.y, goal);
    let of_b = heuristic(b.y, goal);
    if of_a != of_b { return of_a < of_b; }
    return a.y < b.y;
}

fn item_words(item: Item) -> vec4<u32> {
    return vec4<u32>(item, 0u, 0u);
}

fn words_item(words: vec4<u32>) -> Item {
    return words.xy;
}

@group(0) @binding(7) var<storage, read_write> queue_events: array<Item>;

fn queue_capacity() -> u32 {
    return work.capacity;
}

fn queue_stride() -> u32 {
    return work.stride;
}
