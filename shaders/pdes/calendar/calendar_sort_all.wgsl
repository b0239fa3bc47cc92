// Sorts the buckets of an epoch (pdes/calendar/calendar_sort.wgsl) on software adapters, up to 256
// events: each event is compared with all events of its bucket. llvmpipe executes atomics and
// gathers lane by lane, but comparisons in all lanes of a vector at once.
//
// Functions: sort_bucket.
//
// import: pdes/calendar/calendar_sort.wgsl
// provides: sort_bucket
// needs: Item
//
// bounds: keys of a team are SORT_HANDFUL * SORT_TEAM words of GROUP_SIZE times SORT_HANDFUL,
// written for all events before they are read. A rank is a count of the bucket's events. Loops end
// with `count` and SORT_HANDFUL.

// By team, then by event of the bucket: their keys (epoch_key). Each member writes its four as one
// vector, because a store to one component may touch the others.
var<workgroup> sort_keys: array<vec4<u32>, GROUP_SIZE>;

// Sorts the buckets of a workgroup's teams; this team's bucket has `count` events. Call it in all
// invocations.
fn sort_bucket(lane: u32, row: u32, count: u32, horizon: Horizon) {
    let team = lane / SORT_TEAM;
    let member = lane % SORT_TEAM;
    let bucket = sort_bucket_of(team, row, count, horizon.bucket);
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
    // The fill of the last four comes before no event.
    let keys = select(vec4<u32>(0xffffffffu), vec4<u32>(
        sort_key_of(event_0, horizon), sort_key_of(event_1, horizon),
        sort_key_of(event_2, horizon), sort_key_of(event_3, horizon)
    ), some);
    sort_keys[lane] = keys;
    workgroupBarrier();
    var ranks: vec4<u32>;
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
    // All reads precede the writes below, and the next buckets' keys, which overwrite these.
    storageBarrier();
    workgroupBarrier();
    if some.x { sort_put(bucket, ranks.x, event_0); }
    if some.y { sort_put(bucket, ranks.y, event_1); }
    if some.z { sort_put(bucket, ranks.z, event_2); }
    if some.w { sort_put(bucket, ranks.w, event_3); }
    if count > 0u && member == 0u { sort_done(bucket, horizon.bucket); }
}

fn sort_count(which: vec4<bool>) -> u32 {
    let counted = vec4<u32>(which);
    return counted.x + counted.y + counted.z + counted.w;
}

// Equal keys, which are rare, leave gaps in the order; the first of their events take the first
// places. Returns how many events with this key come before this one.
fn sort_ties(bucket: SortBucket, index: u32, key: u32, event: Item) -> u32 {
    var before = 0u;
    for (var j = 0u; j < bucket.count; j += 1u) {
        let place = bucket.first_key + j;
        if sort_keys[place / 4u][place % 4u] == key && j != index { before += u32(sort_before(bucket, j, index, event)); }
    }
    return before;
}
