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
// Beside each stream lie substreams, one for each purpose and number: what the first word of the counter has in its highest bit tells them from
// streams. The engines say what names them (stream_purpose in pdes/model.wgsl and replication/job.wgsl). The open stream stays where it
// is meanwhile, so between events or steps there is nothing more to keep of it than its position.
//
// Functions: stream_open, stream_complement, stream_seek, stream_position, stream_block, stream_enter, stream_main, draw, draw_block.
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
// The words of the current block, the next draw first. They are turned after each draw, because indexing a
// private vector by a variable sends it to memory on some GPUs. Only valid where stream_next is no multiple
// of 4.
var<private> stream_words: vec4<u32>;
// All ones where every word is complemented.
var<private> stream_mask: u32;
// What the first word of the counter has besides the block's number: 0 in the stream itself, SUBSTREAM and more in a substream.
var<private> stream_first: u32;
// The stream's own name, and the number of its next draw while a substream is drawn from.
var<private> stream_home: vec3<u32>;
var<private> stream_kept: u32;
// Whether more was asked of a substream than it has: the counters of others would be next.
var<private> stream_lost: bool;

const SUBSTREAM = 0x80000000u;
// Draws that a substream has at least.
const SUBSTREAM_DRAWS = 0x40000u;

// Names the stream and goes to its first draw. A block is computed only when its first word is drawn.
fn stream_open(seed: vec2<u32>, owner: u32, index: vec2<u32>) {
    stream_seed = seed;
    stream_name = vec3<u32>(owner, index);
    stream_next = 0u;
    stream_mask = 0u;
    stream_first = 0u;
    stream_home = stream_name;
    stream_lost = false;
}

// Complements every word of the open stream: ~word is as uniform as word and moves the other way, which makes the second
// half of an antithetic pair. To be called before the first draw.
fn stream_complement() {
    stream_mask = 0xffffffffu;
}

// Draws 4 b to 4 b + 3, for b below 2^30 (2^16 in a substream of a replication), in any order of calls: the position does not move.
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
    stream_lost = stream_lost | ((stream_first != 0u) & (d > SUBSTREAM_DRAWS));
    stream_next = d & ~3u;
    for (var skipped = 0u; skipped < (d & 3u); skipped++) {
        _ = draw();
    }
}

// The number of the next draw: what stream_seek needs to continue here.
fn stream_position() -> u32 {
    return stream_next;
}

// Goes to the first draw of a substream of the open stream. Of two substreams one of the two arguments differs; `first` has the bit SUBSTREAM, and
// its lowest 16 bits are 0.
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

// Goes back to the stream itself, where it was left; nothing where it is open.
fn stream_main() {
    if stream_first != 0u {
        stream_lost = stream_lost | (stream_next > SUBSTREAM_DRAWS);
        stream_first = 0u;
        stream_name = stream_home;
        stream_seek(stream_kept);
    }
}
