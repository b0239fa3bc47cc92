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
// Functions: stream_open, stream_seek, stream_position, draw.
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

// Names the stream and goes to its first draw. A block is computed only when its first word is drawn.
fn stream_open(seed: vec2<u32>, owner: u32, index: vec2<u32>) {
    stream_seed = seed;
    stream_name = vec3<u32>(owner, index);
    stream_next = 0u;
}

// The next word of the stream, uniform over all 2^32 values.
fn draw() -> u32 {
    if (stream_next & 3u) == 0u {
        stream_words = philox4x32(vec4<u32>(stream_next >> 2u, stream_name), stream_seed);
    }
    let word = stream_words.x;
    stream_words = stream_words.yzwx;
    stream_next += 1u;
    return word;
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
