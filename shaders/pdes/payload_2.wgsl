// A payload of 2 words, in events of 4. pdes/payload_6.wgsl has the same functions for 6 words in
// events of 8.
//
// Functions: event_item, item_event, mix_item; EVENT_WORDS, event_word, words_event (events as
// words).
//
// import: queue/events_4.wgsl
// import: random/mix.wgsl
// provides: EVENT_WORDS, Event, Payload, event_item, event_word, item_event, mix_item, words_event
//
// bounds: no array of a buffer.

alias Payload = vec2<u32>;

// An event as `handle` receives it: its time in ticks (low, high) and the model's words.
struct Event {
    time: vec2<u32>,
    payload: Payload,
}

fn event_item(time: vec2<u32>, payload: Payload) -> Item {
    return vec4<u32>(time, payload);
}

fn item_event(item: Item) -> Event {
    return Event(item.xy, item.zw);
}

const EVENT_WORDS = 4u;

fn event_word(item: Item, i: u32) -> u32 {
    return item[i];
}

fn words_event(words: array<u32, EVENT_WORDS>) -> Item {
    return vec4<u32>(words[0], words[1], words[2], words[3]);
}

// Mixes all words of an event into a hash.
fn mix_item(lanes: vec2<u32>, item: Item) -> vec2<u32> {
    return mix_word(mix_word(mix_word(mix_word(lanes, item.x), item.y), item.z), item.w);
}
