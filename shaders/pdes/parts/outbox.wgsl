// A part of a run that is cut over devices: events for LPs of other parts. Parts are ranges of LPs
// of about equal length, the longer ones first. Between this dispatch and the next, the host moves
// the events (src/hybrid/devices.rs), and pdes/parts/arrive.wgsl puts them into mailboxes, or
// pdes/calendar/calendar_arrive.wgsl into a calendar.
//
//   words    after the counts of events: the number of events for each other part, in order; then
//            for each of these OUTBOX_ROOM entries of an LP and the words of an event. Counts
//            continue beyond the room, which is a failure
//
// All rows have the same bound here.
//
// Functions: sent_away.
//
// import: pdes/engine.wgsl
// import: pdes/model.wgsl
// provides: sent_away
// needs: EVENT_WORDS, Payload, arrival_before_bound, event_item, event_word, run

// The number of parts, the number of this part, and the room for events to each other part.
override OUTBOX_PARTS: u32 = 2u;
override OUTBOX_OWN: u32 = 0u;
override OUTBOX_ROOM: u32 = 1u;

// The counts of a row in `words` before the outbox.
override OUTBOX_AFTER: u32 = 3u;

// The words of an entry.
const OUTBOX_ENTRY = 1u + EVENT_WORDS;

// The part of an LP.
fn part_of(lp: u32) -> u32 {
    let least = run.total / OUTBOX_PARTS;
    let longer = run.total % OUTBOX_PARTS;
    let in_longer = longer * (least + 1u);
    if lp < in_longer { return lp / (least + 1u); }
    return longer + (lp - in_longer) / max(least, 1u);
}

// Whether an event for an LP, whose row would be `row`, was sent to another part.
fn sent_away(row: u32, lp: u32, time: vec2<u32>, payload: Payload) -> bool {
    if row < run.rows { return false; }
    if arrival_before_bound(time) {
        fail(lp_row, PROMISE);
        return true;
    }
    let part = part_of(lp);
    let other = part - u32(part > OUTBOX_OWN);
    let counts = COUNTS + OUTBOX_AFTER * run.rows;
    let place = atomicAdd(&words[counts + other], 1u);
    if place >= OUTBOX_ROOM {
        // Reported for the part's first LP, because which LP finds no room depends on scheduling.
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
