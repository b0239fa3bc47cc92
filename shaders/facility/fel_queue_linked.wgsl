// Queues of a network that loses no token (facility/event_list.wgsl): lists of tokens without a
// bound. `row.x` and `row.y` are the first and the last token; each token has one row in `rows`.
//
// import: facility/event_list.wgsl
// provides: FACILITY_ROWS, fifo_close, fifo_is_empty, fifo_open, fifo_put, fifo_take, is_source
// needs: now, row, rows
//
// bounds: a token is in one queue, in one service, or in flight; `row.x` is a token where the queue
// is not empty.

const FACILITY_ROWS = 2u;

// The row of a token in `rows`.
fn token_row(token: u32) -> u32 {
    return FACILITY_ROWS * params.facilities + token;
}

fn is_source() -> bool { return false; }
fn fifo_open() {}
fn fifo_close() {}

fn fifo_is_empty() -> bool { return row.x == NONE; }

// Queues a token that arrives now.
fn fifo_put(token: u32) {
    if row.x == NONE { row.x = token; } else { rows[token_row(row.y)].x = token; }
    row.y = token;
    rows[token_row(token)] = vec4<u32>(NONE, 0u, now);
}

// Takes the first token: the token, a word, and the time of its arrival.
fn fifo_take() -> vec4<u32> {
    let token = row.x;
    let held = rows[token_row(token)];
    row.x = held.x;
    return vec4<u32>(token, held.yzw);
}
