// What one dispatch of a counting or writing kernel is told.

struct Params {
    // Boxes of each side: the length of its columns.
    subscriptions: u32,
    updates: u32,
    // The tasks of this dispatch: from `first` up to, not including, `end`.
    first: u32,
    end: u32,
    // The pairs wanted: `room` of them from this place (two words, low and high) in the output on.
    window: vec2<u32>,
    room: u32,
    // What one algorithm needs beyond that.
    extra: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
