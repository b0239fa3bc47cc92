// The average of a level over time, such as a queue's length or the number of busy servers. Area
// under the level, smallest and largest level, exactly. The reference implementation is
// `statistics::TimeAverage`.
//
// A level counts from its change to the next call, if that is a tick or more. So a zeroed
// TimeAverage is the level 0 from time 0 on, and a level that lasts less than a tick has no effect.
//
// A call with a time before the last one, or a change that takes the level below 0 or beyond a
// word, makes `area` all ones for ever: there is no average then.
//
// Values are passed by value, because WGSL has no pointers to fields:
//
//     (*state).busy = time_average_add((*state).busy, event.time, -1);
//
// models: time_average_since(time, number), time_average_set(number, time, number)
// models: time_average_add(number, time, number), time_average_at(number, time)
//
// import: gpu/wide.wgsl
// import: random/distributions.wgsl
// import: time/ticks.wgsl
// needs: mul_wide

// 48 bytes, aligned to 16. Numbers of 64 and 128 bits, low word first.
struct TimeAverage {
    // Level times ticks, from `since` to `changed`; all ones after an invalid call. It always fits.
    area: vec4<u32>,
    // In ticks: the beginning of the average.
    since: vec2<u32>,
    // In ticks: the level is known up to here. The average has a length if this is after `since`.
    changed: vec2<u32>,
    // From `changed` on.
    level: u32,
    // Smallest and largest level that counted; undefined unless `changed` is after `since`.
    minimum: u32,
    maximum: u32,
    unused: u32,
}

const TIME_AVERAGE_WRONG = vec4<u32>(0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu);

// An average that begins at `time` (in ticks), with `level` until it is changed. Changes before
// `time` are allowed and do not count.
@must_use
fn time_average_since(time: vec2<u32>, level: u32) -> TimeAverage {
    var average = TimeAverage();
    average.since = time;
    average.level = level;
    return average;
}

// The level is `level` from `time` (in ticks) on.
@must_use
fn time_average_set(average: TimeAverage, time: vec2<u32>, level: u32) -> TimeAverage {
    var next = average;
    next.level = level;
    if time_less(time, average.changed) {
        next.area = TIME_AVERAGE_WRONG;
        return next;
    }
    next.changed = time;
    // Whether the previous level is the first one that counts.
    let first = !time_less(average.since, average.changed);
    let begin = select(average.changed, average.since, first);
    if time_less(begin, time) {
        let held = wide_subtract(time, begin);
        let low = mul_wide(average.level, held.x);
        let high = add_word(mul_wide(average.level, held.y), low.y);
        next.area = wide_add_128(average.area, vec4<u32>(low.x, high, 0u));
        next.minimum = select(min(average.minimum, average.level), average.level, first);
        next.maximum = select(max(average.maximum, average.level), average.level, first);
    }
    return next;
}

// The level changes by `change` at `time` (in ticks); it stays within 0 .. 2^32 - 1.
@must_use
fn time_average_add(average: TimeAverage, time: vec2<u32>, change: i32) -> TimeAverage {
    let level = average.level + bitcast<u32>(change);
    let down = change < 0;
    // If the sum of words wraps, it is on the other side of the level.
    let wrong = (level < average.level) != down;
    var next = time_average_set(average, time, select(level, select(0xffffffffu, 0u, down), wrong));
    if wrong { next.area = TIME_AVERAGE_WRONG; }
    return next;
}

// The average up to `time` (in ticks) with the level unchanged: for the end of a run.
@must_use
fn time_average_at(average: TimeAverage, time: vec2<u32>) -> TimeAverage {
    return time_average_set(average, time, average.level);
}
