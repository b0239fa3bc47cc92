// One random stream per invocation, in private variables. The reference implementation is
// `random::Stream`.
//
// A stream is named by (seed, owner, index), for example the run's seed, the LP, and the event's
// number. Draw d is word d % 4 of philox4x32(counter = (d / 4, owner, index), key = seed): it
// depends on the names alone, never on the invocation. Names of one seed share no counter. A stream
// has 2^32 draws; then it restarts.
//
// Each stream has substreams, named by a purpose and a number (stream_purpose in pdes/model.wgsl
// and replication/job.wgsl) and separated by the highest bit of the counter's first word. The
// position of the stream itself is preserved, so it is the only state between events or steps.
//
// Functions: stream_open, stream_complement, stream_seek, stream_position, stream_block,
// stream_enter, stream_main, draw, draw_block.
//
// models: draw()
//
// import: random/philox.wgsl
//
// bounds: no array of a buffer. The loop runs fewer than 4 times.

var<private> stream_seed: vec2<u32>;
// (owner, index low, index high).
var<private> stream_name: vec3<u32>;
// The number of the next draw.
var<private> stream_next: u32;
// The words of the current block, the next draw first. Rotated after each draw, because some GPUs
// put a private vector that is indexed by a variable in memory. Valid unless stream_next is a
// multiple of 4.
var<private> stream_words: vec4<u32>;
// All ones if words are complemented.
var<private> stream_mask: u32;
// Added to the first word of the counter: 0 in the stream itself, SUBSTREAM and more in a
// substream.
var<private> stream_first: u32;
// The stream's own name, and the position that it has while a substream is open.
var<private> stream_home: vec3<u32>;
var<private> stream_kept: u32;
// Whether a substream was exhausted: its next counters belong to others.
var<private> stream_lost: bool;

const SUBSTREAM = 0x80000000u;
// The least number of draws of a substream.
const SUBSTREAM_DRAWS = 0x40000u;

// Names the stream and goes to its first draw. A block is computed when its first word is drawn.
fn stream_open(seed: vec2<u32>, owner: u32, index: vec2<u32>) {
    stream_seed = seed;
    stream_name = vec3<u32>(owner, index);
    stream_next = 0u;
    stream_mask = 0u;
    stream_first = 0u;
    stream_home = stream_name;
    stream_lost = false;
}

// Complements every word of the open stream, for the second half of an antithetic pair: ~word is as
// uniform as word and moves the other way. Called before the first draw.
fn stream_complement() {
    stream_mask = 0xffffffffu;
}

// Draws 4 b to 4 b + 3, for b below 2^30 (2^16 in a substream of a replication), in any order of
// calls. The position does not change.
fn stream_block(b: u32) -> vec4<u32> {
    return philox4x32(vec4<u32>(stream_first | b, stream_name), stream_seed) ^ vec4<u32>(stream_mask);
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

// The next four draws, aligned to a block: the rest of a begun block is skipped. Faster than four
// calls of `draw`.
fn draw_block() -> vec4<u32> {
    let b = (stream_next >> 2u) + u32((stream_next & 3u) != 0u);
    stream_next = (b + 1u) << 2u;
    // The shift drops the bits beyond the last block.
    return stream_block(b & 0x3fffffffu);
}

// Continues the open stream at draw d, in constant time.
fn stream_seek(d: u32) {
    stream_lost = stream_lost | ((stream_first != 0u) & (d > SUBSTREAM_DRAWS));
    stream_next = d & ~3u;
    for (var skipped = 0u; skipped < (d & 3u); skipped++) {
        _ = draw();
    }
}

// The number of the next draw, for stream_seek.
fn stream_position() -> u32 {
    return stream_next;
}

// Goes to the first draw of a substream of the open stream. Two substreams differ in an argument;
// `first` has the bit SUBSTREAM, and its lowest 16 bits are 0.
fn stream_enter(first: u32, name: vec3<u32>) {
    if stream_first == 0u {
        stream_kept = stream_next;
    } else {
        stream_lost = stream_lost | (stream_next > SUBSTREAM_DRAWS);
    }
    stream_first = first;
    stream_name = name;
    stream_next = 0u;
}

// Returns to the position of the stream itself, if a substream is open.
fn stream_main() {
    if stream_first != 0u {
        stream_lost = stream_lost | (stream_next > SUBSTREAM_DRAWS);
        stream_first = 0u;
        stream_name = stream_home;
        stream_seek(stream_kept);
    }
}
