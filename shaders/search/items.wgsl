// The items of an open list that is a queue of shaders/queue/, and their order: the estimate of a
// path through a cell (cost so far and heuristic); then the least heuristic, which means the
// greatest cost so far; then the place. The order is total, so every queue takes the same cells in
// the same order.
//
// An item is (estimate, place): 8 bytes. The heuristic is recomputed from the place. It uses
// integers only, so it has the same bits each time.
//
// import: search/slots.wgsl
// provides: Item, event_before, item_words, queue_capacity, queue_events, queue_stride, words_item
// needs: heuristic
//
// bounds: the queue stays within the slots of its search, which slots.wgsl defines.

alias Item = vec2<u32>;

var<private> goal: u32;     // of the search that owns the list

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
