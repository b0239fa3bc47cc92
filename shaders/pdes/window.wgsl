// One window of conservative simulation by YAWNS (Baudis et al., section IV.A): the smallest pending timestamp t
// is known from the last window, every LP executes all its events before t + lookahead, in order, and what they
// schedule lies at or after that, so it goes to mailboxes that the next window empties.
//
// One dispatch is one window; one thread serves one LP. Workgroups never wait for each other: what they learn of
// each other (smallest timestamp, events executed, failures) is what the dispatch before left behind, in the half
// of the buffers that this one only reads.
//
// A window that finds the run at its end (time, number of events, nothing pending, failure) changes nothing but
// carries the halves over, so any number of further windows is harmless, and a later run goes on from there.
//
// import: pdes/model.wgsl
// import: pdes/reduce.wgsl
// import: pdes/fingerprint.wgsl

var<private> window_lp: u32;          // the LP that this thread serves
var<private> window_outbox: u32;      // the half of the mailboxes that this window fills
var<private> window_least: vec2<u32>; // earliest time that the present event may schedule for
var<private> window_sent: vec2<u32>;  // earliest time that was scheduled in this window

// The event whose place in a mailbox was asked for last. It is put there when the next one asks, or at the end:
// the answer takes long, and the work in between hides that.
var<private> posted: bool;
var<private> posted_lp: u32;
var<private> posted_index: u32;
var<private> posted_event: vec4<u32>;

fn post() {
    if !posted { return; }
    posted = false;
    if posted_index >= run.mail_capacity {
        fail(1u - run.parity, posted_lp, MAILBOX_FULL);
        return;
    }
    let mailbox = window_outbox * run.lps + posted_lp;
    mail_events[mailbox * run.mail_capacity + posted_index] = posted_event;
}

fn schedule(lp: u32, time: vec2<u32>, payload: vec2<u32>) {
    let next = 1u - run.parity;
    if lp >= run.lps {
        fail(next, window_lp, DESTINATION);
        return;
    }
    if all(time == TIME_NEVER) {
        fail(next, window_lp, TIME_OVERFLOW);
        return;
    }
    if time_less(time, window_least) {
        fail(next, window_lp, LOOKAHEAD);
        return;
    }
    post();
    posted = true;
    posted_lp = lp;
    posted_index = atomicAdd(&mail_counts[window_outbox * run.lps + lp], 1u);
    posted_event = vec4<u32>(time, payload);
    window_sent = time_min(window_sent, time);
}

// Empties the LP's mailbox, executes its events before `horizon`, and tells (earliest pending time, events).
fn advance(lp: u32, horizon: vec2<u32>) -> vec4<u32> {
    let kept = lps[lp];
    let inbox = mail_half();
    let mailbox = inbox * run.lps + lp;
    let mails = min(atomicLoad(&mail_counts[mailbox]), run.mail_capacity);
    if mails == 0u && !time_less(kept.xy, horizon) {
        return vec4<u32>(kept.xy, 0u, 0u);
    }
    window_lp = lp;
    window_outbox = 1u - inbox;
    window_sent = TIME_NEVER;
    queue_open(lp, kept.zw);
    if mails > 0u {
        atomicStore(&mail_counts[mailbox], 0u);
        for (var i = 0u; i < mails; i += 1u) {
            if !queue_push(mail_events[mailbox * run.mail_capacity + i]) {
                fail(1u - run.parity, lp, QUEUE_FULL);
                break;
            }
        }
    }
    var first = TIME_NEVER;
    if queue_size() > 0u { first = queue_first().xy; }
    var executed = 0u;
    if time_less(first, horizon) {
        let counts = lps[run.lps + lp];
        var number = counts.xy;
        var digest = counts.zw;
        var state = states[lp];
        // Bound: the events held. None is added: what is scheduled goes to mailboxes.
        for (var left = queue_size(); left > 0u; left -= 1u) {
            let event = queue_first();
            first = event.xy;
            if !time_less(first, horizon) { break; }
            queue_pop();
            first = TIME_NEVER;
            executed += 1u;
            number = time_add(number, vec2<u32>(1u, 0u));
            digest = digest_add(digest, digest_event(DIGEST_EXECUTED, lp, event));
            window_least = time_add(event.xy, run.lookahead);
            stream_open(run.seed, lp, number);
            handle(lp, Event(event.xy, event.zw), &state);
        }
        post();
        states[lp] = state;
        lps[run.lps + lp] = vec4<u32>(number, digest);
    }
    lps[lp] = vec4<u32>(first, queue_close());
    return vec4<u32>(time_min(first, window_sent), executed, 0u);
}

@compute @workgroup_size(GROUP)
fn window(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let next = 1u - run.parity;
    let before = run.parity * CONTROL_WORDS;
    let after = next * CONTROL_WORDS;

    var mine = IDLE;
    for (var i = lane; i < run.partials_count; i += GROUP) {
        mine = merge(mine, partials[run.partials_first + i]);
    }
    let last = reduce_group(lane, mine);
    let now = last.xy;
    let events = time_add(
        vec2<u32>(atomicLoad(&control[before + EVENTS]), atomicLoad(&control[before + EVENTS + 1u])),
        vec2<u32>(last.z, 0u),
    );
    let failure = atomicLoad(&control[before + FAILURE]);
    let stopped = failure != NO_FAILURE || all(now == TIME_NEVER) || !time_less(now, run.until)
        || !time_less(events, run.event_limit);
    let lp = group * GROUP + lane;

    mine = IDLE;
    if !stopped && lp < run.lps {
        mine = advance(lp, time_min(time_add(now, run.lookahead), run.until));
    }
    var left = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        if stopped {
            left = vec4<u32>(partials[run.parity * run.groups + group].xy, 0u, 0u);
        }
        partials[next * run.groups + group] = left;
        if group == 0u {
            let windows = time_add(
                vec2<u32>(atomicLoad(&control[before + WINDOWS]), atomicLoad(&control[before + WINDOWS + 1u])),
                vec2<u32>(select(1u, 0u, stopped), 0u),
            );
            atomicStore(&control[after + WINDOWS], windows.x);
            atomicStore(&control[after + WINDOWS + 1u], windows.y);
            atomicStore(&control[after + EVENTS], events.x);
            atomicStore(&control[after + EVENTS + 1u], events.y);
            atomicStore(&control[after + NOW], now.x);
            atomicStore(&control[after + NOW + 1u], now.y);
            atomicStore(&control[after + STOPPED], select(0u, 1u, stopped));
            // Not a store: threads of this dispatch may be recording failures there.
            atomicMin(&control[after + FAILURE], failure);
        }
    }
    if loops_cut(run.lps) { fail(next, min(lp, run.lps - 1u), LOOPS_CUT); }
}
