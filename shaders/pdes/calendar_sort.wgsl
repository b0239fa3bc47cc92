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
// Whether any team has a bucket to sort.
var<workgroup> sort_marked: atomic<u32>;
var<workgroup> sort_some: u32;

@compute @workgroup_size(GROUP_SIZE)
fn sort_buckets(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let horizon = synchronise(lane);
    if lane == 0u { atomicStore(&sort_marked, 0u); }
    workgroupBarrier();
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
        // Windows that take budget after budget of the same cell find all buckets sorted.
        if count > 0u { atomicStore(&sort_marked, 1u); }
        workgroupBarrier();
        if lane == 0u { sort_some = atomicExchange(&sort_marked, 0u); }
        if workgroupUniformLoad(&sort_some) == 0u { continue; }
        sort_bucket(lane, row, count, horizon);
        if count > 0u && loops_cut(run.rows) { fail(row, LOOPS_CUT); }
    }
}

// The bucket that a team sorts, and where its keys begin.
struct SortBucket {
    binding: u32,
    place: u32,
    count: u32,
    first_key: u32,
}

// Sorts the buckets of a workgroup's teams, this one of so many events. To be called by all invocations.
//
// What is done for each of a member's events is written out: what lies in an array that a loop goes through is in memory on some GPUs, and
// registers have no numbers. (32,768 LPs at rate 0.1, H200: 1.03 times as fast with 128 events each, 1.05 with 1,024.)
fn sort_bucket(lane: u32, row: u32, count: u32, horizon: Horizon) {
    let team = lane / SORT_TEAM;
    let member = lane % SORT_TEAM;
    let at = store_split(row);
    let bucket = SortBucket(at.x, bucket_place(horizon.bucket, at.y), count, team * SORT_HANDFUL * SORT_TEAM);
    let index = vec4<u32>(0u, 1u, 2u, 3u) + member * SORT_HANDFUL;
    let some = index < vec4<u32>(count);
    var event_0: Item;
    var event_1: Item;
    var event_2: Item;
    var event_3: Item;
    if some.x { event_0 = sort_event(bucket, index.x); }
    if some.y { event_1 = sort_event(bucket, index.y); }
    if some.z { event_2 = sort_event(bucket, index.z); }
    if some.w { event_3 = sort_event(bucket, index.w); }
    // What fills up the last four comes before nothing.
    let keys = select(vec4<u32>(0xffffffffu), vec4<u32>(
        sort_key_of(event_0, horizon), sort_key_of(event_1, horizon),
        sort_key_of(event_2, horizon), sort_key_of(event_3, horizon)
    ), some);
    sort_keys[lane] = keys;
    workgroupBarrier();
    var ranks: vec4<u32>;
    if SORT_BINS == 0u {
        var equal: vec4<u32>;
        for (var j = 0u; j < count; j += 4u) {
            let rivals = sort_keys[(bucket.first_key + j) / 4u];
            ranks += vec4<u32>(
                sort_count(rivals < vec4<u32>(keys.x)), sort_count(rivals < vec4<u32>(keys.y)),
                sort_count(rivals < vec4<u32>(keys.z)), sort_count(rivals < vec4<u32>(keys.w))
            );
            equal += vec4<u32>(
                sort_count(rivals == vec4<u32>(keys.x)), sort_count(rivals == vec4<u32>(keys.y)),
                sort_count(rivals == vec4<u32>(keys.z)), sort_count(rivals == vec4<u32>(keys.w))
            );
        }
        if some.x && equal.x > 1u { ranks.x += sort_ties(bucket, index.x, keys.x, event_0); }
        if some.y && equal.y > 1u { ranks.y += sort_ties(bucket, index.y, keys.y, event_1); }
        if some.z && equal.z > 1u { ranks.z += sort_ties(bucket, index.z, keys.z, event_2); }
        if some.w && equal.w > 1u { ranks.w += sort_ties(bucket, index.w, keys.w, event_3); }
    } else {
        // Once for all: what is computed in floating point need not come out alike in two places.
        let bins = vec4<u32>(sort_bin(keys.x), sort_bin(keys.y), sort_bin(keys.z), sort_bin(keys.w)) + team * SORT_BINS;
        sort_into_bins(lane, bucket, index, bins);
        if some.x { ranks.x = sort_rank(bucket, index.x, bins.x, keys.x, event_0); }
        if some.y { ranks.y = sort_rank(bucket, index.y, bins.y, keys.y, event_1); }
        if some.z { ranks.z = sort_rank(bucket, index.z, bins.z, keys.z, event_2); }
        if some.w { ranks.w = sort_rank(bucket, index.w, bins.w, keys.w, event_3); }
    }
    // All have read what is written now, and what the next buckets' keys are written over.
    storageBarrier();
    workgroupBarrier();
    if some.x { sort_put(bucket, ranks.x, event_0); }
    if some.y { sort_put(bucket, ranks.y, event_1); }
    if some.z { sort_put(bucket, ranks.z, event_2); }
    if some.w { sort_put(bucket, ranks.w, event_3); }
    if count > 0u && member == 0u {
        atomicOr(&words[bucket_count(horizon.bucket, row)], BUCKET_SORTED);
        lps[row] = vec4<u32>(0u);
    }
}

fn sort_event(bucket: SortBucket, index: u32) -> Item {
    return store_get(bucket.binding, place_in(bucket.place, index));
}

fn sort_put(bucket: SortBucket, rank: u32, event: Item) {
    store_put(bucket.binding, place_in(bucket.place, rank), event);
}

fn sort_key_of(event: Item, horizon: Horizon) -> u32 {
    return cell_key(time_since(event_time(event), horizon.now));
}

fn sort_count(which: vec4<bool>) -> u32 {
    let counted = vec4<u32>(which);
    return counted.x + counted.y + counted.z + counted.w;
}

// Keys that are equal, which is rare, leave gaps in the order: those of their events that come first take the first places. Returns how
// many of them come before this one.
fn sort_ties(bucket: SortBucket, index: u32, key: u32, event: Item) -> u32 {
    var before = 0u;
    for (var j = 0u; j < bucket.count; j += 1u) {
        if sort_key(bucket.first_key + j) == key && j != index {
            before += u32(sort_before(sort_event(bucket, j), j, event, index));
        }
    }
    return before;
}

// The rank of an event among those of its bin and of all before it.
fn sort_rank(bucket: SortBucket, index: u32, bin: u32, key: u32, event: Item) -> u32 {
    let begin = sort_bin_begin(bin);
    let end = atomicLoad(&sort_bins[bin]);
    var rank = begin;
    // Bound: the events of the bin.
    for (var j = begin; j < end; j += 1u) {
        let other = sort_order[bucket.first_key + j];
        let rival = sort_key(bucket.first_key + other);
        if rival < key {
            rank += 1u;
        } else if rival == key && other != index {
            rank += u32(sort_before(sort_event(bucket, other), other, event, index));
        }
    }
    return rank;
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

// Where a bin begins, among those of its bucket: where the one before it ends.
fn sort_bin_begin(bin: u32) -> u32 {
    if bin % max(SORT_BINS, 1u) == 0u { return 0u; }
    return atomicLoad(&sort_bins[bin - 1u]);
}

// Makes sort_bins and sort_order. To be called by all invocations, with the bins of their events among those of all teams.
fn sort_into_bins(lane: u32, bucket: SortBucket, index: vec4<u32>, bins: vec4<u32>) {
    let member = lane % SORT_TEAM;
    let first_bin = lane / SORT_TEAM * SORT_BINS;
    for (var bin = member; bin < SORT_BINS; bin += SORT_TEAM) {
        atomicStore(&sort_bins[first_bin + bin], 0u);
    }
    workgroupBarrier();
    let some = index < vec4<u32>(bucket.count);
    var turns: vec4<u32>;
    if some.x { turns.x = atomicAdd(&sort_bins[bins.x], 1u); }
    if some.y { turns.y = atomicAdd(&sort_bins[bins.y], 1u); }
    if some.z { turns.z = atomicAdd(&sort_bins[bins.z], 1u); }
    if some.w { turns.w = atomicAdd(&sort_bins[bins.w], 1u); }
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
    let first = bucket.first_key;
    if some.x { sort_order[first + sort_bin_begin(bins.x) + turns.x] = index.x; }
    if some.y { sort_order[first + sort_bin_begin(bins.y) + turns.y] = index.y; }
    if some.z { sort_order[first + sort_bin_begin(bins.z) + turns.z] = index.z; }
    if some.w { sort_order[first + sort_bin_begin(bins.w) + turns.w] = index.w; }
    workgroupBarrier();
}
