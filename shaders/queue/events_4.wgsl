// Events of 4 words, and their total order: timestamp, then payload words.
//
// An event is one vec4<u32>: time (low, high), payload (two words). Two events that are equal in all 16 bytes are
// interchangeable, so the order in which they arrived can never show. A queue works with any total order over any Item: this
// file is the one that simulation uses for models with a payload of 2 words, queue/events_8.wgsl that for 6.
//
// Functions: event_before, event_time; item_words, words_item for designs that keep something else than an event in a slot (4 words; 2 of what searches keep).
//
// provides: Item, event_before, event_time, item_words, words_item
//
// bounds: no array of a buffer.

alias Item = vec4<u32>;

fn event_before(a: Item, b: Item) -> bool {
    let payload = (a.z < b.z) | ((a.z == b.z) & (a.w < b.w));
    return (a.y < b.y) | ((a.y == b.y) & ((a.x < b.x) | ((a.x == b.x) & payload)));
}

fn event_time(event: Item) -> vec2<u32> {
    return event.xy;
}

fn item_words(item: Item) -> vec4<u32> {
    return item;
}

fn words_item(words: vec4<u32>) -> Item {
    return words;
}
