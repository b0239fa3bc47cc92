// Sorts the buckets of a window's cell, in a dispatch of its own before the window, where they hold too many events for the thread that
// executes them.
//
// SORT_TEAM invocations serve one LP's bucket of up to SORT_HANDFUL x SORT_TEAM events, which they keep in registers: workgroup memory, of which drivers give out
// little at a time, has the keys only. A workgroup has GROUP_SIZE / SORT_TEAM buckets. An event's place is its rank, the number of those that come before
// it. Where SORT_BINS is 0, it is compared with all of its bucket. Otherwise each goes into one of so many bins by its time (any map will do that does
// not turn times round: in a cell they lie evenly, more or less), and is compared with those of its bin. Where all lie in one bin that is
// as slow as without bins, and as right.
//
// A bucket that is too large is left for its window, which sorts it alone.
//
// import: pdes/calendar.wgsl
// import: pdes/calendar_sync.wgsl
//
// needs: event_before (queue/events_4.wgsl or queue/events_8.wgsl)

// A power of two, at least 4, that divides GROUP_SIZE.
override SORT_TEAM: u32 = 8u;
// None, or a multiple of SORT_TEAM.
override SORT_BINS: u32 = 0u;

const SORT_HANDFUL = 4u;

override SORT_EVENTS: u32 = SORT_HANDFUL * GROUP_SIZE;
override SORT_ORDER: u32 = select(1u, SORT_EVENTS, SORT_BINS > 0u);
override SORT_ALL_BINS: u32 = max(1u, SORT_BINS * GROUP_SIZE / SORT_TEAM);

// By team, then by event of the bucket: their keys (cell_key). Each member writes the four of its own as one: a store to one component
// may touch the others.
var<workgroup> sort_keys: array<vec4<u32>, GROUP_SIZE>;
// By team, then by place in the bins: which event it is.
var<workgroup> sort_order: array<u32, SORT_ORDER>;
// By team: the events in each bin; then where each bin ends.
var<workgroup> sort_bins: array<atomic<u32>, SORT_ALL_BINS>;
var<workgroup> sort_sums: array<u32, GROUP_SIZE>;

@compute @workgroup_size(GROUP_SIZE)
fn sort_buckets(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let horizon = synchronise(lane);
    let buckets = GROUP_SIZE / SORT_TEAM;
    // Bound: what the host makes of it, 64 at the most.
    for (var first = id.x * buckets; first < run.part.queue_rows; first += groups.x * buckets) {
        var count = 0u;
        let row = run.part.queue_first + first + lane / SORT_TEAM;
        if horizon.serve && first + lane / SORT_TEAM < run.part.queue_rows {
            let counted = atomicLoad(&words[bucket_count(horizon.bucket, row)]);
            let events = min(counted & BUCKET_EVENTS, run.mail_capacity);
            if (counted & BUCKET_SORTED) == 0u && events <= SORT_HANDFUL * SORT_TEAM { count = events; }
        }
        sort_bucket(lane, row, count, horizon);
        if count > 0u && loops_cut(run.rows) { fail(row, LOOPS_CUT); }
    }
}

// Sorts the buckets of a workgroup's teams, this one of so many events. To be called by all invocations.
fn sort_bucket(lane: u32, row: u32, count: u32, horizon: Horizon) {
    let team = lane / SORT_TEAM;
    let member = lane % SORT_TEAM;
    let at = store_split(row);
    let place = bucket_place(horizon.bucket, at.y);
    let mine = team * SORT_HANDFUL * SORT_TEAM;
    var events: array<Item, SORT_HANDFUL>;
    var keys: vec4<u32>;
    for (var i = 0u; i < SORT_HANDFUL; i += 1u) {
        let index = member * SORT_HANDFUL + i;
        // What fills up the last four comes before nothing.
        keys[i] = 0xffffffffu;
        if index < count {
            events[i] = store_get(at.x, place + index);
            keys[i] = cell_key(time_since(event_time(events[i]), horizon.now));
        }
    }
    sort_keys[lane] = keys;
    workgroupBarrier();
    var ranks: array<u32, SORT_HANDFUL>;
    if SORT_BINS == 0u {
        for (var j = 0u; j < count; j += 4u) {
            let rivals = sort_keys[(mine + j) / 4u];
            for (var i = 0u; i < SORT_HANDFUL; i += 1u) {
                let less = vec4<u32>(rivals < vec4<u32>(keys[i]));
                ranks[i] += less.x + less.y + less.z + less.w;
            }
        }
        // Keys that are equal, which is rare, leave gaps in the order: those of their events that come first take the first places.
        for (var i = 0u; i < SORT_HANDFUL; i += 1u) {
            let index = member * SORT_HANDFUL + i;
            if index >= count { continue; }
            var equal = 0u;
            for (var j = 0u; j < count; j += 4u) {
                let same = vec4<u32>(sort_keys[(mine + j) / 4u] == vec4<u32>(keys[i]));
                equal += same.x + same.y + same.z + same.w;
            }
            if equal > 1u {
                for (var j = 0u; j < count; j += 1u) {
                    if sort_key(mine + j) == keys[i] && j != index {
                        ranks[i] += u32(sort_before(store_get(at.x, place + j), j, events[i], index));
                    }
                }
            }
        }
    } else {
        // Once for all: what is computed in floating point need not come out alike in two places.
        var bins: vec4<u32>;
        for (var i = 0u; i < SORT_HANDFUL; i += 1u) { bins[i] = sort_bin(keys[i]); }
        sort_into_bins(lane, mine, count, bins);
        for (var i = 0u; i < SORT_HANDFUL; i += 1u) {
            let index = member * SORT_HANDFUL + i;
            if index >= count { continue; }
            let bin = bins[i];
            let end = atomicLoad(&sort_bins[team * SORT_BINS + bin]);
            ranks[i] = sort_bin_begin(team * SORT_BINS, bin);
            // Bound: the events of the bin.
            for (var j = ranks[i]; j < end; j += 1u) {
                let other = sort_order[mine + j];
                let rival = sort_key(mine + other);
                if rival < keys[i] {
                    ranks[i] += 1u;
                } else if rival == keys[i] && other != index {
                    ranks[i] += u32(sort_before(store_get(at.x, place + other), other, events[i], index));
                }
            }
        }
    }
    // All have read what is written now, and what the next buckets' keys are written over.
    storageBarrier();
    workgroupBarrier();
    for (var i = 0u; i < SORT_HANDFUL; i += 1u) {
        if member * SORT_HANDFUL + i < count {
            store_put(at.x, place + ranks[i], events[i]);
        }
    }
    if count > 0u && member == 0u {
        atomicOr(&words[bucket_count(horizon.bucket, row)], BUCKET_SORTED);
        lps[row] = vec4<u32>(0u);
    }
}

// Of two events that are equal, the one with the smaller number comes first.
fn sort_before(a: Item, number_a: u32, b: Item, number_b: u32) -> bool {
    return event_before(a, b) || (number_a < number_b && !event_before(b, a));
}

fn sort_key(place: u32) -> u32 {
    return sort_keys[place / 4u][place % 4u];
}

fn sort_bin(key: u32) -> u32 {
    let last = cell_key(wide_subtract(run.cell, vec2<u32>(1u, 0u)));
    return min(u32(f32(key) * (f32(SORT_BINS) / (f32(last) + 1.0))), SORT_BINS - 1u);
}

// Where a bin begins: where the one before it ends.
fn sort_bin_begin(first_bin: u32, bin: u32) -> u32 {
    if bin == 0u { return 0u; }
    return atomicLoad(&sort_bins[first_bin + bin - 1u]);
}

// Makes sort_bins and sort_order. To be called by all invocations.
fn sort_into_bins(lane: u32, mine: u32, count: u32, bins: vec4<u32>) {
    let member = lane % SORT_TEAM;
    let first_bin = lane / SORT_TEAM * SORT_BINS;
    for (var bin = member; bin < SORT_BINS; bin += SORT_TEAM) {
        atomicStore(&sort_bins[first_bin + bin], 0u);
    }
    workgroupBarrier();
    var turns: array<u32, SORT_HANDFUL>;
    for (var i = 0u; i < SORT_HANDFUL; i += 1u) {
        if member * SORT_HANDFUL + i < count {
            turns[i] = atomicAdd(&sort_bins[first_bin + bins[i]], 1u);
        }
    }
    workgroupBarrier();
    // Each member has some neighbouring bins: where these end, after all bins before them.
    let span = SORT_BINS / SORT_TEAM;
    var own = 0u;
    for (var bin = 0u; bin < span; bin += 1u) {
        own += atomicLoad(&sort_bins[first_bin + member * span + bin]);
    }
    var sum = own;
    sort_sums[lane] = sum;
    workgroupBarrier();
    for (var reach = 1u; reach < SORT_TEAM; reach *= 2u) {
        var before = 0u;
        if member >= reach { before = sort_sums[lane - reach]; }
        workgroupBarrier();
        sum += before;
        sort_sums[lane] = sum;
        workgroupBarrier();
    }
    sum -= own;
    for (var bin = 0u; bin < span; bin += 1u) {
        sum += atomicLoad(&sort_bins[first_bin + member * span + bin]);
        atomicStore(&sort_bins[first_bin + member * span + bin], sum);
    }
    workgroupBarrier();
    for (var i = 0u; i < SORT_HANDFUL; i += 1u) {
        let index = member * SORT_HANDFUL + i;
        if index < count {
            sort_order[mine + sort_bin_begin(first_bin, bins[i]) + turns[i]] = index;
        }
    }
    workgroupBarrier();
}
