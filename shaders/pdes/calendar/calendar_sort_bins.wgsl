// Sorts the buckets of an epoch (pdes/calendar/calendar_sort.wgsl): each event goes into one of
// SORT_BINS bins by its time, and is compared with the events of its bin. Any monotonic map is
// right; within an epoch times are about uniform. If all events share a bin, the cost is quadratic.
// If the upper 22 bits of two keys are equal, the events are read again for the comparison. Key and
// number share a word, because workgroup memory limits the number of resident workgroups.
//
// Functions: sort_bucket.
//
// import: pdes/calendar/calendar_sort.wgsl
// provides: sort_bucket
// needs: Item, mul_wide, run
//
// bounds: keys of a team are SORT_HANDFUL * SORT_TEAM words of GROUP_SIZE times SORT_HANDFUL,
// written for all events before they are read. Bins are below SORT_BINS by `min`, offset by that
// number times the team. The start of a bin, an event's turn in it and its rank are counts of the
// bucket's events; an event's number was one of them when it was written, below a bin's end. Sums
// and fans are by lane. Loops end with the events of a bin, the bins of all or of a member, or
// SORT_FAN. Divisors are constants above 0, or 1 more than what they were.

// A multiple of SORT_TEAM.
override SORT_BINS: u32 = 8u;

// Bits of a word for an event's number in its bucket; its key has the remaining bits.
const SORT_NUMBER_BITS = 10u;
const SORT_NUMBERS = 1u << SORT_NUMBER_BITS;
const SORT_KEY_BITS = 32u - SORT_NUMBER_BITS;
// Members of a team whose sums are added serially.
const SORT_FAN = 16u;

override SORT_EVENTS: u32 = SORT_HANDFUL * GROUP_SIZE;
override SORT_ALL_BINS: u32 = SORT_BINS * GROUP_SIZE / SORT_TEAM;
override SORT_FANS: u32 = (GROUP_SIZE + SORT_FAN - 1u) / SORT_FAN;

// By team, then by place in the bins: the upper bits of an event's key (epoch_key), and below them
// its number in the bucket.
var<workgroup> sort_keys: array<u32, SORT_EVENTS>;
// By team: the events in each bin; later the start of each bin in the upper half of the word and
// its events in the lower half.
var<workgroup> sort_bins: array<atomic<u32>, SORT_ALL_BINS>;
// The events in the bins of each invocation, and of SORT_FAN invocations together.
var<workgroup> sort_sums: array<u32, GROUP_SIZE>;
var<workgroup> sort_fans: array<u32, SORT_FANS>;

// Sorts the buckets of a workgroup's teams; this team's bucket has `count` events. Call it in all
// invocations. A member's four events are written out, because an array that a loop indexes is in
// memory, not in registers, on some GPUs.
fn sort_bucket(lane: u32, row: u32, count: u32, horizon: Horizon) {
    let team = lane / SORT_TEAM;
    let member = lane % SORT_TEAM;
    let bucket = sort_bucket_of(team, row, count, horizon.bucket);
    let index = vec4<u32>(0u, SORT_TEAM, 2u * SORT_TEAM, 3u * SORT_TEAM) + member;
    let some = index < vec4<u32>(count);
    var event_0: Item;
    var event_1: Item;
    var event_2: Item;
    var event_3: Item;
    var keys: vec4<u32>;
    // Indices among the bins of all teams.
    var bins: vec4<u32>;
    let scale = sort_scale();
    if some.x {
        event_0 = sort_event(bucket, index.x);
        keys.x = sort_key_of(event_0, horizon);
        bins.x = team * SORT_BINS + sort_bin(keys.x, scale);
    }
    if some.y {
        event_1 = sort_event(bucket, index.y);
        keys.y = sort_key_of(event_1, horizon);
        bins.y = team * SORT_BINS + sort_bin(keys.y, scale);
    }
    if some.z {
        event_2 = sort_event(bucket, index.z);
        keys.z = sort_key_of(event_2, horizon);
        bins.z = team * SORT_BINS + sort_bin(keys.z, scale);
    }
    if some.w {
        event_3 = sort_event(bucket, index.w);
        keys.w = sort_key_of(event_3, horizon);
        bins.w = team * SORT_BINS + sort_bin(keys.w, scale);
    }
    for (var bin = lane; bin < SORT_ALL_BINS; bin += GROUP_SIZE) { atomicStore(&sort_bins[bin], 0u); }
    workgroupBarrier();
    var turns: vec4<u32>;
    if some.x { turns.x = atomicAdd(&sort_bins[bins.x], 1u); }
    if some.y { turns.y = atomicAdd(&sort_bins[bins.y], 1u); }
    if some.z { turns.z = atomicAdd(&sort_bins[bins.z], 1u); }
    if some.w { turns.w = atomicAdd(&sort_bins[bins.w], 1u); }
    workgroupBarrier();
    sort_begins(lane);
    workgroupBarrier();
    // The bins with their starts.
    var kept: vec4<u32>;
    if some.x { kept.x = atomicLoad(&sort_bins[bins.x]); }
    if some.y { kept.y = atomicLoad(&sort_bins[bins.y]); }
    if some.z { kept.z = atomicLoad(&sort_bins[bins.z]); }
    if some.w { kept.w = atomicLoad(&sort_bins[bins.w]); }
    var ranks = kept >> vec4<u32>(16u);
    let places = ranks + turns + bucket.first_key;
    // Keys have as many bits as the last one in an epoch; the lowest bits that do not fit are
    // dropped.
    let lost = max(32u - countLeadingZeros(sort_last()), SORT_KEY_BITS) - SORT_KEY_BITS;
    keys = ((keys >> vec4<u32>(lost)) << vec4<u32>(SORT_NUMBER_BITS)) | index;
    if some.x { sort_keys[places.x] = keys.x; }
    if some.y { sort_keys[places.y] = keys.y; }
    if some.z { sort_keys[places.z] = keys.z; }
    if some.w { sort_keys[places.w] = keys.w; }
    workgroupBarrier();
    if some.x { ranks.x += sort_rank(bucket, kept.x, keys.x, event_0); }
    if some.y { ranks.y += sort_rank(bucket, kept.y, keys.y, event_1); }
    if some.z { ranks.z += sort_rank(bucket, kept.z, keys.z, event_2); }
    if some.w { ranks.w += sort_rank(bucket, kept.w, keys.w, event_3); }
    // All reads precede the writes below, and the next buckets' keys, which overwrite these.
    storageBarrier();
    workgroupBarrier();
    if some.x { sort_put(bucket, ranks.x, event_0); }
    if some.y { sort_put(bucket, ranks.y, event_1); }
    if some.z { sort_put(bucket, ranks.z, event_2); }
    if some.w { sort_put(bucket, ranks.w, event_3); }
    if count > 0u && member == 0u { sort_done(bucket, horizon.bucket); }
}

// The largest key in an epoch.
fn sort_last() -> u32 {
    return epoch_key(wide_subtract(run.epoch_length, vec2<u32>(1u, 0u)));
}

// The shift of sort_bin's keys, and the factor after it.
fn sort_scale() -> vec2<u32> {
    let last = max(sort_last(), 1u);
    let shift = countLeadingZeros(last);
    return vec2<u32>(shift, (SORT_BINS << 16u) / (((last << shift) >> 16u) + 1u));
}

// In integers, because floating-point results may differ between kernels.
fn sort_bin(key: u32, scale: vec2<u32>) -> u32 {
    return min(mul_wide(key << scale.x, scale.y).y, SORT_BINS - 1u);
}

// Computes the starts of bins from their counts. Call it in all invocations.
fn sort_begins(lane: u32) {
    // Each member has some neighbouring bins.
    let span = SORT_BINS / SORT_TEAM;
    let first_bin = lane / SORT_TEAM * SORT_BINS + lane % SORT_TEAM * span;
    var own = 0u;
    for (var bin = 0u; bin < span; bin += 1u) { own += atomicLoad(&sort_bins[first_bin + bin]); }
    sort_sums[lane] = own;
    workgroupBarrier();
    // The sum of the members before this one: of its own fan one by one, and of whole fans.
    let fan = min(SORT_FAN, SORT_TEAM);
    let first = lane / fan * fan;
    var sum = 0u;
    for (var other = 0u; other < fan; other += 1u) { sum += select(0u, sort_sums[first + other], first + other < lane); }
    if SORT_TEAM > SORT_FAN {
        if lane % fan == fan - 1u { sort_fans[lane / fan] = sum + own; }
        workgroupBarrier();
        for (var other = lane / SORT_TEAM * SORT_TEAM; other < first; other += fan) { sum += sort_fans[other / fan]; }
    }
    for (var bin = 0u; bin < span; bin += 1u) {
        let events = atomicLoad(&sort_bins[first_bin + bin]);
        atomicStore(&sort_bins[first_bin + bin], (sum << 16u) | events);
        sum += events;
    }
}

// The number of events of its bin before an event.
fn sort_rank(bucket: SortBucket, kept: u32, key: u32, event: Item) -> u32 {
    let events = kept & 0xffffu;
    if events == 1u { return 0u; }
    let begin = bucket.first_key + (kept >> 16u);
    var rank = 0u;
    // Bound: the events of the bin.
    for (var j = begin; j < begin + events; j += 1u) {
        let rival = sort_keys[j];
        if (rival ^ key) >= SORT_NUMBERS {
            rank += u32(rival < key);
        } else if rival != key {
            rank += u32(sort_before(bucket, rival % SORT_NUMBERS, key % SORT_NUMBERS, event));
        }
    }
    return rank;
}
