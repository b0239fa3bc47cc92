// A payload of 6 words, in events of 8. pdes/payload_2.wgsl has the same functions for 2 words in
// events of 4.
//
// Functions: event_item, item_event, mix_item; EVENT_WORDS, event_word, words_event (events as
// words).
//
// import: queue/events_8.wgsl
// import: random/mix.wgsl
// provides: EVENT_WORDS, Event, Payload, event_item, event_word, item_event, mix_item, words_event
//
// bounds: no array of a buffer.

alias Payload = array<u32, 6>;

// An event as `handle` receives it: its time in ticks (low, high) and the model's words.
struct Event {
    time: vec2<u32>,
    payload: Payload,
}

fn event_item(time: vec2<u32>, payload: Payload) -> Item {
    return Item(
        vec4<u32>(time, payload[0], payload[1]),
        vec4<u32>(payload[2], payload[3], payload[4], payload[5]),
    );
}

fn item_event(item: Item) -> Event {
    let tail = item.tail;
    return Event(item.head.xy, Payload(item.head.z, item.head.w, tail.x, tail.y, tail.z, tail.w));
}

const EVENT_WORDS = 8u;

fn event_word(item: Item, i: u32) -> u32 {
    if i < 4u { return item.head[i]; }
    return item.tail[i - 4u];
}

fn words_event(words: array<u32, EVENT_WORDS>) -> Item {
    return Item(
        vec4<u32>(words[0], words[1], words[2], words[3]),
        vec4<u32>(words[4], words[5], words[6], words[7]),
    );
}

// Mixes all words of an event into a hash.
fn mix_item(lanes: vec2<u32>, item: Item) -> vec2<u32> {
    var mixed = mix_word(mix_word(mix_word(mix_word(lanes, item.head.x), item.head.y), item.head.z), item.head.w);
    mixed = mix_word(mix_word(mix_word(mix_word(mixed, item.tail.x), item.tail.y), item.tail.z), item.tail.w);
    return mixed;
}
