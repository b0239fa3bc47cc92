// The events of a short bucket in order without sorting: the keys of the remaining events are in
// registers, and each step finds their minimum. One invocation serves one bucket of up to PICK_MOST
// events.
//
// Registers cannot be indexed, so loops over them are unrolled by hand. If buckets have room for
// fewer events, or a dispatch sorts them all, a smaller PICK_MOST saves registers.
//
// Functions: pick_open, pick_least, pick_remove.
//
// import: pdes/calendar/calendar.wgsl
// needs: event_time, store_get

// 0, 8, 16, 24 or 32.
override PICK_MOST: u32 = 32u;
const PICK_NONE = 0xffffffffu;

// The start of the bucket, a bit for each remaining event, and the keys (epoch_key).
var<private> pick_binding: u32;
var<private> pick_place: u32;
var<private> pick_left: u32;
var<private> pick_begin: vec2<u32>; // of the epoch
var<private> pick_0: vec4<u32>;
var<private> pick_1: vec4<u32>;
var<private> pick_2: vec4<u32>;
var<private> pick_3: vec4<u32>;
var<private> pick_4: vec4<u32>;
var<private> pick_5: vec4<u32>;
var<private> pick_6: vec4<u32>;
var<private> pick_7: vec4<u32>;

// Opens a bucket of `events` events, 1 to PICK_MOST, of the epoch that begins at `begin`.
fn pick_open(binding: u32, place: u32, events: u32, begin: vec2<u32>) {
    pick_binding = binding;
    pick_place = place;
    pick_begin = begin;
    pick_left = 0xffffffffu >> (32u - events);
    pick_0 = pick_keys(0u);
    pick_1 = pick_keys(4u);
    if PICK_MOST > 8u && events > 8u {
        pick_2 = pick_keys(8u);
        pick_3 = pick_keys(12u);
    }
    if PICK_MOST > 16u && events > 16u {
        pick_4 = pick_keys(16u);
        pick_5 = pick_keys(20u);
        if PICK_MOST > 24u {
            pick_6 = pick_keys(24u);
            pick_7 = pick_keys(28u);
        }
    }
}

fn pick_keys(first: u32) -> vec4<u32> {
    return vec4<u32>(pick_key(first), pick_key(first + 1u), pick_key(first + 2u), pick_key(first + 3u));
}

fn pick_key(index: u32) -> u32 {
    if (pick_left & (1u << index)) == 0u { return PICK_NONE; }
    return epoch_key(time_since(event_time(store_get(pick_binding, place_in(pick_place, index))), pick_begin));
}

// A bit for each event with the least key: the first in order is among these. At least one event
// must remain.
fn pick_least() -> u32 {
    var least = min(pick_0, pick_1);
    let long = PICK_MOST > 8u && pick_left > 0xffu;
    let longer = PICK_MOST > 16u && pick_left > 0xffffu;
    if long { least = min(least, min(pick_2, pick_3)); }
    if longer {
        least = min(least, min(pick_4, pick_5));
        if PICK_MOST > 24u { least = min(least, min(pick_6, pick_7)); }
    }
    let key = vec4<u32>(min(min(least.x, least.y), min(least.z, least.w)));
    var found = pick_bits(pick_0 == key, 0u) | pick_bits(pick_1 == key, 4u);
    if long { found |= pick_bits(pick_2 == key, 8u) | pick_bits(pick_3 == key, 12u); }
    if longer {
        found |= pick_bits(pick_4 == key, 16u) | pick_bits(pick_5 == key, 20u);
        if PICK_MOST > 24u { found |= pick_bits(pick_6 == key, 24u) | pick_bits(pick_7 == key, 28u); }
    }
    return found;
}

fn pick_bits(which: vec4<bool>, first: u32) -> u32 {
    let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), which);
    return (bits.x | bits.y | bits.z | bits.w) << first;
}

// Removes an event.
fn pick_remove(index: u32) {
    pick_left &= ~(1u << index);
    let none = vec4<u32>(PICK_NONE);
    let at = vec4<u32>(index) == vec4<u32>(0u, 1u, 2u, 3u) + (index & ~3u);
    let quarter = index / 4u;
    if quarter == 0u { pick_0 = select(pick_0, none, at); }
    if quarter == 1u { pick_1 = select(pick_1, none, at); }
    if PICK_MOST > 8u {
        if quarter == 2u { pick_2 = select(pick_2, none, at); }
        if quarter == 3u { pick_3 = select(pick_3, none, at); }
    }
    if PICK_MOST > 16u {
        if quarter == 4u { pick_4 = select(pick_4, none, at); }
        if quarter == 5u { pick_5 = select(pick_5, none, at); }
    }
    if PICK_MOST > 24u {
        if quarter == 6u { pick_6 = select(pick_6, none, at); }
        if quarter == 7u { pick_7 = select(pick_7, none, at); }
    }
}
