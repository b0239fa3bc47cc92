// One random stream per invocation, in private variables.
//
// A stream is named by (seed, owner, index): say the run's seed, the logical process, and the event's number.
// Draw d of a stream is word d % 4 of philox4x32(counter = (d / 4, owner, index), key = seed), so a draw
// depends on the names alone, never on the invocation that makes it. The names of one seed
// share no counter.
//
// A stream has 2^32 draws; after them it starts again from its first.
// The Rust twin is `random::Stream`.
//
// Functions: stream_open, stream_complement, stream_seek, stream_position, stream_block, draw, draw_block.
//
// import: random/philox.wgsl

var<private> stream_seed: vec2<u32>;
// (owner, index low, index high).
var<private> stream_name: vec3<u32>;
// The number of the next draw.
var<private> stream_next: u32;
// The words of the current block, the next draw first. They are turned after each draw, because indexing a
// private vector by a variable sends it to memory on some GPUs. Only valid where stream_next is no multiple
// of 4.
var<private> stream_words: vec4<u32>;
// All ones where every word is complemented.
var<private> stream_mask: u32;

// Names the stream and goes to its first draw. A block is computed only when its first word is drawn.
fn stream_open(seed: vec2<u32>, owner: u32, index: vec2<u32>) {
    stream_seed = seed;
    stream_name = vec3<u32>(owner, index);
    stream_next = 0u;
    stream_mask = 0u;
}

// Complements every word of the open stream: ~word is as uniform as word and moves the other way, which makes the second
// half of an antithetic pair. To be called before the first draw.
fn stream_complement() {
    stream_mask = 0xffffffffu;
}

// Draws 4 b to 4 b + 3, in any order of calls: the position does not move.
fn stream_block(b: u32) -> vec4<u32> {
    return philox4x32(vec4<u32>(b, stream_name), stream_seed) ^ vec4<u32>(stream_mask);
}

// The next word of the stream, uniform over all 2^32 values.
fn draw() -> u32 {
    if (stream_next & 3u) == 0u {
        stream_words = stream_block(stream_next >> 2u);
    }
    let word = stream_words.x;
    stream_words = stream_words.yzwx;
    stream_next += 1u;
    return word;
}

// The next four draws of a block of their own: what is left of a block that was begun is passed over. Where all draws are
// made four at a time it saves the bookkeeping of `draw`.
fn draw_block() -> vec4<u32> {
    let b = (stream_next >> 2u) + u32((stream_next & 3u) != 0u);
    stream_next = (b + 1u) << 2u;
    // The shift drops the bits that lead beyond the last block.
    return stream_block(b & 0x3fffffffu);
}

// Continues the open stream at draw d, in constant time.
fn stream_seek(d: u32) {
    stream_next = d & ~3u;
    for (var skipped = 0u; skipped < (d & 3u); skipped++) {
        _ = draw();
    }
}

// The number of the next draw: what stream_seek needs to continue here.
fn stream_position() -> u32 {
    return stream_next;
}
