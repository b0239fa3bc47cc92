// Events of 8 words, and their total order: timestamp, then payload words. See queue/events_4.wgsl.
//
// Functions: event_before, event_time, item_words, words_item.
//
// provides: Item, event_before, event_time, item_words, words_item
//
// bounds: no array of a buffer.

struct Item {
    // Time (low, high), the first two words of the payload.
    head: vec4<u32>,
    // The other four words of the payload.
    tail: vec4<u32>,
}

fn event_before(a: Item, b: Item) -> bool {
    let last = (a.tail.z < b.tail.z) | ((a.tail.z == b.tail.z) & (a.tail.w < b.tail.w));
    let tail = (a.tail.x < b.tail.x) | ((a.tail.x == b.tail.x) & ((a.tail.y < b.tail.y) | ((a.tail.y == b.tail.y) & last)));
    let payload = (a.head.z < b.head.z) | ((a.head.z == b.head.z) & ((a.head.w < b.head.w) | ((a.head.w == b.head.w) & tail)));
    return (a.head.y < b.head.y) | ((a.head.y == b.head.y) & ((a.head.x < b.head.x) | ((a.head.x == b.head.x) & payload)));
}

fn event_time(event: Item) -> vec2<u32> {
    return event.head.xy;
}

fn item_words(item: Item) -> vec4<u32> {
    return item.head;
}

fn words_item(words: vec4<u32>) -> Item {
    return Item(words, vec4<u32>(0u));
}
