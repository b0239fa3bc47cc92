// Events of 4 words, and their total order: timestamp, then payload words.
//
// An event is one vec4<u32>: time (low, high), payload (two words). Events that are equal in all 16
// bytes are interchangeable, so their order of arrival does not matter. A queue works with any
// total order over any Item. Simulation uses this file for models with a payload of 2 words, and
// queue/events_8.wgsl for 6 words.
//
// Functions: event_before, event_time; item_words, words_item for designs that store something
// other than an event in a slot (4 words; 2 of items of searches).
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
