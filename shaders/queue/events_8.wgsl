// Events of 8 words, and their total order: timestamp, then payload words. queue/events_4.wgsl says more.
//
// Functions: event_before, event_time, item_words, words_item.

struct Item {
    // Time (low, high), the first two words of the payload.
    head: vec4<u32>,
    // The other four.
    tail: vec4<u32>,
}

fn event_before(a: Item, b: Item) -> bool {
    if a.head.y != b.head.y { return a.head.y < b.head.y; }
    if a.head.x != b.head.x { return a.head.x < b.head.x; }
    if a.head.z != b.head.z { return a.head.z < b.head.z; }
    if a.head.w != b.head.w { return a.head.w < b.head.w; }
    if a.tail.x != b.tail.x { return a.tail.x < b.tail.x; }
    if a.tail.y != b.tail.y { return a.tail.y < b.tail.y; }
    if a.tail.z != b.tail.z { return a.tail.z < b.tail.z; }
    return a.tail.w < b.tail.w;
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
