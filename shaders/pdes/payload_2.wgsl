// A payload of 2 words, in events of 4. pdes/payload_6.wgsl has the same functions for 6 words in events of 8.
//
// Functions: event_item, item_event, mix_item.
//
// import: queue/events_4.wgsl
// import: random/mix.wgsl

alias Payload = vec2<u32>;

// An event as `handle` gets it: its time in ticks (low, high) and the words of the model's own.
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

// Takes all words of an event into a hash.
fn mix_item(lanes: vec2<u32>, item: Item) -> vec2<u32> {
    return mix_word(mix_word(mix_word(mix_word(lanes, item.x), item.y), item.z), item.w);
}
