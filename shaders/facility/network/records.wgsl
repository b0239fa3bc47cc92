// What is counted, in LP memory. Where the rows lie: facility/network.wgsl.
//
// import: statistics/tally.wgsl
// import: statistics/time_average.wgsl

// What a class of customers did at a node.
struct ClassOutput {
    sojourn: Tally,       // from arrival to departure of those who were served; at a sink, from where they entered the network
    wait: Tally,          // from arrival to the beginning of service
    present: TimeAverage, // customers
    busy: TimeAverage,    // of these in service
    arrivals: vec2<u32>,
    served: vec2<u32>,
    lost: vec2<u32>,
    reneged: vec2<u32>,
    balked: vec2<u32>,
    came: vec2<u32>,      // sum of the times of arrival of those present, modulo 2^64
    stayed: vec2<u32>,    // sum of the times that those who left were here, modulo 2^64
    joined: vec2<u32>,    // siblings who came back; at a fork, of the customers of this class
    begun: vec2<u32>,     // trips from here, along ways that take time
    ended: vec2<u32>,     // and to here
}

// Where a quantile lies among the bins of a histogram.
struct Quantile {
    bin: u32,
    rank: u32,  // among those in the bin, from 1 on; 0 where nothing was counted
    count: u32, // of the bin
}

// Of a class (the last: of all), of sojourn times and of waits: the parts of QUANTILES.
struct Quantiles {
    sojourn: array<Quantile, 4>,
    wait: array<Quantile, 4>,
}

struct Output {
    classes: array<ClassOutput, CLASSES>,
    begun: TimeAverage,                    // trips, from time zero on
    ended: TimeAverage,
    servers: TimeAverage,                  // that wait for another node; of a station that shares its servers, those that work; of a fork, siblings that wait
    lengths: array<vec2<u32>, LENGTHS>,    // ticks with so many customers, and in the last, with more
    quantiles: array<Quantiles, CLASSES_AND_ALL>,
}

// In percent.
const QUANTILES = vec4<u32>(50u, 90u, 95u, 99u);
const CLASSES_AND_ALL = 5u;
const LENGTHS = 32u;

// Bins of a histogram: 16 for each power of two, so that a bin is 1/16 as wide as its least time, and below 16 units one for each.
const BINS = 464u;
const BIN_ROWS = 116u;

// What happens to a customer's record.
struct Deed {
    arrivals: u32,
    served: u32,
    lost: u32,
    reneged: u32,
    balked: u32,
    joined: u32,
    begun: u32,
    ended: u32,
    present: i32,
    busy: i32,
}

// The row where the record of a class begins.
fn record_of(class_: u32) -> u32 {
    return RECORDS + class_ * RECORD_ROWS;
}

// What happened to a customer, but for levels and tallies. Ages: the sum of the times of arrival of those present, and of the times that those who left were here, modulo 2^64
// and from the end of the warm-up on. With the time now, they make the area under the number present: Little's law.
//
// And notes, where customers are followed here: of him, and of `next` if his service began. (They are rows of the same loop, so that it has the one call that writes: in dry runs that is a search, and
// two calls more took three times as long to compile.)
fn record(who: Customer, deed: Deed, next: Customer, began: bool, follows: bool) {
    let at = record_of(who.class_);
    if deed.present != 0 {
        let ages = memory_get(at + 16u);
        let till = later(now());
        let since = later(who.arrived);
        var sums = vec4<u32>(plus(ages.xy, till), ages.zw);
        if deed.present < 0 { sums = vec4<u32>(minus(ages.xy, since), plus(ages.zw, minus(till, since))); }
        memory_set(at + 16u, sums);
    }
    // What there is to write, each with a bit: at most eight rows.
    var left = 0u;
    if !time_less(now(), params.warm_up) {
        left = u32((deed.arrivals | deed.served) != 0u);
        left |= u32((deed.lost | deed.reneged) != 0u) << 1u;
        left |= u32((deed.balked | deed.joined) != 0u) << 2u;
        left |= u32((deed.begun | deed.ended) != 0u) << 3u;
    }
    if follows {
        if deed_of(deed) != 0u && tag_of(who.entered) != 0u { left |= 3u << 4u; }
        if began && tag_of(next.entered) != 0u { left |= 3u << 6u; }
    }
    var notes = 0u;
    while left != 0u {
        let i = firstTrailingBit(left);
        left &= left - 1u;
        var more = vec2<u32>(deed.arrivals, deed.served);
        if i == 1u { more = vec2<u32>(deed.lost, deed.reneged); }
        if i == 2u { more = vec2<u32>(deed.balked, deed.joined); }
        if i == 3u { more = vec2<u32>(deed.begun, deed.ended); }
        var row = at + select(14u + i, 17u, i == 2u);
        if i == 3u { row = params.trips + TRIP_COUNTS + who.class_; }
        var note = vec4<u32>(0u);
        if SPECIAL && i > 3u {
            // How many notes there are, and the note: tag, what happened, and the class, in 16, 8 and 8 bits; now (2); when he arrived at the node (the low word).
            var of_ = who;
            var what = deed_of(deed);
            if i > 5u {
                of_ = next;
                what = BEGAN;
            }
            more = vec2<u32>(1u, 0u);
            note = vec4<u32>(tag_of(of_.entered) | (what << 16u) | (of_.class_ << 24u), now(), of_.arrived.x);
            row = params.trace + select(notes, 0u, (i & 1u) == 0u);
        }
        let counts = memory_get(row);
        var sums = vec4<u32>(plus(counts.xy, vec2<u32>(more.x, 0u)), plus(counts.zw, vec2<u32>(more.y, 0u)));
        if SPECIAL && i > 3u {
            if row == params.trace { notes = sums.x; } else { sums = note; }
            if notes >= params.trace_rows {
                memory_full();
                return;
            }
        }
        memory_set(row, sums);
    }
}

// What is noted of a customer who is followed.
const CAME = 1u;
const BEGAN = 2u; // to be served
const LEFT = 3u;
const LOST = 4u;
const BALKED = 5u;
const RENEGED = 6u;

// The tag of the customer of a number, from 0 on, of those of whom the first has tag `first`.
fn tag_at(first: u32, number: u32) -> u32 {
    let place = number / params.every;
    return select(0u, first + place, place * params.every == number && place < params.most);
}

// The tag in the place of the time when somebody entered the network.
fn tag_of(entered: vec2<u32>) -> u32 {
    if !traced() { return 0u; }
    return entered.x & 0xffffu;
}

// And the time.
fn time_of(entered: vec2<u32>) -> vec2<u32> {
    if !traced() { return entered; }
    return vec2<u32>((entered.x >> 16u) | (entered.y << 16u), entered.y >> 16u);
}

fn deed_of(deed: Deed) -> u32 {
    if deed.served != 0u { return LEFT; }
    if deed.lost != 0u { return LOST; }
    if deed.balked != 0u { return BALKED; }
    if deed.reneged != 0u { return RENEGED; }
    return select(0u, CAME, deed.present > 0);
}

fn later(time: vec2<u32>) -> vec2<u32> {
    if time_less(time, params.warm_up) { return params.warm_up; }
    return time;
}

// Modulo 2^64.
fn plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

// The tally that begins at a row.
fn tally_of(at: u32) -> Tally {
    let range = memory_get(at + 2u);
    return Tally(memory_get(at), memory_get(at + 1u), range.xy, range.zw, memory_get(at + 3u).xy, params.warm_up);
}

// Counts a sojourn (0) or a wait (1) of a class.
fn tally(class_: u32, which: u32, value: vec2<u32>) {
    let at = record_of(class_) + 4u * which;
    let next = tally_add(tally_of(at), now(), value);
    memory_set(at, next.sum);
    memory_set(at + 1u, next.squares);
    memory_set(at + 2u, vec4<u32>(next.minimum, next.maximum));
    memory_set(at + 3u, vec4<u32>(next.count, next.since));
    if detailed() && !time_less(now(), params.warm_up) {
        let bin = bin_of(value);
        let place = bins_of(class_, which) + bin / 4u;
        var row = memory_get(place);
        row[bin & 3u] += 1u;
        memory_set(place, row);
    }
}

// The first row of the bins of a class.
fn bins_of(class_: u32, which: u32) -> u32 {
    return params.details + LENGTHS / 2u + (2u * class_ + which) * BIN_ROWS;
}

fn bin_of(value: vec2<u32>) -> u32 {
    let shift = params.bin_shift;
    // Two shifts, because a shift by 32 is none. (It is at most 31.)
    var units = (value.x >> shift) | ((value.y << (31u - shift)) << 1u);
    if (value.y >> shift) != 0u { units = 0xffffffffu; }
    if units < 16u { return units; }
    let leading = 31u - countLeadingZeros(units);
    return (leading - 3u) * 16u + ((units >> (leading - 4u)) & 15u);
}

// The average that begins at a row.
fn level_of(at: u32) -> TimeAverage {
    let last = memory_get(at + 2u);
    return TimeAverage(memory_get(at), params.warm_up, memory_get(at + 1u).zw, last.x, last.y, last.z, last.w);
}

fn level(at: u32, change: i32) {
    let next = time_average_add(level_of(at), now(), change);
    memory_set(at, next.area);
    memory_set(at + 1u, vec4<u32>(next.since, next.changed));
    memory_set(at + 2u, vec4<u32>(next.level, next.minimum, next.maximum, next.unused));
}

// The time since the number of customers changed last, after the warm-up.
fn lasted(state: ptr<function, State>) -> vec2<u32> {
    return time_since(now(), later((*state).since));
}

// There were so many customers until now.
fn were_here(customers: u32, state: ptr<function, State>) {
    if !detailed() { return; }
    let place = min(customers, LENGTHS - 1u);
    var row = memory_get(params.details + place / 2u);
    let span = lasted(state);
    row = select(vec4<u32>(row.xy, plus(row.zw, span)), vec4<u32>(plus(row.xy, span), row.zw), (place & 1u) == 0u);
    memory_set(params.details + place / 2u, row);
    (*state).since = now();
}

// How many of the classes from `first` to before `end` are in a bin.
fn bin_count(first: u32, end: u32, which: u32, bin: u32) -> u32 {
    var sum = 0u;
    for (var i = first; i < end; i += 1u) { sum += memory_get(bins_of(i, which) + bin / 4u)[bin & 3u]; }
    return sum;
}

fn class_output(class_: u32) -> ClassOutput {
    let at = record_of(class_);
    let counts = memory_get(at + 14u);
    let others = memory_get(at + 15u);
    let ages = memory_get(at + 16u);
    let rest = memory_get(at + 17u);
    var trips = vec4<u32>(0u);
    if params.trips != 0u { trips = memory_get(params.trips + TRIP_COUNTS + class_); }
    return ClassOutput(
        tally_of(at), tally_of(at + 4u),
        time_average_at(level_of(at + 8u), now()), time_average_at(level_of(at + 11u), now()),
        counts.xy, counts.zw, others.xy, others.zw, rest.xy, ages.xy, ages.zw, rest.zw, trips.xy, trips.zw,
    );
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    var told = Output();
    for (var class_ = 0u; class_ < params.classes; class_ += 1u) { told.classes[class_] = class_output(class_); }
    if params.trips != 0u {
        told.begun = time_average_at(level_of(params.trips), now());
        told.ended = time_average_at(level_of(params.trips + 3u), now());
    }
    told.servers = time_average_at(level_of(SERVERS), now());
    if !detailed() { return told; }
    let present = min((*state).busy + (*state).waiting, LENGTHS - 1u);
    for (var i = 0u; i < LENGTHS; i += 1u) {
        let row = memory_get(params.details + i / 2u);
        told.lengths[i] = select(row.zw, row.xy, (i & 1u) == 0u);
        if i == present { told.lengths[i] = plus(told.lengths[i], lasted(state)); }
    }
    // Classes and all, sojourns and waits: ten times at most through the bins.
    for (var i = 0u; i < 2u * CLASSES_AND_ALL; i += 1u) {
        let class_ = i / 2u;
        let which = i & 1u;
        let first = select(class_, 0u, class_ == CLASSES);
        let end = select(class_ + 1u, params.classes, class_ == CLASSES);
        // Of one class, all are the class.
        if end > params.classes || (class_ == CLASSES && end == 1u) { continue; }
        var counted = 0u;
        for (var of_ = first; of_ < end; of_ += 1u) { counted += memory_get(record_of(of_) + 4u * which + 3u).x; }
        if counted == 0u { continue; }
        var below = 0u;
        var part = 0u;
        for (var bin = 0u; bin < BINS && part < 4u; bin += 1u) {
            let count = bin_count(first, end, which, bin);
            // At most four parts lie in one bin.
            for (; part < 4u; part += 1u) {
                // The part of all, rounded up, without leaving a word.
                let percent = QUANTILES[part];
                let rank = counted / 100u * percent + (counted % 100u * percent + 99u) / 100u;
                if rank > below + count { break; }
                let found = Quantile(bin, rank - below, count);
                if which == 0u {
                    told.quantiles[class_].sojourn[part] = found;
                } else {
                    told.quantiles[class_].wait[part] = found;
                }
            }
            below += count;
        }
    }
    return told;
}
