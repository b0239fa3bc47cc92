// Queues of an open network, or of one that loses tokens (facility/event_list.wgsl): rings with a
// bound. `row.x` is the first place in use, `row.y` the number of tokens; each place has one row in
// `rows`. A token that finds its queue full is dropped.
//
// import: facility/event_list.wgsl
// import: gpu/wide.wgsl
// provides: FACILITY_ROWS, fifo_close, fifo_is_empty, fifo_open, fifo_put, fifo_take, is_source
// needs: WORD_FIRST_PLACE, WORD_PLACES, WORD_SERVERS, facility_word, now, row, row_of, rows
//
// bounds: the places of a facility follow each other in `rows`; they wrap at their number `room`.
// `fifo_take` is called where the queue is not empty.

const FACILITY_ROWS = 3u;
// The number of places of a facility that mints tokens instead of serving them.
const SOURCE = 0xffffffffu;

var<private> places: u32;
// The places in memory: at time zero the queue has the tokens of servers too.
var<private> room: u32;
var<private> dropped: vec2<u32>;

// The row of a place in `rows`.
fn place_row(place: u32) -> u32 {
    return FACILITY_ROWS * params.facilities + facility_word(WORD_FIRST_PLACE) + place;
}

fn is_source() -> bool { return places == SOURCE; }

fn fifo_open() {
    places = facility_word(WORD_PLACES);
    room = places + facility_word(WORD_SERVERS);
    dropped = rows[row_of(2u)].xy;
}

fn fifo_close() {
    rows[row_of(2u)] = vec4<u32>(dropped, 0u, 0u);
}

fn fifo_is_empty() -> bool { return row.y == 0u; }

// Queues a token that arrives now, or drops it.
fn fifo_put(token: u32) {
    if row.y >= places {
        dropped = wide_add(dropped, vec2<u32>(1u, 0u));
        return;
    }
    // Both are below 2^28.
    var place = row.x + row.y;
    if place >= room { place -= room; }
    rows[place_row(place)] = vec4<u32>(token, 0u, now);
    row.y += 1u;
}

// Takes the first token: the token, a word, and the time of its arrival.
fn fifo_take() -> vec4<u32> {
    let held = rows[place_row(row.x)];
    row.x += 1u;
    if row.x >= room { row.x = 0u; }
    row.y -= 1u;
    return held;
}
