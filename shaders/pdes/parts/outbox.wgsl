// A part of a run that is cut over devices: what its LPs send to those of other parts. Parts are ranges of LPs, as even as can be, the longer ones
// first. The host takes what lies here to where it belongs, between this dispatch and the next (src/hybrid/devices.rs); pdes/parts/arrive.wgsl puts it into mailboxes there.
//
//   words    behind the counts of mails: for each of the other parts, in their order, how many events there are for it; then for each of them OUTBOX_ROOM entries of
//            an LP and the words of an event. Counts go on where there is no room; then it is a failure
//
// Functions: sent_away.
//
// import: pdes/engine.wgsl
// import: pdes/model.wgsl
// provides: sent_away
// needs: EVENT_WORDS, Payload, arrival_before_bound, event_item, event_word, run
//
// In parts the promise is the same for all rows.

// How many parts there are, which of them this one is, and how many events there is room for to each of the others.
override OUTBOX_PARTS: u32 = 2u;
override OUTBOX_OWN: u32 = 0u;
override OUTBOX_ROOM: u32 = 1u;

// The words of an entry.
const OUTBOX_ENTRY = 1u + EVENT_WORDS;

// The part that an LP lies in.
fn part_of(lp: u32) -> u32 {
    let least = run.total / OUTBOX_PARTS;
    let longer = run.total % OUTBOX_PARTS;
    let in_longer = longer * (least + 1u);
    if lp < in_longer { return lp / (least + 1u); }
    return longer + (lp - in_longer) / max(least, 1u);
}

// Whether an event for an LP, which would lie in that row, has left for another part.
fn sent_away(row: u32, lp: u32, time: vec2<u32>, payload: Payload) -> bool {
    if row < run.rows { return false; }
    if arrival_before_bound(time) {
        fail(lp_row, PROMISE);
        return true;
    }
    let part = part_of(lp);
    let other = part - u32(part > OUTBOX_OWN);
    let counts = COUNTS + 3u * run.rows;
    let place = atomicAdd(&words[counts + other], 1u);
    if place >= OUTBOX_ROOM {
        // At the part's first LP, because it is by chance who finds no room.
        fail_room(0u, OUTBOX_FULL, OUTBOX_NEEDED, place + 1u);
        return true;
    }
    let first = counts + OUTBOX_PARTS - 1u + (other * OUTBOX_ROOM + place) * OUTBOX_ENTRY;
    atomicStore(&words[first], lp);
    let event = event_item(time, payload);
    for (var i = 0u; i < EVENT_WORDS; i += 1u) {
        atomicStore(&words[first + 1u + i], event_word(event, i));
    }
    return true;
}
