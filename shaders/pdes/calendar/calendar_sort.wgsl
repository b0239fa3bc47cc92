// Sorts the buckets of a window's epoch in a dispatch before the window, if they hold too many
// events for the thread that executes them.
//
// SORT_TEAM invocations serve one LP's bucket of up to SORT_HANDFUL x SORT_TEAM events, in
// registers; workgroup memory, which limits the number of resident workgroups, holds one word for
// each event. A workgroup has GROUP_SIZE / SORT_TEAM buckets. An event's place is its rank, the
// number of events before it. sort_bucket is that of calendar_sort_bins.wgsl; on CPU adapters, up
// to 256 events, that of calendar_sort_all.wgsl. A larger bucket is left to its window.
//
// Functions: sort_bucket_of, sort_event, sort_put, sort_done, sort_key_of, sort_before.
//
// import: pdes/calendar/calendar.wgsl
// import: pdes/calendar/calendar_sync.wgsl
// needs: Item, event_before, event_time, run, sort_bucket, store_get, store_put, store_split
//
// bounds: a row is below run.part.queue_first + run.part.queue_rows, and `count` at most
// run.mail_capacity and SORT_HANDFUL * SORT_TEAM: so places in the store are of the row's bucket,
// for which the host made it with this `run`. The bucket of the horizon is one of CALENDAR_BUCKETS
// by `%`. Loops end with `count`, SORT_TEAM, run.part.partials_count or run.part.queue_rows.
// Divisors are constants above 0.

// A power of two that divides GROUP_SIZE.
override SORT_TEAM: u32 = 8u;

const SORT_HANDFUL = 4u;

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
    // Bound: set by the host's number of workgroups, at most 64.
    for (var first = id.x * buckets; first < run.part.queue_rows; first += groups.x * buckets) {
        var count = 0u;
        let row = run.part.queue_first + first + lane / SORT_TEAM;
        if horizon.serve && first + lane / SORT_TEAM < run.part.queue_rows {
            let counted = atomicLoad(&words[bucket_count(horizon.bucket, row)]);
            let events = min(counted & BUCKET_EVENTS, run.mail_capacity);
            if (counted & BUCKET_SORTED) == 0u && events <= SORT_HANDFUL * SORT_TEAM { count = events; }
        }
        // Windows that use several budgets in one epoch find all buckets sorted.
        if count > 0u { atomicStore(&sort_marked, 1u); }
        workgroupBarrier();
        if lane == 0u { sort_some = atomicExchange(&sort_marked, 0u); }
        if workgroupUniformLoad(&sort_some) == 0u { continue; }
        sort_bucket(lane, row, count, horizon);
        if count > 0u && loops_cut(run.rows) { fail(row, LOOPS_CUT); }
    }
}

// The bucket that a team sorts.
struct SortBucket {
    row: u32,
    binding: u32,
    place: u32,
    count: u32,
    // The start of the team's keys among those of the workgroup.
    first_key: u32,
}

fn sort_bucket_of(team: u32, row: u32, count: u32, bucket: u32) -> SortBucket {
    let at = store_split(row);
    return SortBucket(row, at.x, bucket_place(bucket, at.y), count, team * SORT_HANDFUL * SORT_TEAM);
}

fn sort_event(bucket: SortBucket, index: u32) -> Item {
    return store_get(bucket.binding, place_in(bucket.place, index));
}

fn sort_put(bucket: SortBucket, rank: u32, event: Item) {
    store_put(bucket.binding, place_in(bucket.place, rank), event);
}

// Marks a bucket as sorted.
fn sort_done(bucket: SortBucket, number: u32) {
    atomicOr(&words[bucket_count(number, bucket.row)], BUCKET_SORTED);
    lps[bucket.row] = vec4<u32>(0u);
}

fn sort_key_of(event: Item, horizon: Horizon) -> u32 {
    return epoch_key(time_since(event_time(event), horizon.now));
}

// Whether another event of the bucket comes before this one. Of two equal events, the one with the
// smaller number is first.
fn sort_before(bucket: SortBucket, other: u32, number: u32, event: Item) -> bool {
    let rival = sort_event(bucket, other);
    return event_before(rival, event) | ((other < number) & !event_before(event, rival));
}
